"""A'diag(w)A on a device: the one thing that a second-order step asks of the data beside a gradient."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from typing import Any

import array_api_compat
import numpy as np

from frankwolfe.backends.namespace import Array, host
from frankwolfe.backends.precision import fast_products

PIECE = 1 << 26  # numbers of a piece of the data, of which a copy is made
PARTS = 64  # of a piece, whose products a device forms side by side
LONG = 1 << 34  # operations for the whole from which on ten bits of mantissa do: a line search checks the minimiser


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


def gram_by_columns(data: Any, weights: Array) -> np.ndarray:
    """Do the same for a sparse matrix, whose columns are made dense a few at a time."""
    n, d = data.shape
    step, out = max(1, PIECE // n), []
    for j in range(0, d, step):
        columns = data.product(data.array(np.eye(d, min(step, d - j), -j)))
        out.append(host(data.adjoint(weights[:, None] * columns)))
    return np.concatenate(out, axis=1).astype(np.float64)


def _product(block: Array, weights: Array, fast: bool) -> Array:
    n, d = block.shape
    if not array_api_compat.is_torch_array(block):
        return block.T @ (block * weights[:, None])
    with fast_products() if fast else contextlib.nullcontext():
        scaled, most = block * weights[:, None], n - n % PARTS
        # A small square from very many rows: side by side, or a few units of the device would do it all.
        left, right = (a[:most].reshape(PARTS, -1, d) for a in (block, scaled))
        return (left.transpose(1, 2) @ right).sum(dim=0) + block[most:].T @ scaled[most:]
