"""The exact path of squared loss: against the solvers, against scikit-learn, and never without a small gap."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_diabetes, make_regression
from sklearn.linear_model import LassoCV
from sklearn.model_selection import KFold, LeaveOneOut, ShuffleSplit

import frankwolfe as fw
from frankwolfe.estimators import squared_search as module
from frankwolfe.estimators.squared_search import LassoPaths, RidgePaths

RNG = np.random.default_rng(11)
X = RNG.normal(size=(90, 12)) @ (np.eye(12) + 0.5 * RNG.normal(size=(12, 12)))
Y = X[:, :3] @ [3.0, -2.0, 1.0] + RNG.normal(size=90)
WIDE = RNG.normal(size=(15, 30))
TWINS = np.column_stack([X, X[:, 0], 0 * X[:, 0]])


@pytest.mark.parametrize(("path_of", "ball"), [(LassoPaths, fw.L1Ball), (RidgePaths, fw.L2Ball)])
@pytest.mark.parametrize("data", [X, WIDE, TWINS], ids=["tall", "wide", "equal columns"])
def test_every_radius_is_the_optimum(path_of: Any, ball: Any, data: np.ndarray) -> None:
    targets = Y[: len(data)]
    f = fw.LeastSquares(data, targets)
    n = len(data)
    moments = data.T @ data / n, data.T @ targets / n, targets @ targets / n
    path = path_of(
        *(
            np.stack([np.ones_like(one), one]) if np.ndim(one) < 2 else np.stack([np.eye(len(one)), one])
            for one in moments
        )
    )
    null, radii = path.null[1], np.geomspace(0.01, 100.0, 9)
    models = path.at_radii(radii)
    np.testing.assert_allclose(path.fun(models)[1], [f.value(x) for x in models[1]], rtol=1e-9, atol=1e-12)
    for x, radius, gap in zip(models[1], radii, path.gaps(models, radii)[1], strict=True):
        best = fw.minimize(f, ball(radius), tol=1e-10)
        assert ball(radius).contains(x, 1e-9)
        assert best.lower_bound - 1e-9 <= f.value(x) <= best.fun + gap + 1e-9
        assert gap <= 1e-6 * null or (data is TWINS and ball is fw.L1Ball), "least angles need columns that differ"
    if data is TWINS:
        return
    prices = path.prices(20)
    bought = path.at_prices(prices)
    np.testing.assert_allclose(path.at_radii(path.norms(bought)[1])[1], bought[1], rtol=1e-6, atol=1e-7)
    assert path.fun(bought)[1, -1] <= path.fun(path.at_radii(np.array([1e9])))[1, 0] + 1e-6 * null


@pytest.mark.filterwarnings("ignore:.*is the largest tried:UserWarning")  # the radii are ours, and small
@pytest.mark.parametrize("constraint", ["l1", "l2"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_folds_are_scored_as_one_by_one(
    constraint: str, intercept: bool, weighted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = RNG.uniform(0.5, 2, len(Y)) if weighted else None
    model = fw.FrankWolfeRegressorCV(constraint, radii=[0.5, 2.0, 5.0], fit_intercept=intercept, tol=1e-9)
    exact = model.fit(X + 3, Y, weights)
    assert exact.result_.n_iter <= 2, "the solution is known"
    found = [exact.scores_, exact.coefs_paths_, exact.coef_, exact.intercept_, exact.cv_score_]
    monkeypatch.setattr(module, "PATHS", {})
    slow = model.fit(X + 3, Y, weights)
    for one, other in zip(found, (slow.scores_, slow.coefs_paths_, slow.coef_, slow.intercept_), strict=False):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-3)
    if not weighted:
        assert found[-1] == pytest.approx(slow.cv_score_, abs=1e-4)


def test_sparse_single_precision_and_any_folds() -> None:
    dense = X * (RNG.uniform(size=X.shape) < 0.4)
    for cv in (KFold(4), ShuffleSplit(3, random_state=0), [(np.arange(60), np.arange(60, 90))]):
        first = fw.FrankWolfeRegressorCV("l1", cv=cv, standardize=False).fit(dense, Y)
        for data in (sp.csr_array(dense), sp.csc_array(dense), dense.astype(np.float32)):
            other = fw.FrankWolfeRegressorCV("l1", cv=cv, standardize=False).fit(data, Y)
            assert other.radius_ == pytest.approx(first.radius_, rel=0.05)
            np.testing.assert_allclose(other.predict(data), first.predict(dense), atol=0.2)


def test_scoring_by_the_caller() -> None:
    model = fw.FrankWolfeRegressorCV("l2", scoring="r2", cv=3).fit(X, Y)
    assert model.scores_.shape == (3, len(model.radii_))
    assert model.scores_.mean(axis=0).max() == pytest.approx(model.cv_score_, abs=1e-9)


def test_sparse_as_the_lasso_and_as_good() -> None:
    data, targets = make_regression(1400, 300, n_informative=20, noise=10, random_state=0)
    train, test = slice(700), slice(700, None)
    model = fw.FrankWolfeRegressorCV("l1").fit(data[train], targets[train])
    lasso = LassoCV().fit(data[train], targets[train])
    assert np.count_nonzero(model.coef_) <= 1.1 * np.count_nonzero(lasso.coef_)
    assert model.score(data[test], targets[test]) >= lasso.score(data[test], targets[test]) - 1e-3
    assert len(model.support_) <= np.count_nonzero(model.coef_) + 5, "nearly all other columns are proven to be zero"
    few = fw.FrankWolfeRegressorCV("l1", selection="one_se").fit(data[train], targets[train])
    assert np.count_nonzero(few.coef_) < np.count_nonzero(model.coef_)


def test_a_path_that_ends_early_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    data, targets = load_diabetes(return_X_y=True)
    whole = fw.FrankWolfeRegressorCV("l1").fit(data, targets)

    def short(*args: Any, **options: Any) -> Any:
        return module_path(*args, **{**options, "max_iter": 2})

    module_path = module.lars_path_gram
    monkeypatch.setattr(module, "lars_path_gram", short)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        other = fw.FrankWolfeRegressorCV("l1").fit(data, targets)
    assert other.score(data, targets) == pytest.approx(whole.score(data, targets), abs=0.01)
    assert other.gap_ <= 1e-3 * np.var(targets)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_with_fewer_rows_than_features_folds_are_solved_in_their_span(kind: Any) -> None:
    targets, radii = Y[:15], [0.1, 1.0, 5.0]
    folds = [(np.delete(np.arange(15), part), part) for part in (np.arange(5), np.arange(5, 10), np.arange(10, 15))]
    model = fw.FrankWolfeRegressorCV("l2", radii=radii, cv=folds, standardize=False).fit(kind(WIDE), targets)
    for (train, test), scores in zip(folds, model.scores_, strict=True):
        for radius, score in zip(radii, scores, strict=True):
            f = fw.LeastSquares(WIDE[train], targets[train], intercept=True)
            x = fw.minimize(f, fw.L2Ball(radius), tol=1e-12).x
            off = WIDE[test] @ x + np.mean(targets[train] - WIDE[train] @ x) - targets[test]
            assert -score == pytest.approx(float(np.mean(off**2)) / 2, rel=1e-4)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kind", [np.asarray, sp.csc_array])
def test_few_rows_of_very_many_features_are_worked_on_as_rows(
    kind: Any, intercept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, weight = kind(np.where(RNG.random((25, 60)) < 0.5, RNG.normal(size=(25, 60)), 0.0)), RNG.random(25) + 0.5
    target = data @ np.r_[3.0, -2.0, np.zeros(58)] + 0.1 * RNG.normal(size=25) + 5.0
    drawn = RNG.integers(25, size=40)  # some rows twice, as in a bootstrap
    folds = [*KFold(4).split(data), (drawn, np.setdiff1d(np.arange(25), drawn))]
    model = fw.FrankWolfeRegressorCV("l1", fit_intercept=intercept, cv=folds)
    by_moments = model.fit(data, target, weight)
    path = {name: np.array(getattr(by_moments, name)) for name in ("radii_", "scores_", "coefs_paths_", "coef_")}
    monkeypatch.setattr(module, "READS", 50)
    monkeypatch.setattr(module, "_second_moments", None)  # which are never made
    by_rows = model.fit(data, target, weight)
    for name, before in path.items():
        np.testing.assert_allclose(getattr(by_rows, name), before, rtol=1e-6, atol=1e-7)


def test_very_many_features_and_few_rows_are_predicted_as_well_as_by_the_lasso() -> None:
    ours, theirs = [], []
    for seed in range(4):
        data, target = make_regression(140, 1500, n_informative=8, noise=3.0, random_state=seed)
        model = fw.FrankWolfeRegressorCV("l1", standardize=False).fit(data[:60], target[:60])
        assert len(model.radii_) > 90, "the exact path"
        ours.append(model.score(data[60:], target[60:]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs.append(LassoCV().fit(data[:60], target[:60]).score(data[60:], target[60:]))
    assert np.mean(ours) >= np.mean(theirs) - 0.01


@pytest.mark.parametrize("unit", [1e-150, 1e-8, 1e8, 1e140])
@pytest.mark.parametrize("constraint", ["l1", "l2"])
def test_units_of_targets_change_nothing_but_the_units(constraint: str, unit: float) -> None:
    here, there = (fw.FrankWolfeRegressorCV(constraint).fit(X, scale * Y) for scale in (1.0, unit))
    np.testing.assert_allclose(there.coef_, unit * here.coef_, rtol=1e-6)
    assert there.radius_ == pytest.approx(unit * here.radius_, rel=1e-6)


def test_held_out_rows_that_do_not_differ_have_no_share_explained() -> None:
    X, y = make_regression(20, 3, noise=5.0, random_state=0)
    model = fw.FrankWolfeRegressorCV(cv=LeaveOneOut()).fit(X, y + 1000.0)
    assert np.isnan(model.cv_score_)
    assert np.isfinite(model.scores_).all()
