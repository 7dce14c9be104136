"""A cost model of an iteration on a cluster, from constants measured here, held against measured iterations.

    python -m benchmarks.cost_model [--quick] [--doc docs/scaling.md]

Time per iteration with P workers of one core each:

    t(P) = round trip + per task x P + bytes moved / bandwidth + bytes of rows / rate(min(P, cores))

The first two come from empty tasks on 1 to 8 workers (a straight line), the third from tasks that return many numbers,
the last from what a task does, in memory, with one thread and with all cores. Nothing is fitted to what is predicted.
Every figure is the fastest of several: on a busy machine the others measure the neighbours.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.overhead import COLUMNS, Steps, in_memory, moved, on_cluster, round_trip
from benchmarks.report import command_line, held_to
from distributed import Client, LocalCluster
from frankwolfe.kernels.threads import limited
from frankwolfe.rows.parts import Part
from frankwolfe.rows.rows_in_parts import evaluation

BEGIN, END = "<!-- measured -->", "<!-- end of measured -->"


class Constants(NamedTuple):
    """What an iteration is made of."""

    trip: float  # seconds of a round trip, however many tasks
    task: float  # seconds per task
    bandwidth: float  # bytes per second between a worker and the client
    rates: tuple[float, ...]  # bytes of rows per second of a fused pass with 1, 2, ... cores
    moved: int  # bytes moved per worker and iteration

    def seconds(self, nbytes: float, workers: int) -> float:
        """Return the time per iteration over so many bytes of rows on workers of one core each, on this machine."""
        rate = self.rates[min(workers, len(self.rates)) - 1]
        return self.trip + workers * (self.task + self.moved / self.bandwidth) + nbytes / rate

    def elsewhere(self, nbytes: float, workers: int, width: int = COLUMNS) -> float:
        """Return the same where every worker has a core and memory of its own, and x has another length."""
        sent = self.moved * width / COLUMNS
        return self.trip + workers * (self.task + sent / self.bandwidth) + nbytes / (workers * self.rates[0])


def fastest(work: Callable[[], Any], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times)


def numbers(count: int) -> np.ndarray:
    return np.ones(count)


def constants(trips: dict[int, float], client: Client, rows: int, repeats: int) -> Constants:
    """Measure what does not depend on the number of workers, and put it beside what does."""
    cores = len(os.sched_getaffinity(0))
    counts, seconds = list(trips), list(trips.values())
    task, trip = np.polyfit(counts, seconds, 1)
    size = 1_000_000
    large = fastest(lambda: client.submit(numbers, size, pure=False).result(), repeats)
    small = fastest(lambda: client.submit(numbers, 1, pure=False).result(), repeats)
    part, x, rates = Part(in_memory(rows)), np.full(COLUMNS, 0.1), []

    def steps() -> None:
        evaluation(part, x, -x)

    for threads in range(1, cores + 1):
        with limited(threads):
            for _ in range(3):
                steps()
            rates.append(8 * COLUMNS * rows / fastest(steps, repeats))
    bandwidth = 8 * size / max(large - small, 1e-4)
    return Constants(max(float(trip), 0.0), max(float(task), 1e-5), bandwidth, tuple(rates), moved())


def measure(quick: bool = False, doc: str = "") -> dict:
    """Return predicted and measured seconds per iteration for 1, 2, 4 and 8 workers."""
    rows, repeats = (400_000, 25) if quick else (3_200_000, 15)
    nbytes = 8 * COLUMNS * rows
    trips, measured = {}, {}
    for workers in (1, 2, 4, 8):
        with (
            LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0", memory_limit=0) as local,
            Client(local) as client,
        ):
            objective = on_cluster(rows, workers)
            steps = Steps(objective)
            for _ in range(3):
                steps(), round_trip(objective.parts)
            pairs = [(steps(), round_trip(objective.parts)) for _ in range(repeats)]
            measured[workers], trips[workers] = (min(t) for t in zip(*pairs, strict=True))
            del objective, steps
            if workers == 8:
                known = constants(trips, client, rows, repeats)
    table, bars = [], []
    for workers, seconds in measured.items():
        predicted = known.seconds(nbytes, workers)
        table.append([workers, round(1e3 * predicted, 1), round(1e3 * seconds, 1), round(seconds / predicted, 2)])
        if workers <= 2:
            off = max(seconds / predicted, predicted / seconds)
            bars.append(held_to(f"measured and predicted apart, {workers} worker(s)", off, 1.5, "<="))
    rates = ", ".join(f"{rate / 1e9:.2f} GB/s with {i + 1}" for i, rate in enumerate(known.rates))
    found = {
        "title": "Cost model of an iteration on a cluster",
        "columns": ["workers", "predicted, ms", "measured, ms", "measured / predicted"],
        "rows": table,
        "bars": bars,
        "notes": [
            f"round trip {1e3 * known.trip:.2f} ms, and {1e3 * known.task:.2f} ms per task",
            f"{known.moved} bytes moved per worker and iteration, at {known.bandwidth / 1e6:.0f} MB/s",
            f"fused passes: {rates} core(s); {rows} x {COLUMNS} rows, {nbytes / 1e9:.2f} GB",
            f"{len(known.rates)} cores: more workers than that share them",
        ],
    }
    if doc:
        write(Path(doc), known, found)
    return found


def page(known: Constants, found: dict) -> str:
    """Return the measured part of docs/scaling.md."""
    lines = ["| constant | measured |", "|---|---|"]
    lines += [f"| round trip of a set of tasks | {1e3 * known.trip:.1f} ms |"]
    lines += [f"| each task more | {1e3 * known.task:.2f} ms |"]
    lines += [f"| bytes moved per worker and iteration | {known.moved} (x has {COLUMNS} entries) |"]
    lines += [f"| between worker and client | {known.bandwidth / 1e6:.0f} MB/s |"]
    for i, rate in enumerate(known.rates):
        lines += [f"| fused pass, {i + 1} core(s) | {rate / 1e9:.2f} GB/s |"]
    lines += ["", "| workers | predicted | measured | measured / predicted |", "|---|---|---|---|"]
    lines += [f"| {w} | {p:.1f} ms | {m:.1f} ms | {r:.2f} |" for w, p, m, r in found["rows"]]
    lines += ["", found["notes"][2] + ". " + found["notes"][3] + ".", "", "### From what size on a cluster pays", ""]
    lines += ["| workers, one core each | rows beyond | seconds per iteration there |", "|---|---|---|"]
    for workers in (2, 4, 8, 16, 64, 256):
        nbytes = _break_even(known, workers)
        shown = f"{nbytes / 1e9:.2f} GB" if nbytes < 1e12 else f"{nbytes / 1e12:.1f} TB"
        lines += [f"| {workers} | {shown} | {nbytes / known.rates[0]:.2g} |"]
    lines += ["", "(twice as fast as one core of the same kind; one that has all data in memory)"]
    lines += ["", "### What internet scale would cost", ""]
    lines += ["| data | bytes | workers | seconds per iteration | 100 iterations | core-hours |"]
    lines += ["|---|---|---|---|---|---|"]
    for name, nbytes, width, workers in (
        ("1e9 rows of 100 numbers", 8e11, 100, 64),
        ("1e10 rows of 100 numbers", 8e12, 100, 512),
        ("1e10 rows, 50 of 1e6 features set (12 bytes each)", 6e12, 10**6, 256),
        ("1e12 nonzeros: 2e10 rows, 50 of 1e6 features set", 1.2e13, 10**6, 256),
        ("1e12 rows of 100 numbers", 8e14, 100, 4096),
    ):
        seconds = known.elsewhere(nbytes, workers, width)
        hours = 100 * seconds * workers / 3600
        took = f"{seconds:.1f} | {100 * seconds / 3600:.2f} h | {hours:,.0f}"
        lines += [f"| {name} | {nbytes / 1e12:.1f} TB | {workers} | {took} |"]
    return "\n".join(lines)


def _break_even(known: Constants, workers: int) -> float:
    """Return the bytes from which so many workers are twice as fast as one core (1.5 times for two workers)."""
    gain = 1.5 if workers == 2 else 2.0
    fixed = known.elsewhere(0.0, workers)
    return gain * fixed * known.rates[0] / (1.0 - gain / workers)


def write(path: Path, known: Constants, found: dict) -> None:
    """Write the measured part of this page."""
    text = path.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    path.write_text(f"{before}{BEGIN}\n{page(known, found)}\n{END}{rest.split(END)[1]}", encoding="utf-8")


if __name__ == "__main__":
    command_line(measure, doc=("", "write the measured part of this page"))
