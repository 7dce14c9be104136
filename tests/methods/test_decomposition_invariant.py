"""Decomposition-invariant steps: linear convergence on 0/1 polytopes."""

from __future__ import annotations

import numpy as np
import pytest

import frankwolfe as fw
from frankwolfe.methods.active_set.decomposition_invariant import DecompositionInvariant
from frankwolfe.sets.polytopes.simplices import Hypersimplex
from frankwolfe.sets.polytopes.transport import Birkhoff


def face_problem(d: int = 30) -> tuple[fw.Quadratic, np.ndarray]:
    """A strongly convex quadratic whose optimum lies inside a face of the simplex, with ten positive entries."""
    rng = np.random.default_rng(3)
    B = rng.standard_normal((d, d))
    Q = B @ B.T / d + np.eye(d)
    x = np.where(np.arange(d) < 10, 0.05 + rng.random(d), 0.0)
    x /= x.sum()
    multiplier = np.where(np.arange(d) < 10, 0.0, 0.2 + rng.random(d))
    return fw.Quadratic(Q, multiplier - Q @ x), x


def test_dicg_is_linear_where_frank_wolfe_is_not() -> None:
    objective, solution = face_problem()
    optimum = float(objective.value(solution))
    ours = fw.minimize(objective, fw.Simplex(30), method=DecompositionInvariant(), tol=0, max_iter=150)
    plain = fw.minimize(objective, fw.Simplex(30), method=fw.FrankWolfe(fw.ExactLineSearch()), tol=0, max_iter=150)
    h = ours.trace.fun - optimum
    clear = (h > 1e-12) & (ours.trace.k > 5)
    rate = np.polyfit(ours.trace.k[clear], np.log(h[clear]), 1)[0]
    assert rate <= -0.08
    assert h[-1] <= 1e-12
    assert plain.fun - optimum >= 1e-8
    assert np.all(ours.x[10:] == 0), "entries off the face are zero, not small"


@pytest.mark.parametrize("domain", [Hypersimplex(12, k=4), Birkhoff(4)])
def test_dicg_on_other_polytopes(domain) -> None:
    """A target strictly inside a face: entries at both bounds, which the away vertex must respect."""
    rng = np.random.default_rng(5)
    if isinstance(domain, Hypersimplex):
        target = np.array([1.6, 1.4, 0.7, 0.4, 0.5, 0.3, *np.full(6, -0.4)])
    else:
        target = np.eye(4) + 0.4 * rng.standard_normal((4, 4))
    f = fw.Function(lambda x: 0.5 * float(np.sum((x - target) ** 2)), lambda x: x - target, smoothness=1.0)
    x0 = domain.lmo(-target).toarray()
    result = fw.minimize(f, domain, x0, method=DecompositionInvariant(), tol=1e-9, max_iter=400)
    assert result.success
    if isinstance(domain, Hypersimplex):
        np.testing.assert_allclose(result.x, domain.project(target), atol=1e-4)
    assert domain.contains(result.x, tol=1e-9)
