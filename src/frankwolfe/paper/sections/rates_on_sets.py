"""Rates on every kind of set that the paper speaks of, measured as slopes over several draws of data."""

from __future__ import annotations

import math
from itertools import product

import numpy as np

from frankwolfe.paper.claims.rates import Slope, pooled, slope
from frankwolfe.paper.problems import GROUP_SIZE, Ball, Data
from frankwolfe.paper.publication.figure_data import Section, error_panel
from frankwolfe.paper.reference import Reference
from frankwolfe.paper.runner import Results
from frankwolfe.paper.runs import Run
from frankwolfe.paper.store import Task
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


def balls(quick: bool) -> tuple[Ball, ...]:
    return QUICK if quick else BALLS


def seeds(quick: bool) -> range:
    return range(2 if quick else SEEDS)


def window(quick: bool) -> tuple[int, int]:
    """Return the range of iterations on which slopes are fitted."""
    return (100, 1000) if quick else (300, 3000)


def run(ball: Ball, method: str, seed: int, quick: bool) -> Run:
    return Run(Data("gaussian", seed=seed), ball, method, window(quick)[1])


def tasks(quick: bool) -> list[Task]:
    out: list[Task] = []
    for seed, ball in product(seeds(quick), balls(quick)):
        out += [Reference(Data("gaussian", seed=seed), ball)]
        out += [run(ball, method, seed, quick) for method in METHODS_SHOWN]
    return out


def active(results: Results, ball: Ball, quick: bool) -> bool:
    """Tell whether the constraint is active in every draw."""
    return all(results.optimum(Data("gaussian", seed=seed), ball).facts["active"] for seed in seeds(quick))


def hypothesis(results: Results, ball: Ball, quick: bool) -> tuple[bool, str]:
    """Return whether the paper's result for this kind of set applies, in every draw, and what was checked.

    Everywhere the constraint must be active. l1: one entry of ∇f(x*) is largest in modulus. l_p: no entry of ∇f(x*) is
    zero. k-support: the k-th largest entry is ahead of the next. Groups: s and p in (1, 2]. f is smooth in every norm
    here; by how much in the ball's own is said.
    """
    draws = [results.optimum(Data("gaussian", seed=seed), ball).facts for seed in seeds(quick)]
    if not active(results, ball, quick):
        return False, "the constraint is not active"
    if ball.kind == "group" and not (1 < ball.inner <= 2 and 1 < ball.option <= 2):
        return False, f"s = {ball.inner:g}, p = {ball.option:g}: not both in (1, 2]"
    smooth = f"smooth in this norm with L ≤ {max(facts['smoothness'] for facts in draws):.2g}"
    margin = min(facts["margin"] / facts["largest"] for facts in draws)
    if ball.kind in ("l1", "ksupport"):
        place = "largest" if ball.kind == "l1" else f"{ball.option:g}-th largest"
        if margin <= TIE:
            return False, f"the {place} entry of ∇f(x*) is tied with the next"
        return True, f"the {place} entry of ∇f(x*) is ahead of the next by {margin:.1e} of the largest; {smooth}"
    if ball.kind == "lp":
        least = min(facts["least"] for facts in draws)
        away = all(facts["least"] > TIE * facts["largest"] for facts in draws)
        zero = "" if away else ", which cannot be told from zero"
        return away, f"active, |∇f(x*)ᵢ| ≥ λ = {least:.1e}{zero}; {smooth}"
    return True, f"active, |∇f(x*)| ≥ {min(facts['gradient'] for facts in draws):.1e}; {smooth}"


TIE = 1e-6
"""Entries of ∇f(x*) within this share of the largest are tied: f* is not known well enough to tell them apart."""


def rate(results: Results, ball: Ball, method: str, quick: bool) -> Slope:
    """Return the slope of log h against log k, pooled over the draws of data."""
    fits = []
    for seed in seeds(quick):
        series = results.series(run(ball, method, seed, quick))
        fits.append(slope(series.k, series.highest, *window(quick), floor=max(series.floor, 1e-14), seed=seed))
    return pooled(fits)


def section(results: Results, quick: bool) -> Section:
    panels, rows, hypotheses = [], [], []
    for ball in balls(quick):
        panels.append(error_panel(ball.label, [results.series(run(ball, m, 0, quick)) for m in METHODS_SHOWN]))
        fits = [rate(results, ball, method, quick) for method in METHODS_SHOWN]
        ratios = []  # h of FW over h of AFW at the end, in every draw
        for seed in seeds(quick):
            plain, ours = (results.series(run(ball, m, seed, quick)).at(window(quick)[1]) for m in ("fw", "afw"))
            ratios.append(max(plain, 1e-15) / max(ours, 1e-15))
        middle = math.exp(float(np.mean(np.log(ratios))))
        applies, checked = hypothesis(results, ball, quick)
        hypotheses.append([ball.label, "yes" if applies else "no", checked])
        rows.append([ball.label, *map(str, fits), f"{middle:.3g} ({min(ratios):.2g} to {max(ratios):.2g})"])
    first, last = window(quick)
    words = Words("beyond", first=first, last=last, draws=len(seeds(quick)), group=GROUP_SIZE)
    tables = [words.table("beyond-slopes", rows), words.table("beyond-hypotheses", hypotheses)]
    return words.section([words.figure("beyond", panels, 3)], tables)
