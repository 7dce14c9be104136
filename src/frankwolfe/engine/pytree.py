"""A state taken apart into its arrays and put together again: for steps that are compiled or captured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np
from array_api_compat import is_array_api_obj

from frankwolfe.points import Leaf, Point


def take_apart(value: Any, number: Callable[[float], Any] | None = None) -> tuple[Any, list[Any]]:
    """Return the form of a state (plain data) and its arrays; what is shared stays so.

    `number` makes arrays of floats as well; without it they belong to the form.
    """
    arrays: list[Any] = []
    places: dict[int, int] = {}
    shared: dict[int, int] = {}
    alive: list[Any] = []  # places are known by ids: nothing may be freed meanwhile

    def walk(value: Any) -> Any:
        if number is not None and isinstance(value, float):
            arrays.append(number(value))
            return ("array", len(arrays) - 1)
        if value is None or isinstance(value, str | bool | int | float):
            return ("is", value)
        if is_array_api_obj(value) or isinstance(value, np.generic):
            if id(value) not in places:
                places[id(value)] = len(arrays)
                alive.append(value)
                arrays.append(value)
            return ("array", places[id(value)])
        if isinstance(value, tuple) and not hasattr(value, "_fields"):
            return ("tuple", tuple(walk(part) for part in value))
        if id(value) in shared:
            return ("again", shared[id(value)])
        shared[id(value)] = len(shared)
        alive.append(value)
        return ("object", type(value), tuple(walk(part) for part in _parts(value)))

    return walk(value), arrays


def put_together(form: Any, arrays: Any) -> Any:
    """Return the state that `take_apart` took apart, with these arrays."""
    made: list[Any] = []

    def build(node: Any) -> Any:
        if node[0] == "is":
            return node[1]
        if node[0] == "array":
            return arrays[node[1]]
        if node[0] == "tuple":
            return tuple(build(part) for part in node[1])
        if node[0] == "again":
            return made[node[1]]
        place = len(made)
        made.append(None)
        made[place] = node[1](*(build(part) for part in node[2]))
        return made[place]

    return build(form)


def _parts(value: Any) -> tuple[Any, ...]:
    """Return what a value is made from by its class: named tuples, points, leaves and atoms."""
    if isinstance(value, Point):
        return (value.coords, value.terms, value.parts, value.rest)
    if isinstance(value, Leaf):
        return (value.coords, value.value)
    if hasattr(value, "_fields"):
        return tuple(value)
    return tuple(getattr(value, field.name) for field in fields(value))
