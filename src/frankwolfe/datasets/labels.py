"""Labels as -1 and +1, random splits, and the checks of the options that ask for them."""

from __future__ import annotations

import math
import operator
from typing import Literal, SupportsIndex, get_args

import numpy as np

from frankwolfe.datasets.errors import DatasetError

Labels = Literal["binary", "raw"]


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
