"""Losses of one margin m and target b, as the judge knows them: value and conjugate as enclosures, a slope as a guess.

The conjugate of φ at u is the largest um - φ(m); whatever u is, φ(m) >= um - conjugate(u) for all m. So slopes need
not be right, only in the conjugate's domain: `tamed` brings them there.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from frankwolfe.verify.arithmetic import Interval, up
from frankwolfe.verify.functions import exp, log, log1p


class Loss(ABC):
    """A convex function of a margin."""

    @abstractmethod
    def value(self, m: Interval, b: np.ndarray) -> Interval:
        """Return enclosures of φ(m)."""

    @abstractmethod
    def slope(self, m: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return about φ'(m)."""

    @abstractmethod
    def tamed(self, u: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return the slopes, moved into the conjugate's domain."""

    @abstractmethod
    def conjugate(self, u: Interval, b: np.ndarray) -> Interval:
        """Return enclosures of the conjugate, infinite where u may lie outside its domain."""

    def terms(self, m: np.ndarray, b: np.ndarray) -> np.ndarray | float:
        """Return about the sizes of the terms of φ(m) that may cancel."""
        return 0.0

    def room(self, u: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return about how far u may move and stay in the domain, where it has ends."""
        return np.ones(u.shape)

    def shift(self, m: np.ndarray, b: np.ndarray, weights: np.ndarray) -> float:
        """Return about the best intercept: where the weighted slopes of m + c add up to zero."""
        from scipy.optimize import brentq

        def total(c: float) -> float:
            return float(weights @ self.slope(m + c, b))

        low, high = self.bracket(m, b, weights)
        if not (low < high and total(low) < 0 < total(high)):
            return 0.5 * (low + high)
        return float(brentq(total, low, high, xtol=1e-300, maxiter=500, disp=False))  # pyright: ignore[reportArgumentType]

    def bracket(self, m: np.ndarray, b: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
        """Return two intercepts with the best one between them, or equal to both."""
        return float(np.min(b - m)), float(np.max(b - m))


class Squares(Loss):
    """Half the squared residual."""

    def value(self, m: Interval, b: np.ndarray) -> Interval:
        return (m - b).squared() * 0.5

    def slope(self, m: np.ndarray, b: np.ndarray) -> np.ndarray:
        return m - b

    def tamed(self, u: np.ndarray, b: np.ndarray) -> np.ndarray:
        return u

    def conjugate(self, u: Interval, b: np.ndarray) -> Interval:
        return u * (u * 0.5 + b)


class Huber(Loss):
    """Half the squared residual up to `delta`, linear beyond."""

    def __init__(self, delta: float) -> None:
        self.delta = float(delta)

    def value(self, m: Interval, b: np.ndarray) -> Interval:
        residual = abs(m - b)
        near = Interval(np.minimum(residual.lo, self.delta), np.minimum(residual.hi, self.delta))
        return near * (residual - near * 0.5)

    def slope(self, m: np.ndarray, b: np.ndarray) -> np.ndarray:
        return self.tamed(m - b, b)

    def tamed(self, u: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.clip(u, -self.delta, self.delta)

    def conjugate(self, u: Interval, b: np.ndarray) -> Interval:
        found = u * (u * 0.5 + b)
        inside = (u.lo >= -self.delta) & (u.hi <= self.delta)
        return Interval(found.lo, np.where(inside, found.hi, np.inf))

    def room(self, u: np.ndarray, b: np.ndarray) -> np.ndarray:
        return self.delta - np.abs(u)


class Logistic(Loss):
    """log(1 + exp(-bm)) for b = 1 or -1."""

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

    def tamed(self, u: np.ndarray, b: np.ndarray) -> np.ndarray:
        return -b * np.clip(-b * u, 0.0, 1.0)

    def conjugate(self, u: Interval, b: np.ndarray) -> Interval:
        p = _against(u, b)
        low = _minus_entropy(np.clip(p.lo, 0.0, 1.0))
        if p.lo is p.hi:
            found = low
        else:  # convex: largest at an end
            high = _minus_entropy(np.clip(p.hi, 0.0, 1.0))
            found = Interval(np.full(p.shape, -0.7), np.maximum(low.hi, high.hi))
        inside = (p.lo >= 0) & (p.hi <= 1)
        return Interval(found.lo, np.where(inside, found.hi, np.inf))

    def room(self, u: np.ndarray, b: np.ndarray) -> np.ndarray:
        return 0.5 - np.abs(np.abs(u) - 0.5)

    def bracket(self, m: np.ndarray, b: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
        # Were all margins equal, the best intercept would bring them to the log odds.
        odds = float(np.log(np.sum(weights[b > 0])) - np.log(np.sum(weights[b <= 0])))
        return odds - float(np.max(m)) - 1e-6, odds - float(np.min(m)) + 1e-6


class SquaredHinge(Loss):
    """max(1 - bm, 0)²/2 for b = 1 or -1."""

    def value(self, m: Interval, b: np.ndarray) -> Interval:
        short = _against(m, b) + 1.0
        return Interval(np.maximum(short.lo, 0.0), np.maximum(short.hi, 0.0)).squared() * 0.5

    def slope(self, m: np.ndarray, b: np.ndarray) -> np.ndarray:
        return -b * np.maximum(1 - b * m, 0.0)

    def tamed(self, u: np.ndarray, b: np.ndarray) -> np.ndarray:
        return -b * np.maximum(-b * u, 0.0)

    def conjugate(self, u: Interval, b: np.ndarray) -> Interval:
        found = u * (u * 0.5 + b)
        return Interval(found.lo, np.where(_against(u, b).lo >= 0, found.hi, np.inf))

    def room(self, u: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.abs(u)


class Quantile(Loss):
    """The largest ue - delta u²/2 over u from -quantile to 1 - quantile, with e = m - b."""

    def __init__(self, quantile: float, delta: float) -> None:
        self.low, self.high, self.delta = -float(quantile), 1.0 - float(quantile), float(delta)

    def value(self, m: Interval, b: np.ndarray) -> Interval:
        e = m - b
        u = Interval(self.tamed(e.middle / self.delta, b))
        below = u * (e - u * (0.5 * self.delta))  # that of one u
        return Interval(below.lo, np.maximum(self._above(e.lo), self._above(e.hi)))  # convex: largest at an end

    def _above(self, e: np.ndarray) -> np.ndarray:
        """Return bounds above: the least pinball(z) + (e - z)²/(2 delta), of one z."""
        z = Interval(e - self.delta * self.tamed(e / self.delta, e))
        ends = np.maximum((z * self.low).hi, (z * self.high).hi)
        return (Interval(ends) + (z - e).squared() / (2 * self.delta)).hi

    def slope(self, m: np.ndarray, b: np.ndarray) -> np.ndarray:
        return self.tamed((m - b) / self.delta, b)

    def tamed(self, u: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.clip(u, self.low, self.high)

    def conjugate(self, u: Interval, b: np.ndarray) -> Interval:
        found = u * (u * (0.5 * self.delta) + b)
        inside = (u.lo >= self.low) & (u.hi <= self.high)
        return Interval(found.lo, np.where(inside, found.hi, np.inf))

    def room(self, u: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.minimum(u - self.low, self.high - u)


class Poisson(Loss):
    """exp(m) - bm + b log b - b for b >= 0."""

    def value(self, m: Interval, b: np.ndarray) -> Interval:
        found = exp(m) - m * b + (_times_log(Interval(b)) - b)
        return Interval(np.maximum(found.lo, 0.0), found.hi)

    def slope(self, m: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.exp(np.minimum(m, 709.0)) - b

    def terms(self, m: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.exp(np.minimum(m, 709.0)) + b * (1 + np.abs(m) + np.abs(np.log(np.where(b > 0, b, 1.0))))

    def tamed(self, u: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.maximum(u, -b)

    def conjugate(self, u: Interval, b: np.ndarray) -> Interval:
        mean = u + b
        found = _times_log(mean) - mean - (_times_log(Interval(b)) - b)
        return Interval(found.lo, np.where((u.lo >= -b), found.hi, np.inf))

    def room(self, u: np.ndarray, b: np.ndarray) -> np.ndarray:
        return u + b

    def bracket(self, m: np.ndarray, b: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
        level = float(np.log(weights @ b) - np.log(np.sum(weights)))
        return level - float(np.max(m)) - 1e-6, level - float(np.min(m)) + 1e-6


class Gamma(Loss):
    """exp(b - m) + (m - b) - 1, with b the logarithm of a target."""

    def value(self, m: Interval, b: np.ndarray) -> Interval:
        e = m - b
        found = exp(-e) + e - 1.0
        return Interval(np.maximum(found.lo, 0.0), found.hi)

    def slope(self, m: np.ndarray, b: np.ndarray) -> np.ndarray:
        return 1 - np.exp(np.minimum(b - m, 709.0))

    def terms(self, m: np.ndarray, b: np.ndarray) -> np.ndarray:
        return (1 + np.exp(np.minimum(b - m, 709.0))) * (1 + np.abs(m) + np.abs(b))

    def tamed(self, u: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.minimum(u, 1.0)

    def conjugate(self, u: Interval, b: np.ndarray) -> Interval:
        found = u * b + _times_log(1.0 - u) + u
        return Interval(found.lo, np.where(u.hi <= 1, found.hi, np.inf))

    def room(self, u: np.ndarray, b: np.ndarray) -> np.ndarray:
        return 1 - u


def _against(m: Interval, b: np.ndarray) -> Interval:
    """Return -bm for b = 1 or -1: nothing is rounded."""
    if m.lo is m.hi:
        return Interval(-b * m.lo)
    return Interval(np.where(b > 0, -m.hi, m.lo), np.where(b > 0, -m.lo, m.hi))


def _minus_entropy(p: np.ndarray) -> Interval:
    """Return enclosures of p log p + (1 - p) log(1 - p) for p from zero to one."""
    p = np.where(p > 0.5, 1 - p, p)  # exact there
    zero, positive = p == 0, Interval(np.where(p == 0, 0.5, p))
    found = positive * log(positive) + (1.0 - positive) * log1p(-positive)
    return Interval(np.where(zero, 0.0, found.lo), np.where(zero, 0.0, found.hi))


def _times_log(p: Interval) -> Interval:
    """Return enclosures of p log p for p >= 0: convex, least at 1/e, zero at zero."""
    ends = [_exactly_times_log(np.maximum(end, 0.0)) for end in (p.lo, p.hi)]
    if p.lo is p.hi:
        return ends[0]
    inside = (p.lo < 0.37) & (p.hi > 0.36)
    low = np.where(inside, -0.3679, np.minimum(ends[0].lo, ends[1].lo))
    return Interval(low, np.maximum(ends[0].hi, ends[1].hi))


def _exactly_times_log(p: np.ndarray) -> Interval:
    zero = p == 0
    found = Interval(p) * log(Interval(np.where(zero, 1.0, p)))
    return Interval(np.where(zero, 0.0, found.lo), np.where(zero, 0.0, found.hi))


def loss_of(description: dict[str, Any]) -> Loss:
    """Return the loss that a description names."""
    kind, names = LOSSES[description["loss"]]
    return kind(*(description[name] for name in names))


LOSSES: dict[str, tuple[type[Loss], tuple[str, ...]]] = {
    "logistic": (Logistic, ()),
    "least_squares": (Squares, ()),
    "huber": (Huber, ("delta",)),
    "quantile": (Quantile, ("quantile", "delta")),
    "poisson": (Poisson, ()),
    "gamma": (Gamma, ()),
    "squared_hinge": (SquaredHinge, ()),
}
