"""Quadratic programs on the simplex, against enumeration of all supports; and on the l1 ball, by their gap."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from frankwolfe.kernels.qp import simplex_qp as program
from frankwolfe.kernels.qp.simplex_qp import l1_qp, simplex_qp


def by_enumeration(H: np.ndarray, b: np.ndarray) -> float:
    """Return the least value over the simplex: the best feasible minimiser over any face's affine hull."""
    best, size = np.inf, len(b)
    for support in itertools.chain.from_iterable(itertools.combinations(range(size), r) for r in range(1, size + 1)):
        F = list(support)
        ones = np.ones((len(F), 1))
        system = np.block([[H[np.ix_(F, F)], ones], [ones.T, np.zeros((1, 1))]])
        z = np.linalg.lstsq(system, np.append(-b[F], 1.0), rcond=None)[0][:-1]
        if z.min() >= -1e-12 and abs(z.sum() - 1) < 1e-9:
            best = min(best, 0.5 * z @ H[np.ix_(F, F)] @ z + b[F] @ z)
    return best


@pytest.mark.parametrize("rank", [1, 3, 6])
@pytest.mark.parametrize("seed", range(8))
def test_agrees_with_enumeration(seed: int, rank: int) -> None:
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((rank, 6))
    H, b = root.T @ root, rng.standard_normal(6)
    start = rng.dirichlet(np.ones(6)) if seed % 2 else np.eye(6)[seed % 6]
    u = simplex_qp(H, b, start)
    assert u.min() >= 0
    assert u.sum() == pytest.approx(1, abs=1e-14)
    assert 0.5 * u @ H @ u + b @ u == pytest.approx(by_enumeration(H, b), abs=1e-9)


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e150])
def test_scale_does_not_matter(scale: float) -> None:
    rng = np.random.default_rng(0)
    root = rng.standard_normal((5, 5))
    H, b = root.T @ root, rng.standard_normal(5)
    u = simplex_qp(H, b, np.ones(5) / 5)
    np.testing.assert_allclose(simplex_qp(scale * H, scale * b, np.ones(5) / 5), u, atol=1e-9)


def test_no_curvature_is_a_linear_program() -> None:
    u = simplex_qp(np.zeros((3, 3)), np.array([1.0, -1.0, 0.0]), np.ones(3) / 3)
    np.testing.assert_allclose(u, [0, 1, 0], atol=1e-12)


def test_repeated_columns_are_no_trouble() -> None:
    H = np.ones((4, 4))
    u = simplex_qp(H, np.array([0.0, 0.0, -0.1, -0.1]), np.ones(4) / 4)
    assert u[2] + u[3] == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize(("size", "rank"), [(6, 6), (40, 40), (40, 12)])
@pytest.mark.parametrize("level", [1.0, 1e6, 1e8])
def test_a_large_linear_term_costs_only_its_own_rounding(size: int, rank: int, level: float) -> None:
    """Adding a constant to b changes nothing on the simplex: optimality holds to a few roundings of that constant."""
    rng = np.random.default_rng(0)
    root = rng.standard_normal((rank, size))
    H, b = root.T @ root, rng.standard_normal(size)
    u = simplex_qp(H, b + level, np.eye(size)[0])
    slope = H @ u + b
    assert float(slope @ u - slope.min()) <= 1e-12 + 1e-14 * level
    assert u.min() >= 0
    assert u.sum() == pytest.approx(1, abs=1e-14)


def l1_gap(H: np.ndarray, b: np.ndarray, radius: float, z: np.ndarray) -> float:
    """Return the Frank-Wolfe gap of the quadratic program on the l1 ball: an upper bound on the error."""
    slope = H @ z + b
    return float(slope @ z) + radius * float(np.abs(slope).max())


@given(
    size=st.integers(1, 12),
    rank=st.integers(0, 12),
    radius=st.sampled_from([1e-3, 1.0, 30.0]),
    level=st.sampled_from([0.0, 1.0, 1e4]),
    seed=st.integers(0, 999),
)
@example(size=4, rank=2, radius=30.0, level=1e4, seed=0)  # rounding puts the sum above the radius on the way
@example(size=2, rank=9, radius=30.0, level=1e4, seed=4)
@example(size=1, rank=0, radius=30.0, level=1.0, seed=2)  # no curvature, and a long way
@settings(max_examples=150, deadline=None)
def test_l1_ball(size: int, rank: int, radius: float, level: float, seed: int) -> None:
    """Optimal by its own gap, from any start, for singular models and minimisers inside the ball as well."""
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((rank, size))
    H = root.T @ root
    b = H @ rng.standard_normal(size) * (seed % 2) + level * rng.standard_normal(size)
    start = rng.standard_normal(size) * (rng.random(size) < 0.5)
    start *= radius * rng.random() / max(float(np.abs(start).sum()), 1e-300)
    z = l1_qp(H, b, radius, start)
    assert np.abs(z).sum() <= radius * (1 + 1e-14)
    scale = float(np.abs(H).sum()) * radius**2 + float(np.abs(b).max()) * radius
    assert l1_gap(H, b, radius, z) <= 1e-8 * scale + 1e-300


@pytest.mark.parametrize("tol", [1e-1, 1e-3])
def test_l1_ball_stops_at_a_tolerance(tol: float) -> None:
    rng = np.random.default_rng(1)
    root = rng.standard_normal((200, 120))
    H, b = root.T @ root / 200, rng.standard_normal(120)
    z = l1_qp(H, b, 10.0, np.zeros(120), tol)
    assert l1_gap(H, b, 10.0, z) <= tol
    exact = l1_qp(H, b, 10.0, z)
    assert l1_gap(H, b, 10.0, exact) <= 1e-11
    assert 0.5 * z @ H @ z + b @ z - (0.5 * exact @ H @ exact + b @ exact) <= tol


def test_one_factor_tells_both_whether_the_ball_is_left_and_where(monkeypatch: pytest.MonkeyPatch) -> None:
    """A definite model is factored once for each step, whether its minimiser lies inside or on the boundary."""
    rng, factors, steps = np.random.default_rng(3), [], []
    root = rng.standard_normal((60, 20))
    H, b = root.T @ root / 60, rng.standard_normal(20)
    solve, step = program._solve, program._step
    monkeypatch.setattr(program, "_solve", lambda *args: factors.append(1) or solve(*args))
    monkeypatch.setattr(program, "_step", lambda *args: steps.append(1) or step(*args))
    for radius in (1.0, 1e3):
        assert l1_gap(H, b, radius, l1_qp(H, b, radius, np.zeros(20))) <= 1e-10 * radius
    assert len(factors) == len(steps)


def test_both_programs_agree_on_the_signed_vertices() -> None:
    """The l1 ball is the hull of 2p signed vertices: the same program on the simplex of their weights."""
    rng = np.random.default_rng(2)
    root = rng.standard_normal((30, 8))
    H, b, radius = root.T @ root, 5 * rng.standard_normal(8), 0.7
    gram = radius**2 * np.block([[H, -H], [-H, H]])
    u = simplex_qp(gram, radius * np.concatenate([b, -b]), np.full(16, 1 / 16))
    np.testing.assert_allclose(l1_qp(H, b, radius, np.zeros(8)), radius * (u[:8] - u[8:]), atol=1e-9)


class Patience:
    """Counts the rounds, and fails after too many."""

    def __init__(self, most: int) -> None:
        self.left = most

    def __call__(self) -> None:
        self.left -= 1
        assert self.left > 0


@pytest.mark.parametrize("size", [1e-300, 1e-20, 1.0, 1e20])
@pytest.mark.parametrize("seed", range(4))
def test_a_hessian_that_rounding_made_negative(seed: int, size: float) -> None:
    """No diagonal entry is positive: it ends, at a feasible point that is no worse than the start."""
    rng = np.random.default_rng(seed)
    H, b = -size * np.diag(rng.random(5) + 0.1), rng.standard_normal(5)
    u = simplex_qp(H, b, np.ones(5) / 5, tick=Patience(1000))
    z = l1_qp(H, b, 1.0, np.zeros(5), tick=Patience(1000))
    assert u.min() >= 0
    assert u.sum() == pytest.approx(1, abs=1e-14)
    assert 0.5 * u @ H @ u + b @ u <= b.mean() + 0.5 * np.trace(H) / 25 + 1e-12 * (1 + size)
    assert np.abs(z).sum() <= 1 + 1e-14


def test_what_is_not_finite_is_left_alone() -> None:
    for H, b in ((np.full((2, 2), np.inf), np.ones(2)), (np.eye(2), np.array([np.nan, 1.0]))):
        assert simplex_qp(H, b, np.ones(2) / 2, tick=Patience(100)).tolist() == [0.5, 0.5]
