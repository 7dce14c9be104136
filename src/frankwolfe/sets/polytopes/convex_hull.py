"""The convex hull of finitely many points."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from frankwolfe.atoms import Dense
from frankwolfe.backends.namespace import Array, Scalar, as_like, eps, largest, namespace, scaled, vdot
from frankwolfe.sets.arrays import above, frozen, norm, norms, on_host, slack
from frankwolfe.sets.base import LinearMinimum, ProvenSet, install, is_point, require_shape
from frankwolfe.sets.membership import hull_distance

_PAIRS = 4000  # up to so many points all distances are compared


@dataclass(frozen=True, eq=False, repr=False)
class ConvexHull(ProvenSet):
    """All averages of the given points.

    Parameters
    ----------
    points : array_like of shape (m, ...)
        The points, one after the other, each of any shape. Points that are no vertices do no harm.

    Notes
    -----
    The oracle multiplies all points with the direction and takes the least, O(m d). Membership is a nonnegative least
    squares problem with m unknowns, far costlier.

    Examples
    --------
    >>> import numpy as np
    >>> domain = ConvexHull([[0.0, 0.0], [2.0, 0.0], [0.0, 3.0]])
    >>> domain.lmo(np.array([1.0, -1.0])).toarray()
    array([0., 3.])
    >>> domain.contains(np.array([0.5, 0.5])), domain.contains(np.array([2.0, 2.0]))
    (True, False)
    """

    points: Any

    def __post_init__(self) -> None:
        points = frozen("points", self.points)
        if points.ndim < 2 or points.size == 0:
            raise ValueError(f"points must have shape (m, ...) with at least one point, got shape {points.shape}")
        install(self, points=points, shape=points.shape[1:])

    def __repr__(self) -> str:
        return f"ConvexHull(<{len(self.points)} points of shape {self.shape}>)"

    def minimum(self, g: Array) -> LinearMinimum:
        """Return the best point with its value, and a lower bound that allows for the rounding of the products."""
        values, room = self._values(scaled(g))
        j = int(namespace(g).argmin(values))
        point = self.points[j].astype(g.dtype) if isinstance(g, np.ndarray) else as_like(self.points[j], g)
        return LinearMinimum(Dense(point), vdot(g, point), largest(g) * (values[j] - room))

    def diameter(self, shape: tuple[int, ...] | None = None) -> float:
        """Return the largest distance of two points; of more than 4000 points, twice the largest from their mean."""
        return self._diameter

    def reach(self, c: Array) -> float:
        require_shape(self, c)
        return above(np.max(np.abs(self._rows) @ on_host(c).reshape(-1)), c)

    def contains(self, x: Array, tol: float = 1e-9) -> bool:
        if not is_point(self, x):
            return False
        size = float(np.max(np.abs(self.points)))
        flat = on_host(x).reshape(-1)
        if np.max(np.abs(flat)) > 2 * size:
            return False
        offsets = self._rows - flat
        return bool(hull_distance(offsets)[0] <= slack(x, tol) * size)

    @property
    def _rows(self) -> np.ndarray:
        return self.points.reshape(len(self.points), -1)

    @cached_property
    def _longest(self) -> float:
        return float(np.max(norms(self._rows, 2.0)))

    @cached_property
    def _diameter(self) -> float:
        rows = self._rows - self._rows.mean(axis=0)
        if len(rows) > _PAIRS:
            return 2 * float(np.max(np.linalg.norm(rows, axis=1)))
        return max(float(np.max(np.linalg.norm(rows - row, axis=1))) for row in rows)

    def _values(self, g: Array) -> tuple[Array, Scalar]:
        """Return <g, point> for every point, and how far rounding may have changed one."""
        require_shape(self, g)
        xp, d = namespace(g), self._rows.shape[1]
        values = as_like(self._rows, g) @ xp.reshape(g, (-1,)) if xp is not np else self._rows @ g.reshape(-1)
        return values, (d + 8) * eps(g) * norm(g, 2) * self._longest
