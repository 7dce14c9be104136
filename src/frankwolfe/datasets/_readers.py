"""One reader for each kind of file: find it, unpack it, parse it, and hold it against what was published."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from ._archives import read_file, unpack
from ._cache import parsed_key, read_parsed, write_parsed
from ._errors import DatasetError
from ._fetch import check_content, unpack_known
from ._idx import parse_images, parse_labels
from ._libsvm import parse_libsvm
from ._locate import Access, Source, read_known
from ._ratings import parse_ratings
from ._registry import DataFile, DatasetInfo

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["read_images", "read_libsvm", "read_path", "read_ratings"]

T = TypeVar("T")

_SHARES = {"data": 1.0, "base": 0.8, "test": 0.2}


def read_path(path: Path, n_features: int | None, *, cache: bool) -> tuple[csr_array, np.ndarray]:
    """Read any LIBSVM file."""
    raw = read_file(path)
    return _cached(
        parsed_key(raw, "", n_features),
        lambda: parse_libsvm(unpack(raw, str(path)), str(path), n_features),
        cache=cache,
    )


def read_libsvm(entry: DatasetInfo, access: Access) -> tuple[csr_array, np.ndarray]:
    """Read a known LIBSVM file."""
    file = entry.files["data"]

    def parse(source: Source) -> tuple[csr_array, np.ndarray]:
        content = unpack_known(source.raw, source.label, file, source.member)
        A, labels = parse_libsvm(content, source.label, entry.columns)
        _check_counts(source.label, entry, A.nnz, labels)
        check_content(content, source.label, file)
        return A, labels

    def parse_cached(source: Source) -> tuple[csr_array, np.ndarray]:
        key = parsed_key(source.raw, file.sha256, entry.columns)
        return _cached(key, lambda: parse(source), cache=access.cache is not False)

    return read_known(file, access, parse_cached)


def read_images(entry: DatasetInfo, access: Access) -> tuple[np.ndarray, np.ndarray]:
    """Read a known pair of image and label files: pixels 0..255, one image a row, and digits."""
    pixels = read_known(entry.files["images"], access, _known(entry.files["images"], parse_images))
    digits = read_known(entry.files["labels"], access, _known(entry.files["labels"], parse_labels))
    if len(pixels) != len(digits):
        raise DatasetError(f"{entry.name}: {len(pixels)} images but {len(digits)} labels; fetch both files again")
    return pixels, digits


def read_ratings(entry: DatasetInfo, access: Access, part: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Read known ratings: users, items (both from zero) and stars."""
    file = entry.files[part]
    expected = round(entry.nonzeros * _SHARES[part.partition(".")[2]])

    def parse(content: bytes, label: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rows, cols, stars = parse_ratings(content, label, (entry.rows, entry.columns))
        if stars.size != expected:
            raise DatasetError(f"{label}: {stars.size} ratings, the published {part} has {expected}; fetch it again")
        return rows, cols, stars

    return read_known(file, access, _known(file, parse))


def _known(file: DataFile, parse: Callable[[bytes, str], T]) -> Callable[[Source], T]:
    """Parse first, for an error that names the place; then check the content, for an error that cannot be fooled."""

    def checked(source: Source) -> T:
        content = unpack_known(source.raw, source.label, file, source.member)
        parsed = parse(content, source.label)
        check_content(content, source.label, file)
        return parsed

    return checked


def _cached(
    key: str, parse: Callable[[], tuple[csr_array, np.ndarray]], *, cache: bool
) -> tuple[csr_array, np.ndarray]:
    kept = read_parsed(key) if cache else None
    if kept is not None:
        return kept
    A, labels = parse()
    if cache:
        write_parsed(key, A, labels)
    return A, labels


def _check_counts(label: str, entry: DatasetInfo, nonzeros: int, labels: np.ndarray) -> None:
    values, members = np.unique(labels, return_counts=True)
    found = {
        "rows": labels.size,
        "nonzeros": nonzeros,
        "labels": dict(zip(values.tolist(), members.tolist(), strict=True)),
    }
    published = {"rows": entry.rows, "nonzeros": entry.nonzeros, "labels": entry.classes}
    for what, expected in published.items():
        if found[what] != expected:
            raise DatasetError(
                f"{label}: {found[what]} {what}, the published {entry.name} has {expected}; the file is incomplete or "
                "another one: fetch it again, or load it by its path"
            )
