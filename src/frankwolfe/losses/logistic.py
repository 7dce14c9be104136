"""The logistic loss: minus the log-likelihood of a label whose log odds are the margin."""

from __future__ import annotations

import math
from collections import namedtuple
from typing import Any

import numpy as np

from frankwolfe.backends import Array, namespace
from frankwolfe.backends.elementary import exp, log1p, maximum, minimum, pick_above
from frankwolfe.losses.base import Loss, both, class_weights, spread, times_log


class LogisticLoss(Loss, namedtuple("LogisticLoss", ())):
    """log(1 + exp(-bm)) for labels b = -1 or 1.

    All is made of exp(-|m|): finite, and right to rounding, for margins of any size.
    """

    __slots__ = ()

    name = "log_loss"
    labels = True

    @staticmethod
    def value(m: Any, b: Any) -> Any:
        return maximum(-(b * m), 0.0) + log1p(exp(-abs(m)))

    @staticmethod
    def slope(m: Any, b: Any) -> Any:
        u = exp(-abs(m))
        return -(b * (pick_above(b * m, 0.0, u, 1.0) / (1.0 + u)))

    @staticmethod
    def curvature(m: Any, b: Any) -> Any:
        u = exp(-abs(m))
        return u / ((1.0 + u) * (1.0 + u))

    def conjugate(self, u: Array, b: Array) -> Array:
        """Return minus the entropy of the probability |u| of being wrong."""
        wrong = abs(u)
        return times_log(wrong) + complement(wrong)

    @staticmethod
    def mean(m: Array) -> Array:
        """Return the probability of the label 1."""
        u = exp(-abs(m))
        return pick_above(m, 0.0, 1.0, u) / (1.0 + u)

    def bend(self, largest: float) -> float:
        return 0.25

    def totals(self, b: np.ndarray, share: np.ndarray) -> tuple[float, ...]:
        return class_weights(b, share)

    def level(self, *totals: float) -> float:
        above, below = both(*totals)
        return math.log(above) - math.log(below)  # their ratio may overflow

    def bracket(self, m: Array, b: Array, share: Array, level: float) -> tuple[float, float, float]:
        return spread(m, level)

    def tail(self, m: Array, b: Array) -> Array:
        return exp(minimum(-(b * m), 700.0))


def complement(p: Array) -> Array:
    """Return (1 - p) log(1 - p) to rounding for probabilities however small, zero from one on."""
    xp = namespace(p)
    one = xp.ones_like(p)
    return (one - xp.minimum(p, one)) * xp.log1p(-xp.where(p < 1, p, xp.zeros_like(p)))
