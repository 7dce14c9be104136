"""Matrices known on a fixed pattern of positions: the observed entries of a matrix that is never formed."""

from __future__ import annotations

from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any

import array_api_compat
import numpy as np

from frankwolfe.backends import host, vdot
from frankwolfe.backends.compile_policy import pays
from frankwolfe.backends.device_pattern import Operator, Places
from frankwolfe.kernels.pattern import pattern_products as products
from frankwolfe.validation import integer

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class Pattern:
    """Positions of an m x n matrix, sorted by row and then by column: 32-bit where they fit.

    They are given in any order; repeated ones are kept, and `duplicates` counts them. `values[order]` sorts values
    given in the caller's order. With an array of another library as `like`, the positions live on its device, as
    `places`.
    """

    def __init__(self, rows: Any, cols: Any, shape: tuple[int, int], like: Any = None) -> None:
        m, n = matrix_shape(shape)
        self.places = None if like is None else Places(rows, cols, (m, n), like)
        if self.places is not None:
            self.shape = (m, n)
            self.order, self.indptr, self.cols = self.places.order, self.places.indptr, self.places.cols
            return
        rows, cols = checked_index("rows", rows, m), checked_index("cols", cols, n)
        if rows.size != cols.size:
            raise ValueError(f"rows and cols must have the same length, got {rows.size} and {cols.size}")
        index = np.int32 if max(m, n, rows.size) <= np.iinfo(np.int32).max else np.int64
        self.shape = (m, n)
        self.order, self.indptr, self.cols = sorted_by_row(rows.astype(index), cols.astype(index), self.shape)

    @cached_property
    def compiled(self) -> bool:
        """Whether kernels read the entries, rather than NumPy and SciPy."""
        return self.places is None and self.size >= products.COMPILED_FROM and pays(products.FAMILY, self.size)

    def current(self) -> Pattern:
        """Return the same pattern as the next run is to read it: compiled, perhaps, where so far that did not pay."""
        fresh = copy(self)
        for name in ("compiled", "transposed"):
            vars(fresh).pop(name, None)
        return self if fresh.compiled == self.compiled else fresh

    @cached_property
    def rows(self) -> np.ndarray:
        if self.places is not None:
            return self.places.rows
        return np.repeat(np.arange(self.shape[0], dtype=self.cols.dtype), np.diff(self.indptr))

    @cached_property
    def unsigned(self) -> tuple[np.ndarray, np.ndarray]:
        """Row pointers and columns for compiled loops, which run three times faster on unsigned indices."""
        return self.indptr.astype(np.uint64), self.cols.view(f"u{self.cols.itemsize}")

    @cached_property
    def transposed(self) -> Pattern:
        """The pattern of the transpose; its `order` sorts values that are in the order of this one."""
        rows = np.repeat(np.arange(self.shape[0], dtype=self.cols.dtype), np.diff(self.indptr))
        turned = Pattern(self.cols, rows, (self.shape[1], self.shape[0]))
        turned.compiled = self.compiled
        return turned

    @property
    def size(self) -> int:
        """Number of positions."""
        return int(self.cols.shape[0])

    def duplicates(self) -> int:
        """Return how many positions repeat an earlier one."""
        if self.places is not None:
            return self.places.duplicates()
        return int(np.count_nonzero((self.cols[1:] == self.cols[:-1]) & (self.rows[1:] == self.rows[:-1])))

    def matrix(self, values: Any) -> PatternMatrix:
        """Return the matrix with these values, given in the order in which the positions were given."""
        if self.places is not None:
            return PatternMatrix(self.places.sorted(values), self)
        return PatternMatrix(np.asarray(values)[self.order], self)

    def zeros(self, dtype: Any = np.float64) -> PatternMatrix:
        """Return the zero matrix on the pattern."""
        return PatternMatrix(np.zeros(self.size, dtype), self)

    def rank_one(self, left: np.ndarray, right: np.ndarray, scale: float = 1.0) -> PatternMatrix:
        """Return scale * outer(left, right) on the pattern, reading only the observed positions."""
        return PatternMatrix(products.rank_one(self, left if scale == 1.0 else scale * left, right), self)

    def entries(self, left: np.ndarray, weights: np.ndarray, right: np.ndarray) -> PatternMatrix:
        """Return left @ diag(weights) @ right.T on the pattern."""
        return PatternMatrix(products.entries(self, left * weights, right), self)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return (
            isinstance(other, Pattern)
            and self.shape == other.shape
            and np.array_equal(host(self.indptr), host(other.indptr))
            and np.array_equal(host(self.cols), host(other.cols))
        )

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __repr__(self) -> str:
        m, n = self.shape
        return f"Pattern({self.size} positions of {m} x {n}, {self.size / (m * n):.2%})"


class PatternMatrix:
    """A matrix that is zero off a pattern, its values in the pattern's sorted order; immutable.

    Sums need one and the same pattern; `a @ w` and `a.T @ u` take a vector or a block of columns.
    """

    __array_ufunc__ = None  # so that a NumPy scalar times a PatternMatrix comes to __rmul__
    ndim = 2

    def __init__(self, values: np.ndarray, pattern: Pattern) -> None:
        if tuple(values.shape) != (pattern.size,):
            raise ValueError(f"values must have shape ({pattern.size},) to match the pattern, got {values.shape}")
        floats = not isinstance(values, np.ndarray) or values.dtype.kind == "f"
        self.values = values if floats else values.astype(np.float64)
        self.pattern = pattern

    @property
    def shape(self) -> tuple[int, int]:
        return self.pattern.shape

    @property
    def dtype(self) -> np.dtype:
        return self.values.dtype

    @property
    def nnz(self) -> int:
        """Number of stored entries."""
        return self.pattern.size

    @cached_property
    def _operator(self) -> Operator:
        """The matrix on a device, ready to multiply."""
        assert self.pattern.places is not None
        return Operator(self.pattern.places, self.values)

    def _values_of(self, other: object) -> np.ndarray:
        if isinstance(other, PatternMatrix):
            if self.pattern == other.pattern:
                return other.values
            raise ValueError("the two matrices live on different patterns")
        raise TypeError(f"expected a PatternMatrix, got {type(other).__name__}")

    def __add__(self, other: PatternMatrix) -> PatternMatrix:
        return PatternMatrix(self.values + self._values_of(other), self.pattern)

    def __sub__(self, other: PatternMatrix) -> PatternMatrix:
        return PatternMatrix(self.values - self._values_of(other), self.pattern)

    def __mul__(self, c: Any) -> PatternMatrix:
        if np.ndim(c) != 0:
            return NotImplemented
        return PatternMatrix(self.values * self._number(c), self.pattern)

    __rmul__ = __mul__

    def __truediv__(self, c: Any) -> PatternMatrix:
        if np.ndim(c) != 0:
            return NotImplemented
        return PatternMatrix(self.values / self._number(c), self.pattern)

    def _number(self, c: Any) -> Any:
        return self.dtype.type(c) if self.pattern.places is None else c

    def __neg__(self) -> PatternMatrix:
        return PatternMatrix(-self.values, self.pattern)

    def __matmul__(self, w: np.ndarray) -> np.ndarray:
        if self.pattern.places is not None:
            return self._operator.times(w)
        return products.times(self.pattern, self.values, w)

    def rmatvec(self, u: np.ndarray) -> np.ndarray:
        """Return the transpose times u, a vector or a block of columns."""
        if self.pattern.places is not None:
            return self._operator.transposed(u)
        return products.transposed_times(self.pattern, self.values, u)

    def gram_matvec(self, w: np.ndarray) -> np.ndarray:
        """Return G.T @ (G @ w), in one read of G where w is a vector."""
        return products.gram_times(self.pattern, self.values, w)

    def scaled(self, c: float, dtype: Any) -> PatternMatrix:
        """Return c times the matrix, in another precision."""
        if c == 1.0:
            return PatternMatrix(self.values.astype(dtype, copy=False), self.pattern)
        values = np.multiply(self.values, c, out=np.empty(self.nnz, dtype), casting="same_kind")
        return PatternMatrix(values, self.pattern)

    def transposed(self, c: float, dtype: Any) -> PatternMatrix:
        """Return c times the transpose, stored by its own rows, in another precision."""
        flipped = self.pattern.transposed
        return PatternMatrix(products.arranged(flipped, self.values, c, dtype), flipped)

    @property
    def T(self) -> Transposed:
        """The transpose, as a view."""
        return Transposed(self)

    def inner(self, other: Any) -> float:
        """Return the sum of products with the entries of another one on the pattern, or of an m x n array."""
        dense: Any = other if array_api_compat.is_array_api_obj(other) else None
        entries = self._values_of(other) if dense is None else products.dense_entries(self.pattern, dense)
        return vdot(self.values, entries)

    def tocsr(self) -> csr_array:
        """Return a SciPy CSR array with its own copy of the values."""
        return products.plain_matrix(self.pattern, self.values).copy()

    def toarray(self) -> np.ndarray:
        """Return the m x n array; for small examples only."""
        if self.pattern.places is not None:
            return self.pattern.places.dense(self.values)
        return products.plain_matrix(self.pattern, self.values).toarray()

    def __repr__(self) -> str:
        return f"PatternMatrix({self.nnz} entries of {self.shape[0]} x {self.shape[1]}, {self.dtype})"


class Transposed:
    """The transpose of a matrix that has `rmatvec`, for multiplying by it."""

    __array_ufunc__ = None
    ndim = 2

    def __init__(self, T: Any) -> None:
        self.T, self.shape, self.dtype = T, T.shape[::-1], T.dtype

    def __matmul__(self, u: np.ndarray) -> np.ndarray:
        return self.T.rmatvec(u)

    def toarray(self) -> np.ndarray:
        """Return the array; for small examples only."""
        return self.T.toarray().T


def matrix_shape(shape: Any) -> tuple[int, int]:
    """Return the shape of a matrix, or say what is wrong with it."""
    if len(shape) != 2:
        raise ValueError(f"shape must be (rows, columns), got {shape!r}")
    return integer("shape[0]", shape[0], 1), integer("shape[1]", shape[1], 1)


def checked_index(name: str, index: Any, bound: int) -> np.ndarray:
    """Return row or column numbers as an array, or say what is wrong with them."""
    index = np.asarray(index)
    if index.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {index.shape}")
    if index.size == 0:
        return index.astype(np.int32)
    if index.dtype.kind not in "iu":
        raise ValueError(f"{name} must be integers, got dtype {index.dtype}")
    low, high = index.min(), index.max()
    if low < 0 or high >= bound:
        raise ValueError(f"{name} must lie in 0..{bound - 1} to match the shape, got {low}..{high}")
    return index


def sorted_by_row(
    rows: np.ndarray, cols: np.ndarray, shape: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (order, row pointers, columns) of the positions sorted by row, then column; linear time, stable."""
    from scipy.sparse import coo_array

    by = coo_array((np.arange(rows.size, dtype=rows.dtype), (rows, cols)), shape=shape)
    by.has_canonical_format = True  # keeps repeated positions apart
    by = by.tocsc().tocsr()  # two counting sorts, the less significant key first
    return by.data, by.indptr, by.indices
