"""Gamma regression with a logarithmic link: half the deviance of positive targets whose mean is exp(margin).

In the logarithms of the targets it is a function of the residual e = m - log b alone, exp(-e) + e - 1. The curvature
exp(-e) has no bound, but a compact set bounds the margins: f is smooth on it, with the curvature at the smallest
residual, exp(M + max log b), M the largest margin that the set reaches. For the rounding of certificates: with
x = exp(-e) - 1, φ = x - log(1 + x) and φ' = -x, so that |φ'| <= sqrt(2φ) + 2φ as in `poisson.py`.
"""

from __future__ import annotations

import math
from collections import namedtuple
from typing import Any

import numpy as np

from frankwolfe.backends import Array
from frankwolfe.backends.elementary import exp, maximum
from frankwolfe.losses.base import Loss, log_mean_exp, times_log


class GammaLoss(Loss, namedtuple("GammaLoss", ())):
    """exp(b - m) + (m - b) - 1, where b is the logarithm of a positive target."""

    __slots__ = ()

    name = "gamma"
    residual = True
    bounded = False
    steep = 2.0
    unit = 4.0  # exp(-e) <= 2φ + 2 and |e| <= φ + 1

    @staticmethod
    def value(m: Any, b: Any) -> Any:
        return (exp(b - m) - 1.0) + (m - b)

    @staticmethod
    def slope(m: Any, b: Any) -> Any:
        return 1.0 - exp(b - m)

    @staticmethod
    def curvature(m: Any, b: Any) -> Any:
        return exp(b - m)

    def conjugate(self, u: Array, b: Array) -> Array:
        off = maximum(1.0 - u, 0.0)  # target over mean: zero but for rounding where it is below
        return u * b + times_log(off) + u

    @staticmethod
    def mean(m: Array) -> Array:
        return exp(m)

    def targets(self, b: np.ndarray) -> np.ndarray:
        if not b.min() > 0:
            raise ValueError(
                f"b must be positive for the Gamma loss, got {float(b.min())!r}; Poisson takes zeros, and Huber or "
                "LeastSquares any number"
            )
        return np.log(b.astype(np.float64))

    def steepest(self, margin: float, largest: float) -> float:
        return math.exp(min(margin + largest, 709.0))

    def scale(self, norm: float) -> float:
        return 1.0

    def intercept(self, m: Array, b: Array, share: Array, level: float) -> float:
        return log_mean_exp(b - m, share)
