"""What the paper proves or asserts in general, judged by what was measured here."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from frankwolfe.experiments import beyond, certificates, fig2, fig3, fig4, theory
from frankwolfe.experiments.measured import movielens, panels, short
from frankwolfe.experiments.problems import Ball
from frankwolfe.experiments.rates import Slope
from frankwolfe.experiments.runner import Results
from frankwolfe.experiments.verdicts import UNKNOWN, Judged, Verdict, across, single, spread_of

FAST = -1.7
"""A slope at or below this counts as 1/k² up to logarithms: (ln k)/k² itself has -1.86 between 300 and 3000."""


def general_bound(results: Results, quick: bool) -> Judged:
    worst = 0.0
    runs = [run for name, ball in panels(quick, main=False) for run in fig3.runs(name, ball, quick)]
    runs += [run for r in fig2.radii(quick) for run in fig2.runs(r, quick)]
    runs += [beyond.run(ball, "afw", s, quick) for ball in beyond.balls(quick) for s in beyond.seeds(quick)]
    runs = [run for run in (*runs, *fig4.runs(quick)) if run.method == "afw"]
    for run in runs:
        s = results.series(run)
        curvature = s.outcome.facts["smoothness"] * s.outcome.facts["diameter"] ** 2
        bound = 2 * s.h[0] / ((s.k + 1) * (s.k + 2)) + 2 * curvature / (s.k + 2)
        worst = max(worst, float(np.max(s.h[1:] / bound[1:])))
    return Judged(f"largest h over bound: {worst:.2g}", f"{len(runs)} AFW runs, every k ≥ 1", single(worst <= 1))


def rates(kinds: tuple[str, ...], method: str = "afw") -> Callable[[Results, bool], Judged]:
    def judge(results: Results, quick: bool) -> Judged:
        fits = {b.label: beyond.rate(results, b, method, quick) for b in beyond.balls(quick) if of_kind(b, kinds)}
        first, last = beyond.window(quick)
        setting = (
            f"slope of log h on [{first}, {last}] with 95 % interval; {FAST:g} or less counts as 1/k² up to logarithms"
        )
        words = "; ".join(f"{name}: {fit}" for name, fit in fits.items())
        return Judged(words, setting, across({name: fast(fit) for name, fit in fits.items()}))

    return judge


def of_kind(ball: Ball, kinds: tuple[str, ...]) -> bool:
    if ball.kind == "l2" and ball.radius >= 20:
        return False  # not active: outside what the theorem promises
    return ball.kind in kinds


def fast(fit: Slope) -> bool:
    # A slope that could not be measured means an error at the accuracy of f*: faster than any power.
    return not fit.value > FAST


def separation(results: Results, quick: bool) -> Judged:
    cases, words = {}, []
    for ball in beyond.balls(quick):
        plain, ours = (beyond.rate(results, ball, m, quick) for m in ("fw", "afw"))
        cases[ball.label] = plain.low > ours.high and plain.value > FAST
        words.append(f"{ball.label}: {plain.value:.2f} / {ours.value:.2f}")
    return Judged(
        "; ".join(words), "slopes, FW / AFW; FW must be slower than 1/k² and clearly slower than AFW", across(cases)
    )


def vertex_rate(results: Results, quick: bool) -> Judged:
    ball = beyond.VERTEX_BALL
    draws = beyond.vertex_seeds(results, ball, quick)
    setting = f"{ball.label}: the {len(draws)} of {len(beyond.seeds(quick))} draws whose solution is a vertex"
    if not draws:  # the theorem says nothing about the others
        return Judged("no draw meets the hypothesis", setting, Verdict(UNKNOWN))
    fit = beyond.rate(results, ball, "afw", quick, draws)
    return Judged(f"slope {fit}", setting, single(fast(fit)))


def vertex(results: Results, quick: bool) -> Judged:
    e = certificates.VERTEX
    nonzeros = results.optimum(e.data, e.ball).facts["nonzeros"]
    setting = f"{e.data.label} (seed {e.data.seed}), {e.ball.label}; x* has {nonzeros} nonzero"
    if nonzeros != 1:  # the hypothesis is not met, so nothing was tested
        return Judged("the solution is not a vertex", setting, Verdict(UNKNOWN))
    settled = results[e].facts["last_move"]
    words = f"v moved for the last time at k = {settled} of {e.iterations}"
    return Judged(words, setting, single(settled < 0.5 * e.iterations))


def dominates(results: Results, quick: bool) -> Judged:
    cases, words = {}, []
    for ball in beyond.balls(quick):
        ratios = beyond.advantage(results, ball, quick)
        cases[ball.label] = min(ratios) > 1
        words.append(f"{ball.label}: {spread_of(ratios, 3)}")
    for name, ball in panels(quick, main=False):
        h = fig3.errors(results, name, ball, quick)
        cases[short(name, ball)] = h["afw"] < h["fw"]
        words.append(f"{short(name, ball)}: {h['fw'] / h['afw']:.3g}")
    return Judged("; ".join(words), "h of FW over h of AFW at the last iteration, over draws of data", across(cases))


def lemma(results: Results, quick: bool) -> Judged:
    worst = max(results[e].facts["worst_excess"] for e in certificates.ALL)
    setting = f"{len(certificates.ALL)} AFW runs, every k, rounding of 1e-12 allowed"
    return Judged(f"largest f(x_k) − Φ_k* − ξ_k: {worst:.1e}", setting, single(worst <= 1e-12))


def settling(results: Results, quick: bool) -> Judged:
    chosen = {"l2 active": certificates.ACTIVE, "l1 face": certificates.FACE, "l1 vertex": certificates.VERTEX}
    fits = {name: certificates.movement(results, e, "drift") for name, e in chosen.items()}
    words = "; ".join(f"{name}: {fit}" for name, fit in fits.items())
    cases = {name: not fit.high > -0.5 for name, fit in fits.items()}
    return Judged(words, "slope of log |θ_{k+1} − ∇f(x*)|; the proof needs −1/2", across(cases))


def agm(results: Results, quick: bool) -> Judged:
    facts = results[theory.Checks()].facts
    parts = {"error": "agm_error", "gradient": "agm_gradient", "distance of v": "agm_distance"}
    words = ", ".join(f"{name} {facts[key]:.2g}" for name, key in parts.items())
    cases = {name: facts[key] <= 1 + 1e-9 for name, key in parts.items()}
    return Judged(
        f"largest ratio to the bound: {words}", f"unconstrained logistic, {theory.STEPS} steps", across(cases)
    )


def agm_estimate(results: Results, quick: bool) -> Judged:
    over = results[theory.Checks()].facts["agm_overshoot"]
    verdict = single(over <= 0) if over <= 0 else Verdict("holds only for", "rough estimates: it is no lower bound")
    return Judged(f"exceeds f* by up to {over:.1e}", f"unconstrained logistic, {theory.STEPS} steps", verdict)


def jumping(results: Results, quick: bool) -> Judged:
    facts = results[theory.Checks()].facts
    return Judged(
        f"v changes sign {facts['sign_jumps']:.0f} times in 1000 steps; slope of log h {facts['sign_slope']:.2f}",
        "f = x² on [−1, 1], start 0.9",
        across({"v jumps": facts["sign_jumps"] > 100, "the error is slower than 1/k²": facts["sign_slope"] > FAST}),
    )


def slow_simplex(results: Results, quick: bool) -> Judged:
    facts = results[theory.Checks()].facts
    slopes = {"FW": facts["simplex_fw"], "AFW": facts["simplex_afw"]}
    words = ", ".join(f"{name} {value:.2f}" for name, value in slopes.items())
    cases = {name: -1.2 <= value <= -0.8 for name, value in slopes.items()}
    return Judged(f"slopes: {words}", "|x|²/2 on the simplex, d = 2000, k ≤ 200", across(cases))


def rank_bound(results: Results, quick: bool) -> Judged:
    excess = -np.inf
    for method in ("fw", "afw"):
        s = movielens(results, quick)[method]
        seen = np.isfinite(s.outcome["rank"])
        excess = max(excess, float(np.max(s.outcome["rank"][seen] - (s.k[seen] + 1))))
    return Judged(
        f"largest rank(x_k) − (k + 1): {excess:.0f}", "MovieLens from X_0 = 0, FW and AFW", single(excess <= 0)
    )
