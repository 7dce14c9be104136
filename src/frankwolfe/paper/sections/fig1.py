"""Figure 1: the regularised bound that AGM minimises flattens into the affine function of a Frank-Wolfe step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import frankwolfe as fw
from frankwolfe.paper.problems import Data, gaussian, objective
from frankwolfe.paper.publication.figure_data import Curve, Panel, Section
from frankwolfe.paper.reference import solve
from frankwolfe.paper.runner import Results
from frankwolfe.paper.store import Outcome, Task, columns
from frankwolfe.paper.verdicts import ROUNDING, Case, Found, verdict
from frankwolfe.paper.words import Words
from frankwolfe.plotting.style import BLUE, GREY, ORANGE, PURPLE, VERMILION
from frankwolfe.problem import Problem

SHOWN = (0, 6, 40, 200)
SAMPLES = 60
STEPS = 400  # on the larger loss
INFLATED = 12.0  # times the true L: small steps, so that the run takes its time


Step = tuple[int, np.ndarray, np.ndarray, np.ndarray, float, np.ndarray, np.ndarray]


def algorithm_2(f: fw.Logistic, L: float, start: np.ndarray, steps: int) -> Iterator[Step]:
    """Run the paper's Algorithm 2; give at each step k, x, v, y, f(y), ∇f(y) and the next v."""
    method, problem = fw.AcceleratedGradient(L=L), Problem(f, None)
    state = method.init(problem, problem.start(start, True))
    for k in range(steps):
        x, v, delta = np.array(state.x.coords), np.array(state.v.coords), 2 / (k + 3)
        y = (1 - delta) * x + delta * v
        value, g = f.value_and_grad(y)
        state, _ = method.step(problem, state)
        yield k, x, v, y, float(value), g, np.array(state.v.coords)


@dataclass(frozen=True)
class Bowls(Task):
    """A run on a logistic loss of one variable: y, f(y), the slope there, v, its weight and the next v at each step."""

    steps: int = SHOWN[-1] + 1

    @property
    def constants(self) -> list[float]:
        return [SAMPLES, INFLATED]

    def compute(self, directory: str | None) -> Outcome:
        f = loss()
        L = INFLATED * float(f.smoothness or 0)
        rows = [
            (k, float(y[0]), value, float(g[0]), float(v[0]), L / (k + 2), float(v_next[0]))
            for k, _, v, y, value, g, v_next in algorithm_2(f, L, np.array([-3.0]), self.steps)
        ]
        return Outcome({}, columns("k y value slope v weight v_next", rows))


@dataclass(frozen=True)
class Accelerated(Task):
    """Algorithm 2 on a logistic loss, next to everything the paper says about it.

    Columns, each with its bound: `error` f(xₖ) - f*; `gradient` |∇f(yₖ)|²; `distance` |vₖ - x*|²; `weighted`, the
    weighted sum of Theorem 4 minus f*; and `estimate`, its last term alone minus f*. `radius` is |vₖ₊₁ - vₖ|², the
    squared radius of the ball of Connection 1. `merged` and `plain` are the errors of Algorithm 2 with vₖ₊₁ = xₖ₊₁ and
    of gradient descent.
    """

    @property
    def constants(self) -> list[Any]:
        return [STEPS, "with gradient descent"]

    def compute(self, directory: str | None) -> Outcome:
        f = objective(Data("gaussian"))
        optimum = solve(f, fw.L2Ball(1000.0))
        x_star, best, L = optimum.x, optimum.fun, float(f.smoothness)
        far = float(x_star @ x_star)  # |x₀ - x*|² from x₀ = 0
        zero = np.zeros(f.shape)
        B = float(f.value(zero)) - best + L * far
        rows, total, drift = [], 0.0, 0.0
        plain = merged = zero
        for k, x, v, y, value, g, v_next in algorithm_2(f, L, zero, STEPS):
            estimate = value + float(g @ (v_next - y))
            total += 2 * (k + 2) * estimate
            n = k + 1  # terms in the sum
            rows.append(
                (
                    k,
                    float(f.value(x)) - best, 2 * B / ((k + 1) * (k + 2)),
                    float(g @ g), 16 * L * B / (k + 2) ** 2,
                    float((v - x_star) @ (v - x_star)), B / L,
                    total / (n * (n + 3)) - best, 2 * L * far / (n * (n + 3)),
                    estimate - best,
                    float((v_next - v) @ (v_next - v)),
                    float(f.value(merged)) - best,
                    float(f.value(plain)) - best,
                )
            )  # fmt: skip
            # Connection 1: with vₖ₊₁ = xₖ₊₁ the look-ahead point is xₖ itself, and the step is gradient descent's.
            delta = 2 / (k + 3)
            ahead = (1 - delta) * merged + delta * merged
            merged = ahead - f.grad(ahead) / L
            plain = plain - f.grad(plain) / L
            drift = max(drift, float(np.max(np.abs(merged - plain))))
        names = "k error error_bound gradient gradient_bound distance distance_bound weighted weighted_bound"
        table = columns(f"{names} estimate radius merged plain", rows)
        return Outcome({"gd_difference": drift, "largest": float(np.max(np.abs(plain)))}, table)


@dataclass(frozen=True)
class StronglyConvex(Task):
    """AGM for a strongly convex quadratic of 50 variables whose minimum is zero.

    Columns: `error` f(xₖ) with its bound; `below`, by how much the quadratic lower bound of Connection 3 at yₖ stays
    below the minimum; and `printed`, the error with z = y - y/μ.
    """

    steps: int = 400
    mu: float = 0.01

    def compute(self, directory: str | None) -> Outcome:
        spectrum, target = np.geomspace(self.mu, 1.0, 50), 10 * np.random.default_rng(0).standard_normal(50)
        delta = self.mu**0.5  # L = 1

        def f(x: np.ndarray) -> float:
            return float(0.5 * spectrum @ (x - target) ** 2)

        def run(printed: bool) -> tuple[list[float], list[float]]:
            x = v = np.zeros(50)
            error, below = [], []
            for _ in range(self.steps):
                y = (x + delta * v) / (1 + delta)
                g = spectrum * (y - target)
                error.append(f(x))
                below.append(float(g @ g) / (2 * self.mu) - f(y))
                x, v = y - g, (1 - delta) * v + delta * (y - (y if printed else g) / self.mu)
            return error, below

        (printed, _), (error, below) = run(True), run(False)
        bound = (error[0] + 0.5 * self.mu * float(target @ target)) * (1 - delta) ** np.arange(self.steps)
        rows = zip(range(self.steps), error, bound.tolist(), below, printed, strict=True)
        return Outcome({}, columns("k error error_bound below printed", rows))


def loss() -> fw.Logistic:
    """Return a logistic loss of one variable."""
    samples = gaussian(0, n=SAMPLES, d=1)
    return fw.Logistic(samples.A, samples.b)


def tasks(quick: bool) -> list[Task]:
    return [Bowls(), Accelerated(), StronglyConvex()]


def section(results: Results, quick: bool) -> Section:
    f, x = loss(), np.linspace(-15.0, 12.0, 241)
    values = np.array([float(f.value(np.array([t]))) for t in x])
    panels = []
    for k in SHOWN:
        at = {name: float(column[k]) for name, column in results[Bowls()].table.items()}
        there = np.array([at["v_next"]])
        affine = [at["value"] + at["slope"] * (t - at["y"]) for t in (x, there)]
        bowl, lowest = (a + at["weight"] * (t - at["v"]) ** 2 for a, t in zip(affine, (x, there), strict=True))
        curves = [
            Curve("f", {"x": x}, values, GREY, width=2.2),
            Curve("bound that AGM minimises", {"x": x}, np.where(bowl < 4.0, bowl, np.nan), PURPLE, width=2.2),
            Curve("affine function of the FW step", {"x": x}, affine[0], VERMILION, "dash", 2.0),
            Curve("yₖ", {"x": np.array([at["y"]])}, np.array([at["value"]]), GREY, mode="markers"),
            Curve("vₖ₊₁", {"x": there}, lowest, BLUE, mode="markers"),
        ]
        title = f"k = {k}: weight L/(k+2) = {at['weight']:.3g}"
        panels.append(Panel(title, curves, "value", log=(False, False), xlabel="x"))
    words = Words("fig1", samples=SAMPLES, inflated=INFLATED)
    figures = [words.figure("fig1", panels, 2, ("x",)), words.figure("agm", _bounds(results), 2, ("k",))]
    return words.section(figures)


def _bounds(results: Results) -> list[Panel]:
    walk, convex = results[Accelerated()], results[StronglyConvex()]

    def curve(name: str, column: str, *look: Any, scale: float = 1, of: Outcome = walk) -> Curve:
        return Curve(name, {"k": of["k"] + 1}, scale * of[column], *look)

    def pair(name: str, colour: str, of: Outcome = walk) -> list[Curve]:
        bound = curve(f"bound of the {name}", f"{name}_bound", colour, "dot", of=of)
        return [curve(name, name, colour, of=of), bound]

    above = [
        curve("weighted sum of Theorem 4, above f*", "weighted", BLUE),
        curve("bound of Theorem 4", "weighted_bound", BLUE, "dot"),
        curve("last term alone, above f*", "estimate", ORANGE),
    ]
    radius = [
        curve("|vₖ₊₁ − vₖ|²", "radius", VERMILION),
        curve("bound as printed, 2B/L", "distance_bound", VERMILION, "dash", 1.4, scale=2),
        curve("bound as corrected, 4B/L", "distance_bound", VERMILION, "dot", scale=4),
    ]
    same = [
        curve("Algorithm 2 with vₖ₊₁ = xₖ₊₁", "merged", BLUE, "solid", 3.0),
        curve("gradient descent", "plain", ORANGE, "dash"),
    ]
    strongly = [
        *pair("error", BLUE, convex),
        curve("f* − quadratic lower bound", "below", PURPLE, of=convex),
        curve("error with z = y − y/μ", "printed", ORANGE, "dash", of=convex),
    ]
    lengths = [*pair("gradient", PURPLE), *pair("distance", GREY)]
    return [
        Panel("error f(xₖ) − f*", pair("error", BLUE), ylabel="error"),
        Panel("|∇f(yₖ)|² and |vₖ − x*|²", lengths, ylabel="squared length"),
        Panel("Theorem 4", above, ylabel="distance from f*"),
        Panel("Connection 1: squared radius", radius, ylabel="squared length"),
        Panel("Connection 1: v = x gives GD", same, ylabel="error"),
        Panel("Connection 3: strongly convex f", strongly, ylabel="distance from f*"),
    ]


def agm(results: Results, quick: bool) -> Found:
    walk = results[Accelerated()]
    ratios = {name: float(np.max(walk[name] / walk[f"{name}_bound"])) for name in ("error", "gradient", "distance")}
    cases = [
        Case(name, verdict(ratio <= 1 + 1e-9), f"at most {ratio:.2g} of its bound", "unconstrained, f smooth")
        for name, ratio in ratios.items()
    ]
    return Found(cases, {"worst": max(ratios.values()), "steps": STEPS})


def theorem_4(results: Results, quick: bool) -> Found:
    walk = results[Accelerated()]
    ratio = float(np.max(walk["weighted"] / walk["weighted_bound"]))
    over, single = max(float(np.max(walk["weighted"])), 0.0), float(np.max(walk["estimate"]))
    return Found([], {"ratio": ratio, "over": over, "single": single}, verdict(ratio <= 1))


def connection_1_gd(results: Results, quick: bool) -> Found:
    facts = results[Accelerated()].facts
    off = facts["gd_difference"] / max(facts["largest"], 1e-300)
    return Found([], {"off": off, "steps": STEPS}, verdict(off <= ROUNDING))


def connection_1_ball(results: Results, quick: bool) -> Found:
    walk = results[Accelerated()]
    ratio = float(np.max(walk["radius"] / walk["distance_bound"]))
    cases = [
        Case(f"squared radius at most {most}B/L, as {how}", verdict(ratio <= most), f"largest {ratio:.2g} B/L")
        for most, how in ((4, "corrected"), (2, "printed"))
    ]
    return Found(cases, {"ratio": ratio})


def connection_3(results: Results, quick: bool) -> Found:
    walk = results[StronglyConvex()]
    ratio, spare = float(np.max(walk["error"] / walk["error_bound"])), float(np.min(walk["below"]))
    cases = [
        Case("the quadratic's minimum is below f*", verdict(spare >= -ROUNDING), f"by {spare:.0e} at the least"),
        Case("the error obeys its bound", verdict(ratio <= 1 + 1e-9), f"at most {ratio:.2g} of it"),
    ]
    return Found(cases, {"ratio": ratio})


def flattening(results: Results, quick: bool) -> Found:
    run = results[Bowls()]
    exact = run["v"] - run["slope"] / (2 * run["weight"])
    off = float(np.max(np.abs(exact - run["v_next"])))
    width = float((run["weight"][0] / run["weight"][-1]) ** 0.5)
    return Found([], {"width": width, "k": int(run["k"][-1]), "off": off}, verdict(off <= 10 * ROUNDING and width > 9))
