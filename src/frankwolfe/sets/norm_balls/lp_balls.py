"""Balls of the l_p norms."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from frankwolfe.atoms import Atom, Dense, OneHot
from frankwolfe.backends.namespace import Array, Scalar, all_finite, namespace, nonzero, number_like, position, scaled
from frankwolfe.sets.arrays import conjugate, dual_vectors, exponent, norm, plain_length, slack
from frankwolfe.sets.base import Ball, CoordinateSet, ProjectableSet, install, known_shape
from frankwolfe.sets.projections import project_lp


@dataclass(frozen=True)
class NormBall(Ball, ProjectableSet):
    """A ball of an l_p norm, which its `exponent` tells."""

    holds_magnitudes: ClassVar[bool] = True
    exponent: ClassVar[float]  # pyright: ignore[reportIncompatibleVariableOverride]

    def __post_init__(self) -> None:
        super().__post_init__()
        install(self, curved=1 < self.exponent <= 3)

    def lmo(self, g: Array) -> Atom:
        xp = namespace(g)
        if math.isinf(self.exponent):
            return Dense(self.radius * xp.where(g > 0, -xp.ones_like(g), xp.ones_like(g)))
        if self.exponent > 1:
            magnitudes = xp.reshape(xp.abs(scaled(g)), (-1,))
            v = xp.reshape(dual_vectors(magnitudes, self.exponent), tuple(g.shape))
            return Dense((-self.radius) * xp.sign(g) * v)
        flat = xp.reshape(g, (-1,))
        j = position(xp.argmax(xp.abs(flat)))
        steep = flat[j]
        if isinstance(steep, np.floating):
            value = number_like(-self.radius if steep > 0 else self.radius, steep)
        else:  # perhaps on a device, where nobody is to look
            value = self.radius * xp.where(steep > 0, -xp.ones_like(steep), xp.ones_like(steep))
        return OneHot(j, value, tuple(g.shape))

    def support(self, g: Array) -> Scalar:
        return self.radius * norm(g, conjugate(self.exponent))

    def diameter(self, shape: tuple[int, ...] | None = None) -> float:
        """Return 2 * radius * d^max(0, 1/2 - 1/p) for points of d entries; the shape is needed when p > 2."""
        if self.exponent <= 2:
            return 2 * self.radius
        return 2 * self.radius * math.prod(known_shape(self, shape)) ** (0.5 - 1 / self.exponent)

    def contains(self, x: Array, tol: float = 1e-9) -> bool:
        return all_finite(x) and bool(norm(x, self.exponent) <= self.radius * (1 + slack(x, tol)))

    def bounds(self, x: Array) -> tuple[Array, Array] | None:
        if not math.isinf(self.exponent):
            return None
        upper = self.radius * namespace(x).ones_like(x)
        return -upper, upper

    def project(self, x: Array) -> Array:
        return project_lp(x, self.radius, self.exponent)


@dataclass(frozen=True)
class L1Ball(NormBall, CoordinateSet):
    """Points with sum of absolute values at most `radius`.

    Parameters
    ----------
    radius : float
        Positive radius.

    Notes
    -----
    Atoms are plus or minus `radius` at one coordinate, the one of largest magnitude in the direction, so a method's
    iterate has at most one more nonzero per step. The projection is the sort of [1]_.

    References
    ----------
    .. [1] J. Duchi, S. Shalev-Shwartz, Y. Singer, T. Chandra, "Efficient projections onto the l1-ball for learning in
       high dimensions", ICML 2008.

    Examples
    --------
    >>> import numpy as np
    >>> L1Ball(2.0).lmo(np.array([1.0, -3.0, 2.0])).toarray()
    array([0., 2., 0.])
    """

    exponent = 1.0
    coordinate_signs: ClassVar[tuple[float, ...]] = (-1.0, 1.0)

    def of_size(self, count: int) -> L1Ball:
        return self


@dataclass(frozen=True)
class L2Ball(NormBall):
    """Points with Euclidean (for matrices Frobenius) norm at most `radius`.

    Parameters
    ----------
    radius : float
        Positive radius.

    Examples
    --------
    >>> import numpy as np
    >>> L2Ball(5.0).lmo(np.array([3.0, -4.0])).toarray()
    array([-3.,  4.])
    """

    exponent = 2.0
    quick_support: ClassVar[bool] = True
    parallel_atoms: ClassVar[bool] = True

    def lmo(self, g: Array) -> Atom:
        if length := plain_length(g):
            return Dense((-self.radius / length) * g)
        g = scaled(g)
        return Dense((-self.radius / nonzero(namespace(g).linalg.vector_norm(g))) * g)


@dataclass(frozen=True)
class LInfBall(NormBall):
    """Points with every entry between minus `radius` and `radius`.

    Parameters
    ----------
    radius : float
        Positive radius.

    Notes
    -----
    Atoms are corners of the cube. Where an entry of the direction is zero both corners are optimal and plus `radius`
    is taken.

    Examples
    --------
    >>> import numpy as np
    >>> LInfBall(2.0).lmo(np.array([1.0, -3.0, 0.0])).toarray()
    array([-2.,  2.,  2.])
    """

    exponent = math.inf
    quick_support: ClassVar[bool] = True
    combines_choices: ClassVar[bool] = True


@dataclass(frozen=True)
class LpBall(NormBall):
    """Points with l_p norm at most `radius`, for any p from one to infinity.

    Parameters
    ----------
    radius : float
        Positive radius.
    p : float
        Exponent of the norm, at least one; infinity is allowed.

    Notes
    -----
    With q the conjugate exponent the oracle's answer is ``-radius * sign(g) |g|^(q-1)``, normalised, unique for
    1 < p < infinity and nonzero g. Its value is minus `radius` times the l_q norm of g.

    The projection is a rescaling (p = 2), a sort (p = 1), a clip (p infinite), and otherwise the root of the optimality
    conditions z + mu z^(p-1) = \\|x\\| in the multiplier mu, each coordinate by Newton's method from the side where it
    converges monotonically.

    Examples
    --------
    >>> import numpy as np
    >>> ball = LpBall(1.0, p=3)
    >>> v = ball.lmo(np.array([1.0, -1.0])).toarray()
    >>> v.round(6)
    array([-0.793701,  0.793701])
    >>> ball.contains(v)
    True
    """

    p: float

    def __post_init__(self) -> None:
        install(self, p=exponent("p", self.p))
        install(self, exponent=self.p)
        super().__post_init__()
        if self.p == 1:
            install(self, sparse_atoms=True, coordinate_signs=L1Ball.coordinate_signs)
