"""Sets made from others by linear maps, sums, products and hulls of unions; the ellipsoid is one."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from frankwolfe.verify.arithmetic import Interval, dot, sums
from frankwolfe.verify.domains import CannotShow, Domain, largest, magnitude, require
from frankwolfe.verify.functions import norm, norms
from frankwolfe.verify.matrices import Matrix
from frankwolfe.verify.polytopes import distance_from_hull, nearest_in_hull
from frankwolfe.verify.spectral import norms_of_rows

ULP = 2.0**-52
NEARLY_FREE = 2.0**-40  # of the first multiplier: below, the ball does not bind
MANY = 4096  # vertices of which averages are looked for


class Combined(Domain):
    """A set made from several: linear functions on it are those on its parts, joined somehow."""

    join: Callable[[list[float]], float]
    parts: list[Domain]
    weights = points = np.zeros(0)

    def extent(self) -> float:
        return max(part.size for part in self.parts)

    def support(self, h: np.ndarray) -> float:
        return self.join([part.support(block) for part, block in self.blocks(h)])

    def reach(self, e: np.ndarray) -> float:
        return self.join([part.reach(block) for part, block in self.blocks(e)])

    def blocks(self, x: np.ndarray) -> list[tuple[Domain, np.ndarray]]:
        """Return each set with its block of a vector."""
        """Return the parts, each with the entries that belong to it."""
        return [(part, x) for part in self.parts]

    def mixed(self, x: np.ndarray) -> float:
        """Return how far at most x is from Σ weight * point, with a suggested point of each part, one made to fit."""
        weights, points = self.weights, self.points
        if points.shape != (len(self.parts), *x.shape) or not np.all(weights >= 0):
            return math.inf
        best = math.inf
        for i in np.flatnonzero(weights > 0):
            others = np.tensordot(np.where(np.arange(len(weights)) == i, 0.0, weights), points, 1)
            fitted = [(x - others) / weights[i] if j == i else point for j, point in enumerate(points)]
            parts = zip(weights, self.parts, fitted, strict=True)
            off = sum(w * part.size * max(float(part.excess(point).hi), 0.0) for w, part, point in parts if w > 0)
            best = min(best, off / self.size + 4 * len(weights) * ULP)
        return best


def _at_most(high: float, trouble: str) -> Interval:
    """Return what is known of a distance by an attempt at putting x together: nothing if that has failed."""
    if high > 0.01:
        raise CannotShow(trouble)
    return Interval(-1.0, high)


def _total(numbers: list[float]) -> float:
    return float(sums(np.array(numbers)).hi)


def _highest(numbers: list[float]) -> float:
    return max(numbers)


class Product(Combined):
    """Vectors made of one block from each set."""

    join = staticmethod(_total)
    shapes: list[list[int]]

    def excess(self, x: np.ndarray) -> Interval:
        return largest(*(part.excess(block) for part, block in self.blocks(x)))

    def blocks(self, x: np.ndarray) -> list[tuple[Domain, np.ndarray]]:
        """Return each set with its block of a vector."""
        sizes = [math.prod(shape) for shape in self.shapes]
        require(x, (sum(sizes),))
        blocks = np.split(x, np.cumsum(sizes)[:-1])
        return [(p, b.reshape(shape)) for p, b, shape in zip(self.parts, blocks, self.shapes, strict=True)]


class MinkowskiSum(Combined):
    """All sums of one point from each set."""

    join = staticmethod(_total)

    def extent(self) -> float:
        return sum(part.size for part in self.parts)

    def excess(self, x: np.ndarray) -> Interval:
        """Split x: into the nearest sum of points of sets with few vertices, and what is left for another one."""
        best = np.inf
        for i, last in enumerate(self.parts):
            points = self.vertices(x.shape, without=i)
            if points is not None:
                near = points.T @ nearest_in_hull(np.ravel(x), points)
                off = distance_from_hull(near, points) / self.size
                rest = last.excess(x - near.reshape(x.shape))
                best = min(best, max(float(off.hi), float(rest.hi) * last.size / self.size + 2 * ULP))
        if np.all(self.weights == 1):
            best = min(best, self.mixed(x))
        return _at_most(best, "no parts of x in the sets that are added up are known")

    def vertices(self, shape: tuple[int, ...], without: int = -1) -> np.ndarray | None:
        total = np.zeros((1, math.prod(shape)))
        for i, part in enumerate(self.parts):
            points = part.vertices(shape) if i != without else np.zeros((1, 1))
            if points is None or len(total) * len(points) > MANY:
                return None
            total = (total[:, None] + points).reshape(-1, total.shape[1])
        return total


class UnionHull(Combined):
    """The hull of the union of several sets."""

    join = staticmethod(_highest)

    def excess(self, x: np.ndarray) -> Interval:
        high = min(float(part.excess(x).hi) for part in self.parts)
        points = self.vertices(x.shape)
        if points is not None:
            return distance_from_hull(np.ravel(x), points) / self.size
        if abs(np.sum(self.weights) - 1) <= 2.0**-50:
            high = min(high, self.mixed(x))
        return _at_most(high, "x is in none of the sets alone, and no mixture of points of them is known")

    def vertices(self, shape: tuple[int, ...]) -> np.ndarray | None:
        found = [points for part in self.parts if (points := part.vertices(shape)) is not None]
        return np.vstack(found) if len(found) == len(self.parts) and sum(map(len, found)) <= MANY else None


class Moved(Domain, judges=("Scaled", "Shifted")):
    """A number times a set, or a set moved by an offset: distances are relative to the size of set and offset."""

    part: Domain
    factor: float = 1.0
    offset: np.ndarray | None = None

    def extent(self) -> float:
        return abs(self.factor) * self.part.size + (0.0 if self.offset is None else magnitude(self.offset))

    def support(self, h: np.ndarray) -> float:
        found = Interval(self.part.support(h if self.factor > 0 else -h)) * abs(self.factor)
        if self.offset is not None:
            require(h, self.offset.shape)
            found = found + dot(h, self.offset)
        return float(found.hi)

    def reach(self, e: np.ndarray) -> float:
        found = Interval(self.part.reach(e)) * abs(self.factor)
        return float((found if self.offset is None else found + dot(e, np.abs(self.offset))).hi)

    def excess(self, x: Any) -> Interval:
        if self.offset is not None:
            require(x, self.offset.shape)
            if isinstance(self.part, Product):  # each block is moved, and has a size of its own
                blocks = zip(self.part.blocks(x), self.part.blocks(self.offset), strict=True)
                return largest(*(self._of(part, offset).excess(block) for (part, block), (_, offset) in blocks))
            x = x - self.offset
        x = x | {"weights": x["weights"] / self.factor} if isinstance(x, dict) else x / self.factor
        # One rounding of every entry: no more than an ulp of the set's size.
        share = abs(self.factor) * self.part.size / self.size
        return self.part.excess(x) * share + Interval(-2 * ULP, 2 * ULP)

    def _of(self, part: Domain, offset: np.ndarray) -> Moved:
        """Return another set, moved by another offset and as often times itself."""
        moved = Moved({"factor": self.factor, "offset": offset})
        moved.part = part
        return moved

    def vertices(self, shape: tuple[int, ...]) -> np.ndarray | None:
        points = self.part.vertices(shape)
        return None if points is None else self.factor * points + (0.0 if self.offset is None else self.offset.ravel())


class LinearImage(Domain):
    """A matrix times a set."""

    ulps = 64  # a point is found again with an error that the matrix enlarges
    part: Domain
    matrix: np.ndarray

    def __init__(self, description: dict[str, Any]) -> None:
        super().__init__(description)
        self.rows, self.inner = Matrix(self.matrix), tuple(description["inner"])

    def extent(self) -> float:
        return float(np.max(np.sum(np.abs(self.matrix), axis=1))) * self.part.size

    def support(self, h: np.ndarray) -> float:
        return self.part.highest(self.rows.adjoint(h).reshape(self.inner))

    def reach(self, e: np.ndarray) -> float:
        return self.part.reach(Matrix(np.abs(self.matrix)).adjoint(e).hi.reshape(self.inner))

    def excess(self, x: np.ndarray) -> Interval:
        require(x, self.matrix.shape[:1])
        points = self.vertices(x.shape)
        if points is not None:
            return distance_from_hull(x, points) / self.size
        z = np.linalg.lstsq(self.matrix, x, rcond=None)[0]
        inside = self.part.excess(z.reshape(self.inner))
        off = largest(abs(self.rows.times(z) - x)) / self.size
        return _at_most(max(float(inside.hi), float(off.hi)), "no point of the set is known that the matrix takes to x")

    def vertices(self, shape: tuple[int, ...]) -> np.ndarray | None:
        points = self.part.vertices(self.inner)
        return None if points is None or len(points) > MANY else points @ self.matrix.T


class Ellipsoid(Domain):
    """The points c + M u with Euclidean norm of u at most the radius."""

    center: np.ndarray
    matrix: np.ndarray

    def __init__(self, description: dict[str, Any]) -> None:
        super().__init__(description)
        self.M = np.diag(self.matrix) if self.matrix.ndim == 1 else self.matrix
        self.rows = Matrix(self.M)

    def extent(self) -> float:
        return self.radius * magnitude(self.M) + magnitude(self.center)

    def support(self, h: np.ndarray) -> float:
        require(h, self.center.shape)
        length = norms(abs(self.rows.adjoint(h)), 2)[0]
        return float((dot(h, self.center) + length * self.radius).hi)

    def reach(self, e: np.ndarray) -> float:
        axes = dot(e, norms_of_rows(self.M).hi) * self.radius
        return float((dot(e, np.abs(self.center)) + axes).hi)

    def excess(self, x: np.ndarray) -> Interval:
        require(x, self.center.shape)
        u = np.linalg.lstsq(self.M, x - self.center, rcond=None)[0]
        length = float(np.linalg.norm(u))
        if length > self.radius:
            u = u * (self.radius / length)
        off = largest(abs(self.rows.times(u) + self.center - x)) / self.size
        long = norm(u, 2) / self.radius - 1.0
        high = max(float(off.hi), float(long.hi))
        return Interval(self._plane(x, u), high)

    def _plane(self, x: np.ndarray, u: np.ndarray) -> float:
        """Return a lower bound of the distance outside, from a plane with x on its far side."""
        best = -1.0
        apart = x - self.center - self.M @ u
        for normal in (apart, np.linalg.lstsq(self.M.T, u, rcond=None)[0]):
            length = float(np.linalg.norm(normal)) * (1 + 2.0**-40)
            if length > 0:
                best = max(best, float(((dot(normal, x) - self.support(normal)) / (length * self.size)).lo))
        return best


class BallIntersection(Domain):
    """The points of a set with Euclidean norm at most the radius.

    For every split h = (h - u) + u, <h, v> is at most the support of h - u on the set, plus the radius times the norm
    of u. The best u is t times the point of the set nearest to h/t, with the t that gives it the radius for its norm.
    """

    part: Domain
    ball: Domain

    def __init__(self, description: dict[str, Any]) -> None:
        super().__init__(description)
        self.radius = self.ball.radius

    def extent(self) -> float:
        return min(self.part.size, self.radius)

    def support(self, h: np.ndarray) -> float:
        splits = [np.zeros_like(h), h, *self._splits(h)]
        return min(float((Interval(self.part.highest(Interval(h) - u)) + norm(u, 2) * self.radius).hi) for u in splits)

    def reach(self, e: np.ndarray) -> float:
        return min(self.part.reach(e), float((norm(e, 2) * self.radius).hi))

    def excess(self, x: np.ndarray) -> Interval:
        return largest(self.part.excess(x) * (self.part.size / self.size), (norm(x, 2) - self.radius) / self.size)

    def farthest(self, at: np.ndarray) -> float:
        return float((norm(at, 2) + self.radius).squared().hi)

    def _splits(self, h: np.ndarray) -> list[np.ndarray]:
        """Return the u for two neighbouring t, one on each side of the best."""
        scale = math.ldexp(1.0, math.frexp(float(np.max(np.abs(h), initial=0.0)))[1])
        h = h / scale
        low, high = 0.0, (first := float(np.linalg.norm(h)) / self.radius)
        found: list[np.ndarray | None] = [None, None]
        for _ in range(300):
            t = 0.5 * (low + high) if low > 0 or found[1] is not None else high
            x = self.part.nearest(h / t) if t > 0 else None
            if x is None:
                break
            long = float(np.linalg.norm(x)) > self.radius
            found[0 if long else 1] = t * x
            if found[1] is None:
                low, high = high, 2 * high
            else:
                low, high = (t, high) if long else (low, t)
            if not low < 0.5 * (low + high) < high or high < NEARLY_FREE * first:
                break
        return [scale * u for u in found if u is not None]
