"""Iterates that stay in their set: what rounding has taken out is put back, now and then."""

from __future__ import annotations

from frankwolfe.lowrank import LowRank
from frankwolfe.points import Point
from frankwolfe.problem import Problem
from frankwolfe.sets.base import Ball, IterativeSet, ProjectableSet

OFTEN, RARELY = 16, 256  # steps between two looks, on the host and where a look costs time
AFRESH = 1024  # steps after which an image, whose rounding errors add up as well, is computed from its point
ULPS = 4.0  # outside by more, or by what the norm itself may be wrong, counts


def is_due(problem: Problem, before: int, after: int) -> bool:
    """Tell whether it is time for a look at the iterate, by the steps taken alone: a resumed run looks likewise."""
    every = RARELY if problem.away else OFTEN
    return after // every > before // every


def settled(problem: Problem, k: int, x: Point) -> Point:
    """Return x; where rounding has taken it out of the set, the nearest point inside.

    A step makes an average of points of the set, which is in the set but for rounding; with many steps, of which each
    undoes hardly anything of the last ones, that adds up. On sets without a projection, where x is a sum of vertices
    in any case, it is left at that.
    """
    domain, coords = problem.domain, x.coords
    heavy = isinstance(domain, IterativeSet) and not isinstance(coords, LowRank)  # a decomposition to look
    if not heavy and isinstance(domain, Ball | ProjectableSet) and not domain.contains(coords, ULPS * problem.eps):
        if isinstance(domain, ProjectableSet) and not isinstance(coords, LowRank):
            coords = domain.project(coords)
        shrink = ULPS * problem.eps
        while shrink < 1 and not domain.contains(coords, ULPS * problem.eps):
            coords, shrink = (1 - shrink) * coords, 2 * shrink
    elif k % AFRESH or problem.away or isinstance(coords, LowRank):
        return x
    return Point.at(coords)
