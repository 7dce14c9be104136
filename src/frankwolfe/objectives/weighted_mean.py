"""A weighted mean over rows of data of a function of each row's products with x: what all linear models share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from frankwolfe.backends import Array, Scalar, namespace
from frankwolfe.backends.compile_policy import READS, choices_of_run
from frankwolfe.backends.namespace import as_like
from frankwolfe.objectives.base import Evaluation
from frankwolfe.objectives.composite import Composite
from frankwolfe.objectives.derive import derive
from frankwolfe.points import Point
from frankwolfe.rounding import Extent, RowFacts, noise_of_rows
from frankwolfe.rows.parts import Most, Parts
from frankwolfe.rows.reading import Query
from frankwolfe.rows.rows import Sums, Task, shares
from frankwolfe.rows.rows_in_parts import UNKEPT
from frankwolfe.rows.user_data import data_matrix, reoriented, rows_in_parts
from frankwolfe.validation import nonnegative

LANCZOS = 1.1  # a norm that Lanczos has found, times this, is not too small


class WeightedMean(Composite):
    """A weighted mean over the rows of data of a function of each row's product with x, plus an optional ridge term."""

    warm_intercepts = False
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

    @classmethod
    def part(cls, A: Any, b: Any, weights: Any, whole: float, options: dict[str, Any]) -> Self:
        """Return the model of some of the rows, as a part of the mean: the weights of all rows add up to `whole`."""
        model = cls(A, b, **options)  # pyright: ignore[reportCallIssue]
        share = np.full(model.data.shape[0], 1.0 / whole) if weights is None else weights / whole
        part = model.reweighted(share, weighted=weights is not None)
        with choices_of_run(reads=round(READS / max(float(share.sum()), 1e-9))):  # all parts are read
            _ = part.data.layout
        return part

    compiled: Any = None  # the loss as the kernels know it
    vectors: ClassVar[bool] = True  # whether a point is a vector, so that a table is many of them

    def __init__(self, A: Any, weights: Any, ridge: float, intercept: bool) -> None:
        self.data: Any = data_matrix("A", A)
        self.ridge = nonnegative("ridge", ridge)
        self.exact_share = shares(weights, self.data.shape[0])  # weight of each row in the mean
        self.weighted = weights is not None
        self.share = self._shares_for(self.data)  # the same in the precision of the data
        self.intercept = bool(intercept)
        self._last: Any = None  # the last image, and what was found out about it

    def _take_parts(self, A: Any, b: Any, weights: Any, ridge: float, intercept: bool, **options: Any) -> None:
        """Take rows in parts in the place of a matrix; targets and weights lie with them, in models of this kind."""
        self.data = rows_in_parts(type(self), A, b, weights, options)
        self.ridge, self.intercept, self._last = nonnegative("ridge", ridge), bool(intercept), None
        vars(self).update(self.data.options)

    @property
    def parts(self) -> Parts:
        """The parts of the rows, for those that are in parts."""
        return self.data.parts

    @property
    def holds_images(self) -> bool:
        return self.data is None or self.data.holds_images  # between two reads of a part its rows are on disk

    @property
    def note(self) -> str:
        return self.data.note

    def total(self, task: Task, *args: Any, images: Sequence[Any] = (), reads: bool = False) -> Sums:
        """Return task(model, *images, *args), for this model, or added up over those of all parts of the rows.

        An image of rows in parts is one that they keep, or the coordinates to make it from on the way.
        """
        return self.data.reduce(self, task, images, args, reads)

    def evaluate(self, y: Point, watch: Point) -> Evaluation:
        return self._evaluation(self.data.sweep(self, Query(y, watch, vectors=self.vectors)), y, watch)

    def value_at(self, x: Point) -> tuple[Scalar, float]:
        image, passes = self.data.image_of(self, x)
        return self.loss(image) + (self._ridge(x) + self.offset), passes

    def resolve(self, x: Point) -> float:
        if self.holds_images:
            return super().resolve(x)
        for leaf in x.pending:
            leaf.resolve(UNKEPT)
        return 0.0

    def eps(self, x: Point) -> float:
        return self.data.eps

    def start(self, x0: Any, dense: bool) -> Array:
        return self.data.array(np.zeros(self.shape or ()) if x0 is None else x0)

    def oriented(self, sparse_atoms: bool, parallel_atoms: bool = False) -> Self:
        return reoriented(self, sparse_atoms, parallel_atoms)

    def doubled(self) -> Self | None:
        data = self.data.doubled()
        if data is None:
            return None
        return derive(self, data=data, share=self._shares_for(data))

    def _shares_for(self, data: Any) -> Array:
        return data.array(self.exact_share) if self.weighted else data.equal(self.exact_share)

    def reweighted(self, share: np.ndarray, weighted: bool = True) -> Self:
        """Return the model with other weights of the rows; equal ones need not be called weighted.

        They add up to one, but for a part of a model. With rows in parts any weights do.
        """
        if not self.holds_images:
            twin = derive(self, data=self.data.reweighted(share))
        else:
            exact = np.asarray(share, dtype=np.float64)
            twin = derive(self, exact_share=exact, share=as_like(exact, self.share), weighted=weighted)
        twin._check_intercept()
        return twin

    def _check_intercept(self) -> None:
        """Raise an error where no intercept is best."""

    @cached_property
    def _gram_norm(self) -> float:
        """Largest eigenvalue of the weighted Gram matrix, sum of share_i a_i a_i'."""
        return self.data.gram_norm(self)

    def column_norms(self, extent: Extent) -> np.ndarray:
        return self._column_norms

    @cached_property
    def _column_norms(self) -> np.ndarray:
        (squares,) = self.total(_column_squares, reads=True)
        if squares is None:  # an operator: no column is longer than its norm
            return np.full(self.shape or (), LANCZOS * self._gram_norm**0.5)
        c = np.sqrt(squares + np.finfo(np.float64).tiny)  # a square that underflows is no zero
        return np.broadcast_to(c.reshape(-1, *[1] * (len(self.shape or ()) - 1)), self.shape or ())

    @property
    def additions(self) -> int:
        return self.data.stacked_additions + sum((self.shape or ())[1:])

    def noise(self, at: Evaluation, extent: Extent) -> Scalar:
        additions = self.additions
        if getattr(at.value, "ndim", 0):  # many points are added up in another order: by row after row, at worst
            additions = max(additions, sum(self.data.shape))
        return noise_of_rows(self.facts, at.eps, additions, at.value, extent, self.ridge, self.intercept)

    @property
    @abstractmethod
    def facts(self) -> RowFacts:
        """What rounding asks of the rows."""

    @cached_property
    def least_share(self) -> float:
        """The smallest weight of a row that is not zero."""
        return -float(self.total(_minus_least_share)[0])

    def fingerprint(self, start: Any) -> list[Any]:
        return [type(self).__name__, self.ridge, int(self.intercept), *self.data.identity(self)]


def _column_squares(model: WeightedMean) -> Sums:
    """The weighted sums of squares of the columns, where they are known."""
    squares = model.data.column_squares(model.share if model.weighted else None)
    return (squares if squares is None or model.weighted else squares * float(model.exact_share[0]),)


def _minus_least_share(model: WeightedMean) -> Sums:
    """Minus the smallest weight of a row that is not zero."""
    if not model.weighted:
        return (Most(-float(model.exact_share[0])),)
    xp = namespace(model.share)
    return (Most(-float(xp.min(xp.where(model.share > 0, model.share, xp.ones_like(model.share))))),)
