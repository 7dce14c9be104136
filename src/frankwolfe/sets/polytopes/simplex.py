"""The simplex."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

from frankwolfe.atoms import Atom, OneHot
from frankwolfe.backends import Array, Scalar, namespace
from frankwolfe.backends.namespace import number_like, position
from frankwolfe.sets.base import CoordinateSet, install, require_shape
from frankwolfe.sets.norms import slack
from frankwolfe.sets.projections import project_simplex
from frankwolfe.validation import integer, positive


@dataclass(frozen=True)
class Simplex(CoordinateSet):
    """Nonnegative vectors of length `dim` that sum to `radius`; the probability simplex by default.

    Parameters
    ----------
    dim : int
        Length of the vectors.
    radius : float, default=1.0
        What the entries sum to.

    Notes
    -----
    Atoms are `radius` at the coordinate where the direction is least. The projection sorts [1]_.

    References
    ----------
    .. [1] M. Held, P. Wolfe, H. P. Crowder, "Validation of subgradient optimization", Mathematical Programming 6, 1974.

    Examples
    --------
    >>> import numpy as np
    >>> Simplex(3).lmo(np.array([1.0, -3.0, 2.0])).toarray()
    array([0., 1., 0.])
    """

    dim: int
    radius: float = 1.0
    coordinate_signs: ClassVar[tuple[float, ...]] = (1.0,)

    def __post_init__(self) -> None:
        install(self, dim=integer("dim", self.dim, 1), radius=positive("radius", self.radius))
        install(self, shape=(self.dim,), vertex_height=self.radius)

    def lmo(self, g: Array) -> Atom:
        require_shape(self, g)
        j = position(namespace(g).argmin(g))
        return OneHot(j, number_like(self.radius, g[j]), (self.dim,))

    def support(self, g: Array) -> Scalar:
        require_shape(self, g)
        return self.radius * namespace(g).max(g)

    def diameter(self, shape: tuple[int, ...] | None = None) -> float:
        """Return the distance of two corners, sqrt(2) * radius; zero where there is only one."""
        return math.sqrt(2) * self.radius if self.dim > 1 else 0.0

    def contains(self, x: Array, tol: float = 1e-9) -> bool:
        require_shape(self, x)
        xp = namespace(x)
        room = self.radius * slack(x, tol)
        return bool(xp.min(x) >= -room) and bool(xp.abs(xp.sum(x) - self.radius) <= room)

    def of_size(self, count: int) -> Simplex:
        return replace(self, dim=count)

    def project(self, x: Array) -> Array:
        require_shape(self, x)
        return project_simplex(x, self.radius)
