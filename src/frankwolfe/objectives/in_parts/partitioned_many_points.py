"""A linear model over rows in parts at many points at once: a task and a read serve all of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from frankwolfe.atoms import Rows
from frankwolfe.backends import Array
from frankwolfe.objectives.base import Evaluation, Line
from frankwolfe.objectives.in_parts.partitioned import Partitioned
from frankwolfe.objectives.line_search import minimise_on_segment
from frankwolfe.objectives.linear_model import LinearModel
from frankwolfe.objectives.many_points import Batch, LinearModelBatch, Lines
from frankwolfe.points import Point
from frankwolfe.rows.parts import Part, Sums


class PartitionedBatch(Batch):
    """Rows in parts at many points: what moves is a vector of the length of x for each. Images are not kept."""

    base: Partitioned

    @property
    def note(self) -> str:
        return self.base.note

    @property
    def _rows(self) -> int:
        return self.base.parts.rows + self.base.parts.columns

    def start(self, x0: Any, dense: bool) -> Array:
        return np.asarray(np.zeros(self.shape) if x0 is None else x0, dtype=self.base.parts.dtype)

    def resolve(self, x: Point) -> float:
        for leaf in x.pending:
            leaf.resolve(0.0)
        return 0.0

    def evaluate(self, y: Point, watch: Point) -> Evaluation:
        self.resolve(y)
        self.resolve(watch)
        at, end = _array(y), None if watch is y else _array(watch)
        value, slope, inner, watched, passes = self.base.parts.total(evaluations, at, end)
        ridge = self.base.ridge
        if ridge:
            own = 0.5 * ridge * _norms2(at)
            value, slope, inner = value + own, slope + ridge * at, inner + 2 * own
            watched = watched + (own if end is None else 0.5 * ridge * _norms2(end))
        return Evaluation(value, slope, inner, watched, passes, float(np.finfo(self.base.parts.dtype).eps))

    def value_at(self, x: Point) -> tuple[Array, float]:
        (total,) = self.base.parts.total(values, _array(x))
        return total + 0.5 * self.base.ridge * _norms2(_array(x)), 1.0

    def line(self, x: Point, v: Point) -> tuple[Line, float]:
        return _LinesInTurn(self, x, v), 1.0

    def derivatives(self, x: Point, v: Point, gamma: Array) -> tuple[Array, Array]:
        raise NotImplementedError("segments over rows in parts are searched one after the other")


class _LinesInTurn(Lines):
    """Many segments, searched one after the other."""

    def minimise(self, cap: float, rtol: float) -> tuple[Array, int]:
        ends, base = zip(_array(self.x), _array(self.v), strict=True), self.batch.base
        lines = [base.line(Point.at(a), Point.at(b))[0] for a, b in ends]
        found = [minimise_on_segment(line, cap, rtol) for line in lines]
        return np.array([gamma for gamma, _ in found])[:, None], max(probes for _, probes in found)


def joins(objective: Any) -> bool:
    """Tell whether an objective over parts has a form at many points."""
    plain = type(objective) is Partitioned  # a free intercept is searched for each point on its own
    return plain and isinstance(objective.template, LinearModel) and objective.template.separable


def evaluations(part: Part, y: np.ndarray, watch: np.ndarray | None) -> Sums:
    """Values, gradients and <gradient, y> at y, the values at `watch` (None: y again), and the reads of the rows."""
    batch, at = LinearModelBatch(part.objective, len(y)), Point.at(y)
    end = at if watch is None else Point.at(watch)
    # With one image known and one new, the compiled pass takes it from there.
    passes = 0.0 if end is at else batch.resolve(end)
    seen = batch.evaluate(at, end)
    c = part.share
    return c * seen.value, c * seen.slope, c * seen.inner, c * seen.watched, c * (passes + seen.passes)


def values(part: Part, x: np.ndarray) -> Sums:
    """Values at the points x."""
    seen, _ = LinearModelBatch(part.objective, len(x)).value_at(Point.at(x))
    return (part.share * seen,)


def _array(x: Point) -> np.ndarray:
    return x.coords.array if isinstance(x.coords, Rows) else x.coords


def _norms2(x: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->i", x, x, dtype=np.float64)
