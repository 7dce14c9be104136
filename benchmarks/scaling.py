"""Cost against the size of the data: seconds for one iteration as rows, columns, nonzeros, entries and rank grow.

python -m benchmarks.scaling [--quick]
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from time import perf_counter

import numpy as np
import scipy.sparse as sp

import frankwolfe as fw
from benchmarks.report import command_line, held_to
from frankwolfe.kernels.pattern.pattern_products import fit

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


def ratings(entries: int) -> fw.MatrixCompletion:
    """Return a matrix of rank five and noise, whose rows and columns have a hundred entries each on average."""
    rng = np.random.default_rng(0)
    m = n = max(20, entries // 100)
    places = np.unique(rng.integers(0, m * n, size=entries))
    rows, cols = np.divmod(places, n)
    U, V = rng.standard_normal((m, 5)), rng.standard_normal((n, 5))
    values = np.einsum("ij,ij->i", U[rows], V[cols]) + rng.standard_normal(len(rows))
    return fw.MatrixCompletion(rows, cols, values / np.linalg.norm(values), (m, n))


def completion(entries: int) -> fw.Result:
    """Complete it by Frank-Wolfe."""
    return fw.minimize(ratings(entries), fw.NuclearBall(1.0), method="fw", tol=0.0, max_iter=STEPS)


def correction(f: fw.MatrixCompletion, rank: int) -> float:
    """Return the seconds of one evaluation of the factors, with its gradient: what corrective steps are made of."""
    rng = np.random.default_rng(0)
    U, V = (rng.standard_normal((side, rank)) for side in f.pattern.shape)
    taken = []
    for _ in range(4):
        began = perf_counter()
        fit(f.pattern, f.values, None, U, V)
        taken.append(perf_counter() - began)
    return float(np.median(taken[1:]))


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


def sweep(step: Callable[[int], float], sizes: list[int], repeats: int) -> list[float]:
    """Return seconds a step for each size; sizes take turns, so that a busy moment hurts all alike."""
    step(sizes[0])
    taken = [[step(size) for size in sizes] for _ in range(repeats)]
    return [float(np.median(column)) for column in zip(*taken, strict=True)]


def measure(quick: bool) -> dict:
    decades = 2
    top = 6 if quick else 7  # the largest size, as a power of ten
    ladder = [round(10 ** (top - decades + i * decades / 4)) for i in range(5)]
    repeats = 1 if quick else 3
    some = ratings(10 ** (top - 1))
    cases: dict[str, tuple[Callable[[int], float], list[int], str]] = {
        "Logistic, sparse rows": (lambda size: per_step(sparse(size // 20, 2000, 20)), ladder, "nonzeros"),
        "Logistic, dense rows": (lambda size: per_step(dense(size // 50, 50)), ladder, "numbers, as rows grow"),
        "Logistic, dense columns": (lambda d: per_step(dense(2000, d // 2000)), ladder, "numbers, as columns grow"),
        "MatrixCompletion": (lambda size: per_step(completion(size)), ladder, "observed entries"),
        "MatrixCompletion, rank": (lambda rank: correction(some, rank), [4, 8, 16, 32, 64, 128], "rank"),
    }
    rows, bars, curves = [], [], []
    for name, (step, sizes, what) in cases.items():
        seconds = sweep(step, sizes, repeats)
        exponent = fitted(sizes, seconds)
        rows.append([name, what, sizes[0], sizes[-1], 1e3 * seconds[0], 1e3 * seconds[-1], exponent])
        points = [list(pair) for pair in zip(sizes, seconds, strict=True)]
        series = {f"measured, exponent {exponent:.2f}": points}
        curves.append({"title": name, "x": what, "y": "seconds a step", "series": series})
        if what in ("nonzeros", "observed entries"):
            title = f"growth with the {what} over {math.log10(sizes[-1] / sizes[0]):.0f} decades, {name}"
            bars.append(held_to(title, exponent, 1.1, "<=", ""))
    return {
        "title": "Scaling: cost against size",
        "columns": ["problem", "size is", "from", "to", "ms a step, first", "ms a step, last", "exponent"],
        "rows": rows,
        "bars": bars,
        "curves": curves,
        "notes": [
            "AFW on the l2 ball for Logistic, FW on the nuclear ball for MatrixCompletion; median step of twelve.",
            f"the rank: one evaluation of the factors with its gradient, {some.pattern.size:,} observed entries",
        ],
    }


if __name__ == "__main__":
    command_line(measure)
