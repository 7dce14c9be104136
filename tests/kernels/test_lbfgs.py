"""L-BFGS on a valley, and its direction against the inverse Hessian estimate written out."""

from __future__ import annotations

import numpy as np
import pytest

from frankwolfe.kernels.lbfgs import Pairs, lbfgs


def test_a_valley() -> None:
    """Rosenbrock's function in ten dimensions: every step descends and the minimiser is reached."""
    values = []

    def valley(z: np.ndarray) -> tuple[float, np.ndarray]:
        rise, off = z[1:] - z[:-1] ** 2, 1 - z[:-1]
        g = np.zeros_like(z)
        g[:-1] = -400 * rise * z[:-1] - 2 * off
        g[1:] += 200 * rise
        values.append(float(100 * rise @ rise + off @ off))
        return values[-1], g

    z, value, evaluations = lbfgs(valley, np.full(10, -0.5), 500, 10, 1e-9)
    np.testing.assert_allclose(z, np.ones(10), atol=1e-7)
    assert value == min(values)
    assert evaluations == len(values) < 300


@pytest.mark.parametrize("memory", [1, 3])
def test_the_direction_is_that_of_the_bfgs_formula(memory: int) -> None:
    """Through more updates than fit, with steps of any length and one pair of negative curvature left out."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((8, 8))
    hessian = A @ A.T + np.eye(8)
    z = rng.standard_normal(8)
    g, kept = hessian @ z, []
    pairs = Pairs(memory, g)
    for t in (1.0, 0.3, 0.7, 1e-3, 0.5, 1.0):
        d = pairs.direction()
        np.testing.assert_allclose(d, -_estimate(kept[-memory:]) @ g, rtol=1e-8)
        s = t * d
        y = -0.1 * s if t == 0.7 else hessian @ s
        pairs.add(t, d, g + y)
        g = g + y
        if s @ y > 0:
            kept.append((s, y))
        assert pairs.count == min(memory, len(kept))
    pairs.clear()
    np.testing.assert_array_equal(pairs.direction(), -g)


def _estimate(pairs: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    if not pairs:
        return np.eye(8)
    s, y = pairs[-1]
    H = np.eye(8) * (s @ y) / (y @ y)
    for s, y in pairs:
        left = np.eye(8) - np.outer(s, y) / (s @ y)
        H = left @ H @ left.T + np.outer(s, s) / (s @ y)
    return H
