"""L-BFGS with its pairs in one array, read twice an iteration: once against the gradient, once for the direction."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from frankwolfe.backends.namespace import Array, as_like, host, put, zeros

ARMIJO = 1e-4
Smooth = Callable[[Array], tuple[float, Array]]


class Descent(NamedTuple):
    """Where L-BFGS arrived, the value there, and how many evaluations it took."""

    z: Array
    value: float
    evaluations: int


def lbfgs(smooth: Smooth, z: Array, most: int, memory: int, goal: float) -> Descent:
    """Minimise by L-BFGS with backtracking until |gradient| <= `goal`, in at most `most` iterations."""
    value, g = smooth(z)
    evaluations = 1
    pairs = Pairs(memory, g)
    for _ in range(most):
        norm = math.sqrt(float(g @ g))
        if not norm > goal:
            break
        d = pairs.direction()
        slope = float(g @ d)
        if not slope < 0:
            pairs.clear()
            d, slope = -g, -(norm**2)
        t = 1.0 if pairs.count else min(1.0, math.sqrt(float(z @ z)) / norm * 1e-2)
        while True:
            ahead = z + t * d
            trial, g_trial = smooth(ahead)
            evaluations += 1
            if trial <= value + ARMIJO * t * slope or t < 1e-12:
                break
            # The parabola through what is known, kept away from both ends.
            t *= min(max(-0.5 * t * slope / (trial - value - t * slope), 0.1), 0.5)
        if not trial < value:
            break
        pairs.add(t, d, g_trial)
        z, value, g = ahead, trial, g_trial
    return Descent(z, value, evaluations)


class Pairs:
    """The last steps s and changes of gradient y, and the quasi-Newton direction that they make.

    Notes
    -----
    The direction is a combination of the pairs and the gradient, and the two-loop recursion [1]_ runs on its
    coefficients: all that it needs is their inner products [2]_. Those among the pairs are kept, those with the new
    gradient take one product of a matrix and a vector, and the direction a second one.

    References
    ----------
    .. [1] J. Nocedal, Updating quasi-Newton matrices with limited storage, Math. Comp. 35, 1980.
    .. [2] W. Chen, Z. Wang and J. Zhou, Large-scale L-BFGS using MapReduce, NIPS 2014.
    """

    def __init__(self, memory: int, g: Array) -> None:
        self.memory = memory
        self._g = g
        self._basis = zeros((2 * memory, g.shape[0]), g)  # s_i in row 2i, y_i in row 2i + 1; untouched until used
        self._inner = np.zeros((2 * memory, 2 * memory))
        self._with_g = np.zeros(2 * memory)
        self._of_basis, self._of_g = np.zeros(2 * memory), -1.0  # coefficients of the last direction
        self._order: list[int] = []  # slots of the pairs, oldest first

    @property
    def count(self) -> int:
        return len(self._order)

    def clear(self) -> None:
        self._order = []
        self._of_basis, self._of_g = np.zeros(2 * self.memory), -1.0

    def direction(self) -> Array:
        """Return minus the inverse Hessian estimate times the gradient."""
        inner, with_g = self._inner, self._with_g
        c, of_g = np.zeros(2 * self.memory), -1.0  # the direction is c @ basis + of_g * g
        alphas: dict[int, float] = {}
        for i in reversed(self._order):
            s, y = 2 * i, 2 * i + 1
            alphas[i] = (c @ inner[:, s] + of_g * with_g[s]) / inner[s, y]
            c[y] -= alphas[i]
        if self._order:
            s, y = 2 * self._order[-1], 2 * self._order[-1] + 1
            scale = inner[s, y] / inner[y, y]
            c, of_g = scale * c, scale * of_g
        for i in self._order:
            s, y = 2 * i, 2 * i + 1
            c[s] += alphas[i] - (c @ inner[:, y] + of_g * with_g[y]) / inner[s, y]
        self._of_basis, self._of_g = c, of_g
        used = 2 * self.count
        return as_like(c[:used], self._g) @ self._basis[:used, :] + float(of_g) * self._g

    def add(self, t: float, d: Array, g: Array) -> None:
        """Move on to the gradient g, t times the last direction d away; remember the pair if its curvature is positive.

        The products with s follow from the coefficients of d, those with y from the two gradients'.
        """
        used = 2 * self.count
        before, after = self._with_g, np.zeros(2 * self.memory)
        after[:used] = host(self._basis[:used, :] @ g)
        with_s, with_y = t * (self._inner @ self._of_basis + self._of_g * before), after - before
        s, y = t * d, g - self._g
        sy, ss, yy = float(s @ y), float(s @ s), float(y @ y)
        self._g, self._with_g = g, after
        if not sy > 1e-10 * np.sqrt(ss * yy):
            return
        slot = self._order.pop(0) if self.count == self.memory else self.count
        self._order.append(slot)
        i, j = 2 * slot, 2 * slot + 1
        self._basis = put(put(self._basis, i, s), j, y)
        self._inner[:, i] = self._inner[i] = with_s
        self._inner[:, j] = self._inner[j] = with_y
        self._inner[i, i], self._inner[j, j] = ss, yy
        self._inner[i, j] = self._inner[j, i] = sy
        self._with_g[i], self._with_g[j] = float(s @ g), float(y @ g)
