"""Loops over sparse columns sorted by length, compiled: a gradient, and its own image in the same read.

Most columns of wide data are short. In the order of the data every length surprises the processor, which costs more
than the arithmetic; sorted, none does. `groups` has a row for each length: the first column of it, the first entry,
the length; and one row more for the end. `order` tells which column of the data each one is. `values` is None for a
pattern of ones. Import inside functions only: loading Numba takes a third of a second.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from frankwolfe.kernels.prefetch import AHEAD, prefetch
from frankwolfe.kernels.sparse import FOUR, add, dot


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def adjoint(groups, order, indices, values, first, last, r, g, out):
    """Set g to the products of columns first to last with r, and add the columns times these to out, if it has room."""
    for t in range(groups.shape[0] - 1):
        low, high, length = max(first, groups[t, 0]), min(last, groups[t + 1, 0]), np.uint64(groups[t, 2])
        start = np.uint64(groups[t, 1] + (low - groups[t, 0]) * groups[t, 2])
        for c in range(low, high):
            end = start + length
            if length < FOUR:
                product = _short_dot(indices, values, start, end, r)
            else:
                product = dot(indices, values, start, end, r)
            g[order[c]] = product
            if out.size:
                add(indices, values, start, end, product, out, False)
            start = end


@njit(cache=True, inline="always", error_model="numpy", fastmath={"contract"})
def _short_dot(indices, values, start, end, r):
    prefetch(indices, start + AHEAD)  # pyright: ignore[reportCallIssue]
    if values is not None:
        prefetch(values, start + AHEAD)  # pyright: ignore[reportCallIssue]
    total = 0.0
    for k in range(start, end):
        total += r[indices[k]] if values is None else values[k] * r[indices[k]]
    return total


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def product(groups, order, indices, values, first, last, x, out):
    """Add the columns first to last, times their entries of x, to out."""
    for t in range(groups.shape[0] - 1):
        low, high, length = max(first, groups[t, 0]), min(last, groups[t + 1, 0]), np.uint64(groups[t, 2])
        start = np.uint64(groups[t, 1] + (low - groups[t, 0]) * groups[t, 2])
        for c in range(low, high):
            add(indices, values, start, start + length, x[order[c]], out, True)
            start += length


def grouped(indptr, indices, values, shape, by_columns):
    """Return groups, order, indices and values of a sparse matrix given by rows, or by columns."""
    (n, d), entries = shape, indices.size
    lengths = np.diff(indptr) if by_columns else np.zeros(d, np.int64)
    if not by_columns:
        _count(indices, lengths)
    short = lengths.astype(np.uint16) if lengths.max() < 1 << 16 else lengths  # which NumPy sorts in one go
    order = np.argsort(short, kind="stable").astype(np.uint32)
    sizes = lengths[order]
    ends = np.cumsum(sizes)
    starts = np.empty(d, np.int64)
    starts[order] = ends - sizes
    heads = np.flatnonzero(np.diff(sizes, prepend=-1))
    groups = np.stack([heads, starts[order[heads]], sizes[heads]], axis=1)
    moved = None if values is None else np.empty(entries, values.dtype)
    rows = np.empty(entries, np.uint16 if n <= 1 << 16 else np.uint32)
    (_regroup if by_columns else _turn)(indptr, indices, values, starts, rows, moved)
    return np.vstack([groups, [d, entries, 0]]), order, rows, moved


@njit(cache=True, nogil=True, error_model="numpy")
def _count(indices, lengths):
    """Count the entries of each column."""
    for k in range(indices.size):
        lengths[indices[k]] += 1


@njit(cache=True, nogil=True, error_model="numpy")
def _turn(indptr, indices, values, starts, rows, moved):
    """Move the entries of rows to their columns, which begin at `starts`; starts move along."""
    for i in range(indptr.size - 1):
        for k in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            j = indices[k]
            place = starts[j]
            starts[j] = place + 1
            rows[place] = i
            if values is not None:
                moved[place] = values[k]


@njit(cache=True, nogil=True, error_model="numpy")
def _regroup(indptr, indices, values, starts, rows, moved):
    """Move whole columns to where they begin."""
    for j in range(indptr.size - 1):
        shift = starts[j] - indptr[j]
        for k in range(indptr[j], indptr[j + 1]):
            rows[k + shift] = indices[k]
            if values is not None:
                moved[k + shift] = values[k]
