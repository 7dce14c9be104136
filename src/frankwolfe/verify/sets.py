"""Sets as the judge knows them: what a linear function is at most on the set, and how far outside a point is."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from frankwolfe.verify.arithmetic import Interval, dot, sums, up
from frankwolfe.verify.objectives import CannotShow


class Domain(ABC):
    """A compact convex set to be judged."""

    remarks: tuple[str, ...] = ()

    @abstractmethod
    def support(self, h: np.ndarray) -> float:
        """Return an upper bound of the largest <h, v> over the set."""

    @abstractmethod
    def reach(self, e: np.ndarray) -> float:
        """Return an upper bound of the largest <e, \\|v\\|> over the set, for e >= 0."""

    @abstractmethod
    def excess(self, x: Any) -> Interval:
        """Return how far x is outside, relative to the size of the set: zero or less in it."""

    def highest(self, h: Interval) -> float:
        """Return an upper bound of <h, v> over the set, whatever numbers of the intervals h is made of."""
        error = h.radius
        spread = self.reach(error) if np.any(error) else 0.0
        return float(up(self.support(h.middle) + spread))

    def farthest(self, at: np.ndarray) -> float:
        """Return an upper bound of the squared distance of a point of the set from another point."""
        # |v - at|² <= 2 |v|² + 2 |at|², and |v|_2 <= |v|_1.
        length = Interval(self.reach(np.ones(at.shape)))
        return float(((length.squared() + dot(at, at)) * 2.0).hi)


def relative(norm: Interval, radius: float) -> Interval:
    """Return by which part a norm exceeds a radius."""
    return norm / radius - 1.0


class Solid(Domain):
    """A set that holds with x all points of the same or smaller magnitudes: reach and support are one question."""

    def reach(self, e: np.ndarray) -> float:
        return self.support(e)


class L1Ball(Solid):
    """Sum of magnitudes at most the radius."""

    def __init__(self, description: dict[str, Any]) -> None:
        self.radius = float(description["radius"])

    def support(self, h: np.ndarray) -> float:
        return float((Interval(np.max(np.abs(h))) * self.radius).hi)

    def excess(self, x: np.ndarray) -> Interval:
        return relative(sums(np.abs(x)), self.radius)


class L2Ball(Solid):
    """Euclidean norm at most the radius."""

    def __init__(self, description: dict[str, Any]) -> None:
        self.radius = float(description["radius"])

    def support(self, h: np.ndarray) -> float:
        return float((euclidean(h) * self.radius).hi)

    def excess(self, x: np.ndarray) -> Interval:
        return relative(euclidean(x), self.radius)

    def farthest(self, at: np.ndarray) -> float:
        return float((euclidean(at) + self.radius).squared().hi)


class LInfBall(Solid):
    """Every magnitude at most the radius."""

    def __init__(self, description: dict[str, Any]) -> None:
        self.radius = float(description["radius"])

    def support(self, h: np.ndarray) -> float:
        return float((sums(np.abs(h)) * self.radius).hi)

    def excess(self, x: np.ndarray) -> Interval:
        return relative(Interval(np.max(np.abs(x))), self.radius)


class Box(Domain):
    """Bounds on every entry."""

    def __init__(self, description: dict[str, Any]) -> None:
        self.lower, self.upper = (np.asarray(description[end], np.float64) for end in ("lower", "upper"))
        self.size = max(float(np.max(np.abs(self.lower))), float(np.max(np.abs(self.upper))), 5e-324)

    def support(self, h: np.ndarray) -> float:
        return float(dot(h, np.where(h > 0, self.upper, self.lower)).hi)

    def reach(self, e: np.ndarray) -> float:
        return float(dot(e, np.broadcast_to(np.maximum(np.abs(self.lower), np.abs(self.upper)), e.shape)).hi)

    def excess(self, x: np.ndarray) -> Interval:
        over = Interval(x) - self.upper
        under = self.lower - Interval(x)
        return Interval(max(over.lo.max(), under.lo.max()), max(over.hi.max(), under.hi.max())) / self.size


class Simplex(Domain):
    """Nonnegative entries that add up to the radius."""

    def __init__(self, description: dict[str, Any]) -> None:
        self.radius, self.dim = float(description["radius"]), int(description["dim"])

    def support(self, h: np.ndarray) -> float:
        require(h, (self.dim,))
        return float((Interval(np.max(h)) * self.radius).hi)

    def reach(self, e: np.ndarray) -> float:
        return self.support(e)

    def excess(self, x: np.ndarray) -> Interval:
        require(x, (self.dim,))
        off = abs(sums(x) - self.radius)
        below = max(-float(np.min(x)), 0.0)
        return Interval(np.maximum(off.lo, below), np.maximum(off.hi, below)) / self.radius


def euclidean(x: np.ndarray) -> Interval:
    """Return an enclosure of the Euclidean norm, at any scale."""
    top = float(np.max(np.abs(x), initial=0.0))
    if top == 0 or not math.isfinite(top):
        return Interval(top)
    scale = 2.0 ** -math.frexp(top)[1] if abs(math.frexp(top)[1]) < 1000 else 1.0
    scaled = np.ravel(x) * scale
    return dot(scaled, scaled).sqrt() / scale


def require(x: np.ndarray, shape: tuple[int, ...]) -> None:
    """Raise unless x has the set's shape."""
    if np.shape(x) != shape:
        raise CannotShow(f"the set holds points of shape {shape}, and this one has shape {np.shape(x)}")


KINDS: dict[str, Any] = {"l1": L1Ball, "l2": L2Ball, "linf": LInfBall, "box": Box, "simplex": Simplex}


def domain_of(description: dict[str, Any]) -> Domain:
    """Return the set that a description names."""
    kind = description.get("kind")
    if kind not in KINDS:
        raise CannotShow(f"no proof is known for a set of kind {kind!r}")
    return KINDS[kind](description)
