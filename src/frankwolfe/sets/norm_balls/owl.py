"""The ball of the ordered weighted l1 norm."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from frankwolfe.atoms import Atom, Sparse
from frankwolfe.backends.namespace import Array, Scalar, all_finite, as_like, eps, largest, namespace, scaled, top_k
from frankwolfe.sets.arrays import frozen_vector, on_host, slack
from frankwolfe.sets.base import Ball, ProjectableSet, install, require_shape


@dataclass(frozen=True, eq=False)
class OWLBall(Ball, ProjectableSet):
    """Vectors whose sorted magnitudes, weighted by decreasing weights, sum to at most `radius`.

    The norm (also called sorted l1, or SLOPE) sets equal the coefficients of correlated columns. Constant weights give
    the l1 ball, a single one the cube.

    Parameters
    ----------
    radius : float
        Positive radius.
    weights : array_like of shape (d,)
        One weight for each rank, the largest magnitude first: nonnegative, never increasing, the first one positive.

    Notes
    -----
    With S_k the sum of the k largest magnitudes of the direction and W_k that of the first k weights, the support value
    is `radius` times the largest S_k / W_k, and an atom has entries of magnitude radius / W_k at the k largest places,
    with signs against the direction [1]_.

    The projection is the proximal operator of a multiple t of the norm: an isotonic regression of the sorted magnitudes
    less t times the weights, cut at zero [2]_. The norm of the result is convex, falling and piecewise linear in t (as
    t grows, blocks only merge or vanish), so Newton's method from t = 0 ends at the root after finitely many steps.

    References
    ----------
    .. [1] X. Zeng, M. A. T. Figueiredo, "The ordered weighted l1 norm: atomic formulation, projections, and
       algorithms", arXiv:1409.4271, 2014.
    .. [2] M. Bogdan, E. van den Berg, C. Sabatti, W. Su, E. J. Candes, "SLOPE: adaptive variable selection via convex
       optimization", Annals of Applied Statistics 9, 2015.

    Examples
    --------
    >>> import numpy as np
    >>> ball = OWLBall(3.0, weights=[2.0, 1.0, 1.0])
    >>> ball.lmo(np.array([3.0, -3.0, 1.0])).toarray()
    array([-1.,  1.,  0.])
    >>> ball.project(np.array([3.0, 2.9, 0.0]))
    array([1., 1., 0.])
    """

    weights: Any
    sparse_atoms: ClassVar[bool] = True
    holds_magnitudes: ClassVar[bool] = True
    combines_choices: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        weights = frozen_vector("weights", self.weights)
        if np.any(np.diff(weights) > 0):
            raise ValueError(
                "weights must never increase (the first is for the largest magnitude); sort them downwards"
            )
        if weights[-1] < 0 or weights[0] <= 0:
            raise ValueError(
                f"weights must be nonnegative and the first one positive, got {weights[0]} to {weights[-1]}"
            )
        install(self, weights=weights, shape=weights.shape)

    def lmo(self, g: Array) -> Atom:
        require_shape(self, g)
        xp = namespace(g)
        magnitudes = xp.abs(scaled(g))
        k = int(xp.argmax(self._ratios(magnitudes))) + 1
        indices = top_k(magnitudes, k)
        picked = xp.take(g, indices)
        signs = xp.where(picked > 0, -xp.ones_like(picked), xp.ones_like(picked))
        return Sparse(indices, (self.radius / float(np.sum(self.weights[:k]))) * signs, tuple(g.shape))

    def support(self, g: Array) -> Scalar:
        require_shape(self, g)
        xp = namespace(g)
        return self.radius * largest(g) * xp.max(self._ratios(xp.abs(scaled(g))))

    def diameter(self, shape: tuple[int, ...] | None = None) -> float:
        """Return twice the length of the longest atom."""
        counts = np.arange(1, self.weights.size + 1)
        return 2 * self.radius * float(np.max(np.sqrt(counts) / np.cumsum(self.weights)))

    def contains(self, x: Array, tol: float = 1e-9) -> bool:
        require_shape(self, x)
        return all_finite(x) and bool(self._norm(x) <= self.radius * (1 + slack(x, tol)))

    def project(self, x: Array) -> Array:
        require_shape(self, x)
        if not self._norm(x) > self.radius:
            return x
        flat = on_host(x) / self.radius
        order = np.argsort(-np.abs(flat), kind="stable")
        z = np.empty_like(flat)
        z[order] = _shrink(np.abs(flat)[order], self.weights)
        return as_like(self.radius * np.copysign(z, flat), x)

    def _ratios(self, magnitudes: Array) -> Array:
        xp = namespace(magnitudes)
        if xp is np:  # in the widest type there is: a running sum is not pairwise
            sums = np.cumsum(np.sort(magnitudes)[::-1], dtype=np.longdouble)
            return (sums / np.cumsum(self.weights, dtype=np.longdouble)).astype(np.float64)
        return xp.cumulative_sum(xp.flip(xp.sort(magnitudes))) / as_like(np.cumsum(self.weights), magnitudes)

    def _norm(self, x: Array) -> Scalar:
        xp = namespace(x)
        return largest(x) * xp.sum(xp.flip(xp.sort(xp.abs(scaled(x)))) * as_like(self.weights, x))


def _shrink(y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the projection of decreasing magnitudes y onto the unit ball, for y outside."""
    from scipy.optimize import isotonic_regression

    t, z = 0.0, y
    for _ in range(4 * y.size + 20):  # far more than it ever takes; each step lands in a later linear piece
        fit = isotonic_regression(y - t * weights, increasing=False)
        starts, sizes = fit.blocks[:-1], np.diff(fit.blocks)
        block_y, block_w = np.add.reduceat(y, starts), np.add.reduceat(weights, starts)
        kept = block_y > t * block_w
        slope = math.fsum(block_w[kept] ** 2 / sizes[kept])
        if not slope > 0:
            break
        # By blocks z = (sum of y - new * sum of w) / size; differences from the first block lose no digits far away.
        pivot = block_y[0] / block_w[0]
        apart = block_y - pivot * block_w
        offset = (math.fsum((block_w * apart / sizes)[kept]) - 1.0) / slope
        z = np.repeat(np.where(kept, np.maximum(apart - offset * block_w, 0.0), 0.0) / sizes, sizes)
        new = pivot + offset
        if not new > t * (1 + 4 * eps(y)):
            break
        t = new
    return z / float(np.sum(np.sort(z)[::-1] * weights))
