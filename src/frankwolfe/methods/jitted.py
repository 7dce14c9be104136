"""Several steps of a method as one compiled JAX function: the same steps, traced once, launched together.

A method's step is array code, so JAX can trace it as it stands. The state is taken apart into its arrays and put
together again inside; what is the same in every call (the form of the state, the data) stays outside. What cannot be
traced, a line search that looks at numbers say, takes plain steps.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from typing import Any, NamedTuple

import array_api_compat
import numpy as np

from frankwolfe.methods.base import PACE, Evidence, Method, delegate
from frankwolfe.points import Leaf, Point
from frankwolfe.problem import Counts, Problem

LATER = 256  # steps after which a run counts as long: compiling takes seconds, and then a launch serves eight steps
CACHE = 4  # forms of the state kept compiled


class Compiled(NamedTuple):
    """A traced run of steps: the function, the form of its answer, and what the steps cost."""

    run: Callable[[list[Any]], list[Any]]
    form: Any
    costs: tuple[float, ...]


def leap(problem: Problem, method: Method, state: Any, n: int) -> tuple[Any, list[Evidence]] | None:
    """Take n steps in one launch, or return None where they cannot be compiled."""
    known: dict[Any, Compiled | None] = problem.scratch.setdefault("compiled", {})
    if n != PACE or state.k < LATER or "never" in known or not array_api_compat.is_jax_array(state.x.coords):
        return None
    form, arrays = take_apart(state._replace(k=np.asarray(state.k)), numbers=True)
    key = repr((form, [(a.shape, str(a.dtype)) for a in arrays]))
    if key not in known:
        if len(known) >= CACHE:
            return None
        known[key] = _traced(problem, method, form, arrays, n)
        if known[key] is None:
            known["never"] = None
    compiled = known[key]
    if compiled is None:
        return None
    after, evidence = put_together(compiled.form, compiled.run(arrays))
    totals = [a + b for a, b in zip(problem.counts.asdict().values(), compiled.costs, strict=True)]
    problem.counts.__dict__.update(zip(problem.counts.asdict(), totals, strict=True))
    return after._replace(k=state.k + n), list(evidence)


def _traced(problem: Problem, method: Method, form: Any, arrays: list[Any], n: int) -> Compiled | None:
    """Trace n steps; return None where a step looks at its numbers."""
    import jax

    seen: list[Any] = []
    counts = Counts()

    def steps(*inside: Any) -> list[Any]:
        # Copies: whatever an objective or its data keep while they are traced must not outlive it.
        objective = copy(problem.objective)
        if "data" in vars(objective):
            objective.data = copy(objective.data)  # pyright: ignore[reportAttributeAccessIssue]
        here, state, evidence = replace(problem, objective=objective, counts=counts), put_together(form, inside), []
        for _ in range(n):
            state, one = delegate(here, method, state)
            evidence.append(one)
        outside, out = take_apart((state, tuple(evidence)))
        seen.append(outside)
        return out

    try:
        closed = jax.make_jaxpr(steps)(*arrays)
    except (jax.errors.JAXTypeError, jax.errors.JAXIndexError, TypeError, ValueError):
        return None
    # The data are arguments, not constants: they are not copied into the compiled function.
    run = jax.jit(lambda data, inside: jax.core.eval_jaxpr(closed.jaxpr, data, *inside))
    return Compiled(lambda values: run(closed.consts, values), seen[-1], tuple(counts.asdict().values()))


def take_apart(value: Any, numbers: bool = False) -> tuple[Any, list[Any]]:
    """Return the form of a state (plain data) and its arrays, among them numbers if asked; what is shared stays so."""
    import jax.numpy as jnp

    arrays: list[Any] = []
    places: dict[int, int] = {}
    shared: dict[int, int] = {}
    alive: list[Any] = []  # places are known by ids: nothing may be freed meanwhile

    def walk(value: Any) -> Any:
        if numbers and isinstance(value, float):
            arrays.append(jnp.asarray(value))
            return ("array", len(arrays) - 1)
        if value is None or isinstance(value, str | bool | int | float):
            return ("is", value)
        if array_api_compat.is_jax_array(value) or isinstance(value, np.ndarray | np.generic):
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
        return (value.coords, value.terms, value.parts)
    if isinstance(value, Leaf):
        return (value.coords, value.value)
    if hasattr(value, "_fields"):
        return tuple(value)
    return tuple(getattr(value, name) for name in value.__dataclass_fields__)
