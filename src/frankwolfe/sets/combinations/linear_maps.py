"""Sets moved by a linear map: scaled, shifted, and general linear images."""

from __future__ import annotations

import math
import numbers
import sys
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from frankwolfe.atoms import Atom, Dense
from frankwolfe.backends.namespace import Array, Scalar, all_finite, as_like, eps, namespace, vdot, zeros
from frankwolfe.sets.arrays import above, frozen, norm, on_host, slack
from frankwolfe.sets.base import ProjectableSet, Set, install, is_point, require_shape
from frankwolfe.sets.combinations.combined_set import Combination

FLAT = 1e-10  # ratio of singular values below which a map is not undone


class MappedSet(Combination):
    """A set moved by a map."""

    part: Set

    @property
    def parts(self) -> tuple[Set, ...]:
        return (self.part,)


@dataclass(frozen=True)
class Scaled(MappedSet, ProjectableSet):
    """All factor * x with x in a set; written ``factor * domain``.

    Parameters
    ----------
    part : Set
        The set.
    factor : float
        Any nonzero number; a negative one also reflects the set at the origin.

    Examples
    --------
    >>> import numpy as np
    >>> from frankwolfe.sets import Simplex
    >>> Scaled(Simplex(3), -2.0).lmo(np.array([1.0, 3.0, 2.0])).toarray()
    array([ 0., -2.,  0.])
    """

    part: Set
    factor: float
    _shared = ("exact_oracle", "sparse_atoms", "spectral_atoms", "keeps_factors", "curved")

    def __post_init__(self) -> None:
        self._inherit()
        c = self.factor
        if not isinstance(c, numbers.Real) or isinstance(c, bool) or c == 0 or not math.isfinite(c):
            raise ValueError(f"factor must be a nonzero finite number, got {c!r}")
        install(self, factor=float(c), shape=self.part.shape)

    def diameter(self, shape: tuple[int, ...] | None = None) -> float:
        return abs(self.factor) * self.part.diameter(shape)

    def reach(self, c: Array) -> float:
        return abs(self.factor) * self.part.reach(c)

    def contains(self, x: Any, tol: float = 1e-9) -> bool:
        return self.part.contains((1.0 / self.factor) * x, tol)

    def with_radius(self, radius: float) -> Self:
        """Return the scaled set such that the product of factor and radius is `radius`."""
        return type(self)(self.part.with_radius(radius / abs(self.factor)), self.factor)

    @property
    def _weight(self) -> float:
        return abs(self.factor)

    def _questions(self, g: Array) -> list[Array]:
        return [g if self.factor > 0 else -g]

    def _atom(self, g: Array, answers: list[tuple[Atom, Scalar]]) -> Atom:
        return answers[0][0].scale_by(self.factor)

    def _total(self, g: Array, minima: list[Scalar]) -> Scalar:
        return abs(self.factor) * minima[0]

    def project(self, x: Array) -> Array:
        return self.factor * self.part.project((1.0 / self.factor) * x)  # pyright: ignore[reportAttributeAccessIssue]


@dataclass(frozen=True, eq=False)
class Shifted(MappedSet, ProjectableSet):
    """All x + offset with x in a set; written ``domain + offset``.

    Parameters
    ----------
    part : Set
        The set.
    offset : array_like
        Where its origin goes; fixes the shape of the points.

    Examples
    --------
    >>> import numpy as np
    >>> from frankwolfe.sets import L2Ball
    >>> Shifted(L2Ball(5.0), [1.0, 1.0]).lmo(np.array([3.0, -4.0])).toarray()
    array([-2.,  5.])
    """

    part: Set
    offset: Any
    _shared = ("exact_oracle", "spectral_atoms", "curved")

    def __post_init__(self) -> None:
        self._inherit()
        offset = frozen("offset", self.offset)
        if self.part.shape not in (None, offset.shape):
            raise ValueError(f"offset must have the shape of the points, {self.part.shape}, got {offset.shape}")
        install(self, offset=offset, shape=offset.shape)

    def diameter(self, shape: tuple[int, ...] | None = None) -> float:
        return self.part.diameter(self.shape)

    def reach(self, c: Array) -> float:
        require_shape(self, c)
        return self.part.reach(c) + above(vdot(c, as_like(np.abs(self.offset), c)), c)

    def contains(self, x: Array, tol: float = 1e-9) -> bool:
        if not is_point(self, x):
            return False
        if self._blocks:  # each has a size of its own
            return all(moved.contains(x[block].reshape(moved.shape), tol) for block, moved in self._blocks)
        # Far from the origin x itself is rounded by more than the tolerance of a small set.
        apart, limits = x - as_like(self.offset, x), self.part.bounds(x)
        if limits is not None:  # every entry has a size of its own
            xp, sizes = namespace(x), as_like(np.abs(self.offset), x)
            room = slack(x, tol) * xp.maximum(xp.abs(limits[0]), xp.abs(limits[1])) + 4 * eps(x) * sizes
            return bool(xp.all(apart >= limits[0] - room)) and bool(xp.all(apart <= limits[1] + room))
        point = self.part.lmo(zeros(tuple(x.shape), x)).toarray()
        size = float(norm(point, 2)) + self.part.diameter(self.shape)
        rounding = 4 * eps(x) * float(norm(self.offset, 2))
        return self.part.contains(apart, max(tol, rounding / size) if size > 0 else tol)

    @cached_property
    def _blocks(self) -> list[tuple[slice, Shifted]]:
        """The shifted factors of a product, each with its place; none for other sets."""
        return [(block, Shifted(part, self.offset[block].reshape(shape))) for block, part, shape in self.part.factors]

    def with_radius(self, radius: float) -> Self:
        """Return the set of another radius, shifted as before."""
        return type(self)(self.part.with_radius(radius), self.offset)

    def _questions(self, g: Array) -> list[Array]:
        require_shape(self, g)
        return [g]

    def _atom(self, g: Array, answers: list[tuple[Atom, Scalar]]) -> Atom:
        v = answers[0][0].toarray()
        return Dense(v + as_like(self.offset, v))

    def _total(self, g: Array, minima: list[Scalar]) -> Scalar:
        return minima[0] + vdot(g, as_like(self.offset, g))

    def project(self, x: Array) -> Array:
        require_shape(self, x)
        offset = as_like(self.offset, x)
        return self.part.project(x - offset) + offset  # pyright: ignore[reportAttributeAccessIssue]


@dataclass(frozen=True, eq=False, repr=False)
class LinearImage(MappedSet):
    """All B x with x in a set; written ``B @ domain`` for an array B.

    Parameters
    ----------
    part : Set
        The set; a set of matrices is read row by row.
    matrix : array or sparse matrix of shape (m, n)
        The map B.

    Notes
    -----
    The oracle asks the set for the direction B'g and maps the answer. The diameter is bounded by that of the set times
    the largest singular value of B. Where the columns of B are independent, a point is tested by solving for x;
    otherwise by calls of the oracle.

    Examples
    --------
    >>> import numpy as np
    >>> from frankwolfe.sets import L1Ball
    >>> domain = LinearImage(L1Ball(1.0), [[1.0, 1.0], [0.0, 2.0]])
    >>> domain.lmo(np.array([1.0, 1.0])).toarray()
    array([-1., -2.])
    >>> domain.contains(np.array([0.5, 1.0]))
    True
    """

    part: Set
    matrix: Any
    exact_oracle: ClassVar[bool] = False
    _shared = ()

    def __post_init__(self) -> None:
        self._inherit()
        matrix = self.matrix.toarray() if hasattr(self.matrix, "toarray") else self.matrix
        matrix = frozen("matrix", matrix)
        if matrix.ndim != 2 or 0 in matrix.shape:
            raise ValueError(f"matrix must have two dimensions, got shape {matrix.shape}")
        if self.part.shape is not None and math.prod(self.part.shape) != matrix.shape[1]:
            raise ValueError(
                f"matrix must have {math.prod(self.part.shape)} columns to act on points of shape {self.part.shape}, "
                f"got shape {matrix.shape}"
            )
        install(self, matrix=matrix, shape=matrix.shape[:1])

    def __repr__(self) -> str:
        return f"LinearImage({self.part!r}, <matrix of shape {self.matrix.shape}>)"

    def diameter(self, shape: tuple[int, ...] | None = None) -> float:
        """Return an upper bound: the diameter of the set times the largest singular value."""
        return float(self._factors[1][0]) * self.part.diameter(self._inner_shape)

    def reach(self, c: Array) -> float:
        require_shape(self, c)
        weights = namespace(c).reshape(as_like(np.abs(self.matrix), c).T @ c, self._inner_shape)
        return above(self.part.reach(weights), c)

    def contains(self, x: Array, tol: float = 1e-9) -> bool:
        require_shape(self, x)
        U, s, Wt = self._factors
        if s.size < self.matrix.shape[1] or s[-1] <= FLAT * s[0]:
            return super().contains(x, tol)
        if not all_finite(x):
            return False
        x64 = on_host(x)
        inner = Wt.T @ ((U.T @ x64) / s)
        residual = float(np.max(np.abs(self.matrix @ inner - x64)))
        near = residual <= slack(x, tol) * float(np.max(np.abs(x64)) + s[0] * np.max(np.abs(inner)))
        # An ulp of x may be many of what it is the image of.
        longest, length = float(np.max(np.abs(x64))), float(np.max(np.abs(inner)))
        condition = math.sqrt(x64.size) * longest / max(float(s[-1]) * length, sys.float_info.min)
        room = max(tol, slack(x, 0.0) * max(condition, 1.0))
        return near and self.part.contains(as_like(inner.reshape(self._inner_shape), x), room)

    def _questions(self, g: Array) -> list[Array]:
        require_shape(self, g)
        return [namespace(g).reshape(as_like(self.matrix, g).T @ g, self._inner_shape)]

    def _atom(self, g: Array, answers: list[tuple[Atom, Scalar]]) -> Atom:
        v = answers[0][0].toarray()
        return Dense(as_like(self.matrix, v) @ namespace(v).reshape(v, (-1,)))

    def _total(self, g: Array, minima: list[Scalar]) -> Scalar:
        """Return the part's minimum less what the rounding of B'g can make of it."""
        return minima[0] - (self.matrix.shape[0] + 8) * eps(g) * norm(g, 2) * self._size

    @cached_property
    def _size(self) -> float:
        """An upper bound on \\|B\\| \\|x\\| over the part."""
        point = self.part.lmo(np.zeros(self._inner_shape)).toarray()
        return float(norm(self.matrix, 2)) * (float(norm(point, 2)) + self.part.diameter(self._inner_shape))

    @property
    def _inner_shape(self) -> tuple[int, ...]:
        return self.part.shape or self.matrix.shape[1:]

    @cached_property
    def _factors(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return np.linalg.svd(self.matrix, full_matrices=False)
