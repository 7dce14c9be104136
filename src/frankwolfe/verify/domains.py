"""What the judge asks of a set: how large a linear function is on it at most, and how far outside a point is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from frankwolfe.verify.arithmetic import SMALLEST, Interval, dot, up


class CannotShow(ValueError):
    """What the judge was asked to prove and could not; the message says why."""


class Domain(ABC):
    """A compact convex set to be judged, with the entries of its description as attributes."""

    known: ClassVar[dict[str, type[Domain]]] = {}
    """The classes of the judge by the names of the sets that they judge: their own, or those given as `judges`."""

    radius: float
    ulps = 8
    """Ulps of its size that a point may be outside and count as inside; more where it cannot be measured so sharply."""

    def __init_subclass__(cls, judges: tuple[str, ...] = (), **options: Any) -> None:
        super().__init_subclass__(**options)
        Domain.known |= dict.fromkeys(judges or (cls.__name__,), cls)

    def __init__(self, description: dict[str, Any]) -> None:
        for name, value in description.items():
            setattr(self, name, read(value))
        parts = [part for value in vars(self).values() for part in (value if isinstance(value, list) else [value])]
        self.ulps = max([self.ulps, *(part.ulps for part in parts if isinstance(part, Domain))])

    @cached_property
    def size(self) -> float:
        """About the largest magnitude of an entry of a point: what distances are relative to, and never zero."""
        return max(self.extent(), SMALLEST)

    def extent(self) -> float:
        """Return that magnitude: the radius, where the set has one and says nothing else."""
        return self.radius

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

    def vertices(self, shape: tuple[int, ...]) -> np.ndarray | None:
        """Return points whose hull is the set (in it to rounding), one in a row, where they are few; else None."""
        return None

    def nearest(self, x: np.ndarray) -> np.ndarray | None:
        """Return about the nearest point of the set, where it is easily found; else None."""
        return None

    def farthest(self, at: np.ndarray) -> float:
        """Return an upper bound of the squared distance of a point of the set from another point."""
        # |v - at|² <= 2 |v|² + 2 |at|², and |v|_2 <= |v|_1.
        length = Interval(self.reach(np.ones(at.shape)))
        return float(((length.squared() + dot(at, at)) * 2.0).hi)


class Solid(Domain):
    """A ball that holds with x all points of the same or smaller magnitudes: reach and support are one question."""

    def support(self, h: np.ndarray) -> float:
        return float((self.dual_norm(h) * self.radius).hi)

    def reach(self, e: np.ndarray) -> float:
        return self.support(e)

    def excess(self, x: np.ndarray) -> Interval:
        return self.norm(x) / self.radius - 1.0

    @abstractmethod
    def norm(self, x: np.ndarray) -> Interval:
        """Return an enclosure of the norm."""

    @abstractmethod
    def dual_norm(self, h: np.ndarray) -> Interval:
        """Return an enclosure of the dual norm (of which only the upper end is used)."""


def largest(*parts: Interval) -> Interval:
    """Return the largest of several numbers, or of all their entries."""
    return Interval(max(float(np.max(p.lo)) for p in parts), max(float(np.max(p.hi)) for p in parts))


def require(x: Any, shape: tuple[int, ...]) -> None:
    """Raise unless x has the set's shape."""
    if not isinstance(x, np.ndarray) or x.shape != tuple(shape):
        raise CannotShow(f"the set holds points of shape {tuple(shape)}, and this one has shape {np.shape(x)}")


def magnitude(*arrays: np.ndarray) -> float:
    """Return the largest magnitude of an entry of some arrays."""
    return max(float(np.max(np.abs(a), initial=0.0)) for a in arrays)


def read(value: Any) -> Any:
    """Return an entry of a description: sets are made, numbers are in double precision."""
    if isinstance(value, dict):
        return domain_of(value)
    if isinstance(value, list):
        return [read(part) for part in value]
    return np.asarray(value, np.float64) if isinstance(value, np.ndarray) else value


def domain_of(description: dict[str, Any]) -> Domain:
    """Return the set that a description names."""
    kind = description.get("kind")
    if kind not in Domain.known:
        raise CannotShow(f"no proof is known for a set of kind {kind!r}")
    return Domain.known[kind](description)
