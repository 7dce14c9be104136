"""Data matrices as linear maps: rows whose numbers are at hand, as an array of some library, or products with them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from functools import cached_property, reduce
from operator import add
from typing import Any

import array_api_compat
import numpy as np

from frankwolfe.atoms import Atom, OneHot, Sparse
from frankwolfe.backends.namespace import Array, double, eps, host, is_foreign, namespace, zeros
from frankwolfe.backends.precision import exact_products, fast_products
from frankwolfe.kernels.pattern.pattern_matrix import Transposed
from frankwolfe.objectives.derive import derive
from frankwolfe.rows.compiled_paths import settle
from frankwolfe.rows.reading import ArrayBlocks, Query, TwoReads, array_of
from frankwolfe.rows.rows import Rows

PIECE = 1 << 26  # numbers of a piece of the data, of which a copy is made
PARTS = 64  # of a piece, whose products a device forms side by side
LONG = 1 << 34  # operations for the whole from which on ten bits of mantissa do: a line search checks the minimiser
SQUARED = 1 << 22  # numbers squared at a time
IN_ARRAYS = (ArrayBlocks(), TwoReads())
SAME = ("layout", "blocks", "lengths", "_squares_of_columns", "_sorted", "by_column")  # whatever the arithmetic


class DataMatrix(Rows):
    """Rows whose numbers are at hand, as a matrix or an operator of some library."""

    solves = 1  # how many problems the data are for: the more, the sooner compiled passes pay
    loss: str = ""  # the name of the loss that they are read with, for which kernels are compiled

    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix
        self.shape: tuple[int, int] = tuple(matrix.shape)
        self.dtype = matrix.dtype

    @cached_property
    def eps(self) -> float:  # pyright: ignore[reportIncompatibleMethodOverride]
        return eps(self.array(np.zeros(1)))

    def known_image(self, x: Array) -> Array | None:
        """Return the product with a vector that knows it, None elsewhere."""
        return None

    def apply(self, coords: Any) -> Array:
        if isinstance(coords, OneHot):
            return coords.value * self.column(coords.index)
        if isinstance(coords, Sparse):
            return self.columns(coords.indices) @ coords.values
        x = array_of(coords)
        if x.ndim == 2:
            return self.stacked(x)
        known = self.known_image(x)
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
        return 1.0 if self.known_image(array_of(coords)) is None else 0.0

    def settle(self, query: Query) -> float:
        return 0.0 if query.size or not query.vectors else sum(settle(self, leaf) for leaf in query.pending)

    def reads(self, size: int, fresh: int) -> float:
        """Return how often the blocks come from memory, with so many products on the way to a gradient."""
        return 1.0 + fresh

    def gram(self, weights: Array) -> np.ndarray:
        return gram(self.row_blocks(), weights)

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
        total: Any = 0.0
        step = max(1, SQUARED // self.shape[1])
        for rows, block in self.row_blocks():
            for i in range(0, block.shape[0], step):
                few = slice(i, min(i + step, block.shape[0]))
                squares = block[few, ...] * block[few, ...]
                squares = squares if weights is None else weights[rows][few][:, None] * squares
                total = total + namespace(block).sum(squares, axis=0, dtype=double(block))
        return np.asarray(host(total), dtype=np.float64)

    def largest_rows(self, counted: Array | None = None) -> tuple[np.ndarray, float] | None:
        """Return the largest entry of each column, and the largest norm of a row, on the host; None for an operator.

        Of the rows that are `counted`, by default all.
        """
        entries, length = np.zeros(self.shape[1]), 0.0
        for rows, block in self.row_blocks():
            if counted is not None:
                block = block[counted[rows]]
                if not block.shape[0]:
                    continue
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
        pieces = [block @ x for _, block in self.row_blocks()]
        return pieces[0] if len(pieces) == 1 else namespace(pieces[0]).concat(pieces)

    def adjoint(self, r: Array) -> Array:
        return reduce(add, (turned @ r[rows, ...] for rows, turned in self.turned_blocks()))

    def column(self, j: int) -> Array:
        """Return one column as a dense vector."""
        return self.matrix[:, j]

    def columns(self, indices: Array) -> Any:
        return namespace(self.matrix).take(self.matrix, indices, axis=1)

    def arrays(self) -> list[Array]:
        """Return the arrays that hold the numbers."""
        return [self.matrix]

    def identity(self, model: Any) -> list[Any]:
        return [model.share, *self.arrays(), model.b]

    def doubled(self) -> DataMatrix:
        """Return the same numbers, computed with in double precision."""
        return derive(self, SAME, dtype=double(self.matrix))

    def equal(self, weights: np.ndarray) -> Array:
        """Return weights that are all the same as an array; on a device they are made, not sent there."""
        one = self.array(weights[:1])
        return zeros(weights.shape, one) + one if is_foreign(one) else self.array(weights)

    def array(self, values: Any) -> Array:
        with np.errstate(over="ignore"):  # of what does not fit, the objective says so
            return np.asarray(values, dtype=self.dtype)


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

    def gram(self, weights: Array) -> np.ndarray:
        return np.stack([self.adjoint(weights * self.column(j)) for j in range(self.shape[1])])

    def _column_squares(self, weights: Array | None) -> None:
        return None

    def largest_rows(self, counted: Array | None = None) -> None:
        return None

    def arrays(self) -> list[Array]:
        # Products with a few fixed vectors identify an operator whose numbers we cannot see.
        probes = np.random.default_rng(0).standard_normal((2, self.shape[1])).astype(self.dtype)
        return [self.product(p) for p in probes]


class WeightedRows:
    """The data with rows scaled by the roots of their weights, as a NumPy operator for the Lanczos kernel."""

    def __init__(self, data: Rows, share: Array) -> None:
        self.data, self.root = data, namespace(share).sqrt(share)
        self.shape, self.dtype = data.shape, np.dtype(np.float32 if eps(share) > 1e-9 else np.float64)

    def __matmul__(self, x: np.ndarray) -> np.ndarray:
        return host(self.root * self.data.product(self.data.array(x)))

    def rmatvec(self, r: np.ndarray) -> np.ndarray:
        return host(self.data.adjoint(self.root * self.data.array(r)))

    @property
    def T(self) -> Transposed:
        return Transposed(self)


def gram(blocks: Iterable[tuple[slice, Array]], weights: Array) -> np.ndarray:
    """Return A'diag(weights)A in double precision on the host, for the rows of A in blocks."""
    total: Array = None
    for rows, block in blocks:
        own, (n, d) = weights[rows], block.shape
        step = max(1, PIECE // d)
        for i in range(0, n, step):
            piece = slice(i, min(i + step, n))
            part = _product(block[piece, :], own[piece], weights.shape[0] * d * d > LONG)
            total = part if total is None else total + part
    return host(total).astype(np.float64)


def _product(block: Array, weights: Array, fast: bool) -> Array:
    n, d = block.shape
    if not array_api_compat.is_torch_array(block):
        return block.T @ (block * weights[:, None])
    with fast_products() if fast else contextlib.nullcontext():
        scaled, most = block * weights[:, None], n - n % PARTS
        # A small square from very many rows: side by side, or a few units of the device would do it all.
        left, right = (a[:most].reshape(PARTS, -1, d) for a in (block, scaled))
        return (left.transpose(1, 2) @ right).sum(dim=0) + block[most:].T @ scaled[most:]
