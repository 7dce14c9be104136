"""What the paper proves or asserts in general, judged by what was measured here, where its hypotheses are met.

The judge of a claim is the function of its key, with underscores.
"""

from __future__ import annotations

import math

import numpy as np

from frankwolfe.paper.claims.rates import Slope, envelope, slope
from frankwolfe.paper.claims.verdicts import (
    FAILS,
    HOLDS,
    OUTSIDE,
    Case,
    Found,
    Judge,
    at_most,
    listed,
    ordering,
    spread_of,
    verdict,
)
from frankwolfe.paper.runner import Results
from frankwolfe.paper.runs import Race, Series
from frankwolfe.paper.sections import (
    certificate_quality,
    fig1,
    fig2,
    fig3,
    fig4,
    proven_constants,
    rate_reasons,
    rates_on_sets,
)

FAST = -1.7
"""A slope at or below this counts as 1/k² up to logarithms: (ln k)/k² itself has -1.85 between 300 and 3000."""

ROUNDING = 1e-12


def general(results: Results, quick: bool) -> Found:
    races = [*fig3.races(quick), *fig2.races(quick)]
    races += [race for ball in rates_on_sets.balls(quick) for race in rates_on_sets.races(ball, quick)]
    series = [results.race(race)["afw"] for race in races] + [fig4.series(results, fig4.runs(quick))["afw"]]
    worst = 0.0
    for s in series:
        curvature = s.outcome.facts["smoothness"] * s.outcome.facts["diameter"] ** 2
        bound = 2 * s.h[0] / ((s.k + 1) * (s.k + 2)) + 2 * curvature / (s.k + 2)
        worst = max(worst, float(np.max(s.h[1:] / bound[1:])))
    return Found([], {"runs": len(series), "worst": worst}, verdict(worst <= 1))


def rates(kind: str) -> Judge:
    def judge(results: Results, quick: bool) -> Found:
        cases, inside = [], []
        for ball in (b for b in rates_on_sets.balls(quick) if b.kind == kind):
            applies, words = rates_on_sets.hypothesis(results, ball, quick)
            fit = rates_on_sets.rate(results, ball, "afw", quick)
            cases.append(Case(ball.label, speed(fit) if applies else OUTSIDE, f"slope {fit}", words))
            inside += [f"{fit.value:.2f}"] if applies and np.isfinite(fit.value) else []
        first, last = rates_on_sets.window(quick)
        several = list(dict.fromkeys(inside))
        slopes = f"slope{'s' * (len(several) > 1)} {' and '.join(several)}" if several else "no case applies"
        log = math.log(math.log(last) / math.log(first)) / math.log(last / first) - 2  # of (ln k)/k² on the window
        return Found(cases, {"slopes": slopes, "first": first, "last": last, "fast": FAST, "log": log})

    return judge


l2_rate, lp_rate, support_rate, group_rate = map(rates, ("l2", "lp", "ksupport", "group"))


def speed(fit: Slope) -> str:
    # A slope that could not be measured means an error at the accuracy of f*: faster than any power.
    return HOLDS if np.isnan(fit.value) else at_most(fit.low, fit.high, FAST)


WANDERING = "six dimensions, five decoys"


def l1_rate(results: Results, quick: bool) -> Found:
    run = results[rate_reasons.Wandering("afw")]
    settled = max(run.facts["last_move"], 1)
    fit = slope(run["k"], envelope(run["h"]), settled, int(run["k"][-1]))
    words = f"the solution is a vertex (gap {run.facts['gap']:.0e}), its margin λ = {run.facts['margin']:.1e}"
    case = Case(WANDERING, speed(fit), f"slope {fit} from k = {settled} on", words)
    return Found([case], {"settled": settled, "fit": fit, "slope": fit.value})


def l1_freeze(results: Results, quick: bool) -> Found:
    task = rate_reasons.Wandering("afw")
    facts, plain = results[task].facts, results[rate_reasons.Wandering("fw")].facts
    bound, last, moves = proven_constants.vertex_time(facts), facts["last_move"], facts["moves"]
    settled = verdict(last < 0.5 * task.iterations and last <= bound)
    kind = settled if facts["margin"] > 0 and moves > 5 else OUTSIDE
    measured = f"{moves} moves, the last at k = {last}; proven: by k = {bound:.0e}"
    words = f"unique largest entry of ∇f(x*), λ = {facts['margin']:.1e}"
    values = {"moves": moves, "last": last, "bound": bound, "plain": plain["last_move"]}
    return Found([Case(WANDERING, kind, measured, words)], values)


def improves(results: Results, quick: bool) -> Found:
    cases, shares = [], []
    for ball in (b for b in rates_on_sets.balls(quick) if b.kind == "l2"):
        applies, words = rates_on_sets.hypothesis(results, ball, quick)
        races = rates_on_sets.races(ball, quick)
        cases.append(_ahead(results, f"gaussian {ball.label}", races, applies, words))
        if cases[-1].verdict == FAILS:
            shares += [rate_reasons.start_share(results, race) for race in races]
    for race in fig3.races(quick, ("l2",)):
        active = results.optimum(race)["active"]
        cases.append(_ahead(results, race.short, [race], active, "active" if active else "the ball is not active"))
    spread = spread_of([100 * s for s in shares]) if shares else ""
    start = f"There what AFW remembers of x₀, and FW does not, is {spread} % of its error." if shares else ""
    return Found(cases, {"behind": _behind(cases), "start": start})


def dominates(results: Results, quick: bool) -> Found:
    named = [(f"gaussian {ball.label}", rates_on_sets.races(ball, quick)) for ball in rates_on_sets.balls(quick)]
    named += [(race.short, [race]) for race in fig3.races(quick)]
    cases = [_ahead(results, name, races, True, "any compact convex set") for name, races in named]
    holds, fails = (sum(c.verdict == kind for c in cases) for kind in (HOLDS, FAILS))
    # "Dominates" is about all instances: one on which AFW is behind is enough.
    values = {"behind": _behind(cases), "ahead": holds, "total": len(cases)}
    return Found(cases, values, FAILS if fails else "")


def _behind(cases: list[Case]) -> str:
    names = listed(cases, FAILS)
    return f"AFW is behind at nearly every k at {names}." if names else "AFW is nowhere behind throughout."


def _ahead(results: Results, name: str, races: list[Race], applies: bool, words: str) -> Case:
    """Return the k at which AFW's error (the largest from k on) is no more than FW's, in every race."""
    if not applies:
        return Case(name, OUTSIDE, "not judged", words)
    pairs: list[dict[str, Series]] = [results.race(race) for race in races]
    errors = [[np.maximum(p[m].highest[1:], max(p["afw"].floor, 1e-16)) for m in ("fw", "afw")] for p in pairs]
    kind, where = ordering(pairs[0]["afw"].k[1:], np.all([ours <= plain for plain, ours in errors], axis=0))
    ends = spread_of([plain[-1] / ours[-1] for plain, ours in errors], 3)
    return Case(name, kind, f"ahead at {where}; FW error / AFW error at the end {ends}", words)


def lemma_es(results: Results, quick: bool) -> Found:
    worst = max(results[e].facts["worst_excess"] for e in certificate_quality.ALL)
    spare = f"below the bound by {-worst:.0e} at the least" if worst < 0 else f"above the bound by up to {worst:.0e}"
    return Found([], {"runs": len(certificate_quality.ALL), "spare": spare}, verdict(worst <= ROUNDING))


def bounded(which: str, letter: str) -> Judge:
    """Return the judge of a lemma that bounds a distance by one of the constants."""

    def judge(results: Results, quick: bool) -> Found:
        cases, worst = [], 0.0
        for run in proven_constants.curved(results):
            T = run.proven.T
            if not run.active:
                cases.append(Case(run.title, OUTSIDE, "not judged", "the ball is not active"))
            elif which == "C3" and not run.reached:
                words = f"stated for k > T = {T:.0e}, the run ends at {run.walk['k'][-1]:.0f}"
                cases.append(Case(run.title, OUTSIDE, "not judged", words))
            else:
                proof, seen = getattr(run.proven, which), getattr(run.seen, which)
                worst = max(worst, seen / proof)
                measured = f"{letter} = {proof:.2g}; {seen:.2g} would have done"
                cases.append(
                    Case(run.title, verdict(seen <= proof), measured, "active" + f"; T = {T:.2g}" * (which == "C3"))
                )
        return Found(cases, {"worst": worst})

    return judge


lemma_7, lemma_8, lemma_9 = map(bounded, ("C1", "C2", "C3"), ("C₁", "C₂", "C₃"))


def settling(results: Results, quick: bool) -> Found:
    cases, runs = [], {run.title: run for run in proven_constants.curved(results)}
    for run in runs.values():
        kind = verdict(max(run.proven.T, 0) + 1 >= run.seen.T) if run.active else OUTSIDE
        words = f"proven T = {run.proven.T:.2g}, measured {run.seen.T:.0f}"
        cases.append(Case(run.title, kind, words, "active" if run.active else "not active"))
    largest = runs[certificate_quality.MUSHROOMS[0].title]
    return Found(cases, {"proven": largest.proven.T, "seen": largest.seen.T})


def theorem_3(results: Results, quick: bool) -> Found:
    cases, worst, reached = [], 0.0, 0
    for run in proven_constants.curved(results):
        h, bound = proven_constants.error_and_bound(run)
        ratio = float(np.max(h[1:] / bound[1:]))
        worst, reached = max(worst, ratio), reached + run.reached
        measured = f"at most {ratio:.2g} of the bound; at the end {h[-1]:.1e}, the bound {bound[-1]:.1e}"
        where = f"T = {run.proven.T:.2g}, {'within' if run.reached else 'beyond'} the run"
        words = where if run.active else "the ball is not active"
        cases.append(Case(run.title, verdict(ratio <= 1) if run.active else OUTSIDE, measured, words))
    return Found(cases, {"worst": worst, "reached": reached, "runs": len(cases)})


def agm(results: Results, quick: bool) -> Found:
    walk = results[fig1.Accelerated()]
    ratios = {name: float(np.max(walk[name] / walk[f"{name}_bound"])) for name in ("error", "gradient", "distance")}
    cases = [
        Case(name, verdict(ratio <= 1 + 1e-9), f"at most {ratio:.2g} of its bound", "unconstrained, f smooth")
        for name, ratio in ratios.items()
    ]
    return Found(cases, {"worst": max(ratios.values()), "steps": fig1.STEPS})


def theorem_4(results: Results, quick: bool) -> Found:
    walk = results[fig1.Accelerated()]
    ratio = float(np.max(walk["weighted"] / walk["weighted_bound"]))
    over, single = max(float(np.max(walk["weighted"])), 0.0), float(np.max(walk["estimate"]))
    return Found([], {"ratio": ratio, "over": over, "single": single}, verdict(ratio <= 1))


def connection_1_gd(results: Results, quick: bool) -> Found:
    facts = results[fig1.Accelerated()].facts
    off = facts["gd_difference"] / max(facts["largest"], 1e-300)
    return Found([], {"off": off, "steps": fig1.STEPS}, verdict(off <= ROUNDING))


def connection_1_ball(results: Results, quick: bool) -> Found:
    walk = results[fig1.Accelerated()]
    ratio = float(np.max(walk["radius"] / walk["distance_bound"]))
    cases = [
        Case(f"squared radius at most {most}B/L, as {how}", verdict(ratio <= most), f"largest {ratio:.2g} B/L")
        for most, how in ((4, "corrected"), (2, "printed"))
    ]
    return Found(cases, {"ratio": ratio})


def flattening(results: Results, quick: bool) -> Found:
    run = results[fig1.Bowls()]
    exact = run["v"] - run["slope"] / (2 * run["weight"])
    off = float(np.max(np.abs(exact - run["v_next"])))
    width = float((run["weight"][0] / run["weight"][-1]) ** 0.5)
    return Found([], {"width": width, "k": int(run["k"][-1]), "off": off}, verdict(off <= 10 * ROUNDING and width > 9))


def jumping(results: Results, quick: bool) -> Found:
    facts = results[rate_reasons.Small("line", "afw")].facts
    cases = [
        Case("v jumps from end to end", verdict(facts["jump"] > 1.9), f"by {facts['jump']:.2g} to the end of the run"),
        Case("the error is slower than 1/k²", verdict(facts["low"] > FAST), f"slope {facts['slope']:.2f}"),
    ]
    return Found(cases, {"slope": facts["slope"]})


def lower_bound(results: Results, quick: bool) -> Found:
    cases, slopes = [], {}
    for name in rate_reasons.PAIR:
        fit = rate_reasons.Small("simplex", name).fit(results)
        kind = verdict(fit.high <= -0.8 and fit.low >= -1.2)
        cases.append(Case(name.upper(), kind, f"slope {fit}", f"k ≤ {fit.last}, d = {rate_reasons.SIMPLEX}"))
        slopes[f"simplex_{name}"] = fit.value
    return Found(cases, slopes)


def rank_bound(results: Results, quick: bool) -> Found:
    cases = []
    for method, s in list(fig4.series(results, fig4.runs(quick)).items())[:2]:
        excess = s.outcome["rank"] - (s.k + 1)
        most = float(np.nanmax(excess))
        words = f"largest rank − (k + 1): {most:.0f}, at k = {s.k[np.nanargmax(excess)]:.0f}"
        cases.append(Case(method.upper(), verdict(most <= 0), words, "rank X₀ = 1"))
    return Found(cases, {"excess": cases[-1].measured.split(",")[0]})


def certificate(results: Results, quick: bool) -> Found:
    cases, loosest = [], 0.0
    for e in certificate_quality.ALL:
        walk, facts = results[e], results.optimum(e)
        over = float(np.max(np.maximum(walk["es"], walk["fw"])) - facts["fun"])
        loose = min(certificate_quality.ratios(results, e))
        above = f"above f* by {over:.0e}" if over > 0 else "never above f*"
        words = f"bound {above}; gap {loose:.2g} times the true error"
        cases.append(Case(e.title, verdict(over <= facts["gap"] + ROUNDING), words))
        loosest = max(loosest, loose)
    return Found(cases, {"loosest": loosest})


def line_search(results: Results, quick: bool) -> Found:
    cases, gains = [], []
    for ball in (b for b in rates_on_sets.balls(quick) if b.kind in ("l2", "lp") and b.option <= 3):
        races = rates_on_sets.races(ball, quick)
        applies = all(results.optimum(race)["active"] for race in races)
        draws = [results.race(race) for race in races]
        ratios = [draw["afw"].at(100) / draw["afw-line"].at(100) for draw in draws]
        text = f"error of AFW / error with a line search at k = 100: {spread_of(ratios, 2)}"
        words = "active" if applies else "the constraint is not active"
        cases.append(Case(ball.label, verdict(min(ratios) >= 10) if applies else OUTSIDE, text, words))
        gains += ratios if applies else []
    return Found(cases, {"gain": f"{min(gains):.0e} times smaller at the least" if gains else "no case applies"})
