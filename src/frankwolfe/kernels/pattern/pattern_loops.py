"""Compiled loops over the observed entries, row by row. Imported on first use only: Numba takes half a second.

Every loop works on the rows `first` to `last`, so that threads can share a matrix; what it scatters over the columns
goes to an array of its own. Indices are unsigned (signed ones cost 3x: Python's negative indices are then looked for),
and sums may be reordered, so that they run in vector registers.
"""

from __future__ import annotations

import numpy as np

from frankwolfe.kernels.compiling import FUSED, SUMS, kernel

_loop = kernel(fastmath=SUMS)
_in_order = kernel(fastmath={*FUSED, "nsz"})


@_loop
def entries(first, last, indptr, cols, U, V, out):
    """Write the observed entries of U V'."""
    zero = out.dtype.type(0)
    for i in range(first, last):
        u = U[i]
        for e in range(indptr[i], indptr[i + 1]):
            v = V[cols[e]]
            s = zero
            for k in range(u.size):
                s += u[k] * v[k]
            out[e] = s


@_loop
def arrange(values, order, scale, out):
    """Write the values in another order, times a number."""
    for e in range(out.size):
        out[e] = scale * values[order[e]]


@_loop
def rank_one(first, last, indptr, cols, u, v, out):
    """Write the observed entries of u v'."""
    for i in range(first, last):
        a = u[i]
        for e in range(indptr[i], indptr[i + 1]):
            out[e] = a * v[cols[e]]


@_loop
def fit(first, last, indptr, cols, target, weights, U, V, GU, GV):
    """Return Σ weight (u_i·v_j - target)²; write its half's gradient in U, add its half's gradient in V."""
    zero = GU.dtype.type(0)
    total = 0.0
    for i in range(first, last):
        u, gu = U[i], GU[i]
        for k in range(u.size):
            gu[k] = zero
        for e in range(indptr[i], indptr[i + 1]):
            j = cols[e]
            v, gv = V[j], GV[j]
            s = zero
            for k in range(u.size):
                s += u[k] * v[k]
            off = s - target[e]
            s = off * weights[e] if weights.size else off
            total += off * s
            for k in range(u.size):
                gu[k] += s * v[k]
            for k in range(u.size):
                gv[k] += s * u[k]
    return total


@_in_order
def _dot(begin, end, cols, values, w):
    """Return Σ values w[cols] over the entries; four sums by hand beat the gathers that the compiler would use."""
    one, two, three, four = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    s, s1, s2, s3 = w.dtype.type(0), w.dtype.type(0), w.dtype.type(0), w.dtype.type(0)
    fours = end - (end - begin) % four
    for e in range(begin, fours, four):
        s += values[e] * w[cols[e]]
        s1 += values[e + one] * w[cols[e + one]]
        s2 += values[e + two] * w[cols[e + two]]
        s3 += values[e + three] * w[cols[e + three]]
    for e in range(fours, end):
        s += values[e] * w[cols[e]]
    return (s + s1) + (s2 + s3)


@_in_order
def times(first, last, indptr, cols, values, w, out):
    """Write G w for a vector."""
    for i in range(first, last):
        out[i] = _dot(indptr[i], indptr[i + 1], cols, values, w)


@_loop
def transposed_times(first, last, indptr, cols, values, u, out):
    """Add G' u for a vector."""
    for i in range(first, last):
        a = u[i]
        for e in range(indptr[i], indptr[i + 1]):
            out[cols[e]] += values[e] * a


@_in_order
def gram_times(first, last, indptr, cols, values, w, out):
    """Add G' G w: the row is still in the cache when it is read the second time."""
    for i in range(first, last):
        s = _dot(indptr[i], indptr[i + 1], cols, values, w)
        for e in range(indptr[i], indptr[i + 1]):
            out[cols[e]] += values[e] * s


@_loop
def times_block(first, last, indptr, cols, values, W, out):
    """Write G W for a block of columns."""
    zero = out.dtype.type(0)
    for i in range(first, last):
        o = out[i]
        for k in range(o.size):
            o[k] = zero
        for e in range(indptr[i], indptr[i + 1]):
            w, a = W[cols[e]], values[e]
            for k in range(o.size):
                o[k] += a * w[k]


@_loop
def transposed_times_block(first, last, indptr, cols, values, U, out):
    """Add G' U for a block of columns."""
    for i in range(first, last):
        u = U[i]
        for e in range(indptr[i], indptr[i + 1]):
            o, a = out[cols[e]], values[e]
            for k in range(u.size):
                o[k] += a * u[k]


@_loop
def gram_matrix(indptr, indices, values, H):
    """Add the lower triangle of A' A for sorted rows of A."""
    for i in range(indptr.size - 1):
        for a in range(indptr[i], indptr[i + 1]):
            h, x = H[indices[a]], values[a]
            for b in range(indptr[i], a + 1):
                h[indices[b]] += x * values[b]
