"""Estimators in the manner of scikit-learn, loaded when first asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME = {"MatrixCompleter": "matrix_completer"}

__all__ = ["MatrixCompleter"]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
