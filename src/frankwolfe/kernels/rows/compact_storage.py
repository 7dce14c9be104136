"""Narrow storage where it is exact: bytes for pixels, no values for a pattern of ones, short indices.

A double of a 0/1 matrix carries one bit. Reading less is what makes a pass over large data faster.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from frankwolfe.backends.compile_policy import pays
from frankwolfe.kernels.rows.column_layouts import Columns, SortedColumns
from frankwolfe.kernels.rows.layouts import Layout, RowLayout, compiled

COMPILED_FROM = 1 << 17  # entries from which a solve or two repays loading the kernels; plain NumPy below,
LOADED_FROM = 1 << 14  # but for kernels that are loaded anyway, which are no slower from here on
WIDE = 1 << 17  # features from which a gradient does not fit the second-level cache
WIDE_ENOUGH = 1 << 14  # features from which gradients with their own images repay sorting the columns
BYTE_SCALES = (1.0, 1 / 255)  # grey values as they are, or divided by the largest


def family_of(matrix: Any, solves: int, loss: str, least: int | None = None) -> tuple[str, int] | None:
    """Return the family of kernels for a matrix and a loss of this name, and how many numbers a pass reads.

    None where a matrix is too small for loading kernels to gain anything, or not one that they can read.
    """
    dense = isinstance(matrix, np.ndarray)
    entries = matrix.size if dense else matrix.nnz
    if solves * entries < (COMPILED_FROM if least is None else least) or (dense and not matrix.flags.c_contiguous):
        return None
    return f"{'dense' if dense else 'sparse'} {matrix.dtype} {loss}", entries


def is_compiled(matrix: Any, solves: int, loss: str) -> bool:
    """Tell whether kernels are to read a matrix."""
    family = family_of(matrix, solves, loss, min(LOADED_FROM, COMPILED_FROM))
    return family is not None and pays(*family, solves, solves * family[1] >= COMPILED_FROM)


def dense_layout(A: np.ndarray, solves: int = 1, loss: str = "") -> RowLayout | None:
    """Return the layout of a dense matrix: bytes where it holds grey values. None where NumPy is to read it."""
    if not is_compiled(A, solves, loss):
        return None
    for scale in BYTE_SCALES:
        if A.dtype == np.float64 and _are_bytes(A[:: max(1, len(A) // 16)], scale) and _are_bytes(A, scale):
            return RowLayout((_to_bytes(A, scale),), A.shape, scale)
    return RowLayout((A,), A.shape)


def sparse_layout(matrix: Any, by_columns: bool, solves: int = 1, loss: str = "", sort: bool = True) -> Layout | None:
    """Return the layout of a CSR or CSC matrix: without values where all are equal. None where SciPy is to read it.

    Wide data are sorted, which takes a few passes' time, unless `sort` is off.
    """
    if not is_compiled(matrix, solves, loss):
        return None
    data, indices = matrix.data, matrix.indices
    values, scale = data, 1.0
    if (data[:1000] == data[0]).all() and (data == data[0]).all():
        values, scale = None, float(data[0])
    indptr, wide = matrix.indptr.astype(np.int64, copy=False), sort and matrix.shape[1] > max(WIDE, matrix.shape[0])
    # Short indices gain a fifth beside no values, and next to nothing beside doubles.
    across = matrix.shape[0 if by_columns else 1]
    short = values is None and not wide and across <= 1 << 16
    if indices.itemsize > 4 and across <= 1 << 32:  # kernels are compiled for each width: one will do
        indices = indices.astype(np.uint32)
    unsigned = indices.astype(np.uint16) if short else indices.view(f"u{indices.itemsize}")
    arrays, shape = (indptr, unsigned, values), tuple(matrix.shape)
    if wide:  # the gradient is longer than the margins: jump in those
        return SortedColumns(arrays, shape, scale, by_columns)
    return Columns(arrays, shape, scale) if by_columns else RowLayout(arrays, shape, scale)


def columns_of(matrix: Any) -> Columns:
    """Return the layout of a CSC matrix with its values as they are."""
    indices = matrix.indices.astype(np.uint32) if matrix.indices.itemsize > 4 else matrix.indices.view(np.uint32)
    return Columns((matrix.indptr.astype(np.int64, copy=False), indices, matrix.data), tuple(matrix.shape))


def turned(rows: RowLayout, lengths: np.ndarray) -> Columns:
    """Return the layout by columns, which have these lengths, of sparse rows."""
    (indptr, indices, values), (n, d) = rows.arrays, rows.shape
    ends, kind = np.zeros(d + 1, np.int64), np.uint32 if indices.size < 1 << 32 else np.uint64
    np.cumsum(lengths, out=ends[1:])
    below, moved = np.empty(indices.size, np.uint32), None if values is None else np.empty_like(values)
    compiled("rows.sorted_columns").turn(indptr, indices, values, 0, n, ends[:-1].astype(kind), below, moved)
    return Columns((ends, below, moved), rows.shape, rows.scale)


def as_scipy(columns: Columns, dtype: Any) -> Any:
    """Return the same matrix for SciPy."""
    from scipy.sparse import csc_array

    indptr, indices, values = columns.arrays
    data = np.full(indices.size, columns.scale, dtype) if values is None else values
    matrix = csc_array(columns.shape, dtype=dtype)
    matrix.data, matrix.indices, matrix.indptr = data, indices.view(np.int32), indptr
    return matrix


def carrying(layout: Layout | None) -> SortedColumns | None:
    """Return the layout of the same sparse data that gives gradients with their images; None where rows do as well."""
    if layout is None or len(layout.arrays) == 1 or layout.shape[1] <= max(WIDE_ENOUGH, layout.shape[0]):
        return None
    if isinstance(layout, SortedColumns):
        return layout
    return SortedColumns(layout.arrays, layout.shape, layout.scale, isinstance(layout, Columns))


def _are_bytes(A: np.ndarray, scale: float) -> bool:
    return bool(compiled("rows.dense").are_bytes(A, scale))


def _to_bytes(A: np.ndarray, scale: float) -> np.ndarray:
    out = np.empty(A.shape, dtype=np.uint8)
    compiled("rows.dense").to_bytes(A, scale, out)
    return out
