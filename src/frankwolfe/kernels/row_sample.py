"""A few rows of many, drawn by a hash of their numbers: no order of the rows can hide anything from them for long.

Rows often come in a periodic order (machines in turn, hours of a day) or sorted. One row in so many, in order, then
sees some of the columns only. The draw depends on the number of a row alone: it is the same whatever the threads, the
parts and the process.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_GAMMA, _FIRST, _SECOND = (np.uint64(c) for c in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
_30, _27, _31 = np.uint64(30), np.uint64(27), np.uint64(31)


def lot(i: Any, every: Any) -> Any:
    """Return a number below `every` for row i, as if drawn (SplitMix64): unsigned integers, or an array of rows.

    For arrays as it is, for single rows in compiled loops.
    """
    i = i * _GAMMA + _GAMMA
    i = (i ^ (i >> _30)) * _FIRST
    i = (i ^ (i >> _27)) * _SECOND
    return (i ^ (i >> _31)) % every


def rows_drawn(n: int, every: int) -> np.ndarray:
    """Return which of n rows have drawn the lot zero: about one in `every`, ascending."""
    return np.flatnonzero(lot(np.arange(n, dtype=np.uint64), np.uint64(every)) == 0)
