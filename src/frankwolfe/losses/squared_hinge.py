"""The squared hinge loss of support vector machines."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from frankwolfe.backends import Array
from frankwolfe.backends.elementary import maximum, pick_above
from frankwolfe.losses.base import Loss, both, class_weights


class SquaredHingeLoss(Loss, namedtuple("SquaredHingeLoss", ())):
    """max(1 - bm, 0)²/2 for labels b = -1 or 1: nothing for labels that are right by a margin of one."""

    __slots__ = ()

    name = "squared_hinge"
    labels = True

    @staticmethod
    def value(m: Any, b: Any) -> Any:
        short = maximum(1.0 - b * m, 0.0)
        return 0.5 * (short * short)

    @staticmethod
    def slope(m: Any, b: Any) -> Any:
        return -(b * maximum(1.0 - b * m, 0.0))

    @staticmethod
    def curvature(m: Any, b: Any) -> Any:
        return pick_above(1.0 - b * m, 0.0, 1.0, 0.0)

    @property
    def knee(self) -> float:
        return 0.0

    def conjugate(self, u: Array, b: Array) -> Array:
        return u * (0.5 * u + b)

    def totals(self, b: np.ndarray, share: np.ndarray) -> tuple[float, ...]:
        return class_weights(b, share)

    def level(self, *totals: float) -> float:
        both(*totals)
        return 0.0
