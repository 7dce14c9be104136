"""G' G times four vectors at once, for little more than one. Imported on first use only: Numba takes half a second.

What a product on a pattern waits for is the loading of positions and values. Four numbers that lie side by side come
and go in one register; Numba does not find that by itself, so the loop over a row is written in LLVM's own terms.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from frankwolfe.kernels.compiling import kernel

WIDTH = 4
_LANE = ir.IntType(32)
_FUSED: Any = ("contract",)  # a product and a sum may become one instruction


@intrinsic
def _gram_row(typing: Any, begin: Any, end: Any, cols: Any, values: Any, W: Any, out: Any) -> Any:
    """Add to `out` the row's outer product with itself times W: entries `begin` to `end`, W and out n x 4."""

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
def gram_times(first, last, indptr, cols, values, W, out):
    """Add G' G W for an n x 4 array, rows `first` to `last` of G."""
    for i in range(first, last):
        _gram_row(indptr[i], indptr[i + 1], cols, values, W, out)  # pyright: ignore[reportCallIssue]
