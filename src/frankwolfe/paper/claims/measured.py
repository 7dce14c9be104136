"""What the paper reports of its experiments, judged by what was measured here.

The judge of a claim is the function of its key, with underscores.
"""

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
    Found,
    Judge,
    counted,
    listed,
    ordering,
    spread_of,
    stretches,
    verdict,
)
from frankwolfe.paper.problems import METHODS, PAPER
from frankwolfe.paper.runner import NotRunError, Results
from frankwolfe.paper.runs import Race
from frankwolfe.paper.sections import fig2, fig3, fig4, iteration_cost

CLEARLY = 2.0  # "much faster": at most half the error
COMPARABLE = 3.0  # "comparable": within this factor
ABOUT = (1.2, 1.7)  # "about 1.4 times"
UNSEEN = 0.1  # a ball that costs less than this share of the smallest error compared is as good as inactive
RIPPLE = 0.05  # an error that never rises by more does not zig-zag
CROSSING = 300  # past this k the ranks of FW and AFW have crossed
AFFORDABLE = 1000.0  # Gflop: a minute of one core


def inactive(results: Results, quick: bool) -> Found:
    cases, main = [], ""
    for race in fig2.races(quick):
        series = results.race(race)
        errors = {m: series[m].at(fig2.ITERATIONS) for m in PAPER}
        price = fig2.price(results, race)
        words = f"the ball costs {f'{price:.0e}' if price else 'nothing'}, the error of AFW is {errors['afw']:.0e}"
        if price > UNSEEN * errors["afw"]:
            cases.append(Case(race.short, OUTSIDE, "not judged", words))
            continue
        h = {m: series[m].highest[1:] for m in PAPER}
        kind, where = ordering(series["afw"].k[1:], (h["agm"] < h["afw"]) & (h["afw"] < np.minimum(h["gd"], h["fw"])))
        cases.append(Case(race.short, kind, f"{where}; at the end {fig2.order(errors)}", words))
        main = where if race.main else main
    return Found(cases, {"where": main, "radius": fig2.RADIUS})


def stable(results: Results, quick: bool) -> Found:
    cases, values = [], {"window": fig2.WINDOW, "settled": fig2.SETTLED}
    for race in (*fig2.races(quick), *fig3.races(quick)):
        series = results.race(race)
        (plain, rise), (ours, our_rise) = (fig2.stability(series[m]) for m in ("fw", "afw"))
        rises = fig2.percent(rise), fig2.percent(our_rise)
        words = f"largest rise {rises[0]} for FW, {rises[1]} for AFW; median ratio {plain:.3g} and {ours:.3g}"
        if (race.data, race.main) == (fig2.DATA, True):
            values |= {"plain": plain, "ours": ours, "rise": rises[0], "our_rise": rises[1]}
        if max(rise, our_rise) < RIPPLE:
            cases.append(Case(race.short, OUTSIDE, words, "neither error rises by more than a twentieth"))
        else:
            kind = HOLDS if our_rise <= rise / 2 else PARTLY if our_rise < rise else FAILS
            cases.append(Case(race.short, kind, words))
    more = listed(cases, FAILS)
    against = f"AFW's error rises by more than FW's at {more}." if more else "AFW's never rises by more."
    return Found(cases, values | {"seen": listed(cases, HOLDS) or "no radius", "against": against})


Test = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def _compared(results: Results, race: Race, test: Test, against: str) -> tuple[Case, float]:
    """Return the case of one panel, and the ratio of errors at its end.

    `test` gets the errors of FW, AFW and AGM (the largest from k on).
    """
    facts = results.optimum(race)
    words = f"the ball is {'active' if facts['active'] else 'not active'}: |∇f(x*)| = {facts['gradient']:.1e}"
    if not facts["active"]:
        return Case(race.short, OUTSIDE, "not judged", words), 0.0
    series = results.race(race)
    known = max(series["afw"].floor, 1e-16)
    plain, ours, agm = (np.maximum(series[m].highest[1:], known) for m in ("fw", "afw", "agm"))
    kind, where = ordering(series["afw"].k[1:], test(plain, ours, agm))
    end = float((plain if against == "fw" else agm)[-1] / ours[-1])
    measured = f"{where}; {METHODS[against].name} error / AFW error at the end {end:.3g}"
    return Case(race.short, kind, measured, words), end


def faster(results: Results, quick: bool) -> Found:
    cases = [_compared(results, p, lambda fw, afw, agm: fw >= CLEARLY * afw, "fw")[0] for p in fig3.races(quick)]
    late, missed = listed(cases, PARTLY), listed(cases, FAILS)
    values = {
        "l2": counted([c for c in cases if " l2 " in c.name]),
        "l1": counted([c for c in cases if " l1 " in c.name]),
        "late": f"Over a part of the run only at {late}." if late else "",
        "missed": f"At hardly any k at {missed}." if missed else "",
    }
    return Found(cases, values)


def against_agm(kind: str, expected: dict[str, str]) -> Judge:
    tests: dict[str, Test] = {
        "better": lambda fw, afw, agm: afw < agm,
        "worse": lambda fw, afw, agm: afw > agm,
        "comparable": lambda fw, afw, agm: (agm <= COMPARABLE * afw) & (afw <= COMPARABLE * agm),
    }

    def judge(results: Results, quick: bool) -> Found:
        races = fig3.races(quick, (kind,))
        found = [_compared(results, race, tests[expected[race.data.name]], "agm") for race in races]
        ends = [(race, case, end > 1) for race, (case, end) in zip(races, found, strict=True) if end]
        values = {
            "wanted": ", ".join(f"{name} {what}" for name, what in expected.items()),
            "extra": f" (comparable: within a factor {COMPARABLE:g})" if "comparable" in expected.values() else "",
            "ahead": listed([c._replace(verdict=HOLDS) for _, c, ahead in ends if ahead], HOLDS) or "no radius",
            "behind": sum(not ahead for *_, ahead in ends),
            "radius": _decided_by_radius([(race, ahead) for race, _, ahead in ends]),
        }
        return Found([c for c, _ in found], values)

    return judge


def _decided_by_radius(ends: list[tuple[Race, bool]]) -> str:
    """Return a sentence on the datasets with balls on which either ends ahead, if AFW's are always the larger ones."""
    radii = {ahead: [(r.data.name, r.ball.radius) for r, a in ends if a is ahead] for ahead in (True, False)}
    pairs = [(name, won > lost) for name, won in radii[True] for other, lost in radii[False] if name == other]
    *others, last = dict.fromkeys(name for name, _ in pairs) or [""]
    names = f"{', '.join(others)} and {last}" if others else last
    larger = pairs and all(larger for _, larger in pairs)
    return f"On {names} AFW ends ahead on the larger balls and AGM on the smaller ones." if larger else ""


l2_agm = against_agm("l2", {"mushrooms": "better", "mnist": "better", "covtype": "worse"})
l1_agm = against_agm("l1", {"mushrooms": "better", "mnist": "comparable", "covtype": "comparable"})


def completion(results: Results, quick: bool) -> Found:
    both, zero = (fig4.readings(results, chosen(quick)) for chosen in (fig4.runs, fig4.from_zero))
    cases = []
    for k, (error, steps) in both.items():
        reached = np.isfinite(steps)
        words = f"{steps:.2f} times the iterations" if reached else "FW does not get there"
        kind = verdict(ABOUT[0] <= steps <= ABOUT[1]) if reached else UNKNOWN
        cases.append(Case(f"AFW at k = {k}", kind, f"{words}; {error:.2f} times the error"))
    early = [[s for k, (_, s) in found.items() if k <= 150 and np.isfinite(s)] for found in (both, zero)]
    times, from_zero = (f"{spread_of(found, 3)} times" if found else "more than" for found in early)
    errors = spread_of([error for error, _ in both.values()], 3)
    return Found(cases, {"times": times, "zero": from_zero, "errors": errors, "low": ABOUT[0], "high": ABOUT[1]})


def rank(results: Results, quick: bool) -> Found:
    cases, ends = [], []
    plain, ours = (fig4.series(results, fig4.runs(quick))[m].outcome for m in ("fw", "afw"))
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


def free(results: Results, quick: bool) -> Found:
    cases = []
    for race in (r for r in fig3.races(quick) if r.main):
        series = results.race(race)
        ratio = float(series["afw"].outcome["n_pass"][-1] / series["fw"].outcome["n_pass"][-1])
        words = f"{ratio:.3g} times FW's passes"
        cases.append(Case(race.short, verdict(ratio <= 1.1), words, "closed-form oracle"))
    plain, ours = (fig4.series(results, fig4.runs(quick))[m] for m in ("fw", "afw"))
    shown = [k for k in (50, 150, 500) if k <= plain.k[-1]]
    for k in shown:
        at = int(np.searchsorted(plain.k, k))
        ratio = float(ours.outcome["n_matvec"][at] / max(plain.outcome["n_matvec"][at], 1.0))
        words = f"{ratio:.2g} times FW's products"
        cases.append(Case(f"MovieLens, k = {k}", verdict(ratio <= 1.1), words, "iterative oracle"))
    return Found(cases, {"last": cases[-1].measured, "at": shown[-1]})


def expensive(results: Results, quick: bool) -> Found:
    cases, ratios, last, affordable = [], [], "", True
    for goal, (ours, agm) in fig4.cost(results, quick).items():
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
    reach = Case("out of reach at this size", verdict(not affordable), last, words)
    values = {"ratios": spread_of(ratios, 3), "beyond": "not " if affordable else "", "last": last}
    return Found([*cases, reach], values)


def sliding(results: Results, quick: bool) -> Found:
    found = [iteration_cost.sliding(results, problem) for problem in iteration_cost.PROBLEMS]
    cases = []
    for problem, s in zip(iteration_cost.PROBLEMS, found, strict=True):
        words = (
            f"AFW {s['afw']:.0f} call a step, CGS {s['cgs_mean']:.2f} on average and {s['cgs_most']:.0f} at most; "
            f"errors after {s['budget']:.0f} calls: AFW {s['h_afw']:.1e}, CGS {s['h_cgs']:.1e}"
        )
        cases.append(Case(problem.short, verdict(s["afw"] == 1 and s["cgs_mean"] > 1.05), words))
    values = {
        "means": spread_of([s["cgs_mean"] for s in found], 3),
        "most": max(s["cgs_most"] for s in found),
        "ahead": sum(s["h_afw"] < s["h_cgs"] for s in found),
        "total": len(found),
    }
    return Found(cases, values)


def cheaper(results: Results, quick: bool) -> Found:
    cases, ratios = [], []
    for name in fig3.DATASETS:
        ours, agm = iteration_cost.per_iteration(results, fig3.main(name, "l1", quick)[0]).values()
        words = (
            f"AFW {ours['passes']:.2f} passes and one look at d numbers, AGM {agm['passes']:.2f} passes and "
            f"{agm['projections']:.0f} projections"
        )
        ratios.append(ours["passes"] / agm["passes"])
        cases.append(Case(f"{name} l1", verdict(ratios[-1] <= 1.1 and ours["projections"] < agm["projections"]), words))
    return Found(cases, {"ratios": spread_of(ratios, 3)})
