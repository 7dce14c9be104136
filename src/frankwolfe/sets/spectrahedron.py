"""The spectrahedron: positive semidefinite matrices of given trace."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from frankwolfe.atoms import Atom, RankOne
from frankwolfe.backends import Array, Scalar, all_finite, largest, namespace, scaled
from frankwolfe.sets.base import Ball, ProjectableSet
from frankwolfe.sets.norms import slack, spectral_norm_above
from frankwolfe.sets.projections import project_simplex


@dataclass(frozen=True)
class Spectrahedron(Ball, ProjectableSet):
    """Symmetric positive semidefinite matrices whose trace is `radius`; density matrices by default.

    Parameters
    ----------
    radius : float, default=1.0
        The trace.

    Notes
    -----
    An atom is radius q q' with q an eigenvector of the least eigenvalue of the direction, of which only the symmetric
    part counts [1]_; the projection is that of the eigenvalues onto the simplex. Eigenvalues are found densely: for the
    oracle LAPACK finds the least one and its vector alone, in O(n³) with a small constant.

    References
    ----------
    .. [1] E. Hazan, "Sparse approximate solutions to semidefinite programs", LATIN 2008.

    Examples
    --------
    >>> import numpy as np
    >>> domain = Spectrahedron(2.0)
    >>> domain.lmo(np.diag([3.0, -1.0])).toarray()
    array([[0., 0.],
           [0., 2.]])
    >>> domain.project(np.diag([3.0, 2.0]))
    array([[1.5, 0. ],
           [0. , 0.5]])
    """

    radius: float = 1.0

    def lmo(self, g: Array) -> Atom:
        q = _least(_symmetric_part(scaled(_square(g))))
        return RankOne(self.radius, q, q)

    def support(self, g: Array) -> Scalar:
        return self.radius * largest(g) * namespace(g).linalg.eigvalsh(_symmetric_part(scaled(_square(g))))[-1]

    def diameter(self, shape: tuple[int, ...] | None = None) -> float:
        """Return the distance of two orthogonal atoms, sqrt(2) * radius; zero for matrices of order one."""
        return 0.0 if shape is not None and tuple(shape) == (1, 1) else math.sqrt(2) * self.radius

    def reach(self, c: Array) -> float:
        return self.radius * spectral_norm_above(_square(c)) * (1 + 2.0**-52)

    def contains(self, x: Array, tol: float = 1e-9) -> bool:
        if not all_finite(_square(x)):
            return False
        xp = namespace(x)
        room = self.radius * slack(x, tol)
        if not largest(x - x.T) <= room or not xp.abs(xp.linalg.trace(x) - self.radius) <= room:
            return False
        return bool(largest(x) * xp.linalg.eigvalsh(_symmetric_part(scaled(x)))[0] >= -room)

    def project(self, x: Array) -> Array:
        values, Q = namespace(x).linalg.eigh(_symmetric_part(scaled(_square(x))))
        return (Q * project_simplex(largest(x) * values, self.radius)) @ Q.T


def _square(x: Any) -> Any:
    if len(x.shape) != 2 or x.shape[0] != x.shape[1] or 0 in x.shape:
        raise ValueError(f"Spectrahedron holds square matrices, got an array of shape {tuple(x.shape)}")
    return x


def _symmetric_part(x: Array) -> Array:
    return 0.5 * (x + x.T)


def _least(S: Array) -> Array:
    """Return a unit eigenvector of the least eigenvalue of a symmetric matrix."""
    if not isinstance(S, np.ndarray):
        return namespace(S).linalg.eigh(S)[1][:, 0]
    from scipy.linalg import eigh

    return eigh(S, subset_by_index=[0, 0], check_finite=False)[1][:, 0]
