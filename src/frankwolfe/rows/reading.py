"""One read of the rows: what is asked of it, what it gives, and the one place that decides how it is done."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np

from frankwolfe.atoms import Atom
from frankwolfe.backends import Array, Scalar, namespace, row_dot, vdot
from frankwolfe.points import Leaf, Point, weighted_sum


class Query:
    """What is wanted: f and gradient at y, and f at `watch`; one point each, or equally many stacked in rows.

    The images of both mix known images with products of the rows with new vectors, the pending ones. Images made on the
    way are kept with the points, unless these are not used again (`keep`). `hessian` asks for the Hessian at y too,
    estimated from one row in so many. Where a point is no vector (`vectors`), a table is not many of them.
    """

    __slots__ = ("hessian", "keep", "vectors", "watch", "y")

    def __init__(self, y: Point, watch: Point, keep: bool = True, hessian: int = 0, vectors: bool = True) -> None:
        self.y, self.watch, self.keep, self.hessian, self.vectors = y, watch, keep, hessian, vectors

    @property
    def pending(self) -> list[Leaf]:
        """The leaves whose image is not known, each once."""
        return list(dict.fromkeys([*self.y.pending, *self.watch.pending]))

    @property
    def known(self) -> list[Leaf]:
        """The leaves whose image is known, each once."""
        terms = (*self.y.terms, *self.watch.terms)
        return list(dict.fromkeys(leaf for _, leaf in terms if leaf.value is not None))

    @property
    def size(self) -> int:
        """How many points are stacked; zero for single ones."""
        if not self.vectors:
            return 0
        leaf = self.y.terms[0][1]
        known: Any = leaf.coords if leaf.value is None else leaf.value
        shape = known.shape
        return shape[0] if len(shape) == 2 else 0

    def weights(self, leaf: Leaf) -> tuple[Scalar, Scalar]:
        """Return the weight of a leaf in y and in `watch`."""
        return _weight(self.y, leaf), _weight(self.watch, leaf)


class Sweep(NamedTuple):
    """What came back: numbers, or one for each of many points. Nothing here knows of a ridge term."""

    value: Scalar  # at y
    inner: Scalar  # <slope of the loss, image of y>
    watched: Scalar  # the value at `watch`
    slope: Array
    passes: float  # reads of all rows
    path: str  # how they were read
    hessian: np.ndarray | None = None  # where it was asked for and came with the same read


class Path(ABC):
    """One way to answer a query, for rows and a model that knows its loss, targets and weights."""

    name: str

    @abstractmethod
    def takes(self, rows: Any, model: Any, query: Query) -> bool:
        """Tell whether this path can answer the query."""

    @abstractmethod
    def read(self, rows: Any, model: Any, query: Query) -> Sweep:
        """Answer it."""


def chosen(rows: Any, model: Any, query: Query) -> Path:
    """Return the path that answers a query: the first of those of the rows that takes it. The last takes all."""
    return next(path for path in rows.paths if path.takes(rows, model, query))


class ArrayBlocks(Path):
    """Array operations on blocks of rows that stay in cache: each is multiplied with vectors and residuals in turn."""

    name = "array operations on row blocks"

    def takes(self, rows: Any, model: Any, query: Query) -> bool:
        return model.separable

    def read(self, rows: Any, model: Any, query: Query) -> Sweep:
        y, watch, fresh, size = query.y, query.watch, query.pending, query.size
        vectors = [array_of(leaf.coords) for leaf in fresh]
        images: list[list[Array]] = [[] for _ in fresh]
        watched, sums, slope = [], [], None
        for few, block in rows.row_blocks(size):
            new = [x @ block.T if size else block @ x for x in vectors]
            for pieces, piece in zip(images, new, strict=True):
                pieces.append(piece)
            m = _mixed(y, fresh, new, few)
            losses = model.array_losses(few)
            residual = losses.slope(m)
            part = residual @ block if size else block.T @ residual
            slope = part if slope is None else slope + part
            # <residual, m> rather than <slope, y>: the tangent is then below f even if rounding moved the image.
            numbers = [losses.value(m), products(residual, m)]
            if watch is not y:
                m = _mixed(watch, fresh, new, few)
                numbers.append(losses.value(m))
            watched.append(m)
            sums = [a + b for a, b in zip(sums, numbers, strict=True)] if sums else numbers
        if query.keep and not size:
            for leaf, pieces in zip(fresh, images, strict=True):
                leaf.resolve(_joined(pieces))
        if query.keep and (size or len(watch.terms) > 1):
            # Of many points the watched ones keep their images; a new vertex's were needed for the mixture only.
            watch.terms = ((1.0, Leaf(None, _joined(watched))),)
        return Sweep(
            sums[0], sums[1], sums[-1 if watch is not y else 0], slope, rows.reads(size, len(fresh)), self.name
        )


class TwoReads(Path):
    """One read for the images that are pending, another one for the gradient: whatever the rows, loss and points."""

    name = "one read for images, one for the gradient"

    def takes(self, rows: Any, model: Any, query: Query) -> bool:
        return True

    def read(self, rows: Any, model: Any, query: Query) -> Sweep:
        y, watch = query.y, query.watch
        passes = model.resolve(y) + model.resolve(watch) + rows.adjoint_cost
        m = y.image
        residual = model.loss_slope(m)
        value = model.loss(m)
        watched = value if watch is y else model.loss(watch.image)
        slope = rows.adjoint(residual.T).T if query.size else model.map.adjoint(residual)
        return Sweep(value, model.loss_inner(m, residual, value), watched, slope, passes, self.name)


def array_of(coords: Any) -> Array:
    """Return coordinates as an array."""
    return coords.toarray() if isinstance(coords, Atom) else coords


def products(a: Array, b: Array) -> Scalar:
    """Return <a, b>, or that of each row of a."""
    return vdot(a, b) if a.ndim == 1 else row_dot(a, b)


def _weight(point: Point, leaf: Leaf) -> Scalar:
    first, *more = [w for w, l in point.terms if l is leaf] or [0.0]
    return sum(more, first)


def _mixed(point: Point, fresh: list[Leaf], new: list[Array], rows: slice) -> Array:
    """Return the image of a point on some rows; images not known yet are in `new`."""
    values = {id(leaf): value for leaf, value in zip(fresh, new, strict=True)}
    terms = [(w, values[id(leaf)] if leaf.value is None else leaf.value[..., rows]) for w, leaf in point.terms]
    (weight, value), *more = terms
    return weighted_sum(terms) if more or not (isinstance(weight, float) and weight == 1.0) else value


def _joined(pieces: list[Array]) -> Array:
    return pieces[0] if len(pieces) == 1 else namespace(pieces[0]).concat(pieces, axis=-1)
