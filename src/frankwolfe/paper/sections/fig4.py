"""Figure 4: matrix completion on MovieLens 100K; optimality and rank."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from frankwolfe.paper.problems import METHODS, Ball, Data
from frankwolfe.paper.publication.figure_data import AXES, Curve, Panel, Section, error_panel, method_curve
from frankwolfe.paper.reference import Reference
from frankwolfe.paper.runner import NotRunError, Results
from frankwolfe.paper.runs import Run, Series
from frankwolfe.paper.store import Task
from frankwolfe.paper.verdicts import FAILS, HOLDS, PARTLY, UNKNOWN, Case, Found, spread_of, stretches, verdict
from frankwolfe.paper.words import Words
from frankwolfe.plotting.style import GREY

DATA = Data("movielens100k")
BALL = Ball("nuclear", 2.5)
STATIONS = (50, 100, 150, 300, 500)
START = "rank-one"  # Freund, Grigas and Mazumder's, which the paper takes over
BASELINE_ITERATIONS = 60
FROM_ZERO = 240  # iterations from X₀ = 0, for the reading of “1.4×” alone
ABOUT = (1.2, 1.7)  # "about 1.4 times"
CROSSING = 300  # past this k the ranks of FW and AFW have crossed
AFFORDABLE = 1000.0  # Gflop: a minute of one core
PRODUCT_FLOPS = 2 * 100_000  # with the matrix or its transpose, on 100 000 ratings
PROJECTION_FLOPS = 4 * 943**2 * 1682 + 9 * 943**3  # Gram matrix, its eigenvectors, and the matrix put together again


def iterations(quick: bool) -> int:
    return 150 if quick else 500


def runs(quick: bool) -> list[Run]:
    """Return FW and AFW with ranks, line-search FW, and the restarted projected AGM that the paper leaves out."""
    main = [Run(DATA, BALL, m, iterations(quick), ranks=True, start=START) for m in ("fw", "afw")]
    searched = [] if quick else [Run(DATA, BALL, "fw-line", 300, start=START)]
    agm = Run(DATA, BALL, "agm-restart", 25 if quick else BASELINE_ITERATIONS, ranks=True, start=START)
    return [*main, *searched, agm]


def from_zero(quick: bool) -> list[Run]:
    """Return FW and AFW from X₀ = 0, which the paper does not start from."""
    return [Run(DATA, BALL, m, min(FROM_ZERO, iterations(quick))) for m in ("fw", "afw")]


def tasks(quick: bool) -> list[Task]:
    return [Reference(DATA, BALL), *reversed(runs(quick)), *from_zero(quick)]


def series(results: Results, chosen: list[Run]) -> dict[str, Series]:
    """Return runs next to the optimum, by method."""
    return {run.method: results.series(run) for run in chosen}


def reached(s: Series, error: float) -> int | None:
    """Return the row from which a run's error stays at or below this one, None if that does not happen."""
    rows = np.flatnonzero(s.highest <= error)
    return int(rows[0]) if rows.size else None


def readings(results: Results, chosen: list[Run]) -> dict[int, tuple[float, float]]:
    """Return by AFW's k how many times smaller its error is than FW's, and how many times more steps FW needs."""
    both = series(results, chosen)
    plain, ours, out = both["fw"], both["afw"], {}
    for k in (k for k in STATIONS if k <= ours.k[-1]):
        at = reached(plain, ours.at(k))
        out[k] = plain.at(k) / ours.at(k), math.nan if at is None else float(plain.k[at]) / k
    return out


class Cost(NamedTuple):
    """What a method had counted and used when it first reached an error; NaN if it never did."""

    count: float
    gflop: float
    seconds: float


COUNTED = {  # the column that counts, and the work that one of it is
    "fw": ("n_matvec", PRODUCT_FLOPS),
    "afw": ("n_matvec", PRODUCT_FLOPS),
    "agm-restart": ("n_proj", PROJECTION_FLOPS),
}


def cost(results: Results, quick: bool) -> dict[float, tuple[Cost, Cost]]:
    """Return by error what AFW (products with the matrix) and restarted AGM (SVDs) took to it."""
    both = {m: s for m, s in series(results, runs(quick)).items() if m in ("afw", "agm-restart")}

    def spent(method: str, goal: float) -> Cost:
        s, (column, flops) = both[method], COUNTED[method]
        at = reached(s, goal)
        if at is None:
            return Cost(math.nan, math.nan, math.nan)
        return Cost(s.outcome[column][at], s.outcome[column][at] * flops / 1e9, s.outcome["time"][at])

    goals = (1e-1, 1e-2, 1e-3, *(() if quick else (3e-4,)))
    return {goal: (spent("afw", goal), spent("agm-restart", goal)) for goal in goals}


def section(results: Results, quick: bool) -> Section:
    shown, optimum = series(results, runs(quick)), results.optimum(runs(quick)[0])
    both, counts = [shown["fw"], shown["afw"]], ("rank", "rank_relative", "n_matvec")
    stations = [
        [k, *(f"{s.at(k):.2e}" for s in both), *(f"{_value(s, column, k):.0f}" for column in counts for s in both)]
        for k in STATIONS
        if k <= iterations(quick)
    ]
    found, zero = readings(results, runs(quick)), readings(results, from_zero(quick))
    read = [[k, *(_number(v, ".2f") for v in (*pair, *zero.get(k, (math.nan, math.nan))))] for k, pair in found.items()]
    forms = {"count": ".0f", "gflop": ".3g", "seconds": ".2g"}
    costs = [
        [f"{goal:.0e}", *(_number(getattr(c, field), form) for field, form in forms.items() for c in pair)]
        for goal, pair in cost(results, quick).items()
    ]
    words = Words("fig4", **{name: optimum[name] for name in ("fun", "gap", "nonzeros")})
    work = [
        method_curve(m, dict.fromkeys(AXES, shown[m].outcome[c] * f / 1e9), shown[m].h, dash=METHODS[m].dash)
        for m, (c, f) in COUNTED.items()
    ]
    panels = [
        error_panel(f"error, {BALL.label}", shown.values(), hidden=tuple(shown)[2:]),
        Panel("rank of xₖ", _ranks(shown), ylabel="rank", log=(True, False)),
        Panel("error against arithmetic", work, floor=optimum["gap"], xlabel="Gflop of products and SVDs"),
    ]
    figure = words.figure("fig4", panels, 2, ("k", "time", "n_pass", "n_matvec"))
    return words.section([figure], {"fig4-stations": stations, "fig4-readings": read, "fig4-cost": costs})


def _number(value: float, form: str) -> str:
    return f"{value:{form}}" if math.isfinite(value) else "not reached"


def _value(series: Series, column: str, k: int) -> float:
    values = series.outcome[column]
    return float(values[np.flatnonzero(np.isfinite(values) & (series.k <= k))[-1]])


def _ranks(series: dict[str, Series]) -> list[Curve]:
    curves = []
    looks = ("rank", ", above 1e-6", "solid", "lines+markers"), ("rank_relative", ", above 1e-3 σ₁", "dot", "lines")
    for method in ("fw", "afw", "agm-restart"):
        found, shown = series[method].outcome, method != "agm-restart"
        for column, words, dash, mode in looks:
            counted = np.flatnonzero(np.isfinite(found[column]))
            x = {axis: found[axis][counted] for axis in AXES}
            curves.append(method_curve(method, x, found[column][counted], words, dash=dash, shown=shown, mode=mode))
    bounded = series["fw"].k <= 400
    x = {axis: series["fw"].outcome[axis][bounded] for axis in AXES}
    return [*curves, Curve("k + 1", x, x["k"] + 1, GREY, "dash", 1.4)]


def completion(results: Results, quick: bool) -> Found:
    both, zero = (readings(results, chosen(quick)) for chosen in (runs, from_zero))
    cases = []
    for k, (error, steps) in both.items():
        reached = np.isfinite(steps)
        words = f"{steps:.2f} times the iterations" if reached else "FW does not get there"
        kind = verdict(ABOUT[0] <= steps <= ABOUT[1]) if reached else UNKNOWN
        cases.append(Case(f"AFW at k = {k}", kind, f"{words}; {error:.2f} times the error"))
    early = [[s for k, (_, s) in found.items() if k <= 150 and np.isfinite(s)] for found in (both, zero)]
    times, from_start = (f"{spread_of(found, 3)} times" if found else "more than" for found in early)
    errors = spread_of([error for error, _ in both.values()], 3)
    return Found(cases, {"times": times, "zero": from_start, "errors": errors, "low": ABOUT[0], "high": ABOUT[1]})


def rank(results: Results, quick: bool) -> Found:
    cases, ends = [], []
    plain, ours = (series(results, runs(quick))[m].outcome for m in ("fw", "afw"))
    for column, name in (("rank", "σ above 1e-6"), ("rank_relative", "σ above 1e-3 σ₁")):
        seen = np.isfinite(plain[column]) & np.isfinite(ours[column])
        k, high, low = plain["k"][seen], plain[column][seen], ours[column][seen]
        ranges = stretches(k, low < high)
        crossed = bool(ranges) and ranges[-1][1] == k[-1]
        if not crossed and k[-1] < CROSSING:
            cases.append(Case(name, UNKNOWN, f"the run ends at k = {k[-1]:.0f}, before the ranks cross"))
            continue
        ends.append(f"{high[-1]:.0f} (FW), {low[-1]:.0f} (AFW) at k = {k[-1]:.0f}")
        kind = FAILS if not crossed else HOLDS if high[-1] >= 1.1 * low[-1] else PARTLY
        where = f"lower from k = {ranges[-1][0]} on" if crossed else "not lower at the end"
        cases.append(Case(name, kind, f"{where}: {ends[-1]}"))
    return Found(cases, {"ranks": ends[0] if ends else "not run that far"})


def rank_bound(results: Results, quick: bool) -> Found:
    cases = []
    for method, s in list(series(results, runs(quick)).items())[:2]:
        excess = s.outcome["rank"] - (s.k + 1)
        most = float(np.nanmax(excess))
        words = f"largest rank − (k + 1): {most:.0f}, at k = {s.k[np.nanargmax(excess)]:.0f}"
        cases.append(Case(method.upper(), verdict(most <= 0), words, "rank X₀ = 1"))
    return Found(cases, {"excess": cases[-1].measured.split(",")[0]})


def expensive(results: Results, quick: bool) -> Found:
    cases, ratios, last, affordable = [], [], "", True
    for goal, (ours, agm) in cost(results, quick).items():
        name = f"more expensive at error {goal:.0e}"
        if not (np.isfinite(ours.count) and np.isfinite(agm.count)):
            cases.append(Case(name, UNKNOWN, "one of the two does not reach it in this run"))
            continue
        ratios.append(agm.gflop / max(ours.gflop, 1e-9))
        words = f"AFW {ours.count:.0f} products, AGM {agm.count:.0f} SVDs: {ratios[-1]:.2g} times AFW's arithmetic"
        cases.append(Case(name, verdict(ratios[-1] > 1), words))
        affordable = agm.gflop < AFFORDABLE
        last = f"{agm.count:.0f} SVDs ({agm.gflop:.0f} Gflop) reach an error of {goal:.0e}"
    if not ratios:
        raise NotRunError("no error that both methods reach")
    words = f"a minute of one core: {AFFORDABLE:g} Gflop"
    cases.append(Case("out of reach at this size", verdict(not affordable), last, words))
    return Found(cases, {"ratios": spread_of(ratios, 3), "beyond": "not " if affordable else "", "last": last})
