"""Compiled reads of rows in main memory: everything that an evaluation needs from one pass, at one point or many."""

from __future__ import annotations

from typing import Any

import numpy as np

from frankwolfe.atoms import Atom, Dense
from frankwolfe.backends.namespace import Imaged
from frankwolfe.kernels.rows.layouts import NONE
from frankwolfe.kernels.threads import calm, share_out
from frankwolfe.points import Leaf, Point, weighted_sum
from frankwolfe.rows.reading import Path, Query, Sweep, array_of

BLOCK_BYTES = 1 << 21  # of the data, or of the products with it
ROWS = (64, 1024)  # fewest and most rows of a block: fewer are slow to multiply, more do not stay in cache
PART = 1 << 16  # margins of a part of the rows that one thread takes
MOST_PARTS = 16


class Compiled(Path):
    """A compiled pass of the layout of the data: product, margins, loss, gradient and, by rows, the Hessian."""

    name = "one compiled pass"

    def takes(self, rows: Any, model: Any, query: Query) -> bool:
        if rows.layout is None or model.compiled is None or not model.separable or query.size:
            return False
        # Two vectors at once are taken where they are the two points themselves.
        return len(query.pending) < 2 or all(len(p.terms) == 1 and p.terms[0][0] == 1.0 for p in (query.y, query.watch))

    def read(self, rows: Any, model: Any, query: Query) -> Sweep:
        y, watch, pending, layout, loss = query.y, query.watch, query.pending, rows.layout, model.compiled
        (y_known, y_new, base), (w_known, w_new, other) = _split(y), _split(watch)
        same_base = base is other
        mixing = (y_known, y_new, w_known, w_new) if same_base else (y_known, y_new, y_known, y_new)
        second = NONE
        if len(pending) > 1:
            mixing, second = (0.0, 1.0, 1.0, 0.0), array_of(pending[1].coords)
        known = NONE if base is None else np.ascontiguousarray(base)
        x = NONE if not pending else array_of(pending[0].coords)
        keep = query.keep or not same_base
        swept = layout.sweep(
            loss, mixing, known, x, query.hessian if layout.has_hessian else 0, second, keep, rows.carries
        )
        for leaf, image in zip(pending if keep else [], (swept.image, swept.watched_image), strict=False):
            leaf.resolve(image.astype(rows.dtype, copy=False))
        if keep and same_base and second is NONE:
            watch.terms = ((1.0, Leaf(None, swept.watched_image.astype(rows.dtype, copy=False))),)
        slope = swept.slope.astype(rows.dtype, copy=False)
        if swept.slope_image is not None:
            slope = Imaged.known(slope, swept.slope_image.astype(rows.dtype, copy=False), layout)
        watched = swept.value if mixing[:2] == mixing[2:] else swept.watched
        if not same_base:
            watched = loss.value(watch.image)
        passes = layout.reads if pending else 1.0
        return Sweep(swept.value, swept.inner, watched, slope, passes, self.name, swept.hessian)


class CompiledMany(Path):
    """Many points over dense rows: matrix products for the data, compiled loops for the losses, block by block."""

    name = "matrix products and compiled losses in one pass, for many points"

    def takes(self, rows: Any, model: Any, query: Query) -> bool:
        if not query.size or model.compiled is None or not model.separable:
            return False
        return len(query.known) + len(query.pending) < 3

    def read(self, rows: Any, model: Any, query: Query) -> Sweep:
        from frankwolfe.kernels.losses import differentiate_points

        matrix, size, (n, d) = rows.matrix, query.size, rows.shape
        fresh = query.pending
        for leaf in fresh[1:]:  # two new stacks: the second one is had first
            leaf.resolve(rows.apply(leaf.coords))
        leaves = [*query.known, *query.pending]
        if len(leaves) == 1:  # a start: nothing is mixed yet
            leaves.insert(0, Leaf(None, np.zeros((size, n), rows.dtype)))
        known, new = leaves
        mixing = _mixing(query, known, new, size)
        x = None if new.value is not None else array_of(new.coords)
        step = min(max(BLOCK_BYTES // (8 * max(d, size)), ROWS[0]), ROWS[1])
        firsts = np.arange(0, n, step)
        parts = np.array_split(firsts, min(MOST_PARTS, max(1, size * n // PART), len(firsts)))
        watched, sums = np.empty_like(known.value), np.empty((len(firsts), size, 3))
        slopes = np.zeros((len(parts), size, d))

        def take(part: int) -> None:
            for first in parts[part].tolist():
                block = matrix[first : first + step]
                products, start = (new.value, 0) if x is None else (np.ascontiguousarray(_product(block, x)), first)
                r = np.empty((size, len(block)), watched.dtype)
                to = first, mixing, known.value, products, start, model.compiled, watched, r, sums[first // step]
                differentiate_points(*to)
                slopes[part] += r @ block

        with calm():  # the parts have threads of their own
            share_out(take, len(parts))
        # In pairs, in a fixed order.
        value, inner, at_watch = np.ascontiguousarray(sums.transpose(2, 1, 0)).sum(axis=-1)
        # The watched points keep their images. Those of new vertices were needed for the mixtures only.
        query.watch.terms = ((1.0, Leaf(None, watched)),)
        slope = slopes.sum(axis=0).astype(matrix.dtype, copy=False)
        passes = max(len(fresh) - 1, 0) + rows.reads(size, min(len(fresh), 1))
        return Sweep(value, inner, at_watch, slope, passes, self.name)


def stacked_products(matrix: np.ndarray, x: np.ndarray) -> np.ndarray:
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


def settle(rows: Any, leaf: Leaf) -> float:
    """Compute an image that costs no more than a few columns; return the reads of the data that took."""
    coords = leaf.coords
    if isinstance(coords, np.ndarray) and coords[0] == 0 and not coords.any():  # as at the start of most runs
        leaf.resolve(np.zeros(rows.shape[0], np.result_type(rows.dtype, coords)))
        return 0.0
    cost = rows.cost(coords)
    if cost > 0 and (not isinstance(coords, Atom) or isinstance(coords, Dense)):
        return 0.0
    leaf.resolve(rows.apply(coords))
    return cost


def _split(point: Point) -> tuple[float, float, np.ndarray | None]:
    """Return the image as a known w, v and m: w m + v Ax, with Ax pending."""
    known = [(float(w), leaf.value) for w, leaf in point.terms if leaf.value is not None]
    new = float(sum(w for w, leaf in point.terms if leaf.value is None))
    if not known:
        return 0.0, new, None
    if not point.pending:
        return 1.0, 0.0, point.image
    if len(known) == 1:
        return known[0][0], new, known[0][1]
    return 1.0, new, weighted_sum(known)


def _product(block: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return x times the transposed block; BLAS is up to twice as fast this way round, with few points."""
    return (block @ x.T).T


def _mixing(query: Query, known: Leaf, new: Leaf, size: int) -> np.ndarray:
    """Return the weights of the two images in the two points, a row of four for each."""
    (y_known, w_known), (y_new, w_new) = query.weights(known), query.weights(new)
    columns = [np.broadcast_to(np.reshape(w, (-1,)), size) for w in (y_known, y_new, w_known, w_new)]
    return np.stack(columns, axis=1).astype(np.float64)
