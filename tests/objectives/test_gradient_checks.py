"""Does a gradient belong to its function? A right one is never called wrong, at any scale; a wrong one is found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import frankwolfe as fw
from frankwolfe.objectives.gradient_check import contradicts, directional_error

SCALES = [1e-12, 1e-6, 1.0, 1e6, 1e12]


def functions(scale: float, height: float, dtype: Any, rng: np.random.Generator) -> dict[str, tuple[Any, Any, Any]]:
    """Convex functions that bend on a length of `scale`, times `height`: value, gradient, minimiser."""
    A = rng.standard_normal((20, 4)).astype(dtype)
    b = rng.standard_normal(20).astype(dtype)
    s, t = np.asarray(scale, dtype), np.asarray(height, dtype)

    def residual(x: np.ndarray) -> np.ndarray:
        return A @ (x / s) - b

    best = np.linalg.lstsq(A.astype(float), b.astype(float), rcond=None)[0]
    return {
        "squares": (lambda x: t * (residual(x) @ residual(x)), lambda x: 2 * t * (A.T @ residual(x)) / s, scale * best),
        "logistic": (
            lambda x: t * np.logaddexp(0, residual(x)).sum(),
            lambda x: t * (A.T @ (1 / (1 + np.exp(-residual(x))))) / s,
            None,
        ),
        "root": (
            lambda x: t * np.sqrt(1 + (x / s) @ (x / s)),
            lambda x: t * (x / s) / np.sqrt(1 + (x / s) @ (x / s)) / s,
            np.zeros(4),
        ),
        "fourth": (lambda x: t * np.sum((x / s) ** 4), lambda x: 4 * t * (x / s) ** 3 / s, np.zeros(4)),
        "corner": (
            lambda x: t * 0.5 * np.sum(np.maximum(x / s, 0) ** 2),
            lambda x: t * np.maximum(x / s, 0) / s,
            np.zeros(4),
        ),
    }


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("height", SCALES)
def test_a_right_gradient_is_never_called_wrong(scale: float, height: float, dtype: Any) -> None:
    if dtype == np.float32 and not 1e-30 < height / scale < 1e30:
        pytest.skip("out of range")
    rng = np.random.default_rng(0)
    for name, (f, grad, best) in functions(scale, height, dtype, rng).items():
        function = fw.Function(f, grad)
        points = [scale * rng.standard_normal(4), np.zeros(4), 1e-9 * scale * rng.standard_normal(4)]
        if best is not None:
            points += [best, best * (1 + 1e-7 * rng.standard_normal(4))]
        for x in points:
            x = np.asarray(x, dtype)
            for length in (1e-6 * scale, scale, 1e3 * scale):
                d = np.asarray(length * rng.standard_normal(4), dtype)
                error, _ = directional_error(function, x, function.grad(x), d)
                assert error <= 1e-4 if dtype == np.float32 else error <= 1e-7, (name, x, d)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("height", SCALES)
def test_a_wrong_gradient_is_found(scale: float, height: float, dtype: Any) -> None:
    """A sign, a factor, a missing term."""
    rng = np.random.default_rng(1)
    for name, (f, grad, _) in functions(scale, height, dtype, rng).items():
        x = np.asarray(scale * (1 + rng.random(4)), dtype)
        wrong = {
            "sign": lambda x, g=grad: -g(x),
            "factor": lambda x, g=grad: 2 * g(x),
            "missing": lambda x, g=grad: g(x) * np.array([1, 0, 1, 1], dtype),
            "zero": lambda x: np.zeros_like(x),
        }
        for what, other in wrong.items():
            function = fw.Function(f, other)
            errors = [
                directional_error(function, x, other(x), np.asarray(scale * rng.standard_normal(4), dtype))[0]
                for _ in range(5)
            ]
            assert max(errors) > 1e-2, (name, what)
            with pytest.raises(ValueError, match="does not match"):
                fw.check_gradient(function, x)


def test_cancellation_inside_a_function_is_no_wrong_gradient() -> None:
    """|Ax - b|² written out: near its minimum the value is nothing but rounding."""
    rng = np.random.default_rng(2)
    A = rng.standard_normal((30, 5)) + 1e4
    b = A @ np.ones(5)
    Q, c, constant = A.T @ A, A.T @ b, float(b @ b)
    f = fw.Function(lambda x: 0.5 * x @ (Q @ x) - c @ x + 0.5 * constant, lambda x: Q @ x - c)
    for size in (0.0, 1e-10, 1e-8, 1e-6):
        x = np.ones(5) + size * rng.standard_normal(5)
        for _ in range(5):
            d = rng.standard_normal(5)
            d -= d.mean()  # along which the function hardly bends
            assert directional_error(f, x, f.grad(x), d)[0] <= 1e-3


def test_built_in_gradients_pass_everywhere() -> None:
    rng = np.random.default_rng(3)
    A, b = rng.standard_normal((40, 5)), rng.standard_normal(40)
    for scale in (1e-8, 1.0, 1e5):
        for f in (fw.Logistic(A, b > 0), fw.LeastSquares(A, b), fw.Huber(A, b), fw.Logistic(A, b > 0, intercept=True)):
            assert fw.check_gradient(f, scale * rng.standard_normal(5)) <= 1e-5


def test_values_and_gradients_of_no_convex_function() -> None:
    rng = np.random.default_rng(4)
    A, b = rng.standard_normal((30, 4)), rng.standard_normal(30)
    f = fw.LeastSquares(A, b)
    for scale in SCALES:
        value, grad = (lambda x, s=scale: s * float(f.value(x))), (lambda x, s=scale: s * f.grad(x))
        right = fw.Function(value, grad)
        wrong = [
            fw.Function(value, lambda x: 0 * x),
            fw.Function(value, lambda x, g=grad: -g(x)),
            fw.Function(value, lambda x, g=grad: 2 * g(x)),
            fw.Function(lambda x, v=value: -v(x), lambda x, g=grad: -g(x)),  # not convex
        ]
        points = rng.standard_normal((6, 4))
        for x in points[:3]:
            ends = [x + h * (y - x) for y in points[3:] for h in (1.0, 1e-3)]
            assert not any(contradicts(right, x, y) for y in ends)
            for other in wrong:
                assert any(contradicts(other, x, y) for y in ends)
    flat = fw.Function(lambda x: 7.0, lambda x: np.zeros(4))
    assert not contradicts(flat, points[0], points[1])
    # Far from zero and next to each other, where a difference of values is rounding.
    near = fw.Function(lambda x: x @ x, lambda x: 2 * x)
    x = 1e8 + rng.standard_normal(4)
    assert not any(contradicts(near, x, x + 1e-8 * rng.standard_normal(4)) for _ in range(20))
