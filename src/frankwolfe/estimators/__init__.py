"""Estimators in the manner of scikit-learn, loaded when first asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from frankwolfe.validation import optional

_HOME = {
    "FrankWolfeClassifier": "classifier",
    "FrankWolfeClassifierCV": "cross_validated",
    "FrankWolfeRegressor": "regressor",
    "FrankWolfeRegressorCV": "cross_validated",
    "MatrixCompleter": "completion.matrix_completer",
}

__all__ = list(_HOME)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    optional("sklearn", extra="sklearn")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
