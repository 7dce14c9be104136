"""Proven against measured: the constants of Lemmas 7 to 9 and of Theorem 3, on their own data."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from frankwolfe.paper.publication.figure_data import Curve, Panel, Section
from frankwolfe.paper.reference import Reference
from frankwolfe.paper.runner import Results
from frankwolfe.paper.sections import certificate_quality
from frankwolfe.paper.sections.rate_reasons import WANDERING, Wandering
from frankwolfe.paper.store import Outcome, Task
from frankwolfe.paper.verdicts import OUTSIDE, Case, Found, Judge, verdict
from frankwolfe.paper.words import Words
from frankwolfe.plotting.style import BLUE, GREY, PURPLE, VERMILION


class Constants(NamedTuple):
    """C₁, C₂, C₃ and T of the paper, or the smallest numbers that would have done on a run."""

    C1: float
    C2: float
    C3: float
    T: float


class Curved(NamedTuple):
    """A run on an l2 ball, whether the ball is active, and the constants, proven and measured."""

    title: str
    walk: Outcome
    active: bool
    proven: Constants
    seen: Constants

    @property
    def reached(self) -> bool:
        """Whether the run gets to where the lemma on the steps of v, and so the theorem's 1/k², begins."""
        return bool(self.walk["k"][-1] >= self.proven.T + 1)


def curved(results: Results) -> list[Curved]:
    """Return the runs on l2 balls."""
    return [
        Curved(e.title, results[e], results.optimum(e)["active"], *constants(results[e], e.ball.radius))
        for e in certificate_quality.CURVED
    ]


def tasks(quick: bool) -> list[Task]:
    return [Wandering("afw"), *(t for e in certificate_quality.CURVED for t in (Reference(e.data, e.ball), e))]


def first_two(L: float, D: float, M: float, root: float) -> tuple[float, float]:
    """Return C₁ and C₂ from L, D, M = max f - f* over the set and √G = |∇f(x*)|."""
    C1 = math.sqrt(6 * L * M + 4 * L**2 * D**2)
    return C1, 4 * C1 / 3 + 2 * root / (3 * (math.sqrt(3) + 1))


def constants(walk: Outcome, radius: float) -> tuple[Constants, Constants]:
    """Return the constants of a run on an active l2 ball, proven and measured."""
    facts, k = walk.facts, walk["k"]
    root = facts["gradient"]
    C1, C2 = first_two(facts["smoothness"], facts["diameter"], facts["highest"] - facts["fun"], root)
    T = (2 * C2 / root + 1) ** 2 - 3
    C3 = 4 * radius / root**2 * (4 * root * C2 + 2 * C2**2 / (math.sqrt(max(T, 0.0) + 4) - 1))
    small = np.flatnonzero(walk["theta"] < root / 2)
    settled = int(k[small[-1]]) + 1 if small.size else 0
    later = k >= max(settled, 1)
    ahead, drift = np.sqrt(k + 3) * walk["ahead"], (np.sqrt(k + 3) - 1) * walk["drift"]
    move = ((np.sqrt(k + 2) - 1) * walk["move"])[later]
    return Constants(C1, C2, C3, T), Constants(float(ahead.max()), float(drift.max()), float(move.max()), settled)


def error_and_bound(run: Curved) -> tuple[np.ndarray, np.ndarray]:
    """Return h and what Theorem 3's proof bounds it by with its own constants, at the k of the run.

    h ≤ λₖh₀ + ξₖ with ξₖ₊₁ = (1 - δₖ)ξₖ + Lδₖ²|vₖ₊₁ - vₖ|²/2, where a step of v is at most the diameter, and from T + 1
    on at most C₃/(√(k+2) - 1).
    """
    facts, seen, c = run.walk.facts, run.walk["k"].astype(int), run.proven
    h = run.walk["fun"] - facts["fun"]
    k = np.arange(seen[-1] + 1.0)
    late = c.C3 / np.maximum(np.sqrt(k + 2) - 1, 1e-9)
    move = np.where(k >= c.T + 1, np.minimum(late, facts["diameter"]), facts["diameter"])
    added = np.concatenate([[0.0], np.cumsum(2 * facts["smoothness"] * move**2 * (k + 2) / (k + 3))])[:-1]
    return h, ((2 * h[0] + added) / ((k + 1) * (k + 2)))[seen]


def vertex_time(facts: dict[str, float]) -> float:
    """Return the proven T of the l1 theorem, (3C₂/λ + 1)² - 3, for `Wandering`."""
    _, C2 = first_two(facts["smoothness"], 2.0, facts["highest"], facts["gradient"])
    return (3 * C2 / facts["margin"] + 1) ** 2 - 3


def section(results: Results, quick: bool) -> Section:
    runs, words = curved(results), Words("proven")
    rows = [
        [f"{words.text[field]}: {kind}", *(_short(getattr(c, field)) for c in group)]
        for field in ("T", "C1", "C2", "C3")
        for kind, group in (("proven", [r.proven for r in runs]), ("enough on this run", [r.seen for r in runs]))
    ]
    facts = results[Wandering("afw")].facts
    where = f"λ = {facts['margin']:.1e}, largest entry {facts['largest']:.2g}"
    times = [[words.text["T_l1"], _short(vertex_time(facts)), str(facts["last_move"]), where]]
    words.values.update(zip(("first", "second", "third"), (r.title for r in runs), strict=True))
    drawn = {"proven": _distances, "settling": _lengths, "theorem-3": _errors}
    figures = [words.figure(key, [panel(r) for r in runs], len(runs), ("k",)) for key, panel in drawn.items()]
    return words.section(figures, {"proven": rows, "proven-l1": times})


def _short(value: float) -> str:
    return f"{value:.2g}" if abs(value) < 1e4 else f"{value:.0e}".replace("e+", "e")


def _distances(run: Curved) -> Panel:
    k, c = run.walk["k"], run.proven
    stated = np.where(k >= c.T + 1, c.C3 / np.maximum(np.sqrt(k + 2) - 1, 1e-9), np.nan)
    curves = [
        ("|∇f(yₖ) − ∇f(x*)|", run.walk["ahead"], PURPLE),
        ("Lemma 7", c.C1 / np.sqrt(k + 3), PURPLE, "dot"),
        ("|θₖ₊₁ − ∇f(x*)|", run.walk["drift"], BLUE),
        ("Lemma 8", c.C2 / (np.sqrt(k + 3) - 1), BLUE, "dot"),
        ("|vₖ₊₁ − vₖ|", run.walk["move"], VERMILION),
        ("Lemma 9", stated, VERMILION, "dot"),
    ]
    return Panel(run.title, [Curve(name, {"k": k + 1}, *look) for name, *look in curves], ylabel="distance")


def _lengths(run: Curved) -> Panel:
    x = {"k": run.walk["k"] + 1}
    half = np.full(x["k"].size, run.walk.facts["gradient"] / 2)
    curves = [Curve("|θₖ₊₁|", x, run.walk["theta"], BLUE), Curve("|∇f(x*)|/2", x, half, GREY, "dot")]
    return Panel(run.title, curves, ylabel="length")


def _errors(run: Curved) -> Panel:
    (h, bound), facts, k = error_and_bound(run), run.walk.facts, run.walk["k"][1:]
    general = 2 * h[0] / ((k + 1) * (k + 2)) + 2 * facts["smoothness"] * facts["diameter"] ** 2 / (k + 2)
    curves = [
        Curve("error", {"k": k}, h[1:], BLUE),
        Curve("Theorem 3 with its constants", {"k": k}, bound[1:], VERMILION, "dash"),
        Curve("bound on general sets", {"k": k}, general, GREY, "dot"),
    ]
    return Panel(run.title, curves)


def bounded(which: str, letter: str) -> Judge:
    """Return the judge of a lemma that bounds a distance by one of the constants."""

    def judge(results: Results, quick: bool) -> Found:
        cases, worst = [], 0.0
        for run in curved(results):
            T, begun = run.proven.T, which != "C3" or run.reached
            if not (run.active and begun):
                late = f"stated for k > T = {T:.0e}, the run ends at {run.walk['k'][-1]:.0f}"
                cases.append(Case(run.title, OUTSIDE, "not judged", late if run.active else "the ball is not active"))
                continue
            proof, seen = getattr(run.proven, which), getattr(run.seen, which)
            worst = max(worst, seen / proof)
            measured = f"{letter} = {proof:.2g}; {seen:.2g} would have done"
            where = "active" + f"; T = {T:.2g}" * (which == "C3")
            cases.append(Case(run.title, verdict(seen <= proof), measured, where))
        return Found(cases, {"worst": worst})

    return judge


lemma_7, lemma_8, lemma_9 = map(bounded, ("C1", "C2", "C3"), ("C₁", "C₂", "C₃"))


def settling(results: Results, quick: bool) -> Found:
    cases, runs = [], curved(results)
    for run in runs:
        words = f"proven T = {run.proven.T:.2g}, measured {run.seen.T:.0f}"
        kind = verdict(max(run.proven.T, 0) + 1 >= run.seen.T, run.active)
        cases.append(Case(run.title, kind, words, "active" if run.active else "not active"))
    return Found(cases, {"proven": runs[-1].proven.T, "seen": runs[-1].seen.T})  # mushrooms


def theorem_3(results: Results, quick: bool) -> Found:
    cases, worst, reached = [], 0.0, 0
    for run in curved(results):
        h, bound = error_and_bound(run)
        ratio = float(np.max(h[1:] / bound[1:]))
        worst, reached = max(worst, ratio), reached + run.reached
        measured = f"at most {ratio:.2g} of the bound; at the end {h[-1]:.1e}, the bound {bound[-1]:.1e}"
        where = f"T = {run.proven.T:.2g}, {'within' if run.reached else 'beyond'} the run"
        words = where if run.active else "the ball is not active"
        cases.append(Case(run.title, verdict(ratio <= 1, run.active), measured, words))
    return Found(cases, {"worst": worst, "reached": reached, "runs": len(cases)})


def l1_freeze(results: Results, quick: bool) -> Found:
    task = Wandering("afw")
    facts, plain = results[task].facts, results[Wandering("fw")].facts
    bound, last, moves = vertex_time(facts), facts["last_move"], facts["moves"]
    kind = verdict(last < 0.5 * task.iterations and last <= bound, facts["margin"] > 0 and moves > 5)
    measured = f"{moves} moves, the last at k = {last}; proven: by k = {bound:.0e}"
    words = f"unique largest entry of ∇f(x*), λ = {facts['margin']:.1e}"
    values = {"moves": moves, "last": last, "bound": bound, "plain": plain["last_move"]}
    return Found([Case(WANDERING, kind, measured, words)], values)
