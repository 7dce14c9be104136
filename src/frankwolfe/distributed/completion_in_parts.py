"""Matrix completion with the observed entries in parts: the oracle's Lanczos steps are products on the workers."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from frankwolfe.backends import Array, Scalar, vdot
from frankwolfe.distributed import shards
from frankwolfe.distributed.cluster import ClusterParts, current_client
from frankwolfe.distributed.distribute import placed, row_blocks, vector_blocks
from frankwolfe.kernels.pattern.pattern_matrix import Pattern, PatternMatrix
from frankwolfe.kernels.spectral.gram_operator import ImplicitMatrix
from frankwolfe.lowrank import LowRank
from frankwolfe.objectives.base import Evaluation, Line
from frankwolfe.objectives.matrix_completion import MatrixCompletion
from frankwolfe.points import Point
from frankwolfe.rows.parts import Most, Part, PartTask, odd, words
from frankwolfe.rows.rows import Sums
from frankwolfe.rows.rows_in_parts import UNKEPT
from frankwolfe.serialisation import register

FETCH_UP_TO = 1 << 18  # entries of a gradient that are sooner brought to the oracle than multiplied where they are
COMPRESS_FROM = 128  # factors of an average of points; its rank is far less


class Residuals(ImplicitMatrix):
    """The observed part of `point` minus `weight` times the values: a gradient, or an average of gradients."""

    def __init__(self, parts: EntriesInParts, point: Any, weight: float) -> None:
        self.parts, self.shape, self.dtype = parts, parts.shape, parts.dtype
        many = isinstance(point, LowRank) and point.stored > COMPRESS_FROM
        self.point, self.weight = point.compress(1e-14) if many else point, float(weight)

    @cached_property
    def _kept(self) -> Any:
        return self.parts.keep(residuals, self.point, self.weight)

    @cached_property
    def largest(self) -> float:
        if self.fetched is not None:
            return float(np.max(np.abs(self.fetched.values)))
        return float(self.parts.total(largest, kept=self._kept, reads=False)[0])

    def __matmul__(self, w: np.ndarray) -> np.ndarray:
        return self._product(product, w)

    def rmatvec(self, u: np.ndarray) -> np.ndarray:
        return self._product(transposed, u)

    def gram_matvec(self, w: np.ndarray) -> np.ndarray:
        # With every row in one part the squares add up: one round instead of two, and nothing as long as a column.
        return self._product(squared, w) if self.parts.whole_rows else self.rmatvec(self @ w)

    @cached_property
    def fetched(self) -> PatternMatrix | None:
        if self.parts.entries > FETCH_UP_TO:
            return None
        (values,) = self.parts.total(entries, self.point, self.weight)
        return self.parts.pattern.matrix(np.concatenate(values))

    def _product(self, task: PartTask, *args: np.ndarray) -> np.ndarray:
        return self.parts.total(task, *args, kept=self._kept, reads=False)[0]

    def __add__(self, other: Residuals) -> Residuals:
        return Residuals(self.parts, self.point + other.point, self.weight + other.weight)

    def __sub__(self, other: Residuals) -> Residuals:
        return self + (-1.0) * other

    def __mul__(self, c: Any) -> Residuals:
        return Residuals(self.parts, float(c) * self.point, float(c) * self.weight)

    __rmul__ = __mul__

    def __truediv__(self, c: Any) -> Residuals:
        return self * (1.0 / float(c))

    def __neg__(self) -> Residuals:
        return self * -1.0


register(Residuals, lambda g: [g.point, g.weight], lambda f, dual: dual(f))  # pyright: ignore[reportArgumentType]


class _Parabola(Line):
    """The segment on entries that stay with the parts; f is a parabola on it, so two numbers are all."""

    def __init__(self, parts: EntriesInParts, x: Any, v: Any) -> None:
        self.first, self.second = parts.total(along, x, v)

    def __call__(self, gamma: float) -> tuple[float, float]:
        return self.first + gamma * self.second, self.second


class EntriesInParts(ClusterParts):
    """Observed entries that are on the workers of a cluster, usually by rows of the matrix.

    Entries never move. The gradient at X is the observed part of X minus the values, so an average of gradients belongs
    to the average of the points: it is kept as a low-rank matrix and a weight, and what moves for a product with it is
    a vector. Made by `MatrixCompletion` from Dask arrays or lists of delayed blocks.

    The oracle takes the same steps from the same random start as in memory, so that iterates agree up to rounding.
    """

    holds_images = False

    def __init__(self, client: Any, held: list[Any], entries: int, shape: tuple[int, int], dtype: np.dtype) -> None:
        super().__init__(client, held, [])
        self.entries, self.shape, self.dtype = entries, shape, dtype

    @cached_property
    def pattern(self) -> Pattern:
        """Where the entries are, part after part."""
        rows, cols = (np.concatenate(pieces) for pieces in self.total(rows_and_columns, reads=False))
        return Pattern(rows, cols, self.shape)

    @cached_property
    def whole_rows(self) -> bool:
        """Whether every row of the matrix has all its entries in one part."""
        return int(self.total(rows_held, reads=False)[0].max()) <= 1

    @property
    def heaviest(self) -> float:
        return float(self.total(heaviest, reads=False)[0])

    @property
    def additions(self) -> int:
        return self.entries + sum(self.shape)

    def start(self, x0: Any, dense: bool) -> Any:
        if dense:
            raise TypeError("projected methods need the whole matrix in memory; use 'fw' or 'afw'")
        if x0 is None:
            return LowRank.zero(self.shape, self.dtype)
        if not isinstance(x0, LowRank):
            raise TypeError(f"x0 must be a LowRank over entries in parts, got {type(x0).__name__}")
        return x0

    def evaluate(self, model: MatrixCompletion, y: Point, watch: Point) -> Evaluation:
        for leaf in (*y.pending, *watch.pending):
            leaf.resolve(UNKEPT)
        end = None if watch is y else watch.coords
        value, inner, watched = self.total(errors, y.coords, end)
        return Evaluation(value, Residuals(self, y.coords, 1.0), inner, watched, 1.0, float(np.finfo(self.dtype).eps))

    def value_at(self, model: MatrixCompletion, x: Point) -> tuple[Scalar, float]:
        return self.total(errors, x.coords, None)[0], 1.0

    def line(self, model: MatrixCompletion, x: Point, v: Point) -> tuple[Line, float]:
        return _Parabola(self, x.coords, v.coords), 1.0

    def current(self) -> EntriesInParts:
        return self

    def doubled(self) -> None:
        return None

    def dual(self, values: Any) -> Residuals:
        return Residuals(self, *values)

    def identity(self) -> list[Any]:
        return [self.entries, self.total(checksum)[0]]


def entries_on_cluster(rows: Any, cols: Any, values: Any, shape: Any, weights: Any) -> EntriesInParts:
    """Return entries on a cluster from three or four collections, cut alike."""
    import dask.array as da

    client = current_client()
    given = {"rows": rows, "cols": cols, "values": values} | ({} if weights is None else {"weights": weights})
    if isinstance(rows, da.Array):
        pieces = [vector_blocks(name, v, list(rows.chunks[0])) for name, v in given.items()]
    else:
        pieces = [row_blocks(name, v) for name, v in given.items()]
    count = len(pieces[0])
    if {len(p) for p in pieces} != {count}:
        raise ValueError(f"{', '.join(given)} must be in equally many blocks; repartition them")
    groups = np.array_split(np.arange(count), min(len(client.nthreads()) or 1, count))
    held = []
    for group in groups:
        loaded = placed(client, list, [p[i] for p in pieces for i in group])
        held.append(client.submit(_shard, loaded, len(pieces), tuple(shape), pure=False))
    found = [seen for seen in client.gather(client.map(_described, held, pure=False)) if seen is not None]
    if not found:
        raise ValueError("values is empty; at least one observed entry is needed")
    dtype = np.result_type(*{np.dtype(kind) for _, kind in found})
    size = int(shape[0]), int(shape[1])
    return EntriesInParts(client, held, sum(n for n, _ in found), size, dtype)


def _shard(loaded: list[Array], kinds: int, shape: tuple[int, int]) -> shards.Shard:
    """Make the part of a worker from its pieces: all of rows, then of cols, of values and, if any, of weights."""
    n = len(loaded) // kinds
    columns = [np.concatenate([np.asarray(p) for p in loaded[i * n : (i + 1) * n]]) for i in range(kinds)]
    if not len(columns[2]):
        return shards.Shard([])
    rows, cols, values, weights = [*columns, None][:4]
    return shards.Shard([Part(MatrixCompletion(rows, cols, values, shape, weights=weights))])


def _described(shard: shards.Shard) -> tuple[int, str] | None:
    """Return the number of entries and their type; None for an empty shard."""
    for part in shard.parts:
        values = part.objective.values  # pyright: ignore[reportAttributeAccessIssue]
        return values.size, values.dtype.str
    return None


def errors(part: Part, y: Any, watch: Any) -> Sums:
    """Value and <gradient, y> at y, and the value at `watch` (None: y again)."""
    f = part.objective
    m = f.map.apply(y)
    value = f.loss(m)
    return value, vdot(f.loss_slope(m), m), value if watch is None else f.loss(f.map.apply(watch))


def along(part: Part, x: Any, v: Any) -> Sums:
    """First and second derivative at x on the way to v."""
    f = part.objective
    m = f.map.apply(x)
    return f.along(m, f.map.apply(v) - m, 0.0)


def residuals(part: Part, point: Any, weight: float) -> Sums:
    """The matrix of a gradient on a part, to be kept."""
    f: Any = part.objective
    off = f.map.apply(point) - weight * f.values
    return (f.dual(off if f.weights is None else f.weights * off),)


def product(part: Part, kept: Sums, w: np.ndarray) -> Sums:
    return (np.asarray(kept[0] @ w),)


def transposed(part: Part, kept: Sums, u: np.ndarray) -> Sums:
    return (np.asarray(kept[0].T @ u),)


def squared(part: Part, kept: Sums, w: np.ndarray) -> Sums:
    return (np.asarray(kept[0].gram_matvec(w)),)


def entries(part: Part, point: Any, weight: float) -> Sums:
    """The entries of a gradient, in a list, which adds up to all of them."""
    return ([residuals(part, point, weight)[0].values],)


def rows_and_columns(part: Part) -> Sums:
    """Rows and columns of the entries, in lists."""
    pattern: Any = part.objective.pattern
    return [pattern.rows], [pattern.cols]


def largest(part: Part, kept: Sums) -> Sums:
    """The size of the largest entry."""
    return (Most(np.max(np.abs(kept[0].values))),)


def heaviest(part: Part) -> Sums:
    """The largest weight of an entry."""
    # Not by `smoothness`, whose lock the caller holds: parts may be computed in its own process.
    return (Most(part.objective.entries.heaviest),)


def rows_held(part: Part) -> Sums:
    """One for every row of the matrix with entries in the part."""
    held = np.diff(part.objective.pattern.indptr) > 0
    return (held.astype(np.int32),)


def checksum(part: Part) -> Sums:
    """A number for positions, values and weights that adds up to the same whatever the parts."""
    f: Any = part.objective
    rows, cols = (odd(p.astype(np.uint64)) for p in (f.pattern.rows, f.pattern.cols))
    places = rows * odd(cols)
    total = (words(f.values) * places).sum(keepdims=True)
    return (total if f.weights is None else total + (words(f.weights) * odd(places)).sum(),)
