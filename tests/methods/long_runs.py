"""Problems on every kind of set, and how far a point lies outside of one, by formulae of its own. For the tests."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

import frankwolfe as fw
from frankwolfe import sets

D = 8
GROUPS = [[0, 1, 2], [3, 4], [5, 6, 7]]
CURVED = {"l2": fw.L2Ball(0.8), "l3": fw.LpBall(0.8, p=3), "l1.5": fw.LpBall(0.8, p=1.5)}
VECTORS: dict[str, fw.Set] = {
    **CURVED,
    "l1": fw.L1Ball(0.8),
    "vertex": fw.L1Ball(0.05),
    "linf": fw.LInfBall(0.3),
    "box": fw.Box(-0.2, 0.4),
    "simplex": fw.Simplex(D, 0.7),
    "ksupport": fw.KSupportBall(0.7, k=3),
    "group": fw.GroupBall(0.7, groups=GROUPS),
    "owl": sets.OWLBall(0.7, weights=np.linspace(1, 0.2, D)),
    "hypersimplex": sets.Hypersimplex(D, k=3),
    "permutahedron": sets.Permutahedron(np.linspace(0, 0.7, D)),
    "tv": fw.TotalVariationBall(0.7),
    "ellipsoid": sets.Ellipsoid(np.full(D, 0.1), np.diag(np.linspace(0.2, 1, D))),
    "polytope": sets.Polytope(A_ub=np.ones((1, D)), b_ub=[0.9], lower=-0.1, upper=0.3),
    "hull": sets.ConvexHull(np.random.default_rng(5).standard_normal((12, D))),
    "product": sets.Product(fw.Simplex(4), fw.L2Ball(0.5), shapes=[4, 4]),
    "flow": sets.FlowPolytope([(0, 1), (0, 2), (0, 3), (1, 2), (1, 4), (2, 4), (3, 4), (4, 5)], 0, 5, radius=0.7),
    "union": sets.UnionHull(fw.L1Ball(0.5), fw.LInfBall(0.2)),
    "sum": fw.L1Ball(0.3) + fw.LInfBall(0.1),
    "shifted": fw.L2Ball(0.5) + np.full(D, 0.3),
}
MATRICES: dict[str, fw.Set] = {
    "nuclear": fw.NuclearBall(1.5),
    "spectral": sets.SpectralBall(0.5),
    "schatten": sets.SchattenBall(1.0, p=1.5),
    "spectrahedron": sets.Spectrahedron(1.0),
    "birkhoff": sets.Birkhoff(5),
    "frobenius": fw.L2Ball(1.0),
}
OBJECTIVES = ("logistic", "squares", "huber", "quadratic", "function")


class Place(NamedTuple):
    """A problem and what its optimum cannot be below."""

    objective: Any
    domain: Any
    floor: float
    x0: Any


def objective(kind: str, dtype: str) -> tuple[Any, Any]:
    """Return an objective of so many variables in a precision, and a start where it needs one."""
    rng = np.random.default_rng(3)
    A = rng.standard_normal((40, D)).astype(dtype)
    b = (A @ rng.standard_normal(D) + 0.5 * rng.standard_normal(40)).astype(dtype)
    if kind == "logistic":
        return fw.Logistic(A, b > 0), None
    if kind == "squares":
        return fw.LeastSquares(A, b), None
    if kind == "huber":
        return fw.Huber(A, b), None
    if kind == "quadratic":
        return fw.Quadratic(A.T @ A / 40, -(A.T @ b) / 40), None
    if kind == "matrix":
        T = rng.standard_normal((5, 5)).astype(dtype)
        T = 0.5 * (T + T.T)
        f = fw.Function(lambda X: 0.5 * np.sum((X - T) ** 2), lambda X: X - T, smoothness=1.0)
        return f, np.zeros((5, 5), dtype)
    if kind == "completion":
        rows, cols = np.nonzero(rng.random((6, 5)) < 0.6)
        return fw.MatrixCompletion(rows, cols, rng.standard_normal(rows.size).astype(dtype), (6, 5)), None
    base = fw.LeastSquares(A, b)
    return fw.Function(base.value, base.grad, smoothness=base.smoothness), np.zeros(D, dtype)


@cache
def place(kind: str, name: str, dtype: str) -> Place:
    """Return a problem with a lower bound on its optimum, proven in double precision from the same numbers."""
    f, x0 = objective(kind, dtype)
    domain = (MATRICES if name in MATRICES else VECTORS)[name]
    if x0 is not None and not domain.contains(x0):
        x0 = domain.lmo(f.grad(x0)).toarray()
    exact, x64 = f, None
    if dtype == "float32":
        exact, _ = objective(kind, dtype)
        exact = exact.doubled() or exact
    if x0 is not None:
        x64 = x0.astype(np.float64)
    tight = fw.minimize(exact, domain, x64, tol=1e-10, max_iter=3000, trace_every=1000)
    return Place(f, domain, tight.lower_bound, x0)


def outside(domain: Any, x: Any) -> float:
    """Return how far x lies outside, relative to the size of the set, in units of the precision of x."""
    dense = x.toarray() if hasattr(x, "toarray") else np.asarray(x)
    u = float(np.finfo(dense.dtype).eps)
    x = dense.astype(np.longdouble)
    size = FORMULAE.get(type(domain))
    if size is not None:
        return float(size(domain, x)) / u
    for ulps in (4.0, 16.0, 64.0, 256.0, 1e4, 1e6, 1e9):
        if domain.contains(dense.astype(np.float64), tol=ulps * u):
            return ulps
    return float("inf")


def _norm(p: float) -> Callable[[Any, Any], Any]:
    return lambda s, x: np.sum(np.abs(x) ** p) ** (1 / np.longdouble(p)) / s.radius - 1


def _simplex(s: Any, x: Any) -> Any:
    return max(abs(x.sum() / s.radius - 1), -x.min() / s.radius)


def _polytope(s: Any, x: Any) -> Any:
    size = 1.0
    return max(0, *(np.max(v) for v in (x - 0.3, -0.1 - x, x.sum() - 0.9))) / size


FORMULAE: dict[type, Callable[[Any, Any], Any]] = {
    fw.L1Ball: _norm(1),
    fw.L2Ball: _norm(2),
    fw.LpBall: lambda s, x: _norm(s.p)(s, x),
    fw.LInfBall: lambda s, x: np.max(np.abs(x)) / s.radius - 1,
    fw.Box: lambda s, x: np.max(np.maximum(s.lower - x, x - s.upper)) / max(abs(s.lower), abs(s.upper)),
    fw.Simplex: _simplex,
    fw.GroupBall: lambda s, x: sum(np.sqrt(np.sum(x[g] ** 2)) for g in GROUPS) / s.radius - 1,
    sets.OWLBall: lambda s, x: np.sum(np.sort(np.abs(x))[::-1] * np.asarray(s.weights)) / s.radius - 1,
    sets.Hypersimplex: lambda s, x: max(abs(x.sum() / s.k - 1), -x.min(), x.max() - 1),
    sets.Permutahedron: lambda s, x: np.max(np.abs(_excess(s, x))) if x.sum() else 0,
    fw.NuclearBall: lambda s, x: _singular(x).sum() / s.radius - 1,
    sets.SpectralBall: lambda s, x: _singular(x).max() / s.radius - 1,
    sets.SchattenBall: lambda s, x: _norm(s.p)(s, _singular(x)),
    sets.Birkhoff: lambda s, x: max(-x.min(), *(np.max(np.abs(x.sum(axis=i) - 1)) for i in (0, 1))),
}


def _singular(x: Any) -> Any:
    return np.linalg.svd(x.astype(np.float64), compute_uv=False).astype(np.longdouble)


def _excess(s: Any, x: Any) -> Any:
    most = np.cumsum(np.sort(np.asarray(s.c, dtype=np.longdouble))[::-1])
    have = np.cumsum(np.sort(x)[::-1])
    return np.append(np.maximum(have - most, 0), have[-1] - most[-1]) / most[-1]
