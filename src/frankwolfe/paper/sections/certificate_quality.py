"""New here: the certificate that AFW gets for nothing, next to the true error, from AFW step by step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import frankwolfe as fw
from frankwolfe.paper.problems import Ball, Data, Problem, objective
from frankwolfe.paper.publication.figure_data import Curve, Panel, Section
from frankwolfe.paper.reference import Reference, solve
from frankwolfe.paper.runner import Results
from frankwolfe.paper.runs import thinned
from frankwolfe.paper.store import Outcome, Task, columns
from frankwolfe.paper.verdicts import ROUNDING, Case, Found, verdict
from frankwolfe.paper.words import Words
from frankwolfe.plotting.style import BLUE, GREY, ORANGE, PURPLE
from frankwolfe.problem import Problem as CountingProblem


@dataclass(frozen=True)
class Estimate(Task, Problem):
    """Open-loop AFW with everything that the paper's proofs speak of written down at each step.

    Columns: `fun` is f(xₖ); `es` and `fw` the best lower bounds so far from the estimate sequence and from tangents at
    yₖ; `excess` is f(xₖ) - Φₖ* - ξₖ, which the paper's lemma says is never positive; `move` is |vₖ₊₁ - vₖ|,
    `drift` is |θₖ₊₁ - ∇f(x*)|, `ahead` is |∇f(yₖ) - ∇f(x*)| and `theta` is |θₖ₊₁|.

    Facts: what the constants of the lemmas are made of. `highest` is the largest value of f on the set that an ascent
    from a few starts found, so that M = highest - f* is never overstated.
    """

    iterations: int

    @property
    def constants(self) -> str:
        return "the excess from k = 1 on"  # at k = 0 it is zero by definition

    def compute(self, directory: str | None) -> Outcome:
        f = objective(self.data, directory)
        domain = self.ball.build(f.shape)
        optimum = solve(f, domain).x
        gradient = f.grad(optimum)
        table = _walk(f, domain, gradient, self.iterations)
        facts = {
            "worst_excess": float(np.max(table["excess"][1:])),
            "smoothness": float(f.smoothness),
            "diameter": float(domain.diameter(f.shape)),
            "gradient": float(np.linalg.norm(gradient)),
            "fun": float(f.value(optimum)),
            "highest": _highest(f, domain, optimum),
        }
        return Outcome(facts, thinned(table))


def _walk(f: Any, domain: fw.Set, gradient: np.ndarray, iterations: int) -> dict[str, np.ndarray]:
    method = fw.AcceleratedFrankWolfe()
    problem = CountingProblem(f.oriented(domain.sparse_atoms), domain)
    L = f.smoothness
    state = method.init(problem, problem.start(None, False))
    start = float(f.value(np.zeros(f.shape)))
    es = tangent_bound = -np.inf
    minimum, xi = start, 0.0  # Φ₀* and ξ₀
    v = np.zeros(f.shape)
    rows = []
    for k in range(iterations):
        delta = 2 / (k + 3)
        state, evidence = method.step(problem, state)
        fun = float(evidence.seen[0][0])
        (theta, vertex), (at_y, _) = evidence.minorants
        assert vertex is not None
        excess = fun - minimum - xi
        es = max(es, float(theta.bound(vertex.lower, 0.0)))
        tangent_bound = max(tangent_bound, float(at_y.bound(-domain.support(-at_y.slope), 0.0)))
        v_next = vertex.point.array
        move = float(np.linalg.norm(v_next - v))
        xi = (1 - delta) * xi + 0.5 * L * delta**2 * move**2
        minimum = float(theta.offset + vertex.value + (1 - theta.weight) * start)
        drift, ahead = (float(np.linalg.norm(t.slope - gradient)) for t in (theta, at_y))
        rows.append(
            (k, fun, es, tangent_bound, excess, move, drift, ahead, float(np.linalg.norm(np.asarray(theta.slope))))
        )
        v = v_next
    return columns("k fun es fw excess move drift ahead theta", rows)


def _highest(f: Any, domain: fw.Set, optimum: np.ndarray) -> float:
    """Return the largest value that ascents over the set reach: f is convex, so each step to a vertex goes up."""
    rng = np.random.default_rng(0)
    best = -np.inf
    for start in (-optimum, *rng.standard_normal((3, *f.shape))):
        x = start
        for _ in range(30):
            x = domain.lmo(-f.grad(x)).toarray()
        best = max(best, float(f.value(x)))
    return best


GAUSSIAN = Data("gaussian")
ACTIVE = Estimate(GAUSSIAN, Ball("l2", 5.0), 2000)
SMALL = Estimate(GAUSSIAN, Ball("l2", 0.002), 2000)  # so small that the paper's T is a number one reaches
FACE = Estimate(GAUSSIAN, Ball("l1", 10.0), 2000)
MUSHROOMS = (Estimate(Data("mushrooms"), Ball("l2", 20.0), 1000), Estimate(Data("mushrooms"), Ball("l1", 60.0), 1000))
ALL = (ACTIVE, FACE, *MUSHROOMS)
CURVED = (SMALL, ACTIVE, MUSHROOMS[0])


def tasks(quick: bool) -> list[Task]:
    return [t for e in ALL for t in (Reference(e.data, e.ball), e)]


def ratios(results: Results, estimate: Estimate) -> tuple[float, float]:
    """Return how many times looser than the true error the two gaps are at the end (estimate sequence, tangents)."""
    walk = results[estimate]
    last = {c: float(values[-1]) for c, values in walk.table.items()}
    h = max(last["fun"] - results.optimum(estimate)["fun"], 1e-16)
    return (last["fun"] - last["es"]) / h, (last["fun"] - last["fw"]) / h


def section(results: Results, quick: bool) -> Section:
    panels, rows = [], []
    for e in ALL:
        walk, facts = results[e], results.optimum(e)
        x = {"k": walk["k"]}
        curves = [
            Curve("true error", x, walk["fun"] - facts["fun"], BLUE, width=2.4),
            Curve("gap from the estimate sequence", x, walk["fun"] - walk["es"], ORANGE, "dash"),
            Curve("gap from tangents at yₖ", x, walk["fun"] - walk["fw"], PURPLE, "dot"),
            Curve("Φₖ* + ξₖ − f(xₖ), never negative", x, -walk["excess"], GREY, "dashdot", 1.4),
        ]
        panels.append(Panel(e.title, curves, "f(x) − bound", facts["gap"]))
        es, tangents = ratios(results, e)
        ends = f"{walk['fun'][-1] - facts['fun']:.1e}", f"{es:.3g} times", f"{tangents:.3g} times"
        rows.append([e.title, *ends, f"{results[e].facts['worst_excess']:.1e}"])
    words = Words("certificates")
    figure = words.figure("certificates", panels, 2, ("k",))
    return words.section([figure], {"certificates": rows})


def lemma_es(results: Results, quick: bool) -> Found:
    worst = max(results[e].facts["worst_excess"] for e in ALL)
    spare = f"below the bound by {-worst:.0e} at the least" if worst < 0 else f"above the bound by up to {worst:.0e}"
    return Found([], {"runs": len(ALL), "spare": spare}, verdict(worst <= ROUNDING))


def certificate(results: Results, quick: bool) -> Found:
    cases, loosest = [], 0.0
    for e in ALL:
        walk, facts, loose = results[e], results.optimum(e), min(ratios(results, e))
        over = float(np.max(np.maximum(walk["es"], walk["fw"])) - facts["fun"])
        above = f"above f* by {over:.0e}" if over > 0 else "never above f*"
        words = f"bound {above}; gap {loose:.2g} times the true error"
        cases.append(Case(e.title, verdict(over <= facts["gap"] + ROUNDING), words))
        loosest = max(loosest, loose)
    return Found(cases, {"loosest": loosest})
