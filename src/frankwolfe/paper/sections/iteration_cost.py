"""What an iteration costs: oracle calls against conditional gradient sliding, passes and projections against AGM."""

from __future__ import annotations

import numpy as np

from frankwolfe.paper.problems import Ball, Data, Problem
from frankwolfe.paper.publication.figure_data import Panel, Section, error_panel, method_curve
from frankwolfe.paper.runner import Results
from frankwolfe.paper.runs import Race, Series
from frankwolfe.paper.sections import fig3, fig4
from frankwolfe.paper.store import Task
from frankwolfe.paper.verdicts import Case, Found, spread_of, verdict
from frankwolfe.paper.words import Words

PROBLEMS = (
    Problem(Data("gaussian"), Ball("l2", 5.0)),
    Problem(Data("gaussian"), Ball("l1", 10.0)),
    Problem(Data("mushrooms"), Ball("l2", 20.0)),
    Problem(Data("mushrooms"), Ball("l1", 60.0)),
)
STEPS = 300  # of sliding


def races(problem: Problem) -> list[Race]:
    """Return FW and AFW, and CGS, on one ball; the first two are those of Figure 3 where that has them."""
    steps = {("fw", "afw"): fig3.ITERATIONS, ("cgs",): STEPS}
    return [Race(problem.data, problem.ball, methods, count) for methods, count in steps.items()]


def tasks(quick: bool) -> list[Task]:
    return [task for problem in PROBLEMS for race in races(problem) for task in race.tasks]


def runs(results: Results, problem: Problem) -> dict[str, Series]:
    """Return FW, AFW and CGS by method."""
    return {method: s for race in races(problem) for method, s in results.race(race).items()}


def oracle_calls(results: Results, problem: Problem) -> dict[str, float]:
    """Return oracle calls per step of AFW and CGS (most and mean), and both errors at the same number of calls."""
    both = {m: s for m, s in runs(results, problem).items() if m != "fw"}
    calls = {m: s.outcome["n_lmo"] for m, s in both.items()}
    steps = {m: np.diff(c) for m, c in calls.items()}
    budget = min(c[-1] for c in calls.values())
    h = {f"h_{m}": s.h[np.searchsorted(calls[m], budget, side="right") - 1] for m, s in both.items()}
    means = {"afw": steps["afw"].max(), "cgs_mean": steps["cgs"].mean(), "cgs_most": steps["cgs"].max()}
    return {name: float(value) for name, value in {**means, "budget": budget, **h}.items()}


def per_iteration(results: Results, race: Race) -> tuple[dict[str, float], dict[str, float]]:
    """Return passes, projections and seconds per iteration of AFW and AGM on an l1 ball of Figure 3."""
    columns = {"passes": "n_pass", "projections": "n_proj", "seconds": "time"}
    both = results.race(race)
    ours, agm = (
        {word: float(np.ptp(both[m].outcome[c][[0, -1]])) / race.iterations for word, c in columns.items()}
        for m in ("afw", "agm")
    )
    return ours, agm


def on_l1(quick: bool) -> list[Race]:
    return [fig3.main(name, "l1", quick)[0] for name in fig3.DATASETS]


def section(results: Results, quick: bool) -> Section:
    panels, rows = [], []
    for problem in PROBLEMS:
        panels.append(error_panel(problem.title, runs(results, problem).values()))
        s = oracle_calls(results, problem)
        calls = [f"{s['afw']:.0f}", f"{s['cgs_mean']:.2f}", f"{s['cgs_most']:.0f}"]
        rows.append([problem.title, *calls, *(f"{s[h]:.1e}" for h in ("h_afw", "h_cgs"))])
    lines, work = [], []
    for race in on_l1(quick):
        both = per_iteration(results, race)
        counts = [f"{c['passes']:.2f}" for c in both] + [f"{c['projections']:.0f}" for c in both]
        lines.append([race.title, *counts, *(f"{1e3 * c['seconds']:.2g}" for c in both)])
        work.append(_work(race.title, results.race(race)))
    words = Words("cost")
    figures = [words.figure("cost", panels, 2, ("n_lmo", "n_grad", "time")), words.figure("cost-l1", work, 3, ("k",))]
    return words.section(figures, {"cost-oracle": rows, "cost-l1": lines})


def _work(title: str, series: dict[str, Series]) -> Panel:
    """Return what AFW and AGM have counted after k iterations."""
    kinds = (("agm", "n_pass", "passes", "solid"), ("agm", "n_proj", "projections", "dot"))
    curves = [
        method_curve(m, {"k": series[m].k}, series[m].outcome[column], f": {words}", dash=dash)
        for m, column, words, dash in (*kinds, ("afw", "n_pass", "passes", "solid"))
    ]
    return Panel(title, curves, ylabel="counted so far", log=(False, False))


def sliding(results: Results, quick: bool) -> Found:
    found, cases = [oracle_calls(results, problem) for problem in PROBLEMS], []
    for problem, s in zip(PROBLEMS, found, strict=True):
        words = (
            f"AFW {s['afw']:.0f} call a step, CGS {s['cgs_mean']:.2f} on average and {s['cgs_most']:.0f} at most; "
            f"errors after {s['budget']:.0f} calls: AFW {s['h_afw']:.1e}, CGS {s['h_cgs']:.1e}"
        )
        cases.append(Case(problem.short, verdict(s["afw"] == 1 and s["cgs_mean"] > 1.05), words))
    means, most = spread_of([s["cgs_mean"] for s in found], 3), max(s["cgs_most"] for s in found)
    ahead = sum(s["h_afw"] < s["h_cgs"] for s in found)
    return Found(cases, {"means": means, "most": most, "ahead": ahead, "total": len(found)})


def cheaper(results: Results, quick: bool) -> Found:
    cases, ratios = [], []
    for race in on_l1(quick):
        ours, agm = per_iteration(results, race)
        words = (
            f"AFW {ours['passes']:.2f} passes and one look at d numbers, AGM {agm['passes']:.2f} passes and "
            f"{agm['projections']:.0f} projections"
        )
        ratios.append(ours["passes"] / agm["passes"])
        less = ratios[-1] <= 1.1 and ours["projections"] < agm["projections"]
        cases.append(Case(f"{race.data.name} l1", verdict(less), words))
    return Found(cases, {"ratios": spread_of(ratios, 3)})


def free(results: Results, quick: bool) -> Found:
    cases = []
    for race in (r for r in fig3.races(quick) if r.main):
        series = results.race(race)
        ratio = float(series["afw"].outcome["n_pass"][-1] / series["fw"].outcome["n_pass"][-1])
        cases.append(Case(race.short, verdict(ratio <= 1.1), f"{ratio:.3g} times FW's passes", "closed-form oracle"))
    plain, ours = (fig4.series(results, fig4.runs(quick))[m] for m in ("fw", "afw"))
    shown = [k for k in (50, 150, 500) if k <= plain.k[-1]]
    for k in shown:
        at = int(np.searchsorted(plain.k, k))
        ratio = float(ours.outcome["n_matvec"][at] / max(plain.outcome["n_matvec"][at], 1.0))
        words = f"{ratio:.2g} times FW's products"
        cases.append(Case(f"MovieLens, k = {k}", verdict(ratio <= 1.1), words, "iterative oracle"))
    return Found(cases, {"last": cases[-1].measured, "at": shown[-1]})
