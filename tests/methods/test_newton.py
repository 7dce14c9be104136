"""The second-order method on data of either form."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from tests.methods.properties import check_resumption
from tests.problems import Case, logistic_data

import frankwolfe as fw
from frankwolfe.methods.second_order import newton
from frankwolfe.methods.second_order.newton import NewtonFrankWolfe


def test_newton_on_sparse_and_dense_data_alike() -> None:

    A, b = logistic_data()
    A = A * (np.abs(A) > 0.8)
    for domain in (fw.L1Ball(2.0), fw.L2Ball(2.0)):
        sparse, full = (
            fw.minimize(fw.Logistic(M, b, ridge=0.01), domain, method=NewtonFrankWolfe(), tol=1e-9, max_iter=40)
            for M in (csr_array(A), A)
        )
        assert sparse.success
        np.testing.assert_allclose(sparse.x, full.x, atol=1e-6)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("domain", [fw.L2Ball(3.0), fw.L1Ball(5.0), fw.Simplex(20, radius=4.0), fw.Box(-0.4, 0.4)])
def test_a_hessian_serves_for_several_steps_where_it_costs_more(domain, intercept, monkeypatch) -> None:
    monkeypatch.setattr(newton, "PAIR", {True: 1e9, False: 1e9})  # the more a Hessian costs, the longer it serves
    rng = np.random.default_rng(3)
    A = rng.standard_normal((400, 20)) + 0.5
    f = fw.Logistic(A, A @ rng.standard_normal(20) + rng.standard_normal(400) > 0, intercept=intercept)
    formed = []
    expansion = newton._expansion
    monkeypatch.setattr(newton, "_expansion", lambda *given: formed.append(1) or expansion(*given))
    result = fw.minimize(f, domain, method="newton", tol=1e-9)
    monkeypatch.setattr(newton, "lasts", lambda *_: False)
    afresh = fw.minimize(f, domain, method="newton", tol=1e-9)
    assert result.success
    assert len(formed) < result.n_iter + afresh.n_iter - 2
    np.testing.assert_allclose(result.x, afresh.x, atol=1e-4)
    assert fw.verify(result, f, domain).ok
    monkeypatch.undo()
    monkeypatch.setattr(newton, "PAIR", {True: 1e9, False: 1e9})
    check_resumption(NewtonFrankWolfe(), Case(f, domain, None), 6)


def test_no_gradient_is_computed_twice() -> None:
    """Where a step turns out to need a Hessian after all, f and gradient are known."""
    rng = np.random.default_rng(3)
    A = rng.standard_normal((400, 20)) + 0.5
    f = fw.Logistic(A, A @ rng.standard_normal(20) + rng.standard_normal(400) > 0, intercept=True)
    seen = []
    evaluate = f.data.sweep
    f.data.sweep = lambda model, query: seen.append(query.y) or evaluate(model, query)
    result = fw.minimize(f, fw.L2Ball(3.0), method="newton", tol=1e-9)
    assert result.success
    assert len(seen) == result.n_grad == result.n_iter


def test_a_kept_hessian_learns_from_the_gradient() -> None:
    """On a quadratic the curvature along a step is right afterwards, and no direction becomes concave."""
    rng = np.random.default_rng(0)
    M = rng.standard_normal((9, 5))
    H, step = M.T @ M, rng.standard_normal(5)
    learnt = newton.Bend(np.eye(5), np.zeros(5), np.zeros(5)).at(H @ step, step)
    np.testing.assert_allclose(learnt @ step, H @ step, atol=1e-12)
    assert np.linalg.eigvalsh(learnt)[0] > 0


def degenerate(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Return rows with a column of zeros, two that are equal, one far larger than the others."""
    A = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.3)
    A[:, 1], A[:, 2], A[:, 3] = 0.0, A[:, 0], 1e3 * A[:, 4]
    return A


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(("n", "d"), [(300, 20), (15, 40), (200, 600), (900, 700)])
def test_least_squares_takes_one_model(n: int, d: int, intercept: bool) -> None:
    """The model is f itself: factored, or, of more than 500 variables on a ball, known by products alone."""
    rng = np.random.default_rng(n + d)
    A = degenerate(rng, n, d)
    b = A[:, :9] @ rng.standard_normal(9) + 0.01 * rng.standard_normal(n) + 3.0
    for radius in (0.5, 20.0):
        f = fw.LeastSquares(A, b, ridge=1e-3, intercept=intercept)
        result = fw.minimize(f, fw.L2Ball(radius), method="newton", tol=1e-6)
        assert result.success
        assert result.n_iter <= 4
        x, g = result.x, f.grad(result.x)
        assert np.linalg.norm(x) <= radius * (1 + 1e-12)
        assert float(g @ x) + radius * np.linalg.norm(g) <= 2e-6  # what the certificate says
        other = fw.minimize(csr_least_squares(A, b, intercept), fw.L2Ball(radius), tol=1e-6)
        assert abs(other.fun - result.fun) <= 2e-6


def csr_least_squares(A: np.ndarray, b: np.ndarray, intercept: bool) -> fw.LeastSquares:
    return fw.LeastSquares(csr_array(A), b, ridge=1e-3, intercept=intercept)


def test_a_good_fit_is_found_at_once() -> None:
    """Where f is next to nothing the gap exceeds it for long: the model is solved for what it gains all the same."""
    rng = np.random.default_rng(5)
    A = (rng.random((400, 30)) < 0.3).astype(float)
    x = rng.standard_normal(30)
    b = A @ x + 1e-3 * rng.standard_normal(400)
    for domain in (fw.L2Ball(np.linalg.norm(x)), fw.L1Ball(np.abs(x).sum()), fw.Simplex(30, radius=8.0)):
        result = fw.minimize(fw.LeastSquares(A, b), domain, tol=1e-9)
        assert result.success
        assert result.n_iter <= 4, domain


def test_nearly_separable_rows() -> None:
    """The gap exceeds the loss at every step: no model may be solved too roughly for what it gains."""
    rng = np.random.default_rng(6)
    A = rng.standard_normal((300, 8))
    b = np.where(A @ rng.standard_normal(8) > 0, 1.0, -1.0)
    for domain in (fw.L2Ball(60.0), fw.L1Ball(120.0)):
        result = fw.minimize(fw.Logistic(A, b), domain, tol=1e-9)
        assert result.success
        assert result.n_iter <= 40, domain


@pytest.mark.parametrize("shift", [0.0, 5.0])
@pytest.mark.parametrize("domain", [fw.L2Ball(100.0), fw.L1Ball(50.0)], ids=["l2", "l1"])
@pytest.mark.parametrize("intercept", [False, True])
def test_single_precision_reaches_optima_inside_large_balls(domain, intercept, shift):
    """There the gap is |gradient| times a large radius: less than single precision tells of either."""
    rng = np.random.default_rng(0)
    A = (rng.standard_normal((5000, 10)) + shift).astype(np.float32)
    y = (A - shift) @ rng.standard_normal(10) + 3 * rng.standard_normal(5000) > 0
    result = fw.minimize(fw.Logistic(A, y, intercept=intercept), domain, method="newton", tol=5e-7)
    best = fw.minimize(fw.Logistic(A.astype(np.float64), y, intercept=intercept), domain, tol=1e-11)
    assert result.x.dtype == np.float32
    assert result.status is fw.Status.OPTIMAL
    assert result.n_iter <= 30
    assert result.lower_bound <= best.fun


@pytest.mark.parametrize("domain", [fw.Simplex(5), fw.L1Ball(0.3), fw.L2Ball(0.3), fw.Box(-0.1, 0.1)], ids=repr)
def test_a_quadratic_has_no_rows_to_leave_out(domain):
    A = np.random.default_rng(0).standard_normal((20, 5))
    result = fw.minimize(fw.Quadratic(A.T @ A, -A[0]), domain, method="newton", tol=1e-9)
    assert result.success


def test_a_step_whose_gain_is_less_than_rounding_is_taken() -> None:
    """A column of 1e5 and a free intercept cancel: f is known to fewer digits than the gap asks for."""
    rng = np.random.default_rng(1)
    A = rng.standard_normal((1500, 8))
    A[:, 0] = 1e5 * (1 + 0.1 * rng.standard_normal(1500))
    margins = A[:, 1:] @ rng.standard_normal(7) + 5e-5 * (A[:, 0] - 1e5)
    f = fw.Logistic(A, margins + 2 * rng.standard_normal(1500) > 0, intercept=True)
    result = fw.minimize(f, fw.L2Ball(1.0), method="newton", tol=1e-7)
    assert result.success
    assert result.gap <= 1e-7
