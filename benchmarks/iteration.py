"""One iteration against the floor of memory and against plain NumPy and SciPy: bar 1; threads on a busy machine: bar 6.

python -m benchmarks.iteration [--quick]

The floor is one read of the data, by as many threads, at the speed at which this machine sums an array. The naive
iteration is what one writes in NumPy and SciPy: two products and the loss. All ratios are medians of ratios taken one
right after the other.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from multiprocessing import get_context
from typing import Any

import numpy as np

import frankwolfe as fw
from benchmarks import peers
from benchmarks.report import command_line
from frankwolfe.kernels import threads
from frankwolfe.kernels.layouts import Layout, Loss

THREADS = 2


def ratios(first: Callable[[], Any], second: Callable[[], Any], repeats: int) -> tuple[float, float, float]:
    """Return the median ratio of seconds, first over second, and both medians, from interleaved repeats."""
    first(), second()
    times = np.array([[seconds(first), seconds(second)] for _ in range(repeats)])
    return float(np.median(times[:, 0] / times[:, 1])), *np.median(times, axis=0).tolist()


def seconds(task: Callable[[], Any]) -> float:
    began = time.perf_counter()
    task()
    return time.perf_counter() - began


def floor(A: np.ndarray) -> Callable[[], Any]:
    """Return a task that reads an array once and does next to nothing else, on all threads."""
    import numba

    @numba.njit(nogil=True, fastmath=True)
    def read(words: np.ndarray, first: int, last: int) -> int:
        total = 0
        for i in range(first, last):
            total += words[i]
        return total

    words = A.reshape(-1).view(np.int64)
    ends = np.linspace(0, words.size, 17).astype(int).tolist()
    return lambda: threads.share_out(lambda i: read(words, ends[i], ends[i + 1]), 16)


def step(layout: Layout, b: np.ndarray, watch: bool = True) -> Callable[[], Any]:
    """Return one pass of the accelerated method: product, margins, loss at two points, gradient."""
    n, d = layout.shape
    rng = np.random.default_rng(0)
    x, known, loss = rng.standard_normal(d) / d**0.5, rng.standard_normal(n), Loss(0, b, np.full(n, 1.0 / n))
    mixing = (0.4, 0.6, 0.5, 0.5) if watch else (0.4, 0.6, 0.4, 0.6)
    return lambda: layout.sweep(loss, mixing, known, x)


def naive(A: Any, b: np.ndarray) -> Callable[[], Any]:
    """Return the usual code for f and its gradient in NumPy and SciPy."""
    x, n = np.random.default_rng(0).standard_normal(A.shape[1]) / A.shape[1] ** 0.5, A.shape[0]

    def iteration() -> tuple[float, np.ndarray]:
        m = b * (A @ x)
        return float(np.mean(np.logaddexp(0.0, -m))), A.T @ (-b / (1.0 + np.exp(m)) / n)

    return iteration


def products(A: Any, b: np.ndarray) -> Callable[[], Any]:
    """Return the two SciPy products of the naive iteration alone."""
    x, n = np.random.default_rng(0).standard_normal(A.shape[1]), A.shape[0]
    return lambda: (A @ x, A.T @ b[:n])


def spin(stop: Any) -> None:
    while not stop.is_set():
        sum(range(10_000))


def busy_ratio(task: Callable[[], Any], repeats: int) -> float:
    """Return seconds with two threads over seconds with one, while other processes keep every core busy."""
    context = get_context("spawn")
    stop = context.Event()
    others = [context.Process(target=spin, args=(stop,), daemon=True) for _ in range(THREADS)]
    for other in others:
        other.start()
    time.sleep(1.0)
    try:
        return ratios(with_threads(task, THREADS), with_threads(task, 1), repeats)[0]
    finally:
        stop.set()
        for other in others:
            other.join()


def with_threads(task: Callable[[], Any], n_threads: int) -> Callable[[], None]:
    def run() -> None:
        with threads.limited(n_threads):
            task()

    return run


def measure(quick: bool) -> dict[str, Any]:
    """Measure dense and sparse iterations, the cost of watching f, and threads on a busy machine."""
    rows, bars, repeats = [], [], 9 if quick else 31
    rng = np.random.default_rng(0)
    shapes = [(200_000, 54)] if quick else [(400_000, 54), (60_000, 784)]
    for n, d in shapes:
        wide = rng.standard_normal((n, d))
        b = np.where(wide[:, 0] > 0, 1.0, -1.0)
        for dtype, bar in ((np.float64, 1.25), (np.float32, 1.5)):
            A = wide.astype(dtype, copy=False)
            layout = fw.Logistic(A, b).data.layout
            assert layout is not None
            pair = with_threads(step(layout, b), THREADS), with_threads(floor(A), THREADS)
            ratio, ours, least = ratios(*pair, repeats)
            name = f"dense {n} x {d} {np.dtype(dtype).name}"
            rows.append([name, "one read of the data", 1e3 * ours, 1e3 * least, ratio])
            bars.append(_bar(f"1: {name}, {THREADS} threads, over the read floor", ratio, bar, "<="))
            ratio, watched, plain = ratios(step(layout, b), step(layout, b, watch=False), repeats)
            rows.append([name, "without f(x)", 1e3 * watched, 1e3 * plain, ratio])
            bars.append(_bar(f"1: {name}, cost of tracking f(x)", ratio, 1.15, "<="))
    wanted = {"a9a": 1.5, "rcv1 shape": 2.0} | ({} if quick else {"news20 shape": 4.0})
    for name, bar in wanted.items():
        A, b = peers.load(name)
        layout = fw.Logistic(A, b).data.layout
        assert layout is not None
        for _ in range(20):
            layout.adjoint(b)  # wide rows are turned into columns by now, as in any long run
        ratio, theirs, ours = ratios(naive(A, b), with_threads(step(layout, b), THREADS), repeats)
        rows.append([name, "naive SciPy", 1e3 * ours, 1e3 * theirs, 1 / ratio])
        bars.append(_bar(f"1: {name}, {THREADS} threads, ahead of naive SciPy", ratio, bar, ">="))
        ratio, theirs, ours = ratios(naive(A, b), with_threads(step(layout, b), 1), repeats)
        rows.append([name, "naive SciPy, one thread", 1e3 * ours, 1e3 * theirs, 1 / ratio])
        bars.append(_bar(f"1: {name}, one thread, ahead of naive SciPy", ratio, 1.0, ">="))
        ratio, theirs, ours = ratios(products(A, b), with_threads(step(layout, b), 1), repeats)
        rows.append([name, "its two products alone", 1e3 * ours, 1e3 * theirs, 1 / ratio])
    A = rng.standard_normal((100_000, 54))
    layout = fw.Logistic(A, A[:, 0] > 0).data.layout
    assert layout is not None
    ratio = busy_ratio(step(layout, np.sign(A[:, 0])), repeats)
    rows.append(["dense 100000 x 54, busy machine", "one thread", None, None, ratio])
    bars.append(_bar("6: two threads over one on a busy machine", ratio, 1.2, "<="))
    return {
        "title": "One iteration of logistic regression",
        "columns": ["data", "against", "ms", "ms of the other", "ratio"],
        "rows": rows,
        "bars": bars,
        "notes": [
            f"{THREADS} threads; the naive iteration computes f and its gradient, ours f at two points and the gradient",
        ],
    }


def _bar(name: str, value: float, bar: float, sense: str) -> dict[str, Any]:
    return {"name": name, "value": float(value), "bar": bar, "sense": sense, "unit": "x"}


if __name__ == "__main__":
    command_line(measure)
