"""Methods that look at curvature, on data of every form: steps are NumPy's, and only small arrays leave a device."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from tests.backends.arrays import NAMES, Library, library

import frankwolfe as fw
from frankwolfe.kernels.long_vectors import combined, near, products
from frankwolfe.methods import SubspaceFrankWolfe

RNG = np.random.default_rng(3)
N, D = 400, 7
A = RNG.standard_normal((N, D)) * (RNG.random((N, D)) < 0.5)
B = np.sign(A @ RNG.standard_normal(D) + RNG.standard_normal(N))
METHODS = ("newton", "subspace", "fcfw")
MODELS: dict[str, Any] = {
    "intercept and ridge": lambda X: fw.Logistic(X, B, intercept=True, ridge=0.01),
    "weights": lambda X: fw.LeastSquares(X, A[:, 0] + B, sample_weight=np.linspace(0.5, 2.0, N)),
    "huber": lambda X: fw.Huber(X, A[:, 1] + B, delta=0.7),
}


def agree(X: Any, method: str, model: Any, domain: Any, tol: float = 1e-9) -> None:
    same: Any = SubspaceFrankWolfe(newton=False) if method == "subspace" else method  # Newton steps are NumPy's alone
    here, there = (fw.minimize(model(data), domain, method=same, tol=0, max_iter=5) for data in (A, X))
    np.testing.assert_allclose(np.asarray(there.x.cpu() if hasattr(there.x, "cpu") else there.x), here.x, atol=tol)
    assert abs(there.lower_bound - here.lower_bound) <= tol


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("backend", [name for name in NAMES if name != "cupy"])
def test_every_model(backend: str, name: str, method: str) -> None:
    if backend == "jax" and method != "newton":
        pytest.skip("the same code as on torch, and slow here: every new shape is compiled")
    agree(library(backend).array(A), method, MODELS[name], fw.L2Ball(0.5))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("form", ["sparse rows", "streamed"])
def test_every_form_of_torch_data(form: str, method: str) -> None:
    torch = library("torch").module
    if form == "streamed":
        from frankwolfe.rows.placement import StreamedMatrix

        data: Any = StreamedMatrix(torch.asarray(A), "cpu", block_bytes=1 << 12)
    else:
        rows = scipy.sparse.csr_array(A)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch calls sparse rows a beta
            places = (torch.asarray(part.astype(np.int64)) for part in (rows.indptr, rows.indices))
            data = torch.sparse_csr_tensor(*places, torch.asarray(rows.data), rows.shape, check_invariants=False)
    for domain in (fw.L2Ball(0.5), fw.L1Ball(0.7)):
        agree(data, method, lambda X: fw.Logistic(X, B), domain)
    with pytest.raises(TypeError, match=r"picks single rows.*use 'afw' or 'fw'"):
        fw.minimize(fw.Logistic(data, B), fw.L2Ball(0.5), method="stochastic")


@pytest.mark.parametrize("dtype", ["uint8", "bfloat16"])
def test_narrow_numbers_are_certified(dtype: str) -> None:
    torch = library("torch").module
    data = torch.asarray(np.abs(A * 40)).to(getattr(torch, dtype))
    exact = fw.minimize(fw.Logistic(data.double().numpy(), B), fw.L2Ball(0.05), tol=1e-12)
    for method in METHODS:
        result = fw.minimize(fw.Logistic(data, B), fw.L2Ball(0.05), method=method, tol=1e-5)
        assert result.success
        assert result.lower_bound <= exact.fun + 1e-12
        assert result.fun >= exact.lower_bound - 1e-7


CHOSEN = {
    "newton": (fw.L2Ball(0.5), D),
    "subspace": (fw.L2Ball(0.5), N),  # more variables than rows
    "fcfw": (fw.L1Ball(0.5), N),
}


@pytest.mark.parametrize("expected", CHOSEN)
@pytest.mark.parametrize("backend", ["strict", "torch", "cuda"])
def test_auto_takes_them_where_they_pay(backend: str, expected: str) -> None:
    lib = library(backend)
    domain, d = CHOSEN[expected]
    data = A if d == D else np.random.default_rng(0).standard_normal((N // 2, d))
    result = fw.minimize(fw.Logistic(lib.array(data), B[: len(data)]), domain, rtol=1e-4, tol=0)
    assert result.method.split(" -> ")[0] == expected
    assert result.success
    assert expected in str(fw.explain(result))


def sizes_read(monkeypatch: pytest.MonkeyPatch, lib: Library, method: str, domain: Any, steps: int) -> list[int]:
    """Return how many numbers each look at an array takes to the host."""
    sizes: list[int] = []
    objective, kind = fw.Logistic(lib.array(A), B), type(lib.array(0.0))

    def counting(convert: Any) -> Any:
        def read(array: Any, *args: Any, **options: Any) -> Any:
            sizes.append(int(np.prod(array.shape)))
            return convert(array, *args, **options)

        return read

    with monkeypatch.context() as patch:
        for name in ("__array__", "__float__", "__int__", "__bool__"):
            patch.setattr(kind, name, counting(getattr(kind, name)))
        fw.minimize(objective, domain, method=method, tol=0, max_iter=steps)
    return sizes


@pytest.mark.parametrize("method", ["newton", "subspace"])
def test_long_vectors_stay_on_the_device(monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    few, many = (sizes_read(monkeypatch, library("torch"), method, fw.L2Ball(0.5), steps) for steps in (1, 4))
    assert max(many) < N
    assert len(many) - len(few) <= 3 * 30  # a step with its line search or its small problem


@pytest.mark.parametrize("backend", NAMES)
def test_spans_of_vectors_on_a_device(backend: str) -> None:
    lib = library(backend)
    vectors = RNG.standard_normal((3, 50))
    rows = [lib.array(v) for v in vectors]
    np.testing.assert_allclose(products(rows, rows), vectors @ vectors.T, atol=1e-13)
    np.testing.assert_allclose(np.stack(near(rows)), vectors)
    T = RNG.standard_normal((2, 3))
    np.testing.assert_allclose(lib.numpy(combined(T, lib.array(vectors))), T @ vectors, atol=1e-13)
