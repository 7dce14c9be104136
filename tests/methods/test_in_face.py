"""In-face steps: solutions of low rank."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.methods.properties import ROUNDING, steps
from tests.methods.variants import known
from tests.problems import completion

import frankwolfe as fw
from frankwolfe.methods.low_rank.in_face import InFaceFrankWolfe
from frankwolfe.problem import Problem


@pytest.mark.parametrize(
    ("gammas", "seed"), [((0.0, math.inf), 0), ((0.0, math.inf), 1), ((1.0, 1.0), 0), ((0.0, 1.0), 2)]
)
def test_in_face_steps_keep_the_rank_low(gammas, seed: int) -> None:
    """The same optimum as 'factored' certifies, at the true rank, where Frank-Wolfe has collected many directions."""
    f, ball = completion(20, 15, seed), fw.NuclearBall(12.0)
    optimum = fw.minimize(f, ball, method="factored", tol=1e-8)
    low = fw.minimize(f, ball, method=InFaceFrankWolfe(*gammas), tol=0, max_iter=500)
    high = fw.minimize(f, ball, method=fw.FrankWolfe(fw.ExactLineSearch()), tol=0, max_iter=500)
    assert low.fun - optimum.fun <= 1e-3 * (float(f.value(f.start(None, False))) - optimum.fun)
    assert low.lower_bound <= optimum.fun
    assert low.x.rank(1e-6) <= optimum.x.rank(1e-6) + 1
    assert low.x.rank(1e-6) < high.x.rank(1e-6)
    assert low.n_lmo < high.n_lmo


def test_every_in_face_step_is_one() -> None:
    """Without an oracle call: the spans of x do not grow, the rank falls by one, f falls, the factors are an SVD."""
    objective, domain, *_ = known("completion-nuclear")
    problem, inside = Problem(objective, domain), 0
    for before, after, evidence in steps(problem, InFaceFrankWolfe(), problem.start(None, False), 100):
        X, Y = before.x.coords, after.x.coords
        assert float(objective.value(Y)) <= float(objective.value(X)) + ROUNDING
        np.testing.assert_allclose(np.stack(Y.left) @ np.stack(Y.left).T, np.eye(Y.stored), atol=1e-12)
        np.testing.assert_allclose(objective.map.apply(Y), problem.image(after.x), atol=1e-10)
        if not evidence.minorants:
            inside += 1
            assert Y.stored == X.stored - 1
            P = np.stack(X.left)
            np.testing.assert_allclose(P.T @ (P @ Y.toarray()), Y.toarray(), atol=1e-9)
    assert inside >= 30
    assert problem.counts.n_lmo == 100 - inside
