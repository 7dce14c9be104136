"""The radius where the caller names none: the best on rows held out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import is_classifier

from frankwolfe.estimators.price_search import price_search
from frankwolfe.estimators.radius_search import Choice, RadiusSearch, Search, first_radius
from frankwolfe.estimators.squared_search import squared_search
from frankwolfe.rows.parts import odd, words
from frankwolfe.rows.user_data import is_in_parts

FOLDS, FEW, MANY = 3, 2000, 20_000  # folds where rows are few, else one; rows that are enough
TINY = 1 << 12  # entries: so few are solved exactly for each radius, which takes little time


def chosen_radius(model: Any, task: Any, X: Any, y: np.ndarray) -> float:
    """Return the radius for `radius="auto"`: the best on rows held out, found along the path.

    Up to 2000 rows are cut into three folds; of more, one third is held out, and 20,000 are enough. Which rows are held
    out follows from what they hold: equal rows are never apart, zero weights count as no row, and the order is of no
    consequence.
    """
    weight, first = task.weight, first_radius(model, task)
    rows = np.arange(len(y)) if weight is None else np.flatnonzero(weight > 0)
    part, labels = _dealt(X, y, rows, is_classifier(model))
    if len(rows) > MANY and task.objective.holds_images:
        some = rows[part < math.ceil(MANY / len(rows) * labels)]
        few = type(task).of(model, X[some], y[some], None if weight is None else weight[some], device="cpu")
        return chosen_radius(model, few, X[some], y[some])
    turn = np.where(labels >= FOLDS, part % FOLDS, -1)  # a label with few rows is in every training part
    parts = [(rows[turn != i], rows[turn == i]) for i in range(FOLDS if len(rows) <= FEW else 1)]
    parts = [(train, test) for train, test in parts if len(train) and len(test)]
    if not parts or first is None:
        return 1.0 if first is None else first
    search: Choice | None = squared_search(model, task, parts, "auto", weight=weight)
    if search is None and math.prod(X.shape) >= TINY:
        search = price_search(model, task, y, parts, "auto", weight=weight)
    if search is None:
        search = RadiusSearch(model, task, y, parts, None, weight)
    if isinstance(search, Search):
        search.run()
    return search.best()


def _dealt(X: Any, y: np.ndarray, rows: np.ndarray, by_label: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return for each row its turn among the different rows of its label, well mixed, and how many there are."""
    numbers = odd(rows.astype(np.uint64)) if is_in_parts(X) else _digest(X, y)[rows]
    _, first, codes = np.unique(odd(numbers), return_index=True, return_inverse=True)  # in the order of what is mixed
    label = y[rows][first] if by_label else np.zeros(len(first), int)
    turn, count = np.empty(len(first), int), np.empty(len(first), int)
    for value in np.unique(label):
        among = np.flatnonzero(label == value)
        turn[among], count[among] = np.arange(len(among)), len(among)
    return turn[codes], count[codes]


def _digest(X: Any, y: np.ndarray) -> np.ndarray:
    """Return a number for each row that depends on what it holds, dense or sparse, and on its target."""
    columns = odd(np.arange(X.shape[1], dtype=np.uint64))
    if sp.issparse(X):
        X = X.tocsr()
        entries = words(X.data.astype(np.float64)) * columns[X.indices]
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(entries, dtype=np.uint64)])
        total = sums[X.indptr[1:]] - sums[X.indptr[:-1]]
    else:
        total, step = np.empty(len(X), np.uint64), max(1, (1 << 20) // X.shape[1])
        for i in range(0, len(X), step):
            total[i : i + step] = (words(X[i : i + step].astype(np.float64)) * columns).sum(axis=1)
    return total + odd(words(np.asarray(y, dtype=np.float64)))
