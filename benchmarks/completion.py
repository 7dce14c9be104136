"""Matrix completion: the oracle against ARPACK, whole solves against other methods, growth and memory with the entries.

python -m benchmarks.completion [--quick]
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse.linalg import svds
from threadpoolctl import threadpool_limits

import frankwolfe as fw
from benchmarks.completion_peers import RADIUS, certified, copt_style, own_fw, projected_agm, timed
from benchmarks.memory import peak, resident, watch
from benchmarks.report import command_line, held_to
from frankwolfe import datasets
from frankwolfe.kernels.pattern.pattern_matrix import Pattern, PatternMatrix
from frankwolfe.kernels.pattern.pattern_products import fit
from frankwolfe.kernels.spectral.gram_operator import Gram
from frankwolfe.kernels.spectral.krylov import Krylov
from frankwolfe.kernels.spectral.lanczos import top_singular
from frankwolfe.kernels.threads import limited
from frankwolfe.methods.low_rank import factored

OPTIMUM = 0.31822862111
GOAL = 1e-3 * (0.5 - OPTIMUM)  # of the certified gap: a relative 1e-3
WHAT = "MovieLens100K to a certified relative gap of 1e-3"


def movielens() -> fw.MatrixCompletion:
    data = datasets.load("movielens100k")
    return fw.MatrixCompletion(data.rows, data.cols, data.values, data.shape)


def synthetic(entries: int, rank: int = 10) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[int, int]]:
    """Return rows, columns, values and shape: users grow with the entries, items with their root; ML-20M at 2e7.

    Popular items come first; each user has about 145 distinct ones.
    """
    rng = np.random.default_rng(0)
    each, n = 145, int(27_000 * (entries / 2e7) ** 0.5)
    m = entries // each
    place = (np.arange(each) + rng.random((m, each))) / each
    cols = (n * place**1.5).astype(np.int32).ravel()
    rows = np.repeat(np.arange(m, dtype=np.int32), each)
    fresh = np.append(True, (rows[1:] != rows[:-1]) | (cols[1:] != cols[:-1]))
    rows, cols = rows[fresh], cols[fresh]
    U, V = rng.standard_normal((m, rank)), rng.standard_normal((n, rank))
    values = 2 * rng.standard_normal(rows.size)
    for start in range(0, rows.size, 1 << 20):
        part = slice(start, start + (1 << 20))
        values[part] += np.einsum("ij,ij->i", U[rows[part]], V[cols[part]])
    return rows, cols, values / np.linalg.norm(values), (m, n)


def seconds(task: Callable[[], object], clock: Callable[[], float] = time.process_time) -> float:
    """Return what a task takes: by default in CPU seconds, which a busy machine does not stretch."""
    began = clock()
    task()
    return clock() - began


# The oracle


def oracle_calls(f: fw.MatrixCompletion, method: str, steps: int) -> list[tuple[PatternMatrix, float]]:
    """Return the gradients, and the accuracies of the singular value, that a run asks its oracle for."""
    calls: list[tuple[PatternMatrix, float]] = []
    ask = fw.NuclearBall.minimise

    def listen(self: fw.NuclearBall, g: PatternMatrix, accuracy: float, rng: np.random.Generator) -> object:
        calls.append((g, accuracy / self.radius))
        return ask(self, g, accuracy, rng)

    fw.NuclearBall.minimise = listen  # pyright: ignore[reportAttributeAccessIssue]
    try:
        fw.minimize(f, fw.NuclearBall(RADIUS), method=method, tol=GOAL, max_iter=steps)
    finally:
        fw.NuclearBall.minimise = ask
    return calls


def against_arpack(calls: list[tuple[PatternMatrix, float]], repeats: int) -> tuple[float, float, float]:
    """Return the seconds of all calls by us and by ARPACK (medians, interleaved), and our worst error over allowed."""
    rng, worst, ours, theirs = np.random.default_rng(0), 0.0, 0.0, 0.0
    for G, accuracy in calls:
        S = G.tocsr()
        truth = float(svds(S, k=1, tol=0, v0=np.ones(min(S.shape)), return_singular_vectors=False)[0])
        taken: list[list[float]] = [[], []]
        for _ in range(repeats):
            began = time.process_time()
            pair = top_singular(G, accuracy, rng)
            taken[0].append(time.process_time() - began)
            worst = max(worst, (truth - pair.sigma) / accuracy)
            start = rng.standard_normal(min(S.shape))
            # Its tolerance is of the eigenvalue, the square: twice that of the singular value.
            taken[1].append(seconds(lambda S=S, t=2 * accuracy / truth, b=start: svds(S, k=1, tol=t, v0=b)))
        ours, theirs = ours + float(np.median(taken[0])), theirs + float(np.median(taken[1]))
    return ours, theirs, worst


# Whole solves


def auto(f: fw.MatrixCompletion, tol: float = GOAL) -> fw.Result:
    """Solve by default; the gap is certified here once more, by ARPACK."""
    result = fw.minimize(f, fw.NuclearBall(RADIUS), tol=tol, n_threads=1)
    assert result.success
    assert result.failure_probability == 0.0
    assert result.fun - OPTIMUM <= tol
    return result


def checked(f: fw.MatrixCompletion, result: fw.Result) -> float:
    """Return the Frank-Wolfe gap of a result, from its matrix alone, and check its value and its nuclear norm."""
    x = result.x
    inside = f.pattern.entries(np.array(x.left).T, np.asarray(x.weights), np.array(x.right).T).values
    slope = inside - f.values
    assert abs(0.5 * float(slope @ slope) - result.fun) <= 1e-12
    assert np.linalg.svd(result.x.toarray(), compute_uv=False).sum() <= RADIUS * (1 + 1e-9)
    return certified(f, slope, float(slope @ inside))[0]


def against_peers(f: fw.MatrixCompletion, quick: bool) -> tuple[list, list[dict], list[str], dict]:
    """Return rows, bars, notes and a curve: our time, and the peers' until they arrive or the bar is decided."""
    taken = [seconds(lambda: auto(f)) for _ in range(2 if quick else 5)]
    ours, result = float(np.median(taken)), auto(f)
    spread = f"{min(taken):.2f} to {max(taken):.2f} s"
    rows: list = [[WHAT, f"auto, rank {result.x.stored} ({spread})", 1e3 * ours, 1.0]]
    series = {"auto": [list(p) for p in zip(result.trace.time, result.trace.gap, strict=True)]}
    bars, notes = [], [f"gap of auto's answer, from its matrix by ARPACK: {checked(f, result):.2g} (goal {GOAL:.2g})"]
    peers = {
        "plain FW of this library": (own_fw, 50.0),
        "FW after copt, plain SciPy": (copt_style, 50.0),
        "projected AGM, full SVD": (projected_agm, 10.0),
    }
    for name, (peer, wanted) in peers.items():
        curve = timed(peer(f), GOAL, 1.5 if quick else 1.03 * wanted * ours)
        theirs, gap = curve[-1]
        series[name] = [list(curve[i]) for i in np.unique(np.geomspace(1, len(curve), 60).astype(int) - 1)]
        how = "" if gap <= GOAL else f", still at a gap of {gap:.2g} after {theirs:.0f} s"
        rows.append(["", name + how, 1e3 * theirs, theirs / ours])
        if gap <= GOAL or not quick:
            least = "" if gap <= GOAL else " (a lower bound: stopped there)"
            bars.append(held_to(f"auto against {name}{least}, {WHAT}", theirs / ours, wanted))
    curve = {"title": WHAT, "x": "CPU seconds", "y": "gap", "series": series}
    return rows, bars, notes, curve


# Size


def cost(entries: int, repeats: int) -> tuple[int, float]:
    """Return the entries, and seconds for twenty Lanczos steps and one evaluation with its gradient at rank 16."""
    f = fw.MatrixCompletion(*synthetic(entries))
    rng = np.random.default_rng(0)
    U, V = (rng.standard_normal((side, 16)) for side in f.pattern.shape)
    G = f.dual(f.values)

    def work() -> None:
        fit(f.pattern, f.values, None, U, V)
        Krylov(Gram(G, rng, accuracy=1.0), rng, 21).grow(20)

    work()
    return f.pattern.size, min(seconds(work) for _ in range(repeats))


CHILD = """
import json, sys
from benchmarks.completion import large
json.dump(large(int(sys.argv[1]), int(sys.argv[2])), sys.stdout)
"""


def large(entries: int, steps: int) -> dict[str, float]:
    """Solve a large synthetic problem for a few steps, and say what it took."""
    rows, cols, values, shape = synthetic(min(entries, 10**6))
    small = fw.MatrixCompletion(rows, cols, values, shape)
    fw.minimize(small, fw.NuclearBall(RADIUS), tol=0.0, max_iter=2)  # load and compile
    del small, rows, cols, values
    before = resident()
    rows, cols, values, shape = synthetic(entries)
    f = fw.MatrixCompletion(rows, cols, values, shape)
    data = rows.nbytes + cols.nbytes + values.nbytes  # as given; once more as ordered
    ranks = [16]

    def listen(pattern: Pattern, target: Any, weights: Any, U: np.ndarray, V: np.ndarray) -> Any:
        ranks.append(U.shape[1])
        return fit(pattern, target, weights, U, V)

    factored.fit = listen
    watch()
    began = time.process_time()
    result = fw.minimize(f, fw.NuclearBall(RADIUS), tol=0.0, max_iter=steps)
    taken = time.process_time() - began
    # Entries of x, of the best point and of the mixture, three tangents; factors, L-BFGS, SVDs.
    state = 6 * values.nbytes + 8 * (2 * 5 + 6) * sum(shape) * max(ranks)
    return {
        "entries": values.size, "seconds": taken, "steps": result.n_iter, "rank": max(ranks),
        "relative": result.gap / (0.5 - result.lower_bound), "peak": peak() - before, "allowed": 2 * data + state,
    }  # fmt: skip


def oracle(
    f: fw.MatrixCompletion, data: str, steps: dict[str, int], most: int, repeats: int
) -> tuple[list, list, list]:
    """Return rows, bars and notes on the oracle calls of some methods."""
    rows, bars, notes = [], [], []
    for method, count in steps.items():
        calls = oracle_calls(f, method, count)
        calls = calls[:: max(1, len(calls) // most)]
        ours, theirs, worst = against_arpack(calls, repeats)
        rows.append([f"top singular pair, {data}, {len(calls)} calls of {method!r}", "ours", 1e3 * ours, 1.0])
        rows.append(["", "ARPACK (svds)", 1e3 * theirs, theirs / ours])
        rng, G = np.random.default_rng(0), calls[0][0]
        taken = sum(top_singular(G, accuracy, rng).steps for G, accuracy in calls)
        spaces = [Krylov(Gram(G, rng, accuracy=1e9), rng, 21) for _ in range(3)]
        once = min(seconds(lambda space=space: space.grow(20)) for space in spaces) / 20
        notes.append(
            f"{data}, oracle of {method!r}: worst error {worst:.2g} of the allowed one; {taken} steps of "
            f"{1e6 * once:.0f} us, {1e9 * once / G.nnz:.2g} ns an entry, make {taken * once / ours:.0%} of the time"
        )
        bars.append(held_to(f"top singular pair against ARPACK, calls of {method!r}, {data}", theirs / ours, 3.0))
    return rows, bars, notes


def measure(quick: bool) -> dict:
    with threadpool_limits(limits=1), limited(1):
        return _measure(quick)


def _measure(quick: bool) -> dict:
    f = movielens()
    auto(f)  # load and compile
    rows, bars, notes = oracle(f, "MovieLens100K", {"factored": 60, "fw": 60, "afw": 60}, 12, 2 if quick else 9)
    size = 500_000 if quick else 5_000_000
    more = oracle(fw.MatrixCompletion(*synthetic(size)), f"{size:.0e} entries", {"factored": 4, "afw": 6}, 3, 3)
    solves = against_peers(f, quick)
    rows, bars, notes = ([*a, *b, *c] for a, b, c in zip((rows, bars, notes), more, solves[:3], strict=True))
    if not quick:
        tight = float(np.median([seconds(lambda: auto(f, 1e-6)) for _ in range(3)]))
        rows.append(["MovieLens100K to a certified gap of 1e-6", "auto", 1e3 * tight, 1.0])

    sizes = [200_000, 700_000, 2_500_000] if quick else [200_000, 632_000, 2_000_000, 6_320_000, 20_000_000]
    points = [cost(size, 9 if size < 3_000_000 else 3) for size in sizes]
    exponent = float(np.polyfit(*np.log(np.array(points)).T, 1)[0])
    for entries, taken in points:
        rows.append([f"one evaluation, 20 Lanczos steps: {entries:,} entries", "", 1e3 * taken, taken / points[0][1]])
    decades = np.log10(points[-1][0] / points[0][0])
    bars.append(held_to(f"growth with the observed entries over {decades:.1f} decades", exponent, 1.1, "<=", ""))

    command = [sys.executable, "-c", CHILD, str(sizes[-1]), "2" if quick else "4"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parent.parent)
    got = json.loads(done.stdout)
    by = f"auto, rank up to {got['rank']}, all cores"
    rows.append([f"{got['entries']:,} entries, {got['steps']} steps", by, 1e3 * got["seconds"], 1.0])
    bars.append(held_to("peak memory over data and state, largest size", got["peak"] / got["allowed"], 1.3, "<="))
    notes += [
        f"largest size: peak {got['peak'] / 1e9:.2f} GB over data and state {got['allowed'] / 1e9:.2f} GB; certified "
        f"relative gap {got['relative']:.2g} after {got['steps']} steps",
        "data: rows, columns, values as given and as ordered; state: six numbers an entry, 16 arrays of (m + n) rank",
        "CPU seconds on one thread throughout, medians of interleaved repeats. A peer that runs out of time is stopped "
        "where the bar is decided and its ratio is a lower bound, never an extrapolation; the short form stops it soon "
        "and then decides nothing",
    ]
    growth = {f"measured, exponent {exponent:.2f}": [list(p) for p in points]}
    curves = [solves[3], {"title": "Matrix completion", "x": "observed entries", "y": "seconds", "series": growth}]
    return {
        "title": "Matrix completion", "columns": ["task", "by", "ms", "ratio"], "rows": rows, "bars": bars,
        "curves": curves, "notes": notes,
    }  # fmt: skip


if __name__ == "__main__":
    command_line(measure)
