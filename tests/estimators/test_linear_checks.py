"""Every linear estimator passes scikit-learn's own checks, with none expected to fail."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
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
    check(estimator)
