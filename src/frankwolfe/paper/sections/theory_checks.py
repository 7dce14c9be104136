"""Small checks of what the paper proves or prints, each a few lines and a fraction of a second."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import frankwolfe as fw
from frankwolfe.paper.claims.rates import envelope, slope
from frankwolfe.paper.problems import Ball, Data, objective
from frankwolfe.paper.reference import newton
from frankwolfe.paper.store import Outcome, Store, Task

STEPS = 400


@dataclass(frozen=True)
class Accelerated(Task):
    """The unconstrained Algorithm 2 step by step on a logistic loss, next to everything the paper says about it.

    Columns, each with its bound: `error` f(xₖ) - f*; `gradient` |∇f(yₖ)|²; `distance` |vₖ - x*|²; `weighted`, the
    weighted sum of Theorem 4 minus f*; and `estimate`, its last term alone minus f*. `radius` is |vₖ₊₁ - vₖ|², the
    squared radius of the ball of Connection 1. `merged` and `plain` are the errors of Algorithm 2 with vₖ₊₁ = xₖ₊₁ and
    of gradient descent.
    """

    @property
    def constants(self) -> list[Any]:
        return [STEPS, "with gradient descent"]

    def compute(self, store: Store, directory: str | None) -> Outcome:
        return _accelerated(STEPS)


def _accelerated(steps: int) -> Outcome:
    f = objective(Data("gaussian"))
    x_star, _ = newton(f, Ball("l2", 1000.0).build(f.shape))
    optimum, L = float(f.value(x_star)), float(f.smoothness)
    far = float(x_star @ x_star)  # |x₀ - x*|² from x₀ = 0
    B = float(f.value(np.zeros(f.shape))) - optimum + L * far
    x, v = np.zeros(f.shape), np.zeros(f.shape)
    rows, total, drift = [], 0.0, 0.0
    plain = merged = np.zeros(f.shape)
    for k in range(steps):
        delta = 2 / (k + 3)
        y = (1 - delta) * x + delta * v
        value, g = f.value_and_grad(y)
        v_next = v - (k + 2) / (2 * L) * g
        estimate = float(value) + float(g @ (v_next - y))
        total += 2 * (k + 2) * estimate
        n = k + 1  # terms in the sum
        rows.append(
            (
                k,
                float(f.value(x)) - optimum, 2 * B / ((k + 1) * (k + 2)),
                float(g @ g), 16 * L * B / (k + 2) ** 2,
                float((v - x_star) @ (v - x_star)), B / L,
                total / (n * (n + 3)) - optimum, 2 * L * far / (n * (n + 3)),
                estimate - optimum,
                float((v_next - v) @ (v_next - v)),
                float(f.value(merged)) - optimum,
                float(f.value(plain)) - optimum,
            )
        )  # fmt: skip
        x, v = y - g / L, v_next
        # Connection 1: with vₖ₊₁ = xₖ₊₁ the look-ahead point is xₖ itself, and the step is gradient descent's.
        ahead = (1 - delta) * merged + delta * merged
        merged = ahead - f.grad(ahead) / L
        plain = plain - f.grad(plain) / L
        drift = max(drift, float(np.max(np.abs(merged - plain))))
    names = ("k", "error", "error_bound", "gradient", "gradient_bound", "distance", "distance_bound")
    names += ("weighted", "weighted_bound", "estimate", "radius", "merged", "plain")
    table = {c: np.array(column, dtype=float) for c, column in zip(names, zip(*rows, strict=True), strict=True)}
    return Outcome({"L": L, "B": B, "gd_difference": drift, "largest": float(np.max(np.abs(plain)))}, table)


@dataclass(frozen=True)
class Checks(Task):
    """The misprinted strongly convex AGM, and the simplex while k is far below d."""

    @property
    def constants(self) -> int:
        return STEPS

    def compute(self, store: Store, directory: str | None) -> Outcome:
        simplex, table = simplex_rates()
        return Outcome({**strongly_convex_typo(), **simplex}, table)


def strongly_convex_typo() -> dict[str, float]:
    """Run the strongly convex AGM as printed (z = y - y/μ) and as corrected (z = y - ∇f(y)/μ); return both errors."""
    rng = np.random.default_rng(0)
    spectrum, mu, L = np.geomspace(0.01, 1.0, 50), 0.01, 1.0
    target = rng.standard_normal(50) * 10
    delta = (mu / L) ** 0.5
    out = {}
    for name, printed in (("typo_printed", True), ("typo_corrected", False)):
        x = v = np.zeros(50)
        for _ in range(STEPS):
            y = (x + delta * v) / (1 + delta)
            g = spectrum * (y - target)
            z = y - (y if printed else g) / mu
            x, v = y - g / L, (1 - delta) * v + delta * z
        out[name] = float(0.5 * spectrum @ (x - target) ** 2)
    out["typo_start"] = float(0.5 * spectrum @ target**2)
    return out


def simplex_rates() -> tuple[dict[str, float], dict[str, np.ndarray]]:
    """Measure FW and AFW on |x|²/2 over the simplex while k is far below d, where no method can beat 1/k."""
    from scipy.sparse import eye_array

    d = 2000
    f = fw.Quadratic(eye_array(d, format="csc"))
    facts, table = {}, {}
    for method in ("fw", "afw"):
        start = np.eye(1, d)[0]
        trace = fw.minimize(f, fw.Simplex(d), x0=start, method=method, tol=0, max_iter=200, progress=False).trace
        h = trace.fun - 0.5 / d
        fit = slope(trace.k, envelope(h), 20, 200)
        facts |= {f"simplex_{method}": fit.value, f"simplex_{method}_low": fit.low, f"simplex_{method}_high": fit.high}
        table |= {"k": trace.k, method: h}
    return facts, table


@dataclass(frozen=True)
class Wandering(Task):
    """Steps on an l1 ball whose solution is a vertex that the method does not find at once.

    f = x'Hx/2 - c'x on the unit l1 ball in six dimensions. At zero five decoys have the larger gradient entries, and
    the best mixture of them is nearly as good as the solution e_1; ∇f(e_1) has a unique largest entry, by `margin`.
    """

    method: str
    iterations: int = 3000
    decoys: int = 5

    def problem(self) -> tuple[fw.Quadratic, np.ndarray]:
        """Return f and its minimiser on the ball."""
        m, behind, slack = self.decoys, 1e-3, 1e-3
        shared = 1 / m - behind - slack
        H = np.eye(m + 1)
        H[0, 1:] = H[1:, 0] = shared
        H[0, 0] = m * shared**2
        c = np.ones(m + 1)
        c[0] = 1 - behind
        return fw.Quadratic(H, -c), np.eye(1, m + 1)[0]

    def compute(self, store: Store, directory: str | None) -> Outcome:
        from frankwolfe.paper.problems import METHODS
        from frankwolfe.problem import Problem

        f, solution = self.problem()
        domain = fw.L1Ball(1.0)
        method = METHODS[self.method].make()
        problem = Problem(f, domain)
        state = method.init(problem, problem.start(np.zeros(f.shape), False))
        gradient, best = f.grad(solution), float(f.value(solution))
        offset = 3 if self.method == "afw" else 2
        entries = np.sort(np.abs(gradient))[::-1]
        rows = []
        for k in range(self.iterations):
            x = np.array(state.x.coords)
            state, _ = method.step(problem, state)
            towards = np.array(state.x.coords) - (1 - 2 / (k + offset)) * x  # a multiple of the vertex
            rows.append((k + 1, float(f.value(state.x.coords)) - best, int(np.argmax(np.abs(towards)))))
        k, h, vertex = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
        moved = np.flatnonzero(np.diff(vertex))
        facts = {
            "gap": float(gradient @ solution) + float(domain.support(-gradient)),  # zero: e_1 is the solution
            "margin": float(entries[0] - entries[1]),
            "largest": float(entries[0]),
            "moves": int(moved.size),
            "last_move": int(k[moved[-1] + 1]) if moved.size else 0,
            "smoothness": float(f.smoothness),
            "gradient": float(np.linalg.norm(gradient)),
            "highest": float(max(f.value(s * e) for e in np.eye(f.shape[0]) for s in (1.0, -1.0)) - best),
        }
        return Outcome(facts, {"k": k, "h": h, "vertex": vertex})
