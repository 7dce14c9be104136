"""Rates: the slope of log h against log k, with an interval."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

POINTS = 40  # samples, evenly spaced in log k
BLOCK = 5  # neighbouring samples are dependent: the bootstrap draws blocks of them


class Slope(NamedTuple):
    """A slope, a 95 % interval for it, and the range of k it was measured on."""

    value: float
    low: float
    high: float
    first: int
    last: int

    def __str__(self) -> str:
        return "not measurable" if math.isnan(self.value) else f"{self.value:.2f} [{self.low:.2f}, {self.high:.2f}]"


NOTHING = Slope(math.nan, math.nan, math.nan, 0, 0)


def envelope(h: np.ndarray) -> np.ndarray:
    """Return the largest value from k on, a monotone upper bound of a curve that zig-zags."""
    return np.maximum.accumulate(h[::-1])[::-1]


def slope(k: np.ndarray, h: np.ndarray, first: int, last: int, floor: float = 0.0, seed: int = 0) -> Slope:
    """Fit log h = a + slope * log k on [first, last], with a block-bootstrap interval (of this seed).

    Errors h should be an envelope if the curve zig-zags. From the first value below ten times `floor`, the accuracy of
    f*, on the rest is left out; there is `NOTHING` where fewer than eight points are left.
    """
    inside = (k >= first) & (k <= last)
    k, h = k[inside], h[inside]
    known = np.logical_and.accumulate(h > max(10 * floor, 0.0))
    k, h = k[known], h[known]
    if k.size < 8 or k[-1] < 1.5 * k[0]:
        return NOTHING
    wanted = np.geomspace(k[0], k[-1], POINTS)
    chosen = np.unique(np.searchsorted(k, wanted).clip(0, k.size - 1))
    X, y = np.log(k[chosen].astype(float)), np.log(h[chosen])
    if X.size < 8:
        return NOTHING
    value, intercept = np.polyfit(X, y, 1)
    residual = y - (intercept + value * X)
    rng = np.random.default_rng(seed)
    starts = rng.integers(0, X.size - BLOCK + 1, size=(1000, math.ceil(X.size / BLOCK)))
    picks = (starts[:, :, None] + np.arange(BLOCK)).reshape(1000, -1)[:, : X.size]
    centred = X - X.mean()
    slopes = value + residual[picks] @ centred / (centred @ centred)
    low, high = np.quantile(slopes, [0.025, 0.975])
    return Slope(float(value), float(low), float(high), int(k[0]), int(k[-1]))


def pooled(slopes: list[Slope]) -> Slope:
    """Return the mean slope of repetitions with other data, with Student's 95 % interval."""
    known = [s for s in slopes if not math.isnan(s.value)]
    if len(known) < 2:
        return known[0] if known else NOTHING
    from scipy.stats import t

    values = np.array([s.value for s in known])
    half = t.ppf(0.975, values.size - 1) * values.std(ddof=1) / math.sqrt(values.size)
    mean = float(values.mean())
    return Slope(mean, mean - half, mean + half, max(s.first for s in known), min(s.last for s in known))
