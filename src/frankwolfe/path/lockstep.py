"""Many runs in step: one method on a batch of problems, and for each of them a `Run` that says when and why it ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
from array_api_compat import device

from frankwolfe.backends import Array, Scalar, fetch_rows, host, namespace
from frankwolfe.engine.evidence_numbers import answered, numbers_of, refilled
from frankwolfe.methods.base import Evidence
from frankwolfe.points import NO_SLOPE, Point, Tangent
from frankwolfe.problem import Problem, Proof
from frankwolfe.result import Status
from frankwolfe.run import Run
from frankwolfe.serialisation import Dual, decode, encode
from frankwolfe.sets.many_radii import SetBatch
from frankwolfe.stopping import Standing, Tolerance, finite_parts


@dataclass
class Member(Problem):
    """One of the problems that are solved in step: what takes a read of the data is asked of all of them together."""

    lockstep: Any = None

    @property
    def exact(self) -> Any:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.lockstep.problem.exact

    def fresh(self, x: Point) -> Scalar:
        known = self.lockstep.answers(id(x.coords))
        return super().fresh(x) if known is None else known.value

    def certify(self, coords: Any, k: int) -> Proof:
        known = self.lockstep.answers(id(coords))
        return super().certify(coords, k) if known is None else known


class Lockstep(Standing):
    """Runs that share every read of the data. A run that is done leaves, told to `done`, and the rest go on without it.

    The problem has an objective at many points over a `SetBatch`: one row for each run. Where the runs stand is
    followed by vectors, a number for each run that goes on. Where these show that a run may be at its end, or that
    something is wrong, the run itself is asked.
    """

    def __init__(
        self,
        problem: Problem,
        state: Any,
        tolerance: Tolerance,
        trace_every: int,
        done: Callable[[int, Run, Status], None],
    ) -> None:
        super().__init__(problem, state, tolerance, trace_every)
        assert isinstance(problem.domain, SetBatch)
        shared = problem.seed, problem.counts, problem.eps
        members = [Member(problem.objective, domain, *shared, lockstep=self) for domain in problem.domain.members]
        self.runs = [Run(member, None, tolerance, trace_every) for member in members]
        self.size, self.done = len(members), done
        self.open = list(range(self.size))  # the numbers of the runs that go on
        self.set_numbers(np.array([run.numbers() for run in self.runs]).T)
        self.best: Array = state.x.coords
        self.better: list[tuple[np.ndarray, Point]] = []  # points that are the best so far of some runs
        self.moved = np.zeros(self.size, bool)  # whether the run does not know its best point yet
        self.touch: Array | None = None  # where the averaged tangents touch f
        self.slack = np.zeros(self.size)
        self.failed: dict[int, tuple[int, str]] = {}  # by place, in which step what was not finite
        self.log: list[tuple[int, float, np.ndarray, dict[str, float]]] = []  # step, seconds, f and bounds, counts
        self._examined = np.arange(0)  # the places of the runs that are asked
        self._answers: dict[int, Proof] = {}

    def headline(self) -> tuple[float, float, float, str]:
        note = f"{self.size - len(self.open)} of {self.size} radii done  {self.problem.objective.note}".rstrip()
        if not self.open:
            return 0.0, np.nan, 0.0, note
        worst = int(np.argmax(self.gap))
        return float(np.min(self.goal)), float(self.best_value[worst]), float(self.gap[worst]), note

    def absorb_all(self, state: Any, evidence: list[Evidence], elapsed: float) -> None:
        """Take in one or several steps: a run that is done leaves a few steps late."""
        super().absorb_all(state, evidence, elapsed)
        while self.better:
            latest, point = self.better.pop()
            self.best = _where(latest, point.coords, self.best)
            self.better = [(better & ~latest, point) for better, point in self.better]
        wrong, at = self.contradictory(), evidence[-1].seen[-1][1].array
        wrong[list(self.failed)] = True
        self._examine(wrong, lambda i, run: self._check(i, run, at))
        if self.verifies_later and self.open:
            self._examine(self.proof_is_due(state.k - 1), lambda i, run: run.certify(state.k - 1))

    def read(self, evidence: list[Evidence]) -> list[Evidence]:
        """Return evidence with vectors for its numbers: of a run with one that is not finite, nothing from there on."""
        answers = [answered(self.problem, seen) for seen in evidence]
        numbers = [number for seen in answers for number in numbers_of(seen)]
        table = fetch_rows(numbers, len(self.open)).reshape(len(evidence), -1, len(self.open))
        steps = [refilled(seen, iter(rows)) for seen, rows in zip(answers, table, strict=True)]
        average = steps[-1].minorants[0][0]
        self.touch = None if average.at is None else average.at / float(average.weight[0])  # of all runs alike
        self.failed, self.slack = {}, np.zeros(len(self.open))
        for i, seen in enumerate(steps):
            values_are, all_are = finite_parts(seen)
            for place in np.flatnonzero(~all_are).tolist():
                self.failed.setdefault(place, (self.state.k + i, "gradient" if values_are[place] else "value"))
            table[i][:, list(self.failed)] = np.nan  # which is no better than anything
        return steps

    def keep(self, better: np.ndarray, point: Point) -> None:
        self.better.append((better, point))
        self.moved |= better

    def check_convex(self, at: Point, slack: np.ndarray) -> None:
        self.slack = np.fmax(self.slack, slack)  # each run sees for itself, once all steps are taken in

    def certify(self, k: int) -> None:
        """Leave it for later, likewise."""

    def row(self, k: int, fun: np.ndarray, lower_bound: np.ndarray) -> None:
        numbers = np.full((2, self.size), np.nan)
        numbers[:, self.open] = fun, lower_bound
        self.log.append((k, self.elapsed, numbers, self.problem.counts.asdict()))

    def settled(self) -> bool:
        self._examine(self.at_goal(), lambda i, run: Status.OPTIMAL if run.settled() else None)
        return not self.open

    def exhausted(self) -> bool:
        self._examine(self.mostly_noise(), lambda i, run: Status.PRECISION if run.exhausted() else None)
        return not self.open

    def stalled(self) -> bool:
        self._examine(self.at_rest(), lambda i, run: Status.STALLED if run.stalled() else None)
        return not self.open

    def finish(self, status: Status) -> None:
        """End the runs that are still open, all for one reason."""
        self._examine(np.ones(len(self.open), bool), lambda i, run: status)

    def answers(self, asked: int) -> Proof | None:
        """Return what is known of the point with these coordinates, by id: of all runs that are asked, in one read."""
        if not self._answers:
            self._answers = self._ask(self._examined)
        return self._answers.get(asked)

    def _ask(self, places: np.ndarray) -> dict[int, Proof]:
        """Compute values of best and last points of some runs afresh; in double precision, bounds as well."""
        runs, nothing = [self.runs[i] for i in places], (-np.inf, 0.0, 0.0, None)
        best, last = _take(self.best, places), _take(self.state.x.coords, places)
        bests, lasts = [run.best and run.best.coords for run in runs], [run.state.x.coords for run in runs]
        if self.problem.exact is None:
            some = self._some(np.concatenate([places, places]))
            fresh = host(some.fresh(Point.at(namespace(best, last).concat([best, last]))))
            return {id(x): Proof(value, *nothing) for x, value in zip([*bests, *lasts], fresh.tolist(), strict=True)}
        some, found, asked = self._some(places), {}, [(bests, best), (lasts, last)]
        if self.touch is not None:
            touches = [run.unverified.behind and run.unverified.behind[0].at for run in runs]
            asked.append((touches, _take(self.touch, places)))
        for coords, points in asked:
            numbers = fetch_rows(list(some.proof(points, 0)[:3]), len(places))
            for x, (value, bound, plain) in zip(coords, numbers.T.tolist(), strict=True):
                found[id(x)] = Proof(value, bound, 0.0, plain - bound, None)
        return found

    def _check(self, i: int, run: Run, at: Array) -> None:
        """Let a run see a number that is not finite, or a bound above a value."""
        if i in self.failed:
            run.not_finite(*self.failed[i])
        else:
            run.check_convex(Point.at(at[i, ...]), float(self.slack[i]))

    def _examine(self, chosen: np.ndarray, judge: Callable[[int, Run], Status | None]) -> None:
        """Ask some runs; those that have an end to tell leave."""
        places = np.flatnonzero(chosen)
        if not places.size:
            return
        self._examined, self._answers = places, {}
        runs = [self.runs[i] for i in places]
        for i, run in zip(places.tolist(), runs, strict=True):
            self._tell(i, run)
        told = [run.best for run in runs]
        ends = [judge(i, run) for i, run in zip(places.tolist(), runs, strict=True)]
        ends = [run.trouble[0] if run.trouble else end for run, end in zip(runs, ends, strict=True)]
        for mine, theirs in zip(self.numbers(), np.array([run.numbers() for run in runs]).T, strict=True):
            mine[places] = theirs
        if any(run.best is not best for run, best in zip(runs, told, strict=True)):  # one that was better all along
            rows: list[Any] = [self.best[i, ...] for i in range(len(self.open))]
            for i, run in zip(places.tolist(), runs, strict=True):
                rows[i] = rows[i] if run.best is None else run.best.coords
            self.best = namespace(*rows).stack(rows)
        leaving = {i: end for i, end in zip(places.tolist(), ends, strict=True) if end is not None}
        if leaving:
            self._leave(leaving)

    def _tell(self, i: int, run: Run) -> None:
        """Bring a run up to date."""
        run.state = SimpleNamespace(k=self.state.k, x=Point.at(self.state.x.coords[i, ...]))  # all that it asks for
        run.elapsed = self.elapsed
        if self.moved[i]:
            run.best, self.moved[i] = Point.at(self.best[i, ...]), False
        run.set_numbers(float(numbers[i]) for numbers in self.numbers())
        if self.touch is not None and self.problem.exact is not None:
            run.unverified.behind = Tangent(NO_SLOPE, 0.0, at=self.touch[i, ...]), 0.0

    def _leave(self, leaving: dict[int, Status]) -> None:
        """End some runs: hand them over, and go on with the rows of the others."""
        for i in leaving:
            for k, elapsed, numbers, counts in self.log:
                fun, lower_bound = numbers[:, self.open[i]]
                if not np.isnan(fun):
                    self.runs[i].trace.append(k, elapsed, fun, lower_bound, counts)
            self.runs[i].finish()
        for i, status in leaving.items():
            self.done(self.open[i], self.runs[i], status)
        kept = np.setdiff1d(np.arange(len(self.open)), list(leaving))
        self.open, self.runs = [self.open[i] for i in kept], [self.runs[i] for i in kept]
        self.set_numbers([numbers[kept] for numbers in self.numbers()])
        self.moved = self.moved[kept]
        self.best, self.touch = _take(self.best, kept), None if self.touch is None else _take(self.touch, kept)
        if self.open:
            self.state, self.problem = _rows(self.state, kept, self.problem.objective.dual), self._some(kept)

    def _some(self, places: np.ndarray) -> Problem:
        """Return the problem of some of the runs."""
        domain, exact = self.problem.domain, self.problem.exact
        assert isinstance(domain, SetBatch)
        some = replace(self.problem, domain=domain.rows(places.tolist()), scratch={})
        some.exact = exact  # which takes a while to make
        return some


def _take(a: Array, places: np.ndarray) -> Array:
    """Return some rows of an array."""
    if isinstance(a, np.ndarray):
        return a[places]
    xp = namespace(a)
    return xp.take(a, xp.asarray(places, device=device(a)), axis=0)


def _where(mask: np.ndarray, new: Array, old: Array) -> Array:
    """Return the rows of `new` where the mask is true, those of `old` elsewhere."""
    if mask.all() or not mask.any():
        return new if mask.any() else old
    xp = namespace(new, old)
    return xp.where(mask[:, None] if xp is np else xp.asarray(mask, device=device(new))[:, None], new, old)


def _rows(state: Any, places: np.ndarray, dual: Dual) -> Any:
    """Return some rows of a state and of everything in it; what was shared stays shared."""
    form, arrays = encode(state)
    return decode(form, [_take(a, places) if a.ndim else a for a in arrays], dual)
