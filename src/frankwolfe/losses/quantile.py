"""The pinball loss, whose minimiser is a quantile, made smooth near zero.

R. Koenker and G. Bassett, Regression quantiles, Econometrica 46, 1978; the smoothing is that of Y. Nesterov, Smooth
minimization of non-smooth functions, Math. Program. 103, 2005.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from frankwolfe.backends import Array
from frankwolfe.backends.elementary import maximum, minimum, pick_above
from frankwolfe.losses.base import Loss


class QuantileLoss(Loss, namedtuple("QuantileLoss", ("quantile", "delta"))):
    """The largest ue - delta u²/2 over slopes u from -quantile to 1 - quantile, with residuals e = m - b.

    Without the square it is the pinball loss, (1 - quantile) e for e > 0 and -quantile e for e < 0. It is below that by
    at most delta max(quantile, 1 - quantile)²/2, and never above.
    """

    __slots__ = ()

    name = "quantile"
    residual = True

    @staticmethod
    def value(m: Any, b: Any, quantile: float, delta: float) -> Any:
        e = m - b
        u = maximum(minimum(e / delta, 1.0 - quantile), -quantile)
        return u * (e - 0.5 * (delta * u))

    @staticmethod
    def slope(m: Any, b: Any, quantile: float, delta: float) -> Any:
        return maximum(minimum((m - b) / delta, 1.0 - quantile), -quantile)

    @staticmethod
    def curvature(m: Any, b: Any, quantile: float, delta: float) -> Any:
        e = (m - b) / delta
        return pick_above(e, 1.0 - quantile, 0.0, pick_above(-e, quantile, 0.0, 1.0)) / delta

    def conjugate(self, u: Array, b: Array) -> Array:
        return u * (0.5 * self.delta * u + b)

    def bend(self, largest: float) -> float:
        return 1 / self.delta

    @property
    def knee(self) -> float:
        return 0.0
