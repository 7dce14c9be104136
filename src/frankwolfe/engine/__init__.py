"""How steps are taken: one by one, several at a time in a CUDA graph or by Triton kernels, or compiled by JAX.

`WAYS` lists the ways, the best first; `chosen` picks one and can be asked in a test. Methods know none of it.
"""

from __future__ import annotations

from typing import Any

from frankwolfe.engine.base import PACE, OneByOne, Way
from frankwolfe.engine.cuda_graph_steps import GraphSteps
from frankwolfe.engine.gpu_steps import TritonSteps
from frankwolfe.engine.jax_steps import JaxSteps
from frankwolfe.methods.base import Evidence, Method
from frankwolfe.problem import Problem

OFTEN, RARELY = 16, 256  # steps between two looks at whether x is in its set, on the host and where a look costs time
WAYS: tuple[Way, ...] = (TritonSteps(), GraphSteps(), JaxSteps(), OneByOne())


def chosen(problem: Problem, method: Method, state: Any, n: int) -> Way:
    """Return the way to take up to n steps: the first that applies. The last always does."""
    return WAYS[-1] if n == 1 else next(way for way in WAYS if way.takes(problem, method, state, n))


def advance(problem: Problem, method: Method, state: Any, n: int) -> tuple[Any, list[Evidence]]:
    """Take n steps; return the state after them and what each has seen."""
    evidence: list[Evidence] = []
    while len(evidence) < n:
        before, left = state.k, n - len(evidence)
        state, seen = chosen(problem, method, state, left).take(problem, method, state, left)
        evidence += seen
        # By the steps taken alone: a resumed run looks likewise.
        every = RARELY if problem.on_device and not method.syncs_host else OFTEN
        if state.k // every > before // every:
            state = method.settled(problem, state)
    return state, evidence


def pace(problem: Problem, method: Method, k: int) -> int:
    """Return how many steps to take before the host looks: one for NumPy, several where reading back costs time."""
    if not problem.on_device or method.syncs_host or problem.oracle_iterates:  # and so syncs
        return 1
    return next(way.pace(k) for way in WAYS if way.applies(problem, method))


__all__ = ["PACE", "WAYS", "Way", "advance", "chosen", "pace"]
