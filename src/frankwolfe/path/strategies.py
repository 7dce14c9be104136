"""The two ways to solve a path: all radii in step, or one after the other."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Any

import numpy as np

from frankwolfe.backends import namespace
from frankwolfe.backends.namespace import is_foreign
from frankwolfe.methods import Method
from frankwolfe.minimize import conclude, drive
from frankwolfe.objectives.base import Objective
from frankwolfe.objectives.composite import HessianObjective
from frankwolfe.path.lockstep import Lockstep
from frankwolfe.path.warm_start import KEPT_TANGENTS, KeptTangent, begin, continued, tangent_behind
from frankwolfe.problem import Problem
from frankwolfe.result import Result, Status
from frankwolfe.run import Run, with_room
from frankwolfe.sets.base import Set
from frankwolfe.sets.many_radii import SetBatch
from frankwolfe.stopping import Tolerance
from frankwolfe.terminal import Progress


@dataclass(frozen=True)
class Job:
    """What is asked for: an objective, a set for each radius (increasing), and the limits of each run."""

    objective: Objective
    members: list[Set]
    radii: list[float]
    x0: Any
    tolerance: Tolerance
    max_iter: int
    time_limit: float | None
    trace_every: int
    progress: bool | None
    seed: int


class Collector:
    """Where runs are handed in as they end; each is scored there and then."""

    def __init__(self, job: Job, score: Callable[[Any, float], float] | None) -> None:
        self.job, self.score = job, score
        self.results: dict[int, Result] = {}
        self.scores: dict[int, float] = {}

    def take(self, i: int, run: Run, status: Status, method: Method, reason: str) -> None:
        """Keep the result of radius i, with its score."""
        result = conclude(run, status, method, reason, self.job.max_iter)
        self.results[i] = result
        if self.score is not None:
            self.scores[i] = self.score(result.x, self.job.radii[i])


def steps_together(method: Method, job: Job) -> bool:
    """Tell whether a method's steps can be taken for all radii at once: not where nothing they show is proven."""
    proves = job.objective.convex and job.objective.flaw is None
    return proves and method.steps_in_arrays and job.members[0].closed_form and job.objective.takes_many


def pays_together(method: Method, objective: Objective) -> bool:
    """Tell whether reading the data once for all radii saves time: not where other work than reading takes it.

    Measured on the CPU: dense data are read at a small share of the price for each further point, sparse data are not;
    exact line searches take more time than reading does, and nothing of it is shared.
    """
    if not isinstance(objective, HessianObjective) or not objective.data.shared:
        return False
    on_device = objective.holds_images and is_foreign(objective.data.matrix)
    return method.forgets_start or on_device


def in_step(job: Job, method: Method, reason: str, collector: Collector) -> float:
    """Solve all radii at once; return the reads of the data."""
    alone = Problem(job.objective, job.members[0], job.seed).start(job.x0, dense=False).coords
    problem, size = Problem(job.objective, SetBatch(job.members, alone), job.seed), len(job.radii)

    def begin_all() -> Lockstep:
        start = problem.start(None if job.x0 is None else namespace(alone).stack([alone] * size), dense=False)
        return Lockstep(
            problem,
            method.init(problem, start),
            job.tolerance,
            job.trace_every,
            lambda i, run, status: collector.take(i, run, status, method, reason),
        )

    run = with_room(Run(problem, None, job.tolerance, job.trace_every), begin_all)
    status = drive(run, method, job.max_iter, job.time_limit, None, job.progress)
    with_room(run, lambda: run.finish(status))
    return run.problem.counts.n_pass


def in_turn(job: Job, method: Method, reason: str, collector: Collector) -> float:
    """Solve one radius after the other, each from the last; return the reads of the data."""
    walk = Walk(job.objective, method, job.members[0], job.seed, job.x0)
    shown = Progress(job.progress, job.max_iter)
    began, n_pass, ended = monotonic(), 0.0, None
    for i, (domain, radius) in enumerate(zip(job.members, job.radii, strict=True)):
        run = walk.begin(domain, radius, job.tolerance, job.trace_every, f"radius {i + 1} of {len(job.radii)}")
        if ended is None:
            left = None if job.time_limit is None else max(job.time_limit - (monotonic() - began), 0.0)
            status = drive(run, method, job.max_iter, left, None, shown)
            ended = status if status in (Status.INTERRUPTED, Status.TIME_LIMIT) else None
        else:
            status = ended  # nothing more is done, but what is known is handed in
        walk.end(run, radius)
        collector.take(i, run, status, method, reason)
        n_pass += run.problem.counts.n_pass
    return n_pass


class Walk:
    """Radii one after the other, each run from the nearest solution known, with the bounds that are proven already.

    All sets are of the kind of `family`; `x0` is where to start where no solution is known. So many solutions are kept
    with their images: more than one for radii that do not only grow.
    """

    def __init__(
        self, objective: Objective, method: Method, family: Set, seed: int = 0, x0: Any = None, keep: int = 1
    ) -> None:
        self.objective = objective.oriented(family.sparse_atoms, family.parallel_atoms)
        self.method, self.seed, self.x0, self.keep = method, seed, x0, keep
        self.known: list[tuple[Run, float]] = []
        self.tangents: list[KeptTangent] = []

    def begin(self, domain: Set, radius: float, tolerance: Tolerance, trace_every: int = 1, note: str = "") -> Run:
        """Return the run of a radius, ready to be driven."""
        problem = Problem(self.objective, domain, self.seed)
        self.method.check(problem)
        run = Run(problem, None, tolerance, trace_every, note=note)
        start, near = None, None
        if self.known:
            near = min(self.known, key=lambda known: (known[1] > radius, abs(math.log(radius / known[1]))))
            start = continued(*near, problem, radius)
            problem.exact = near[0].problem.exact  # which takes a while to make, and serves any radius
        if start is not None:
            with_room(run, partial(begin, run, start, self.tangents, radius))
        if start is None or self.method.forgets_start:
            start = problem.start(self.x0, self.method.dense)
        if tolerance.relative and near is not None:
            run.start_value = near[0].start_value
        elif tolerance.relative and self.x0 is not None:
            run.start_value = problem.default_value(start, self.method.dense)
        run.state = with_room(run, lambda: self.method.init(problem, start))
        return run

    def end(self, run: Run, radius: float) -> None:
        """Finish a run, and keep what others can start from."""
        with_room(run, run.finish)
        last = tangent_behind(run, radius)
        self.tangents = [kept for kept in (last, *self.tangents) if kept is not None][:KEPT_TANGENTS]
        if run.trouble is None and np.isfinite(run.best_value):
            self.known = [(run, radius), *self.known][: self.keep]
