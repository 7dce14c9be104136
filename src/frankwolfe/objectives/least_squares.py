"""Least squares."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from frankwolfe.backends import Array, Scalar, eps, host, vdot
from frankwolfe.backends.namespace import nonzero
from frankwolfe.kernels.rows.layouts import SQUARES
from frankwolfe.kernels.spectral.lanczos import least_eigenvalue
from frankwolfe.objectives.linear_model import LinearModel
from frankwolfe.rows.rows_in_parts import RowsInParts
from frankwolfe.rows.user_data import data_matrix, is_in_parts
from frankwolfe.validation import vector

GRAM_LIMIT = 2000  # features up to which the smallest eigenvalue is computed from the Gram matrix


class LeastSquares(LinearModel):
    """Mean squared error of a linear model, f(x) = ‖Ax - b‖²/(2n) + (ridge/2)‖x‖².

    Parameters
    ----------
    A : array, sparse matrix, LinearOperator or DataFrame of shape (n, d)
        One sample per row.
    b : array of shape (n,)
        Targets.
    sample_weight : array of shape (n,), optional
        Nonnegative sample weights; the mean is weighted by them.
    intercept : bool, default False
        Add a free intercept, a constant outside the set: f(x) is then the minimum over it. `best_intercept` returns it
        for margins Ax.
    ridge : float, default 0
        Weight of an optional squared-norm term.

    Examples
    --------
    >>> import numpy as np
    >>> f = LeastSquares(np.eye(2), [2.0, 0.0])
    >>> float(f.value(np.zeros(2))), f.grad(np.zeros(2)), round(f.smoothness, 9)
    (1.0, array([-1.,  0.]), 0.5)
    """

    kind: ClassVar[int | None] = SQUARES

    def __init__(
        self, A: Any, b: Any, *, sample_weight: Any = None, intercept: bool = False, ridge: float = 0.0
    ) -> None:
        if is_in_parts(A):
            self._take_parts(A, b, sample_weight, ridge, intercept)
            return
        data = data_matrix("A", A)
        super().__init__(data, vector("b", b, data.shape[0]), sample_weight, ridge, intercept)
        self._centre()

    @property
    def smoothness(self) -> float:
        return self._gram_norm + self.ridge

    @cached_property
    def strong_convexity(self) -> float:
        """Proven lower bound on the Hessian's eigenvalues: from the Gram matrix where it is small, else the ridge."""
        n, d = self.data.shape
        if isinstance(self.data, RowsInParts):
            if self.intercept or not self.data.forms_gram:
                return self.ridge
            return max(least_eigenvalue(self.data.share_gram, n + 4), 0.0) + self.ridge
        if d > min(n, GRAM_LIMIT):
            return self.ridge
        wide = self.doubled() if eps(self.share) > 1e-9 else None
        if wide is not None:
            return wide.strong_convexity
        gram = np.stack([host(self.data.adjoint(self.share * self.data.column(j))) for j in range(d)])
        mass = float(np.trace(gram))
        if self.intercept:
            mean = host(self.data.adjoint(self.share))
            gram, mass = gram - np.outer(mean, mean), 4 * mass  # what cancels was rounded before
        return max(least_eigenvalue(gram, n + 4, mass), 0.0) + self.ridge

    def losses(self, m: Array, rows: slice = slice(None)) -> Array:
        return 0.5 * (m - self.b[rows]) ** 2

    def _slope(self, t: Array, rows: Any) -> Array:
        return self.share[rows] * (t - self.b[rows])

    def _curvature(self, t: Array, rows: Any) -> Array:
        return self.share[rows]

    def _conjugate(self, slope: Array) -> Scalar:
        return vdot(slope, 0.5 * slope / nonzero(self.share) + self.b)

    def _bracket(self, m: Array) -> tuple[float, float, float]:
        best = float(vdot(self.share, self.b - m))
        return best, best, best

    def _solve(self, m: Array) -> float:
        return self._bracket(m)[1]
