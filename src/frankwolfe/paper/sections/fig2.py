"""Figure 2: a9a with a ball so large that it hardly matters; GD, AGM, FW and AFW."""

from __future__ import annotations

import numpy as np

from frankwolfe.paper.problems import METHODS, Ball, Data
from frankwolfe.paper.publication.figure_data import Panel, Section, error_curve
from frankwolfe.paper.reference import Reference
from frankwolfe.paper.runner import Results
from frankwolfe.paper.runs import Run
from frankwolfe.paper.store import Task
from frankwolfe.paper.words import Words

DATA = Data("a9a")
RADIUS = 40.0
NEIGHBOURS = (5.0, 20.0, 659.0)
ITERATIONS = 1000
WINDOW = 20
PAPER = ("gd", "agm", "fw", "afw")
BEYOND = ("fw-short", "afw-line")


def radii(quick: bool) -> tuple[float, ...]:
    """Return the radii that are run, the paper's figure first."""
    return (RADIUS,) if quick else (RADIUS, *NEIGHBOURS)


LARGEST = max(NEIGHBOURS)  # the ball whose optimum stands for that of no constraint at all


def runs(radius: float, quick: bool) -> list[Run]:
    """Return the runs at one radius; the variants beyond the paper only at the main one."""
    methods = PAPER + (BEYOND if radius == RADIUS else ())
    return [Run(DATA, Ball("l2", radius), method, ITERATIONS) for method in methods]


def tasks(quick: bool) -> list[Task]:
    out: list[Task] = [Reference(DATA, Ball("l2", LARGEST))]
    for r in radii(quick):
        out += [Reference(DATA, Ball("l2", r)), *runs(r, quick)]
    return out


def price(results: Results, radius: float) -> float:
    """Return what the constraint costs: f* on this ball above f* on the largest."""
    here, there = (results.optimum(DATA, Ball("l2", r)).facts["fun"] for r in (radius, LARGEST))
    return max(here - there, 0.0)


def errors(results: Results, radius: float, quick: bool) -> dict[str, float]:
    """Return h at the last iteration, by method."""
    return {run.method: results.series(run).at(ITERATIONS) for run in runs(radius, quick)}


def section(results: Results, quick: bool) -> Section:
    rows = []
    for radius in sorted(radii(quick)):
        facts = results.optimum(DATA, Ball("l2", radius)).facts
        h = errors(results, radius, quick)
        order = " < ".join(METHODS[m].name for m in sorted(PAPER, key=lambda m: h[m]))
        rows.append(
            [
                f"{radius:g}",
                *(f"{h[m]:.2e}" for m in PAPER),
                order,
                f"{price(results, radius):.1e}",
                f"{facts['gradient']:.1e}",
                f"{facts['gap']:.0e}",
            ]
        )
    zigzag = [
        [f"{r:g}", *(w for m in ("fw", "afw") for w in _zigzag(results, r, m, quick))] for r in sorted(radii(quick))
    ]
    series = [results.series(run) for run in runs(RADIUS, quick)]
    curves = [error_curve(s, window=WINDOW, shown=s.run.method in PAPER) for s in series]
    panel = Panel(f"a9a, l2 ball, R = {RADIUS:g}", curves, floor=series[0].floor)
    words = Words("fig2", largest=LARGEST, window=WINDOW, floor=series[0].floor, iterations=ITERATIONS)
    figures = [words.figure("fig2", [panel])]
    if not quick:
        figures.append(words.figure("fig2-radii", [_neighbour(results, r) for r in NEIGHBOURS], 2))
    return words.section(figures, [words.table("fig2-radii", rows), words.table("fig2-stability", zigzag)])


def stability(h: np.ndarray) -> tuple[float, float]:
    """Return the median of max/min within windows, and the largest relative rise from one iteration to the next.

    Examples
    --------
    >>> stability(np.ones(50))
    (1.0, 0.0)
    """
    windows = np.lib.stride_tricks.sliding_window_view(np.maximum(h[1:], 1e-16), min(WINDOW, h.size - 1))
    rises = h[11:] / np.maximum(h[10:-1], 1e-16) - 1
    return float(np.median(windows.max(axis=1) / windows.min(axis=1))), float(np.max(rises, initial=0.0))


def _zigzag(results: Results, radius: float, method: str, quick: bool) -> tuple[str, str]:
    run = next(r for r in runs(radius, quick) if r.method == method)
    median, rise = stability(results.series(run).h)
    return f"{median:.2f}", f"+{100 * rise:.0f} %"


def _neighbour(results: Results, radius: float) -> Panel:
    series = [results.series(run) for run in runs(radius, False)]
    return Panel(f"a9a, l2 ball, R = {radius:g}", [error_curve(s) for s in series], floor=max(s.floor for s in series))
