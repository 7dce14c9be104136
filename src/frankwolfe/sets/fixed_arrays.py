"""Small things that many sets share: fixed arrays, and arrays on the host."""

from __future__ import annotations

from typing import Any

import numpy as np

from frankwolfe.backends import Array, host


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
