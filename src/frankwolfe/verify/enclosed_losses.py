"""Losses of one margin m and target b, as the judge knows them: value and conjugate as enclosures, a slope as a guess.

The conjugate of φ at u is the largest um - φ(m); whatever u is, φ(m) >= um - conjugate(u) for all m. So slopes need
not be right, only in the conjugate's domain: `tamed` brings them there.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from frankwolfe.verify.arithmetic import Interval, up
from frankwolfe.verify.domains import CannotShow
from frankwolfe.verify.functions import exp, log1p, times_log


class Loss(ABC):
    """A convex function of a margin, never negative. Its conjugate's domain goes from `lowest` to `highest`."""

    known: ClassVar[dict[str, type[Loss]]] = {}
    """The losses by the names that estimators call them; parameters come in the order of the loss's own."""

    def __init_subclass__(cls, name: str) -> None:
        Loss.known[name] = cls

    @abstractmethod
    def value(self, m: Interval, b: np.ndarray) -> Interval:
        """Return enclosures of φ(m)."""

    @abstractmethod
    def slope(self, m: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return about φ'(m)."""

    @abstractmethod
    def inside(self, u: Interval, b: np.ndarray) -> Interval:
        """Return enclosures of the conjugate in its domain."""

    def lowest(self, b: np.ndarray) -> np.ndarray:
        """Return the least slope."""
        return np.full(b.shape, -np.inf)

    def highest(self, b: np.ndarray) -> np.ndarray:
        """Return the largest slope."""
        return np.full(b.shape, np.inf)

    def size(self, m: np.ndarray, b: np.ndarray) -> np.ndarray | float:
        """Return about the size of the terms that are added up for a loss, where it may be much smaller than they."""
        return 0.0

    def tamed(self, u: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return the slopes, moved into the conjugate's domain."""
        return np.clip(u, self.lowest(b), self.highest(b))

    def conjugate(self, u: Interval, b: np.ndarray) -> Interval:
        """Return enclosures of the conjugate, infinite where u may lie outside its domain."""
        low, high = self.lowest(b), self.highest(b)
        found = self.inside(Interval(np.clip(u.lo, low, high), None if u.lo is u.hi else np.clip(u.hi, low, high)), b)
        return Interval(found.lo, np.where((u.lo >= low) & (u.hi <= high), found.hi, np.inf))

    def room(self, u: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return about how far u may move and stay in the domain, where it has ends."""
        return np.minimum(np.minimum(u - self.lowest(b), self.highest(b) - u), 1.0)

    def shift(self, m: np.ndarray, b: np.ndarray, weights: np.ndarray) -> float:
        """Return about the best intercept: where the weighted slopes of m + c add up to zero."""
        from scipy.optimize import brentq

        def total(c: float) -> float:
            return float(weights @ self.slope(m + c, b))

        low, high = self.bracket(m, b, weights)
        if not total(low) < 0:
            return low
        if not total(high) > 0:
            return high
        return float(brentq(total, low, high, xtol=1e-300, maxiter=500, disp=False))  # pyright: ignore[reportArgumentType]

    def bracket(self, m: np.ndarray, b: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
        """Return two intercepts with the best one between them, or equal to one of them."""
        return float(np.min(b - m)), float(np.max(b - m))


class Clipped(Loss, name="squared_error"):
    """The largest ue - smoothing/2 u² over slopes u between two ends, e = m - b: a parabola that goes on in lines."""

    def __init__(self, low: float = -np.inf, high: float = np.inf, smoothing: float = 1.0) -> None:
        self.low, self.high, self.smoothing = low, high, smoothing

    def lowest(self, b: np.ndarray) -> np.ndarray:
        return np.full(b.shape, self.low)

    def highest(self, b: np.ndarray) -> np.ndarray:
        return np.full(b.shape, self.high)

    def value(self, m: Interval, b: np.ndarray) -> Interval:
        e = m - b
        u = e / self.smoothing if self.smoothing != 1 else e
        u = Interval(self.tamed(u.lo, b), self.tamed(u.hi, b))
        return u * (e - u * (0.5 * self.smoothing))

    def slope(self, m: np.ndarray, b: np.ndarray) -> np.ndarray:
        return self.tamed((m - b) / self.smoothing, b)

    def inside(self, u: Interval, b: np.ndarray) -> Interval:
        return u * (u * (0.5 * self.smoothing) + b)


class Huber(Clipped, name="huber"):
    """The parabola around b, with lines of slopes of at most a given size."""

    def __init__(self, delta: float) -> None:
        super().__init__(-delta, delta)


class Quantile(Clipped, name="quantile"):
    """The smoothed pinball loss."""

    def __init__(self, quantile: float, delta: float) -> None:
        super().__init__(-quantile, 1.0 - quantile, delta)


class SquaredHinge(Clipped, name="squared_hinge"):
    """max(1 - bm, 0)²/2 for b = 1 or -1: the parabola around b, on one side of it."""

    def lowest(self, b: np.ndarray) -> np.ndarray:
        return np.where(b > 0, -np.inf, 0.0)

    def highest(self, b: np.ndarray) -> np.ndarray:
        return np.where(b > 0, 0.0, np.inf)


class Logistic(Loss, name="log_loss"):
    """log(1 + exp(-bm)) for b = 1 or -1."""

    def lowest(self, b: np.ndarray) -> np.ndarray:
        return np.where(b > 0, -1.0, 0.0)

    def highest(self, b: np.ndarray) -> np.ndarray:
        return np.where(b > 0, 0.0, 1.0)

    def value(self, m: Interval, b: np.ndarray) -> Interval:
        t = _against(m, b)
        middle, radius = t.middle, t.radius
        small = exp(Interval(-np.abs(middle)))
        found = log1p(small) + np.maximum(middle, 0.0)
        # The derivative is at most one, and at most exp(t): less than twice that of the middle nearby.
        steep = np.where((middle < 0) & (radius < 0.5), np.minimum(up(2 * small.hi), 1.0), 1.0)
        spread = Interval(radius) * steep
        return found + Interval(-spread.hi, spread.hi)

    def slope(self, m: np.ndarray, b: np.ndarray) -> np.ndarray:
        t = -b * m
        small = np.exp(-np.abs(t))
        return -b * np.where(t >= 0, 1.0, small) / (1 + small)

    def inside(self, u: Interval, b: np.ndarray) -> Interval:
        p = _against(u, b)
        low = _minus_entropy(p.lo)
        if p.lo is p.hi:
            return low
        return Interval(np.full(p.shape, -0.7), np.maximum(low.hi, _minus_entropy(p.hi).hi))  # convex

    def bracket(self, m: np.ndarray, b: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
        # Were all margins equal, the best intercept would bring them to the log odds.
        odds = float(np.log(np.sum(weights[b > 0])) - np.log(np.sum(weights[b <= 0])))
        return odds - float(np.max(m)) - 1e-6, odds - float(np.min(m)) + 1e-6


class Poisson(Loss, name="poisson"):
    """exp(m) - bm + b log b - b for b >= 0: half the deviance of a count whose mean is exp(m)."""

    def lowest(self, b: np.ndarray) -> np.ndarray:
        return -b

    def value(self, m: Interval, b: np.ndarray) -> Interval:
        found = exp(m) - m * b + (times_log(Interval(b)) - b)
        return Interval(np.maximum(found.lo, 0.0), found.hi)

    def slope(self, m: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.exp(m) - b

    def inside(self, u: Interval, b: np.ndarray) -> Interval:
        mean = u + b
        mean = Interval(np.maximum(mean.lo, 0.0), mean.hi)
        return times_log(mean) - mean - (times_log(Interval(b)) - b)

    def size(self, m: np.ndarray, b: np.ndarray) -> np.ndarray | float:
        return np.exp(m) + b * (1 + np.abs(m) + np.abs(np.log(np.maximum(b, 1e-300))))

    def bracket(self, m: np.ndarray, b: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
        level = float(np.log(weights @ b / weights.sum()))
        return level - float(np.max(m)) - 1e-6, level - float(np.min(m)) + 1e-6


class Gamma(Loss, name="gamma"):
    """exp(-e) + e - 1 with e = m - b, where b is the logarithm of a target: half the deviance if its mean is exp(m)."""

    def highest(self, b: np.ndarray) -> np.ndarray:
        return np.ones(b.shape)

    def value(self, m: Interval, b: np.ndarray) -> Interval:
        e = m - b
        found = exp(-e) + (e - 1.0)
        return Interval(np.maximum(found.lo, 0.0), found.hi)

    def slope(self, m: np.ndarray, b: np.ndarray) -> np.ndarray:
        return 1.0 - np.exp(b - m)

    def inside(self, u: Interval, b: np.ndarray) -> Interval:
        off = 1.0 - u
        return u * b + times_log(Interval(np.maximum(off.lo, 0.0), off.hi)) + u

    def size(self, m: np.ndarray, b: np.ndarray) -> np.ndarray | float:
        return np.exp(b - m) * (1 + np.abs(b - m)) + np.abs(b - m) + 1.0


def _against(m: Interval, b: np.ndarray) -> Interval:
    """Return -bm for b = 1 or -1: nothing is rounded."""
    if m.lo is m.hi:
        return Interval(-b * m.lo)
    return Interval(np.where(b > 0, -m.hi, m.lo), np.where(b > 0, -m.lo, m.hi))


def _minus_entropy(p: np.ndarray) -> Interval:
    """Return enclosures of p log p + (1 - p) log(1 - p) for p from zero to one."""
    p = np.where(p > 0.5, 1 - p, p)  # exact there
    other = Interval(p)
    return times_log(other) + (1.0 - other) * log1p(-other)


def loss_of(description: dict[str, Any]) -> Loss:
    """Return the loss that a description names."""
    name = description["loss"]
    if name not in Loss.known:
        raise CannotShow(f"f(x) and a lower bound: no formula is known of the loss {name!r}")
    return Loss.known[name](*description["parameters"])
