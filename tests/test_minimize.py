"""The loop: stopping, status, trace, callbacks, interruption, warm starts, and input that teaches."""

from __future__ import annotations

import math
import os
import re
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from tests.problems import case, logistic_data

import frankwolfe as fw
from frankwolfe.terminal import Progress


def square(dimension: int = 3) -> fw.Function:
    return fw.Function(lambda x: float(np.sum((x - 1) ** 2)), lambda x: 2 * (x - 1), smoothness=2.0)


# -- stopping ---------------------------------------------------------------------------------------------------------


def test_optimal_means_a_certified_gap() -> None:
    objective, domain, optimum, _ = case("logistic-l2")
    result = fw.minimize(objective, domain, tol=1e-8)
    assert result.status is fw.Status.OPTIMAL
    assert result.success
    assert result.gap <= 1e-8
    assert result.fun - optimum <= 1e-8
    assert result.lower_bound <= optimum <= result.fun + 1e-14


def test_relative_tolerance() -> None:
    objective, *_ = case("squares-l1")
    scaled = fw.LeastSquares(objective.data.matrix, 1e3 * objective.b)
    result = fw.minimize(scaled, fw.L1Ball(3e3), method="apgd", tol=0, rtol=1e-6)
    assert result.success
    assert 1e-6 < result.gap <= 1e-6 * abs(result.fun)


def test_zero_tolerance_runs_to_the_limit() -> None:
    objective, domain, *_ = case("logistic-l1-vertex")
    result = fw.minimize(objective, domain, tol=0, max_iter=77)
    assert result.status is fw.Status.MAX_ITER
    assert not result.success
    assert result.n_iter == 77
    assert "77" in result.message


def test_time_limit() -> None:
    slow = fw.Function(lambda x: time.sleep(0.005) or float(x @ x), lambda x: 2 * x)
    result = fw.minimize(slow, fw.Simplex(400), tol=1e-12, max_iter=10**6, time_limit=0.2)
    assert result.status is fw.Status.TIME_LIMIT
    assert 0.2 <= result.time < 60
    assert math.isfinite(result.gap)


def test_callback_sees_and_stops() -> None:
    objective, domain, *_ = case("logistic-l2")
    seen = []

    def stop(it: fw.Iteration):
        seen.append(it)
        with pytest.raises(ValueError, match="read-only"):
            it.x[0] = 1.0
        return it.k == 4

    result = fw.minimize(objective, domain, method="afw", tol=0, callback=stop)
    assert result.status is fw.Status.CALLBACK
    assert [it.k for it in seen] == [0, 1, 2, 3, 4]
    assert result.n_iter == 5
    np.testing.assert_array_equal([it.fun for it in seen], result.trace.fun[:5])
    assert seen[3].fun == pytest.approx(float(objective.value(seen[3].x)), abs=1e-14)


def test_keyboard_interrupt_returns_the_best_point() -> None:
    objective, domain, *_ = case("logistic-l2")

    def interrupt(it: fw.Iteration):
        if it.k == 10:
            os.kill(os.getpid(), signal.SIGINT)

    handler = signal.getsignal(signal.SIGINT)
    result = fw.minimize(objective, domain, method="afw", tol=0, callback=interrupt)
    assert result.status is fw.Status.INTERRUPTED
    assert result.n_iter == 11
    assert math.isfinite(result.gap)
    assert signal.getsignal(signal.SIGINT) is handler

    def raises(it: fw.Iteration):
        raise KeyboardInterrupt

    assert fw.minimize(objective, domain, callback=raises).status is fw.Status.INTERRUPTED


def test_runs_outside_the_main_thread() -> None:
    objective, domain, *_ = case("logistic-l2")
    out = []
    thread = threading.Thread(target=lambda: out.append(fw.minimize(objective, domain, max_iter=5)))
    thread.start()
    thread.join()
    assert out[0].n_iter <= 5


def test_wrong_gradient_is_named() -> None:
    wrong = fw.Function(lambda x: float(np.sum((x - 0.2) ** 2)), lambda x: 0.5 * (x - 0.2))
    result = fw.minimize(wrong, fw.L2Ball(1.0), np.full(4, -0.3), method="afw")
    assert result.status is fw.Status.WRONG_GRADIENT
    assert "check_gradient" in result.message
    assert result.lower_bound == -math.inf


def test_non_convexity_is_named() -> None:
    bumpy = fw.Function(lambda x: float(np.sum(np.cos(3 * x))), lambda x: -3 * np.sin(3 * x))
    result = fw.minimize(bumpy, fw.Box(-2.0, 2.0), np.full(3, 0.05), method="fw", tol=1e-9)
    assert result.status is fw.Status.NOT_CONVEX
    assert "not convex" in result.message
    assert not result.success


def test_nan_is_named_and_the_best_point_kept() -> None:
    calls = 0

    def f(x):
        nonlocal calls
        calls += 1
        return math.nan if calls > 20 else float(x @ x)

    result = fw.minimize(fw.Function(f, lambda x: 2 * x), fw.Simplex(5), method="fw", tol=0)
    assert result.status is fw.Status.NOT_FINITE
    assert "not finite" in result.message
    assert np.all(np.isfinite(result.x))

    bad = fw.Function(lambda x: float(x @ x), lambda x: np.full_like(x, np.nan))
    result = fw.minimize(bad, fw.Simplex(5), np.full(5, 0.2), method="fw")
    assert result.status is fw.Status.NOT_FINITE
    assert "gradient" in result.message


# -- trace and counts -------------------------------------------------------------------------------------------------


def test_row_k_is_the_iterate_k() -> None:
    objective, domain, *_ = case("logistic-l1")
    points = []
    result = fw.minimize(
        objective, domain, method="afw", tol=0, max_iter=20, callback=lambda it: points.append(it.x.copy())
    )
    assert list(result.trace.k) == list(range(21))
    values = [float(objective.value(x)) for x in points]
    np.testing.assert_allclose(result.trace.fun[:-1], values, rtol=1e-13)


def test_one_gradient_one_oracle_call_one_pass() -> None:
    A, b = logistic_data(n=3000, d=60)
    for domain in (fw.L2Ball(3.0), fw.L1Ball(3.0)):
        for data in (A, sp.csr_array(A)):
            for method in ("fw", "afw"):
                result = fw.minimize(fw.Logistic(data, b), domain, method=method, tol=0, max_iter=50)
                assert result.n_grad == result.n_lmo == 50
                assert result.n_pass <= 50 * (1 + 1.01 / 60) + 4


def test_trace_every() -> None:
    objective, domain, *_ = case("logistic-l2")
    whole = fw.minimize(objective, domain, method="fw", tol=0, max_iter=25)
    thin = fw.minimize(objective, domain, method="fw", tol=0, max_iter=25, trace_every=10)
    assert list(thin.trace.k) == [0, 10, 20, 25]
    np.testing.assert_array_equal(thin.trace.fun, whole.trace.fun[[0, 10, 20, 25]])


def test_trace_exports(tmp_path: Path) -> None:
    objective, domain, *_ = case("logistic-l2")
    trace = fw.minimize(objective, domain, method="fw", tol=0, max_iter=5).trace
    frame = trace.to_pandas()
    assert list(frame.columns[:5]) == ["k", "time", "fun", "lower_bound", "gap"]
    trace.to_csv(tmp_path / "t.csv")
    rows = (tmp_path / "t.csv").read_text().splitlines()
    assert len(rows) == 7
    assert float(rows[-1].split(",")[2]) == trace.fun[-1]
    with pytest.raises(KeyError, match="columns are"):
        trace["value"]


def test_same_seed_same_iterates() -> None:
    objective, domain, *_ = case("completion-nuclear")
    runs = [fw.minimize(objective, domain, method="afw", tol=0, max_iter=30, random_state=s) for s in (7, 7)]
    assert np.array_equal(runs[0].x.toarray(), runs[1].x.toarray())


def test_sparse_dense_and_columns_agree() -> None:
    A, b = logistic_data()
    A[np.abs(A) < 0.8] = 0.0
    for domain in (fw.L1Ball(2.0), fw.L2Ball(2.0)):
        runs = [
            fw.minimize(fw.Logistic(data, b), domain, method="afw", tol=0, max_iter=100).x
            for data in (A, sp.csr_array(A), sp.csc_matrix(A), sp.linalg.aslinearoperator(A))
        ]
        for x in runs[1:]:
            np.testing.assert_allclose(x, runs[0], atol=1e-11)


def test_best_point_can_be_the_look_ahead_point() -> None:
    objective, domain, *_ = case("logistic-l1")
    result = fw.minimize(objective, domain, method="afw", tol=0, max_iter=60)
    assert result.fun <= result.trace.fun.min() + 1e-15


def test_start_where_zero_is_not_feasible() -> None:
    objective, *_ = case("quadratic-simplex")
    result = fw.minimize(objective, fw.Simplex(12), tol=1e-6)
    assert result.x.sum() == pytest.approx(1.0, abs=1e-12)


def test_threads_are_limited() -> None:
    from threadpoolctl import threadpool_info, threadpool_limits

    objective, domain, *_ = case("logistic-l2")
    seen = []

    def look(it: fw.Iteration | None):
        seen.extend(pool["num_threads"] for pool in threadpool_info())

    with threadpool_limits(limits=2):
        look(None)
        assert 2 in seen
        seen.clear()
        fw.minimize(objective, domain, max_iter=3, tol=0, n_threads=1, callback=look)
    assert seen
    assert set(seen) == {1}


def test_float32_stays_float32() -> None:
    A, b = logistic_data()
    result = fw.minimize(fw.Logistic(A.astype(np.float32), b), fw.L2Ball(2.0), method="afw", tol=0, max_iter=50)
    assert result.x.dtype == np.float32
    exact = fw.minimize(fw.Logistic(A, b), fw.L2Ball(2.0), method="afw", tol=0, max_iter=50)
    np.testing.assert_allclose(result.x, exact.x, atol=1e-4)


# -- compare and show -------------------------------------------------------------------------------------------------


def test_compare() -> None:
    objective, domain, *_ = case("logistic-l2")
    both = fw.compare(objective, domain, ["fw", "afw", fw.FrankWolfe(fw.ShortStep())], max_iter=20, tol=0)
    assert len(both) == 3
    assert "afw" in repr(both)
    assert both.lower_bound == max(r.lower_bound for r in both.values())
    assert set(both.to_pandas()["method"]) == set(both)
    named = fw.compare(objective, domain, {"mine": "fw"}, max_iter=3)
    assert list(named) == ["mine"]
    with pytest.raises(ValueError, match="empty"):
        fw.compare(objective, domain, [])


def test_result_says_what_happened() -> None:
    objective, domain, *_ = case("logistic-l2")
    text = repr(fw.minimize(objective, domain))
    for word in ("gap", "proven", "status: optimal", "method: newton"):
        assert word in text


def test_progress_line(capsys) -> None:
    objective, domain, *_ = case("logistic-l2")
    fw.minimize(objective, domain, max_iter=30, tol=0, progress=True)
    assert re.search(r"k=0 .*gap=", capsys.readouterr().err)
    fw.minimize(objective, domain, max_iter=30, tol=0, progress=False)
    fw.minimize(objective, domain, max_iter=30, tol=0)
    assert capsys.readouterr().err == ""


def test_progress_on_a_terminal(monkeypatch) -> None:
    class Terminal:
        def __init__(self) -> None:
            self.text = ""

        def isatty(self) -> bool:
            return True

        def write(self, text: str) -> int:
            self.text += text
            return len(text)

        def flush(self) -> None: ...

    terminal = Terminal()
    line = Progress(None, 100, stream=terminal)  # pyright: ignore[reportArgumentType]
    line.update(1, 1e-6, 1.0, 1e-3)
    assert terminal.text == "", "silent for the first two seconds"
    line.next = 0.0
    line.update(2, 1e-6, 1.0, 1e-3)
    assert "k=2" in terminal.text
    assert "##########" in terminal.text, "half the way from 1 to 1e-6"
    monkeypatch.setenv("COLUMNS", "40")
    terminal.text, line.next = "", 0.0
    line.update(3, 1e-6, 1.0, 1e-3)
    assert "k=3" in terminal.text
    assert len(terminal.text.strip("\r").rstrip()) < 40, "a line that wraps cannot be rewritten in place"
    line.close()
    assert terminal.text.endswith("\r")


# -- bad input --------------------------------------------------------------------------------------------------------

A, B = logistic_data()
BAD = {
    "nan data": (lambda: fw.Logistic(np.full((4, 2), np.nan), [0, 1, 0, 1]), ValueError, "A contains NaN"),
    "inf data": (lambda: fw.LeastSquares(sp.csr_array([[np.inf]]), [1.0]), ValueError, "A contains NaN"),
    "empty data": (lambda: fw.Logistic(np.zeros((0, 3)), []), ValueError, "empty"),
    "no columns": (lambda: fw.LeastSquares(np.zeros((3, 0)), np.ones(3)), ValueError, "A is empty"),
    "text data": (lambda: fw.LeastSquares([["a", "b"]], [1.0]), ValueError, "A must be numeric"),
    "vector data": (lambda: fw.LeastSquares(np.ones(3), np.ones(3)), ValueError, "two-dimensional"),
    "short labels": (lambda: fw.Logistic(A, B[:-1]), ValueError, "one label per row"),
    "one class": (lambda: fw.Logistic(A, np.ones(len(A))), ValueError, "exactly two distinct labels"),
    "three classes": (lambda: fw.Logistic(A[:3], [0, 1, 2]), ValueError, "exactly two distinct labels"),
    "nan labels": (lambda: fw.Logistic(A[:3], [0, 1, np.nan]), ValueError, "b contains NaN"),
    "nan targets": (lambda: fw.LeastSquares(A[:2], [np.nan, 1.0]), ValueError, "b contains NaN"),
    "negative weights": (
        lambda: fw.Logistic(A[:2], [0, 1], sample_weight=[-1, 1]),
        ValueError,
        "sample_weight must be nonneg",
    ),
    "zero weights": (lambda: fw.Logistic(A[:2], [0, 1], sample_weight=[0, 0]), ValueError, "positive sum"),
    "negative ridge": (lambda: fw.Logistic(A[:2], [0, 1], ridge=-1), ValueError, "ridge"),
    "oblong quadratic": (lambda: fw.Quadratic(np.ones((2, 3))), ValueError, "square"),
    "unsymmetric": (lambda: fw.Quadratic(np.array([[1.0, 2.0], [0.0, 1.0]])), ValueError, "symmetric"),
    "repeated entry": (lambda: fw.MatrixCompletion([0, 0], [1, 1], [1.0, 2.0], (2, 2)), ValueError, "more than once"),
    "entry outside": (lambda: fw.MatrixCompletion([5], [0], [1.0], (2, 2)), ValueError, "rows must lie in 0..1"),
    "no entries": (lambda: fw.MatrixCompletion([], [], [], (2, 2)), ValueError, "values is empty"),
    "nan entries": (lambda: fw.MatrixCompletion([0], [0], [np.nan], (2, 2)), ValueError, "values contains NaN"),
    "not a function": (lambda: fw.Function(3, lambda x: x), TypeError, "f must be a function"),
    "negative radius": (lambda: fw.L2Ball(-1.0), ValueError, "radius must be a positive"),
    "zero radius": (lambda: fw.NuclearBall(0), ValueError, "radius must be a positive"),
    "nan radius": (lambda: fw.L1Ball(math.nan), ValueError, "radius must be a positive"),
    "p below one": (lambda: fw.LpBall(1.0, p=0.5), ValueError, "p must be"),
    "overlapping groups": (lambda: fw.GroupBall(1.0, groups=[[0, 1], [1, 2]]), ValueError, "group"),
    "bad offset": (lambda: fw.AcceleratedFrankWolfe(offset=1), ValueError, "offset must be at least 2"),
}
RUNS = {
    "infeasible x0": ({"x0": np.full(12, 9.0)}, ValueError, "x0 does not lie in L2Ball"),
    "x0 of wrong shape": ({"x0": np.zeros(5)}, ValueError, r"x0 must have shape \(12,\)"),
    "nan x0": ({"x0": np.full(12, np.nan)}, ValueError, "x0 contains NaN"),
    "unknown method": ({"method": "awf"}, ValueError, "did you mean 'afw'"),
    "method of wrong type": ({"method": 3}, TypeError, "method must be"),
    "negative tol": ({"tol": -1.0}, ValueError, "tol must be"),
    "fractional max_iter": ({"max_iter": 1.5}, ValueError, "max_iter must be an integer"),
    "unconstrained method": ({"method": "agm"}, TypeError, "domain=None"),
    "checkpoint as text": ({"checkpoint": "run.npz"}, TypeError, r"Checkpoint\('run.npz'\)"),
    "callback as text": ({"callback": "stop"}, TypeError, "callback must be a function"),
    "zero threads": ({"n_threads": 0}, ValueError, "n_threads"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_clear_sentence(name: str) -> None:
    build, error, message = BAD[name]
    with pytest.raises(error, match=message) as caught:
        build()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", RUNS)
def test_bad_arguments_are_one_clear_sentence(name: str) -> None:
    objective, domain, *_ = case("logistic-l2")
    options, error, message = RUNS[name]
    with pytest.raises(error, match=message) as caught:
        fw.minimize(objective, domain, **options)
    assert "\n" not in str(caught.value)


def test_bad_problems_are_one_clear_sentence() -> None:
    objective, domain, *_ = case("logistic-l2")
    with pytest.raises(TypeError, match="Function"):
        fw.minimize(lambda x: x, domain)  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match="L2Ball"):
        fw.minimize(objective, 3.0)  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match="needs a set"):
        fw.minimize(objective, None, method="afw")
    with pytest.raises(TypeError, match="has no projection"):
        fw.minimize(objective, fw.TotalVariationBall(1.0), method="pgd")
    with pytest.raises(ValueError, match="x0 is needed"):
        fw.minimize(square(), domain)
    plain = fw.Function(lambda x: float(x @ x), lambda x: 2 * x)
    with pytest.raises(ValueError, match="smoothness"):
        fw.minimize(plain, domain, np.zeros(3), method="pgd")
    with pytest.raises(ValueError, match="strongly convex"):
        fw.minimize(objective, None, method="agm_sc")
    with pytest.raises(ValueError, match="shape of x"):
        fw.minimize(fw.Function(lambda x: 0.0, lambda x: np.zeros(7)), domain, np.zeros(3))
    with pytest.raises(ValueError, match="one number"):
        fw.minimize(fw.Function(lambda x: x, lambda x: x), domain, np.zeros(3))


@pytest.mark.parametrize("method", ["auto", "fw", "afw", "away", "pairwise", "apgd", "hfw", "extrafw", "lazy", "bcg"])
def test_a_gradient_that_is_zero_everywhere_is_found_out(method: str) -> None:
    f = fw.Function(lambda x: float(x @ x + x[0]), lambda x: 0 * x, smoothness=2.0)
    result = fw.minimize(f, fw.L2Ball(1.0), [0.5, 0.5, 0.0], method=method, max_iter=50)
    assert result.status is fw.Status.WRONG_GRADIENT
    assert result.lower_bound == -np.inf
    constant = fw.Function(lambda x: 3.0, lambda x: 0 * x, smoothness=1.0)
    assert fw.minimize(constant, fw.L2Ball(1.0), [0.5, 0.5, 0.0], method=method).success


def test_the_last_trial_of_a_function_stays_inside_its_domain() -> None:
    """A function that raises, or is infinite, away from the answer is none the worse for it."""

    def f(x: np.ndarray) -> float:
        if float(x @ x) > 0.1:
            raise ValueError("outside")
        return float(x @ x)

    function = fw.Function(f, lambda x: 2 * x, smoothness=2.0)
    assert fw.minimize(function, fw.L2Ball(1.0), np.full(3, 0.1), method="pgd").success
