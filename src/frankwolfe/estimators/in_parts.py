"""Estimators over rows in parts: Dask collections, and streams from disk."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from frankwolfe.estimators.scaling import Moments, Scaling
from frankwolfe.estimators.task import Task
from frankwolfe.objectives import Logistic, Multinomial
from frankwolfe.objectives.derive import TARGETS, derive
from frankwolfe.objectives.weighted_mean import WeightedMean
from frankwolfe.rows.disk_stream import Stream
from frankwolfe.rows.parts import Part
from frankwolfe.rows.user_data import is_in_parts, rows_in_parts

if TYPE_CHECKING:
    from frankwolfe.estimators.linear import LinearEstimator


class Classification:
    """The model of labels that no one place knows all of: chosen, with class weights, when every block was asked."""

    weights_name = WeightedMean.weights_name

    def __init__(self, class_weight: Any) -> None:
        self.class_weight = class_weight
        self.classes, self.shares = np.zeros(0), np.zeros(0)

    def survey(self, b: np.ndarray, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """Return the labels of a block, and the weight of each."""
        labels, codes = np.unique(b, return_inverse=True)
        return labels, np.bincount(codes.reshape(-1), weights, minlength=labels.size)

    def agree(self, surveys: list[tuple[np.ndarray, np.ndarray]]) -> dict[str, Any]:
        """Take the labels of all blocks; return the options of the model."""
        found, codes = np.unique(np.concatenate([labels for labels, _ in surveys]), return_inverse=True)
        check_classification_targets(found)
        if len(found) < 2:
            raise ValueError(f"y holds only one class, {found.tolist()[0]!r}; a classifier needs at least two")
        counts = np.bincount(codes, np.concatenate([counts for _, counts in surveys]))
        for code in np.flatnonzero(~(counts > 0)):
            raise ValueError(f"class {found.tolist()[code]!r} has no sample with a positive sample_weight")
        self.classes = found
        if self.class_weight is not None:
            self.shares = compute_class_weight(self.class_weight, classes=found, y=found, sample_weight=counts)
        return {"classes": found}

    def weigh(self, b: np.ndarray, weights: np.ndarray | None) -> np.ndarray | None:
        """Return the weights of the rows of a block, those of the classes included."""
        if self.class_weight is None:
            return weights
        return self.shares[np.searchsorted(self.classes, b)] * (1.0 if weights is None else weights)

    @property
    def kind(self) -> type[Logistic | Multinomial]:
        """The model of so many classes."""
        return Logistic if len(self.classes) == 2 else Multinomial

    def part(self, A: Any, b: np.ndarray, weights: Any, whole: float, options: dict[str, Any]) -> WeightedMean:
        """Return the model of a block."""
        return self.kind.part(A, b, weights, whole, options)


def parts_task(model: LinearEstimator, X: Any, y: Any, sample_weight: Any) -> tuple[Task, np.ndarray]:
    """Return the task over rows in parts, and the targets as numbers; set classes and features.

    Targets and weights, a few numbers for each row, come to the client; the rows stay where they are.
    """
    y, sample_weight = fetched(y), fetched(sample_weight)
    objective, kind = objective_in_parts(model, X, y, sample_weight)
    targets = np.asarray(y).reshape(-1)
    weight = kind.weigh(targets, sample_weight)
    codes = np.searchsorted(model.classes_, targets) if is_classifier(model) else targets  # pyright: ignore[reportAttributeAccessIssue]
    rows, scaling = objective.data, Scaling()
    if model._standardizes:
        (moments,) = rows.parts.total(_moments)
        scaling = Scaling.by(moments, rows.dtype, intercept=bool(model.fit_intercept), dense=rows.shared)
        objective = derive(objective, TARGETS, data=rows.changed(scaling.apply))
    return Task(model, objective, scaling, weight, np.dtype(rows.dtype)), codes


def _moments(part: Part) -> tuple[Moments]:
    """Return the moments of the features of a part."""
    return (Moments.of(part.objective.data.matrix, np.asarray(part.objective.share, dtype=np.float64)),)


def objective_in_parts(model: LinearEstimator, X: Any, y: Any, weight: Any) -> tuple[Any, Any]:
    """Return the objective over rows in parts, and what makes row weights of given ones; set classes and features."""
    kind: Any = WeightedMean
    if is_classifier(model):
        kind = Classification(model.class_weight)  # pyright: ignore[reportAttributeAccessIssue]
        rows = rows_in_parts(kind, X, y, weight, {})
        objective: Any = kind.kind(rows, None, intercept=bool(model.fit_intercept))
        model.classes_ = objective.classes  # pyright: ignore[reportAttributeAccessIssue]
    else:
        objective = model._objective(X, y, weight)
    model.n_features_in_ = objective.shape[0]  # pyright: ignore[reportAttributeAccessIssue]
    model.__dict__.pop("feature_names_in_", None)
    names = getattr(X, "columns", None)
    if names is not None and all(isinstance(name, str) for name in names):
        model.feature_names_in_ = np.asarray(names, dtype=object)  # pyright: ignore[reportAttributeAccessIssue]
    return objective, kind


def lazily(method: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Let a method that predicts from rows in memory take rows in parts: block by block, lazily where they are lazy."""

    @functools.wraps(method)
    def wrapped(self: Any, X: Any) -> Any:
        return _by_blocks(self, functools.partial(method, self), X) if is_in_parts(X) else method(self, X)

    return wrapped


def _by_blocks(model: LinearEstimator, predict: Callable[[Any], Any], X: Any) -> Any:
    check_is_fitted(model)
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


def fetched(values: Any) -> Any:
    """Return a vector that may be lazy, or in blocks, or on disk, as an array; anything else as it is."""
    if values is None or not is_in_parts(values):
        return values
    if isinstance(values, Stream):
        return values.column()
    from dask.base import compute

    (found,) = compute(values)
    return np.concatenate([np.asarray(v) for v in found]) if isinstance(found, list | tuple) else np.asarray(found)
