"""Positions of a matrix: checked, and sorted by row."""

from __future__ import annotations

from typing import Any

import numpy as np

from frankwolfe.validation import integer


def matrix_shape(shape: Any) -> tuple[int, int]:
    """Return the shape of a matrix, or say what is wrong with it."""
    if len(shape) != 2:
        raise ValueError(f"shape must be (rows, columns), got {shape!r}")
    return integer("shape[0]", shape[0], 1), integer("shape[1]", shape[1], 1)


def checked_index(name: str, index: Any, bound: int) -> np.ndarray:
    """Return row or column numbers as an array, or say what is wrong with them."""
    index = np.asarray(index)
    if index.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {index.shape}")
    if index.size == 0:
        return index.astype(np.int32)
    if index.dtype.kind not in "iu":
        raise ValueError(f"{name} must be integers, got dtype {index.dtype}")
    low, high = index.min(), index.max()
    if low < 0 or high >= bound:
        raise ValueError(f"{name} must lie in 0..{bound - 1} to match the shape, got {low}..{high}")
    return index


def sorted_by_row(
    rows: np.ndarray, cols: np.ndarray, shape: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (order, row pointers, columns) of the positions sorted by row, then column; linear time, stable."""
    from scipy.sparse import coo_array

    by = coo_array((np.arange(rows.size, dtype=rows.dtype), (rows, cols)), shape=shape)
    by.has_canonical_format = True  # keeps repeated positions apart
    by = by.tocsc().tocsr()  # two counting sorts, the less significant key first
    return by.data, by.indptr, by.indices
