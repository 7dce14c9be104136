"""Sets of matrices by a decomposition: balls of norms of singular values, and positive semidefinite matrices."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import array_api_compat
import numpy as np

from frankwolfe.atoms import Atom, Dense, RankOne
from frankwolfe.backends import Array, Scalar, all_finite, double, eps, host, largest, namespace, scaled
from frankwolfe.kernels.spectral.lanczos import factorises
from frankwolfe.sets.arrays import above, conjugate, dual_vectors, exponent, norm, slack, spectral_norm_above
from frankwolfe.sets.base import Ball, LinearMinimum, ProjectableSet, ProvenSet, install, known_shape, require_matrix
from frankwolfe.sets.projections import project_lp, project_simplex


@dataclass(frozen=True)
class SingularValueBall(Ball, ProvenSet, ProjectableSet):
    """A ball of the l_p norm of singular values."""

    spectral_atoms: ClassVar[bool] = True
    spectral_exponent: ClassVar[float]  # p

    def __post_init__(self) -> None:
        super().__post_init__()
        install(self, curved=1 < self.spectral_exponent <= 3)

    def lmo(self, g: Array) -> Atom:
        return self._atom(*_svd(self, g))

    def minimum(self, g: Array) -> LinearMinimum:
        """Return an atom with its value, and a lower bound that allows for the rounding of the decomposition."""
        factors = _svd(self, g)
        atom = self._atom(*factors)
        size = _norm_above(g, factors, conjugate(self.spectral_exponent))
        return LinearMinimum(atom, atom.inner(g), -self.radius * size)

    def diameter(self, shape: tuple[int, ...] | None = None) -> float:
        """Return 2 * radius * min(m, n)^max(0, 1/2 - 1/p) for m x n matrices; the shape is needed when p > 2."""
        if self.spectral_exponent <= 2:
            return 2 * self.radius
        return 2 * self.radius * min(known_shape(self, shape)) ** (0.5 - 1 / self.spectral_exponent)

    def reach(self, c: Array) -> float:
        return above(norm(c, 2) * (0.5 * self.diameter(tuple(c.shape))), c)

    def contains(self, x: Array, tol: float = 1e-9) -> bool:
        if not all_finite(require_matrix(self, x)):
            return False
        values = namespace(x).linalg.svdvals(scaled(x))
        # Singular vectors are orthogonal to a few ulps, and values right to them, the more the larger the matrix.
        room = max(slack(x, tol), (2 + sum(x.shape)) * eps(values))
        return bool(largest(x) * norm(values, self.spectral_exponent) <= self.radius * (1 + room))

    def project(self, x: Array) -> Array:
        U, s, Wt = _svd(self, x)
        s = largest(x) * s
        shrunk = project_lp(s, self.radius, self.spectral_exponent)
        if shrunk is s or not namespace(x).any(shrunk < s):
            return x  # inside already: not even rounding should move it
        return (U * shrunk) @ Wt

    def _atom(self, U: Array, s: Array, Wt: Array) -> Atom:
        if self.spectral_exponent == 1:
            return RankOne(-self.radius, U[:, 0], Wt[0, :])
        return Dense(-self.radius * ((U * dual_vectors(s, self.spectral_exponent)) @ Wt))


@dataclass(frozen=True)
class SpectralBall(SingularValueBall):
    """Matrices whose largest singular value is at most `radius`.

    Parameters
    ----------
    radius : float
        Positive radius.

    Notes
    -----
    With the singular value decomposition g = U S W' an atom is -radius U W', a multiple of a partial isometry; the
    support value is `radius` times the nuclear norm. The projection clips the singular values. Both cost one dense
    decomposition.

    References
    ----------
    .. [1] M. Jaggi, "Revisiting Frank-Wolfe: projection-free sparse convex optimization", ICML 2013.

    Examples
    --------
    >>> import numpy as np
    >>> ball = SpectralBall(2.0)
    >>> ball.lmo(np.diag([3.0, -1.0])).toarray().round(12) + 0.0
    array([[-2.,  0.],
           [ 0.,  2.]])
    >>> ball.project(np.diag([3.0, 1.0])).round(12) + 0.0
    array([[2., 0.],
           [0., 1.]])
    """

    spectral_exponent = math.inf


@dataclass(frozen=True)
class SchattenBall(SingularValueBall):
    """Matrices whose singular values have l_p norm at most `radius`.

    With p = 1 it is the nuclear-norm ball, with p = 2 the Frobenius ball, with p infinite the spectral ball.

    Parameters
    ----------
    radius : float
        Positive radius.
    p : float
        Exponent of the norm, at least one; infinity is allowed.

    Notes
    -----
    Oracle, support value and projection act on the singular values as those of :class:`LpBall` act on magnitudes (von
    Neumann's trace inequality [1]_), after one dense decomposition. For p = 1 atoms are rank-one; for large matrices
    :class:`NuclearBall`, which needs only the top singular pair, is faster.

    References
    ----------
    .. [1] R. Bhatia, "Matrix analysis", Springer 1997, chapter IV.

    Examples
    --------
    >>> import numpy as np
    >>> ball = SchattenBall(5.0, p=2)
    >>> ball.lmo(np.diag([3.0, -4.0])).toarray().round(12) + 0.0
    array([[-3.,  0.],
           [ 0.,  4.]])
    """

    p: float

    def __post_init__(self) -> None:
        install(self, p=exponent("p", self.p))
        install(self, spectral_exponent=self.p)
        super().__post_init__()


def _svd(domain: Any, g: Array) -> tuple[Array, Array, Array]:
    """Return the decomposition of g / max|g|."""
    return namespace(g).linalg.svd(scaled(require_matrix(domain, g)), full_matrices=False)


def _norm_above(g: Array, factors: tuple[Array, Array, Array], q: float) -> Scalar:
    """Return an upper bound on the l_q norm of the singular values of g, from its computed decomposition.

    With R = g - U S W' that norm is at most |U| |W| times that of S, plus k^max(0, 1/q - 1/2) times the Frobenius norm
    of R, k the shorter side; |U|² exceeds one by no more than the Frobenius norm of U'U - 1. Nothing is trusted about
    the decomposition, and what rounding does to these products is added.
    """
    xp, (U, s, Wt) = namespace(g), factors
    (m, k), n = U.shape, Wt.shape[1]
    unit = (k + 4) * eps(s)
    left = norm(scaled(g) - (U * s) @ Wt, 2) + unit * (norm((xp.abs(U) * s) @ xp.abs(Wt), 2) + math.sqrt(m * n))
    one = xp.eye(k, dtype=s.dtype, device=array_api_compat.device(s))
    wide = [norm(Q.T @ Q - one, 2) + (Q.shape[0] + 4) * eps(s) * k for Q in (U, Wt.T)]
    grown = (1 + wide[0]) * (1 + wide[1]) * (1 + (2 * k + 32) * eps(s))
    return largest(g) * (norm(s, q) * grown + k ** max(0.0, 1 / q - 0.5) * left)


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
