"""The feasible sets of the campaign, described a second time: membership and linear minima by their definitions.

Nothing here calls the library except `make`, which builds its set. Numbers are 80-bit (`longdouble`), so that what
rounding does here is far below what it does there; singular values alone are found in double precision.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from scipy.optimize import nnls

import frankwolfe as fw

LD = np.longdouble
INF = math.inf
EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Domain:
    """A set by its definition.

    `least` gives the minimum of <g, v> over the set and a point where it is attained. `excess` says how far outside a
    point is, relative to the size of the points (zero or less inside); where it is positive it is a proof. `doubt` is
    the part of that size that the answers themselves may be wrong by.
    """

    name: str
    shape: tuple[int, ...]
    make: Callable[[], Any]
    least: Callable[[np.ndarray], tuple[Any, np.ndarray]]
    excess: Callable[[np.ndarray], float]
    scale: float
    doubt: float = 0.0


def p_norm(x: np.ndarray, p: float) -> Any:
    """Return the l_p norm of all entries."""
    a = np.abs(x).astype(LD).ravel()
    top = a.max(initial=LD(0))
    if top == 0 or p == INF:
        return top
    b = a / top
    return top * (np.sqrt(np.sum(b * b)) if p == 2 else np.sum(b ** LD(p)) ** (1 / LD(p)))


def steepest(g: np.ndarray, p: float) -> np.ndarray:
    """Return u of l_p norm one that maximises <g, u>."""
    a = np.abs(g).astype(LD)
    top = a.max(initial=LD(0))
    sign = np.where(g < 0, LD(-1), LD(1))
    if p == INF:
        return sign * np.ones_like(a)
    if p == 1 or top == 0:
        u = np.zeros_like(a)
        u.flat[int(np.argmax(a))] = 1
        return sign * u
    b = (a / top) ** (1 / LD(p - 1))
    return sign * b / p_norm(b, p)


def _ball(name: str, shape: tuple[int, ...], make: Any, radius: float, norm: Any, best: Any, **more: Any) -> Domain:
    def least(g: np.ndarray) -> tuple[Any, np.ndarray]:
        v = -LD(radius) * best(g)
        return np.sum(g * v), v

    return Domain(name, shape, make, least, lambda x: float(norm(x) / LD(radius) - 1), radius, **more)


def lp(shape: tuple[int, ...], radius: float, p: float) -> Domain:
    """Balls of the l_p norms."""
    kinds = {1: ("l1", fw.L1Ball), 2: ("l2", fw.L2Ball), INF: ("linf", fw.LInfBall)}
    name, kind = kinds.get(p, ("lp", lambda r: fw.LpBall(r, p=p)))
    return _ball(name, shape, lambda: kind(radius), radius, lambda x: p_norm(x, p), lambda g: steepest(g, p))


def box(shape: tuple[int, ...], lower: np.ndarray, upper: np.ndarray) -> Domain:
    """Boxes; how far outside a point is counts entry by entry."""
    low, high = lower.astype(LD), upper.astype(LD)
    size = np.maximum(np.abs(low), np.abs(high))
    size = np.where(size > 0, size, 1)

    def least(g: np.ndarray) -> tuple[Any, np.ndarray]:
        v = np.where(g > 0, low, high)
        return np.sum(g * v), v

    def excess(x: np.ndarray) -> float:
        return float(np.max(np.maximum(low - x, x - high) / size))

    return Domain("box", shape, lambda: fw.Box(lower, upper), least, excess, float(size.max()))


def _vertex(vertices: np.ndarray) -> Callable[[np.ndarray], tuple[Any, np.ndarray]]:
    """Return the linear minimum over a list of points (m, ...)."""
    rows = vertices.reshape(len(vertices), -1).astype(LD)

    def least(g: np.ndarray) -> tuple[Any, np.ndarray]:
        values = rows @ g.ravel().astype(LD)
        i = int(np.argmin(values))
        return values[i], rows[i].reshape(vertices.shape[1:])

    return least


def simplex(dim: int, radius: float) -> Domain:
    """The simplex."""

    def least(g: np.ndarray) -> tuple[Any, np.ndarray]:
        v = np.zeros(dim, LD)
        v[int(np.argmin(g))] = radius
        return np.sum(g * v), v

    def excess(x: np.ndarray) -> float:
        return float(max(-x.min(), abs(x.sum() - LD(radius))) / LD(radius))

    return Domain("simplex", (dim,), lambda: fw.Simplex(dim, radius), least, excess, radius)


def ksupport(shape: tuple[int, ...], radius: float, k: int) -> Domain:
    """Balls of the k-support norm: its square is the least of sum x_i²/t_i over 0 < t <= 1 with sum t <= k."""

    def norm(x: np.ndarray) -> Any:
        a = np.sort(np.abs(x).astype(LD).ravel())[::-1]
        if k >= a.size:
            return p_norm(a, 2)
        top = a[0]
        if top == 0:
            return top
        a = a / top
        found = []
        for r in range(k):  # the first k - r - 1 have t = 1, the others share r + 1 in proportion
            rest = a[k - r - 1 :].sum()
            if (r + 1) * a[k - r - 1] <= rest or r == 0:
                found.append(np.sum(a[: k - r - 1] ** 2) + rest * rest / (r + 1))
        return top * np.sqrt(min(found))

    def best(g: np.ndarray) -> np.ndarray:
        flat = g.ravel().astype(LD)
        u = np.zeros_like(flat)
        kept = np.argsort(-np.abs(flat), kind="stable")[:k]
        u[kept] = steepest(flat[kept], 2)
        return u.reshape(g.shape)

    return _ball("ksupport", shape, lambda: fw.KSupportBall(radius, k=k), radius, norm, best)


def group(shape: tuple[int, ...], radius: float, labels: np.ndarray, s: float, p: float) -> Domain:
    """Balls of group norms."""
    groups = [np.flatnonzero(labels == label) for label in np.unique(labels)]

    def norm(x: np.ndarray) -> Any:
        flat = x.ravel()
        return p_norm(np.array([p_norm(flat[members], s) for members in groups]), p)

    def best(g: np.ndarray) -> np.ndarray:
        flat = g.ravel().astype(LD)
        dual = INF if s == 1 else 1.0 if s == INF else s / (s - 1)
        weights = steepest(np.array([p_norm(flat[members], dual) for members in groups]), p)
        u = np.zeros_like(flat)
        for members, weight in zip(groups, weights, strict=True):
            u[members] = weight * steepest(flat[members], s)
        return u.reshape(g.shape)

    return _ball("group", shape, lambda: fw.GroupBall(radius, groups=labels, s=s, p=p), radius, norm, best, doubt=1e-18)


def owl(dim: int, radius: float, weights: np.ndarray) -> Domain:
    """Balls of the ordered weighted l1 norm."""
    w = weights.astype(LD)

    def norm(x: np.ndarray) -> Any:
        return np.sum(w * np.sort(np.abs(x).astype(LD))[::-1])

    def best(g: np.ndarray) -> np.ndarray:
        order = np.argsort(-np.abs(g), kind="stable")
        k = int(np.argmax(np.cumsum(np.abs(g[order])) / np.cumsum(w)))
        u = np.zeros(dim, LD)
        chosen = order[: k + 1]
        u[chosen] = np.where(g[chosen] < 0, LD(-1), LD(1)) / np.sum(w[: k + 1])
        return u

    made = _ball("owl", (dim,), lambda: fw.OWLBall(radius, weights=weights), radius, norm, best)
    return Domain("owl", (dim,), made.make, made.least, made.excess, radius / float(w[0]))


def permutahedron(c: np.ndarray) -> Domain:
    """Vectors that c majorises."""
    down = np.sort(c.astype(LD))[::-1]
    scale = float(np.abs(c).max()) or 1.0

    def least(g: np.ndarray) -> tuple[Any, np.ndarray]:
        v = np.empty(c.size, LD)
        v[np.argsort(g, kind="stable")] = down
        return np.sum(g * v), v

    def excess(x: np.ndarray) -> float:
        over = np.cumsum(np.sort(x.astype(LD))[::-1] - down)
        return float(max(over.max(), abs(over[-1])) / (scale * c.size))

    return Domain("permutahedron", c.shape, lambda: fw.Permutahedron(c), least, excess, scale)


def hypersimplex(n: int, k: int) -> Domain:
    """0 <= x <= 1 with sum k."""

    def least(g: np.ndarray) -> tuple[Any, np.ndarray]:
        v = np.zeros(n, LD)
        v[np.argsort(g, kind="stable")[:k]] = 1
        return np.sum(g * v), v

    def excess(x: np.ndarray) -> float:
        return float(max(-x.min(), x.max() - 1, abs(x.sum() - k) / k))

    return Domain("hypersimplex", (n,), lambda: fw.Hypersimplex(n, k=k), least, excess, 1.0)


def birkhoff(n: int) -> Domain:
    """Doubly stochastic matrices."""
    orders = [np.eye(n)[list(order)] for order in itertools.permutations(range(n))]

    def excess(x: np.ndarray) -> float:
        return float(max(-x.min(), np.abs(x.sum(0) - 1).max(), np.abs(x.sum(1) - 1).max()))

    return Domain("birkhoff", (n, n), lambda: fw.Birkhoff(n), _vertex(np.array(orders)), excess, 1.0)


@cache
def _regions(shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return every region of a grid as a row less its mean, and its perimeter."""
    size = math.prod(shape)
    masks = (np.arange(1, 2 ** (size - 1))[:, None] >> np.arange(size) & 1).astype(float)
    grids = masks.reshape(-1, *shape)
    perimeter = sum(np.abs(np.diff(grids, axis=i + 1)).reshape(len(grids), -1).sum(1) for i in range(len(shape)))
    return masks - masks.mean(1, keepdims=True), np.asarray(perimeter)


def variation(shape: tuple[int, ...], radius: float) -> Domain:
    """Grids with mean zero and bounded total variation; its extreme points are regions."""
    if len(shape) == 1:
        steps = (np.arange(shape[0])[None, :] > np.arange(shape[0] - 1)[:, None]).astype(float)
        rows, perimeter = steps - steps.mean(1, keepdims=True), np.ones(len(steps))
    else:
        rows, perimeter = _regions(shape)
    corners = rows.astype(LD) * (LD(radius) / perimeter)[:, None] if len(rows) else np.zeros((1, math.prod(shape)), LD)
    corners = np.concatenate([corners, -corners]).reshape(-1, *shape)

    def excess(x: np.ndarray) -> float:
        tv = sum(np.abs(np.diff(x, axis=i)).sum() for i in range(x.ndim)) if x.size > 1 else LD(0)
        return float(max(tv / LD(radius) - 1, abs(x.sum()) / (LD(radius) * x.size)))

    return Domain("variation", shape, lambda: fw.TotalVariationBall(radius), _vertex(corners), excess, radius)


def spectral(shape: tuple[int, ...], radius: float, p: float, nuclear: bool = False) -> Domain:
    """Balls of Schatten norms, by the SVD of double precision."""

    def norm(x: np.ndarray) -> Any:
        return p_norm(np.linalg.svd(x.astype(float), compute_uv=False), p)

    def best(g: np.ndarray) -> np.ndarray:
        top = float(np.abs(g).max()) or 1.0
        U, sigma, Vt = np.linalg.svd((g / top).astype(float), full_matrices=False)
        return (U.astype(LD) * np.abs(steepest(sigma, p))) @ Vt.astype(LD)

    if nuclear:
        name, make = "nuclear", lambda: fw.NuclearBall(radius)
    elif p == INF:
        name, make = "spectral", lambda: fw.SpectralBall(radius)
    else:
        name, make = "schatten", lambda: fw.SchattenBall(radius, p=p)
    return _ball(name, shape, make, radius, norm, best, doubt=32 * EPS)


def spectrahedron(n: int, radius: float) -> Domain:
    """Positive semidefinite matrices of a given trace."""

    def least(g: np.ndarray) -> tuple[Any, np.ndarray]:
        top = float(np.abs(g).max()) or 1.0
        _, vectors = np.linalg.eigh(((g + g.T) / (2 * top)).astype(float))
        u = vectors[:, 0].astype(LD)
        v = LD(radius) * np.outer(u, u) / (u @ u)
        return np.sum(g * v), v

    def excess(x: np.ndarray) -> float:
        low = float(np.linalg.eigvalsh(((x + x.T) / 2).astype(float))[0])
        return float(max(abs(np.trace(x) - LD(radius)), np.abs(x - x.T).max(), -low)) / radius

    make = lambda: fw.Spectrahedron(radius)  # noqa: E731
    return Domain("spectrahedron", (n, n), make, least, excess, radius, doubt=32 * EPS)


def outside_hull(x: np.ndarray, rows: np.ndarray, scale: float) -> float:
    """Return a proven lower bound on the distance of x to a hull, relative to its scale."""
    flat, rows = x.ravel().astype(LD) / scale, rows.reshape(len(rows), -1).astype(LD) / scale
    lifted = np.vstack([rows.T, np.ones(len(rows))])
    target = np.append(flat, 1)
    try:
        weights = nnls(lifted.astype(float), target.astype(float))[0]
    except RuntimeError:  # no answer in its number of steps
        return 0.0
    # Of this least squares problem the residual is a direction in which all of the hull lies lower than x, if x is
    # outside: that is the proof, whatever its accuracy.
    g = (target - lifted @ weights.astype(LD))[:-1]
    size = np.abs(g).sum()
    return float((g @ flat - (rows @ g).max()) / size) if size > 0 else 0.0


def hull(points: np.ndarray, name: str = "hull", make: Any = None) -> Domain:
    """The hull of listed points."""
    scale = float(np.abs(points).max()) or 1.0
    return Domain(
        name,
        points.shape[1:],
        make or (lambda: fw.ConvexHull(points)),
        _vertex(points),
        lambda x: outside_hull(x, points, scale),
        scale,
        doubt=4 * EPS,
    )


def oracle(points: np.ndarray) -> Domain:
    """A user's own set: the same hull, by a function."""

    def make() -> Any:
        return fw.OracleSet(lambda g: points[int(np.argmin(points @ np.asarray(g)))], shape=points.shape[1:])

    return hull(points, "own", make)


def ellipsoid(center: np.ndarray, matrix: np.ndarray, radius: float) -> Domain:
    """c + M u with |u| <= radius, M square."""
    c = center.astype(LD)
    M = (np.diag(matrix) if matrix.ndim == 1 else matrix).astype(LD)
    size = np.abs(c) + LD(radius) * np.sqrt((M * M).sum(1))

    def least(g: np.ndarray) -> tuple[Any, np.ndarray]:
        v = c - LD(radius) * (M @ steepest(M.T @ g, 2))
        return np.sum(g * v), v

    def excess(x: np.ndarray) -> float:
        if matrix.ndim == 1:
            u = (x - c) / matrix
        else:
            u = np.zeros(len(c), LD)
            for _ in range(4):  # in double precision, refined
                u = u + np.linalg.solve(matrix, (x - c - M @ u).astype(float))
        length = p_norm(u, 2)
        if length <= radius:
            return 0.0
        towards_centre = float(np.max((1 - LD(radius) / length) * np.abs(M @ u) / size))
        # A point of the ellipsoid near x, each entry in units of its size: least squares over |u| <= radius.
        U, s, Vt = np.linalg.svd((M / size[:, None]).astype(float))
        along = (U.T @ ((x - c) / size).astype(float)) * s
        low, high = 0.0, float(np.linalg.norm(along)) / radius
        for _ in range(200):
            middle = (low + high) / 2 if low == 0 else math.sqrt(low * high)
            long = np.linalg.norm(along / np.maximum(s * s + middle, 1e-300)) > radius
            low, high = (middle, high) if long else (low, middle)
        u = (Vt.T @ (along / np.maximum(s * s + high, 1e-300))).astype(LD)
        u *= min(LD(1), LD(radius) / p_norm(u, 2))
        return min(towards_centre, float(np.max(np.abs(x - c - M @ u) / size)))

    return Domain(
        "ellipsoid", center.shape, lambda: fw.Ellipsoid(center, matrix, radius), least, excess, float(size.max())
    )


def _solved(rows: list[list[Fraction]]) -> list[Fraction] | None:
    """Solve a square system given as rows with their right side, exactly; None if singular."""
    rows, n = [row[:] for row in rows], len(rows)
    for i in range(n):
        pivot = next((j for j in range(i, n) if rows[j][i]), None)
        if pivot is None:
            return None
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for j in range(n):
            if j != i and rows[j][i]:
                factor = rows[j][i] / rows[i][i]
                rows[j] = [a - factor * b for a, b in zip(rows[j], rows[i], strict=True)]
    return [rows[i][n] / rows[i][i] for i in range(n)]


def polytope(A: np.ndarray, b: np.ndarray, lower: np.ndarray, upper: np.ndarray, **options: Any) -> Domain | None:
    """A x <= b within bounds; the vertices by trying every basis in exact arithmetic. None where it is empty."""
    d = lower.size
    signed = [*np.eye(d), *-np.eye(d), *A]
    right = [*upper, *-lower, *b]
    exact = [[Fraction(float(v)) for v in row] + [Fraction(float(r))] for row, r in zip(signed, right, strict=True)]
    found = set()
    for basis in itertools.combinations(exact, d):
        v = _solved(list(basis))
        if v is not None and all(sum(a * y for a, y in zip(row, v, strict=False)) <= row[-1] for row in exact):
            found.add(tuple(v))
    if not found:
        return None
    vertices = np.array([[LD(v.numerator) / LD(v.denominator) for v in vertex] for vertex in sorted(found)])
    rows, limits = np.array(signed).astype(LD), np.array(right).astype(LD)
    reach = np.abs(vertices).max(0)

    def excess(x: np.ndarray) -> float:
        size = np.abs(rows) @ np.maximum(reach, np.abs(x)) + np.abs(limits)
        return float(np.max((rows @ x - limits) / np.where(size > 0, size, 1)))

    def make() -> Any:
        return fw.Polytope(A, b, lower=lower, upper=upper, **options)

    return Domain("polytope", (d,), make, _vertex(vertices), excess, float(reach.max()) or 1.0, doubt=1e-18)


ROADS = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (0, 3), (2, 4)]  # 4 is a dead end


def paths(edges: list[tuple[int, int]], source: int, target: int) -> list[np.ndarray]:
    """Return every path as an indicator of its edges, by depth-first search."""
    found = []

    def walk(node: int, used: list[int], seen: set[int]) -> None:
        if node == target:
            found.append(np.isin(np.arange(len(edges)), used) * 1.0)
            return
        for e, (tail, head) in enumerate(edges):
            if tail == node and head not in seen:
                walk(head, [*used, e], {*seen, head})

    walk(source, [], {source})
    return found


def whole_flows(
    edges: list[tuple[int, int]], source: int, target: int, amount: int, capacity: list[int]
) -> list[np.ndarray]:
    """Return every flow in whole numbers, by trying all; the edges of the dead end stay empty."""
    found = []
    for load in itertools.product(
        *(range(c + 1 if head != 4 else 1) for c, (_, head) in zip(capacity, edges, strict=True))
    ):
        out = [0] * 5
        for units, (tail, head) in zip(load, edges, strict=True):
            out[tail] += units
            out[head] -= units
        if out[source] == amount and out[target] == -amount and np.count_nonzero(out) == 2:
            found.append(np.array(load, dtype=float))
    return found


def flow(radius: float, capacity: list[int] | None = None) -> Domain:
    """Flows of `radius` from 0 to 3 over ROADS; with capacities in units of radius / 2."""
    unit = radius if capacity is None else radius / 2
    units = paths(ROADS, 0, 3) if capacity is None else whole_flows(ROADS, 0, 3, 2, capacity)
    balance = np.zeros((5, len(ROADS)), LD)
    for e, (tail, head) in enumerate(ROADS):
        balance[tail, e] += 1
        balance[head, e] -= 1
    want = np.array([radius, 0, 0, -radius, 0], LD)

    def excess(x: np.ndarray) -> float:
        over = max(-x.min(), np.abs(balance @ x - want).max())
        if capacity is not None:
            over = max(over, (x - np.array(capacity, LD) * LD(unit)).max())
        return float(over / LD(radius))

    def make() -> Any:
        if capacity is None:
            return fw.FlowPolytope(ROADS, 0, 3, radius)
        return fw.FlowPolytope(ROADS, 0, 3, radius, capacity=unit * np.array(capacity, float))

    name = "flow" if capacity is None else "flow-capacity"
    return Domain(name, (len(ROADS),), make, _vertex(LD(unit) * np.array(units)), excess, radius)


def scaled(part: Domain, factor: float) -> Domain:
    """factor * part."""

    def least(g: np.ndarray) -> tuple[Any, np.ndarray]:
        value, v = part.least(g * LD(factor))
        return value, v * LD(factor)

    def excess(x: np.ndarray) -> float:
        return part.excess(x / LD(factor))

    make = lambda: fw.Scaled(part.make(), factor)  # noqa: E731
    return Domain("scaled", part.shape, make, least, excess, part.scale * abs(factor), part.doubt)


def shifted(part: Domain, offset: np.ndarray) -> Domain:
    """part + offset."""
    far = offset.astype(LD)
    scale = part.scale + float(np.abs(offset).max())

    def least(g: np.ndarray) -> tuple[Any, np.ndarray]:
        value, v = part.least(g)
        return value + np.sum(g * far), v + far

    def excess(x: np.ndarray) -> float:
        return part.excess(x - far) * part.scale / scale

    return Domain("shifted", part.shape, lambda: fw.Shifted(part.make(), offset), least, excess, scale, part.doubt)


def image(radius: float, matrix: np.ndarray) -> Domain:
    """matrix @ l1 ball."""
    corners = radius * np.concatenate([matrix.T, -matrix.T]).astype(LD)
    return hull(corners, "image", lambda: fw.LinearImage(fw.L1Ball(radius), matrix))


def _l1_corners(d: int, r: float) -> np.ndarray:
    return r * np.concatenate([np.eye(d), -np.eye(d)])


def _cube_corners(d: int, r: float) -> np.ndarray:
    return r * np.array(list(itertools.product((-1.0, 1.0), repeat=d)))


def minkowski(d: int, first: float, second: float) -> Domain:
    """L1 ball + cube."""
    corners = (_l1_corners(d, first)[:, None] + _cube_corners(d, second)[None]).reshape(-1, d)
    return hull(corners, "sum", lambda: fw.MinkowskiSum(fw.L1Ball(first), fw.LInfBall(second)))


def union(d: int, first: float, second: float) -> Domain:
    """The hull of an l1 ball and a cube."""
    corners = np.concatenate([_l1_corners(d, first), _cube_corners(d, second)])
    return hull(corners, "union", lambda: fw.UnionHull(fw.L1Ball(first), fw.LInfBall(second)))


def product(parts: list[Domain]) -> Domain:
    """Blocks one after the other."""
    sizes = [math.prod(part.shape) for part in parts]
    ends = np.cumsum([0, *sizes])

    def split(x: np.ndarray) -> list[np.ndarray]:
        return [x[ends[i] : ends[i + 1]].reshape(part.shape) for i, part in enumerate(parts)]

    def least(g: np.ndarray) -> tuple[Any, np.ndarray]:
        found = [part.least(block) for part, block in zip(parts, split(g), strict=True)]
        return sum(value for value, _ in found), np.concatenate([v.ravel() for _, v in found])

    def excess(x: np.ndarray) -> float:
        return max(part.excess(block) for part, block in zip(parts, split(x), strict=True))

    def make() -> Any:
        made = [part.make() for part in parts]
        shapes = [None if one.shape is not None else part.shape for one, part in zip(made, parts, strict=True)]
        return fw.Product(*made, shapes=shapes)

    scale, doubt = max(part.scale for part in parts), max(part.doubt for part in parts)
    return Domain("product", (int(ends[-1]),), make, least, excess, scale, doubt)


VECTOR = ("l1", "l2", "linf", "lp", "box", "simplex", "ksupport", "group", "owl", "permutahedron", "hypersimplex")
VECTOR += ("variation", "ellipsoid", "polytope", "hull", "own", "flow", "flow-capacity")
VECTOR += ("scaled", "shifted", "image", "sum", "union", "product")
MATRIX = ("l1", "l2", "linf", "lp", "ksupport", "group", "box", "nuclear", "spectral", "schatten", "spectrahedron")
MATRIX += ("birkhoff", "variation", "shifted", "scaled")
FIXED = {"flow": 7, "flow-capacity": 7}  # length of the vectors, where the set dictates it


def length(kind: str, d: int) -> int:
    """Return the length of vectors that a kind of set allows, nearest to d."""
    most = {"polytope": 3, "sum": 4, "union": 4, "product": 10, "own": 8, "hull": 8, "image": 8}.get(kind, d)
    return FIXED.get(kind, max(min(d, most), 2 if kind == "product" else 1))


def _exponent(rng: np.random.Generator) -> float:
    return float(rng.choice([1.0, 1.01, 1.1, 1.5, 2.0, 2.5, 3.0, 10.0, 1000.0, INF]))


def draw(kind: str, rng: np.random.Generator, shape: tuple[int, ...], radius: float) -> Domain:
    """Return a random set of a kind."""
    d = math.prod(shape)
    if kind in ("l1", "l2", "linf"):
        return lp(shape, radius, {"l1": 1.0, "l2": 2.0, "linf": INF}[kind])
    if kind == "lp":
        return lp(shape, radius, float(rng.choice([1.01, 1.1, 1.5, 2.5, 3.0, 10.0, 1000.0])))
    if kind == "box":
        spread = 10.0 ** rng.uniform(-12, 12, shape) if rng.random() < 0.2 else np.ones(shape)
        ends = np.sort(rng.standard_normal((2, *shape)) * radius * spread, axis=0)
        if rng.random() < 0.3:
            ends[1][rng.random(shape) < 0.3] = 0.0
            ends.sort(axis=0)
        if rng.random() < 0.2:
            ends[0] = np.where(rng.random(shape) < 0.3, ends[1], ends[0])
        return box(shape, ends[0], ends[1])
    if kind == "simplex":
        return simplex(d, radius)
    if kind == "ksupport":
        return ksupport(shape, radius, int(rng.integers(1, d + 2)))
    if kind == "group":
        labels = rng.integers(0, max(1, d // 2), d)
        labels = np.unique(labels, return_inverse=True)[1]
        s = 2.0 if rng.random() < 0.6 else _exponent(rng)
        return group(shape, radius, labels, s, 1.0 if rng.random() < 0.6 else _exponent(rng))
    if kind == "owl":
        weights = np.sort(np.round(rng.random(d) * 4) / 4 if rng.random() < 0.5 else rng.random(d))[::-1].copy()
        weights[0] = max(weights[0], 0.25)
        return owl(d, radius, np.sort(weights)[::-1].copy())
    if kind == "permutahedron":
        c = rng.standard_normal(d) if rng.random() < 0.5 else np.round(rng.standard_normal(d) * 2)
        return permutahedron(c * radius)
    if kind == "hypersimplex":
        return hypersimplex(d, int(rng.integers(1, d + 1)))
    if kind == "variation":
        return variation(shape, radius)
    if kind == "ellipsoid":
        center = rng.standard_normal(d) * radius * rng.choice([0.0, 1.0, 1e3])
        if rng.random() < 0.5:
            axes = 10.0 ** rng.uniform(-6, 6, d) if rng.random() < 0.3 else 0.5 + rng.random(d)
            return ellipsoid(center, axes, radius)
        return ellipsoid(center, np.eye(d) + 0.3 * rng.standard_normal((d, d)) / math.sqrt(d), radius)
    if kind == "polytope":
        spread = 10.0 ** rng.uniform(-8, 8, d) if rng.random() < 0.25 else np.ones(d)
        low, high = -rng.random(d) * radius * spread, rng.random(d) * radius * spread
        if rng.random() < 0.3:
            low = low * (rng.random(d) < 0.5)
        m = int(rng.integers(0, 5))
        A = rng.standard_normal((m, d)) / spread
        b = rng.random(m) * radius
        found = polytope(A, b, low, high, warm_start=bool(rng.random() < 0.7))
        assert found is not None, "zero is inside"
        return found
    if kind in ("hull", "own"):
        points = rng.standard_normal((int(rng.integers(1, 9)), d)) * radius
        if rng.random() < 0.3:
            points = np.concatenate([points, points[:1], np.zeros((1, d))])
        return hull(points) if kind == "hull" else oracle(points)
    if kind == "flow":
        return flow(radius)
    if kind == "flow-capacity":
        return flow(radius, [2, 1, 1, 1, 1, 1, 5] if rng.random() < 0.5 else [1, 1, 1, 1, 2, 2, 2])
    if kind == "scaled":
        inner = draw(str(rng.choice(["l1", "l2", "linf", "simplex"] if len(shape) == 1 else ["l2"])), rng, shape, 1.0)
        return scaled(inner, radius * rng.choice([1.0, -1.0]))
    if kind == "shifted":
        inner = draw(
            str(rng.choice(["l1", "l2", "linf", "simplex"] if len(shape) == 1 else ["l2"])), rng, shape, radius
        )
        return shifted(inner, rng.standard_normal(shape) * radius * rng.choice([0.1, 1.0, 1e4]))
    if kind == "image":
        return image(radius, rng.standard_normal((d, int(rng.integers(1, 7)))))
    if kind in ("sum", "union"):
        return (minkowski if kind == "sum" else union)(d, radius * rng.random() + radius / 8, radius * rng.random())
    if kind == "product":
        cut = int(rng.integers(1, d))
        inner = [str(k) for k in rng.choice(["simplex", "l1", "l2", "linf", "box", "ksupport"], 2)]
        return product([draw(inner[0], rng, (cut,), radius), draw(inner[1], rng, (d - cut,), radius)])
    if kind == "nuclear":
        return spectral(shape, radius, 1.0, nuclear=True)
    if kind == "spectral":
        return spectral(shape, radius, INF)
    if kind == "schatten":
        return spectral(shape, radius, float(rng.choice([1.0, 1.1, 1.5, 2.0, 3.0])))
    if kind == "spectrahedron":
        return spectrahedron(shape[0], radius)
    if kind == "birkhoff":
        return birkhoff(shape[0])
    raise ValueError(kind)
