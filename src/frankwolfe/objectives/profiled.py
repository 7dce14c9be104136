"""A free intercept, profiled out: where the slopes balance, and f on a segment of profiled values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from frankwolfe.backends import Array, eps, namespace
from frankwolfe.kernels.layouts import NONE, double
from frankwolfe.objectives.fused import FusedLine
from frankwolfe.points import Point

if TYPE_CHECKING:
    from frankwolfe.objectives.linear_model import LinearModel

COARSE = 64  # the intercept is first found on every so-manieth row


def enough(m: Array) -> float:
    """Return how far from balance the slopes may be left: that is balanced away, and the loss is off by its square."""
    return eps(m) ** 0.6 if eps(m) < 1e-9 else 16 * eps(m)


def find_intercept(model: LinearModel, m: Array, guess: float | None) -> float:
    """Return where the slopes balance: Newton's method inside a bracket, first on a few rows, then on all."""
    low, c, high = model._bracket(m)
    near = guess is not None and low < guess < high
    if guess is not None and near:
        c = guess
    if model.compiled is not None and m.shape == model.b.shape:
        c, sums = model.compiled.balance(double(m), NONE, 0.0, (low, c, high), enough(m))
        return _closer(c, sums[0], sums[3])
    if m.shape[0] > 100 * COARSE and not near:
        few = slice(None, None, COARSE)
        c = _balance(model, m[few], few, low, c, high)
    return _balance(model, m, slice(None), low, c, high)


def _balance(model: LinearModel, m: Array, rows: slice, low: float, c: float, high: float) -> float:
    xp, few = namespace(m), enough(m)
    for _ in range(100):
        slope = model._slope(m + c, rows)
        left = float(xp.sum(slope))
        bend = float(xp.sum(model._curvature(m + c, rows)))
        if abs(left) <= few * float(xp.sum(xp.abs(slope))):
            return _closer(c, left, bend)
        low, high = (c, high) if left < 0 else (low, c)
        step = left / bend if bend > 0 else np.inf
        moved = c - step if low < c - step < high else 0.5 * (low + high)
        if moved == c:
            break
        c = moved
    return c


def _closer(c: float, left: float, bend: float) -> float:
    """Return c after one more step, near enough for Newton's method to be right to rounding: nothing is left over."""
    return float(c - left / bend) if bend > 0 else float(c)


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


class ProfiledLine(FusedLine):
    """The segment on images with the best intercept at every point of it, compiled."""

    def __init__(self, objective: LinearModel, x: Point, v: Point) -> None:
        super().__init__(objective, x, v)
        ends = objective._bracket(self.start), objective._bracket(self.start + self.step)
        self.ends = np.array([[low, high] for low, _, high in ends])
        self.enough = enough(x.image)
        self.near = (0.0, objective._shift(x.image), 0.0)  # gamma, intercept and its derivative where last asked

    def __call__(self, gamma: float) -> tuple[float, float]:
        before, c, drift = self.near
        low, high = (1 - gamma) * self.ends[0] + gamma * self.ends[1] if gamma <= 1 else (-np.inf, np.inf)
        c = min(max(c + (gamma - before) * drift, low), high)
        c, sums = self.loss.balance(self.start, self.step, float(gamma), (low, c, high), self.enough)
        left, _, first, bend, along, second = sums
        drift = -along / bend if bend > 0 else 0.0
        self.near = (gamma, c, drift)
        first, second = first + drift * left, second + drift * along  # what c leaves over is felt along the way
        return first + self.ridge[0] + gamma * self.ridge[1], second + self.ridge[1]
