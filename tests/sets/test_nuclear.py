"""The nuclear-norm ball against full SVDs and CVXPY."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from frankwolfe.atoms import RankOne
from frankwolfe.kernels.pattern.pattern_matrix import Pattern
from frankwolfe.lowrank import LowRank
from frankwolfe.sets.spectral.nuclear import NuclearBall


@settings(max_examples=50, deadline=None)
@given(
    m=st.integers(1, 110),
    n=st.integers(1, 110),
    seed=st.integers(0, 99),
    radius=st.floats(0.01, 100),
    exponent=st.sampled_from([-300, 0, 300]),
)
def test_oracle_is_minus_radius_times_the_spectral_norm(m, n, seed, radius, exponent):
    g = np.random.default_rng(seed).standard_normal((m, n))
    ball, before, truth = NuclearBall(radius), g.copy(), np.linalg.norm(g, 2)
    scaled = g * 10.0**exponent
    v = ball.lmo(scaled)
    assert isinstance(v, RankOne)
    assert v.scale == -radius
    assert np.linalg.norm(v.left) * np.linalg.norm(v.right) == pytest.approx(1.0)
    assert v.inner(g) == pytest.approx(-radius * truth, rel=1e-9)
    assert ball.contains(v.toarray())
    assert ball.support(scaled) / 10.0**exponent == pytest.approx(radius * truth, rel=1e-9)
    bound = ball.support_bound(scaled, np.random.default_rng(seed))
    assert bound.failure == 0.0
    assert radius * truth * (1 - 1e-14) <= bound.value / 10.0**exponent <= radius * truth * (1 + 1e-8)
    np.testing.assert_array_equal(g, before)


@pytest.mark.parametrize("shape", [(6, 5), (90, 120)])
@pytest.mark.parametrize("accuracy", [1e-1, 1e-4])
def test_minimise_keeps_to_the_accuracy(shape, accuracy):
    rng = np.random.default_rng(0)
    for _ in range(20):
        g = rng.standard_normal(shape)
        least = -3.0 * np.linalg.norm(g, 2)
        answer = NuclearBall(3.0).minimise(g, accuracy, rng)
        assert least - 1e-12 <= answer.value <= least + accuracy
        assert answer.atom.inner(g) == pytest.approx(answer.value, rel=1e-12)
        assert answer.lower <= least
        assert (answer.lower == -math.inf) == (answer.matvecs > 0)


def test_looser_accuracy_costs_less():
    g = np.random.default_rng(0).standard_normal((200, 300))
    ball = NuclearBall(1.0)
    costs = [ball.minimise(g, accuracy, np.random.default_rng(0)).matvecs for accuracy in (3.0, 0.3, 0.03, 1e-6)]
    assert costs == sorted(costs)
    assert costs[0] < costs[-1] / 3


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["array", "csr", "pattern"])
@pytest.mark.parametrize("shape", [(12, 9), (150, 100)])
def test_kinds_of_directions(kind, shape, dtype):
    rng = np.random.default_rng(1)
    S = sp.random_array(shape, density=0.3, random_state=rng, dtype=np.float64).astype(dtype)
    dense = S.toarray()
    coo = S.tocoo()
    g = {"array": dense, "csr": S.tocsr(), "pattern": Pattern(coo.row, coo.col, shape).matrix(coo.data)}[kind]
    v = NuclearBall(2.0).lmo(g)
    assert v.left.dtype == v.right.dtype == dtype
    want = -2.0 * np.linalg.norm(dense.astype(np.float64), 2)
    tol = 1e-9 if dtype == np.float64 else 1e-5
    assert v.inner(g) == pytest.approx(want, rel=tol)
    assert v.inner(dense) == pytest.approx(want, rel=tol)


def test_other_namespaces_keep_their_arrays():
    strict = pytest.importorskip("array_api_strict")
    g = np.random.default_rng(0).standard_normal((5, 4))
    ball = NuclearBall(2.0)
    x = strict.asarray(g)
    v = ball.lmo(x)
    assert v.left.__array_namespace__().__name__ == "array_api_strict"
    assert float(v.inner(x)) == pytest.approx(-2 * np.linalg.norm(g, 2))
    projected = ball.project(x)
    assert projected.__array_namespace__().__name__ == "array_api_strict"
    np.testing.assert_allclose(np.asarray(projected), ball.project(g), atol=1e-12)
    assert ball.contains(projected)
    answer = ball.minimise(x, 1e-3, np.random.default_rng(0))
    assert answer.lower <= answer.value == pytest.approx(-2 * np.linalg.norm(g, 2))
    assert ball.support_bound(x, np.random.default_rng(0)).value >= 2 * np.linalg.norm(g, 2)
    assert ball.lmo(0 * x).shape == (5, 4)


def test_zero_direction_and_determinism():
    ball = NuclearBall(2.0)
    for g in (np.zeros((3, 4)), np.zeros((100, 90)), Pattern([0], [0], (100, 90)).zeros()):
        v = ball.lmo(g)
        assert v.shape == g.shape
        assert ball.contains(v.toarray())
        assert ball.support(g) == 0.0
    g = np.random.default_rng(0).standard_normal((100, 90))
    np.testing.assert_array_equal(ball.lmo(g).left, ball.lmo(g).left)


def test_oracle_and_projection_against_cvxpy():
    cp = pytest.importorskip("cvxpy")
    rng = np.random.default_rng(4)
    for m, n in [(4, 6), (5, 3)]:
        g = rng.standard_normal((m, n))
        ball, Z = NuclearBall(1.5), cp.Variable((m, n))
        inside = [cp.normNuc(Z) <= 1.5]
        least = cp.Problem(cp.Minimize(cp.trace(g.T @ Z)), inside).solve(solver=cp.CLARABEL)
        assert ball.lmo(g).inner(g) == pytest.approx(least, abs=1e-6)
        cp.Problem(cp.Minimize(cp.sum_squares(Z - g)), inside).solve(solver=cp.CLARABEL)
        np.testing.assert_allclose(ball.project(g), Z.value, atol=1e-5)


@pytest.mark.parametrize("shape", [(7, 9), (100, 80), (70, 130)])
@pytest.mark.parametrize("radius", [0.5, 30.0, 300.0, 1e5])
def test_projection(shape, radius):
    rng = np.random.default_rng(2)
    ball = NuclearBall(radius)
    for _ in range(3):
        x, y = rng.standard_normal((2, *shape))
        before = x.copy()
        px, py = ball.project(x), ball.project(y)
        np.testing.assert_array_equal(x, before)
        assert ball.contains(px, tol=1e-10)
        np.testing.assert_allclose(ball.project(px), px, atol=1e-10)
        assert np.linalg.norm(px - py) <= np.linalg.norm(x - y) * (1 + 1e-12)
        # Variational inequality <x - px, z - px> <= 0 for all z inside; the worst z is an atom.
        residual = x - px
        worst = -ball.lmo(-residual).inner(-residual) - np.vdot(residual, px)
        assert worst <= 1e-9 * radius * max(1.0, np.linalg.norm(residual))


@pytest.mark.parametrize("radius", [1.0, 50.0, 400.0, 560.0, 1e4])
@pytest.mark.parametrize("decay", [False, True])
def test_fast_projection_equals_the_full_one(radius, decay, monkeypatch):
    rng = np.random.default_rng(3)
    x = rng.standard_normal((90, 120))
    if decay:
        U, s, Vt = np.linalg.svd(x, full_matrices=False)
        x = (U * (s * np.logspace(0, -9, s.size))) @ Vt
    fast = NuclearBall(radius).project(x)
    monkeypatch.setattr(NuclearBall, "_project_by_gram", lambda self, x: None)
    np.testing.assert_allclose(fast, NuclearBall(radius).project(x), atol=1e-11 * np.linalg.norm(x, 2))


def test_contains_low_rank_without_an_array(monkeypatch):
    rng = np.random.default_rng(0)
    Q, _ = np.linalg.qr(rng.standard_normal((50, 2)))
    X = LowRank.from_arrays(Q * [1.0, 0.5], Q[:40])
    total = np.linalg.norm(X.toarray(), "nuc")
    monkeypatch.setattr(LowRank, "toarray", lambda self: pytest.fail("made a dense array"))
    assert NuclearBall(total * 1.001).contains(X)
    assert not NuclearBall(total * 0.999).contains(X)
    cancelling = LowRank.combine((5.0, 1.0), (X, -5.0 * LowRank.from_arrays(*X.factors)))
    assert NuclearBall(1e-6).contains(cancelling)  # large factors, tiny sum


def test_diameter_and_radius():
    ball = NuclearBall(2.5)
    assert ball.diameter((3, 4)) == 5.0
    assert ball.with_radius(1.0) == NuclearBall(1.0)
    assert not ball.closed_form


def test_mistakes_are_named():
    for bad in (0.0, -1.0, math.inf, math.nan, "2"):
        with pytest.raises(ValueError, match="radius must be a positive"):
            NuclearBall(bad)
    ball = NuclearBall(1.0)
    for call in (ball.lmo, ball.support, ball.project, ball.contains):
        with pytest.raises(ValueError, match="NuclearBall holds matrices"):
            call(np.zeros(3))
    with pytest.raises(TypeError, match="array or a LowRank"):
        ball.contains(Pattern([0], [0], (2, 2)).zeros())
    with pytest.raises(ValueError, match="NaN or infinity"):
        ball.lmo(np.full((2, 2), np.nan))
