"""A run in progress: what the loop knows beside the method's own state."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from frankwolfe.backends.namespace import all_finite, as_like
from frankwolfe.certificates import DOUBT, Certificate, blame, proof_growth
from frankwolfe.checkpoint import CheckpointError
from frankwolfe.engine.evidence_numbers import fetched
from frankwolfe.feasible import settled as settled_point
from frankwolfe.kernels.pattern.pattern_matrix import PatternMatrix
from frankwolfe.kernels.spectral.gram_operator import ImplicitMatrix
from frankwolfe.methods.base import Evidence
from frankwolfe.objectives.gradient_check import contradicts
from frankwolfe.points import Point, mix
from frankwolfe.problem import Counts, Problem
from frankwolfe.result import Status
from frankwolfe.rows.out_of_memory import is_out_of_memory
from frankwolfe.serialisation import plain
from frankwolfe.sets.base import IterativeSet
from frankwolfe.sets.oracle_set import is_of_user, unlike_a_minimum
from frankwolfe.stopping import WINDOW, Rest, Tolerance
from frankwolfe.trace import Trace

PATIENCE = 32  # steps in which a gap that is mostly rounding must lose half of what is not
TRIAL_KEY = 1 << 61  # random numbers of trials are apart from those of steps and proofs


KEPT: dict[str, Callable[[Any], Any]] = {
    "best_value": float,
    "elapsed": float,
    "checked": lambda point: point,
    "checked_value": float,
    "halved": lambda pair: (int(pair[0]), float(pair[1])),
    "start_value": float,
    "rest": lambda rest: Rest(*rest),
    "tried": bool,
    "drift": float,
}
"""What a checkpoint keeps of a run beside state, best point, certificate, counts and trace, and of what kind it is."""


@plain
class Saved(NamedTuple):
    """A run as plain data, for checkpoints."""

    state: Any
    best: Point
    kept: tuple[Any, ...]  # as `KEPT` lists it
    proven: tuple[Any, ...]  # of the certificates
    counts: tuple[Any, ...]
    trace: np.ndarray


class Driven(Protocol):
    """What the loop drives: one run, or many in step."""

    problem: Problem
    state: Any
    elapsed: float
    trouble: tuple[Status, str] | None

    @property
    def goal(self) -> float:
        """The gap that ends the run."""
        ...

    def headline(self) -> tuple[float, float, str]:
        """Return value, gap and a note, for the line of progress."""
        ...

    def absorb_all(self, state: Any, evidence: list[Evidence], elapsed: float) -> None:
        """Take in what one or several steps have seen."""
        ...

    def settled(self) -> bool:
        """Tell whether nothing is left to do."""
        ...

    def exhausted(self) -> bool:
        """Tell whether the arithmetic allows no better."""
        ...

    def stalled(self) -> bool:
        """Tell whether the method no longer gets on."""
        ...

    def go_on(self, state: Any) -> None:
        """Go on from a new state, of another method perhaps, after a stall."""
        ...


T = TypeVar("T")


def is_mostly_noise(goal: Any, gap: Any, noise: Any) -> Any:
    """Tell whether a gap, or each of many, is mostly what rounding takes off the bound, and more than is asked for."""
    return (goal > 0) & (goal < noise) & (gap <= 2 * noise)


def with_room(run: Driven, work: Callable[[], T]) -> T:
    """Do some work of a run; where the device has no room for it, again from the last state with the data elsewhere.

    Nothing is said of numbers that overflow in our own formulae: the run finds what is not finite.
    """
    while True:
        try:
            with np.errstate(over="ignore", invalid="ignore") if run.problem.objective.ours else nullcontext():
                return work()
        except Exception as error:
            if not is_out_of_memory(error):
                raise
        run.problem.relieve()  # here the error, and what the failed step had computed, are gone


@dataclass
class Run:
    """State, best point, certificate, trace and clock of one run."""

    problem: Problem
    state: Any
    tolerance: Tolerance
    trace_every: int
    best_value: float = math.inf
    best: Point | None = None
    certificate: Certificate = field(default_factory=Certificate)
    unverified: Certificate = field(default_factory=Certificate)  # in single precision, before it is proven in double
    trace: Trace = field(default_factory=Trace)
    elapsed: float = 0.0
    trouble: tuple[Status, str] | None = None
    note: str = ""
    checked: Point | None = None  # the best point whose value was computed afresh
    checked_value: float = math.inf
    halved: tuple[int, float] = (0, math.inf)  # when, near the end, the gap but for rounding was last halved; to what
    start_value: float = -math.inf  # f at the start, which the default tolerance is relative to
    rest: Rest = field(default_factory=Rest)
    tried: bool = False  # whether a user's function and oracle were tried once, early on
    drift: float = 0.0  # by how much the value of the last point that was checked had been too low
    inside: Point | None = None  # the last point on a device that was seen to be in its set

    @property
    def goal(self) -> float:
        """The gap that ends the run."""
        return self.tolerance.goal(self.best_value, self.start_value, self.certificate.noise)

    @property
    def gap(self) -> float:
        """Best value minus best bound."""
        return self.best_value - self.certificate.lower_bound

    def headline(self) -> tuple[float, float, str]:
        """Return value, gap and a note, for the line of progress."""
        return self.best_value, self.gap, f"{self.note}  {self.problem.objective.note}".strip()

    def absorb_all(self, state: Any, evidence: list[Evidence], elapsed: float) -> None:
        """Take in several steps, with one read of the device for all their numbers."""
        first = self.state.k
        for i, seen in enumerate(fetched(self.problem, evidence)):
            self._absorb(first + i, seen, elapsed)
            if self.trouble is not None:
                return
        self.state = state

    def _absorb(self, k: int, evidence: Evidence, elapsed: float) -> None:
        """Take in a step: certificate, best point, trace row. A step that went wrong is not taken in."""
        self.elapsed = elapsed
        flaw = self.problem.objective.flaw
        if flaw is not None or not self.problem.objective.convex:
            evidence = Evidence(evidence.seen)  # its tangents prove nothing
        values = [float(value) for value, _ in evidence.seen]
        if not all(map(math.isfinite, [*values, *(float(t.offset) for t, _ in evidence.minorants)])):
            self.not_finite(k, "value" if not all(map(math.isfinite, values)) else "gradient")
            return
        for value, (_, point) in zip(values, evidence.seen, strict=True):
            if value < self.best_value or self.best is None:
                self.best_value, self.best = value, point
        if evidence.afresh and self.problem.exact is None and any(self.best is point for _, point in evidence.seen):
            self.checked, self.checked_value = self.best, self.best_value
        if k == 0:
            self.start_value = max(self.start_value, values[0])
        bounds = self.unverified if self._verifies_later else self.certificate
        slack = bounds.update(self.problem, k, evidence, self.best_value, self.goal)
        self.check_convex(evidence.seen[-1][1], slack)
        if bounds is self.unverified and self.trouble is None:
            self.certify(k)
        self.watch(k, values[0], slack / DOUBT)
        if k % self.trace_every == 0:
            self._row(k, values[0])
        if flaw is not None:
            self.trouble = (Status.NOT_CONVEX, flaw)

    def watch(self, k: int, value: float, noise: float) -> None:
        """Take note of whether step k, from a point of this value, has changed anything."""
        noise = max(noise, 4 * self.problem.eps * abs(self.best_value))
        bound = max(self.certificate.lower_bound, self.unverified.lower_bound)
        self.rest = self.rest.after(k, value, self.best_value, self.best_value - bound, noise)

    def not_finite(self, k: int, what: str) -> None:
        """Say what was not finite, which ends the run."""
        start = "" if k else "; pass an x0 where it is"
        self.trouble = (Status.NOT_FINITE, f"the {what} of the objective is not finite at iteration {k}{start}")

    def ends_not_finite(self, state: Any, error: Exception) -> bool:
        """Tell whether a step failed because value or gradient are not finite where it began, which ends the run."""
        if is_out_of_memory(error):
            return False
        try:
            at = self.problem.objective.evaluate(state.x, state.x)
        except Exception:  # the fault is theirs
            return False
        value_is = math.isfinite(float(at.value))
        slope_is = isinstance(at.slope, PatternMatrix | ImplicitMatrix) or all_finite(at.slope)
        if not (value_is and slope_is):
            self.not_finite(state.k, "gradient" if value_is else "value")
        return not (value_is and slope_is)

    def check_convex(self, at: Point, slack: float) -> None:
        """See whether a bound exceeds a value that was reached; say so only if neither is the work of rounding.

        `at` is the point where the last tangent touches.
        """
        slack += 1e4 * self.problem.eps * abs(self.best_value)
        if max(self.certificate.lower_bound, self.unverified.lower_bound) <= self.best_value + slack:
            return
        assert self.best is not None
        self._check_value()
        if max(self.certificate.lower_bound, self.unverified.lower_bound) <= self.best_value + slack:
            return
        objective, domain = self.problem.objective, self.problem.domain
        reason = None if objective.proven and not is_of_user(domain) else blame(self.problem, at, self.best)
        if objective.proven and reason is not None and reason[0] is not Status.WRONG_ORACLE:
            reason = None  # what is known to be convex is not doubted
        self.certificate, self.unverified = Certificate(next_proof=self.certificate.next_proof), Certificate()
        if reason is not None:
            self.trouble = reason

    @property
    def _verifies_later(self) -> bool:
        """Whether the bounds that steps meet are yet to be proven in double precision."""
        return self.problem.exact is not None and self.problem.domain is not None

    def _check_value(self) -> None:
        """Compute the value of the best point afresh, and go back to one that was better all along."""
        assert self.best is not None
        if self.best is self.checked:
            self.best_value = self.checked_value  # the same point seen again in single precision may look better
            return
        value = float(self.problem.fresh(self.best))
        self.drift = max(0.0, value - self.best_value)
        if not value >= self.checked_value:
            self.checked, self.checked_value = self.best, value
        if self.checked is not None:
            self.best, self.best_value = self.checked, self.checked_value

    def certify(self, k: int, at_once: bool = False) -> None:
        """Prove bounds in double precision, if it is time to or `at_once`: then where the run is now, too.

        In single precision the best point is one among many whose values agree up to rounding, and may be of long ago,
        while gradients still get better.
        """
        assert self.best is not None
        if at_once:
            self.certificate.next_proof = 0
        behind = self.unverified.behind  # where an unverified bound touches f, a tangent in double precision is as good
        touch = None if behind is None or behind[0].touch is self.best.coords else behind[0].touch
        x = self.state.x if at_once and self.state.x is not self.best else None
        places = [self.best.coords, touch, x and x.coords]
        growth = proof_growth(self.goal, self.best_value, self.unverified.lower_bound, self.unverified.noise)
        values = self.certificate.certify(self.problem, k, [at for at in places if at is not None], growth)
        if values is None:
            return
        self.drift, self.best_value = max(0.0, values[0] - self.best_value), values[0]
        for point, value in ((self.best, values[0]), (x, values[-1])):
            if point is not None and not value >= self.checked_value:
                self.checked, self.checked_value = point, value
        if at_once:
            self._check_value()

    def _row(self, k: int, fun: float) -> None:
        lower_bound = min(self.certificate.lower_bound, self.best_value)
        self.trace.append(k, self.elapsed, fun, lower_bound, self.problem.counts.asdict())

    def settled(self) -> bool:
        """Tell whether the certified gap is within the tolerance, with the value computed afresh."""
        if not self.tried and self.state.k >= WINDOW:  # a wrong gradient may keep a run busy for ever
            self.tried = True
            self._try_users_code()
        drift = 0.0 if self.best is self.checked else self.drift
        if not self.goal > 0 or not self.gap + drift <= self.goal or self.best is None:
            return False
        self._check_value()
        if self.gap <= self.goal:
            self._pull_in()
            self._try_users_code()
        return self.gap <= self.goal

    def _in_set(self, x: Point) -> Point:
        """Return x, or a point in the set beside it where steps on a device, seldom looked at, have taken it out."""
        if self.problem.on_device and x is not self.inside:
            self.inside = x = settled_point(self.problem, 1, x)
        return x

    def _pull_in(self) -> None:
        """Put the best point into its set, with its value."""
        inside = None if self.best is None else self._in_set(self.best)
        if inside is not None and inside is not self.best:
            self.best = self.checked = inside
            self.best_value = self.checked_value = float(self.problem.fresh(inside))

    def _try_users_code(self) -> None:
        """See whether a user's oracle answers with the least that is known, and whether function and gradient agree.

        They are asked at the answer, and at a point on the way to a vertex. A gradient that is zero everywhere, say, or
        an oracle that maximises, make many a point look optimal.
        """
        problem, best = self.problem, self.best
        if best is None or problem.domain is None or not problem.objective.convex:
            return
        if is_of_user(problem.domain):
            wrong = unlike_a_minimum(problem.domain, problem.objective.grad(best.coords), [best.coords])
            if wrong is not None:
                self.trouble = (Status.WRONG_ORACLE, wrong)
                self.certificate, self.unverified = Certificate(), Certificate()
        if self.trouble is not None or problem.objective.ours:
            return
        direction = as_like(problem.rng(TRIAL_KEY).standard_normal(tuple(best.array.shape)), best.array)
        try:
            other = mix(best, Point.at(problem.domain.lmo(direction)), 0.5)
            refuted = contradicts(problem.objective, best.coords, other.coords)
        except Exception:  # a function need not be defined everywhere
            return
        if refuted:
            self.trouble = blame(problem, best, other)
            self.certificate, self.unverified = Certificate(), Certificate()

    def exhausted(self) -> bool:
        """Tell whether the gap is mostly what rounding takes off the bound, and the rest within the goal or at rest."""
        noise = self.certificate.noise
        if not is_mostly_noise(self.goal, self.gap, noise):
            return False
        rest, (since, before) = self.gap - noise, self.halved
        if rest > self.goal and not rest > 0.5 * before:
            self.halved = (self.state.k, rest)
            return False
        return rest <= self.goal or self.state.k - since >= PATIENCE

    def stalled(self) -> bool:
        """Tell whether the method no longer gets on, by value or bound; never where there is no goal to reach.

        The bounds of an iterative oracle are proven each time that the steps have doubled: one proof more is awaited.
        In single precision the iterate is tried in double: there the gap may have gone on falling.
        """
        doublings = 2 if isinstance(self.problem.domain, IterativeSet) else 1
        k = self.state.k
        if not self.goal > 0 or not self.rest.is_stalled(k, doublings):
            return False
        if self._verifies_later:
            self.certify(k, at_once=True)
            self.watch(k, self.rest.value, self.rest.noise)
            if self.rest.since == k:  # the proof has brought the gap on
                return False
        self._try_users_code()  # which may be why
        return True

    def go_on(self, state: Any) -> None:
        """Go on from a new state, of another method perhaps, after a stall."""
        self.state, self.rest = state, Rest()

    @property
    def rounding_gap(self) -> float:
        """The gap of a point whose value is optimal up to rounding, for all that anyone can tell from values.

        Where f(x) - f* is h, a gradient may be off by sqrt(2Lh), and its inner products with a set of diameter D by D
        times that. Where L is unknown, a run that gained G tells that LD² is at least 2G.
        """
        known = self.problem.domain is not None and self.problem.objective.smoothness is not None
        curvature = self.problem.curvature if known else 2 * max(self.start_value - self.best_value, 0.0)
        return math.sqrt(2 * curvature * self.rest.noise) + 2 * self.certificate.noise

    def finish(self) -> None:
        """Prove what is left to prove, and evaluate the last iterate."""
        k = self.state.k
        if self.trouble is None:
            self.certificate.prove(self.problem, k)
            if self._verifies_later and self.best is not None and not self.gap <= self.goal:
                self.certify(k, at_once=True)
        last = self._in_set(self.state.x)
        value = self.checked_value if last is self.checked else float(self.problem.fresh(last))
        if self.best is not None and self.best is not last and not value <= self.best_value:
            self._check_value()
        if math.isfinite(value):
            if value <= self.checked_value:
                self.checked, self.checked_value = last, value
            self._row(k, value)
        if self.checked is not None:
            self.best, self.best_value = self.checked, self.checked_value
        elif self.best is None:
            self.best_value, self.best = value, last
        self._pull_in()

    def saved(self) -> Saved:
        """Return the run as plain data."""
        known, best = self.certificate, self.state.x if self.best is None else self.best
        proven = known.lower_bound, known.failure, known.next_proof, known.noise, self.unverified.lower_bound
        kept = tuple(getattr(self, name) for name in KEPT)
        counts = tuple(self.problem.counts.asdict().values())
        return Saved(self.state, best, kept, (*proven, known.unproven, known.tangents), counts, self.trace.to_array())

    def restore(self, saved: Saved) -> None:
        """Go back to where a saved run was."""
        try:
            best: Any = saved.best
            if type(saved.state) is not type(self.state) or not isinstance(best, Point):
                raise TypeError("the state of another method")
            _ = int(saved.state.k)
            kept = {name: kind(value) for (name, kind), value in zip(KEPT.items(), saved.kept, strict=True)}
            lower, failure, next_proof, noise, unverified, unproven, tangents = saved.proven
            certificate = Certificate(
                float(lower), float(failure), int(next_proof), unproven, known=tangents, noise=float(noise)
            )
            met, trace, counts = Certificate(float(unverified)), Trace.from_array(saved.trace), Counts(*saved.counts)
        except Exception as error:  # a file put together by hand
            raise CheckpointError(f"the checkpoint holds no run ({error}); delete it to start afresh") from None
        vars(self).update(kept, state=saved.state, certificate=certificate, unverified=met, trace=trace)
        self.best = best if math.isfinite(self.best_value) else None
        self.problem.counts = counts
