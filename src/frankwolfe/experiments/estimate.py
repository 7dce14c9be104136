"""Accelerated Frank-Wolfe step by step: both certificates, the estimate sequence, and how far vertices move."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

import frankwolfe as fw
from frankwolfe.experiments.problems import Ball, Data, objective
from frankwolfe.experiments.reference import newton
from frankwolfe.experiments.runs import THREADS, kept_rows, problem_name
from frankwolfe.experiments.store import Outcome, Store
from frankwolfe.points import Tangent
from frankwolfe.problem import Problem


@dataclass(frozen=True)
class Estimate:
    """Open-loop AFW with everything that the paper's proofs speak of written down at each step.

    Columns: `fun` is f(x_k); `es` and `fw` the best lower bounds so far from the estimate sequence and from tangents at
    y_k; `excess` is f(x_k) - Φ_k* - ξ_k, which the paper's lemma says is never positive; `move` is |v_{k+1} - v_k|
    and `drift` is |θ_{k+1} - ∇f(x*)|.
    """

    data: Data
    ball: Ball
    iterations: int

    @property
    def name(self) -> str:
        return f"{problem_name(self.data, self.ball)}-estimate-{self.iterations}"

    @property
    def settings(self) -> dict[str, Any]:
        return {"task": "estimate", **asdict(self)}

    def compute(self, store: Store, directory: str | None) -> Outcome:
        from threadpoolctl import threadpool_limits

        f = objective(self.data, directory)
        domain = self.ball.build(f.shape)
        with threadpool_limits(limits=THREADS):
            optimum, _ = newton(f, domain)
            table = _walk(f, domain, f.grad(optimum), self.iterations)
        moving = np.flatnonzero(table["move"] > 1e-12 * self.ball.radius)
        facts = {"last_move": int(moving[-1]) if moving.size else -1, "worst_excess": float(np.max(table["excess"]))}
        kept = kept_rows(table["k"])
        return Outcome(facts, {c: values[kept] for c, values in table.items()})


def _walk(f: Any, domain: fw.Set, gradient: np.ndarray, iterations: int) -> dict[str, np.ndarray]:
    method = fw.AcceleratedFrankWolfe()
    problem = Problem(f.oriented(domain.sparse_atoms), domain)
    L = f.smoothness
    state = method.init(problem, problem.start(None, False))
    start = float(f.value(np.zeros(f.shape)))
    es = tangent_bound = -np.inf
    minimum, xi = start, 0.0  # Φ_0* and ξ_0
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
        rows.append((k, fun, es, tangent_bound, excess, move, float(np.linalg.norm(theta.slope - gradient))))
        v = v_next
    columns = ("k", "fun", "es", "fw", "excess", "move", "drift")
    return {c: np.array(values, dtype=float) for c, values in zip(columns, zip(*rows, strict=True), strict=True)}


def _bound(tangent: Tangent, domain: fw.Set) -> float:
    return float(tangent.bound(-domain.support(-tangent.slope), 0.0))
