"""Softmax regression on every array library that is here: the numbers are NumPy's, and bounds are proven."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from tests.backends.arrays import NAMES, library
from tests.backends.test_host_reads import Counted

import frankwolfe as fw
from frankwolfe.engine import PACE
from frankwolfe.objectives import multinomial

RNG = np.random.default_rng(5)
N, D, K = 120, 40, 4
A = (RNG.standard_normal((N, D)) + 0.2).astype(np.float32).astype(np.float64)
LABELS = np.argmax(A @ RNG.standard_normal((D, K)) + 2 * RNG.gumbel(size=(N, K)), axis=1)
WEIGHTS = RNG.random(N)
BALLS = {
    "l2": fw.L2Ball(2.0),
    "l1": fw.L1Ball(3.0),
    "rows": fw.GroupBall(3.0, groups=np.repeat(np.arange(D), K)),
    "k-support": fw.KSupportBall(2.0, k=3),
    "many": fw.KSupportBall(2.0, k=30),  # a device then multiplies the whole matrix
    "nuclear": fw.NuclearBall(2.0),
}


@pytest.mark.parametrize("name", BALLS)
@pytest.mark.parametrize("backend", NAMES)
def test_atoms_of_every_kind_and_intercepts(backend: str, name: str) -> None:
    """Single entries, few of them, matrices of rank one; a line search on the scores; weights."""
    lib = library(backend)
    if backend == "jax" and name in ("k-support", "many", "rows"):
        pytest.skip("the same code as on torch, and slow here: every new shape is compiled")
    for method in ("fw", fw.AcceleratedFrankWolfe(line_search=True)):
        expected = _solved(A, BALLS[name], method)
        for dtype, tol in (("float64", 1e-10), ("float32", 1e-4)):
            result = _solved(lib.array(A, dtype), BALLS[name], method)
            assert dtype in str(result.x.dtype)
            np.testing.assert_allclose(lib.numpy(result.x), expected.x, atol=tol)
            assert abs(result.fun - expected.fun) <= tol
            if dtype == "float64":
                assert abs(result.lower_bound - expected.lower_bound) <= tol


def _solved(data: Any, ball: Any, method: Any) -> fw.Result:
    f = fw.Multinomial(data, LABELS, intercept=True, sample_weight=WEIGHTS, ridge=0.01)
    return fw.minimize(f, ball, method=method, tol=0, max_iter=8)


@pytest.mark.parametrize("backend", NAMES)
def test_the_host_finds_the_intercepts_of_few_scores(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of scores far apart they take thousands of tries, which a device is not asked for; of many it is."""
    lib, tried, plain = library(backend), [], fw.Multinomial._at
    monkeypatch.setattr(fw.Multinomial, "_at", lambda f, scores, *rest: tried.append(scores) or plain(f, scores, *rest))
    for scale in (1.0, 1e8):
        X, values = lib.array(scale * np.eye(D, K), "float64"), []
        for few in (multinomial.FEW, 0):
            with monkeypatch.context() as patched:
                patched.setattr(multinomial, "FEW", few)
                tried.clear()
                values.append(float(fw.Multinomial(lib.array(A, "float64"), LABELS, intercept=True).value(X)))
            on_device = sum(not isinstance(scores, np.ndarray) for scores in tried)
            assert on_device == 1 if few else on_device > 2
        assert abs(values[0] - values[1]) <= 1e-13 * scale


@pytest.mark.parametrize("kind", ["sparse", "bfloat16", "uint8", "streamed"])
def test_data_of_every_kind_on_torch(kind: str) -> None:
    torch = library("torch").module
    stored = sp.csr_array(np.where(np.abs(A) > 1, A, 0.0))
    if kind == "sparse":
        data = fw.place(stored, "cpu:0")
        wide, tol = stored.toarray(), 1e-10
    elif kind == "streamed":
        from frankwolfe.rows.placement import StreamedMatrix

        data, wide, tol = StreamedMatrix(torch.tensor(A), "cpu", block_bytes=8 * D * 50), A, 1e-10
    else:
        data = (20 * torch.tensor(A) + 100).clamp(0, 255).to(getattr(torch, kind))
        wide, tol = data.to(torch.float64).numpy(), 1e-4
    for ball in (fw.L2Ball(0.05), fw.L1Ball(0.1)):
        runs = [
            fw.minimize(fw.Multinomial(X, LABELS, intercept=True), ball, method="afw", tol=0, max_iter=12)
            for X in (wide, data)
        ]
        assert runs[1].x.dtype == (torch.float32 if tol > 1e-9 else torch.float64)
        np.testing.assert_allclose(runs[1].x.numpy(), runs[0].x, atol=tol)
        assert abs(fw.Multinomial(wide, LABELS, intercept=True).value(runs[1].x.double().numpy()) - runs[1].fun) < 1e-12


@cache
def optimum(name: str, intercept: bool) -> float:
    f = fw.Multinomial(A, LABELS, intercept=intercept)
    return fw.minimize(f, BALLS[name], method="apgd", tol=1e-11, max_iter=5000).fun


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("name", ["l2", "nuclear"])
@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_single_precision_claims_what_double_proves(backend: str, name: str, intercept: bool) -> None:
    data = A.astype(np.float32) if backend == "numpy" else library(backend).array(A, "float32")
    f, ball = fw.Multinomial(data, LABELS, intercept=intercept), BALLS[name]
    result = fw.minimize(f, ball, method="apgd", tol=1e-9, max_iter=300)
    again = fw.minimize(f, ball, result, method="apgd", tol=1e-9, max_iter=3)
    path = fw.path(f, ball, [0.7 * ball.radius, ball.radius], method="apgd", tol=1e-5, max_iter=300)
    assert path.success
    for run in (result, again, path[1]):
        assert run.gap >= 0
        assert run.lower_bound <= optimum(name, intercept) + 1e-12
        assert np.all(run.trace.to_array()[:, 3] <= optimum(name, intercept) + 1e-12)
    assert 1e-9 < result.gap < 1e-4  # so much, and no more, is proven


@pytest.mark.parametrize("backend", ["strict", "torch"])
def test_one_read_every_few_steps(monkeypatch: pytest.MonkeyPatch, backend: str) -> None:
    lib = library(backend)

    def reads(steps: int) -> int:
        objective = fw.Multinomial(lib.array(A), LABELS)
        with monkeypatch.context() as patch:
            counted = Counted(patch, type(lib.array(0.0)))
            fw.minimize(objective, fw.L2Ball(1.0), method="afw", tol=0, max_iter=steps)
            return counted.reads

    assert reads(5 * PACE) - reads(PACE) <= 3 * 4


def test_one_pair_of_products_for_each_step() -> None:
    """Scores are carried: a step multiplies its new vertex, and takes one gradient."""
    result = fw.minimize(
        fw.Multinomial(library("torch").array(A), LABELS), fw.L2Ball(2.0), method="afw", tol=0, max_iter=20
    )
    assert result.n_pass <= 2 * 21 + 2


def test_steps_that_jax_compiles() -> None:
    lib = library("jax")
    runs = [
        fw.minimize(fw.Multinomial(data, LABELS), fw.L1Ball(3.0), method="afw", tol=0, max_iter=272)
        for data in (A, lib.array(A))
    ]
    np.testing.assert_allclose(lib.numpy(runs[1].x), runs[0].x, atol=1e-10)


@pytest.mark.parametrize("kind", [fw.Multinomial, fw.Logistic, fw.LeastSquares, fw.Huber])
@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_rows_without_weight_are_as_good_as_gone(backend: str, kind: Any) -> None:
    """A fold on a device is the same rows with other weights."""
    data = A if backend == "numpy" else library(backend).array(A)
    rows = np.flatnonzero((np.arange(N) % 3 > 0) & (LABELS < 2 if kind is fw.Logistic else True))
    b = (LABELS == 1).astype(int) if kind is fw.Logistic else LABELS
    share = np.zeros(N)
    share[rows] = WEIGHTS[rows] / WEIGHTS[rows].sum()
    some = kind(A[rows], b[rows], sample_weight=WEIGHTS[rows], intercept=True)
    same = kind(data, b, intercept=True).reweighted(share)
    x = RNG.standard_normal(some.shape)
    value, grad = same.value_and_grad(same.start(x, dense=False))
    np.testing.assert_allclose(float(value), some.value(x), rtol=1e-12)
    np.testing.assert_allclose(np.asarray(grad), some.grad(x), atol=1e-12)
    np.testing.assert_allclose(same.smoothness, some.smoothness, rtol=1e-9)
