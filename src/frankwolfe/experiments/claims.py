"""Every claim of the paper with what was measured here, and a verdict computed from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from frankwolfe.experiments import beyond, certificates, fig2, fig3, fig4, theory
from frankwolfe.experiments.problems import METHODS, Ball
from frankwolfe.experiments.rates import Slope
from frankwolfe.experiments.runner import Results
from frankwolfe.experiments.runs import Series
from frankwolfe.experiments.store import Task
from frankwolfe.experiments.verdicts import UNKNOWN, Verdict, across, ordered, single, spread_of

FAST = -1.7
"""A slope at or below this counts as 1/k² up to logarithms: (ln k)/k² itself has -1.86 between 300 and 3000."""

CLEARLY = 2.0  # "much faster": at most half the error
COMPARABLE = 3.0  # "comparable": within this factor


@dataclass(frozen=True)
class Judged:
    """What was measured, in which setting, and the verdict."""

    measured: str
    setting: str
    verdict: Verdict


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, where it is made, the figure that shows it, and how it is judged."""

    text: str
    where: str
    figure: str
    judge: Callable[[Results, bool], Judged]

    def judged(self, results: Results, quick: bool) -> Judged:
        """Return the judgement, or say that the runs it needs are not there."""
        try:
            return self.judge(results, quick)
        except KeyError:
            return Judged("", "", Verdict(UNKNOWN))


def tasks(quick: bool) -> list[Task]:
    return [theory.Checks()]


def _inactive(results: Results, quick: bool) -> Judged:
    cases, words = {}, []
    for radius in sorted(fig2.radii(quick)):
        h = fig2.errors(results, radius, quick)
        cases[f"R = {radius:g}"] = ordered(h, "agm", "afw", "gd") and h["afw"] < h["fw"]
        words.append(f"R = {radius:g}: " + ", ".join(f"{METHODS[m].name} {h[m]:.1e}" for m in fig2.PAPER))
    return Judged("; ".join(words), f"a9a, l2 ball, h at k = {fig2.ITERATIONS}", across(cases))


def _panels(quick: bool, main: bool) -> list[tuple[str, Ball]]:
    return [
        (name, ball)
        for kind in ("l2", "l1")
        for name in fig3.DATASETS
        for ball in fig3.balls(name, kind, quick)
        if not main or ball.radius == fig3.radius(name, kind)
    ]


def _short(name: str, ball: Ball) -> str:
    return f"{name} {ball.kind} R = {ball.radius:g}"


def _faster_than_fw(results: Results, quick: bool) -> Judged:
    cases, words = {}, []
    for name, ball in _panels(quick, main=False):
        h = fig3.errors(results, name, ball, quick)
        cases[_short(name, ball)] = h["fw"] >= CLEARLY * h["afw"]
        words.append(f"{_short(name, ball)}: {h['fw'] / h['afw']:.3g}")
    setting = f"h of FW over h of AFW at k = {fig3.ITERATIONS}; “much” means at least {CLEARLY:g}"
    return Judged("; ".join(words), setting, across(cases))


def _against_agm(kind: str, expected: dict[str, str]) -> Callable[[Results, bool], Judged]:
    def judge(results: Results, quick: bool) -> Judged:
        cases, words = {}, []
        for name, ball in _panels(quick, main=False):
            if ball.kind != kind:
                continue
            h = fig3.errors(results, name, ball, quick)
            ratio = h["agm"] / h["afw"]
            relation = "comparable" if 1 / COMPARABLE <= ratio <= COMPARABLE else "better" if ratio > 1 else "worse"
            ahead = "better" if ratio > 1 else "worse"
            cases[_short(name, ball)] = expected[name] in (relation, ahead)
            words.append(f"{_short(name, ball)}: {ratio:.3g}")
        setting = f"h of AGM over h of AFW at k = {fig3.ITERATIONS}; comparable means within a factor {COMPARABLE:g}"
        return Judged("; ".join(words), setting, across(cases))

    return judge


def _movielens(results: Results, quick: bool) -> dict[str, Series]:
    return {run.method: results.series(run) for run in fig4.runs(quick)}


def _stations(quick: bool) -> list[int]:
    return [k for k in fig4.STATIONS if k <= fig4.iterations(quick)]


def _completion(results: Results, quick: bool) -> Judged:
    series = _movielens(results, quick)
    ratios = {k: series["fw"].at(k) / series["afw"].at(k) for k in _stations(quick)}
    words = "; ".join(f"k = {k}: {r:.2f}" for k, r in ratios.items())
    verdict = across({f"k = {k}": r >= 1.2 for k, r in ratios.items()})
    if verdict.kind == "holds" and min(ratios.values()) > 1.7:
        verdict = Verdict("holds", f"by more: {spread_of(list(ratios.values()))} times")
    return Judged(words, "h of FW over h of AFW, MovieLens 100K, R = 2.5", verdict)


def _lower_rank(results: Results, quick: bool) -> Judged:
    cases, words = {}, []
    for column, name in (("rank", "above 1e-6"), ("rank_relative", "above 1e-3 σ₁")):
        for k in _stations(quick):
            plain, ours = (fig4.rank_at(results, m, k, quick, column) for m in ("fw", "afw"))
            cases[f"k = {k}, σ {name}"] = ours < plain
            words.append(f"k = {k}, σ {name}: {plain:.0f} / {ours:.0f}")
    return Judged("; ".join(words), "rank of x_k, FW / AFW", across(cases))


def _free(results: Results, quick: bool) -> Judged:
    passes = {}
    for name, ball in _panels(quick, main=True):
        runs = {run.method: results[run] for run in fig3.runs(name, ball, quick)}
        passes[f"{name} {ball.kind}"] = float(runs["afw"]["n_pass"][-1] / runs["fw"]["n_pass"][-1])
    series = _movielens(results, quick)
    k = fig4.iterations(quick)
    products = float(series["afw"].outcome["n_matvec"][-1] / max(series["fw"].outcome["n_matvec"][-1], 1.0))
    cases = {"closed-form oracles": max(passes.values()) <= 1.1, "the Lanczos oracle": products <= 1.1}
    words = (
        f"passes over the data, AFW / FW: {spread_of(list(passes.values()), 3)}; products with the matrix on MovieLens "
        f"(k = {k}): {products:.2g}"
    )
    return Judged(words, "cost of an iteration, AFW over FW", across(cases))


def _equal_products(results: Results, quick: bool) -> Judged:
    series = _movielens(results, quick)
    plain, ours = series["fw"], series["afw"]
    most = max(min(plain.outcome["n_matvec"][-1], ours.outcome["n_matvec"][-1]), 1.0)
    cases, words = {}, []
    for budget in np.geomspace(most / 20, most, 4):
        h = [float(s.h[np.searchsorted(s.outcome["n_matvec"], budget, side="right") - 1]) for s in (plain, ours)]
        cases[f"{budget:.2g} products"] = h[1] < h[0]
        words.append(f"{budget:.2g}: {h[0]:.1e} / {h[1]:.1e}")
    return Judged("; ".join(words), "h of FW / AFW after the same number of products, MovieLens", across(cases))


def _too_expensive(results: Results, quick: bool) -> Judged:
    series = _movielens(results, quick)
    agm, ours = series["agm-restart"], series["afw"]
    goal = ours.at(fig4.iterations(quick))
    reached = np.flatnonzero(agm.h <= goal)
    seconds = float(agm.outcome["time"][reached[0]]) if reached.size else float("inf")
    theirs = float(ours.outcome["time"][-1])
    # Seconds are not repeatable to the digit: say which is quicker and roughly by how much.
    factor = theirs / seconds if seconds > 0 else float("inf")
    words = f"AGM does not reach AFW's last error of {goal:.1e}"
    if reached.size:
        steps = int(agm.k[reached[0]])
        words = f"AGM reaches AFW's last error of {goal:.1e} in {steps} steps; AFW takes {factor:.0f} times the seconds"
    return Judged(words, "restarted projected AGM on MovieLens, full eigendecompositions", single(factor < 1))


def _general_bound(results: Results, quick: bool) -> Judged:
    worst = 0.0
    runs = [run for name, ball in _panels(quick, main=False) for run in fig3.runs(name, ball, quick)]
    runs += [run for r in fig2.radii(quick) for run in fig2.runs(r, quick)]
    runs += [beyond.run(ball, "afw", s, quick) for ball in beyond.balls(quick) for s in beyond.seeds(quick)]
    runs = [run for run in (*runs, *fig4.runs(quick)) if run.method == "afw"]
    for run in runs:
        s = results.series(run)
        curvature = s.outcome.facts["smoothness"] * s.outcome.facts["diameter"] ** 2
        bound = 2 * s.h[0] / ((s.k + 1) * (s.k + 2)) + 2 * curvature / (s.k + 2)
        worst = max(worst, float(np.max(s.h[1:] / bound[1:])))
    return Judged(f"largest h over bound: {worst:.2g}", f"{len(runs)} AFW runs, every k ≥ 1", single(worst <= 1))


def _rates(kinds: tuple[str, ...], method: str = "afw") -> Callable[[Results, bool], Judged]:
    def judge(results: Results, quick: bool) -> Judged:
        fits = {b.label: beyond.rate(results, b, method, quick) for b in beyond.balls(quick) if _of_kind(b, kinds)}
        first, last = beyond.window(quick)
        setting = (
            f"slope of log h on [{first}, {last}] with 95 % interval; {FAST:g} or less counts as 1/k² up to logarithms"
        )
        words = "; ".join(f"{name}: {fit}" for name, fit in fits.items())
        return Judged(words, setting, across({name: _fast(fit) for name, fit in fits.items()}))

    return judge


def _of_kind(ball: Ball, kinds: tuple[str, ...]) -> bool:
    if ball.kind == "l2" and ball.radius >= 20:
        return False  # not active: outside what the theorem promises
    return ball.kind in kinds


def _fast(fit: Slope) -> bool:
    # A slope that could not be measured means an error at the accuracy of f*: faster than any power.
    return not fit.value > FAST


def _separation(results: Results, quick: bool) -> Judged:
    cases, words = {}, []
    for ball in beyond.balls(quick):
        plain, ours = (beyond.rate(results, ball, m, quick) for m in ("fw", "afw"))
        cases[ball.label] = plain.low > ours.high and plain.value > FAST
        words.append(f"{ball.label}: {plain.value:.2f} / {ours.value:.2f}")
    return Judged(
        "; ".join(words), "slopes, FW / AFW; FW must be slower than 1/k² and clearly slower than AFW", across(cases)
    )


def _vertex_rate(results: Results, quick: bool) -> Judged:
    ball = beyond.VERTEX_BALL
    draws = beyond.vertex_seeds(results, ball, quick)
    setting = f"{ball.label}: the {len(draws)} of {len(beyond.seeds(quick))} draws whose solution is a vertex"
    if not draws:  # the theorem says nothing about the others
        return Judged("no draw meets the hypothesis", setting, Verdict(UNKNOWN))
    fit = beyond.rate(results, ball, "afw", quick, draws)
    return Judged(f"slope {fit}", setting, single(_fast(fit)))


def _vertex(results: Results, quick: bool) -> Judged:
    e = certificates.VERTEX
    nonzeros = results.optimum(e.data, e.ball).facts["nonzeros"]
    setting = f"{e.data.label} (seed {e.data.seed}), {e.ball.label}; x* has {nonzeros} nonzero"
    if nonzeros != 1:  # the hypothesis is not met, so nothing was tested
        return Judged("the solution is not a vertex", setting, Verdict(UNKNOWN))
    settled = results[e].facts["last_move"]
    words = f"v moved for the last time at k = {settled} of {e.iterations}"
    return Judged(words, setting, single(settled < 0.5 * e.iterations))


def _dominates(results: Results, quick: bool) -> Judged:
    cases, words = {}, []
    for ball in beyond.balls(quick):
        ratios = beyond.advantage(results, ball, quick)
        cases[ball.label] = min(ratios) > 1
        words.append(f"{ball.label}: {spread_of(ratios, 3)}")
    for name, ball in _panels(quick, main=False):
        h = fig3.errors(results, name, ball, quick)
        cases[_short(name, ball)] = h["afw"] < h["fw"]
        words.append(f"{_short(name, ball)}: {h['fw'] / h['afw']:.3g}")
    return Judged("; ".join(words), "h of FW over h of AFW at the last iteration, over draws of data", across(cases))


def _lemma(results: Results, quick: bool) -> Judged:
    worst = max(results[e].facts["worst_excess"] for e in certificates.ALL)
    setting = f"{len(certificates.ALL)} AFW runs, every k, rounding of 1e-12 allowed"
    return Judged(f"largest f(x_k) − Φ_k* − ξ_k: {worst:.1e}", setting, single(worst <= 1e-12))


def _settling(results: Results, quick: bool) -> Judged:
    chosen = {"l2 active": certificates.ACTIVE, "l1 face": certificates.FACE, "l1 vertex": certificates.VERTEX}
    fits = {name: certificates.movement(results, e, "drift") for name, e in chosen.items()}
    words = "; ".join(f"{name}: {fit}" for name, fit in fits.items())
    cases = {name: not fit.high > -0.5 for name, fit in fits.items()}
    return Judged(words, "slope of log |θ_{k+1} − ∇f(x*)|; the proof needs −1/2", across(cases))


def _agm(results: Results, quick: bool) -> Judged:
    facts = results[theory.Checks()].facts
    parts = {"error": "agm_error", "gradient": "agm_gradient", "distance of v": "agm_distance"}
    words = ", ".join(f"{name} {facts[key]:.2g}" for name, key in parts.items())
    cases = {name: facts[key] <= 1 + 1e-9 for name, key in parts.items()}
    return Judged(
        f"largest ratio to the bound: {words}", f"unconstrained logistic, {theory.STEPS} steps", across(cases)
    )


def _agm_estimate(results: Results, quick: bool) -> Judged:
    over = results[theory.Checks()].facts["agm_overshoot"]
    verdict = single(over <= 0) if over <= 0 else Verdict("holds only for", "rough estimates: it is no lower bound")
    return Judged(f"exceeds f* by up to {over:.1e}", f"unconstrained logistic, {theory.STEPS} steps", verdict)


def _jumping(results: Results, quick: bool) -> Judged:
    facts = results[theory.Checks()].facts
    return Judged(
        f"v changes sign {facts['sign_jumps']:.0f} times in 1000 steps; slope of log h {facts['sign_slope']:.2f}",
        "f = x² on [−1, 1], start 0.9",
        across({"v jumps": facts["sign_jumps"] > 100, "the error is slower than 1/k²": facts["sign_slope"] > FAST}),
    )


def _slow_simplex(results: Results, quick: bool) -> Judged:
    facts = results[theory.Checks()].facts
    slopes = {"FW": facts["simplex_fw"], "AFW": facts["simplex_afw"]}
    words = ", ".join(f"{name} {value:.2f}" for name, value in slopes.items())
    cases = {name: -1.2 <= value <= -0.8 for name, value in slopes.items()}
    return Judged(f"slopes: {words}", "|x|²/2 on the simplex, d = 2000, k ≤ 200", across(cases))


def _rank_bound(results: Results, quick: bool) -> Judged:
    excess = -np.inf
    for method in ("fw", "afw"):
        s = _movielens(results, quick)[method]
        seen = np.isfinite(s.outcome["rank"])
        excess = max(excess, float(np.max(s.outcome["rank"][seen] - (s.k[seen] + 1))))
    return Judged(
        f"largest rank(x_k) − (k + 1): {excess:.0f}", "MovieLens from X_0 = 0, FW and AFW", single(excess <= 0)
    )


CLAIMS = (
    Claim("With an inactive constraint AFW is ahead of GD and FW, and behind AGM.", "Fig. 2", "fig2", _inactive),
    Claim("AFW is much faster than FW on every dataset, on l2 and l1 balls.", "Fig. 3", "fig3", _faster_than_fw),
    Claim(
        "On l2 balls AFW beats AGM, except on covtype.",
        "Fig. 3, first row",
        "fig3",
        _against_agm("l2", {"mushrooms": "better", "mnist": "better", "covtype": "worse"}),
    ),
    Claim(
        "On l1 balls AFW is comparable to AGM on mnist and covtype, and better on mushroom.",
        "Fig. 3, second row",
        "fig3",
        _against_agm("l1", {"mushrooms": "better", "mnist": "comparable", "covtype": "comparable"}),
    ),
    Claim("Matrix completion: AFW is about 1.4 times more accurate than FW.", "Fig. 4a", "fig4", _completion),
    Claim("Matrix completion: AFW finds solutions of lower rank.", "Fig. 4b", "fig4", _lower_rank),
    Claim("Momentum comes at almost no extra cost.", "text", "fig4", _free),
    Claim("… so that AFW is also ahead for the same work.", "text", "fig4", _equal_products),
    Claim("GD and AGM are too expensive for MovieLens 100K.", "text", "fig4", _too_expensive),
    Claim("h_k ≤ 2h_0/((k+1)(k+2)) + 2LD²/(k+2) on every compact convex set.", "any set", "fig3", _general_bound),
    Claim("AFW: 1/k² up to logarithms on an active l2 ball.", "Theorem 3, l2", "beyond", _rates(("l2",))),
    Claim("AFW: 1/k² on the l1 ball when one entry of ∇f(x*) is largest.", "theorem, l1", "beyond", _vertex_rate),
    Claim("… because v is constant from a finite k on.", "theorem, l1", "certificates", _vertex),
    Claim("AFW: 1/k² up to logarithms on active lp balls.", "theorem, lp", "beyond", _rates(("lp",))),
    Claim("The same on k-support balls.", "text, n-support", "beyond", _rates(("ksupport",))),
    Claim("The same on group balls.", "text, groups", "beyond", _rates(("group",))),
    Claim("Plain FW has no such rate: momentum is what accelerates.", "introduction", "beyond", _separation),
    Claim("AFW strictly dominates FW.", "text", "beyond", _dominates),
    Claim("f(x_k) ≤ Φ_k* + ξ_k (the estimate sequence).", "lemma, estimate sequence", "certificates", _lemma),
    Claim("θ_k converges to ∇f(x*), at least like 1/√k.", "Lemma 8", "proofs", _settling),
    Claim("f = x² on [−1, 1]: v jumps from end to end, so acceleration fails.", "text", "proofs", _jumping),
    Claim("No method of this kind beats 1/k while k is below d.", "introduction", "beyond", _slow_simplex),
    Claim("AGM: error, gradient and |v_k − x*| obey their bounds.", "AGM's theorem", "fig1", _agm),
    Claim("AGM's v-update, like FW's, estimates f* from a linear bound.", "Connection 2", "fig1", _agm_estimate),
    Claim("The rank of x_k is at most k + 1.", "text", "fig4", _rank_bound),
)
