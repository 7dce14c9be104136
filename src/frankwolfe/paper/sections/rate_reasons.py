"""Where the 1/k² comes from: short reasons, each with the run that shows it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

import frankwolfe as fw
from frankwolfe.paper.claims.rates import envelope, slope
from frankwolfe.paper.problems import METHODS
from frankwolfe.paper.publication.figure_data import Curve, Panel, Section
from frankwolfe.paper.runner import Results
from frankwolfe.paper.runs import kept_rows
from frankwolfe.paper.sections.theory_checks import Checks, Wandering
from frankwolfe.paper.store import Outcome, Store, Task
from frankwolfe.paper.words import Words

STEPS = 20_000
WINDOW = (300, 18_000)  # the largest error from k on means little at the very end
FLAT = 8.0  # exponent of the ball in the plane

# The quadrilateral, optimum and curvature that a search for the worst case of AFW in the plane ended at.
CORNERS = np.array([[0.2935, -0.3144], [0.4370, -0.3113], [-0.5189, -0.0175], [0.2752, -0.2041]])
INSIDE = np.array([0.3376, -0.2825])
CURVATURE = np.array([[0.9816, -0.1155], [-0.1155, 0.2743]])

EXAMPLES = {
    "line": "f = x² on [−1, 1]",
    "touching": f"l{FLAT:g} ball in the plane, f = |x − x*|²/2, x* where the ball is flattest",
    "quadrilateral": "a quadrilateral in the plane, x* inside",
}


@dataclass(frozen=True)
class Small:
    """A run in one or two dimensions, with how far its vertices jump."""

    example: str
    method: str

    @property
    def name(self) -> str:
        return f"why-{self.example}-{self.method}"

    @property
    def settings(self) -> dict[str, Any]:
        return {"task": "small", "example": self.example, "method": self.method, "steps": STEPS, "window": WINDOW}

    def compute(self, store: Store, directory: str | None) -> Outcome:
        gradient, value, oracle, x = _problem(self.example)
        v, theta = x, np.zeros(x.size)
        h, jump = np.zeros(STEPS + 1), np.zeros(STEPS + 1)
        h[0] = value(x)
        for k in range(STEPS):
            if self.method == "fw":
                delta = 2 / (k + 2)
                vertex = oracle(gradient(x))
            else:
                delta = 2 / (k + 3)
                theta = (1 - delta) * theta + delta * gradient((1 - delta) * x + delta * v)
                vertex = oracle(theta)
            x = (1 - delta) * x + delta * vertex
            h[k + 1], jump[k + 1] = value(x), float(np.linalg.norm(vertex - v))
            v = vertex
        k = np.arange(STEPS + 1.0)
        fit = slope(k, envelope(h), *WINDOW)
        facts = {"slope": fit.value, "low": fit.low, "high": fit.high, "jump": float(np.max(jump[-500:]))}
        kept = kept_rows(k)
        return Outcome(facts, {"k": k[kept], "h": h[kept], "jump": jump[kept], "highest": envelope(h)[kept]})


def _problem(example: str) -> tuple[Any, Any, Any, np.ndarray]:
    """Return the gradient, f - f*, the oracle and the start."""
    if example == "line":
        return (lambda x: 2 * x), (lambda x: float(x @ x)), (lambda g: -np.sign(g)), np.array([0.9])
    if example == "touching":
        lowest = np.array([0.0, -1.0])
        ball = fw.LpBall(1.0, p=FLAT)
        return (
            (lambda x: x - lowest),
            (lambda x: 0.5 * float((x - lowest) @ (x - lowest))),
            (lambda g: ball.lmo(g).toarray()),
            np.array([0.3, 0.2]),
        )
    return (
        (lambda x: CURVATURE @ (x - INSIDE)),
        (lambda x: 0.5 * float((x - INSIDE) @ CURVATURE @ (x - INSIDE))),
        (lambda g: CORNERS[int(np.argmin(CORNERS @ g))]),
        CORNERS[0],
    )


def tasks(quick: bool) -> list[Task]:
    runs = [Small(example, method) for example in EXAMPLES for method in ("fw", "afw")]
    return [*runs, Checks(), *(Wandering(m) for m in ("fw", "afw"))]


def section(results: Results, quick: bool) -> Section:
    rows = []
    for example, about in EXAMPLES.items():
        for method in ("fw", "afw"):
            facts = results[Small(example, method)].facts
            fit = f"{facts['slope']:.2f} [{facts['low']:.2f}, {facts['high']:.2f}]"
            rows.append([about, METHODS[method].name, fit, f"{facts['jump']:.2g}", _predicted(example, method)])
    line, touching, plain = (
        results[Small(*run)].facts for run in (("line", "afw"), ("touching", "afw"), ("touching", "fw"))
    )
    quad, quad_plain = (results[Small("quadrilateral", m)] for m in ("afw", "fw"))
    last = int(np.searchsorted(quad["k"], WINDOW[1]))
    words = Words(
        "why", first=WINDOW[0], last=WINDOW[1], flat=FLAT, line=line["slope"], jump=touching["jump"],
        plain=plain["slope"], touching=touching["slope"],
        worse=float(quad["highest"][last] / quad_plain["highest"][last]),
    )  # fmt: skip
    figures = [
        words.figure("why", [_panel(results, example) for example in EXAMPLES], 3, ("k",)),
        words.figure("vertex", _vertex(results), 2, ("k",)),
        words.figure("simplex", [_simplex(results)], 1, ("k",)),
    ]
    return words.section(figures, [words.table("why", rows)])


def _predicted(example: str, method: str) -> str:
    if example != "touching":
        return "−2"
    exponent = FLAT / (FLAT - 1) * (2 if method == "afw" else 1)
    return f"−{exponent:.2f} (= −{'2' if method == 'afw' else ''}p/(p − 1))"


def _panel(results: Results, example: str) -> Panel:
    curves = []
    for method in ("fw", "afw"):
        run, look = results[Small(example, method)], METHODS[method]
        shown = run["k"] <= WINDOW[1]
        curves.append(Curve(look.name, {"k": run["k"][shown]}, run["highest"][shown], look.colour))
    k = curves[0].x["k"][1:]
    scale = float(curves[0].y[min(30, curves[0].y.size - 1)]) * 30**2
    curves.append(Curve("1/k², for comparison", {"k": k}, scale / k**2, METHODS["afw-2"].colour, "dot", 1.4))
    return Panel(EXAMPLES[example], curves)


def _vertex(results: Results) -> list[Panel]:
    errors, places = [], []
    for method in ("fw", "afw"):
        run, look = results[Wandering(method)], METHODS[method]
        x = {"k": run["k"]}
        errors.append(Curve(look.name, x, run["h"], look.colour))
        mode = "markers" if method == "afw" else "lines"
        places.append(Curve(look.name, x, run["vertex"], look.colour, "dot", 1.0, mode=mode))
    return [
        Panel("error", errors),
        Panel("coordinate of the vertex", places, ylabel="coordinate", log=(True, False)),
    ]


def _simplex(results: Results) -> Panel:
    run = results[Checks()]
    k = run["k"]
    curves = [Curve(METHODS[m].name, {"k": k}, run[m], METHODS[m].colour) for m in ("fw", "afw")]
    bound = np.where(k > 0, 0.5 / (k + 1) - 0.5 / 2000, math.nan)
    curves.append(Curve("no point with k + 1 nonzeros is below", {"k": k}, bound, METHODS["afw-2"].colour, "dot"))
    return Panel("|x|²/2 on the simplex, d = 2000", curves)
