"""Rates on every kind of set that the paper speaks of, measured as slopes over several draws of data."""

from __future__ import annotations

import math

import numpy as np

from frankwolfe.paper.problems import GROUP_SIZE, Ball, Data
from frankwolfe.paper.publication.figure_data import Section, error_panel
from frankwolfe.paper.rates import Slope, pooled, slope
from frankwolfe.paper.runner import Results
from frankwolfe.paper.runs import Race, Series
from frankwolfe.paper.sections import fig2, fig3, fig4, rate_reasons
from frankwolfe.paper.store import Task
from frankwolfe.paper.verdicts import (
    FAILS,
    FAST,
    HOLDS,
    OUTSIDE,
    Case,
    Found,
    Judge,
    listed,
    speed,
    spread_of,
    verdict,
)
from frankwolfe.paper.words import Words

BALLS = (
    Ball("l2", 1.0),
    Ball("l2", 5.0),
    Ball("l2", 20.0),
    Ball("l1", 10.0),
    Ball("lp", 3.0, 1.5),
    Ball("lp", 1.0, 3.0),
    Ball("lp", 0.01, 3.0),
    Ball("lp", 3.0, 6.0),
    Ball("lp", 0.01, 6.0),
    Ball("ksupport", 0.001, 10),
    Ball("ksupport", 3.0, 10),
    Ball("group", 5.0, 1.0),
    Ball("group", 5.0, 1.5),
    Ball("group", 5.0, 1.5, inner=1.5),
)
QUICK = tuple(BALLS[i] for i in (1, 3, 4, 8, 9, 12))
METHODS_SHOWN = ("fw", "afw", "afw-line")
SEEDS = 3
TIE = 1e-6
"""Entries of ∇f(x*) within this share of the largest are tied: f* is not known well enough to tell them apart."""


def balls(quick: bool) -> tuple[Ball, ...]:
    return QUICK if quick else BALLS


def window(quick: bool) -> tuple[int, int]:
    """Return the range of iterations on which slopes are fitted."""
    return (100, 1000) if quick else (300, 3000)


def races(ball: Ball, quick: bool) -> list[Race]:
    """Return the races on one ball, one for each draw of the data."""
    draws = range(2 if quick else SEEDS)
    return [Race(Data("gaussian", seed=seed), ball, METHODS_SHOWN, window(quick)[1]) for seed in draws]


def tasks(quick: bool) -> list[Task]:
    return [task for ball in balls(quick) for race in races(ball, quick) for task in race.tasks]


def draws(results: Results, ball: Ball, quick: bool) -> list[dict[str, Series]]:
    """Return the runs on one ball by method, for each draw of the data."""
    return [results.race(race) for race in races(ball, quick)]


def hypothesis(results: Results, ball: Ball, quick: bool) -> tuple[bool, str]:
    """Return whether the paper's result for this kind of set applies, in every draw, and what was checked.

    Everywhere the constraint must be active. l1: one entry of ∇f(x*) is largest in modulus. l_p: no entry of ∇f(x*) is
    zero. k-support: the k-th largest entry is ahead of the next. Groups: s and p in (1, 2]. f is smooth in every norm
    here; by how much in the ball's own is said.
    """
    found = [results.optimum(race) for race in races(ball, quick)]
    if not all(facts["active"] for facts in found):
        return False, "the constraint is not active"
    if ball.kind == "group" and not (1 < ball.inner <= 2 and 1 < ball.option <= 2):
        return False, f"s = {ball.inner:g}, p = {ball.option:g}: not both in (1, 2]"
    smooth = f"smooth in this norm with L ≤ {max(facts['smoothness'] for facts in found):.2g}"
    if ball.kind in ("l1", "ksupport"):
        margin = min(facts["margin"] / facts["largest"] for facts in found)
        place = "largest" if ball.kind == "l1" else f"{ball.option:g}-th largest"
        if margin <= TIE:
            return False, f"the {place} entry of ∇f(x*) is tied with the next"
        return True, f"the {place} entry of ∇f(x*) is ahead of the next by {margin:.1e} of the largest; {smooth}"
    if ball.kind == "lp":
        least = min(facts["least"] for facts in found)
        away = all(facts["least"] > TIE * facts["largest"] for facts in found)
        zero = "" if away else ", which cannot be told from zero"
        return away, f"active, |∇f(x*)ᵢ| ≥ λ = {least:.1e}{zero}; {smooth}"
    return True, f"active, |∇f(x*)| ≥ {min(facts['gradient'] for facts in found):.1e}; {smooth}"


def rate(results: Results, ball: Ball, method: str, quick: bool) -> Slope:
    """Return the slope of log h against log k, pooled over the draws of data."""
    series = [draw[method] for draw in draws(results, ball, quick)]
    return pooled([
        slope(s.k, s.highest, *window(quick), floor=max(s.floor, 1e-14), seed=s.run.data.seed) for s in series
    ])  # fmt: skip


def section(results: Results, quick: bool) -> Section:
    first, last = window(quick)
    panels, rows, hypotheses = [], [], []
    for ball in balls(quick):
        found = draws(results, ball, quick)
        panels.append(error_panel(ball.label, found[0].values()))
        ratios = [max(s["fw"].at(last), 1e-15) / max(s["afw"].at(last), 1e-15) for s in found]
        ends = f"{math.exp(float(np.mean(np.log(ratios)))):.3g} ({min(ratios):.2g} to {max(ratios):.2g})"
        rows.append([ball.label, *(str(rate(results, ball, m, quick)) for m in METHODS_SHOWN), ends])
        applies, checked = hypothesis(results, ball, quick)
        hypotheses.append([ball.label, "yes" if applies else "no", checked])
    words = Words("beyond", first=first, last=last, draws=len(races(BALLS[0], quick)), group=GROUP_SIZE)
    tables = {"beyond-slopes": rows, "beyond-hypotheses": hypotheses}
    return words.section([words.figure("beyond", panels, 3)], tables)


def rates(kind: str) -> Judge:
    def judge(results: Results, quick: bool) -> Found:
        cases, inside = [], []
        for ball in (b for b in balls(quick) if b.kind == kind):
            applies, words = hypothesis(results, ball, quick)
            fit = rate(results, ball, "afw", quick)
            cases.append(Case(ball.label, speed(fit) if applies else OUTSIDE, f"slope {fit}", words))
            inside += [f"{fit.value:.2f}"] if applies and np.isfinite(fit.value) else []
        first, last = window(quick)
        several = list(dict.fromkeys(inside))
        slopes = f"slope{'s' * (len(several) > 1)} {' and '.join(several)}" if several else "no case applies"
        log = math.log(math.log(last) / math.log(first)) / math.log(last / first) - 2  # of (ln k)/k² on the window
        return Found(cases, {"slopes": slopes, "first": first, "last": last, "fast": FAST, "log": log})

    return judge


l2_rate, lp_rate, support_rate, group_rate = map(rates, ("l2", "lp", "ksupport", "group"))


def improves(results: Results, quick: bool) -> Found:
    cases, shares = [], []
    for ball in (b for b in balls(quick) if b.kind == "l2"):
        several = races(ball, quick)
        cases.append(_ahead(results, f"gaussian {ball.label}", several, *hypothesis(results, ball, quick)))
        if cases[-1].verdict == FAILS:
            shares += [rate_reasons.start_share(results, race) for race in several]
    for race in fig3.races(quick, ("l2",)):
        active = results.optimum(race)["active"]
        cases.append(_ahead(results, race.short, [race], active, "active" if active else "the ball is not active"))
    spread = spread_of([100 * s for s in shares]) if shares else ""
    start = f"There what AFW remembers of x₀, and FW does not, is {spread} % of its error." if shares else ""
    return Found(cases, {"behind": _behind(cases), "start": start})


def dominates(results: Results, quick: bool) -> Found:
    named = [(f"gaussian {ball.label}", races(ball, quick)) for ball in balls(quick)]
    named += [(race.short, [race]) for race in fig3.races(quick)]
    cases = [_ahead(results, *pair, True, "any compact convex set") for pair in named]
    holds, fails = (sum(c.verdict == kind for c in cases) for kind in (HOLDS, FAILS))
    # "Dominates" is about all instances: one on which AFW is behind is enough.
    return Found(cases, {"behind": _behind(cases), "ahead": holds, "total": len(cases)}, FAILS if fails else "")


def _behind(cases: list[Case]) -> str:
    names = listed(cases, FAILS)
    return f"AFW is behind at nearly every k at {names}." if names else "AFW is nowhere behind throughout."


def _ahead(results: Results, name: str, races: list[Race], applies: bool, words: str) -> Case:
    """Return the k at which AFW's error (the largest from k on) is no more than FW's, in every race."""
    if not applies:
        return Case(name, OUTSIDE, "not judged", words)
    kind, where, ends = fig3.compare(results, races, "fw", lambda fw, afw: afw <= fw)
    return Case(name, kind, f"ahead at {where}; FW error / AFW error at the end {spread_of(ends, 3)}", words)


def general(results: Results, quick: bool) -> Found:
    run = [*fig3.races(quick), *fig2.races(quick), *(race for ball in balls(quick) for race in races(ball, quick))]
    series = [results.race(race)["afw"] for race in run] + [fig4.series(results, fig4.runs(quick))["afw"]]
    worst = 0.0
    for s in series:
        curvature = s.outcome.facts["smoothness"] * s.outcome.facts["diameter"] ** 2
        bound = 2 * s.h[0] / ((s.k + 1) * (s.k + 2)) + 2 * curvature / (s.k + 2)
        worst = max(worst, float(np.max(s.h[1:] / bound[1:])))
    return Found([], {"runs": len(series), "worst": worst}, verdict(worst <= 1))


def line_search(results: Results, quick: bool) -> Found:
    cases, gains = [], []
    for ball in (b for b in balls(quick) if b.kind in ("l2", "lp") and b.option <= 3):
        applies = all(results.optimum(race)["active"] for race in races(ball, quick))
        ratios = [draw["afw"].at(100) / draw["afw-line"].at(100) for draw in draws(results, ball, quick)]
        text = f"error of AFW / error with a line search at k = 100: {spread_of(ratios, 2)}"
        words = "active" if applies else "the constraint is not active"
        cases.append(Case(ball.label, verdict(min(ratios) >= 10, applies), text, words))
        gains += ratios if applies else []
    return Found(cases, {"gain": f"{min(gains):.0e} times smaller at the least" if gains else "no case applies"})
