"""Every family of compiled kernels, run once: `python bits.py [family ...]` prints a digest of the bits of each."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from frankwolfe.kernels.pattern import pattern_products
from frankwolfe.kernels.pattern.pattern_matrix import Pattern
from frankwolfe.kernels.qp.coordinate_descent import Model, Start, descended
from frankwolfe.kernels.rows.column_layouts import Columns, SortedColumns
from frankwolfe.kernels.rows.layouts import CHUNK, NONE, Layout, RowLayout, RowLosses, compiled
from frankwolfe.kernels.spectral import lanczos
from frankwolfe.losses import LogisticLoss, Loss, SquaredLoss

N = 1001
AT_X = (0.0, 1.0, 0.0, 1.0)  # f is differentiated and watched at the new point


def random() -> np.random.Generator:
    return np.random.default_rng(0)


def loss(kind: Loss = LogisticLoss()) -> RowLosses:  # noqa: B008
    return RowLosses(kind, np.where(random().random(N) < 0.5, -1.0, 1.0), np.full(CHUNK, 1 / N))


def sparse_arrays(format: str) -> tuple[Any, tuple[int, int]]:
    A = sp.random_array((N, 90), density=0.1, random_state=random(), format=format)
    return (A.indptr.astype(np.int64), A.indices.astype(np.uint32), A.data), A.shape


def of_layout(layout: Layout, kinds: tuple[Loss, ...] = (LogisticLoss(), SquaredLoss())) -> Iterator[Any]:
    x, weights = random().standard_normal(layout.shape[1]), random().random(N)
    yield from (layout.product(x), layout.adjoint(weights), layout.gram(weights))
    for kind in kinds:
        for hessian in (0, 1):
            yield from layout.sweep(loss(kind), AT_X, NONE, x, hessian)


def dense_gram() -> Iterator[Any]:
    yield RowLayout((random().standard_normal((N, 41)),), (N, 41)).gram(random().random(N))


def dense() -> Iterator[Any]:
    for width in (41, 300):  # short rows are taken eight at a time
        yield from of_layout(RowLayout((random().standard_normal((N, width)),), (N, width)))


def sparse_rows() -> Iterator[Any]:
    yield from of_layout(RowLayout(*sparse_arrays("csr")))


def sparse_columns() -> Iterator[Any]:
    arrays, shape = sparse_arrays("csc")
    for layout in (Columns(arrays, shape), SortedColumns(arrays, shape, 1.0, True)):
        x = random().standard_normal(shape[1])
        yield from (layout.product(x), layout.adjoint(random().random(N)), *layout.sweep(loss(), AT_X, NONE, x))
    start = np.zeros(shape[1])
    slope, c = random().standard_normal(shape[1]), random().random(N) / N
    model, begin = Model(Columns(arrays, shape), np.arange(shape[1]), slope, c), Start(start, 0.0)
    yield from descended(model, 1.0, begin, True, 1e-9, 50)


def intercepts() -> Iterator[Any]:
    start, step = random().standard_normal((2, N))
    yield from loss().balance(start, step, 0.3, (-9.0, 0.0, 9.0), 1e-12)


def losses() -> Iterator[Any]:
    start, step = random().standard_normal((2, N))
    for kind in (LogisticLoss(), SquaredLoss()):
        f = loss(kind)
        yield from (f.value(start), f.slope(start), f.curvature(start), f.along(start, step, 0.3))
    mixing, known = np.array([AT_X, (0.5, 0.5, 0.0, 1.0)]), random().standard_normal((2, N))
    watched, r, sums = np.empty((2, N)), np.empty((2, N)), np.empty((2, 3))
    compiled("losses").differentiate_points(0, mixing, known, known[::-1].copy(), 0, loss(), watched, r, sums)
    yield from (watched, r, sums)


def patterns() -> Iterator[Any]:
    count = pattern_products.COMPILED_FROM
    for kind in (np.float64, np.float32):
        pattern = Pattern(random().integers(0, 400, count), random().integers(0, 300, count), (400, 300))
        values, weights = random().standard_normal((2, count)).astype(kind)
        U, V = random().standard_normal((400, 4)).astype(kind), random().standard_normal((300, 4)).astype(kind)
        yield from pattern_products.fit(pattern, values, weights**2, U, V)
        yield from (pattern_products.entries(pattern, U, V), pattern_products.rank_one(pattern, U[:, 0], V[:, 0]))
        for right, left in ((V, U), (V[:, 0].copy(), U[:, 0].copy())):
            yield pattern_products.times(pattern, values, right)
            yield pattern_products.transposed_times(pattern, values, left)
            yield pattern_products.gram_times(pattern, values, right)
        G = pattern.matrix(values)
        yield from lanczos.top_singular(G, 1e-6, random())
        yield lanczos.norm_upper_bound(G, random()).value


FAMILIES = (dense_gram, intercepts, dense, sparse_rows, sparse_columns, losses, patterns)


def digest(results: Iterator[Any]) -> str:
    """Return a short name of the bits of all results."""
    found = hashlib.sha256()
    for result in results:
        if result is not None:
            found.update(np.ascontiguousarray(result).tobytes())
    return found.hexdigest()[:16]


def main() -> None:
    for family in FAMILIES:
        if not sys.argv[1:] or family.__name__ in sys.argv[1:]:
            print(family.__name__, digest(family()))


if __name__ == "__main__":
    main()
