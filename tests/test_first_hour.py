"""What a stranger tried in the first hour, as it was tried: good models, runs that end, mistakes that are named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import frankwolfe as fw

sklearn = pytest.importorskip("sklearn")
from sklearn import datasets, linear_model  # noqa: E402
from sklearn.model_selection import train_test_split  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

RNG = np.random.default_rng(0)


def test_two_features_of_which_one_is_a_thousand_times_larger() -> None:
    X = RNG.normal(size=(2000, 2)) * [1000, 1]
    y = X[:, 0] / 1000 + 3 * X[:, 1] + 0.1 * RNG.normal(size=2000)
    train, test = slice(1500), slice(1500, None)
    assert fw.FrankWolfeRegressorCV("l2").fit(X[train], y[train]).score(X[test], y[test]) > 0.995
    assert fw.FrankWolfeClassifierCV("l2").fit(X[train], y[train] > 0).score(X[test], y[test] > 0) > 0.98


def test_wine_as_it_comes() -> None:
    X, y = datasets.load_wine(return_X_y=True)
    X, held_out, y, truth = train_test_split(X, y, random_state=0, stratify=y)
    assert fw.FrankWolfeClassifierCV("l1").fit(X, y).score(held_out, truth) > 0.95


def test_features_from_hundreds_of_a_percent_to_hundred_thousands() -> None:
    units = np.logspace(-4, 5, 8)
    X = RNG.normal(size=(400, 8)) * units
    y = (X / units) @ RNG.normal(size=8) + 0.5 * RNG.normal(size=400)
    train, test = slice(300), slice(300, None)
    scaled = make_pipeline(StandardScaler(), linear_model.RidgeCV()).fit(X[train], y[train])
    ours = fw.FrankWolfeRegressorCV("l2").fit(X[train], y[train])
    assert ours.score(X[test], y[test]) > scaled.score(X[test], y[test]) - 0.01
    for result in fw.path(fw.LeastSquares(X, y), fw.L1Ball, [1.0, 2.0, 4.0], standardize=True):
        assert result.success


def test_defaults_on_diabetes_and_digits() -> None:
    X, y = datasets.load_diabetes(return_X_y=True)
    assert fw.FrankWolfeRegressor().fit(X, y).score(X, y) > 0.45, "the default of Lasso has 0.28 there"
    X, held_out, y, truth = train_test_split(*datasets.load_digits(return_X_y=True), random_state=0)
    assert fw.FrankWolfeClassifier().fit(X, y).score(held_out, truth) > 0.95


def test_twenty_of_five_hundred_columns() -> None:
    X, y = datasets.make_regression(2000, 500, n_informative=20, random_state=0)
    for selection in ("best", "one_se"):
        model = fw.FrankWolfeRegressorCV("l1", selection=selection).fit(X, y)
        assert np.count_nonzero(model.coef_) <= 25
        assert model.proven_zero_.sum() >= 475


LOOSE: dict[str, Any] = {
    "logistic": lambda: (
        fw.Logistic(A := RNG.normal(size=(3000, 600)), A @ RNG.normal(size=600) / 10 + 2 * RNG.normal(size=3000) > 0),
        fw.L2Ball(100.0),
    ),
    "wide": lambda: (fw.LeastSquares(RNG.normal(size=(100, 2000)), RNG.normal(size=100)), fw.L2Ball(100.0)),
    "classes": lambda: (fw.Multinomial(RNG.normal(size=(200, 3)), RNG.integers(0, 5, 200)), fw.L2Ball(25.0)),
}


@pytest.mark.parametrize("case", LOOSE)
def test_loose_balls_are_solved_in_few_steps(case: str) -> None:
    result = fw.minimize(*LOOSE[case]())
    assert result.success
    assert result.n_iter <= 500


def test_a_single_method_says_that_arithmetic_allows_no_more() -> None:
    f = fw.LeastSquares(RNG.normal(size=(300, 60)), RNG.normal(size=300))
    result = fw.minimize(f, fw.L2Ball(100.0), method="subspace", tol=1e-30)
    assert result.status is fw.Status.PRECISION
    assert result.n_iter <= 500
    assert "method='auto'" in str(fw.explain(result))


def test_ridge_on_few_rows_and_many_features_is_as_good_as_theirs() -> None:
    X, y = datasets.make_regression(400, 300, n_informative=10, noise=5, random_state=0)
    ours = fw.FrankWolfeRegressorCV("l2").fit(X[:240], y[:240])
    theirs = linear_model.RidgeCV().fit(X[:240], y[:240])
    assert ours.score(X[240:], y[240:]) > theirs.score(X[240:], y[240:]) - 0.01


@pytest.mark.parametrize("method", ["away", "pairwise", "bpcg", "auto"])
def test_a_design_is_found_inside_the_domain_of_the_logarithm(method: str) -> None:
    points = np.random.default_rng(1).normal(size=(30, 5))

    def moments(x: np.ndarray) -> np.ndarray:
        return points.T @ (x[:, None] * points)

    def f(x: np.ndarray) -> float:
        sign, value = np.linalg.slogdet(moments(x))
        return -float(value) if sign > 0 else np.inf

    def grad(x: np.ndarray) -> np.ndarray:
        return -np.einsum("ij,jk,ik->i", points, np.linalg.inv(moments(x)), points)

    result = fw.minimize(fw.Function(f, grad), fw.Simplex(30), method=method, tol=1e-5)
    assert result.success, result.message


def test_a_function_that_changes_its_argument_spoils_nothing() -> None:
    def grad(x: np.ndarray) -> np.ndarray:
        x *= 2
        x -= 2
        return x

    result = fw.minimize(fw.Function(lambda x: float((x - 1) @ (x - 1)), grad), fw.L2Ball(1.0), np.zeros(3))
    np.testing.assert_allclose(result.x, np.full(3, 3**-0.5), rtol=1e-3)


def test_an_exception_of_the_user_tells_its_iteration() -> None:
    calls = []

    def f(x: np.ndarray) -> float:
        calls.append(1)
        if len(calls) > 9:
            raise KeyError("mine")
        return float(x @ x)

    with pytest.raises(KeyError, match="mine") as caught:
        fw.minimize(fw.Function(f, lambda x: 2 * x - 1), fw.L1Ball(1.0), np.zeros(3), method="fw")
    assert "in iteration" in caught.value.__notes__[0]


def test_an_oracle_that_maximises_is_named() -> None:
    class Wrong(fw.Set):
        def lmo(self, g: Any) -> Any:
            return fw.L1Ball(1.0).lmo(-g)

        def diameter(self, shape: Any) -> float:
            return 2.0

        def contains(self, x: Any, tol: float = 1e-9) -> bool:
            return bool(np.abs(x).sum() <= 1 + tol)

    with pytest.raises(ValueError, match="it seems to maximise"):
        fw.check_set(Wrong(), (5,))
    f = fw.LeastSquares(RNG.normal(size=(20, 5)), RNG.normal(size=20))
    assert fw.minimize(f, Wrong(), np.zeros(5)).status is fw.Status.WRONG_ORACLE
