"""The part of a set that lies in a Euclidean ball."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from frankwolfe.atoms import Dense
from frankwolfe.backends.namespace import Array, as_like
from frankwolfe.sets.arrays import on_host
from frankwolfe.sets.base import EmptySetError, LinearMinimum, ProjectableSet, ProvenSet, install, require_shape
from frankwolfe.sets.norm_balls.lp_balls import L2Ball
from frankwolfe.sets.polytopes.polytope import Polytope

NEARLY_FREE = 2.0**-30  # of the first multiplier: further away a projection onto a polytope is no longer exact
HALVINGS = 200  # of the bracket of a multiplier; it ends when two neighbouring numbers are left


@dataclass(frozen=True)
class BallIntersection(ProvenSet):
    """The points of another set that lie in a Euclidean ball; ``L2Ball(r) & part`` makes one.

    Parameters
    ----------
    ball : L2Ball
        The ball, centred at zero.
    part : ProjectableSet or Polytope
        A `Box`, a `Simplex`, an `L1Ball`, or any other set with a cheap projection P; or a `Polytope`, onto which one
        projects by nonnegative least squares. Of sets given by linear constraints alone, such as a box and a simplex,
        make one `Polytope` instead.

    Notes
    -----
    With a multiplier t of the ball's constraint the minimiser of <g, x> + t\\|x\\|²/2 over the part is P(-g/t), and its
    length falls as t grows: the t at which it is the radius is found by bisection. For every t, and x = P(-g/t), the
    split g = (g + tx) - tx proves

        <g, v> >= min of <g + tx, .> over the part - t \\|x\\| r

    for all v of the intersection, whatever the bisection, or rounding in P, has left: that is what `minimum` answers
    with.

    Examples
    --------
    >>> import numpy as np, frankwolfe as fw
    >>> domain = fw.L2Ball(1.0) & fw.Box(np.zeros(3), np.full(3, 0.8))
    >>> domain.lmo(np.array([-3.0, -1.0, 1.0])).toarray()
    array([0.8, 0.6, 0. ])
    """

    ball: Any
    part: Any
    closed_form: ClassVar[bool] = False
    quick_membership: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not isinstance(self.ball, L2Ball):
            raise TypeError(
                f"an intersection is that of an L2Ball with another set, got {type(self.ball).__name__}; of sets with "
                "linear constraints make one Polytope"
            )
        if not isinstance(self.part, ProjectableSet | Polytope):
            raise TypeError(
                f"{type(self.part).__name__} has no projection, which an intersection with a ball needs; use a Box, a "
                "Simplex, a Polytope or another set that has"
            )
        install(self, shape=self.part.shape)
        if self.part.shape is not None:
            nearest = float(np.linalg.norm(self.part.project(np.zeros(self.part.shape))))
            if nearest > self.ball.radius:
                raise EmptySetError(
                    f"the two sets do not meet: no point of {self.part!r} is nearer to zero than {nearest:.4g}; raise "
                    "the radius of the ball"
                )

    @property
    def radius(self) -> float:
        """The radius of the ball."""
        return self.ball.radius

    def minimum(self, g: Array) -> LinearMinimum:
        """Return a minimiser up to rounding, its value, and a proven lower bound."""
        require_shape(self, g)
        direction = on_host(g)
        size = float(np.max(np.abs(direction), initial=0.0))
        if not size > 0:
            atom = Dense(as_like(self.part.project(np.zeros(direction.shape)), g))
            return LinearMinimum(atom, 0.0, 0.0)
        direction = direction / size
        corner = self.part.minimum(direction)
        x, lower = on_host(corner.atom.toarray()), float(corner.lower) - self._room(np.abs(direction))
        if not float(np.linalg.norm(x)) <= self.radius:
            x, t = self._on_the_sphere(direction)
            lower = max(lower, self._proven(direction, x, t))
        atom = Dense(as_like(x, g))
        return LinearMinimum(atom, atom.inner(g), size * lower - 2.0**-51 * abs(size * lower))

    def diameter(self, shape: tuple[int, ...] | None = None) -> float:
        """Return an upper bound: the smaller of the two diameters."""
        return min(self.ball.diameter(shape), self.part.diameter(shape))

    def reach(self, c: Array) -> float:
        return min(self.ball.reach(c), self.part.reach(c))

    def contains(self, x: Array, tol: float = 1e-9) -> bool:
        require_shape(self, x)
        return self.ball.contains(x, tol) and self.part.contains(x, tol)

    def with_radius(self, radius: float) -> Self:
        """Return the intersection with a ball of another radius."""
        return replace(self, ball=self.ball.with_radius(radius))

    def _on_the_sphere(self, g: np.ndarray) -> tuple[np.ndarray, float]:
        """Return P(-g/t), of at most the radius, and t, as small as that allows."""
        high = float(np.linalg.norm(g)) / self.radius
        x = self.part.project(-g / high)
        while float(np.linalg.norm(x)) > self.radius and high < 1e300:
            high *= 2
            x = self.part.project(-g / high)
        low, least = 0.5 * high, NEARLY_FREE * high if isinstance(self.part, Polytope) else 1e-300
        while float(np.linalg.norm(self.part.project(-g / low))) <= self.radius and low > least:
            low, high = 0.5 * low, low
        if low <= least:  # the ball does not bind: t is nothing beside g
            return self.part.project(-g / high), high
        for _ in range(HALVINGS):
            middle = math.sqrt(low * high)
            if not low < middle < high:
                break
            if float(np.linalg.norm(self.part.project(-g / middle))) <= self.radius:
                high = middle
            else:
                low = middle
        return self.part.project(-g / high), high

    def _proven(self, g: np.ndarray, x: np.ndarray, t: float) -> float:
        """Return a number that <g, .> is nowhere less than on the intersection."""
        rest = g + t * x
        length = float(np.linalg.norm(x))
        lower = float(self.part.minimum(rest).lower) - t * length * self.radius
        return lower - self._room(np.abs(g) + t * np.abs(x), t * length * self.radius)

    def _room(self, magnitudes: np.ndarray, more: float = 0.0) -> float:
        """Bound what rounding does to a product with a point of the part, and to a number of size `more` beside it."""
        return 2.0**-52 * (16 + magnitudes.size) * (float(self.part.reach(magnitudes)) + more)
