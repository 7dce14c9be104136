"""What the paper reports of its experiments, judged by what was measured here."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from frankwolfe.paper.claims.verdicts import (
    FAILS,
    HOLDS,
    OUTSIDE,
    PARTLY,
    UNKNOWN,
    Case,
    Judged,
    judged,
    ordering,
    spread_of,
    stretches,
    verdict,
)
from frankwolfe.paper.problems import METHODS
from frankwolfe.paper.runner import Results
from frankwolfe.paper.runs import Series
from frankwolfe.paper.sections import fig2, fig3, fig4, iteration_cost

CLEARLY = 2.0  # "much faster": at most half the error
COMPARABLE = 3.0  # "comparable": within this factor
UNSEEN = 0.1  # a ball that costs less than this share of the smallest error compared is as good as inactive


def _outside(name: str, hypothesis: str) -> Case:
    return Case(name, OUTSIDE, "not judged", hypothesis)


def inactive(results: Results, quick: bool) -> Judged:
    cases = []
    for radius in sorted(fig2.radii(quick)):
        name = f"a9a l2 R = {radius:g}"
        series = {run.method: results.series(run) for run in fig2.runs(radius, quick)}
        price = fig2.price(results, radius)
        errors = {m: series[m].at(fig2.ITERATIONS) for m in fig2.PAPER}
        words = f"the ball costs {price:.0e}, the error of AFW is {errors['afw']:.0e}"
        if price > UNSEEN * errors["afw"]:
            cases.append(_outside(name, words))
            continue
        h = {m: series[m].highest[1:] for m in fig2.PAPER}
        kind, where = ordering(series["afw"].k[1:], (h["agm"] < h["afw"]) & (h["afw"] < np.minimum(h["gd"], h["fw"])))
        order = " < ".join(METHODS[m].name for m in sorted(fig2.PAPER, key=lambda m: errors[m]))
        cases.append(Case(name, kind, f"{where}; at the end {order}", words))
    main = next(c for c in cases if c.name.endswith(f"R = {fig2.RADIUS:g}"))
    where = main.measured.split(";")[0]
    return judged(
        cases,
        f"AGM ahead of AFW, and AFW ahead of both GD and FW, is seen at the radius of our figure for {where}; before "
        "that the order is another. The paper does not say which radius it drew; ours was picked because it ends in "
        "this order.",
        f"{where} at R = {fig2.RADIUS:g}",
    )


def stable(results: Results, quick: bool) -> Judged:
    cases, first = [], ""
    pairs = [(f"a9a l2 R = {r:g}", fig2.runs(r, quick)) for r in fig2.radii(quick)]
    pairs += [(p.name, fig3.runs(p)) for p in fig3.problems(quick)]
    for name, runs in pairs:
        (plain, rise), (ours, our_rise) = (
            fig2.stability(results.series(next(r for r in runs if r.method == m)).h) for m in ("fw", "afw")
        )
        words = f"FW {plain:.2f} and +{100 * rise:.0f} %, AFW {ours:.2f} and +{100 * our_rise:.0f} %"
        first = first or words
        if max(rise, our_rise) < RIPPLE:
            cases.append(Case(name, OUTSIDE, words, "neither error rises by more than a twentieth"))
            continue
        kind = HOLDS if our_rise <= rise / 2 else PARTLY if our_rise < rise else FAILS
        cases.append(Case(name, kind, words))
    return judged(
        cases,
        f"Median of largest over smallest error within {fig2.WINDOW} iterations, and largest rise of the error, in "
        f"Figure 2: {first}. The cases are judged by the largest rise (“much”: at most half of FW's), since the "
        "median also grows with how fast an error falls.",
        first,
    )


RIPPLE = 0.05


Test = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def _compared(results: Results, problem: fig3.Problem, test: Test, against: str) -> Case:
    """Return the case of one panel: `test` gets the errors of FW, AFW and AGM (the largest from k on)."""
    facts = results.optimum(problem.data, problem.ball).facts
    words = f"the ball is {'active' if facts['active'] else 'not active'}: |∇f(x*)| = {facts['gradient']:.1e}"
    if not facts["active"]:
        return _outside(problem.name, words)
    series = {run.method: results.series(run) for run in fig3.runs(problem)}
    known = max(series["afw"].floor, 1e-16)
    plain, ours, agm = (np.maximum(series[m].highest[1:], known) for m in ("fw", "afw", "agm"))
    kind, where = ordering(series["afw"].k[1:], test(plain, ours, agm))
    end = (plain if against == "fw" else agm)[-1] / ours[-1]
    return Case(problem.name, kind, f"{where}; {METHODS[against].name} error / AFW error at the end {end:.3g}", words)


def faster_than_fw(results: Results, quick: bool) -> Judged:
    cases = [_compared(results, p, lambda fw, afw, agm: fw >= CLEARLY * afw, "fw") for p in fig3.problems(quick)]
    missed = [c.name for c in cases if c.verdict == FAILS]
    return judged(
        cases,
        "“Much faster” is taken as at most half of FW's error, from a tenth of the run on. "
        + (f"Not seen at all at {', '.join(missed)}." if missed else "Seen, at least later in the run, in every case."),
    )


def against_agm(kind: str, expected: dict[str, str]) -> Callable[[Results, bool], Judged]:
    tests: dict[str, Test] = {
        "better": lambda fw, afw, agm: afw < agm,
        "worse": lambda fw, afw, agm: afw > agm,
        "comparable": lambda fw, afw, agm: (agm <= COMPARABLE * afw) & (afw <= COMPARABLE * agm),
    }

    def judge(results: Results, quick: bool) -> Judged:
        found = fig3.problems(quick, (kind,))
        cases = [_compared(results, p, tests[expected[p.data.name]], "agm") for p in found]
        wanted = ", ".join(f"{name} {what}" for name, what in expected.items())
        extra = f" (comparable: within a factor {COMPARABLE:g})" if "comparable" in expected.values() else ""
        inside = [c for c in cases if c.verdict != OUTSIDE]
        ahead = [c.name for c in inside if float(c.measured.rsplit(" ", 1)[1]) > 1]
        return judged(
            cases,
            f"Expected of AFW against AGM: {wanted}{extra}. At the last iteration AFW is ahead of AGM at "
            f"{', '.join(ahead) or 'no radius'}, and behind it in the other {len(inside) - len(ahead)} cases.",
        )

    return judge


def movielens(results: Results, quick: bool) -> dict[str, Series]:
    return {run.method: results.series(run) for run in fig4.runs(quick)}


def completion(results: Results, quick: bool) -> Judged:
    both = fig4.readings(results, quick)
    steps = {k: s for k, (_, s) in both.items() if k <= 150 and np.isfinite(s)}
    errors = [e for e, _ in both.values()]
    cases = [
        Case(
            f"AFW at k = {k}",
            UNKNOWN if not np.isfinite(s) else verdict(1.2 <= s <= 1.7),
            f"{f'{s:.2f} times the iterations' if np.isfinite(s) else 'FW does not get there'}; {e:.2f} times the "
            "error",
        )
        for k, (e, s) in both.items()
    ]
    times = f"{spread_of(list(steps.values()), 3)} times" if steps else "more than"
    return judged(
        cases,
        f"FW needs {times} the iterations for AFW's error at k = 50 to 150, near the printed number; read as a ratio "
        f"of errors at equal k it is {spread_of(errors, 3)}.",
        f"{times} the iterations",
    )


def lower_rank(results: Results, quick: bool) -> Judged:
    cases, number = [], ""
    last = fig4.iterations(quick)
    for column, name in (("rank", "σ above 1e-6"), ("rank_relative", "σ above 1e-3 σ₁")):
        plain, ours = (movielens(results, quick)[m].outcome for m in ("fw", "afw"))
        seen = np.flatnonzero(np.isfinite(plain[column]) & np.isfinite(ours[column]))
        k, lower = plain["k"][seen], ours[column][seen] < plain[column][seen]
        ranges = stretches(k, lower)
        at_end = f"{plain[column][seen[-1]]:.0f} (FW), {ours[column][seen[-1]]:.0f} (AFW) at k = {int(k[-1])}"
        if not (ranges and ranges[-1][1] == k[-1]) and last < CROSSING:
            cases.append(Case(name, UNKNOWN, f"the run ends at k = {last}, before the ranks cross"))
            continue
        start = ranges[-1][0] if ranges and ranges[-1][1] == k[-1] else None
        gain = plain[column][seen[-1]] / ours[column][seen[-1]]
        kind = FAILS if start is None else HOLDS if gain >= 1.1 else PARTLY
        where = "not lower at the end" if start is None else f"lower from k = {start} on"
        cases.append(Case(name, kind, f"{where}: {at_end}"))
        number = number or at_end
    return judged(
        cases,
        "AFW's rank is the higher one at first, since its vertices repeat later; it is lower past the crossing, "
        "clearly so only if the smallest singular values are counted.",
        number or "not run that far",
    )


CROSSING = 300  # past this k the ranks of FW and AFW have crossed


def free(results: Results, quick: bool) -> Judged:
    cases = []
    for problem in fig3.problems(quick):
        if problem.main:
            runs = {run.method: results[run] for run in fig3.runs(problem)}
            ratio = float(runs["afw"]["n_pass"][-1] / runs["fw"]["n_pass"][-1])
            cases.append(
                Case(problem.name, verdict(ratio <= 1.1), f"{ratio:.3g} times FW's passes", "closed-form oracle")
            )
    series = movielens(results, quick)
    products = {m: series[m].outcome["n_matvec"] for m in ("fw", "afw")}
    for k in (k for k in (50, 150, fig4.iterations(quick)) if k <= fig4.iterations(quick)):
        at = int(np.searchsorted(series["fw"].k, k))
        ratio = float(products["afw"][at] / max(products["fw"][at], 1.0))
        cases.append(
            Case(f"MovieLens, k = {k}", verdict(ratio <= 1.1), f"{ratio:.2g} times FW's products", "iterative oracle")
        )
    return judged(
        cases,
        "With closed-form oracles an iteration of AFW reads the data as often as one of FW. With Lanczos it is the "
        "oracle that costs, and AFW's averaged gradient takes more products for the same accuracy, and must be "
        "answered more accurately.",
        f"{cases[-1].measured} on MovieLens",
    )


def too_expensive(results: Results, quick: bool) -> Judged:
    cases, ratios, last, affordable = [], [], "", True
    for goal, c in fig4.cost(results, quick).items():
        if not (np.isfinite(c["afw"]) and np.isfinite(c["agm"])):
            cases.append(Case(f"dearer at error {goal:.0e}", UNKNOWN, "one of the two does not reach it in this run"))
            continue
        ratios.append(c["agm_flops"] / max(c["afw_flops"], 1.0))
        words = f"AFW {c['afw']:.0f} products, AGM {c['agm']:.0f} SVDs: {ratios[-1]:.2g} times AFW's arithmetic"
        cases.append(Case(f"dearer at error {goal:.0e}", verdict(ratios[-1] > 1), words))
        affordable = c["agm_flops"] < AFFORDABLE
        last = f"{c['agm']:.0f} SVDs ({c['agm_flops'] / 1e9:.0f} Gflop) reach an error of {goal:.0e}"
    if ratios:
        cases.append(
            Case("out of reach at this size", verdict(not affordable), last, "a minute of one core: 1e12 flop")
        )
    return judged(
        cases,
        f"For the same error AGM does {spread_of(ratios, 3)} times AFW's arithmetic, counted from products and SVDs, "
        f"so it is the dearer method; it is {'not ' if affordable else ''}out of reach at this size: {last}. Seconds "
        "are in the table beside Figure 4."
        if ratios
        else "",
        f"{spread_of(ratios, 3)} times AFW's arithmetic" if ratios else "",
    )


AFFORDABLE = 1e12


def one_oracle_call(results: Results, quick: bool) -> Judged:
    cases, means = [], []
    for data, ball in iteration_cost.PROBLEMS:
        s = iteration_cost.sliding(results, data, ball)
        name = f"{data.label} {ball.kind} R = {ball.radius:g}"
        words = f"AFW {s['afw']:.0f} call a step; CGS {s['cgs_mean']:.2f} on average, {s['cgs_most']:.0f} at most"
        more = s["afw"] == 1 and s["cgs_mean"] > 1.05
        cases.append(Case(f"{name}: calls", verdict(more), words))
        ahead = f"after {s['budget']:.0f} calls each: AFW {s['h_afw']:.1e}, CGS {s['h_cgs']:.1e}"
        cases.append(Case(f"{name}: error for the same calls", verdict(s["h_afw"] < s["h_cgs"]), ahead))
        means.append(s["cgs_mean"])
    return judged(
        cases,
        "O(k) is the most that the analysis of CGS allows for; counted, it takes few calls a step, more on polytopes "
        "than on curved balls. Beside the counts stands the error that each method has after the same number of calls.",
        f"CGS {spread_of(means, 3)} calls a step, AFW 1",
    )


def cheaper_than_agm(results: Results, quick: bool) -> Judged:
    cases, ratios = [], []
    for name in fig3.DATASETS:
        c = iteration_cost.per_iteration(results, name, quick)
        ours, agm = c["afw"], c["agm"]
        words = (
            f"AFW {ours['passes']:.2f} passes and one look at d numbers, AGM {agm['passes']:.2f} passes and "
            f"{agm['projections']:.0f} projections"
        )
        ratios.append(ours["passes"] / agm["passes"])
        better = ours["passes"] <= 1.1 * agm["passes"] and ours["projections"] < agm["projections"]
        cases.append(Case(f"{name} l1", verdict(better), words))
    return judged(
        cases,
        "Both read the data once an iteration; AGM adds two projections that sort d numbers, AFW the largest of d "
        "numbers and a column. With many more samples than features the difference is small (milliseconds are in the "
        "table).",
        f"{spread_of(ratios, 3)} times AGM's passes",
    )
