"""Do tasks that are not done yet, on a few processes of joblib's, with a bar of tqdm's."""

from __future__ import annotations

import os
import threading
import warnings
from dataclasses import replace
from functools import cache
from time import process_time, sleep
from typing import Any

from threadpoolctl import threadpool_limits

from frankwolfe.backends.compile_policy import WORTH, choices_of_run
from frankwolfe.paper.problems import THREADS, Problem
from frankwolfe.paper.reference import Reference
from frankwolfe.paper.runs import Race, Run, Series
from frankwolfe.paper.store import Outcome, Store, Task
from frankwolfe.validation import optional


class NotRunError(KeyError):
    """Work that was asked about has not been done."""


class Results:
    """Outcomes by task, read from the store when first asked for."""

    def __init__(self, store: Store) -> None:
        self.get = cache(store.get)

    def __getitem__(self, task: Task) -> Outcome:
        outcome = self.get(task)
        if outcome is None:
            raise NotRunError(task.name)
        return outcome

    def __contains__(self, task: Task) -> bool:
        return self.get(task) is not None

    def optimum(self, problem: Problem) -> dict[str, Any]:
        """Return what the certified solve of a problem found."""
        return self[Reference(problem.data, problem.ball)].facts

    def series(self, run: Run) -> Series:
        """Return a run next to its optimum."""
        return Series(run, self[run], self.optimum(run))

    def race(self, race: Race) -> dict[str, Series]:
        """Return the runs of a race by method."""
        return {run.method: self.series(run) for run in race.runs}


def run_tasks(tasks: list[Task], store: Store, directory: str | None, jobs: int, quiet: bool) -> int:
    """Do what is not in the store yet; return how many tasks that was.

    Every finished task is on disk at once: after a kill the same call goes on with the next.
    """
    joblib, tqdm = optional("joblib", extra="data"), optional("tqdm", extra="data").tqdm
    results = Results(store)
    missing = [task for task in dict.fromkeys(tasks) if task not in results]
    parallel = joblib.Parallel(max(1, min(jobs, len(missing))), return_as="generator_unordered", pre_dispatch="n_jobs")
    done = parallel(joblib.delayed(_do)(task, store, directory, os.getpid()) for task in missing)
    with warnings.catch_warnings(), tqdm(done, total=len(missing), disable=quiet, unit="task") as bar:
        warnings.filterwarnings("ignore", "A worker stopped")  # joblib replaces workers that have grown
        for name in bar:
            bar.set_postfix_str(name)
    return len(missing)


def _do(task: Task, store: Store, directory: str | None, parent: int) -> str:
    began = process_time()
    if os.getpid() != parent:
        _end_with(parent)
    with threadpool_limits(limits=THREADS), choices_of_run(reads=WORTH):  # compiled from the start: runs are repeatable
        outcome = task.compute(directory)
    store.put(task, replace(outcome, seconds=process_time() - began))
    return task.name


@cache
def _end_with(parent: int) -> None:
    """End this process when the one that started it is gone: a kill must not leave workers behind."""

    def wait_for_end() -> None:
        while os.getppid() == parent:
            sleep(1.0)
        os._exit(1)

    threading.Thread(target=wait_for_end, daemon=True).start()
