"""Loops over sparse columns sorted by length, compiled: a gradient, and its own image in the same read.

Most columns of wide data are short. In the order of the data every length surprises the processor, which costs more
than the arithmetic; sorted, none does. `groups` has a row for each length: the first column of it, the first entry,
the length; and one row more for the end. `order` tells which column of the data each one is. `values` is None for a
pattern of ones. Import inside functions only: loading Numba takes a third of a second.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from frankwolfe.kernels.sparse import FOUR, ONE, THREE, TWO


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def adjoint(groups, order, indices, values, first, last, r, g, out):
    """Set g to the products of columns first to last with r, and add the columns times these to out, if it has room."""
    for t in range(groups.shape[0] - 1):
        low, high, length = max(first, groups[t, 0]), min(last, groups[t + 1, 0]), np.uint64(groups[t, 2])
        start = np.uint64(groups[t, 1] + (low - groups[t, 0]) * groups[t, 2])
        if low >= high:
            continue
        if length < FOUR:
            _short(order[low:high], indices, values, start, length, r, g, out)
        else:
            _long(order[low:high], indices, values, start, length, r, g, out)


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def _short(order, indices, values, start, length, r, g, out):
    for j in order:
        end, total = start + length, 0.0
        for k in range(start, end):
            total += r[indices[k]] if values is None else values[k] * r[indices[k]]
        g[j] = total
        if out.size:
            for k in range(start, end):
                out[indices[k]] += total if values is None else total * values[k]
        start = end


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def _long(order, indices, values, start, length, r, g, out):
    for j in order:
        end, k = start + length, start
        s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0  # four sums, so that none waits for the one before
        while k + FOUR <= end:
            if values is None:
                s0 += r[indices[k]]
                s1 += r[indices[k + ONE]]
                s2 += r[indices[k + TWO]]
                s3 += r[indices[k + THREE]]
            else:
                s0 += values[k] * r[indices[k]]
                s1 += values[k + ONE] * r[indices[k + ONE]]
                s2 += values[k + TWO] * r[indices[k + TWO]]
                s3 += values[k + THREE] * r[indices[k + THREE]]
            k += FOUR
        while k < end:
            s0 += r[indices[k]] if values is None else values[k] * r[indices[k]]
            k += ONE
        total = (s0 + s1) + (s2 + s3)
        g[j] = total
        if out.size:
            for k in range(start, end):
                out[indices[k]] += total if values is None else total * values[k]
        start = end


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def product(groups, order, indices, values, first, last, x, out):
    """Add the columns first to last, times their entries of x, to out."""
    for t in range(groups.shape[0] - 1):
        low, high, length = max(first, groups[t, 0]), min(last, groups[t + 1, 0]), np.uint64(groups[t, 2])
        start = np.uint64(groups[t, 1] + (low - groups[t, 0]) * groups[t, 2])
        for c in range(low, high):
            factor = x[order[c]]
            for k in range(start, start + length):
                out[indices[k]] += factor if values is None else factor * values[k]
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
