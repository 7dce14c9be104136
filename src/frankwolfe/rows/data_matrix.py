"""Data matrices as linear maps, read in row blocks that stay in cache.

Reading a block once for the product and at once again for the adjoint costs one trip to memory instead of two, which is
all that matters on data larger than the cache.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable
from functools import cached_property, reduce
from operator import add
from typing import Any, Self

import array_api_compat
import numpy as np

from frankwolfe.atoms import Atom, OneHot, Sparse
from frankwolfe.backends import Array, double, eps, host, namespace
from frankwolfe.backends.compile_policy import read_plainly
from frankwolfe.backends.device_gram import gram
from frankwolfe.backends.namespace import is_foreign
from frankwolfe.backends.precision import exact_products
from frankwolfe.backends.vector_with_image import image_under
from frankwolfe.kernels.rows.column_layouts import SortedColumns
from frankwolfe.kernels.rows.compact_storage import carrying, dense_layout, family_of, is_compiled
from frankwolfe.kernels.rows.layouts import Layout
from frankwolfe.kernels.threads import calm
from frankwolfe.objectives.derive import derive
from frankwolfe.rows.compiled_paths import Compiled, CompiledMany, settle, stacked_products
from frankwolfe.rows.reading import ArrayBlocks, Query, Sweep, TwoReads, array_of
from frankwolfe.rows.row_weights import WeightedRows
from frankwolfe.rows.rows import Rows

DENSE_FROM = 100  # how much faster a dense product is than a sparse one, operation by operation
FEW = 0.5  # share of the rows below which those with a weight are picked out first
SQUARED = 1 << 22  # numbers squared at a time
BLOCK_BYTES = 1 << 20  # a row block and its vectors fit the second-level cache
SAME = ("layout", "blocks", "lengths", "_squares_of_columns", "_sorted", "by_column")  # whatever the arithmetic
TEMPORARIES = 6  # arrays of the size of a block of images in use at a time, with many points
IN_ARRAYS = (ArrayBlocks(), TwoReads())
COMPILED = (Compiled(), CompiledMany(), *IN_ARRAYS)


class DataMatrix(Rows):
    """Rows whose numbers are at hand, as a matrix or an operator of some library."""

    carries: bool = False  # whether gradients come with their own images
    solves = 1  # how many problems the data are for: the more, the sooner compiled passes pay
    on_host: bool = False  # whether kernels could read the numbers, if they were compiled
    loss: str = ""  # the name of the loss that they are read with, for which kernels are compiled

    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix
        self.shape: tuple[int, int] = tuple(matrix.shape)
        self.dtype = matrix.dtype

    @cached_property
    def eps(self) -> float:  # pyright: ignore[reportIncompatibleMethodOverride]
        return eps(self.array(np.zeros(1)))

    @property
    def additions(self) -> int:
        return self.stacked_additions if self.layout is None else self.layout.additions

    def current(self) -> Self:
        """Return the data as the next run is to read them: compiled, perhaps, where up to now that did not pay."""
        if "layout" not in vars(self) or not self.on_host:
            return self
        same = (self.layout is not None) == is_compiled(self.matrix, self.solves, self.loss)
        return self if same else self._otherwise

    @cached_property
    def _otherwise(self) -> Self:
        return derive(self, tuple(name for name in SAME if name not in ("layout", "_sorted", "by_column")))

    def sweep(self, model: Any, query: Query) -> Sweep:
        plain = self.on_host and self.layout is None
        family = family_of(self.matrix, self.solves, self.loss) if plain else None
        if family is None:
            return super().sweep(model, query)
        with calm():
            seen = super().sweep(model, query)
        read_plainly(family[0], family[1] * seen.passes)
        return seen

    def apply(self, coords: Any) -> Array:
        if isinstance(coords, OneHot):
            return coords.value * self.column(coords.index)
        if isinstance(coords, Sparse):
            return self.columns(coords.indices) @ coords.values
        x = array_of(coords)
        if x.ndim == 2:
            return self.stacked(x)
        known = image_under(self.layout, x) if self.carries else None
        return self.product(x) if known is None else known

    def stacked(self, x: Array) -> Array:
        """Return the products of the rows with many vectors, as rows."""
        pieces = [x @ block.T for _, block in self.row_blocks()]  # narrow numbers widened, block by block
        return pieces[0] if len(pieces) == 1 else namespace(x).concat(pieces, axis=1)

    def cost(self, coords: Any) -> float:
        if isinstance(coords, OneHot):
            return 1 / self.shape[1]
        if isinstance(coords, Sparse):
            return coords.indices.shape[0] / self.shape[1]
        return 1.0 if not self.carries or image_under(self.layout, array_of(coords)) is None else 0.0

    def settle(self, query: Query) -> float:
        return 0.0 if query.size or not query.vectors else sum(settle(self, leaf) for leaf in query.pending)

    def reads(self, size: int, fresh: int) -> float:
        """Return how often the blocks come from memory, with so many products on the way to a gradient."""
        return 1.0 + fresh

    def gram(self, weights: Array) -> np.ndarray:
        if is_foreign(weights):
            return gram(self.row_blocks(), weights)
        compiled = None if self.layout is None else self.layout.gram(weights)
        if compiled is not None:
            if weights[0] > 0 and (weights == weights[0]).all():  # the squares of the columns come with it
                vars(self).setdefault("_squares_of_columns", compiled.diagonal() / float(weights[0]))
            return compiled
        total, some = np.zeros((self.shape[1], self.shape[1])), np.flatnonzero(weights)
        few = some.size < FEW * weights.size  # rows without weight are left out
        blocks = [(some, self.matrix[some])] if few else self.row_blocks()
        with calm(math.prod(self.shape)):
            for rows, block in blocks:
                if hasattr(block, "toarray") and (self.shape[1] * block.shape[0]) ** 2 < DENSE_FROM * block.nnz**2:
                    block = block.toarray()  # the fewer zeros, the further ahead a dense product is
                part = block.T @ (block * weights[rows, None])
                total += part.toarray() if hasattr(part, "toarray") else part
        return total

    @exact_products()
    def gram_norm(self, model: Any) -> float:
        from frankwolfe.kernels.spectral.lanczos import spectral_norm

        top = spectral_norm(WeightedRows(self, model.share))
        return top * top  # infinite where it overflows

    def column_squares(self, weights: Array | None) -> np.ndarray | None:
        """Return the weighted sum of squares of each column, on the host; None for an operator, which hides them."""
        return self._squares_of_columns if weights is None else self._column_squares(weights)

    @cached_property
    def _squares_of_columns(self) -> np.ndarray | None:
        return self._column_squares(None)

    def _column_squares(self, weights: Array | None) -> np.ndarray | None:
        d = self.shape[1]
        total, step = np.zeros(d), max(1, SQUARED // d)
        for rows, block in self.row_blocks():
            for i in range(0, block.shape[0], step):
                few = slice(i, min(i + step, block.shape[0]))
                total += _squares(block[few, ...], None if weights is None else weights[rows][few])
        return total

    def largest_rows(self) -> tuple[np.ndarray, float] | None:
        """Return the largest entry of each column, and the largest norm of a row, on the host; None for an operator."""
        entries, length = np.zeros(self.shape[1]), 0.0
        for _, block in self.row_blocks():
            sizes, squares = abs(block), block * block
            if hasattr(block, "tocsr"):
                most, lengths = sizes.max(axis=0).toarray(), squares.sum(axis=1)
            else:
                xp = namespace(block)
                most, lengths = host(xp.max(sizes, axis=0)), host(xp.sum(squares, axis=1))
            entries, length = np.maximum(entries, most), max(length, float(np.max(lengths)))
        return entries, length**0.5

    def row_blocks(self, size: int = 0) -> Iterable[tuple[slice, Any]]:
        """Return blocks of rows that together are the matrix, small enough for the products of `size` points."""
        return [(slice(None), self.matrix)]

    def turned_blocks(self) -> Iterable[tuple[slice, Any]]:
        """Return the same blocks transposed."""
        return ((rows, block.T) for rows, block in self.row_blocks())

    def product(self, x: Array) -> Array:
        if self.layout is not None and x.ndim == 1:
            return self.layout.product(x).astype(self.dtype, copy=False)
        pieces = [block @ x for _, block in self.row_blocks()]
        return pieces[0] if len(pieces) == 1 else namespace(pieces[0]).concat(pieces)

    def adjoint(self, r: Array) -> Array:
        if self.layout is not None and r.ndim == 1:
            return self.layout.adjoint(r).astype(self.dtype, copy=False)
        return reduce(add, (turned @ r[rows, ...] for rows, turned in self.turned_blocks()))

    @abstractmethod
    def column(self, j: int) -> Array:
        """Return one column as a dense vector."""

    @abstractmethod
    def arrays(self) -> list[Array]:
        """Return the arrays that hold the numbers."""

    def identity(self, model: Any) -> list[Any]:
        return [model.share, *self.arrays(), model.b]

    def carrying(self) -> Rows:
        if self.carries or self._sorted is None:
            return self
        return derive(self, (*SAME, "eps"), carries=True, layout=self._sorted)

    @cached_property
    def _sorted(self) -> SortedColumns | None:
        return carrying(self.layout)

    def doubled(self) -> DataMatrix:
        """Return the same numbers, computed with in double precision: by NumPy where their library has none."""
        wide = double(self.matrix)
        if wide is None:
            return DenseMatrix(host(self.matrix)).doubled()
        return derive(self, SAME, dtype=wide)

    def array(self, values: Any) -> Array:
        return np.asarray(values, dtype=self.dtype)


class RowBlocks(DataMatrix):
    """Rows in blocks: each block is read once for the product and the adjoint together."""

    @property
    @abstractmethod
    def blocks(self) -> list[tuple[slice, Any, Any]]:
        """Rows, the block of them, and the transposed block."""

    @property
    @abstractmethod
    def block_bytes(self) -> float:
        """About the size of a block."""

    @property
    def stacked_additions(self) -> int:
        most = max(rows.stop - rows.start for rows, _, _ in self.blocks)
        return self.shape[1] + most + len(self.blocks)

    def row_blocks(self, size: int = 0) -> Iterable[tuple[slice, Any]]:
        return [(rows, block) for rows, block, _ in self.blocks]

    def turned_blocks(self) -> Iterable[tuple[slice, Any]]:
        return [(rows, turned) for rows, _, turned in self.blocks]

    def reads(self, size: int, fresh: int) -> float:
        return 1.0 if not size and self.block_bytes <= 4 * BLOCK_BYTES else 1.0 + fresh


class DenseMatrix(RowBlocks):
    """A dense matrix of any array namespace."""

    shared = True

    def __init__(self, matrix: Any) -> None:
        super().__init__(matrix)
        self.on_host = isinstance(matrix, np.ndarray)
        self.paths = COMPILED if self.on_host else IN_ARRAYS

    def reads(self, size: int, fresh: int) -> float:
        if size:
            cached = self.on_host and self.shape[1] * self.matrix.itemsize <= BLOCK_BYTES
            return 1.0 if cached else 1.0 + fresh
        return super().reads(size, fresh)

    def row_blocks(self, size: int = 0) -> Iterable[tuple[slice, Any]]:
        if not size or not self.on_host:
            return super().row_blocks(size)
        step, n = max(1, BLOCK_BYTES // (8 * (self.shape[1] + TEMPORARIES * size))), self.shape[0]
        return ((slice(i, min(i + step, n)), self.matrix[i : i + step]) for i in range(0, n, step))

    def stacked(self, x: Array) -> Array:
        return stacked_products(self.matrix, x) if self.on_host else super().stacked(x)

    @property
    def block_bytes(self) -> float:
        size, (n, d) = self.matrix.dtype.itemsize if self.on_host else 8, self.shape
        return size * d * min(self._block_rows, n)

    @cached_property
    def blocks(self) -> list[tuple[slice, Any, Any]]:
        matrix, step, n = self.matrix, self._block_rows, self.shape[0]
        slices = [slice(i, min(i + step, n)) for i in range(0, n, step)]
        return [(rows, matrix[rows, :], matrix[rows, :].T) for rows in slices]

    @property
    def _block_rows(self) -> int:
        if not self.on_host:
            return self.shape[0]
        return max(1, BLOCK_BYTES // max(1, self.matrix.dtype.itemsize * self.shape[1]))

    @cached_property
    def layout(self) -> Layout | None:
        return dense_layout(self.matrix, self.solves, self.loss) if self.on_host else None

    def _column_squares(self, weights: Array | None) -> np.ndarray | None:
        if self.on_host:
            return _squares(self.matrix, weights)  # of all rows at once, without a copy
        return super()._column_squares(weights)

    def array(self, values: Any) -> Array:
        if self.on_host:
            return super().array(values)
        xp = namespace(self.matrix)
        return xp.asarray(values, dtype=self.dtype, device=array_api_compat.device(self.matrix))

    def column(self, j: int) -> Array:
        return self.matrix[:, j]

    def columns(self, indices: Array) -> Array:
        return namespace(self.matrix).take(self.matrix, indices, axis=1)

    def rows_at(self, places: Array) -> Array:
        return namespace(self.matrix).take(self.matrix, places, axis=0)

    def arrays(self) -> list[Array]:
        return [self.matrix]


class OperatorMatrix(DataMatrix):
    """A SciPy LinearOperator: products only."""

    stored = False
    picks_rows = False

    def product(self, x: Array) -> Array:
        return self.matrix.matvec(x)

    def adjoint(self, r: Array) -> Array:
        return self.matrix.rmatvec(r)

    def apply(self, coords: Any) -> Array:
        return self.product(coords.toarray() if isinstance(coords, Atom) else coords)

    def cost(self, coords: Any) -> float:
        return 1.0

    def column(self, j: int) -> Array:
        unit = np.zeros(self.shape[1], dtype=self.dtype)
        unit[j] = 1.0
        return self.product(unit)

    def columns(self, indices: Array) -> Any:
        return np.stack([self.column(int(j)) for j in indices], axis=1)

    def _column_squares(self, weights: Array | None) -> None:
        return None

    def largest_rows(self) -> None:
        return None

    def arrays(self) -> list[Array]:
        # Products with a few fixed vectors identify an operator whose numbers we cannot see.
        probes = np.random.default_rng(0).standard_normal((2, self.shape[1])).astype(self.dtype)
        return [self.product(p) for p in probes]


def _squares(block: Array, weights: Array | None) -> np.ndarray:
    """Return the weighted sums of squares of the columns of some rows."""
    if isinstance(block, np.ndarray):
        if weights is None:
            return np.einsum("ij,ij->j", block, block, dtype=np.float64)
        return np.einsum("i,ij,ij->j", weights, block, block, dtype=np.float64)
    squares = block * block if weights is None else weights[:, None] * block * block
    return np.asarray(host(namespace(block).sum(squares, axis=0)), dtype=np.float64)
