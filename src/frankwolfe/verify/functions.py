"""Logarithm, exponential, powers and norms with proven ends: a series, and NumPy's functions only as guesses."""

from __future__ import annotations

import math

import numpy as np

from frankwolfe.verify.arithmetic import Groups, Interval, down, grouped, up

_LN2 = Interval(0.6931471805599453, np.nextafter(0.6931471805599453, 1.0))
_TERMS = 20


def _twice_artanh(s: Interval) -> Interval:
    """Return log((1 + s) / (1 - s)) for s between -1/3 and 1/3, by its series.

    All its terms are positive: a step of Horner's scheme, rounded twice, is wrong by less than 2**-51 of itself.
    """
    square = s.squared()
    most = min(max(float(np.max(square.hi, initial=0.0)), 1e-18), 1 / 9)
    terms = min(_TERMS, 2 + math.ceil(math.log(1e-18) / math.log(most)))
    low, high = down(1 / (2 * terms - 1)), up(1 / (2 * terms - 1))
    high = high + 0.2  # all further terms: square / (2 terms + 1) / (1 - square) of this one's power of s
    for k in range(2 * terms - 3, 0, -2):
        low = (square.lo * low + down(1 / k)) * (1 - 2.0**-51)
        high = (square.hi * high + up(1 / k)) * (1 + 2.0**-51)
    return (s + s) * Interval(low, high)


def _log(x: np.ndarray) -> Interval:
    mantissa, exponent = np.frexp(x)
    small = mantissa < 0.7071
    mantissa, exponent = np.where(small, 2 * mantissa, mantissa), exponent - small
    found = _twice_artanh((mantissa - 1) / (Interval(mantissa) + 1.0)) + _LN2 * exponent.astype(np.float64)
    found = Interval(np.where(x == 1, 0.0, found.lo), np.where(x == 1, 0.0, found.hi))
    known = (x > 0) & np.isfinite(x)
    ends = np.where(x == 0, -np.inf, np.where(x > 0, np.inf, np.nan))
    return Interval(np.where(known, found.lo, ends), np.where(known, found.hi, ends))


def log(x: Interval) -> Interval:
    """Return enclosures of the natural logarithms."""
    return _log(x.lo) if x.lo is x.hi else Interval(_log(x.lo).lo, _log(x.hi).hi)


def log1p(y: Interval) -> Interval:
    """Return enclosures of log(1 + y) for y from -1/2 to 1, sharp near zero."""
    ends = [_twice_artanh(e / (2.0 + e)) for e in ((y,) if y.lo is y.hi else (Interval(y.lo), Interval(y.hi)))]
    return Interval(ends[0].lo, ends[-1].hi)


def times_log(x: Interval) -> Interval:
    """Return enclosures of x log x for x >= 0, zero at zero: convex, so largest at an end, and least at 1/e."""
    ends = [Interval(e) * _log(np.where(e > 0, e, 1.0)) for e in ((x.lo,) if x.lo is x.hi else (x.lo, x.hi))]
    low, high = np.minimum(ends[0].lo, ends[-1].lo), np.maximum(ends[0].hi, ends[-1].hi)
    zero = x.hi <= 0
    low = np.where((x.lo < 0.3678795) & (x.hi > 0.3678794) & (x.lo < x.hi), np.minimum(low, -0.3678795), low)
    return Interval(np.where(zero, 0.0, low), np.where(zero, 0.0, high))


def exp(t: Interval) -> Interval:
    """Return enclosures of the exponentials: a guess y, corrected by exp(t - log y), which is near one.

    1 + d <= exp(d), and exp(d) <= 1 / (1 - d) for d below one.
    """
    y = np.clip(np.exp(t.middle), 5e-324, 1.7e308)
    at_y = _log(y)
    low = (Interval(y) * (1.0 + (Interval(t.lo) - at_y))).lo
    off = Interval(t.hi) - at_y
    high = (Interval(y) / (1.0 - Interval(np.minimum(off.lo, 0.5), np.minimum(off.hi, 0.5)))).hi
    return Interval(np.maximum(low, 0.0), np.where(off.hi < 0.5, high, np.inf))


def power(x: Interval, p: float | Interval) -> Interval:
    """Return enclosures of x**p for x >= 0 and p > 0."""
    if not isinstance(p, Interval) and p in (1, 2, 0.5):
        return x if p == 1 else x.squared() if p == 2 else x.sqrt()
    found = exp(log(Interval(np.maximum(x.lo, 0.0), x.hi)) * p)
    return Interval(np.where(x.lo <= 0, 0.0, found.lo), np.where(x.hi <= 0, 0.0, found.hi))


def norms(a: Interval, p: float | Interval, where: np.ndarray | None = None, count: int = 1) -> Interval:
    """Return enclosures of the l_p norms of groups of numbers a >= 0; `where` tells the group of each, all one without.

    Numbers are scaled by powers of two, which rounds nothing, so that no square is too large or too small.
    """
    groups = Groups(where=np.zeros(a.shape, np.int64) if where is None else where, count=count)
    _, exponent = np.frexp(groups.top(a.hi))
    low, high = (np.ldexp(end, -groups.spread(exponent)) for end in (a.lo, a.hi))
    b = Interval(low, np.where(a.hi > 0, np.maximum(high, 5e-324), 0.0))
    if not isinstance(p, Interval) and np.isinf(p):
        found = Interval(groups.top(b.lo), groups.top(b.hi))
    else:
        b = power(b, p)
        low, high = grouped(groups, b.lo), grouped(groups, b.hi)
        total = Interval(np.maximum(low.lo, 0.0), high.hi)
        simple = not isinstance(p, Interval)
        found = total if simple and p == 1 else total.sqrt() if simple and p == 2 else power(total, Interval(1.0) / p)
    found = Interval(found.lo, np.where(groups.top(a.hi) > 0, found.hi, 0.0))
    return Interval(np.ldexp(found.lo, exponent), np.ldexp(found.hi, exponent))


def norm(x: np.ndarray, p: float | Interval) -> Interval:
    """Return an enclosure of the l_p norm of all entries of an array."""
    return norms(Interval(np.abs(np.ravel(x))), p)[0]


def conjugate(p: float) -> float | Interval:
    """Return q with 1/p + 1/q = 1, enclosed where it is no simple number."""
    if p in (1, 2) or np.isinf(p):
        return {1.0: np.inf, 2.0: 2.0}.get(float(p), 1.0)
    return p / (Interval(p) - 1.0)
