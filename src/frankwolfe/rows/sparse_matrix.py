"""Sparse data matrices as linear maps, by rows and by columns."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import Any, Self

import numpy as np

from frankwolfe.backends import Array
from frankwolfe.kernels.rows.compact_storage import as_scipy, columns_of, sparse_layout, turned
from frankwolfe.kernels.rows.layouts import Layout, RowLayout, compiled, double
from frankwolfe.objectives.derive import derive
from frankwolfe.rows import host_matrix
from frankwolfe.rows.compiled_paths import Compiled
from frankwolfe.rows.data_matrix import IN_ARRAYS, SAME, DataMatrix
from frankwolfe.rows.host_matrix import HostMatrix, RowBlocks

ENOUGH = 1000  # rows from which the curvatures along the columns are estimated
TURN_AFTER = 8  # columns picked out of sparse rows after which turning them pays


class SparseMatrix(HostMatrix):
    """A sparse matrix of SciPy, stored in its three arrays."""

    paths = (Compiled(), *IN_ARRAYS)
    descends = True

    def stacked(self, x: Array) -> Array:
        return np.ascontiguousarray(x @ self.matrix.T)

    def arrays(self) -> list[Array]:
        return [self.matrix.indptr, self.matrix.indices, self.matrix.data]


class CSRMatrix(SparseMatrix, RowBlocks):
    """A sparse matrix stored by rows; blocks are views of its three arrays.

    Compiled, the first columns are picked out of the rows; when more are asked for, a copy turned into columns serves
    them. The numbers are the same.
    """

    columns_asked = 0

    @property
    def block_bytes(self) -> float:
        # Every block adds a vector of length d to the gradient: keep that small beside the block itself.
        return max(2 * host_matrix.BLOCK_BYTES, 8 * self.matrix.data.itemsize * self.shape[1])

    @cached_property
    def blocks(self) -> list[tuple[slice, Any, Any]]:
        from scipy.sparse import csr_array

        matrix, (n, d), found = self.matrix, self.shape, []
        per_entry = matrix.data.itemsize + matrix.indices.itemsize
        count = max(1, round(matrix.nnz * per_entry / self.block_bytes))
        cuts = np.unique(np.searchsorted(matrix.indptr, np.linspace(0, matrix.nnz, count + 1)[1:-1]))
        for i, j in pairwise(np.unique(np.concatenate([[0], cuts, [n]]))):
            start, stop = matrix.indptr[i], matrix.indptr[j]
            views = (matrix.data[start:stop], matrix.indices[start:stop], matrix.indptr[i : j + 1] - start)
            block = csr_array(views, shape=(int(j - i), d))
            found.append((slice(int(i), int(j)), block, block.T))
        return found

    @cached_property
    def layout(self) -> Layout | None:
        return sparse_layout(self.matrix, by_columns=False, solves=self.solves, loss=self.loss)

    def column(self, j: int) -> Array:
        if self.layout is None:
            return self.matrix[:, [j]].toarray()[:, 0]
        if self.columns_asked >= TURN_AFTER:
            return self.by_column.column(j)
        self.columns_asked += 1
        places = np.flatnonzero(self.matrix.indices == j)
        rows = np.searchsorted(self.matrix.indptr, places, side="right") - 1
        return _scattered(rows, self.matrix.data[places], self.shape[0])

    def columns(self, indices: Array) -> Any:
        return self.matrix[:, indices] if self.layout is None else self.by_column.columns(indices)

    def by_columns(self) -> DataMatrix:
        if self.layout is None:
            return self.by_column
        if isinstance(self.layout, RowLayout):  # compiled rows find columns themselves
            return self
        # With sparse atoms a solve takes few passes: sorting would take longer.
        layout = sparse_layout(self.matrix, by_columns=False, solves=self.solves, loss=self.loss, sort=False)
        return derive(self, SAME, layout=layout)

    @cached_property
    def lengths(self) -> np.ndarray:
        """How many entries each column has."""
        if self.layout is None:
            return np.bincount(self.matrix.indices, minlength=self.shape[1])
        return compiled("rows.sparse").count(self.layout.arrays[1], self.shape[1])

    def _column_squares(self, weights: Array | None) -> np.ndarray:
        if self.layout is None or not self.matrix.has_canonical_format:
            return _squared(self.matrix, weights)
        c = np.ones(self.shape[0]) if weights is None else double(weights)
        return self.layout.scale**2 * compiled("rows.sparse").squares(*self.layout.arrays, c, self.shape[1], 1)

    def squares(self, weights: np.ndarray) -> np.ndarray:
        """Return the diagonal of A'diag(weights)A; estimated, where rows are many and the kernels compiled."""
        if self.layout is None:
            return self._column_squares(weights)
        every = max(1, min(8, self.shape[0] // ENOUGH))
        squares = compiled("rows.sparse").squares(*self.layout.arrays, weights, self.shape[1], every)
        return self.layout.scale**2 * squares

    @property
    def turned(self) -> bool:
        """Whether there is a copy by columns already."""
        return "by_column" in vars(self)

    @cached_property
    def by_column(self) -> CSCMatrix:
        """A copy by columns, which is made when first asked for."""
        layout = self.layout
        if isinstance(layout, RowLayout):
            layout = turned(layout, self.lengths)
            turn = CSCMatrix(as_scipy(layout, self.dtype))
            turn.layout, turn.lengths = layout, self.lengths
        else:
            turn = CSCMatrix(self.matrix.tocsc())
        turn.solves, turn.loss = self.solves, self.loss
        return turn


class CSCMatrix(SparseMatrix):
    """A sparse matrix stored by columns: single columns are cheap, which is what sparse atoms ask for."""

    turned = True  # nothing to turn

    @cached_property
    def layout(self) -> Layout | None:
        return sparse_layout(self.matrix, by_columns=True, solves=self.solves, loss=self.loss)

    @cached_property
    def lengths(self) -> np.ndarray:
        """How many entries each column has."""
        return np.diff(self.matrix.indptr)

    def _column_squares(self, weights: Array | None) -> np.ndarray:
        return _squared(self.matrix, weights)

    def squares(self, weights: np.ndarray) -> np.ndarray:
        """Return the diagonal of A'diag(weights)A."""
        if self.layout is None:
            return self._column_squares(weights)
        every = np.arange(self.shape[1])
        bends, *_ = compiled("qp.coordinate_descent_loops").bends(*self.layout.arrays, every, weights)
        return self.layout.scale**2 * bends

    @property
    def by_column(self) -> Self:
        return self

    @cached_property
    def descent_layout(self) -> Layout:
        """The columns as coordinate descent reads them, compiled even where passes over all of them are not."""
        return columns_of(self.matrix) if self.layout is None else self.layout

    def column(self, j: int) -> Array:
        entries = slice(self.matrix.indptr[j], self.matrix.indptr[j + 1])
        return _scattered(self.matrix.indices[entries], self.matrix.data[entries], self.shape[0])

    def columns(self, indices: Array) -> Any:
        return self.matrix[:, indices]


def _squared(matrix: Any, weights: Array | None) -> np.ndarray:
    """Return the weighted sum of squares of each column."""
    matrix = _canonical(matrix)
    squares = matrix.data.astype(np.float64, copy=False) ** 2
    total = type(matrix)((squares, matrix.indices, matrix.indptr), shape=matrix.shape).T
    return total @ (np.ones(matrix.shape[0]) if weights is None else weights.astype(np.float64, copy=False))


def _canonical(matrix: Any) -> Any:
    """Return the matrix, each entry once: of entries that are stored in pieces the sum of the sizes of the pieces."""
    if matrix.has_canonical_format:
        return matrix
    sizes = abs(matrix)
    sizes.sum_duplicates()
    return sizes


def _scattered(rows: Array, values: Array, n: int) -> Array:
    """Return the dense vector with these entries; repeated ones add up."""
    out = np.zeros(n, dtype=values.dtype)
    np.add.at(out, rows, values)
    return out
