"""Accelerated Frank-Wolfe step by step: both certificates, the estimate sequence, and how far vertices move."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import frankwolfe as fw
from frankwolfe.paper.problems import Ball, Data, objective
from frankwolfe.paper.reference import newton
from frankwolfe.paper.runs import kept_rows, problem_name
from frankwolfe.paper.store import Outcome, Store, Task
from frankwolfe.points import Tangent
from frankwolfe.problem import Problem


@dataclass(frozen=True)
class Estimate(Task):
    """Open-loop AFW with everything that the paper's proofs speak of written down at each step.

    Columns: `fun` is f(xₖ); `es` and `fw` the best lower bounds so far from the estimate sequence and from tangents at
    yₖ; `excess` is f(xₖ) - Φₖ* - ξₖ, which the paper's lemma says is never positive; `move` is |vₖ₊₁ - vₖ|,
    `drift` is |θₖ₊₁ - ∇f(x*)|, `ahead` is |∇f(yₖ) - ∇f(x*)| and `theta` is |θₖ₊₁|.

    Facts: what the constants of the lemmas are made of. `highest` is the largest value of f on the set that an ascent
    from a few starts found, so that M = highest - f* is never overstated.
    """

    data: Data
    ball: Ball
    iterations: int

    @property
    def name(self) -> str:
        return f"{problem_name(self.data, self.ball)}-estimate-{self.iterations}"

    @property
    def title(self) -> str:
        return f"{self.data.label}, {self.ball.label}"

    def compute(self, store: Store, directory: str | None) -> Outcome:
        f = objective(self.data, directory)
        domain = self.ball.build(f.shape)
        optimum, _ = newton(f, domain)
        gradient = f.grad(optimum)
        table = _walk(f, domain, gradient, self.iterations)
        highest = _highest(f, domain, optimum)
        moving = np.flatnonzero(table["move"] > 1e-12 * self.ball.radius)
        facts = {
            "last_move": int(moving[-1]) if moving.size else -1,
            "worst_excess": float(np.max(table["excess"])),
            "smoothness": float(f.smoothness),
            "diameter": float(domain.diameter(f.shape)),
            "gradient": float(np.linalg.norm(gradient)),
            "fun": float(f.value(optimum)),
            "highest": highest,
        }
        kept = kept_rows(table["k"])
        return Outcome(facts, {c: values[kept] for c, values in table.items()})


def _walk(f: Any, domain: fw.Set, gradient: np.ndarray, iterations: int) -> dict[str, np.ndarray]:
    method = fw.AcceleratedFrankWolfe()
    problem = Problem(f.oriented(domain.sparse_atoms), domain)
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
        tangent_bound = max(tangent_bound, _bound(at_y, domain))
        v_next = vertex.point.coords.toarray()
        move = float(np.linalg.norm(v_next - v))
        xi = (1 - delta) * xi + 0.5 * L * delta**2 * move**2
        minimum = float(theta.offset + vertex.value + (1 - theta.weight) * start)
        drift, ahead = (float(np.linalg.norm(t.slope - gradient)) for t in (theta, at_y))
        rows.append((k, fun, es, tangent_bound, excess, move, drift, ahead, float(np.linalg.norm(theta.slope))))
        v = v_next
    columns = ("k", "fun", "es", "fw", "excess", "move", "drift", "ahead", "theta")
    return {c: np.array(values, dtype=float) for c, values in zip(columns, zip(*rows, strict=True), strict=True)}


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


def _bound(tangent: Tangent, domain: fw.Set) -> float:
    return float(tangent.bound(-domain.support(-tangent.slope), 0.0))
