"""One problem, several methods, and a reference solution that knows how good it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from frankwolfe.compare import Comparison
from frankwolfe.methods import AcceleratedProjectedGradient
from frankwolfe.minimize import minimize
from frankwolfe.objectives.base import Objective
from frankwolfe.plotting.style import TITLES
from frankwolfe.result import Result
from frankwolfe.sets.base import Set

THREADS = 1  # these problems are small: more threads wait for each other longer than they work


@dataclass(frozen=True)
class Study:
    """A problem with one result per method and a far more accurate reference.

    `score` says in words what a solution is worth on data it has not seen, `score_name` what that is.
    """

    name: str
    title: str
    comparison: Comparison
    reference: Result
    score: Callable[[Any], str]
    score_name: str

    @property
    def head(self) -> list[str]:
        """Columns of the table."""
        return ["method", "value", "error", "proven gap", "steps", "passes", "seconds", self.score_name]

    @property
    def optimum(self) -> float:
        """The best value of all runs, the reference included."""
        return min(r.fun for r in (self.reference, *self.comparison.values()))

    @property
    def lower_bound(self) -> float:
        """The best bound proven in any run: f* lies between this and `optimum`."""
        return max(self.reference.lower_bound, self.comparison.lower_bound)

    @property
    def gap(self) -> float:
        """How well f* is known."""
        return self.optimum - self.lower_bound

    def error(self, name: str) -> float:
        """Return f - f* of a method, as far as anyone can tell (never below `gap`)."""
        return max(self.comparison[name].fun - self.optimum, self.gap)

    def leader(self, k: int) -> str:
        """Return the method with the smallest value up to step k (or its last)."""
        traces = {name: result.trace for name, result in self.comparison.items()}
        return min(traces, key=lambda name: float(traces[name].fun[traces[name].k <= k].min()))

    def rows(self) -> list[list[str]]:
        """Return the table, one row per method."""
        return [
            [
                TITLES.get(name, name),
                f"{r.fun:#.5g}",
                ("≤ " if self.error(name) <= self.gap else "") + f"{self.error(name):.1e}",
                f"{r.gap:.1e}",
                f"{r.n_iter}",
                f"{r.n_pass:.0f}",
                f"{r.time:.2f}",
                self.score(r.x),
            ]
            for name, r in self.comparison.items()
        ]

    def __str__(self) -> str:
        """Return the table as text, in columns."""
        lines = [self.head, *self.rows()]
        first, *widths = (max(map(len, column)) for column in zip(*lines, strict=True))
        return "\n".join(
            "  ".join([f"{name:<{first}}", *(f"{cell:>{w}}" for cell, w in zip(cells, widths, strict=True))])
            for name, *cells in lines
        )


def solve(
    name: str,
    title: str,
    objective: Objective,
    domain: Set,
    steps: Mapping[str, int],
    begin: Callable[[str], None],
    *,
    limits: Mapping[str, Any],
    score: Callable[[Any], str],
    score_name: str,
) -> Study:
    """Run every method for its number of steps, and restarted projected AGM to the tolerance in `limits`."""
    quiet = {"progress": False, "n_threads": THREADS}
    minimize(objective, domain, max_iter=1, **quiet)  # loads what is loaded lazily, so that no method pays for it
    results = {}
    for method, count in steps.items():
        begin(f"{title}: {TITLES.get(method, method)}")
        results[method] = minimize(objective, domain, method=method, tol=0, max_iter=count, **quiet)
    begin(f"{title}: reference solution")
    best = minimize(objective, domain, method=AcceleratedProjectedGradient(restart=True), **quiet, **limits)
    return Study(name, title, Comparison(results), best, score, score_name)
