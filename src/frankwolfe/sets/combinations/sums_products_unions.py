"""Sets made from several: sums, products, hulls of unions."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from frankwolfe.atoms import Atom, Dense, Sparse
from frankwolfe.backends import Array, Scalar, namespace
from frankwolfe.sets.base import Factor, ProjectableSet, Set, install, known_shape, require_shape
from frankwolfe.sets.combinations.combined_set import Combination, common_shape, entries_of


@dataclass(frozen=True, init=False)
class OfOneShape(Combination):
    """A set made from several whose points have one shape, and which are all asked the same question."""

    parts: tuple[Set, ...]

    def __init__(self, *parts: Set) -> None:
        _install(self, parts)
        install(self, shape=common_shape(type(self).__name__, parts))

    def _questions(self, g: Array) -> list[Array]:
        return [g for _ in self.parts]


@dataclass(frozen=True, init=False)
class MinkowskiSum(OfOneShape):
    """All sums of one point from each set; written ``first + second``.

    Parameters
    ----------
    *parts : Set
        Sets of points of one shape.

    Notes
    -----
    An atom is the sum of the parts' atoms. The diameter is bounded by the sum of theirs (exactly right for balls). A
    point is tested by calls of the oracle.

    Examples
    --------
    >>> import numpy as np
    >>> from frankwolfe.sets import L1Ball, LInfBall
    >>> MinkowskiSum(L1Ball(2.0), LInfBall(1.0)).lmo(np.array([1.0, -3.0])).toarray()
    array([-1.,  3.])
    """

    _shared = ("exact_oracle", "sparse_atoms", "curved")

    def diameter(self, shape: tuple[int, ...] | None = None) -> float:
        """Return an upper bound, the sum of the diameters."""
        return sum(part.diameter(self.shape or shape) for part in self.parts)

    def reach(self, c: Array) -> float:
        return sum(part.reach(c) for part in self.parts)

    def _atom(self, g: Array, answers: list[tuple[Atom, Scalar]]) -> Atom:
        atoms = [atom for atom, _ in answers]
        few = [entries_of(atom) for atom in atoms]
        if None not in few:
            places, values = (np.concatenate(column) for column in zip(*few, strict=True))  # pyright: ignore[reportArgumentType]
            indices, owners = np.unique(places, return_inverse=True)
            total = np.zeros(indices.size, dtype=values.dtype)
            np.add.at(total, owners, values)
            return Sparse(indices, total, atoms[0].shape)
        total = atoms[0].toarray()
        for atom in atoms[1:]:
            total = total + atom.toarray()
        return Dense(total)

    def _total(self, g: Array, minima: list[Scalar]) -> Scalar:
        return sum(minima)


@dataclass(frozen=True, init=False)
class UnionHull(OfOneShape):
    """The convex hull of the union of several sets.

    Parameters
    ----------
    *parts : Set
        Sets of points of one shape.

    Notes
    -----
    An atom is the best of the parts' atoms, the first of equal ones. A point is tested by calls of the oracle where it
    lies in no part.

    Examples
    --------
    >>> import numpy as np
    >>> from frankwolfe.sets import L1Ball, LInfBall
    >>> domain = UnionHull(L1Ball(3.0), LInfBall(1.0))
    >>> domain.lmo(np.array([1.0, 1.0, 1.0, 1.0])).toarray()
    array([-1., -1., -1., -1.])
    >>> domain.lmo(np.array([0.0, 1.0, 0.0, 0.0])).toarray()
    array([ 0., -3.,  0.,  0.])
    """

    _shared = ("exact_oracle", "sparse_atoms", "keeps_factors")

    def diameter(self, shape: tuple[int, ...] | None = None) -> float:
        """Return an upper bound, from the diameters and the distances of one point of each part."""
        shape = self.shape or known_shape(self, shape)
        wide = [part.diameter(shape) for part in self.parts]
        points = [np.asarray(part.lmo(np.zeros(shape)).toarray()) for part in self.parts]
        pairs = combinations(range(len(wide)), 2)
        across = (float(np.linalg.norm(points[i] - points[j])) + wide[i] + wide[j] for i, j in pairs)
        return max(*wide, *across) if len(wide) > 1 else wide[0]

    def reach(self, c: Array) -> float:
        return max(part.reach(c) for part in self.parts)

    def contains(self, x: Array, tol: float = 1e-9) -> bool:
        return any(part.contains(x, tol) for part in self.parts) or super().contains(x, tol)

    def _atom(self, g: Array, answers: list[tuple[Atom, Scalar]]) -> Atom:
        return min(answers, key=lambda answer: float(answer[1]))[0]

    def _total(self, g: Array, minima: list[Scalar]) -> Scalar:
        return min(minima, key=float)


@dataclass(frozen=True, init=False)
class Product(Combination, ProjectableSet):
    """The product of several sets: vectors made of one block from each.

    Parameters
    ----------
    *parts : Set
        The factors, in the order of the blocks.
    shapes : sequence of tuple of int (or int), optional
        Shape of each factor's points (a matrix takes its block row by row). Needed for factors that do not fix it, such
        as balls; None for the others.

    Notes
    -----
    Oracle, projection, membership and diameter go block by block and are as good as the factors'. `blocks` gives the
    slices, for methods that move one block at a time.

    Examples
    --------
    >>> import numpy as np
    >>> from frankwolfe.sets import L2Ball, Simplex
    >>> domain = Product(Simplex(2), L2Ball(5.0), shapes=[None, (2,)])
    >>> domain.lmo(np.array([1.0, 2.0, 3.0, -4.0])).toarray()
    array([ 1.,  0., -3.,  4.])
    >>> domain.blocks
    (slice(0, 2, None), slice(2, 4, None))
    """

    parts: tuple[Set, ...]
    shapes: tuple[tuple[int, ...], ...]
    mixes_atoms: ClassVar[bool] = True

    def __init__(self, *parts: Set, shapes: Sequence[Any] | None = None) -> None:
        _install(self, parts)
        given = [None] * len(parts) if shapes is None else list(shapes)
        if len(given) != len(parts):
            raise ValueError(f"shapes must have one entry for each of the {len(parts)} sets, got {len(given)}")
        found = tuple(_block_shape(i, part, shape) for i, (part, shape) in enumerate(zip(parts, given, strict=True)))
        install(self, shapes=found, shape=(sum(map(math.prod, found)),))

    @property
    def blocks(self) -> tuple[slice, ...]:
        """The slice of each factor's block."""
        ends = np.cumsum([math.prod(shape) for shape in self.shapes]).tolist()
        return tuple(slice(start, end) for start, end in zip([0, *ends[:-1]], ends, strict=True))

    @property
    def factors(self) -> tuple[Factor, ...]:
        return tuple(map(Factor, self.blocks, self.parts, self.shapes))

    def split(self, x: Array) -> list[Array]:
        """Return the blocks of a vector, each in the shape of its factor's points."""
        require_shape(self, x)
        xp = namespace(x)
        return [xp.reshape(x[block], shape) for block, shape in zip(self.blocks, self.shapes, strict=True)]

    def diameter(self, shape: tuple[int, ...] | None = None) -> float:
        return math.hypot(*(part.diameter(block) for part, block in zip(self.parts, self.shapes, strict=True)))

    def reach(self, c: Array) -> float:
        return sum(part.reach(block) for part, block in zip(self.parts, self.split(c), strict=True))

    def contains(self, x: Array, tol: float = 1e-9) -> bool:
        return all(part.contains(block, tol) for part, block in zip(self.parts, self.split(x), strict=True))

    def _questions(self, g: Array) -> list[Array]:
        return self.split(g)

    def _atom(self, g: Array, answers: list[tuple[Atom, Scalar]]) -> Atom:
        atoms = [atom for atom, _ in answers]
        few = [entries_of(atom) for atom in atoms]
        if None not in few:
            places = [block.start + entries[0] for block, entries in zip(self.blocks, few, strict=True)]  # pyright: ignore[reportOptionalSubscript]
            values = [entries[1] for entries in few]  # pyright: ignore[reportOptionalSubscript]
            return Sparse(np.concatenate(places), np.concatenate(values), tuple(g.shape))
        return Dense(_joined([atom.toarray() for atom in atoms]))

    def _total(self, g: Array, minima: list[Scalar]) -> Scalar:
        return sum(minima)

    def project(self, x: Array) -> Array:
        pairs = zip(self.parts, self.split(x), strict=True)
        return _joined([part.project(block) for part, block in pairs])  # pyright: ignore[reportAttributeAccessIssue]


def _install(domain: Any, parts: tuple[Set, ...]) -> None:
    if not parts:
        raise ValueError(f"{type(domain).__name__} needs at least one set, got none")
    install(domain, parts=parts)
    domain._inherit()


def _block_shape(i: int, part: Set, given: Any) -> tuple[int, ...]:
    if given is not None:
        given = (given,) if isinstance(given, numbers.Integral) else tuple(given)
    if part.shape is None and given is None:
        name = type(part).__name__
        raise ValueError(f"{name} (set {i} of the product) holds points of any shape; say which: Product(..., shapes=)")
    if part.shape is not None and given not in (None, part.shape):
        raise ValueError(f"set {i} of the product holds points of shape {part.shape}, but shapes says {given}")
    return part.shape or given or ()


def _joined(blocks: list[Array]) -> Array:
    xp = namespace(blocks[0])
    return xp.concat([xp.reshape(block, (-1,)) for block in blocks])
