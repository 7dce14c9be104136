"""Huber's loss: squared for small residuals, linear for large ones.

P. J. Huber, Robust estimation of a location parameter, Ann. Math. Statist. 35, 1964.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from frankwolfe.backends import Array
from frankwolfe.backends.elementary import maximum, minimum, pick_above
from frankwolfe.losses.base import Loss


class HuberLoss(Loss, namedtuple("HuberLoss", "delta")):
    """e²/2 for residuals e = m - b between -delta and delta, delta |e| - delta²/2 elsewhere."""

    __slots__ = ()

    name = "huber"
    residual = True

    @staticmethod
    def value(m: Any, b: Any, delta: float) -> Any:
        e = m - b
        near = maximum(minimum(e, delta), -delta)
        return near * (e - 0.5 * near)

    @staticmethod
    def slope(m: Any, b: Any, delta: float) -> Any:
        return maximum(minimum(m - b, delta), -delta)

    @staticmethod
    def curvature(m: Any, b: Any, delta: float) -> Any:
        return pick_above(abs(m - b), delta, 0.0, 1.0)

    def conjugate(self, u: Array, b: Array) -> Array:
        return u * (0.5 * u + b)

    @property
    def knee(self) -> float:
        return 0.0
