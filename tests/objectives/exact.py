"""Losses of single margins to sixty digits, the slow and obvious way."""

from __future__ import annotations

from decimal import Decimal, getcontext

getcontext().prec = 60
ZERO, ONE, HALF = Decimal(0), Decimal(1), Decimal("0.5")


def number(x: float) -> Decimal:
    """Return a double as it is."""
    return Decimal(float(x))


def exp(x: Decimal) -> Decimal:
    """Return exp(x), zero far below the smallest double."""
    return ZERO if x < -900 else x.exp()


def log1p(x: Decimal) -> Decimal:
    """Return log(1 + x) for x >= 0."""
    return x - x * x / 2 + x**3 / 3 if x < Decimal("1e-20") else (1 + x).ln()


def logistic(m: Decimal, b: Decimal) -> tuple[Decimal, Decimal, Decimal]:
    """Return log(1 + exp(-bm)) with both its derivatives in m."""
    u = b * m
    small = exp(-abs(u))
    return max(-u, ZERO) + log1p(small), -b * (small if u > 0 else ONE) / (1 + small), small / (1 + small) ** 2


def squares(m: Decimal, b: Decimal) -> tuple[Decimal, Decimal, Decimal]:
    """Return (m - b)²/2 with both its derivatives in m."""
    return (m - b) ** 2 / 2, m - b, ONE


def huber(m: Decimal, b: Decimal) -> tuple[Decimal, Decimal, Decimal]:
    """Return the Huber loss for delta = 1 with both its derivatives in m."""
    e = m - b
    if abs(e) <= 1:
        return e * e / 2, e, ONE
    return abs(e) - HALF, e.copy_sign(e) / abs(e), ZERO
