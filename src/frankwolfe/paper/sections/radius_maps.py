"""Maps instead of hand-picked radii: how far AFW is ahead of FW and of AGM, over the radius and the iteration."""

from __future__ import annotations

from itertools import product

import numpy as np

from frankwolfe.paper.problems import METHODS, Ball, Data
from frankwolfe.paper.publication.figure_data import Heat, Panel, Section
from frankwolfe.paper.runner import Results
from frankwolfe.paper.runs import Run
from frankwolfe.paper.sections import fig3
from frankwolfe.paper.store import Task
from frankwolfe.paper.words import Words

RADII = (1.0, 5.0, 10.0, 20.0, 60.0)
ROWS = {**fig3.SAMPLES, "a9a": 0}
KINDS = ("l2", "l1")
AGAINST = ("fw", "agm")


def names(quick: bool) -> tuple[str, ...]:
    return ("mushrooms",) if quick else tuple(ROWS)


def radii(quick: bool) -> tuple[float, ...]:
    return RADII[::2] if quick else RADII


def data(name: str) -> Data:
    return Data(name, rows=ROWS[name])


def run(name: str, kind: str, radius: float, method: str) -> Run:
    return Run(data(name), Ball(kind, radius), method, fig3.ITERATIONS)


def tasks(quick: bool) -> list[Task]:
    out: list[Task] = []
    for name, kind, radius in product(names(quick), KINDS, radii(quick)):
        out.append(fig3.reference(data(name), Ball(kind, radius)))
        out += [run(name, kind, radius, m) for m in ("afw", *AGAINST)]
    return out


def ratio(results: Results, name: str, kind: str, radius: float, against: str) -> np.ndarray:
    """Return by k = 1, 2, … the error of another method over that of AFW (the largest from k on); NaN under f*'s."""
    ours, theirs = (results.series(run(name, kind, radius, m)) for m in ("afw", against))
    known = 10 * max(ours.floor, 1e-16)
    seen = np.maximum(ours.highest, theirs.highest)[1:] > known
    return np.where(seen, np.maximum(theirs.highest, known)[1:] / np.maximum(ours.highest, known)[1:], np.nan)


def section(results: Results, quick: bool) -> Section:
    k = np.unique(np.rint(np.geomspace(1, fig3.ITERATIONS, 40)).astype(int))
    words, figures, rows = Words("maps"), [], []
    for name in names(quick):
        panels = []
        for kind in KINDS:
            active = {r: results.optimum(data(name), Ball(kind, r)).facts["active"] for r in radii(quick)}
            lines = [f"{'' if inside else '○ '}{r:g}" for r, inside in active.items()]
            for against in AGAINST:
                z = np.array([ratio(results, name, kind, r, against)[k - 1] for r in radii(quick)])
                what = f"{METHODS[against].name} error / AFW error"
                heat = Heat(k, lines, z, what)
                panels.append(Panel(f"{kind} ball: {what}", heat=heat, ylabel="radius", xlabel="iterations"))
                ahead = f"{100 * np.mean(z[np.isfinite(z)] > 1):.0f} %"
                ends = f"{np.nanmin(z):.2g}", f"{np.nanmax(z):.2g}"
                rows.append([f"{data(name).label}, {kind}", METHODS[against].name, ahead, *ends])
        figures.append(words.figure(f"map-{name}", panels, 2, ("k",), text="map", label=data(name).label))
    return words.section(figures, [words.table("maps", rows)])
