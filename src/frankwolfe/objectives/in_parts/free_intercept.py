"""A free intercept over rows in parts: found by a few rounds of numbers, with the margins left where the rows are."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from frankwolfe.backends import Scalar, vdot
from frankwolfe.kernels.root_bracket import ROUNDS, narrow, settled
from frankwolfe.objectives.base import Evaluation, Line
from frankwolfe.objectives.in_parts.partitioned import Partitioned, norm2, ridge_along
from frankwolfe.objectives.linear_model import LinearModel
from frankwolfe.objectives.profiled_intercept import closer
from frankwolfe.points import Point
from frankwolfe.rows.parts import Part, Sums, segment
from frankwolfe.rows.reading import array_of


class FreeIntercept(Partitioned):
    """A linear model over rows in parts, with the best intercept for every point: f(x) = min over c of g(x, c).

    An evaluation takes two reads: one for the margins, which are kept with the parts, and after the search for the
    intercept one for the gradient. As in memory, what the search leaves over is taken off the heavier side of the
    slope, so that the tangent lies below f whatever the accuracy of the intercept.
    """

    free: ClassVar[bool] = True
    near = 0.0  # the last intercept found

    def evaluate(self, y: Point, watch: Point) -> Evaluation:
        for leaf in (*y.pending, *watch.pending):
            leaf.resolve(0.0)
        points = [y] if watch is y else [y, watch]
        kept = self.parts.keep(margins, [p.coords for p in points])
        found = self._balanced(kept, [None] * len(points), self.near if self.remember else 0.0)
        self.near = found[0].c
        shifts, factors = [b.c for b in found], found[0].factors
        slope, conjugate, values = self.parts.total(tangent, shifts, factors, kept=kept)
        values = [float(v) + 0.5 * self.ridge * norm2(p.coords) for v, p in zip(values, points, strict=True)]
        bare = values[0] - 0.5 * self.ridge * norm2(y.coords)
        inner = bare + conjugate + self.ridge * norm2(y.coords)
        if self.ridge:
            slope = slope + self.ridge * array_of(y.coords)
        return Evaluation(values[0], slope, inner, values[-1], 2.0, float(np.finfo(self.parts.dtype).eps))

    def value_at(self, x: Point) -> tuple[Scalar, float]:
        kept = self.parts.keep(margins, [x.coords])
        (found,) = self._balanced(kept, [None])
        (values,) = self.parts.total(losses, [found.c], kept=kept, reads=False)
        return float(values[0]) + 0.5 * self.ridge * norm2(x.coords), 1.0

    def line(self, x: Point, v: Point) -> tuple[Line, float]:
        return _FreeLine(self, x.coords, v.coords), 1.0

    def best_intercept_at(self, x: Any) -> float:
        """Return the intercept that belongs to coefficients."""
        (found,) = self._balanced(self.parts.keep(margins, [x]), [None])
        return found.c

    @property
    def strong_convexity(self) -> float:
        return self.ridge

    def fingerprint(self, start: Any) -> list[Any]:
        return ["intercept", *super().fingerprint(start)]

    def _balanced(self, kept: Any, gammas: list[float | None], c: float = 0.0) -> list[Balance]:
        """Find the intercepts for all kept margins at once; a gamma asks for a point on a kept segment instead."""
        template: Any = self.template
        found = [Balance(c, template.knee, float(np.finfo(self.parts.dtype).eps)) for _ in gammas]
        for _ in range(ROUNDS):
            (sums,) = self.parts.total(balance, [b.c for b in found], gammas, kept=kept, reads=False)
            for one, numbers in zip(found, sums, strict=True):
                one.take(numbers)
            if all(one.done for one in found):
                break
        if gammas[0] is None and not all(one.exact for one in found):  # no number is between the ends: the better one
            ends = [[one.low for one in found], [one.high for one in found]]
            low, high = (self.parts.total(losses, shifts, kept=kept, reads=False)[0] for shifts in ends)
            for i, one in enumerate(found):
                one.c = one.c if one.exact else one.low if low[i] < high[i] else one.high
            (sums,) = self.parts.total(balance, [b.c for b in found], gammas, kept=kept, reads=False)
            for one, numbers in zip(found, sums, strict=True):
                one.numbers = numbers
        return found


class Balance:
    """The search for the intercept at which slopes balance: Newton's method inside a bracket that starts infinite."""

    def __init__(self, c: float, knee: float, ulp: float) -> None:
        self.c, self.knee, self.ulp = c, knee, ulp
        self.low, self.high = -math.inf, math.inf
        self.steps = (math.inf, math.inf)  # lengths of the last two
        self.done = self.exact = False
        self.numbers = np.zeros(7)  # sums at c

    def take(self, numbers: np.ndarray) -> None:
        """Take the sums at c and, unless they balance, move on."""
        if self.done:
            return
        self.numbers = numbers
        left, size, bend = (float(n) for n in numbers[:3])
        near = self.exact  # so that one more step was right to rounding
        self.exact = settled(left, size, bend, self.knee, self.ulp)
        if self.exact:
            moved = self.c if near else closer(self.c, left, bend, self.knee)
            self.done, self.c = moved == self.c, moved
            return
        older, old = self.steps
        self.low, moved, self.high, *self.steps = narrow(self.low, self.c, self.high, older, old, left, bend)
        self.done = moved == self.c
        self.c = moved

    @property
    def factors(self) -> tuple[float, float]:
        """What to scale the positive and the negative slopes by, so that they balance."""
        left, size = float(self.numbers[0]), float(self.numbers[1])
        up, down = 0.5 * (size + left), 0.5 * (size - left)
        return (min(1.0, down / up) if up > 0 else 1.0), (min(1.0, up / down) if down > 0 else 1.0)


class _FreeLine(Line):
    """f on a segment, the intercept free at every point of it."""

    def __init__(self, objective: FreeIntercept, x: Any, v: Any) -> None:
        self.objective, self.c = objective, 0.0
        self.kept = objective.parts.keep(segment, x, v)
        self.ridge = ridge_along(objective.ridge, x, v)

    def __call__(self, gamma: float) -> tuple[float, float]:
        (found,) = self.objective._balanced(self.kept, [gamma], self.c)
        self.c = found.c
        up, down = found.factors
        bend, positive, negative, along, square = (float(n) for n in found.numbers[2:])
        first = up * positive + down * negative
        second = max(square - (along**2 / bend if bend > 0 else 0.0), 0.0)
        return first + self.ridge[0] + gamma * self.ridge[1], second + self.ridge[1]


def margins(part: Part, points: list[Any]) -> Sums:
    """Margins at some points, to be kept."""
    images = [Point.at(x) for x in points]
    for image in images:
        part.objective.resolve(image)
    return tuple(image.image for image in images)


def balance(part: Part, kept: Sums, shifts: list[float], gammas: list[float | None]) -> Sums:
    """For each intercept: sums of slopes, of their sizes and of curvatures; along a segment also what is met on it."""
    model: Any = part.objective
    rows = []
    for i, (c, gamma) in enumerate(zip(shifts, gammas, strict=True)):
        m = (kept[i] if gamma is None else kept[0] + gamma * kept[1]) + c
        slope, bend = model._slope(m, slice(None)), model._curvature(m, slice(None))
        row = [_sum(slope), _sum(np.abs(slope)), _sum(bend), *[0.0] * 4]
        if gamma is not None:
            along, above = slope * kept[1], slope > 0
            row[3:] = [_sum(along[above]), _sum(along[~above]), vdot(bend, kept[1]), vdot(bend * kept[1], kept[1])]
        rows.append(row)
    return (part.share * np.array(rows),)


def tangent(part: Part, kept: Sums, shifts: list[float], factors: tuple[float, float]) -> Sums:
    """Gradient and conjugate at the first point, its slope balanced, and the values at all."""
    model: Any = part.objective
    assert isinstance(model, LinearModel)
    slope = model._slope(kept[0] + shifts[0], slice(None))
    slope = np.where(slope > 0, factors[0] * slope, factors[1] * slope).astype(slope.dtype)
    return (
        part.share * model.data.adjoint(slope),
        part.share * (float(model._conjugate(slope)) - model.offset),
        *losses(part, kept, shifts),
    )


def losses(part: Part, kept: Sums, shifts: list[float]) -> Sums:
    """Values at kept margins."""
    model: Any = part.objective
    values = [vdot(model.share, model.losses(m + c)) + model.offset for m, c in zip(kept, shifts, strict=True)]
    return (part.share * np.array(values, dtype=np.float64),)


def _sum(values: np.ndarray) -> float:
    return float(values.sum(dtype=np.float64))
