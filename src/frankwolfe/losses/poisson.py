"""Poisson regression with its logarithmic link: half the deviance of counts whose mean is exp(margin).

The curvature exp(m) has no bound, but a compact set bounds the margins: f is smooth on it, with the curvature at the
largest margin M that it reaches, exp(M). For the rounding of certificates that is far too much. With x = exp(m)/b - 1,
φ = b (x - log(1 + x)) and φ' = bx; where x > 0, x - log(1 + x) >= x²/(2 + 2x) (both are zero at zero, and the
derivative of the difference is x²/(2(1 + x)²)), so x² - 2gx - 2g <= 0 with g = φ/b, and x <= 2g + sqrt(2g); where
x < 0, x - log(1 + x) >= x²/2. Either way |φ'| <= sqrt(2bφ) + 2φ.
"""

from __future__ import annotations

import math
from collections import namedtuple
from typing import Any

import numpy as np

from frankwolfe.backends import Array, vdot
from frankwolfe.backends.elementary import exp, maximum
from frankwolfe.losses.base import Loss, log_mean_exp, spread, times_log


class PoissonLoss(Loss, namedtuple("PoissonLoss", ())):
    """exp(m) - bm for targets b >= 0; with the constant b log b - b, half the deviance."""

    __slots__ = ()

    name = "poisson"
    bounded = False
    steep = 2.0

    @staticmethod
    def value(m: Any, b: Any) -> Any:
        return exp(m) - b * m

    @staticmethod
    def slope(m: Any, b: Any) -> Any:
        return exp(m) - b

    @staticmethod
    def curvature(m: Any, b: Any) -> Any:
        return exp(m)

    def conjugate(self, u: Array, b: Array) -> Array:
        mean = maximum(u + b, 0.0)  # zero but for rounding where it is below
        return times_log(mean) - mean

    @staticmethod
    def mean(m: Array) -> Array:
        return exp(m)

    def targets(self, b: np.ndarray) -> np.ndarray:
        if not b.min() >= 0:
            raise ValueError(
                f"b must be nonnegative for the Poisson loss, got {float(b.min())!r}; counts and rates are, and Huber "
                "or LeastSquares take any number"
            )
        return b

    def constant(self, b: np.ndarray) -> np.ndarray:
        return times_log(b) - b

    def bend(self, largest: float) -> float:
        return largest

    def steepest(self, margin: float, largest: float) -> float:
        return math.exp(min(margin, 709.0))

    def scale(self, norm: float) -> float:
        return norm

    def totals(self, b: np.ndarray, share: np.ndarray) -> tuple[float, ...]:
        return (float(vdot(share, b)),)

    def level(self, *totals: float) -> float:
        (mean,) = totals
        if not mean > 0:
            raise ValueError("intercept=True needs a target above zero with a positive sample_weight")
        return math.log(mean)

    def spread(self, b: np.ndarray) -> float:
        return float(np.max(np.abs(np.log(b[b > 0])), initial=0.0))

    def bracket(self, m: Array, b: Array, share: Array, level: float) -> tuple[float, float, float]:
        return spread(m, level)

    def intercept(self, m: Array, b: Array, share: Array, level: float) -> float:
        return level - log_mean_exp(m, share)
