"""Checks on what users hand in: one sentence naming the argument, the value and the remedy."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable
from typing import Any

import array_api_compat
import numpy as np

from frankwolfe.backends import Array, all_finite, host


def positive(name: str, value: Any) -> float:
    """Return `value` as a positive finite float, or say why it is not one.

    Examples
    --------
    >>> positive("radius", 2)
    2.0
    >>> positive("radius", -1)
    Traceback (most recent call last):
    ValueError: radius must be a positive finite number, got -1
    """
    if not isinstance(value, numbers.Real) or isinstance(value, bool) or not 0 < float(value) < math.inf:
        raise ValueError(f"{name} must be a positive finite number, got {value!r}")
    return float(value)


def nonnegative(name: str, value: Any) -> float:
    """Return `value` as a nonnegative finite float, or say why it is not one."""
    if not isinstance(value, numbers.Real) or isinstance(value, bool) or not 0 <= float(value) < math.inf:
        raise ValueError(f"{name} must be a nonnegative finite number, got {value!r}")
    return float(value)


def integer(name: str, value: Any, least: int) -> int:
    """Return `value` as an integer of at least `least`, or say why it is not one."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} must be an integer of at least {least}, got {value!r}")
    return int(value)


def finite(name: str, x: Array) -> Array:
    """Return x unchanged if it has neither NaN nor infinity."""
    if not all_finite(x):
        raise ValueError(f"{name} contains NaN or infinity; clean or impute the data first")
    return x


def vector(name: str, values: Any, length: int | None = None) -> np.ndarray:
    """Return `values` as a finite one-dimensional float array, of `length` where given."""
    out = np.asarray(host(values) if array_api_compat.is_array_api_obj(values) else values)
    if out.ndim == 2 and 1 in out.shape:
        out = out.reshape(-1)
    if out.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {out.shape}")
    if length is not None and out.size != length:
        raise ValueError(f"{name} must have length {length} to match the data, got {out.size}")
    if out.dtype.kind not in "fiub":
        raise ValueError(f"{name} must be numeric, got dtype {out.dtype}")
    return finite(name, out if out.dtype.kind == "f" else out.astype(np.float64))


def nearest(name: str, known: Iterable[str]) -> str:
    """Return ' did you mean ...?' for a misspelt name, or the list of known ones."""
    import difflib

    known = sorted(known)
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    return f"did you mean {close[0]!r}?" if close else f"choose one of {', '.join(map(repr, known))}"


def optional(module: str, extra: str) -> Any:
    """Import an optional dependency, or say how to install it.

    Examples
    --------
    >>> optional("no_such_module", extra="plot")
    Traceback (most recent call last):
    ImportError: this needs no_such_module; install it with: pip install "frankwolfe[plot]"
    """
    import importlib

    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module.partition(".")[0]:
            raise
        package = module.partition(".")[0]
        raise ImportError(f'this needs {package}; install it with: pip install "frankwolfe[{extra}]"') from None
