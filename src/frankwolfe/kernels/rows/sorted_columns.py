"""Loops over sparse columns sorted by length, compiled: a gradient, and its own image in the same read.

Most columns of wide data are short. In the order of the data every length surprises the processor, which costs more
than the arithmetic; sorted, none does. They are sorted block by block, so that what is written to the gradient is in
cache. `groups` has a row for each run of columns of one length: the first of them, its first entry, the length; and one
row more for the end. `order` tells which column of the data each one is. `values` is None for a pattern of ones.
Import inside functions only: loading Numba takes a third of a second.
"""

from __future__ import annotations

import numpy as np

from frankwolfe.kernels.compiling import FUSED, kernel
from frankwolfe.kernels.rows.layouts import evenly
from frankwolfe.kernels.rows.prefetch import prefetch
from frankwolfe.kernels.rows.sparse import FOUR, ONE, add, dot, fetch_ahead
from frankwolfe.kernels.threads import count, parts_of, share_out

BLOCK = 1 << 15  # columns whose short ones stay together: their gradient fits the second-level cache
SOON = np.uint64(64)  # entries after which the place of one is in cache
LONG, LONGEST = 64, 1 << 16  # entries from which a column belongs to no block; from which the order is that of the data


@kernel(fastmath=FUSED)
def adjoint(groups, order, indices, values, first, last, r, g, out):
    """Set g to the products of columns first to last with r; and out, if it has room, to the columns times these."""
    out[:] = 0.0
    for t in range(groups.shape[0] - 1):
        low, high, length = max(first, groups[t, 0]), min(last, groups[t + 1, 0]), np.uint64(groups[t, 2])
        start = np.uint64(groups[t, 1] + (low - groups[t, 0]) * groups[t, 2])
        for c in range(low, high):
            end = start + length
            if length < FOUR:
                product = _short_dot(indices, values, start, end, r)
            else:
                product = dot(indices, values, start, end, r, True)
            g[order[c]] = product
            if out.size:
                add(indices, values, start, end, product, out, False)
            start = end


@kernel(inline="always", fastmath=FUSED)
def _short_dot(indices, values, start, end, r):
    fetch_ahead(indices, values, start)
    total = 0.0
    for k in range(start, end):
        total += r[indices[k]] if values is None else values[k] * r[indices[k]]
    return total


@kernel(fastmath=FUSED)
def product(groups, order, indices, values, first, last, x, out):
    """Set out to the columns first to last times their entries of x."""
    out[:] = 0.0
    for t in range(groups.shape[0] - 1):
        low, high, length = max(first, groups[t, 0]), min(last, groups[t + 1, 0]), np.uint64(groups[t, 2])
        start = np.uint64(groups[t, 1] + (low - groups[t, 0]) * groups[t, 2])
        for c in range(low, high):
            add(indices, values, start, start + length, x[order[c]], out, True)
            start += length


def grouped(indptr, indices, values, shape, by_columns):
    """Return groups, order, indices and values of a sparse matrix given by rows, or by columns."""
    (n, d), entries = shape, indices.size
    parts = min(count(), parts_of(entries, d // 8))  # which do not show in the result
    cuts, kind = evenly(indptr, parts), np.uint32 if entries < 1 << 32 else np.uint64
    order, starts = np.empty(d, np.uint32), np.zeros((parts, d), kind)
    if by_columns:
        lengths = np.diff(indptr).astype(kind)
    else:
        share_out(lambda i: _count(indices[slice(*indptr[list(cuts[i])])], starts[i]), parts)
        lengths = starts.sum(axis=0, dtype=kind)
    begin = np.empty(d, kind)
    groups = _arrange(lengths, order, begin)
    for part in starts:  # from the entries that a part has in each column to the places where it puts them
        part[:], begin = begin, begin + (0 if by_columns else part)
    moved = None if values is None else np.empty(entries, values.dtype)
    rows = np.empty(entries, np.uint16 if n <= 1 << 16 else np.uint32)
    move = _regroup if by_columns else turn
    share_out(lambda i: move(indptr, indices, values, *cuts[i], starts[i], rows, moved), parts)
    return groups, order, rows, moved


@kernel()
def _count(indices, lengths):
    """Count the entries of each column."""
    for k in range(indices.size):
        lengths[indices[k]] += 1


@kernel(inline="always")
def _place(j, length, long):
    """Return where a column of this length comes in the order: in its block if short, after all if long."""
    return j // BLOCK * LONG + length if length < LONG else long + min(length, LONGEST)


@kernel()
def _arrange(lengths, order, starts):
    """Set the order of columns of these lengths and where their entries start; return the groups."""
    d = lengths.size
    long = (d // BLOCK + 1) * LONG
    places = np.zeros(long + LONGEST + 2, np.int64)
    for j in range(d):
        places[_place(j, np.int64(lengths[j]), long) + 1] += 1
    for place in range(places.size - 1):
        places[place + 1] += places[place]
    for j in range(d):
        place = _place(j, np.int64(lengths[j]), long)
        order[places[place]] = j
        places[place] += 1
    groups, start, before = [], 0, -1
    for c in range(d):
        length = np.int64(lengths[order[c]])
        if length != before:
            groups.append((c, start, length))
        starts[order[c]] = start
        start, before = start + length, length
    groups.append((d, start, 0))
    return np.array(groups)


@kernel()
def turn(indptr, indices, values, first, last, starts, rows, moved):
    """Move the entries of rows first to last to their columns, which begin at `starts`; starts move along."""
    end = np.uint64(indptr[last])
    for i in range(first, last):
        for k in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            soon = np.uint64(starts[indices[min(k + SOON, end - ONE)]])  # or near it: where an entry will go
            prefetch(rows, soon)  # pyright: ignore[reportCallIssue]
            if values is not None:
                prefetch(moved, soon)  # pyright: ignore[reportCallIssue]
            j = indices[k]
            place = np.uint64(starts[j])
            starts[j] = place + ONE
            rows[place] = i
            if values is not None:
                moved[place] = values[k]


@kernel()
def _regroup(indptr, indices, values, first, last, starts, rows, moved):
    """Move the whole columns first to last to where they begin."""
    for j in range(first, last):
        shift = np.int64(starts[j]) - indptr[j]
        for k in range(indptr[j], indptr[j + 1]):
            rows[k + shift] = indices[k]
            if values is not None:
                moved[k + shift] = values[k]
