"""Slips in the paper, with what should stand there and, where it can be measured, the number that shows it."""

from __future__ import annotations

from typing import Any

import numpy as np

from frankwolfe.paper.claims.claims import claim
from frankwolfe.paper.claims.verdicts import UNKNOWN
from frankwolfe.paper.problems import Data
from frankwolfe.paper.publication.figure_data import Table
from frankwolfe.paper.runner import NotRunError, Results
from frankwolfe.paper.sections import dataset_table
from frankwolfe.paper.words import fill, read

STEPS = 400
ERRATA: list[dict[str, str]] = read("errata")["errata"]


def errata_table(results: Results, quick: bool) -> Table:
    """Return the list of errata with what was measured."""
    rows = [[e["printed"], e["corrected"], _evidence(e, results, quick)] for e in ERRATA]
    return Table("errata", "Errata", ["the paper prints", "should be", "how we know"], rows, words=True)


def _evidence(erratum: dict[str, str], results: Results, quick: bool) -> str:
    """Return how we know; in the words of a verdict where there is one, so that the two cannot differ."""
    if "claim" in erratum:
        told = claim(erratum["claim"]).judged(results, quick)
        if told.verdict == UNKNOWN:
            return UNKNOWN
        measured = f"{told.verdict} ({told.number})"
        whole = erratum["corrected"].startswith("As measured")
        return f"{measured}: {told.sentence}" if whole else f"by reading; as corrected it {measured}"
    if "measured" not in erratum:
        return "by reading"
    try:
        return fill(erratum["measured"], _measured(results))
    except NotRunError:
        return UNKNOWN


def _measured(results: Results) -> dict[str, Any]:
    mushrooms, mnist = (results[dataset_table.Count(Data(name))].facts for name in ("mushrooms", "mnist"))
    printed = dataset_table.PAPER["mushrooms"]
    return {
        **strongly_convex_typo(),
        "steps": STEPS,
        "rows": mushrooms["rows"],
        "columns": mushrooms["columns"],
        "density": dataset_table.density(mushrooms),
        "printed": printed.columns,
        "implied": dataset_table.density({**mushrooms, "columns": printed.columns}),
        "mnist": dataset_table.density(mnist),
    }


def strongly_convex_typo() -> dict[str, float]:
    """Run the strongly convex AGM as printed (z = y - y/μ) and as corrected (z = y - ∇f(y)/μ); return both errors."""
    rng = np.random.default_rng(0)
    spectrum, mu, L = np.geomspace(0.01, 1.0, 50), 0.01, 1.0
    target = rng.standard_normal(50) * 10
    delta = (mu / L) ** 0.5
    out = {}
    for name, printed in (("typo_printed", True), ("typo_corrected", False)):
        x = v = np.zeros(50)
        for _ in range(STEPS):
            y = (x + delta * v) / (1 + delta)
            g = spectrum * (y - target)
            z = y - (y if printed else g) / mu
            x, v = y - g / L, (1 - delta) * v + delta * z
        out[name] = float(0.5 * spectrum @ (x - target) ** 2)
    out["typo_start"] = float(0.5 * spectrum @ target**2)
    return out
