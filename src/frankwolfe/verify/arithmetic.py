"""Arithmetic that cannot lie: intervals of arrays, and sums without error.

Only +, -, *, / and the square root of IEEE 754 are trusted, which are correctly rounded everywhere: one step outward
after each makes an enclosure. Sums are sliced [1]_: the slices add up exactly in any order, so a sum of a million terms
is as sharp as one of two.

Overflow gives infinite ends, never a wrong one. Callers hold `np.errstate(all="ignore")`.

References
----------
.. [1] S. M. Rump, T. Ogita, S. Oishi, Accurate floating-point summation part I, SIAM J. Sci. Comput. 31, 2008.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

TINY = 2.0**-1060  # more than the errors that underflow can make in one exact product
SMALLEST = 2.0**-1000  # what the size of a set is at least, for it is divided by
_SPLIT = 134217729.0  # 2**27 + 1


def down(x: Any) -> Any:
    """Return the next number below: a lower bound of what was rounded to x."""
    return np.nextafter(x, -np.inf)


def up(x: Any) -> Any:
    """Return the next number above: an upper bound of what was rounded to x."""
    return np.nextafter(x, np.inf)


class Interval:
    """Numbers between `lo` and `hi`, entry by entry of two arrays; every operation encloses the true result."""

    __slots__ = ("hi", "lo")
    __array_ufunc__ = None  # so that an array on the left gives way

    def __init__(self, lo: Any, hi: Any = None) -> None:
        lo = np.asarray(lo, dtype=np.float64)
        hi = lo if hi is None else np.asarray(hi, dtype=np.float64)
        if np.isnan(lo).any() or np.isnan(hi).any():
            unknown = np.isnan(lo) | np.isnan(hi)
            lo, hi = np.where(unknown, -np.inf, lo), np.where(unknown, np.inf, hi)
        self.lo, self.hi = lo, hi

    @classmethod
    def around(cls, middle: Any, error: Any) -> Interval:
        """Return everything within `error` of `middle`."""
        return cls(down(middle - error), up(middle + error))

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the arrays."""
        return self.lo.shape

    @property
    def middle(self) -> np.ndarray:
        """A number near the middle of each interval, in it."""
        return np.clip(self.lo + 0.5 * (self.hi - self.lo), self.lo, self.hi)

    @property
    def radius(self) -> np.ndarray:
        """How far the interval goes from `middle`, at most."""
        middle = self.middle
        return np.where(self.lo == self.hi, 0.0, up(np.maximum(self.hi - middle, middle - self.lo)))

    def __getitem__(self, key: Any) -> Interval:
        return Interval(self.lo[key], self.hi[key])

    def reshape(self, *shape: Any) -> Interval:
        """Return the same intervals in another shape."""
        return Interval(self.lo.reshape(*shape), self.hi.reshape(*shape))

    def __neg__(self) -> Interval:
        return Interval(-self.hi, -self.lo)

    def __add__(self, other: Any) -> Interval:
        o = _interval(other)
        return Interval(down(self.lo + o.lo), up(self.hi + o.hi))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Interval:
        return self + (-_interval(other))

    def __rsub__(self, other: Any) -> Interval:
        return _interval(other) + (-self)

    def __mul__(self, other: Any) -> Interval:
        o = _interval(other)
        ends = [_times(a, b) for a in (self.lo, self.hi) for b in (o.lo, o.hi)]
        low, high = np.minimum.reduce(ends), np.maximum.reduce(ends)
        return Interval(down(low), up(high))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Interval:
        o = _interval(other)
        ends = [a / b for a in (self.lo, self.hi) for b in (o.lo, o.hi)]
        low, high = down(np.minimum.reduce(ends)), up(np.maximum.reduce(ends))
        across = (o.lo <= 0) & (o.hi >= 0)
        return Interval(np.where(across, -np.inf, low), np.where(across, np.inf, high))

    def __rtruediv__(self, other: Any) -> Interval:
        return _interval(other) / self

    def __abs__(self) -> Interval:
        inside = (self.lo <= 0) & (self.hi >= 0)
        low, high = np.abs(self.lo), np.abs(self.hi)
        return Interval(np.where(inside, 0.0, np.minimum(low, high)), np.maximum(low, high))

    def squared(self) -> Interval:
        """Return the squares, never negative."""
        a = abs(self)
        return Interval(np.maximum(down(a.lo * a.lo), 0.0), up(a.hi * a.hi))

    def sqrt(self) -> Interval:
        """Return the square roots of what is not negative."""
        low = np.sqrt(np.maximum(self.lo, 0.0))
        return Interval(np.maximum(down(low), 0.0), up(np.sqrt(np.maximum(self.hi, 0.0))))

    def sum(self, axis: int | None = None) -> Interval:
        """Return the sums of all entries, or along one axis."""
        if self.lo is self.hi:
            return sums(self.lo, axis)
        return Interval(sums(self.lo, axis).lo, sums(self.hi, axis).hi)

    def max(self) -> Interval:
        """Return the largest entry."""
        return Interval(np.max(self.lo), np.max(self.hi))

    def __repr__(self) -> str:
        return f"Interval({self.lo!r}, {self.hi!r})"


def _interval(value: Any) -> Interval:
    return value if isinstance(value, Interval) else Interval(value)


def _times(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    product = a * b
    return np.where((a == 0) | (b == 0), 0.0, product) if np.isnan(product).any() else product


def joined(parts: list[Interval]) -> Interval:
    """Return vectors of intervals, one after the other, as one."""
    return Interval(np.concatenate([p.lo for p in parts]), np.concatenate([p.hi for p in parts]))


def stacked(parts: list[Interval]) -> Interval:
    """Return intervals of one shape as the rows of one array."""
    return Interval(np.stack([p.lo for p in parts]), np.stack([p.hi for p in parts]))


# ---- sums


def product(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a * b rounded, and what was rounded off (exactly, but for underflow)."""
    p = a * b
    a1, a2 = _halves(a)
    b1, b2 = _halves(b)
    return p, a2 * b2 - (((p - a1 * b1) - a2 * b1) - a1 * b2)


def _halves(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    c = _SPLIT * a
    high = c - (c - a)
    return high, a - high


class Groups:
    """How entries are added up: along an axis, or by the number of the group of each."""

    def __init__(self, axis: int | None = None, where: np.ndarray | None = None, count: int = 0) -> None:
        self.axis, self.where, self.count = axis, where, count

    def total(self, a: np.ndarray) -> np.ndarray:
        if self.where is None:
            return np.sum(a, axis=self.axis)
        return np.bincount(self.where, a, self.count)

    def mass(self, a: np.ndarray) -> np.ndarray:
        """Return about the sums of magnitudes that no partial sum exceeds."""
        return self.total(np.abs(a))

    def top(self, a: np.ndarray) -> np.ndarray:
        a = np.abs(a)
        if self.where is None:
            return np.max(a, axis=self.axis, initial=0.0)
        out = np.zeros(self.count)
        np.maximum.at(out, self.where, a)
        return out

    def spread(self, per_group: np.ndarray) -> np.ndarray:
        if self.where is None:
            return per_group if self.axis is None else np.expand_dims(per_group, self.axis)
        return per_group[self.where]

    def size(self, a: np.ndarray) -> int:
        return a.size if self.where is not None or self.axis is None else a.shape[self.axis]


class Running(Groups):
    """All sums of the first so many entries."""

    def total(self, a: np.ndarray) -> np.ndarray:
        return np.cumsum(a)

    def mass(self, a: np.ndarray) -> np.ndarray:
        return np.sum(np.abs(a))


def grouped(groups: Groups, p: np.ndarray, rest: np.ndarray | None = None) -> Interval:
    """Return enclosures of the sums of p, and of `rest` (small numbers) with it."""
    n = groups.size(p)
    total = Interval(groups.total(np.zeros_like(p)))
    for _ in range(2):
        # No sum of magnitudes exceeds a quarter of sigma, so p + sigma keeps multiples of one number, and all sums of
        # those have few enough bits to be exact.
        _, exponent = np.frexp(groups.mass(p))
        sigma = groups.spread(np.ldexp(1.0, exponent + 2))
        high = (p + sigma) - sigma
        p = p - high
        total = total + groups.total(high)
    for small in (p, rest):
        if small is not None:
            error = up((n * 2.0**-52) * up(groups.total(np.abs(small)) * (1 + 2.0**-20)))
            total = total + Interval.around(groups.total(small), error)
    return total if rest is None else total + Interval(-n * TINY, n * TINY)


def sums(a: np.ndarray, axis: int | None = None) -> Interval:
    """Return enclosures of the sums of numbers, all or along an axis, sharp to a unit in the last place."""
    return grouped(Groups(axis), np.asarray(a, dtype=np.float64))


def running(a: np.ndarray) -> Interval:
    """Return enclosures of the sums of the first entry, the first two, and so on."""
    return grouped(Running(), np.ravel(a))


def dot(a: np.ndarray, b: np.ndarray) -> Interval:
    """Return an enclosure of the inner product of two vectors."""
    return grouped(Groups(), *product(np.ravel(a), np.ravel(b)))


def expansion(a: np.ndarray) -> list[float]:
    """Return a few numbers whose sum is that of `a`, exactly."""
    parts: list[float] = []
    p = np.ravel(a)
    while p.size and p.any():
        _, exponent = np.frexp(np.max(np.abs(p)))
        sigma = np.ldexp(1.0, exponent + math.ceil(math.log2(p.size + 2)))
        high = (p + sigma) - sigma
        if not np.isfinite(sigma) or len(parts) > 100:
            return [math.nan]
        p, part = p - high, float(np.sum(high))
        parts += [part] if part else []
    return parts
