"""Figure 3: l2 and l1 balls on mushrooms, mnist (digit 4) and covtype."""

from __future__ import annotations

from dataclasses import dataclass

from frankwolfe.paper.problems import METHODS, Ball, Data, Problem
from frankwolfe.paper.publication.figure_data import Section, error_panel
from frankwolfe.paper.reference import LOOSER, Reference
from frankwolfe.paper.runner import Results
from frankwolfe.paper.runs import Run
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

PAPER = ("gd", "agm", "fw", "afw")
BEYOND = ("fw-short", "afw-line")
ITERATIONS = 500


@dataclass(frozen=True)
class Shown(Problem):
    """A panel, and whether it is a main one."""

    main: bool


def main(name: str, kind: str, quick: bool) -> list[Shown]:
    """Return the main panels of one dataset and kind of ball."""
    data = Data(name, rows=SAMPLES[name] if quick else 0)
    return [Shown(data, Ball(kind, r), True) for r in MAIN.get((name, kind), DEFAULT_MAIN)]


def problems(quick: bool, kinds: tuple[str, ...] = ("l2", "l1")) -> list[Shown]:
    """Return every panel: the main ones, then neighbouring radii on samples of the rows."""
    pairs = [(name, kind) for kind in kinds for name in DATASETS]
    first = [p for name, kind in pairs for p in main(name, kind, quick)]
    shown = {(p.data, p.ball) for p in first}
    others = [
        Shown(Data(name, rows=SAMPLES[name]), Ball(kind, r), False)
        for name, kind in pairs
        for r in (NEIGHBOURS[name][1:2] if quick else NEIGHBOURS[name])
    ]
    return [*first, *(p for p in others if (p.data, p.ball) not in shown)]


def runs(problem: Shown) -> list[Run]:
    """Return the runs on one problem; on other than a main panel only AGM, FW and AFW."""
    methods = PAPER + BEYOND if problem.main else PAPER[1:]
    return [Run(problem.data, problem.ball, method, ITERATIONS) for method in methods]


def tasks(quick: bool) -> list[Task]:
    return [t for p in problems(quick) for t in (reference(p.data, p.ball), *runs(p))]


def reference(data: Data, ball: Ball) -> Reference:
    """Return the solve that gives f*; with many features a looser one, still far below the errors."""
    return Reference(data, ball, LOOSER[1] if data.name == "mnist" else 0.0)


def errors(results: Results, problem: Shown) -> dict[str, float]:
    """Return h at the last iteration, by method."""
    return {run.method: results.series(run).at(ITERATIONS) for run in runs(problem)}


def section(results: Results, quick: bool) -> Section:
    panels, extra, rows = [], [], []
    for problem in problems(quick):
        panel = error_panel(problem.title, [results.series(run) for run in runs(problem)], hidden=BEYOND)
        (panels if problem.main else extra).append(panel)
        rows.append(_row(results, problem))
    words = Words("fig3", iterations=ITERATIONS)
    figures = [words.figure("fig3", panels, 2), words.figure("fig3-radii", extra, 3)]
    return words.section(figures, [words.table("fig3-radii", rows)])


def _row(results: Results, problem: Shown) -> list[str]:
    h = errors(results, problem)
    facts = results.optimum(problem.data, problem.ball).facts
    best = min(PAPER[1:], key=lambda m: h[m])
    mu = "" if facts["mu"] is None else f"{facts['mu']:.3g}"
    return [
        f"{'★ ' if problem.main else ''}{problem.title}",
        *(f"{h[m]:.2e}" for m in PAPER[1:]),
        METHODS[best].name,
        "active" if facts["active"] else "not active",
        f"{facts['gradient']:.1e}",
        mu,
        f"{facts['nonzeros']}",
    ]
