"""Points of the set: where runs start, and beside points that rounding has taken out of it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from frankwolfe.atoms import Mixable, RankOne
from frankwolfe.backends import Array
from frankwolfe.backends.namespace import all_finite, as_like
from frankwolfe.lowrank import LowRank
from frankwolfe.points import Leaf, Point
from frankwolfe.sets.base import ProjectableSet, Set
from frankwolfe.sets.membership import nearest_by_oracle

if TYPE_CHECKING:
    from frankwolfe.problem import Problem

MANY = 4096  # coordinates up to which a middle point is the mean of vertices along each of them
ROUNDED = 4.0  # ulps, of the size of the set and the roots of long sums, that a point may be outside it
LOST = 0.5  # of the size of the set: a vertex farther outside than that is no number of its type
AFRESH = 1024  # steps after which an image, whose rounding errors add up as well, is computed from its point


def default_start(problem: Problem, zero: Any) -> Point:
    """Return zero where it is feasible, else the vertex for the gradient there; where f is finite, in any case."""
    domain, ours = problem.domain, problem.objective.ours
    if domain is None:
        return Point.at(zero)
    feasible = domain.contains(_exactly(zero), tol=ROUNDED * problem.eps)
    if feasible and (ours or math.isfinite(problem.objective.value_inside(zero))):
        return Point.at(zero)
    if ours:
        moments = vars(problem.objective).get("second_moments")  # where they were formed
        atom = domain.lmo(problem.objective.grad(zero) if moments is None else -moments.linear)
        vertex = as_low_rank(atom) if isinstance(zero, LowRank) else atom.toarray()
        if problem.eps > 1e-9 and problem.quick_membership and not domain.contains(_exactly(vertex), LOST):
            raise ValueError(
                f"{domain!r} is too small for single precision, in which the data are; pass them in double"
            )
        return Point.at(vertex)
    slope = None if feasible else problem.objective.grad_inside(zero)
    if slope is not None:
        vertex = domain.lmo(slope).toarray()
        if math.isfinite(problem.objective.value_inside(vertex)):
            return Point.at(vertex)
    return Point.at(_middle(domain, zero))


def pulled_in(problem: Problem, coords: Any, single: bool = False) -> Any:
    """Return a point of the set beside one that rounding, or a narrower type, has put just outside it.

    `single` tells that it was given in single precision, whatever the arithmetic is.
    """
    domain = problem.domain
    assert domain is not None
    if domain.contains(coords, tol=1e-4 if single or problem.eps > 1e-9 else 1e-6):
        if isinstance(domain, ProjectableSet) and not isinstance(coords, LowRank):
            return domain.project(coords)
        centre = coords * 0.0 if isinstance(coords, LowRank) else _centre(domain, coords)
        share = problem.eps
        while share < 1e-3:
            inside = coords * (1 - share) + centre * share
            if domain.contains(inside, tol=ROUNDED * problem.eps):
                return inside
            share *= 4
        if not isinstance(coords, LowRank):
            return as_like(nearest_by_oracle(domain, coords), coords)
    raise ValueError(f"x0 does not lie in {domain!r}; pass a feasible point or leave x0=None")


def settled(problem: Problem, k: int, x: Point) -> Point:
    """Return x; where rounding has taken it out of the set, a point inside beside it.

    A step makes an average of points of the set, which is in the set but for rounding; with many steps, of which each
    undoes hardly anything of the last ones, that adds up. Sets that take long to tell are not asked: `Problem.mix` sees
    to it that nothing adds up there.
    """
    domain, coords = problem.domain, x.coords
    quick = problem.quick_membership or isinstance(coords, Mixable)  # whose factors tell
    if domain is not None and quick:
        exact = _exactly(coords)
        if not domain.contains(exact, ROUNDED * problem.eps) and (isinstance(exact, Mixable) or all_finite(exact)):
            inside = pulled_in(problem, coords)
            return Point(inside, ((1.0, Leaf(inside)),), x.parts)
    return x if k % AFRESH or problem.on_device or isinstance(coords, Mixable) else Point.at(coords)


def _exactly(coords: Any) -> Any:
    """Return coordinates so that sums of them are right to single precision, where the library has double."""
    return coords.astype(np.float64) if isinstance(coords, np.ndarray) else coords


def _centre(domain: Set, like: Array) -> Array:
    """Return a point inside a set: the mean of vertices in random directions and their opposites."""
    draws = np.random.default_rng(0).standard_normal((8, *like.shape))
    corners = [domain.lmo(as_like(sign * g, like)).toarray() for g in draws for sign in (1.0, -1.0)]
    return sum(corners[1:], start=corners[0]) / len(corners)


def _middle(domain: Set, like: Array) -> Array:
    """Return the mean of the vertices along all coordinates and against them, a point deep inside.

    Where there are very many coordinates, along some directions at random.
    """
    n = math.prod(like.shape)
    if n > MANY:
        return _centre(domain, like)
    total, unit = 0.0 * like, np.zeros(n)
    for j in range(n):
        for sign in (1.0, -1.0):
            unit[j] = sign
            total = total + domain.lmo(as_like(unit.reshape(like.shape), like)).toarray()
        unit[j] = 0.0
    return total / (2 * n)


def as_low_rank(coords: Any) -> LowRank:
    """Return a rank-one atom as a low-rank matrix, and others as they are."""
    return LowRank.from_atom(coords) if isinstance(coords, RankOne) else coords
