"""The search for a radius over rows in parts: a fold is the same rows with other weights, so no row ever moves."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import is_classifier
from sklearn.model_selection import check_cv

from frankwolfe.estimators.in_parts import PartsTask, fetched, objective_in_parts
from frankwolfe.estimators.radius_search import ROWS, Fold, radius_grid, solve_path
from frankwolfe.rows.rows_in_parts import row_products, some_rows


def search_in_parts(model: Any, X: Any, y: Any, sample_weight: Any, params: dict[str, Any]) -> None:
    """Choose the radius of an estimator on held-out rows, and fit it with that to all of them.

    Targets, weights and predictions, a few numbers for each row, come to the client; the rows stay where they are.
    """
    y, sample_weight = fetched(y), fetched(sample_weight)
    objective, kind = objective_in_parts(model, X, y, sample_weight)
    targets, y = np.asarray(y).reshape(-1), np.asarray(y).reshape(-1)
    if is_classifier(model):
        y = np.searchsorted(model.classes_, targets)
    weights = kind.weigh(targets, sample_weight)
    split_params, score_params = model._routed(sample_weight, params)
    model.radii_ = radius_grid(model, *_some_rows(model, objective, y, weights))
    splitter: Any = check_cv(model.cv, targets, classifier=is_classifier(model))
    folds = splitter.split(np.zeros((len(targets), 1)), targets, **split_params)
    found = [_solved(model, objective, y, weights, train, test, score_params) for train, test in folds]
    model._take(found, PartsTask(model, objective), objective.data.dtype)


def _solved(
    model: Any, objective: Any, y: np.ndarray, weights: Any, train: np.ndarray, test: np.ndarray, params: dict[str, Any]
) -> Fold:
    """Solve the path on the training rows, and score every radius on the others."""
    if is_classifier(model) and np.unique(y[train]).size < len(model.classes_):
        raise ValueError("a fold has no training sample of one of the classes; use fewer folds, or stratified ones")
    own = np.zeros(len(y))
    own[train] = 1.0 if weights is None else weights[train]
    held_out = {name: np.asarray(value)[test] for name, value in params.items()}

    def judge(shell: Any) -> float:
        scores = linear_scores(objective, shell)[test]
        shell._scores = shell._linear = lambda X: scores
        return shell._held_out_score(np.zeros((len(test), 1)), y[test], held_out)

    return solve_path(model, PartsTask(model, objective.reweighted(own)), model.radii_, judge)


def linear_scores(objective: Any, shell: Any) -> np.ndarray:
    """Return the linear part of the prediction of an estimator for all rows."""
    (pieces,) = objective.parts.total(row_products, shell.coef_.T)
    out = np.zeros((objective.data.shape[0], *shell.coef_.shape[:-1]))
    for first, piece in pieces:
        out[first : first + len(piece)] = piece
    return out + shell.intercept_


def _some_rows(model: Any, objective: Any, y: np.ndarray, weights: Any) -> tuple[Any, np.ndarray, Any]:
    """Return as many rows as the range of radii is found on, in memory, with targets and weights."""
    if not isinstance(model.radii, int | np.integer):
        return None, y, weights
    (pieces,) = objective.parts.total(some_rows, max(2, objective.data.shape[0] // ROWS))
    which = np.concatenate([places for places, _ in pieces])
    rows = [matrix for _, matrix in pieces]
    stacked = sp.vstack(rows, format="csr") if sp.issparse(rows[0]) else np.concatenate(rows)
    return stacked, y[which], None if weights is None else weights[which]
