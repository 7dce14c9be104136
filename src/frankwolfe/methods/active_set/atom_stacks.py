"""Stacks: atoms of one form as a few arrays, so that one operation serves them all."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np
from array_api_compat import is_array_api_obj

from frankwolfe.atoms import Atom
from frankwolfe.backends import Array, fetch, host, namespace
from frankwolfe.backends.namespace import as_index, is_foreign
from frankwolfe.points import Point
from frankwolfe.problem import Problem

SPARSE_IMAGES = 0.3  # density below which images are stacked as a sparse matrix


class Stack(ABC):
    """Atoms of one form, as arrays with one row each."""

    light: ClassVar[bool] = False  # whether a sum of them costs no more than a few operations on a single point

    def __init__(self, rows: tuple[np.ndarray, ...]) -> None:
        self.rows = rows

    @classmethod
    def of(cls, points: list[Point]) -> Stack:
        """Return the stack of these atoms."""
        return cls(tuple(_joined(parts) for parts in zip(*(cls.row(p) for p in points), strict=True)))

    def grown(self, point: Point) -> Stack:
        """Return the stack with one atom more."""
        return type(self)(tuple(_joined(parts) for parts in zip(self.rows, self.row(point), strict=True)))

    def kept(self, mask: np.ndarray) -> Stack:
        """Return the stack of the atoms where `mask` is true."""
        return type(self)(tuple(a[mask] for a in self.rows))

    @staticmethod
    @abstractmethod
    def row(p: Point) -> tuple[np.ndarray, ...]:
        """Return the arrays of one atom, each with a first axis of length one."""

    @abstractmethod
    def inner(self, problem: Problem, slope: Any) -> np.ndarray:
        """Return <slope, atom> for every atom."""

    @abstractmethod
    def add(self, total: np.ndarray, weights: np.ndarray) -> None:
        """Add the weighted sum of the atoms to a flat array, in place."""


class SparseStack(Stack):
    """One-hot and sparse atoms: indices and values, filled up with zeros to a common length."""

    light = True

    @staticmethod
    def row(p: Point) -> tuple[np.ndarray, ...]:
        atom: Any = p.coords
        indices, values = atom.indices, atom.values
        return np.reshape(indices, (1, -1)), np.reshape(values, (1, -1)), np.array([np.size(values)])

    def kept(self, mask: np.ndarray) -> Stack:
        indices, values, counts = (a[mask] for a in self.rows)
        width = counts.max()  # as if the others had never been there: sums repeat to the last bit
        return SparseStack((indices[:, :width], values[:, :width], counts))

    def inner(self, problem: Problem, slope: Any) -> np.ndarray:
        indices, values, _ = self.rows
        return np.sum(slope.reshape(-1)[indices] * values, axis=1)

    def add(self, total: np.ndarray, weights: np.ndarray) -> None:
        indices, values, _ = self.rows
        np.add.at(total, indices, values * weights[:, None])


class DenseStack(Stack):
    """Dense atoms and plain arrays, as rows of a matrix."""

    @staticmethod
    def row(p: Point) -> tuple[np.ndarray, ...]:
        return (np.reshape(p.array, (1, -1)),)

    def inner(self, problem: Problem, slope: Any) -> np.ndarray:
        return self.rows[0] @ slope.reshape(-1)

    def add(self, total: np.ndarray, weights: np.ndarray) -> None:
        total += weights @ self.rows[0]


class RankOneStack(Stack):
    """Rank-one atoms: scales, left and right vectors."""

    @staticmethod
    def row(p: Point) -> tuple[np.ndarray, ...]:
        atom: Any = p.coords
        return np.reshape(atom.scale, 1), atom.left[None, :], atom.right[None, :]

    def inner(self, problem: Problem, slope: Any) -> np.ndarray:
        scale, left, right = self.rows
        return scale * np.sum(left * (slope @ right.T).T, axis=1)

    def add(self, total: np.ndarray, weights: np.ndarray) -> None:
        scale, left, right = self.rows
        total += ((left * (weights * scale)[:, None]).T @ right).reshape(-1)


class OtherStack(Stack):
    """Whatever else, one by one: low-rank starting points, arrays that are not NumPy's."""

    @staticmethod
    def row(p: Point) -> tuple[np.ndarray, ...]:
        box = np.empty(1, dtype=object)
        box[0] = p
        return (box,)

    def inner(self, problem: Problem, slope: Any) -> np.ndarray:
        return np.array(fetch([problem.inner(slope, p) for p in self.rows[0]]))

    def add(self, total: np.ndarray, weights: np.ndarray) -> None:
        for weight, p in zip(weights, self.rows[0], strict=True):
            total += weight * p.coords.toarray().reshape(-1)


def _joined(parts: tuple[np.ndarray, ...]) -> np.ndarray:
    """Return arrays one below the other, shorter rows filled up with zeros."""
    if parts[0].ndim == 2:
        width = max(a.shape[1] for a in parts)
        parts = tuple(a if a.shape[1] == width else np.pad(a, ((0, 0), (0, width - a.shape[1]))) for a in parts)
    return np.concatenate(parts)


def key(coords: Any) -> tuple[type[Stack], Any]:
    """Return the kind of stack that holds an atom, and a digest of its numbers; the object where it is no array."""
    is_atom = isinstance(coords, Atom)
    parts = tuple(vars(coords).values()) if is_atom else (coords,)
    kind = STACKS[coords.form if is_atom else "dense"]
    if any(not isinstance(part, HOST_NUMBERS) for part in parts):
        if not any(is_array_api_obj(part) for part in parts):
            return OtherStack, id(coords)
        kind, parts = OtherStack, tuple(host(part) if is_array_api_obj(part) else part for part in parts)
    digest = hashlib.blake2b(type(coords).__name__.encode(), digest_size=16)
    for part in parts:
        digest.update(np.ascontiguousarray(part).tobytes())
    return kind, digest.digest()


STACKS: dict[str, type[Stack]] = {
    "sparse": SparseStack,
    "dense": DenseStack,
    "rank one": RankOneStack,
    "other": OtherStack,
}
HOST_NUMBERS = (np.ndarray, np.generic, int, float, tuple)


class Images(NamedTuple):
    """Images as columns of a matrix: dense, or sparse where there are few nonzeros.

    Which of the two depends on the columns alone, never on how they came together: a resumed run repeats.
    """

    matrix: Any
    counts: np.ndarray  # nonzeros of each column

    @classmethod
    def none(cls) -> Images:
        """Return no images."""
        return cls(None, np.zeros(0, dtype=np.int64))

    def grown(self, columns: list[Array]) -> Images:
        """Return the images with some more columns, in the form that suits them all; those of a device are dense."""
        parts = [] if self.matrix is None else [self.matrix]
        counts = self.counts
        if not columns and is_foreign(self.matrix):
            return self
        if columns and is_foreign(columns[0]):
            xp = namespace(*columns)
            parts.append(xp.stack(columns, axis=1))
            return Images(xp.concat(parts, axis=1), np.append(counts, np.full(len(columns), columns[0].shape[0])))
        if columns:
            parts.append(np.stack(columns).T)
            counts = np.append(counts, [np.count_nonzero(column) for column in columns])
        if np.sum(counts) > SPARSE_IMAGES * counts.size * parts[0].shape[0]:
            arrays = [part.toarray() if hasattr(part, "toarray") else part for part in parts]
            return Images(np.ascontiguousarray(np.concatenate(arrays, axis=1)), counts)
        from scipy.sparse import csc_array, hstack

        # Column by column: several times faster than what SciPy does with any array.
        for i, part in enumerate(parts):
            if isinstance(part, np.ndarray):
                places = [np.flatnonzero(column) for column in part.T]
                starts = np.cumsum([0, *map(len, places)])
                numbers = np.concatenate([column[at] for column, at in zip(part.T, places, strict=True)])
                parts[i] = csc_array((numbers, np.concatenate(places), starts), shape=part.shape)
        return Images(hstack(parts, format="csc"), counts)

    def kept(self, mask: np.ndarray) -> Images:
        """Return the images where `mask` is true."""
        if is_foreign(self.matrix):
            places = as_index(np.flatnonzero(mask), self.matrix)
            return Images(namespace(self.matrix).take(self.matrix, places, axis=1), self.counts[mask])
        return Images(self.matrix[:, mask], self.counts[mask])
