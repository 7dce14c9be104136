"""A free intercept, profiled out: where the slopes balance, and f on a segment of profiled values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from frankwolfe.backends import Array, eps, namespace, vdot
from frankwolfe.kernels.root_bracket import NEAR, ROUNDS, narrow, settled
from frankwolfe.kernels.rows.layouts import NONE, double
from frankwolfe.objectives.base import Line
from frankwolfe.points import Point
from frankwolfe.rows.reading import array_of

if TYPE_CHECKING:
    from frankwolfe.objectives.linear_model import LinearModel

COARSE = 64  # the intercept is first guessed from one row in so many


def find_intercept(model: LinearModel, m: Array, guess: float | None) -> float:
    """Return where the slopes balance: Newton's method inside a bracket, first on a few rows, then on all."""
    low, c, high = model._bracket(m)
    near = guess is not None and low < guess < high
    if guess is not None and near:
        c = guess
    if model.compiled is not None and m.shape == model.b.shape:
        bracket, sums = model.compiled.balance(double(m), NONE, 0.0, (low, c, high), eps(m))
        left, size, bend = (float(sums[i]) for i in (0, 1, 3))
    else:
        if m.shape[0] > 100 * COARSE and not near:
            few = slice(None, None, COARSE)
            c = _balance(model, m[few], few, (low, c, high))[0][1]
        bracket, (left, size, bend) = _balance(model, m, slice(None), (low, c, high))
    if not settled(left, size, bend, model.knee, eps(m)):  # there is no number between the ends
        return min(bracket, key=lambda c: float(model.loss_at(m + c)))
    return closer(bracket[1], left, bend, model.knee)


def _balance(
    model: LinearModel, m: Array, rows: slice, bracket: tuple[float, float, float]
) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    """Return the bracket as narrow as it was made, what balances in its middle, and the sums there."""
    xp, (low, c, high), older, old = namespace(m), bracket, math.inf, math.inf
    sums = (0.0, 0.0, 0.0)
    for _ in range(ROUNDS):
        slope = model._slope(m + c, rows)
        left, size = float(xp.sum(slope)), float(xp.sum(xp.abs(slope)))
        bend = float(xp.sum(model._curvature(m + c, rows)))
        sums = (left, size, bend)
        if settled(left, size, bend, model.knee, eps(m)):
            break
        low, moved, high, older, old = narrow(low, c, high, older, old, left, bend)
        if moved == c:
            break
        c = moved
    return (low, c, high), sums


def closer(c: float, left: float, bend: float, knee: float) -> float:
    """Return c after one more step, where Newton's method is right to rounding: nothing is left over."""
    return c - left / bend if 0 < abs(left) <= NEAR * knee * bend else c


def balanced(slope: Array) -> Array:
    """Return the slope with its heavier side, positive or negative, scaled down to the weight of the other.

    Examples
    --------
    >>> balanced(np.array([3.0, -1.0, -1.0]))
    array([ 2., -1., -1.])
    """
    xp = namespace(slope)
    total, size = float(xp.sum(slope)), float(xp.sum(xp.abs(slope)))
    up, down = 0.5 * (size + total), 0.5 * (size - total)
    if up == down:
        return slope
    heavier = slope > 0 if up > down else slope < 0
    return xp.where(heavier, slope * (min(up, down) / max(up, down)), slope)


class FusedLine(Line):
    """The segment on images, loss and derivatives compiled: O(n) per probe, no read of the data."""

    def __init__(self, objective: LinearModel, x: Point, v: Point) -> None:
        assert objective.compiled is not None
        self.loss = objective.compiled
        self.start = double(x.image)
        self.step = double(v.image) - self.start
        self.ridge = (0.0, 0.0)
        if objective.ridge:
            at, to = array_of(x.coords), array_of(v.coords)
            self.ridge = (objective.ridge * vdot(at, to - at), objective.ridge * vdot(to - at, to - at))

    def __call__(self, gamma: float) -> tuple[float, float]:
        first, second = self.loss.along(self.start, self.step, float(gamma))
        return first + self.ridge[0] + gamma * self.ridge[1], second + self.ridge[1]


class ProfiledLine(FusedLine):
    """The segment on images with the best intercept at every point of it, compiled."""

    def __init__(self, objective: LinearModel, x: Point, v: Point) -> None:
        super().__init__(objective, x, v)
        ends = objective._bracket(self.start), objective._bracket(self.start + self.step)
        self.ends = np.array([[low, high] for low, _, high in ends])
        self.ulp = eps(x.image)
        self.near = (0.0, objective._shift(x.image), 0.0)  # gamma, intercept and its derivative where last asked

    def __call__(self, gamma: float) -> tuple[float, float]:
        before, c, drift = self.near
        low, high = (1 - gamma) * self.ends[0] + gamma * self.ends[1] if gamma <= 1 else (-np.inf, np.inf)
        c = min(max(c + (gamma - before) * drift, low), high)
        (_, c, _), sums = self.loss.balance(self.start, self.step, float(gamma), (low, c, high), self.ulp)
        left, _, first, bend, along, second = sums
        drift = -along / bend if bend > 0 else 0.0
        self.near = (gamma, c, drift)
        if abs(left) <= NEAR * self.loss.loss.knee * bend:  # what c leaves over is felt along the way
            first, second = first + drift * left, max(second + drift * along, 0.0)
        return first + self.ridge[0] + gamma * self.ridge[1], second + self.ridge[1]
