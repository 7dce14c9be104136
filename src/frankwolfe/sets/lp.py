"""Balls of the l_p norms."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from frankwolfe.backends import Array, Scalar, largest, namespace, scaled, zeros
from frankwolfe.sets.atoms import Atom, Dense, OneHot
from frankwolfe.sets.base import ProjectableSet
from frankwolfe.sets.projections import project_l1
from frankwolfe.validation import positive


@dataclass(frozen=True)
class L1Ball(ProjectableSet):
    """Points with sum of absolute values at most `radius`.

    Parameters
    ----------
    radius : float
        Positive radius.

    Examples
    --------
    >>> import numpy as np
    >>> L1Ball(2.0).lmo(np.array([1.0, -3.0, 2.0])).toarray()
    array([0., 2., 0.])
    """

    radius: float
    sparse_atoms: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", positive("radius", self.radius))

    def lmo(self, g: Array) -> Atom:
        xp = namespace(g)
        flat = xp.reshape(g, (-1,))
        j = int(xp.argmax(xp.abs(flat)))
        sign = xp.where(flat[j] > 0, -xp.ones_like(flat[j]), xp.ones_like(flat[j]))
        return OneHot(j, self.radius * sign, tuple(g.shape))

    def support(self, g: Array) -> Scalar:
        return self.radius * largest(g)

    def diameter(self, shape: tuple[int, ...] | None = None) -> float:
        return 2 * self.radius

    def contains(self, x: Array, tol: float = 1e-9) -> bool:
        xp = namespace(x)
        return bool(xp.sum(xp.abs(x)) <= self.radius * (1 + tol))

    def with_radius(self, radius: float) -> Self:
        return replace(self, radius=radius)

    def project(self, x: Array) -> Array:
        return project_l1(x, self.radius)


@dataclass(frozen=True)
class L2Ball(ProjectableSet):
    """Points with Euclidean (for matrices Frobenius) norm at most `radius`.

    Parameters
    ----------
    radius : float
        Positive radius.

    Examples
    --------
    >>> import numpy as np
    >>> L2Ball(5.0).lmo(np.array([3.0, -4.0])).toarray()
    array([-3.,  4.])
    """

    radius: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", positive("radius", self.radius))

    def lmo(self, g: Array) -> Atom:
        g = scaled(g)
        norm = namespace(g).linalg.vector_norm(g)
        return Dense((-self.radius / norm) * g if norm > 0 else zeros(tuple(g.shape), g))

    def support(self, g: Array) -> Scalar:
        top = largest(g)
        return self.radius * top * namespace(g).linalg.vector_norm(g / top) if top > 0 else 0.0

    def diameter(self, shape: tuple[int, ...] | None = None) -> float:
        return 2 * self.radius

    def contains(self, x: Array, tol: float = 1e-9) -> bool:
        return bool(namespace(x).linalg.vector_norm(x) <= self.radius * (1 + tol))

    def with_radius(self, radius: float) -> Self:
        return replace(self, radius=radius)

    def project(self, x: Array) -> Array:
        norm = largest(x) * namespace(x).linalg.vector_norm(scaled(x))
        return x * (self.radius / norm) if norm > self.radius else x


_ = math
