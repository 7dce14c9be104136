"""The ball of the k-support norm."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from frankwolfe.atoms import Atom, Sparse
from frankwolfe.backends.namespace import Array, Scalar, all_finite, largest, namespace, nonzero, scaled, top_k
from frankwolfe.sets.arrays import norm, slack
from frankwolfe.sets.base import Ball, ProjectableSet, install
from frankwolfe.sets.projections import project_l2, root_of_increasing
from frankwolfe.validation import integer

_MOST_COUNTS = 50  # that are tried until they are those of the answer; one or two are usual


@dataclass(frozen=True)
class KSupportBall(Ball, ProjectableSet):
    """Convex hull of the points with at most k nonzeros and Euclidean norm at most `radius`.

    Parameters
    ----------
    radius : float
        Positive radius.
    k : int
        Number of nonzeros of an atom, at least one. With k = 1 this is the l1 ball; with k no less than the number of
        entries of a point it is the l2 ball.

    Notes
    -----
    The tightest convex relaxation of "sparse and of bounded Euclidean norm" [1]_ (called n-support by some). An atom is
    the direction restricted to its k largest magnitudes, normalised, so its value is minus `radius` times the Euclidean
    norm of those k. The projection solves the optimality conditions in the form of [2]_: coordinates are divided (the
    large ones), shrunk (the middle) or cut (the small), and one multiplier is found by bracketing.

    References
    ----------
    .. [1] A. Argyriou, R. Foygel, N. Srebro, "Sparse prediction with the k-support norm", NeurIPS 2012.
    .. [2] A. M. McDonald, M. Pontil, D. Stamos, "New perspectives on k-support and cluster norms", JMLR 17, 2016.

    Examples
    --------
    >>> import numpy as np
    >>> KSupportBall(5.0, k=2).lmo(np.array([1.0, -3.0, 0.0, 4.0])).toarray()
    array([ 0.,  3.,  0., -4.])
    """

    k: int
    sparse_atoms: ClassVar[bool] = True
    holds_magnitudes: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        install(self, k=integer("k", self.k, 1))

    def lmo(self, g: Array) -> Atom:
        xp = namespace(g)
        flat = xp.reshape(g, (-1,))
        indices = top_k(xp.abs(flat), self.k)
        values = scaled(xp.take(flat, indices))
        values = (-self.radius / nonzero(xp.linalg.vector_norm(values))) * values
        return Sparse(indices, values, tuple(g.shape))

    def support(self, g: Array) -> Scalar:
        xp = namespace(g)
        magnitudes = xp.reshape(xp.abs(g), (-1,))
        return self.radius * norm(xp.take(magnitudes, top_k(magnitudes, self.k)), 2)

    def diameter(self, shape: tuple[int, ...] | None = None) -> float:
        return 2 * self.radius

    def contains(self, x: Array, tol: float = 1e-9) -> bool:
        return all_finite(x) and bool(ksupport_norm(x, self.k) <= self.radius * (1 + slack(x, tol)))

    def project(self, x: Array) -> Array:
        return project_ksupport(x, self.radius, self.k)


def ksupport_norm(x: Array, k: int) -> Scalar:
    """Return the k-support norm of all entries of x (Proposition 2.1 of Argyriou et al.).

    With magnitudes sorted to decrease, the first j - 1 count as in the l2 norm and the rest, through their sum, as in
    the l1 norm; j is the first place where the sum of the rest is at least k - j + 1 times the entry at j.
    """
    xp = namespace(x)
    top = largest(x)
    up = xp.sort(xp.reshape(xp.abs(scaled(x)), (-1,)))
    k = min(k, up.shape[0])
    z = xp.flip(up)[:k]
    rest = xp.flip(xp.cumulative_sum(up))[:k]  # rest[j] = z[j] + z[j+1] + ...
    share = k + 1 - xp.cumulative_sum(xp.ones_like(z))
    j = min(int(xp.sum(xp.astype(rest < share * z, xp.int32))), k - 1)
    return top * xp.sqrt(xp.sum(z[:j] ** 2) + rest[j] ** 2 / share[j])


def project_ksupport(x: Array, radius: float, k: int) -> Array:
    """Return the point of the k-support ball nearest to x.

    With lam the multiplier of half the squared norm, Proposition 15 of McDonald et al. gives, for magnitudes y and some
    b > 0: y / (1 + lam) where y >= (1 + lam) b, y - lam b where lam b <= y <= (1 + lam) b, and zero below. How many
    entries are divided and how many are kept is found by nested root finding, which cancellation may blur when x is far
    away; then the exact solution for these counts corrects them, until they agree.
    """
    xp = namespace(x)
    if not ksupport_norm(x, k) > radius:
        return x
    y = xp.reshape(xp.abs(x) / radius, (-1,))
    down = xp.flip(xp.sort(y))
    if k >= down.shape[0] or not down[k] > 0:
        return project_l2(x, radius)
    counts = _rough_counts(down, k)
    for _ in range(_MOST_COUNTS):
        kept = max(counts[1], k)
        divided = min(counts[0], k if kept == k else k - 1)
        lam, b, pivot, rest = _exact_split(down, k, divided, kept)
        left = (down - pivot) + rest  # y - lam b, without cancellation
        counts = _count(left >= b), _count(left > 0)
        if counts == (divided, kept):
            break
    left = (y - pivot) + rest
    z = xp.where(left >= b, y / (1 + lam), xp.maximum(left, xp.zeros_like(y)))
    z = z / ksupport_norm(z, k)
    return radius * xp.sign(x) * xp.reshape(z, tuple(x.shape))


def _exact_split(down: Array, k: int, divided: int, kept: int) -> tuple[float, float, float, float]:
    """Return lam, b and two numbers with y - lam b = (y - pivot) + rest, for known counts and a norm of one."""
    xp = namespace(down)
    square = float(xp.sum(down[:divided] ** 2))
    room, middle = k - divided, kept - divided  # weights of the middle sum to `room`
    if middle == 0:
        lam, pivot = math.sqrt(square) - 1, float(down[k - 1])
        return lam, pivot / (1 + lam), pivot, pivot / (1 + lam)
    total = float(xp.sum(down[divided:kept]))

    def excess(lam: float) -> float:
        return 1 / math.hypot(math.sqrt(square) / (1 + lam), math.sqrt(room) * total / (room + middle * lam)) - 1

    high = math.sqrt(2 * square) + math.sqrt(2 * room) * total / middle
    lam = root_of_increasing(excess, 0.0, high)
    share = total / (room + middle * lam)
    pivot = down[
        divided
    ]  # the mean would do, but for its rounding: differences from an entry are exact where it matters
    offset = float(xp.mean(down[divided:kept] - pivot))
    return lam, share, float(pivot), share * room / middle - offset


def _rough_counts(down: Array, k: int) -> tuple[int, int]:
    """Return how many entries are divided and how many are not cut, up to rounding, for a norm of one."""
    xp, d = namespace(down), down.shape[0]
    low, high = xp.zeros_like(down), xp.ones_like(down)

    def level(lam: float) -> float:
        """Return b for which the weights clip(y / b - lam, 0, 1) sum to k."""

        def excess(b: float) -> float:
            return k - float(xp.sum(xp.minimum(xp.maximum(down / b - lam, low), high)))

        return root_of_increasing(excess, float(down[k - 1]) / (1 + lam), float(xp.sum(down)) / k)

    def excess(lam: float) -> float:
        left = down - lam * (b := level(lam))
        z = xp.where(left >= b, down / (1 + lam), xp.maximum(left, low))
        return -math.log(float(ksupport_norm(z, k)))

    lam = root_of_increasing(excess, (float(ksupport_norm(down, k)) - 1) * k / (d + k), float(norm(down[:k], 2)))
    left = down - lam * (b := level(lam))
    return _count(left >= b), _count(left > 0)


def _count(mask: Array) -> int:
    xp = namespace(mask)
    return int(xp.sum(xp.astype(mask, xp.int32)))
