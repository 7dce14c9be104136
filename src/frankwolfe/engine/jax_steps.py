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

from frankwolfe.engine.base import PACE, Way
from frankwolfe.methods.base import Evidence, Method
from frankwolfe.problem import Counts, Problem
from frankwolfe.serialisation import decode, encode

LATER = 256  # steps after which a run counts as long: compiling takes seconds, and then a launch serves eight steps
CACHE = 4  # forms of the state kept compiled


class Compiled(NamedTuple):
    """A traced run of steps: the function, the form of its answer, and what the steps cost."""

    run: Callable[[list[Any]], list[Any]]
    form: Any
    costs: Counts


class JaxSteps(Way):
    """Steps that JAX can trace, on its arrays, once a run is long."""

    name = "several at a time, compiled by JAX"

    def applies(self, problem: Problem, method: Method) -> bool:
        return "never" not in _known(problem)

    def takes(self, problem: Problem, method: Method, state: Any, n: int) -> bool:
        if n != PACE or state.k < LATER or not array_api_compat.is_jax_array(state.x.coords):
            return False
        known = _known(problem)
        if "never" in known:
            return False
        form, arrays, key = _taken_apart(problem, state)
        if key not in known:
            if len(known) >= CACHE:
                return False
            traced = _traced(problem, method, form, arrays, n)
            known["never" if traced is None else key] = traced
        return key in known

    def take(self, problem: Problem, method: Method, state: Any, n: int) -> tuple[Any, list[Evidence]]:
        _, arrays, key = _taken_apart(problem, state)
        compiled = _known(problem)[key]
        assert compiled is not None
        after, evidence = decode(compiled.form, compiled.run(arrays), problem.objective.dual)
        problem.counts.add(compiled.costs)
        return after._replace(k=state.k + n), list(evidence)


def _known(problem: Problem) -> dict[str, Compiled | None]:
    """Return the compiled steps by the form of the state; "never" is there once a step could not be traced."""
    return problem.scratch.setdefault("compiled", {})


def _taken_apart(problem: Problem, state: Any) -> tuple[Any, list[Any], str]:
    """Return the form of a state, its arrays, and what names both forms; of the last state, as found before."""
    import jax.numpy as jnp

    last, *found = problem.scratch.get("taken apart", (None,))
    if last is not state:
        form, arrays = encode(state._replace(k=np.asarray(state.k)), number=jnp.asarray)
        found = [form, arrays, repr((form, [(a.shape, str(a.dtype)) for a in arrays]))]
        problem.scratch["taken apart"] = (state, *found)
    return found[0], found[1], found[2]


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
        here, evidence = replace(problem, objective=objective, counts=counts), []
        state = decode(form, inside, objective.dual)
        for _ in range(n):
            state, one = method.step(here, state)
            evidence.append(one)
        outside, out = encode((state, tuple(evidence)))
        seen.append(outside)
        return out

    try:
        closed = jax.make_jaxpr(steps)(*arrays)
    except (jax.errors.JAXTypeError, jax.errors.JAXIndexError, TypeError, ValueError):
        return None
    # The data are arguments, not constants: they are not copied into the compiled function.
    run = jax.jit(lambda data, inside: jax.core.eval_jaxpr(closed.jaxpr, data, *inside))
    return Compiled(lambda values: run(closed.consts, values), seen[-1], counts)
