"""Where the 1/k² comes from: short reasons, each with the run that shows it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

import frankwolfe as fw
from frankwolfe.paper.claims.rates import Slope, envelope, slope
from frankwolfe.paper.problems import METHODS
from frankwolfe.paper.publication.figure_data import Curve, Panel, Section
from frankwolfe.paper.runner import Results
from frankwolfe.paper.runs import kept_rows
from frankwolfe.paper.sections.theory_checks import Checks, Wandering
from frankwolfe.paper.store import Outcome, Store, Task
from frankwolfe.paper.words import Words
from frankwolfe.plotting.palette import GREY

STEPS = 20_000
WINDOW = (300, 18_000)  # the largest error from k on means little at the very end
JUMPS = 500  # steps at the end in which jumps are looked for
FLAT = 8.0  # exponent of the ball in the plane
WEAK = 1e-3  # curvature of the triangle's second direction
EXAMPLES = {
    "line": "f = x² on [−1, 1]",
    "triangle": f"triangle, x* inside, curvatures 1 and {WEAK:g}",
    "touching": f"l{FLAT:g} ball, x* where it is flattest",
}
PAIR = ("fw", "afw")
POLYGONS, SURVEYED = 400, 4000  # of each curvature; steps
CURVATURES, DIMENSIONS = (1.0, 1e-1, 1e-2, 1e-3), (2, 8, 32, 128, 512)

Map = Callable[[np.ndarray], np.ndarray]


class Instances(NamedTuple):
    """Problems side by side: the gradient, f - f* and the oracle act on rows, of which `start` has one for each."""

    gradient: Map
    error: Map
    oracle: Map
    start: np.ndarray


def quadratic(H: np.ndarray, solution: np.ndarray, oracle: Map, start: np.ndarray) -> Instances:
    """Return (x - x*)'H(x - x*)/2 over sets with this oracle, one row a problem."""

    def gradient(x: np.ndarray) -> np.ndarray:
        return np.einsum("pij,pj->pi", H, x - solution)

    return Instances(gradient, lambda x: 0.5 * np.sum((x - solution) * gradient(x), axis=1), oracle, start)


def corners(vertices: np.ndarray) -> Map:
    """Return the oracle of polytopes given by their vertices, of shape (problems, vertices, dimension)."""
    rows = np.arange(len(vertices))
    return lambda g: vertices[rows, np.argmin(np.einsum("pvi,pi->pv", vertices, g), axis=1)]


def walk(method: str, problem: Instances, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the errors after 0, 1, … steps and how far the vertices jumped, a column for each problem."""
    x = v = problem.start
    theta = np.zeros_like(x)
    h, jump = (np.zeros((steps + 1, len(x))) for _ in range(2))
    h[0] = problem.error(x)
    for k in range(steps):
        delta = 2 / (k + 2) if method == "fw" else 2 / (k + 3)
        if method == "fw":
            theta = problem.gradient(x)
        else:
            theta = (1 - delta) * theta + delta * problem.gradient((1 - delta) * x + delta * v)
        v, before = problem.oracle(theta), v
        x = (1 - delta) * x + delta * v
        h[k + 1], jump[k + 1] = problem.error(x), np.linalg.norm(v - before, axis=1)
    return h, jump


def example(name: str) -> Instances:
    """Return one of `EXAMPLES`."""
    if name == "line":
        return quadratic(np.full((1, 1, 1), 2.0), np.zeros(1), lambda g: -np.sign(g), np.array([[0.9]]))
    if name == "triangle":
        triangle = np.array([[[-1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]])
        return quadratic(np.diag([1.0, WEAK])[None], np.array([0.0, 0.3]), corners(triangle), triangle[:, 0])
    ball = fw.LpBall(1.0, p=FLAT)
    start, lowest = np.array([[0.3, 0.2]]), np.array([0.0, -1.0])
    return quadratic(np.eye(2)[None], lowest, lambda g: ball.lmo(g[0]).toarray()[None], start)


@dataclass(frozen=True)
class Small(Task):
    """A run in one or two dimensions, with how far its vertices jump."""

    example: str
    method: str

    @property
    def name(self) -> str:
        return f"why-{self.example}-{self.method}"

    @property
    def constants(self) -> list[float]:
        return [STEPS, *WINDOW]

    def compute(self, store: Store, directory: str | None) -> Outcome:
        h, jump = (column[:, 0] for column in walk(self.method, example(self.example), STEPS))
        k = np.arange(STEPS + 1.0)
        highest = envelope(h)
        fit = slope(k, highest, *WINDOW)
        facts = {"slope": fit.value, "low": fit.low, "high": fit.high, "jump": float(np.max(jump[-JUMPS:]))}
        kept = kept_rows(k)
        return Outcome(facts, {"k": k[kept], "jump": jump[kept], "highest": highest[kept]})


@dataclass(frozen=True)
class Survey(Task):
    """Random polygons with x* inside, and simplices of growing dimension: the largest k²h/(LD²) at later k.

    Facts of the first kind are lists by curvature, of the second kind by dimension.
    """

    @property
    def constants(self) -> list[float]:
        return [POLYGONS, SURVEYED, *CURVATURES, *DIMENSIONS]

    def compute(self, store: Store, directory: str | None) -> Outcome:
        table: dict[str, list[float]] = {}

        def note(column: str, value: Any) -> None:
            table.setdefault(column, []).append(float(value))

        for seed, weak in enumerate(CURVATURES):
            problem = random_polygons(seed, POLYGONS, weak)
            found = {m: scaled(m, problem, SURVEYED // 2) for m in PAIR}
            for m, (most, jump) in found.items():
                note(f"{m}_largest", float(np.max(most)))
                note(f"{m}_median", float(np.median(most)))
                note(f"{m}_jumping", float(np.mean(jump > 0)))
            note("behind", float(np.max(found["afw"][0] / found["fw"][0])))
        for d in DIMENSIONS:
            unit = np.eye(d)
            problem = Instances(
                lambda x: x,
                lambda x, d=d: 0.5 * np.sum(x * x, axis=1) - 0.5 / d,
                lambda g, unit=unit: unit[np.argmin(g, axis=1)],
                unit[:1],
            )
            for m in PAIR:
                note(f"{m}_simplex", scaled(m, problem, 1)[0][0] / 2)  # D² = 2
        return Outcome(table)


def scaled(method: str, problem: Instances, first: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest k²h from `first` on, and the largest late jump."""
    h, jump = walk(method, problem, SURVEYED)
    k = np.arange(SURVEYED + 1.0)[:, None]
    return np.max((k * k * h)[first:], axis=0), np.max(jump[-JUMPS:], axis=0)


def random_polygons(seed: int, count: int, weak: float) -> Instances:
    """Return quadratics of curvature 1 and `weak`, turned at random, over hulls of 3 to 5 points of diameter one."""
    rng = np.random.default_rng([20211118, seed])
    points = rng.standard_normal((count, 5, 2))
    used = rng.integers(3, 6, count)
    points = np.where((np.arange(5) < used[:, None])[:, :, None], points, points[:, :1])
    across = np.linalg.norm(points[:, :, None] - points[:, None], axis=-1).max(axis=(1, 2))
    points = points / across[:, None, None]
    shares = rng.exponential(size=(count, 5))
    inside = np.einsum("pv,pvi->pi", shares / shares.sum(axis=1, keepdims=True), points)
    angle = rng.uniform(0, np.pi, count)
    turned = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    H = weak * np.eye(2) + (1 - weak) * np.einsum("pi,pj->pij", turned, turned)
    return quadratic(H, inside, corners(points), points[:, 0])


def tasks(quick: bool) -> list[Task]:
    runs = [Small(example, method) for example in EXAMPLES for method in PAIR]
    return [*runs, Survey(), Checks(), *(Wandering(m) for m in PAIR)]


def section(results: Results, quick: bool) -> Section:
    survey = results[Survey()].facts
    found = {(name, method): results[Small(name, method)] for name in EXAMPLES for method in PAIR}
    rows = []
    for (name, method), run in found.items():
        facts = run.facts
        fit = Slope(facts["slope"], facts["low"], facts["high"], *WINDOW)
        most = float(np.max((run["k"] ** 2 * run["highest"])[run["k"] <= WINDOW[1]]))
        rows.append([EXAMPLES[name], METHODS[method].name, str(fit), f"{most:.3g}", f"{facts['jump']:.2g}"])
    columns = [f"{m}_{what}" for what in ("largest", "median") for m in PAIR] + ["behind", "afw_jumping"]
    lines = [
        [f"{weak:g}", *(f"{survey[c][i]:.3g}" for c in columns[:-1]), f"{survey['afw_jumping'][i]:.0%}"]
        for i, weak in enumerate(CURVATURES)
    ]
    slopes = {f"{name}_{method}": run.facts["slope"] for (name, method), run in found.items()}
    words = Words(
        "why", first=WINDOW[0], last=WINDOW[1], flat=FLAT, weak=WEAK, **slopes, jumping=min(survey["afw_jumping"]),
        polygons=POLYGONS * len(CURVATURES), steps=SURVEYED,
        most=max(survey["afw_largest"]), plain=max(survey["fw_largest"]),
        low=survey["afw_simplex"][0], high=survey["afw_simplex"][-1], dimension=DIMENSIONS[-1],
    )  # fmt: skip
    panels = [_panel(name, [found[name, m] for m in PAIR]) for name in EXAMPLES]
    figures = [
        words.figure("plane", panels, 3, ("k",)),
        words.figure("why-dimension", [_dimensions(survey)], 1, ("d",)),
        words.figure("vertex", _vertex(results), 2, ("k",)),
        words.figure("simplex", [_simplex(results)], 1, ("k",)),
    ]
    return words.section(figures, [words.table("why", rows), words.table("why-survey", lines)])


def _panel(name: str, runs: list[Outcome]) -> Panel:
    curves = []
    for method, run in zip(PAIR, runs, strict=True):
        shown, look = run["k"] <= WINDOW[1], METHODS[method]
        curves.append(Curve(look.name, {"k": run["k"][shown]}, run["highest"][shown], look.colour))
    k = curves[0].x["k"][1:]
    scale = float(curves[1].y[min(30, curves[1].y.size - 1)]) * 30**2
    curves.append(Curve("1/k², for comparison", {"k": k}, scale / k**2, GREY, "dot", 1.4))
    return Panel(EXAMPLES[name], curves)


def _dimensions(survey: dict[str, list[float]]) -> Panel:
    d = np.array(DIMENSIONS, dtype=float)
    curves = []
    for method in PAIR:
        look, most = METHODS[method], np.array(survey[f"{method}_simplex"])
        curves.append(Curve(look.name, {"d": d}, most, look.colour, mode="lines+markers"))
    return Panel("simplex, f = |x|²/2", curves, ylabel="largest k²h/(LD²)", xlabel="dimension d")


def _vertex(results: Results) -> list[Panel]:
    errors, places = [], []
    for method in PAIR:
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
    curves = [Curve(METHODS[m].name, {"k": k}, run[m], METHODS[m].colour) for m in PAIR]
    bound = np.where(k > 0, 0.5 / (k + 1) - 0.5 / 2000, math.nan)
    curves.append(Curve("no point with k + 1 nonzeros is below", {"k": k}, bound, GREY, "dot"))
    return Panel("|x|²/2 on the simplex, d = 2000", curves)
