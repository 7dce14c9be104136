"""A free intercept, profiled out: where the slopes balance, and f on a segment of profiled values."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from frankwolfe.backends import Array, Scalar, eps, namespace, vdot
from frankwolfe.backends import double as double_of
from frankwolfe.kernels.root_bracket import NEAR, ROUNDS, narrow, settled
from frankwolfe.kernels.rows.layouts import NONE, double
from frankwolfe.objectives.base import Line
from frankwolfe.objectives.composite import ridge_along
from frankwolfe.points import Point
from frankwolfe.rows.rows import Sums
from frankwolfe.rows.rows_in_parts import KeptImage

if TYPE_CHECKING:
    from frankwolfe.objectives.linear_model import LinearModel

COARSE = 64  # the intercept is first guessed from one row in so many


class InterceptSearch:
    """The search for the intercept at which slopes balance: Newton's method inside a bracket."""

    def __init__(self, c: float, knee: float, ulp: float, low: float = -math.inf, high: float = math.inf) -> None:
        self.c, self.knee, self.ulp, self.low, self.high = c, knee, ulp, low, high
        self.steps = (math.inf, math.inf)  # lengths of the last two
        self.done = self.exact = False
        self.numbers: Any = np.zeros(3)  # sums at c: of slopes, of their sizes, of curvatures, and what else is wanted

    def take(self, numbers: Any) -> None:
        """Take the sums at c and, unless they balance, move on."""
        if self.done:
            return
        self.numbers = numbers
        left, size, bend = (float(n) for n in numbers[:3])
        self.done = self.exact = settled(left, size, bend, self.knee, self.ulp)
        if not self.exact:
            older, old = self.steps
            self.low, moved, self.high, *self.steps = narrow(self.low, self.c, self.high, older, old, left, bend)
            self.done, self.c = moved == self.c, moved

    def run(self, sums: Callable[[float], Any]) -> Self:
        """Search with a function that returns the sums."""
        search([self], lambda shifts: [sums(*shifts)])
        return self

    def refine(self) -> None:
        """Take one more step, where Newton's method is right to rounding: nothing is left over."""
        left, _, bend = (float(n) for n in self.numbers[:3])
        if 0 < abs(left) <= NEAR * self.knee * bend:
            self.c -= left / bend

    @property
    def factors(self) -> tuple[float, float]:
        """What to scale the positive and the negative slopes by, so that they balance."""
        left, size = float(self.numbers[0]), float(self.numbers[1])
        up, down = 0.5 * (size + left), 0.5 * (size - left)
        return (min(1.0, down / up) if up > 0 else 1.0), (min(1.0, up / down) if down > 0 else 1.0)


def search(found: list[InterceptSearch], sums: Callable[[list[float]], Sequence[Any]]) -> None:
    """Take several searches to their end, with the sums of all of them at a time."""
    for _ in range(ROUNDS):
        for one, numbers in zip(found, sums([one.c for one in found]), strict=True):
            one.take(numbers)
        if all(one.done for one in found):
            break


def finish(found: list[InterceptSearch], losses: Callable[[list[float]], Sequence[float]]) -> None:
    """Refine what was found; where no number between the ends balances, take the best of them."""
    if not all(one.exact for one in found):
        tried = [[getattr(one, name) for one in found] for name in ("low", "c", "high")]
        values = [losses(shifts) for shifts in tried]
        for i, one in enumerate(found):
            best = min(range(3), key=lambda k, i=i: values[k][i])
            one.c = one.c if one.exact else tried[best][i]
    for one in found:
        if one.exact:
            one.refine()


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
    c = model._solve(m)
    if model.compiled is not None and m.shape == model.b.shape:
        slope, value, inner, taken = model.compiled.balanced(m, c)
    else:
        t = m + c
        value, slope = model.loss_at(t), model._slope(t, slice(None))
        slope, taken = balanced(slope)
        inner = vdot(slope, m)
    return Profiled(m, c, value, slope, inner + taken * model.distance_to_least(value))


def find_intercept(model: LinearModel, m: Array, guess: float | None) -> float:
    """Return where the slopes balance, for an image at hand: first on a few rows, then on all."""
    low, c, high = model._bracket(m)
    near = guess is not None and low < guess < high
    if guess is not None and near:
        c = guess
    one = InterceptSearch(c, model.knee, eps(m), low, high)
    if m.shape[0] > 100 * COARSE and not near and isinstance(m, np.ndarray):
        few, losses = model.few_rows
        if losses is not None:
            one.c = losses.balance(double(m[few]), NONE, 0.0, (low, c, high), eps(m))[0][1]
        else:
            rough = InterceptSearch(c, model.knee, eps(m), low, high)
            one.c = rough.run(lambda c: _slope_sums(model, m[few] + c, few)).c
    if model.compiled is not None and m.shape == model.b.shape:
        (one.low, one.c, one.high), sums = model.compiled.balance(double(m), NONE, 0.0, (low, one.c, high), eps(m))
        left, size, bend = one.numbers = [float(sums[i]) for i in (0, 1, 3)]
        one.exact = settled(left, size, bend, model.knee, eps(m))
    else:
        one.run(lambda c: _slope_sums(model, m + c, slice(None)))
    finish([one], lambda shifts: mean_losses(model, m, shifts)[0])
    return one.c


def intercepts_by_sums(model: LinearModel, images: list[KeptImage], c: float) -> list[InterceptSearch]:
    """Return where the slopes balance, for images that rows in parts keep, with the sums there."""
    found = [InterceptSearch(c, model.knee, model.data.eps) for _ in images]

    def sums(shifts: list[float]) -> Any:
        return model.total(slope_sums, shifts, images=images)[0]

    search(found, sums)
    finish(found, lambda shifts: model.total(mean_losses, shifts, images=images)[0])
    for one, numbers in zip(found, sums([one.c for one in found]), strict=True):
        one.numbers = numbers
    return found


def mean_loss(model: LinearModel, m: Array, c: float | None) -> Sums:
    """The mean loss with an intercept."""
    return (model.loss_at(m if c is None else m + c),)


def mean_losses(model: LinearModel, *margins_and_shifts: Any) -> Sums:
    """The mean losses of several images, each with its intercept."""
    *margins, shifts = margins_and_shifts
    return (np.array([float(model.loss_at(m + c)) for m, c in zip(margins, shifts, strict=True)]),)


def slope_sums(model: LinearModel, *margins_and_shifts: Any) -> Sums:
    """The sums of slopes, of their sizes and of curvatures of several images, each with its intercept."""
    *margins, shifts = margins_and_shifts
    return (np.array([_slope_sums(model, m + c, slice(None)) for m, c in zip(margins, shifts, strict=True)]),)


def _slope_sums(model: LinearModel, t: Array, rows: Any) -> tuple[float, float, float]:
    return _sums(model._slope(t, rows), model._curvature(t, rows))


def _sums(slope: Array, bend: Array) -> tuple[float, float, float]:
    return float(_sum(slope)), float(_sum(namespace(slope).abs(slope))), float(_sum(bend))


def _sum(values: Array) -> Scalar:
    if isinstance(values, np.ndarray):
        return values.sum(dtype=np.float64)
    return namespace(values).sum(values, dtype=double_of(values))


def balanced_slope(model: LinearModel, *margins_and_more: Any) -> Sums:
    """Gradient at the first image, its slope balanced, their product, and the mean losses of all."""
    *margins, shifts, (up, down) = margins_and_more
    slope = model._slope(margins[0] + shifts[0], slice(None))
    slope = np.where(slope > 0, up * slope, down * slope).astype(slope.dtype)
    return model.data.adjoint(slope), vdot(slope, margins[0]), *mean_losses(model, *margins, shifts)


def along(model: LinearModel, start: Array, step: Array, gamma: float) -> Sums:
    """First and second derivative on a segment of images."""
    if model.compiled is not None:
        return model.compiled.along(double(start), double(step), gamma)
    m = start + gamma * step
    return vdot(model.loss_slope(m), step), vdot(model.bend(model.loss_curvature(m), step), step)


def along_with_intercept(model: LinearModel, start: Array, step: Array, gamma: float, c: float) -> Sums:
    """The sums that a search for the intercept needs, and those of slopes and curvatures along a segment."""
    t = start + gamma * step + c
    slope, bend = model._slope(t, slice(None)), model._curvature(t, slice(None))
    way, above = slope * step, slope > 0
    sums = [_sum(way[above]), _sum(way[~above]), vdot(bend, step), vdot(bend * step, step)]
    return (np.array([*_sums(slope, bend), *sums], dtype=np.float64),)


def balanced(slope: Array) -> tuple[Array, float]:
    """Return the slope with its heavier side, positive or negative, scaled to the weight of the other, and by how much.

    Examples
    --------
    >>> balanced(np.array([3.0, -1.0, -1.0]))
    (array([ 2., -1., -1.]), 0.333...)
    """
    xp = namespace(slope)
    total, size = float(xp.sum(slope)), float(xp.sum(xp.abs(slope)))
    up, down = 0.5 * (size + total), 0.5 * (size - total)
    if up == down:
        return slope, 0.0
    heavier, kept = slope > 0 if up > down else slope < 0, min(up, down) / max(up, down)
    return xp.where(heavier, slope * kept, slope), 1.0 - kept


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
    """The segment on images that rows in parts keep, with the best intercept at every point of it."""

    c = 0.0  # the last intercept

    def loss_along(self, gamma: float) -> Sums:
        def sums(c: float) -> Any:
            return self.objective.total(along_with_intercept, gamma, c, images=[self.start, self.step])[0]

        found = InterceptSearch(self.c, self.objective.knee, self.objective.data.eps).run(sums)
        if found.exact:
            found.refine()
        self.c = found.c
        found.numbers = sums(found.c)
        up, down = found.factors
        bend, positive, negative, drift, second = (float(n) for n in found.numbers[2:])
        return up * positive + down * negative, max(second - (drift**2 / bend if bend > 0 else 0.0), 0.0)


class ProfiledLine(SummedLine):
    """The segment on images in main memory with the best intercept at every point of it."""

    def __init__(self, objective: LinearModel, x: Point, v: Point, start: Array, step: Array) -> None:
        super().__init__(objective, x, v, double(start), double(step))
        self.ulp = eps(start)
        self.near = (0.0, objective._shift(x.image), 0.0)  # gamma, intercept and its derivative where last asked

    def loss_along(self, gamma: float) -> Sums:
        before, c, drift = self.near
        c += (gamma - before) * drift
        loss = self.objective.compiled
        if loss is not None:
            (_, c, _), sums = loss.balance(self.start, self.step, gamma, (-math.inf, c, math.inf), self.ulp)
            left, _, first, bend, along, second = sums
        else:
            found = InterceptSearch(c, self.objective.knee, self.ulp)
            found.run(lambda c: along_with_intercept(self.objective, self.start, self.step, gamma, c)[0])
            c, (left, _, bend, above, below, along, second) = found.c, found.numbers
            first = above + below
        drift = -along / bend if bend > 0 else 0.0
        self.near = (gamma, c, drift)
        if abs(left) <= NEAR * self.objective.knee * bend:  # what c leaves over is felt along the way
            first = first + drift * left
        return first, max(second + drift * along, 0.0)
