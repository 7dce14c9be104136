"""Model files: arrays and a JSON header; reading one runs nothing and trusts nothing."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from frankwolfe.files import read_arrays, write_arrays

FORMAT = 1


class ModelError(ValueError):
    """A model file that cannot be used: damaged, or of another kind.

    Examples
    --------
    >>> raise ModelError("model.npz is not a model of frankwolfe")
    Traceback (most recent call last):
        ...
    frankwolfe.estimators.model_files.ModelError: model.npz is not a model of frankwolfe
    """


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
