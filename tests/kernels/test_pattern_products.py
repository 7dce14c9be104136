"""Compiled loops over the observed entries against their plain twins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frankwolfe.kernels import threads
from frankwolfe.kernels.pattern import pattern_products as products
from frankwolfe.kernels.pattern.pattern_matrix import Pattern
from frankwolfe.kernels.spectral import lanczos
from frankwolfe.kernels.spectral.gram_operator import Gram
from frankwolfe.kernels.spectral.krylov import Krylov
from frankwolfe.kernels.spectral.tridiagonal import log_growth


class always_compiled(pytest.MonkeyPatch):  # a context: hypothesis runs many examples in one test
    """Compiled loops for patterns of any size, in several blocks."""

    def __enter__(self) -> pytest.MonkeyPatch:
        self.setattr(products, "COMPILED_FROM", 0)
        self.setattr(lanczos, "COMPILED_FROM", 0)
        self.setattr(threads, "PART", 4)
        return self

    def __exit__(self, *_: object) -> None:
        self.undo()


def close(got: Any, want: Any, dtype: Any, size: float = 1.0) -> None:
    """Equal to rounding, relative to the size of what was summed."""
    assert np.asarray(got).dtype == dtype
    np.testing.assert_allclose(got, want, rtol=0, atol=(1e-12 if dtype == np.float64 else 1e-5) * max(1.0, size))


@settings(max_examples=80, deadline=None)
@given(
    m=st.integers(1, 12),
    n=st.integers(1, 12),
    count=st.integers(0, 60),
    rank=st.integers(0, 5),
    seed=st.integers(0, 999),
    dtype=st.sampled_from([np.float64, np.float32]),
    weighted=st.booleans(),
)
def test_every_loop_equals_its_twin(
    m: int, n: int, count: int, rank: int, seed: int, dtype: Any, weighted: bool
) -> None:
    """Random patterns: empty rows and columns, one row, one column, repeated positions, no entry at all."""
    rng = np.random.default_rng(seed)
    pattern = Pattern(rng.integers(0, m, count), rng.integers(0, n, count), (m, n))
    target, values = rng.standard_normal((2, count)).astype(dtype)
    weights = rng.uniform(0.1, 2.0, count).astype(dtype) if weighted else None
    U, V = rng.standard_normal((m, rank)).astype(dtype), rng.standard_normal((n, rank)).astype(dtype)
    u, w = rng.standard_normal(m).astype(dtype), rng.standard_normal(n).astype(dtype)
    with always_compiled():
        value, GU, GV = products.fit(pattern, target, weights, U, V)
        got = {
            "entries": products.entries(pattern, U, V),
            "rank_one": products.rank_one(pattern, u, w),
            "times": products.times(pattern, values, w),
            "times_block": products.times(pattern, values, V),
            "transposed": products.transposed_times(pattern, values, u),
            "transposed_block": products.transposed_times(pattern, values, U),
            "gram": products.gram_times(pattern, values, w),
            "gram_block": products.gram_times(pattern, values, V),
        }
    plain = products.plain_fit(pattern, target, weights, U, V)
    G = products.plain_matrix(pattern, values)
    want = {
        "entries": products.plain_entries(pattern, U, V),
        "rank_one": u[pattern.rows] * w[pattern.cols],
        "times": G @ w,
        "times_block": G @ V,
        "transposed": G.T @ u,
        "transposed_block": G.T @ U,
        "gram": G.T @ (G @ w),
        "gram_block": G.T @ (G @ V),
    }
    assert value == pytest.approx(plain.value, rel=1e-12 if dtype == np.float64 else 1e-5, abs=1e-6)
    for name, one in want.items():
        close(got[name], one, dtype, 10 * float(np.sum(values.astype(np.float64) ** 2)))
    size = 10 * float(np.sum(np.abs(target))) + 10 * plain.value
    close(GU, plain.U, dtype, size)
    close(GV, plain.V, dtype, size)


def test_plain_twins_are_the_formulae() -> None:
    """The twins themselves against whole matrices, repeated positions adding up."""
    rng = np.random.default_rng(1)
    pattern = Pattern(rng.integers(0, 6, 30), rng.integers(0, 5, 30), (6, 5))
    assert pattern.duplicates() > 0
    target, weights = rng.standard_normal(30), rng.uniform(0.1, 2.0, 30)
    U, V = rng.standard_normal((6, 3)), rng.standard_normal((5, 3))
    inside = (U @ V.T)[pattern.rows, pattern.cols]
    slope = np.zeros((6, 5))
    np.add.at(slope, (pattern.rows, pattern.cols), weights * (inside - target))
    value, GU, GV = products.plain_fit(pattern, target, weights, U, V)
    assert value == pytest.approx(0.5 * float(np.sum(weights * (inside - target) ** 2)))
    np.testing.assert_allclose(GU, slope @ V, atol=1e-13)
    np.testing.assert_allclose(GV, slope.T @ U, atol=1e-13)
    np.testing.assert_allclose(products.plain_entries(pattern, U, V), inside, atol=1e-14)
    ones = (U[:, :1] @ V[:, :1].T)[pattern.rows, pattern.cols]
    np.testing.assert_allclose(products.rank_one(pattern, U[:, 0], V[:, 0]), ones)


@pytest.mark.parametrize("threaded", [1, 2, 5])
def test_results_do_not_depend_on_the_number_of_threads(threaded: int) -> None:
    """To the last bit: what the blocks scatter is added up in their order."""
    rng = np.random.default_rng(2)
    rows, cols = np.nonzero(rng.random((300, 40)) < 0.7)
    pattern = Pattern(rows, cols, (300, 40))
    target, w = rng.standard_normal(pattern.size), rng.standard_normal(40)
    U, V = rng.standard_normal((300, 6)), rng.standard_normal((40, 6))
    with always_compiled():
        with threads.limited(1):
            alone = products.fit(pattern, target, None, U, V), products.gram_times(pattern, target, w)
        with threads.limited(threaded):
            together = products.fit(pattern, target, None, U, V), products.gram_times(pattern, target, w)
    assert alone[0].value == together[0].value
    np.testing.assert_array_equal(alone[0].U, together[0].U)
    np.testing.assert_array_equal(alone[0].V, together[0].V)
    np.testing.assert_array_equal(alone[1], together[1])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(90, 70), (70, 90)])
@pytest.mark.parametrize("part", [4, 10**6], ids=["several blocks", "one block"])
def test_compiled_lanczos_is_lanczos(shape: tuple[int, int], dtype: Any, part: int) -> None:
    """Four vectors side by side, through a restart: A V = V T + beta v e' with V orthonormal, as for the plain steps.

    The entries of T themselves are not compared: rounding is amplified from step to step, in either form.
    """
    rng, eps = np.random.default_rng(4), float(np.finfo(dtype).eps)
    rows, cols = np.nonzero(rng.random(shape) < 0.3)
    G = Pattern(rows, cols, shape).matrix(rng.standard_normal(rows.size).astype(dtype))
    beside = np.kron(G.toarray(), np.eye(4, dtype=dtype))
    wide = beside.astype(np.float64)
    A, size = wide.T @ wide if shape[0] > shape[1] else wide @ wide.T, float(np.linalg.norm(wide, 2)) ** 2
    spaces = []
    with always_compiled() as patch:
        patch.setattr(threads, "PART", part)
        for matrix in (G, beside):
            space = Krylov(Gram(matrix, np.random.default_rng(0)), np.random.default_rng(1), 12)
            spaces.append(space)
            start = space.basis[0].copy()
            assert space.grow()
            np.testing.assert_allclose(space.alpha[0], start @ A @ start, rtol=100 * eps)
            while space.dimension < 12:
                assert space.grow()
            space.restart(4)
            while space.dimension < 10:
                assert space.grow()
            V, T = space.basis[:11].astype(np.float64), np.diag(space.alpha)
            T += np.diag(space.beta[:-1], 1) + np.diag(space.beta[:-1], -1)
            np.testing.assert_allclose(V @ V.T, np.eye(11), atol=400 * eps)
            left = A @ V[:10].T - V[:10].T @ T - np.outer(space.beta[-1] * V[10], np.eye(10)[-1])
            assert np.linalg.norm(left, 2) <= 400 * eps * size
            s = 1.01 * space.top()[0]
            roots = float(np.sum(np.log(s - space._discarded))) - space._log_norm
            assert space.log_growth(s) == pytest.approx(roots + log_growth(space.alpha, space.beta, s), rel=1e-12)
        pair = lanczos.top_singular(G, 0.0, rng, rtol=1e-9)
    quick, plain = spaces
    assert quick.A.compiled
    assert (quick.A.block is None) == (part == 4)
    assert not plain.A.compiled
    assert quick.A.matvecs == plain.A.matvecs
    assert pair.sigma == pytest.approx(np.linalg.norm(G.toarray(), 2), rel=50 * eps + 1e-9)
    assert max(space.top()[0] for space in spaces) <= size * (1 + 100 * eps)


@pytest.mark.parametrize("scale", [1.0, 1e-60, 1e60])
@pytest.mark.parametrize("gap", [0.9992, 0.5, 1.0], ids=["a pair", "alone", "a tie"])
def test_the_quick_top_pair_is_as_accurate_as_asked(gap: float, scale: float) -> None:
    """Single precision, four vectors and compiled tests, 360 trials of which one in a thousand may miss."""
    rng = np.random.default_rng(5)
    U, V = np.linalg.qr(rng.standard_normal((80, 70)))[0], np.linalg.qr(rng.standard_normal((90, 70)))[0]
    dense = scale * (U * np.concatenate([[1.0, gap], 0.9 * gap * rng.random(68)])) @ V.T
    with always_compiled() as patch:
        patch.setattr(threads, "PART", 10**6)
        for A in (dense, dense.T):
            rows, cols = np.nonzero(np.ones_like(A))
            G = Pattern(rows, cols, A.shape).matrix(A[rows, cols])
            for accuracy in (0.3, 1e-2, 1e-3, 2e-4):
                assert Gram(G, rng, accuracy * scale).narrow
                for most in (None, 8) if accuracy > 1e-3 else (None,):
                    for _ in range(15):
                        pair = lanczos.top_singular(G, accuracy * scale, rng, max_basis=most)
                        assert pair.left.dtype == np.float64
                        assert scale * (1 - accuracy) <= pair.sigma <= scale * (1 + 1e-12)
                        assert pair.left @ (A / scale @ pair.right) == pytest.approx(pair.sigma / scale, rel=1e-12)
                        assert np.linalg.norm(pair.left) == pytest.approx(1.0, rel=1e-12)
                        assert np.linalg.norm(pair.right) == pytest.approx(1.0, rel=1e-12)
            assert not Gram(G, rng, 1e-6 * scale).narrow


def test_a_quick_pair_can_miss_when_told_to_doubt_less() -> None:
    """The trials above have something to catch."""
    rng = np.random.default_rng(0)
    A = np.diag(np.concatenate([[1.0, 0.99], 0.2 * rng.random(68)]))
    rows, cols = np.nonzero(np.ones_like(A))
    G = Pattern(rows, cols, A.shape).matrix(A[rows, cols])
    with always_compiled():
        misses = [lanczos.top_singular(G, 2e-3, rng, doubt=doubt).sigma < 1 - 2e-3 for doubt in 200 * [0.99]]
    assert any(misses)


@pytest.mark.parametrize("shape", [(30, 20), (20, 30)])
def test_proof_by_the_compiled_gram_matrix(shape: tuple[int, int]) -> None:
    """A bound above the norm and close to it, repeated positions adding up."""
    rng = np.random.default_rng(3)
    G = Pattern(rng.integers(0, shape[0], 200), rng.integers(0, shape[1], 200), shape).matrix(rng.standard_normal(200))
    assert G.pattern.duplicates() > 0
    truth = np.linalg.norm(G.toarray(), 2)
    with always_compiled():
        bound = lanczos.norm_upper_bound(G, rng)
    assert bound.failure == 0.0
    assert truth <= bound.value <= truth * (1 + 1e-9)


def test_shapes_that_do_not_fit_are_refused() -> None:
    pattern = Pattern([0, 1], [1, 0], (2, 3))
    with always_compiled():
        for call in (
            lambda: products.times(pattern, np.ones(2), np.ones(2)),
            lambda: products.transposed_times(pattern, np.ones(2), np.ones(3)),
            lambda: products.entries(pattern, np.ones((3, 1)), np.ones((3, 1))),
        ):
            with pytest.raises(ValueError, match="rows to match a pattern of shape"):
                call()
