"""Do tasks that are not done yet, on a few processes, with one line of progress."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing import get_context
from time import monotonic, sleep
from typing import TextIO

from frankwolfe.paper.problems import Ball, Data
from frankwolfe.paper.reference import LOOSER, Reference
from frankwolfe.paper.runs import Run, Series
from frankwolfe.paper.store import Outcome, Store, Task


class Results:
    """Outcomes by task, read from the store when first asked for."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._known: dict[str, Outcome] = {}

    def __getitem__(self, task: Task) -> Outcome:
        key = self.store.stem(task)
        if key not in self._known:
            outcome = self.store.get(task)
            if outcome is None:
                raise KeyError(task.name)
            self._known[key] = outcome
        return self._known[key]

    def __contains__(self, task: Task) -> bool:
        try:
            return self[task] is not None
        except KeyError:
            return False

    def has(self, tasks: Iterable[Task]) -> bool:
        """Tell whether all of these tasks are done."""
        return all(task in self for task in tasks)

    def optimum(self, data: Data, ball: Ball) -> Outcome:
        """Return the certified solve of a problem: the most accurate one there is."""
        tighter = [Reference(data, ball, goal) for goal in (0.0, *LOOSER)]
        return self[next((task for task in tighter if task in self), tighter[0])]

    def series(self, run: Run) -> Series:
        """Return a run next to its optimum."""
        return Series(run, self[run], self.optimum(run.data, run.ball))


class Line:
    """A line of progress on stderr: rewritten on a terminal, one per finished task elsewhere, none when quiet."""

    def __init__(self, total: int, quiet: bool, stream: TextIO | None = None) -> None:
        self.total, self.done, self.quiet = total, 0, quiet
        self.stream = sys.stderr if stream is None else stream
        self.began, self.width = monotonic(), 0

    def show(self, running: list[str]) -> None:
        """Show how far the work is and what is being done."""
        if self.quiet or not self.total:
            return
        filled = round(24 * self.done / self.total)
        seconds = int(monotonic() - self.began)
        bar = "#" * filled + "." * (24 - filled)
        text = f"[{bar}] {self.done}/{self.total}  {seconds // 60}:{seconds % 60:02d}  {', '.join(running)}"
        if self.stream.isatty():
            text = text[:118]
            self.stream.write("\r" + text.ljust(self.width))
            self.width = len(text)
        else:
            self.stream.write(text + "\n")
        self.stream.flush()

    def close(self) -> None:
        """End the line."""
        if not self.quiet and self.width:
            self.stream.write("\n")
            self.stream.flush()


def run_tasks(tasks: list[Task], store: Store, directory: str | None, jobs: int, quiet: bool) -> int:
    """Do what is not in the store yet; return how many tasks that was.

    Every finished task is on disk at once, and a long run within a task keeps a checkpoint: after a kill the same call
    goes on where it was.
    """
    results = Results(store)
    missing = list({store.stem(t): t for t in tasks if t not in results}.values())
    line = Line(len(missing), quiet)
    try:
        if jobs == 1 or len(missing) < 2:
            for task in missing:
                line.show([task.name])
                _do(task, store, directory)
                line.done += 1
        else:
            _in_parallel(missing, store, directory, jobs, line)
        line.show([])
    finally:
        line.close()
    return len(missing)


def _in_parallel(tasks: list[Task], store: Store, directory: str | None, jobs: int, line: Line) -> None:
    waiting = list(reversed(tasks))
    running: dict[Future[None], str] = {}
    # Fresh processes, not forks: threads of the linear algebra do not survive a fork.
    context = get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=_watch, initargs=(os.getpid(),)) as pool:
        try:
            while waiting or running:
                while waiting and len(running) < jobs:
                    task = waiting.pop()
                    running[pool.submit(_do, task, store, directory)] = task.name
                line.show(list(running.values()))
                finished, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in finished:
                    del running[future]
                    future.result()
                    line.done += 1
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _watch(parent: int) -> None:
    """End this process when the one that started it is gone: a kill must not leave workers behind."""

    def wait_for_end() -> None:
        while os.getppid() == parent:
            sleep(1.0)
        os._exit(1)

    threading.Thread(target=wait_for_end, daemon=True).start()


def _do(task: Task, store: Store, directory: str | None) -> None:
    store.put(task, task.compute(store, directory))
