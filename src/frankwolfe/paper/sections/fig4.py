"""Figure 4: matrix completion on MovieLens 100K; optimality and rank."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from frankwolfe.paper.problems import METHODS, Ball, Data
from frankwolfe.paper.publication.figure_data import AXES, Curve, Panel, Section, error_panel, method_curve
from frankwolfe.paper.reference import LOOSER, Reference
from frankwolfe.paper.runner import Results
from frankwolfe.paper.runs import Run, Series
from frankwolfe.paper.store import Task
from frankwolfe.paper.words import Words
from frankwolfe.plotting.palette import GREY

DATA = Data("movielens100k")
BALL = Ball("nuclear", 2.5)
STATIONS = (50, 100, 150, 300, 500)
START = "rank-one"  # Freund, Grigas and Mazumder's, which the paper takes over
BASELINE_ITERATIONS = 60
FROM_ZERO = 240  # iterations from X₀ = 0, for the reading of “1.4×” alone


def iterations(quick: bool) -> int:
    return 150 if quick else 500


def baseline(quick: bool) -> Run:
    """Return the restarted projected AGM that the paper leaves out as too expensive."""
    return Run(DATA, BALL, "agm-restart", 25 if quick else BASELINE_ITERATIONS, ranks=True, start=START)


def from_zero(quick: bool) -> dict[str, Run]:
    """Return FW and AFW from X₀ = 0, which the paper does not start from."""
    return {m: Run(DATA, BALL, m, min(FROM_ZERO, iterations(quick))) for m in ("fw", "afw")}


def runs(quick: bool) -> list[Run]:
    """Return FW and AFW with ranks, line-search FW, and the projected baseline."""
    main = [Run(DATA, BALL, m, iterations(quick), ranks=True, start=START) for m in ("fw", "afw")]
    if quick:
        return [*main, baseline(quick)]
    return [*main, Run(DATA, BALL, "fw-line", 300, start=START), baseline(quick)]


def tasks(quick: bool) -> list[Task]:
    return [Reference(DATA, BALL, LOOSER[2 if quick else 0]), *reversed(runs(quick)), *from_zero(quick).values()]


def series(results: Results, quick: bool) -> dict[str, Series]:
    """Return the runs next to the optimum, by method."""
    return {run.method: results.series(run) for run in runs(quick)}


def section(results: Results, quick: bool) -> Section:
    shown = series(results, quick)
    optimum = results.optimum(DATA, BALL).facts
    both, counts = [shown["fw"], shown["afw"]], ("rank", "rank_relative", "n_matvec")
    rows = [
        [k, *(f"{s.at(k):.2e}" for s in both), *(f"{_value(s, column, k):.0f}" for column in counts for s in both)]
        for k in STATIONS
        if k <= iterations(quick)
    ]
    words = Words("fig4", **{name: optimum[name] for name in ("fun", "gap", "nonzeros")})
    panels = [
        error_panel(f"error, {BALL.label}", list(shown.values())),
        Panel("rank of xₖ", _ranks(shown), ylabel="rank", log=(True, False)),
        Panel(
            "error against arithmetic", _arithmetic(shown), floor=optimum["gap"], xlabel="Gflop of products and SVDs"
        ),
    ]
    tables = {"fig4-stations": rows, "fig4-readings": _readings(results, quick), "fig4-cost": _cost(results, quick)}
    figure = words.figure("fig4", panels, 3, ("k", "time", "n_pass", "n_matvec"))
    return words.section([figure], [words.table(key, lines) for key, lines in tables.items()])


def readings(results: Results, quick: bool, start: str = START) -> dict[int, tuple[float, float]]:
    """Return by AFW's k how many times smaller its error is than FW's, and how many times more steps FW needs."""
    both = series(results, quick) if start == START else {m: results.series(r) for m, r in from_zero(quick).items()}
    plain, ours = both["fw"], both["afw"]
    out = {}
    for k in (k for k in STATIONS if k <= ours.k[-1]):
        reached = np.flatnonzero(plain.highest <= ours.at(k))
        out[k] = plain.at(k) / ours.at(k), float(plain.k[reached[0]]) / k if reached.size else float("nan")
    return out


def _readings(results: Results, quick: bool) -> list[list[Any]]:
    found, zero = (readings(results, quick, start) for start in (START, "zero"))
    rows = ((k, *pair, *zero.get(k, (math.nan, math.nan))) for k, pair in found.items())
    return [[k, *(_number(v, ".2f") for v in values)] for k, *values in rows]


def _number(value: float, form: str) -> str:
    return f"{value:{form}}" if math.isfinite(value) else "not reached"


PRODUCT_FLOPS = 2 * 100_000  # with the matrix or its transpose, on 100 000 ratings
PROJECTION_FLOPS = 4 * 943**2 * 1682 + 9 * 943**3  # Gram matrix, its eigenvectors, and the matrix put together again


def cost(results: Results, quick: bool) -> dict[float, dict[str, float]]:
    """Return by error what AFW and restarted AGM had counted when they first reached it (NaN: never)."""
    ours, agm = (series(results, quick)[m] for m in ("afw", "agm-restart"))
    out = {}
    for goal in (1e-1, 1e-2, 1e-3, *(() if quick else (3e-4,))):
        counts = {}
        for name, s, column in (("afw", ours, "n_matvec"), ("agm", agm, "n_proj")):
            reached = np.flatnonzero(s.highest <= goal)
            at = reached[0] if reached.size else None
            counts[name] = float("nan") if at is None else float(s.outcome[column][at])
            counts[f"{name}_seconds"] = float("nan") if at is None else float(s.outcome["time"][at])
        counts["afw_flops"], counts["agm_flops"] = counts["afw"] * PRODUCT_FLOPS, counts["agm"] * PROJECTION_FLOPS
        out[goal] = counts
    return out


def _cost(results: Results, quick: bool) -> list[list[Any]]:
    return [
        [
            f"{goal:.0e}",
            *(_number(c[n], ".0f") for n in ("afw", "agm")),
            *(_number(c[n] / 1e9, ".3g") for n in ("afw_flops", "agm_flops")),
            *(_number(c[n], ".2g") for n in ("afw_seconds", "agm_seconds")),
        ]
        for goal, c in cost(results, quick).items()
    ]


def _arithmetic(shown: dict[str, Series]) -> list[Curve]:
    """Return errors against what was counted: products with the matrix for FW and AFW, SVDs for AGM."""
    curves = []
    for method, column, flops in (
        ("fw", "n_matvec", PRODUCT_FLOPS),
        ("afw", "n_matvec", PRODUCT_FLOPS),
        ("agm-restart", "n_proj", PROJECTION_FLOPS),
    ):
        s, spent = shown[method], shown[method].outcome[column] * flops / 1e9
        curves.append(method_curve(method, dict.fromkeys(AXES, spent), s.h, dash=METHODS[method].dash))
    return curves


def _value(series: Series, column: str, k: int) -> float:
    values = series.outcome[column]
    seen = np.flatnonzero(np.isfinite(values) & (series.k <= k))
    return float(values[seen[-1]])


def _ranks(series: dict[str, Series]) -> list[Curve]:
    curves = []
    for method in ("fw", "afw", "agm-restart"):
        found, shown = series[method].outcome, method != "agm-restart"
        for column, words, dash, mode in (
            ("rank", ", above 1e-6", "solid", "lines+markers"),
            ("rank_relative", ", above 1e-3 σ₁", "dot", "lines"),
        ):
            counted = np.flatnonzero(np.isfinite(found[column]))
            x = {axis: found[axis][counted] for axis in AXES}
            curves.append(method_curve(method, x, found[column][counted], words, dash=dash, shown=shown, mode=mode))
    bounded = series["fw"].k <= 400
    x = {axis: series["fw"].outcome[axis][bounded] for axis in AXES}
    return [*curves, Curve("k + 1", x, x["k"] + 1, GREY, "dash", 1.4)]
