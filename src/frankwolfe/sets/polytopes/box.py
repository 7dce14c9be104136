"""Boxes: lower and upper bounds, coordinate by coordinate."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from frankwolfe.atoms import Atom, Dense
from frankwolfe.backends.namespace import Array, Scalar, as_like, namespace
from frankwolfe.sets.arrays import above, frozen, norm, slack
from frankwolfe.sets.base import ProjectableSet, install, known_shape, require_shape
from frankwolfe.validation import positive


@dataclass(frozen=True, eq=False)
class Box(ProjectableSet):
    """Points with lower <= x <= upper in every entry.

    Parameters
    ----------
    lower, upper : float or array_like
        Finite bounds. Two numbers bound points of any shape; an array on either side fixes the shape.

    Notes
    -----
    Atoms are corners. Where an entry of the direction is zero the upper bound is taken.

    Only a box centred at zero (lower = -upper) has a radius: half its longest side. `with_radius` scales such a box and
    raises `TypeError` for any other.

    Examples
    --------
    >>> import numpy as np
    >>> Box(0.0, [1.0, 2.0, 3.0]).lmo(np.array([1.0, -1.0, 0.0])).toarray()
    array([0., 2., 3.])
    """

    combines_choices: ClassVar[bool] = True
    lower: Any
    upper: Any

    def __post_init__(self) -> None:
        lower, upper = frozen("lower", self.lower), frozen("upper", self.upper)
        try:
            shape = np.broadcast_shapes(lower.shape, upper.shape)
        except ValueError:
            raise ValueError(
                f"lower and upper must have one shape (or be numbers), got {lower.shape} and {upper.shape}"
            ) from None
        if np.any(lower > upper):
            raise ValueError(f"lower must not exceed upper anywhere, got lower={self.lower!r}, upper={self.upper!r}")
        install(self, shape=shape or None)
        for name, bound in (("lower", lower), ("upper", upper)):
            install(self, **{name: frozen(name, np.broadcast_to(bound, shape)) if shape else float(bound)})

    @property
    def radius(self) -> float:
        """Half the longest side of a box centred at zero."""
        half = float(np.max(self.upper))
        if not np.array_equal(np.negative(self.lower), self.upper) or half == 0:
            raise TypeError("this Box is not centred at zero (lower = -upper), so it has no radius; build a new Box")
        return half

    def lmo(self, g: Array) -> Atom:
        lower, upper = self._bounds(g)
        return Dense(namespace(g).where(g > 0, lower, upper))

    def support(self, g: Array) -> Scalar:
        xp = namespace(g)
        lower, upper = self._bounds(g)
        return xp.sum(g * xp.where(g > 0, upper, lower))

    def diameter(self, shape: tuple[int, ...] | None = None) -> float:
        """Return the length of the diagonal; with two numbers as bounds the shape is needed."""
        if self.shape is not None:
            return float(norm(self.upper - self.lower, 2))
        return (self.upper - self.lower) * math.sqrt(math.prod(known_shape(self, shape)))

    def reach(self, c: Array) -> float:
        farthest = np.maximum(np.abs(self.lower), np.abs(self.upper))
        return above(namespace(c).sum(c * as_like(farthest, c)), c)

    def contains(self, x: Array, tol: float = 1e-9) -> bool:
        xp = namespace(x)
        lower, upper = self._bounds(x)
        # Every entry has a size of its own.
        room = slack(x, tol) * xp.maximum(xp.abs(lower), xp.abs(upper))
        return bool(xp.all(x >= lower - room)) and bool(xp.all(x <= upper + room))

    def with_radius(self, radius: float) -> Self:
        """Return the box scaled about zero so that half its longest side is `radius`; it must be centred at zero."""
        upper = np.asarray(self.upper) / self.radius * positive("radius", radius)
        return type(self)(-upper, upper)

    def project(self, x: Array) -> Array:
        xp = namespace(x)
        lower, upper = self._bounds(x)
        return xp.minimum(xp.maximum(x, lower), upper)

    def bounds(self, x: Array) -> tuple[Array, Array]:
        """Return both bounds, as arrays like x."""
        xp = namespace(x)
        lower, upper = self._bounds(x)
        return xp.zeros_like(x) + lower, xp.zeros_like(x) + upper

    def _bounds(self, like: Array) -> tuple[Array, Array]:
        require_shape(self, like)
        return as_like(self.lower, like), as_like(self.upper, like)
