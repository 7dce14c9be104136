"""What holds for every method: certificates, feasibility, states that survive the file format. For the tests."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.problems import Case

import frankwolfe as fw
from frankwolfe.problem import Problem
from frankwolfe.serialisation import decode, encode

ROUNDING = 1e-12


def dense(point: Any) -> np.ndarray:
    """Return the coordinates of a point as an array."""
    return point.coords.toarray() if hasattr(point.coords, "toarray") else point.coords


def steps(problem: Problem, method: fw.Method, x0: Any, n: int) -> Iterator[tuple[Any, Any, Any]]:
    """Take n steps; yield the state before, the state after, and the evidence of each."""
    state = method.init(problem, x0)
    for _ in range(n):
        after, evidence = method.step(problem, state)
        yield state, after, evidence
        state = after


def check_certificates(method: fw.Method, known: Case, n: int, tol: float = 1e-9) -> fw.Result:
    """lower_bound <= f* <= fun in every row, iterates stay in the set, and the value is that of the point returned."""
    objective, domain, optimum, x0 = known
    feasible = []
    result = fw.minimize(
        *(objective, domain, x0),
        method=method,
        tol=0,
        max_iter=n,
        callback=lambda it: feasible.append(domain.contains(it.x, tol=tol)),
    )
    slack = ROUNDING * (1 + abs(optimum))
    assert len(feasible) == n
    assert all(feasible)
    assert np.all(result.trace.lower_bound <= optimum + slack)
    assert np.all(result.trace.fun >= optimum - slack)
    assert result.gap < np.inf
    assert result.fun == pytest.approx(float(objective.value(result.x)), abs=slack)
    return result


def check_resumption(method: fw.Method, known: Case, n: int = 8) -> None:
    """A state that goes through the file format after every step makes the same iterates, to the last bit."""
    objective, domain, _, given = known
    few = domain is not None and domain.sparse_atoms
    problem, twin = (Problem(objective.oriented(few), domain) for _ in range(2))
    plain = method.init(problem, problem.start(given, method.dense))
    saved = method.init(twin, twin.start(given, method.dense))
    for _ in range(n):
        plain, seen = method.step(problem, plain)
        tree, arrays = encode(saved)
        restored = decode(json.loads(json.dumps(tree)), [a.copy() for a in arrays], twin.objective.dual)
        saved, again = method.step(twin, restored)
        assert dense(plain.x).dtype == dense(saved.x).dtype
        assert np.array_equal(dense(plain.x), dense(saved.x))
        assert np.array_equal(plain.x.parts[1], saved.x.parts[1]) if plain.x.parts else saved.x.parts is None
        assert float(seen.seen[0][0]) == float(again.seen[0][0])
    assert problem.counts == twin.counts
