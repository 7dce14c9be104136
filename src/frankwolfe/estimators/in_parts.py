"""Estimators over rows in parts: Dask collections, and streams from disk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from frankwolfe.minimize import minimize
from frankwolfe.objectives import Logistic
from frankwolfe.objectives.data import in_parts
from frankwolfe.objectives.streams import Stream
from frankwolfe.validation import nonnegative

if TYPE_CHECKING:
    from frankwolfe.estimators.linear import LinearEstimator


class PartsTask:
    """Rows in parts and their targets as an objective, and the gap to reach on it."""

    def __init__(self, model: LinearEstimator, X: Any, y: Any, weight: Any) -> None:
        if is_classifier(model):
            if model.class_weight is not None:  # pyright: ignore[reportAttributeAccessIssue]
                raise ValueError("class_weight is not supported over rows in parts; pass sample_weight instead")
            intercept = bool(model.fit_intercept)
            self.objective: Any = Logistic(X, y, sample_weight=weight, intercept=intercept)
            model.classes_ = self.objective.classes  # pyright: ignore[reportAttributeAccessIssue]
        else:
            self.objective = model._objective(X, y, weight)
        self.shape: tuple[int, ...] = self.objective.shape
        null = float(self.objective.value(np.zeros(self.shape, self.objective.parts.dtype)))
        floor = 1e-9 if self.objective.parts.dtype == np.float64 else 1e-5
        self.goal = max(nonnegative("tol", model.tol) * min(1.0, null), floor * null)

    def intercept(self, x: np.ndarray) -> np.ndarray:
        """Return the intercept that belongs to coefficients."""
        return np.array([self.objective.best_intercept_at(x)], dtype=x.dtype)


def fit_in_parts(model: LinearEstimator, X: Any, y: Any, weight: Any) -> None:
    """Fit a classifier of two classes, or a regressor, to rows in parts; set the fitted attributes."""
    task = PartsTask(model, X, y, weight)
    model.n_features_in_ = task.shape[0]  # pyright: ignore[reportAttributeAccessIssue]
    names = getattr(X, "columns", None)
    if names is not None and all(isinstance(name, str) for name in names):
        model.feature_names_in_ = np.asarray(names, dtype=object)  # pyright: ignore[reportAttributeAccessIssue]
    domain = model._domain(task.shape, model.radius)
    start = model._start(domain, task.shape, task.objective.parts.dtype) if model.warm_start else None
    model._keep(minimize(task.objective, domain, start, tol=task.goal, **model._options()), task)


def blockwise(model: LinearEstimator, method: str, X: Any) -> Any:
    """Return a method's predictions for rows in parts, lazily where the rows are lazy; None for rows in memory."""
    if in_parts(X) is None:
        return None
    check_is_fitted(model)
    predict = getattr(model, method)
    if isinstance(X, Stream):
        return np.concatenate([predict(block) for block in X.ahead()])
    if isinstance(X, list | tuple):
        from dask.delayed import delayed

        return [delayed(predict)(block) for block in X]
    import dask.array as da

    if isinstance(X, da.Array):
        like = predict(np.zeros((1, model.coef_.shape[-1])))
        X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X  # pyright: ignore[reportArgumentType]
        if like.ndim == 1:
            return X.map_blocks(predict, drop_axis=1, dtype=like.dtype)
        return X.map_blocks(predict, chunks=(X.chunks[0], (like.shape[1],)), dtype=like.dtype)
    like = predict(X._meta_nonempty)
    return X.map_partitions(predict, meta=like[:0])
