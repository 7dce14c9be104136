"""Figure 3: l2 and l1 balls on mushrooms, mnist (digit 4) and covtype."""

from __future__ import annotations

from itertools import product

from frankwolfe.paper.problems import BEYOND, METHODS, PAPER, Ball, Data
from frankwolfe.paper.publication.figure_data import Section, error_panel
from frankwolfe.paper.runner import Results
from frankwolfe.paper.runs import Race
from frankwolfe.paper.store import Task
from frankwolfe.paper.words import Words

DATASETS = ("mushrooms", "mnist", "covtype")
MAIN = {
    ("mushrooms", "l2"): (20.0,),
    ("mushrooms", "l1"): (60.0,),
    ("covtype", "l2"): (5.0, 20.0),  # at 60 the ball is not active on these data
}
DEFAULT_MAIN = (60.0,)
NEIGHBOURS = {"mushrooms": (1.0, 5.0, 10.0), "mnist": (5.0, 20.0), "covtype": (5.0, 20.0, 60.0)}
SAMPLES = {"mushrooms": 0, "mnist": 3000, "covtype": 20000}
"""Rows of the random sample on which neighbouring radii are run, and everything in the quick form; zero: all."""

ITERATIONS = 500


def race(data: Data, kind: str, radius: float, methods: tuple[str, ...] = PAPER[1:], main: bool = False) -> Race:
    return Race(data, Ball(kind, radius), methods, ITERATIONS, main)


def main(name: str, kind: str, quick: bool) -> list[Race]:
    """Return the main panels of one dataset and kind of ball."""
    data = Data(name, rows=SAMPLES[name] if quick else 0)
    return [race(data, kind, r, PAPER + BEYOND, main=True) for r in MAIN.get((name, kind), DEFAULT_MAIN)]


def races(quick: bool, kinds: tuple[str, ...] = ("l2", "l1")) -> list[Race]:
    """Return every panel: the main ones, then neighbouring radii, of AGM, FW and AFW on samples of the rows."""
    pairs = [(name, kind) for kind, name in product(kinds, DATASETS)]
    first = [r for name, kind in pairs for r in main(name, kind, quick)]
    shown = {(r.data, r.ball) for r in first}
    others = [
        race(Data(name, rows=SAMPLES[name]), kind, radius)
        for name, kind in pairs
        for radius in (NEIGHBOURS[name][1:2] if quick else NEIGHBOURS[name])
    ]
    return [*first, *(r for r in others if (r.data, r.ball) not in shown)]


def tasks(quick: bool) -> list[Task]:
    return [task for r in races(quick) for task in r.tasks]


def section(results: Results, quick: bool) -> Section:
    panels, extra, rows = [], [], []
    for r in races(quick):
        series, facts = results.race(r), results.optimum(r)
        (panels if r.main else extra).append(error_panel(r.title, series.values(), hidden=BEYOND))
        h = {m: series[m].at(ITERATIONS) for m in PAPER[1:]}
        ball = "active" if facts["active"] else "not active"
        mu = "" if facts["mu"] is None else f"{facts['mu']:.3g}"
        best = METHODS[min(h, key=lambda m: h[m])].name
        known = [best, ball, f"{facts['gradient']:.1e}", mu, f"{facts['nonzeros']}"]
        rows.append([f"{'★ ' if r.main else ''}{r.title}", *(f"{value:.2e}" for value in h.values()), *known])
    words = Words("fig3", iterations=ITERATIONS)
    figures = [words.figure("fig3", panels, 2), words.figure("fig3-radii", extra, 3)]
    return words.section(figures, [words.table("fig3-radii", rows)])
