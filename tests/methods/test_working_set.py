"""Second-order steps on the columns that matter: optimal, certified, resumable, and sparing with the data."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.properties import check_certificates, check_resumption
from tests.problems import Case

import frankwolfe as fw
from frankwolfe.kernels.rows import compact_storage
from frankwolfe.methods.second_order import growing_hessian, working_set
from frankwolfe.methods.second_order.newton import NewtonFrankWolfe
from frankwolfe.points import Point
from frankwolfe.problem import Problem

RNG = np.random.default_rng(0)
A = RNG.standard_normal((90, 260)) * (RNG.random((90, 260)) < 0.4)
TRUTH = np.where(np.arange(260) % 20 == 0, 1.0, 0.0)
Y = A @ TRUTH + 0.3 * RNG.standard_normal(90)
OBJECTIVES = {
    "logistic": lambda data: fw.Logistic(data, Y > 0),
    "logistic with intercept": lambda data: fw.Logistic(data, Y > 0, intercept=True, sample_weight=1 + (Y > 1)),
    "squares": lambda data: fw.LeastSquares(data, Y),
    "squares with ridge": lambda data: fw.LeastSquares(data, Y, ridge=0.05),
    "huber": lambda data: fw.Huber(data, Y),
}
SETS = {
    "small ball": fw.L1Ball(0.5),
    "ball": fw.L1Ball(5.0),
    "wide ball": fw.L1Ball(60.0),
    "simplex": fw.Simplex(260, 3.0),
}


def reference(objective: fw.Objective, domain: fw.Set) -> float:
    """Return the optimal value by another method, to its certificate."""
    result = fw.minimize(objective, domain, method="fcfw", tol=1e-11, max_iter=3000)
    assert result.gap <= 1e-9, result
    return result.fun


@pytest.mark.parametrize("what", OBJECTIVES)
@pytest.mark.parametrize("where", SETS)
def test_optimal_and_certified(what: str, where: str) -> None:
    objective, domain = OBJECTIVES[what](A), SETS[where]
    optimum = reference(objective, domain)
    result = fw.minimize(objective, domain, method="newton", tol=1e-9)
    assert result.success, result
    slack = 1e-12 * (1 + abs(optimum))
    assert result.lower_bound - slack <= optimum <= result.fun + 1e-9
    assert domain.contains(result.x, tol=1e-9)
    assert result.n_grad <= 15, "few scans of all columns"
    check_certificates(NewtonFrankWolfe(), Case(objective, domain, optimum), 4)


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array, np.asarray])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_any_data_compiled_or_not(form, dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    data, domain = form(A.astype(dtype)), fw.L1Ball(5.0)
    limits = {"method": "newton", "tol": 1e-7 if dtype is np.float64 else 1e-4, "max_iter": 50}
    plain = fw.minimize(fw.Logistic(data, Y > 0), domain, **limits)
    monkeypatch.setattr(compact_storage, "COMPILED_FROM", 1)
    compiled = fw.minimize(fw.Logistic(data, Y > 0), domain, **limits)
    assert plain.success
    assert compiled.success
    assert compiled.x.dtype == dtype
    np.testing.assert_allclose(compiled.fun, plain.fun, atol=2 * limits["tol"])


@pytest.mark.parametrize("what", OBJECTIVES)
@pytest.mark.parametrize("where", SETS)
@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array])
def test_by_coordinates_alone(what: str, where: str, form, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many rounds it takes, on every loss and both sets: descent, and a certificate that holds."""
    optimum = fw.minimize(OBJECTIVES[what](A), SETS[where], method="newton", tol=1e-9)
    monkeypatch.setattr(compact_storage, "COMPILED_FROM", 1)
    monkeypatch.setattr(working_set, "descends", lambda *_: True)
    result = fw.minimize(OBJECTIVES[what](form(A)), SETS[where], method="newton", tol=1e-5, max_iter=400)
    assert result.success, result
    assert result.lower_bound <= optimum.fun + 1e-12
    assert optimum.fun <= result.fun + 1e-9
    assert SETS[where].contains(result.x, tol=1e-9)
    assert (np.diff(result.trace.fun) <= 1e-12).all()


def test_coordinates_or_hessians_by_their_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many short columns few enter a Hessian cheaply; of a thousand its factors cost more than descent."""
    monkeypatch.setattr(compact_storage, "COMPILED_FROM", 1)
    wide = sp.random_array((2000, 3000), density=0.005, random_state=np.random.default_rng(2), format="csr")
    problem = Problem(fw.Logistic(wide, np.arange(2000) % 3 == 0), fw.L1Ball(1.0))
    x = problem.start(None, False)
    scan = working_set.scan_columns(problem, x, problem.evaluate(x), 1.0, first=True)
    few, many = np.arange(3000) < 30, np.arange(3000) < 2000
    assert not working_set.descends(problem, scan._replace(matter=few), 4)
    assert working_set.descends(problem, scan._replace(matter=many), 4)
    assert not working_set.descends(problem, scan._replace(matter=many), 10**6)
    dense = Problem(fw.Logistic(A, Y > 0), fw.L1Ball(1.0))
    assert not working_set.descends(dense, scan, 4)


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("values", [A, 0.5 * (A != 0)])
def test_what_sparse_data_tell_of_their_columns(form, values, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compact_storage, "COMPILED_FROM", 1)
    data, weights = fw.LeastSquares(form(values), Y).data, np.abs(Y)
    np.testing.assert_array_equal(data.lengths, np.count_nonzero(values, axis=0))
    np.testing.assert_allclose(data.squares(weights), weights @ values**2, rtol=1e-12)
    np.testing.assert_allclose(data.by_column.descent_layout.product(TRUTH), values @ TRUTH, atol=1e-12)
    assert data.turned


@given(
    shape=st.tuples(st.integers(1, 12), st.integers(201, 230)),
    radius=st.sampled_from([0.1, 2.0, 50.0]),
    density=st.sampled_from([0.0, 0.05, 0.6]),
    seed=st.integers(0, 999),
)
@settings(max_examples=12, deadline=None)
def test_odd_shapes(shape: tuple[int, int], radius: float, density: float, seed: int) -> None:
    """Also one row, empty columns, no data at all: a certificate that holds, and no more than rounding is left."""
    rng = np.random.default_rng(seed)
    data = sp.csr_array(rng.standard_normal(shape) * (rng.random(shape) < density))
    y = rng.standard_normal(shape[0])
    for objective in (fw.LeastSquares(data, y), fw.Huber(data, y, ridge=0.1)):
        result = fw.minimize(objective, fw.L1Ball(radius), method="newton", tol=1e-8, max_iter=100)
        assert result.success, result
        other = fw.minimize(objective, fw.L1Ball(radius), method="bpcg", tol=1e-8, max_iter=300)
        assert result.lower_bound <= other.fun + 1e-12
        assert other.lower_bound <= result.fun + 1e-12


@pytest.mark.parametrize("intercept", [False, True])
def test_the_model_of_the_logarithm_stays_convex(intercept: bool) -> None:
    """What newton takes off the Hessian far from the solution is less than there is."""
    f = fw.Logistic(A[:, :20], Y > 0, intercept=intercept, sample_weight=1 + (Y > 1))
    problem = Problem(f, fw.L1Ball(5.0))
    at_x, H = f.evaluate_twice(x := problem.start(0.2 * TRUTH[:20], False))
    most = f.tail(x.image) * H - np.outer(at_x.slope, at_x.slope)
    assert np.linalg.eigvalsh(most).min() >= -1e-12
    assert f.tail(x.image) >= float(at_x.value)


def test_a_state_goes_on_bit_for_bit() -> None:
    check_resumption(NewtonFrankWolfe(), Case(fw.Logistic(A, Y > 0), fw.L1Ball(5.0), 0.0), n=6)


@pytest.mark.parametrize("intercept", [False, True])
def test_the_hessian_of_squares_grows_with_the_columns(intercept: bool) -> None:
    objective = fw.LeastSquares(A, Y, intercept=intercept, ridge=0.1, sample_weight=1 + (Y > 1))
    whole = objective.evaluate_twice(Point.at(np.zeros(260)))[1]
    asked: growing_hessian.Asked = ()
    known = growing_hessian.GrowingHessian.empty(260)
    for chosen in (np.array([3, 1, 200]), np.array([1, 7]), np.arange(0, 260, 2)):
        asked = growing_hessian.with_columns(asked, chosen, 260)
        known = known.grown(objective, asked)
        np.testing.assert_allclose(known.of(objective, chosen), whole[chosen[:, None], chosen], rtol=1e-12, atol=1e-13)
    assert [some.size for some in asked] == [3, 1, 260], "each pair once, all of them in the end"
    again = growing_hessian.GrowingHessian.empty(260).grown(objective, asked[:2])
    step_by_step = growing_hessian.GrowingHessian.empty(260).grown(objective, asked[:1]).grown(objective, asked[:2])
    assert again.matrix.tobytes() == step_by_step.matrix.tobytes()


def test_squares_go_on_bit_for_bit() -> None:
    check_resumption(NewtonFrankWolfe(), Case(fw.LeastSquares(A, Y, intercept=True), fw.L1Ball(20.0), 0.0), 6)


def test_only_what_is_worth_it_joins() -> None:
    problem = Problem(fw.Logistic(A, Y > 0), fw.L1Ball(5.0))
    x = problem.start(None, False)
    at_x = problem.evaluate(x)
    gap = float(at_x.inner) + 5.0 * float(np.abs(at_x.slope).max())
    chosen = working_set.columns(x, working_set.scan_columns(problem, x, at_x, gap, first=True))
    assert chosen.size == working_set.FIRST
    left = np.setdiff1d(np.arange(260), chosen)
    assert np.abs(at_x.slope[chosen]).min() >= np.abs(at_x.slope[left]).max()
    part = working_set.restricted(problem, chosen)
    z = part.down(x)
    assert part.problem.value(z) == pytest.approx(float(at_x.value))
    np.testing.assert_array_equal(part.up(z).coords, x.coords)
    np.testing.assert_allclose(part.problem.evaluate(z).slope, at_x.slope[chosen], atol=1e-14)


def test_more_variables_than_a_hessian_could_hold() -> None:
    """A hundred thousand columns, a handful in use: the other sets still refuse."""
    rng = np.random.default_rng(1)
    wide = sp.random_array((60, 100_000), density=0.002, random_state=rng, format="csr")
    y = wide[:, [0]].toarray()[:, 0] + wide @ np.where(np.arange(100_000) < 50, 3.0, 0.0)
    f = fw.LeastSquares(wide, y)
    result = fw.minimize(f, fw.L1Ball(4.0), method="newton", tol=1e-8)
    assert result.success
    assert np.count_nonzero(result.x) < 200
    with pytest.raises(ValueError, match="p x p Hessian"):
        fw.minimize(f, fw.LInfBall(4.0), method="newton")


def test_auto_takes_them_where_columns_are_many() -> None:
    result = fw.minimize(fw.Logistic(A, Y > 0), fw.L1Ball(5.0))
    assert result.method == "newton"
    assert "columns matter" in result.reason


def test_a_step_that_closes_the_gap_rests_once() -> None:
    """The point that the certificate is about is the one returned; a loop that is not satisfied gets a step."""
    objective, domain = fw.Logistic(A, Y > 0), fw.L1Ball(5.0)
    for method in ("newton", "subspace"):
        where = domain if method == "newton" else fw.L2Ball(5.0)
        result = fw.minimize(objective, where, method=method, tol=1e-4)
        assert result.trace.fun[-1] == pytest.approx(result.trace.fun[-2], abs=1e-13)
        problem = Problem(objective, where, goal=np.inf)
        step = fw.methods.named(method)
        state = step.init(problem, problem.start(None, False))
        rested, _ = step.step(problem, state)
        moved, _ = step.step(problem, rested)
        assert rested.x is state.x
        assert moved.x is not state.x
        assert not moved.rested


@pytest.mark.parametrize("seed", range(4))
def test_columns_are_solved_on_where_no_other_matters(seed: int) -> None:
    """Three columns of 400 tell everything: a step ends at most a hundredth of a hundredth of the gap from there."""
    rng = np.random.default_rng(seed)
    data = rng.standard_normal((600, 400))
    data[:, 3:] *= 0.5 * (rng.random((600, 397)) < 0.1)
    labels = data[:, :3] @ [3.0, -2.0, 1.0] + rng.standard_normal(600) > 0
    objective, domain = fw.Logistic(sp.csr_array(data), labels), fw.L1Ball(8.0)
    problem = Problem(objective, domain, goal=1e-12)
    start, method = problem.start(None, dense=True), NewtonFrankWolfe()
    gap = domain.radius * float(np.abs(problem.evaluate(start).slope).max())
    x = method.step(problem, method.init(problem, start))[0].x.array
    slope, used = objective.grad(x), x != 0
    assert 0 < np.count_nonzero(used) < working_set.FIRST
    left = float(slope @ x) + domain.radius * float(np.abs(slope[used]).max())
    assert left <= working_set.REST**3 * gap  # the last step from there gains a hundred times more
