"""Balls of norms of vectors, boxes and simplices, each with a naive twin and CVXPY's words."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
from tests import naive
from tests.sets.case import Case

from frankwolfe.sets import Box, GroupBall, KSupportBall, L1Ball, L2Ball, LInfBall, LpBall, Simplex, TotalVariationBall

INF = math.inf
GROUPS = [[0, 3], [1], [2, 4, 5]]
LOWER, UPPER = np.array([-1.0, 0.0, 2.0, -3.0, 0.5]), np.array([1.0, 0.0, 5.0, -1.0, 0.75])


def _lp(kind: Any, shape: tuple[int, ...], radius: float, p: float, name: str) -> Case:
    def judge(x: Any) -> list[Any]:
        import cvxpy as cp

        return [cp.pnorm(x, "inf" if math.isinf(p) or p > 1000 else p, max_denom=100) <= radius]

    return Case(
        name,
        kind,
        shape,
        lambda g: naive.min_lp(g, radius, p),
        judge,
        lambda x: naive.lp_norm(x.ravel(), p),
    )


def _by_vertices(
    name: str, kind: Any, shape: tuple[int, ...], vertices: list[np.ndarray], judge: Any, **more: Any
) -> Case:
    return Case(name, kind, shape, lambda g: naive.best_vertex(vertices, g), judge, **more)


def _ksupport(radius: float, k: int, shape: tuple[int, ...]) -> Case:
    def judge(x: Any) -> list[Any]:
        import cvxpy as cp

        d = math.prod(shape)
        supports = list(itertools.combinations(range(d), min(k, d)))
        parts = [cp.Variable(len(support)) for support in supports]
        whole = sum(np.eye(d)[:, list(support)] @ part for support, part in zip(supports, parts, strict=True))
        return [x == whole, sum(cp.norm2(part) for part in parts) <= radius]

    return Case(
        f"ksupport-{k}-{shape}",
        KSupportBall(radius, k=k),
        shape,
        lambda g: naive.min_ksupport(g, radius, k),
        judge,
        lambda x: naive.size_ksupport(x, k),
    )


def _group(radius: float, s: float, p: float, shape: tuple[int, ...] = (6,)) -> Case:
    def judge(x: Any) -> list[Any]:
        import cvxpy as cp

        def pnorm(y: Any, p: float) -> Any:
            return cp.pnorm(y, "inf" if math.isinf(p) else p, max_denom=100)

        return [pnorm(cp.hstack([pnorm(x[group], s) for group in GROUPS]), p) <= radius]

    return Case(
        f"group-s{s}-p{p}-{shape}",
        GroupBall(radius, groups=GROUPS, s=s, p=p),
        shape,
        lambda g: naive.min_group(g, radius, GROUPS, s, p),
        judge,
        lambda x: naive.size_group(x, GROUPS, s, p),
    )


def _variation(radius: float, shape: tuple[int, ...]) -> Case:
    def judge(x: Any) -> list[Any]:
        import cvxpy as cp

        ids = np.arange(math.prod(shape)).reshape(shape)
        pairs = [
            (ids.take(range(n - 1), axis).ravel(), ids.take(range(1, n), axis).ravel())
            for axis, n in enumerate(shape)
            if n > 1
        ]
        return [cp.sum(x) == 0] + [sum(cp.norm1(x[a] - x[b]) for a, b in pairs) <= radius] * bool(pairs)

    vertices = list(naive.vertices_variation(shape, radius))
    return _by_vertices(
        f"variation-{shape}",
        TotalVariationBall(radius),
        shape,
        vertices,
        judge,
        array_native=len(shape) == 1 or min(shape) == 1,
    )


def _box(name: str, lower: Any, upper: Any, shape: tuple[int, ...]) -> Case:
    low, high = np.broadcast_to(lower, shape), np.broadcast_to(upper, shape)
    vertices = list(naive.vertices_box(low, high))
    return _by_vertices(name, Box(lower, upper), shape, vertices, lambda x: [x >= low.ravel(), x <= high.ravel()])


def _simplex(dim: int, radius: float) -> Case:
    def judge(x: Any) -> list[Any]:
        import cvxpy as cp

        return [x >= 0, cp.sum(x) == radius]

    return _by_vertices(
        f"simplex-{dim}-{radius}", Simplex(dim, radius), (dim,), list(naive.vertices_simplex(dim, radius)), judge
    )


NORM_BALLS = [
    _lp(L1Ball(2.0), (6,), 2.0, 1, "l1"),
    _lp(L1Ball(0.5), (2, 3), 0.5, 1, "l1-matrix"),
    _lp(L2Ball(1.5), (6,), 1.5, 2, "l2"),
    _lp(L2Ball(30.0), (2, 3), 30.0, 2, "l2-matrix"),
    _lp(LInfBall(0.7), (6,), 0.7, INF, "linf"),
    _lp(LInfBall(2.0), (2, 3), 2.0, INF, "linf-matrix"),
    *(_lp(LpBall(2.0, p=p), (6,), 2.0, p, f"lp-{p}") for p in (1, 1.0001, 1.1, 1.5, 2, 2.5, 3, 50, 1e6, INF)),
    _lp(LpBall(0.3, p=1.5), (2, 3), 0.3, 1.5, "lp-matrix"),
    _lp(LpBall(1.0, p=3), (1,), 1.0, 3, "lp-single"),
    _box("box-numbers", -1.0, 2.0, (5,)),
    _box("box-arrays", LOWER, UPPER, (5,)),
    _box("box-mixed", -2.0, np.arange(6.0).reshape(2, 3), (2, 3)),
    _simplex(6, 1.0),
    _simplex(5, 2.5),
    _simplex(1, 1.0),
    *(_ksupport(1.5, k, (5,)) for k in (1, 2, 4, 5, 9)),
    _ksupport(2.0, 3, (2, 3)),
    *(_group(1.5, s, p) for s, p in [(2, 1), (2, 1.5), (2, 2), (2, 4), (2, INF), (1, 2), (INF, 1), (3, 1.5), (1, INF)]),
    _group(4.0, 2, 1, (2, 3)),
    _group(4.0, 1.5, 3, (3, 2)),
    _variation(2.0, (6,)),
    _variation(1.0, (2,)),
    _variation(1.0, (1,)),
    _variation(0.5, (1, 5)),
    _variation(2.0, (3, 3)),
    _variation(3.0, (2, 4)),
]
