"""One objective at many points at once, one to a row: every number of a method becomes a vector, a read serves all."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np

from frankwolfe.atoms import Rows
from frankwolfe.backends import Array, eps, row_dot, zeros
from frankwolfe.backends.namespace import as_like
from frankwolfe.objectives.base import Evaluation, Line, Objective
from frankwolfe.objectives.line_search import PROBES, minimise_in_arrays, minimise_on_segment
from frankwolfe.objectives.linear_model import LinearModel
from frankwolfe.objectives.quadratic import Quadratic
from frankwolfe.points import Leaf, Point
from frankwolfe.rounding import Extent
from frankwolfe.rows.user_data import OperatorMatrix

BLOCK_BYTES = 1 << 20  # a block of the data and what is computed from it stay in the second-level cache
TEMPORARIES = 6  # arrays of the size of a block of images in use at a time


class Batch(Objective):
    """An objective f as a function of many points: coordinates and images have one row for each."""

    def __init__(self, base: Any, size: int) -> None:
        self.base = base
        self.shape: tuple[int, ...] = (size, *base.shape)

    @property
    def smoothness(self) -> float | None:
        return self.base.smoothness

    @property
    def proven(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.base.proven

    @property
    def additions(self) -> int:
        return self.base.additions

    def column_norms(self, extent: Extent) -> np.ndarray | None:
        return self.base.column_norms(extent)

    def noise(self, at: Evaluation, extent: Extent) -> Array:
        # Many points at once are added up in another order than one: by row after row, at worst.
        return self.base.noise(at, extent) * max(1.0, self._rows / self.base.additions)

    @property
    def _rows(self) -> int:
        """How many numbers are added up for a gradient entry and a bound, one after the other."""
        return sum(self.base.data.shape)

    def value(self, x: Array) -> Array:
        return self.value_at(Point.at(x))[0]

    def grad(self, x: Array) -> Array:
        point = Point.at(x)
        return self.evaluate(point, point).slope

    def start(self, x0: Any, dense: bool) -> Array:
        return self.base.data.array(np.zeros(self.shape) if x0 is None else x0)

    def doubled(self) -> Self | None:
        base = self.base.doubled()
        return None if base is None else type(self)(base, self.shape[0])

    def line(self, x: Point, v: Point) -> tuple[Line, float]:
        passes = self.resolve(x) + self.resolve(v)
        return Lines(self, x, v), passes

    def fingerprint(self, start: Any) -> list[Any]:
        return ["Batch", *self.shape, *self.base.fingerprint(start)]

    def resolve(self, x: Point) -> float:
        """Compute what is pending of the images; return the reads of the data that took."""
        return self.base.resolve(x)

    def value_at(self, x: Point) -> tuple[Array, float]:
        return self.base.value_at(x)

    def evaluate(self, y: Point, watch: Point) -> Evaluation:
        return self.base.evaluate(y, watch)

    @abstractmethod
    def derivatives(self, x: Point, v: Point, gamma: Array) -> tuple[Array, Array]:
        """Return first and second derivative along x + gamma (v - x), for each row; images must be known."""


class LinearModelBatch(Batch):
    """Logistic regression or least squares at many points: one read of the data gives all values and gradients."""

    base: LinearModel

    def derivatives(self, x: Point, v: Point, gamma: Array) -> tuple[Array, Array]:
        step = v.image - x.image
        m = x.image + gamma[:, None] * step
        first = row_dot(self.base.loss_slope(m), step)
        second = row_dot(self.base.loss_curvature(m) * step, step)
        if self.base.ridge:
            move = _array(v.coords) - x.coords
            along = row_dot(x.coords + gamma[:, None] * move, move)
            first, second = first + self.base.ridge * along, second + self.base.ridge * row_dot(move, move)
        return first, second


class QuadraticBatch(Batch):
    """A quadratic at many points."""

    base: Quadratic

    def value_at(self, x: Point) -> tuple[Array, float]:
        passes = self.resolve(x)
        return self._value(x), passes

    def evaluate(self, y: Point, watch: Point) -> Evaluation:
        passes = self.resolve(y) + self.resolve(watch)
        slope = y.image + self.base.c
        value = self._value(y)
        watched = value if watch is y else self._value(watch)
        return Evaluation(value, slope, row_dot(slope, y.coords), watched, passes, eps(slope))

    def derivatives(self, x: Point, v: Point, gamma: Array) -> tuple[Array, Array]:
        step = _array(v.coords) - x.coords
        second = row_dot(v.image - x.image, step)
        return row_dot(x.image + self.base.c, step) + gamma * second, second

    def _value(self, x: Point) -> Array:
        return row_dot(0.5 * x.image + self.base.c, x.coords) + self.base.constant


class Lines(Line):
    """f on many segments at once, one to a row."""

    def __init__(self, batch: Batch, x: Point, v: Point) -> None:
        self.batch, self.x, self.v = batch, x, v

    def __call__(self, gamma: Any) -> tuple[Any, Any]:
        return self.batch.derivatives(self.x, self.v, gamma)

    def minimise(self, cap: float, rtol: float) -> tuple[Array, int]:
        """Return the minimisers as a column, and the number of probes of the longest search."""
        x, v, base = self.x, self.v, self.batch.base
        if not isinstance(x.coords, np.ndarray):
            return minimise_in_arrays(self, zeros(x.coords.shape[:1], x.coords), cap)[:, None], PROBES
        # One row after the other stays in cache, and none waits for the others.
        found = [minimise_on_segment(base.line(_row(x, i), _row(v, i))[0], cap, rtol) for i in range(len(x.coords))]
        return as_like([g for g, _ in found], x.coords)[:, None], max(p for _, p in found)


def batched(objective: Objective, size: int) -> Batch | None:
    """Return the objective at `size` points at once, or None where it has no such form.

    Examples
    --------
    >>> import frankwolfe as fw
    >>> f = batched(fw.LeastSquares(np.eye(2), [1.0, 1.0]), 3)
    >>> f.value(np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]))
    array([0.5 , 0.25, 0.  ])
    """
    if isinstance(objective, LinearModel) and objective.separable and not isinstance(objective.data, OperatorMatrix):
        return LinearModelBatch(objective, size)
    if isinstance(objective, Quadratic) and not isinstance(objective.data, OperatorMatrix):
        return QuadraticBatch(objective, size)
    return None


def _array(coords: Any) -> Array:
    return coords.array if isinstance(coords, Rows) else coords


def _row(x: Point, i: int) -> Point:
    """Return one of many points, whose images are known."""
    return Point(_array(x.coords)[i], ((1.0, Leaf(None, x.image[i])),))
