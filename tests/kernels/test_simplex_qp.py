"""Quadratic programs on the simplex, against enumeration of all supports."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from frankwolfe.kernels.simplex_qp import simplex_qp


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
