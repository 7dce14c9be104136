"""The linear estimators against scikit-learn's penalised ones, CVXPY and their own promises."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import Any

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import frankwolfe as fw
from frankwolfe.estimators.completion.ratings import Ids, read_observed
from frankwolfe.estimators.constraints import constraint_set, linear_rows
from frankwolfe.estimators.host_results import is_unsolved, on_host
from frankwolfe.estimators.linear_files import Column
from frankwolfe.estimators.parameters import with_parameters
from frankwolfe.estimators.radius_search import choose
from frankwolfe.estimators.scaling import Moments, Scaling
from frankwolfe.objectives import CLASSIFICATION, REGRESSION

RNG = np.random.default_rng(11)
N, D, K = 120, 6, 3
X = RNG.standard_normal((N, D)) + np.array([2, 0, 0, -1, 0, 0])
TRUTH = np.array([1.5, -2.0, 0.0, 0.0, 1.0, 0.0])
BINARY = X @ TRUTH + 1.5 * RNG.standard_normal(N) > 3
CLASSES = np.argmax(X @ RNG.standard_normal((D, K)) + 2 * RNG.standard_normal((N, K)), axis=1)
TARGET = X @ TRUTH + 5 + RNG.standard_t(2, N)
W = RNG.integers(1, 4, N).astype(float)


@pytest.mark.parametrize("weights", [None, W], ids=["plain", "weighted"])
@pytest.mark.parametrize("y", [BINARY, CLASSES], ids=["binary", "multinomial"])
def test_l2_ball_is_the_ridge_penalty(y: np.ndarray, weights: np.ndarray | None) -> None:
    share = np.full(N, 1 / N) if weights is None else weights / weights.sum()
    penalised = LogisticRegression(C=0.3, tol=1e-10, max_iter=10_000)
    penalised.fit(X, y, sample_weight=weights)
    radius = float(np.linalg.norm(penalised.coef_))
    ours = fw.FrankWolfeClassifier("l2", radius=radius, tol=1e-12).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(ours.coef_, penalised.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.predict_proba(X), penalised.predict_proba(X), atol=1e-4)
    codes = np.searchsorted(ours.classes_, y)
    loss = [-share @ m.predict_log_proba(X)[np.arange(N), codes] for m in (ours, penalised)]
    assert loss[0] <= loss[1] + 1e-8
    assert ours.lower_bound_ <= loss[1] + 1e-12
    assert loss[0] == pytest.approx(loss[1], abs=1e-8)
    assert ours.result_.fun == pytest.approx(loss[0], abs=1e-12)


def test_l1_ball_is_the_l1_penalty() -> None:
    elastic = {"penalty": "elasticnet"} if LogisticRegression().penalty == "l2" else {}  # before scikit-learn 1.8
    penalised = LogisticRegression(C=0.2, l1_ratio=1.0, solver="saga", tol=1e-12, max_iter=200_000, **elastic)
    penalised.fit(X, BINARY)
    radius = float(np.abs(penalised.coef_).sum())
    ours = fw.FrankWolfeClassifier("l1", radius=radius, tol=1e-10).fit(X, BINARY)
    np.testing.assert_allclose(ours.coef_, penalised.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, penalised.intercept_, atol=1e-4)
    np.testing.assert_array_equal(ours.coef_ == 0, penalised.coef_ == 0)


@pytest.mark.parametrize(("constraint", "penalised"), [("l2", Ridge(alpha=30.0)), ("l1", Lasso(alpha=0.3, tol=1e-14))])
def test_regression_is_the_penalised_one(constraint: str, penalised: Any) -> None:
    penalised.fit(X, TARGET, sample_weight=W)
    radius = float(np.linalg.norm(penalised.coef_, 2 if constraint == "l2" else 1))
    ours = fw.FrankWolfeRegressor(constraint, radius=radius, tol=1e-10).fit(X, TARGET, sample_weight=W)
    np.testing.assert_allclose(ours.coef_, penalised.coef_, atol=1e-4)
    assert ours.intercept_ == pytest.approx(penalised.intercept_, abs=1e-4)
    ours_loss, theirs = (np.average((m.predict(X) - TARGET) ** 2, weights=W) / 2 for m in (ours, penalised))
    assert ours_loss == pytest.approx(theirs, abs=1e-8)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_huber_is_what_cvxpy_finds(fit_intercept: bool) -> None:
    x, c = cp.Variable(D), cp.Variable()
    loss = 0.5 * (W / W.sum()) @ cp.huber(X @ x + (c if fit_intercept else 0) - TARGET, 0.9)
    problem = cp.Problem(cp.Minimize(loss), [cp.norm1(x) <= 2])
    problem.solve(solver="CLARABEL")
    ours = fw.FrankWolfeRegressor("l1", radius=2.0, loss="huber", delta=0.9, fit_intercept=fit_intercept, tol=1e-9)
    ours.fit(X, TARGET, sample_weight=W)
    np.testing.assert_allclose(ours.coef_, x.value, atol=1e-4)
    assert ours.result_.fun == pytest.approx(problem.value, abs=1e-7)


def test_trace_norm_across_classes_is_what_cvxpy_finds() -> None:
    x, c = cp.Variable((D, K)), cp.Variable((1, K))
    scores = X @ x + np.ones((N, 1)) @ c
    loss = cp.sum(cp.log_sum_exp(scores, axis=1)) / N - cp.sum(cp.multiply(np.eye(K)[CLASSES], scores)) / N
    problem = cp.Problem(cp.Minimize(loss), [cp.normNuc(x) <= 1.5])
    problem.solve(solver="CLARABEL")
    ours = fw.FrankWolfeClassifier("nuclear", radius=1.5, tol=1e-7, method="fcfw").fit(X, CLASSES)
    assert ours.result_.fun == pytest.approx(problem.value, abs=1e-6)
    np.testing.assert_allclose(ours.coef_, x.value.T, atol=1e-3)
    assert np.linalg.svd(ours.coef_, compute_uv=False).sum() <= 1.5 + 1e-9


CONSTRAINTS: dict[str, tuple[Any, dict[str, Any]]] = {
    "l1": ("l1", {}),
    "l2": ("l2", {}),
    "linf": ("linf", {}),
    "lp": ("lp", {"p": 1.5}),
    "ksupport": ("ksupport", {"k": 2}),
    "group": ("group", {"groups": [0, 0, 1, 1, 2, 2]}),
    "box": ("box", {"lower": 0.0, "upper": [1.0, 1.0, 0.5, 1.0, 2.0, 1.0]}),
    "set": (fw.L1Ball(2.0), {}),
}


@pytest.mark.parametrize("name", CONSTRAINTS)
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_every_constraint_holds(name: str, sparse: bool) -> None:
    constraint, options = CONSTRAINTS[name]
    data = sp.csr_array(X) if sparse else X
    for model, y in (
        (fw.FrankWolfeClassifier(constraint, 1.2, tol=1e-4, **options), BINARY),
        (fw.FrankWolfeRegressor(constraint, 1.2, tol=1e-4, **options), TARGET),
    ):
        model.fit(data, y)
        domain = constraint_set(constraint, 1.2, (D,), **options)
        assert domain.contains(np.ravel(model.coef_), 1e-7)
        assert 0 <= model.gap_ <= 1e-4 * max(1.0, np.var(TARGET))
        assert model.lower_bound_ <= model.result_.fun


def test_simplex_and_groups_across_classes() -> None:
    shares = fw.FrankWolfeRegressor("simplex", radius=2.0).fit(X, TARGET)
    assert shares.coef_.min() >= 0
    assert shares.coef_.sum() == pytest.approx(2.0)
    grouped = fw.FrankWolfeClassifier("group", radius=0.4, tol=1e-5).fit(X, CLASSES)
    used = np.abs(grouped.coef_).max(axis=0) > 0
    assert 0 < used.sum() < D, "whole features are left out"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("y", [BINARY, CLASSES, TARGET], ids=["binary", "multinomial", "regression"])
def test_dtype_is_kept(dtype: type, y: np.ndarray) -> None:
    model = fw.FrankWolfeRegressor() if y is TARGET else fw.FrankWolfeClassifier()
    model.fit(X.astype(dtype), y)
    assert model.coef_.dtype == dtype
    assert np.asarray(model.intercept_).dtype == dtype
    assert model.predict(X.astype(dtype)).dtype == (dtype if y is TARGET else y.dtype)


def test_weights_of_classes() -> None:
    balanced = fw.FrankWolfeClassifier(class_weight="balanced").fit(X, BINARY)
    count = np.bincount(BINARY)
    by_hand = fw.FrankWolfeClassifier().fit(X, BINARY, sample_weight=(N / (2 * count))[BINARY.astype(int)])
    np.testing.assert_allclose(balanced.coef_, by_hand.coef_, rtol=1e-9)
    named = fw.FrankWolfeClassifier(class_weight={False: 1.0, True: 9.0}).fit(X, BINARY)
    assert named.predict(X).sum() > fw.FrankWolfeClassifier().fit(X, BINARY).predict(X).sum()


def test_warm_start_goes_on_from_the_last_solution() -> None:
    model = fw.FrankWolfeClassifier("lp", radius=2.0, p=1.3, warm_start=True, tol=1e-7).fit(X, BINARY)
    cold = model.n_iter_
    assert model.fit(X, BINARY).n_iter_ < cold
    model.set_params(radius=0.5).fit(X, BINARY)
    again = fw.FrankWolfeClassifier("lp", radius=0.5, p=1.3, tol=1e-7).fit(X, BINARY)
    assert model.result_.fun == pytest.approx(again.result_.fun, abs=2e-7)


def test_one_warning_with_the_gap() -> None:
    with pytest.warns(ConvergenceWarning, match="certified gap") as seen:
        model = fw.FrankWolfeClassifier("l1", radius=1.0, max_iter=2, method="fw").fit(X, BINARY)
    assert len(seen) == 1
    assert f"{model.gap_:.3g}" in str(seen[0].message)


def test_log_probabilities_are_accurate_in_the_tails() -> None:
    model = fw.FrankWolfeClassifier(radius=50.0).fit(X, BINARY)
    far = model.predict_log_proba(200 * X)
    assert np.isfinite(far).all()
    np.testing.assert_allclose(np.exp(far).sum(axis=1), 1.0)
    multi = fw.FrankWolfeClassifier(radius=5.0).fit(X, CLASSES)
    np.testing.assert_allclose(np.log(multi.predict_proba(X)), multi.predict_log_proba(X), atol=1e-12)
    assert multi.decision_function(X).shape == (N, K)


def test_with_the_rest_of_scikit_learn() -> None:
    frame = pd.DataFrame(X, columns=list("abcdef"))
    labels = np.where(BINARY, "yes", "no")
    pipe = make_pipeline(StandardScaler().set_output(transform="pandas"), fw.FrankWolfeClassifier("l1", 3.0))
    pipe.fit(frame, labels)
    assert list(pipe[-1].feature_names_in_) == list("abcdef")
    assert set(pipe.predict(frame)) <= {"yes", "no"}
    search = GridSearchCV(fw.FrankWolfeClassifier(tol=1e-3), {"radius": [0.5, 2.0], "constraint": ["l1", "l2"]}, cv=3)
    assert search.fit(frame, labels).best_score_ > 0.7
    assert cross_val_score(fw.FrankWolfeRegressor(radius=3.0), X, TARGET, cv=3).shape == (3,)
    calibrated = CalibratedClassifierCV(fw.FrankWolfeClassifier(radius=2.0), cv=3).fit(frame, labels)
    np.testing.assert_allclose(calibrated.predict_proba(frame).sum(axis=1), 1.0)
    twin = pickle.loads(pickle.dumps(pipe))
    np.testing.assert_array_equal(twin.predict_proba(frame), pipe.predict_proba(frame))
    assert clone(pipe[-1]).get_params() == pipe[-1].get_params()


def test_polars_comes_with_its_names() -> None:
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({name: X[:, j] for j, name in enumerate("abcdef")})
    model = fw.FrankWolfeRegressor(radius=3.0).fit(frame, TARGET)
    assert list(model.feature_names_in_) == list("abcdef")
    plain = fw.FrankWolfeRegressor(radius=3.0).fit(X, TARGET)
    np.testing.assert_allclose(model.predict(frame), plain.predict(X), rtol=1e-12)


WRONG = {
    "constraint": (lambda: fw.FrankWolfeClassifier("l3").fit(X, BINARY), ValueError, "did you mean 'lp'"),
    "constraint type": (lambda: fw.FrankWolfeClassifier(3).fit(X, BINARY), TypeError, "constraint must be one of"),
    "radius": (lambda: fw.FrankWolfeClassifier(radius=-1).fit(X, BINARY), ValueError, "radius must be"),
    "tol": (lambda: fw.FrankWolfeClassifier(tol=-1).fit(X, BINARY), ValueError, "tol must be"),
    "nuclear": (lambda: fw.FrankWolfeClassifier("nuclear").fit(X, BINARY), ValueError, "three or more"),
    "simplex": (lambda: fw.FrankWolfeClassifier("simplex").fit(X, CLASSES), ValueError, "two classes"),
    "groups": (lambda: fw.FrankWolfeRegressor("group").fit(X, TARGET), ValueError, "needs groups="),
    "group twice": (
        lambda: fw.FrankWolfeRegressor("group", groups=[[0, 1], [1, 2, 3]]).fit(X, TARGET),
        ValueError,
        "exactly once",
    ),
    "set of another shape": (
        lambda: fw.FrankWolfeRegressor(fw.Simplex(4)).fit(X, TARGET),
        ValueError,
        "holds points of shape",
    ),
    "loss": (lambda: fw.FrankWolfeRegressor(loss="hubert").fit(X, TARGET), ValueError, "did you mean 'huber'"),
    "one class": (lambda: fw.FrankWolfeClassifier().fit(X, np.ones(N)), ValueError, "only one class"),
    "class without weight": (
        lambda: fw.FrankWolfeClassifier().fit(X, CLASSES, sample_weight=(CLASSES > 0).astype(float)),
        ValueError,
        "no sample with a positive",
    ),
    "selection": (lambda: fw.FrankWolfeRegressorCV(selection="min").fit(X, TARGET), ValueError, "'best' or 'one_se'"),
    "radii": (lambda: fw.FrankWolfeRegressorCV(radii="many").fit(X, TARGET), TypeError, "radii must be"),
    "metadata": (lambda: fw.FrankWolfeRegressorCV().fit(X, TARGET, groups=W), TypeError, "metadata_routing"),
}


@pytest.mark.parametrize("case", WRONG)
def test_errors_teach(case: str) -> None:
    run, error, message = WRONG[case]
    with pytest.raises(error, match=message):
        run()


def test_scikit_learn_is_asked_for_by_name() -> None:
    code = "import sys; sys.modules['sklearn'] = None; import frankwolfe as fw; fw.FrankWolfeClassifier"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert 'pip install "frankwolfe[sklearn]"' in out.stderr


@pytest.mark.parametrize("constraint", ["l1", "l2", "nuclear"])
def test_radius_by_cross_validation(constraint: str) -> None:
    data, labels = load_iris(return_X_y=True)
    model = fw.FrankWolfeClassifierCV(constraint, radii=5, cv=3, tol=1e-3).fit(data, labels)
    count, mean = model.radii_.size, model.scores_.mean(axis=0)
    assert model.scores_.shape == (3, count)
    assert mean[list(model.radii_).index(model.radius_)] >= mean.max() - 0.05 * abs(mean.max())
    assert (np.diff(model.radii_) > 0).all()
    assert model.coefs_paths_.shape == (3, count, 3, 4)
    assert model.score(data, labels) > 0.9
    assert constraint_set(constraint, model.radius_, (4, 3)).contains(model.result_.x, 1e-6)
    assert model.cv_results_["rank_test_score"].min() == 1


def test_held_out_scores_are_those_of_models_fitted_alone() -> None:
    from sklearn.model_selection import KFold

    radii = [0.5, 2.0, 8.0]
    options = {"radii": radii, "cv": KFold(3), "scoring": "r2", "tol": 1e-12, "standardize": False}
    model = fw.FrankWolfeRegressorCV("l2", **options).fit(X, TARGET)
    for i, (train, test) in enumerate(KFold(3).split(X)):
        for j, radius in enumerate(radii):
            alone = fw.FrankWolfeRegressor("l2", radius=radius, tol=1e-10).fit(X[train], TARGET[train])
            assert model.scores_[i, j] == pytest.approx(alone.score(X[test], TARGET[test]), abs=1e-5)  # gaps of 1e-9
    full = fw.FrankWolfeRegressor("l2", radius=model.radius_, tol=1e-10).fit(X, TARGET)
    np.testing.assert_allclose(model.coef_, full.coef_, atol=1e-5)
    assert model.score(X, TARGET) == pytest.approx(full.score(X, TARGET))


def test_one_standard_error_takes_a_smaller_radius() -> None:
    best = fw.FrankWolfeRegressorCV("l1", cv=5).fit(X, TARGET)
    spare = fw.FrankWolfeRegressorCV("l1", cv=5, selection="one_se").fit(X, TARGET)
    mean, place = spare.scores_.mean(axis=0), int(spare.scores_.mean(axis=0).argmax())
    error = spare.scores_[:, place].std(ddof=1) / 5**0.5
    assert spare.radius_ < best.radius_
    assert np.count_nonzero(spare.coef_) <= np.count_nonzero(best.coef_)
    assert mean[list(spare.radii_).index(spare.radius_)] >= mean[place] - error


def test_the_grid_spans_what_matters() -> None:
    model = fw.FrankWolfeRegressorCV("l2", radii=8).fit(X, TARGET)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    free = np.linalg.norm(np.linalg.lstsq(scaled, TARGET - TARGET.mean(), rcond=None)[0])
    assert model.radii_[0] < 0.2 * free
    assert model.radii_[-1] > 0.8 * free


def test_metadata_goes_to_splitter_and_scorer() -> None:
    import sklearn
    from sklearn.metrics import make_scorer, mean_absolute_error
    from sklearn.model_selection import GroupKFold

    seen = []

    def metric(y: Any, predicted: Any, sample_weight: Any = None) -> float:
        seen.append(sample_weight)
        return mean_absolute_error(y, predicted, sample_weight=sample_weight)

    groups = np.arange(N) % 4
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = make_scorer(metric, greater_is_better=False).set_score_request(sample_weight=True)
        model = fw.FrankWolfeRegressorCV(radii=2, cv=GroupKFold(4), scoring=scorer).set_fit_request(sample_weight=True)
        model.fit(X, TARGET, sample_weight=W, groups=groups)
    assert model.scores_.shape == (4, model.radii_.size)
    assert len(seen) == 4 * model.radii_.size
    assert all(len(weight) == 30 for weight in seen)


def test_path_plot() -> None:
    import matplotlib.pyplot as plt

    model = fw.FrankWolfeRegressorCV("l1", radii=6).fit(X, TARGET)
    left, right = model.plot_path()
    assert left.get_ylabel() == "coefficient"
    assert right.get_xlabel() == "radius"
    np.testing.assert_allclose(right.lines[0].get_ydata(), model.scores_.mean(axis=0))
    plt.close("all")
    with pytest.raises(ValueError, match="pair of matplotlib Axes"):
        model.plot_path(ax=left)
    plt.close("all")


@pytest.mark.filterwarnings("ignore:.*is the largest tried:UserWarning")  # the radii are ours, and small
@pytest.mark.parametrize("loss", [*REGRESSION, *CLASSIFICATION])
def test_every_loss_is_offered_by_its_name(loss: str) -> None:
    """A loss that is registered is fitted, scored on held-out rows and predicted from, and nothing else names it."""
    y = (np.median(TARGET) < TARGET) if loss in CLASSIFICATION else np.exp(0.3 * TARGET / np.std(TARGET))
    kind = fw.FrankWolfeClassifierCV if loss in CLASSIFICATION else fw.FrankWolfeRegressorCV
    model = kind("l2", radii=[0.1, 1.0], loss=loss, cv=2, tol=1e-3).fit(X, y)
    held_out = -model._gains(np.asarray(model._linear(X)).reshape(len(y), -1), y.astype(int) if y.dtype == bool else y)
    if loss != "quantile":  # of which the model has a smooth form
        assert np.mean(held_out) == pytest.approx(model.result_.fun, rel=0.05)
    assert model.predict(X).shape == y.shape


def test_what_estimators_are_made_of():
    ids = Ids(["ann", "bob"])
    np.testing.assert_array_equal(ids.positions(["bob", "eve"]), [1, -1])
    seen = read_observed(["ann", "bob", "bob"], [7, 7, 7], [1.0, 2.0, 4.0])
    assert (seen.users.labels, seen.items.labels, seen.values.tolist()) == (["ann", "bob"], [7], [1, 3])
    np.testing.assert_array_equal(linear_rows("zero_sum", 2)["A_eq"], [[1, 1]])
    np.testing.assert_array_equal(linear_rows("increasing", 3)["A_ub"], [[1, -1, 0], [0, 1, -1]])
    atom = constraint_set("l1", 1.0, (3,), linear="zero_sum").lmo(np.array([1.0, 0.0, -2.0]))
    np.testing.assert_allclose(atom.toarray(), [-0.5, 0, 0.5])
    assert Column("colour", ["blue", "red"]).names == ["colour=blue", "colour=red"]
    assert Column("age", fill=41.0).names == ["age"]
    radii, scores = np.array([1.0, 2.0, 3.0]), np.array([[0.1, 0.8, 0.8], [0.2, 0.9, 1.0], [0.3, 0.7, 0.7]])
    assert (choose(radii, scores, "best"), choose(radii, scores, "one_se")) == (2, 1)


def test_a_constructor_sets_what_a_class_declares():
    @with_parameters
    class Model:
        tol: float = 1e-6

    assert Model(tol=0.1).tol == 0.1  # type: ignore[call-arg]


def test_features_are_centred_and_scaled():
    X = np.array([[1.0, 100.0], [3.0, 300.0]])
    found = Scaling.of(X, None, intercept=True, standardize=True)
    np.testing.assert_allclose(found.mean, [2, 200])
    np.testing.assert_allclose(found.scale, [1, 100])
    np.testing.assert_allclose(found.apply(X), [[-1, -1], [1, 1]])
    X, share = np.array([[1.0], [2.0], [6.0]]), np.full(3, 1 / 3)
    both = Moments.of(X[:1], share[:1]) + Moments.of(X[1:], share[1:])
    np.testing.assert_allclose([both.mean, both.square], [[3], [14 / 3]])


def test_results_on_the_host_and_whether_they_are_solved():
    f, ball = fw.LeastSquares(np.eye(2), [2.0, 4.0]), fw.L2Ball(1.0)
    result = fw.minimize(f, ball, method="fw", max_iter=1)
    assert on_host(result) is result
    assert is_unsolved(result)
    assert not is_unsolved(fw.minimize(f, ball, tol=1e-30))
