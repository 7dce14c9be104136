"""Second-order steps on the columns that matter: what `newton` does on an l1 ball or a simplex of many variables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from frankwolfe.methods.base import Evidence, closed
from frankwolfe.objectives.base import Evaluation
from frankwolfe.objectives.least_squares import LeastSquares
from frankwolfe.objectives.linear_model import LinearModel
from frankwolfe.points import Point
from frankwolfe.problem import Problem
from frankwolfe.sets.lp import L1Ball
from frankwolfe.sets.simplex import Simplex

Step = Callable[[Problem, Any], tuple[Any, Evidence]]

MANY = 200  # variables from which on the columns are chosen
FIRST, GROWTH = 64, 1.5  # how many columns may join: so many, or this many times those in use
ENTRY = 0.1  # a column joins if its vertex is better than x by more than this share of the gap
REST = 0.2  # share of the gap that may be left on the columns in use
MOST_STEPS = 10  # second-order steps between two looks at all columns


def applies(problem: Problem) -> bool:
    """Tell whether the vertices are single columns of the data, and many; picked from NumPy arrays."""
    if problem.away:
        return False
    many = isinstance(problem.objective, LinearModel) and problem.objective.data.shape[1] > MANY
    return many and isinstance(problem.domain, L1Ball | Simplex)


def step(problem: Problem, state: Any, newton: Step) -> tuple[Any, Evidence]:
    """Return the state after second-order steps on some columns, and what one look at all of them has shown."""
    k, x = state.k, state.x
    at_x = problem.evaluate(x)
    vertex = problem.lmo(at_x.slope, k, share=0.0, keep=x)
    gap = max(float(at_x.inner - vertex.value), 0.0)
    evidence = Evidence(((at_x.value, x),), ((at_x.tangent, vertex),))
    if not state.rested and closed(problem, at_x.value, at_x.tangent, vertex):
        return state._replace(k=k + 1, rested=True), evidence
    part = restricted(problem, columns(problem, x, at_x, gap))
    goal = max(REST * gap, 2 * float(at_x.tangent.noise))
    inner = state._replace(x=part.down(x))
    exact = isinstance(problem.objective, LeastSquares)  # the model is the function: one step is enough
    for _ in range(1 if exact else MOST_STEPS):
        inner, seen = newton(part.problem, inner)
        if inner.gap * abs(float(seen.seen[0][0])) <= goal:
            break
    problem.counts.n_pass += part.problem.counts.n_pass * part.columns.size / x.coords.size
    return state._replace(k=k + 1, x=part.up(inner.x), gap=inner.gap, rested=False), evidence


def columns(problem: Problem, x: Point, at_x: Evaluation, gap: float) -> np.ndarray:
    """Return the columns in use and the best of those that are worth more, in ascending order."""
    domain, slope = problem.domain, at_x.slope
    assert isinstance(domain, L1Ball | Simplex)
    used = x.coords != 0
    worth = np.abs(slope) if isinstance(domain, L1Ball) else -slope
    worth = np.where(used, -np.inf, worth)
    new = np.flatnonzero(domain.radius * worth > ENTRY * gap - float(at_x.inner))
    count = max(FIRST, int(GROWTH * np.count_nonzero(used)))
    if new.size > count:
        new = new[np.argpartition(-worth[new], count)[:count]]
    used[new] = True
    return np.flatnonzero(used)


class Part(NamedTuple):
    """The problem on some columns, the other variables held at zero."""

    problem: Problem
    columns: np.ndarray
    shape: tuple[int, ...]

    def down(self, x: Point) -> Point:
        """Return a point that is zero elsewhere as a point of the part."""
        return Point(x.coords[self.columns], x.terms)

    def up(self, z: Point) -> Point:
        """Return a point of the part as one of the whole."""
        coords = np.zeros(self.shape, dtype=z.coords.dtype)
        coords[self.columns] = z.coords
        return Point(coords, z.terms)


def restricted(problem: Problem, chosen: np.ndarray) -> Part:
    """Return the problem on some columns."""
    objective, domain = problem.objective, problem.domain
    assert isinstance(objective, LinearModel)
    if isinstance(domain, Simplex):
        domain = replace(domain, dim=chosen.size)
    return Part(Problem(objective.restricted(chosen), domain, eps=problem.eps), chosen, objective.shape)
