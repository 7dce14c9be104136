"""Runs of a method on a problem, as tasks whose traces are kept."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from time import monotonic
from typing import Any

import numpy as np

import frankwolfe as fw
from frankwolfe.atoms import RankOne
from frankwolfe.paper.problems import METHODS, THREADS, Problem, objective
from frankwolfe.paper.rates import envelope
from frankwolfe.paper.reference import Reference
from frankwolfe.paper.store import Outcome, Task
from frankwolfe.trace import COLUMNS

FULL_ROWS = 1000
"""Traces keep every row up to here, and one in a hundred of each tenfold beyond."""


@dataclass(frozen=True)
class Run(Task, Problem):
    """So many steps of one method (a key of `METHODS`) on one problem; the trace has one row more."""

    method: str
    iterations: int
    ranks: bool = False  # also count singular values of xₖ, on a grid of k
    start: str = "zero"  # or on a nuclear-norm ball "rank-one", the start of Freund, Grigas and Mazumder

    @property
    def constants(self) -> list[Any]:
        return [repr(METHODS[self.method].make()), THREADS]

    def compute(self, directory: str | None) -> Outcome:
        f = objective(self.data, directory)
        domain = self.ball.build(f.shape)
        method, quiet = METHODS[self.method].make(), {"tol": 0, "n_threads": THREADS, "progress": False}
        fw.minimize(f, domain, method=method, max_iter=3, **quiet)  # what is done once must not count as iterations
        ranks = Ranks(self.iterations) if self.ranks else None
        result = fw.minimize(
            f,
            domain,
            rank_one(f, domain) if self.start == "rank-one" else None,
            method=method,
            max_iter=self.iterations + (ranks is not None),  # a callback sees xₖ during step k
            callback=ranks,
            **quiet,
        )
        if result.status is fw.Status.INTERRUPTED:
            raise KeyboardInterrupt
        if result.status not in (fw.Status.MAX_ITER, fw.Status.CALLBACK):
            raise RuntimeError(f"{self.name}: {result.message}")
        table = {c: np.asarray(result.trace[c], dtype=float) for c in COLUMNS}
        if ranks is not None:
            table = ranks.merged(table)
        table["highest"] = envelope(table["fun"])  # from k on, whatever the thinning below drops
        return Outcome({"smoothness": f.smoothness, "diameter": domain.diameter(f.shape)}, thinned(table))


def rank_one(f: fw.MatrixCompletion, domain: fw.Set) -> fw.LowRank:
    """Return Freund, Grigas and Mazumder's start: the oracle's answer at zero, shortened by an exact line search."""
    g = f.grad(np.zeros(f.shape))  # minus the observed values
    atom = domain.lmo(g)
    assert isinstance(atom, RankOne)
    vertex = fw.LowRank.from_atom(atom)
    at = vertex.toarray()[f.pattern.rows, f.pattern.cols]
    return min(1.0, float(-g.values @ at) / float(at @ at)) * vertex


class Ranks:
    """A callback that counts singular values above 1e-6, and above 1e-3 of the largest; its own time is taken off."""

    GRID = 24  # counts per tenfold of k

    def __init__(self, iterations: int) -> None:
        grid = np.geomspace(1, iterations, int(self.GRID * np.log10(max(iterations, 10))))
        self.wanted = {round(k) for k in grid} | {k for k in (50, 100, 300, 500, 1000) if k <= iterations}
        self.last = iterations
        self.rank, self.relative = np.full((2, iterations + 1), np.nan)
        self.seconds = np.zeros(iterations + 1)

    def __call__(self, iteration: fw.Iteration) -> bool:
        k = iteration.k
        if k in self.wanted:
            began = monotonic()
            sigma = _singular_values(iteration.x)
            self.rank[k] = np.count_nonzero(sigma > 1e-6)
            self.relative[k] = np.count_nonzero(sigma > 1e-3 * np.max(sigma, initial=0.0))
            self.seconds[k] = monotonic() - began
        return k >= self.last

    def merged(self, table: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Return the trace up to the last wanted row, with ranks where they were counted and without their cost."""
        table = {c: values[: self.last + 1] for c, values in table.items()}
        spent = np.concatenate([[0.0], np.cumsum(self.seconds)[:-1]])
        return table | {"rank": self.rank, "rank_relative": self.relative, "time": table["time"] - spent}


def _singular_values(x: Any) -> np.ndarray:
    if isinstance(x, fw.LowRank):
        return x.singular_values()
    # Accurate to about 1e-8 of the largest, well under what is counted, and much cheaper than an SVD.
    gram = x @ x.T if x.shape[0] <= x.shape[1] else x.T @ x
    return np.sqrt(np.maximum(np.linalg.eigvalsh(gram), 0.0))


def thinned(table: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return all rows of a short table, of a long one an even spread over log k."""
    k = table["k"]
    if k.size <= FULL_ROWS + 1:
        return table
    spread = np.geomspace(100, k[-1], 100 * max(1, round(np.log10(k[-1] / 100))))
    kept = np.unique(np.concatenate([np.arange(100), np.searchsorted(k, np.rint(spread)).clip(0, k.size - 1)]))
    return {c: values[kept] for c, values in table.items()}


@dataclass(frozen=True)
class Race(Problem):
    """Methods on one problem, each for so many steps."""

    methods: tuple[str, ...]
    iterations: int
    main: bool = True  # or a neighbour of what is shown in the first place

    @property
    def runs(self) -> list[Run]:
        return [Run(self.data, self.ball, method, self.iterations) for method in self.methods]

    @property
    def tasks(self) -> list[Task]:
        return [Reference(self.data, self.ball), *self.runs]


class Series:
    """A run next to the optimum: errors, and the horizontal axes they can be drawn against."""

    def __init__(self, run: Run, outcome: Outcome, optimum: dict[str, Any]) -> None:
        self.run, self.outcome = run, outcome
        self.optimum, self.floor = float(optimum["fun"]), float(optimum["gap"])

    @cached_property
    def k(self) -> np.ndarray:
        return self.outcome["k"]

    @cached_property
    def h(self) -> np.ndarray:
        """f(xₖ) - f*, where f* is the best value of the certified solve."""
        return self.outcome["fun"] - self.optimum

    @cached_property
    def highest(self) -> np.ndarray:
        """The largest error from k on."""
        return self.outcome["highest"] - self.optimum

    def at(self, k: int) -> float:
        """Return h at iteration k (the last one if the run was shorter), no less than the accuracy of f*."""
        return max(float(self.h[min(int(np.searchsorted(self.k, k)), self.k.size - 1)]), self.floor, 1e-16)
