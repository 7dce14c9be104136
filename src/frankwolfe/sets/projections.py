"""Euclidean projections shared by several sets."""

from __future__ import annotations

from frankwolfe.backends import Array, namespace


def project_simplex(x: Array, radius: float) -> Array:
    """Return the nearest nonnegative vector with sum `radius` (sorting; Held, Wolfe and Crowder 1974)."""
    xp = namespace(x)
    flat = xp.reshape(x, (-1,))
    u = xp.flip(xp.sort(flat))
    ranks = xp.cumulative_sum(xp.ones_like(u))
    thresholds = (xp.cumulative_sum(u) - radius) / ranks
    last = int(xp.sum(xp.astype(u > thresholds, xp.int64))) - 1
    return xp.reshape(xp.maximum(flat - thresholds[max(last, 0)], xp.zeros_like(flat)), x.shape)


def project_l1(x: Array, radius: float) -> Array:
    """Return the nearest point of the l1 ball: shrink all magnitudes by one threshold (Duchi et al. 2008)."""
    xp = namespace(x)
    magnitude = xp.abs(x)
    if xp.sum(magnitude) <= radius:
        return x
    return xp.sign(x) * project_simplex(magnitude, radius)
