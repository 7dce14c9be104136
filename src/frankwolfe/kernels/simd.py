"""Eight numbers side by side, as the registers of a processor hold them, for compiled code that says so itself.

The compiler finds vectors in long loops; where eight rows are multiplied, looked at and added up before the next eight
are read, it does not. A value of the type `Lanes` is eight doubles: `load` and `store` them, write arithmetic, `abs`,
`min` and `max` as usual. `pick_above` and `power` take plain numbers too, so that one formula serves both.
Import inside functions only: loading Numba takes a third of a second.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import extending, types
from numba.extending import models, overload, register_model

from frankwolfe.backends.elementary import pick_above
from frankwolfe.kernels.rows.layouts import LANES

intrinsic: Any = extending.intrinsic  # type checkers do not see through what it makes
VECTOR = ir.VectorType(ir.DoubleType(), LANES)
BITS = ir.VectorType(ir.IntType(64), LANES)
FLAGS = ("contract", "nsz")  # a product and a sum may become one instruction; nothing else may change


class Lanes(types.Type):
    """The type of eight doubles."""

    def __init__(self) -> None:
        super().__init__("Lanes")


@register_model(Lanes)
class _Model(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Lanes) -> None:
        super().__init__(manager, kind, VECTOR)


eight = Lanes()


def _chosen(places: list[int]) -> ir.Constant:
    return ir.Constant(ir.VectorType(ir.IntType(32), LANES), places)


def _writes(build: Callable[..., Any]) -> Callable[..., Any]:
    """Return what Numba calls to write a function of vectors; a plain number goes to every lane."""

    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        vectors = []
        for kind, value in zip(signature.args, values, strict=True):
            if not isinstance(kind, Lanes):
                number = context.cast(builder, value, kind, types.float64)
                first = builder.insert_element(ir.Constant(VECTOR, ir.Undefined), number, ir.IntType(32)(0))
                value = builder.shuffle_vector(first, first, _chosen([0] * LANES))
            vectors.append(value)
        return build(builder, *vectors)

    return code


@intrinsic
def everywhere(_, a):
    """Return a number in every lane."""
    return eight(a), _writes(lambda builder, a: a)


def _address(context: Any, builder: Any, signature: Any, values: Any) -> tuple[Any, Any]:
    """Return where eight entries of an array begin, and their type."""
    kind = signature.args[0].dtype
    array = context.make_array(signature.args[0])(context, builder, values[0])
    start = builder.gep(array.data, [values[1]])
    return builder.bitcast(start, ir.VectorType(context.get_data_type(kind), LANES).as_pointer()), kind


@intrinsic
def load(_, array, i):
    """Return the entries i to i + 7 of an array without gaps, as doubles; nobody checks that they are there."""

    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        address, kind = _address(context, builder, signature, values)
        entries = builder.load(address)
        entries.align = kind.bitwidth // 8
        if isinstance(kind, types.Float):
            return entries if kind.bitwidth == 64 else builder.fpext(entries, VECTOR)
        return (builder.sitofp if kind.signed else builder.uitofp)(entries, VECTOR)

    return eight(array, i), code


@intrinsic
def store(_, array, i, a):
    """Set the entries i to i + 7 of an array of floating-point numbers."""

    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        address, kind = _address(context, builder, signature, values)
        narrow = ir.VectorType(ir.FloatType(), LANES)
        entries = values[2] if kind.bitwidth == 64 else builder.fptrunc(values[2], narrow)
        builder.store(entries, address).align = kind.bitwidth // 8
        return context.get_dummy_value()

    return types.void(array, i, a), code


@intrinsic(prefer_literal=True)
def lane(_, a, k):
    """Return the number in lane k, which is written out, in every lane."""
    places = _chosen([k.literal_value] * LANES)
    return eight(a, k), lambda _, builder, __, values: builder.shuffle_vector(values[0], values[0], places)


@intrinsic
def total(_, a):
    """Return the sum over the lanes."""

    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        numbers = [builder.extract_element(values[0], ir.IntType(32)(k)) for k in range(LANES)]
        whole = numbers[0]
        for number in numbers[1:]:
            whole = builder.fadd(whole, number)
        return whole

    return types.float64(a), code


@intrinsic
def totals(_, a0, a1, a2, a3, a4, a5, a6, a7):
    """Return the sum over the lanes of each vector: that of the first in lane 0, and so on."""

    def build(builder: Any, *rows: Any) -> Any:
        for width in (1, 2, 4):  # neighbours are added, and two vectors become one
            left = [i - width + LANES if i & width else i for i in range(LANES)]
            low, high = _chosen(left), _chosen([i + width for i in left])
            pairs = zip(rows[::2], rows[1::2], strict=True)
            sides = [(builder.shuffle_vector(a, b, low), builder.shuffle_vector(a, b, high)) for a, b in pairs]
            rows = tuple(builder.fadd(*both, flags=FLAGS) for both in sides)
        return rows[0]

    return eight(a0, a1, a2, a3, a4, a5, a6, a7), _writes(build)


@intrinsic
def _pick_above(_, a, bound, yes, no):
    def build(builder: Any, a: Any, bound: Any, yes: Any, no: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", a, bound), yes, no)

    return eight(a, bound, yes, no), _writes(build)


@overload(pick_above)
def _(a, bound, yes, no):
    if any(isinstance(kind, Lanes) for kind in (a, bound, yes, no)):
        return lambda a, bound, yes, no: _pick_above(a, bound, yes, no)
    return lambda a, bound, yes, no: yes if a > bound else no


def power(k):
    """Return two to the integer that stands in the low bits of a double."""
    return np.int64((np.float64(k).view(np.int64) + np.int64(1023)) << np.int64(52)).view(np.float64)


def _powers(builder: Any, k: Any) -> Any:
    bits = builder.add(builder.bitcast(k, BITS), BITS([1023] * LANES))
    return builder.bitcast(builder.shl(bits, BITS([52] * LANES)), VECTOR)


def _sizes(builder: Any, a: Any) -> Any:
    return builder.bitcast(builder.and_(builder.bitcast(a, BITS), BITS([2**63 - 1] * LANES)), VECTOR)


def _arithmetic(name: str) -> Callable[..., Any]:
    return lambda builder, a, b: getattr(builder, name)(a, b, flags=FLAGS)


def _larger(builder: Any, a: Any, b: Any) -> Any:
    return builder.select(builder.fcmp_ordered(">", b, a), b, a)


def _smaller(builder: Any, a: Any, b: Any) -> Any:
    return builder.select(builder.fcmp_ordered(">", a, b), b, a)


def _of_one(symbol: Any, build: Callable[..., Any], of_numbers: Any = None) -> None:
    """Let a function of one number take a vector."""

    @intrinsic
    def function(_, k):
        return eight(k), _writes(build)

    @overload(symbol)
    def _(k):
        return (lambda k: function(k)) if isinstance(k, Lanes) else of_numbers


def _of_two(symbol: Any, build: Callable[..., Any]) -> None:
    """Let an operator or a function of two numbers take vectors."""

    @intrinsic
    def function(_, a, b):
        return eight(a, b), _writes(build)

    @overload(symbol)
    def _(a, b):
        return (lambda a, b: function(a, b)) if isinstance(a, Lanes) or isinstance(b, Lanes) else None


_of_one(power, _powers, power)
_of_one(operator.neg, lambda builder, a: builder.fneg(a))
_of_one(abs, _sizes)
_of_two(operator.add, _arithmetic("fadd"))
_of_two(operator.sub, _arithmetic("fsub"))
_of_two(operator.mul, _arithmetic("fmul"))
_of_two(operator.truediv, _arithmetic("fdiv"))
_of_two(max, _larger)
_of_two(min, _smaller)
