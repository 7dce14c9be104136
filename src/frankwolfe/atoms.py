"""Atoms: the vertices an oracle returns, each kept in its natural form."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from frankwolfe.backends import Array, Scalar, namespace, row_dot, set_at, toward, vdot, zeros


class Atom(ABC):
    """A point of a set in the cheapest exact form: dense, one-hot, sparse or rank-one."""

    form: ClassVar[str] = "other"
    """Dense, sparse or rank one, whose arrays are stacked, or another."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """Shape of the point."""

    @abstractmethod
    def inner(self, g: Any) -> Scalar:
        """Return <g, atom>."""

    @abstractmethod
    def toarray(self) -> Array:
        """Return the point as an array."""

    @abstractmethod
    def mixed_into(self, x: Any, delta: Scalar) -> Any:
        """Return (1 - delta) x + delta atom; x is left alone."""

    @abstractmethod
    def scale_by(self, c: Scalar) -> Atom:
        """Return c times the atom, in the same form."""

    def moved_to(self, radius: float, before: float) -> Atom:
        """Return the atom of a set of one radius for another; on the boundary of one it is on that of the other."""
        return self.scale_by(radius / before)


@dataclass(frozen=True, eq=False)
class ArrayAtom(Atom):
    """An atom that is kept as an array."""

    form: ClassVar[str] = "dense"
    array: Array

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.array.shape)

    def toarray(self) -> Array:
        return self.array

    def mixed_into(self, x: Array, delta: Scalar) -> Array:
        return toward(x, self.array, delta)

    def scale_by(self, c: Scalar) -> Self:
        return type(self)(c * self.array)


class Dense(ArrayAtom):
    """An atom with no structure to exploit."""

    def inner(self, g: Array) -> Scalar:
        return vdot(g, self.array)


class StackedAtoms(ArrayAtom):
    """Atoms of many problems at once, one to a row; inner products are row by row."""

    def inner(self, g: Array) -> Array:
        return row_dot(g, self.array)


@dataclass(frozen=True, eq=False)
class Sparse(Atom):
    """An atom with few nonzeros: `values` at `indices` of the flattened array (indices increase, none twice)."""

    form: ClassVar[str] = "sparse"
    indices: Array
    values: Array
    shape_: tuple[int, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.shape_

    def inner(self, g: Array) -> Scalar:
        xp = namespace(g)
        return vdot(xp.take(xp.reshape(g, (-1,)), self.indices), self.values)

    def toarray(self) -> Array:
        return set_at(zeros(self.shape, self.values), self.indices, self.values)

    def mixed_into(self, x: Array, delta: Scalar) -> Array:
        xp = namespace(x)
        here = xp.take(xp.reshape(x, (-1,)), self.indices)
        return set_at((1 - delta) * x, self.indices, toward(here, self.values, delta))

    def scale_by(self, c: Scalar) -> Sparse:
        return Sparse(self.indices, c * self.values, self.shape)


@dataclass(frozen=True, eq=False)
class OneHot(Atom):
    """An atom with a single nonzero: `value` (a 0-d array) at `index` of the flattened array."""

    form: ClassVar[str] = "sparse"
    index: int
    value: Array
    shape_: tuple[int, ...]

    @property
    def indices(self) -> int:
        """The index, by the name that sparse atoms have for theirs."""
        return self.index

    @property
    def values(self) -> Array:
        """The value, likewise."""
        return self.value

    @property
    def shape(self) -> tuple[int, ...]:
        return self.shape_

    def inner(self, g: Array) -> Scalar:
        return (g if len(self.shape) == 1 else namespace(g).reshape(g, (-1,)))[self.index] * self.value

    def toarray(self) -> Array:
        return set_at(zeros(self.shape, self.value), self.index, self.value)

    def mixed_into(self, x: Array, delta: Scalar) -> Array:
        here = (x if x.ndim == 1 else namespace(x).reshape(x, (-1,)))[self.index]
        return set_at((1 - delta) * x, self.index, toward(here, self.value, delta))

    def scale_by(self, c: Scalar) -> OneHot:
        return OneHot(self.index, c * self.value, self.shape)

    def moved_to(self, radius: float, before: float) -> OneHot:
        return OneHot(self.index, self.value / before * radius, self.shape)  # exactly the radius


@dataclass(frozen=True, eq=False)
class RankOne(Atom):
    """The matrix scale * outer(left, right), never formed unless asked for."""

    form: ClassVar[str] = "rank one"
    scale: float
    left: Array
    right: Array

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.left.shape[0], self.right.shape[0])

    def inner(self, g: Any) -> Scalar:
        """Return <g, atom> for anything that can multiply a vector: array, sparse matrix, entries on a pattern."""
        return self.scale * vdot(self.left, g @ self.right)

    def toarray(self) -> Array:
        return self.scale * namespace(self.left).linalg.outer(self.left, self.right)

    def mixed_into(self, x: Any, delta: Scalar) -> Any:
        if isinstance(x, Mixable):
            return x.mixed_with(self, delta)
        return toward(x, self.toarray(), delta)

    def scale_by(self, c: Scalar) -> RankOne:
        return RankOne(float(c * self.scale), self.left, self.right)


class Mixable(ABC):
    """Coordinates that know how to take an atom in (a low-rank matrix takes a rank-one atom as one more factor)."""

    @abstractmethod
    def mixed_with(self, atom: RankOne, delta: Scalar) -> Mixable:
        """Return (1 - delta) self + delta atom."""

    @abstractmethod
    def sum_of(self, weights: Any, coords: list[Any]) -> Mixable:
        """Return the weighted sum of atoms, and of coordinates like these."""
