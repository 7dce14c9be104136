"""Ask for memory before it is needed, compiled. Imported on first use only: Numba takes a third of a second.

A processor fetches ahead by itself where it reads one array from end to end. Among jumps in other vectors it often does
not see that, and then waits: sparse passes are a quarter faster when told.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

AHEAD = np.uint64(512)  # entries: enough for memory to answer, few enough to be in cache still when their turn comes
_READ, _SECOND_LEVEL, _DATA = 0, 2, 1  # the operands of LLVM's prefetch


@intrinsic
def prefetch(typing: Any, array: Any, place: Any) -> Any:
    """Begin to load an entry of an array into cache; beyond its end, nothing happens."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data, byte, number = context.make_array(array)(context, builder, args[0]).data, ir.IntType(8), ir.IntType(32)
        address = builder.bitcast(builder.gep(data, [args[1]]), byte.as_pointer())
        kind = ir.FunctionType(ir.VoidType(), [byte.as_pointer(), number, number, number])
        fetch = builder.module.declare_intrinsic("llvm.prefetch", [byte.as_pointer()], kind)
        builder.call(fetch, [address, number(_READ), number(_SECOND_LEVEL), number(_DATA)])
        return context.get_dummy_value()

    return types.void(array, place), generate
