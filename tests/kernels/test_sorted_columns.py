"""Columns sorted by length are the columns of the data, whatever their lengths, number, storage and the threads."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from frankwolfe.kernels import threads
from frankwolfe.kernels.rows import sorted_columns, sparse
from frankwolfe.kernels.rows.column_layouts import A_COLUMN, Columns, SortedColumns
from frankwolfe.kernels.rows.layouts import NONE, RowLayout, RowLosses
from frankwolfe.losses import LogisticLoss


def wide() -> Any:
    """Return data of more than one block of columns, most of them short, some empty, some long."""
    rng = np.random.default_rng(0)
    n, d = 900, 2 * sorted_columns.BLOCK + 77
    short, long = rng.integers(0, d, 9 * d // 2), rng.choice(d, 60, replace=False).repeat(rng.integers(50, 400, 60))
    cols = np.concatenate([short, long])
    return sp.csr_array((rng.standard_normal(cols.size), (rng.integers(0, n, cols.size), cols)), shape=(n, d))


def tall() -> Any:
    """Return data with columns so long that they are not sorted."""
    rng = np.random.default_rng(1)
    n = sorted_columns.LONGEST + 3000
    lengths = [n, 3, sorted_columns.LONGEST + 1, 0, sorted_columns.LONGEST, 80, n - 1]
    rows = np.concatenate([rng.choice(n, size, replace=False) for size in lengths])
    cols = np.arange(len(lengths)).repeat(lengths)
    return sp.csr_array((rng.standard_normal(rows.size), (rows, cols)), shape=(n, len(lengths)))


def arrays(A: Any, values: bool = True) -> tuple[Any, ...]:
    return A.indptr.astype(np.int64), A.indices.astype(np.uint32), A.data if values else None


@pytest.mark.parametrize("make", [wide, tall])
@pytest.mark.parametrize("by_columns", [False, True])
def test_every_column_is_found_again_in_its_group(make, by_columns, monkeypatch) -> None:
    monkeypatch.setattr(threads, "PART", 5000)
    A = make()
    given = arrays(A.tocsc() if by_columns else A)
    results = []
    for n_threads in (1, 3):
        with threads.limited(n_threads):
            results.append(sorted_columns.grouped(*given, shape=A.shape, by_columns=by_columns))
    groups, order, rows, values = results[0]
    for one, other in zip(*results, strict=True):
        np.testing.assert_array_equal(one, other)
    assert rows.dtype == (np.uint16 if A.shape[0] <= 1 << 16 else np.uint32)
    lengths = np.repeat(groups[:-1, 2], np.diff(groups[:, 0]))
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    np.testing.assert_array_equal(groups[:, 1], indptr[groups[:, 0]])
    back = sp.csc_array((values, rows.astype(np.int64), indptr), shape=A.shape)
    assert sorted(order) == list(range(A.shape[1]))
    assert (back != A.tocsc()[:, order]).nnz == 0
    short = lengths < sorted_columns.LONG
    assert (np.diff(order[short] // sorted_columns.BLOCK) >= 0).all()  # block by block, and the long ones last
    assert (np.diff(short.astype(int)) <= 0).all()


@pytest.mark.parametrize("make", [wide, tall])
@pytest.mark.parametrize("pattern", [False, True])
def test_passes_over_many_columns_equal_their_plain_twins(make, pattern) -> None:
    A = make()
    layout = SortedColumns(arrays(A, values=not pattern), A.shape, 0.5, by_columns=False)
    A = 0.5 * (A.astype(bool).astype(float) if pattern else A)
    rng = np.random.default_rng(2)
    (n, d), b = A.shape, np.where(rng.random(A.shape[0]) < 0.5, 1.0, -1.0)
    x, known = rng.standard_normal(d), rng.standard_normal(n)
    close(layout.product(x), A @ x)
    close(layout.adjoint(known), A.T @ known)
    swept = layout.sweep(RowLosses(LogisticLoss(), b, np.full(n, 1 / n)), (1.0, 0.0, 1.0, 0.0), known, NONE, carry=True)
    slope = -b / n / (1 + np.exp(b * known))
    np.testing.assert_allclose(swept.value, np.mean(np.logaddexp(0.0, -b * known)), rtol=1e-12)
    np.testing.assert_allclose(swept.inner, slope @ known, rtol=1e-12)
    close(swept.slope, A.T @ slope)
    assert swept.slope_image is not None
    close(swept.slope_image, A @ (A.T @ slope))
    np.testing.assert_array_equal(swept.watched_image, known)


@pytest.mark.parametrize("pattern", [False, True])
def test_passes_over_entries_that_do_not_fit_the_cache_equal_their_plain_twins(pattern) -> None:
    A = wide()
    given = arrays(A, values=not pattern)
    assert given[1].nbytes > sparse.CACHED
    A = A.astype(bool).astype(float) if pattern else A
    rng = np.random.default_rng(3)
    for layout, B in ((RowLayout(given, A.shape), A), (Columns(given, A.shape[::-1]), A.T)):
        x, r = rng.standard_normal(B.shape[1]), rng.standard_normal(B.shape[0])
        close(layout.product(x), B @ x)
        close(layout.adjoint(r), B.T @ r)


def test_parts_take_about_equal_time() -> None:
    A = wide()
    layout = SortedColumns(arrays(A), A.shape, 1.0, by_columns=False)
    lengths = np.repeat(layout.sorted[0][:-1, 2], np.diff(layout.sorted[0][:, 0]))
    cuts = layout.cuts(7)
    assert (cuts[0][0], cuts[-1][1]) == (0, A.shape[1])
    assert all(before[1] == after[0] for before, after in pairwise(cuts))
    costs = np.array([lengths[low:high].sum() + A_COLUMN * (high - low) for low, high in cuts])
    assert costs.max() - costs.min() <= 2 * (lengths.max() + A_COLUMN)


def close(actual: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_allclose(actual, expected, rtol=1e-12, atol=1e-12 * float(np.abs(expected).max()))
