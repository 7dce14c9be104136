"""What logistic regression and least squares share: a data matrix, targets, weights and a ridge term."""

from __future__ import annotations

from copy import copy
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from frankwolfe.backends import Array, eps, host, namespace
from frankwolfe.objectives.base import Evaluation
from frankwolfe.objectives.composite import Composite
from frankwolfe.objectives.data import DataMatrix, data_matrix, reoriented
from frankwolfe.points import Point
from frankwolfe.validation import nonnegative, vector


class LinearModel(Composite):
    """Mean of a loss of each row's product with x, optionally weighted, plus an optional ridge term."""

    kernel: ClassVar[str]  # name of the loss, for data that evaluate it in one read

    def __init__(self, A: Any, b: Any, weights: Any, ridge: float) -> None:
        self.data = A if isinstance(A, DataMatrix) else data_matrix("A", A)
        n, d = self.data.shape
        self.shape: tuple[int, ...] = (d,)
        self.ridge = nonnegative("ridge", ridge)
        self.b = self.data.array(b)
        self.share = self.data.array(_shares(weights, n))  # weight of each row in the mean
        self.weighted = weights is not None

    @property
    def map(self) -> DataMatrix:
        return self.data

    def evaluate(self, y: Point, watch: Point) -> Evaluation:
        seen = self.data.evaluate(self, y, watch)
        if seen is None:
            return super().evaluate(y, watch)
        if not self.ridge:
            return seen
        at_y, at_watch = self._ridge(y), self._ridge(watch)
        return seen._replace(
            value=seen.value + at_y,
            slope=seen.slope + self.ridge * y.coords,
            inner=seen.inner + 2 * at_y,
            watched=seen.watched + at_watch,
        )

    def start(self, x0: Any, dense: bool) -> Array:
        return self.data.array(np.zeros(self.shape) if x0 is None else x0)

    def doubled(self) -> Self | None:
        data = self.data.doubled()
        if data is None:
            return None
        twin = copy(self)
        twin.data, twin.b = data, data.array(self.b)
        twin.share = data.array(self.share if self.weighted else _shares(None, data.shape[0]))
        return twin

    def oriented(self, sparse_atoms: bool) -> Self:
        return reoriented(self, sparse_atoms)

    @cached_property
    def _gram_norm(self) -> float:
        """Largest eigenvalue of the weighted Gram matrix, sum of share_i a_i a_i'."""
        from frankwolfe.kernels.lanczos import spectral_norm

        return spectral_norm(_Scaled(self.data, self.share)) ** 2

    def fingerprint(self, start: Any) -> list[Any]:
        return [type(self).__name__, self.ridge, self.b, self.share, *self.data.parts()]


class _Scaled:
    """The data with rows scaled by the roots of their weights, as a NumPy operator for the Lanczos kernel."""

    def __init__(self, data: DataMatrix, share: Array) -> None:
        self.data, self.root = data, namespace(share).sqrt(share)
        self.shape, self.dtype = data.shape, np.dtype(np.float32 if eps(share) > 1e-9 else np.float64)

    def __matmul__(self, x: np.ndarray) -> np.ndarray:
        return host(self.root * self.data.product(self.data.array(x)))

    @property
    def T(self) -> Any:
        return _Adjoint(self)


class _Adjoint:
    def __init__(self, scaled: _Scaled) -> None:
        self.scaled = scaled
        self.shape, self.dtype = scaled.shape[::-1], scaled.dtype

    def __matmul__(self, r: np.ndarray) -> np.ndarray:
        data = self.scaled.data
        return host(data.adjoint(self.scaled.root * data.array(r)))


def _shares(weights: Any, n: int) -> np.ndarray:
    if weights is None:
        return np.full(n, 1.0 / n)
    weights = vector("weights", weights, n)
    if weights.min() < 0 or not weights.sum() > 0:
        raise ValueError(f"weights must be nonnegative with a positive sum, got a minimum of {weights.min()!r}")
    return weights / weights.sum()
