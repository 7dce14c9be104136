"""Polytopes whose best vertex has a closed form, or a witness that is found fast and checked."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from frankwolfe.verify.arithmetic import SMALLEST, Interval, dot, running, sums, up
from frankwolfe.verify.domains import CannotShow, Domain, largest, magnitude, require
from frankwolfe.verify.matrices import Matrix


class Box(Domain):
    """Bounds on every entry."""

    lower: np.ndarray
    upper: np.ndarray

    def extent(self) -> float:
        return magnitude(self.lower, self.upper)

    def support(self, h: np.ndarray) -> float:
        return float(dot(h, np.where(h > 0, self.upper, self.lower)).hi)

    def reach(self, e: np.ndarray) -> float:
        return float(dot(e, np.broadcast_to(np.maximum(np.abs(self.lower), np.abs(self.upper)), e.shape)).hi)

    def excess(self, x: np.ndarray) -> Interval:
        outside = largest(Interval(x) - self.upper, self.lower - Interval(x))
        return outside / self.size

    def nearest(self, x: np.ndarray) -> np.ndarray | None:
        return np.clip(x, self.lower, self.upper)

    def vertices(self, shape: tuple[int, ...]) -> np.ndarray | None:
        n = math.prod(shape)
        if n > 10:
            return None
        corner = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
        low, high = (np.ravel(np.broadcast_to(bound, shape)) for bound in (self.lower, self.upper))
        return np.where(corner == 1, high, low)


class Hypersimplex(Domain, judges=("Simplex", "Hypersimplex")):
    """Entries from zero to the size that add up to k times it; the simplex is that with k = 1."""

    k, radius = 1, 1.0

    def __init__(self, description: dict[str, Any]) -> None:
        super().__init__(description)
        self.n = int(description.get("n", description.get("dim", 0)))

    def support(self, h: np.ndarray) -> float:
        require(h, (self.n,))
        return float((sums(np.sort(h)[self.n - self.k :]) * self.size).hi)

    def reach(self, e: np.ndarray) -> float:
        return self.support(e)

    def excess(self, x: np.ndarray) -> Interval:
        require(x, (self.n,))
        off = abs(sums(x) - Interval(self.size) * float(self.k)) / float(self.k)
        return largest(off, Interval(-np.min(x)), Interval(np.max(x)) - self.size) / self.size

    def nearest(self, x: np.ndarray) -> np.ndarray | None:
        return above_level(x, self.size) if self.k == 1 else None

    def vertices(self, shape: tuple[int, ...]) -> np.ndarray | None:
        return self.size * np.eye(self.n) if self.k == 1 else None


def above_level(x: np.ndarray, total: float) -> np.ndarray:
    """Return what of x is above the level that leaves this total."""
    falling = np.sort(x)[::-1]
    levels = (np.cumsum(falling) - total) / np.arange(1, x.size + 1)
    return np.maximum(x - levels[np.flatnonzero(falling >= levels)[-1]], 0.0)


class Permutahedron(Domain):
    """The hull of all orders of numbers c: no k entries add up to more than the k largest of c, all to the same."""

    def __init__(self, description: dict[str, Any]) -> None:
        self.c = np.sort(np.asarray(description["c"], np.float64))[::-1]

    def extent(self) -> float:
        return float(np.sum(np.abs(self.c)))

    def support(self, h: np.ndarray) -> float:
        require(h, self.c.shape)
        return float(dot(np.sort(h)[::-1], self.c).hi)

    def reach(self, e: np.ndarray) -> float:
        return float(dot(np.sort(e), np.sort(np.abs(self.c))).hi)

    def excess(self, x: np.ndarray) -> Interval:
        require(x, self.c.shape)
        over = running(np.stack([np.sort(x)[::-1], -self.c], axis=1))[1::2]
        return largest(over, abs(over[-1])) / self.size


class Birkhoff(Domain):
    """Nonnegative matrices whose rows and columns add up to one.

    For any prices w of the columns, <h, v> is at most Σ w_j + Σ_i max_j (h_ij - w_j).
    """

    n: int
    radius = 1.0

    def support(self, h: np.ndarray) -> float:
        from scipy.optimize import linear_sum_assignment

        require(h, (self.n, self.n))
        _, chosen = linear_sum_assignment(h, maximize=True)
        # Prices under which no row likes another column better: shortest ways, by Bellman and Ford.
        cost = h[np.arange(self.n), chosen][:, None] - h
        w = np.zeros(self.n)
        for _ in range(self.n):
            shorter = np.empty(self.n)
            shorter[chosen] = np.min(w[None, :] + cost, axis=1)
            if not np.any(shorter < w):
                break
            w = np.minimum(w, shorter)
        likes = Interval(h) - w[None, :]
        return float((Interval(np.max(likes.hi, axis=1)).sum() + sums(w)).hi)

    def reach(self, e: np.ndarray) -> float:
        return self.support(e)

    def excess(self, x: np.ndarray) -> Interval:
        require(x, (self.n, self.n))
        return largest(abs(sums(x, 0) - 1.0), abs(sums(x, 1) - 1.0), Interval(-np.min(x)))


class ConvexHull(Domain):
    """All averages of some points."""

    def __init__(self, description: dict[str, Any]) -> None:
        points = np.asarray(description["points"], np.float64)
        self.shape, self.points = points.shape[1:], points.reshape(len(points), -1)

    def extent(self) -> float:
        return magnitude(self.points)

    def support(self, h: np.ndarray) -> float:
        require(h, self.shape)
        return float(np.max(Matrix(self.points).times(np.ravel(h)).hi))

    def reach(self, e: np.ndarray) -> float:
        return float(np.max(Matrix(np.abs(self.points)).times(np.ravel(e)).hi))

    def excess(self, x: np.ndarray) -> Interval:
        require(x, self.shape)
        return distance_from_hull(np.ravel(x), self.points) / self.size

    def vertices(self, shape: tuple[int, ...]) -> np.ndarray | None:
        return self.points


def nearest_in_hull(x: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return the weights of about the nearest average of the rows."""
    from scipy.optimize import nnls

    scale = max(magnitude(points, x), SMALLEST)
    offsets = (points - x) / scale
    # The shortest average of these: nonnegative least squares with the sum of the weights as one more equation.
    try:
        weights, _ = nnls(np.vstack([offsets.T, np.ones(len(points))]), np.append(np.zeros(x.size), 1.0))
    except RuntimeError:
        raise CannotShow("weights of the points of the hull were not found") from None
    return weights / np.sum(weights) if np.sum(weights) > 0 else np.full(len(points), 1 / len(points))


def distance_from_hull(x: np.ndarray, points: np.ndarray) -> Interval:
    """Return an enclosure of a distance of x from the hull of the rows: weights are found, and then checked.

    The upper end is the largest entry of x less the average by these weights, the lower end the distance to a plane
    that has all points on its other side; both are zero for the same x.
    """
    weights = nearest_in_hull(x, points)
    total = sums(weights)
    apart = Interval(x) - Matrix(points).adjoint(weights) / total
    direction = apart.middle
    plane = dot(direction, x) - Interval(np.max(Matrix(points).times(direction).hi))
    length = up(float(np.linalg.norm(direction)) * (1 + x.size * 2.0**-50)) or 1.0
    below = max(float((plane / length).lo), 0.0) if np.any(direction) else 0.0
    high = float(np.max(abs(apart).hi))
    return Interval(min(below, high), high)
