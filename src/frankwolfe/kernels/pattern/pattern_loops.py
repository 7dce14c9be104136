"""Compiled loops over the observed entries, row by row. Imported on first use only: Numba takes half a second.

Every loop works on the rows `first` to `last`, so that threads can share a matrix; what it scatters over the columns
goes to an array of its own. Indices are unsigned (signed ones cost 3x: Python's negative indices are then looked for),
and sums may be reordered, so that they run in vector registers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from frankwolfe.kernels.compiling import FUSED, SUMS, kernel

_loop = kernel(fastmath=SUMS)
_in_order = kernel(fastmath={*FUSED, "nsz"})
WIDTH = 4  # vectors side by side
_LANE = ir.IntType(32)
_FUSED: Any = tuple(FUSED)


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


@intrinsic
def _gram_row(typing: Any, begin: Any, end: Any, cols: Any, values: Any, W: Any, out: Any) -> Any:
    """Add to `out` the row's outer product with itself times W: entries `begin` to `end`, W and out n x 4.

    Numbers that lie side by side come and go in one register; Numba does not find that by itself.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        begin, end, *arrays = args
        col_of, value_of, W, out = (
            context.make_array(kind)(context, builder, array).data
            for kind, array in zip(signature.args[2:], arrays, strict=True)
        )
        number, count = value_of.type.pointee, begin.type
        vector, align = ir.VectorType(number, WIDTH), signature.args[3].dtype.bitwidth // 8
        one, four, none = count(1), count(4), ir.Constant(vector, ir.Undefined)

        def entry(e: Any) -> tuple[Any, Any]:
            """Return the column of an entry as a place in an array of n rows, and its value four times."""
            row = builder.mul(builder.zext(builder.load(builder.gep(col_of, [e])), count), four)
            value = builder.insert_element(none, builder.load(builder.gep(value_of, [e])), _LANE(0))
            return row, builder.shuffle_vector(value, none, ir.Constant(ir.VectorType(_LANE, WIDTH), [0] * WIDTH))

        def place(array: Any, row: Any) -> Any:
            return builder.bitcast(builder.gep(array, [row]), vector.as_pointer())

        def plus(total: Any, x: Any, y: Any) -> Any:
            return builder.fadd(total, builder.fmul(x, y, flags=_FUSED), flags=_FUSED)

        def gather(e: Any, total: Any) -> None:
            row, value = entry(e)
            w = builder.load(place(W, row), align=align)
            builder.store(plus(builder.load(total), value, w), total)

        sums = [cgutils.alloca_once_value(builder, ir.Constant(vector, [0.0] * WIDTH)) for _ in range(4)]
        for total in sums:
            builder.store(ir.Constant(vector, [0.0] * WIDTH), total)
        fours = builder.sub(end, builder.urem(builder.sub(end, begin), four))
        with cgutils.for_range_slice(builder, begin, fours, four, count) as (e, _):
            for i, total in enumerate(sums):
                gather(builder.add(e, count(i)), total)
        with cgutils.for_range_slice(builder, fours, end, one, count) as (e, _):
            gather(e, sums[0])
        s, t, u, v = (builder.load(total) for total in sums)
        s = builder.fadd(builder.fadd(s, t), builder.fadd(u, v))
        with cgutils.for_range_slice(builder, begin, end, one, count) as (e, _):
            row, value = entry(e)
            o = place(out, row)
            builder.store(plus(builder.load(o, align=align), value, s), o, align=align)
        return context.get_dummy_value()

    alike = values.dtype == W.dtype == out.dtype and values.layout == cols.layout == W.layout == out.layout == "C"
    return (types.void(begin, end, cols, values, W, out), generate) if alike else None


@kernel()
def gram_times_four(first, last, indptr, cols, values, W, out):
    """Add G' G W for an n x 4 array, four vectors for little more than one, rows `first` to `last` of G."""
    for i in range(first, last):
        _gram_row(indptr[i], indptr[i + 1], cols, values, W, out)  # pyright: ignore[reportCallIssue]
