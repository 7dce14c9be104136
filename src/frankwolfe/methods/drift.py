"""Iterates that stay in their set: what rounding has taken out is put back, now and then."""

from __future__ import annotations

import numpy as np

from frankwolfe.atoms import Mixable
from frankwolfe.points import Leaf, Point
from frankwolfe.problem import ROUNDED, Problem

OFTEN, RARELY = 16, 256  # steps between two looks, on the host and where a look costs time
AFRESH = 1024  # steps after which an image, whose rounding errors add up as well, is computed from its point


def is_due(problem: Problem, syncs_host: bool, before: int, after: int) -> bool:
    """Tell whether it is time for a look at the iterate, by the steps taken alone: a resumed run looks likewise."""
    every = RARELY if problem.on_device and not syncs_host else OFTEN
    return after // every > before // every


def settled(problem: Problem, k: int, x: Point) -> Point:
    """Return x; where rounding has taken it out of the set, a point inside beside it.

    A step makes an average of points of the set, which is in the set but for rounding; with many steps, of which each
    undoes hardly anything of the last ones, that adds up. Sets that take long to tell are not asked: `Problem.mix` sees
    to it that nothing adds up there.
    """
    domain, coords = problem.domain, x.coords
    quick = problem.quick_membership or isinstance(coords, Mixable)  # whose factors tell
    if domain is not None and quick:
        exact = coords.astype(np.float64) if isinstance(coords, np.ndarray) else coords
        if not domain.contains(exact, ROUNDED * problem.eps):
            inside = problem.pulled_in(coords)
            return Point(inside, ((1.0, Leaf(inside)),), x.parts)
    return x if k % AFRESH or problem.on_device or isinstance(coords, Mixable) else Point.at(coords)
