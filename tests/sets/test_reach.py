"""The farthest that <c, |x|> goes over a set, from which rounding is bounded: never less than at any point of it."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests.sets.cases import CASES

import frankwolfe as fw
from frankwolfe.kernels.pattern.pattern_matrix import Pattern
from frankwolfe.sets import Set
from frankwolfe.sets.many_radii import SetBatch

every_case = pytest.mark.parametrize("case", CASES, ids=repr)


@cache
def some_points(case, n=30):
    """Vertices in many directions, sparse and dense, and averages of them."""
    rng = np.random.default_rng(5)
    signs = rng.choice([-1.0, 0.0, 1.0], size=(n, *case.shape))
    points = [case.set.lmo(g).toarray() for g in [*rng.normal(size=(n, *case.shape)), *signs]]
    return np.array([*points, *(0.5 * (a + b) for a, b in pairwise(points))])


@every_case
@given(data=st.data())
def test_reach_is_never_less_than_at_a_point_of_the_set(case, data):
    c = data.draw(arrays(np.float64, case.shape, elements=st.sampled_from([0.0, 1e-300, 1e-9, 1.0, 3.0, 1e200])))
    reached = np.max(np.tensordot(np.abs(some_points(case)), c, c.ndim))
    for kind in (case.set.reach, lambda c: Set.reach(case.set, c)):  # the default as well
        assert reached <= kind(c) * (1 + 1e-12)
        assert isinstance(kind(c), float)


@every_case
def test_reach_in_single_precision_covers_that_in_double(case):
    c = np.random.default_rng(1).exponential(size=case.shape).astype(np.float32)
    assert case.set.reach(c) * (1 + 1e-12) >= np.max(np.tensordot(np.abs(some_points(case)), c.astype(float), c.ndim))


@pytest.mark.parametrize(
    "domain",
    [
        fw.L1Ball(3.0),
        fw.L2Ball(3.0),
        fw.LInfBall(3.0),
        fw.LpBall(3.0, p=1.5),
        fw.KSupportBall(3.0, k=2),
        fw.GroupBall(3.0, groups=[0, 0, 1, 1]),
        fw.OWLBall(3.0, weights=[2.0, 1.0, 1.0, 0.0]),
        fw.Simplex(4, 3.0),
        fw.Hypersimplex(4, k=2),
        fw.Box([-2.0, 0.0, 1.0, -1.0], [1.0, 1.0, 2.0, 1.0]),
        fw.Permutahedron([-3.0, 1.0, 2.0, 0.0]),
        fw.ConvexHull(np.random.default_rng(0).normal(size=(9, 4))),
        fw.TotalVariationBall(3.0),
        2.0 * fw.L1Ball(1.5),
    ],
    ids=repr,
)
def test_reach_is_attained_where_it_is_cheap(domain):
    c = np.array([1.0, 0.5, 4.0, 2.0])
    points = [domain.lmo(s * c).toarray() for s in np.array(np.meshgrid(*[[-1.0, 1.0]] * 4)).reshape(4, -1).T]
    assert domain.reach(c) == pytest.approx(max(c @ np.abs(x) for x in points), rel=1e-12)


def test_reach_of_entries_on_a_pattern():
    rng = np.random.default_rng(0)
    places = np.flatnonzero(rng.random(60) < 0.3)
    c = Pattern(places // 10, places % 10, (6, 10)).matrix(rng.exponential(size=places.size))
    ball = fw.NuclearBall(2.0)
    exact = 2.0 * np.linalg.svd(c.toarray(), compute_uv=False)[0]
    assert exact <= ball.reach(c) <= 2 * exact
    twice = Pattern([0, 0], [0, 0], (1, 1)).matrix(np.ones(2))
    assert ball.reach(twice) >= 4.0


def test_reach_of_many_radii():
    c = np.array([[1.0, 2.0], [3.0, 4.0]])
    batch = SetBatch([fw.L1Ball(1.0), fw.L1Ball(10.0)], like=np.zeros(0))
    assert batch.reach(c) == pytest.approx([2.0, 40.0])
