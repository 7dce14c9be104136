"""Bundles of atoms: their inner products with a slope, and their weighted sums, all at once."""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from frankwolfe.atoms import Atom, Dense, OneHot, RankOne, Sparse
from frankwolfe.lowrank import LowRank
from frankwolfe.points import Leaf, Point, weighted_sum
from frankwolfe.problem import Problem
from frankwolfe.serialisation import plain

SPARSE_IMAGES = 0.3  # density below which images are stacked as a sparse matrix


class _Points(NamedTuple):
    points: tuple[Point, ...]


@plain
class Bundle(_Points):
    """Distinct atoms as points, each with its image; immutable.

    One-hot and sparse atoms are stacked into one list of indices, dense ones into a matrix, rank-one ones into two, so
    that products with all of them are a few array operations. What is stacked is remembered and never saved: it
    follows from the points.

    Examples
    --------
    >>> bundle = Bundle((Point.at(OneHot(1, np.float64(2.0), (3,))), Point.at(np.ones(3))))
    >>> bundle.size, bundle.find(OneHot(1, np.float64(2.0), (3,))), bundle.find(OneHot(1, np.float64(-2.0), (3,)))
    (2, 0, None)
    >>> bundle.sum([0.5, 0.5], like=np.zeros(3))
    array([0.5, 1.5, 0.5])
    """

    @property
    def size(self) -> int:
        """Number of atoms."""
        return len(self.points)

    @cached_property
    def keys(self) -> tuple[Any, ...]:
        """What identifies each atom: the kind of stack it belongs to, and its numbers, exactly."""
        return tuple(_key(p.coords) for p in self.points)

    def find(self, coords: Any) -> int | None:
        """Return the position of the atom with exactly these numbers, or None."""
        return self._place(_key(coords))

    def add(self, point: Point) -> tuple[Bundle, int]:
        """Return the bundle that has the atom, and the atom's position in it."""
        key = _key(point.coords)
        place = self._place(key)
        if place is not None:
            return self, place
        grown = Bundle((*self.points, point))
        grown.__dict__["keys"] = (*self.keys, key)
        if any(type(stack) is key[0] for _, stack in self._stacks):
            grown.__dict__["_stacks"] = [
                (np.append(where, self.size), stack.grown(point)) if type(stack) is key[0] else (where, stack)
                for where, stack in self._stacks
            ]
        return grown, self.size

    def keep(self, mask: np.ndarray) -> Bundle:
        """Return the bundle of the atoms where `mask` is true."""
        if mask.all():
            return self
        places = np.flatnonzero(mask).tolist()
        kept = Bundle(tuple(self.points[i] for i in places))
        kept.__dict__["keys"] = tuple(self.keys[i] for i in places)
        renumbered = np.cumsum(mask) - 1
        kept.__dict__["_stacks"] = [
            (renumbered[where[mask[where]]], stack.kept(mask[where])) for where, stack in self._stacks if mask[where].any()
        ]
        return kept

    def inner(self, problem: Problem, slope: Any) -> np.ndarray:
        """Return <slope, atom> for every atom."""
        out = np.empty(self.size)
        for places, stack in self._stacks:
            out[places] = stack.inner(problem, slope)
        return out

    def light(self, like: Any) -> bool:
        """Tell whether `sum` costs no more than a few operations on a single point."""
        return isinstance(like, LowRank) or sum(len(places) for places, stack in self._stacks if not isinstance(stack, _Sparse)) <= 1

    def sum(self, weights: Any, like: Any) -> Any:
        """Return the coordinates of the weighted sum, in the form of `like`."""
        weights = np.asarray(weights, dtype=np.float64)
        if isinstance(like, LowRank):
            return _low_rank(weights, [p.coords for p in self.points], like)
        if not isinstance(like, np.ndarray):
            arrays = [p.coords.toarray() if isinstance(p.coords, Atom) else p.coords for p in self.points]
            return weighted_sum(list(zip(weights.tolist(), arrays, strict=True)))
        total = np.zeros(like.size, like.dtype)
        for places, stack in self._stacks:
            stack.add(total, weights[places].astype(like.dtype))
        return total.reshape(like.shape)

    def point(self, weights: np.ndarray, like: Any) -> Point:
        """Return the weighted sum as a point; its image is the sum of the atoms' images."""
        coords = self.sum(weights, like)
        if "images" in self.__dict__:
            image = self.images @ weights.astype(self.images.dtype)
            return Point(coords, ((1.0, Leaf(None, image)),), (self.points, weights))
        terms = tuple(
            (weight * w, leaf)
            for weight, p in zip(weights.tolist(), self.points, strict=True)
            for w, leaf in p.terms
            if weight
        )
        return Point(coords, tuple(sorted(terms, key=lambda term: term[1].value is None)), (self.points, weights))

    @cached_property
    def images(self) -> Any:
        """The atoms' images as columns of a matrix; all must be known."""
        columns = [p.image for p in self.points]
        nonzero = [np.flatnonzero(c) for c in columns]
        ends = np.cumsum([0, *(i.size for i in nonzero)])
        if ends[-1] > SPARSE_IMAGES * len(columns) * columns[0].size:
            return np.stack(columns, axis=1)
        from scipy.sparse import csc_array

        data = np.concatenate([c[i] for c, i in zip(columns, nonzero, strict=True)])
        return csc_array((data, np.concatenate(nonzero), ends), shape=(columns[0].size, len(columns)))

    @cached_property
    def _stacks(self) -> list[tuple[np.ndarray, _Stack]]:
        """The atoms by form: their places, and the stack."""
        places: dict[type[_Stack], list[int]] = {}
        for i, (form, _) in enumerate(self.keys):
            places.setdefault(form, []).append(i)
        return [(np.array(where), form.of([self.points[i] for i in where])) for form, where in places.items()]

    def _place(self, key: Any) -> int | None:
        return self.keys.index(key) if key in self.keys else None


class _Stack:
    """Atoms of one form, as arrays with one row each."""

    def __init__(self, rows: tuple[np.ndarray, ...]) -> None:
        self.rows = rows

    @classmethod
    def of(cls, points: list[Point]) -> _Stack:
        """Return the stack of these atoms."""
        return cls(tuple(_joined(parts) for parts in zip(*(cls.row(p) for p in points), strict=True)))

    def grown(self, point: Point) -> _Stack:
        """Return the stack with one atom more."""
        return type(self)(tuple(_joined(parts) for parts in zip(self.rows, self.row(point), strict=True)))

    def kept(self, mask: np.ndarray) -> _Stack:
        """Return the stack of the atoms where `mask` is true."""
        return type(self)(tuple(a[mask] for a in self.rows))

    @staticmethod
    def row(p: Point) -> tuple[np.ndarray, ...]:
        """Return the arrays of one atom, each with a first axis of length one."""
        raise NotImplementedError

    def inner(self, problem: Problem, slope: Any) -> np.ndarray:
        """Return <slope, atom> for every atom."""
        raise NotImplementedError

    def add(self, total: np.ndarray, weights: np.ndarray) -> None:
        """Add the weighted sum of the atoms to a flat array, in place."""
        raise NotImplementedError


class _Sparse(_Stack):
    """One-hot and sparse atoms: indices and values, filled up with zeros to a common length."""

    @staticmethod
    def row(p: Point) -> tuple[np.ndarray, ...]:
        a = p.coords
        pair = (a.index, a.value) if isinstance(a, OneHot) else (a.indices, a.values)
        return tuple(np.reshape(part, (1, -1)) for part in pair)

    def inner(self, problem: Problem, slope: Any) -> np.ndarray:
        indices, values = self.rows
        return np.sum(slope.reshape(-1)[indices] * values, axis=1)

    def add(self, total: np.ndarray, weights: np.ndarray) -> None:
        indices, values = self.rows
        np.add.at(total, indices, values * weights[:, None])


class _Dense(_Stack):
    """Dense atoms and plain arrays, as rows of a matrix."""

    @staticmethod
    def row(p: Point) -> tuple[np.ndarray, ...]:
        return (np.reshape(p.coords.array if isinstance(p.coords, Dense) else p.coords, (1, -1)),)

    def inner(self, problem: Problem, slope: Any) -> np.ndarray:
        return self.rows[0] @ slope.reshape(-1)

    def add(self, total: np.ndarray, weights: np.ndarray) -> None:
        total += weights @ self.rows[0]


class _RankOne(_Stack):
    """Rank-one atoms: scales, left and right vectors."""

    @staticmethod
    def row(p: Point) -> tuple[np.ndarray, ...]:
        return np.reshape(p.coords.scale, 1), p.coords.left[None, :], p.coords.right[None, :]

    def inner(self, problem: Problem, slope: Any) -> np.ndarray:
        scale, left, right = self.rows
        return scale * np.sum(left * (slope @ right.T).T, axis=1)

    def add(self, total: np.ndarray, weights: np.ndarray) -> None:
        scale, left, right = self.rows
        total += ((left * (weights * scale)[:, None]).T @ right).reshape(-1)


class _Other(_Stack):
    """Whatever else, one by one: low-rank starting points, arrays that are not NumPy's."""

    @staticmethod
    def row(p: Point) -> tuple[np.ndarray, ...]:
        box = np.empty(1, dtype=object)
        box[0] = p
        return (box,)

    def inner(self, problem: Problem, slope: Any) -> np.ndarray:
        return np.array([float(problem.inner(slope, p)) for p in self.rows[0]])

    def add(self, total: np.ndarray, weights: np.ndarray) -> None:
        for weight, p in zip(weights, self.rows[0], strict=True):
            total += weight * p.coords.toarray().reshape(-1)


def _joined(parts: tuple[np.ndarray, ...]) -> np.ndarray:
    """Return arrays one below the other, shorter rows filled up with zeros."""
    if parts[0].ndim == 2:
        width = max(a.shape[1] for a in parts)
        parts = tuple(a if a.shape[1] == width else np.pad(a, ((0, 0), (0, width - a.shape[1]))) for a in parts)
    return np.concatenate(parts)


def _form(coords: Any) -> type[_Stack]:
    """Return the kind of stack that holds such coordinates."""
    arrays = tuple(vars(coords).values()) if isinstance(coords, Atom) else (coords,)
    if any(not isinstance(a, np.ndarray | np.generic | int | float | tuple) for a in arrays):
        return _Other
    if isinstance(coords, OneHot | Sparse):
        return _Sparse
    if isinstance(coords, RankOne):
        return _RankOne
    return _Dense if isinstance(coords, Dense | np.ndarray) else _Other


def _key(coords: Any) -> tuple[type[_Stack], Any]:
    """Return form and numbers of an atom, or a digest of them; the object itself where they are not NumPy's."""
    form = _form(coords)
    if form is _Other:
        return form, id(coords)
    if isinstance(coords, OneHot):
        return form, (coords.index, float(coords.value))
    digest = hashlib.blake2b(type(coords).__name__.encode(), digest_size=16)
    for part in vars(coords).values() if isinstance(coords, Atom) else (coords,):
        digest.update(np.ascontiguousarray(part).tobytes())
    return form, digest.digest()


def _low_rank(weights: np.ndarray, coords: list[Any], like: LowRank) -> LowRank:
    """Return the weighted sum of rank-one atoms, and perhaps low-rank matrices, with shared factors."""
    if all(isinstance(c, RankOne) for c in coords):
        scales = np.array([c.scale for c in coords])
        return LowRank(weights * scales, [c.left for c in coords], [c.right for c in coords], like.shape, dtype=like.dtype)
    return LowRank.combine(weights.tolist(), [LowRank.from_atom(c) if isinstance(c, RankOne) else c for c in coords])
