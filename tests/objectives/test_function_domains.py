"""Functions that are defined on a part of the set only: every search stays where they are finite."""

from __future__ import annotations

import numpy as np
import pytest

import frankwolfe as fw

RNG = np.random.default_rng(0)
POINTS = RNG.standard_normal((12, 3))
RETURNS = np.exp(0.2 * RNG.standard_normal((30, 5)))
COSTS = RNG.uniform(0.5, 2.0, size=6)


def log_det(x):
    """Minus the log of a determinant; an exception outside, as Cholesky's method has it."""
    return -2 * float(np.log(np.diag(np.linalg.cholesky(POINTS.T @ (x[:, None] * POINTS)))).sum())


def log_det_slope(x):
    return -np.einsum("ij,jk,ik->i", POINTS, np.linalg.inv(POINTS.T @ (x[:, None] * POINTS)), POINTS)


def judged(name, cp):
    if name == "log det":
        x = cp.Variable(12, nonneg=True)
        return cp.Problem(cp.Minimize(-cp.log_det(POINTS.T @ cp.diag(x) @ POINTS)), [cp.sum(x) == 1])
    if name == "log utility":
        x = cp.Variable(5, nonneg=True)
        return cp.Problem(cp.Minimize(-cp.sum(cp.log(RETURNS @ x)) / 30), [cp.sum(x) == 1])
    x = cp.Variable(6, nonneg=True)
    if name == "1/x":
        return cp.Problem(cp.Minimize(COSTS @ cp.inv_pos(x)), [cp.sum(x) == 1])
    return cp.Problem(cp.Minimize(-cp.sum(cp.log(x)) + COSTS @ x), [x <= 1])


# Infinity, NaN or an exception outside, and a gradient that is finite there all the same.
CASES = {
    "log det": (fw.Function(log_det, log_det_slope), fw.Simplex(12)),
    "log utility": (
        fw.Function(lambda x: -float(np.log(RETURNS @ x).mean()), lambda x: -RETURNS.T @ (1 / (RETURNS @ x)) / 30),
        fw.Simplex(5),
    ),
    "1/x": (
        fw.Function(
            lambda x: float((COSTS / x).sum()) if np.all(x > 0) else float("nan"), lambda x: -COSTS / np.square(x)
        ),
        fw.Simplex(6),
    ),
    "log on a box": (
        fw.Function(lambda x: -float(np.log(x).sum()) + float(COSTS @ x), lambda x: -1 / x + COSTS),
        fw.Box(np.zeros(6), np.ones(6)),
    ),
}
LINEAR = ["auto", "away", "pairwise", "bpcg", "bcg", "lazy"]
SEARCHES = [fw.AcceleratedFrankWolfe(line_search=True), fw.FrankWolfe(fw.Backtracking())]
SLOW = ["fw", "afw", "extrafw", "hfw", "boosted", *SEARCHES]


@pytest.fixture(scope="module")
def optima():
    cp = pytest.importorskip("cvxpy")
    return {name: float(judged(name, cp).solve()) for name in CASES}


@pytest.mark.parametrize("method", LINEAR)
@pytest.mark.parametrize("name", CASES)
def test_fast_methods_find_the_optimum(name, method, optima) -> None:
    objective, domain = CASES[name]
    result = fw.minimize(objective, domain, method=method, tol=1e-5)
    assert result.success
    assert result.fun == pytest.approx(optima[name], abs=2e-5)
    assert result.lower_bound <= optima[name] + 1e-4


@pytest.mark.parametrize("method", SLOW, ids=str)
@pytest.mark.parametrize("name", CASES)
def test_slow_methods_stay_inside_and_get_near(name, method, optima) -> None:
    objective, domain = CASES[name]
    start = fw.minimize(objective, domain, method=method, max_iter=0)
    result = fw.minimize(objective, domain, method=method, max_iter=200)
    assert result.status in (fw.Status.MAX_ITER, fw.Status.OPTIMAL)
    assert np.all(np.isfinite(result.trace.fun))
    assert result.lower_bound <= optima[name] + 1e-6 <= result.fun + 2e-6
    assert result.fun - optima[name] <= max(0.2 * (start.fun - optima[name]), 1e-2 * abs(optima[name]))


def test_a_start_outside_is_named() -> None:
    objective, domain = CASES["1/x"]
    with np.errstate(all="ignore"):
        result = fw.minimize(objective, domain, np.eye(6)[0], method="fw")
    assert result.status is fw.Status.NOT_FINITE
    assert "x0" in result.message


def test_an_edge_inside_the_set_is_not_crossed() -> None:
    """A function that ends in the middle of the set, not at its boundary."""
    f = fw.Function(
        lambda x: -float(np.log(1 - x.sum())) - 2 * float(x[0]), lambda x: 1 / (1 - x.sum()) - 2 * np.eye(2)[0]
    )
    for method in ("fw", "afw", "pairwise", "auto"):
        result = fw.minimize(f, fw.Box(np.zeros(2), np.full(2, 5.0)), method=method, max_iter=500)
        assert result.fun == pytest.approx(-1 + np.log(2), abs=1e-2)
