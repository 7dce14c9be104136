"""Half the squared residual."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from frankwolfe.backends import Array, vdot
from frankwolfe.backends.elementary import pick_above
from frankwolfe.losses.base import Loss


class SquaredLoss(Loss, namedtuple("SquaredLoss", ())):
    """(m - b)²/2."""

    __slots__ = ()

    name = "squared_error"
    residual = True
    quadratic = True

    @staticmethod
    def value(m: Any, b: Any) -> Any:
        e = m - b
        return 0.5 * (e * e)

    @staticmethod
    def slope(m: Any, b: Any) -> Any:
        return m - b

    @staticmethod
    def curvature(m: Any, b: Any) -> Any:
        return pick_above(m, m, 1.0, 1.0)  # as many as there are margins

    def conjugate(self, u: Array, b: Array) -> Array:
        return u * (0.5 * u + b)

    def intercept(self, m: Array, b: Array, share: Array, level: float) -> float:
        return float(vdot(share, b - m))
