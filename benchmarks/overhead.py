"""What a cluster costs: time per iteration over Dask against the same rows in memory, in the same run.

    python -m benchmarks.overhead [--quick] [--rows 8000000] [--out FILE]

Accelerated Frank-Wolfe, logistic regression, covtype's 54 columns in double precision. In memory with as many threads
as the cluster has workers; on the cluster one task per worker process and iteration. Iterations alternate between the
two, and so do round trips of empty tasks with the same vectors, which is all that the cluster may cost.
"""

from __future__ import annotations

import gc
import pickle
import statistics
import time
from itertools import pairwise
from typing import Any

import dask
import numpy as np

import frankwolfe as fw
from benchmarks.report import command_line, held_to
from distributed import Client, LocalCluster
from frankwolfe.distributed import shards
from frankwolfe.engine import advance
from frankwolfe.kernels.threads import limited
from frankwolfe.problem import Problem
from frankwolfe.rows.parts import Part
from frankwolfe.rows.rows_in_parts import evaluation

COLUMNS = 54
COVTYPE = 406_709
BLOCK = 100_000


def block(seed: int, rows: int) -> np.ndarray:
    """Return some rows; the same for the same seed, wherever they are made."""
    return np.random.default_rng(seed).random((rows, COLUMNS))


def labels(seed: int, rows: int) -> np.ndarray:
    return (block(seed, rows) @ np.linspace(-1, 1, COLUMNS) > 0).astype(np.float64)


def in_memory(rows: int) -> fw.Objective:
    return fw.Logistic(*_rows(0, rows))


def on_cluster(rows: int, workers: int) -> fw.Objective:
    """The same rows, made on the workers, each worker's in one block."""
    cuts = np.linspace(0, rows, workers + 1).round().astype(int)
    cuts = [*(int(round(c / BLOCK) * BLOCK) for c in cuts[:-1]), rows] if rows > workers * BLOCK else cuts
    pairs = [dask.delayed(_rows, nout=2, pure=False)(int(i), int(j)) for i, j in pairwise(cuts)]
    return fw.Logistic([A for A, _ in pairs], [b for _, b in pairs])


def _rows(first: int, last: int) -> tuple[np.ndarray, np.ndarray]:
    A, b = np.empty((last - first, COLUMNS)), np.empty(last - first)
    for i in range(0, last - first, BLOCK):
        n, seed = min(BLOCK, last - first - i), (first + i) // BLOCK
        A[i : i + n], b[i : i + n] = block(seed, n), labels(seed, n)
    return A, b


class Steps:
    """A run that is stepped by hand, so that two of them can take turns."""

    def __init__(self, objective: fw.Objective) -> None:
        self.problem, self.method = Problem(objective, fw.L2Ball(5.0)), fw.AcceleratedFrankWolfe()
        self.state = self.method.init(self.problem, self.problem.start(None, False))

    def __call__(self) -> float:
        began = time.perf_counter()
        self.state, _ = advance(self.problem, self.method, self.state, 1)
        return time.perf_counter() - began


def nothing(shard: Any, y: np.ndarray, x: np.ndarray) -> np.ndarray:
    return y


def round_trip(parts: Any) -> float:
    """Return the time of one empty task on every worker that takes and returns what an evaluation does."""
    x = np.ones(COLUMNS)
    began = time.perf_counter()
    sent = [parts.client.submit(nothing, shard, x, x, pure=False) for shard in parts.held]
    parts.client.gather(sent)
    return time.perf_counter() - began


def moved() -> int:
    """Return the bytes of the arguments and the answer of one evaluation, as they are pickled."""
    A = block(0, 50)
    part = Part(fw.Logistic(A, A[:, 0] > 0.5))
    x = np.ones(COLUMNS)
    answer = shards.run(evaluation, shards.Shard([part]), None, (x, x), False)
    return len(pickle.dumps((evaluation, (x, x)))) + len(pickle.dumps(answer))


def compare(rows: int, workers: int, repeats: int) -> dict[str, float]:
    """Return medians of interleaved iterations: in memory, on the cluster, and of empty round trips."""
    options = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": ":0", "memory_limit": 0}
    with LocalCluster(**options) as local, Client(local):
        far = on_cluster(rows, workers)
        there = Steps(far)
        near = Steps(in_memory(rows))
        gc.collect()
        times: dict[str, list[float]] = {"memory": [], "cluster": [], "empty": []}
        for k in range(repeats + 3):  # the first ones compile and warm up
            with limited(workers):
                t = {"memory": near(), "cluster": there(), "empty": round_trip(far.parts)}
            if k >= 3:
                for name, taken in t.items():
                    times[name].append(taken)
        found = {name: statistics.median(taken) for name, taken in times.items()}
        least = {name: min(taken) for name, taken in times.items()}
        x, z = near.state.x.coords, there.state.x.coords
        found["difference"] = float(np.abs(x - z).max() / np.abs(x).max())
        found["tasks"] = len(far.parts.held)
    found["ratio"] = (found["cluster"] - found["empty"]) / found["memory"]
    found["least"] = (least["cluster"] - least["empty"]) / least["memory"]
    print(
        f"{rows:>9} rows: {1e3 * found['memory']:8.1f} ms in memory, {1e3 * found['cluster']:8.1f} ms on the cluster, "
        f"{1e3 * found['empty']:6.1f} ms for empty tasks: {found['ratio']:.3f}x beyond them "
        f"({found['least']:.3f}x by the fastest of each); "
        f"iterates differ by {found['difference']:.1e}",
        flush=True,
    )
    return found


def measure(quick: bool = False, rows: int = 0) -> dict:
    """Return time per iteration at several sizes, and the ratio at twenty times covtype's."""
    sizes = [rows] if rows else [COVTYPE] if quick else [COVTYPE, 5 * COVTYPE, 20 * COVTYPE]
    table = []
    for size in sizes:
        found = compare(size, 2, 9 if size > 10**6 else 15)
        numbers = [round(1e3 * found[name], 2) for name in ("memory", "cluster", "empty")]
        numbers += [round(found["ratio"], 3), round(found["least"], 3)]
        table.append([size, *numbers, found["tasks"], f"{found['difference']:.1e}"])
    bytes_moved = moved()
    bars = [
        held_to(
            "bytes moved per worker and iteration, beside the length of x",
            bytes_moved / (8 * COLUMNS),
            6.0,
            "<=",
            "vectors",
        )
    ]
    if sizes[-1] >= 20 * COVTYPE * 0.98:
        name = "time per iteration beyond empty tasks, at 20x covtype, beside in memory"
        bars.insert(0, held_to(name, table[-1][4], 1.15, "<="))
    return {
        "title": "Overhead of a cluster: two worker processes against two threads on the same rows",
        "columns": [
            *("rows of 54", "in memory, ms", "cluster, ms", "empty tasks, ms", "(cluster - empty) / memory"),
            *("the same by the fastest of each", "tasks per iteration", "largest relative difference of iterates"),
        ],
        "rows": table,
        "bars": bars,
        "notes": [f"{bytes_moved} bytes of arguments and answer per worker and iteration, whatever the number of rows"],
    }


if __name__ == "__main__":
    command_line(measure, rows=(0, "one size only"))
