"""Products that a bound rests on are done in a precision that is asked for, whatever the library's setting is."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from tests.backends.arrays import library
from tests.backends.test_completion import COLS, ROWS, VALUES
from tests.backends.test_completion import M as HEIGHT
from tests.backends.test_completion import N as WIDTH

import frankwolfe as fw
from frankwolfe.backends.precision import exact_products, fast_products, users_products

RNG = np.random.default_rng(5)
A = RNG.standard_normal((300, 6)).astype(np.float32)
B = np.sign(A @ RNG.standard_normal(6) + RNG.standard_normal(300))
CLASSES = RNG.integers(0, 3, 300)


@pytest.fixture
def narrow() -> Iterator[Any]:
    """JAX as it is unless told otherwise: numbers of 32 bits, and none of 64."""
    jax = library("jax").module
    with jax.enable_x64(False) if hasattr(jax, "enable_x64") else jax.experimental.disable_x64():
        yield jax


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """The precisions that products of float32 arrays were traced with."""
    jax = library("jax").module
    from jax.extend.core.primitives import dot_general_p

    seen, bind = [], dot_general_p.bind

    def recorded(left: Any, right: Any, *more: Any, precision: Any, **options: Any) -> Any:
        if left.dtype == right.dtype == np.float32:
            seen.append(precision)
        return bind(left, right, *more, precision=precision, **options)

    jax.clear_caches()  # what was traced before would not be traced again
    monkeypatch.setattr(dot_general_p, "bind", recorded)
    yield seen
    jax.clear_caches()


def exact(seen: list[Any]) -> bool:
    from jax.lax import Precision

    return set(seen) == {(Precision.HIGHEST, Precision.HIGHEST)}


LINEAR = (-A.T @ B).astype(np.float32)
DOMAINS = {
    "logistic": fw.L2Ball(2.0),
    "intercept": fw.L1Ball(2.0),
    "squares": fw.Simplex(6),
    "quadratic": fw.ConvexHull(RNG.standard_normal((8, 6))),
    "classes": fw.NuclearBall(2.0),
    "completion": fw.NuclearBall(2.0),
}


def objective(kind: str, array: Callable[[np.ndarray], Any]) -> Any:
    if kind in ("logistic", "intercept"):
        return fw.Logistic(array(A), B, ridge=0.125, intercept=kind == "intercept")
    if kind == "squares":
        return fw.LeastSquares(array(A), B)
    if kind == "quadratic":
        return fw.Quadratic(array(A.T @ A), LINEAR)
    if kind == "classes":
        return fw.Multinomial(array(A), CLASSES, intercept=True)
    return fw.MatrixCompletion(ROWS, COLS, array(VALUES.astype(np.float32)), (HEIGHT, WIDTH))


@pytest.mark.parametrize(
    ("kind", "method"),
    [
        *((kind, "fw") for kind in ("logistic", "intercept", "squares", "quadratic", "classes")),
        *(("logistic", method) for method in ("newton", "subspace", "fcfw", "stochastic")),
        ("completion", "factored"),
    ],
)
def test_jax_is_told_the_precision_of_every_product(asked: list[Any], kind: str, method: str) -> None:
    """Its own choice on a GPU has ten bits of mantissa, which no bound survives."""
    import jax.numpy as jnp

    fw.minimize(objective(kind, jnp.asarray), DOMAINS[kind], method=method, tol=0, max_iter=1)
    assert exact(asked)


def test_steps_that_jax_compiles_ask_for_it_too(asked: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    import jax.numpy as jnp

    from frankwolfe.engine import jax_steps

    monkeypatch.setattr(jax_steps, "LATER", 8)
    fw.minimize(objective("logistic", jnp.asarray), fw.L2Ball(2.0), method="afw", tol=0, max_iter=24)
    assert exact(asked)


def test_a_path_asks_for_it_too(asked: list[Any]) -> None:
    import jax.numpy as jnp

    fw.path(fw.Logistic(jnp.asarray(A), B), fw.L2Ball, [0.5, 1.0], method="afw", together=True, max_iter=10)
    assert exact(asked)


@pytest.mark.parametrize("kind", ["logistic", "intercept", "squares", "quadratic", "classes", "completion"])
def test_jax_without_64_bits_certifies_in_double_precision(narrow: Any, kind: str) -> None:
    """NumPy does it, from the numbers as they are stored."""
    few = {"method": "afw", "max_iter": 20} if kind == "completion" else {}  # every new rank is compiled
    result = fw.minimize(objective(kind, narrow.numpy.asarray), DOMAINS[kind], tol=1e-4, **few)
    assert result.success or few
    assert result.x.dtype == np.float32
    here = objective(kind, lambda values: values.astype(np.float64))
    best = fw.minimize(here, DOMAINS[kind], tol=1e-8, max_iter=20_000)
    assert best.success
    assert result.lower_bound <= best.fun
    x = result.x.in_kind(np.zeros(0)) if kind == "completion" else np.asarray(result.x, dtype=np.float64)
    assert abs(here.value(x) - result.fun) <= 1e-12 * max(1.0, abs(result.fun))


def test_long_sums_without_64_bits(narrow: Any) -> None:
    """The mean of numbers that are nearly alike: a sum of them in 32 bits is off by more than the gap."""
    n = 200_000
    b = (1 + 1e-3 * RNG.standard_normal(n)).astype(np.float32)
    data = np.full((n, 1), 1e-3, dtype=np.float32)
    result = fw.minimize(fw.LeastSquares(narrow.numpy.asarray(data), b), fw.L2Ball(1.0), tol=1e-9, method="fw")
    wide, targets = data[:, 0].astype(np.float64), b.astype(np.float64)
    best = 0.5 * np.mean((wide - targets) ** 2)  # the least is at the border, at one
    assert result.lower_bound <= best * (1 + 1e-14)
    assert abs(result.fun - 0.5 * np.mean((wide * float(result.x[0]) - targets) ** 2)) <= 1e-13


@pytest.mark.parametrize("backend", ["jax", "jax on NumPy"])
def test_a_jax_function_without_64_bits_is_repeated_in_them(narrow: Any, backend: str) -> None:
    jnp = narrow.numpy
    data, b = jnp.asarray(A), jnp.asarray(B, dtype=np.float32)

    def f(x: Any) -> Any:
        return jnp.mean(jnp.logaddexp(0.0, -b * (data @ x))) + 1e4

    x0 = jnp.zeros(6) if backend == "jax" else np.zeros(6, np.float32)
    result = fw.minimize(fw.Function(f, backend="jax"), fw.L2Ball(2.0), x0, tol=1e-3, method="afw")
    best = fw.minimize(fw.Logistic(A.astype(np.float64), B), fw.L2Ball(2.0), tol=1e-11)
    assert result.success
    assert result.x.dtype == np.float32
    assert result.lower_bound <= best.fun + 1e4 + 1e-10
    # One that goes down to 32 bits by itself is not taken for exact.
    coarse = fw.Function(lambda x: f(x.astype(np.float32)), backend="jax")
    coarse.start(x0, dense=True)
    assert coarse.doubled() is None


def test_a_numpy_function_that_goes_down_to_32_bits_is_not_taken_for_exact() -> None:
    for f, grad in (
        (lambda x: np.sum(x.astype(np.float32) ** 2), lambda x: 2 * x),
        (lambda x: np.sum(x**2), lambda x: 2 * x.astype(np.float32)),
    ):
        own = fw.Function(f, grad)
        own.start(np.ones(3, np.float32), dense=True)
        assert own.doubled() is None


@pytest.mark.parametrize("convex", [True, False])
def test_a_function_keeps_its_own_precision_where_no_bound_rests_on_it(convex: bool) -> None:
    jax = library("jax").module
    seen = set()

    def f(x: Any) -> Any:
        seen.add(jax.config.jax_default_matmul_precision)
        return jax.numpy.sum((x - 1) ** 2)

    with jax.default_matmul_precision("tensorfloat32"):
        x0 = jax.numpy.zeros(3, dtype=np.float32)
        result = fw.minimize(fw.Function(f, backend="jax", convex=convex), fw.L2Ball(1.0), x0, method="fw", max_iter=5)
        assert jax.config.jax_default_matmul_precision == "tensorfloat32"
    assert seen == {"highest" if convex else "tensorfloat32"}
    assert np.isfinite(result.gap) == convex


def test_a_function_that_is_not_convex_claims_nothing_in_single_precision() -> None:
    f = fw.Function(lambda x: -np.sum(x**2), lambda x: -2 * x, convex=False)
    result = fw.minimize(f, fw.L2Ball(1.0), np.full(3, 0.1, np.float32), method="fw", max_iter=5)
    assert result.lower_bound == -np.inf


@pytest.mark.parametrize("backend", ["torch", "cuda", "cupy"])
def test_a_setting_of_the_library_changes_no_result(backend: str) -> None:
    lib = library(backend)
    f = objective("classes", lambda values: lib.array(values, "float32"))
    options = {"method": "apgd", "tol": 0, "max_iter": 20}
    expected = fw.minimize(f, fw.L2Ball(2.0), **options)
    if backend == "cupy":
        from cupy._core import _routines_linalg as linalg

        read, write, fast = (
            lambda: linalg.get_compute_type("f"),
            lambda value: linalg.set_compute_type("f", value),
            linalg.COMPUTE_TYPE_TF32,
        )
    else:
        read, write = lib.module.get_float32_matmul_precision, lib.module.set_float32_matmul_precision
        fast = "medium"
    before = read()
    write(fast)
    try:
        result = fw.minimize(f, fw.L2Ball(2.0), **options)
        assert read() == fast
    finally:
        write(before)
    np.testing.assert_array_equal(lib.numpy(result.x), lib.numpy(expected.x))
    assert (result.fun, result.lower_bound) == (expected.fun, expected.lower_bound)


@pytest.fixture
def setting() -> Iterator[Any]:
    """How to read torch's setting, which is at first what gives up digits."""
    torch = library("torch").module
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    matmul = torch.backends.cuda.matmul
    yield lambda: matmul.fp32_precision if hasattr(matmul, "fp32_precision") else torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(before)


EXACT, FAST = ("ieee", "highest"), ("tf32", "high")


def test_torch_is_exact_in_a_run_and_as_it_was_after_it(setting: Any) -> None:
    torch = library("torch").module
    seen = []
    with pytest.raises(ZeroDivisionError):
        fw.minimize(
            fw.Logistic(torch.tensor(A), B),
            fw.L2Ball(1.0),
            callback=lambda _: seen.append(setting()) or 1 / (2 - len(seen)),
        )
    assert set(seen) <= set(EXACT)
    assert setting() in FAST
    assert torch.get_float32_matmul_precision() == "high"  # the two ways to read it agree again


def test_a_run_within_a_run_and_a_run_beside_a_run_keep_each_other_exact(setting: Any) -> None:
    entered, leave = threading.Event(), threading.Event()

    def beside() -> None:
        with exact_products():
            entered.set()
            leave.wait()

    with exact_products():
        with fast_products():
            assert setting() in FAST
        with users_products():
            assert setting() in FAST
            with exact_products():
                assert setting() in EXACT
        assert setting() in EXACT
        other = threading.Thread(target=beside)
        with fast_products():
            other.start()
            entered.wait()
            assert setting() in EXACT  # the other run has begun
        with fast_products(), users_products():
            assert setting() in EXACT
    assert setting() in EXACT
    leave.set()
    other.join()
    assert setting() in FAST
    with fast_products(), users_products():  # outside of a run nothing changes
        assert setting() in FAST
