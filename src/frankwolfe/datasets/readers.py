"""One reader for each kind of file: find it, unpack it, parse it, and hold it against what was published."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from frankwolfe.datasets.archives import read_file, unpack
from frankwolfe.datasets.errors import DatasetError
from frankwolfe.datasets.files import Access, Source, check_content, read_known, unpack_known
from frankwolfe.datasets.idx import parse_images, parse_labels
from frankwolfe.datasets.libsvm import parse_libsvm
from frankwolfe.datasets.parsed import parsed, parsed_key
from frankwolfe.datasets.ratings import parse_ratings
from frankwolfe.datasets.registry import DataFile, DatasetInfo

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["read_images", "read_libsvm", "read_path", "read_ratings"]

T = TypeVar("T")

_SHARES = {"data": 1.0, "base": 0.8, "test": 0.2}


def read_path(path: Path, n_features: int | None, *, cache: bool) -> tuple[csr_array, np.ndarray]:
    """Read any LIBSVM file."""
    raw = read_file(path)
    key = parsed_key(raw, "", n_features)
    return parsed(key, lambda: parse_libsvm(unpack(raw, str(path)), str(path), n_features), cache=cache)


def read_libsvm(entry: DatasetInfo, access: Access) -> tuple[csr_array, np.ndarray]:
    """Read a known LIBSVM file."""
    file = entry.files["data"]

    def parse(content: bytes, label: str) -> tuple[csr_array, np.ndarray]:
        A, labels = parse_libsvm(content, label, entry.columns)
        _check_counts(label, entry, A.nnz, labels)
        return A, labels

    def parse_once(source: Source) -> tuple[csr_array, np.ndarray]:
        key = parsed_key(source.raw, file.sha256, entry.columns)
        return parsed(key, lambda: _known(file, parse)(source), cache=access.cache is not False)

    return read_known(file, access, parse_once)


def read_images(entry: DatasetInfo, access: Access) -> tuple[np.ndarray, np.ndarray]:
    """Read a known pair of image and label files: pixels 0..255, one image a row, and digits."""
    images, labels = entry.files["images"], entry.files["labels"]
    pixels = read_known(images, access, _known(images, parse_images))
    digits = read_known(labels, access, _known(labels, parse_labels))
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
        content = unpack_known(source, file)
        found = parse(content, source.label)
        check_content(content, source.label, file)
        return found

    return checked


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
