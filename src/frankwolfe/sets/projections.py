"""Euclidean projections shared by several sets."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from frankwolfe.backends import Array, eps, largest, namespace, scaled
from frankwolfe.sets.arrays import AS_INFINITE, norm

_MOST_STEPS = 100  # of Newton, which falls from the start; far fewer are usual


def project_simplex(x: Array, radius: float) -> Array:
    """Return the nearest nonnegative vector with sum `radius` (sorting; Held, Wolfe and Crowder 1974)."""
    xp = namespace(x)
    flat = xp.reshape(x, (-1,))
    flat = flat - xp.max(flat)  # the answer is the same; the sums below lose nothing to a large common offset
    u = xp.flip(xp.sort(flat))
    ranks = xp.cumulative_sum(xp.ones_like(u))
    thresholds = (xp.cumulative_sum(u) - radius) / ranks
    last = max(int(xp.sum(xp.astype(u > thresholds, xp.int32))), 1) - 1
    z = xp.maximum(flat - thresholds[last], xp.zeros_like(flat))
    # One Newton step on the threshold: a pairwise sum repairs what the running sum lost (it shows in float32).
    z = xp.maximum(z - xp.where(z > 0, (xp.sum(z) - radius) / ranks[last], xp.zeros_like(z)), xp.zeros_like(z))
    return xp.reshape(z, tuple(x.shape))


def project_l1(x: Array, radius: float) -> Array:
    """Return the nearest point of the l1 ball: shrink all magnitudes by one threshold (Duchi et al. 2008)."""
    xp = namespace(x)
    if not norm(x, 1) > radius:
        return x
    return xp.sign(x) * project_simplex(xp.abs(x), radius)


def project_l2(x: Array, radius: float) -> Array:
    """Return the nearest point of the l2 ball."""
    if not norm(x, 2) > radius:
        return x
    x = scaled(x)
    return (radius / namespace(x).linalg.vector_norm(x)) * x


def project_lp(x: Array, radius: float, p: float) -> Array:
    """Return the nearest point of the l_p ball.

    In units of the radius, magnitudes y go to z with z + mu z^(p-1) = y, where mu >= 0 makes the norm one. Bounds on mu
    come from y - z = mu z^(p-1): the entries of z are at most one and the largest is at least d^(-1/p).
    """
    if p == 1:
        return project_l1(x, radius)
    if p == 2:
        return project_l2(x, radius)
    xp = namespace(x)
    if p >= AS_INFINITE:
        bound = radius * xp.ones_like(x)
        return xp.minimum(xp.maximum(x, -bound), bound)
    if not norm(x, p) > radius:
        return x
    y = xp.abs(x) / radius
    d = math.prod(x.shape)

    def excess(mu: float) -> float:
        return -math.log(max(float(norm(_shrink(y, mu, p), p)), 1e-300))

    low = (float(norm(y, p)) - 1) * d ** (-1 / p)
    mu = root_of_increasing(excess, low, float(largest(y)) * d ** (1 - 1 / p))
    z = _shrink(y, mu, p)
    return radius * xp.sign(x) * (z / norm(z, p))


def _shrink(y: Array, mu: float, p: float) -> Array:
    """Return z >= 0 with z + mu z^(p-1) = y in every entry.

    Solves a w^s + b w = y with s >= 1, for w = z when p >= 2 and for w = z^(p-1) when p < 2. The left side is convex,
    so Newton's method falls monotonically from any point where it is too large; the start exceeds y at most twofold.
    """
    xp = namespace(y)
    a, b, s = (mu, 1.0, p - 1) if p >= 2 else (1.0, mu, 1 / (p - 1))
    w = xp.minimum(y / b, (y / a) ** (1 / s))
    for _ in range(_MOST_STEPS):
        power = w ** (s - 1)
        new = (a * (s - 1) * power * w + y) / (a * s * power + b)
        done = bool(xp.all(xp.abs(w - new) <= 4 * eps(y) * w))
        w = new
        if done:
            break
    if p >= 2:
        return w
    # Two forms of one number: the power magnifies rounding by s, the difference cancels. Take the better, entrywise.
    power = w**s
    return xp.where(s * power < y, power, xp.maximum(y - b * w, xp.zeros_like(y)))


def root_of_increasing(f: Callable[[float], float], low: float, high: float) -> float:
    """Return the positive root of an increasing function, given bounds on it that rounding may have spoilt a little."""
    from scipy.optimize import brentq

    left, right = math.log(max(low, 1e-18)) - 1e-9, math.log(max(high, 1e-18)) + 1e-9

    def g(t: float) -> float:
        return f(math.exp(t))

    for _ in range(3):
        if g(left) < 0:
            break
        left -= 1.0
    else:
        return math.exp(left)  # rounding hides the root: it is as good as zero
    for _ in range(3):
        if g(right) > 0:
            break
        right += 1.0
    else:
        return math.exp(right)
    root: Any = brentq(g, left, right, xtol=1e-15, maxiter=300)
    return math.exp(root)
