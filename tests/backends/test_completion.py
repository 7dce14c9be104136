"""Matrix completion on every array library that is here: pattern, factors, Lanczos and whole runs are NumPy's."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from tests.backends.arrays import NAMES, Library, library

import frankwolfe as fw
from frankwolfe.kernels.pattern import pattern_products
from frankwolfe.kernels.pattern.pattern_matrix import Pattern
from frankwolfe.kernels.spectral.lanczos import norm_upper_bound, top_singular
from frankwolfe.lowrank import LowRank

RNG = np.random.default_rng(11)
M, N = 90, 75
ROWS, COLS = np.divmod(RNG.choice(M * N, 2000, replace=False), N)
TRUTH = RNG.standard_normal((M, 3)) @ RNG.standard_normal((3, N))
VALUES = TRUTH[ROWS, COLS] + 0.2 * RNG.standard_normal(2000)
VALUES /= np.linalg.norm(VALUES)
WEIGHTS = RNG.random(2000) + 0.5
RADIUS = 2.0
STEPS = 8


def problem(lib: Library | None, dtype: str = "float64", weights: np.ndarray | None = None) -> fw.MatrixCompletion:
    if lib is None:
        return fw.MatrixCompletion(ROWS, COLS, VALUES, (M, N), weights=weights)
    more = None if weights is None else lib.array(weights, dtype)
    return fw.MatrixCompletion(lib.index(ROWS), lib.index(COLS), lib.array(VALUES, dtype), (M, N), weights=more)


@cache
def on_numpy(method: str, weighted: bool) -> fw.Result:
    f = problem(None, weights=WEIGHTS if weighted else None)
    return fw.minimize(f, fw.NuclearBall(RADIUS), method=method, tol=0, max_iter=STEPS)


@cache
def least(weighted: bool) -> float:
    """Return the optimum, and what storing values and weights in 32 bits may add to it."""
    f = problem(None, weights=WEIGHTS if weighted else None)
    return fw.minimize(f, fw.NuclearBall(RADIUS), method="factored", tol=1e-9).fun + 1e-6


@pytest.mark.parametrize(
    "method", ["fw", "afw", "extrafw", "bpcg", "away", "inface", "fcfw", "subspace", "factored", "apgd", "auto"]
)
@pytest.mark.parametrize("backend", NAMES)
def test_runs_are_numpys(backend: str, method: str) -> None:
    lib = library(backend)
    if backend in ("jax", "strict") and method in ("apgd", "auto", "extrafw", "away", "inface", "subspace"):
        pytest.skip("the same code as on torch, and slow here: every new shape is compiled, or every index checked")
    for weighted in (False, True) if method == "afw" else (False,):
        expected = on_numpy(method, weighted)
        for dtype, tol in (("float64", 1e-10), ("float32", 1e-4)):
            f = problem(lib, dtype, WEIGHTS if weighted else None)
            result = fw.minimize(f, fw.NuclearBall(RADIUS), method=method, tol=0, max_iter=STEPS)
            x = result.x if method == "apgd" else result.x.toarray()
            assert dtype in str(x.dtype)
            # `factored` ends where f is flat: values agree, and factors to the root of that.
            x_tol = max(tol, 1e-6) if method in ("factored", "auto") else tol
            np.testing.assert_allclose(lib.numpy(x), _dense(expected.x), atol=x_tol)
            assert abs(result.fun - expected.fun) <= tol
            if dtype == "float32":  # whose bounds are proven apart from the steps, and may be better
                assert expected.lower_bound - tol <= result.lower_bound <= least(weighted)
            elif method not in ("factored", "auto"):
                assert abs(result.lower_bound - expected.lower_bound) <= tol


def _dense(x: Any) -> np.ndarray:
    return x.toarray() if isinstance(x, LowRank) else x


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("backend", NAMES)
def test_certificates_hold_and_stop_the_run(backend: str, dtype: str) -> None:
    lib = library(backend)
    best = fw.minimize(problem(None), fw.NuclearBall(RADIUS), method="factored", tol=1e-10)
    result = fw.minimize(problem(lib, dtype), fw.NuclearBall(RADIUS), tol=1e-5, max_iter=200)
    assert result.success
    assert result.method == "factored"
    assert result.failure_probability == 0.0  # small enough for a proof
    assert result.lower_bound <= best.fun
    assert result.fun >= best.lower_bound - 1e-6
    if dtype == "float32" and backend == "torch":  # anybody can prove the bound again
        assert fw.verify(result, problem(lib, dtype), fw.NuclearBall(RADIUS)).lower >= result.lower_bound - 1e-9


@pytest.mark.parametrize("backend", NAMES)
def test_products_on_the_pattern(backend: str) -> None:
    lib = library(backend)
    here, there = Pattern(ROWS, COLS, (M, N)), Pattern(ROWS, COLS, (M, N), lib.array(VALUES))
    G, H = here.matrix(VALUES), there.matrix(lib.array(VALUES))
    rng = np.random.default_rng(0)
    U, V = rng.standard_normal((M, 7)), rng.standard_normal((N, 7))
    for W in (V, V[:, 0]):
        np.testing.assert_allclose(lib.numpy(H @ lib.array(W)), G @ W, atol=1e-13)
    for W in (U, U[:, 0]):
        np.testing.assert_allclose(lib.numpy(H.T @ lib.array(W)), G.T @ W, atol=1e-13)
    X = U @ V.T
    np.testing.assert_allclose(lib.numpy(H.toarray()), G.toarray())
    np.testing.assert_allclose(H.tocsr().toarray(), G.toarray())
    np.testing.assert_allclose(float(H.inner(lib.array(X))), G.inner(X))
    np.testing.assert_allclose(
        lib.numpy(pattern_products.entries(there, lib.array(U), lib.array(V))),
        pattern_products.entries(here, U, V),
        atol=1e-12,
    )
    np.testing.assert_allclose(
        lib.numpy(there.rank_one(lib.array(U[:, 0]), lib.array(V[:, 0]), 2.0).values),
        here.rank_one(U[:, 0], V[:, 0], 2.0).values,
    )
    expected = pattern_products.fit(here, G.values, None, U, V)
    for got, want in zip(
        pattern_products.fit(there, H.values, None, lib.array(U), lib.array(V)), expected, strict=True
    ):
        np.testing.assert_allclose(lib.numpy(got) if np.ndim(want) else got, want, rtol=1e-12, atol=1e-11)
    assert there.places is not None
    dense = G.toarray()
    np.testing.assert_allclose(lib.numpy(there.places.gram_matrix(H.values)), dense.T @ dense, atol=1e-12)


@pytest.mark.parametrize("backend", NAMES)
def test_lanczos_takes_the_steps_of_the_host(backend: str) -> None:
    lib = library(backend)
    G = Pattern(ROWS, COLS, (M, N)).matrix(VALUES)
    truth = np.linalg.norm(G.toarray(), 2)
    for scale in (1.0, 1e-200, 1e200):
        H = Pattern(ROWS, COLS, (M, N), lib.array(VALUES)).matrix(lib.array(scale * VALUES))
        for most in (None, 8):  # eight vectors: it has to restart
            host = top_singular(scale * G, 1e-6 * scale, np.random.default_rng(1), most)
            away = top_singular(H, 1e-6 * scale, np.random.default_rng(1), most)
            assert away.steps == host.steps
            np.testing.assert_allclose(away.sigma, host.sigma, rtol=1e-12)
            assert truth * scale - 1e-6 * scale <= away.sigma <= truth * scale * (1 + 1e-12)
        bound = norm_upper_bound(H, np.random.default_rng(2))
        assert bound.failure == 0.0
        assert truth * scale <= bound.value <= truth * scale * (1 + 1e-9)
    zero = Pattern(ROWS, COLS, (M, N), lib.array(VALUES)).matrix(lib.array(0 * VALUES))
    assert top_singular(zero, 0.0, np.random.default_rng(0)).sigma == 0.0
    assert norm_upper_bound(zero, np.random.default_rng(0)).value == 0.0


def test_a_large_side_is_bounded_with_a_stated_probability(monkeypatch: pytest.MonkeyPatch) -> None:
    from frankwolfe.kernels.spectral import lanczos

    lib = library("strict")
    monkeypatch.setattr(lanczos, "_PROOF_SIDE", 10)
    H = Pattern(ROWS, COLS, (M, N), lib.array(VALUES)).matrix(lib.array(VALUES))
    bound = norm_upper_bound(H, np.random.default_rng(2))
    truth = np.linalg.norm(lib.numpy(H.toarray()), 2)
    assert 0 < bound.failure <= 1e-9
    assert truth <= bound.value <= 1.05 * truth


@pytest.mark.parametrize("backend", NAMES)
def test_low_rank_matrices_of_any_library(backend: str) -> None:
    lib = library(backend)
    U, V = np.random.default_rng(3).standard_normal((6, 3)), np.random.default_rng(4).standard_normal((5, 3))
    here, there = LowRank.from_arrays(U, V), LowRank.from_arrays(lib.array(U), lib.array(V))
    np.testing.assert_allclose(lib.numpy(there.toarray()), here.toarray(), atol=1e-14)
    np.testing.assert_allclose(lib.numpy(there @ lib.array(np.ones(5))), here @ np.ones(5), atol=1e-13)
    np.testing.assert_allclose(
        lib.numpy(there.entries(lib.index([0, 5]), lib.index([1, 4]))), here.entries([0, 5], [1, 4])
    )
    np.testing.assert_allclose(lib.numpy(there.singular_values()), here.singular_values())
    np.testing.assert_allclose(lib.numpy((there + there).compress().toarray()), 2 * here.toarray(), atol=1e-13)
    np.testing.assert_allclose([there.norm2(), there.inner(there)], here.norm2())
    assert (there.rank(), there.compress().stored) == (3, 3)
    np.testing.assert_allclose(lib.numpy(LowRank.from_dense(lib.array(here.toarray())).toarray()), here.toarray())
    assert fw.NuclearBall(100.0).contains(there)
    assert not fw.NuclearBall(1.0).contains(there)


@pytest.mark.parametrize("backend", NAMES)
def test_what_cannot_be_is_said(backend: str) -> None:
    lib = library(backend)
    values = lib.array([1.0, 2.0])
    with pytest.raises(ValueError, match=r"rows must lie in 0\.\.1"):
        fw.MatrixCompletion(lib.index([0, 2]), lib.index([0, 1]), values, (2, 2))
    with pytest.raises(ValueError, match="cols must be a vector of integers"):
        fw.MatrixCompletion(lib.index([0, 1]), values, values, (2, 2))
    with pytest.raises(ValueError, match="occur more than once"):
        fw.MatrixCompletion(lib.index([0, 0]), lib.index([1, 1]), values, (2, 2))
    with pytest.raises(ValueError, match="values contains NaN"):
        fw.MatrixCompletion(lib.index([0, 1]), lib.index([1, 1]), values * float("nan"), (2, 2))
