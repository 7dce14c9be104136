"""Steps of a path that are captured are the plain ones: the same iterates, evidence and counts.

Without a GPU the captured function is called again, into the same memory, so that everything but the capture is tested
anywhere; `test_gpu.py` has the rest.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.backends.arrays import library

import frankwolfe as fw
from frankwolfe.engine import cuda_graph, cuda_graph_steps

RNG = np.random.default_rng(0)
A = RNG.standard_normal((80, 6))
B = np.sign(A @ RNG.standard_normal(6) + 0.5 * RNG.standard_normal(80))
RADII = [0.2, 1.0, 4.0]
SETS = [fw.L2Ball, fw.L1Ball, fw.LInfBall, fw.Simplex(6), fw.LpBall(1.0, p=3)]


@pytest.fixture
def launches(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Let graphs apply without a GPU; return a list that gets an entry for each launch."""
    made: list[Any] = []
    launch = cuda_graph.Graph.launch
    monkeypatch.setattr(cuda_graph_steps, "on_gpu", lambda matrix: True)
    monkeypatch.setattr(cuda_graph.Graph, "launch", lambda self, inputs: made.append(self) or launch(self, inputs))
    return made


@pytest.mark.parametrize("method", ["fw", "afw"])
@pytest.mark.parametrize("domain", SETS, ids=str)
def test_captured_steps_are_the_plain_ones(launches: list[Any], domain: Any, method: str) -> None:
    lib = library("torch")
    host = fw.path(fw.Logistic(A, B), domain, RADII, method=method, together=True, tol=0, max_iter=140)
    data = fw.Logistic(lib.array(A), B)
    path = fw.path(data, domain, RADII, method=method, together=True, tol=0, max_iter=140)
    assert len(launches) > 12
    assert len(set(map(id, launches))) == 1
    for result, expected in zip(path, host, strict=True):
        np.testing.assert_allclose(lib.numpy(result.x), expected.x, atol=1e-10)
        np.testing.assert_allclose(result.trace.to_array()[:, 2:4], expected.trace.to_array()[:, 2:4], atol=1e-10)
        assert (result.n_iter, result.n_grad, result.n_lmo) == (expected.n_iter, expected.n_grad, expected.n_lmo)
        assert result.n_pass == 2 * 140 + 1


SEARCHING = [fw.AcceleratedFrankWolfe(line_search=True), fw.FrankWolfe(fw.ExactLineSearch())]


@pytest.mark.parametrize("method", ["fw", "afw", *SEARCHING], ids=str)
@pytest.mark.parametrize("domain", [fw.L2Ball(1.0), fw.LInfBall(0.3), fw.LpBall(1.0, p=3)], ids=repr)
@pytest.mark.parametrize("ridge", [0.0, 0.1])
def test_captured_steps_of_one_run_are_the_plain_ones(
    launches: list[Any], ridge: float, domain: Any, method: Any
) -> None:
    lib, steps = library("torch"), 48
    host = fw.minimize(fw.Logistic(A, B, ridge=ridge), domain, method=method, tol=0, max_iter=steps)
    result = fw.minimize(fw.Logistic(lib.array(A), B, ridge=ridge), domain, method=method, tol=0, max_iter=steps)
    assert len(launches) >= 2
    ours, theirs = result.trace.to_array()[:, 2:4], host.trace.to_array()[:, 2:4]
    # Rounding grows from search to search: near the optimum iterates say nothing about how they were computed.
    searched = not isinstance(method, str)
    np.testing.assert_allclose(ours[: 33 if searched else None], theirs[: 33 if searched else None], atol=1e-10)
    np.testing.assert_allclose(ours, theirs, atol=1e-8)
    assert (result.n_iter, result.n_grad, result.n_lmo) == (host.n_iter, host.n_grad, host.n_lmo)
    np.testing.assert_allclose(lib.numpy(result.x), host.x, atol=1e-4 if searched else 1e-10)


@pytest.mark.parametrize("method", SEARCHING, ids=str)
def test_captured_searches_of_a_path(launches: list[Any], method: Any) -> None:
    lib = library("torch")
    options = {"method": method, "together": True, "tol": 1e-4, "max_iter": 200}
    for dtype in ("float64", "float32"):
        path = fw.path(fw.Logistic(lib.array(A, dtype), B), fw.LpBall(1.0, p=3), RADII, **options)
        assert path.success
        for result, expected in zip(
            path, fw.path(fw.Logistic(A, B), fw.LpBall(1.0, p=3), RADII, **options), strict=True
        ):
            assert abs(result.fun - expected.fun) < 2e-4
            assert dtype == "float32" or 0 <= result.n_iter - expected.n_iter < cuda_graph_steps.PACE


def test_a_captured_run_in_single_precision_is_certified(launches: list[Any]) -> None:
    lib = library("torch")
    data = fw.Logistic(lib.array(A, "float32"), B)
    result = fw.minimize(data, fw.LpBall(1.0, p=3), method="afw", tol=1e-4, max_iter=2000)
    tight = fw.minimize(fw.Logistic(A.astype("float32").astype(float), B), fw.LpBall(1.0, p=3), tol=1e-11)
    assert result.success
    assert launches
    assert result.lower_bound <= tight.fun + 1e-12
    assert tight.lower_bound - 1e-6 <= result.fun <= tight.fun + 1.01e-4


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_runs_that_are_done_leave_a_captured_path(launches: list[Any], dtype: str) -> None:
    lib = library("torch")
    path = fw.path(
        fw.Logistic(lib.array(A, dtype), B), fw.L2Ball, RADII, method="afw", together=True, tol=1e-5, max_iter=1500
    )
    assert path.success
    assert len(set(map(id, launches))) > 1  # fewer rows are another graph
    for result, radius in zip(path, RADII, strict=True):
        tight = fw.minimize(fw.Logistic(A.astype(dtype).astype(float), B), fw.L2Ball(radius), tol=1e-11)
        assert tight.lower_bound - 1e-6 <= result.fun <= tight.fun + 1.01e-5
        assert result.lower_bound <= tight.fun + 1e-12
    alone = fw.path(fw.Logistic(A, B), fw.L2Ball, RADII, method="afw", together=True, tol=1e-5, max_iter=1500)
    late = [result.n_iter - other.n_iter for result, other in zip(path, alone, strict=True)]
    assert all(0 <= steps < cuda_graph_steps.PACE for steps in late) or dtype == "float32"


def test_a_number_that_is_not_finite_ends_one_run_of_a_path(launches: list[Any]) -> None:
    lib = library("torch")
    with np.errstate(all="ignore"):
        path = fw.path(
            fw.LeastSquares(lib.array(A * 1e150), B), fw.L2Ball, [1e-150, 1e160], method="afw", together=True, tol=1e-2
        )
    assert path[0].success
    assert path[1].status == fw.Status.NOT_FINITE
    assert "at iteration" in path[1].message
