"""Radius by cross-validation against scikit-learn's LogisticRegressionCV: time of the whole search, accuracy, log loss.

python -m benchmarks.estimators [--quick]

Both search ten strengths on the same folds and choose by held-out log loss, then fit to all training data and are
judged on the test data.
"""

from __future__ import annotations

import warnings
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegressionCV
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

import frankwolfe as fw
from benchmarks.report import command_line, held_to
from frankwolfe import datasets

COUNT = 10  # radii, and strengths of the penalty
WITHIN = 0.2  # points: percent of accuracy, and hundredths of a nat of log loss

PROBLEMS: dict[str, tuple[str, str | None, dict[str, Any], int, int, int]] = {
    # training and test data, options, folds, and rows in the quick and in the full form
    "a9a": ("a9a", "a9a.t", {"n_features": 123}, 5, 10_000, 32_561),
    "mushrooms": ("mushrooms", None, {}, 5, 5687, 5687),
    "MNIST, 4 or not": ("mnist", "mnist.t", {}, 3, 4000, 60_000),
    "MNIST, ten digits": ("mnist", "mnist.t", {"labels": "raw"}, 3, 2000, 60_000),
}


def measure(quick: bool, names: list[str] | None = None) -> dict[str, Any]:
    """Return the table: seconds, accuracy and log loss of both, and the bars."""
    rows, bars = [], []
    for name in names or PROBLEMS:
        X, y, X_test, y_test, folds = _data(name, quick)
        cv = StratifiedKFold(folds, shuffle=True, random_state=0)
        ours = fw.FrankWolfeClassifierCV("l2", radii=COUNT, cv=cv)
        theirs = LogisticRegressionCV(
            Cs=COUNT, l1_ratios=(0.0,), cv=cv, scoring="neg_log_loss", use_legacy_attributes=False
        )
        fw.FrankWolfeClassifierCV("l2", radii=COUNT, cv=2).fit(X[:1000], y[:1000])  # kernels are loaded
        seconds = {"ours": [], "theirs": []}
        small = len(y) < 8000
        for _ in range(3 if small else 1):
            seconds["ours"].append(_seconds(ours, X, y))
            seconds["theirs"].append(_seconds(theirs, X, y))
        mine, sklearns = (float(np.median(times)) for times in seconds.values())
        scores = [
            (100 * (m.predict(X_test) == y_test).mean(), log_loss(y_test, m.predict_proba(X_test)))
            for m in (ours, theirs)
        ]
        (accuracy, loss), (their_accuracy, their_loss) = scores
        row = [name, len(y), mine, sklearns, accuracy, their_accuracy, loss, their_loss, ours.radius_, float(theirs.C_)]
        rows.append([round(v, 4) if isinstance(v, float) else v for v in map(_plain, row)])
        bars += [
            held_to(f"{name}: time beside LogisticRegressionCV", mine / sklearns, 1.0, "<="),
            held_to(f"{name}: accuracy below its", their_accuracy - accuracy, WITHIN, "<=", "points"),
            held_to(f"{name}: log loss above its", 100 * (loss - their_loss), WITHIN, "<=", "nat/100"),
        ]
    return {
        "title": "Radius by cross-validation beside LogisticRegressionCV",
        "columns": [
            *("data", "rows", "s", "s (scikit-learn)", "accuracy %", "accuracy % (scikit-learn)", "log loss"),
            *("log loss (scikit-learn)", "radius", "C"),
        ],
        "rows": rows,
        "bars": bars,
        "notes": [
            f"{COUNT} radii against {COUNT} strengths on the same shuffled folds (five; three for MNIST), both with "
            "their default tolerances and an intercept, both chosen by held-out log loss.",
            "Each of our solutions carries a certified gap: 1e-3 nats on the folds, 1e-4 in the final fit.",
        ],
    }


def _data(name: str, quick: bool) -> tuple[Any, Any, Any, Any, int]:
    train, test, options, folds, few, many = PROBLEMS[name]
    if test is None:
        a, b = (datasets.load(train, split=part, **options) for part in ("train", "test"))
    else:
        a, b = datasets.load(train, **options), datasets.load(test, **options)
    n = few if quick else many
    return a.A[:n], a.b[:n], b.A, b.b, folds


def _seconds(model: Any, X: Any, y: Any) -> float:
    began = perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # lbfgs stops at its limit of 100 iterations here and there
        model.fit(X, y)
    return perf_counter() - began


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


if __name__ == "__main__":
    command_line(measure)
