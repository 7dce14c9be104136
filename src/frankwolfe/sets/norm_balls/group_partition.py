"""A partition of coordinates into groups, with sums over groups that every array namespace can do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import array_api_compat
import numpy as np

from frankwolfe.backends import Array, namespace
from frankwolfe.sets.fixed_arrays import unmasked

_REMEDY = "give index arrays that cover 0..d-1 once each, or one label per coordinate"


class Partition:
    """Groups of coordinates (see `GroupBall`), arranged so that groups of one size are the rows of a matrix.

    The array standard has no segmented sum. Coordinates are therefore permuted so that all groups of one size lie
    together; each such block is reshaped to (number of groups, size) and reduced along its rows. There are at most
    sqrt(2 d) different sizes.
    """

    def __init__(self, groups: Any) -> None:
        self.labels = _labels(groups)
        self.labels.setflags(write=False)
        self.sizes = np.bincount(self.labels)
        by_label = np.argsort(self.labels, kind="stable")  # indices increase within each group
        starts = np.cumsum(self.sizes) - self.sizes
        self._members = (by_label, starts)
        ranked = np.argsort(self.sizes, kind="stable")  # groups in the order of the blocks
        self._order = np.concatenate([by_label[starts[i] : starts[i] + self.sizes[i]] for i in ranked])
        self._places = np.argsort(self._order)
        self._group_places = np.argsort(ranked)
        sizes, counts = np.unique(self.sizes, return_counts=True)
        self._blocks = [(int(size), int(count)) for size, count in zip(sizes, counts, strict=True)]

    def members(self, group: int, like: Array) -> Array:
        """Return the indices of one group, increasing, in the namespace and on the device of `like`."""
        by_label, starts = self._members
        return _index(by_label[starts[group] : starts[group] + self.sizes[group]], like)

    def reduce(self, flat: Array, rule: Callable[[Array], Array]) -> Array:
        """Return one number for each group: `rule` maps a matrix with a group in each row to a vector."""
        xp = namespace(flat)
        values = [rule(rows) for rows in self._rows(flat)]
        return xp.take(xp.concat(values), _index(self._group_places, flat))

    def each(self, flat: Array, rule: Callable[[Array], Array]) -> Array:
        """Return a vector like `flat`, with `rule` applied to matrices that have a group in each row."""
        xp = namespace(flat)
        values = [xp.reshape(rule(rows), (-1,)) for rows in self._rows(flat)]
        return xp.take(xp.concat(values), _index(self._places, flat))

    def spread(self, values: Array) -> Array:
        """Return a vector with the value of its group at every coordinate."""
        return namespace(values).take(values, _index(self.labels, values))

    def _rows(self, flat: Array) -> list[Array]:
        xp = namespace(flat)
        flat = xp.take(flat, _index(self._order, flat))
        rows, start = [], 0
        for size, count in self._blocks:
            rows.append(xp.reshape(flat[start : start + size * count], (count, size)))
            start += size * count
        return rows


def _index(indices: np.ndarray, like: Array) -> Array:
    xp = namespace(like)
    return indices if xp is np else xp.asarray(indices.copy(), device=array_api_compat.device(like))


def _labels(groups: Any) -> np.ndarray:
    """Return the number of its group for every coordinate, or raise one clear error."""
    groups = unmasked("groups", groups)
    if isinstance(groups, str) or not hasattr(groups, "__len__") or len(groups) == 0:
        raise ValueError(f"groups must be a nonempty partition of the coordinates, got {groups!r}; {_REMEDY}")
    if all(np.ndim(item) == 0 for item in groups):
        labels = np.asarray(groups)
        if labels.dtype.kind not in "iubUS":
            raise ValueError(f"groups must hold integer or string labels, got dtype {labels.dtype}; {_REMEDY}")
        return np.unique(labels, return_inverse=True)[1].astype(np.int64)
    parts = [np.asarray(item) for item in groups]
    for number, part in enumerate(parts):
        if part.ndim != 1 or part.size == 0:
            raise ValueError(f"group {number} of groups is empty or not one-dimensional; {_REMEDY}")
        if part.dtype.kind not in "iu":
            raise ValueError(f"group {number} of groups must hold integer indices, got dtype {part.dtype}; {_REMEDY}")
    indices = np.concatenate(parts).astype(np.int64)
    counts = np.bincount(indices[indices >= 0], minlength=1) if indices.max() < 2 * indices.size else None
    if indices.min() < 0:
        raise ValueError(f"groups holds the index {indices.min()}, which is negative; {_REMEDY}")
    if counts is None or not np.all(counts):
        missing = int(np.setdiff1d(np.arange(indices.size + 1), indices)[0])
        raise ValueError(f"groups leave out coordinate {missing} (their largest index is {indices.max()}); {_REMEDY}")
    if np.any(counts > 1):
        raise ValueError(f"groups overlap: coordinate {int(np.argmax(counts > 1))} is in more than one; {_REMEDY}")
    labels = np.empty(indices.size, dtype=np.int64)
    labels[indices] = np.repeat(np.arange(len(parts)), [part.size for part in parts])
    return labels
