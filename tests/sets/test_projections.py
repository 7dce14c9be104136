"""Projections against slow twins, and at sizes where running sums lose digits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests import naive

from frankwolfe.sets import Hypersimplex, KSupportBall, LpBall
from frankwolfe.sets.arrays import above, dual_vectors, exponent, norm, norms, plain_length, spectral_norm_above
from frankwolfe.sets.membership import hull_distance
from frankwolfe.sets.norm_balls.group import Partition
from frankwolfe.sets.norm_balls.ksupport import ksupport_norm
from frankwolfe.sets.polytopes.polytope import NearestPoint
from frankwolfe.sets.projections import project_l1, project_simplex

vectors = arrays(np.float64, st.integers(1, 8), elements=st.floats(-10, 10, allow_subnormal=False))


@given(x=vectors, radius=st.sampled_from([0.1, 1.0, 25.0]))
def test_simplex_and_l1_against_bisection(x, radius):
    np.testing.assert_allclose(project_simplex(x, radius), naive.project_simplex(x, radius), atol=1e-12)
    np.testing.assert_allclose(project_l1(x, radius), naive.project_l1(x, radius), atol=1e-12)


def test_simplex_survives_a_large_offset():
    x = np.array([0.25, 0.5, -2.0])
    np.testing.assert_allclose(project_simplex(x + 2.0**40, 1.0), project_simplex(x, 1.0), atol=1e-12)
    assert project_simplex(np.array([1e20, 0.0, -1e20]), 1.0).tolist() == [1, 0, 0]


def test_float32_sums_stay_right_in_high_dimension():
    x = np.random.default_rng(0).uniform(size=200_000).astype(np.float32)
    for radius in (1.0, 1e3, 1e5):
        assert float(project_simplex(x, radius).astype(np.float64).sum()) == pytest.approx(radius, rel=5e-7)


@given(x=vectors, k=st.integers(1, 9))
def test_ksupport_norm_against_its_definition(x, k):
    assert float(ksupport_norm(x, k)) == pytest.approx(naive.size_ksupport(x, k), rel=1e-12, abs=1e-300)


@given(x=vectors)
def test_ksupport_norm_is_dual_to_the_oracle(x):
    """The norm is the largest <x, u> over u whose k largest entries have Euclidean norm one: never below any such u."""
    for k in (1, 2, 3):
        u = np.random.default_rng(k).normal(size=x.size)
        u /= -float(naive.min_ksupport(u, 1.0, k))
        assert np.vdot(x, u) <= float(ksupport_norm(x, k)) * (1 + 1e-12) + 1e-12


def assert_nearest(ball, x, room):
    """The projection of x is in the ball, and no point of it is farther out: the variational inequality."""
    z = ball.project(x)
    assert ball.contains(z, tol=1e-11)
    gap = float(ball.support(x - z)) - np.vdot(x - z, z)
    assert gap <= room * ball.radius * float(np.linalg.norm(x))


@pytest.mark.parametrize("p", [1.0 + 1e-9, 1.0001, 1.01, 1.3, 1.9, 2.1, 4, 50, 1e4, 1e6, 1e12, 1e19])
@pytest.mark.parametrize("d", [1, 2, 300])
@pytest.mark.parametrize("spread", [0.0, 1.0, 8.0])
def test_lp_projection_at_every_exponent(p, d, spread):
    """Magnitudes spread over many orders, or all equal; the variational inequality decides."""
    rng = np.random.default_rng(0)
    x = rng.choice([-1.0, 1.0], size=d) * 10 ** (spread * rng.uniform(-1, 1, size=d))
    for radius in (1e-6, 0.5 * float(norm(x, p)), 0.999999 * float(norm(x, p))):
        assert_nearest(LpBall(radius, p=p), x, 1e-10)


@pytest.mark.parametrize("k", [1, 3, 50, 299])
@pytest.mark.parametrize("spread", [0.0, 1.0, 8.0])
def test_ksupport_projection_at_every_spread(k, spread):
    rng = np.random.default_rng(1)
    x = rng.choice([-1.0, 0.0, 1.0], size=300) * 10 ** (spread * rng.uniform(-1, 1, size=300))
    size = float(ksupport_norm(x, k))
    for radius in (1e-6, 0.5 * size, 0.999999 * size):
        assert_nearest(KSupportBall(radius, k=k), x, 1e-10)


def test_ksupport_projection_of_tied_points_far_away():
    """In units of the radius the entries are 1e12 and differ by nothing: a rounded mean would show."""
    rng = np.random.default_rng(2)
    for _ in range(60):
        d = int(rng.integers(20, 60))
        k = int(rng.integers(2, d - 1))
        x = rng.choice([-1.0, 1.0], size=d) * np.round(10 ** rng.uniform(-0.3, 0.3, size=d), 1)
        assert_nearest(KSupportBall(1e-12 * float(ksupport_norm(x, k)), k=k), x, 1e-12)


@pytest.mark.parametrize("p", [1, 1.0001, 1.5, 2, 3, 50, 1e6, 1e25, np.inf])
def test_norms_and_dual_vectors_by_rows(p):
    rows = np.abs(np.random.default_rng(2).normal(size=(5, 4)))
    rows[2] = 0
    rows[3] = [1e-200, 2e-200, 2e-200, 0]
    q = naive.dual_exponent(p) if p < 1e20 else 1.0
    np.testing.assert_allclose(norms(rows, p), [naive.lp_norm(row, p) for row in rows], rtol=1e-12)
    u = dual_vectors(rows, p)
    assert np.all(norms(u, p) <= 1 + 1e-12)
    np.testing.assert_allclose((rows * u).sum(axis=-1), [naive.lp_norm(row, q) for row in rows], rtol=1e-12)


def test_what_is_not_a_number_stays_so():
    assert np.isnan(Hypersimplex(3, k=2).project(np.array([np.nan, 0.0, 1.0]))).any()


def test_norms_at_the_ends_of_their_range() -> None:
    assert norms(np.array([3e-300, -4e-300]), 2.0) == pytest.approx(5e-300, rel=1e-15)
    assert (plain_length(np.array([3.0, -4.0])), plain_length(np.array([1e300]))) == (5.0, None)
    assert 0.3 < above(0.1 + 0.2, np.zeros(2)) < 0.3 + 1e-14
    assert spectral_norm_above(np.ones((2, 8))) == pytest.approx(4.0)
    assert exponent("p", 2) == 2.0
    with pytest.raises(ValueError, match="p must be at least 1"):
        exponent("p", 0.5)


def test_distances_and_groups() -> None:
    distance, weights = hull_distance(np.array([[1.0, 2.0], [1.0, -2.0]]))
    np.testing.assert_allclose([distance, *weights], [1, 0.5, 0.5])
    onto = NearestPoint(np.array([[1.0, 1.0]]), np.array([1.0]), np.zeros((0, 2)), np.zeros(0))
    np.testing.assert_allclose(onto(np.array([2.0, 1.0])), [1, 0], atol=1e-12)
    parts = Partition([[0, 2], [1]])
    np.testing.assert_array_equal(parts.labels, [0, 1, 0])
    np.testing.assert_array_equal(parts.reduce(np.array([1.0, 5.0, 2.0]), lambda rows: rows.sum(axis=-1)), [3, 5])
