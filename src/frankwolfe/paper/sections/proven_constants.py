"""Proven against measured: the constants of Lemmas 7 to 9 and of Theorem 3, on their own data."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from frankwolfe.paper.publication.figure_data import Curve, Panel, Section
from frankwolfe.paper.reference import Reference
from frankwolfe.paper.runner import Results
from frankwolfe.paper.sections import certificate_quality
from frankwolfe.paper.sections.certificate_quality import Estimate
from frankwolfe.paper.sections.rate_reasons import Wandering
from frankwolfe.paper.store import Outcome, Task
from frankwolfe.paper.words import Words
from frankwolfe.plotting.palette import BLUE, GREY, ORANGE, PURPLE, VERMILION


class Constants(NamedTuple):
    """C₁, C₂, C₃ and T of the paper, and the smallest numbers that would have done on this run."""

    C1: float
    C2: float
    C3: float
    T: float
    C1_seen: float
    C2_seen: float
    C3_seen: float
    T_seen: int


def tasks(quick: bool) -> list[Task]:
    return [Wandering("afw"), *(t for e in certificate_quality.CURVED for t in (Reference(e.data, e.ball), e))]


def first_two(L: float, D: float, M: float, root: float) -> tuple[float, float]:
    """Return C₁ and C₂ from L, D, M = max f - f* over the set and √G = |∇f(x*)|."""
    C1 = math.sqrt(6 * L * M + 4 * L**2 * D**2)
    return C1, 4 * C1 / 3 + 2 * root / (3 * (math.sqrt(3) + 1))


def constants(walk: Outcome, radius: float) -> Constants:
    """Return the constants of a run on an active l2 ball, proven and measured."""
    facts, k = walk.facts, walk["k"]
    root = facts["gradient"]
    C1, C2 = first_two(facts["smoothness"], facts["diameter"], facts["highest"] - facts["fun"], root)
    T = (2 * C2 / root + 1) ** 2 - 3
    C3 = 4 * radius / root**2 * (4 * root * C2 + 2 * C2**2 / (math.sqrt(max(T, 0.0) + 4) - 1))
    small = np.flatnonzero(walk["theta"] < root / 2)
    settled = int(k[small[-1]]) + 1 if small.size else 0
    later = k >= max(settled, 1)
    return Constants(
        C1, C2, C3, T,
        float(np.max(np.sqrt(k + 3) * walk["ahead"])),
        float(np.max((np.sqrt(k + 3) - 1) * walk["drift"])),
        float(np.max((np.sqrt(k[later] + 2) - 1) * walk["move"][later])),
        settled,
    )  # fmt: skip


def error_and_bound(walk: Outcome, c: Constants) -> tuple[np.ndarray, np.ndarray]:
    """Return h and what Theorem 3's proof bounds it by with its own constants, at the k of the run.

    h ≤ λₖh₀ + ξₖ with ξₖ₊₁ = (1 - δₖ)ξₖ + Lδₖ²|vₖ₊₁ - vₖ|²/2, where a step of v is at most the diameter, and from T + 1
    on at most C₃/(√(k+2) - 1).
    """
    facts, seen = walk.facts, walk["k"].astype(int)
    h = walk["fun"] - facts["fun"]
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
    problems = certificate_quality.CURVED
    found = [constants(results[e], e.ball.radius) for e in problems]
    rows: list[list[str]] = []
    for quantity, proven, seen in (
        ("T: from here on |θ| is at least half of |∇f(x*)|", "T", "T_seen"),
        ("C₁ in |∇f(yₖ) − ∇f(x*)| ≤ C₁/√(k+3)", "C1", "C1_seen"),
        ("C₂ in |θₖ₊₁ − ∇f(x*)| ≤ C₂/(√(k+3) − 1)", "C2", "C2_seen"),
        ("C₃ in |vₖ₊₁ − vₖ| ≤ C₃/(√(k+2) − 1)", "C3", "C3_seen"),
    ):
        rows.append([f"{quantity}: proven", *(_short(getattr(c, proven)) for c in found)])
        rows.append([f"{quantity}: enough on this run", *(_short(getattr(c, seen)) for c in found)])
    wandering = results[Wandering("afw")].facts
    times = [
        [
            "T of the l1 theorem: v constant from here on",
            _short(vertex_time(wandering)),
            str(wandering["last_move"]),
            f"λ = {wandering['margin']:.1e}, largest entry {wandering['largest']:.2g}",
        ]
    ]
    words = Words("proven", **dict(zip(("first", "second", "third"), (e.title for e in problems), strict=True)))
    panels = [_panel(results[e], e, c) for e, c in zip(problems, found, strict=True)]
    errors = [_errors(results[e], e, c) for e, c in zip(problems, found, strict=True)]
    drawn = {"proven": panels, "settling": [_lengths(results[e], e) for e in problems], "theorem-3": errors}
    figures = [words.figure(key, group, len(problems), ("k",)) for key, group in drawn.items()]
    return words.section(figures, [words.table("proven", rows), words.table("proven-l1", times)])


def _short(value: float) -> str:
    return f"{value:.2g}" if abs(value) < 1e4 else f"{value:.0e}".replace("e+", "e")


def _panel(walk: Outcome, e: Estimate, c: Constants) -> Panel:
    k = walk["k"]
    x = {"k": k + 1}
    stated = np.where(k >= c.T + 1, c.C3 / np.maximum(np.sqrt(k + 2) - 1, 1e-9), np.nan)
    return Panel(
        e.title,
        [
            Curve("|∇f(yₖ) − ∇f(x*)|", x, walk["ahead"], PURPLE),
            Curve("Lemma 7", x, c.C1 / np.sqrt(k + 3), PURPLE, "dot"),
            Curve("|θₖ₊₁ − ∇f(x*)|", x, walk["drift"], BLUE),
            Curve("Lemma 8", x, c.C2 / (np.sqrt(k + 3) - 1), BLUE, "dot"),
            Curve("|vₖ₊₁ − vₖ|", x, walk["move"], VERMILION),
            Curve("Lemma 9", x, stated, ORANGE, "dot"),
        ],
        ylabel="distance",
    )


def _lengths(walk: Outcome, e: Estimate) -> Panel:
    x = {"k": walk["k"] + 1}
    half = np.full(walk["k"].size, walk.facts["gradient"] / 2)
    curves = [Curve("|θₖ₊₁|", x, walk["theta"], BLUE), Curve("|∇f(x*)|/2", x, half, GREY, "dot")]
    return Panel(e.title, curves, ylabel="length")


def _errors(walk: Outcome, e: Estimate, c: Constants) -> Panel:
    h, bound = error_and_bound(walk, c)
    x, k = {"k": walk["k"][1:]}, walk["k"][1:]
    facts = walk.facts
    general = 2 * h[0] / ((k + 1) * (k + 2)) + 2 * facts["smoothness"] * facts["diameter"] ** 2 / (k + 2)
    curves = [
        Curve("error", x, h[1:], BLUE),
        Curve("Theorem 3 with its constants", x, bound[1:], VERMILION, "dash"),
        Curve("bound on general sets", x, general, GREY, "dot"),
    ]
    return Panel(e.title, curves)
