"""Learning from batches: the state goes on over calls, and ends near one fit to all rows."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import scale

import frankwolfe as fw

rng = np.random.default_rng(3)
X = rng.normal(size=(400, 8))
Y = X[:, :3] @ [2.0, -1.0, 0.5] + 4.0 + 0.3 * rng.normal(size=400)


def stream(model: Any, data: Any, targets: np.ndarray, passes: int = 20, **options: Any) -> Any:
    for _ in range(passes):
        for rows in np.array_split(np.arange(len(targets)), 4):
            model.partial_fit(data[rows], targets[rows], **options)
    return model


@pytest.mark.parametrize("constraint", ["l1", "simplex"])
@pytest.mark.parametrize("loss", ["squared_error", "huber"])
def test_regression_ends_near_one_fit(constraint: str, loss: str) -> None:
    whole = fw.FrankWolfeRegressor(constraint, 2.0, loss=loss).fit(X, Y)
    model = stream(clone(whole), X, Y)
    null = np.mean((Y - Y.mean()) ** 2) / 2
    missed = np.mean((Y - model.predict(X)) ** 2) / 2 - np.mean((Y - whole.predict(X)) ** 2) / 2
    assert missed < 0.05 * null
    assert model.n_iter_ > 500
    set_ = {"l1": fw.L1Ball(2.0), "simplex": fw.Simplex(8, 2.0)}
    assert set_[constraint].contains(model.coef_, 1e-9)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_classes_end_near_one_fit(kind: Any) -> None:
    for data, labels in (load_iris(return_X_y=True), load_breast_cancer(return_X_y=True)):
        data, some = scale(data), rng.permutation(len(labels))
        data, labels = kind(data[some]), labels[some]
        whole = fw.FrankWolfeClassifier("l2", 3.0).fit(data, labels)
        model = stream(clone(whole), data, labels, classes=np.unique(labels))
        loss, best = (-np.mean(m.predict_log_proba(data)[np.arange(len(labels)), labels]) for m in (model, whole))
        assert loss < best + 0.05
        assert model.score(data, labels) > whole.score(data, labels) - 0.03


def test_the_first_batch_chooses_what_is_automatic_and_it_stays() -> None:
    wide = X * 10.0 ** np.arange(-4, 4)
    model = fw.FrankWolfeRegressor("l2").partial_fit(wide[:100], Y[:100])
    first = model.radius_
    stream(model, wide, Y)
    assert model.radius_ == first
    assert model.score(wide, Y) > 0.9


def test_pickling_and_a_plain_fit_between() -> None:
    one = fw.FrankWolfeRegressor("l1", 2.0).partial_fit(X, Y)
    two = pickle.loads(pickle.dumps(one))
    np.testing.assert_array_equal(one.partial_fit(X, Y).coef_, two.partial_fit(X, Y).coef_)
    anew = one.fit(X, Y).partial_fit(X, Y)
    np.testing.assert_array_equal(anew.coef_, fw.FrankWolfeRegressor("l1", 2.0).partial_fit(X, Y).coef_)


def test_what_it_cannot_do_is_said() -> None:
    labels = (Y.mean() < Y).astype(int)
    with pytest.raises(ValueError, match="needs classes"):
        fw.FrankWolfeClassifier("l2", 1.0).partial_fit(X, labels)
    model = fw.FrankWolfeClassifier("l2", 1.0).partial_fit(X, labels, classes=[0, 1])
    with pytest.raises(ValueError, match="not among the classes"):
        model.partial_fit(X, labels + 1)
    with pytest.raises(ValueError, match="was \\[0, 1\\] in the first call"):
        model.partial_fit(X, labels, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="balanced"):
        fw.FrankWolfeClassifier("l2", 1.0, class_weight="balanced").partial_fit(X, labels, classes=[0, 1])
    with pytest.raises(ValueError, match="bounded curvature"):
        fw.FrankWolfeRegressor("l2", 1.0, loss="poisson").partial_fit(X, Y**2)
    assert not hasattr(fw.FrankWolfeRegressorCV(), "partial_fit")
