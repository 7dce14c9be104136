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


def huber(m: Decimal, b: Decimal, delta: Decimal = ONE) -> tuple[Decimal, Decimal, Decimal]:
    """Return the Huber loss with both its derivatives in m."""
    e = m - b
    if abs(e) <= delta:
        return e * e / 2, e, ONE
    return delta * abs(e) - delta * delta / 2, delta.copy_sign(e), ZERO


def quantile(m: Decimal, b: Decimal, level: Decimal, delta: Decimal) -> tuple[Decimal, Decimal, Decimal]:
    """Return the smoothed pinball loss with both its derivatives in m."""
    e = m - b
    if -level * delta <= e <= (1 - level) * delta:
        return e * e / (2 * delta), e / delta, 1 / delta
    u = 1 - level if e > 0 else -level
    return u * e - delta * u * u / 2, u, ZERO


def poisson(m: Decimal, b: Decimal) -> tuple[Decimal, Decimal, Decimal]:
    """Return exp(m) - bm with both its derivatives in m."""
    return exp(m) - b * m, exp(m) - b, exp(m)


def gamma(m: Decimal, b: Decimal) -> tuple[Decimal, Decimal, Decimal]:
    """Return exp(b - m) + (m - b) - 1 with both its derivatives in m."""
    return exp(b - m) + (m - b) - 1, 1 - exp(b - m), exp(b - m)


def squared_hinge(m: Decimal, b: Decimal) -> tuple[Decimal, Decimal, Decimal]:
    """Return max(1 - bm, 0)²/2 with both its derivatives in m."""
    short = max(1 - b * m, ZERO)
    return short * short / 2, -b * short, ONE if short > 0 else ZERO
