"""Certificates: a proven lower bound on the optimal value, built from what the steps have seen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from frankwolfe.backends import host, vdot
from frankwolfe.backends.one_or_many import larger, number, pick, some
from frankwolfe.kernels.pattern.pattern_matrix import PatternMatrix
from frankwolfe.methods.base import Evidence
from frankwolfe.objectives.gradient_check import directional_error
from frankwolfe.points import Point, Tangent, Touches
from frankwolfe.problem import Problem
from frankwolfe.result import Status
from frankwolfe.sets.oracle_set import is_of_user, unlike_a_minimum

PROOF_GROWTH = 2.0  # a bound that is expensive to prove is proven at iterations growing by this factor
RETRY_GROWTH = 1.1  # and, when it would end the run, at iterations growing by this one
FAR_GROWTH = 8.0  # and by this one while it is far from ending the run
FAR = 8.0  # times the goal
DOUBT = 600.0  # times its noise a bound may exceed a value before the objective is suspected
PROOF_KEY = 1 << 62  # random numbers of proofs are apart from those of steps


@dataclass
class Certificate:
    """The best lower bound so far: of one run, or vectors of the numbers of many.

    `failure` is the probability that it is wrong: zero for a proof, positive where an iterative oracle's bound holds
    only with a stated probability (very large nuclear-norm problems).
    """

    lower_bound: Any = -math.inf
    failure: float = 0.0
    next_proof: Any = 1
    unproven: Tangent | None = None
    behind: tuple[Tangent, float] | None = None  # the tangent that gave the bound, and its slope's minimum on the set
    point: Any = None  # where a tangent that was proven afresh touches f
    known: tuple[np.ndarray, tuple[Any, ...]] | None = None  # what a checkpoint knows of the tangent behind the bound
    noise: Any = 0.0  # what rounding took off the bound

    @property
    def tangents(self) -> tuple[np.ndarray, tuple[Any, ...]] | None:
        """Weights and points whose tangents, averaged, prove the bound; None where they are not kept."""
        if self.point is not None:
            return np.ones(1), (self.point,)
        tangent = None if self.behind is None else self.behind[0]
        if tangent is None or tangent.at is None:
            return self.known
        few = tangent.at.fewer() if isinstance(tangent.at, Touches) else Touches.at(tangent.touch, 0.0)
        # Of steps taken on a device some points may be known there alone.
        return self.known if any(point is None for point in few.points) else (few.shares(), few.points)

    @property
    def residuals(self) -> np.ndarray | None:
        """The slope of the tangent behind the bound, on the observed entries of a matrix; None elsewhere."""
        if self.behind is None or not isinstance(self.behind[0].slope, PatternMatrix):
            return None
        return host(self.behind[0].slope.values) / float(self.behind[0].weight)

    def update(self, problem: Problem, k: int, evidence: Evidence, upper: Any) -> Any:
        """Take in a step's evidence; return the slack that rounding may claim.

        `upper` is the best value seen: a bound that costs extra to prove is proven when it would end the run, and now
        and then.
        """
        self._raise_to(number(evidence.floor))
        slack: Any = 0.0
        witness = next((vertex.point for _, vertex in evidence.minorants if vertex is not None), None)
        for tangent, vertex in evidence.minorants:
            slack = larger(slack, DOUBT * number(tangent.noise / tangent.weight))
            lower = -math.inf if vertex is None else number(vertex.lower)
            if isinstance(lower, np.ndarray) or lower > -math.inf:  # of many in step every tangent is answered
                self._offer(problem, k, tangent, lower)
            elif problem.domain is not None and problem.domain.closed_form:
                # The minimum is at most the value at a known vertex: it may not be worth the asking.
                if witness is not None and not problem.domain.quick_support:
                    most = problem.bound(tangent, problem.inner(tangent.slope, witness), k)
                    if float(most) <= self.lower_bound:
                        continue
                self._offer(problem, k, tangent, -problem.domain.support(-tangent.slope))
            elif vertex is not None or len(evidence.minorants) == 1:
                self.unproven = tangent
                unverified = math.inf if vertex is None else float(problem.bound(tangent, vertex.value, k))
                ends = vertex is not None and upper - unverified <= problem.goal
                if k + 1 >= self.next_proof * (RETRY_GROWTH / PROOF_GROWTH if ends else 1.0):
                    self.prove(problem, k)
        return slack

    def prove(self, problem: Problem, k: int) -> None:
        """Bound the support value for the latest tangent that the oracle left unproven."""
        if self.unproven is None or not problem.oracle_iterates:
            return
        tangent, self.unproven = self.unproven, None
        minimum, failure = problem.minimum(tangent.slope, PROOF_KEY + k)
        self.failure += failure  # every proof may be the wrong one
        self._offer(problem, k, tangent, minimum)
        self.next_proof = max(k + 2, math.ceil(PROOF_GROWTH * (k + 1)))

    def certify(self, problem: Problem, k: int, places: Sequence[Any]) -> list[float]:
        """Prove bounds in double precision at these points; return the values there.

        A run in single precision only estimates the bounds that it meets on the way. A proof costs as much as a few
        steps.
        """
        values: list[float] = []
        for place, coords in enumerate(places):
            proof = problem.certify(coords, PROOF_KEY + 3 * k + place)
            values.append(proof.value)
            self.failure += proof.failure
            if proof.bound > self.lower_bound:
                self._raise_to(proof.bound, None if isinstance(coords, PatternMatrix) else coords, proof.noise)
                self.behind = proof.behind
        self.next_proof = max(k + 2, math.ceil(PROOF_GROWTH * (k + 1)))
        return values

    def _offer(self, problem: Problem, k: int, tangent: Tangent, minimum: Any) -> None:
        """Take the bound of a tangent whose slope is at least `minimum` on the set, if it is better."""
        bound = number(problem.bound(tangent, minimum, k))
        better = bound > self.lower_bound
        if some(better):
            noise = (1 + problem.mixings(k)) * number(tangent.noise / tangent.weight)
            self.lower_bound, self.noise = pick(better, bound, self.lower_bound), pick(better, noise, self.noise)
            self.behind, self.point, self.known = (tangent, number(minimum)), None, None

    def _raise_to(self, bound: Any, point: Any = None, noise: float = 0.0) -> None:
        better = bound > self.lower_bound
        if some(better):
            self.lower_bound, self.noise = pick(better, bound, self.lower_bound), pick(better, noise, self.noise)
            self.behind, self.point, self.known = None, point, None


def proof_growth(goal: Any, value: Any, unverified: Any, noise: Any) -> Any:
    """Return how fast the iterations grow at which a bound is proven: the slower, the nearer a run is to its end.

    `value` is the best, `unverified` the best bound that is not proven yet and `noise` what rounding took off it. Off
    the proven bound it takes next to nothing; and what is left when the gap is less than rounding shows in the proof
    alone.
    """
    gap = value - unverified - noise
    ends, near = (goal > 0) & (gap <= larger(goal, noise)), (goal > 0) & (gap <= larger(FAR * goal, noise))
    return FAR_GROWTH + (PROOF_GROWTH - FAR_GROWTH) * near + (RETRY_GROWTH - PROOF_GROWTH) * ends


def blame(problem: Problem, at: Point, best: Point) -> tuple[Status, str]:
    """Say why a lower bound exceeds a value that was reached: is the oracle or the gradient wrong, or f not convex?"""
    x, other = at.array, best.array
    if hasattr(x, "toarray"):  # factors
        x, other = x.toarray(), other.toarray()
    g = problem.objective.grad(x)
    domain = problem.domain
    if domain is not None and is_of_user(domain):
        wrong = unlike_a_minimum(domain, g, [x, other])
        if wrong is not None:
            return Status.WRONG_ORACLE, wrong
    step = other - x
    if not float(vdot(step, step)) > 0:
        step = g
    error, (stated, measured) = directional_error(problem.objective, x, g, step)
    if error > 1e-3:
        return Status.WRONG_GRADIENT, (
            f"the gradient does not match the function (along the last direction it says {stated:.4g}, differences "
            f"of f say {measured:.4g}); frankwolfe.check_gradient helps to find the error"
        )
    return Status.NOT_CONVEX, (
        "the objective is not convex: a tangent lies above a value that was reached. The point is the best one seen, "
        "but no bound on the optimum holds"
    )
