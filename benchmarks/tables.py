"""Default estimators on raw tables against scikit-learn's own with a StandardScaler: held-out score and time.

python -m benchmarks tables [--quick]

Every table ships with scikit-learn and is taken as it is, unscaled. Scores are means over held-out thirds, the same for
all; times are CPU seconds of all fits.
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
from benchmarks.report import command_line

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
        parts = list(splitter(4 if quick else 20, test_size=1 / 3, random_state=0).split(X, y))
        ours, theirs = _models(classes)
        found = {label: _scores(model, X, y, parts) for label, model in (ours | theirs).items()}
        score = "accuracy" if classes else "R²"
        best = max(theirs, key=lambda label: found[label][0])
        mine = max(ours, key=lambda label: found[label][0])
        rows.append(
            [
                name,
                X.shape[0],
                X.shape[1],
                *(f"{found[label][0]:.4f} {found[label][1]:.2f} s" for label in ours),
                f"{best} {found[best][0]:.4f} {found[best][1]:.2f} s",
            ]
        )
        bars += [
            {
                "name": f"{name}: {score} below the best of scikit-learn's",
                "value": found[best][0] - found[mine][0],
                "bar": POINTS[score],
                "sense": "<=",
                "unit": score,
            },
            {
                "name": f"{name}: time beside it",
                "value": found[mine][1] / max(found[best][1], 1e-9),
                "bar": 1.0,
                "sense": "<=",
                "unit": "x",
            },
        ]
    return {
        "title": "Default estimators on raw tables, beside scikit-learn's with a StandardScaler",
        "columns": ["table", "rows", "columns", "l2: score, CPU", "l1: score, CPU", "best of scikit-learn's, CPU"],
        "rows": rows,
        "bars": bars,
        "notes": ["Scores are means over held-out thirds; seconds are CPU time of all fits, twenty for each."],
    }


def _models(classes: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    kind = fw.FrankWolfeClassifierCV if classes else fw.FrankWolfeRegressorCV
    ours = {"l2": kind("l2"), "l1": kind("l1")}
    if classes:
        theirs = {"LogisticRegressionCV": LogisticRegressionCV(max_iter=1000, use_legacy_attributes=False)}
    else:
        theirs = {"RidgeCV": RidgeCV(np.logspace(-3, 3, 13)), "LassoCV": LassoCV()}
    return ours, {label: make_pipeline(StandardScaler(), model) for label, model in theirs.items()}


def _scores(model: Any, X: np.ndarray, y: np.ndarray, parts: list[Any]) -> tuple[float, float]:
    """Return the mean score on held-out rows, and the CPU seconds of all fits but one that loads what they need."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X[parts[0][0]][:60], y[parts[0][0]][:60])
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
