"""Many runs in step: one method on a batch of problems, and for each of them a `Run` that says when and why it ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import device

from frankwolfe.backends import Array, Scalar, fetch_rows, host, namespace
from frankwolfe.certificates import DOUBT, PROOF_GROWTH, proof_growth
from frankwolfe.engine.evidence_numbers import answered, numbers_of
from frankwolfe.methods.base import Evidence
from frankwolfe.points import NO_SLOPE, Point, Tangent
from frankwolfe.problem import Problem, Proof
from frankwolfe.result import Status
from frankwolfe.rounding import FEW
from frankwolfe.run import Run, is_mostly_noise
from frankwolfe.serialisation import Dual, decode, encode
from frankwolfe.sets.many_radii import SetBatch
from frankwolfe.stopping import Tolerance
from frankwolfe.trace import Trace


class Numbers(NamedTuple):
    """What is known of each open run, a vector each: by these alone one sees which run must be asked."""

    value: np.ndarray  # the best
    bound: np.ndarray  # the best that is proven
    noise: np.ndarray  # what rounding took off it
    unverified: np.ndarray  # the best bound that steps in single precision have met
    next_proof: np.ndarray

    @staticmethod
    def of(run: Run) -> tuple[float, ...]:
        """Return the numbers of one run."""
        known = run.certificate
        return run.best_value, known.lower_bound, known.noise, run.unverified.lower_bound, known.next_proof


class Row(NamedTuple):
    """What a run needs to know of the method's state: the step, and its own iterate."""

    k: int
    x: Point


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


class Lockstep:
    """Runs that share every read of the data. A run that is done leaves, told to `done`, and the rest go on without it.

    The problem has an objective at many points over a `SetBatch`: one row for each run. Values and bounds of all runs
    are followed as vectors, by a few operations for a step of them all. Where these show that a run may be at its end,
    or that something is wrong, the run itself is asked: the rules are those of `Run`.
    """

    trouble: tuple[Status, str] | None = None  # a run in trouble leaves; the others go on

    def __init__(
        self,
        problem: Problem,
        state: Any,
        tolerance: Tolerance,
        trace_every: int,
        done: Callable[[int, Run, Status], None],
    ) -> None:
        assert isinstance(problem.domain, SetBatch)
        self.problem, self.state, self.done = problem, state, done
        self.tolerance, self.trace_every = tolerance, trace_every
        base, shared = problem.objective, (problem.seed, problem.counts, problem.eps)
        members = [Member(base, domain, *shared, lockstep=self) for domain in problem.domain.members]
        self.runs = [Run(member, None, tolerance, trace_every) for member in members]
        self.open = list(range(len(members)))  # the numbers of the runs that go on
        self.numbers = Numbers(*np.array([Numbers.of(run) for run in self.runs]).T)
        self.best: Array = state.x.coords
        self.moved = np.zeros(len(members), bool)  # whether the run does not know its best point yet
        self.touch: Array | None = None  # where the averaged tangents touch f
        self.log: list[tuple[int, float, tuple, np.ndarray, np.ndarray]] = []
        self.elapsed = 0.0
        self.size = len(members)
        self._examined = np.arange(0)  # the places of the runs that are asked
        self._answers: dict[int, Proof] = {}

    @property
    def goal(self) -> float:
        return float(min(self.goals, default=0.0))

    @property
    def goals(self) -> np.ndarray:
        """The gap that ends each open run."""
        rows = zip(self.numbers.value, self.runs, self.numbers.noise, strict=True)
        return np.array([self.tolerance.goal(value, run.start_value, noise) for value, run, noise in rows])

    @property
    def gaps(self) -> np.ndarray:
        """Best value minus best bound of each open run."""
        return self.numbers.value - self.numbers.bound

    def headline(self) -> tuple[float, float, str]:
        note = f"{self.size - len(self.open)} of {self.size} radii done  {self.problem.objective.note}".rstrip()
        if not self.open:
            return np.nan, 0.0, note
        worst = int(np.argmax(self.gaps))
        return float(self.numbers.value[worst]), float(self.gaps[worst]), note

    def absorb_all(self, state: Any, evidence: list[Evidence], elapsed: float) -> None:
        """Take in one or several steps, with one read of the device: a run that is done leaves a few steps late."""
        first, self.elapsed, size = self.state.k, elapsed, len(self.open)
        values, floors, tangents, minima = self._read(evidence)
        well: Any = np.isfinite(values).all(axis=1) & np.isfinite(tangents.offset).all(axis=1)
        well = np.logical_and.accumulate(well)  # nothing is taken in after a number that is not finite
        with np.errstate(invalid="ignore"):
            mixings = np.array([self.problem.mixings(first + i) for i in range(len(evidence))])[:, None, None]
            bounds = np.fmax(tangents.bound(minima, FEW * self.problem.eps, mixings), floors)
            noises = tangents.noise / tangents.weight
            slack = DOUBT * noises.max(axis=(0, 1))
        bounds = np.where(well[:, None], bounds, -np.inf)
        exact = self.problem.exact is not None
        before = self.numbers.unverified if exact else self.numbers.bound
        running = np.fmax.accumulate(np.concatenate([before[None], bounds.max(axis=1)]))[1:]
        best = self._improve(np.where(well[:, None], values, np.inf), [p for seen in evidence for _, p in seen.seen])
        self._watch(first, values[:, 0], best, np.fmax(running, self.numbers.bound), noises.max(axis=1))
        for i in range(-first % self.trace_every, len(evidence), self.trace_every):
            self._log(first + i, values[i, 0], np.minimum(self.numbers.bound if exact else running[i], best[i]))
        if exact:
            self.numbers = self.numbers._replace(unverified=running[-1])
        else:
            place = bounds.reshape(-1, size).argmax(axis=0)
            noise = ((1 + mixings) * noises).reshape(-1, size)[place, np.arange(size)]
            noise = np.where(running[-1] > before, noise, self.numbers.noise)
            self.numbers = self.numbers._replace(bound=running[-1], noise=noise)
        average = evidence[-1].minorants[0][0]
        self.touch = None if average.at is None else average.at / float(tangents.weight[-1, 0, 0])  # of all runs alike
        self.state = state
        last = evidence[-1].seen[-1][1]
        wrong = np.fmax(self.numbers.bound, self.numbers.unverified) > self.numbers.value
        self._examine(~well[-1] | wrong, lambda i, run: self._check(i, run, first, values, well, slack, last))
        if exact and self.open:
            noise = ((1 + mixings) * noises)[-1].max(axis=0)
            growth = proof_growth(self.goals, self.numbers.value, self.numbers.unverified, noise)
            due = state.k >= self.numbers.next_proof * growth / PROOF_GROWTH
            self._examine(due, lambda i, run: run.certify(state.k - 1))

    def settled(self) -> bool:
        at_goal = (self.goals > 0) & (self.gaps <= self.goals)
        self._examine(at_goal, lambda i, run: Status.OPTIMAL if run.settled() else None)
        return not self.open

    def exhausted(self) -> bool:
        noisy = is_mostly_noise(self.goals, self.gaps, self.numbers.noise)
        self._examine(noisy, lambda i, run: Status.PRECISION if run.exhausted() else None)
        return not self.open

    def stalled(self) -> bool:
        stalled = np.array([run.rest.is_stalled(self.state.k) for run in self.runs], bool)
        self._examine(stalled & (self.goals > 0), lambda i, run: Status.STALLED if run.stalled() else None)
        return not self.open

    def go_on(self, state: Any) -> None:
        self.state = state

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
        some, found = self._some(places), {}
        touches = [] if self.touch is None else [_touch(run) for run in runs]
        for coords, points in (
            (bests, best),
            (lasts, last),
            (touches, self.touch if self.touch is None else _take(self.touch, places)),
        ):
            if coords:
                numbers = fetch_rows(list(some.proof(points, 0)[:3]), len(places))
                for x, (value, bound, plain) in zip(coords, numbers.T.tolist(), strict=True):
                    found[id(x)] = Proof(value, bound, 0.0, plain - bound, None)
        return found

    def _check(
        self, i: int, run: Run, first: int, values: np.ndarray, well: np.ndarray, slack: np.ndarray, at: Point
    ) -> None:
        """Let a run see a number that is not finite, or a bound above a value."""
        if well[-1, i]:
            run.check_convex(Point.at(at.array[i, ...]), float(slack[i]))
        else:
            step = int(well[:, i].argmin())
            run.not_finite(first + step, "gradient" if np.isfinite(values[step, :, i]).all() else "value")

    def _read(self, evidence: list[Evidence]) -> tuple[np.ndarray, np.ndarray, Tangent, np.ndarray]:
        """Return values, floors, the minorants and the minima of their slopes: by step, kind and run."""
        numbers = [number for seen in evidence for number in numbers_of(answered(self.problem, seen))]
        table = fetch_rows(numbers, len(self.open)).reshape(len(evidence), -1, len(self.open))
        known = 1 + len(evidence[0].seen)
        kinds = table[:, known:].reshape(len(evidence), -1, 5, len(self.open))
        offset, weight, noise, _, lower = kinds.transpose(2, 0, 1, 3)
        return table[:, 1:known], table[:, :1], Tangent(NO_SLOPE, offset, weight, noise), lower

    def _watch(self, first: int, values: np.ndarray, best: np.ndarray, bounds: np.ndarray, noises: np.ndarray) -> None:
        """Let each run take note of whether steps have changed anything; all by step and run."""
        rounding = np.fmax(noises, 4 * self.problem.eps * np.abs(best))
        table = np.stack([values, best, best - bounds, rounding]).transpose(2, 1, 0).tolist()
        for run, rows in zip(self.runs, table, strict=True):
            if first == 0:
                run.start_value = max(run.start_value, rows[0][0])
            for i, row in enumerate(rows):
                run.rest = run.rest.after(first + i, *row)

    def _improve(self, values: np.ndarray, points: list[Point]) -> np.ndarray:
        """Take in values (by step, point and run) and keep the best points; return the best values after each step."""
        before = self.numbers.value
        lowest = np.minimum.accumulate(np.concatenate([before[None], values.min(axis=1)]))[1:]
        place, better = values.reshape(len(points), -1).argmin(axis=0), lowest[-1] < before
        for i in np.unique(place[better]).tolist():
            self.best = _where(better & (place == i), points[i].coords, self.best)
        self.numbers, self.moved = self.numbers._replace(value=lowest[-1]), self.moved | better
        return lowest

    def _log(self, k: int, values: np.ndarray, bounds: np.ndarray) -> None:
        both = np.full((2, self.size), np.nan)
        both[:, self.open] = values, bounds
        self.log.append((k, self.elapsed, tuple(self.problem.counts.asdict().values()), both[0], both[1]))

    def _trace(self, number: int) -> Trace:
        """Return the rows of one run."""
        rows = [(k, t, f[number], b[number], f[number] - b[number], *c) for k, t, c, f, b in self.log]
        return Trace([tuple(map(float, row)) for row in rows])

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
        for mine, numbers in zip(self.numbers, zip(*map(Numbers.of, runs), strict=True), strict=True):
            mine[places] = numbers
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
        run.state, run.elapsed = Row(self.state.k, Point.at(self.state.x.coords[i, ...])), self.elapsed
        if self.moved[i]:
            run.best, self.moved[i] = Point.at(self.best[i, ...]), False
        run.best_value, run.certificate.lower_bound, run.certificate.noise, run.unverified.lower_bound, _ = (
            float(numbers[i]) for numbers in self.numbers
        )
        if self.touch is not None and self.problem.exact is not None:
            run.unverified.behind = Tangent(NO_SLOPE, 0.0, at=self.touch[i, ...]), 0.0

    def _leave(self, leaving: dict[int, Status]) -> None:
        """End some runs: hand them over, and go on with the rows of the others."""
        for i in leaving:
            self.runs[i].trace = self._trace(self.open[i])
            self.runs[i].finish()
        for i, status in leaving.items():
            self.done(self.open[i], self.runs[i], status)
        kept = np.setdiff1d(np.arange(len(self.open)), list(leaving))
        self.open, self.runs = [self.open[i] for i in kept], [self.runs[i] for i in kept]
        self.numbers, self.moved = Numbers(*(numbers[kept] for numbers in self.numbers)), self.moved[kept]
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


def _touch(run: Run) -> Any:
    """Return where the tangent behind a run's best unverified bound touches f."""
    return None if run.unverified.behind is None else run.unverified.behind[0].at


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
