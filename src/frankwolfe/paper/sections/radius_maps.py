"""Maps instead of hand-picked radii: how far AFW is ahead of FW and of AGM, over the radius and the iteration."""

from __future__ import annotations

from itertools import product

import numpy as np

from frankwolfe.paper.problems import METHODS, Data
from frankwolfe.paper.publication.figure_data import Heat, Panel, Section
from frankwolfe.paper.runner import Results
from frankwolfe.paper.runs import Race
from frankwolfe.paper.sections import fig3
from frankwolfe.paper.store import Task
from frankwolfe.paper.words import Words

RADII = (1.0, 5.0, 10.0, 20.0, 60.0)
ROWS = {**fig3.SAMPLES, "a9a": 0}
KINDS = ("l2", "l1")
AGAINST = ("fw", "agm")


def data(quick: bool) -> list[Data]:
    return [Data(name, rows=rows) for name, rows in ROWS.items() if name == "mushrooms" or not quick]


def races(where: Data, kind: str, quick: bool) -> list[Race]:
    """Return a race for each radius, which is a row of the map."""
    return [fig3.race(where, kind, radius, ("afw", *AGAINST)) for radius in (RADII[::2] if quick else RADII)]


def tasks(quick: bool) -> list[Task]:
    return [t for where, kind in product(data(quick), KINDS) for r in races(where, kind, quick) for t in r.tasks]


def ratio(results: Results, race: Race, against: str) -> np.ndarray:
    """Return by k = 1, 2, … the error of another method over that of AFW (the largest from k on); NaN under f*'s."""
    series = results.race(race)
    ours, theirs = series["afw"], series[against]
    known = 10 * max(ours.floor, 1e-16)
    seen = np.maximum(ours.highest, theirs.highest)[1:] > known
    return np.where(seen, np.maximum(theirs.highest, known)[1:] / np.maximum(ours.highest, known)[1:], np.nan)


def section(results: Results, quick: bool) -> Section:
    k = np.unique(np.rint(np.geomspace(1, fig3.ITERATIONS, 40)).astype(int))
    words, figures, rows = Words("maps"), [], []
    for where in data(quick):
        panels = []
        for kind, against in product(KINDS, AGAINST):
            lines = races(where, kind, quick)
            heads = [f"{'' if results.optimum(r)['active'] else '○ '}{r.ball.radius:g}" for r in lines]
            z = np.array([ratio(results, r, against)[k - 1] for r in lines])
            what = f"{METHODS[against].name} error / AFW error"
            panels.append(
                Panel(f"{kind} ball: {what}", heat=Heat(k, heads, z, what), ylabel="radius", xlabel="iterations")
            )
            ahead = f"{100 * np.mean(z[np.isfinite(z)] > 1):.0f} %"
            ends = f"{np.nanmin(z):.2g}", f"{np.nanmax(z):.2g}"
            rows.append([f"{where.label}, {kind}", METHODS[against].name, ahead, *ends])
        figures.append(words.figure(f"map-{where.name}", panels, 2, ("k",), text="map", label=where.label))
    return words.section(figures, {"maps": rows})
