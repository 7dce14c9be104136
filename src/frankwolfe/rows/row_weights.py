"""Weights of the rows of the data."""

from __future__ import annotations

from typing import Any

import numpy as np

from frankwolfe.backends import Array, eps, host, namespace
from frankwolfe.kernels.pattern.pattern_matrix import Transposed
from frankwolfe.rows.rows import Rows
from frankwolfe.validation import vector


class WeightedRows:
    """The data with rows scaled by the roots of their weights, as a NumPy operator for the Lanczos kernel."""

    def __init__(self, data: Rows, share: Array) -> None:
        self.data, self.root = data, namespace(share).sqrt(share)
        self.shape, self.dtype = data.shape, np.dtype(np.float32 if eps(share) > 1e-9 else np.float64)

    def __matmul__(self, x: np.ndarray) -> np.ndarray:
        return host(self.root * self.data.product(self.data.array(x)))

    def rmatvec(self, r: np.ndarray) -> np.ndarray:
        return host(self.data.adjoint(self.root * self.data.array(r)))

    @property
    def T(self) -> Transposed:
        return Transposed(self)


def shares(weights: Any, n: int) -> np.ndarray:
    """Return sample weights as parts of one, equal ones for None."""
    if weights is None:
        return np.full(n, 1.0 / n)
    weights = summable("sample_weight", vector("sample_weight", weights, n))
    return weights / weights.sum()


def summable(name: str, weights: np.ndarray) -> np.ndarray:
    """Return weights whose sum is an ordinary number: themselves, or scaled by the largest."""
    weights = weights.astype(np.float64, copy=False)
    largest = float(weights.max())
    if weights.min() < 0 or not largest > 0:
        raise ValueError(f"{name} must be nonnegative with a positive sum, got a minimum of {float(weights.min())!r}")
    return weights if 1e-290 < largest < 1e290 else weights / largest
