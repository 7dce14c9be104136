"""One reader for each kind of file: find it, unpack it, parse it, and hold it against what was published."""

from __future__ import annotations

import hashlib
import math
import operator
import struct
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal, SupportsIndex, TypeVar, get_args

import numpy as np

from frankwolfe.datasets.archives import DatasetError, read_file, unpack
from frankwolfe.datasets.files import Access, Source, parsed, parsed_key, read_known
from frankwolfe.datasets.libsvm import parse_libsvm
from frankwolfe.datasets.ratings import Effects, fit_effects, parse_ratings
from frankwolfe.datasets.registry import DataFile, DatasetInfo
from frankwolfe.datasets.types import Dataset, Ratings

if TYPE_CHECKING:
    from scipy.sparse import csr_array

T = TypeVar("T")

_SHARES = {"data": 1.0, "base": 0.8, "test": 0.2}

_UNSIGNED_BYTE = 8

Labels = Literal["binary", "raw"]


def load_path(path: Path, access: Access, labels: Labels, n_features: int | None) -> Dataset:
    """Load any LIBSVM file."""
    raw, name = read_file(path), str(path)
    key = parsed_key(raw, "", n_features)
    A, y = parsed(key, lambda: parse_libsvm(unpack(raw, name), name, n_features), cache=access.cache is True)
    return Dataset(name, A, to_binary(y, name) if labels == "binary" else y, distinct(y), "LIBSVM file", name)


def load_libsvm(entry: DatasetInfo, access: Access, labels: Labels) -> Dataset:
    """Load a known LIBSVM file."""
    file = entry.files["data"]

    def parse(content: bytes, label: str) -> tuple[csr_array, np.ndarray]:
        A, y = parse_libsvm(content, label, entry.columns)
        _check_counts(label, entry, A.nnz, y)
        return A, y

    def parse_once(source: Source) -> tuple[csr_array, np.ndarray]:
        key = parsed_key(source.raw, file.sha256, entry.columns)
        return parsed(key, lambda: _known(file, parse)(source), cache=access.cache is not False)

    A, y = read_known(file, access, parse_once)
    b = to_binary(y, entry.name) if labels == "binary" else y
    return Dataset(entry.name, A, b, distinct(y), entry.description, entry.source)


def load_images(entry: DatasetInfo, access: Access, labels: Labels, digit: int, *, raw: bool) -> Dataset:
    """Load a known pair of image and label files, one image a row."""
    images, digit_file = entry.files["images"], entry.files["labels"]
    pixels = read_known(images, access, _known(images, parse_images))
    digits = read_known(digit_file, access, _known(digit_file, parse_labels))
    if len(pixels) != len(digits):
        raise DatasetError(f"{entry.name}: {len(pixels)} images but {len(digits)} labels; fetch both files again")
    A = pixels.copy() if raw else pixels / 255.0  # a copy, because the bytes read are not writable
    if labels == "raw":
        return Dataset(entry.name, A, digits.astype(np.float64), tuple(range(10)), entry.description, entry.source)
    b = np.where(digits == digit, 1.0, -1.0)
    return Dataset(entry.name, A, b, (f"not {digit}", f"{digit}"), entry.description, entry.source)


def load_ratings(entry: DatasetInfo, access: Access, split: str | None, *, raw: bool, center: bool) -> Ratings:
    """Load known ratings; those of a test set are centred and scaled as its base set is."""
    part = "u.data" if split is None else split
    if part not in entry.files:
        raise ValueError(f"split must be None or one of {tuple(entry.files)[1:]} for {entry.name!r}, got {split!r}")
    shape = entry.rows, entry.columns
    rows, cols, stars = _stars(entry, access, part)
    if raw:
        effects = Effects(np.zeros(shape[0]), np.zeros(shape[1]), 1.0)
    else:
        base = _stars(entry, access, part.replace(".test", ".base")) if part.endswith(".test") else (rows, cols, stars)
        effects = fit_effects(*base, shape, center=center)
    name = entry.name if split is None else f"{entry.name}/{split}"
    values = effects.apply(rows, cols, stars)
    return Ratings(name, rows, cols, values, shape, *effects, entry.description, entry.source)


def _stars(entry: DatasetInfo, access: Access, part: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
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
        # Never much more is unpacked than is known to be there.
        content = unpack(source.raw, source.label, member=source.member, limit=2 * file.size + 2**20)
        found, sha256 = parse(content, source.label), hashlib.sha256(content).hexdigest()
        if sha256 != file.sha256:
            raise DatasetError(
                f"{source.label}: the content is not the published {file.member or file.name} ({len(content)} bytes "
                f"with sha256 {sha256[:16]}..., expected {file.size} with {file.sha256[:16]}...); fetch it again"
            )
        return found

    return checked


def _check_counts(label: str, entry: DatasetInfo, nonzeros: int, labels: np.ndarray) -> None:
    values, members = np.unique(labels, return_counts=True)
    classes = dict(zip(values.tolist(), members.tolist(), strict=True))
    for what, found, expected in (
        ("rows", labels.size, entry.rows),
        ("nonzeros", nonzeros, entry.nonzeros),
        ("labels", classes, entry.classes),
    ):
        if found != expected:
            raise DatasetError(
                f"{label}: {found} {what}, the published {entry.name} has {expected}; the file is incomplete or "
                "another one: fetch it again, or load it by its path"
            )


def parse_idx(content: bytes, file: str, ndim: int) -> np.ndarray:
    """Parse an idx file of unsigned bytes (unpacked) with so many dimensions: 1 for labels, 3 for images."""
    if not content:
        raise DatasetError(f"{file}: the file is empty; fetch it again")
    magic = bytes([0, 0, _UNSIGNED_BYTE, ndim])
    if content[:4] != magic:
        raise DatasetError(
            f"{file}: begins with {content[:4].hex(' ')}, an idx file of bytes with {ndim} dimension(s) begins with "
            f"{magic.hex(' ')}; check that images and labels are not mixed up"
        )
    start = 4 + 4 * ndim
    if len(content) < start:
        raise DatasetError(f"{file}: ends inside its header, after {len(content)} bytes; fetch it again")
    shape = struct.unpack_from(f">{ndim}I", content, 4)
    promised = start + math.prod(shape)
    if len(content) != promised:
        sizes = " x ".join(map(str, shape))
        raise DatasetError(
            f"{file}: {len(content)} bytes where the header ({sizes}) promises {promised}; fetch it again"
        )
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape)


def parse_images(content: bytes, file: str) -> np.ndarray:
    """Parse images into one row of pixels (0 to 255) each."""
    images = parse_idx(content, file, ndim=3)
    if not images.size:
        raise DatasetError(f"{file}: holds no image; fetch it again")
    return images.reshape(len(images), -1)


def parse_labels(content: bytes, file: str) -> np.ndarray:
    """Parse labels, the digits 0 to 9."""
    labels = parse_idx(content, file, ndim=1)
    wrong = np.flatnonzero(labels > 9)
    if wrong.size:
        raise DatasetError(f"{file}: label {labels[wrong[0]]} of image {wrong[0]} is no digit 0..9; fetch it again")
    return labels


def distinct(labels: np.ndarray) -> tuple[float, ...]:
    """Return the labels there are in increasing order, whole numbers as such."""
    return tuple(int(v) if v.is_integer() else v for v in np.unique(labels).tolist())


def to_binary(labels: np.ndarray, file: str) -> np.ndarray:
    """Return -1.0 for the smaller and +1.0 for the larger of two labels."""
    classes = distinct(labels)
    if len(classes) != 2:
        what = f"only one class, {classes[0]}" if len(classes) == 1 else f"{len(classes)} different labels"
        raise DatasetError(f'{file}: {what}, but two classes are needed; give labels="raw" to take labels as they are')
    return np.where(labels == classes[1], 1.0, -1.0)


def split_rows(n: int, part: str, fraction: float, seed: int) -> np.ndarray:
    """Return the rows of the training part (a random ``fraction`` of ``n``, rounded up) or of the rest.

    The rows are those with the smallest of ``n`` random 64-bit numbers. NumPy promises that these raw numbers never
    change, which it does not for its shuffles, so a seed means the same rows everywhere and for good.
    """
    order = np.argsort(np.random.PCG64(seed).random_raw(n), kind="stable")
    m = math.ceil(round(fraction * n, 6))  # 0.07 * 100 is a little more than 7
    return np.sort(order[:m] if part == "train" else order[m:])


def check_options(
    labels: str, digit: SupportsIndex, n_features: SupportsIndex | None, fraction: float, seed: SupportsIndex
) -> None:
    """Refuse options of `load` that no dataset could honour."""
    if labels not in get_args(Labels):
        raise ValueError(f"labels must be one of {get_args(Labels)}, got {labels!r}")
    if not 0 <= _whole(digit, "digit") <= 9:
        raise ValueError(f"digit must be one of 0..9, got {digit!r}")
    if n_features is not None and not 1 <= _whole(n_features, "n_features") < 2**31:
        raise ValueError(f"n_features must be from 1 to 2147483647, got {n_features!r}")
    if not 0 < fraction < 1:
        raise ValueError(f"fraction must lie between 0 and 1, both excluded, got {fraction!r}")
    if _whole(seed, "seed") < 0:
        raise ValueError(f"seed must not be negative, got {seed!r}")


def _whole(value: SupportsIndex, name: str) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be a whole number, got {value!r}") from None
