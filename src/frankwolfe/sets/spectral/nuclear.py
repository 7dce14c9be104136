"""The nuclear-norm ball: matrices whose singular values sum to at most the radius."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import is_array_api_obj

from frankwolfe.atoms import RankOne
from frankwolfe.backends.namespace import Array, all_finite, eps, host, is_foreign, namespace, vdot
from frankwolfe.kernels.spectral.lanczos import SingularPair, by_svd, norm_above, norm_upper_bound, top_singular
from frankwolfe.lowrank import LowRank
from frankwolfe.sets.arrays import slack, spectral_norm_above
from frankwolfe.sets.base import (
    Ball,
    IterativeSet,
    LinearMinimum,
    ProjectableSet,
    SupportBound,
    install,
    require_matrix,
)
from frankwolfe.sets.projections import project_l1

_RTOL = 1e-10  # of the oracle where nobody says how accurate it should be
_SEED = 20210909
_SMALL = 64  # shorter side below which an SVD takes no time
_SQUARED = 1e100  # numbers within which squares neither overflow nor underflow
_SHALLOW = 0.01  # threshold, in terms of the largest singular value, below which the Gram matrix is not accurate


@dataclass(frozen=True)
class NuclearBall(Ball, IterativeSet, ProjectableSet):
    """Matrices with nuclear norm (the sum of singular values) at most `radius`.

    Directions may be arrays, SciPy sparse matrices or a :class:`PatternMatrix` of
    :mod:`frankwolfe.kernels.pattern.pattern_matrix`; atoms are rank-one, and an m x n array is
    made only where one was given.

    Parameters
    ----------
    radius : float
        Positive radius.

    Notes
    -----
    The oracle needs the top singular pair only, found by Lanczos to the accuracy that a method asks of `minimise`.
    `lmo` and `support` work to a relative 1e-10 from a fixed seed.

    Examples
    --------
    >>> import numpy as np
    >>> ball = NuclearBall(2.0)
    >>> ball.lmo(np.diag([3.0, 1.0])).toarray().round(12) + 0.0
    array([[-2.,  0.],
           [ 0.,  0.]])
    >>> ball.project(np.diag([3.0, 1.0])).round(12) + 0.0
    array([[2., 0.],
           [0., 0.]])
    """

    keeps_factors = True

    def __post_init__(self) -> None:
        super().__post_init__()
        install(self, nuclear_radius=self.radius)

    def lmo(self, g: Any) -> RankOne:
        pair = self._top(g, 0.0, np.random.default_rng(_SEED), _RTOL)
        return RankOne(-self.radius, pair.left, pair.right)

    def minimise(self, g: Any, accuracy: float, rng: np.random.Generator) -> LinearMinimum:
        """Return an atom whose <g, v> is within `accuracy` of the minimum, with probability 0.999 over the start.

        `lower` is minus infinity after Lanczos, which proves nothing; for small matrices, whose singular value LAPACK
        finds, a Cholesky factorisation proves it.
        """
        pair = self._top(g, accuracy / self.radius, rng, 0.0)
        value = -self.radius * pair.sigma
        lower = -self.radius * norm_above(g, pair.sigma) * (1 + 2.0**-52) if pair.steps == 0 else -math.inf
        return LinearMinimum(RankOne(-self.radius, pair.left, pair.right), value, lower, pair.matvecs)

    def support(self, g: Any) -> float:
        return self.radius * self._top(g, 0.0, np.random.default_rng(_SEED), _RTOL).sigma

    def support_bound(self, g: Any, rng: np.random.Generator) -> SupportBound:
        """Return an upper bound on the support value: proven where min(m, n) <= 4000, else failing once in 1e9."""
        g = require_matrix(self, g)
        bound = norm_upper_bound(host(g) if is_foreign(g) else g, rng)
        return SupportBound(self.radius * bound.value * (1 + 2.0**-52), bound.failure, bound.matvecs)

    def diameter(self, shape: tuple[int, ...] | None = None) -> float:
        return 2 * self.radius

    def reach(self, c: Any) -> float:
        """Return an upper bound of <c, \\|x\\|>: the magnitudes of a rank-one atom are one, so a support value at c."""
        return self.radius * spectral_norm_above(require_matrix(self, c)) * (1 + 2.0**-52)

    def contains(self, x: Any, tol: float = 1e-9) -> bool:
        if isinstance(x, LowRank):
            limit = self.radius * (1 + max(tol, 8 * eps(x.like)))
            # The triangle inequality often settles it without a factorisation.
            lengths = (abs(w) * math.sqrt(float(vdot(a, a)) * float(vdot(b, b))) for w, a, b in x.triples())
            return bool(math.fsum(lengths) <= limit or x.nuclear_norm() <= limit)
        if not is_array_api_obj(x):
            raise TypeError(f"contains needs an array or a LowRank, got {type(x).__name__}; convert it first")
        matrix = require_matrix(self, x)
        xp = namespace(matrix)
        # Each singular value is right to a few ulps of the largest, the more the larger the matrix.
        room = max(slack(matrix, tol), sum(matrix.shape) * eps(matrix))
        return all_finite(matrix) and bool(xp.sum(xp.linalg.svdvals(matrix)) <= self.radius * (1 + room))

    def project(self, x: Array) -> Array:
        """Return the nearest point (Frobenius norm) of the ball: singular values projected on the l1 ball.

        Notes
        -----
        Only singular values above the threshold matter. Where the threshold is no less than a hundredth of the largest,
        the eigenvectors of the smaller Gram matrix give them to ~1e-12, several times faster than an SVD.
        """
        x = require_matrix(self, x)
        xp = namespace(x)
        if xp is np:
            fast = self._project_by_gram(x)
            if fast is not None:
                return fast
        U, s, Vt = xp.linalg.svd(x, full_matrices=False)
        if xp.sum(s) <= self.radius:
            return x
        return (U * project_l1(s, self.radius)) @ Vt

    def _project_by_gram(self, x: np.ndarray) -> np.ndarray | None:
        """Return the projection, or None where the Gram matrix would not be accurate enough."""
        top = float(np.max(np.abs(x), initial=0.0))
        if min(x.shape) < _SMALL or not 1 / _SQUARED < top < _SQUARED:
            return None
        D = np.asarray(x, dtype=np.float64)
        tall = D.shape[0] >= D.shape[1]
        eigenvalues, W = np.linalg.eigh(D.T @ D if tall else D @ D.T)
        s = np.sqrt(np.maximum(eigenvalues, 0.0))
        noise = 4 * s.size * math.sqrt(s.size * 2.0**-52) * s[-1]  # of the sum of singular values
        if np.sum(s) + noise <= self.radius:
            return x
        shrunk = project_l1(s, self.radius)
        if s[-1] - shrunk[-1] < _SHALLOW * s[-1]:
            return None
        kept = shrunk > 0
        W, factor = W[:, kept], shrunk[kept] / s[kept]
        out = (D @ W * factor) @ W.T if tall else (W * factor) @ (W.T @ D)
        return out.astype(x.dtype, copy=False)

    def _top(self, g: Any, accuracy: float, rng: np.random.Generator, rtol: float) -> SingularPair:
        g = require_matrix(self, g)
        if not is_foreign(g):
            return top_singular(g, accuracy, rng, rtol=rtol)
        return by_svd(g)
