"""The two ways to solve a path: all radii in step, or one after the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import Any

import numpy as np

from frankwolfe.backends import namespace
from frankwolfe.methods import Method
from frankwolfe.minimize import conclude, drive
from frankwolfe.objectives.base import Objective
from frankwolfe.objectives.linear_model import LinearModel
from frankwolfe.objectives.quadratic import Quadratic
from frankwolfe.path.lockstep import Lockstep
from frankwolfe.path.warm_start import SHELF, begin, continued, proof_of
from frankwolfe.problem import Problem
from frankwolfe.progress import Progress
from frankwolfe.result import Result, Status
from frankwolfe.run import Run, with_room
from frankwolfe.sets.base import Set
from frankwolfe.sets.many_radii import SetBatch
from frankwolfe.stopping import Tolerance


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


class Desk:
    """Where runs are handed in as they end; each is scored there and then."""

    def __init__(self, job: Job, score: Callable[[Any, float], float] | Objective | None) -> None:
        self.job, self.score = job, score
        self.results: dict[int, Result] = {}
        self.scores: dict[int, float] = {}

    def take(self, i: int, run: Run, status: Status, method: Method, reason: str) -> None:
        """Keep the result of radius i, with its score."""
        result = conclude(run, status, method, reason, self.job.max_iter)
        self.results[i] = result
        if isinstance(self.score, Objective):
            self.scores[i] = float(self.score.value(result.x))
        elif self.score is not None:
            self.scores[i] = float(self.score(result.x, self.job.radii[i]))


def steps_together(method: Method, job: Job) -> bool:
    """Tell whether a method's steps can be taken for all radii at once."""
    return method.steps_in_arrays and job.members[0].closed_form and job.objective.takes_many


def pays_together(method: Method, objective: Objective) -> bool:
    """Tell whether reading the data once for all radii saves time: not where other work than reading takes it.

    Measured on the CPU: dense data are read at a small share of the price for each further point, sparse data are not;
    exact line searches take more time than reading does, and nothing of it is shared.
    """
    if not isinstance(objective, LinearModel | Quadratic) or not objective.data.shared:
        return False
    on_device = objective.holds_images and not isinstance(objective.data.matrix, np.ndarray)
    return method.forgets_start or on_device


def in_step(job: Job, method: Method, reason: str, desk: Desk) -> float:
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
            lambda i, run, status: desk.take(i, run, status, method, reason),
        )

    run = with_room(Run(problem, None, job.tolerance, job.trace_every), begin_all)
    status = drive(run, method, job.max_iter, job.time_limit, None, job.progress)
    with_room(run, lambda: run.finish(status))
    return run.problem.counts.n_pass


def in_turn(job: Job, method: Method, reason: str, desk: Desk) -> float:
    """Solve one radius after the other, each from the last; return the reads of the data."""
    objective = job.objective.oriented(job.members[0].sparse_atoms, job.members[0].parallel_atoms)
    shown = Progress(job.progress, job.max_iter)
    began, n_pass, ended, previous, proofs = monotonic(), 0.0, None, None, []
    for i, (domain, radius) in enumerate(zip(job.members, job.radii, strict=True)):
        problem = Problem(objective, domain, job.seed)
        method.check(problem)
        note = f"radius {i + 1} of {len(job.radii)}"
        run = Run(problem, None, job.tolerance, job.trace_every, note=note)
        start = continued(*previous, problem, radius) if previous is not None else None
        if previous is not None:
            problem.exact = previous[0].problem.exact  # which takes a while to make, and serves any radius
        if start is not None:
            begin(run, start, proofs, radius)
        if start is None or method.forgets_start:
            start = problem.start(job.x0, method.dense)
        if run.tolerance.relative and previous is not None:
            run.start_value = previous[0].start_value
        elif run.tolerance.relative and job.x0 is not None:
            run.start_value = problem.default_value(start, method.dense)
        run.state = method.init(problem, start)
        if ended is None:
            left = None if job.time_limit is None else max(job.time_limit - (monotonic() - began), 0.0)
            status = drive(run, method, job.max_iter, left, None, shown)
            ended = status if status in (Status.INTERRUPTED, Status.TIME_LIMIT) else None
        else:
            status = ended  # nothing more is done, but what is known is handed in
        with_room(run, run.finish)
        desk.take(i, run, status, method, reason)
        n_pass += problem.counts.n_pass
        proof = proof_of(run, radius)
        proofs = [p for p in (proof, *proofs) if p is not None][:SHELF]
        if run.trouble is None and np.isfinite(run.best_value):
            previous = run, radius
    return n_pass
