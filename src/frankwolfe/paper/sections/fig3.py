"""Figure 3: l2 and l1 balls on mushrooms, mnist (digit 4) and covtype."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np

from frankwolfe.paper.problems import BEYOND, METHODS, PAPER, Ball, Data
from frankwolfe.paper.publication.figure_data import Section, error_panel
from frankwolfe.paper.runner import Results
from frankwolfe.paper.runs import Race
from frankwolfe.paper.store import Task
from frankwolfe.paper.verdicts import FAILS, HOLDS, OUTSIDE, PARTLY, Case, Found, Judge, counted, listed, ordering
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
CLEARLY = 2.0  # "much faster": at most half the error
COMPARABLE = 3.0  # "comparable": within this factor


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
    return words.section(figures, {"fig3-radii": rows})


Test = Callable[[np.ndarray, np.ndarray], np.ndarray]


def compare(results: Results, races: Sequence[Race], against: str, test: Test) -> tuple[str, str, list[float]]:
    """Return the verdict on an ordering in every race, the k at which it is seen, and the ratios of errors at the end.

    `test` gets the errors of the other method and of AFW: the largest from k on, and no less than the accuracy of f*.
    """
    k, true, ends = np.empty(0), [], []
    for pair in map(results.race, races):
        k, known = pair["afw"].k[1:], max(pair["afw"].floor, 1e-16)
        theirs, ours = (np.maximum(pair[method].highest[1:], known) for method in (against, "afw"))
        true.append(test(theirs, ours))
        ends.append(float(theirs[-1] / ours[-1]))
    return *ordering(k, np.all(true, axis=0)), ends


def _compared(results: Results, race: Race, against: str, test: Test) -> tuple[Case, float]:
    """Return the case of one panel, and the ratio of errors at its end."""
    facts = results.optimum(race)
    words = f"the ball is {'active' if facts['active'] else 'not active'}: |∇f(x*)| = {facts['gradient']:.1e}"
    if not facts["active"]:
        return Case(race.short, OUTSIDE, "not judged", words), 0.0
    kind, where, (end,) = compare(results, [race], against, test)
    measured = f"{where}; {METHODS[against].name} error / AFW error at the end {end:.3g}"
    return Case(race.short, kind, measured, words), end


def faster(results: Results, quick: bool) -> Found:
    cases = [_compared(results, race, "fw", lambda fw, afw: fw >= CLEARLY * afw)[0] for race in races(quick)]
    late, missed = listed(cases, PARTLY), listed(cases, FAILS)
    values = {kind: counted([c for c in cases if f" {kind} " in c.name]) for kind in ("l2", "l1")}
    values["late"] = f"Over a part of the run only at {late}." if late else ""
    values["missed"] = f"At hardly any k at {missed}." if missed else ""
    return Found(cases, values)


TESTS: dict[str, Test] = {
    "better": lambda agm, afw: afw < agm,
    "worse": lambda agm, afw: afw > agm,
    "comparable": lambda agm, afw: (agm <= COMPARABLE * afw) & (afw <= COMPARABLE * agm),
}


def against_agm(kind: str, **expected: str) -> Judge:
    def judge(results: Results, quick: bool) -> Found:
        shown = races(quick, (kind,))
        found = [_compared(results, race, "agm", TESTS[expected[race.data.name]]) for race in shown]
        ends = [(race, case, end > 1) for race, (case, end) in zip(shown, found, strict=True) if end]
        values = {
            "wanted": ", ".join(f"{name} {what}" for name, what in expected.items()),
            "extra": f" (comparable: within a factor {COMPARABLE:g})" if "comparable" in expected.values() else "",
            "ahead": listed([c._replace(verdict=HOLDS) for _, c, ahead in ends if ahead], HOLDS) or "no radius",
            "behind": sum(not ahead for *_, ahead in ends),
            "radius": _decided_by_radius([(race, ahead) for race, _, ahead in ends]),
        }
        return Found([c for c, _ in found], values)

    return judge


def _decided_by_radius(ends: list[tuple[Race, bool]]) -> str:
    """Return a sentence on the datasets with balls on which either ends ahead, if AFW's are always the larger ones."""
    won, lost = ([(r.data.name, r.ball.radius) for r, ahead in ends if ahead is wanted] for wanted in (True, False))
    pairs = [(name, radius > other) for name, radius in won for same, other in lost if name == same]
    *others, last = dict.fromkeys(name for name, _ in pairs) or [""]
    names = f"{', '.join(others)} and {last}" if others else last
    larger = pairs and all(larger for _, larger in pairs)
    return f"On {names} AFW ends ahead on the larger balls and AGM on the smaller ones." if larger else ""


l2_agm = against_agm("l2", mushrooms="better", mnist="better", covtype="worse")
l1_agm = against_agm("l1", mushrooms="better", mnist="comparable", covtype="comparable")
