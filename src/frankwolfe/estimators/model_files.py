"""Model files: arrays and a JSON header; reading one runs nothing and trusts nothing."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from frankwolfe.files import read_arrays, write_arrays

FORMAT = 1


class ModelError(ValueError):
    """A model file that cannot be used: damaged, or of another kind."""


def write_model(
    path: str | os.PathLike[str], kind: str, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
) -> None:
    """Write a model, replacing the file at once or not at all."""
    try:
        write_arrays(path, {"format": FORMAT, "kind": kind, **header}, arrays)
    except (TypeError, ValueError) as error:
        raise ModelError(f"this model cannot be saved: its header does not fit JSON ({error})") from None


def read_model(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the header and the arrays of a model file."""
    content = Path(path).read_bytes()
    try:
        header, arrays = read_arrays(content)
        form = header["format"], header["kind"]
    except Exception:  # damage shows itself in a dozen types of errors, and all of them mean the same
        raise ModelError(
            f"{os.fspath(path)} is damaged or not a model file; save the model again with save or frankwolfe fit --out"
        ) from None
    if form[0] != FORMAT:
        raise ModelError(f"{os.fspath(path)} has format {str(form[0])[:20]}, not {FORMAT}; it needs another version")
    return header, arrays


@contextmanager
def opened_model(
    path: str | os.PathLike[str], kinds: Collection[str], needed: str
) -> Iterator[tuple[dict[str, Any], dict[str, np.ndarray]]]:
    """Give header and arrays of a model of one of these kinds; whatever is wrong with them becomes one error."""
    header, arrays = read_model(path)
    if header["kind"] not in kinds:
        raise ModelError(f"{os.fspath(path)} holds a {str(header['kind'])[:40]}, and {needed} is needed here")
    try:
        yield header, arrays
    except (KeyError, ValueError, TypeError, IndexError, AttributeError, OverflowError, RecursionError) as error:
        said = " ".join(str(error).split())[:100]
        raise ModelError(f"{os.fspath(path)} is damaged ({said}); save the model again") from None


def certificate(model: Any) -> dict[str, Any]:
    """Return the part of a header that says how well the model was fitted; null stands for what was not proven."""
    proven = math.isfinite(model.lower_bound_)
    return {
        "n_iter_": int(model.n_iter_),
        "method_": str(model.method_),
        "gap_": float(model.gap_) if proven else None,
        "lower_bound_": float(model.lower_bound_) if proven else None,
    }


def set_certificate(model: Any, header: dict[str, Any]) -> None:
    """Set on a model what `certificate` said of it."""
    gap, bound = header["gap_"], header["lower_bound_"]
    model.n_iter_, model.method_ = int(header["n_iter_"]), str(header["method_"])
    model.gap_ = math.inf if gap is None else finite_number(gap)
    model.lower_bound_ = -math.inf if bound is None else finite_number(bound)


def plain_values(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters from a header, if they are text and numbers."""
    if not all(value is None or isinstance(value, str | int | float) for value in params.values()):
        raise ValueError("a parameter is not a plain value")
    return dict(params)


def finite_number(value: Any) -> float:
    """Return a number from a header, if it is one."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{value!r} stands where a number should")
    return float(value)


def finite_array(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return an array of finite floats of this shape, if it is one."""
    if array.dtype.kind != "f" or array.shape != shape or not np.all(np.isfinite(array)):
        raise ValueError(f"an array is not {' x '.join(map(str, shape))} finite numbers")
    return array
