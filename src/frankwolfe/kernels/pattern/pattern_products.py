"""What is computed from the observed entries, in one read of them each: compiled where that pays, else plain NumPy.

Rows are dealt out in blocks. How many depends on the data alone, and what the blocks scatter over the columns is added
up in their order: the results do not depend on the number of threads. The functions named `plain_...` are the obvious
versions, used on small patterns and as the measure of the others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from frankwolfe.backends import host
from frankwolfe.backends.compile_policy import read_plainly
from frankwolfe.kernels.threads import parts_of, share_out

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from frankwolfe.kernels.pattern.pattern_matrix import Pattern

COMPILED_FROM = 1 << 15  # observed entries; below, loading Numba costs more than it saves
FAMILY = "observed entries"  # of kernels, for the policy
_GATHER = 1 << 18  # numbers gathered at a time without Numba: 2 MB, so that a block stays in cache
_MOST_BLOCKS = 8  # each with columns of its own to scatter into
_ZERO = np.uint64(0)
Rows = tuple[np.uint64, np.uint64, np.ndarray, np.ndarray]  # first and last of a block, row pointers, columns


class Fit(NamedTuple):
    """Half the weighted sum of squares of U V' - target on the pattern, and its gradients in U and V."""

    value: float
    U: np.ndarray
    V: np.ndarray


def fit(pattern: Pattern, target: np.ndarray, weights: np.ndarray | None, U: np.ndarray, V: np.ndarray) -> Fit:
    """Return the error of U V' on the pattern and its gradients, in one read of the observed entries.

    Target and weights (None: one each) are in the pattern's order; U is m x r, V is n x r.
    """
    if pattern.places is not None:
        return Fit(*pattern.places.fit(target, weights, U, V))
    if not _compiled(pattern, U, V):
        return plain_fit(pattern, target, weights, U, V)
    from frankwolfe.kernels.pattern import pattern_loops

    rank, U, V = U.shape[1], _padded(U), _padded(V)
    weights = target[:0] if weights is None else weights
    GU, GV = np.empty_like(U), _scattered(pattern, 3 * rank, V.shape, V.dtype)
    squares = _over_rows(pattern, len(GV), lambda rows, b: pattern_loops.fit(*rows, target, weights, U, V, GU, GV[b]))
    return Fit(0.5 * sum(squares), GU[:, :rank], _summed(GV)[:, :rank])


def plain_fit(pattern: Pattern, target: np.ndarray, weights: np.ndarray | None, U: np.ndarray, V: np.ndarray) -> Fit:
    """Return what `fit` does, with NumPy and SciPy."""
    off = plain_entries(pattern, U, V) - target
    slope = off if weights is None else weights * off
    value = 0.5 * float(off.astype(np.float64) @ slope.astype(np.float64))
    G = plain_matrix(pattern, slope)
    return Fit(value, G @ V, G.T @ U)


def entries(pattern: Pattern, U: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Return the observed entries of U V' for an m x r and an n x r array; N x r numbers never exist at once."""
    if pattern.places is not None:
        return pattern.places.entries(U, V)
    if not _compiled(pattern, U, V):
        return plain_entries(pattern, U, V)
    from frankwolfe.kernels.pattern import pattern_loops

    kind = np.result_type(U, V)
    U, V = np.ascontiguousarray(U, kind), np.ascontiguousarray(V, kind)
    out = np.empty(pattern.size, kind)
    _over_rows(pattern, _blocks(pattern, U.shape[1]), lambda rows, b: pattern_loops.entries(*rows, U, V, out))
    return out


def plain_entries(pattern: Pattern, U: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Return what `entries` does, gathering a block of rows of U and V at a time."""
    out = np.empty(pattern.size, np.result_type(U, V))
    V, block = np.ascontiguousarray(V), max(1, _GATHER // max(1, U.shape[1]))
    for start in range(0, pattern.size, block):
        part = slice(start, start + block)
        rows, cols = np.take(U, pattern.rows[part], axis=0), np.take(V, pattern.cols[part], axis=0)
        np.einsum("ij,ij->i", rows, cols, out=out[part])
    return out


def plain_matrix(pattern: Pattern, values: Any) -> csr_array:
    """Return the matrix with these values for SciPy, in main memory."""
    from scipy.sparse import csr_array

    parts = (host(part) for part in (values, pattern.cols, pattern.indptr))
    return csr_array(tuple(parts), shape=pattern.shape)


def dense_entries(pattern: Pattern, X: Any) -> np.ndarray:
    """Return the observed entries of an m x n array."""
    return X[pattern.rows, pattern.cols] if pattern.places is None else pattern.places.dense_entries(X)


def rank_one(pattern: Pattern, u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return the observed entries of outer(u, v)."""
    if pattern.places is not None:
        return pattern.places.rank_one(u, v)
    if not _compiled(pattern, u, v):
        return np.repeat(u, np.diff(pattern.indptr)) * np.take(
            v, pattern.cols
        )  # rows are sorted: cheaper than to gather
    from frankwolfe.kernels.pattern import pattern_loops

    out = np.empty(pattern.size, np.result_type(u, v))
    u, v = np.ascontiguousarray(u, out.dtype), np.ascontiguousarray(v, out.dtype)
    _over_rows(pattern, _blocks(pattern, 1), lambda rows, b: pattern_loops.rank_one(*rows, u, v, out))
    return out


def times(pattern: Pattern, values: np.ndarray, W: np.ndarray) -> np.ndarray:
    """Return G W for the matrix G with these values, W a vector or a block of columns."""
    if not _compiled(pattern, None, W):
        return plain_matrix(pattern, values) @ W
    from frankwolfe.kernels.pattern import pattern_loops

    values, W = _alike(values, W)
    out = np.empty((pattern.shape[0], *W.shape[1:]), W.dtype)
    loop: Any = pattern_loops.times if W.ndim == 1 else pattern_loops.times_block
    _over_rows(pattern, _blocks(pattern, _width(W)), lambda rows, b: loop(*rows, values, W, out))
    return out


def transposed_times(pattern: Pattern, values: np.ndarray, U: np.ndarray) -> np.ndarray:
    """Return G' U for the matrix G with these values, U a vector or a block of columns."""
    if not _compiled(pattern, U, None):
        return plain_matrix(pattern, values).T @ U
    from frankwolfe.kernels.pattern import pattern_loops

    values, U = _alike(values, U)
    out = _scattered(pattern, _width(U), (pattern.shape[1], *U.shape[1:]), U.dtype)
    loop: Any = pattern_loops.transposed_times if U.ndim == 1 else pattern_loops.transposed_times_block
    _over_rows(pattern, len(out), lambda rows, b: loop(*rows, values, U, out[b]))
    return _summed(out)


def gram_times(pattern: Pattern, values: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Return G' G w for a vector or a block of four, in one read of G."""
    if not _compiled(pattern, None, w) or (w.ndim == 2 and w.shape[1] != 4):
        return transposed_times(pattern, values, times(pattern, values, w))
    from frankwolfe.kernels.pattern import pattern_loops

    values, w = _alike(values, w)
    out = _scattered(pattern, 1, w.shape, w.dtype)
    loop: Any = pattern_loops.gram_times_four if w.ndim == 2 else pattern_loops.gram_times
    _over_rows(pattern, len(out), lambda rows, b: loop(*rows, values, w, out[b]))
    return _summed(out)


def arranged(pattern: Pattern, values: np.ndarray, scale: float, dtype: Any) -> np.ndarray:
    """Return scale * values[pattern.order] in another precision, in one read where that is compiled."""
    if not pattern.compiled:
        return scale * values[pattern.order].astype(dtype)
    from frankwolfe.kernels.pattern import pattern_loops

    out = np.empty(pattern.size, dtype)
    pattern_loops.arrange(values, pattern.order.view(f"u{pattern.order.itemsize}"), scale, out)
    return out


def one_block(pattern: Pattern, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Return row pointers, columns and values for compiled loops over all rows; None where threads should share them.

    In small matrices a product costs little more than calling it.
    """
    return None if _blocks(pattern, 1, pattern.shape[1]) > 1 else (*pattern.unsigned, np.ascontiguousarray(values))


def _compiled(pattern: Pattern, U: np.ndarray | None, V: np.ndarray | None, *others: np.ndarray) -> bool:
    """Tell whether to use the compiled loops, which look neither at shapes nor at the kind of numbers."""
    for side, factor in zip(pattern.shape, (U, V), strict=True):
        if factor is not None and len(factor) != side:
            raise ValueError(f"expected {side} rows to match a pattern of shape {pattern.shape}, got {len(factor)}")
    known = [f.dtype for f in (U, V, *others) if f is not None]
    if not pattern.compiled:
        if pattern.size >= COMPILED_FROM:
            read_plainly(FAMILY, pattern.size * max(_width(f) for f in (U, V) if f is not None))
        return False
    return np.result_type(*known) in (np.float32, np.float64)


def _alike(values: np.ndarray, W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    kind = np.result_type(values, W)
    return values.astype(kind, copy=False), np.ascontiguousarray(W, kind)


def _padded(U: np.ndarray) -> np.ndarray:
    """Return U with columns of zeros up to a multiple of eight in single precision: a part of a register costs more."""
    more = -U.shape[1] % 8 if U.dtype == np.float32 else 0
    return np.hstack([U, np.zeros((len(U), more), U.dtype)]) if more else np.ascontiguousarray(U)


def _width(W: np.ndarray) -> int:
    return W.shape[1] if W.ndim == 2 else 1


def _scattered(pattern: Pattern, width: int, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Return zeros for each block to scatter into: as many as stay small beside the entries themselves."""
    return np.zeros((_blocks(pattern, width, pattern.shape[1]), *shape), dtype)


def _blocks(pattern: Pattern, width: int, scattered: int = 0) -> int:
    return min(_MOST_BLOCKS, parts_of(pattern.size * width, scattered * width))


def _summed(parts: np.ndarray) -> np.ndarray:
    out = parts[0]
    for part in parts[1:]:
        out += part
    return out


def _over_rows(pattern: Pattern, blocks: int, work: Callable[[Rows, int], Any]) -> list[Any]:
    """Call `work((first, last, indptr, cols), block)` for every block of rows; return the answers in their order."""
    if blocks == 1:
        return [work((_ZERO, np.uint64(pattern.shape[0]), *pattern.unsigned), 0)]
    wanted = np.linspace(0, pattern.size, blocks + 1)[1:-1]
    cuts = [0, *np.searchsorted(pattern.indptr, wanted).tolist(), pattern.shape[0]]
    answers: list[Any] = [None] * blocks

    def task(block: int) -> None:
        rows = (np.uint64(cuts[block]), np.uint64(cuts[block + 1]), *pattern.unsigned)
        answers[block] = work(rows, block)

    share_out(task, blocks)
    return answers
