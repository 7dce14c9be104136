"""Linear models in files: coefficients, classes, names of the features and the parameters; no pickle."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from frankwolfe.estimators.model_files import (
    ModelError,
    certificate,
    finite_array,
    opened_model,
    plain_values,
    set_certificate,
    write_model,
)

KINDS = ("FrankWolfeClassifier", "FrankWolfeRegressor")
_KEPT = (
    "constraint",
    "radius",
    "p",
    "k",
    "fit_intercept",
    "tol",
    "max_iter",
    "loss",
    "delta",
    "quantile",
    "standardize",
    "positive",
)


class Column(NamedTuple):
    """How a column becomes numbers: by its levels where it is text, else by what fills its empty cells."""

    name: str
    levels: list[str] | None = None
    fill: float | None = None

    @property
    def names(self) -> list[str]:
        """The names of the numbers that it becomes."""
        return [self.name] if self.levels is None else [f"{self.name}={level}" for level in self.levels]


@dataclass(frozen=True)
class LinearModel:
    """A fitted linear model, and what the estimator does not know: its target, and what became of the columns."""

    estimator: Any
    target: str | None = None
    plan: list[Any] | None = None  # how the columns of a table become the features: name, levels, fill
    path: dict[str, list[float]] | None = None  # radii tried, with mean and standard error of their held-out scores

    @property
    def kind(self) -> str:
        """The name of the plain estimator: one chosen by cross-validation predicts like any other."""
        return type(self.estimator).__name__.removesuffix("CV")

    @property
    def features(self) -> list[str] | None:
        """The names of the features, if they have any."""
        names = getattr(self.estimator, "feature_names_in_", None)
        return None if names is None else list(names)


def write_linear(model: LinearModel, path: str | os.PathLike[str]) -> None:
    """Write a fitted classifier or regressor."""
    fitted = model.estimator
    if model.kind not in KINDS:
        raise ModelError(f"a {model.kind} cannot be saved here; {' and '.join(KINDS)} can")
    params = {name: value for name, value in fitted.get_params().items() if name in _KEPT}
    header = {
        "params": {n: v for n, v in params.items() if v is None or isinstance(v, str | int | float)}
        | {"radius": 1.0 if fitted.radius_ is None else float(fitted.radius_)},
        "target": model.target,
        "features": model.features,
        "n_features": int(fitted.n_features_in_),
        "classes": np.asarray(fitted.classes_).tolist() if model.kind == KINDS[0] else None,
        "columns": None if model.plan is None else [[c.name, c.levels, c.fill] for c in model.plan],
        "path": _path(fitted),
        **certificate(fitted),
    }
    arrays = {"coef": np.asarray(fitted.coef_), "intercept": np.asarray(fitted.intercept_)}
    write_model(path, model.kind, header, arrays)


def read_linear(path: str | os.PathLike[str]) -> LinearModel:
    """Read a classifier or regressor, checking everything that it will rely on."""
    from frankwolfe import estimators

    with opened_model(path, KINDS, "a classifier or regressor") as (header, arrays):
        fitted = getattr(estimators, header["kind"])()
        known = fitted.get_params()
        fitted.set_params(**plain_values({name: v for name, v in header["params"].items() if name in known}))
        n = int(header["n_features"])
        rows = _classes(fitted, header["classes"]) if header["kind"] == KINDS[0] else None
        fitted.coef_ = finite_array(arrays["coef"], (n,) if rows is None else (rows, n))
        intercept = finite_array(arrays["intercept"], () if rows is None else (rows,))
        fitted.intercept_ = intercept if rows else float(intercept)
        fitted.n_features_in_ = n
        set_certificate(fitted, header)
        if header["features"] is not None:
            names = header["features"]
            if len(names) != n or not all(isinstance(name, str) for name in names):
                raise ValueError("the names of the features do not fit their number")
            fitted.feature_names_in_ = np.array(names, dtype=object)
        plan, radii = _plan(header.get("columns"), n), _path_read(header.get("path"))
        target = header["target"]
        if target is not None and not isinstance(target, str):
            raise ValueError("the name of the target is not text")
    return LinearModel(fitted, target, plan, radii)


def _path(fitted: Any) -> dict[str, list[float]] | None:
    """Return the radii that a search tried, with mean and standard error of the scores."""
    if not hasattr(fitted, "radii_"):
        return None
    scores = np.asarray(fitted.scores_)
    error = scores.std(axis=0, ddof=1) / len(scores) ** 0.5 if len(scores) > 1 else np.zeros(scores.shape[1])
    rows = {"radii": fitted.radii_, "scores": scores.mean(axis=0), "errors": error}
    return {name: np.nan_to_num(values, nan=0.0, posinf=1e300, neginf=-1e300).tolist() for name, values in rows.items()}


def _path_read(path: Any) -> dict[str, list[float]] | None:
    if path is None:
        return None
    count = (len(path["radii"]),)
    rows = {name: finite_array(np.asarray(path[name], dtype=float), count) for name in ("radii", "scores", "errors")}
    if not (rows["radii"] > 0).all():
        raise ValueError("the radii of the path are not positive")
    return {name: row.tolist() for name, row in rows.items()}


def _plan(columns: Any, n: int) -> list[Any] | None:
    """Return how columns become features, checked."""
    if columns is None:
        return None
    plan = []
    for name, levels, fill in columns:
        texts = [name, *(levels or [])]
        if not all(isinstance(text, str) for text in texts) or not (fill is None or isinstance(fill, int | float)):
            raise ValueError("a column is not a name with levels or a number that fills it")
        plan.append(Column(name, levels, None if fill is None else float(fill)))
    if sum(len(column.names) for column in plan) != n:
        raise ValueError("the columns do not make as many features as there are")
    return plan


def _classes(fitted: Any, classes: Any) -> int:
    """Set the classes; return how many rows of coefficients they need."""
    if not isinstance(classes, list) or len(classes) < 2 or not all(isinstance(c, str | int | float) for c in classes):
        raise ValueError("the classes are not a list of text or numbers")
    if len({type(c) for c in classes}) != 1 or len(set(classes)) != len(classes):
        raise ValueError("the classes are not all of a kind and different")
    fitted.classes_ = np.array(classes)
    return 1 if len(classes) == 2 else len(classes)
