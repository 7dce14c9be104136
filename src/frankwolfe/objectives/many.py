"""Linear models at many points by compiled passes: matrix products for the data, compiled loops for the losses."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from frankwolfe.atoms import Rows
from frankwolfe.kernels.threads import calm, share_out
from frankwolfe.objectives.linear_model import LinearModel
from frankwolfe.points import Leaf, Point

BLOCK_BYTES = 1 << 21  # of the data, or of the products with it
ROWS = (64, 1024)  # fewest and most rows of a block: fewer are slow to multiply, more do not stay in cache
PART = 1 << 16  # margins of a part of the rows that one thread takes
MOST_PARTS = 16


class Swept(NamedTuple):
    """What one read of the data gave, a row for each point."""

    slope: np.ndarray
    sums: np.ndarray  # values, <slope, margins> and watched values, as rows
    watched: np.ndarray  # the image of the watched point


def swept(base: LinearModel, y: Point, watch: Point) -> Swept | None:
    """Return values and gradients from one read of the data; None where the points mix more than two images."""
    loss, matrix = base.compiled, base.data.matrix
    if loss is None or not isinstance(matrix, np.ndarray):
        return None
    leaves = list(dict.fromkeys(leaf for point in (y, watch) for _, leaf in point.terms))
    leaves.sort(key=lambda leaf: leaf.value is None)
    if len(leaves) == 1:  # a start: nothing is mixed yet
        leaves.insert(0, Leaf(None, np.zeros((y.coords.shape[0], base.data.shape[0]), base.data.dtype)))
    known, new = leaves[0], leaves[-1]
    if len(leaves) != 2 or known.value is None:
        return None
    return _sweep(matrix, loss, _mixing(y, watch, known, new), known.value, new)


def products(matrix: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return x times the transposed matrix, rows of the matrix in parts."""
    out = np.empty((len(x), len(matrix)), np.result_type(x, matrix))
    cuts = np.linspace(0, len(matrix), 1 + min(MOST_PARTS, max(1, out.size // PART))).astype(int).tolist()

    def take(part: int) -> None:
        for first in range(cuts[part], cuts[part + 1], ROWS[1]):
            rows = slice(first, min(first + ROWS[1], cuts[part + 1]))
            out[:, rows] = _product(matrix[rows], x)

    with calm():  # the parts have threads of their own
        share_out(take, len(cuts) - 1)
    return out


def values(base: LinearModel, images: np.ndarray) -> np.ndarray | None:
    """Return the loss at each of many images."""
    return None if base.compiled is None else np.array([base.compiled.value(image) for image in images])


def _sweep(matrix: np.ndarray, loss: Any, mixing: np.ndarray, known: np.ndarray, new: Leaf) -> Swept:
    from frankwolfe.kernels import many

    (size, n), d = known.shape, matrix.shape[1]
    x = None if new.value is not None else new.coords.toarray() if isinstance(new.coords, Rows) else new.coords
    rows = min(max(BLOCK_BYTES // (8 * max(d, size)), ROWS[0]), ROWS[1])
    firsts = np.arange(0, n, rows)
    parts = np.array_split(firsts, min(MOST_PARTS, max(1, size * n // PART), len(firsts)))
    watched, sums, slopes = np.empty_like(known), np.empty((len(firsts), size, 3)), np.zeros((len(parts), size, d))

    def take(part: int) -> None:
        for first in parts[part].tolist():
            block = matrix[first : first + rows]
            products, start = (new.value, 0) if x is None else (np.ascontiguousarray(_product(block, x)), first)
            r = np.empty((size, len(block)), known.dtype)
            many.differentiate(first, mixing, known, products, start, loss, watched, r, sums[first // rows])
            slopes[part] += r @ block

    with calm():  # the parts have threads of their own
        share_out(take, len(parts))
    totals = np.ascontiguousarray(sums.transpose(2, 1, 0)).sum(axis=-1)  # pairwise, in a fixed order
    return Swept(slopes.sum(axis=0).astype(matrix.dtype, copy=False), totals, watched)


def _product(block: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return x times the transposed block; BLAS is up to twice as fast this way round, with few points."""
    return (block @ x.T).T


def _mixing(y: Point, watch: Point, known: Leaf, new: Leaf) -> np.ndarray:
    """Return the weights of the two images in the two points, a row of four for each."""
    size = known.value.shape[0]
    columns = []
    for point in (y, watch):
        weights = {id(leaf): weight for weight, leaf in point.terms}
        columns += [np.broadcast_to(np.reshape(weights.get(id(leaf), 0.0), (-1,)), size) for leaf in (known, new)]
    return np.stack(columns, axis=1).astype(np.float64)
