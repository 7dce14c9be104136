"""What linear models share: a data matrix, targets, sample weights, a free intercept and a ridge term."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from frankwolfe.backends import Array, Scalar, eps, host, namespace, vdot
from frankwolfe.backends import double as double_of
from frankwolfe.backends.fetch_arrays import together
from frankwolfe.backends.namespace import as_like, nonzero
from frankwolfe.backends.precision import exact_products
from frankwolfe.backends.vector_with_image import Imaged
from frankwolfe.kernels.rows.layouts import CHUNK, RowLosses, double
from frankwolfe.kernels.spectral.lanczos import least_eigenvalue
from frankwolfe.losses import Loss
from frankwolfe.objectives.base import Evaluation, Line, Reach
from frankwolfe.objectives.composite import Composite
from frankwolfe.objectives.derive import derive
from frankwolfe.objectives.line_search import Lines
from frankwolfe.objectives.profiled_intercept import FusedLine, ProfiledLine, balanced, find_intercept
from frankwolfe.points import Point
from frankwolfe.rounding import Extent, RowFacts, noise_of_rows
from frankwolfe.rows.reading import Query, Sweep, array_of, chosen, products
from frankwolfe.rows.row_weights import Scaled, shares
from frankwolfe.rows.user_data import DataMatrix, OperatorMatrix, data_matrix, in_parts, picked, reoriented
from frankwolfe.validation import nonnegative, vector

GRAM_LIMIT = 2000  # features up to which the smallest eigenvalue is computed from the Gram matrix

REGRESSION: dict[str, type[LinearModel]] = {}
"""The models of numbers, by the names of their losses."""

CLASSIFICATION: dict[str, type[LinearModel]] = {}
"""The models of two labels, by the names of their losses."""


class WeightedMean(Composite):
    """A weighted mean over the rows of data of a function of each row's product with x, plus an optional ridge term."""

    remember = False
    """Whether the search for an intercept starts from the last one: faster, but a run resumed from a checkpoint, where
    there is no last one, may then differ in the last digits."""

    weights_name: ClassVar[str] = "sample_weight"

    proven = True

    @classmethod
    def survey(cls, b: Any, weights: Any) -> Any:
        """Return what one block of rows tells of its targets, for `agree`."""
        return None

    @classmethod
    def agree(cls, surveys: list[Any]) -> dict[str, Any]:
        """Return the options that the models of all blocks must share."""
        return {}

    @classmethod
    def weigh(cls, b: Any, weights: Any) -> Any:
        """Return the weights of the rows of a block, from those given, once all blocks agree."""
        return weights

    def __init__(self, A: Any, weights: Any, ridge: float, intercept: bool) -> None:
        self.data = A if isinstance(A, DataMatrix) else data_matrix("A", A)
        self.ridge = nonnegative("ridge", ridge)
        self.exact_share = shares(weights, self.data.shape[0])  # weight of each row in the mean
        self.share = self.data.array(self.exact_share)  # the same in the precision of the data
        self.weighted = weights is not None
        self.intercept = bool(intercept)
        self._last: tuple[Array, Any] | None = None  # the last image, and what was found out about it

    def start(self, x0: Any, dense: bool) -> Array:
        return self.data.array(np.zeros(self.shape or ()) if x0 is None else x0)

    def oriented(self, sparse_atoms: bool, parallel_atoms: bool = False) -> Self:
        return reoriented(self, sparse_atoms, parallel_atoms)

    def doubled(self) -> Self:
        data = self.data.doubled()
        return derive(self, data=data, share=data.array(self.exact_share))

    def reweighted(self, share: np.ndarray) -> Self:
        """Return the model with other weights of the rows, which add up to one."""
        exact = np.asarray(share, dtype=np.float64)
        return derive(self, exact_share=exact, share=as_like(exact, self.share), weighted=True)

    @cached_property
    @exact_products()
    def _gram_norm(self) -> float:
        """Largest eigenvalue of the weighted Gram matrix, sum of share_i a_i a_i'."""
        from frankwolfe.kernels.spectral.lanczos import spectral_norm

        return spectral_norm(Scaled(self.data, self.share)) ** 2

    def column_norms(self, extent: Extent) -> np.ndarray | None:
        return self._column_norms

    @cached_property
    def _column_norms(self) -> np.ndarray | None:
        squares = self.data.column_squares(self.share if self.weighted else None)
        if squares is None:
            return None
        # A square that underflows is no zero.
        c = np.sqrt(squares / (1 if self.weighted else self.data.shape[0]) + np.finfo(np.float64).tiny)
        return np.broadcast_to(c.reshape(-1, *[1] * (len(self.shape or ()) - 1)), self.shape or ())

    @property
    def additions(self) -> int:
        return self.data.stacked_additions + sum((self.shape or ())[1:])

    def noise(self, at: Evaluation, extent: Extent) -> Scalar:
        additions = self.additions
        if getattr(at.value, "ndim", 0):  # many points are added up in another order: by row after row, at worst
            additions = max(additions, sum(self.data.shape))
        return noise_of_rows(
            self.facts, at.eps, additions, at.value, extent, self.ridge, self.intercept, not self.separable
        )

    @property
    @abstractmethod
    def facts(self) -> RowFacts:
        """What rounding asks of the rows."""

    @cached_property
    def least_share(self) -> float:
        """The smallest weight of a row that is not zero."""
        xp = namespace(self.share)
        return float(xp.min(xp.where(self.share > 0, self.share, xp.ones_like(self.share))))

    def fingerprint(self, start: Any) -> list[Any]:
        return [type(self).__name__, self.ridge, int(self.intercept), self.share, *self.data.parts()]


class LinearModel(WeightedMean):
    """Mean of a loss of each row's product with x, optionally weighted, plus an optional ridge term.

    With a free intercept φ(m) is min over c of the mean loss of m + c: the intercept is no variable, it is found afresh
    from the margins, without a read of the data. The slope of φ then sums to zero. What the search for c leaves over is
    taken off the heavier side, so that the slope lies in the domain of the conjugate and is balanced; the tangent
    <slope, ·> - conjugate(slope) lies below φ whatever the accuracy of c.
    """

    formulae: ClassVar[type[Loss]]
    """The class of the loss, for a class of models."""

    row_loss: Loss

    def __init_subclass__(cls, loss: type[Loss] | None = None, **options: Any) -> None:
        """Register a class of models under the name of its loss."""
        super().__init_subclass__(**options)
        if loss is not None:
            cls.formulae = loss
            (CLASSIFICATION if loss.labels else REGRESSION)[loss.name] = cls

    def __new__(cls, A: Any = None, b: Any = None, **options: Any) -> Any:
        """Return the model, over a cluster or a stream where the rows are in one."""
        scattered = in_parts(A)
        return object.__new__(cls) if scattered is None else scattered(cls, A, b, **options)

    def __init__(self, A: Any, b: Any, loss: Loss, weights: Any, ridge: float, intercept: bool = False) -> None:
        super().__init__(A, weights, ridge, intercept)
        self.row_loss = loss
        self.shape: tuple[int, ...] = (self.data.shape[1],)
        self.separable = not self.intercept
        self.level = 0.0  # what was taken off the targets: the intercept carries it
        b = loss.targets(vector("b", b, self.data.shape[0]))
        self.exact_b = double(b)  # as given, where the data are narrower
        self.offset = self._offset()
        self._odds = loss.level(self.exact_b, self.exact_share) if self.intercept else 0.0
        if self.intercept and loss.residual:  # the mean, which the intercept carries, is taken off: less rounding
            self.level = float(vdot(self.exact_share, self.exact_b))
            self.exact_b = self.exact_b - self.level
        self.b = self.data.array(self.exact_b if self.intercept else b)

    def _offset(self) -> float:
        """Return the part of f that depends on the targets alone."""
        constant = self.row_loss.constant(self.exact_b)
        return float(vdot(self.exact_share, constant)) if isinstance(constant, np.ndarray) else constant

    @property
    def map(self) -> DataMatrix:
        return self.data

    @property
    def takes_many(self) -> bool:
        return self.separable and not isinstance(self.data, OperatorMatrix)

    @property
    def additions(self) -> int:
        return self.data.additions

    def doubled(self) -> Self:
        twin = super().doubled()
        twin.b = twin.data.array(self.exact_b)
        return twin

    def dual(self, values: Any) -> Array:
        """Return a gradient that a checkpoint stored: an array, or one with its image."""
        return values if isinstance(values, np.ndarray) else Imaged.known(values[0], values[1], self.data.layout)

    def restricted(self, columns: np.ndarray) -> Self:
        """Return the model of some of the variables, the others held at zero."""
        norms = self._column_norms
        norms = None if norms is None else norms[columns]
        return derive(self, data=picked(self.data, columns), shape=(columns.size,), _column_norms=norms)

    def reweighted(self, share: np.ndarray) -> Self:
        twin = super().reweighted(share)
        twin.offset = twin._offset()
        twin._odds = self.row_loss.level(twin.exact_b, twin.exact_share) if twin.intercept else 0.0
        if self.__dict__.get("compiled") is not None:  # the rows may be on disk by now
            twin.compiled = self._compiled(twin.exact_share)
        return twin

    @cached_property
    def facts(self) -> RowFacts:  # pyright: ignore[reportIncompatibleVariableOverride]
        loss, size = self.row_loss, float(np.max(np.abs(self.exact_b)))
        return RowFacts(
            self.least_share,
            abs(self._odds) or loss.spread(self.exact_b),
            loss.bend(size),
            loss.steep,
            loss.unit + 2 * abs(self.offset),
            loss.scale(float(vdot(self.exact_share, self.exact_b**2)) ** 0.5),
            loss.conjugate_unit,
        )

    @property
    def smoothness(self) -> float | None:
        """The constant of the gradient, None where it depends on the set: see `smoothness_within`."""
        return self.row_loss.bend(1.0) * self._gram_norm + self.ridge if self.row_loss.bounded else None

    def smoothness_within(self, reach: Reach) -> float | None:
        rows = None if self.row_loss.bounded else self.data.largest_rows()
        if rows is None:
            return self.smoothness
        margin = reach(*rows)
        if self.intercept:  # which moves margins by no more than they, and targets, are
            margin = 2 * margin + self.facts.spread
        steepest = self.row_loss.steepest(margin, float(np.max(np.abs(self.exact_b))))
        return steepest * self._gram_norm + self.ridge

    @property
    def smooth_everywhere(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.row_loss.bounded

    @cached_property
    def strong_convexity(self) -> float:
        """Proven lower bound on the Hessian's eigenvalues: from the Gram matrix where it is small, else the ridge."""
        n, d = self.data.shape
        if not self.row_loss.quadratic or d > min(n, GRAM_LIMIT):
            return self.ridge
        wide = self.doubled() if eps(self.share) > 1e-9 else None
        if wide is not None:
            return wide.strong_convexity
        gram = np.stack([host(self.data.adjoint(self.share * self.data.column(j))) for j in range(d)])
        mass = float(np.trace(gram))
        if self.intercept:
            mean = host(self.data.adjoint(self.share))
            gram, mass = gram - np.outer(mean, mean), 4 * mass  # what cancels was rounded before
        return max(least_eigenvalue(gram, n + 4, mass), 0.0) + self.ridge

    @property
    def knee(self) -> float:
        """How far a margin may move while the curvature of its loss stays about the same."""
        return self.row_loss.knee

    def losses(self, m: Array, rows: slice = slice(None)) -> Array:
        """Return the loss of each entry of m, before weights; m may have leading axes (many points at once)."""
        return self.row_loss.value(m, self.b[rows], *self.row_loss)

    def _slope(self, t: Array, rows: Any) -> Array:
        """Return the gradient of the mean loss on some rows."""
        return self.share[rows] * self.row_loss.slope(t, self.b[rows], *self.row_loss)

    def _curvature(self, t: Array, rows: Any) -> Array:
        """Return the second derivatives of the mean loss on some rows."""
        return self.share[rows] * self.row_loss.curvature(t, self.b[rows], *self.row_loss)

    def _conjugate(self, slope: Array) -> Scalar:
        """Return the convex conjugate of the mean loss."""
        return vdot(self.share, self.row_loss.conjugate(slope / nonzero(self.share), self.b))

    def _bracket(self, m: Array) -> tuple[float, float, float]:
        """Return a lower bound, a guess and an upper bound of the best intercept for margins m."""
        return self.row_loss.bracket(m, self.b, self.share, self._odds)

    def tail(self, m: Array) -> Scalar | None:
        """Return a number t with gg' <= tH by Cauchy's inequality, for losses with exponential tails; None for others.

        It is nearly f where most losses are in their tails.
        """
        t = self.row_loss.tail(self._shifted(m), self.b)
        return None if t is None else vdot(self.share, t)

    def steepest_between(self, start: Array, end: Array) -> Array:
        """Return the largest second derivatives of the mean loss anywhere between two images."""
        loss = self.row_loss
        if loss.bounded:
            return loss.bend(1.0) * self.share
        if self.intercept:
            raise TypeError(f"the curvature of {type(self).__name__} has no bound on a segment with a free intercept")
        return namespace(start).maximum(self.loss_curvature(start), self.loss_curvature(end))  # it is monotone

    @cached_property
    def compiled(self) -> RowLosses | None:
        """The losses as the kernels take them; None where the data are small."""
        if self.data.layout is None:
            return None
        return self._compiled(self.exact_share if self.weighted else np.full(CHUNK, self.exact_share[0]))

    def _compiled(self, share: np.ndarray) -> RowLosses:
        return RowLosses(self.row_loss, self.exact_b, double(share))

    def evaluate(self, y: Point, watch: Point, *, keep: bool = True) -> Evaluation:
        """Return f, gradient and the rest, at one point each or many; without `keep` the points are not used again."""
        return self._evaluation(self._swept(Query(y, watch, keep)), y, watch)

    def _swept(self, query: Query) -> Sweep:
        """Read the rows, in the way that is best for the query."""
        passes = self.data.settle(query)
        seen = chosen(self.data, self, query).read(self.data, self, query)
        return seen._replace(passes=seen.passes + passes) if passes else seen

    def eps(self, x: Point) -> float:
        return self.data.eps

    def _ridge(self, x: Point) -> Scalar:
        if not self.ridge:
            return 0.0
        coords = array_of(x.coords)
        return 0.5 * self.ridge * products(coords, coords)

    def evaluate_twice(self, x: Point, every: int = 1) -> tuple[Evaluation, np.ndarray]:
        """Return f, gradient and Hessian at x, from one read of the data where the kernels can.

        Compiled, the Hessian is estimated from one row in `every`.
        """
        seen = self._swept(Query(x, x, hessian=every))
        at_x, H = self._evaluation(seen, x, x), seen.hessian
        if H is None:
            at_x, H = at_x._replace(passes=at_x.passes + 1), self._hessian(self.loss_curvature(x.image))
        return at_x, H + self.ridge * np.eye(len(H))

    def _hessian(self, curvature: Array) -> np.ndarray:
        """Return the Hessian of the mean loss, on the host."""
        H = self.data.gram(curvature)
        if self.intercept:  # profiled out: the curvature along the intercept is free
            total = namespace(curvature).sum(curvature, dtype=double_of(curvature))
            along, total = together(self.data.adjoint(curvature), total)
            H -= np.outer(along, along) / max(float(total), 1e-300)
        return H

    def line(self, x: Point, v: Point) -> tuple[Line, float]:
        passes = self.resolve(x) + self.resolve(v)
        if x.image.ndim == 2:
            return Lines(self, x, v), passes
        if self.compiled is None or (self.intercept and self.row_loss.quadratic):
            return super().line(x, v)[0], passes
        return (FusedLine if self.separable else ProfiledLine)(self, x, v), passes

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

    def loss(self, m: Array) -> Scalar:
        return self.loss_at(self._shifted(m))

    def loss_at(self, t: Array) -> Scalar:
        """Return the mean loss at margins that hold the intercept."""
        if self.compiled is None:
            return products(self.losses(t), self.share)
        return self.compiled.value(t) if t.ndim == 1 else np.array([self.compiled.value(m) for m in t])

    def loss_slope(self, m: Array, rows: slice = slice(None)) -> Array:
        t = self._shifted(m)
        if self.compiled is None or t.shape != self.b.shape:
            slope = self._slope(t, rows)
        elif self.intercept:
            slope = self.compiled.slope(t)
        else:
            slope = self.compiled.slope(t).astype(t.dtype, copy=False)
        return balanced(slope) if self.intercept else slope

    def loss_curvature(self, m: Array) -> Array:
        t = self._shifted(m)
        return self._curvature(t, slice(None)) if self.compiled is None else self.compiled.curvature(t)

    def loss_inner(self, m: Array, slope: Array) -> Scalar:
        return self.loss(m) + self._conjugate(slope) if self.intercept else products(slope, m)

    def bend(self, curvature: Array, image: Array) -> Array:
        bent = curvature * image
        if not self.intercept:
            return bent
        xp = namespace(curvature)
        return bent - curvature * (xp.sum(bent, axis=-1, keepdims=True) / nonzero(xp.sum(curvature)))

    def quadratic_form(self, curvature: Array, images: Any) -> np.ndarray:
        product = super().quadratic_form(curvature, images)
        if self.intercept:
            total = namespace(curvature).sum(curvature, dtype=double_of(curvature))
            along, total = together(images.T @ curvature, total)
            product -= np.outer(along, along) / nonzero(total[()])
        return product

    def best_intercept(self, m: Array) -> float:
        """Return the intercept c that minimises the loss of m + c, zero for a model without one.

        Examples
        --------
        >>> import numpy as np, frankwolfe as fw
        >>> fw.LeastSquares(np.eye(2), [2.0, 4.0], intercept=True).best_intercept(np.zeros(2))
        3.0
        """
        return self._shift(m) + self.level if self.intercept else 0.0

    def _shift(self, m: Array) -> float:
        if self._last is None or self._last[0] is not m:
            self._last = (m, self._solve(m))
        return self._last[1]

    def _solve(self, m: Array) -> float:
        known = self.row_loss.intercept(m, self.b, self.share, self._odds)
        if known is not None:
            return known
        return find_intercept(self, m, self._last[1] if self.remember and self._last is not None else None)

    def _shifted(self, m: Array) -> Array:
        return m + self._shift(m) if self.intercept else m

    def fingerprint(self, start: Any) -> list[Any]:
        return [*self.row_loss, *super().fingerprint(start), self.level, self.b]
