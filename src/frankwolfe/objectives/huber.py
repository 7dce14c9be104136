"""Robust regression."""

from __future__ import annotations

from typing import Any

from frankwolfe.backends import Array, Scalar, namespace, vdot
from frankwolfe.backends.namespace import nonzero
from frankwolfe.objectives.linear_model import LinearModel
from frankwolfe.rows.user_data import data_matrix, is_in_parts
from frankwolfe.validation import positive, vector


class Huber(LinearModel):
    """Mean Huber loss of a linear model: squared for residuals up to `delta`, linear beyond, so outliers pull less.

    f(x) = mean h(a_i'x - b_i) + (ridge/2)‖x‖² with h(r) = r²/2 for r between -delta and delta, and
    ``delta |r| - delta²/2`` elsewhere.

    Parameters
    ----------
    A : array, sparse matrix, LinearOperator or DataFrame of shape (n, d)
        One sample per row.
    b : array of shape (n,)
        Targets.
    delta : float, default 1.35
        Where the loss turns linear, in the units of b.
    sample_weight : array of shape (n,), optional
        Nonnegative sample weights; the mean is weighted by them.
    intercept : bool, default False
        Add a free intercept, a constant outside the set: f(x) is then the minimum over it. `best_intercept` returns it
        for margins Ax.
    ridge : float, default 0
        Weight of an optional squared-norm term.

    References
    ----------
    .. [1] P. J. Huber, Robust estimation of a location parameter, Ann. Math. Statist. 35, 1964.

    Examples
    --------
    >>> import numpy as np
    >>> f = Huber(np.eye(2), [0.5, -10.0], delta=1.0)
    >>> float(f.value(np.zeros(2))), f.grad(np.zeros(2))
    (4.8125, array([-0.25,  0.5 ]))
    """

    def __init__(
        self,
        A: Any,
        b: Any,
        *,
        delta: float = 1.35,
        sample_weight: Any = None,
        intercept: bool = False,
        ridge: float = 0.0,
    ) -> None:
        if is_in_parts(A):
            self._take_parts(A, b, sample_weight, ridge, intercept, delta=positive("delta", delta))
            return
        data = data_matrix("A", A)
        super().__init__(data, vector("b", b, data.shape[0]), sample_weight, ridge, intercept)
        self._centre()
        self.delta = positive("delta", delta)

    @property
    def knee(self) -> float:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.delta

    @property
    def smoothness(self) -> float:
        return self._gram_norm + self.ridge

    @property
    def strong_convexity(self) -> float:
        return self.ridge

    def losses(self, m: Array, rows: slice = slice(None)) -> Array:
        residual = m - self.b[rows]
        near = self._clipped(residual)
        return near * (residual - 0.5 * near)

    def _slope(self, t: Array, rows: Any) -> Array:
        return self.share[rows] * self._clipped(t - self.b[rows])

    def _curvature(self, t: Array, rows: Any) -> Array:
        share, xp = self.share[rows], namespace(t)
        return xp.where(xp.abs(t - self.b[rows]) <= self.delta, share, xp.zeros_like(share))

    def _conjugate(self, slope: Array) -> Scalar:
        return vdot(slope, 0.5 * slope / nonzero(self.share) + self.b)

    def _bracket(self, m: Array) -> tuple[float, float, float]:
        xp, missing = namespace(m), self.b - m
        return float(xp.min(missing)), float(vdot(self.share, missing)), float(xp.max(missing))

    def _clipped(self, residual: Array) -> Array:
        return namespace(residual).clip(residual, -self.delta, self.delta)

    def fingerprint(self, start: Any) -> list[Any]:
        return [self.delta, *super().fingerprint(start)]
