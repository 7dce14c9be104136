"""Parts on a Dask cluster: one task per worker and evaluation, added up in a fixed order.

Every task is a function of a shard (which Dask reloads from its source if it is lost) and a few vectors. So whatever
happens to a worker costs what it was doing and its reload, and is Dask's to repair.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from itertools import pairwise
from time import monotonic
from typing import Any
from uuid import uuid4

import numpy as np

from frankwolfe.distributed import shards
from frankwolfe.distributed.shards import Answer, Report
from frankwolfe.rows.parts import Parts, PartTask
from frankwolfe.rows.rows import Sums
from frankwolfe.validation import optional

FAN_IN = 16  # answers that are added up in one place; with more shards than that, on the workers
REPORT_EVERY = 30.0  # seconds between two lines of throughput in the log
PATIENCE = 20.0  # seconds without an answer after which we look whether there is anybody to give one
MANY = 4  # workers from which a line of progress shows a range
ATTEMPTS = 5
log = logging.getLogger("frankwolfe.distributed")


def current_client() -> Any:
    """Return the user's Dask client; where there is none, start a cluster of one worker in this process."""
    distributed = optional("distributed", extra="dask")
    try:
        return distributed.get_client()
    except ValueError:
        cluster = distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=":0")
        log.info("no Dask client yet: started a cluster in this process, %s", cluster)
        return distributed.Client(cluster)


class ClusterParts(Parts):
    """Shards on the workers of a cluster: a future for each, and the numbers of their first rows and of all rows."""

    def __init__(self, client: Any, held: list[Any], cuts: list[int]) -> None:
        self.client, self.held, self.cuts = client, held, cuts
        self._work: dict[str, list[float]] = {}
        self._latest: list[Report] = []
        self._next_line = monotonic() + REPORT_EVERY

    def total(self, task: PartTask, *args: Any, kept: Any = None, reads: bool = True) -> Sums:
        answer = self._attempt(lambda: self._reduced(task, args, kept), kept)
        if reads:
            self._note(answer.reports)
        return answer.sums

    def keep(self, task: PartTask, *args: Any) -> Any:
        return [self._submit(shards.run, task.__name__, task, shard, None, args, True) for shard in self.held]

    def reweighted(self, weights: np.ndarray) -> ClusterParts:
        whole = float(weights.sum(dtype=np.float64))
        held = [
            self._submit(shards.reweighted, "weights", shard, weights[i:j], i, whole)
            for shard, (i, j) in zip(self.held, pairwise(self.cuts), strict=True)
        ]
        return ClusterParts(self.client, held, self.cuts)

    def changed(self, change: Callable[[Any], Any]) -> ClusterParts:
        held = [self._submit(shards.changed, "rows", shard, change) for shard in self.held]
        return ClusterParts(self.client, held, self.cuts)

    def report(self) -> dict[str, dict[str, float]]:
        table: dict[str, dict[str, float]] = {}
        for worker, (rows, nbytes, seconds) in self._work.items():
            each = max(seconds, 1e-9)
            table[worker] = {"rows": rows, "bytes": nbytes, "seconds": seconds}
            table[worker] |= {"rows_per_second": rows / each, "bytes_per_second": nbytes / each}
        return table

    @property
    def note(self) -> str:
        rates = [each.nbytes / max(each.seconds, 1e-9) / 1e6 for each in self._latest]
        if len(rates) > MANY:
            return f"{len(rates)} workers, {min(rates):.0f} to {max(rates):.0f} MB/s each"
        return " + ".join(f"{rate:.0f}" for rate in rates) + " MB/s" if rates else ""

    def _reduced(self, task: PartTask, args: tuple[Any, ...], kept: Any) -> Answer:
        own = [None] * len(self.held) if kept is None else kept
        name = (args[0] if args and callable(args[0]) else task).__name__  # of what is done to a model
        answers = [
            self._submit(shards.run, name, task, shard, mine, args, False)
            for shard, mine in zip(self.held, own, strict=True)
        ]
        while len(answers) > FAN_IN:
            groups = [answers[i : i + FAN_IN] for i in range(0, len(answers), FAN_IN)]
            answers = [self._submit(shards.combine, "sum", group) for group in groups]
        return shards.combine(self._gather(answers))

    def _submit(self, function: Any, name: str, *args: Any) -> Any:
        # The name is what the dashboard groups by; a new key for every call, as the result must not outlive it.
        return self.client.submit(function, *args, key=f"frankwolfe-{name}-{uuid4().hex}")

    def _attempt(self, work: Any, kept: Any) -> Any:
        """Do it again where workers died so often that Dask has given a task up."""
        gave_up = optional("distributed", extra="dask").KilledWorker
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return work()
            except gave_up as error:
                if attempt == ATTEMPTS:
                    raise
                log.warning("workers keep dying (%s); trying again, %d of %d", error, attempt, ATTEMPTS)
                self._retry([*self.held, *(kept or [])])
        raise AssertionError

    def _retry(self, futures: list[Any]) -> None:
        """Have Dask run again what it has given up."""

        async def reset() -> None:
            for future in futures:
                if future.status == "error":
                    self.client.futures[future.key].retry()

        try:
            self.client.retry(futures)
        except KeyError:
            # The scheduler runs them again, and what they come from; the client stumbles over the latter, which nobody
            # holds any more, before it has noted all of the former.
            self.client.sync(reset)

    def _gather(self, answers: list[Any]) -> list[Any]:
        """Fetch answers; see to it that there are workers to give them."""
        wait = optional("distributed", extra="dask").wait
        while True:
            try:
                wait(answers, timeout=PATIENCE)
            except TimeoutError:
                self._look_for_workers()
            else:
                return self.client.gather(answers)

    def _look_for_workers(self) -> None:
        """Say what to do where all workers are gone; a local cluster, which gives lost ones up, is filled again."""
        local = optional("distributed", extra="dask").LocalCluster
        if self.client.nthreads():
            return  # they are at work
        log.warning(
            "no worker of %s is left, and the run waits for one: start workers, or scale the cluster (Dask gives up "
            "those that do not come back within distributed.deploy.lost-worker-timeout: raise it on busy machines)",
            self.client,
        )
        if isinstance(self.client.cluster, local):
            self.client.cluster.scale(len(self.held))

    def _note(self, reports: list[Report]) -> None:
        self._latest = reports
        for worker, *done in reports:
            if worker not in self._work:
                log.info("worker %s holds %d rows", worker, done[0])
            before = self._work.setdefault(worker, [0.0, 0.0, 0.0])
            self._work[worker] = [a + b for a, b in zip(before, done, strict=True)]
        if monotonic() >= self._next_line:
            self._next_line = monotonic() + REPORT_EVERY
            table = self.report()
            for worker in dict.fromkeys(each.worker for each in reports):  # not those that are gone
                rates = table[worker]["rows_per_second"], table[worker]["bytes_per_second"] / 1e6
                log.info("worker %s: %.3g rows/s, %.0f MB/s", worker, *rates)
