"""States as plain data: a JSON tree and a list of arrays, no pickle. Sharing between objects survives.

Checkpoints write them down; the engine compiles or captures steps that take the arrays and give back others.

A NamedTuple takes part by the decorator `plain`; richer classes register a pair of functions. Nothing in a file is ever
imported or run: names in it are looked up here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from array_api_compat import is_array_api_obj

from frankwolfe.atoms import Dense, OneHot, RankOne, Sparse, StackedAtoms
from frankwolfe.backends.namespace import Imaged
from frankwolfe.kernels.pattern.pattern_matrix import PatternMatrix
from frankwolfe.lowrank import LowRank
from frankwolfe.points import Leaf, Point, Tangent, Touches
from frankwolfe.rows.rows_in_parts import UNKEPT, Unkept

T = TypeVar("T", bound=type)
Dual = Callable[[np.ndarray], Any]

_TYPES: dict[str, tuple[type, Callable[[Any], list[Any]], Callable[[list[Any], Dual], Any]]] = {}


def plain(cls: T) -> T:
    """Register a NamedTuple, so that checkpoints can hold it."""
    _TYPES[cls.__name__] = (cls, list, lambda fields, dual: cls(*fields))
    return cls


def register(cls: type, take: Callable[[Any], list[Any]], make: Callable[[list[Any], Dual], Any]) -> None:
    """Register a class by what it is taken apart into, and how it is put together again."""
    _TYPES[cls.__name__] = (cls, take, make)


plain(Tangent)
plain(Touches)
register(
    Point,
    lambda p: [p.coords, list(p.terms), p.parts, p.rest],
    lambda f, dual: Point(f[0], tuple(tuple(t) for t in f[1]), *f[2:]),
)
register(Leaf, lambda leaf: [leaf.coords, leaf.value], lambda f, dual: Leaf(*f))
register(Unkept, lambda image: [], lambda f, dual: UNKEPT)
register(Dense, lambda a: [a.array], lambda f, dual: Dense(*f))
register(StackedAtoms, lambda a: [a.array], lambda f, dual: StackedAtoms(*f))
register(OneHot, lambda a: [a.index, a.value, list(a.shape)], lambda f, dual: OneHot(f[0], f[1], tuple(f[2])))
register(Sparse, lambda a: [a.indices, a.values, list(a.shape)], lambda f, dual: Sparse(f[0], f[1], tuple(f[2])))
register(RankOne, lambda a: [a.scale, a.left, a.right], lambda f, dual: RankOne(*f))
register(
    LowRank,
    lambda x: [x.weights, list(x.left), list(x.right), list(x.shape), x.dtype.name, x.settled],
    lambda f, dual: LowRank(f[0], f[1], f[2], tuple(f[3]), dtype=f[4], settled=f[5]),
)
register(PatternMatrix, lambda g: [g.values], lambda f, dual: dual(f[0]))
register(Imaged, lambda g: [np.asarray(g), g.image], lambda f, dual: dual(f))  # pyright: ignore[reportArgumentType]


def encode(value: Any, number: Callable[[float], Any] | None = None) -> tuple[Any, list[Any]]:
    """Return a JSON-ready tree and the arrays it refers to, of any library; `number` makes arrays of floats as well."""
    arrays: list[Any] = []
    array_numbers: dict[int, int] = {}
    object_numbers: dict[int, int] = {}
    alive: list[Any] = []  # numbers are ids: nothing may be freed while they are in use

    def walk(value: Any) -> Any:
        if value is None or isinstance(value, bool | str):
            return value
        if (isinstance(value, np.generic) or is_array_api_obj(value)) and not isinstance(value, Imaged):
            if id(value) not in array_numbers:
                array_numbers[id(value)] = len(arrays)
                arrays.append(value)
                alive.append(value)
            kind = "scalar" if isinstance(value, np.generic) else "array"
            return {kind: array_numbers[id(value)]}
        if isinstance(value, int):
            return value
        if isinstance(value, float):
            if number is None:
                return {"float": value.hex()}
            arrays.append(number(value))
            return {"array": len(arrays) - 1}
        name = type(value).__name__
        if _TYPES.get(name, (None,))[0] is type(value):
            if id(value) in object_numbers:
                return {"again": object_numbers[id(value)]}
            own = object_numbers[id(value)] = len(object_numbers)
            alive.append(value)
            return {"type": name, "number": own, "fields": [walk(v) for v in _TYPES[name][1](value)]}
        if isinstance(value, list | tuple):
            return {"tuple" if isinstance(value, tuple) else "list": [walk(v) for v in value]}
        raise TypeError(
            f"a state cannot hold a {type(value).__module__}.{name}; a new state class needs the decorator "
            "frankwolfe.serialisation.plain"
        )

    return walk(value), arrays


def decode(tree: Any, arrays: Sequence[Any], dual: Dual = lambda values: values) -> Any:
    """Return the value that `encode` took apart; `dual` rebuilds gradients on the objective's own pattern."""
    made: dict[int, Any] = {}

    def walk(node: Any) -> Any:
        if not isinstance(node, dict):
            return node
        if "array" in node:
            return arrays[node["array"]]
        if "scalar" in node:
            return arrays[node["scalar"]][()]
        if "float" in node:
            return float.fromhex(node["float"])
        if "again" in node:
            return made[node["again"]]
        if "type" in node:
            _, _, make = _TYPES[node["type"]]
            made[node["number"]] = make([walk(n) for n in node["fields"]], dual)
            return made[node["number"]]
        if "tuple" in node:
            return tuple(walk(n) for n in node["tuple"])
        return [walk(n) for n in node["list"]]

    return walk(tree)
