"""Model files: arrays and a JSON header in an uncompressed .npz; reading one runs nothing and trusts nothing.

What is stored uncompressed cannot be larger than its file, and an array's size is held against its header before any
memory is taken for it: a small file cannot ask for a large amount of memory.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy

FORMAT = 1
LONGEST_HEADER = 64 * 2**20


class ModelError(ValueError):
    """A model file that cannot be used: damaged, or of another kind.

    Examples
    --------
    >>> raise ModelError("model.npz is not a model of frankwolfe")
    Traceback (most recent call last):
        ...
    frankwolfe.estimators.files.ModelError: model.npz is not a model of frankwolfe
    """


def write_model(
    path: str | os.PathLike[str], kind: str, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
) -> None:
    """Write a model, replacing the file at once or not at all."""
    try:
        text = json.dumps({"format": FORMAT, "kind": kind, **header}, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ModelError(f"this model cannot be saved: its header does not fit JSON ({error})") from None
    target = Path(path)
    scratch = target.with_name(f".{target.name}.tmp")
    parts: dict[str, Any] = {"header": np.frombuffer(text.encode(), np.uint8), **arrays}
    try:
        with open(scratch, "wb") as file:
            np.savez(file, **parts)
        os.replace(scratch, target)
    finally:
        scratch.unlink(missing_ok=True)


def read_model(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the header and the arrays of a model file."""
    content = Path(path).read_bytes()
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            arrays = _arrays(archive, len(content))
        header = json.loads(bytes(arrays.pop("header")))
        form = header["format"], header["kind"]
    except Exception:  # damage shows itself in a dozen types of errors, and all of them mean the same
        raise ModelError(
            f"{os.fspath(path)} is damaged or not a model file; save the model again with save or frankwolfe fit --out"
        ) from None
    if form[0] != FORMAT:
        raise ModelError(f"{os.fspath(path)} has format {str(form[0])[:20]}, not {FORMAT}; it needs another version")
    return header, arrays


def _arrays(archive: zipfile.ZipFile, size: int) -> dict[str, np.ndarray]:
    members = archive.infolist()
    if any(m.compress_type != zipfile.ZIP_STORED for m in members) or sum(m.file_size for m in members) > size:
        raise ValueError("compressed or overlapping")
    if len({m.filename for m in members}) != len(members):
        raise ValueError("the same name twice")
    if any(m.filename == "header.npy" and m.file_size > LONGEST_HEADER for m in members):
        raise ValueError("header too long")
    return {m.filename.removesuffix(".npy"): _array(archive.read(m)) for m in members}


def _array(content: bytes) -> np.ndarray:
    stream = io.BytesIO(content)
    if npy.read_magic(stream) != (1, 0):
        raise ValueError("not a plain array")
    shape, fortran, dtype = npy.read_array_header_1_0(stream)
    body = memoryview(content)[stream.tell() :]
    count = 1
    for length in shape:
        count *= length
    if dtype.kind not in "fiub" or min(shape, default=0) < 0 or count * dtype.itemsize != len(body):
        raise ValueError("not a plain array of numbers")
    return np.frombuffer(body, dtype).reshape(shape, order="F" if fortran else "C")
