"""Runs in single precision claim only what double precision proves on the numbers as they are stored."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from tests.backends.arrays import library

import frankwolfe as fw

RNG = np.random.default_rng(3)
A = RNG.standard_normal((300, 10)).astype(np.float32)
B = np.sign(A @ RNG.standard_normal(10) + RNG.standard_normal(300))
BALLS = [fw.L2Ball(2.0), fw.L1Ball(2.0), fw.LInfBall(0.4), fw.LpBall(1.0, p=3)]


@cache
def optimum(loss: Any, ball: Any) -> tuple[float, float]:
    """Return bounds on the optimum for the stored numbers, in double precision."""
    tight = fw.minimize(loss(A.astype(np.float64), B), ball, method="apgd", tol=1e-12, max_iter=20_000)
    return tight.lower_bound, tight.fun


@pytest.mark.parametrize("loss", [fw.Logistic, fw.LeastSquares])
@pytest.mark.parametrize("ball", BALLS, ids=repr)
@pytest.mark.parametrize("method", ["afw", "fw", fw.AcceleratedFrankWolfe(line_search=True)], ids=str)
@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_bounds_hold(backend: str, method: Any, ball: Any, loss: Any) -> None:
    data = A if backend == "numpy" else library(backend).array(A, "float32")
    result = fw.minimize(loss(data, B), ball, method=method, tol=1e-7, max_iter=150)
    low, high = optimum(loss, ball)
    assert result.lower_bound <= high + 1e-13
    assert result.gap >= 0
    # The point is in the set up to its own rounding, so its value may be below the optimum by as much.
    assert result.fun >= low - 1e-5
    trace = result.trace.to_array()
    assert np.all(trace[:, 3] <= high + 1e-13)


@pytest.mark.parametrize("dtype", ["bfloat16", "uint8"])
def test_narrow_numbers_are_computed_with_as_they_are_stored(dtype: str) -> None:
    torch = library("torch").module
    stored = (torch.tensor(A) * 20 + 100).clamp(0, 255).to(getattr(torch, dtype))
    wide = stored.to(torch.float64).numpy()
    ball = fw.L2Ball(0.01)
    result = fw.minimize(fw.Logistic(stored, B), ball, method="afw", tol=1e-4, max_iter=3000)
    tight = fw.minimize(fw.Logistic(wide, B), ball, method="apgd", tol=1e-11, max_iter=50_000)
    assert result.x.dtype == torch.float32
    assert result.lower_bound <= tight.fun + 1e-12
    assert result.fun >= tight.lower_bound - 1e-6
    assert abs(fw.Logistic(wide, B).value(result.x.numpy().astype(np.float64)) - result.fun) < 1e-12


def test_paths_certify_in_double_precision() -> None:
    radii = [0.1, 0.5, 2.0]
    for result, radius in zip(fw.path(fw.Logistic(A, B), fw.L1Ball, radii, method="afw", tol=1e-4), radii, strict=True):
        _, high = optimum(fw.Logistic, fw.L1Ball(radius))
        assert result.lower_bound <= high + 1e-13
        assert result.gap >= 0


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("dtype", ["bfloat16", "uint8", "float32"])
def test_a_path_over_narrow_numbers(monkeypatch: pytest.MonkeyPatch, dtype: str, streamed: bool) -> None:
    """Blocks are widened, never the whole; all that a path does with the data knows their type."""
    from frankwolfe.backends import torch_rows
    from frankwolfe.rows.placement import StreamedMatrix

    torch = library("torch").module
    monkeypatch.setattr(torch_rows, "BLOCK_BYTES", 1 << 12)
    stored = (torch.tensor(A) * 20 + 100).clamp(0, 255).to(getattr(torch, dtype))
    data = StreamedMatrix(stored, "cpu", block_bytes=1 << 10) if streamed else stored
    radii = [0.002, 0.005, 0.01]
    path = fw.path(fw.Logistic(data, B), fw.L2Ball, radii, method="afw", together=True, tol=1e-3, max_iter=3000)
    assert path.success
    for result, radius in zip(path, radii, strict=True):
        wide = fw.Logistic(stored.to(torch.float64).numpy(), B)
        tight = fw.minimize(wide, fw.L2Ball(radius), tol=1e-9)
        assert result.lower_bound <= tight.fun + 1e-9
        assert tight.lower_bound - 1e-6 <= result.fun <= tight.fun + 1.01e-3
        assert abs(wide.value(result.x.numpy().astype(np.float64)) - result.fun) < 1e-12


@pytest.mark.parametrize("offset", [0.0, 1e4])
@pytest.mark.parametrize("backend", ["numpy", "torch", "torch autodiff", "jax autodiff"])
def test_a_function_in_single_precision_claims_no_more_than_it_can(backend: str, offset: float) -> None:
    """Bounds are proven in double precision where the function allows it, and keep their distance elsewhere."""
    name, _, autodiff = backend.partition(" ")
    tight = fw.minimize(fw.Logistic(A.astype(np.float64), B), fw.L2Ball(2.0), method="apgd", tol=1e-12, max_iter=20_000)
    if name == "numpy":
        data = fw.Logistic(A, B)
        f, x0 = fw.Function(lambda x: data.value(x) + offset, data.grad), np.zeros(10, np.float32)
    else:
        lib = library(name)
        a, b = lib.array(A, "float32"), lib.array(B, "float32")
        xp = lib.module.numpy if name == "jax" else lib.module

        def written(x: Any) -> Any:
            return xp.mean(xp.log1p(xp.exp(-b * (a @ x)))) + offset

        slope = None if autodiff else lambda x: (a.T @ (-b / (1 + xp.exp(b * (a @ x))))) / len(B)
        f, x0 = fw.Function(written, slope, backend=name if autodiff else None), lib.array(np.zeros(10), "float32")
    result = fw.minimize(f, fw.L2Ball(2.0), x0, method="afw", tol=0, max_iter=400)
    assert "float32" in str(result.x.dtype)
    assert result.lower_bound <= tight.fun + offset
    trace = result.trace.to_array()
    assert np.all(trace[:, 3] <= tight.fun + offset)
    repeated = name in ("numpy", "jax")  # torch does not mix its float32 data with a float64 point
    assert (f.doubled() is not None) == repeated
    assert result.gap <= 1e-4 * (1 if repeated else 100 * (1 + offset))
    if not repeated:
        assert result.gap >= 1e-7 * (1 + offset)
