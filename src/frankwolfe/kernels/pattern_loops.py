"""Compiled loops over the observed entries, row by row. Imported on first use only: Numba takes half a second.

Every loop works on the rows `first` to `last`, so that threads can share a matrix; what it scatters over the columns
goes to an array of its own. Indices are unsigned (signed ones cost 3x: Python's negative indices are then looked for),
and sums may be reordered, so that they run in vector registers.
"""

from __future__ import annotations

from numba import njit

_loop = njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "arcp", "nsz"})


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


@_loop
def times(first, last, indptr, cols, values, w, out):
    """Write G w for a vector."""
    zero = out.dtype.type(0)
    for i in range(first, last):
        s = zero
        for e in range(indptr[i], indptr[i + 1]):
            s += values[e] * w[cols[e]]
        out[i] = s


@_loop
def transposed_times(first, last, indptr, cols, values, u, out):
    """Add G' u for a vector."""
    for i in range(first, last):
        a = u[i]
        for e in range(indptr[i], indptr[i + 1]):
            out[cols[e]] += values[e] * a


@_loop
def gram_times(first, last, indptr, cols, values, w, out):
    """Add G' G w: the row is still in the cache when it is read the second time."""
    zero = out.dtype.type(0)
    for i in range(first, last):
        s = zero
        for e in range(indptr[i], indptr[i + 1]):
            s += values[e] * w[cols[e]]
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


@_loop
def extend(basis, j, w, before):
    """Make w, the Gram matrix times the unit vector in row j, orthogonal to rows 0 to j and write it, of length one, to
    row j + 1; `before` is its known component along row j - 1. Return its component along row j and its length."""
    v = basis[j]
    total = 0.0
    for k in range(w.size):
        total += v[k] * w[k]
    a = w.dtype.type(total)
    for k in range(w.size):
        w[k] -= a * v[k]
    if j > 0:
        u, b = basis[j - 1], w.dtype.type(before)
        for k in range(w.size):
            w[k] -= b * u[k]
    for i in range(j + 1):
        u = basis[i]
        s = w.dtype.type(0)
        for k in range(w.size):
            s += u[k] * w[k]
        for k in range(w.size):
            w[k] -= s * u[k]
    square = 0.0
    for k in range(w.size):
        square += w[k] * w[k]
    length = square**0.5
    if length > 0.0:
        scale = w.dtype.type(1.0 / length)
        u = basis[j + 1]
        for k in range(w.size):
            u[k] = scale * w[k]
    return total, length
