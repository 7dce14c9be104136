"""The spectrahedron: positive semidefinite matrices of given trace."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import array_api_compat
import numpy as np

from frankwolfe.atoms import Atom, RankOne
from frankwolfe.backends import Array, all_finite, double, eps, host, largest, namespace, scaled
from frankwolfe.kernels.spectral.lanczos import factorises
from frankwolfe.sets.base import Ball, LinearMinimum, ProjectableSet, ProvenSet, require_matrix
from frankwolfe.sets.norms import slack, spectral_norm_above
from frankwolfe.sets.projections import project_simplex


@dataclass(frozen=True)
class Spectrahedron(Ball, ProvenSet, ProjectableSet):
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

    spectral_atoms: ClassVar[bool] = True

    def lmo(self, g: Array) -> Atom:
        q = _least(_symmetric_part(scaled(require_matrix(self, g, square=True))))
        return RankOne(self.radius, q, q)

    def minimum(self, g: Array) -> LinearMinimum:
        """Return an atom with its value, and a proven lower bound on the minimum."""
        atom = self.lmo(g)
        value, top = atom.inner(g), float(largest(g))
        return LinearMinimum(
            atom, value, -self.radius * top * _largest_above(-g, -float(value) / (self.radius * (top or 1)))
        )

    def diameter(self, shape: tuple[int, ...] | None = None) -> float:
        """Return the distance of two orthogonal atoms, sqrt(2) * radius; zero for matrices of order one."""
        return 0.0 if shape is not None and tuple(shape) == (1, 1) else math.sqrt(2) * self.radius

    def reach(self, c: Array) -> float:
        return self.radius * spectral_norm_above(require_matrix(self, c, square=True)) * (1 + 2.0**-52)

    def contains(self, x: Array, tol: float = 1e-9) -> bool:
        if not all_finite(require_matrix(self, x, square=True)):
            return False
        xp = namespace(x)
        room = self.radius * slack(x, tol)
        if not largest(x - x.T) <= room or not xp.abs(xp.linalg.trace(x) - self.radius) <= room:
            return False
        return bool(largest(x) * xp.linalg.eigvalsh(_symmetric_part(scaled(x)))[0] >= -room)

    def project(self, x: Array) -> Array:
        values, Q = namespace(x).linalg.eigh(_symmetric_part(scaled(require_matrix(self, x, square=True))))
        return (Q * project_simplex(largest(x) * values, self.radius)) @ Q.T


def _symmetric_part(x: Array) -> Array:
    return 0.5 * (x + x.T)


def _largest_above(g: Array, guess: float) -> float:
    """Return an upper bound on the largest eigenvalue of the symmetric part of g / max|g|, from a guess.

    Nothing is trusted about the guess: if the Cholesky factorisation of s - S runs to its end in floating point, then s
    plus (n + 2) u times the trace is a bound (Rump, "Verification of positive definiteness", BIT 46, 2006).
    """
    wide = double(g)
    S = _symmetric_part(scaled(g if wide is None else namespace(g).astype(g, wide)))
    n, unit = int(S.shape[0]), eps(S)
    diagonal = host(namespace(S).linalg.diagonal(S)).astype(np.float64)
    one = namespace(S).eye(n, dtype=S.dtype, device=array_api_compat.device(S))
    room, guess = 4 * n * unit, guess if math.isfinite(guess) else 0.0
    while not factorises((guess + room) * one - S):
        room *= 4
    s = guess + room
    # The last term is for the rounding of S itself, whose entries are at most one.
    return s + 1.01 * ((n + 2) * unit * float(np.sum(np.abs(s - diagonal))) + 4 * unit * n)


def _least(S: Array) -> Array:
    """Return a unit eigenvector of the least eigenvalue of a symmetric matrix."""
    if not isinstance(S, np.ndarray):
        return namespace(S).linalg.eigh(S)[1][:, 0]
    from scipy.linalg import eigh

    return eigh(S, subset_by_index=[0, 0], check_finite=False)[1][:, 0]
