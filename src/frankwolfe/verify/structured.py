"""The structural support vector machine as the judge knows it: exact formulae, and a decoder that is asked.

With (w, l) the sum of the blocks of x, f = (lam/2)|w|² - l is at least <p, w> - |p|²/(2 lam) - l for whatever p. Over
all outputs that is lowest where the decoder says so, which is trusted, as a user's function is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from frankwolfe.verify.arithmetic import Interval, dot, sums
from frankwolfe.verify.domains import CannotShow, Domain, largest, magnitude, require
from frankwolfe.verify.objectives import Objective, Tangent, Touching, Value, average
from frankwolfe.verify.polytopes import distance_from_hull


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
