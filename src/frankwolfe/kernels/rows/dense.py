"""Loops over the rows of a dense array, compiled: numbers of any width, sums in double precision.

Import inside functions only: loading Numba takes a third of a second.
"""

from __future__ import annotations

import math

import numpy as np

from frankwolfe.kernels.compiling import SUMS, kernel
from frankwolfe.kernels.rows.sparse import FOUR, ONE, THREE, TWO


@kernel(fastmath=SUMS)
def dots(A, first, last, x, out):
    """Set out to the products of rows first to last with x.

    Here and below a vector may be longer than a row: the row is then read to the next whole vector of the processor,
    into the row that follows. What is read too much meets zeros at the end of x, and lands at the end of g.
    """
    flat, d, first = A.reshape(A.size), np.uint64(A.shape[1]), np.uint64(first)
    for i in range(first, np.uint64(last)):
        start, total = i * d, 0.0
        for j in range(min(np.uint64(x.size), np.uint64(flat.size) - start)):
            total += flat[start + j] * x[j]
        out[i - first] = total


@kernel(fastmath=SUMS)
def two_dots(A, first, last, x, y, out, other):
    """Set out and other to the products of rows first to last with x and with y."""
    flat, d, first = A.reshape(A.size), np.uint64(A.shape[1]), np.uint64(first)
    for i in range(first, np.uint64(last)):
        start, total, second = i * d, 0.0, 0.0
        for j in range(min(np.uint64(x.size), np.uint64(flat.size) - start)):
            total += flat[start + j] * x[j]
            second += flat[start + j] * y[j]
        out[i - first], other[i - first] = total, second


@kernel(fastmath=SUMS)
def add_rows(A, first, last, r, g):
    """Add the rows first to last, times r, to g: four at a time, so that g is read and written once for four rows."""
    flat, d, first, last = A.reshape(A.size), np.uint64(A.shape[1]), np.uint64(first), np.uint64(last)
    whole = first + (last - first) // FOUR * FOUR
    for i in range(first, whole, FOUR):
        k, i0 = i - first, i * d
        i1, i2, i3 = i0 + d, i0 + TWO * d, i0 + THREE * d
        r0, r1, r2, r3 = r[k], r[k + ONE], r[k + TWO], r[k + THREE]
        for j in range(min(np.uint64(g.size), np.uint64(flat.size) - i3)):
            g[j] += (r0 * flat[i0 + j] + r1 * flat[i1 + j]) + (r2 * flat[i2 + j] + r3 * flat[i3 + j])
    for i in range(whole, last):
        start, factor = i * d, r[i - first]
        for j in range(min(np.uint64(g.size), np.uint64(flat.size) - start)):
            g[j] += factor * flat[start + j]


@kernel()
def are_bytes(A, scale):
    """Tell whether every entry is scale times an integer from 0 to 255, up to one rounding."""
    for i in range(A.shape[0]):
        wrong = 0
        for j in range(A.shape[1]):
            k = math.floor(A[i, j] / scale + 0.5)
            wrong += (not 0.0 <= k <= 255.0) or abs(k * scale - A[i, j]) > 2.0**-52 * A[i, j]
        if wrong:
            return False
    return True


@kernel()
def to_bytes(A, scale, out):
    """Set out to the integers of which A is `scale` times."""
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            out[i, j] = np.uint8(np.int32(A[i, j] / scale + 0.5))
