"""Entries on a fixed pattern of positions, on a device: the same products for PyTorch, CuPy, JAX and the rest.

Positions are kept twice, sorted by row and by column, so that both products with a matrix on the pattern are sums over
runs. Sparse products are the library's own where it has good ones; the entries of a product of factors are one Triton
kernel where there is Triton. `kernels/pattern/pattern_products.py` is the same on NumPy.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import array_api_compat as compat
import numpy as np

from frankwolfe.backends import triton_pattern
from frankwolfe.backends.namespace import Array, double, host, index_type, namespace, set_at, zeros

kernels: Any = triton_pattern  # functions that Triton compiles

GATHER = 1 << 24  # numbers gathered at a time where there is no kernel
DENSE = 1 << 25  # numbers of a block of rows made dense for a Gram matrix


class Places:
    """Positions of an m x n matrix, sorted by row and then by column, on the device of `like` and in its library."""

    def __init__(self, rows: Any, cols: Any, shape: tuple[int, int], like: Array) -> None:
        self.xp, self.shape, self.like = namespace(like), shape, like[:0]
        rows, cols = self._index("rows", rows, shape[0]), self._index("cols", cols, shape[1])
        if rows.shape != cols.shape:
            raise ValueError(f"rows and cols must have the same length, got {rows.shape[0]} and {cols.shape[0]}")
        first = self.xp.argsort(cols, stable=True)
        self.order = self._take(first, self.xp.argsort(self._take(rows, first), stable=True))
        self.rows, self.cols = self._take(rows, self.order), self._take(cols, self.order)
        self.indptr = self._starts(self.rows, shape[0])

    @cached_property
    def by_column(self) -> tuple[Array, Array, Array, Array]:
        """The order that sorts by column, rows and columns in it, and where each column starts."""
        order = self.xp.argsort(self.cols, stable=True)
        cols = self._take(self.cols, order)
        return self._short(order), self._take(self.rows, order), cols, self._starts(cols, self.shape[1])

    @property
    def size(self) -> int:
        """Number of positions."""
        return int(self.rows.shape[0])

    @cached_property
    def flat(self) -> Array:
        """Positions in the flattened matrix."""
        return self._wide(self.rows) * self.shape[1] + self._wide(self.cols)

    def duplicates(self) -> int:
        """Return how many positions repeat an earlier one."""
        same = (self.rows[1:] == self.rows[:-1]) & (self.cols[1:] == self.cols[:-1])
        return int(self.xp.sum(self.xp.astype(same, self.xp.int32)))

    def sorted(self, values: Any) -> Array:
        """Return values, given in the order in which the positions were given, in the order of the pattern."""
        if not compat.is_array_api_obj(values) or isinstance(values, np.ndarray):
            values = self.xp.asarray(values, dtype=self.like.dtype, device=compat.device(self.like))
        return self._take(values, self.order)

    def dense_entries(self, X: Array) -> Array:
        """Return the entries of an m x n array."""
        return self._take(self.xp.reshape(X, (-1,)), self.flat)

    def dense(self, values: Array) -> Array:
        """Return the m x n array with these values."""
        out = set_at(zeros((self.shape[0] * self.shape[1],), values), self.flat, values)
        return self.xp.reshape(out, self.shape)

    def rank_one(self, u: Array, v: Array) -> Array:
        """Return the entries of outer(u, v)."""
        return self._take(u, self.rows) * self._take(v, self.cols)

    def entries(self, U: Array, V: Array) -> Array:
        """Return the entries of U V' for an m x r and an n x r array."""
        rank = int(U.shape[1])
        if kernels.usable(U):
            return kernels.entries(self.rows, self.cols, U, V)
        pieces, step = [], max(1, GATHER // max(1, rank))
        for start in range(0, self.size, step):
            part = slice(start, min(start + step, self.size))
            rows, cols = self.rows[part], self.cols[part]
            pieces.append(self.xp.sum(self._take(U, rows) * self._take(V, cols), axis=1))
        return pieces[0] if len(pieces) == 1 else self.xp.concat(pieces)

    def fit(self, target: Array, weights: Any, U: Array, V: Array) -> tuple[float, Array, Array]:
        """Return half the weighted sum of squares of U V' - target, and its gradients in U and V."""
        off = self.entries(U, V) - target
        slope = off if weights is None else weights * off
        wide = double(off)
        value = 0.5 * float(self.xp.sum(off * slope, dtype=wide) if wide is not None else self.xp.sum(off * slope))
        operator = Operator(self, slope)
        return value, operator.times(V), operator.transposed(U)

    def gram_matrix(self, values: Array) -> Array:
        """Return G'G or GG', the smaller one, for the matrix G with these values: dense, from blocks of dense rows."""
        tall = self.shape[0] >= self.shape[1]
        order, rows, cols, _ = self.by_column
        if not tall:
            rows, cols, values = cols, rows, self._take(values, order)
        else:
            rows, cols = self.rows, self.cols
        long, short = max(self.shape), min(self.shape)
        step = max(1, DENSE // short)
        cuts = host(self._starts(rows, long)[::step]).tolist()
        H = zeros((short, short), values)
        for block, begin in enumerate(cuts):
            end = cuts[block + 1] if block + 1 < len(cuts) else self.size
            if end > begin:
                part = slice(begin, end)
                place = (self._wide(rows[part]) - block * step) * short + self._wide(cols[part])
                height = min(step, long - block * step)
                B = self.xp.reshape(set_at(zeros((height * short,), values), place, values[part]), (height, short))
                H = H + B.T @ B
        return H

    def _index(self, name: str, positions: Any, bound: int) -> Array:
        """Return positions as integers on the device, 32 bits where they fit."""
        xp, device = self.xp, compat.device(self.like)
        if compat.is_array_api_obj(positions) and namespace(positions) is xp:
            index = compat.to_device(positions, device)
        else:
            index = xp.asarray(host(positions) if compat.is_array_api_obj(positions) else positions, device=device)
        if index.ndim != 1 or not (xp.isdtype(index.dtype, "integral") or not index.shape[0]):
            raise ValueError(f"{name} must be a vector of integers, got shape {tuple(index.shape)} and {index.dtype}")
        if index.shape[0] and (int(xp.min(index)) < 0 or int(xp.max(index)) >= bound):
            found = f"{int(xp.min(index))}..{int(xp.max(index))}"
            raise ValueError(f"{name} must lie in 0..{bound - 1} to match the shape, got {found}")
        return self._short(index)

    def _short(self, index: Array) -> Array:
        fits = max(*self.shape, int(index.shape[0])) < 2**31
        return self.xp.astype(index, self.xp.int32 if fits else index_type(self.like), copy=False)

    def _wide(self, index: Array) -> Array:
        return self.xp.astype(index, index_type(self.like), copy=False)

    def _take(self, values: Array, index: Array) -> Array:
        return self.xp.take(values, index, axis=0)

    def _starts(self, sorted_index: Array, count: int) -> Array:
        """Return where each of 0..count begins in a sorted index."""
        ends = self.xp.arange(count + 1, dtype=sorted_index.dtype, device=compat.device(self.like))
        return self._short(self.xp.searchsorted(sorted_index, ends))


class Operator:
    """The matrix with certain values on the pattern, ready to multiply vectors and blocks of columns."""

    def __init__(self, places: Places, values: Array) -> None:
        self.places, self.values = places, values

    def times(self, W: Array) -> Array:
        """Return G W."""
        return self._by_row @ W

    def transposed(self, U: Array) -> Array:
        """Return G' U."""
        return self._by_column @ U

    @cached_property
    def _by_row(self) -> Any:
        here = self.places
        return _runs(self.values, here.rows, here.cols, here.indptr, here.shape)

    @cached_property
    def _by_column(self) -> Any:
        order, rows, cols, starts = self.places.by_column
        values = self.places.xp.take(self.values, order, axis=0)
        m, n = self.places.shape
        return _runs(values, cols, rows, starts, (n, m))


def _runs(values: Array, rows: Array, cols: Array, starts: Array, shape: tuple[int, int]) -> Any:
    """Return a matrix stored by rows that multiplies: the library's own where that is the fastest."""
    if compat.is_torch_array(values) and values.is_cuda:
        return _torch_csr(starts, cols, values, shape)
    if compat.is_cupy_array(values):
        from cupyx.scipy.sparse import csr_matrix

        return csr_matrix((values, cols, starts), shape=shape)
    return _Runs(values, rows, cols, starts, shape)


def _torch_csr(starts: Array, cols: Array, values: Array, shape: tuple[int, int]) -> Any:
    import torch

    with quiet():
        return torch.sparse_csr_tensor(starts, cols, values, shape, check_invariants=False)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Silence torch's notes that its sparse tensors are young and unchecked, and that nobody must write to an array."""
    import warnings

    known = "Sparse CSR tensor support|Sparse invariant checks|The given NumPy array is not writable"
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=known)
        yield


class _Runs:
    """A matrix stored by rows; products are sums over runs of the entries."""

    def __init__(self, values: Array, rows: Array, cols: Array, starts: Array, shape: tuple[int, int]) -> None:
        self.values, self.rows, self.cols, self.starts, self.shape = values, rows, cols, starts, shape

    def __matmul__(self, W: Array) -> Array:
        xp = namespace(self.values)
        gathered = xp.take(W, self.cols, axis=0)
        terms = self.values * gathered if W.ndim == 1 else self.values[:, None] * gathered
        if compat.is_torch_array(terms) or compat.is_jax_array(terms):
            out = zeros((self.shape[0], *tuple(W.shape)[1:]), terms)
            if compat.is_torch_array(terms):
                return out.index_add_(0, self.rows, terms)
            return out.at[self.rows].add(terms, indices_are_sorted=True)
        ends = xp.cumulative_sum(xp.astype(terms, double(terms)), axis=0, include_initial=True)
        sums = xp.take(ends, self.starts[1:], axis=0) - xp.take(ends, self.starts[:-1], axis=0)
        return xp.astype(sums, terms.dtype)
