"""The paper's table of datasets, counted from the files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from frankwolfe.paper.problems import Data, load
from frankwolfe.paper.publication.figure_data import Section
from frankwolfe.paper.runner import Results
from frankwolfe.paper.store import Outcome, Task
from frankwolfe.paper.words import Words


@dataclass(frozen=True)
class Printed:
    """A row of the paper's table: features, samples, percentage of nonzeros."""

    columns: int
    rows: int
    density: float


PAPER = {
    "a9a": Printed(123, 32561, 11.28),
    "covtype": Printed(54, 406709, 22.12),
    "mushrooms": Printed(122, 8124, 18.75),
    "mnist": Printed(784, 60000, 12.4),
}


@dataclass(frozen=True)
class Count(Task):
    """Count one dataset."""

    data: Data

    @property
    def name(self) -> str:
        return f"count-{self.data.name}"

    def compute(self, directory: str | None) -> Outcome:
        loaded = load(self.data, directory)
        if hasattr(loaded, "cols"):
            n, d = loaded.shape
            return Outcome({"rows": n, "columns": d, "nonzeros": int(loaded.values.size), "positive": None})
        n, d = loaded.A.shape
        nonzeros = np.count_nonzero(loaded.A) if isinstance(loaded.A, np.ndarray) else loaded.A.count_nonzero()
        facts = {"rows": int(n), "columns": int(d), "nonzeros": int(nonzeros), "positive": int(np.sum(loaded.b > 0))}
        return Outcome(facts)


def counted() -> list[Count]:
    return [Count(Data(name)) for name in (*PAPER, "movielens100k")]


def tasks(quick: bool) -> list[Task]:
    return list(counted())


def density(facts: dict[str, Any]) -> float:
    """Return the percentage of nonzeros."""
    return 100 * facts["nonzeros"] / (facts["rows"] * facts["columns"])


def section(results: Results, quick: bool) -> Section:
    rows = []
    for count in counted():
        facts, printed = results[count].facts, PAPER.get(count.data.name)
        positive = "" if facts["positive"] is None else f"{facts['positive']} ({facts['positive'] / facts['rows']:.1%})"
        rows.append(
            [
                count.data.name,
                f"{facts['rows']} × {facts['columns']}",
                facts["nonzeros"],
                f"{density(facts):.2f} %",
                positive,
                f"{printed.rows} × {printed.columns}, {printed.density:g} %" if printed else "943 × 1682 (in the text)",
                ", ".join(differences(facts, printed)) or "the same",
            ]
        )
    words = Words("table")
    return words.section([], [words.table("datasets", rows)])


def differences(facts: dict[str, Any], printed: Printed | None) -> list[str]:
    """Return what differs from the paper's row."""
    if printed is None:
        return []
    pairs = {
        "samples": facts["rows"] == printed.rows,
        "features": facts["columns"] == printed.columns,
        "density": abs(density(facts) - printed.density) < 0.06,
    }
    return [name for name, same in pairs.items() if not same]
