"""Figure 1: the regularised bound that AGM minimises flattens into the affine function of a Frank-Wolfe step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import frankwolfe as fw
from frankwolfe.paper.problems import gaussian
from frankwolfe.paper.publication.figure_data import Curve, Panel, Section
from frankwolfe.paper.runner import Results
from frankwolfe.paper.sections.theory_checks import Accelerated
from frankwolfe.paper.store import Outcome, Store, Task
from frankwolfe.paper.words import Words
from frankwolfe.plotting.palette import BLUE, GREY, ORANGE, PURPLE, VERMILION
from frankwolfe.problem import Problem

SHOWN = (0, 6, 40, 200)
SAMPLES = 60
INFLATED = 12.0  # times the true L: small steps, so that the run takes its time


@dataclass(frozen=True)
class Bowls(Task):
    """A run of the paper's Algorithm 2 on a logistic loss of one variable, with y, v and the slope at each step."""

    steps: int = SHOWN[-1] + 1

    @property
    def constants(self) -> list[float]:
        return [SAMPLES, INFLATED]

    def compute(self, store: Store, directory: str | None) -> Outcome:
        f = loss()
        assert f.smoothness is not None
        L = INFLATED * f.smoothness
        method = fw.AcceleratedGradient(L=L)
        problem = Problem(f, None)
        state = method.init(problem, problem.start(np.array([-3.0]), True))
        rows = []
        for k in range(self.steps):
            delta = 2 / (k + 3)
            v = float(state.v.coords[0])
            y = (1 - delta) * float(state.x.coords[0]) + delta * v
            value, g = f.value_and_grad(np.array([y]))
            state, _ = method.step(problem, state)
            rows.append((k, y, float(value), float(g[0]), v, L / (k + 2), float(state.v.coords[0])))
        names = ("k", "y", "value", "slope", "v", "weight", "v_next")
        return Outcome(
            {"L": L}, {c: np.array(column) for c, column in zip(names, zip(*rows, strict=True), strict=True)}
        )


def loss() -> fw.Logistic:
    """Return a logistic loss of one variable."""
    samples = gaussian(0, n=SAMPLES, d=1)
    return fw.Logistic(samples.A, samples.b)


def tasks(quick: bool) -> list[Task]:
    return [Bowls(), Accelerated()]


def section(results: Results, quick: bool) -> Section:
    run = results[Bowls()]
    f = loss()
    x = np.linspace(-15.0, 12.0, 241)
    values = np.array([float(f.value(np.array([t]))) for t in x])
    panels = []
    for k in SHOWN:
        y, value, g, v, weight, v_next = (float(run[c][k]) for c in ("y", "value", "slope", "v", "weight", "v_next"))
        affine = value + g * (x - y)
        bowl = affine + weight * (x - v) ** 2
        lowest = value + g * (v_next - y) + weight * (v_next - v) ** 2
        panels.append(
            Panel(
                f"k = {k}: weight L/(k+2) = {weight:.3g}",
                [
                    Curve("f", {"x": x}, values, GREY, "solid", 2.2),
                    Curve("bound that AGM minimises", {"x": x}, _clip(bowl), PURPLE, "solid", 2.2),
                    Curve("affine function of the FW step", {"x": x}, affine, VERMILION, "dash", 2.0),
                    Curve("yₖ", {"x": np.array([y])}, np.array([value]), GREY, mode="markers"),
                    Curve("vₖ₊₁", {"x": np.array([v_next])}, np.array([lowest]), BLUE, mode="markers"),
                ],
                ylabel="value",
                log=(False, False),
                xlabel="x",
            )
        )
    words = Words("fig1", samples=SAMPLES, inflated=INFLATED)
    figures = [words.figure("fig1", panels, 2, ("x",)), words.figure("agm", _bounds(results), 2, ("k",))]
    return words.section(figures, [])


def _bounds(results: Results) -> list[Panel]:
    walk = results[Accelerated()]
    x = {"k": walk["k"] + 1}

    def pair(name: str, column: str, colour: str) -> list[Curve]:
        bound = Curve(f"bound of the {name}", x, walk[f"{column}_bound"], colour, "dot")
        return [Curve(name, x, walk[column], colour), bound]

    above = [
        Curve("weighted sum of Theorem 4, above f*", x, walk["weighted"], BLUE),
        Curve("bound of Theorem 4", x, walk["weighted_bound"], BLUE, "dot"),
        Curve("last term alone, above f*", x, walk["estimate"], ORANGE),
    ]
    lengths = [*pair("gradient", "gradient", PURPLE), *pair("distance", "distance", GREY)]
    radius = [
        Curve("|vₖ₊₁ − vₖ|²", x, walk["radius"], VERMILION),
        Curve("bound as printed, 2B/L", x, 2 * walk["distance_bound"], VERMILION, "dash", 1.4),
        Curve("bound as corrected, 4B/L", x, 4 * walk["distance_bound"], VERMILION, "dot"),
    ]
    same = [
        Curve("Algorithm 2 with vₖ₊₁ = xₖ₊₁", x, walk["merged"], BLUE, width=3.0),
        Curve("gradient descent", x, walk["plain"], ORANGE, "dash"),
    ]
    return [
        Panel("error f(xₖ) − f*", pair("error", "error", BLUE), ylabel="error"),
        Panel("|∇f(yₖ)|² and |vₖ − x*|²", lengths, ylabel="squared length"),
        Panel("Theorem 4", above, ylabel="distance from f*"),
        Panel("Connection 1: squared radius", radius, ylabel="squared length"),
        Panel("Connection 1: v = x gives GD", same, ylabel="error"),
    ]


def _clip(values: np.ndarray) -> np.ndarray:
    return np.where(values < 4.0, values, np.nan)
