"""Gradients by automatic differentiation are the hand-written ones, for arrays of any shape and nests of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.backends.arrays import library

import frankwolfe as fw

RNG = np.random.default_rng(5)
A = RNG.standard_normal((30, 6))
B = np.sign(RNG.standard_normal(30))
C = RNG.standard_normal(6)
Q = A.T @ A / 30


def written(name: str, kind: str) -> Any:
    """Return a built-in objective's formula in the words of a library."""
    module = library(name).module
    xp = module.numpy if name == "jax" else module
    lib = library(name)
    a, b, c, q = (lib.array(values) for values in (A, B, C, Q))
    if kind == "logistic":
        return lambda x: xp.mean(xp.log1p(xp.exp(-b * (a @ x))))
    if kind == "squares":
        return lambda x: xp.mean((a @ x - b) ** 2) / 2
    if kind == "quadratic":
        return lambda x: x @ (q @ x) / 2 + c @ x
    rows, cols = np.nonzero(RNG.random((5, 4)) < 0.7)
    values = lib.array(np.arange(rows.size, dtype=float))
    return lambda x: xp.sum((x[rows, cols] - values) ** 2) / 2


BUILT_IN = {
    "logistic": lambda: fw.Logistic(A, B),
    "squares": lambda: fw.LeastSquares(A, B),
    "quadratic": lambda: fw.Quadratic(Q, C),
}


@pytest.mark.parametrize("kind", BUILT_IN)
@pytest.mark.parametrize("backend", ["torch", "jax"])
def test_gradients_are_the_hand_written_ones(backend: str, kind: str) -> None:
    f, g = fw.Function(written(backend, kind), backend=backend), BUILT_IN[kind]()
    for x in RNG.standard_normal((3, 6)):
        value, slope = f.value_and_grad(x)
        assert isinstance(slope, np.ndarray)
        np.testing.assert_allclose(slope, g.grad(x), atol=1e-12)
        np.testing.assert_allclose(value, g.value(x), atol=1e-12)


@pytest.mark.parametrize("backend", ["torch", "jax"])
def test_matrix_completion_on_a_dense_variable(backend: str) -> None:
    lib = library(backend)
    rows, cols = np.nonzero(np.random.default_rng(1).random((5, 4)) < 0.7)
    values = np.arange(rows.size, dtype=float)
    g = fw.MatrixCompletion(rows, cols, values, (5, 4))
    seen = lib.array(values)
    f = fw.Function(lambda X: ((X[rows, cols] - seen) ** 2).sum() / 2, backend=backend)
    X = np.random.default_rng(2).standard_normal((5, 4))
    np.testing.assert_allclose(f.grad(X), g.grad(X).toarray(), atol=1e-12)


@pytest.mark.parametrize("backend", ["torch", "jax"])
def test_a_run_is_the_one_with_the_hand_written_gradient(backend: str) -> None:
    lib = library(backend)
    expected = fw.minimize(BUILT_IN["logistic"](), fw.L2Ball(1.0), method="afw", tol=0, max_iter=20)
    f = fw.Function(written(backend, "logistic"), backend=backend)
    for x0 in (np.zeros(6), lib.array(np.zeros(6))):
        result = fw.minimize(f, fw.L2Ball(1.0), x0, method="afw", tol=0, max_iter=20)
        assert isinstance(result.x, type(x0))
        np.testing.assert_allclose(np.asarray(result.x), expected.x, atol=1e-10)


@pytest.mark.parametrize("backend", ["torch", "jax"])
def test_the_variable_may_be_a_nest_of_arrays(backend: str) -> None:
    lib = library(backend)
    target = lib.array(np.arange(6.0).reshape(2, 3))

    def f(p: Any) -> Any:
        return ((p["w"] - target) ** 2).sum() + (p["more"][0] ** 2).sum()

    x0 = {"w": lib.array(np.zeros((2, 3))), "more": (lib.array(np.ones(2)),)}
    result = fw.minimize(fw.Function(f, backend=backend), fw.L2Ball(2.0), x0, method="afw", tol=1e-4, max_iter=5000)
    assert result.success
    assert tuple(result.x["w"].shape) == (2, 3)
    direction = np.arange(6.0) / np.linalg.norm(np.arange(6.0))
    np.testing.assert_allclose(np.asarray(result.x["w"]).ravel(), 2.0 * direction, atol=1e-2)
    objective = fw.Function(f, backend=backend)
    fw.minimize(objective, fw.L2Ball(2.0), x0, max_iter=1)
    with pytest.raises(ValueError, match="x0 must be laid out as"):
        fw.minimize(objective, fw.L2Ball(2.0), {"w": x0["w"]}, max_iter=1)


def test_a_function_that_is_not_convex_claims_no_bound() -> None:
    f = fw.Function(lambda x: float(np.cos(x).sum()), lambda x: -np.sin(x), convex=False)
    result = fw.minimize(f, fw.LInfBall(4.0), np.full(3, 0.1), method="fw", max_iter=50)
    assert result.lower_bound == -np.inf
    assert result.fun < 0


def test_what_is_missing_is_said() -> None:
    with pytest.raises(TypeError, match="grad is missing: pass the gradient, or backend="):
        fw.Function(np.sum)
    with pytest.raises(ValueError, match="backend must be 'torch' or 'jax', got 'tensorflow'"):
        fw.Function(np.sum, backend="tensorflow")
