"""Rows in main memory: read by compiled kernels, or in blocks that stay in cache.

Reading a block once for the product and at once again for the adjoint costs one trip to memory instead of two, which is
all that matters on data larger than the cache.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any, Self

import array_api_compat
import numpy as np

from frankwolfe.backends import Array, double, host, namespace
from frankwolfe.backends.compile_policy import read_plainly
from frankwolfe.backends.namespace import image_under
from frankwolfe.kernels.rows.column_layouts import SortedColumns
from frankwolfe.kernels.rows.compact_storage import carrying, dense_layout, family_of, is_compiled
from frankwolfe.kernels.rows.layouts import BLAS, Layout, dense_gram, total
from frankwolfe.kernels.threads import calm, parts_of, share_out
from frankwolfe.objectives.derive import derive
from frankwolfe.rows.compiled_paths import Compiled, CompiledMany, stacked_products
from frankwolfe.rows.data_matrix import IN_ARRAYS, SAME, DataMatrix
from frankwolfe.rows.reading import Query, Sweep
from frankwolfe.rows.rows import Rows

BLOCK_BYTES = 1 << 20  # a row block and its vectors fit the second-level cache
DENSE_FROM = 100  # how much faster a dense product is than a sparse one, operation by operation
FEW = 0.5  # share of the rows below which those with a weight are picked out first
TEMPORARIES = 6  # arrays of the size of a block of images in use at a time, with many points


class HostMatrix(DataMatrix):
    """Rows of NumPy or SciPy, which compiled kernels read where that pays."""

    carries: bool = False  # whether gradients come with their own images

    @property
    def additions(self) -> int:
        return self.stacked_additions if self.layout is None else self.layout.additions

    def current(self) -> Self:
        """Return the data as the next run is to read them: compiled, perhaps, where up to now that did not pay."""
        if "layout" not in vars(self):
            return self
        same = (self.layout is not None) == is_compiled(self.matrix, self.solves, self.loss)
        return self if same else self._otherwise

    @cached_property
    def _otherwise(self) -> Self:
        return derive(self, tuple(name for name in SAME if name not in ("layout", "_sorted", "by_column")))

    def sweep(self, model: Any, query: Query) -> Sweep:
        family = family_of(self.matrix, self.solves, self.loss) if self.layout is None else None
        if family is None:
            return super().sweep(model, query)
        with calm():
            seen = super().sweep(model, query)
        read_plainly(family[0], family[1] * seen.passes)
        return seen

    def known_image(self, x: Array) -> Array | None:
        return image_under(self.layout, x) if self.carries else None

    def gram(self, weights: Array) -> np.ndarray:
        total = None if self.layout is None else self.layout.gram(weights)
        if total is None and isinstance(self.matrix, np.ndarray):
            total = np.zeros((self.shape[1], self.shape[1]))
            with calm(self.matrix.size):
                dense_gram(self.matrix, np.asarray(weights, np.float64), total)
        if total is not None:
            if weights[0] > 0 and (weights == weights[0]).all():  # the squares of the columns come with it
                vars(self).setdefault("_squares_of_columns", total.diagonal() / float(weights[0]))
            return total
        total, some = np.zeros((self.shape[1], self.shape[1])), np.flatnonzero(weights)
        few = some.size < FEW * weights.size  # rows without weight are left out
        picked: Any = self.matrix[some] if few else None
        blocks = [(some, picked)] if few else self.row_blocks()
        with calm(math.prod(self.shape)):
            for rows, block in blocks:
                if (self.shape[1] * block.shape[0]) ** 2 < DENSE_FROM * block.nnz**2:
                    dense_gram(block.toarray(), weights[rows], total)  # the fewer zeros, the further ahead
                else:
                    total += (block.T @ (block * weights[rows, None])).toarray()
        return total

    def product(self, x: Array) -> Array:
        if self.layout is None or x.ndim > 1:
            return super().product(x)
        return self.layout.product(x).astype(self.dtype, copy=False)

    def adjoint(self, r: Array) -> Array:
        if self.layout is None or r.ndim > 1:
            return super().adjoint(r)
        return self.layout.adjoint(r).astype(self.dtype, copy=False)

    def carrying(self) -> Rows:
        if self.carries or self._sorted is None:
            return self
        return derive(self, (*SAME, "eps"), carries=True, layout=self._sorted)

    @cached_property
    def _sorted(self) -> SortedColumns | None:
        return carrying(self.layout)


class RowBlocks(HostMatrix):
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
    """A dense matrix of NumPy."""

    shared = adds_columns = True
    paths = (Compiled(), CompiledMany(), *IN_ARRAYS)

    def reads(self, size: int, fresh: int) -> float:
        if not size:
            return super().reads(size, fresh)
        return 1.0 if self.shape[1] * self.matrix.itemsize <= BLOCK_BYTES else 1.0 + fresh

    def row_blocks(self, size: int = 0) -> Iterable[tuple[slice, Any]]:
        if not size:
            return super().row_blocks(size)
        step, n = max(1, BLOCK_BYTES // (8 * (self.shape[1] + TEMPORARIES * size))), self.shape[0]
        return ((slice(i, min(i + step, n)), self.matrix[i : i + step]) for i in range(0, n, step))

    def stacked(self, x: Array) -> Array:
        return stacked_products(self.matrix, x)

    def carrying(self) -> Rows:
        return self

    @property
    def forms_moments(self) -> bool:
        return self.dtype == np.float64

    def moments(self, model: Any) -> np.ndarray:
        def add(rows: slice, out: np.ndarray) -> None:
            if model.weighted:
                beside = with_targets(self.matrix[rows], model.b[rows], model.share[rows])
                out += beside.T @ beside
            else:
                add_moments(self.matrix[rows], model.b[rows], out)

        return self._added(self.shape[1] + 2, self.shape[0], add)

    def weighted_gram(
        self, weights: np.ndarray, some: np.ndarray | None = None, sums: bool = False
    ) -> tuple[np.ndarray, np.ndarray | None]:
        if some is None and not weights.all():  # rows without weight are left out
            some = np.flatnonzero(weights)
            weights = weights[some]
        d, roots = self.shape[1], np.sqrt(weights)

        def add(rows: slice, out: np.ndarray) -> None:
            beside = roots[rows, None]
            block = np.empty((len(beside), d + sums))
            np.multiply(self.matrix[rows if some is None else some[rows]], beside, out=block[:, :d])
            block[:, d:] = beside
            out += block.T @ block  # which NumPy knows to be symmetric

        H = self._added(d + sums, len(roots), add)
        if some is None and (weights == weights[0]).all():  # the squares of the columns come with it
            vars(self).setdefault("_squares_of_columns", H.diagonal()[:d] / float(weights[0]))
        return (H[:d, :d], H[d, :d]) if sums else (H, None)

    def _added(self, d: int, n: int, add: Callable[[slice, np.ndarray], None]) -> np.ndarray:
        """Return the sum of d x d matrices of blocks of n rows, on all threads."""
        step = self._block_rows
        starts = range(0, n, step)
        parts = min(len(starts), parts_of(n * d * d // BLAS, d * d))
        cuts, out = np.linspace(0, len(starts), parts + 1).astype(int).tolist(), np.zeros((max(parts, 1), d, d))

        def take(part: int) -> None:
            for i in starts[cuts[part] : cuts[part + 1]]:
                add(slice(i, min(i + step, n)), out[part])

        with calm(n * d):
            share_out(take, parts)
        return total(out)

    @property
    def block_bytes(self) -> float:
        n, d = self.shape
        return self.matrix.itemsize * d * min(self._block_rows, n)

    @cached_property
    def blocks(self) -> list[tuple[slice, Any, Any]]:
        matrix, step, n = self.matrix, self._block_rows, self.shape[0]
        slices = [slice(i, min(i + step, n)) for i in range(0, n, step)]
        return [(rows, matrix[rows], matrix[rows].T) for rows in slices]

    @property
    def _block_rows(self) -> int:
        return max(1, BLOCK_BYTES // max(1, self.matrix.itemsize * self.shape[1]))

    @cached_property
    def layout(self) -> Layout | None:
        return dense_layout(self.matrix, self.solves, self.loss)

    def _column_squares(self, weights: Array | None) -> np.ndarray:
        if weights is None:
            return np.einsum("ij,ij->j", self.matrix, self.matrix, dtype=np.float64)
        return np.einsum("i,ij,ij->j", weights, self.matrix, self.matrix, dtype=np.float64)


def with_targets(rows: np.ndarray, b: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Return rows with a constant and their targets beside them, times the roots of their shares."""
    block = np.empty((len(b), rows.shape[1] + 2))
    block[:, :-2], block[:, -2], block[:, -1] = rows, 1.0, b
    block *= np.sqrt(share)[:, None]
    return block


def add_moments(rows: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """Add the second moments of rows with a constant and their targets beside them, without writing these down."""
    one, d = np.ones(len(b)), rows.shape[1]
    out[:d, :d] += rows.T @ rows  # which NumPy knows to be symmetric
    for place, beside in ((d, one), (d + 1, b)):
        across = beside @ rows
        out[place, :d] += across
        out[:d, place] += across
        out[place, d:] += float(beside @ one), float(beside @ b)


class ArrayMatrix(DataMatrix):
    """A dense matrix of an array library other than NumPy; those of torch have a class of their own."""

    shared = True
    paths = IN_ARRAYS

    def reads(self, size: int, fresh: int) -> float:
        return 1.0 if not size and 8 * math.prod(self.shape) <= 4 * BLOCK_BYTES else 1.0 + fresh

    @cached_property
    def turned(self) -> Array:
        """The transpose, of which some libraries make a copy."""
        return self.matrix.T

    def turned_blocks(self) -> Iterable[tuple[slice, Any]]:
        return [(slice(None), self.turned)]

    def array(self, values: Any) -> Array:
        device = array_api_compat.device(self.matrix)
        return namespace(self.matrix).asarray(values, dtype=self.dtype, device=device)

    def rows_at(self, places: Array) -> Array:
        return namespace(self.matrix).take(self.matrix, places, axis=0)

    def doubled(self) -> DataMatrix:
        """Return the same numbers, computed with in double precision: by NumPy where their library has none."""
        return DenseMatrix(host(self.matrix)).doubled() if double(self.matrix) is None else super().doubled()
