"""What an iteration costs: oracle calls against conditional gradient sliding, passes and projections against AGM."""

from __future__ import annotations

import numpy as np

from frankwolfe.paper.problems import Ball, Data, Problem
from frankwolfe.paper.publication.figure_data import Panel, Section, error_panel, method_curve
from frankwolfe.paper.reference import Reference
from frankwolfe.paper.runner import Results
from frankwolfe.paper.runs import Run, Series
from frankwolfe.paper.sections import fig3
from frankwolfe.paper.store import Task
from frankwolfe.paper.words import Words

PROBLEMS = (
    Problem(Data("gaussian"), Ball("l2", 5.0)),
    Problem(Data("gaussian"), Ball("l1", 10.0)),
    Problem(Data("mushrooms"), Ball("l2", 20.0)),
    Problem(Data("mushrooms"), Ball("l1", 60.0)),
)
STEPS = 300  # of sliding


def runs(problem: Problem) -> list[Run]:
    """Return FW, AFW and CGS on one ball; the first two are those of Figure 3 where that has them."""
    steps = {"fw": fig3.ITERATIONS, "afw": fig3.ITERATIONS, "cgs": STEPS}
    return [Run(problem.data, problem.ball, method, count) for method, count in steps.items()]


def tasks(quick: bool) -> list[Task]:
    return [t for p in PROBLEMS for t in (Reference(p.data, p.ball), *runs(p))]


def sliding(results: Results, problem: Problem) -> dict[str, float]:
    """Return oracle calls per step of AFW and CGS (most and mean), and both errors at the same number of calls."""
    series = {run.method: results.series(run) for run in runs(problem)}
    ours, theirs = series["afw"], series["cgs"]
    calls = np.diff(theirs.outcome["n_lmo"])
    budget = min(ours.outcome["n_lmo"][-1], theirs.outcome["n_lmo"][-1])
    return {
        "afw": float(np.max(np.diff(ours.outcome["n_lmo"]))),
        "cgs_mean": float(np.mean(calls)),
        "cgs_most": float(np.max(calls)),
        "budget": float(budget),
        "h_afw": _at(ours, budget),
        "h_cgs": _at(theirs, budget),
    }


def _at(series: Series, calls: float) -> float:
    return float(series.h[np.searchsorted(series.outcome["n_lmo"], calls, side="right") - 1])


def per_iteration(results: Results, name: str, quick: bool) -> dict[str, dict[str, float]]:
    """Return passes, projections and seconds per iteration of AFW and AGM on an l1 ball of Figure 3."""
    runs = {run.method: run for run in fig3.runs(fig3.main(name, "l1", quick)[0])}
    columns = {"passes": "n_pass", "projections": "n_proj", "seconds": "time"}
    return {
        m: {word: float(np.ptp(results[runs[m]][c][[0, -1]])) / runs[m].iterations for word, c in columns.items()}
        for m in ("afw", "agm")
    }


def section(results: Results, quick: bool) -> Section:
    panels, rows = [], []
    for problem in PROBLEMS:
        panels.append(error_panel(problem.title, [results.series(run) for run in runs(problem)]))
        s = sliding(results, problem)
        calls = [f"{s['afw']:.0f}", f"{s['cgs_mean']:.2f}", f"{s['cgs_most']:.0f}"]
        rows.append([problem.title, *calls, *(f"{s[h]:.1e}" for h in ("h_afw", "h_cgs"))])
    lines = []
    for name in fig3.DATASETS:
        both = per_iteration(results, name, quick).values()
        counts = [f"{c['passes']:.2f}" for c in both] + [f"{c['projections']:.0f}" for c in both]
        lines.append([fig3.main(name, "l1", quick)[0].title, *counts, *(f"{1e3 * c['seconds']:.2g}" for c in both)])
    words = Words("cost")
    work = [_work(results, fig3.main(name, "l1", quick)[0]) for name in fig3.DATASETS]
    figures = [words.figure("cost", panels, 2, ("n_lmo", "n_grad", "time")), words.figure("cost-l1", work, 3, ("k",))]
    return words.section(figures, [words.table("cost-oracle", rows), words.table("cost-l1", lines)])


def _work(results: Results, problem: fig3.Shown) -> Panel:
    """Return what AFW and AGM have counted after k iterations."""
    curves = []
    for run in (r for r in fig3.runs(problem) if r.method in ("afw", "agm")):
        counted = results[run]
        curves.append(method_curve(run.method, {"k": counted["k"]}, counted["n_pass"], ": passes"))
        if run.method == "agm":
            curves.append(method_curve("agm", {"k": counted["k"]}, counted["n_proj"], ": projections", dash="dot"))
    return Panel(problem.title, curves, ylabel="counted so far", log=(False, False))
