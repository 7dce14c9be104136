"""Long vectors in pieces, and columns picked out of rows: against plain NumPy and SciPy."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import frankwolfe as fw
from frankwolfe.kernels import long_vectors
from frankwolfe.kernels.long_vectors import blend, orthonormal, products
from frankwolfe.kernels.rows import compact_storage
from frankwolfe.kernels.rows.column_selection import picked
from frankwolfe.rows.user_data import data_matrix
from frankwolfe.rows.user_data import picked as picked_columns


@given(
    size=st.integers(1, 40),
    counts=st.tuples(st.integers(1, 4), st.integers(1, 4)),
    piece=st.integers(1, 50),
    dtype=st.sampled_from([np.float64, np.float32]),
    seed=st.integers(0, 99),
)
@settings(max_examples=60, deadline=None)
def test_products_and_sums(size: int, counts: tuple[int, int], piece: int, dtype: type, seed: int) -> None:
    """However the vectors are cut, the numbers are NumPy's, in double precision for products."""
    rng = np.random.default_rng(seed)
    left, right = (list(rng.standard_normal((count, size)).astype(dtype)) for count in counts)
    weights = rng.standard_normal(len(left))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(long_vectors, "PIECE", piece)
        patch.setattr(sys.modules["frankwolfe.backends.namespace"], "PIECE", piece)
        found, own, total = products(left, right), products(left, left), blend(weights.tolist(), left)
    exact = np.stack(left).astype(np.float64)
    np.testing.assert_allclose(found, exact @ np.stack(right).astype(np.float64).T, atol=1e-12 * size)
    np.testing.assert_allclose(own, exact @ exact.T, atol=1e-12 * size)
    assert total.dtype == dtype
    np.testing.assert_allclose(total, weights @ exact, atol=1e-12 if dtype is np.float64 else 1e-5)


@pytest.mark.parametrize(("short", "tol"), [(1 << 16, 1e-8), (0, 1e-4)])
@given(size=st.integers(1, 8), rank=st.integers(1, 8), seed=st.integers(0, 99))
@settings(max_examples=200, deadline=None)
def test_orthonormal_spans_what_there_is(short: int, tol: float, size: int, rank: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    V = rng.standard_normal((size, rank)) @ rng.standard_normal((rank, 20))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(long_vectors, "SHORT", short)
        T = orthonormal(list(V), V @ V.T, 1e-6, 1e-9)
    Q = T @ V
    np.testing.assert_allclose(Q @ Q.T, np.eye(len(Q)), atol=tol)
    np.testing.assert_allclose(V - V @ Q.T @ Q, 0.0, atol=1e-3 * np.abs(V).max())
    assert len(Q) <= min(size, rank)


@given(
    shape=st.tuples(st.integers(1, 9), st.integers(1, 9)),
    density=st.sampled_from([0.0, 0.3, 1.0]),
    seed=st.integers(0, 99),
    data=st.data(),
)
@settings(max_examples=60, deadline=None)
def test_columns_of_sparse_rows(shape: tuple[int, int], density: float, seed: int, data: st.DataObject) -> None:
    """Also where rows or columns are empty, nothing is left, or an entry is stored twice."""
    rng = np.random.default_rng(seed)
    dense = rng.standard_normal(shape) * (rng.random(shape) < density)
    A = sp.csr_array(dense)
    columns = np.array(sorted(data.draw(st.sets(st.integers(0, shape[1] - 1), min_size=1))))
    values, indices, indptr = picked(A.indptr, A.indices, A.data, shape[1], columns)
    found = sp.csr_array((values, indices, indptr), shape=(shape[0], columns.size))
    np.testing.assert_array_equal(found.toarray(), dense[:, columns])
    twice = sp.csr_array((np.array([1.0, 2.0, 4.0]), np.array([1, 1, 0]), np.array([0, 3])), shape=(1, 3))
    rows = picked(twice.indptr, twice.indices, twice.data, 3, np.array([1]))
    assert sp.csr_array(rows, shape=(1, 1)).toarray() == 3.0


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("compiled", [False, True])
def test_columns_of_any_data(form, dtype, compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values, gradients and Hessians of the model on some columns are those of the whole model."""
    if compiled:
        monkeypatch.setattr(compact_storage, "COMPILED_FROM", 1)
    rng = np.random.default_rng(0)
    A = (rng.standard_normal((30, 9)) * (rng.random((30, 9)) < 0.6)).astype(dtype)
    chosen, z = np.array([1, 4, 7]), np.array([0.5, -1.0, 0.25], dtype=dtype)
    x = np.zeros(9, dtype=dtype)
    x[chosen] = z
    assert picked_columns(data_matrix("A", form(A)), chosen).dtype == dtype
    for intercept in (False, True):
        for model in (fw.Logistic(form(A), A[:, 0] > 0, intercept=intercept), fw.Huber(form(A), A[:, 1], ridge=0.1)):
            part = model.restricted(chosen)
            rtol = 1e-12 if dtype is np.float64 else 1e-4
            assert part.shape == (3,)
            np.testing.assert_allclose(part.value(z), model.value(x), rtol=rtol)
            np.testing.assert_allclose(part.grad(z), model.grad(x)[chosen], rtol=rtol, atol=1e-6)
            assert part.smoothness is None or part.smoothness <= model.smoothness * (1 + 1e-6)


def test_bases_of_short_vectors() -> None:
    V = [np.array([2.0, 0.0]), np.array([2.0, 1.0])]
    T = long_vectors.orthonormal(V, long_vectors.products(V, V), 1e-6, 1e-9)
    np.testing.assert_allclose(T, [[0.5, 0], [-1, 1]], atol=1e-15)
    np.testing.assert_allclose(long_vectors.combined(T, np.array(V)), np.eye(2), atol=1e-15)
