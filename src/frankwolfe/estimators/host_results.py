"""Results of a device, brought to the host: a fitted model must be of use where there is no such device."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from frankwolfe.atoms import Atom
from frankwolfe.backends import host
from frankwolfe.backends.namespace import is_foreign
from frankwolfe.lowrank import LowRank
from frankwolfe.result import Result, Status


def on_host(result: Result) -> Result:
    """Return a result whose arrays are all NumPy's; itself where they are already."""
    if not is_foreign(result.x.like if isinstance(result.x, LowRank) else result.x):
        return result
    atoms = None if result.atoms is None else [here(atom) for atom in result.atoms]
    tangents = result.tangents and (result.tangents[0], tuple(map(here, result.tangents[1])))
    return replace(result, x=here(result.x), tangents=tangents, atoms=atoms, weights=here(result.weights))


def here(thing: Any) -> Any:
    """Return an array, an atom or a low-rank matrix with NumPy's arrays in it."""
    if isinstance(thing, LowRank):
        left, right = ([host(factor) for factor in factors] for factors in (thing.left, thing.right))
        return LowRank(thing.weights, left, right, thing.shape, dtype=host(thing.like).dtype)
    if isinstance(thing, Atom):
        parts = {name: here(getattr(thing, name)) for name in vars(thing)}
        return replace(thing, **parts)  # pyright: ignore[reportArgumentType]
    return host(thing) if is_foreign(thing) else thing


def is_unsolved(result: Result) -> bool:
    """Tell whether a result is worse than was asked for, and not because rounding allows no seventh digit."""
    precise = result.status is Status.PRECISION and result.gap <= 1e-6 * max(1.0, abs(result.fun))
    return not result.success and not precise
