"""Objectives over data in parts: on a cluster, or on disk. Methods and loop do not know."""

from __future__ import annotations

import math
from functools import cached_property, reduce
from typing import Any, ClassVar, Self

import numpy as np

from frankwolfe.backends import Array, Scalar, row_dot
from frankwolfe.kernels.spectral.lanczos import least_eigenvalue
from frankwolfe.objectives.base import Evaluation, Line, Objective
from frankwolfe.objectives.derive import derive
from frankwolfe.objectives.line_search import Lines, minimise_on_segment
from frankwolfe.objectives.linear_model import LinearModel, WeightedMean
from frankwolfe.points import Point
from frankwolfe.rounding import Extent, RowFacts, noise_of_rows
from frankwolfe.rows import parts as tasks
from frankwolfe.rows.parts import Parts
from frankwolfe.rows.reading import array_of
from frankwolfe.validation import nonnegative

GRAM_LIMIT = 1000  # features up to which the Gram matrix is formed, in one read, for its eigenvalues


class Partitioned(Objective):
    """A linear model whose rows are in parts, f(x) = Σ share_i f_i(x) + (ridge/2)|x|².

    Made by `Logistic(A, b)`, `LeastSquares(A, b)` and the like when A is a Dask array or dataframe, a list of delayed
    blocks, or a stream from disk. Every evaluation is one fused read of the rows, and what moves is a few vectors
    of the length of x: margins are computed afresh from the coordinates, so tasks are stateless, a lost worker costs
    no more than its part of the current evaluation, and a checkpoint holds nothing that depends on the parts.

    Parameters
    ----------
    parts : Parts
        The rows.
    template : LinearModel or Multinomial
        Some part's model, whose formulae hold for the whole: the smoothness of its loss, its classes.
    ridge : float
        Weight of an optional squared-norm term.
    """

    proven = True

    free: ClassVar[bool] = False  # whether there are free intercepts

    remember = False
    """Whether the search for an intercept starts from the last one, see `WeightedMean`."""

    def __init__(self, parts: Parts, template: WeightedMean, ridge: float = 0.0) -> None:
        self.parts, self.template = parts, template
        self.ridge = nonnegative("ridge", ridge)
        self.shape: tuple[int, ...] = (parts.columns, *(template.shape or ())[1:])

    @property
    def classes(self) -> np.ndarray:
        """The labels of a classification."""
        return self.template.classes  # pyright: ignore[reportAttributeAccessIssue]

    @property
    def takes_many(self) -> bool:
        return not self.free and isinstance(self.template, LinearModel) and self.template.separable

    @property
    def note(self) -> str:
        return self.parts.note

    def value(self, x: Array) -> Scalar:
        return self.value_at(Point.at(x))[0]

    def grad(self, x: Array) -> Array:
        return self.value_and_grad(x)[1]

    def value_and_grad(self, x: Array) -> tuple[Scalar, Array]:
        point = Point.at(x)
        at_x = self.evaluate(point, point)
        return at_x.value, at_x.slope

    def start(self, x0: Any, dense: bool) -> Array:
        return np.asarray(np.zeros(self.shape) if x0 is None else x0, dtype=self.parts.dtype)

    def evaluate(self, y: Point, watch: Point) -> Evaluation:
        for leaf in (*y.pending, *watch.pending):
            leaf.resolve(0.0)  # images are not kept: see the class
        end = None if watch is y else watch.coords
        value, slope, inner, watched, passes = self.parts.total(tasks.evaluation, y.coords, end)
        if self.ridge:
            at_y = 0.5 * self.ridge * self._norm2(y.coords)
            value, inner = value + at_y, inner + 2 * at_y
            slope = slope + self.ridge * array_of(y.coords)
            watched = watched + (at_y if end is None else 0.5 * self.ridge * self._norm2(end))
        return Evaluation(value, slope, inner, watched, passes, float(np.finfo(self.parts.dtype).eps))

    def column_norms(self, extent: Extent) -> np.ndarray:
        return self._column_norms

    @cached_property
    def _column_norms(self) -> np.ndarray:
        c = np.sqrt(self.parts.total(tasks.column_squares)[0] + np.finfo(np.float64).tiny)
        return np.broadcast_to(c.reshape(-1, *[1] * (len(self.shape) - 1)), self.shape)

    @property
    def additions(self) -> int:
        return self.parts.rows + self.parts.columns

    def noise(self, at: Evaluation, extent: Extent) -> Scalar:
        conjugates = self.free or not self.template.separable
        return noise_of_rows(self._facts, at.eps, self.additions, at.value, extent, self.ridge, self.free, conjugates)

    @cached_property
    def _facts(self) -> RowFacts:
        """What rounding asks of all rows: no odds are larger than those of the smallest weight."""
        found = reduce(RowFacts.joined, self.parts.total(tasks.facts, reads=False)[0])
        return found._replace(spread=found.spread - math.log(found.least_share))

    def value_at(self, x: Point) -> tuple[Scalar, float]:
        value, passes = self.parts.total(tasks.value, x.coords)
        return value + 0.5 * self.ridge * (self._norm2(x.coords) if self.ridge else 0.0), passes

    def _norm2(self, x: Any) -> Scalar:
        x = array_of(x)
        return norm2(x) if x.shape == self.shape else row_dot(x, x)

    def reweighted(self, weights: np.ndarray) -> Self:
        """Return the model with other weights of the rows, one for each."""
        return type(self)(self.parts.reweighted(weights), self.template, self.ridge)  # pyright: ignore[reportArgumentType]

    def best_intercept_at(self, x: Any) -> Any:
        """Return the intercept that belongs to coefficients: none, unless the model has a free one."""
        return 0.0

    def line(self, x: Point, v: Point) -> tuple[Line, float]:
        if self.takes_many and array_of(x.coords).ndim == 2:
            return _LinesInTurn(self, x, v), 1.0
        return _KeptLine(self, x.coords, v.coords), 1.0

    @cached_property
    def _extreme_eigenvalues(self) -> tuple[float, float]:
        """A bound below the smallest (zero where unknown), and the largest eigenvalue of the weighted Gram matrix."""
        d = self.parts.columns
        if d <= GRAM_LIMIT:
            gram = self.parts.total(tasks.gram)[0]
            least = least_eigenvalue(gram, self.parts.rows + 4)
            return max(least, 0.0), float(np.linalg.eigvalsh(gram.astype(np.float64))[-1])
        from scipy.sparse.linalg import LinearOperator, eigsh

        def product(w: np.ndarray) -> np.ndarray:
            return self.parts.total(tasks.gram_product, w.astype(self.parts.dtype).reshape(-1))[0]

        operator: Any = LinearOperator((d, d), matvec=product, dtype=np.float64)  # pyright: ignore[reportCallIssue]
        start = np.random.default_rng(0).standard_normal(d)
        return 0.0, float(eigsh(operator, k=1, which="LA", v0=start, return_eigenvectors=False)[0])

    @cached_property
    def smoothness(self) -> float | None:
        # The loss's own formula, with the Gram matrix of all rows.
        return derive(self.template, ridge=self.ridge, _gram_norm=self._extreme_eigenvalues[1]).smoothness

    @cached_property
    def strong_convexity(self) -> float:
        loss = self.template.row_loss
        return self.ridge + (self._extreme_eigenvalues[0] if loss is not None and loss.quadratic else 0.0)

    def fingerprint(self, start: Any) -> list[Any]:
        (number,) = self.parts.total(tasks.checksum)
        name = type(self.template).__name__
        return ["Partitioned", name, self.ridge, self.parts.rows, *self.shape, str(self.parts.dtype), number]


class _LinesInTurn(Lines):
    """Many segments, searched one after the other."""

    def minimise(self, cap: float, rtol: float) -> tuple[Array, int]:
        ends = zip(array_of(self.x.coords), array_of(self.v.coords), strict=True)
        lines = [self.objective.line(Point.at(a), Point.at(b))[0] for a, b in ends]
        found = [minimise_on_segment(line, cap, rtol) for line in lines]
        return np.array([gamma for gamma, _ in found])[:, None], max(probes for _, probes in found)


class _KeptLine(Line):
    """The segment on margins that stay with the parts: one read, then a few numbers per probe."""

    def __init__(self, objective: Partitioned, x: Any, v: Any) -> None:
        self.parts = objective.parts
        self.margins = self.parts.keep(tasks.segment, x, v)
        self.ridge = ridge_along(objective.ridge, x, v)

    def __call__(self, gamma: float) -> tuple[float, float]:
        first, second = self.parts.total(tasks.probe, gamma, kept=self.margins, reads=False)
        return first + self.ridge[0] + gamma * self.ridge[1], second + self.ridge[1]


def ridge_along(ridge: float, x: Any, v: Any) -> tuple[float, float]:
    """Return first and second derivative of the ridge term at x, on the way to v."""
    if not ridge:
        return 0.0, 0.0
    step = array_of(v) - array_of(x)
    return ridge * float(np.vdot(step, array_of(x))), ridge * float(np.vdot(step, step))


def norm2(x: Any) -> float:
    """Return |x|²."""
    x = array_of(x)
    return float(np.multiply(x, x).sum(dtype=np.float64))
