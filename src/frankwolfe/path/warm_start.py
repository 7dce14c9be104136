"""Radii one after the other, each from the solution of the last, with the bounds that its tangents still prove."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from frankwolfe.atoms import Atom
from frankwolfe.feasible import settled
from frankwolfe.points import NO_SLOPE, Point, Tangent
from frankwolfe.problem import Problem
from frankwolfe.run import Run
from frankwolfe.sets.base import Ball

ROUGH_SEARCH = 1e-3  # accuracy of the search between the last solution and itself scaled up
SCALED = 64.0  # ulps that a point may be outside when it and its set are scaled
KEPT_TANGENTS = 4  # tangents kept: those of the nearest radii bound best


class KeptTangent(NamedTuple):
    """A tangent of f, which is one whatever the set is, and the minimum of its slope over the set it was made for."""

    tangent: Tangent
    minimum: float
    radius: float
    failure: float  # probability that the minimum is wrong
    steps: int  # that the tangent may be an average of

    def bound(self, problem: Problem, radius: float) -> float:
        """Return the lower bound on f* over the set of another radius; minus infinity where it would cost too much."""
        domain = problem.domain
        assert domain is not None
        if domain.closed_form:
            minimum = -domain.support(-self.tangent.slope)
        elif isinstance(domain, Ball):  # the support value grows with the radius
            minimum = self.minimum * (radius / self.radius)
        else:
            return -math.inf
        wider = max(1.0, radius / self.radius) ** 2  # what rounding did to the slope weighs more in a larger set
        return float(problem.bound(self.tangent._replace(noise=wider * self.tangent.noise), minimum, self.steps))


def tangent_behind(run: Run, radius: float) -> KeptTangent | None:
    """Return the tangent behind the bound of a run, for use at other radii."""
    if run.certificate.behind is None or run.certificate.behind[0].slope is NO_SLOPE:
        return None
    return KeptTangent(*run.certificate.behind, radius, run.certificate.failure, run.state.k)


def continued(run: Run, before: float, problem: Problem, radius: float) -> Point | None:
    """Return the best point between the solution for one radius and itself scaled up to another, with its atoms.

    None where neither lies in the new set.
    """
    assert run.best is not None
    assert problem.domain is not None
    problem.eps, problem.on_device, problem.shape = run.problem.eps, run.problem.on_device, run.problem.shape
    x = run.best
    if not x.terms:  # kept for its coordinates alone
        x = Point(x.coords, Point.at(x.coords).terms, x.parts)
    end = _scaled(x, before, radius)
    end_fits, x_fits = (problem.domain.contains(point.coords, SCALED * problem.eps) for point in (end, x))
    if not (end_fits or x_fits):
        return None
    share = float(problem.line_search(x, end, rtol=ROUGH_SEARCH)) if end_fits and x_fits else float(end_fits)
    if share in (0.0, 1.0):
        return settled(problem, 1, end if share else x)
    between = _scaled(x, before, before + share * (radius - before))
    if x.parts is not None and end.parts is not None:
        # x itself joins the scaled atoms: together they are a convex combination that gives this very point.
        atoms, weights = (*end.parts[0], x), np.append(share * end.parts[1], 1 - share)
        between = Point(between.coords, between.terms, (atoms, weights))
    return settled(problem, 1, between)


def begin(run: Run, point: Point, tangents: list[KeptTangent], radius: float) -> None:
    """Give a run a point to beat, and the best bound that is known at once."""
    problem = run.problem
    run.best, run.best_value = point, float(problem.value(point))
    for kept in tangents:
        bound = kept.bound(problem, radius)
        if bound > run.certificate.lower_bound:
            run.certificate.lower_bound, run.certificate.failure = bound, kept.failure
            run.certificate.behind = kept.tangent, kept.minimum * (radius / kept.radius)


def _scaled(x: Point, before: float, radius: float) -> Point:
    """Return x times radius/before; atoms on the boundary of one set land exactly on that of the other."""
    c = radius / before
    parts = None
    if x.parts is not None:
        parts = tuple(_scaled(atom, before, radius) for atom in x.parts[0]), x.parts[1]
    coords: Any = x.coords
    coords = coords.moved_to(radius, before) if isinstance(coords, Atom) else c * coords
    return Point(coords, tuple((c * weight, leaf) for weight, leaf in x.terms), parts)
