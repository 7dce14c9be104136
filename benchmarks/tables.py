"""Default estimators on raw tables against scikit-learn's own with a StandardScaler: held-out score and time.

python -m benchmarks tables [--quick]

Every table ships with scikit-learn and is taken as it is, unscaled. Scores are means over held-out thirds, the same for
all; times are CPU seconds of all fits. The default, an l2 ball, is held against the best score of all; each ball is
timed beside the penalty that it stands for: RidgeCV and LogisticRegressionCV as it is, LassoCV and LogisticRegressionCV
with an l1 penalty.
"""

from __future__ import annotations

import warnings
from time import process_time
from typing import Any

import numpy as np
from sklearn import datasets as tables
from sklearn.linear_model import LassoCV, LogisticRegressionCV, RidgeCV
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import frankwolfe as fw
from benchmarks.report import command_line, held_to

BALLS, PEERS = ("l2", "l1"), ("ridge", "lasso")
POINTS = {"accuracy": 0.005, "R²": 0.01}  # how far below the best of scikit-learn's


def _pairs() -> dict[str, tuple[np.ndarray, np.ndarray, bool]]:
    """Return the tables: data, targets, and whether these are classes."""
    cancer, wine, iris, digits = (
        load(return_X_y=True)
        for load in (tables.load_breast_cancer, tables.load_wine, tables.load_iris, tables.load_digits)
    )
    diabetes, body = tables.load_diabetes(return_X_y=True, scaled=False), tables.load_linnerud(return_X_y=True)
    pixels, _ = digits
    return {
        "breast cancer": (*cancer, True),
        "wine": (*wine, True),
        "iris": (*iris, True),
        "digits": (*digits, True),
        "diabetes, above the median": (diabetes[0], diabetes[1] > np.median(diabetes[1]), True),
        "diabetes": (*diabetes, False),
        "linnerud, weight": (body[0], body[1][:, 0], False),
        "breast cancer, mean radius from the texture": (cancer[0][:, 1:10], cancer[0][:, 0], False),
        "wine, proline": (wine[0][:, :-1], wine[0][:, -1], False),
        "iris, petal width": (iris[0][:, :3], iris[0][:, 3], False),
        "digits, a pixel from the others": (np.delete(pixels, 28, axis=1), pixels[:, 28], False),
    }


def measure(quick: bool) -> dict[str, Any]:
    """Return the table and the bars."""
    rows, bars = [], []
    for name, (X, y, classes) in _pairs().items():
        if quick and name == "digits":
            continue
        splitter = StratifiedShuffleSplit if classes else ShuffleSplit
        parts = list(splitter(4 if quick or name == "digits" else 20, test_size=1 / 3, random_state=0).split(X, y))
        models = _models(classes, len(np.unique(y)) if classes else 0)
        found = {label: _scores(model, X, y, parts) for label, model in models.items()}
        score = "accuracy" if classes else "R²"
        best = max(PEERS, key=lambda label: found[label][0])
        rows.append(
            [name, X.shape[0], X.shape[1], *(f"{found[label][0]:.4f} {found[label][1]:.2f} s" for label in models)]
        )
        bars.append(
            held_to(
                f"{name}: {score} of the default below the best of scikit-learn's ({best})",
                found[best][0] - found["l2"][0],
                POINTS[score],
                "<=",
                score,
            )
        )
        bars += [
            held_to(f"{name}: time of {ours} beside {theirs}", found[ours][1] / max(found[theirs][1], 1e-9), 1.0, "<=")
            for ours, theirs in zip(BALLS, PEERS, strict=True)
        ]
    return {
        "title": "Default estimators on raw tables, beside scikit-learn's with a StandardScaler",
        "columns": ["table", "rows", "columns", *BALLS, *PEERS],
        "rows": rows,
        "bars": bars,
        "notes": [
            f"Scores are means over held-out thirds, seconds CPU time of all fits, {4 if quick else 20} (digits: 4).",
            "Ridge and lasso are RidgeCV and LassoCV; of classes, LogisticRegressionCV with these penalties.",
        ],
    }


def _models(classes: bool, labels: int) -> dict[str, Any]:
    kind = fw.FrankWolfeClassifierCV if classes else fw.FrankWolfeRegressorCV
    theirs: list[Any] = [RidgeCV(np.logspace(-3, 3, 13)), LassoCV()]
    if classes:
        solver = "liblinear" if labels == 2 else "saga"  # the faster one, where it can
        steps = 1000 if labels < 10 else 100  # minutes for each fit of the digits as it is
        options: dict[str, Any] = {"use_legacy_attributes": False}
        theirs = [
            LogisticRegressionCV(**options, l1_ratios=(0.0,), max_iter=1000),
            LogisticRegressionCV(**options, l1_ratios=(1.0,), max_iter=steps, solver=solver),
        ]
    peers = [make_pipeline(StandardScaler(), model) for model in theirs]
    return {ball: kind(ball) for ball in BALLS} | dict(zip(PEERS, peers, strict=True))


def _scores(model: Any, X: np.ndarray, y: np.ndarray, parts: list[Any]) -> tuple[float, float]:
    """Return the mean score on held-out rows, and the CPU seconds of all fits but one that loads what they need."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X[parts[0][0]], y[parts[0][0]])  # loads what fits of this size need
        scores, began = [], process_time()
        seconds = 0.0
        for train, test in parts:
            began = process_time()
            model.fit(X[train], y[train])
            seconds += process_time() - began
            scores.append(model.score(X[test], y[test]))
    return float(np.mean(scores)), seconds


if __name__ == "__main__":
    command_line(measure)
