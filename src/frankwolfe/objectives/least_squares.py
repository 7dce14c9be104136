"""Least squares."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from frankwolfe.backends import Array, Scalar, vdot
from frankwolfe.objectives.data import data_matrix
from frankwolfe.objectives.linear_model import LinearModel
from frankwolfe.validation import vector

GRAM_LIMIT = 2000  # features up to which the smallest eigenvalue is computed from the Gram matrix


class LeastSquares(LinearModel):
    """Mean squared error of a linear model, f(x) = |Ax - b|²/(2n) + (ridge/2)|x|².

    Parameters
    ----------
    A : array, sparse matrix, LinearOperator or DataFrame of shape (n, d)
        One sample per row.
    b : array of shape (n,)
        Targets.
    weights : array of shape (n,), optional
        Nonnegative sample weights; the mean is weighted by them.
    ridge : float, default 0
        Weight of an optional squared-norm term.

    Examples
    --------
    >>> import numpy as np
    >>> f = LeastSquares(np.eye(2), [2.0, 0.0])
    >>> float(f.value(np.zeros(2))), f.grad(np.zeros(2)), round(f.smoothness, 9)
    (1.0, array([-1.,  0.]), 0.5)
    """

    kernel: ClassVar[str] = "squares"

    def __init__(self, A: Any, b: Any, *, weights: Any = None, ridge: float = 0.0) -> None:
        data = data_matrix("A", A)
        super().__init__(data, vector("b", b, data.shape[0]), weights, ridge)

    @property
    def smoothness(self) -> float:
        return self._gram_norm + self.ridge

    @cached_property
    def strong_convexity(self) -> float:
        """Smallest eigenvalue of the Hessian, from the Gram matrix where it is small; the ridge otherwise."""
        n, d = self.data.shape
        if d > min(n, GRAM_LIMIT):
            return self.ridge
        gram = np.stack([self.data.adjoint(self.share * self.data.column(j)) for j in range(d)])
        return max(float(np.linalg.eigvalsh(gram)[0]), 0.0) + self.ridge

    def loss(self, m: Array) -> Scalar:
        residual = m - self.b
        return 0.5 * vdot(self.share * residual, residual)

    def loss_slope(self, m: Array, rows: slice = slice(None)) -> Array:
        return self.share[rows] * (m - self.b[rows])

    def loss_curvature(self, m: Array) -> Array:
        return self.share
