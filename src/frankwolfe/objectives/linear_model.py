"""Means of a loss of each row's product with x: one function of one margin for each row of data."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from frankwolfe.backends import Array, Scalar, host, namespace, vdot
from frankwolfe.backends import double as double_of
from frankwolfe.backends.namespace import Imaged, fetch_arrays, is_foreign, nonzero
from frankwolfe.kernels.row_sample import rows_drawn
from frankwolfe.kernels.rows.layouts import CHUNK, RowLosses, double
from frankwolfe.kernels.spectral.lanczos import least_eigenvalue
from frankwolfe.losses import Loss, SquaredLoss
from frankwolfe.objectives.array_losses import ArrayLosses
from frankwolfe.objectives.base import Evaluation, Line
from frankwolfe.objectives.composite import HessianObjective, HessianProduct, OnSpan, ridge_along
from frankwolfe.objectives.derive import TARGETS, derive
from frankwolfe.objectives.line_search import Lines
from frankwolfe.objectives.profiled_intercept import (
    COARSE,
    InterceptLine,
    Profiled,
    SummedLine,
    balanced_slope,
    intercepts_by_sums,
    mean_loss,
    on_span,
    profiled,
)
from frankwolfe.objectives.second_moments import SecondMoments
from frankwolfe.objectives.weighted_mean import WeightedMean
from frankwolfe.points import Point
from frankwolfe.rounding import RowFacts
from frankwolfe.rows.parts import Most
from frankwolfe.rows.reading import Query, array_of, products
from frankwolfe.rows.rows import Rows, Sums
from frankwolfe.rows.rows_in_parts import KeptImage
from frankwolfe.rows.user_data import is_in_parts, picked
from frankwolfe.validation import vector

IN_CACHE = 1 << 20  # entries of sparse data that stay in cache between two reads

REGRESSION: dict[str, Any] = {}
"""The models of numbers, by the names of their losses."""

CLASSIFICATION: dict[str, Any] = {}
"""The models of two labels, by the names of their losses."""


class LinearModel(WeightedMean, HessianObjective):
    """Mean of a loss of each row's product with x, optionally weighted, plus an optional ridge term.

    With a free intercept φ(m) is min over c of the mean loss of m + c: the intercept is no variable, it is found afresh
    from the margins, without a read of the data. The slope of φ then sums to zero. What the search for c leaves over is
    taken off the heavier side, so that the slope is balanced; `profiled` makes the tangent lie below φ whatever the
    accuracy of c.
    """

    row_loss: Loss
    loss_class: ClassVar[type[Loss]]

    level = 0.0  # what was taken off the targets: the intercept carries it

    def __init_subclass__(cls, loss: type[Loss] | None = None, **options: Any) -> None:
        """Register a class of models under the name of its loss."""
        super().__init_subclass__(**options)
        if loss is not None:
            cls.loss_class = loss
            (CLASSIFICATION if loss.labels else REGRESSION)[loss.name] = cls

    def __init__(
        self, A: Any, b: Any, loss: Loss, weights: Any, ridge: float, intercept: bool = False, **options: Any
    ) -> None:
        """Take the rows; options are those of the class, for models of parts of them."""
        self.row_loss = loss
        if is_in_parts(A):
            self._take_parts(A, b, weights, ridge, intercept, **options)
        else:
            super().__init__(A, weights, ridge, intercept)
            self.data.loss = self.data.loss or loss.name
            self.b = self.data.array(b if loss.labels else self._take_targets(b))
            vars(self).update(options)
        self._check_intercept()

    def _take_targets(self, b: Any) -> np.ndarray:
        """Return the targets; as given they are kept for where the data are narrower."""
        targets = self.row_loss.targets(vector("b", b, self.data.shape[0]))
        self._targets = double(targets)
        if self.intercept and self.row_loss.residual:  # the intercept carries the mean: less rounding
            self.level = float(vdot(self.exact_share, self._targets))
            targets = self._targets = self._targets - self.level
        if self.data.eps > 1e-9 and not np.max(np.abs(targets)) <= np.finfo(np.float32).max:
            raise ValueError("b holds numbers too large for single precision, which A is in; pass A in double")
        return targets

    @property
    def exact_b(self) -> np.ndarray:
        """The targets in double precision, on the host."""
        return self._signs if self.row_loss.labels else self._targets

    @cached_property
    def _signs(self) -> np.ndarray:
        return double(host(self.b))  # labels are whole numbers

    def _check_intercept(self) -> None:
        if self.intercept:
            _ = self.zero_intercept

    @cached_property
    def zero_intercept(self) -> float:
        """The best intercept of margins that are all zero, where the loss has a use for it."""
        return self.row_loss.level(*self.total(_target_totals))

    @cached_property
    def offset(self) -> float:  # pyright: ignore[reportIncompatibleVariableOverride]
        return float(self.total(_constants)[0])

    @property
    def shape(self) -> tuple[int, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        return (self.data.shape[1],)

    @property
    def separable(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        return not self.intercept

    @property
    def map(self) -> Rows:
        return self.data

    @property
    def data_shape(self) -> tuple[int, int] | None:
        return self.data.shape if self.holds_images else None

    @property
    def constant_hessian(self) -> bool:
        return self.row_loss.quadratic

    @property
    def takes_many(self) -> bool:
        return self.separable and (self.data.stored or not self.holds_images)  # an operator takes one point at a time

    @property
    def additions(self) -> int:
        return self.data.additions

    def doubled(self) -> Self | None:
        twin = super().doubled()
        if twin is not None:
            twin.b = twin.data.array(self.b if self.row_loss.labels else self.exact_b)  # labels are whole numbers
        return twin

    def dual(self, values: Any) -> Array:
        """Return a gradient that a checkpoint stored: an array, or one with its image."""
        return values if isinstance(values, np.ndarray) else Imaged.known(values[0], values[1], self.data.layout)

    def restricted(self, columns: np.ndarray) -> Self:
        """Return the model of some of the variables, the others held at zero."""
        known: dict[str, Any] = {"_column_norms": self._column_norms[columns]}
        if self.row_sizes is not None:
            known["row_sizes"] = self.row_sizes[0][columns], self.row_sizes[1]
        return derive(self, TARGETS, data=picked(self.data, columns), **known)

    def reweighted(self, share: np.ndarray, weighted: bool = True) -> Self:
        twin = super().reweighted(share, weighted)
        if "compiled" in vars(self):  # the rows may be on disk by now
            twin.compiled = None if self.compiled is None else twin._compiled_losses()
        return twin

    @cached_property
    def facts(self) -> RowFacts:  # pyright: ignore[reportIncompatibleVariableOverride]
        loss, (size, spread, square) = self.row_loss, map(float, self.total(_target_sizes))
        return RowFacts(
            self.least_share,
            (self.intercept and abs(self.zero_intercept)) or spread,
            loss.bend(size),
            loss.steep,
            loss.unit + 2 * abs(self.offset),
            loss.scale(square**0.5),
        )

    @property
    def smoothness(self) -> float | None:
        """The constant of the gradient, None where it depends on the set: see `smoothness_within`."""
        return self.row_loss.bend(1.0) * self._gram_norm + self.ridge if self.row_loss.bounded else None

    @property
    def smooth_everywhere(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.row_loss.bounded

    @cached_property
    def row_sizes(self) -> tuple[np.ndarray, float] | None:  # pyright: ignore[reportIncompatibleVariableOverride]
        if self.row_loss.bounded:
            return None
        entries, length = self.total(_largest_rows, reads=True)
        return None if any(most is None for most in entries) else (np.max(entries, axis=0), float(length))

    def smoothness_within(self, margin: float) -> float:
        if self.intercept:  # which moves margins by no more than they, and targets, are
            margin = 2 * margin + self.facts.spread
        steepest = self.row_loss.steepest(margin, float(self.total(_target_sizes)[0]))
        return steepest * self._gram_norm + self.ridge

    @cached_property
    def strong_convexity(self) -> float:
        """Proven lower bound on the Hessian's eigenvalues: from the Gram matrix where it is small, else the ridge."""
        if not self.row_loss.quadratic or not self.data.forms_gram:
            return self.ridge
        if self.data.eps > 1e-9:  # of sums in single precision nothing is proven
            wide = self.doubled()
            return self.ridge if wide is None else wide.strong_convexity
        gram = self.data.share_gram(self)
        mass = float(np.trace(gram))
        if self.intercept:
            mean = host(self.total(_mean_row, reads=True)[0])
            gram, mass = gram - np.outer(mean, mean), 4 * mass  # what cancels was rounded before
        return max(least_eigenvalue(gram, self.data.shape[0] + 4, mass), 0.0) + self.ridge

    @cached_property
    def second_moments(self) -> SecondMoments | None:  # pyright: ignore[reportIncompatibleVariableOverride]
        if not (self.row_loss.quadratic and self.data.forms_moments):
            return None
        found = SecondMoments.of(self)
        vars(self).setdefault("_column_norms", found.norms)
        return found

    def array_losses(self, rows: Any = None) -> ArrayLosses:
        """Return the losses of all rows, or of some, as array operations."""
        if rows is None:
            return ArrayLosses(self.row_loss, self.b, self.share)
        return ArrayLosses(self.row_loss, self.b[rows], self.share[rows])

    def row_losses(self, m: Array) -> RowLosses | ArrayLosses:
        """Return the losses of all rows for such margins: compiled at one point, where the kernels read the data."""
        return self.array_losses() if self.compiled is None or m.ndim > 1 else self.compiled

    def distance_to_least(self, value: Scalar) -> Scalar:
        """Return how far a mean loss is from that of the least losses of all rows: less is rounding."""
        return abs(value + self.offset)

    def tail(self, m: Array) -> Scalar | None:
        """Return a number t with gg' <= tH by Cauchy's inequality, for losses with exponential tails; None for others.

        It is nearly f where most losses are in their tails.
        """
        t = self.row_loss.tail(m + self.intercept_at(m) if self.intercept else m, self.b)
        return None if t is None else vdot(self.share, t)

    def steepest_bend(self, x: Point, v: Point) -> Scalar:
        loss, start, end = self.row_loss, x.image, v.image
        if loss.bounded:
            steepest = loss.bend(1.0) * self.share
        elif self.intercept:
            raise TypeError(f"the curvature of {type(self).__name__} has no bound on a segment with a free intercept")
        else:  # it is monotone
            steepest = namespace(start).maximum(self.loss_curvature(start), self.loss_curvature(end))
        move, ridge = end - start, ridge_along(self.ridge, x, v)[1]
        return float(vdot(steepest * move, move)) + float(ridge)

    @cached_property
    def compiled(self) -> RowLosses | None:
        """The losses as the kernels take them; None where the data are small."""
        return None if self.data.layout is None else self._compiled_losses()

    @cached_property
    def few_rows(self) -> tuple[np.ndarray, RowLosses | ArrayLosses]:
        """Some of the rows, drawn at random, from which an intercept is guessed; and their losses."""
        rows = rows_drawn(self.data.shape[0], COARSE)
        if self.compiled is None:
            return rows, self.array_losses(rows)
        share = double(self.exact_share[rows] if self.weighted else np.ones(rows.size))
        return rows, RowLosses(self.row_loss, self.exact_b[rows], share)

    def _compiled_losses(self) -> RowLosses:
        share = self.exact_share if self.weighted else np.full(CHUNK, self.exact_share[0])
        return RowLosses(self.row_loss, self.exact_b, double(share))

    def _ridge(self, x: Point) -> Scalar:
        if not self.ridge:
            return 0.0
        coords = array_of(x.coords)
        return 0.5 * self.ridge * products(coords, coords)

    def evaluate_twice(self, x: Point, every: int = 1) -> tuple[Evaluation, np.ndarray]:
        """Return f, gradient and Hessian at x, from one read of the data where the kernels can."""
        seen = self.data.sweep(self, Query(x, x, hessian=every))
        at_x = self._evaluation(seen, x, x)
        if seen.hessian is None:
            return at_x._replace(passes=at_x.passes + 1), self.hessian(x, every)
        return at_x, self._ridged(seen.hessian)

    def hessian(self, x: Point, every: int = 1) -> np.ndarray:
        m, some = x.image, None
        if every > 1 and isinstance(m, np.ndarray):
            if every not in self._draws:
                self._draws[every] = rows_drawn(m.size, every)
            some = self._draws[every]
            c = every * self.array_losses(some).curvature(m[some], self.intercept_at(m))
        else:
            c = self.loss_curvature(m)
        H, along = self.data.weighted_gram(c, some, sums=self.intercept)
        return self._ridged(_without_intercept(H, along, c) if self.intercept else H)

    @cached_property
    def _draws(self) -> dict[int, np.ndarray]:
        """Rows that were drawn, one in so many."""
        return {}

    def _ridged(self, H: np.ndarray) -> np.ndarray:
        return H + self.ridge * np.eye(len(H)) if self.ridge else H

    def hessian_along(self, x: Point) -> HessianProduct:
        c, data, layout = self.loss_curvature(x.image), self.data, self.data.layout
        if layout is None:

            def plain_bent(way: Array) -> tuple[Array, Array, float]:
                along = data.product(way)
                return along, data.adjoint(self.bend(c, along)) + self.ridge * way, 2.0

            return plain_bent
        c = double(c)
        # An intercept is profiled out: the curvature along it is free.
        free = layout.adjoint(c) if self.intercept else None

        # In cache two reads of sparse data take less time than one that does everything.
        twice = len(layout.arrays) > 1 and layout.entries < IN_CACHE

        def bent(way: Array) -> tuple[Array, Array, float]:
            if twice:
                along = layout.product(way)
                turned = layout.adjoint(c * along)
            else:
                along, turned = layout.bent(SquaredLoss(), way, c)
            if free is not None:
                turned = turned - free * (float(free @ way) / max(float(c.sum()), 1e-300))
            return along, turned + self.ridge * way, 2.0 if twice else layout.reads

        return bent

    def line(self, x: Point, v: Point) -> tuple[Line, float]:
        points = array_of(x.coords)
        if points.ndim == 2:
            passes = self.resolve(x) + self.resolve(v)
            return Lines(self, x, v), passes if self.holds_images else float(len(points))
        if not self.holds_images:
            return (SummedLine if self.separable else InterceptLine).between(self, x, v)
        plain = self.compiled is None and (self.separable or is_foreign(self.share))
        if plain or (self.intercept and self.row_loss.quadratic):
            return super().line(x, v)
        return (SummedLine if self.separable else InterceptLine).between(self, x, v)

    def derivatives(self, x: Point, v: Point, gamma: Array) -> tuple[Array, Array]:
        """Return first and second derivative along x + gamma (v - x), for each of many points with known images."""
        step = v.image - x.image
        m = x.image + gamma[:, None] * step
        first, second = products(self.loss_slope(m), step), products(self.loss_curvature(m) * step, step)
        if self.ridge:
            move = array_of(v.coords) - x.coords
            along = products(x.coords + gamma[:, None] * move, move)
            first, second = first + self.ridge * along, second + self.ridge * products(move, move)
        return first, second

    def loss(self, m: Any) -> Scalar:
        if self.intercept and self.holds_images:
            return self._profiled(m).value
        return self.total(mean_loss, self.intercept_at(m), images=[m])[0]

    def loss_slope(self, m: Array) -> Array:
        return self._profiled(m).slope if self.intercept else self.row_losses(m).slope(m)

    def loss_curvature(self, m: Array) -> Array:
        return self.row_losses(m).curvature(m, self.intercept_at(m))

    def along(self, start: Array, step: Array, gamma: float) -> tuple[Scalar, Scalar]:
        return super().along(start, step, gamma) if self.intercept else self.row_losses(start).along(start, step, gamma)

    def loss_inner(self, m: Array, slope: Array, value: Scalar) -> Scalar:
        return self._profiled(m).inner if self.intercept else products(slope, m)

    def bend(self, curvature: Array, image: Array) -> Array:
        bent = curvature * image
        if not self.intercept:
            return bent
        xp = namespace(curvature)
        return bent - curvature * (xp.sum(bent, axis=-1, keepdims=True) / nonzero(xp.sum(curvature)))

    def quadratic_form(self, curvature: Array, images: Any) -> np.ndarray:
        product = super().quadratic_form(curvature, images)
        return _without_intercept(product, images.T @ curvature, curvature) if self.intercept else product

    def on_span(self, images: Array, near: Array) -> OnSpan:
        plain = self.compiled is None or near.shape != self.b.shape
        return super().on_span(images, near) if plain else on_span(self, double(images), near)

    def balanced_slope(self, images: list[KeptImage]) -> tuple[np.ndarray, float, list[float]]:
        """Return the gradient at the first of some images of rows in parts, its product with x, and all values."""
        found = intercepts_by_sums(self, images, self.last_intercept or 0.0)
        self._last = Profiled(images[0], found[0].c)
        shifts, factors = [one.c for one in found], found[0].factors
        slope, inner, values = self.total(balanced_slope, shifts, factors, images=images, reads=True)
        more = (1 - min(factors)) * self.distance_to_least(float(values[0]))
        return slope, float(inner) + more, [float(value) for value in values]

    def best_intercept(self, m: Any) -> float:
        """Return the intercept c that minimises the loss of m + c, zero for a model without one."""
        return self.intercept_at(m) + self.level

    def intercept_at(self, m: Any) -> float:
        """Return the same for the targets as the model keeps them."""
        return self._profiled(m).c if self.intercept else 0.0

    def _profiled(self, m: Any) -> Profiled:
        if self._last is None or self._last.image is not m:
            if self.holds_images:
                self._last = profiled(self, m)
            else:
                self._last = Profiled(m, intercepts_by_sums(self, [m], 0.0)[0].c)
        return self._last

    @property
    def last_intercept(self) -> float | None:
        """Where a search may start, if it may."""
        return self._last.c if self.warm_intercepts and self._last is not None else None

    def fingerprint(self, start: Any) -> list[Any]:
        return [*self.row_loss, *super().fingerprint(start), self.level]


def _without_intercept(H: np.ndarray, along: Array, curvature: Array) -> np.ndarray:
    """Return a Hessian with the intercept profiled out: the curvature along it is free."""
    total = namespace(curvature).sum(curvature, dtype=double_of(curvature))
    along, total = fetch_arrays(along, total)
    H -= np.outer(along, along) / max(float(total), 1e-300)
    return H


def _mean_row(model: WeightedMean) -> Sums:
    """The weighted mean of the rows."""
    return (model.data.adjoint(model.share),)


def _target_sizes(model: LinearModel) -> Sums:
    """The size of the largest target, a bound on the best intercept of equal margins, and the mean square."""
    if model.row_loss.labels:
        return Most(1.0), Most(model.row_loss.spread(np.array([-1.0, 1.0]))), float(np.sum(model.exact_share))
    b = model.exact_b
    return Most(max(b.max(), -b.min())), Most(model.row_loss.spread(b)), float(vdot(model.exact_share, b * b))


def _target_totals(model: LinearModel) -> Sums:
    """What the best intercept of equal margins is made of."""
    return model.row_loss.totals(model.exact_b, model.exact_share)


def _constants(model: LinearModel) -> Sums:
    """The mean of what depends on the targets alone."""
    if model.row_loss.labels:
        return (0.0,)
    constant = model.row_loss.constant(model.exact_b)
    return (float(vdot(model.exact_share, constant)) if isinstance(constant, np.ndarray) else constant,)


def _largest_rows(model: LinearModel) -> Sums:
    """The largest entry of each column, in a list (None for an operator), and the largest norm of a row with weight."""
    found = model.data.largest_rows(model.share > 0 if model.weighted else None)
    return ([None], Most(0.0)) if found is None else ([found[0]], Most(found[1]))
