"""Functions that are infinite outside a domain: no method leaves it, whatever library the arrays are of."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest

import frankwolfe as fw

METHODS = ["fw", "afw", "hfw", "extrafw", "away", "pairwise", "bpcg", "bcg", "lazy", "boosted", "dicg", "richardson"]
BEST = 7 * np.log(7.0) - 2 * np.log(2.0)  # of -Σ log x - log x_0 on the simplex of six entries


def barrier(library: str) -> tuple[Any, Any]:
    """Return the function and a start, with arrays of a library."""
    if library == "numpy":
        return fw.Function(_value, _slope), np.full(6, 1 / 6)
    xp = pytest.importorskip("torch" if library == "torch" else "jax.numpy")
    return fw.Function(lambda x: -xp.log(x).sum() - xp.log(x[0]), backend=library), xp.full((6,), 1 / 6)


def _value(x: np.ndarray) -> float:
    return float(-np.log(x).sum() - np.log(x[0])) if (x > 0).all() else np.inf


def _slope(x: np.ndarray) -> np.ndarray:
    return -(1 + np.eye(6)[0]) / x


@pytest.mark.parametrize("library", ["numpy", "torch", "jax"])
@pytest.mark.parametrize("method", METHODS)
def test_no_method_leaves_the_domain(method: str, library: str) -> None:
    if library != "numpy" and importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    objective, start = barrier(library)
    result = fw.minimize(objective, fw.Simplex(6), start, method=method, max_iter=150, tol=1e-3)
    assert result.status.name in ("OPTIMAL", "MAX_ITER")
    assert BEST - 1e-4 <= result.fun <= BEST + result.gap + 1e-4
    assert result.fun < BEST + 0.05
