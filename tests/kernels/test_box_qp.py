"""Quadratic programs with bounds: the answer satisfies the optimality conditions, whatever the bounds and the rank."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from frankwolfe.kernels.qp.box_qp import box_qp


def gap(H: np.ndarray, b: np.ndarray, z: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> float:
    slope = b + H @ z
    return float(np.maximum(slope * (z - lower), slope * (z - upper)).sum())


@pytest.mark.parametrize("size", [1e-3, 0.3, 50.0])
@pytest.mark.parametrize(
    ("d", "rank", "spread"), [(4, 4, 0.0), (40, 60, 1.0), (40, 7, 0.0), (90, 200, 3.0), (30, 1, 0.0)]
)
def test_optimal_from_any_start(d: int, rank: int, spread: float, size: float) -> None:
    for seed in range(12):  # of columns that depend on each other one in a hundred ended far from the optimum
        rng = np.random.default_rng(seed)
        M = rng.standard_normal((rank, d)) * np.logspace(0, -spread, d)
        M[:, d // 2 :] = M[:, : d - d // 2] if seed % 4 == 3 else M[:, d // 2 :]
        H, t = M.T @ M, rng.standard_normal(rank)
        upper = size * rng.random(d)
        lower = upper - size * rng.random(d) * (rng.random(d) < 0.9)  # some entries have no room at all
        scale = float(np.abs(H).max() * size**2 + np.abs(M.T @ t).max() * size)
        for start in (np.zeros(d), lower, 100 * rng.standard_normal(d)):
            z = box_qp(H, -M.T @ t, lower, upper, start)
            assert (lower <= z).all()
            assert (z <= upper).all()
            assert gap(H, -M.T @ t, z, lower, upper) <= 1e-9 * scale
        if (lower < upper).all():
            judge = lsq_linear(M, t, (lower, upper), tol=1e-12).cost
            assert 0.5 * np.sum((M @ z - t) ** 2) <= judge * (1 + 1e-9) + 1e-12


def test_stops_where_asked() -> None:
    rng = np.random.default_rng(0)
    M = rng.standard_normal((50, 20))
    H, b, one = M.T @ M, rng.standard_normal(20) * 30, np.ones(20)
    rough = box_qp(H, b, -one, one, np.zeros(20), share=0.5)
    gained = -float(b @ rough + 0.5 * rough @ H @ rough)
    assert 0 < gap(H, b, rough, -one, one) <= 0.5 * gained
    assert gap(H, b, box_qp(H, b, -one, one, np.zeros(20), tol=1e-3), -one, one) <= 1e-3
    assert np.array_equal(box_qp(H, b, -one, one, 0.5 * one, tol=1e9), 0.5 * one)
