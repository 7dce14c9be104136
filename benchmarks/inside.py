"""How much of a solve's CPU time is inside compiled passes over the data, and what a solve of 1,000 x 20 takes.

    python -m benchmarks inside

The rest is Python, small linear algebra, validation and the loop. Problems of 10^5 to 10^6 stored numbers, one thread,
to a certified relative 1e-6. The time inside is that of the kernels and of matrix products with the data, as a profiler
on CPU time sees them, beside the CPU time of the same solve without a profiler.
"""

from __future__ import annotations

import cProfile
import pstats
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import frankwolfe as fw
from benchmarks.report import command_line, held_to
from benchmarks.unseen_cases import data
from frankwolfe.datasets import DatasetError

DATA = ("a9a", "w8a", "reuters", "duplicated", "wide text", "sparse truth", "separable", "few dense")
PASSES = ("/kernels/rows/", "/kernels/losses.py", "/kernels/qp/coordinate_descent_loops.py")  # files of kernels
OTHERS = ("(total)", "(double)", "(scaled)", "(evenly)", "(__init__)", "(<lambda>)", "(cuts)", "(read)")  # no kernels
REPEATS = 5


def _dense() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    A = rng.standard_normal((15_000, 40))
    return A, np.sign(A @ rng.standard_normal(40) + rng.standard_normal(15_000))


def inside(solve: Callable[[], Any]) -> tuple[float, float]:
    """Return the CPU seconds of a solve, and those inside passes over the data."""
    solve()
    whole = passes = np.inf
    for _ in range(REPEATS):
        began = time.process_time()
        solve()
        whole = min(whole, time.process_time() - began)
        profile = cProfile.Profile(time.process_time)
        profile.runcall(solve)
        rows = pstats.Stats(profile).stats.items()  # type: ignore[attr-defined]
        own = sum(t[2] for (file, _, name), t in rows if _is_pass(file, name))
        passes = min(passes, own)
    return whole, passes


def _is_pass(file: str, name: str) -> bool:
    if file.endswith("kernels/rows/layouts.py"):
        return name == "multiply"  # BLAS, on the data
    compiled = any(part in file for part in PASSES) and not file.endswith(("column_layouts.py", "compact_storage.py"))
    return compiled and not any(f"({name})" == other for other in OTHERS)


def problems() -> list[tuple[str, Any, Any]]:
    found = []
    for name in DATA:
        try:
            A, b = _dense() if name == "few dense" else data(name)
        except DatasetError:
            continue
        count = getattr(A, "nnz", A.size)
        for loss in (fw.Logistic, fw.LeastSquares):
            for kind, domain in (("l2", fw.L2Ball(3.0)), ("l1", fw.L1Ball(10.0))):
                for intercept in (False, True):
                    title = f"{name} ({count:,}), {loss.__name__} {kind}{' intercept' if intercept else ''}"
                    found.append((title, lambda A=A, b=b, m=loss, i=intercept: m(A, b, intercept=i), domain))
    return found


def small() -> list[tuple[str, Any, Any]]:
    rng = np.random.default_rng(1)
    A = rng.standard_normal((1000, 20))
    y = A @ rng.standard_normal(20) + 2 * rng.standard_normal(1000)
    sets = {"l2": fw.L2Ball(2.0), "l1": fw.L1Ball(3.0), "simplex": fw.Simplex(20, radius=2.0), "box": fw.Box(-0.3, 0.3)}
    losses = {"squares": (fw.LeastSquares, y), "logistic": (fw.Logistic, y > 0)}
    return [
        (f"1,000 x 20, {loss} {kind}{' intercept' if i else ''}", lambda m=m, t=t, i=i: m(A, t, intercept=i), domain)
        for loss, (m, t) in losses.items()
        for kind, domain in sets.items()
        for i in (False, True)
    ]


def measure(quick: bool) -> dict[str, Any]:
    """Measure the share of passes on problems of some size, and the milliseconds of small ones."""
    from threadpoolctl import threadpool_limits

    rows, shares, worst = [], [], 0.0
    with threadpool_limits(1):
        for title, model, domain in [*problems()[:: 4 if quick else 1], *small()]:
            whole, passes = inside(
                lambda f=model, d=domain: fw.minimize(f(), d, rtol=1e-6, n_threads=1, progress=False)
            )
            rows.append([title, 1e3 * whole, 1e3 * passes, passes / whole])
            if title.startswith("1,000"):
                worst = max(worst, 1e3 * whole)
            else:
                shares.append(passes / whole)
    return {
        "title": "CPU time of a solve, and the share of it inside compiled passes over the data",
        "columns": ["problem", "solve ms", "passes ms", "share"],
        "rows": sorted(rows, key=lambda row: row[3]),
        "bars": [
            held_to("2: share inside passes, median", float(np.median(shares)), 0.6, unit=""),
            held_to("2: share inside passes, least", min(shares), 0.6, unit=""),
            held_to("2: a solve of 1,000 x 20, slowest", worst, 3.0, "<=", "ms"),
        ],
    }


if __name__ == "__main__":
    command_line(measure)
