"""Rows in parts, on a cluster or on disk, each with a model of its own: one stateless task a part and evaluation.

What moves is a few vectors of the length of x. Images are not kept with points: whoever needs one makes it afresh from
the coordinates, so that a lost worker costs no more than its part of the current evaluation and a checkpoint holds
nothing that depends on the parts. During a line search, or a search for an intercept, images stay where their rows are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from frankwolfe.backends import Array
from frankwolfe.points import Point
from frankwolfe.rows.parts import Most, Part, Parts, PartTask, checksum
from frankwolfe.rows.reading import Path, Query, Sweep
from frankwolfe.rows.rows import Rows, Sums, Task

GRAM_LIMIT = 1000  # features up to which the Gram matrix is formed, in one read, for its eigenvalues


class Unkept:
    """The image of a point that nobody keeps: it is made from the coordinates when it is needed."""

    def __add__(self, other: Unkept) -> Unkept:
        return self

    def __rmul__(self, weight: Any) -> Unkept:
        return self

    def __getitem__(self, i: int) -> Unkept:
        return self


UNKEPT = Unkept()


class KeptImage(NamedTuple):
    """An image that lies with the parts."""

    kept: Any  # handle to all images that were made in the same read
    place: int  # of this one among them


class EachPart(Path):
    """Every part answers from one read of its rows; the answers add up."""

    name = "one task for each part of the rows"

    def takes(self, rows: Any, model: Any, query: Query) -> bool:
        return not model.intercept

    def read(self, rows: Any, model: Any, query: Query) -> Sweep:
        other = None if query.watch is query.y else query.watch.coords
        value, inner, watched, slope, passes = rows.parts.total(evaluation, query.y.coords, other)
        _forget_images(query)
        return Sweep(value, inner, watched, slope, float(passes), self.name)


class EachPartTwice(Path):
    """One read for images, which stay with the parts; sums over them for the intercepts; one read for the gradient."""

    name = "one task for the images of each part, sums for intercepts, one task for its gradient"

    def takes(self, rows: Any, model: Any, query: Query) -> bool:
        return True

    def read(self, rows: Any, model: Any, query: Query) -> Sweep:
        points = [query.y] if query.watch is query.y else [query.y, query.watch]
        images = rows.keep([point.coords for point in points])
        _forget_images(query)
        slope, inner, values = model.balanced_slope(images)
        return Sweep(values[0], inner, values[-1], slope, 2.0, self.name)


class RowsInParts(Rows):
    """Rows in parts, each with a model of its own whose shares are those in the whole.

    Made when a model is given a Dask array or dataframe, a list of delayed blocks, or a stream from disk. The options
    are what the models of all parts agree on, such as the classes.
    """

    holds_images = stored = picks_rows = False
    paths = (EachPart(), EachPartTwice())

    def __init__(
        self, parts: Parts, shape: tuple[int, int], dtype: np.dtype, options: dict[str, Any], dense: bool = True
    ) -> None:
        self.parts, self.shape, self.dtype, self.options, self.shared = parts, shape, dtype, options, dense

    @property
    def eps(self) -> float:
        return float(np.finfo(self.dtype).eps)

    @property
    def note(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.parts.note

    def reduce(self, model: Any, task: Task, images: Sequence[Any], args: tuple[Any, ...], reads: bool) -> Sums:
        if images and isinstance(images[0], KeptImage):
            places = [image.place for image in images]
            return self.parts.total(with_images, task, places, args, kept=images[0].kept, reads=reads)
        return self.parts.total(with_coords, task, list(images), args, reads=reads or bool(images))

    def keep(self, points: list[Any]) -> list[KeptImage]:
        """Return the images of some points, from one read: they stay with the parts."""
        kept = self.parts.keep(images_of, points)
        return [KeptImage(kept, i) for i in range(len(points))]

    def image_of(self, model: Any, x: Point) -> tuple[Any, float]:
        return self.apply(x.coords) if model.intercept else x.coords, 1.0

    def segment(self, model: Any, x: Point, v: Point) -> tuple[KeptImage, KeptImage, float]:
        kept = self.parts.keep(segment_of, x.coords, v.coords)
        return KeptImage(kept, 0), KeptImage(kept, 1), 1.0

    def apply(self, coords: Any) -> KeptImage:
        return self.keep([coords])[0]

    def cost(self, coords: Any) -> float:
        return 1.0

    def product(self, x: Array) -> KeptImage:
        return self.apply(x)

    def adjoint(self, r: KeptImage) -> Array:
        return self.reduce(None, adjoint_of, [r], (), reads=True)[0]

    def gram(self, weights: KeptImage) -> np.ndarray:
        return self.reduce(None, gram_of, [weights], (), reads=True)[0]

    @property
    def forms_gram(self) -> bool:
        return self.shape[1] <= GRAM_LIMIT

    def share_gram(self, model: Any) -> np.ndarray:
        return self._share_gram

    @cached_property
    def _share_gram(self) -> np.ndarray:
        return self.reduce(None, gram_of, (), (), reads=True)[0].astype(np.float64)

    def gram_norm(self, model: Any) -> float:
        d = self.shape[1]
        if self.forms_gram:
            return float(np.linalg.eigvalsh(self._share_gram)[-1])
        from scipy.sparse.linalg import LinearOperator, eigsh

        def product(w: np.ndarray) -> np.ndarray:
            return self.reduce(None, gram_product, (), (w.astype(self.dtype).reshape(-1),), reads=True)[0]

        operator: Any = LinearOperator((d, d), matvec=product, dtype=np.float64)  # pyright: ignore[reportCallIssue]
        start = np.random.default_rng(0).standard_normal(d)
        return float(eigsh(operator, k=1, which="LA", v0=start, return_eigenvectors=False)[0])

    def scores(self, coefs: np.ndarray) -> np.ndarray:
        return np.concatenate(self._in_order(row_products, coefs))

    def _in_order(self, task: PartTask, *args: Any) -> list[Any]:
        """Return what a task makes of each part, in the order of the rows."""
        (pieces,) = self.parts.total(task, *args)
        return [piece for _, piece in sorted(pieces, key=lambda numbered: numbered[0])]

    def columns(self, indices: Array) -> Any:
        ordered = self._in_order(columns_at, indices)
        if not hasattr(ordered[0], "tocsr"):
            return np.concatenate(ordered)
        from scipy.sparse import vstack

        return vstack(ordered, format="csr")

    def array(self, values: Any) -> np.ndarray:
        return np.asarray(values, dtype=self.dtype)

    def reweighted(self, weights: np.ndarray) -> RowsInParts:
        """Return the rows, which stay where they are, with other weights, one for each."""
        return RowsInParts(self.parts.reweighted(weights), self.shape, self.dtype, self.options, self.shared)

    def changed(self, change: Callable[[Any], Any]) -> RowsInParts:
        """Return the rows with a function applied to each block of them, where they are."""
        return RowsInParts(self.parts.changed(change), self.shape, self.dtype, self.options, self.shared)

    def identity(self, model: Any) -> list[Any]:
        return [*self.shape, str(self.dtype), self.parts.total(checksum)[0]]


def _forget_images(query: Query) -> None:
    for leaf in query.pending:
        leaf.resolve(UNKEPT)


def with_images(part: Part, kept: Sums, task: Task, places: list[int], args: tuple[Any, ...]) -> Sums:
    """Do a task to the model of a part, with images that are kept."""
    return task(part.objective, *(kept[i] for i in places), *args)


def with_coords(part: Part, task: Task, points: list[Any], args: tuple[Any, ...]) -> Sums:
    """Do a task to the model of a part, with images of points that are made on the way."""
    return task(part.objective, *(part.objective.map.apply(x) for x in points), *args)


def evaluation(part: Part, y: Any, watch: Any) -> Sums:
    """Value, <gradient, y> and, at `watch` (None: y again), value; the gradient; the reads of the rows."""
    model, at = part.objective, Point.at(y)
    query = Query(at, at if watch is None else Point.at(watch), keep=False, vectors=model.vectors)
    seen = model.data.sweep(model, query)
    return seen.value, seen.inner, seen.watched, seen.slope, Most(seen.passes)


def images_of(part: Part, points: list[Any]) -> Sums:
    """The images of some points, to be kept."""
    return tuple(part.objective.map.apply(x) for x in points)


def segment_of(part: Part, x: Any, v: Any) -> Sums:
    """The image of x and its change on the way to v, to be kept: as long as the part has rows."""
    start, stop = images_of(part, [x, v])
    return start, stop - start


def adjoint_of(model: Any, r: Array) -> Sums:
    return (model.map.adjoint(r),)


def gram_of(model: Any, weights: Array | None = None) -> Sums:
    """The Gram matrix, the rows weighted by these numbers, or by their shares."""
    return (model.data.gram(model.share if weights is None else weights),)


def gram_product(model: Any, w: np.ndarray) -> Sums:
    """The same times w."""
    return (model.data.adjoint(model.share * model.data.product(w)),)


def row_products(part: Part, coefs: np.ndarray) -> Sums:
    """The number of the first row, and the rows times coefficients: in a list, which adds up to all of them."""
    return ([(part.first, np.asarray(part.objective.data.matrix @ coefs))],)


def columns_at(part: Part, indices: Array) -> Sums:
    """The number of the first row, and some columns, in a list, which adds up to all of them."""
    return ([(part.first, part.objective.data.columns(indices))],)
