"""Where a run stands, and the rules by which it ends: for one run numbers are floats, for many in step vectors."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from frankwolfe.backends.one_or_many import larger, number, pick, smaller, some
from frankwolfe.certificates import DOUBT, PROOF_GROWTH, Certificate, proof_growth
from frankwolfe.methods.base import Evidence
from frankwolfe.points import Point
from frankwolfe.problem import Problem
from frankwolfe.result import Status
from frankwolfe.serialisation import plain

RELATIVE = 1e-6  # the certified gap that is asked for by default, relative to `Tolerance.scale`
LEAST = 1e-3  # of the gain, which the scale is never below: a value may be next to nothing
WINDOW = 32  # steps in which a method must get on, or as many as it took before where that is more
TINY = 1e-300  # what is asked for where f and its noise are zero: a gap of zero
KEPT = 0.99  # share of the gap that a method which gets on does not keep over the window


class Tolerance(NamedTuple):
    """The gap that ends a run: `tol`, or `rtol` times max(1, |f|), or by default one of the problem's own scale."""

    tol: float | None = None
    rtol: float = 0.0

    @property
    def relative(self) -> bool:
        """Whether neither number was given, so that the scale of the problem counts."""
        return self.tol is None and not self.rtol

    def goal(self, value: Any, start: Any, noise: Any) -> Any:
        """Return the gap that is asked for, where f is `value` now and was `start` at the start.

        By default that is a millionth of the smaller of |f| and of what was gained since the start: data in any units
        give the same relative answer. Where f is next to nothing a thousandth of the gain stands in for it; where the
        gain is no more than `noise`, what rounding does to the bound, the start was optimal, and that noise will do.
        """
        if not self.relative:
            if not self.rtol:
                return self.tol
            size = pick(abs(value) < math.inf, abs(value), 0.0)  # before the first step nothing is known
            return larger(self.tol or 0.0, self.rtol * larger(1.0, size))
        gain = start - value
        asked = RELATIVE * smaller(gain, larger(abs(value), LEAST * gain))
        return pick(gain > 2 * noise, asked, larger(2 * noise, TINY))


@plain
class Rest(NamedTuple):
    """Since which step neither value nor gap has changed, and what they were then.

    A method whose error falls like a power of k, however slowly, halves it (or takes off some share) each time that k
    doubles. So if over a window from k to 2k all values agree up to rounding, what is left of f(x) - f* is of the size
    of that rounding; and if over the same window the gap has not lost a hundredth, it will not reach the goal either. A
    method that is slow but gets on, or whose values go up and down, is never at rest in this sense.
    """

    since: Any = 0
    value: Any = math.inf  # of the iterate
    best: Any = math.inf
    gap: Any = math.inf
    noise: Any = 0.0  # what rounding may do to values

    def after(self, k: int, value: Any, best: Any, gap: Any, noise: Any) -> Rest:
        """Return the record after step k, from a point where f is `value`; `best` and `gap` are the best so far."""
        at_rest = (abs(value - self.value) <= noise) & (best >= self.best - noise) & (gap >= KEPT * self.gap)
        now = Rest(k, value, best, gap, noise)
        if not isinstance(at_rest, np.ndarray):
            return self if at_rest else now
        return Rest(*(pick(at_rest, *both) for both in zip(self, now, strict=True)))

    def is_stalled(self, k: int, doublings: int = 1) -> Any:
        """Tell whether nothing has changed for so many doublings of the steps before (and for a few, at least)."""
        return k - self.since >= larger(WINDOW, (2**doublings - 1) * self.since)


@dataclass
class Standing(ABC):
    """What the loop drives: takes in what steps have seen, and says whether to go on."""

    problem: Problem
    state: Any
    tolerance: Tolerance
    trace_every: int
    best_value: Any = math.inf
    certificate: Certificate = field(default_factory=Certificate)
    unverified: Certificate = field(default_factory=Certificate)  # in single precision, before it is proven in double
    start_value: Any = -math.inf  # f at the start, which the default tolerance is relative to
    rest: Rest = field(default_factory=Rest)
    elapsed: float = 0.0
    trouble: tuple[Status, str] | None = None

    @property
    def goal(self) -> Any:
        """The gap that ends the run."""
        return self.tolerance.goal(self.best_value, self.start_value, self.certificate.noise)

    @property
    def gap(self) -> Any:
        """Best value minus best bound."""
        return self.best_value - self.certificate.lower_bound

    @property
    def highest_bound(self) -> Any:
        """The best bound that steps have met, proven or not."""
        return larger(self.certificate.lower_bound, self.unverified.lower_bound)

    @property
    def verifies_later(self) -> bool:
        """Whether the bounds that steps meet are yet to be proven in double precision."""
        return self.problem.exact is not None and self.problem.domain is not None

    def numbers(self) -> tuple[Any, ...]:
        """Return all that the rules ask for."""
        known, met = self.certificate, self.unverified
        bounds = known.lower_bound, known.noise, known.next_proof, met.lower_bound, met.noise
        return self.best_value, self.start_value, *bounds, *self.rest

    def set_numbers(self, numbers: Iterable[Any]) -> None:
        """Stand where these numbers say."""
        known, met = self.certificate, self.unverified
        self.best_value, self.start_value, known.lower_bound, known.noise, *others = numbers
        known.next_proof, met.lower_bound, met.noise, *rest = others
        self.rest = Rest(*rest)

    def at_goal(self, drift: float = 0.0) -> Any:
        """Tell whether the gap is within the goal, were the value too low by `drift`."""
        goal = self.goal
        return (goal > 0) & (self.gap + drift <= goal)

    def mostly_noise(self) -> Any:
        """Tell whether the gap is mostly what rounding takes off the bound, and more than is asked for."""
        noise = self.certificate.noise
        mostly = self.gap <= 2 * noise
        return mostly & (self.goal > 0) & (self.goal < noise) if some(mostly) else mostly

    def at_rest(self, doublings: int = 1) -> Any:
        """Tell whether nothing has changed for long, though there is a goal to reach."""
        stalled = self.rest.is_stalled(self.state.k, doublings)
        return stalled & (self.goal > 0) if some(stalled) else stalled

    def contradictory(self, slack: Any = 0.0) -> Any:
        """Tell whether a bound exceeds a value that was reached."""
        return self.highest_bound > self.best_value + slack

    def proof_is_due(self, k: int) -> Any:
        """Tell whether it is time after step k for a proof in double precision."""
        growth = proof_growth(self.goal, self.best_value, self.unverified.lower_bound, self.unverified.noise)
        return k + 1 >= self.certificate.next_proof * growth / PROOF_GROWTH

    def absorb_all(self, state: Any, evidence: list[Evidence], elapsed: float) -> None:
        """Take in one or several steps, with one read of the device for all their numbers."""
        first, self.elapsed = self.state.k, elapsed
        for i, seen in enumerate(self.read(evidence)):
            self.absorb(first + i, seen)
            if self.trouble is not None:
                return
        self.state = state

    def absorb(self, k: int, evidence: Evidence) -> None:
        """Take in a step: best point, certificate, trace row."""
        for value, point in evidence.seen:
            better = number(value) < self.best_value
            if some(better):
                self.best_value = pick(better, number(value), self.best_value)
                self.keep(better, point)
        value = number(evidence.seen[0][0])
        if k == 0:
            self.start_value = larger(self.start_value, value)
        bounds = self.unverified if self.verifies_later else self.certificate
        slack = bounds.update(self.problem, k, evidence, self.best_value)
        self.check_convex(evidence.seen[-1][1], slack)
        if bounds is self.unverified and self.trouble is None:
            self.certify(k)
        self.watch(k, value, slack / DOUBT)
        if k % self.trace_every == 0:
            self.row(k, value, smaller(self.certificate.lower_bound, self.best_value))

    def watch(self, k: int, value: Any, noise: Any) -> None:
        """Take note of whether step k, from a point of this value, has changed anything."""
        noise = larger(noise, 4 * self.problem.eps * abs(self.best_value))
        self.rest = self.rest.after(k, value, self.best_value, self.best_value - self.highest_bound, noise)

    def go_on(self, state: Any) -> None:
        """Go on from a new state, of another method perhaps, after a stall."""
        self.state, self.rest = state, Rest()

    def ends_not_finite(self, state: Any, error: Exception) -> bool:
        """Tell whether a step failed because value or gradient are not finite where it began, which ends the run."""
        return False

    @abstractmethod
    def headline(self) -> tuple[float, float, float, str]:
        """Return goal, value, gap and a note, for the line of progress."""

    @abstractmethod
    def read(self, evidence: list[Evidence]) -> list[Evidence]:
        """Return evidence with its numbers on the host."""

    @abstractmethod
    def keep(self, better: Any, point: Point) -> None:
        """Keep a point as the best so far, where it is better."""

    @abstractmethod
    def check_convex(self, at: Point, slack: Any) -> None:
        """See whether a bound exceeds a value that was reached; say so only if neither is the work of rounding.

        `at` is the point where the last tangent touches.
        """

    @abstractmethod
    def certify(self, k: int) -> None:
        """Prove bounds in double precision, if it is time to."""

    @abstractmethod
    def row(self, k: int, fun: Any, lower_bound: Any) -> None:
        """Write a row of the trace."""

    @abstractmethod
    def settled(self) -> bool:
        """Tell whether nothing is left to do."""

    @abstractmethod
    def exhausted(self) -> bool:
        """Tell whether the arithmetic allows no better."""

    @abstractmethod
    def stalled(self) -> bool:
        """Tell whether the method no longer gets on."""


def finite_parts(evidence: Evidence) -> tuple[Any, Any]:
    """Tell whether the values that a step has seen are finite, and whether its tangents are as well."""
    values: Any = True
    for value, _ in evidence.seen:
        values = values & (abs(value) < math.inf)
    tangents = values
    for tangent, _ in evidence.minorants:
        tangents = tangents & (abs(tangent.offset) < math.inf)
    return values, tangents
