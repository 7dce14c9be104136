"""Matrix completion: the oracle against ARPACK, whole solves against other methods, growth and memory with the entries.

python -m benchmarks.completion [--quick]
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy.sparse.linalg import svds
from threadpoolctl import threadpool_limits

import frankwolfe as fw
from benchmarks.memory import peak, resident, watch
from benchmarks.report import command_line
from frankwolfe import datasets
from frankwolfe.kernels.lanczos import top_singular
from frankwolfe.kernels.pattern import PatternMatrix
from frankwolfe.kernels.pattern_products import fit
from frankwolfe.kernels.threads import limited
from frankwolfe.problem import Problem

RADIUS, OPTIMUM = 2.5, 0.31822862111
GOAL = 1e-3 * (0.5 - OPTIMUM)  # of the certified gap: a relative 1e-3
Peer = Iterator[float]  # yields certified gaps, one an iteration


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


def certified(f: fw.MatrixCompletion, slope: np.ndarray, inner: float) -> tuple[float, np.ndarray, np.ndarray]:
    """Return the Frank-Wolfe gap and the top singular vectors of a gradient, by ARPACK."""
    u, s, vt = svds(f.dual(slope).tocsr(), k=1, v0=np.ones(min(f.pattern.shape)))
    return inner + RADIUS * float(s[0]), u[:, 0], vt[0]


def copt_style(f: fw.MatrixCompletion) -> Peer:
    """Frank-Wolfe as copt does it: a dense iterate, the vertex from `svds`, its backtracking on the smoothness.

    A plain rewriting (copt itself does not install here), with a sparse gradient, which is kind to it.
    """
    rows, cols, X = f.pattern.rows, f.pattern.cols, np.zeros(f.pattern.shape)
    L, before = 1.0, None
    while True:
        slope = X[rows, cols] - f.values
        value = 0.5 * float(slope @ slope)
        gap, u, v = certified(f, slope, float(slope @ X[rows, cols]))
        yield gap
        direction = -RADIUS * np.outer(u, v) - X
        along = direction[rows, cols]
        drop, norm2 = -float(slope @ along), float(np.sum(direction * direction))
        if before is not None and before > value:
            L = max(min(drop**2 / (2 * (before - value) * norm2), L), 0.9 * L)
        while True:
            t = min(drop / (norm2 * L), 1.0)
            ahead = slope + t * along
            if 0.5 * float(ahead @ ahead) <= value - t * drop + 0.5 * t * t * L * norm2 + 1e-15:
                break
            L *= 2.0
        X, before = X + t * direction, value


def projected_agm(f: fw.MatrixCompletion) -> Peer:
    """Nesterov's method with the projection by a full SVD, restarted when the value rises."""
    rows, cols, X = f.pattern.rows, f.pattern.cols, np.zeros(f.pattern.shape)
    Y, t, before = X, 1.0, np.inf
    while True:
        slope = Y[rows, cols] - f.values
        step = Y.copy()
        step[rows, cols] -= slope
        U, s, Vt = np.linalg.svd(step, full_matrices=False)
        old, X = X, (U * _on_l1(s)) @ Vt
        inside = X[rows, cols]
        slope = inside - f.values
        value = 0.5 * float(slope @ slope)
        yield certified(f, slope, float(slope @ inside))[0]
        t = 1.0 if value > before else t
        after = (1 + (1 + 4 * t * t) ** 0.5) / 2
        Y, t, before = X + (t - 1) / after * (X - old), after, value


def _on_l1(s: np.ndarray) -> np.ndarray:
    over = (np.cumsum(s) - RADIUS) / np.arange(1, s.size + 1)
    return np.maximum(s - max(0.0, over[np.flatnonzero(s > over)[-1]]), 0.0)


def own_fw(f: fw.MatrixCompletion) -> Peer:
    """Our own plain Frank-Wolfe, step by step: every Frank-Wolfe gap counts as certified, which is kind to it."""
    gaps: list[float] = []
    problem, method = Problem(f, fw.NuclearBall(RADIUS)), fw.FrankWolfe()
    state = method.init(problem, problem.start(None, dense=False))
    while True:
        state, evidence = method.step(problem, state)
        (tangent, vertex), (value, _) = evidence.minorants[0], evidence.seen[0]
        assert vertex is not None
        gaps.append(float(value - tangent.bound(vertex.value, 0.0)))
        yield gaps[-1]


def timed(peer: Peer, limit: float, extrapolate: bool) -> tuple[float, str]:
    """Return the CPU seconds of a peer to the goal; where it runs out of time, what is known and how."""
    began, times, gaps = time.process_time(), [], []
    for gap in peer:
        times.append(time.process_time() - began)
        gaps.append(min(gap, gaps[-1]) if gaps else gap)
        if gap <= GOAL:
            return times[-1], ""
        if times[-1] > limit:
            break
    if not extrapolate:
        return times[-1], ", at least"
    late = np.array(times) >= 0.5 * times[-1]
    slope = np.polyfit(np.log(np.array(times)[late]), np.log(np.array(gaps)[late]), 1)[0]
    return float(times[-1] * (GOAL / gaps[-1]) ** (1 / min(slope, -0.5))), ", extrapolated"


def auto(f: fw.MatrixCompletion, tol: float = GOAL) -> fw.Result:
    result = fw.minimize(f, fw.NuclearBall(RADIUS), tol=tol, n_threads=1)
    assert result.success
    assert result.failure_probability == 0.0
    assert result.fun - OPTIMUM <= tol
    return result


# Size


def cost(entries: int, repeats: int) -> tuple[int, float]:
    """Return the entries, and seconds for twenty Lanczos steps and one evaluation with its gradient at rank 16."""
    rows, cols, values, shape = synthetic(entries)
    f = fw.MatrixCompletion(rows, cols, values, shape)
    rng = np.random.default_rng(0)
    U, V, w = (rng.standard_normal(s) for s in ((shape[0], 16), (shape[1], 16), (shape[1],)))
    G = f.dual(f.values)

    def work() -> None:
        fit(f.pattern, f.values, None, U, V)
        for _ in range(20):
            G.gram_matvec(w)

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
    watch()
    began = time.process_time()
    result = fw.minimize(f, fw.NuclearBall(RADIUS), tol=0.0, max_iter=steps)
    taken = time.process_time() - began
    rank = max(16, result.x.stored)
    state = 3 * values.nbytes + 2 * 8 * (2 * 5 + 6) * sum(shape) * rank  # images and slope; factors, L-BFGS, SVDs
    return {
        "entries": values.size, "seconds": taken, "steps": result.n_iter, "rank": result.x.stored,
        "relative": result.gap / (0.5 - result.lower_bound), "peak": peak() - before, "allowed": 2 * data + state,
    }  # fmt: skip


def measure(quick: bool) -> dict:
    with threadpool_limits(limits=1), limited(1):
        return _measure(quick)


def _measure(quick: bool) -> dict:
    f, rows, bars, notes = movielens(), [], [], []
    auto(f)  # load and compile

    def bar(name: str, value: float, bar: float, sense: str = ">=", unit: str = "x") -> None:
        bars.append({"name": name, "value": value, "bar": bar, "sense": sense, "unit": unit})

    for method, steps in (("factored", 60), ("afw", 60)):
        calls = oracle_calls(f, method, steps)
        calls = calls[:: max(1, len(calls) // 12)]
        ours, theirs, worst = against_arpack(calls, 3 if quick else 7)
        rows.append([f"top singular pair, {len(calls)} calls of {method!r}", "ours", 1e3 * ours, 1.0])
        rows.append(["", "ARPACK (svds)", 1e3 * theirs, theirs / ours])
        G, rng = calls[0][0], np.random.default_rng(0)
        once = seconds(lambda G=G: [G.gram_matvec(np.ones(G.shape[1])) for _ in range(100)]) / 100
        steps = sum(top_singular(G, accuracy, rng).steps for G, accuracy in calls)
        notes.append(
            f"oracle of {method!r}: worst error {worst:.2g} of the allowed one; {steps} products G'Gw of "
            f"{1e6 * once:.0f} us, {1e9 * once / G.nnz:.2g} ns an entry (a gather and a scatter each), make "
            f"{steps * once / ours:.0%} of the time"
        )
        bar(f"top singular pair against ARPACK, calls of {method!r}, MovieLens100K", theirs / ours, 3.0)
    if not quick:
        big = fw.MatrixCompletion(*synthetic(2_000_000))
        calls = oracle_calls(big, "factored", 5)
        ours, theirs, _ = against_arpack(calls, 3)
        rows += [["top singular pair, 2e6 entries", "ours", 1e3 * ours, 1.0]]
        rows += [["", "ARPACK (svds)", 1e3 * theirs, theirs / ours]]
        bar("top singular pair against ARPACK, calls of 'factored', 2e6 entries", theirs / ours, 3.0)
        del big, calls

    taken = [seconds(lambda: auto(f)) for _ in range(3)]
    ours = float(np.median(taken))
    what = "MovieLens100K to a certified relative gap of 1e-3"
    rows.append([what, "auto", 1e3 * ours, 1.0])
    peers = {
        "plain FW of this library": (own_fw, 50.0),
        "FW after copt, plain SciPy": (copt_style, 50.0),
        "projected AGM, full SVD": (projected_agm, 10.0),
    }
    for name, (peer, wanted) in peers.items():
        hurried = quick and wanted > 10
        theirs, how = timed(peer(f), 4.0 if hurried else 1.05 * wanted * ours, hurried)
        rows.append(["", name + how, 1e3 * theirs, theirs / ours])
        bar(f"auto against {name}{how}, {what}", theirs / ours, wanted)
    tight = float(np.median([seconds(lambda: auto(f, 1e-6)) for _ in range(1 if quick else 3)]))
    rows.append(["MovieLens100K to a certified gap of 1e-6", "auto", 1e3 * tight, 1.0])

    sizes = [50_000, 500_000, 5_000_000] if quick else [200_000, 632_000, 2_000_000, 6_320_000, 20_000_000]
    points = [cost(size, 3) for size in sizes]
    exponent = float(np.polyfit(*np.log(np.array(points)).T, 1)[0])
    for (n, s), (N, t) in pairwise(points):
        rows.append([f"one evaluation, 20 Lanczos steps: {n:,} to {N:,} entries", "", 1e3 * t, t / s])
    bar("growth with the observed entries over two decades", exponent, 1.1, "<=", "")

    command = [sys.executable, "-c", CHILD, str(sizes[-1]), "2" if quick else "4"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parent.parent)
    got = json.loads(done.stdout)
    by = f"auto, rank {got['rank']}, all cores"
    rows.append([f"{got['entries']:,} entries, {got['steps']} steps", by, 1e3 * got["seconds"], 1.0])
    bar("peak memory over data and state, largest size", got["peak"] / got["allowed"], 1.3, "<=")
    notes += [
        f"largest size: peak {got['peak'] / 1e9:.2f} GB over data and state {got['allowed'] / 1e9:.2f} GB; certified "
        f"relative gap {got['relative']:.2g} after {got['steps']} steps",
        "data: rows, columns, values as given and as ordered; state: three numbers an entry, 32 arrays of (m + n) rank",
        "CPU seconds on one thread throughout. A peer that runs out of time is stopped where the bar is decided ('at "
        "least'); in the quick form Frank-Wolfe is extrapolated along the power law of its gap, and marked",
    ]
    series = {f"measured, exponent {exponent:.2f}": [list(p) for p in points]}
    return {
        "title": "Matrix completion",
        "columns": ["task", "by", "ms", "ratio"],
        "rows": rows,
        "bars": bars,
        "curves": [{"title": "Matrix completion", "x": "observed entries", "y": "seconds", "series": series}],
        "notes": notes,
    }


if __name__ == "__main__":
    command_line(measure)
