"""Cost against the size of the data: seconds for one iteration as rows, columns, nonzeros, entries and rank grow.

python -m benchmarks.scaling [--quick]
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np
import scipy.sparse as sp

import frankwolfe as fw
from benchmarks.report import command_line

STEPS = 12


def dense(n: int, d: int) -> fw.Result:
    """Solve logistic regression on dense data by AFW, a few steps."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((n, d))
    f = fw.Logistic(A, A[:, 0] + rng.standard_normal(n) > 0)
    return fw.minimize(f, fw.L2Ball(10.0), method="afw", tol=0.0, max_iter=STEPS)


def sparse(n: int, d: int, per_row: int) -> fw.Result:
    """The same on sparse rows."""
    rng = np.random.default_rng(0)
    indices = rng.integers(0, d, size=n * per_row, dtype=np.int32)
    A = sp.csr_array((rng.random(n * per_row), indices, np.arange(0, n * per_row + 1, per_row)), shape=(n, d))
    A.sum_duplicates()
    f = fw.Logistic(A, rng.random(n) > 0.5)
    return fw.minimize(f, fw.L2Ball(10.0), method="afw", tol=0.0, max_iter=STEPS)


def completion(entries: int, rank: int = 5) -> fw.Result:
    """Complete a matrix whose rows and columns have a hundred entries each on average, by Frank-Wolfe."""
    rng = np.random.default_rng(0)
    m = n = max(20, entries // 100)
    places = np.unique(rng.integers(0, m * n, size=entries))
    rows, cols = np.divmod(places, n)
    U, V = rng.standard_normal((m, rank)), rng.standard_normal((n, rank))
    values = np.einsum("ij,ij->i", U[rows], V[cols]) + rng.standard_normal(len(rows))
    f = fw.MatrixCompletion(rows, cols, values / np.linalg.norm(values), (m, n))
    return fw.minimize(f, fw.NuclearBall(1.0), method="fw", tol=0.0, max_iter=STEPS)


def per_step(result: fw.Result) -> float:
    """Return the median seconds of a step, the first ones (set-up, compilation) left out."""
    return float(np.median(np.diff(np.asarray(result.trace["time"]))[2:]))


def fitted(sizes: Iterable[float], seconds: Iterable[float]) -> float:
    """Return the exponent of the power law through the measurements.

    Examples
    --------
    >>> round(fitted([1, 10, 100], [2, 20, 200]), 6)
    1.0
    """
    return float(np.polyfit(np.log(list(sizes)), np.log(list(seconds)), 1)[0])


def sweep(solve: Callable[[int], fw.Result], sizes: list[int], repeats: int) -> list[float]:
    """Return seconds a step for each size; sizes take turns, so that a busy moment hurts all alike."""
    solve(sizes[0])
    taken = [[per_step(solve(size)) for size in sizes] for _ in range(repeats)]
    return [float(np.median(column)) for column in zip(*taken, strict=True)]


def measure(quick: bool) -> dict:
    decades = 2
    top = 6 if quick else 7  # the largest size, as a power of ten
    ladder = [round(10 ** (top - decades + i * decades / 4)) for i in range(5)]
    repeats = 1 if quick else 3
    cases: dict[str, tuple[Callable[[int], fw.Result], list[int], str]] = {
        "Logistic, sparse rows": (lambda size: sparse(size // 20, 2000, 20), ladder, "nonzeros"),
        "Logistic, dense rows": (lambda size: dense(size // 50, 50), ladder, "numbers, as rows grow"),
        "Logistic, dense columns": (lambda size: dense(2000, size // 2000), ladder, "numbers, as columns grow"),
        "MatrixCompletion": (completion, ladder, "observed entries"),
        "MatrixCompletion, rank": (lambda rank: completion(10 ** (top - 1), rank), [2, 8, 32], "rank of the truth"),
    }
    rows, bars, curves = [], [], []
    for name, (solve, sizes, what) in cases.items():
        seconds = sweep(solve, sizes, repeats)
        exponent = fitted(sizes, seconds)
        rows.append([name, what, sizes[0], sizes[-1], 1e3 * seconds[0], 1e3 * seconds[-1], exponent])
        points = [list(pair) for pair in zip(sizes, seconds, strict=True)]
        series = {f"measured, exponent {exponent:.2f}": points}
        curves.append({"title": name, "x": what, "y": "seconds a step", "series": series})
        if what in ("nonzeros", "observed entries"):
            title = f"growth with the {what} over {math.log10(sizes[-1] / sizes[0]):.0f} decades, {name}"
            bars.append({"name": title, "value": exponent, "bar": 1.1, "sense": "<=", "unit": ""})
    return {
        "title": "Scaling: cost against size",
        "columns": ["problem", "size is", "from", "to", "ms a step, first", "ms a step, last", "exponent"],
        "rows": rows,
        "bars": bars,
        "curves": curves,
        "notes": [
            "AFW on the l2 ball for Logistic, FW on the nuclear ball for MatrixCompletion; median step of twelve."
        ],
    }


if __name__ == "__main__":
    command_line(measure)
