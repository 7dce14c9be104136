"""Good models on data that nobody prepared: scales, radii, sparsity, and what is said when something is off."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_diabetes, load_iris, load_linnerud, load_wine, make_regression
from sklearn.linear_model import LassoCV, RidgeCV
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler

import frankwolfe as fw
from frankwolfe.estimators.screening import proven_zeros

RNG = np.random.default_rng(5)
WILD = RNG.normal(size=(300, 8)) * np.logspace(-4, 5, 8) + np.logspace(5, -4, 8)
SIGNAL = (WILD / np.logspace(-4, 5, 8)) @ np.array([1.0, -2.0, 0.0, 3.0, 0.0, 1.0, 0.0, -1.0])
NOISY = SIGNAL + 0.5 * RNG.normal(size=300)


def test_unscaled_features_are_no_trouble() -> None:
    X = RNG.normal(size=(1000, 2)) * [1000, 1]
    y = X[:, 0] / 1000 + 3 * X[:, 1] + 0.1 * RNG.normal(size=1000)
    for constraint in ("l1", "l2"):
        model = fw.FrankWolfeRegressorCV(constraint).fit(X[:500], y[:500])
        assert model.score(X[500:], y[500:]) > RidgeCV().fit(X[:500], y[:500]).score(X[500:], y[500:]) - 0.005
        np.testing.assert_allclose(model.coef_, [1e-3, 3.0], rtol=0.05)
        assert fw.FrankWolfeClassifierCV(constraint).fit(X[:500], y[:500] > 0).score(X[500:], y[500:] > 0) > 0.97


@pytest.mark.parametrize("kind", [fw.FrankWolfeRegressor, fw.FrankWolfeRegressorCV])
def test_eight_scales(kind: Any) -> None:
    raw = kind("l1").fit(WILD[:200], NOISY[:200])
    scaled = StandardScaler().fit(WILD[:200])
    best = LassoCV().fit(scaled.transform(WILD[:200]), NOISY[:200])
    assert raw.score(WILD[200:], NOISY[200:]) > best.score(scaled.transform(WILD[200:]), NOISY[200:]) - 0.01


def test_standardising_is_what_a_scaler_does() -> None:
    scaler = StandardScaler().fit(WILD)
    outside = fw.FrankWolfeRegressor("l1", 2.0, tol=1e-9).fit(scaler.transform(WILD), NOISY)
    inside = fw.FrankWolfeRegressor("l1", 2.0, tol=1e-9, standardize=True).fit(WILD, NOISY)
    np.testing.assert_allclose(inside.coef_, outside.coef_ / scaler.scale_, rtol=1e-4, atol=1e-12)
    np.testing.assert_allclose(inside.predict(WILD), outside.predict(scaler.transform(WILD)), rtol=1e-5)
    weights = RNG.integers(0, 3, len(WILD)).astype(float)
    twice = np.repeat(np.arange(len(WILD)), weights.astype(int))
    one, other = (fw.FrankWolfeRegressor("l2", 2.0, tol=1e-10, standardize=True) for _ in range(2))
    np.testing.assert_allclose(
        one.fit(WILD, NOISY, weights).coef_, other.fit(WILD[twice], NOISY[twice]).coef_, rtol=1e-3, atol=1e-9
    )


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_units_whose_squares_overflow_or_vanish_change_nothing(make: Any) -> None:
    X, units = RNG.normal(size=(60, 5)), np.array([1e305, 1.0, 1e-290, 1e-160, 1e170])
    y = X @ np.arange(5.0) + 0.1 * RNG.normal(size=60)
    plain, odd = (fw.FrankWolfeRegressorCV("l1").fit(data, y) for data in (make(X), make(X * units)))
    np.testing.assert_allclose(odd.coef_ * units, plain.coef_, rtol=1e-6, atol=1e-9)
    assert odd.score(make(X * units), y) > 0.99


def test_sparse_data_are_scaled_and_stay_sparse() -> None:
    X = sp.random(200, 30, density=0.2, random_state=0, format="csr").toarray() * np.logspace(-3, 3, 30)
    X = sp.csr_array(X)
    y = X @ (1 / np.logspace(-3, 3, 30)) + 0.05 * RNG.normal(size=200)
    dense = fw.FrankWolfeRegressorCV("l1").fit(X.toarray(), y)
    for data in (X, sp.csc_array(X)):
        model = fw.FrankWolfeRegressorCV("l1").fit(data, y)
        assert model.score(data, y) == pytest.approx(dense.score(X.toarray(), y), abs=0.01)
        assert sp.issparse(data)


def test_a_constant_column_and_one_class_of_weights_do_no_harm() -> None:
    X = np.column_stack([WILD, np.full(300, 7e8), np.zeros(300)])
    model = fw.FrankWolfeRegressorCV("l2").fit(X, NOISY)
    assert np.isfinite(model.coef_).all()
    assert model.score(X, NOISY) > 0.9


def test_the_default_radius_suits_the_data() -> None:
    X, y = load_diabetes(return_X_y=True)
    assert fw.FrankWolfeRegressor().fit(X, y).score(X, y) > 0.45
    iris, labels = load_iris(return_X_y=True)
    assert fw.FrankWolfeClassifier("l1").fit(iris, labels).score(iris, labels) > 0.95
    order = RNG.permutation(len(y))
    first, second = fw.FrankWolfeRegressor().fit(X, y), fw.FrankWolfeRegressor().fit(X[order], y[order])
    assert first.radius_ == pytest.approx(second.radius_, rel=1e-6), "the order of the rows is of no consequence"


def test_a_set_that_strangles_the_fit_says_so() -> None:
    X, y = load_diabetes(return_X_y=True)
    with pytest.warns(UserWarning, match="radius='auto'") as seen:
        fw.FrankWolfeRegressor(radius=1.0).fit(X, y)
    assert len(seen) == 1


def test_a_radius_scales_a_set() -> None:
    X, y = load_diabetes(return_X_y=True)
    found = [fw.FrankWolfeRegressor(fw.L1Ball(1.0), radius=r).fit(X, y).coef_ for r in (500.0, 1000.0)]
    np.testing.assert_allclose([np.abs(coef).sum() for coef in found], [500, 1000], rtol=1e-5)
    own = fw.FrankWolfeRegressor(fw.L1Ball(800.0)).fit(X, y)
    assert np.abs(own.coef_).sum() == pytest.approx(800, rel=1e-5)
    search = GridSearchCV(fw.FrankWolfeRegressor(fw.L1Ball(1.0), tol=1e-3), {"radius": [400.0, 800.0, 1600.0]}, cv=3)
    assert len(set(search.fit(X, y).cv_results_["mean_test_score"])) == 3


@pytest.mark.parametrize("noise", [0.0, 10.0])
def test_l1_models_are_sparse(noise: float) -> None:
    X, y, truth = make_regression(600, 150, n_informative=10, noise=noise, coef=True, random_state=0)
    model = fw.FrankWolfeRegressorCV("l1").fit(X, y)
    assert np.count_nonzero(model.coef_) <= np.count_nonzero(LassoCV().fit(X, y).coef_) + 5
    assert model.score(X, y) > 0.99
    assert set(np.flatnonzero(np.abs(truth) > 0.2 * np.abs(truth).max())) <= set(model.support_)
    assert model.proven_zero_.sum() > 75


def test_what_is_proven_to_be_zero_is_zero_at_the_optimum() -> None:
    """Against optima of high accuracy, for every set and loss that can tell, at gaps from coarse to fine."""
    rng = np.random.default_rng(3)
    A = rng.standard_normal((80, 20)) @ (np.eye(20) + 0.3 * rng.standard_normal((20, 20)))
    b = A[:, :3] @ [2.0, -1.0, 1.0] + 0.5 * rng.standard_normal(80)
    labels = np.digitize(b, [-1.5, 1.5])
    groups = fw.GroupBall(2.0, groups=np.arange(20) // 4)
    cases = [
        (fw.LeastSquares(A, b, intercept=True), fw.L1Ball(2.0)),
        (fw.LeastSquares(A + 3, b, intercept=True), fw.L1Ball(1.0)),
        (fw.Huber(A, b, delta=0.5), fw.L1Ball(2.0)),
        (fw.Logistic(A, b > 0, intercept=True, sample_weight=rng.uniform(0, 2, 80)), fw.L1Ball(1.0)),
        (fw.LeastSquares(A, b), fw.Simplex(20, radius=2.0)),
        (fw.LeastSquares(A, b, intercept=True), groups),
        (fw.Multinomial(A, labels, intercept=True), fw.L1Ball(2.0)),
    ]
    proven = 0
    for f, domain in cases:
        best = fw.minimize(f, domain, tol=1e-12)
        nonzero = np.abs(best.x) > 1e-5
        for tol in (1e-1, 1e-3, 1e-5, 1e-8):
            zeros = proven_zeros(f, domain, fw.minimize(f, domain, method="away", tol=tol))
            assert zeros is not None
            assert not (zeros & nonzero).any(), (f, domain, tol)
            proven += int(zeros.sum())
        assert zeros is not None
        assert zeros.sum() >= 5, f"a fine gap proves much: {f}, {domain}"
    assert proven > 200
    assert proven_zeros(cases[0][0], fw.L2Ball(1.0), best) is None


def test_groups_by_name() -> None:
    X, y = load_wine(return_X_y=True, as_frame=True)
    names = list(X.columns)
    by_name = fw.FrankWolfeClassifier("group", 2.0, groups={"a": names[:6], "b": names[6:]}, standardize=True, tol=1e-4)
    by_number = fw.FrankWolfeClassifier(
        "group", 2.0, groups=[list(range(6)), list(range(6, 13))], standardize=True, tol=1e-4
    )
    np.testing.assert_allclose(by_name.fit(X, y).coef_, by_number.fit(X.to_numpy(), y).coef_, atol=1e-6)
    with pytest.raises(ValueError, match="did you mean"):
        fw.FrankWolfeClassifier("group", 2.0, groups=[[*names[:12], "prolin"]]).fit(X, y)


def test_linear_constraints_on_coefficients() -> None:
    cp = pytest.importorskip("cvxpy")
    from scipy.optimize import LinearConstraint

    X = RNG.normal(size=(120, 6))
    y = X @ [1.0, -1.0, 2.0, 0.5, -0.5, 0.0] + 0.3 * RNG.normal(size=120)
    A, b = RNG.normal(size=(2, 6)), np.array([0.5, 0.5])
    x, c = cp.Variable(6), cp.Variable()
    cases: dict[str, tuple[dict[str, Any], list[Any]]] = {
        "zero sum": ({"linear": "zero_sum"}, [cp.sum(x) == 0]),
        "increasing": ({"linear": "increasing"}, [cp.diff(x) >= 0]),
        "positive": ({"positive": True}, [x >= 0]),
        "inequalities": ({"linear": {"A_ub": A, "b_ub": b}}, [A @ x <= b]),
        "scipy's": ({"linear": LinearConstraint(A, -b, b)}, [A @ x <= b, A @ x >= -b]),
        "both": ({"positive": True, "linear": "decreasing"}, [x >= 0, cp.diff(x) <= 0]),
    }
    for (name, (options, also)), (ball, norm) in product(cases.items(), (("l1", cp.norm1(x)), ("l2", cp.norm2(x)))):
        size = 3.0 if ball == "l1" else 1.2
        problem = cp.Problem(cp.Minimize(cp.sum_squares(X @ x + c - y) / 240), [norm <= size, *also])
        problem.solve(solver="CLARABEL")
        for standardize in (False, True):
            model = fw.FrankWolfeRegressor(ball, size, tol=1e-7, standardize=standardize, **options).fit(X, y)
            assert model.gap_ <= 1e-5, name
            assert all(constraint.violation().max() <= 1e-6 for constraint in _at(also, x, model.coef_)), name
            if not standardize:
                assert model.result_.fun == pytest.approx(problem.value, abs=1e-5), name
    with pytest.raises(ValueError, match="use 'l2'"):
        fw.FrankWolfeRegressor("lp", 3.0, positive=True).fit(X, y)
    with pytest.raises(ValueError, match="did you mean 'zero_sum'"):
        fw.FrankWolfeRegressor("l1", 3.0, linear="zero_sums").fit(X, y)


@pytest.mark.parametrize("constraint", ["l1", "l2", "linf", "box"])
def test_a_radius_is_found_where_linear_constraints_leave_out_small_sets(constraint: str) -> None:
    X = np.random.default_rng(3).normal(size=(60, 4)) * 10.0
    y = X @ [0.5, 0.2, 0.3, 0.0] + 0.1 * np.random.default_rng(4).normal(size=60)
    shares = {"A_eq": np.ones((1, 4)), "b_eq": [1.0]}
    model = fw.FrankWolfeRegressorCV(constraint, linear=shares).fit(X, y)
    assert model.coef_.sum() == pytest.approx(1.0)
    assert model.score(X, y) > 0.99
    if constraint != "box":  # whose bounds are taken as they are
        assert fw.FrankWolfeRegressor(constraint, linear=shares).fit(X, y).score(X, y) > 0.99


def _at(constraints: list[Any], x: Any, value: np.ndarray) -> list[Any]:
    x.value = value
    return constraints


def test_simplex_weights_sum_to_one() -> None:
    donors = RNG.normal(size=(40, 12)).cumsum(axis=0)
    weights = fw.FrankWolfeRegressor("simplex", fit_intercept=False).fit(donors, donors[:, :3] @ [0.5, 0.3, 0.2]).coef_
    np.testing.assert_allclose(weights, [0.5, 0.3, 0.2, *[0.0] * 9], atol=1e-3)


def test_several_targets_at_once() -> None:
    X, Y = load_linnerud(return_X_y=True)
    model = fw.FrankWolfeRegressor("l2", 2.0, standardize=True).fit(X, Y)
    assert model.coef_.shape == (3, 3)
    assert model.predict(X).shape == Y.shape
    alone = fw.FrankWolfeRegressor("l2", 2.0, standardize=True).fit(X, Y[:, 1])
    np.testing.assert_allclose(model.coef_[1], alone.coef_, rtol=1e-9)
    assert fw.FrankWolfeRegressorCV(radii=3, cv=3).fit(X, Y[:, :2]).radius_.shape == (2,)


def test_text_in_a_frame_is_named() -> None:
    frame = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0], "colour": ["red", "blue", "red", "blue"]})
    with pytest.raises(ValueError, match=r"text or dates in 'colour'.*get_dummies"):
        fw.FrankWolfeRegressor().fit(frame, [1.0, 2.0, 3.0, 4.0])


def test_labels_are_shown_as_people_write_them() -> None:
    with pytest.raises(ValueError, match=r"only one class, 1\.0;"):
        fw.FrankWolfeClassifier().fit(np.eye(3), np.ones(3))


def test_wide_data_with_noise_stop_in_time() -> None:
    X, y = make_regression(160, 200, n_informative=10, noise=5, random_state=0)
    model = fw.FrankWolfeRegressorCV("l2").fit(X[:100], y[:100])
    assert model.radii_.size <= 100
    ridge = RidgeCV(np.logspace(-3, 3, 13)).fit(X[:100], y[:100])
    assert model.score(X[100:], y[100:]) > ridge.score(X[100:], y[100:]) - 0.05


@pytest.mark.parametrize("loss", ["squared_error", "huber"])
def test_given_radii_that_are_all_too_small_are_told(loss: str) -> None:
    X, y = load_diabetes(return_X_y=True)
    model = fw.FrankWolfeRegressorCV("l2", radii=[1.0, 2.0], loss=loss, standardize=False)
    with pytest.warns(UserWarning, match=r"is the largest tried|hardly better than a constant"):
        model.fit(X, y)
    with pytest.warns(UserWarning, match="the best radius, 0.02, is the largest tried, and the constraint still binds"):
        fw.FrankWolfeClassifierCV("l2", radii=[0.01, 0.02]).fit(X, y > 150)


def test_the_end_of_the_range_is_where_nothing_binds() -> None:
    X, y = make_regression(200, 5, noise=1.0, random_state=1)
    model = fw.FrankWolfeRegressorCV("l2", cv=3).fit(X, y)
    free = np.linalg.norm(np.linalg.lstsq((X - X.mean(0)) / X.std(0), y - y.mean(), rcond=None)[0])
    assert model.radii_[-1] >= 0.999 * free
    assert model.radius_ >= 0.9 * free
    assert model.radii_[-1] <= 100 * free


def test_losses_of_counts_amounts_quantiles_and_margins() -> None:
    from sklearn.linear_model import GammaRegressor, PoissonRegressor

    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    line = X @ [0.5, -0.3, 0.0, 0.0] + 1
    counts, amounts, heights = rng.poisson(np.exp(line)), rng.gamma(5, np.exp(line) / 5), line + rng.normal(size=300)
    for loss, y, theirs in (
        ("poisson", counts, PoissonRegressor(alpha=0)),
        ("gamma", amounts, GammaRegressor(alpha=0)),
    ):
        ours = fw.FrankWolfeRegressor("l2", 5.0, loss=loss, tol=1e-8).fit(X, y)
        np.testing.assert_allclose(ours.coef_, theirs.fit(X, y).coef_, atol=2e-2)
        assert ours.score(X, y) == pytest.approx(theirs.score(X, y), abs=2e-3)
        with pytest.raises(ValueError, match="needs"):
            fw.FrankWolfeRegressor(loss=loss).fit(X, -1.0 - counts)
    above = fw.FrankWolfeRegressor("l2", loss="quantile", quantile=0.9).fit(X, heights)
    assert np.mean(heights <= above.predict(X)) == pytest.approx(0.9, abs=0.03)
    hinge = fw.FrankWolfeClassifier("l2", loss="squared_hinge").fit(X, line > 1)
    assert hinge.score(X, line > 1) > 0.95
    assert not hasattr(hinge, "predict_proba")
    assert sp.issparse(hinge.sparsify().coef_)
    assert hinge.predict(X).shape == (300,)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("ball", ["l1", "l2"])
@pytest.mark.parametrize("standardize", ["auto", False])
@pytest.mark.parametrize(("rows", "value"), [(11, 0.1), (20, 1.0), (80, 1.0), (80, 1e5 / 3)])
def test_features_that_never_change_get_no_part_in_a_model(make, ball, standardize, rows, value) -> None:
    rng = np.random.default_rng(rows)
    X, y = make(np.full((rows, 2), value)), rng.normal(size=rows)
    for model in (fw.FrankWolfeRegressorCV(ball, standardize=standardize), fw.FrankWolfeRegressor(ball)):
        assert np.abs(model.fit(X, y).coef_ * value).max() <= 1e-6
    model = fw.FrankWolfeClassifierCV(ball, standardize=standardize).fit(X, np.arange(rows) % 2)
    assert np.abs(model.coef_ * value).max() <= 1e-6
