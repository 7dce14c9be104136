"""Gradients by automatic differentiation are the hand-written ones, for arrays of any shape and nests of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.backends.arrays import library
from tests.backends.formulas import CASES, Words

import frankwolfe as fw
from frankwolfe import objectives


@pytest.mark.parametrize("kind", CASES)
@pytest.mark.parametrize("backend", ["torch", "jax"])
def test_gradients_are_the_hand_written_ones(backend: str, kind: str) -> None:
    case = CASES[kind]
    f, g = fw.Function(case.written(Words(backend)), backend=backend), case.built()
    for x in np.random.default_rng(6).standard_normal((2, *case.shape)):
        value, slope = f.value_and_grad(x)
        expected = g.grad(x)
        assert isinstance(slope, np.ndarray)
        np.testing.assert_allclose(slope, expected.toarray() if hasattr(expected, "toarray") else expected, atol=1e-10)
        np.testing.assert_allclose(value, g.value(x), atol=1e-12)


def test_every_objective_is_differentiated() -> None:
    """All that the package exports, but for what is abstract or takes the user's own function."""
    built = {type(case.built()).__name__ for case in CASES.values()}
    assert built == set(objectives.__all__) - {"Function", "Objective", "check_gradient", "place", "stream"}


@pytest.mark.parametrize("backend", ["torch", "jax"])
def test_a_run_is_the_one_with_the_hand_written_gradient(backend: str) -> None:
    lib = library(backend)
    case = CASES["logistic-(False, False, 0.0)"]
    expected = fw.minimize(case.built(), fw.L2Ball(1.0), method="afw", tol=0, max_iter=20)
    f = fw.Function(case.written(Words(backend)), backend=backend)
    for x0 in (np.zeros(6), lib.array(np.zeros(6))):
        result = fw.minimize(f, fw.L2Ball(1.0), x0, method="afw", tol=0, max_iter=20)
        assert isinstance(result.x, type(x0))
        np.testing.assert_allclose(np.asarray(result.x), expected.x, atol=1e-10)
        assert fw.verify(result, f, fw.L2Ball(1.0)).ok


@pytest.mark.parametrize("backend", ["torch", "jax"])
def test_the_variable_may_be_a_nest_of_arrays(backend: str) -> None:
    lib = library(backend)
    target = lib.array(np.arange(6.0).reshape(2, 3))

    def f(p: Any) -> Any:
        return ((p["w"] - target) ** 2).sum() + (p["more"][0] ** 2).sum()

    x0 = {"w": lib.array(np.zeros((2, 3))), "more": (lib.array(np.ones(2)),)}
    judged = fw.Function(f, backend=backend)
    result = fw.minimize(judged, fw.L2Ball(2.0), x0, method="afw", tol=1e-4, max_iter=5000)
    assert result.success
    assert tuple(result.x["w"].shape) == (2, 3)
    assert fw.verify(result, judged, fw.L2Ball(2.0)).ok
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


NUMPYS = {"sum": lambda x: np.sum(x**2), "exp": lambda x: np.exp(x).sum(), "norm": lambda x: np.linalg.norm(x)}


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
@pytest.mark.parametrize("case", NUMPYS)
@pytest.mark.parametrize("backend", ["torch", "jax"])
def test_a_function_of_numpy_where_another_library_is_named(backend: str, case: str) -> None:
    x0 = library(backend).array(np.full(4, 0.25), "float64")
    if (backend, case) == ("jax", "sum"):  # which NumPy hands on
        assert fw.minimize(fw.Function(NUMPYS[case], backend=backend), fw.Simplex(4), x0).success
        return
    with pytest.raises((TypeError, RuntimeError)) as caught:
        fw.minimize(fw.Function(NUMPYS[case], backend=backend), fw.Simplex(4), x0)
    assert "of NumPy" in caught.value.__notes__[0]


def test_a_mistake_of_another_kind_is_not_blamed_on_numpy() -> None:
    x0 = library("torch").array(np.full(4, 0.25), "float64")
    with pytest.raises(KeyError) as caught:
        fw.minimize(fw.Function(lambda x: {}["mine"], backend="torch"), fw.Simplex(4), x0)
    assert not any("NumPy" in note for note in getattr(caught.value, "__notes__", ()))
