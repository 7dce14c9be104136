"""The user's cache: downloaded files, and parsed data in a form that loads fast.

The cache is a convenience. Whatever goes wrong with it, loading goes on without it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["cache_directory", "digest", "parsed_key", "read_parsed", "store", "write_parsed"]

# Raise it whenever the parser's answer for some file changes: older entries are then never looked at.
_PARSER_VERSION = 1


def cache_directory() -> Path | None:
    """Return where to keep things: ``FRANKWOLFE_CACHE``, else the system's cache directory, else nowhere."""
    chosen = os.environ.get("FRANKWOLFE_CACHE")
    if chosen:
        return Path(os.path.expanduser(chosen))
    try:
        import pooch

        return Path(pooch.os_cache("frankwolfe"))
    except (ImportError, OSError, RuntimeError):  # no pooch, or no home directory
        return None


def digest(content: bytes) -> str:
    """Return the sha256 of some bytes in hexadecimal.

    Examples
    --------
    >>> digest(b"")[:16]
    'e3b0c44298fc1c14'
    """
    return hashlib.sha256(content).hexdigest()


def store(path: Path, write: Callable[[IO[bytes]], object]) -> bool:
    """Let ``write`` fill a file that appears at ``path`` all at once or not at all; say whether it did.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store(Path(folder) / "new" / "x", lambda file: file.write(b"abc")), os.listdir(folder + "/new")
    (True, ['x'])
    """
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".", suffix=".part", delete=False) as file:
            temporary = file.name
            write(file)
        os.replace(temporary, path)
        temporary = None
        return True
    except OSError:  # read-only, full, not a directory, ...
        return False
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)


def parsed_key(raw: bytes, member: str, n_features: int | None) -> str:
    """Name a parsed file by the bytes it came from and by everything else its parsing depends on."""
    return digest(f"{digest(raw)} {member} {n_features} {_PARSER_VERSION}".encode())


def write_parsed(key: str, A: csr_array, labels: np.ndarray) -> bool:
    """Keep a parsed matrix with its labels; say whether that worked."""
    root = cache_directory()
    if root is None:
        return False
    arrays = {"data": A.data, "indices": A.indices, "indptr": A.indptr, "shape": np.array(A.shape), "labels": labels}
    return store(root / "parsed" / f"{key}.npz", lambda file: np.savez(file, allow_pickle=False, **arrays))


def read_parsed(key: str) -> tuple[csr_array, np.ndarray] | None:
    """Return what `write_parsed` kept, or None if there is nothing sound."""
    from scipy.sparse import csr_array

    root = cache_directory()
    if root is None:
        return None
    try:
        with open(root / "parsed" / f"{key}.npz", "rb") as file:
            # np.load tells npz from npy by the first bytes; only the zip form carries a checksum of each array.
            if not zipfile.is_zipfile(file):
                return None
            file.seek(0)
            with np.load(file, allow_pickle=False) as kept:
                A = csr_array((kept["data"], kept["indices"], kept["indptr"]), shape=tuple(kept["shape"].tolist()))
                labels = kept["labels"]
        A.check_format(full_check=True)
    except Exception:  # damage shows itself in a dozen ways, and all of them mean: parse the file again
        return None
    return (A, labels) if labels.shape == (A.indptr.size - 1,) else None
