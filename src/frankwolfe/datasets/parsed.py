"""Parsed data in the user's cache, in a form that loads fast.

The cache is a convenience. Whatever goes wrong with it, loading goes on without it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from frankwolfe.datasets.files import cache_directory
from frankwolfe.files import read_arrays, write_arrays

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# Raise it whenever the parser's answer for some file changes: older entries are then never looked at.
_PARSER_VERSION = 2


def parsed(key: str, parse: Callable[[], tuple[csr_array, np.ndarray]], *, cache: bool) -> tuple[csr_array, np.ndarray]:
    """Return what was kept under a key, or else parse, and keep that."""
    if not cache:
        return parse()
    kept = read_parsed(key)
    if kept is None:
        kept = parse()
        write_parsed(key, *kept)
    return kept


def parsed_key(raw: bytes, member: str, n_features: int | None) -> str:
    """Name a parsed file by the bytes it came from and by everything else its parsing depends on."""
    whole = hashlib.sha256(raw).hexdigest()
    return hashlib.sha256(f"{whole} {member} {n_features} {_PARSER_VERSION}".encode()).hexdigest()


def _path(key: str) -> Path:
    root = cache_directory()
    if root is None:
        raise FileNotFoundError("there is no cache")
    return root / "parsed" / f"{key}.npz"


def write_parsed(key: str, A: csr_array, labels: np.ndarray) -> bool:
    """Keep a parsed matrix with its labels; say whether that worked."""
    try:
        path = _path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        arrays = {"data": A.data, "indices": A.indices, "indptr": A.indptr, "labels": labels}
        write_arrays(path, {"shape": A.shape}, arrays)
    except OSError:  # read-only, full, not a directory, ...
        return False
    return True


def read_parsed(key: str) -> tuple[csr_array, np.ndarray] | None:
    """Return what `write_parsed` kept, or None if there is nothing sound."""
    from scipy.sparse import csr_array

    try:
        header, kept = read_arrays(_path(key).read_bytes())
        A = csr_array((kept["data"], kept["indices"], kept["indptr"]), shape=tuple(header["shape"]))
        A.check_format(full_check=True)
        return (A, kept["labels"]) if kept["labels"].shape == (A.indptr.size - 1,) else None
    except Exception:  # damage shows itself in a dozen ways, and all of them mean: parse the file again
        return None
