"""What the paper proves or asserts in general, judged by what was measured here, where its hypotheses are met."""

from __future__ import annotations

import numpy as np

from frankwolfe.paper.claims.rates import Slope, envelope, slope
from frankwolfe.paper.claims.verdicts import (
    FAILS,
    HOLDS,
    OUTSIDE,
    UNDECIDED,
    Case,
    Found,
    Judge,
    at_most,
    judges,
    spread_of,
    verdict,
)
from frankwolfe.paper.problems import Ball
from frankwolfe.paper.runner import Results
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
"""A slope at or below this counts as 1/k² up to logarithms: (ln k)/k² itself has -1.86 between 300 and 3000."""

ROUNDING = 1e-12


@judges("general")
def general_bound(results: Results, quick: bool) -> Found:
    runs = [run for p in fig3.problems(quick) for run in fig3.runs(p)]
    runs += [run for r in fig2.radii(quick) for run in fig2.runs(r, quick)]
    balls, seeds = rates_on_sets.balls(quick), rates_on_sets.seeds(quick)
    runs += [rates_on_sets.run(ball, "afw", s, quick) for ball in balls for s in seeds]
    runs = [run for run in (*runs, *fig4.runs(quick)) if run.method == "afw"]
    worst = 0.0
    for s in map(results.series, runs):
        curvature = s.outcome.facts["smoothness"] * s.outcome.facts["diameter"] ** 2
        bound = 2 * s.h[0] / ((s.k + 1) * (s.k + 2)) + 2 * curvature / (s.k + 2)
        worst = max(worst, float(np.max(s.h[1:] / bound[1:])))
    return Found([], {"runs": len(runs), "worst": worst}, verdict(worst <= 1))


def rates(kind: str) -> Judge:
    def judge(results: Results, quick: bool) -> Found:
        cases, inside = [], []
        for ball in (b for b in rates_on_sets.balls(quick) if b.kind == kind):
            applies, words = rates_on_sets.hypothesis(results, ball, quick)
            fit = rates_on_sets.rate(results, ball, "afw", quick)
            cases.append(Case(ball.label, speed(fit) if applies else OUTSIDE, f"slope {fit}", words))
            inside += [f"{fit.value:.2f}"] if applies and np.isfinite(fit.value) else []
        first, last = rates_on_sets.window(quick)
        slopes = f"slopes {' and '.join(dict.fromkeys(inside))}" if inside else "no case applies"
        return Found(cases, {"slopes": slopes, "first": first, "last": last, "fast": FAST})

    return judge


for _key, _kind in {"l2-rate": "l2", "lp-rate": "lp", "support-rate": "ksupport", "group-rate": "group"}.items():
    judges(_key)(rates(_kind))


def speed(fit: Slope) -> str:
    # A slope that could not be measured means an error at the accuracy of f*: faster than any power.
    return HOLDS if np.isnan(fit.value) else at_most(fit.low, fit.high, FAST)


@judges("l1-rate")
def vertex_rate(results: Results, quick: bool) -> Found:
    run = results[rate_reasons.Wandering("afw")]
    settled = max(run.facts["last_move"], 1)
    fit = slope(run["k"], envelope(run["h"]), settled, int(run["k"][-1]))
    words = f"the solution is a vertex (gap {run.facts['gap']:.0e}), its margin λ = {run.facts['margin']:.1e}"
    case = Case("six dimensions, five decoys", speed(fit), f"slope {fit} from k = {settled} on", words)
    return Found([case], {"settled": settled, "fit": fit, "slope": fit.value})


@judges("l1-freeze")
def vertex(results: Results, quick: bool) -> Found:
    task = rate_reasons.Wandering("afw")
    facts, plain = results[task].facts, results[rate_reasons.Wandering("fw")].facts
    bound, last, moves = proven_constants.vertex_time(facts), facts["last_move"], facts["moves"]
    settled = verdict(last < 0.5 * task.iterations and last <= bound)
    kind = settled if facts["margin"] > 0 and moves > 5 else OUTSIDE
    measured = f"{moves} moves, the last at k = {last}; proven: by k = {bound:.0e}"
    words = f"unique largest entry of ∇f(x*), λ = {facts['margin']:.1e}"
    values = {"moves": moves, "last": last, "bound": bound, "plain": plain["last_move"]}
    return Found([Case("six dimensions, five decoys", kind, measured, words)], values)


@judges("improves")
def improves(results: Results, quick: bool) -> Found:
    cases = []
    for ball in (b for b in rates_on_sets.balls(quick) if b.kind == "l2"):
        applies, words = rates_on_sets.hypothesis(results, ball, quick)
        outside = Case(f"gaussian {ball.label}", OUTSIDE, "not judged", words)
        cases.append(_draws(results, ball, quick, words) if applies else outside)
    cases += [_panel(results, p, needs_active=True) for p in fig3.problems(quick, ("l2",))]
    return Found(cases, {"behind": _behind(cases)})


@judges("dominates")
def dominates(results: Results, quick: bool) -> Found:
    cases = [_draws(results, ball, quick, "any compact convex set") for ball in rates_on_sets.balls(quick)]
    cases += [_panel(results, p, needs_active=False) for p in fig3.problems(quick)]
    count = sum(c.verdict == FAILS for c in cases)
    # "Dominates" is about all instances: one on which AFW is behind is enough.
    values = {"behind": _behind(cases), "count": count, "total": len(cases)}
    return Found(cases, values, FAILS if count else "")


def _behind(cases: list[Case]) -> str:
    names = [c.name for c in cases if c.verdict == FAILS]
    return f"AFW is behind at {', '.join(names)}." if names else "AFW is behind nowhere."


def _draws(results: Results, ball: Ball, quick: bool, words: str) -> Case:
    ratios = rates_on_sets.advantage(results, ball, quick)
    kind = verdict(min(ratios) > 1) if min(ratios) > 1 or max(ratios) < 1 else UNDECIDED
    return Case(f"gaussian {ball.label}", kind, f"FW error / AFW error {spread_of(ratios, 3)}", words)


def _panel(results: Results, problem: fig3.Problem, *, needs_active: bool) -> Case:
    active = results.optimum(problem.data, problem.ball).facts["active"]
    if needs_active and not active:
        return Case(problem.name, OUTSIDE, "not judged", "the ball is not active")
    h = fig3.errors(results, problem)
    words = f"FW error / AFW error {h['fw'] / h['afw']:.3g}"
    return Case(problem.name, verdict(h["afw"] < h["fw"]), words, "active" if active else "not active")


@judges("lemma-es")
def lemma(results: Results, quick: bool) -> Found:
    worst = max(results[e].facts["worst_excess"] for e in certificate_quality.ALL)
    return Found([], {"runs": len(certificate_quality.ALL), "worst": worst}, verdict(worst <= ROUNDING))


def bounded(which: str, letter: str) -> Judge:
    """Return the judge of a lemma that bounds a distance by one of the constants."""

    def judge(results: Results, quick: bool) -> Found:
        cases, worst = [], 0.0
        for e in certificate_quality.CURVED:
            c, last = proven_constants.constants(results[e], e.ball.radius), int(results[e]["k"][-1])
            if not results.optimum(e.data, e.ball).facts["active"]:
                cases.append(Case(e.title, OUTSIDE, "not judged", "the ball is not active"))
            elif which == "C3" and last < c.T + 1:
                words = f"stated for k > T = {c.T:.0e}, the run ends at {last}"
                cases.append(Case(e.title, OUTSIDE, "not judged", words))
            else:
                proof, seen = getattr(c, which), getattr(c, f"{which}_seen")
                worst = max(worst, seen / proof)
                measured = f"{letter} = {proof:.2g}; {seen:.2g} would have done"
                where = f"active; T = {c.T:.2g}" if which == "C3" else "active"
                cases.append(Case(e.title, verdict(seen <= proof), measured, where))
        return Found(cases, {"worst": worst})

    return judge


for _key, _which, _letter in (("lemma-7", "C1", "C₁"), ("lemma-8", "C2", "C₂"), ("lemma-9", "C3", "C₃")):
    judges(_key)(bounded(_which, _letter))


@judges("settling")
def settling_time(results: Results, quick: bool) -> Found:
    cases = []
    for e in certificate_quality.CURVED:
        c = proven_constants.constants(results[e], e.ball.radius)
        active = results.optimum(e.data, e.ball).facts["active"]
        kind = verdict(c.T_seen <= max(c.T, 0) + 1) if active else OUTSIDE
        words = f"proven T = {c.T:.2g}, measured {c.T_seen}"
        cases.append(Case(e.title, kind, words, "active" if active else "not active"))
    first = certificate_quality.MUSHROOMS[0]
    largest = proven_constants.constants(results[first], first.ball.radius)
    return Found(cases, {"proven": largest.T, "seen": largest.T_seen})


@judges("theorem-3")
def theorem_three(results: Results, quick: bool) -> Found:
    cases, worst, reached = [], 0.0, 0
    for e in certificate_quality.CURVED:
        walk, c = results[e], proven_constants.constants(results[e], e.ball.radius)
        h, bound = proven_constants.error_and_bound(walk, c)
        ratio, inside = float(np.max(h[1:] / bound[1:])), bool(walk["k"][-1] >= c.T + 1)
        active = results.optimum(e.data, e.ball).facts["active"]
        worst, reached = max(worst, ratio), reached + inside
        measured = f"at most {ratio:.2g} of the bound; at the end {h[-1]:.1e}, the bound {bound[-1]:.1e}"
        words = f"T = {c.T:.2g}, {'within' if inside else 'beyond'} the run" if active else "the ball is not active"
        cases.append(Case(e.title, verdict(ratio <= 1) if active else OUTSIDE, measured, words))
    return Found(cases, {"worst": worst, "reached": reached, "runs": len(cases)})


@judges("agm")
def agm(results: Results, quick: bool) -> Found:
    walk = results[fig1.Accelerated()]
    ratios = {name: float(np.max(walk[name] / walk[f"{name}_bound"])) for name in ("error", "gradient", "distance")}
    cases = [
        Case(name, verdict(ratio <= 1 + 1e-9), f"at most {ratio:.2g} of its bound", "unconstrained, f smooth")
        for name, ratio in ratios.items()
    ]
    return Found(cases, {"worst": max(ratios.values()), "steps": fig1.STEPS})


@judges("theorem-4")
def theorem_four(results: Results, quick: bool) -> Found:
    walk = results[fig1.Accelerated()]
    ratio = float(np.max(walk["weighted"] / walk["weighted_bound"]))
    over, single = max(float(np.max(walk["weighted"])), 0.0), float(np.max(walk["estimate"]))
    return Found([], {"ratio": ratio, "over": over, "single": single}, verdict(ratio <= 1))


@judges("connection-1-gd")
def gradient_descent(results: Results, quick: bool) -> Found:
    facts = results[fig1.Accelerated()].facts
    off = facts["gd_difference"] / max(facts["largest"], 1e-300)
    return Found([], {"off": off, "steps": fig1.STEPS}, verdict(off <= ROUNDING))


@judges("connection-1-ball")
def ball_step(results: Results, quick: bool) -> Found:
    walk = results[fig1.Accelerated()]
    ratio = float(np.max(walk["radius"] / walk["distance_bound"]))
    cases = [
        Case(f"squared radius at most {most}B/L, as {how}", verdict(ratio <= most), f"largest {ratio:.2g} B/L")
        for most, how in ((4, "corrected"), (2, "printed"))
    ]
    return Found(cases, {"ratio": ratio})


@judges("fig1")
def flattening(results: Results, quick: bool) -> Found:
    run = results[fig1.Bowls()]
    exact = run["v"] - run["slope"] / (2 * run["weight"])
    off = float(np.max(np.abs(exact - run["v_next"])))
    width = float((run["weight"][0] / run["weight"][-1]) ** 0.5)
    return Found([], {"width": width, "k": int(run["k"][-1]), "off": off}, verdict(off <= 10 * ROUNDING and width > 9))


@judges("jumping")
def jumping(results: Results, quick: bool) -> Found:
    facts = results[rate_reasons.Small("line", "afw")].facts
    cases = [
        Case("v jumps from end to end", verdict(facts["jump"] > 1.9), f"by {facts['jump']:.2g} to the end of the run"),
        Case("the error is slower than 1/k²", verdict(facts["low"] > FAST), f"slope {facts['slope']:.2f}"),
    ]
    return Found(cases, {"slope": facts["slope"]})


@judges("lower-bound")
def slow_simplex(results: Results, quick: bool) -> Found:
    cases, slopes = [], {}
    for name in rate_reasons.PAIR:
        facts = results[rate_reasons.Small("simplex", name)].facts
        fit = Slope(facts["slope"], facts["low"], facts["high"], *rate_reasons.SIMPLEX_WINDOW)
        kind = verdict(fit.high <= -0.8 and fit.low >= -1.2)
        cases.append(Case(name.upper(), kind, f"slope {fit}", f"k ≤ {fit.last}, d = {rate_reasons.SIMPLEX}"))
        slopes[f"simplex_{name}"] = fit.value
    return Found(cases, slopes)


@judges("rank-bound")
def rank_bound(results: Results, quick: bool) -> Found:
    cases = []
    for method in ("fw", "afw"):
        s = fig4.series(results, quick)[method]
        excess = s.outcome["rank"] - (s.k + 1)
        most = float(np.nanmax(excess))
        words = f"largest rank − (k + 1): {most:.0f}, at k = {s.k[np.nanargmax(excess)]:.0f}"
        cases.append(Case(method.upper(), verdict(most <= 0), words, "rank X₀ = 1"))
    return Found(cases, {"excess": cases[-1].measured.split(",")[0]})


@judges("certificate")
def certificate(results: Results, quick: bool) -> Found:
    cases, loosest = [], 0.0
    for e in certificate_quality.ALL:
        walk, facts = results[e], results.optimum(e.data, e.ball).facts
        over = float(np.max(np.maximum(walk["es"], walk["fw"])) - facts["fun"])
        loose = min(certificate_quality.ratios(results, e))
        above = f"above f* by {over:.0e}" if over > 0 else "never above f*"
        words = f"bound {above}; gap {loose:.2g} times the true error"
        cases.append(Case(e.title, verdict(over <= facts["gap"] + ROUNDING), words))
        loosest = max(loosest, loose)
    return Found(cases, {"loosest": loosest})


@judges("line-search")
def searching(results: Results, quick: bool) -> Found:
    cases, gains = [], []
    for ball in (b for b in rates_on_sets.balls(quick) if b.kind in ("l2", "lp") and b.option <= 3):
        applies = rates_on_sets.active(results, ball, quick)
        ratios = []
        for seed in rates_on_sets.seeds(quick):
            runs = (rates_on_sets.run(ball, m, seed, quick) for m in ("afw", "afw-line"))
            plain, searched = (results.series(run).at(100) for run in runs)
            ratios.append(plain / searched)
        text = f"error of AFW / error with a line search at k = 100: {spread_of(ratios, 2)}"
        words = "active" if applies else "the constraint is not active"
        cases.append(Case(ball.label, verdict(min(ratios) >= 10) if applies else OUTSIDE, text, words))
        gains += ratios if applies else []
    return Found(cases, {"gain": f"{min(gains):.0e} times smaller at the least" if gains else "no case applies"})
