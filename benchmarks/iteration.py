"""One iteration against the floor of memory and against plain NumPy and SciPy: bar 1; threads on a busy machine: bar 6.

python -m benchmarks.iteration [--quick]

The floor is one read of the data, by as many threads, at the speed at which this machine sums an array. The naive
iteration is what one writes in NumPy and SciPy: two products and the loss. All ratios are medians of ratios taken one
right after the other. `profile` takes a dense iteration apart. Short rows are worked on eight at a time while the next
are fetched: an iteration takes as long as the read or as the arithmetic does, whichever is longer, and a little more.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from multiprocessing import get_context
from typing import Any

import numpy as np

import frankwolfe as fw
from benchmarks import peers
from benchmarks.report import command_line, held_to
from frankwolfe.kernels import threads
from frankwolfe.kernels.rows.column_layouts import SortedColumns
from frankwolfe.kernels.rows.layouts import CHUNK, NONE, Layout, RowLayout, RowLosses, compiled
from frankwolfe.losses import LogisticLoss

THREADS = 2
NEAR = 2048  # short rows that stay in cache
L2 = (fw.L2Ball.sparse_atoms, fw.L2Ball.parallel_atoms)  # the atoms that the data are laid out for


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

    @numba.njit(nogil=True)
    def read(words: np.ndarray) -> int:
        total = np.int64(0)
        for i in range(words.size):  # from zero: the compiler then knows that no index is negative, and vectorises
            total ^= words[i]
        return total

    parts = np.array_split(A.reshape(-1).view(np.int64), 16)
    return lambda: threads.share_out(lambda i: read(parts[i]), 16)


def step(layout: Layout, b: np.ndarray, watch: bool = True) -> Callable[[], Any]:
    """Return one pass of the accelerated method on an l2 ball: product, margins, loss at two points, gradient.

    On wide sparse data the image of the vertex is known from the gradients, whose own images come with them.
    """
    n, d = layout.shape
    rng = np.random.default_rng(0)
    x, known, loss = (
        rng.standard_normal(d) / d**0.5,
        rng.standard_normal(n),
        RowLosses(LogisticLoss(), b, np.full(CHUNK, 1.0 / n)),
    )
    mixing = (0.4, 0.6, 0.5, 0.5) if watch else (0.4, 0.6, 0.4, 0.6)
    if not isinstance(layout, SortedColumns):
        return lambda: layout.sweep(loss, mixing, known, x)
    image = rng.standard_normal(n)

    def carried() -> Any:
        y, watched = 0.4 * known + 0.6 * image, 0.5 * known + 0.5 * image
        return layout.sweep(loss, (1.0, 0.0, 1.0, 0.0), y, NONE, carry=True), loss.value(watched)

    return carried


def profile(layout: RowLayout, b: np.ndarray) -> str:
    """Return in words what the parts of a dense iteration cost on one thread, each by itself."""
    n, d = layout.shape
    x, m, loss = np.ones(d) / d, np.linspace(-3.0, 3.0, n), RowLosses(LogisticLoss(), b, np.full(CHUNK, 1.0 / n))
    few, g, rows = (layout.arrays[0][:CHUNK],), np.zeros(layout.width), compiled("rows.sweep")
    near, images, out = (layout.arrays[0][:NEAR],), np.empty((2, NEAR)), (np.zeros((0, 0)), np.zeros(3))
    form = (
        layout.step,
        layout.block,
        np.ones(layout.width) / d,
        NONE,
        (0.4, 0.6, 0.5, 0.5),
        m,
        RowLosses(LogisticLoss(), b[:NEAR], loss.share),
        0,
        images,
        g,
        *out,
    )
    parts = {
        "reading": floor(layout.arrays[0]),
        "reading and product": lambda: layout.product(x),
        "gradient from cache": lambda: [rows.adjoint(few, 0, CHUNK, m, g) for _ in range(n // CHUNK)],
        "loss at one point": lambda: loss.value(m),
        "loss and slope at another": lambda: loss.slope(m),
        "all together": step(layout, b),
        "all together from cache": lambda: [rows.sweep(near, 0, NEAR, *form) for _ in range(n // NEAR)],
    }
    with threads.limited(1):
        taken = {name: min(seconds(task) for _ in range(7)) for name, task in parts.items()}
    listed = ", ".join(f"{name} {1e3 * each:.2f}" for name, each in taken.items())
    return f"{n} x {d} {layout.arrays[0].dtype}, one thread, ms: {listed}"


def solve(A: Any, b: np.ndarray, steps: int) -> Callable[[], Any]:
    """Return so many steps of the accelerated method on an l2 ball, certificate and all."""
    f = fw.Logistic(A, b)
    return lambda: fw.minimize(f, fw.L2Ball(30.0), method="afw", tol=0, max_iter=steps, n_threads=THREADS)


def naive_solve(A: Any, b: np.ndarray, steps: int) -> Callable[[], Any]:
    """Return the same steps in NumPy and SciPy, without a certificate."""

    def iterate() -> np.ndarray:
        x = v = theta = np.zeros(A.shape[1])
        for k in range(steps):
            delta = 2 / (k + 3)
            m = b * (A @ ((1 - delta) * x + delta * v))
            np.mean(np.logaddexp(0.0, -m))
            theta = (1 - delta) * theta + delta * (A.T @ (-b / (1.0 + np.exp(m)) / len(b)))
            v = -30.0 * theta / np.linalg.norm(theta)
            x = (1 - delta) * x + delta * v
        return x

    return iterate


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
    both = with_threads(task, THREADS), with_threads(task, 1)
    try:  # a thread is put aside for longer than a pass takes: only sums over many passes say something
        times = np.array([[seconds(both[0]), seconds(both[1])] for _ in range(repeats)])
        return float(times[:, 0].sum() / times[:, 1].sum())
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
    rows, bars, notes, repeats = [], [], [], 9 if quick else 31
    rng = np.random.default_rng(0)
    shapes = [(200_000, 54)] if quick else [(400_000, 54), (60_000, 784)]
    for n, d in shapes:
        wide = rng.standard_normal((n, d))
        b = np.where(wide[:, 0] > 0, 1.0, -1.0)
        for dtype, bar in ((np.float64, 1.25), (np.float32, 1.5)):
            A = wide.astype(dtype, copy=False)
            layout = fw.Logistic(A, b).data.layout
            assert isinstance(layout, RowLayout)
            pair = with_threads(step(layout, b), THREADS), with_threads(floor(A), THREADS)
            ratio, ours, least = ratios(*pair, repeats)
            name = f"dense {n} x {d} {np.dtype(dtype).name}"
            rows.append([name, "one read of the data", 1e3 * ours, 1e3 * least, ratio])
            bars.append(held_to(f"1: {name}, {THREADS} threads, over the read floor", ratio, bar, "<="))
            ratio, watched, plain = ratios(step(layout, b), step(layout, b, watch=False), repeats)
            rows.append([name, "without f(x)", 1e3 * watched, 1e3 * plain, ratio])
            bars.append(held_to(f"1: {name}, cost of tracking f(x)", ratio, 1.15, "<="))
            notes.append(profile(layout, b))
    wanted = {"a9a": 1.5, "rcv1 shape": 2.0} | ({} if quick else {"news20 shape": 4.0})
    for name, bar in wanted.items():
        A, b = peers.load(name)
        layout = fw.Logistic(A, b).oriented(*L2).data.layout
        assert layout is not None
        ratio, theirs, ours = ratios(naive(A, b), with_threads(step(layout, b), THREADS), repeats)
        rows.append([name, "naive SciPy", 1e3 * ours, 1e3 * theirs, 1 / ratio])
        bars.append(held_to(f"1: {name}, {THREADS} threads, ahead of naive SciPy", ratio, bar, ">="))
        ratio, theirs, ours = ratios(naive(A, b), with_threads(step(layout, b), 1), repeats)
        rows.append([name, "naive SciPy, one thread", 1e3 * ours, 1e3 * theirs, 1 / ratio])
        bars.append(held_to(f"1: {name}, one thread, ahead of naive SciPy", ratio, 1.0, ">="))
        ratio, theirs, ours = ratios(products(A, b), with_threads(step(layout, b), 1), repeats)
        rows.append([name, "its two products alone", 1e3 * ours, 1e3 * theirs, 1 / ratio])
        steps = 200 if A.nnz < 1e6 else 20
        ratio, theirs, ours = ratios(naive_solve(A, b, steps), solve(A, b, steps), 3)
        rows.append([name, f"naive solve of {steps} steps, no certificate", 1e3 * ours, 1e3 * theirs, 1 / ratio])
    A = rng.standard_normal((100_000, 54))
    layout = fw.Logistic(A, A[:, 0] > 0).data.layout
    assert layout is not None
    ratio = busy_ratio(step(layout, np.sign(A[:, 0])), 20 * repeats)
    rows.append(["dense 100000 x 54, busy machine", "one thread", None, None, ratio])
    bars.append(held_to("6: two threads over one on a busy machine", ratio, 1.2, "<="))
    return {
        "title": "One iteration of logistic regression",
        "columns": ["data", "against", "ms", "ms of the other", "ratio"],
        "rows": rows,
        "bars": bars,
        "notes": [
            f"{THREADS} threads; the naive iteration computes f and its gradient, ours f at one point more",
            *notes,
        ],
    }


if __name__ == "__main__":
    command_line(measure)
