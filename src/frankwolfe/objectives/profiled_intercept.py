"""A free intercept, profiled out: where the slopes balance, and f on a segment of profiled values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from frankwolfe.backends import Array, Scalar, eps, vdot
from frankwolfe.kernels.root_bracket import NEAR, settled
from frankwolfe.kernels.rows.layouts import NONE, double
from frankwolfe.objectives.base import Line
from frankwolfe.objectives.composite import OnSpan, ridge_along
from frankwolfe.objectives.intercept_search import InterceptSearch, finish, search
from frankwolfe.points import Point
from frankwolfe.rows.rows import Sums
from frankwolfe.rows.rows_in_parts import KeptImage

if TYPE_CHECKING:
    from frankwolfe.objectives.linear_model import LinearModel

COARSE = 64  # the intercept is first guessed from one row in so many


class Profiled(NamedTuple):
    """An image with its best intercept, and what the loss is there; the latter None where rows in parts keep images."""

    image: Any
    c: float
    value: Scalar = 0.0
    slope: Any = None  # balanced
    inner: Scalar = 0.0  # what the tangent <slope, ·> takes off the value: <slope, image>, or a little more


def profiled(model: LinearModel, m: Array) -> Profiled:
    """Return the loss at an image at hand, with the intercept at which the slopes balance.

    What c leaves over is taken off the heavier side of the slopes, a share e of them. Losses φ >= 0 have a conjugate
    that is convex and at most zero at zero, so that this raises the slopes' conjugate by at most e times the loss more
    than their product with the margins says.
    """
    c = find_intercept(model, m)
    slope, value, inner, taken = model.row_losses(m).balanced(m, c)
    return Profiled(m, c, value, slope, inner + taken * model.distance_to_least(value))


def find_intercept(model: LinearModel, m: Array) -> float:
    """Return where the slopes balance, for an image at hand: by a formula, or first on a few rows, then on all."""
    loss, rows = model.row_loss, (m, model.b, model.share, model.zero_intercept)
    known = loss.intercept(*rows)
    if known is not None:
        return known
    (low, c, high), guess, ulp = loss.bracket(*rows), model.last_intercept, eps(m)
    if guess is not None and low < guess < high:
        c = guess
    elif m.shape[0] > 100 * COARSE and isinstance(m, np.ndarray):
        few, rough = model.few_rows
        c = rough.balance(m[few], NONE, 0.0, (low, c, high), ulp)[0][1]
    one = InterceptSearch(c, loss.knee, ulp)
    (one.low, one.c, one.high), one.numbers = model.row_losses(m).balance(m, NONE, 0.0, (low, c, high), ulp)
    left, size, _, bend = (float(n) for n in one.numbers[:4])
    one.exact = settled(left, size, bend, one.knee, ulp)
    finish([one], lambda shifts: mean_losses(model, m, shifts)[0])
    return one.c


def intercepts_by_sums(model: LinearModel, images: list[KeptImage], c: float) -> list[InterceptSearch]:
    """Return where the slopes balance, for images that rows in parts keep, with the sums there."""
    found = [InterceptSearch(c, model.row_loss.knee, model.data.eps) for _ in images]

    def sums(shifts: list[float]) -> Any:
        return model.total(slope_sums, shifts, images=images)[0]

    search(found, sums)
    finish(found, lambda shifts: model.total(mean_losses, shifts, images=images)[0])
    for one, numbers in zip(found, sums([one.c for one in found]), strict=True):
        one.numbers = numbers
    return found


def mean_loss(model: LinearModel, m: Array, c: float) -> Sums:
    """The mean loss with an intercept."""
    t = m + c if c else m
    return (model.row_losses(t).value(t),)


def mean_losses(model: LinearModel, *margins_and_shifts: Any) -> Sums:
    """The mean losses of several images, each with its intercept."""
    *margins, shifts = margins_and_shifts
    return (np.array([float(mean_loss(model, m, c)[0]) for m, c in zip(margins, shifts, strict=True)]),)


def slope_sums(model: LinearModel, *margins_and_shifts: Any) -> Sums:
    """The sums that a search for the intercept needs, of several images, each with its intercept."""
    *margins, shifts = margins_and_shifts
    losses = model.array_losses()
    return (np.array([losses.sums(m, NONE, 0.0, c) for m, c in zip(margins, shifts, strict=True)]),)


def balanced_slope(model: LinearModel, *margins_and_more: Any) -> Sums:
    """Gradient at the first image, its slope balanced, their product, and the mean losses of all."""
    *margins, shifts, (up, down) = margins_and_more
    slope = model.array_losses().slope(margins[0] + shifts[0])
    slope = np.where(slope > 0, up * slope, down * slope).astype(slope.dtype)
    return model.data.adjoint(slope), vdot(slope, margins[0]), *mean_losses(model, *margins, shifts)


def along(model: Any, start: Array, step: Array, gamma: float) -> Sums:
    """First and second derivative on a segment of images."""
    return model.along(start, step, gamma)


def sums_along(model: LinearModel, start: Array, step: Array, gamma: float, c: float) -> Sums:
    """The sums that a search for the intercept needs, on a segment of images."""
    return (np.array(model.array_losses().sums(start, step, gamma, c)),)


def on_span(model: LinearModel, images: np.ndarray, near: np.ndarray) -> OnSpan:
    """Return the loss on the combinations of some images, as a function of their weights, by compiled loops.

    The intercept of one combination is looked for from that of the last; what it leaves over is felt along the images.
    """
    loss: Any = model.compiled
    shift, ulp = model.intercept_at(near), eps(near)

    def at(c: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        nonlocal shift
        m = c @ images
        if model.intercept:
            (_, shift, _), _ = loss.balance(m, NONE, 0.0, (-math.inf, shift, math.inf), ulp)
        value, gradient, hessian, (left, bend, drift) = loss.on_span(m, shift, images)
        if model.intercept and bend > 0:
            if abs(left) <= NEAR * model.row_loss.knee * bend:
                value, gradient = value - 0.5 * left * left / bend, gradient - drift * (left / bend)
            hessian -= np.outer(drift, drift) / bend
        return value, gradient, hessian

    return at


class SummedLine(Line):
    """The segment on images, its derivatives summed up where these are: O(n) per probe, no read of the data."""

    def __init__(self, objective: Any, x: Point, v: Point, start: Any, step: Any) -> None:
        self.objective, self.start, self.step = objective, start, step
        self.ridge = ridge_along(objective.ridge, x, v)

    @classmethod
    def between(cls, objective: Any, x: Point, v: Point) -> tuple[Self, float]:
        """Return the segment from x to v, and the reads that its images took."""
        start, step, passes = objective.data.segment(objective, x, v)
        return cls(objective, x, v, start, step), passes

    def loss_along(self, gamma: float) -> Sums:
        """Return first and second derivative of the loss."""
        return self.objective.total(along, gamma, images=[self.start, self.step])

    def __call__(self, gamma: float) -> tuple[float, float]:
        first, second = self.loss_along(float(gamma))
        return first + self.ridge[0] + gamma * self.ridge[1], second + self.ridge[1]


class InterceptLine(SummedLine):
    """The segment on images with the best intercept at every point of it."""

    def __init__(self, objective: LinearModel, x: Point, v: Point, start: Any, step: Any) -> None:
        self.near = (0.0, objective.intercept_at(start), 0.0)  # gamma, intercept and its derivative where last asked
        images = (double(a) if isinstance(a, np.ndarray) else a for a in (start, step))
        super().__init__(objective, x, v, *images)

    def loss_along(self, gamma: float) -> Sums:
        before, c, drift = self.near
        c, (left, _, first, bend, along, second) = self._balanced(gamma, c + (gamma - before) * drift)
        drift = -along / bend if bend > 0 else 0.0
        self.near = (gamma, c, drift)
        if abs(left) <= NEAR * self.objective.row_loss.knee * bend:  # what c leaves over is felt along the way
            first = first + drift * left
        return first, max(second + drift * along, 0.0)

    def _balanced(self, gamma: float, c: float) -> tuple[float, Any]:
        """Return the best intercept at a point of the segment, and the sums there."""
        model, ulp = self.objective, self.objective.data.eps
        if model.compiled is not None:
            (_, c, _), sums = model.compiled.balance(self.start, self.step, gamma, (-math.inf, c, math.inf), ulp)
            return c, sums
        found = InterceptSearch(c, model.row_loss.knee, ulp)
        found.run(lambda c: model.total(sums_along, gamma, c, images=[self.start, self.step])[0])
        return found.c, found.numbers
