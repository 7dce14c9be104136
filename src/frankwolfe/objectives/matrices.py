"""Data matrices as linear maps, read in row blocks that stay in cache.

Reading a block once for the product and at once again for the adjoint costs one trip to memory instead of two, which is
all that matters on data larger than the cache.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from copy import copy
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import array_api_compat
import numpy as np

from frankwolfe.atoms import Atom, Dense, OneHot, Sparse
from frankwolfe.backends import Array, double, host, namespace
from frankwolfe.backends.gram import gram
from frankwolfe.backends.imaged import image_under
from frankwolfe.backends.namespace import is_foreign
from frankwolfe.kernels.column_layouts import SortedColumns
from frankwolfe.kernels.layouts import Layout
from frankwolfe.kernels.narrow import carrying, dense_layout
from frankwolfe.objectives.base import Evaluation
from frankwolfe.points import Point

DENSE_FROM = 100  # how much faster a dense product is than a sparse one, operation by operation
SQUARED = 1 << 22  # numbers squared at a time
BLOCK_BYTES = 1 << 20  # a row block and its vectors fit the second-level cache
Residual = Callable[[slice, list[Array]], Array]


@runtime_checkable
class Picked(Protocol):
    """A matrix on a device whose rows can be picked one by one."""

    def rows_at(self, places: Array) -> Array:
        """Return some of the rows."""
        ...


class DataMatrix(ABC):
    """An n x d matrix of data, as the map x -> Ax."""

    adjoint_cost = 1.0
    shared: bool = False  # whether many points share a read at little more than the price of one
    carries: bool = False  # whether gradients come with their own images
    solves = 1  # how many problems the data are for: the more, the sooner compiled passes pay

    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix
        self.shape: tuple[int, int] = tuple(matrix.shape)
        self.dtype = matrix.dtype

    @cached_property
    def layout(self) -> Layout | None:
        """The data as the compiled kernels read them; None where plain NumPy does as well or must do."""
        return None

    @property
    def additions(self) -> int:
        """How many additions follow one another at most in an entry of Ax and of A'r."""
        return self.stacked_additions if self.layout is None else self.layout.additions

    @property
    def stacked_additions(self) -> int:
        """The same for several vectors at once."""
        return sum(self.shape)

    def apply(self, coords: Any) -> Array:
        if isinstance(coords, OneHot):
            return coords.value * self.column(coords.index)
        if isinstance(coords, Sparse):
            return self.columns(coords.indices) @ coords.values
        vector = coords.array if isinstance(coords, Dense) else coords
        known = image_under(self.layout, vector) if self.carries else None
        return self.product(vector) if known is None else known

    def cost(self, coords: Any) -> float:
        if isinstance(coords, OneHot):
            return 1 / self.shape[1]
        if isinstance(coords, Sparse):
            return coords.indices.shape[0] / self.shape[1]
        vector = coords.array if isinstance(coords, Dense) else coords
        return 1.0 if not self.carries or image_under(self.layout, vector) is None else 0.0

    def apply_then_adjoint(self, leaves: list[Any], residual: Residual) -> tuple[list[Array], Array, float] | None:
        return None

    def evaluate(self, model: Any, y: Point, watch: Point) -> Evaluation | None:
        """Return a linear model's whole evaluation from one read, where the data can do that; None otherwise."""
        return None

    def evaluate_many(self, model: Any, y: Point, watch: Point) -> Evaluation | None:
        """Do the same for many points at once, one to a row."""
        return None

    @abstractmethod
    def product(self, x: Array) -> Array:
        """Return A x."""

    @abstractmethod
    def adjoint(self, r: Array) -> Array:
        """Return A.T r."""

    def gram(self, weights: Array) -> np.ndarray:
        """Return A'diag(weights)A, on the host."""
        if is_foreign(weights):
            return gram(self.row_blocks(), weights)
        compiled = None if self.layout is None else self.layout.gram(weights)
        if compiled is not None:
            return compiled
        total = np.zeros((self.shape[1], self.shape[1]))
        for rows, block in self.row_blocks():
            if hasattr(block, "toarray") and (self.shape[1] * block.shape[0]) ** 2 < DENSE_FROM * block.nnz**2:
                block = block.toarray()  # the fewer zeros, the further ahead a dense product is
            part = block.T @ (block * weights[rows, None])
            total += part.toarray() if hasattr(part, "toarray") else part
        return total

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

    def row_blocks(self) -> Iterable[tuple[slice, Any]]:
        """Return blocks of rows that together are the matrix."""
        return [(slice(None), self.matrix)]

    @abstractmethod
    def column(self, j: int) -> Array:
        """Return one column as a dense vector."""

    @abstractmethod
    def columns(self, indices: Array) -> Any:
        """Return several columns as something that multiplies a vector."""

    @abstractmethod
    def parts(self) -> list[Array]:
        """Return the arrays that hold the numbers."""

    def by_columns(self) -> DataMatrix:
        """Return the same data laid out so that single columns are cheap."""
        return self

    def carrying(self) -> DataMatrix:
        """Return the same data, whose gradients come with their own images where that takes no read more."""
        if self.carries or self._sorted is None:
            return self
        twin = copy(self)
        twin.carries = True
        vars(twin)["layout"] = self._sorted
        return twin

    @cached_property
    def _sorted(self) -> SortedColumns | None:
        return carrying(self.layout)

    def doubled(self) -> DataMatrix:
        """Return the same numbers, computed with in double precision: by NumPy where their library has none."""
        wide = double(self.matrix)
        if wide is None:
            return DenseMatrix(host(self.matrix)).doubled()
        twin = copy(self)
        twin.dtype = wide
        return twin

    def array(self, values: Any) -> Array:
        """Return values as an array of the data's namespace, dtype and device."""
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

    def product(self, x: Array) -> Array:
        if self.layout is not None and x.ndim == 1:
            return self.layout.product(x).astype(self.dtype, copy=False)
        pieces = [block @ x for _, block, _ in self.blocks]
        return pieces[0] if len(pieces) == 1 else namespace(pieces[0]).concat(pieces)

    def adjoint(self, r: Array) -> Array:
        if self.layout is not None and r.ndim == 1:
            return self.layout.adjoint(r).astype(self.dtype, copy=False)
        return _total([transposed @ r[rows, ...] for rows, _, transposed in self.blocks])

    def row_blocks(self) -> list[tuple[slice, Any]]:
        return [(rows, block) for rows, block, _ in self.blocks]

    def apply_then_adjoint(self, leaves: list[Any], residual: Residual) -> tuple[list[Array], Array, float] | None:
        if any(isinstance(c, Atom) and not isinstance(c, Dense) for c in leaves):
            return None
        vectors = [c.array if isinstance(c, Dense) else c for c in leaves]
        images: list[list[Array]] = [[] for _ in vectors]
        slope: Array = None
        for rows, block, transposed in self.blocks:
            new = [block @ x for x in vectors]
            for pieces, piece in zip(images, new, strict=True):
                pieces.append(piece)
            part = transposed @ residual(rows, new)
            slope = part if slope is None else slope + part
        joined = [p[0] if len(p) == 1 else namespace(p[0]).concat(p) for p in images]
        return joined, slope, 1.0 if self.block_bytes <= 4 * BLOCK_BYTES else 2.0


class DenseMatrix(RowBlocks):
    """A dense matrix of any array namespace."""

    shared = True

    @property
    def block_bytes(self) -> float:
        size, (n, d) = self.matrix.dtype.itemsize if isinstance(self.matrix, np.ndarray) else 8, self.shape
        return size * d * min(self._block_rows, n)

    @cached_property
    def blocks(self) -> list[tuple[slice, Any, Any]]:
        matrix, step, n = self.matrix, self._block_rows, self.shape[0]
        slices = [slice(i, min(i + step, n)) for i in range(0, n, step)]
        return [(rows, matrix[rows, :], matrix[rows, :].T) for rows in slices]

    @property
    def _block_rows(self) -> int:
        if not isinstance(self.matrix, np.ndarray):
            return self.shape[0]
        return max(1, BLOCK_BYTES // max(1, self.matrix.dtype.itemsize * self.shape[1]))

    @cached_property
    def layout(self) -> Layout | None:
        return dense_layout(self.matrix, self.solves) if isinstance(self.matrix, np.ndarray) else None

    def _column_squares(self, weights: Array | None) -> np.ndarray | None:
        if isinstance(self.matrix, np.ndarray):
            return _squares(self.matrix, weights)  # of all rows at once, without a copy
        return super()._column_squares(weights)

    def array(self, values: Any) -> Array:
        if isinstance(self.matrix, np.ndarray):
            return super().array(values)
        xp = namespace(self.matrix)
        return xp.asarray(values, dtype=self.dtype, device=array_api_compat.device(self.matrix))

    def column(self, j: int) -> Array:
        return self.matrix[:, j]

    def columns(self, indices: Array) -> Array:
        return namespace(self.matrix).take(self.matrix, indices, axis=1)

    def rows_at(self, places: Array) -> Array:
        return namespace(self.matrix).take(self.matrix, places, axis=0)

    def parts(self) -> list[Array]:
        return [self.matrix]


class OperatorMatrix(DataMatrix):
    """A SciPy LinearOperator: products only."""

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

    def parts(self) -> list[Array]:
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


def _total(parts: list[Array]) -> Array:
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total
