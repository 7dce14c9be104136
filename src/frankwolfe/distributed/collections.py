"""Dask collections as lists of delayed row blocks."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np


def row_blocks(name: str, matrix: Any) -> list[Any]:
    """Return the row blocks of a two-dimensional collection, each with all the columns, as delayed values."""
    import dask.array as da
    from dask.delayed import Delayed, delayed

    if isinstance(matrix, list | tuple):
        if not all(isinstance(block, Delayed) or _is_future(block) for block in matrix):
            raise TypeError(f"{name} must be a list of delayed blocks of rows, and one of its entries is not delayed")
        return [delayed(block) for block in matrix]
    if isinstance(matrix, da.Array):
        if matrix.ndim != 2:
            raise ValueError(f"{name} must be two-dimensional (rows are samples), got shape {matrix.shape}")
        if matrix.numblocks[1] > 1:
            matrix = matrix.rechunk({1: -1})  # pyright: ignore[reportArgumentType]
        return list(matrix.to_delayed().ravel())  # pyright: ignore[reportAttributeAccessIssue]
    return list(matrix.to_delayed())


def vector_blocks(name: str, values: Any, sizes: list[int]) -> list[Any]:
    """Return a vector cut like the rows: delayed pieces of a collection, or slices of an array."""
    import dask.array as da
    from dask.base import is_dask_collection

    if isinstance(values, da.Array):
        flat: Any = values
        values = flat.reshape(-1) if values.ndim == 2 and 1 in values.shape else values
        if values.ndim != 1:
            raise ValueError(f"{name} must be one-dimensional, got shape {values.shape}")
        known = not any(np.isnan(values.chunks[0]))
        if known and sum(values.chunks[0]) != sum(sizes):
            raise ValueError(f"{name} must have one entry per row of A, {sum(sizes)}, got {sum(values.chunks[0])}")
        if known and list(values.chunks[0]) != sizes:
            values = values.rechunk((tuple(sizes),))
        blocks = list(values.to_delayed().ravel())
    elif is_dask_collection(values):
        blocks = list(values.to_delayed())
    elif isinstance(values, list | tuple) and is_lazy(values):
        blocks = row_blocks(name, values)
    else:
        values = np.asarray(values)
        values = values.reshape(-1) if values.ndim == 2 and 1 in values.shape else values
        if values.shape != (sum(sizes),):
            raise ValueError(f"{name} must have one entry per row of A, {sum(sizes)}, got shape {values.shape}")
        return np.split(values, np.cumsum(sizes)[:-1])
    if len(blocks) != len(sizes):
        raise ValueError(
            f"{name} must be partitioned like A, in {len(sizes)} blocks, got {len(blocks)}; repartition it"
        )
    return blocks


def is_lazy(values: Any) -> bool:
    """Tell whether something is a Dask collection, or a list of delayed blocks."""
    from dask.base import is_dask_collection

    if isinstance(values, list | tuple):
        return len(values) > 0 and all(is_dask_collection(v) or _is_future(v) for v in values)
    return is_dask_collection(values)


def _is_future(value: Any) -> bool:
    package = sys.modules.get("distributed")  # not loaded: then there is no client that could have made one
    return package is not None and isinstance(value, package.Future)
