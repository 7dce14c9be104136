"""What objectives ask of their rows, wherever these live."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

from frankwolfe.backends import Array, host
from frankwolfe.points import Point
from frankwolfe.rows.reading import Path, Query, Sweep, TwoReads, chosen
from frankwolfe.validation import vector

GRAM_LIMIT = 2000  # features up to which the smallest eigenvalue is computed from the Gram matrix
Sums = tuple[Any, ...]  # numbers and arrays that add up over blocks of rows
Task = Callable[..., Sums]  # of a model of some rows, images there, and arguments; a function that can be sent


class Rows(ABC):
    """The n x d rows of the data, as the map x -> Ax from coordinates to images, which have a number for each row.

    One class for each place where rows live: arrays of a library, sparse matrices, a device that reads blocks of main
    memory, an operator, parts on disk or on a cluster.
    """

    shape: tuple[int, int]
    dtype: Any
    layout: Any = None  # the rows as the compiled kernels read them; None where they do not
    adjoint_cost = 1.0  # reads of the data that `adjoint` takes
    shared: bool = False  # whether many points share a read at little more than the price of one
    stored: bool = True  # whether the numbers are at hand: not those of an operator, nor those on disk or a cluster
    picks_rows: bool = True  # whether single rows can be picked from the matrix
    descends: bool = False  # whether coordinate descent can read the columns, one by one
    adds_columns: bool = False  # whether the products of some columns with all others take a matrix product, no more
    holds_images: bool = True  # whether images are arrays that anybody may look at
    paths: tuple[Path, ...] = (TwoReads(),)  # the ways in which evaluations may read the rows, the best first
    note: str = ""  # a few words on throughput, for the line of progress

    @property
    @abstractmethod
    def eps(self) -> float:
        """Machine epsilon of the arithmetic."""

    @property
    def additions(self) -> int:
        """How many additions follow one another at most in an entry of Ax and of A'r."""
        return self.stacked_additions

    @property
    def stacked_additions(self) -> int:
        """The same for several vectors at once."""
        return sum(self.shape)

    def sweep(self, model: Any, query: Query) -> Sweep:
        """Answer a query about a model of these rows, in the way that is best for it."""
        passes = self.settle(query)
        seen = chosen(self, model, query).read(self, model, query)
        return seen._replace(passes=seen.passes + passes) if passes else seen

    def settle(self, query: Query) -> float:
        """Compute the images that cost no more than a few columns; return the reads of the data that took."""
        return 0.0

    def reduce(self, model: Any, task: Task, images: Sequence[Any], args: tuple[Any, ...], reads: bool) -> Sums:
        """Return task(model of some rows, *images there, *args), added up over all rows.

        `reads` tells whether the task reads the rows; images and targets are at hand without.
        """
        return task(model, *images, *args)

    def image_of(self, model: Any, x: Point) -> tuple[Any, float]:
        """Return the image of a point, or what the rows make it from in `reduce`, and the reads that took."""
        passes = model.resolve(x)
        return x.image, passes

    def segment(self, model: Any, x: Point, v: Point) -> tuple[Any, Any, float]:
        """Return the image of x, its change on the way to v, and the reads that took."""
        passes = model.resolve(x) + model.resolve(v)
        return x.image, v.image - x.image, passes

    @abstractmethod
    def apply(self, coords: Any) -> Any:
        """Return the image of a point, or of each of many."""

    @abstractmethod
    def cost(self, coords: Any) -> float:
        """Return how many reads of the data `apply` takes: one for a dense vector, a sliver for a one-hot atom."""

    @abstractmethod
    def product(self, x: Array) -> Any:
        """Return A x."""

    def scores(self, coefs: np.ndarray) -> np.ndarray:
        """Return the products of all rows with the columns of a matrix, on the host."""
        return host(self.product(self.array(coefs)))

    @abstractmethod
    def adjoint(self, r: Any) -> Array:
        """Return A.T r."""

    @abstractmethod
    def gram(self, weights: Any) -> np.ndarray:
        """Return A'diag(weights)A, on the host."""

    def weighted_gram(self, weights: Any, some: np.ndarray | None = None, sums: bool = False) -> tuple[np.ndarray, Any]:
        """Return A'diag(weights)A, on the host, and if asked for the weighted sums of the rows; of all rows or some.

        Weights are not negative.
        """
        if some is not None:
            weights, few = np.zeros(self.shape[0]), weights
            weights[some] = few
        return self.gram(weights), self.adjoint(weights) if sums else None

    @property
    def forms_moments(self) -> bool:
        """Whether `moments` takes one read of the rows, and no more than their Gram matrix alone."""
        return False

    def moments(self, model: Any) -> np.ndarray:
        """Return the second moments of rows, a constant and the targets of a model, as `with_targets` puts them."""
        raise NotImplementedError

    @property
    def forms_gram(self) -> bool:
        """Whether the Gram matrix is small enough to be formed for its eigenvalues, and may be regular."""
        return self.shape[1] <= min(self.shape[0], GRAM_LIMIT)

    def share_gram(self, model: Any) -> np.ndarray:
        """Return the Gram matrix, the rows weighted by their shares in a model."""
        return self.gram(model.share)

    @abstractmethod
    def gram_norm(self, model: Any) -> float:
        """Return the largest eigenvalue of the Gram matrix, the rows weighted by their shares in a model."""

    @abstractmethod
    def columns(self, indices: Array) -> Any:
        """Return several columns as something that multiplies a vector."""

    @abstractmethod
    def array(self, values: Any) -> Array:
        """Return values as an array of the data's namespace, dtype and device."""

    @abstractmethod
    def identity(self, model: Any) -> list[Any]:
        """Return what identifies rows, targets and weights of a model: numbers and arrays."""

    def current(self) -> Rows:
        """Return the same data as the next run is to read them."""
        return self

    def by_columns(self) -> Rows:
        """Return the same data laid out so that single columns are cheap."""
        return self

    def carrying(self) -> Rows:
        """Return the same data, whose gradients come with their own images where that takes no read more."""
        return self

    def doubled(self) -> Self | None:
        """Return the same numbers, computed with in double precision; None where that cannot be had."""
        return None


def shares(weights: Any, n: int) -> np.ndarray:
    """Return sample weights as parts of one, equal ones for None."""
    if weights is None:
        return np.full(n, 1.0 / n)
    weights = summable("sample_weight", vector("sample_weight", weights, n))
    return weights / weights.sum()


def summable(name: str, weights: np.ndarray) -> np.ndarray:
    """Return weights whose sum is an ordinary number: themselves, or scaled by the largest."""
    weights = weights.astype(np.float64, copy=False)
    largest = float(weights.max())
    if weights.min() < 0 or not largest > 0:
        raise ValueError(f"{name} must be nonnegative with a positive sum, got a minimum of {float(weights.min())!r}")
    return weights if 1e-290 < largest < 1e290 else weights / largest
