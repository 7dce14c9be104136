"""Figure 2: a9a with a ball so large that it hardly matters; GD, AGM, FW and AFW."""

from __future__ import annotations

import numpy as np

from frankwolfe.paper.problems import BEYOND, METHODS, PAPER, Ball, Data, Problem
from frankwolfe.paper.publication.figure_data import Section, error_panel
from frankwolfe.paper.reference import Reference
from frankwolfe.paper.runner import Results
from frankwolfe.paper.runs import Race, Series
from frankwolfe.paper.sections import fig3
from frankwolfe.paper.store import Task
from frankwolfe.paper.verdicts import FAILS, HOLDS, OUTSIDE, PARTLY, Case, Found, listed, ordering
from frankwolfe.paper.words import Words

DATA = Data("a9a")
RADIUS = 40.0
NEIGHBOURS = (5.0, 20.0, 659.0)
LARGEST = max(NEIGHBOURS)  # the ball whose optimum stands for that of no constraint at all
ITERATIONS = 1000
WINDOW, SETTLED = 20, 100  # zig-zags are measured in windows of k, after the start
UNSEEN = 0.1  # a ball that costs less than this share of the smallest error compared is as good as inactive
RIPPLE = 0.05  # an error that never rises by more does not zig-zag


def races(quick: bool) -> list[Race]:
    """Return a race at each radius, the smallest first; the variants beyond the paper only at the main one."""
    radii = (RADIUS,) if quick else sorted((RADIUS, *NEIGHBOURS))
    return [Race(DATA, Ball("l2", r), PAPER + BEYOND * (r == RADIUS), ITERATIONS, r == RADIUS) for r in radii]


def tasks(quick: bool) -> list[Task]:
    return [Reference(DATA, Ball("l2", LARGEST)), *(task for race in races(quick) for task in race.tasks)]


def price(results: Results, problem: Problem) -> float:
    """Return what the constraint costs: f* on this ball above f* on the largest."""
    return max(results.optimum(problem)["fun"] - results.optimum(Problem(DATA, Ball("l2", LARGEST)))["fun"], 0.0)


def order(errors: dict[str, float]) -> str:
    """Return the paper's methods in the order of their errors."""
    return " < ".join(METHODS[m].name for m in sorted(PAPER, key=lambda m: errors[m]))


def section(results: Results, quick: bool) -> Section:
    rows, zigzag, first, others = [], [], [], []
    for race in races(quick):
        facts, series, radius = results.optimum(race), results.race(race), f"{race.ball.radius:g}"
        h = {m: s.at(ITERATIONS) for m, s in series.items()}
        known = [f"{price(results, race):.1e}", f"{facts['gradient']:.1e}", f"{facts['gap']:.0e}"]
        rows.append([radius, *(f"{h[m]:.2e}" for m in PAPER), order(h), *known])
        waves = [stability(series[m]) for m in ("fw", "afw")]
        zigzag.append([radius, *(w for median, rise in waves for w in (f"{median:.3g}", percent(rise)))])
        window = WINDOW if race.main else 0
        (first if race.main else others).append(error_panel(race.title, series.values(), window=window, hidden=BEYOND))
    words = Words("fig2", largest=LARGEST, window=WINDOW, settled=SETTLED, floor=first[0].floor, iterations=ITERATIONS)
    figures = [words.figure("fig2", first), *([words.figure("fig2-radii", others, 2)] if others else [])]
    return words.section(figures, {"fig2-radii": rows, "fig2-stability": zigzag})


def percent(rise: float) -> str:
    """Return a rise in words: in percent, or as a factor where that is easier to read."""
    return f"+{100 * rise:.0f} %" if rise < 100 else f"times {1 + rise:.0f}"


def stability(series: Series) -> tuple[float, float]:
    """Return the median of max/min within windows, and the largest relative rise from one iteration to the next.

    The first `SETTLED` iterations (of short runs the first fifth) do not count, nor do rises below ten times the
    accuracy of f*.
    """
    h = np.maximum(series.h, 10 * max(series.floor, 1e-16))[min(SETTLED, series.h.size // 5) :]
    windows = np.lib.stride_tricks.sliding_window_view(h, min(WINDOW, h.size))
    rises = h[1:] / h[:-1] - 1
    return float(np.median(windows.max(axis=1) / windows.min(axis=1))), float(np.max(rises, initial=0.0))


def inactive(results: Results, quick: bool) -> Found:
    cases, main = [], ""
    for race in races(quick):
        series = results.race(race)
        errors, cost = {m: series[m].at(ITERATIONS) for m in PAPER}, price(results, race)
        words = f"the ball costs {f'{cost:.0e}' if cost else 'nothing'}, the error of AFW is {errors['afw']:.0e}"
        if cost > UNSEEN * errors["afw"]:
            cases.append(Case(race.short, OUTSIDE, "not judged", words))
            continue
        h = {m: series[m].highest[1:] for m in PAPER}
        kind, where = ordering(series["afw"].k[1:], (h["agm"] < h["afw"]) & (h["afw"] < np.minimum(h["gd"], h["fw"])))
        cases.append(Case(race.short, kind, f"{where}; at the end {order(errors)}", words))
        main = where if race.main else main
    return Found(cases, {"where": main, "radius": RADIUS})


def stable(results: Results, quick: bool) -> Found:
    cases, values = [], {"window": WINDOW, "settled": SETTLED}
    for race in (*races(quick), *fig3.races(quick)):
        series = results.race(race)
        (plain, rise), (ours, our_rise) = (stability(series[m]) for m in ("fw", "afw"))
        told = {"plain": plain, "ours": ours, "rise": percent(rise), "our_rise": percent(our_rise)}
        if (race.data, race.main) == (DATA, True):
            values |= told
        words = "largest rise {rise} for FW, {our_rise} for AFW; median ratio {plain:.3g} and {ours:.3g}".format(**told)
        level = max(rise, our_rise) < RIPPLE
        kind = OUTSIDE if level else HOLDS if our_rise <= rise / 2 else PARTLY if our_rise < rise else FAILS
        cases.append(Case(race.short, kind, words, "neither error rises by more than a twentieth" * level))
    more = listed(cases, FAILS)
    against = f"AFW's error rises by more than FW's at {more}." if more else "AFW's never rises by more."
    return Found(cases, values | {"seen": listed(cases, HOLDS) or "no radius", "against": against})
