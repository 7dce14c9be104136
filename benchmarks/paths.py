"""Bar 5: a path of 32 radii on dense data against separate solves, to the same certified gaps.

    python -m benchmarks.paths [--quick]

Logistic regression over l2 balls, on dense data: rows of covtype (real ones where FRANKWOLFE_DATA has them) and data of
the shape of mnist (synthetic doubles). `together` is accelerated Frank-Wolfe for all radii at once, against the same
method alone for each radius; `auto` is what `fw.path` does by default, against the same separate solves and its own.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

import frankwolfe as fw
from benchmarks.report import command_line, held_to
from frankwolfe.path import Path

RADII = 32


def covtype(n: int) -> tuple[str, np.ndarray, np.ndarray]:
    """Return rows of covtype as a dense array, or as many of its shape where the data are not here."""
    if os.environ.get("FRANKWOLFE_DATA"):
        from frankwolfe.datasets import load

        data = load("covtype")
        A = np.asarray(data.A[:n].toarray())
        return "covtype", np.ascontiguousarray(A / np.maximum(np.abs(A).max(axis=0), 1e-12)), np.asarray(data.b)[:n]
    return "covtype's shape", *synthetic(n, 54)


def synthetic(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows with correlated columns, and noisy labels."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((n, d)) / np.sqrt(1 + np.arange(d) / 8)
    return A, np.sign(A @ rng.standard_normal(d) + 2 * rng.standard_normal(n))


def rivals(f: fw.Logistic, radii: np.ndarray, tol: float) -> dict[str, Callable[[], Any]]:
    """Return the ways to solve the path, by name."""
    return {
        "together": lambda: fw.path(f, fw.L2Ball, radii, method="afw", tol=tol, trace_every=10),
        "auto": lambda: fw.path(f, fw.L2Ball, radii, tol=tol),
        "separate auto": lambda: [fw.minimize(f, fw.L2Ball(r), tol=tol) for r in radii],
        "separate afw": lambda: [fw.minimize(f, fw.L2Ball(r), method="afw", tol=tol, trace_every=10) for r in radii],
    }


def measure(quick: bool) -> dict[str, Any]:
    """Return the table and the bars."""
    repeats = 1 if quick else 3
    problems = [  # larger than any cache: there, reading is what a solve alone waits for
        (*covtype(200_000 if quick else 1_000_000), 8.0),
        ("mnist's shape", *synthetic(20_000 if quick else 60_000, 784), 2.0),
    ]
    rows, ratios = [], {"together": [], "auto": [], "own": []}
    for name, A, b, largest in problems:
        f = fw.Logistic(A, b)
        radii, tol = np.geomspace(largest / 30, largest, RADII), 3e-3
        ways = rivals(f, radii[:2], 0.1)
        for way in ways.values():
            way()  # compiles, and computes what the objective remembers
        ways = rivals(f, radii, tol)
        times: dict[str, list[float]] = {way: [] for way in ways}
        for _ in range(repeats):
            for way, solve in ways.items():
                began = perf_counter()
                results = solve()
                times[way].append(perf_counter() - began)
                if not all(r.success and r.gap <= tol for r in results):
                    raise RuntimeError(f"{way} did not reach a certified gap of {tol} for every radius on {name}")
                passes = results.n_pass if isinstance(results, Path) else sum(r.n_pass for r in results)
                steps = sum(r.n_iter for r in results)
                if len(times[way]) == repeats:
                    seconds = statistics.median(times[way])
                    spread = f"{min(times[way]):.2f} to {max(times[way]):.2f}"
                    rows.append([f"{name} {A.shape[0]} x {A.shape[1]}", way, seconds, spread, float(passes), steps])
        middle = {way: statistics.median(each) for way, each in times.items()}
        ratios["together"].append(middle["separate afw"] / middle["together"])
        ratios["auto"].append(middle["separate afw"] / middle["auto"])
        ratios["own"].append(middle["separate auto"] / middle["auto"])
    in_step = ", ".join(
        f"{ratio:.2g}x on {problem[0]}" for ratio, problem in zip(ratios["together"], problems, strict=True)
    )
    return {
        "title": f"Regularisation paths: {RADII} radii on dense data, logistic loss, l2 balls",
        "columns": ["data", "how", "seconds", "spread", "passes over the data", "steps"],
        "rows": rows,
        "bars": [held_to("fw.path over 32 radii, ahead of separate AFW", min(ratios["auto"]), 2.0)],
        "notes": [
            f"the least of {len(problems)} data sets counts; every radius to a certified gap of 0.003",
            f"all radii in step with AFW itself: {in_step} ahead of separate AFW",
            f"a path by default is {min(ratios['own']):.2g}x ahead of separate solves by default",
        ],
    }


if __name__ == "__main__":
    command_line(measure)
