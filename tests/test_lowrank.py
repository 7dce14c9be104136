"""Low-rank matrices against the arrays they stand for."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frankwolfe.atoms import RankOne
from frankwolfe.kernels.pattern.pattern_matrix import Pattern
from frankwolfe.lowrank import LowRank


def atom(m, n, rng, scale=-2.5, dtype=np.float64):
    u, w = rng.standard_normal(m), rng.standard_normal(n)
    return RankOne(scale, (u / np.linalg.norm(u)).astype(dtype), (w / np.linalg.norm(w)).astype(dtype))


def example(m, n, r, seed, dtype=np.float64):
    rng = np.random.default_rng(seed)
    X, dense = LowRank.zero((m, n), dtype), np.zeros((m, n))
    for k in range(r):
        a, delta = atom(m, n, rng, dtype=dtype), 2 / (k + 3)
        X = X.mixed_with(a, delta)
        dense = (1 - delta) * dense + delta * a.toarray()
    return X, dense, rng


@settings(max_examples=40, deadline=None)
@given(m=st.integers(1, 12), n=st.integers(1, 12), r=st.integers(0, 15), seed=st.integers(0, 99))
def test_everything_matches_the_array(m, n, r, seed):
    X, dense, rng = example(m, n, r, seed)
    Y, other, _ = example(m, n, r // 2 + 1, seed + 100)
    close = {"rtol": 1e-10, "atol": 1e-12}
    assert X.shape == (m, n)
    assert X.stored == r
    np.testing.assert_allclose(X.toarray(), dense, **close)
    U, V = X.factors
    np.testing.assert_allclose(U @ V.T, dense, **close)
    w, W = rng.standard_normal(n), rng.standard_normal((n, 3))
    np.testing.assert_allclose(X @ w, dense @ w, **close)
    np.testing.assert_allclose(X @ W, dense @ W, **close)
    np.testing.assert_allclose(X.T @ np.ones(m), dense.T @ np.ones(m), **close)
    rows, cols = rng.integers(0, m, 9), rng.integers(0, n, 9)
    np.testing.assert_allclose(X.entries(rows, cols), dense[rows, cols], **close)
    s = np.linalg.svd(dense, compute_uv=False)
    np.testing.assert_allclose(X.singular_values(), s[: min(m, n, r)], **close)
    assert X.rank() == np.count_nonzero(s > 1e-6)
    assert X.nuclear_norm() == pytest.approx(s.sum(), abs=1e-10)
    assert X.norm2() == pytest.approx(np.sum(dense**2), abs=1e-10)
    P, d, Q = X.svd()
    np.testing.assert_allclose((P * d) @ Q.T, dense, **close)
    np.testing.assert_allclose(P.T @ P, np.eye(d.size), **close)
    for got, want in [
        (X + Y, dense + other),
        (X - Y, dense - other),
        (np.float64(3.0) * X, 3 * dense),
        (X * -0.5, -0.5 * dense),
        (-X, -dense),
        (X.compress(1e-13), dense),
        (LowRank.combine((2.0, -1.0, 0.5), (X, Y, X)), 2.5 * dense - other),
    ]:
        np.testing.assert_allclose(got.toarray(), want, **close)
    assert X.inner(Y) == pytest.approx(np.sum(dense * other), abs=1e-10)
    assert X.inner(other) == pytest.approx(np.sum(dense * other), abs=1e-10)


def test_inner_with_a_pattern_reads_the_pattern_only():
    X, dense, rng = example(8, 6, 4, 0)
    flat = rng.permutation(48)[:20]
    g = Pattern(flat // 6, flat % 6, (8, 6)).matrix(rng.standard_normal(20))
    assert X.inner(g) == pytest.approx(np.sum(dense * g.toarray()), abs=1e-12)
    assert LowRank.zero((8, 6)).inner(g) == 0.0


def test_mixing_shares_factors_and_leaves_the_old_matrix_alone():
    X, dense, rng = example(9, 7, 5, 3)
    a = atom(9, 7, rng)
    Y = X.mixed_with(a, 0.25)
    assert all(p is q for p, q in zip(X.left, Y.left[:-1], strict=True))
    assert Y.left[-1] is a.left
    assert Y.right[-1] is a.right
    np.testing.assert_allclose(X.toarray(), dense, atol=1e-14)
    np.testing.assert_allclose(Y.toarray(), 0.75 * dense + 0.25 * a.toarray(), atol=1e-14)


def test_an_atom_seen_before_is_not_stored_twice():
    X, dense, rng = example(9, 7, 3, 3)
    a = atom(9, 7, rng)
    Y = X.mixed_with(a, 0.25).mixed_with(a.scale_by(2.0), 0.5)
    assert Y.stored == 4
    np.testing.assert_allclose(Y.toarray(), 0.375 * dense + 1.125 * a.toarray(), atol=1e-14)


def test_a_full_step_forgets_and_an_empty_step_keeps():
    X, _, rng = example(9, 7, 3, 3)
    a = atom(9, 7, rng)
    assert X.mixed_with(a, 1.0).stored == 1
    assert X.mixed_with(a, 0.0) is X
    np.testing.assert_allclose(a.mixed_into(X, 1.0).toarray(), a.toarray())


def test_shared_factors_are_merged_and_cancelled_ones_dropped():
    X, dense, rng = example(9, 7, 4, 3)
    Y = X.mixed_with(atom(9, 7, rng), 0.5)
    assert (X + Y).stored == 5
    assert LowRank.combine((1.0, -0.5), (Y, X)).stored == 1
    assert (X - X).stored == 0
    np.testing.assert_array_equal((X - X).toarray(), np.zeros_like(dense))


def test_compress_drops_what_is_small():
    rng = np.random.default_rng(0)
    U, _ = np.linalg.qr(rng.standard_normal((20, 3)))
    V, _ = np.linalg.qr(rng.standard_normal((15, 3)))
    X = LowRank.from_arrays(U * [1.0, 1e-3, 1e-8], V)
    assert X.compress(1e-6).stored == 2
    assert X.compress(1e-2).stored == 1
    assert X.rank() == 2
    assert X.rank(tol=1e-9) == 3
    assert LowRank.zero((4, 3)).compress().stored == 0


def test_single_precision_survives():
    X, dense, rng = example(9, 7, 4, 3, np.float32)
    w = rng.standard_normal(7).astype(np.float32)
    results = [X.toarray(), X @ w, X.entries([0], [0]), X.factors[0], X.factors[1], X.compress().toarray()]
    results += [(X + X).toarray(), (0.5 * X).toarray(), X.T.toarray(), X.singular_values()]
    assert {str(a.dtype) for a in results} == {"float32"}
    np.testing.assert_allclose(X.toarray(), dense, atol=1e-6)
    assert LowRank.zero((2, 2), np.float32).toarray().dtype == np.float32


def test_mistakes_are_named():
    with pytest.raises(ValueError, match="equally many"):
        LowRank([1.0], [], [], (2, 2))
    with pytest.raises(ValueError, match="different shapes"):
        LowRank.zero((2, 2)) + LowRank.zero((2, 3))
    with pytest.raises(ValueError, match="at least one"):
        LowRank.combine([], [])
    with pytest.raises(ValueError, match="m x r and n x r"):
        LowRank.from_arrays(np.ones((2, 2)), np.ones((2, 3)))
    with pytest.raises(TypeError):
        LowRank.zero((2, 2)) + 1.0


def test_repr_says_what_it_is():
    assert repr(example(9, 7, 4, 0)[0]) == "LowRank(9 x 7, 4 factors, float64)"
