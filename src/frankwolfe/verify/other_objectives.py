"""Objectives without rows, as the judge knows them: completion, functions by their numbers, structural SVM."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from frankwolfe.verify.arithmetic import Groups, Interval, dot, grouped, joined, product, sums
from frankwolfe.verify.domains import CannotShow, Domain, largest, magnitude, require
from frankwolfe.verify.objectives import SECOND, Objective, Tangent, Touching, Value, average, normalised
from frankwolfe.verify.polytopes import distance_from_hull
from frankwolfe.verify.spectral import LARGEST

TRUSTED = 64  # ulps that a user's function and gradient are trusted to


class MatrixCompletion(Objective):
    """f(X) = Σ weight/2 (X_ij - value)² over the observed entries."""

    floor = 0.0

    def __init__(self, description: dict[str, Any]) -> None:
        self.rows, self.cols = (np.asarray(description[name], np.int64) for name in ("rows", "cols"))
        self.values = np.asarray(description["values"], np.float64)
        weights = description.get("weights")
        self.weights = np.ones(self.values.size) if weights is None else np.asarray(weights, np.float64)
        self.shape = tuple(int(n) for n in description["shape"])

    def value(self, x: Any) -> Value:
        m = self._entries(x)
        value = ((m - self.values).squared() * self.weights).sum() * 0.5
        sizes = np.maximum(np.abs(m.middle), m.radius * 2.0**53)  # of what was added up for an entry
        felt = float(self.weights @ (np.abs(m.middle - self.values) * sizes + SECOND * sizes**2))
        return Value(value, felt + float(value.hi))

    def tangent(self, touching: Touching) -> Tangent:
        u = np.zeros(self.values.size)
        for weight, (_, point) in zip(normalised(touching), touching, strict=True):
            u += weight * (self._entries(point).middle - self.values)
        return self._below(u)

    def from_residuals(self, r: np.ndarray) -> Tangent:
        if np.shape(r) != self.values.shape:
            raise CannotShow(f"there must be {self.values.size} residuals, and there are {np.size(r)}")
        return self._below(np.asarray(r, np.float64) / self.weights)

    def _below(self, u: np.ndarray) -> Tangent:
        if math.prod(self.shape) > LARGEST:
            raise CannotShow(f"the gradient is a matrix of shape {self.shape}, too large to decompose")
        if not np.isfinite(u).all():
            raise CannotShow("the residuals are not finite")
        if len(np.unique(self.rows * self.shape[1] + self.cols)) < self.rows.size:
            raise CannotShow("some entries were observed in several parts")
        constant = -((Interval(u) * 0.5 + self.values) * u * self.weights).sum()
        high, low = product(self.weights, u)
        slope = Interval(high) + low if low.any() else Interval(high)
        ends = [np.zeros(self.shape), np.zeros(self.shape)]
        for end, numbers in zip(ends, (slope.lo, slope.hi), strict=True):
            end[self.rows, self.cols] = numbers
        return Tangent(constant, Interval(*ends))

    def _entries(self, x: Any) -> Interval:
        """Return enclosures of the observed entries of a matrix, dense or by its factors."""
        if isinstance(x, np.ndarray):
            if x.shape != self.shape:
                raise CannotShow(f"the matrix must have shape {self.shape}, and this one has {x.shape}")
            return Interval(x[self.rows, self.cols])
        if tuple(x["shape"]) != self.shape:
            raise CannotShow(f"the matrix must have shape {self.shape}, and this one has {tuple(x['shape'])}")
        rank = len(x["weights"])
        if not rank:
            return Interval(np.zeros(self.values.size))
        left, right = (x["left"] * x["weights"][:, None]).T, x["right"].T
        parts = []
        step = max(1, (1 << 18) // rank)
        for start in range(0, self.values.size, step):
            here = slice(start, start + step)
            terms, rest = product(left[self.rows[here]], right[self.cols[here]])
            # left is rounded once, which moves the sum by no more than an ulp of its terms.
            rounded = np.sum(np.abs(terms), axis=1) * (2.0**-53 * 1.01) + rank * 1e-300
            parts.append(grouped(Groups(1), terms, rest) + Interval(-rounded, rounded))
        return joined(parts)


class Function(Objective):
    """A user's function: the judge has its values and gradients at the points in question, as numbers."""

    remarks = (f"f is trusted to be convex, and its values and gradients to be right to {TRUSTED} ulps",)

    def __init__(self, description: dict[str, Any]) -> None:
        self.seen, self.convex = description["seen"], description["convex"]

    def value(self, x: np.ndarray) -> Value:
        at = self._at(x)
        scale = self._scale(at)
        return Value(Interval.around(np.float64(at["value"]), TRUSTED * at["eps"] * scale), scale)

    def tangent(self, touching: Touching) -> Tangent:
        normalised(touching)
        if not self.convex:
            raise CannotShow("the function is not convex")
        total, constant, slope = Interval(0.0), Interval(0.0), Interval(np.zeros(touching[0][1].shape))
        for weight, point in touching:
            at = self._at(point)
            value = Interval.around(np.float64(at["value"]), TRUSTED * at["eps"] * self._scale(at))
            constant = constant + (value - dot(at["gradient"], at["at"])) * weight
            slope, total = slope + Interval(at["gradient"]) * weight, total + weight
        return Tangent(constant / total, slope / total)

    def _at(self, x: np.ndarray) -> dict[str, Any]:
        for seen in self.seen:
            if np.array_equal(seen["at"], x):
                return seen | {name: np.asarray(seen[name], np.float64) for name in ("at", "gradient")}
        raise CannotShow("the function's value is not known at this point")

    @staticmethod
    def _scale(at: dict[str, Any]) -> float:
        return abs(float(at["value"])) + float(np.sum(np.abs(at["gradient"] * at["at"])))


class StructuralSVM(Objective):
    """f(x) = (lam/2) |w|² - l, (w, l) the sum of n blocks of length d + 1."""

    remarks = ("the decoder is trusted to find the best output of each example",)

    def __init__(self, description: dict[str, Any]) -> None:
        self.n, self.d, self.lam = int(description["n"]), int(description["d"]), float(description["lam"])
        self.slopes = np.asarray(description["slopes"], np.float64)

    def value(self, x: np.ndarray) -> Value:
        blocks = self._blocks(x)
        total, sizes = sums(blocks, 0), np.sum(np.abs(blocks), axis=0)
        value = total[:-1].squared().sum() * (0.5 * self.lam) - total[-1]
        felt = self.lam * float(np.abs(total.middle[:-1]) @ sizes[:-1]) + float(sizes[-1])
        return Value(value, felt)

    def tangent(self, touching: Touching) -> Tangent:
        w = self.lam * np.sum(self._blocks(average(touching)), axis=0)[:-1]
        p = self.slopes[np.argmin(np.sum((self.slopes - w) ** 2, axis=1))]  # any would do
        return Tangent(-(dot(p, p) / (2 * self.lam)), Interval(np.tile(np.append(p, -1.0), self.n)))

    def _blocks(self, x: Any) -> np.ndarray:
        if not isinstance(x, np.ndarray) or x.shape != (self.n * (self.d + 1),):
            raise CannotShow(f"a point must have {self.n * (self.d + 1)} entries, and this one has shape {np.shape(x)}")
        return x.reshape(self.n, self.d + 1)


class Outputs(Domain):
    """For each example the hull of what its outputs give; known by what its decoder answered."""

    slopes: np.ndarray
    answers: np.ndarray
    points: list[np.ndarray]

    def extent(self) -> float:
        return magnitude(*self.points)

    def support(self, h: np.ndarray) -> float:
        n, length = len(self.points), self.slopes.shape[1] + 1
        require(h, (n * length,))
        for k, p in enumerate(self.slopes):
            if np.array_equal(h, np.tile(np.append(-p, 1.0), n)):
                lowest = self.answers[:, k].reshape(-1)
                rounded = float(np.abs(h) @ np.abs(lowest)) * 2.0**-51  # of each answer, divided by n
                return float((dot(h, lowest) + rounded).hi)
        raise CannotShow("the decoder was not asked about this linear function")

    def reach(self, e: np.ndarray) -> float:
        raise CannotShow("the decoder was asked about other linear functions")

    def excess(self, x: np.ndarray) -> Interval:
        length = self.slopes.shape[1] + 1
        require(x, (len(self.points) * length,))
        pairs = zip(x.reshape(-1, length), self.points, strict=True)
        # The points are some of the set, not all: nothing shows that x is outside.
        return Interval(-1.0, largest(*(distance_from_hull(*pair) for pair in pairs)).hi / self.size)
