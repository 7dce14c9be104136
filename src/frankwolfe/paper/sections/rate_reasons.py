"""Where the 1/k² comes from: short reasons, each with the run that shows it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

import frankwolfe as fw
from frankwolfe.paper.problems import METHODS, Data, Problem, objective
from frankwolfe.paper.publication.figure_data import Curve, Panel, Section, method_curve
from frankwolfe.paper.rates import Slope, envelope, slope
from frankwolfe.paper.reference import solve
from frankwolfe.paper.runner import Results
from frankwolfe.paper.runs import Race, thinned
from frankwolfe.paper.sections import fig3
from frankwolfe.paper.store import Outcome, Task
from frankwolfe.paper.verdicts import FAST, Case, Found, speed, spread_of, verdict
from frankwolfe.paper.words import Words
from frankwolfe.plotting.style import GREY

STEPS = 20_000
WINDOW = (300, 18_000)  # the largest error from k on means little at the very end
JUMPS = 500  # steps at the end in which jumps are looked for
FLAT = 8.0  # exponent of the ball in the plane
WEAK = 1e-3  # curvature of the triangle's second direction
EXAMPLES = {  # in one or two dimensions
    "line": "f = x² on [−1, 1]",
    "triangle": f"triangle, x* inside, curvatures 1 and {WEAK:g}",
    "touching": f"l{FLAT:g} ball, x* where it is flattest",
}
SIMPLEX, SIMPLEX_STEPS, SIMPLEX_WINDOW = 2000, 200, (20, 200)  # so many dimensions that k stays far below
PAIR = ("fw", "afw")
SETTLING = tuple(fig3.race(Data("mushrooms"), "l2", radius, PAIR) for radius in (1.0, 5.0, 10.0, 20.0))
POLYGONS, SURVEYED = 400, 4000  # of each curvature; steps
CURVATURES, DIMENSIONS = (1.0, 1e-1, 1e-2, 1e-3), (2, 8, 32, 128, 512)

WANDERING = "six dimensions, five decoys"

Map = Callable[[np.ndarray], np.ndarray]


def largest_entry(v: np.ndarray) -> np.ndarray:
    return np.argmax(np.abs(v), axis=1)


class Instances(NamedTuple):
    """Problems side by side: the gradient, f - f* and the oracle act on rows, of which `start` has one for each.

    `watch` is what a walk notes of the vertices.
    """

    gradient: Map
    error: Map
    oracle: Map
    start: np.ndarray
    watch: Map = largest_entry


def quadratic(H: np.ndarray, solution: np.ndarray, oracle: Map, start: np.ndarray) -> Instances:
    """Return (x - x*)'H(x - x*)/2 over sets with this oracle, one row a problem."""

    def gradient(x: np.ndarray) -> np.ndarray:
        return np.einsum("pij,pj->pi", H, x - solution)

    return Instances(gradient, lambda x: 0.5 * np.sum((x - solution) * gradient(x), axis=1), oracle, start)


def corners(vertices: np.ndarray) -> Map:
    """Return the oracle of polytopes given by their vertices, of shape (problems, vertices, dimension)."""
    rows = np.arange(len(vertices))
    return lambda g: vertices[rows, np.argmin(np.einsum("pvi,pi->pv", vertices, g), axis=1)]


def simplex(d: int) -> Instances:
    """Return |x|²/2 on the simplex, from a vertex."""
    unit = np.eye(d)

    def error(x: np.ndarray) -> np.ndarray:
        return 0.5 * np.sum(x * x, axis=1) - 0.5 / d

    return Instances(lambda x: x, error, lambda g: unit[np.argmin(g, axis=1)], unit[:1])


def walk(method: str, problem: Instances, steps: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return errors after 0, 1, … steps, how far the vertices jumped, and what is watched of them, by problem."""
    x = v = problem.start
    theta = np.zeros_like(x)
    h, jump, watched = (np.zeros((steps + 1, len(x))) for _ in range(3))
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
        watched[k + 1] = problem.watch(v)
    return h, jump, watched


def example(name: str) -> Instances:
    """Return one of `EXAMPLES`, or the simplex."""
    if name == "simplex":
        return simplex(SIMPLEX)
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
    """A run on one of the examples, with how far its vertices jump."""

    example: str
    method: str

    @property
    def length(self) -> tuple[int, int, int]:
        """Steps, and the range of k on which the slope is fitted."""
        return (SIMPLEX_STEPS, *SIMPLEX_WINDOW) if self.example == "simplex" else (STEPS, *WINDOW)

    @property
    def constants(self) -> tuple[int, ...]:
        return self.length

    def compute(self, directory: str | None) -> Outcome:
        steps, *window = self.length
        h, jump, _ = (column[:, 0] for column in walk(self.method, example(self.example), steps))
        k, highest = np.arange(steps + 1.0), envelope(h)
        fit = slope(k, highest, *window)
        facts = {"slope": fit.value, "low": fit.low, "high": fit.high, "jump": float(np.max(jump[-JUMPS:]))}
        return Outcome(facts, thinned({"k": k, "jump": jump, "highest": highest}))

    def fit(self, results: Results) -> Slope:
        """Return the slope with its interval."""
        facts = results[self].facts
        return Slope(facts["slope"], facts["low"], facts["high"], *self.length[1:])


@dataclass(frozen=True)
class Wandering(Task):
    """Steps on an l1 ball whose solution is a vertex that the method does not find at once.

    f = x'Hx/2 - c'x on the unit l1 ball in six dimensions. At zero five decoys have the larger gradient entries, and
    the best mixture of them is nearly as good as the solution e_1; ∇f(e_1) has a unique largest entry, by `margin`.
    """

    method: str
    iterations: int = 3000
    decoys: int = 5

    def problem(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return H, c and the minimiser on the ball."""
        m, behind, slack = self.decoys, 1e-3, 1e-3
        shared = 1 / m - behind - slack
        H = np.eye(m + 1)
        H[0, 1:] = H[1:, 0] = shared
        H[0, 0] = m * shared**2
        c = np.ones(m + 1)
        c[0] = 1 - behind
        return H, c, np.eye(1, m + 1)[0]

    def compute(self, directory: str | None) -> Outcome:
        H, c, solution = self.problem()

        def error(x: np.ndarray) -> np.ndarray:
            return 0.5 * np.sum(x * (x @ H), axis=1) - x @ c - (0.5 * H[0, 0] - c[0])

        vertices = np.vstack([np.eye(solution.size), -np.eye(solution.size)])
        problem = Instances(lambda x: x @ H - c, error, corners(vertices[None]), np.zeros((1, solution.size)))
        h, _, vertex = (column[1:, 0] for column in walk(self.method, problem, self.iterations))
        k, gradient = np.arange(1.0, self.iterations + 1), H @ solution - c
        entries, moved = np.sort(np.abs(gradient))[::-1], np.flatnonzero(np.diff(vertex))
        facts = {
            "gap": float(gradient @ solution) + float(entries[0]),  # zero: e_1 is the solution
            "margin": float(entries[0] - entries[1]),
            "largest": float(entries[0]),
            "moves": int(moved.size),
            "last_move": int(k[moved[-1] + 1]) if moved.size else 0,
            "smoothness": float(np.linalg.eigvalsh(H)[-1]),
            "gradient": float(np.linalg.norm(gradient)),
            "highest": float(np.max(error(vertices))),
        }
        return Outcome(facts, {"k": k, "h": h, "vertex": vertex})


@dataclass(frozen=True)
class Settling(Task, Problem):
    """From which k on the vertices of FW and of AFW are near x*, on an active l2 ball: within a tenth of its radius.

    None where they are not by the end.
    """

    iterations: int = 1500

    def compute(self, directory: str | None) -> Outcome:
        f, radius = objective(self.data, directory), self.ball.radius
        domain = self.ball.build(f.shape)
        solution = solve(f, domain).x
        problem = Instances(
            lambda x: f.grad(x[0])[None],
            lambda x: np.zeros(1),
            lambda g: domain.lmo(g[0]).toarray()[None],
            np.zeros((1, *f.shape)),
            lambda v: np.linalg.norm(v - solution, axis=1),
        )
        facts = {}
        for method in PAIR:
            far = np.flatnonzero(walk(method, problem, self.iterations)[2][:, 0] > 0.1 * radius)
            last = int(far[-1]) if far.size else 0
            facts[method] = None if last == self.iterations else last + 1
        return Outcome(facts)


@dataclass(frozen=True)
class Survey(Task):
    """Random polygons with x* inside, and simplices of growing dimension: the largest k²h/(LD²) at later k.

    Facts of the first kind are lists by curvature, of the second kind by dimension.
    """

    @property
    def constants(self) -> list[float]:
        return [POLYGONS, SURVEYED, *CURVATURES, *DIMENSIONS]

    def compute(self, directory: str | None) -> Outcome:
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
            for m in PAIR:
                note(f"{m}_simplex", scaled(m, simplex(d), 1)[0][0] / 2)  # D² = 2
        return Outcome(table)


def scaled(method: str, problem: Instances, first: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest k²h from `first` on, and the largest late jump."""
    h, jump, _ = walk(method, problem, SURVEYED)
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
    runs = [Small(example, method) for example in (*EXAMPLES, "simplex") for method in PAIR]
    settling = [task for race in SETTLING for task in (*race.tasks, Settling(race.data, race.ball))]
    return [*runs, *settling, Survey(), *(Wandering(m) for m in PAIR)]


def section(results: Results, quick: bool) -> Section:
    survey = results[Survey()].facts
    found = {(name, method): results[Small(name, method)] for name in EXAMPLES for method in PAIR}
    rows = []
    for (name, method), run in found.items():
        fit, jump = Small(name, method).fit(results), f"{run.facts['jump']:.2g}"
        most = float(np.max((run["k"] ** 2 * run["highest"])[run["k"] <= WINDOW[1]]))
        rows.append([EXAMPLES[name], METHODS[method].name, str(fit), f"{most:.3g}", jump])
    columns = [f"{m}_{what}" for what in ("largest", "median") for m in PAIR] + ["behind", "afw_jumping"]
    lines = [
        [f"{weak:g}", *(f"{survey[c][i]:.3g}" for c in columns[:-1]), f"{survey['afw_jumping'][i]:.0%}"]
        for i, weak in enumerate(CURVATURES)
    ]
    slopes = {f"{name}_{method}": run.facts["slope"] for (name, method), run in found.items()}
    settled, sooner, shares = _settling(results)
    words = Words(
        "why", first=WINDOW[0], last=WINDOW[1], flat=FLAT, weak=WEAK, **slopes, jumping=min(survey["afw_jumping"]),
        polygons=POLYGONS * len(CURVATURES), steps=SURVEYED,
        most=max(survey["afw_largest"]), plain=max(survey["fw_largest"]),
        low=survey["afw_simplex"][0], high=survey["afw_simplex"][-1], dimension=DIMENSIONS[-1],
        sooner=spread_of(sooner, 2), shares_first=f"{shares[0]:.0%}", shares_last=f"{shares[-1]:.1%}",
        radius_first=f"{SETTLING[0].ball.radius:g}", radius_last=f"{SETTLING[-1].ball.radius:g}",
        settling_steps=Settling.iterations, race_steps=SETTLING[0].iterations,
    )  # fmt: skip
    panels = [_panel(name, [found[name, m] for m in PAIR]) for name in EXAMPLES]
    figures = [
        words.figure("plane", panels, 3, ("k",)),
        words.figure("why-dimension", [_dimensions(survey)], 1, ("d",)),
        words.figure("vertex", _vertex(results), 2, ("k",)),
        words.figure("simplex", [_simplex(results)], 1, ("k",)),
    ]
    return words.section(figures, {"why-settling": settled, "why": rows, "why-survey": lines})


def start_share(results: Results, race: Race) -> float:
    """Return λₖ⟨∇f(x*), x₀ − x*⟩/hₖ at the end of AFW's run from zero on an active l2 ball."""
    k, gradient = race.iterations, results.optimum(race)["gradient"]
    return 2 * race.ball.radius * gradient / ((k + 1) * (k + 2)) / results.race(race)["afw"].at(k)


def _settling(results: Results) -> tuple[list[list[str]], list[float], list[float]]:
    """Return the table of when vertices settle, how many times sooner AFW's do, and the shares of x₀ in its error."""
    rows, sooner, shares = [], [], []
    for race in SETTLING:
        facts, series = results.optimum(race), results.race(race)
        plain, ours = (series[m].at(race.iterations) for m in PAIR)
        settled = results[Settling(race.data, race.ball)].facts
        shares.append(start_share(results, race))
        sooner += [settled["fw"] / settled["afw"]] if all(settled.values()) else []
        known = f"{facts['mu'] or math.nan:.3g}", *(str(settled[m] or "not yet") for m in PAIR)
        rows.append([f"{race.ball.radius:g}", *known, f"{plain / ours:.3g}", f"{shares[-1]:.2g}"])
    return rows, sooner, shares


def _panel(name: str, runs: list[Outcome]) -> Panel:
    k = runs[0]["k"][runs[0]["k"] <= WINDOW[1]]
    curves = [method_curve(m, {"k": k}, run["highest"][: k.size]) for m, run in zip(PAIR, runs, strict=True)]
    scale = float(curves[1].y[min(30, k.size - 1)]) * 30**2
    curves.append(Curve("1/k², for comparison", {"k": k[1:]}, scale / k[1:] ** 2, GREY, "dot", 1.4))
    return Panel(EXAMPLES[name], curves)


def _dimensions(survey: dict[str, list[float]]) -> Panel:
    d = {"d": np.array(DIMENSIONS, dtype=float)}
    curves = [method_curve(m, d, np.array(survey[f"{m}_simplex"]), mode="lines+markers") for m in PAIR]
    return Panel("simplex, f = |x|²/2", curves, ylabel="largest k²h/(LD²)", xlabel="dimension d")


def _vertex(results: Results) -> list[Panel]:
    runs = {m: results[Wandering(m)] for m in PAIR}
    moved = {m: np.cumsum(np.diff(r["vertex"], prepend=r["vertex"][0]) != 0) for m, r in runs.items()}
    moves = [method_curve(m, {"k": r["k"]}, moved[m]) for m, r in runs.items()]
    return [
        Panel("error", [method_curve(m, {"k": r["k"]}, r["h"]) for m, r in runs.items()]),
        Panel("how often v has moved", moves, ylabel="moves so far", log=(True, False)),
    ]


def _simplex(results: Results) -> Panel:
    runs = {m: results[Small("simplex", m)] for m in PAIR}
    k = runs["fw"]["k"]
    bound = np.where(k > 0, 0.5 / (k + 1) - 0.5 / SIMPLEX, math.nan)
    curves = [method_curve(m, {"k": run["k"]}, run["highest"]) for m, run in runs.items()]
    curves.append(Curve("no point with k + 1 nonzeros is below", {"k": k}, bound, GREY, "dot"))
    return Panel(f"|x|²/2 on the simplex, d = {SIMPLEX}", curves)


def l1_rate(results: Results, quick: bool) -> Found:
    run = results[Wandering("afw")]
    settled = max(run.facts["last_move"], 1)
    fit = slope(run["k"], envelope(run["h"]), settled, int(run["k"][-1]))
    words = f"the solution is a vertex (gap {run.facts['gap']:.0e}), its margin λ = {run.facts['margin']:.1e}"
    case = Case(WANDERING, speed(fit), f"slope {fit} from k = {settled} on", words)
    return Found([case], {"settled": settled, "fit": fit, "slope": fit.value})


def jumping(results: Results, quick: bool) -> Found:
    facts = results[Small("line", "afw")].facts
    cases = [
        Case("v jumps from end to end", verdict(facts["jump"] > 1.9), f"by {facts['jump']:.2g} to the end of the run"),
        Case("the error is slower than 1/k²", verdict(facts["low"] > FAST), f"slope {facts['slope']:.2f}"),
    ]
    return Found(cases, {"slope": facts["slope"]})


def lower_bound(results: Results, quick: bool) -> Found:
    fits = {name: Small("simplex", name).fit(results) for name in PAIR}
    cases = [
        Case(m.upper(), verdict(fit.low >= -1.2 and fit.high <= -0.8), f"slope {fit}", f"k ≤ {fit.last}, d = {SIMPLEX}")
        for m, fit in fits.items()
    ]
    return Found(cases, {f"simplex_{name}": fit.value for name, fit in fits.items()})
