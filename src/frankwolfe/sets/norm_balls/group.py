"""Balls of mixed norms over groups of coordinates."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import array_api_compat
import numpy as np

from frankwolfe.atoms import Atom, Dense, Sparse
from frankwolfe.backends.namespace import Array, Scalar, all_finite, namespace, nonzero, scaled
from frankwolfe.sets.arrays import conjugate, dual_vectors, exponent, norm, norms, slack, unmasked
from frankwolfe.sets.base import Ball, ProjectableSet, install
from frankwolfe.sets.projections import project_lp

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


@dataclass(frozen=True, eq=False, repr=False)
class GroupBall(Ball, ProjectableSet):
    """Points whose group norms, l_s inside each group, have l_p norm at most `radius`.

    The defaults, s = 2 and p = 1, are the group lasso's ball: an atom lives on one group.

    Parameters
    ----------
    radius : float
        Positive radius.
    groups : sequence of index arrays, or array of labels
        A partition of the coordinates 0..d-1 of the (flattened) points: either one array of indices per group, or one
        label (integer or string) per coordinate. Kept as an array of labels.
    s : float, default=2
        Exponent inside a group, from one to infinity.
    p : float, default=1
        Exponent across the groups, from one to infinity.

    Notes
    -----
    With s', p' the conjugate exponents the support value is the l_p' norm of the groups' l_s' norms, times the radius,
    and the oracle works in the same two stages: weights for the groups, then the l_s ball of that weight in each [1]_.
    Ties go to the first group. Where s = 2 the set is a `ProjectableSet`: the projection only shrinks the group norms
    [2]_. For other s it is not, and ``isinstance(ball, ProjectableSet)`` says so.

    References
    ----------
    .. [1] M. Jaggi, "Revisiting Frank-Wolfe: projection-free sparse convex optimization", ICML 2013.
    .. [2] E. van den Berg, M. Schmidt, M. P. Friedlander, K. Murphy, "Group sparsity via linear-time projection",
       technical report TR-2008-09, University of British Columbia, 2008.

    Examples
    --------
    >>> import numpy as np
    >>> ball = GroupBall(5.0, groups=[[0, 1], [2, 3]])
    >>> ball.lmo(np.array([3.0, -4.0, 1.0, 1.0])).toarray()
    array([-3.,  4.,  0.,  0.])
    >>> ball.groups
    array([0, 0, 1, 1])
    """

    groups: Any
    s: float = 2.0
    p: float = 1.0
    holds_magnitudes: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        install(self, groups=self._parts.labels, s=exponent("s", self.s), p=exponent("p", self.p))
        install(self, sparse_atoms=self.p == 1)

    def __repr__(self) -> str:
        sizes = self._parts.sizes
        return f"GroupBall(radius={self.radius!r}, groups=<{len(sizes)} groups>, s={self.s!r}, p={self.p!r})"

    @cached_property
    def _parts(self) -> Partition:
        return Partition(self.groups)

    def lmo(self, g: Array) -> Atom:
        xp = namespace(g)
        flat = xp.reshape(scaled(g), (-1,))
        sizes = self._norms(xp.abs(flat), conjugate(self.s))
        if self.p == 1:
            indices = self._parts.members(int(xp.argmax(sizes)), like=g)
            part = xp.take(flat, indices)
            return Sparse(indices, -self.radius * xp.sign(part) * dual_vectors(xp.abs(part), self.s), tuple(g.shape))
        weights = dual_vectors(sizes, self.p)
        inside = self._parts.each(xp.abs(flat), lambda rows: dual_vectors(rows, self.s))
        v = -self.radius * xp.sign(flat) * inside * self._parts.spread(weights)
        return Dense(xp.reshape(v, tuple(g.shape)))

    def support(self, g: Array) -> Scalar:
        xp = namespace(g)
        return self.radius * norm(self._norms(xp.reshape(g, (-1,)), conjugate(self.s)), conjugate(self.p))

    def diameter(self, shape: tuple[int, ...] | None = None) -> float:
        """Return the exact diameter: the longest atom, doubled (Hoelder's inequality in both stages)."""
        longest = self._parts.sizes ** max(0.0, 0.5 - 1 / self.s)
        if self.p <= 2:
            return 2 * self.radius * float(np.max(longest))
        return 2 * self.radius * float(norm(longest, 2.0 if math.isinf(self.p) else 2 * self.p / (self.p - 2)))

    def contains(self, x: Array, tol: float = 1e-9) -> bool:
        self._check(x)
        if not all_finite(x):
            return False
        sizes = self._norms(namespace(x).reshape(x, (-1,)), self.s)
        return bool(norm(sizes, self.p) <= self.radius * (1 + slack(x, tol)))

    def _check(self, x: Array) -> None:
        entries = math.prod(x.shape)
        if entries != self.groups.size:
            raise ValueError(f"groups cover {self.groups.size} coordinates, but the array has {entries} entries")

    def _norms(self, flat: Array, s: float) -> Array:
        self._check(flat)
        return self._parts.reduce(flat, lambda rows: norms(rows, s))

    def can(self, capability: type) -> bool:
        return capability is not ProjectableSet or self.s == 2

    def project(self, x: Array) -> Array:
        """Return the nearest point, where s = 2: rotations inside a group leave the set alone, so that norms shrink."""
        if self.s != 2:
            raise TypeError(f"a GroupBall has a projection for s = 2 only, got s = {self.s!r}")
        xp = namespace(x)
        flat = xp.reshape(x, (-1,))
        sizes = self._norms(flat, 2.0)
        shrunk = project_lp(sizes, self.radius, self.p)
        if shrunk is sizes:
            return x
        return xp.reshape(flat * self._parts.spread(shrunk / nonzero(sizes)), tuple(x.shape))
