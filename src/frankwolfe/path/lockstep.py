"""Many runs in step: one method on a batch of problems, each with its own certificate, trace and end."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
from array_api_compat import device, is_array_api_obj

from frankwolfe.atoms import Rows
from frankwolfe.backends import Array, fetch_rows, host, namespace
from frankwolfe.certificates import Certificate, blame
from frankwolfe.methods.base import Evidence
from frankwolfe.methods.evidence import answered, numbers_of
from frankwolfe.objectives.batch import Batch
from frankwolfe.points import Leaf, Point
from frankwolfe.problem import Problem
from frankwolfe.result import Status
from frankwolfe.rounding import FEW
from frankwolfe.run import Run
from frankwolfe.sets.batch import SetBatch
from frankwolfe.trace import Trace


class Lockstep:
    """Runs that share every read of the data. A run that is done leaves, and the rest go on without it.

    Parameters
    ----------
    problem : Problem
        A `Batch` objective over a `SetBatch`: one row for each run.
    state : state of the method
        Before the first step.
    tol, rtol, trace_every
        As in `minimize`, for each run.
    done : callable
        Told of each run as it ends: its number, the run, and the status.
    """

    trouble: tuple[Status, str] | None = None  # a run in trouble leaves; the others go on

    def __init__(
        self,
        problem: Problem,
        state: Any,
        tol: float,
        rtol: float,
        trace_every: int,
        done: Callable[[int, Run, Status], None],
    ) -> None:
        assert isinstance(problem.domain, SetBatch)
        size = len(problem.domain.members)
        self.problem, self.state, self.done = problem, state, done
        self.tol, self.rtol, self.trace_every = tol, rtol, trace_every
        self.open = list(range(size))  # the numbers of the runs that go on
        self.best_value = np.full(size, np.inf)
        self.lower_bound = np.full(size, -np.inf)
        # In single precision the bounds above are hopes: these are proven, in double precision, when a run may end.
        self.exact = problem.exact is not None
        self.proven = np.full(size, -np.inf)
        self.noise = np.zeros(size)  # what rounding takes off the bounds
        self.next_proof = np.zeros(size)
        self.touch: Array | None = None  # where the averaged tangents touch f
        self.best: Array = state.x.coords
        self.log: list[tuple[int, float, tuple, np.ndarray, np.ndarray]] = []
        self.elapsed = 0.0
        self.size = size

    @property
    def goal(self) -> float:
        return self.tol

    @property
    def goals(self) -> np.ndarray:
        """The gap that ends each open run."""
        if not self.rtol:
            return np.full(len(self.open), self.tol)
        return np.maximum(self.tol, self.rtol * np.maximum(1.0, np.abs(self.best_value)))

    @property
    def gaps(self) -> np.ndarray:
        """Best value minus best bound of each open run."""
        return self.best_value - self.lower_bound

    def headline(self) -> tuple[float, float, str]:
        note = f"{self.size - len(self.open)} of {self.size} radii done  {self.problem.objective.note}".rstrip()
        if not self.open:
            return np.nan, 0.0, note
        worst = int(np.argmax(self.gaps))
        return float(self.best_value[worst]), float(self.gaps[worst]), note

    def absorb_all(self, state: Any, evidence: list[Evidence], elapsed: float) -> None:
        """Take in one or several steps, with one read of the device: a run that is done leaves a few steps late."""
        first, eps, self.elapsed = self.state.k, self.problem.eps, elapsed
        values, offsets, weights, noises, minima = self._read(evidence)
        well: Any = np.isfinite(values).all(axis=1) & np.isfinite(offsets).all(axis=1)
        well = np.logical_and.accumulate(well)  # nothing is taken in after a number that is not finite
        best = self._improve(np.where(well[:, None], values, np.inf), [p for seen in evidence for _, p in seen.seen])
        with np.errstate(invalid="ignore"):
            mixings = np.array([self.problem.mixings(first + i + 1) for i in range(len(evidence))])[:, None, None]
            bounds = (offsets + minima - (1 + mixings) * noises - FEW * eps * np.abs(minima)) / weights
            slack = 600 * np.max(noises / weights, axis=1) + 1e4 * eps * np.abs(best)
        bounds = np.where(well, bounds.max(axis=1), -np.inf)
        bounds = np.fmax.accumulate(np.concatenate([self.lower_bound[None], bounds]))[1:]
        self.noise = np.where(well[-1], ((1 + mixings) * noises / weights)[-1].max(axis=0), 0.0)
        self.lower_bound = bounds[-1]
        for i in range(-first % self.trace_every, len(evidence), self.trace_every):
            self._log(first + i, values[i, 0], np.minimum(self.proven if self.exact else bounds[i], best[i]))
        average = evidence[-1].minorants[0][0]
        self.touch = None if average.at is None else average.at / float(weights[-1, 0, 0])  # of all runs alike
        self.state = state
        wrong = (bounds > best + slack) & (not self.exact)
        if wrong.any() and self.problem.objective.proven:
            wrong[:] = False
        self._leave_in_trouble(first, values, well, wrong, evidence)

    def settled(self) -> bool:
        places = np.flatnonzero((self.gaps <= self.goals) & (self.goals > 0) & (self.state.k >= self.next_proof))
        if places.size:
            last = self._refreshed(places)
            kept = self.best_value[places] - self._bounds[places] <= self.goals[places]
            self._leave(places[kept], last[kept], Status.OPTIMAL)
        return not self.open

    def exhausted(self) -> bool:
        over = (self.goals > 0) & (self.goals < self.noise) & (self.gaps <= 2 * self.noise)
        places = np.flatnonzero(over & (not self.exact))
        if places.size:
            self._leave(places, self._refreshed(places), Status.PRECISION)
        return False

    def finish(self, status: Status) -> None:
        """End the runs that are still open, all for one reason."""
        places = np.arange(len(self.open))
        if places.size:
            self._leave(places, self._refreshed(places), status)

    def _read(self, evidence: list[Evidence]) -> tuple[np.ndarray, ...]:
        """Return values, and offsets, weights, noises and minima of the minorants: by step, kind and run."""
        numbers = [number for seen in evidence for number in numbers_of(answered(self.problem, seen))]
        table = fetch_rows(numbers, len(self.open)).reshape(len(evidence), -1, len(self.open))
        known = 1 + len(evidence[0].seen)
        tangents = table[:, known:].reshape(len(evidence), -1, 5, len(self.open))
        return (table[:, 1:known], *(tangents[:, :, i] for i in (0, 1, 2, 4)))

    def _improve(self, values: np.ndarray, points: list[Point]) -> np.ndarray:
        """Take in values (by step, point and run) and keep the best points; return the best values after each step."""
        lowest = np.minimum.accumulate(np.concatenate([self.best_value[None], values.min(axis=1)]))[1:]
        flat = values.reshape(len(points), -1)
        place, better = flat.argmin(axis=0), lowest[-1] < self.best_value
        for i in np.unique(place[better]).tolist():
            self.best = _where(better & (place == i), points[i].coords, self.best)
        self.best_value = lowest[-1]
        return lowest

    def _log(self, k: int, values: np.ndarray, bounds: np.ndarray) -> None:
        both = np.full((2, self.size), np.nan)
        both[:, self.open] = values, bounds
        self.log.append((k, self.elapsed, tuple(self.problem.counts.asdict().values()), both[0], both[1]))

    def _refreshed(self, places: np.ndarray) -> np.ndarray:
        """Compute values of the best points afresh, and of the last iterates, which may be better; return those."""
        points = [_take(self.best, places), _take(self.state.x.coords, places)]
        fresh = host(self.problem.value(Point.at(namespace(*points).concat(points))))
        best, last = fresh[: places.size], fresh[places.size :]
        better = np.zeros(len(self.open), bool)
        better[places] = last <= best
        self.best = _where(better, self.state.x.coords, self.best)
        self.best_value[places] = np.where(last <= best, last, best)
        if self.exact:
            self._prove(places)
        return last

    @property
    def _bounds(self) -> np.ndarray:
        """The bounds that are proven."""
        return self.proven if self.exact else self.lower_bound

    def _prove(self, places: np.ndarray) -> None:
        """Compute values and bounds at the best points in double precision, on the numbers as they are stored."""
        batch, domain = self.problem.objective, self.problem.domain
        assert isinstance(batch, Batch)
        assert isinstance(domain, SetBatch)
        assert isinstance(self.problem.exact, Batch)
        exact, members = type(batch)(self.problem.exact.base, len(places)), domain.rows(places.tolist())
        extent = replace(self.problem, objective=exact, domain=members).extent
        for points in (self.touch, self.best):
            if points is not None:
                point = Point.at(exact.start(_take(points, places), dense=False))
                at = exact.evaluate(point, point)
                # The bound of a set larger by what rounding moves a point.
                tangent = at._replace(noise=exact.noise(at, extent)).tangent
                bound = tangent.bound(-members.support(-at.slope), 4 * self.problem.eps)
                self.proven[places] = np.fmax(self.proven[places], host(bound))
                self.best_value[places] = host(at.value)
        self.next_proof[places] = np.ceil(1.1 * self.state.k) + 1

    def _leave_in_trouble(
        self, first: int, values: np.ndarray, well: np.ndarray, wrong: np.ndarray, evidence: list[Evidence]
    ) -> None:
        """Let the runs go that have met a number that is not finite, or a bound above a value."""
        bad = ~well | wrong
        for place in np.flatnonzero(bad.any(axis=0))[::-1].tolist():
            step = int(bad[:, place].argmax())
            if not well[step, place]:
                what = "gradient" if np.isfinite(values[step, :, place]).all() else "value"
                trouble = Status.NOT_FINITE, f"the {what} of the objective is not finite at iteration {first + step}"
            else:
                at = Point.at(evidence[step].seen[-1][1].coords[place, ...])
                reason = blame(self._single(place), at, Point.at(self.best[place, ...]))
                wrong_gradient = reason.startswith("the gradient")
                trouble = Status.WRONG_GRADIENT if wrong_gradient else Status.NOT_CONVEX, reason
                self.lower_bound[place] = -np.inf
            self._leave(np.array([place]), np.array([np.nan]), *trouble)

    def _leave(self, places: np.ndarray, last: np.ndarray, status: Status, message: str = "") -> None:
        """End some runs: hand them over, and go on with the rows of the others."""
        for place, value in zip(places.tolist(), last.tolist(), strict=True):
            number, best = self.open[place], Point.at(self.best[place, ...])
            run = Run(self._single(place), self.state, self.tol, self.rtol, self.trace_every)
            run.best, run.best_value, run.elapsed = best, float(self.best_value[place]), self.elapsed
            run.certificate = Certificate(float(self._bounds[place]))
            run.trouble = (status, message) if message else None
            run.trace = self._trace(number, value, run)
            self.done(number, run, status)
        kept = np.setdiff1d(np.arange(len(self.open)), places)
        self.open = [self.open[i] for i in kept]
        self.best_value, self.lower_bound = self.best_value[kept], self.lower_bound[kept]
        self.proven, self.next_proof, self.noise = self.proven[kept], self.next_proof[kept], self.noise[kept]
        self.best = _take(self.best, kept)
        self.touch = None if self.touch is None else _take(self.touch, kept)
        if self.open:
            self.state = _rows(self.state, kept, {})
            objective, domain = self.problem.objective, self.problem.domain
            assert isinstance(objective, Batch)
            assert isinstance(domain, SetBatch)
            objective, domain = type(objective)(objective.base, len(kept)), domain.rows(kept.tolist())
            exact = self.problem.exact  # which takes a while to make, and serves any number of runs
            self.problem = replace(self.problem, objective=objective, domain=domain, scratch={})
            self.problem.exact = exact

    def _trace(self, number: int, last: float, run: Run) -> Trace:
        """Return the rows of one run, with one more for its last iterate."""
        k, counts = self.state.k, tuple(self.problem.counts.asdict().values())
        rows = [(k, t, f[number], b[number], f[number] - b[number], *c) for k, t, c, f, b in self.log]
        if np.isfinite(last):
            bound = min(run.certificate.lower_bound, run.best_value)
            rows.append((k, self.elapsed, last, bound, last - bound, *counts))
        return Trace.from_array(np.array(rows, dtype=np.float64).reshape(len(rows), -1))

    def _single(self, place: int) -> Problem:
        """Return the problem of one run, with what all of them have cost so far."""
        objective, domain = self.problem.objective, self.problem.domain
        assert isinstance(objective, Batch)
        assert isinstance(domain, SetBatch)
        counts = copy(self.problem.counts)
        return Problem(objective.base, domain.members[place], self.problem.seed, counts, self.problem.eps)


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


def _rows(thing: Any, places: np.ndarray, done: dict[int, Leaf]) -> Any:
    """Return some rows of a state and of everything in it; what was shared stays shared."""
    if isinstance(thing, Point):
        terms = tuple((_rows(weight, places, done), _rows(leaf, places, done)) for weight, leaf in thing.terms)
        return Point(_rows(thing.coords, places, done), terms)
    if isinstance(thing, Leaf):
        if id(thing) not in done:
            done[id(thing)] = Leaf(_rows(thing.coords, places, done), _rows(thing.value, places, done))
        return done[id(thing)]
    if isinstance(thing, Rows):
        return Rows(_take(thing.array, places))
    if isinstance(thing, tuple):
        parts = [_rows(part, places, done) for part in thing]
        return type(thing)(*parts) if hasattr(thing, "_fields") else tuple(parts)
    return _take(thing, places) if is_array_api_obj(thing) and getattr(thing, "ndim", 0) else thing
