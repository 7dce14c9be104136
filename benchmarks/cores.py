"""What more cores bring: seconds on one thread over seconds on several, and a tall table beside scikit-learn.

python -m benchmarks.cores [--quick]

Every solve is timed on one thread and on as many as there are, up to sixteen, one right after the other; peers get as
many BLAS threads. Wall-clock seconds: run it on a machine that has the cores to itself.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

import frankwolfe as fw
from benchmarks.report import command_line, held_to
from frankwolfe.estimators import FrankWolfeClassifierCV

STEPS = 40  # of one method, for the seconds of an iteration
RTOL = 1e-6
REPEATS = 3
Task = Callable[[int], Any]  # of a number of threads


def measure(quick: bool = False) -> dict:
    """Time every task on 1, 2, 4, ... threads."""
    counts = [k for k in (1, 2, 4, 8, 16) if k <= len(os.sched_getaffinity(0))]
    rows, gains = [], {}
    for name, task in tasks(quick).items():
        task(counts[-1])  # compiled, and the data where they stay
        times = np.array([[seconds(task, k) for k in counts] for _ in range(REPEATS)])
        gains[name] = dict(zip(counts, np.median(times[:, :1] / times, axis=0).tolist(), strict=True))
        rows.append([name, float(np.median(times[:, 0])), *gains[name].values()])
    bars = [
        held_to(f"{name}, 8 threads over one", gains[name][8], 5.0)
        for name in ("dense iteration", "sparse iteration")
        if 8 in counts
    ]
    lead, notes = against_sklearn(counts[-1], quick)
    bars.append(held_to("auto, tall dense, ahead of scikit-learn", lead, 2.0))
    columns = ["task", "seconds, 1 thread", *(f"{k} threads" for k in counts)]
    return {"title": "Cores: gain over one thread", "columns": columns, "rows": rows, "bars": bars, "notes": notes}


def seconds(task: Task, threads: int) -> float:
    began = time.perf_counter()
    with threadpool_limits(threads):
        task(threads)
    return time.perf_counter() - began


def tasks(quick: bool) -> dict[str, Task]:
    scale = 10 if quick else 1
    dense, labels = table(500_000 // scale, 100)
    rows, marks = text(300_000 // scale, 50_000 // scale, 60)
    middle, answers = table(50_000 // scale, 300)

    def solve(f: fw.Logistic, domain: fw.Set, threads: int, **options: Any) -> fw.Result:
        return fw.minimize(f, domain, n_threads=threads, progress=False, **{"rtol": RTOL, **options})

    steps = {"method": "afw", "tol": 0.0, "max_iter": STEPS}
    tall, wide, square = fw.Logistic(dense, labels), fw.Logistic(rows, marks), fw.Logistic(middle, answers)
    return {
        "dense iteration": partial(solve, tall, fw.L2Ball(1.0), **steps),
        "sparse iteration": partial(solve, wide, fw.L2Ball(10.0), **steps),
        "auto, 500,000 x 100, l2": partial(solve, tall, fw.L2Ball(1.0)),
        "auto, 50,000 x 300, l2": partial(solve, square, fw.L2Ball(1.0)),
        "auto, 50,000 x 300, l1": partial(solve, square, fw.L1Ball(2.0)),
        "auto, 300,000 x 50,000 sparse, l2": partial(solve, wide, fw.L2Ball(10.0)),
        "auto, 300,000 x 50,000 sparse, l1": partial(solve, wide, fw.L1Ball(10.0)),
        "cross-validation, 20,000 x 100, l2": partial(cross_validated, dense[:20_000], labels[:20_000]),
    }


def table(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    A = rng.standard_normal((n, d))
    return A, A @ rng.standard_normal(d) / d**0.5 + rng.standard_normal(n) > 0


def text(n: int, d: int, per_row: int) -> tuple[sp.csr_array, np.ndarray]:
    """Return rows whose columns are as words: a few frequent, most rare."""
    rng = np.random.default_rng(0)
    columns = np.minimum((d * rng.random(n * per_row) ** 3).astype(np.int32), d - 1)
    A = sp.csr_array((rng.random(n * per_row) + 0.1, columns, np.arange(0, n * per_row + 1, per_row)), shape=(n, d))
    A.sum_duplicates()
    return A, A @ rng.standard_normal(d) + rng.standard_normal(n) > 0


def cross_validated(A: np.ndarray, labels: np.ndarray, threads: int) -> Any:
    return FrankWolfeClassifierCV("l2", n_jobs=threads).fit(A, labels)


def against_sklearn(threads: int, quick: bool) -> tuple[float, list[str]]:
    """Return how far ahead of scikit-learn's fastest solver we are to the same accuracy, on a tall table."""
    from sklearn.linear_model import LogisticRegression

    A, labels = table(500_000 // (10 if quick else 1), 100)
    C, f = 1e-3, fw.Logistic(A, labels)
    model = partial(LogisticRegression, C=C, fit_intercept=False, max_iter=1000)
    with threadpool_limits(threads):
        norm = float(np.linalg.norm(model(solver="newton-cholesky", tol=1e-12).fit(A, labels).coef_))
    domain = fw.L2Ball(norm)
    best = fw.minimize(f, domain, rtol=1e-10, progress=False)
    ours = min(
        seconds(lambda k: fw.minimize(f, domain, rtol=RTOL, n_threads=k, progress=False), threads)
        for _ in range(REPEATS)
    )
    peers = {}
    for solver in ("lbfgs", "newton-cg", "newton-cholesky"):
        for tol in (1e-2, 1e-3, 1e-4, 1e-5):  # the loosest that reaches it, in hindsight
            fitted: list[np.ndarray] = []
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                fit = lambda _: fitted.append(model(solver=solver, tol=tol).fit(A, labels).coef_[0])  # noqa: E731, B023
                peers[solver] = min(seconds(fit, threads) for _ in range(REPEATS))
            if penalised(f, fitted[-1], C) <= penalised(f, best.x, C) * (1 + RTOL):
                break
    lead = min(peers.values()) / ours
    words = ", ".join(f"{name} {value:.2f} s" for name, value in peers.items())
    return lead, [f"{len(labels):,} x 100 on {threads} threads: ours {ours:.2f} s, {words}"]


def penalised(f: fw.Logistic, x: np.ndarray, C: float) -> float:
    return float(f.value(x)) + float(x @ x) / (2 * C * f.data_shape[0])


if __name__ == "__main__":
    command_line(measure)
