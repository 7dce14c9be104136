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


def loss_of(description: dict[str, Any]) -> Loss:
    """Return the loss that a description names."""
    name = description["loss"]
    if name == "huber":
        return Huber(description["delta"])
    return {"logistic": Logistic, "least_squares": Squares}[name]()
