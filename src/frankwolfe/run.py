"""A run in progress: what the loop knows beside the method's own state."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

import numpy as np

from frankwolfe.backends.namespace import all_finite, as_like
from frankwolfe.certificates import Certificate, blame
from frankwolfe.checkpoint import CheckpointError
from frankwolfe.engine.evidence_numbers import fetched
from frankwolfe.feasible import settled as settled_point
from frankwolfe.kernels.pattern.pattern_matrix import PatternMatrix
from frankwolfe.kernels.spectral.gram_operator import ImplicitMatrix
from frankwolfe.methods.base import Evidence
from frankwolfe.objectives.gradient_check import contradicts
from frankwolfe.points import NO_SLOPE, Point, Tangent, mix
from frankwolfe.problem import Counts
from frankwolfe.result import Status
from frankwolfe.rows.placement import is_out_of_memory
from frankwolfe.serialisation import plain
from frankwolfe.sets.oracle_set import is_of_user, unlike_a_minimum
from frankwolfe.stopping import WINDOW, Standing, finite_parts
from frankwolfe.trace import Trace

PATIENCE = 32  # steps in which a gap that is mostly rounding must lose half of what is not
TRIAL_KEY = 1 << 61  # random numbers of trials are apart from those of steps and proofs


KEPT: dict[str, Callable[[Any], Any]] = {
    "elapsed": float,
    "checked": lambda point: point,
    "checked_value": float,
    "halved": lambda pair: (int(pair[0]), float(pair[1])),
    "tried": bool,
    "drift": float,
}
"""What a checkpoint keeps of a run beside what `Saved` lists, and of what kind it is."""


@plain
class Saved(NamedTuple):
    """A run as plain data, for checkpoints."""

    state: Any
    best: Point
    numbers: np.ndarray
    kept: tuple[Any, ...]  # as `KEPT` lists it
    proven: tuple[Any, ...]  # of the certificate, beside numbers
    counts: tuple[Any, ...]
    trace: np.ndarray


T = TypeVar("T")


def with_room(run: Standing, work: Callable[[], T]) -> T:
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
class Run(Standing):
    """State, best point, certificate, trace and clock of one run."""

    best: Point | None = None
    trace: Trace = field(default_factory=Trace)
    note: str = ""
    checked: Point | None = None  # the best point whose value was computed afresh
    checked_value: float = math.inf
    halved: tuple[int, float] = (0, math.inf)  # when, near the end, the gap but for rounding was last halved; to what
    tried: bool = False  # whether a user's function and oracle were tried once, early on
    drift: float = 0.0  # by how much the value of the last point that was checked had been too low
    inside: Point | None = None  # the last point on a device that was seen to be in its set

    def headline(self) -> tuple[float, float, float, str]:
        return self.goal, self.best_value, self.gap, f"{self.note}  {self.problem.objective.note}".strip()

    def read(self, evidence: list[Evidence]) -> list[Evidence]:
        return fetched(self.problem, evidence)

    def absorb(self, k: int, evidence: Evidence) -> None:
        """Take in a step; one that went wrong is not taken in."""
        flaw = self.problem.objective.flaw
        if flaw is not None or not self.problem.objective.convex:
            evidence = Evidence(evidence.seen)  # its tangents prove nothing
        values_are, all_are = finite_parts(evidence)
        if not all_are:
            self.not_finite(k, "gradient" if values_are else "value")
            return
        super().absorb(k, evidence)
        if evidence.afresh and self.problem.exact is None and any(self.best is point for _, point in evidence.seen):
            self.checked, self.checked_value = self.best, self.best_value
        if flaw is not None:
            self.trouble = (Status.NOT_CONVEX, flaw)

    def keep(self, better: bool, point: Point) -> None:
        self.best = point

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
        slack += 1e4 * self.problem.eps * abs(self.best_value)
        if not self.contradictory(slack):
            return
        self._check_value()
        if not self.contradictory(slack):
            return
        assert self.best is not None
        objective, domain = self.problem.objective, self.problem.domain
        reason = None if objective.proven and not is_of_user(domain) else blame(self.problem, at, self.best)
        if objective.proven and reason is not None and reason[0] is not Status.WRONG_ORACLE:
            reason = None  # what is known to be convex is not doubted
        self.certificate, self.unverified = Certificate(next_proof=self.certificate.next_proof), Certificate()
        if reason is not None:
            self.trouble = reason

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
        if not at_once and not self.proof_is_due(k):
            return
        assert self.best is not None
        behind = self.unverified.behind  # where an unverified bound touches f, a tangent in double precision is as good
        touch = None if behind is None or behind[0].touch is self.best.coords else behind[0].touch
        x = self.state.x if at_once and self.state.x is not self.best else None
        places = [self.best.coords, touch, x and x.coords]
        values = self.certificate.certify(self.problem, k, [at for at in places if at is not None])
        self.drift, self.best_value = max(0.0, values[0] - self.best_value), values[0]
        for point, value in ((self.best, values[0]), (x, values[-1])):
            if point is not None and not value >= self.checked_value:
                self.checked, self.checked_value = point, value
        if at_once:
            self._check_value()

    def row(self, k: int, fun: float, lower_bound: float) -> None:
        self.trace.append(k, self.elapsed, fun, lower_bound, self.problem.counts.asdict())

    def settled(self) -> bool:
        """Tell whether the certified gap is within the tolerance, with the value computed afresh."""
        if not self.tried and self.state.k >= WINDOW:  # a wrong gradient may keep a run busy for ever
            self.tried = True
            self._try_users_code()
        drift = 0.0 if self.best is self.checked else self.drift
        if not self.at_goal(drift) or self.best is None:
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
        if not self.mostly_noise():
            return False
        rest, (since, before) = self.gap - self.certificate.noise, self.halved
        if rest > self.goal and not rest > 0.5 * before:
            self.halved = (self.state.k, rest)
            return False
        return rest <= self.goal or self.state.k - since >= PATIENCE

    def stalled(self) -> bool:
        """Tell whether the method no longer gets on, by value or bound; never where there is no goal to reach.

        The bounds of an iterative oracle are proven each time that the steps have doubled: one proof more is awaited.
        In single precision the iterate is tried in double: there the gap may have gone on falling.
        """
        k = self.state.k
        if not self.at_rest(doublings=2 if self.problem.oracle_iterates else 1):
            return False
        if self.verifies_later:
            self.certify(k, at_once=True)
            self.watch(k, self.rest.value, self.rest.noise)
            if self.rest.since == k:  # the proof has brought the gap on
                return False
        self._try_users_code()  # which may be why
        return True

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
            if self.verifies_later and self.best is not None and not self.gap <= self.goal:
                self.certify(k, at_once=True)
        last = self._in_set(self.state.x)
        value = self.checked_value if last is self.checked else float(self.problem.fresh(last))
        if self.best is not None and self.best is not last and not value <= self.best_value:
            self._check_value()
        if math.isfinite(value):
            if value <= self.checked_value:
                self.checked, self.checked_value = last, value
            self.row(k, value, min(self.certificate.lower_bound, self.best_value))
        if self.checked is not None:
            self.best, self.best_value = self.checked, self.checked_value
        elif self.best is None:
            self.best_value, self.best = value, last
        self._pull_in()

    def saved(self) -> Saved:
        """Return the run as plain data."""
        known, met, best = self.certificate, self.unverified, self.state.x if self.best is None else self.best
        kept = tuple(getattr(self, name) for name in KEPT)
        numbers, proven = np.array(self.numbers(), float), (known.failure, known.unproven, known.tangents)
        counts = tuple(self.problem.counts.asdict().values())
        touch = None if met.behind is None else met.behind[0].touch
        later = met.failure, met.next_proof, met.unproven, touch
        return Saved(self.state, best, numbers, kept, (proven, later), counts, self.trace.to_array())

    def restore(self, saved: Saved) -> None:
        """Go back to where a saved run was."""
        try:
            best: Any = saved.best
            if type(saved.state) is not type(self.state) or not isinstance(best, Point):
                raise TypeError("the state of another method")
            _ = int(saved.state.k)
            kept = {name: kind(value) for (name, kind), value in zip(KEPT.items(), saved.kept, strict=True)}
            (failure, unproven, tangents), (*later, touch) = saved.proven
            self.certificate = Certificate(failure=float(failure), unproven=unproven, known=tangents)
            self.unverified = Certificate(-math.inf, *later)
            self.unverified.behind = None if touch is None else (Tangent(NO_SLOPE, 0.0, at=touch), 0.0)
            self.set_numbers(saved.numbers.tolist())
            trace, counts = Trace.from_array(saved.trace), Counts(*saved.counts)
        except Exception as error:  # a file put together by hand
            raise CheckpointError(f"the checkpoint holds no run ({error}); delete it to start afresh") from None
        vars(self).update(kept, state=saved.state, trace=trace)
        self.best = best if math.isfinite(self.best_value) else None
        self.problem.counts = counts
