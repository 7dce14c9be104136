"""The simplex, and the hypersimplex: fractions of a choice of k out of n."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

from frankwolfe.atoms import Atom, OneHot, Sparse
from frankwolfe.backends.namespace import Array, Scalar, namespace, number_like, position, top_k
from frankwolfe.sets.arrays import slack
from frankwolfe.sets.base import CoordinateSet, ProjectableSet, install, is_point, require_shape
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


@dataclass(frozen=True)
class Hypersimplex(ProjectableSet):
    """Vectors of length n with entries between zero and one that sum to k.

    It is the convex hull of the indicators of the k-element subsets of n things; with k = 1 the probability simplex.

    Parameters
    ----------
    n : int
        Length of the vectors.
    k : int
        Sum of the entries, from 1 to n.

    Notes
    -----
    An atom has ones where the direction has its k least entries. The projection clips ``x - t`` to [0, 1]; the shift t
    is the root of a piecewise linear function, found by bracketing and then exactly [1]_.

    References
    ----------
    .. [1] N. Maculan, C. P. Santiago, E. M. Macambira, M. H. C. Jardim, "An O(n) algorithm for projecting a vector on
       the intersection of a hyperplane and a box in R^n", Journal of Optimization Theory and Applications 117, 2003.

    Examples
    --------
    >>> import numpy as np
    >>> domain = Hypersimplex(4, k=2)
    >>> domain.lmo(np.array([3.0, -1.0, 2.0, 0.0])).toarray()
    array([0., 1., 0., 1.])
    >>> domain.project(np.array([2.0, 0.75, 0.25, -1.0]))
    array([1.  , 0.75, 0.25, 0.  ])
    """

    n: int
    k: int
    vertex_height = 1.0
    sparse_atoms: ClassVar[bool] = True
    holds_magnitudes: ClassVar[bool] = True
    combines_choices: ClassVar[bool] = True
    mixes_atoms: ClassVar[bool] = True

    def __post_init__(self) -> None:
        install(self, n=integer("n", self.n, 1), k=integer("k", self.k, 1))
        install(self, shape=(self.n,))
        if self.k > self.n:
            raise ValueError(f"k must be at most n = {self.n} (entries are at most one), got {self.k}")

    def lmo(self, g: Array) -> Atom:
        require_shape(self, g)
        indices = top_k(-g, self.k)
        return Sparse(indices, namespace(g).ones_like(g[: self.k]), (self.n,))

    def support(self, g: Array) -> Scalar:
        require_shape(self, g)
        xp = namespace(g)
        return xp.sum(xp.take(g, top_k(g, self.k)))

    def diameter(self, shape: tuple[int, ...] | None = None) -> float:
        """Return the distance of two subsets that share as little as they can."""
        return math.sqrt(2 * min(self.k, self.n - self.k))

    def contains(self, x: Array, tol: float = 1e-9) -> bool:
        if not is_point(self, x):
            return False
        xp = namespace(x)
        room = slack(x, tol)
        inside = bool(xp.min(x) >= -room) and bool(xp.max(x) <= 1 + room)
        return inside and bool(xp.abs(xp.sum(x) - self.k) <= room * self.k)

    def project(self, x: Array) -> Array:
        require_shape(self, x)
        xp = namespace(x)
        # Seen from the k-th largest entry the shift lies in [-1, 0], so a large common offset costs no digits.
        y = x - xp.sort(x)[self.n - self.k]
        low, high = xp.zeros_like(y), xp.ones_like(y)

        def clipped(shift: Scalar) -> Array:
            return xp.minimum(xp.maximum(y - shift, low), high)

        # An entry is strictly between zero and one for shifts between its two kinks, y - 1 and y.
        starts, ends = (xp.minimum(xp.maximum(edge, -high), low) for edge in (y - 1, y))
        kinks = xp.sort(xp.concat([starts, ends]))
        left, right = 0, kinks.shape[0] - 1  # the sum falls with the shift, from at least k to less than k
        while right - left > 1:
            middle = (left + right) // 2
            if xp.sum(clipped(kinks[middle])) >= self.k:
                left = middle
            else:
                right = middle
        shift = kinks[left]
        count = int(xp.sum(xp.astype((starts <= shift) & (ends > shift), xp.int32)))
        if count:
            shift = shift + (xp.sum(clipped(shift)) - self.k) / count
        return clipped(shift)
