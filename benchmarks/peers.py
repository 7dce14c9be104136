"""Peers at the matching penalty, data of the published shapes, and a plain Frank-Wolfe with the usual step rules."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp


class Setting(NamedTuple):
    """What tells a solver when to stop."""

    tol: float
    max_iter: int


Fit = Callable[[Setting], tuple[np.ndarray, float]]
"""From a setting to coefficients and intercept."""


class Search(NamedTuple):
    """The fastest setting that reaches a goal (None: given up), its seconds (or those given), and all that was seen."""

    setting: Setting | None
    seconds: float
    way: list[list[float]]  # seconds and error, where the error is the least so far


def text(n: int, d: int, per_row: int, seed: int = 0) -> tuple[sp.csr_array, np.ndarray]:
    """Return sparse rows like those of a text: words by Zipf's law, tf-idf weights, rows of length one."""
    rng = np.random.default_rng(seed)
    cumulative = np.cumsum(1.0 / np.arange(1, d + 1))
    cols = np.searchsorted(cumulative, rng.random(n * per_row) * cumulative[-1])
    rows = np.repeat(np.arange(n), per_row)
    A = sp.csr_array((rng.random(n * per_row) + 0.1, (rows, np.minimum(cols, d - 1))), shape=(n, d))
    A.sum_duplicates()
    A.indices, A.indptr = A.indices.astype(np.int32), A.indptr.astype(np.int32)
    frequency = np.bincount(A.indices, minlength=d)
    A.data *= (np.log(n / np.maximum(frequency, 1)) + 0.1)[A.indices]
    lengths = np.sqrt(np.add.reduceat(A.data**2, A.indptr[:-1]))
    A.data /= np.repeat(lengths, np.diff(A.indptr))
    margins = A @ (rng.standard_normal(d) * (rng.random(d) < 0.05))
    return A, np.where(margins + 0.3 * margins.std() * rng.standard_normal(n) > 0, 1.0, -1.0)


def load(name: str) -> tuple[Any, np.ndarray]:
    """Return data and labels: a dataset by name, or made-up data of the shape of one."""
    if name == "rcv1 shape":
        return text(20242, 47236, 90)
    if name == "news20 shape":
        return text(19996, 1355191, 600)
    import frankwolfe.datasets as datasets

    data = datasets.load(name)
    return data.A, data.b


def plain_frank_wolfe(A: Any, b: np.ndarray, radius: float, rule: str, goal: float, seconds: float) -> float:
    """Return the seconds that Frank-Wolfe on the l1 ball takes to f <= goal, infinity if more than allowed.

    Our own words for what copt's minimize_frank_wolfe does, which cannot be installed here: logistic loss with one
    product for value and gradient, two for a trial step, and two rules: "DR" the Demyanov-Rubinov short step with a
    global constant, "adaptive" the backtracking of Pedregosa et al. (2020).
    """
    n, d = A.shape
    squares = float(np.max(A.multiply(A).sum(axis=1) if sp.issparse(A) else (A * A).sum(axis=1)))
    x, L, before = np.zeros(d), (0.25 * squares if rule == "DR" else 1e-3), np.inf

    def value(x: np.ndarray) -> float:
        return float(np.mean(np.logaddexp(0.0, -b * (A @ x))))

    began = time.perf_counter()
    while time.perf_counter() - began < seconds:
        m = b * (A @ x)
        f = float(np.mean(np.logaddexp(0.0, -m)))
        if f <= goal:
            return time.perf_counter() - began
        g = A.T @ (-b / (1 + np.exp(m)) / n)
        j = int(np.argmax(np.abs(g)))
        step = -x
        step[j] -= radius * np.sign(g[j])
        gap, length = float(-g @ step), float(step @ step)
        if rule == "adaptive" and np.isfinite(before):
            L = float(np.clip(gap**2 / (2 * max(before - f, 1e-300) * length), 0.9 * L, L))
        gamma = min(gap / (L * length), 1.0)
        while rule == "adaptive" and value(x + gamma * step) > f - gamma * gap + 0.5 * gamma**2 * L * length:
            L *= 2
            gamma = min(gap / (L * length), 1.0)
        x, before = x + gamma * step, f
    return np.inf


TOLERANCES = [Setting(tol, 5000) for tol in (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)]
QUICK = 0.3  # seconds up to which a solver is tried at its own tolerances as well
ROUNDS = [Setting(1e-12, 2**k) for k in range(20)]


def fastest(
    solve: Fit,
    error: Callable[[tuple[np.ndarray, float]], float],
    goal: float,
    allowed: float,
    clock: Callable[[], float] = time.perf_counter,
) -> Search:
    """Return the fastest setting at which a solver reaches the goal; give it up when it would take longer than allowed.

    First by rounds, 1, 2, 4, ..., so that a solver that takes minutes is never waited for; then with three quarters of
    the rounds that were enough, and, if that takes no time, at its own tolerances from the loosest on.
    """
    seen: list[tuple[float, float, Setting]] = []

    def enough(setting: Setting) -> bool:
        began = clock()
        x = solve(setting)
        seen.append((clock() - began, error(x), setting))
        return seen[-1][1] <= goal

    def hopeless() -> bool:
        return seen[-1][0] > 0.6 * allowed or (len(seen) > 1 and seen[-1][1] == seen[-2][1])  # slow, or stalled

    if not enough(ROUNDS[0]) and seen[-1][0] < 2.0:
        seen.clear()  # it may have compiled or loaded something
    next(setting for setting in ROUNDS if enough(setting) or hopeless())
    taken, off, (_, rounds) = seen[-1]
    if off <= goal:
        enough(Setting(1e-12, max(1, 3 * rounds // 4)))
    if taken < QUICK:
        next((setting for setting in TOLERANCES if enough(setting) or hopeless()), None)
    way: list[list[float]] = []
    for taken, off, _ in sorted(seen, key=lambda one: one[0]):
        if off > 0 and (not way or off < way[-1][1]):
            way.append([taken, off])
    arrived = [(taken, setting) for taken, off, setting in seen if off <= goal]
    if not arrived:
        return Search(None, max(taken for taken, _, _ in seen), way)
    taken, setting = min(arrived)
    return Search(setting, taken, way)
