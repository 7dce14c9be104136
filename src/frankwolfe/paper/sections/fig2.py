"""Figure 2: a9a with a ball so large that it hardly matters; GD, AGM, FW and AFW."""

from __future__ import annotations

import numpy as np

from frankwolfe.paper.problems import METHODS, Ball, Data
from frankwolfe.paper.publication.figure_data import Section, error_panel
from frankwolfe.paper.reference import Reference
from frankwolfe.paper.runner import Results
from frankwolfe.paper.runs import Run
from frankwolfe.paper.store import Task
from frankwolfe.paper.words import Words

DATA = Data("a9a")
RADIUS = 40.0
NEIGHBOURS = (5.0, 20.0, 659.0)
ITERATIONS = 1000
WINDOW, SETTLED = 20, 100  # zig-zags are measured in windows of k, after the start
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


def order(errors: dict[str, float]) -> str:
    """Return the paper's methods in the order of their errors."""
    return " < ".join(METHODS[m].name for m in sorted(PAPER, key=lambda m: errors[m]))


def section(results: Results, quick: bool) -> Section:
    rows, zigzag, panels = [], [], {}
    for radius in sorted(radii(quick)):
        facts = results.optimum(DATA, Ball("l2", radius)).facts
        series = {run.method: results.series(run) for run in runs(radius, quick)}
        h = {m: s.at(ITERATIONS) for m, s in series.items()}
        known = [f"{price(results, radius):.1e}", f"{facts['gradient']:.1e}", f"{facts['gap']:.0e}"]
        rows.append([f"{radius:g}", *(f"{h[m]:.2e}" for m in PAPER), order(h), *known])
        waves = [stability(series[m].h, series[m].floor) for m in ("fw", "afw")]
        zigzag.append([f"{radius:g}", *(w for median, rise in waves for w in (f"{median:.3g}", percent(rise)))])
        title, window = f"a9a, l2 ball, R = {radius:g}", WINDOW if radius == RADIUS else 0
        panels[radius] = error_panel(title, list(series.values()), window=window, hidden=BEYOND)
    floor = panels[RADIUS].floor
    words = Words("fig2", largest=LARGEST, window=WINDOW, settled=SETTLED, floor=floor, iterations=ITERATIONS)
    figures = [words.figure("fig2", [panels.pop(RADIUS)])]
    if panels:
        figures.append(words.figure("fig2-radii", list(panels.values()), 2))
    return words.section(figures, [words.table("fig2-radii", rows), words.table("fig2-stability", zigzag)])


def percent(rise: float) -> str:
    """Return a rise in words: in percent, or as a factor where that is easier to read.

    Examples
    --------
    >>> percent(0.93), percent(87096.0)
    ('+93 %', 'times 87097')
    """
    return f"+{100 * rise:.0f} %" if rise < 100 else f"times {1 + rise:.0f}"


def stability(h: np.ndarray, floor: float = 1e-16) -> tuple[float, float]:
    """Return the median of max/min within windows, and the largest relative rise from one iteration to the next.

    The first `SETTLED` iterations (of short runs the first fifth) do not count, nor do rises below ten times `floor`,
    the accuracy of f*.

    Examples
    --------
    >>> stability(np.ones(50))
    (1.0, 0.0)
    """
    h = np.maximum(h, 10 * max(floor, 1e-16))[min(SETTLED, h.size // 5) :]
    windows = np.lib.stride_tricks.sliding_window_view(h, min(WINDOW, h.size))
    rises = h[1:] / h[:-1] - 1
    return float(np.median(windows.max(axis=1) / windows.min(axis=1))), float(np.max(rises, initial=0.0))
