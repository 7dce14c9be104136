"""Matrix completion with the observed entries in parts: the oracle's Lanczos steps are products on the workers."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from frankwolfe.backends import Array, Scalar, vdot
from frankwolfe.distributed import shards
from frankwolfe.distributed.cluster import ClusterParts, current_client
from frankwolfe.distributed.collections import row_blocks, vector_blocks
from frankwolfe.distributed.model import placed
from frankwolfe.kernels.implicit import ImplicitMatrix
from frankwolfe.lowrank import LowRank
from frankwolfe.objectives.base import Evaluation, Line, Objective
from frankwolfe.objectives.matrix_completion import MatrixCompletion
from frankwolfe.objectives.parts import Part, Parts, Sums, probe, segment
from frankwolfe.points import Point
from frankwolfe.serialisation import register

COMPRESS_FROM = 128  # factors of an average of points; its rank is far less


class PartitionedCompletion(Objective):
    """Half the sum of squared errors on observed entries that are in parts, usually by rows of the matrix.

    Entries never move. The gradient at X is the observed part of X minus the values, so an average of gradients belongs
    to the average of the points: it is kept as a low-rank matrix and a weight, and what moves for a product with it is
    a vector. Made by `MatrixCompletion` from Dask arrays or lists of delayed blocks.
    """

    def __init__(self, parts: Parts, shape: tuple[int, int]) -> None:
        self.parts = parts
        self.shape: tuple[int, ...] = shape

    @property
    def smoothness(self) -> float:
        return 1.0

    def value(self, x: Any) -> Scalar:
        return self.value_at(Point.at(x))[0]

    def grad(self, x: Any) -> Any:
        return Residuals(self.parts, self._shape, x, 1.0)

    def start(self, x0: Any, dense: bool) -> Any:
        if dense:
            raise TypeError("projected methods need the whole matrix in memory; use 'fw' or 'afw'")
        if x0 is None:
            return LowRank.zero(self._shape, self.parts.dtype)
        if not isinstance(x0, LowRank):
            raise TypeError(f"x0 must be a LowRank over entries in parts, got {type(x0).__name__}")
        return x0

    def evaluate(self, y: Point, watch: Point) -> Evaluation:
        for leaf in (*y.pending, *watch.pending):
            leaf.resolve(0.0)  # images are not kept: see `Partitioned`
        end = None if watch is y else watch.coords
        value, inner, watched = self.parts.total(errors, y.coords, end)
        return Evaluation(value, self.grad(y.coords), inner, watched, 1.0, float(np.finfo(self.parts.dtype).eps))

    def value_at(self, x: Point) -> tuple[Scalar, float]:
        return self.parts.total(errors, x.coords, None)[0], 1.0

    def line(self, x: Point, v: Point) -> tuple[Line, float]:
        return _Parabola(self.parts, x.coords, v.coords), 1.0

    def dual(self, values: Any) -> Residuals:
        return Residuals(self.parts, self._shape, *values)

    def fingerprint(self, start: Any) -> list[Any]:
        (number,) = self.parts.total(checksum)
        return ["PartitionedCompletion", *self.shape, self.parts.rows, number]

    @property
    def _shape(self) -> tuple[int, int]:
        return self.shape[0], self.shape[1]


class Residuals(ImplicitMatrix):
    """The observed part of `point` minus `weight` times the values: a gradient, or an average of gradients."""

    def __init__(self, parts: Parts, shape: tuple[int, int], point: Any, weight: float) -> None:
        self.parts, self.shape, self.dtype = parts, shape, parts.dtype
        many = isinstance(point, LowRank) and point.stored > COMPRESS_FROM
        self.point, self.weight = point.compress(1e-14) if many else point, float(weight)

    @cached_property
    def _kept(self) -> Any:
        return self.parts.keep(residuals, self.point, self.weight)

    def __matmul__(self, w: np.ndarray) -> np.ndarray:
        return self.parts.total(product, w, kept=self._kept, reads=False)[0]

    def rmatvec(self, u: np.ndarray) -> np.ndarray:
        return self.parts.total(transposed, u, kept=self._kept, reads=False)[0]

    def __add__(self, other: Residuals) -> Residuals:
        return Residuals(self.parts, self.shape, self.point + other.point, self.weight + other.weight)

    def __sub__(self, other: Residuals) -> Residuals:
        return self + (-1.0) * other

    def __mul__(self, c: Any) -> Residuals:
        return Residuals(self.parts, self.shape, float(c) * self.point, float(c) * self.weight)

    __rmul__ = __mul__

    def __truediv__(self, c: Any) -> Residuals:
        return self * (1.0 / float(c))

    def __neg__(self) -> Residuals:
        return self * -1.0


register(Residuals, lambda g: [g.point, g.weight], lambda f, dual: dual(f))  # pyright: ignore[reportArgumentType]


class _Parabola(Line):
    """The segment on entries that stay with the parts; f is a parabola on it, so two numbers are all."""

    def __init__(self, parts: Parts, x: Any, v: Any) -> None:
        kept = parts.keep(segment, x, v)
        self.first, self.second = parts.total(probe, 0.0, kept=kept, reads=False)

    def __call__(self, gamma: float) -> tuple[float, float]:
        return self.first + gamma * self.second, self.second


def errors(part: Part, y: Any, watch: Any) -> Sums:
    """Value and <gradient, y> at y, and the value at `watch` (None: y again)."""
    f = part.objective
    m = f.map.apply(y)
    value = f.loss(m)
    return value, vdot(f.loss_slope(m), m), value if watch is None else f.loss(f.map.apply(watch))


def residuals(part: Part, point: Any, weight: float) -> Sums:
    """The matrix of a gradient on a part, to be kept."""
    f: Any = part.objective
    return (f.dual(f.map.apply(point) - weight * f.values),)


def product(part: Part, kept: Sums, w: np.ndarray) -> Sums:
    return (np.asarray(kept[0] @ w),)


def transposed(part: Part, kept: Sums, u: np.ndarray) -> Sums:
    return (np.asarray(kept[0].T @ u),)


def checksum(part: Part) -> Sums:
    """A number for positions and values that adds up to the same whatever the parts."""
    from frankwolfe.objectives.parts import odd, words

    f: Any = part.objective
    rows, cols = (odd(p.astype(np.uint64)) for p in (f.pattern.rows, f.pattern.cols))
    return ((words(f.values) * rows * odd(cols)).sum(keepdims=True),)


def complete(rows: Any, cols: Any, values: Any, shape: tuple[int, int]) -> PartitionedCompletion:
    """Return matrix completion over entries on a cluster: three collections, cut alike.

    Examples
    --------
    >>> import dask.array as da, frankwolfe as fw
    >>> i, j = da.from_array([0, 1, 2], chunks=2), da.from_array([0, 1, 0], chunks=2)
    >>> f = fw.MatrixCompletion(i, j, da.from_array([3.0, 4.0, 0.0], chunks=2), shape=(3, 2))
    >>> float(f.value(f.start(None, dense=False)))
    12.5
    """
    import dask.array as da

    client = current_client()
    if isinstance(rows, da.Array):
        sizes = list(rows.chunks[0])
        pieces = [vector_blocks(name, v, sizes) for name, v in (("rows", rows), ("cols", cols), ("values", values))]
    else:
        pieces = [row_blocks(name, v) for name, v in (("rows", rows), ("cols", cols), ("values", values))]
    if len({len(p) for p in pieces}) != 1:
        raise ValueError("rows, cols and values must be in equally many blocks; repartition them")
    count = len(pieces[0])
    groups = np.array_split(np.arange(count), min(len(client.nthreads()) or 1, count))
    held = []
    for group in groups:
        loaded = placed(client, list, [p[i] for p in pieces for i in group])
        held.append(client.submit(_shard, loaded, tuple(shape), pure=False))
    entries = client.gather(client.map(_entries, held, pure=False))
    if not sum(entries):
        raise ValueError("values is empty; at least one observed entry is needed")
    parts = ClusterParts(client, held, sum(entries), shape[1], np.dtype(np.float64))
    return PartitionedCompletion(parts, (int(shape[0]), int(shape[1])))


def _shard(loaded: list[Array], shape: tuple[int, int]) -> shards.Shard:
    """Make the parts of a worker from its pieces: rows, then cols, then values."""
    n = len(loaded) // 3
    triples = zip(loaded[:n], loaded[n : 2 * n], loaded[2 * n :], strict=True)
    return shards.Shard([Part(MatrixCompletion(i, j, v, shape), 1.0, 0) for i, j, v in triples if len(v)])


def _entries(shard: shards.Shard) -> int:
    return sum(part.objective.pattern.size for part in shard.parts)  # pyright: ignore[reportAttributeAccessIssue]
