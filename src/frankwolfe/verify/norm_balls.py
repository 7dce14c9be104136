"""Balls of norms of magnitudes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from frankwolfe.verify.arithmetic import Interval, dot, running, sums
from frankwolfe.verify.domains import CannotShow, Solid, largest
from frankwolfe.verify.functions import conjugate, norm, norms
from frankwolfe.verify.polytopes import above_level


class LpBall(Solid, judges=("L1Ball", "L2Ball", "LInfBall", "LpBall")):
    """An l_p norm at most the radius."""

    def __init__(self, description: dict[str, Any]) -> None:
        super().__init__(description)
        self.p = {"L1Ball": 1.0, "L2Ball": 2.0, "LInfBall": math.inf}.get(description["kind"]) or description["p"]
        self.ulps = 8 if self.p in (1, 2, math.inf) else 32

    def norm(self, x: np.ndarray) -> Interval:
        return norm(x, self.p)

    def dual_norm(self, h: np.ndarray) -> Interval:
        return norm(h, conjugate(self.p))

    def farthest(self, at: np.ndarray) -> float:
        return float((norm(at, 2) + self.radius).squared().hi) if self.p <= 2 else super().farthest(at)

    def nearest(self, x: np.ndarray) -> np.ndarray | None:
        if self.p == math.inf:
            return np.clip(x, -self.radius, self.radius)
        if self.p != 1:
            return None
        inside = float(np.sum(np.abs(x))) <= self.radius
        return x if inside else np.sign(x) * above_level(np.abs(np.ravel(x)), self.radius).reshape(x.shape)

    def vertices(self, shape: tuple[int, ...]) -> np.ndarray | None:
        if self.p != 1:
            return None
        corners = self.radius * np.eye(math.prod(shape))
        return np.vstack([corners, -corners])


class GroupBall(Solid):
    """The l_p norm of the groups' l_s norms at most the radius."""

    ulps = 32
    s: float
    p: float

    def __init__(self, description: dict[str, Any]) -> None:
        super().__init__(description)
        _, self.where = np.unique(description["groups"], return_inverse=True)

    def norm(self, x: np.ndarray) -> Interval:
        return self._mixed(x, self.s, self.p)

    def dual_norm(self, h: np.ndarray) -> Interval:
        return self._mixed(h, conjugate(self.s), conjugate(self.p))

    def _mixed(self, x: np.ndarray, s: Any, p: Any) -> Interval:
        if np.size(x) != self.where.size:
            raise CannotShow(f"the groups have {self.where.size} coordinates and the point {np.size(x)}")
        inside = norms(Interval(np.abs(np.ravel(x))), s, self.where, int(self.where.max()) + 1)
        return norms(inside, p)[0]


class KSupportBall(Solid):
    """The hull of the points with k nonzeros and Euclidean norm at most the radius.

    Its squared norm is the least Σ x_i²/θ_i with θ_i from 0 to 1 and Σ θ_i <= k: any such θ bounds it from above, and
    <x, y> / dual norm of y for any y from below.
    """

    k: int

    def dual_norm(self, h: np.ndarray) -> Interval:
        return norm(np.sort(np.abs(np.ravel(h)))[-self.k :], 2)

    def norm(self, x: np.ndarray) -> Interval:
        a = np.sort(np.abs(np.ravel(x)))[::-1]
        if a.size <= self.k or a[self.k] == 0:
            return norm(a, 2)
        # θ is one for the first j, in proportion to the others: not above one (by 2**-51, and shrunk by more).
        for j in range(self.k):
            rest = sums(a[j:])
            if float((Interval(a[j]) * float(self.k - j)).hi) <= float(rest.lo) * (1 + 2.0**-51):
                break
        else:
            return Interval(0.0, norm(a, 1).hi)
        total = (rest * (1 + 2.0**-50)) / Interval(float(self.k - j)).sqrt()
        upper = norms(Interval(np.append(a[:j], total.hi)), 2)[0]
        y = a.copy()
        y[j:] = float(rest.lo) / (self.k - j)
        lower = dot(a, y) / self.dual_norm(y)
        return Interval(lower.lo, upper.hi)


class OWLBall(Solid):
    """Sorted magnitudes, weighted by decreasing weights, add up to at most the radius."""

    weights: np.ndarray

    def __init__(self, description: dict[str, Any]) -> None:
        super().__init__(description)
        if np.any(np.diff(self.weights) > 0) or self.weights[-1] < 0:
            raise CannotShow("the weights of the norm must decrease and not be negative")

    def extent(self) -> float:
        return self.radius / float(self.weights[0])

    def norm(self, x: np.ndarray) -> Interval:
        return dot(self._sorted(x), self.weights)

    def dual_norm(self, h: np.ndarray) -> Interval:
        return largest(running(self._sorted(h)) / running(self.weights))

    def _sorted(self, x: np.ndarray) -> np.ndarray:
        if np.size(x) != self.weights.size:
            raise CannotShow(f"the norm has {self.weights.size} weights and the point {np.size(x)} entries")
        return np.sort(np.abs(np.ravel(x)))[::-1]
