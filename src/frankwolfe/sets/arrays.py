"""What sets do with arrays: fixed ones, ones on the host, and norms that are safe at any scale."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np

from frankwolfe.backends.namespace import Array, Scalar, eps, host, largest, namespace, nonzero, vdot, zeros
from frankwolfe.kernels.pattern.pattern_matrix import PatternMatrix

AS_INFINITE = 1e20  # from here on d**(1/p) rounds to one for every d that fits in memory, so p may be taken as infinite


def unmasked(name: str, values: Any) -> Any:
    """Return the values, a matrix as an array; raise where some are masked, for what lies under a mask is no number."""
    if np.ma.is_masked(values):
        raise ValueError(f"{name} has masked entries; fill them, or leave them out")
    return np.asarray(values) if isinstance(values, np.ndarray) else values


def frozen(name: str, values: Any) -> np.ndarray:
    """Return a read-only copy in double precision, or say why the values cannot describe a set."""
    values = unmasked(name, values)
    try:
        out = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be numbers, got {values!r}") from None
    if not np.all(np.isfinite(out)):
        raise ValueError(f"{name} contains NaN or infinity; a set must be bounded")
    out.setflags(write=False)
    return out


def frozen_vector(name: str, values: Any) -> np.ndarray:
    """Return a nonempty read-only vector in double precision."""
    out = frozen(name, values)
    if out.ndim != 1 or out.size == 0:
        raise ValueError(f"{name} must be a nonempty vector, got shape {out.shape}")
    return out


def spread_vector(name: str, values: Any, n: int) -> np.ndarray:
    """Return a vector of length n in double precision, from one or from a number for all entries."""
    values = unmasked(name, values)
    try:
        return np.array(np.broadcast_to(np.asarray(values, dtype=np.float64), (n,)))
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a number or a vector of length {n}, got {values!r}") from None


def on_host(g: Array) -> np.ndarray:
    """Return any array as a NumPy array in double precision, for solvers that live on the host."""
    return host(g).astype(np.float64, copy=False)


def exponent(name: str, value: Any) -> float:
    """Return `value` as the exponent of a norm, a number from one to infinity, or say why it is not one."""
    if not isinstance(value, numbers.Real) or isinstance(value, bool) or not float(value) >= 1:
        raise ValueError(f"{name} must be at least 1 (infinity included) for a norm, got {value!r}")
    return float(value)


def conjugate(p: float) -> float:
    """Return q with 1/p + 1/q = 1."""
    if p == 1:
        return math.inf
    return 1.0 if math.isinf(p) else p / (p - 1)


def norms(a: Array, p: float) -> Array:
    """Return the l_p norms along the last axis; no entry is squared or raised before division by the largest one."""
    xp = namespace(a)
    a = xp.abs(a)
    top = xp.max(a, axis=-1)
    if p >= AS_INFINITE:
        return top
    b = a / nonzero(top)[..., None]
    if p == 1:
        return top * xp.sum(b, axis=-1)
    if p == 2:
        return top * xp.sqrt(xp.sum(b * b, axis=-1))
    return top * xp.sum(b**p, axis=-1) ** (1 / p)


def norm(x: Array, p: float) -> Scalar:
    """Return the l_p norm of all entries of x, whatever its shape."""
    if p == 2 and (length := plain_length(x)) is not None:
        return x.dtype.type(length)
    if p >= AS_INFINITE:
        return largest(x)
    return norms(namespace(x).reshape(x, (-1,)), p)


def plain_length(x: Array) -> float | None:
    """Return the Euclidean norm of a NumPy array by its squares; None where one that counts may leave the numbers."""
    if not isinstance(x, np.ndarray) or x.dtype.kind != "f":
        return None
    limit, top = float(np.finfo(x.dtype).max) ** 0.25, float(largest(x))
    return math.sqrt(vdot(x, x)) if 1 / limit < top < limit else 0.0 if top == 0 else None


def dual_vectors(a: Array, p: float) -> Array:
    """Return u maximising <a, u> over the unit l_p ball along the last axis, for nonnegative a (then u is too).

    Where a row of `a` is zero every u will do; the one returned is feasible. Ties at p = 1 go to the lowest index.
    """
    xp = namespace(a)
    if p >= AS_INFINITE:
        return xp.ones_like(a)
    if p == 1:
        places = xp.cumulative_sum(xp.ones_like(a), axis=-1)
        best = xp.max(a, axis=-1)[..., None]
        first = xp.min(xp.where(a == best, places, xp.full_like(a, math.inf)), axis=-1)[..., None]
        return xp.astype(places == first, a.dtype)
    b = a / nonzero(xp.max(a, axis=-1))[..., None]
    if p != 2:
        b = b ** (1 / (p - 1))  # the largest entry stays one; small ones underflow to zero, harmlessly
    return b / nonzero(norms(b, p))[..., None]


def above(value: Scalar, c: Array) -> float:
    """Return a number no less than what a sum of as many terms as c has entries, computed as `value`, exactly is."""
    value = float(value)
    # Sums of n magnitudes err by less than n u in any order; the rest is for products and roots.
    return math.nextafter(value * (1 + (math.prod(c.shape) + 32) * eps(c)), math.inf) if value > 0 else value


def spectral_norm_above(c: Any) -> float:
    """Bound the largest singular value of a nonnegative matrix from above: by its entries, rows and columns."""
    like = c.values if isinstance(c, PatternMatrix) else c
    rows, columns = c @ (zeros((c.shape[1],), like) + 1), c.T @ (zeros((c.shape[0],), like) + 1)
    bound = math.sqrt(float(largest(rows))) * math.sqrt(float(largest(columns)))
    # Places that a pattern holds twice are summed in rows and columns, but not in the norm of its entries.
    return above(bound if like is not c else min(bound, float(norm(c, 2))), like)


def slack(x: Array, tol: float) -> float:
    """Return `tol`, but no finer than the rounding that a norm of x carries in its dtype."""
    xp = namespace(x)
    if not xp.isdtype(x.dtype, "real floating"):
        return tol
    return max(tol, eps(x) * math.sqrt(max(math.prod(x.shape), 1)))
