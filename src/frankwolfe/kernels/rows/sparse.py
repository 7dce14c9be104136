"""Loops over sparse rows, compiled; or over sparse columns, which are the rows of the transpose.

`values` is None for a pattern of ones. Indices are unsigned: a signed index may count from the end, and checking that
takes longer than the arithmetic. Import inside functions only: loading Numba takes a third of a second.
"""

from __future__ import annotations

import numpy as np

from frankwolfe.kernels import row_sample
from frankwolfe.kernels.compiling import FUSED, kernel
from frankwolfe.kernels.rows.prefetch import AHEAD, prefetch

CACHED = 1 << 20  # bytes of indices that stay in the second-level cache from one pass to the next
ZERO, ONE, TWO, THREE, FOUR = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)

lot = kernel()(row_sample.lot)


@kernel(inline="always")
def fetch_ahead(indices, values, k):
    """Begin to load the entry that comes a while after the one at k."""
    prefetch(indices, k + AHEAD)  # pyright: ignore[reportCallIssue]
    if values is not None:
        prefetch(values, k + AHEAD)  # pyright: ignore[reportCallIssue]


@kernel(inline="always", fastmath=FUSED)
def dot(indices, values, start, end, x, fetch):
    """Return the product of the entries start to end with x; `fetch` tells that they are not in cache yet.

    Inlined by Numba, here and below: LLVM would call it for each row.
    """
    k = start
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0  # four sums, so that none waits for the one before
    while k + FOUR <= end:
        if fetch:
            fetch_ahead(indices, values, k)
        if values is None:
            s0 += x[indices[k]]
            s1 += x[indices[k + ONE]]
            s2 += x[indices[k + TWO]]
            s3 += x[indices[k + THREE]]
        else:
            s0 += values[k] * x[indices[k]]
            s1 += values[k + ONE] * x[indices[k + ONE]]
            s2 += values[k + TWO] * x[indices[k + TWO]]
            s3 += values[k + THREE] * x[indices[k + THREE]]
        k += FOUR
    while k < end:
        s0 += x[indices[k]] if values is None else values[k] * x[indices[k]]
        k += ONE
    return (s0 + s1) + (s2 + s3)


@kernel(inline="always", fastmath=FUSED)
def add(indices, values, start, end, factor, out, fetch):
    """Add the entries start to end, times a factor, to out; `fetch` tells that they are not in cache yet."""
    for k in range(start, end):
        if fetch and k % FOUR == 0:
            fetch_ahead(indices, values, k)
        out[indices[k]] += factor if values is None else factor * values[k]


@kernel(fastmath=FUSED)
def dots(indptr, indices, values, first, last, x, out):
    """Set out to the products of rows (or columns) first to last with x."""
    fetch = indices.nbytes > CACHED
    for i in range(first, last):
        out[i - first] = dot(indices, values, np.uint64(indptr[i]), np.uint64(indptr[i + 1]), x, fetch)


@kernel(fastmath=FUSED)
def add_rows(indptr, indices, values, first, last, r, g, fetch=True):
    """Add the rows (or columns) first to last, times r, to g."""
    fetch = fetch and indices.nbytes > CACHED
    for i in range(first, last):
        factor = r[i - first]
        if factor != 0.0:
            add(indices, values, np.uint64(indptr[i]), np.uint64(indptr[i + 1]), factor, g, fetch)


@kernel(fastmath=FUSED)
def add_outer(indptr, indices, values, first, last, c, H):
    """Add c times the outer product of each row with itself to H: half of the diagonal, and each pair of entries once.

    H + H' is then whole, repeated entries included. Rows with a zero in c cost nothing.
    """
    for i in range(first, last):
        if c[i - first] == 0.0:
            continue
        low = np.uint64(indptr[i])
        for k in range(low, np.uint64(indptr[i + 1])):
            factor = c[i - first] if values is None else c[i - first] * values[k]
            row = H[indices[k]]
            for l in range(low, k):
                row[indices[l]] += factor if values is None else factor * values[l]
            row[indices[k]] += 0.5 * (factor if values is None else factor * values[k])


@kernel()
def count(indices, width):
    """Return how often each column occurs."""
    lengths = np.zeros(width, np.int64)
    for j in indices:
        lengths[j] += 1
    return lengths


@kernel(fastmath=FUSED)
def squares(indptr, indices, values, c, width, every):
    """Return, for each column, the sum of c times its squared entries, estimated from one row in `every`."""
    out = np.zeros(width)
    for i in range(indptr.size - 1):
        if every > 1 and lot(np.uint64(i), np.uint64(every)) != ZERO:
            continue
        factor = every * c[i]
        for k in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            out[indices[k]] += factor if values is None else factor * values[k] * values[k]
    return out
