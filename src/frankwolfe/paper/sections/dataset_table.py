"""The paper's table of datasets, counted from the files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from frankwolfe.paper.problems import Data, load
from frankwolfe.paper.publication.figure_data import Section
from frankwolfe.paper.runner import Results
from frankwolfe.paper.store import Outcome, Task
from frankwolfe.paper.words import Words


class Printed(NamedTuple):
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

    def compute(self, directory: str | None) -> Outcome:
        loaded = load(self.data, directory)
        if hasattr(loaded, "cols"):
            (n, d), nonzeros, positive = loaded.shape, loaded.values.size, None
        else:
            (n, d), positive = loaded.A.shape, int(np.sum(loaded.b > 0))
            nonzeros = np.count_nonzero(loaded.A) if isinstance(loaded.A, np.ndarray) else loaded.A.count_nonzero()
        return Outcome({"rows": int(n), "columns": int(d), "nonzeros": int(nonzeros), "positive": positive})


def tasks(quick: bool) -> list[Count]:
    return [Count(Data(name)) for name in (*PAPER, "movielens100k")]


def density(facts: dict[str, Any]) -> float:
    """Return the percentage of nonzeros."""
    return 100 * facts["nonzeros"] / (facts["rows"] * facts["columns"])


def section(results: Results, quick: bool) -> Section:
    rows = []
    for count in tasks(quick):
        facts, printed = results[count].facts, PAPER.get(count.data.name)
        positive = "" if facts["positive"] is None else f"{facts['positive']} ({facts['positive'] / facts['rows']:.1%})"
        size, told = f"{facts['rows']} × {facts['columns']}", "943 × 1682 (in the text)"
        if printed:
            told = f"{printed.rows} × {printed.columns}, {printed.density:g} %"
        differs = ", ".join(differences(facts, printed)) or "the same"
        rows.append([count.data.name, size, facts["nonzeros"], f"{density(facts):.2f} %", positive, told, differs])
    return Words("table").section([], {"datasets": rows})


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
