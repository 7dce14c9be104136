"""One objective at many points at once, one to a row: every number of a method becomes a vector, a read serves all."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, Self

import numpy as np

from frankwolfe.atoms import Rows
from frankwolfe.backends import Array, Scalar, eps, namespace, row_dot, zeros
from frankwolfe.backends.namespace import as_like
from frankwolfe.objectives.base import Evaluation, Line, Objective
from frankwolfe.objectives.data import OperatorMatrix
from frankwolfe.objectives.line_search import PROBES, minimise_in_arrays, minimise_on_segment
from frankwolfe.objectives.linear_model import LinearModel
from frankwolfe.objectives.many import Swept, products, swept, values
from frankwolfe.objectives.quadratic import Quadratic
from frankwolfe.points import Leaf, Point, weighted_sum
from frankwolfe.rounding import Extent

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
        pending = x.pending
        for leaf in pending:
            leaf.resolve(self._product(leaf.coords))
        return float(len(pending))

    def _product(self, coords: Any) -> Array:
        x, matrix = _array(coords), self.base.data.matrix
        if isinstance(x, np.ndarray) and isinstance(matrix, np.ndarray):
            return products(matrix, x)
        if isinstance(x, np.ndarray):  # times sparse rows
            return np.ascontiguousarray(x @ matrix.T)
        pieces = [x @ block.T for _, block in self.base.data.row_blocks()]  # narrow numbers widened, block by block
        return pieces[0] if len(pieces) == 1 else namespace(x).concat(pieces, axis=1)

    @abstractmethod
    def derivatives(self, x: Point, v: Point, gamma: Array) -> tuple[Array, Array]:
        """Return first and second derivative along x + gamma (v - x), for each row; images must be known."""


class LinearModelBatch(Batch):
    """Logistic regression or least squares at many points: one read of the data gives all values and gradients."""

    base: LinearModel

    def value_at(self, x: Point) -> tuple[Array, float]:
        passes = self.resolve(x)
        total = values(self.base, x.image)
        if total is None:
            total = row_dot(self.base.losses(x.image), self.base.share)
        return total + self._ridge(x), passes

    def evaluate(self, y: Point, watch: Point) -> Evaluation:
        seen = self.base.data.evaluate_many(self.base, y, watch) if self.base.separable else None
        if seen is not None:
            sums = namespace(seen.value).stack([seen.value, seen.inner, seen.watched])
            return self._evaluation(y, watch, seen.slope, sums, seen.passes)
        fresh = list(dict.fromkeys([*y.pending, *watch.pending]))
        slope, sums, watched = swept(self.base, y, watch) or self._read(y, watch, fresh)
        # The watched point keeps its image. That of a new vertex was needed for the mixture only, and is not kept.
        watch.terms = ((1.0, Leaf(None, watched)),)
        return self._evaluation(y, watch, slope, sums, 1.0 if self._cached else 1.0 + len(fresh))

    def _read(self, y: Point, watch: Point, fresh: list[Leaf]) -> Swept:
        """Return values and gradients from one read of the data, block by block."""
        base, sums, watched = self.base, [], []
        slope: Any = None
        for rows, block in self._blocks():
            new = {id(leaf): _array(leaf.coords) @ block.T for leaf in fresh}
            share, m = base.share[rows], _mixed(y, new, rows)
            residual = base.loss_slope(m, rows)
            part = residual @ block
            slope = part if slope is None else slope + part
            # <residual, m> rather than <slope, y>, as for a single point: the tangent stays below f under rounding.
            numbers = [row_dot(base.losses(m, rows), share), row_dot(residual, m)]
            if watch is not y:
                m = _mixed(watch, new, rows)
                numbers.append(row_dot(base.losses(m, rows), share))
            watched.append(m)
            sums.append(namespace(m).stack(numbers))
        if len(sums) == 1:
            return Swept(slope, sums[0], watched[0])
        xp = namespace(slope)
        return Swept(slope, xp.sum(xp.stack(sums), axis=0), xp.concat(watched, axis=1))

    def _evaluation(self, y: Point, watch: Point, slope: Array, total: Array, passes: float) -> Evaluation:
        ridge = self.base.ridge
        value, inner = total[0, ...] + self._ridge(y), total[1, ...]
        if ridge:
            slope, inner = slope + ridge * y.coords, inner + 2 * self._ridge(y)
        watched = value if watch is y else total[2, ...] + self._ridge(watch)
        return Evaluation(value, slope, inner, watched, passes, eps(y.coords))

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

    def _blocks(self) -> Iterator[tuple[slice, Any]]:
        matrix, n = self.base.data.matrix, self.base.data.shape[0]
        if not isinstance(matrix, np.ndarray):  # sparse, or on a device where one large product is best
            yield from self.base.data.row_blocks()
            return
        size = matrix.shape[1] + TEMPORARIES * self.shape[0]
        rows = max(1, BLOCK_BYTES // (8 * size))
        for i in range(0, n, rows):
            yield slice(i, min(i + rows, n)), matrix[i : i + rows]

    @property
    def _cached(self) -> bool:
        """Whether a block of the data is still in cache when its adjoint is taken."""
        matrix = self.base.data.matrix
        return isinstance(matrix, np.ndarray) and matrix.shape[1] * matrix.itemsize <= BLOCK_BYTES

    def _ridge(self, x: Point) -> Scalar:
        return 0.5 * self.base.ridge * row_dot(_array(x.coords), _array(x.coords)) if self.base.ridge else 0.0


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


def _mixed(x: Point, new: dict[int, Array], rows: slice) -> Array:
    """Return the image of x on some rows of the data; images not known yet are in `new`."""
    return weighted_sum([(w, new[id(l)] if l.value is None else l.value[:, rows]) for w, l in x.terms])


def _row(x: Point, i: int) -> Point:
    """Return one of many points, whose images are known."""
    return Point(_array(x.coords)[i], ((1.0, Leaf(None, x.image[i])),))
