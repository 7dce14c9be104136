"""Matrices on a pattern against SciPy and plain arrays."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frankwolfe.kernels.pattern import pattern_products
from frankwolfe.kernels.pattern.pattern_matrix import Pattern, PatternMatrix


def positions(m, n, count, seed):
    rng = np.random.default_rng(seed)
    flat = rng.permutation(m * n)[:count]  # distinct, in random order
    return flat // n, flat % n, rng


def example(m=7, n=5, count=18, seed=0, dtype=np.float64):
    rows, cols, rng = positions(m, n, count, seed)
    values = rng.standard_normal(count).astype(dtype)
    dense = np.zeros((m, n), dtype)
    dense[rows, cols] = values
    return Pattern(rows, cols, (m, n)).matrix(values), dense, rng


@settings(max_examples=60, deadline=None)
@given(m=st.integers(1, 9), n=st.integers(1, 9), count=st.integers(0, 30), seed=st.integers(0, 99))
def test_positions_are_sorted_and_repeats_are_counted(m, n, count, seed):
    rng = np.random.default_rng(seed)
    rows, cols = rng.integers(0, m, count), rng.integers(0, n, count)
    p = Pattern(rows, cols, (m, n))
    order = np.lexsort((cols, rows))
    np.testing.assert_array_equal(p.order, order)
    np.testing.assert_array_equal(p.rows, rows[order])
    np.testing.assert_array_equal(p.cols, cols[order])
    assert p.duplicates() == count - len(set(zip(rows.tolist(), cols.tolist(), strict=True)))
    assert p.cols.dtype == p.rows.dtype == p.indptr.dtype == np.int32


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_and_algebra_match_arrays(dtype):
    g, dense, rng = example(dtype=dtype)
    h = PatternMatrix(rng.standard_normal(g.nnz).astype(dtype), g.pattern)
    other = h.toarray()
    w, u = rng.standard_normal(5).astype(dtype), rng.standard_normal(7).astype(dtype)
    tol = {"rtol": 1e-5, "atol": 1e-6} if dtype == np.float32 else {"rtol": 1e-13, "atol": 1e-14}
    np.testing.assert_array_equal(g.toarray(), dense)
    np.testing.assert_array_equal(g.tocsr().toarray(), dense)
    np.testing.assert_allclose(g @ w, dense @ w, **tol)
    np.testing.assert_allclose(g.T @ u, dense.T @ u, **tol)
    np.testing.assert_allclose(g.rmatvec(u), dense.T @ u, **tol)
    np.testing.assert_allclose(g.gram_matvec(w), dense.T @ (dense @ w), **tol)
    W, U = rng.standard_normal((5, 3)).astype(dtype), rng.standard_normal((7, 2)).astype(dtype)
    np.testing.assert_allclose(g @ W, dense @ W, **tol)
    np.testing.assert_allclose(g.T @ U, dense.T @ U, **tol)
    for got, want in [
        (g + h, dense + other),
        (g - h, dense - other),
        (np.float64(2.5) * g, 2.5 * dense),
        (g * 2.5, 2.5 * dense),
        (g / 4, dense / 4),
        (-g, -dense),
    ]:
        assert isinstance(got, PatternMatrix)
        assert got.dtype == dtype
        np.testing.assert_allclose(got.toarray(), want, **tol)
    assert g.inner(h) == pytest.approx(float(np.vdot(dense, other)), rel=1e-5)
    assert (g @ w).dtype == (g.T @ u).dtype == dtype
    np.testing.assert_array_equal(g.T.toarray(), dense.T)
    assert g.T.T is g
    assert g.T.shape == (5, 7)


def test_results_do_not_share_memory_that_a_caller_could_write():
    g, dense, _ = example()
    g.tocsr().data[:] = 0.0
    g.toarray()[:] = 0.0
    np.testing.assert_array_equal(g.toarray(), dense)


@pytest.mark.parametrize("block", [1, 7, 1 << 18])
def test_entries_of_low_rank_in_blocks(block, monkeypatch):
    monkeypatch.setattr(pattern_products, "_GATHER", block)
    g, dense, rng = example()
    U, s, V = rng.standard_normal((7, 3)), rng.standard_normal(3), rng.standard_normal((5, 3))
    full = (U * s) @ V.T
    got = g.pattern.entries(U, s, V)
    np.testing.assert_allclose(got.toarray(), np.where(dense != 0, full, 0), rtol=1e-12, atol=1e-14)
    one = g.pattern.rank_one(U[:, 0], V[:, 0], scale=-2.0)
    np.testing.assert_allclose(one.toarray(), np.where(dense != 0, -2 * np.outer(U[:, 0], V[:, 0]), 0), atol=1e-14)


def test_empty_pattern_and_rank_zero():
    p = Pattern([], [], (3, 2))
    assert p.size == 0
    assert p.duplicates() == 0
    np.testing.assert_array_equal(p.zeros() @ np.ones(2), np.zeros(3))
    got = Pattern([0], [1], (3, 2)).entries(np.zeros((3, 0)), np.zeros(0), np.zeros((2, 0)))
    np.testing.assert_array_equal(got.values, [0.0])


@pytest.mark.parametrize(
    ("rows", "cols", "shape", "message"),
    [
        ([0, 3], [0, 0], (3, 2), "rows must lie in 0..2"),
        ([0, 1], [0, -1], (3, 2), "cols must lie in 0..1"),
        ([0], [0, 1], (3, 2), "same length"),
        ([0.5], [0], (3, 2), "rows must be integers"),
        ([[0]], [0], (3, 2), "one-dimensional"),
        ([0], [0], (3, 2, 1), "shape must be"),
        ([0], [0], (3, 0), "shape"),
    ],
)
def test_bad_positions_are_refused(rows, cols, shape, message):
    with pytest.raises(ValueError, match=message):
        Pattern(rows, cols, shape)


def test_mismatched_operands_are_refused():
    g, _, _ = example(seed=0)
    h, _, _ = example(seed=1)
    with pytest.raises(ValueError, match="different patterns"):
        g + h
    with pytest.raises(TypeError, match="expected a PatternMatrix"):
        g + 1.0
    with pytest.raises(TypeError):
        g * np.ones(3)
    with pytest.raises(ValueError, match="values must have shape"):
        PatternMatrix(np.ones(2), g.pattern)


def test_equal_patterns_built_twice_may_be_mixed():
    a, dense, _ = example()
    b, _, _ = example()
    assert a.pattern is not b.pattern
    np.testing.assert_array_equal((a + b).toarray(), 2 * dense)
