"""Ellipsoids: linear images of the Euclidean ball."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from frankwolfe.atoms import Dense
from frankwolfe.backends.namespace import Array, Scalar, as_like, eps, largest, namespace, nonzero, scaled, vdot
from frankwolfe.sets.arrays import above, frozen, frozen_vector, norm, on_host, slack
from frankwolfe.sets.base import LinearMinimum, ProvenSet, install, is_point, require_shape
from frankwolfe.validation import positive


@dataclass(frozen=True, eq=False)
class Ellipsoid(ProvenSet):
    """The points c + M u with Euclidean norm of u at most `radius`.

    Parameters
    ----------
    center : array_like of shape (n,)
        The middle c.
    matrix : array_like of shape (n, q) or (n,)
        The map M; a vector gives the half-axes of an ellipsoid along the coordinates. M need not be square nor of full
        rank: a flat ellipsoid is a set as good as any.
    radius : float, default=1.0
        Bound on u.

    Notes
    -----
    The atom at g is c - radius M h / \\|h\\| with h = M'g, in two products with M. To describe {x : (x - c)' P (x - c)
    <= 1} take for M the inverse of the transposed Cholesky factor of P.

    References
    ----------
    .. [1] S. Boyd, L. Vandenberghe, "Convex optimization", Cambridge University Press 2004, section 2.2.2.

    Examples
    --------
    >>> import numpy as np
    >>> domain = Ellipsoid([1.0, 1.0], [3.0, 4.0])
    >>> domain.lmo(np.array([1.0, 0.0])).toarray()
    array([-2.,  1.])
    >>> domain.diameter()
    8.0
    """

    center: Any
    matrix: Any
    radius: float = 1.0
    curved = True

    def __post_init__(self) -> None:
        center, matrix = frozen_vector("center", self.center), frozen("matrix", self.matrix)
        if matrix.ndim not in (1, 2) or matrix.shape[0] != center.size or matrix.size == 0:
            raise ValueError(
                f"matrix must have shape ({center.size}, q) or ({center.size},) to match center, got {matrix.shape}"
            )
        install(self, center=center, matrix=matrix, radius=positive("radius", self.radius), shape=center.shape)

    def minimum(self, g: Array) -> LinearMinimum:
        """Return the atom with its value, and a lower bound that allows for the rounding of the products with M."""
        M, center, h = self._adjoint(g)
        direction = scaled(h)
        step = (self.radius / nonzero(namespace(g).linalg.vector_norm(direction))) * direction
        atom = Dense(center - (M * step if M.ndim == 1 else M @ step))
        return LinearMinimum(atom, atom.inner(g), -self._farthest(-g, center, h))

    def support(self, g: Array) -> Scalar:
        _, center, h = self._adjoint(g)
        return self._farthest(g, center, h)

    def diameter(self, shape: tuple[int, ...] | None = None) -> float:
        """Return twice the longest half-axis."""
        return 2 * self.radius * float(np.max(self._axes[1]))

    def reach(self, c: Array) -> float:
        require_shape(self, c)
        M = self.matrix
        lengths = np.abs(M) if M.ndim == 1 else np.hypot.reduce(M, axis=1)
        weights = on_host(c)
        along = min(weights @ lengths, norm(weights, 2) * np.max(self._axes[1]))  # of the box around, of the ball
        return above(weights @ np.abs(self.center) + self.radius * along, M)

    def contains(self, x: Array, tol: float = 1e-9) -> bool:
        if not is_point(self, x):
            return False
        U, s = self._axes
        apart = on_host(x) - self.center
        along = apart if U is None else U.T @ apart
        outside = 0.0 if U is None else float(norm(apart - U @ along, 2))
        # Up to `room` in every direction: half-axes may be of very different lengths, or zero.
        size = self.radius * float(np.max(s)) + float(np.max(np.abs(self.center)))
        double = np.finfo(np.float64)
        measured = 0.0 if U is None else x.shape[0] * double.eps  # what rounding does to axes and products
        room = max((slack(x, tol) + measured) * size, double.tiny)
        with np.errstate(over="ignore"):
            return outside <= room and bool(norm(along / (self.radius * s + room), 2) <= 1)

    def _adjoint(self, g: Array) -> tuple[Array, Array, Array]:
        """Return M and the centre as arrays like g, and M'g for scaled g."""
        require_shape(self, g)
        M = as_like(self.matrix, g)
        return M, as_like(self.center, g), M * scaled(g) if M.ndim == 1 else M.T @ scaled(g)

    def _farthest(self, g: Array, center: Array, h: Array) -> Scalar:
        """Return an upper bound on the support value, from the centre and h = M'g for scaled g."""
        size = self.radius * float(norm(self.matrix, 2)) + float(norm(self.center, 2))
        room = (self.center.size + 16) * eps(g) * norm(scaled(g), 2) * size
        return largest(g) * (vdot(scaled(g), center) + self.radius * norm(h, 2) + room)

    @cached_property
    def _axes(self) -> tuple[np.ndarray | None, np.ndarray]:
        """The directions of the half-axes (None: the coordinates) and their lengths for radius one."""
        if self.matrix.ndim == 1:
            return None, np.abs(self.matrix)
        U, s, _ = np.linalg.svd(self.matrix, full_matrices=False)
        return U, s
