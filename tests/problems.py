"""Small problems of every kind, with their optima to high accuracy."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

import frankwolfe as fw


class Case(NamedTuple):
    """A problem; `optimum` is f* to about 1e-12, proven by the gap of the solve it came from."""

    objective: Any
    domain: Any
    optimum: float
    x0: Any = None


def logistic_data(n: int = 120, d: int = 12, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, d))
    b = np.sign(A @ rng.standard_normal(d) + 0.5 * rng.standard_normal(n))
    return A, b


def completion(m: int = 14, n: int = 11, seed: int = 0) -> fw.MatrixCompletion:
    rng = np.random.default_rng(seed)
    truth = rng.standard_normal((m, 2)) @ rng.standard_normal((2, n))
    rows, cols = np.nonzero(rng.random((m, n)) < 0.6)
    return fw.MatrixCompletion(rows, cols, truth[rows, cols] + 0.05 * rng.standard_normal(rows.size), (m, n))


def _objective(kind: str, seed: int) -> Any:
    A, b = logistic_data(seed=seed)
    rng = np.random.default_rng(seed + 1000)
    if kind == "logistic":
        return fw.Logistic(A, b)
    if kind == "least squares":
        return fw.LeastSquares(A, A @ rng.standard_normal(A.shape[1]) + rng.standard_normal(A.shape[0]))
    if kind == "quadratic":
        return fw.Quadratic(A.T @ A / 50, rng.standard_normal(A.shape[1]))
    if kind == "completion":
        return completion(seed=seed)
    base = fw.Logistic(A, b)
    return fw.Function(base.value, base.grad, smoothness=base.smoothness)


GROUPS = [[0, 1, 2], [3, 4], [5, 6, 7, 8], [9, 10, 11]]
PROBLEMS = {
    "logistic-l2": ("logistic", fw.L2Ball(2.0)),
    "logistic-l1": ("logistic", fw.L1Ball(2.0)),
    "logistic-l1-vertex": ("logistic", fw.L1Ball(0.2)),
    "logistic-l3": ("logistic", fw.LpBall(1.5, p=3)),
    "logistic-linf": ("logistic", fw.LInfBall(0.5)),
    "logistic-ksupport": ("logistic", fw.KSupportBall(1.5, k=3)),
    "logistic-group": ("logistic", fw.GroupBall(1.5, groups=GROUPS)),
    "squares-l1": ("least squares", fw.L1Ball(3.0)),
    "squares-box": ("least squares", fw.Box(-0.5, 0.25)),
    "quadratic-simplex": ("quadratic", fw.Simplex(12)),
    "quadratic-l2": ("quadratic", fw.L2Ball(1.0)),
    "function-l2": ("function", fw.L2Ball(2.0)),
    "completion-nuclear": ("completion", fw.NuclearBall(8.0)),
}


@cache
def case(name: str, seed: int = 0) -> Case:
    """Return a problem by name, its optimum from a tight solve by restarted projected AGM."""
    kind, domain = PROBLEMS[name]
    objective = _objective(kind, seed)
    x0 = np.zeros(12) if kind == "function" else None
    if isinstance(domain, fw.ProjectableSet):
        tight = fw.AcceleratedProjectedGradient(restart=True)
        result = fw.minimize(objective, domain, x0, method=tight, tol=1e-13, max_iter=20_000, trace_every=100)
    else:
        result = fw.minimize(objective, domain, x0, method="afw", tol=1e-13, max_iter=20_000, trace_every=100)
    assert result.gap < 1e-9, f"{name}: no certified optimum, gap {result.gap:.2g}"
    return Case(objective, domain, result.fun, x0)
