"""Inner products and sums of a few long vectors, in pieces that stay in cache. Call inside `threads.calm`."""

from __future__ import annotations

import math

import numpy as np

from frankwolfe.backends.namespace import Array, as_like, double, host, is_foreign, namespace, summed

PIECE = 8192  # entries that stay in cache

SHORT = 1 << 16  # entries up to which vectors are made orthogonal themselves

ROUNDING = 1e5 * 2.0**-52  # of the terms of a squared length: what is left of them must be known to five digits


def products(left: list[Array], right: list[Array]) -> np.ndarray:
    """Return the inner products of vectors, in double precision, one row for each on the left; one read of a device."""
    if is_foreign(left[0]):
        return host(_wide(left) @ _wide(right).T).astype(np.float64)
    sides = [left] if right is left else [left, right]
    out, flat = np.zeros((len(left), len(right))), [[np.asarray(v).reshape(-1) for v in side] for side in sides]
    for start in range(0, flat[0][0].size, PIECE):
        piece = slice(start, start + PIECE)
        rows = [np.stack([v[piece] for v in side], dtype=np.float64) for side in flat]
        out += rows[0] @ rows[-1].T
    return out


def blend(weights: list[float], vectors: list[Array]) -> Array:
    """Return the weighted sum of vectors, in the precision of the first."""
    if is_foreign(vectors[0]):
        return combined(np.array([weights]), namespace(*vectors).stack(vectors))[0, ...]
    return summed(weights, vectors, vectors[0].dtype)


def combined(T: np.ndarray, rows: Array) -> Array:
    """Return T times the vectors that are the rows of an array, one to a row."""
    if is_foreign(rows):
        flat = namespace(rows).reshape(rows, (rows.shape[0], -1))
        return namespace(rows).reshape(as_like(T, rows) @ flat, (T.shape[0], *rows.shape[1:]))
    return np.matmul(T.astype(rows.dtype, copy=False), rows.reshape(len(rows), -1)).reshape(len(T), *rows.shape[1:])


def orthonormal(vectors: list[Array], gram: np.ndarray, least: float, short: float) -> np.ndarray:
    """Return T such that T times the vectors is orthonormal and spans them (Gram-Schmidt, twice).

    A vector is left out if it is shorter than `short` times the longest, or if less than `least` of its length is not
    in the span of those before it: what is left would be rounding. Long vectors are known by their inner products
    `gram` alone, which saves passes over them and costs half of the digits.
    """
    lengths, exact, size = np.sqrt(gram.diagonal()), math.prod(vectors[0].shape) <= SHORT, 0
    basis = np.stack([np.asarray(v).reshape(-1) for v in vectors], dtype=np.float64) if exact else np.zeros((0, 0))
    rows = np.eye(len(gram))
    for i, length in enumerate(lengths.tolist()):
        if not length > short * float(lengths.max()):
            continue
        row, q = np.eye(len(gram))[i] / length, basis[i] / length if exact else np.zeros(0)
        for _ in range(2):
            along = basis[:size] @ q if exact else rows[:size] @ (gram @ row)
            row = row - along @ rows[:size]
            q = q - along @ basis[:size] if exact else q
        left, noise = float(q @ q), 0.0
        if not exact:
            left, noise = float(row @ gram @ row), ROUNDING * float(np.abs(row) @ np.abs(gram) @ np.abs(row))
        if left > max(least**2, noise):
            rows[size] = row / left**0.5
            if exact:
                basis[size] = q / left**0.5
            size += 1
    return rows[:size]


def near(vectors: list[Array]) -> list[Array]:
    """Return vectors on the host where they are short, with one read of a device; long ones as they are."""
    if not is_foreign(vectors[0]) or math.prod(vectors[0].shape) > SHORT:
        return vectors
    return list(host(namespace(*vectors).stack(vectors)))


def _wide(vectors: list[Array]) -> Array:
    """Return vectors as the rows of a matrix, in double precision where there is any."""
    xp = namespace(*vectors)
    rows = xp.stack([xp.reshape(v, (-1,)) for v in vectors])
    wide = double(rows)
    return rows if wide is None else xp.astype(rows, wide)
