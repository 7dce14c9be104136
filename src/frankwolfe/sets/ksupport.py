"""The ball of the k-support norm."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

from frankwolfe.atoms import Atom, Sparse
from frankwolfe.backends import Array, Scalar, all_finite, largest, namespace, scaled, top_k
from frankwolfe.backends.namespace import nonzero
from frankwolfe.sets.base import ProjectableSet
from frankwolfe.sets.norms import norm, slack
from frankwolfe.sets.projections import project_l2, root_of_increasing
from frankwolfe.validation import integer, positive


@dataclass(frozen=True)
class KSupportBall(ProjectableSet):
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

    radius: float
    k: int
    sparse_atoms: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", positive("radius", self.radius))
        object.__setattr__(self, "k", integer("k", self.k, 1))

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

    def with_radius(self, radius: float) -> Self:
        return replace(self, radius=radius)

    def project(self, x: Array) -> Array:
        return project_ksupport(x, self.radius, self.k)


def ksupport_norm(x: Array, k: int) -> Scalar:
    """Return the k-support norm of all entries of x (Proposition 2.1 of Argyriou et al.).

    With magnitudes sorted to decrease, the first j - 1 count as in the l2 norm and the rest, through their sum, as in
    the l1 norm; j is the first place where the sum of the rest is at least k - j + 1 times the entry at j.

    Examples
    --------
    >>> import numpy as np
    >>> float(ksupport_norm(np.array([1.0, 2.0, -2.0]), 1))
    5.0
    """
    xp = namespace(x)
    top = largest(x)
    up = xp.sort(xp.reshape(xp.abs(scaled(x)), (-1,)))
    k = min(k, up.shape[0])
    z = xp.flip(up)[:k]
    rest = xp.flip(xp.cumulative_sum(up))[:k]  # rest[j] = z[j] + z[j+1] + ...
    share = k + 1 - xp.cumulative_sum(xp.ones_like(z))
    j = min(int(xp.sum(xp.astype(rest < share * z, xp.int64))), k - 1)
    return top * xp.sqrt(xp.sum(z[:j] ** 2) + rest[j] ** 2 / share[j])


def project_ksupport(x: Array, radius: float, k: int) -> Array:
    """Return the point of the k-support ball nearest to x.

    With lam the multiplier of half the squared norm, Proposition 15 of McDonald et al. gives, for magnitudes y and some
    b > 0: y / (1 + lam) where y >= (1 + lam) b, y - lam b where lam b <= y <= (1 + lam) b, and zero below.
    """
    xp = namespace(x)
    size = float(ksupport_norm(x, k))
    if not size > radius:
        return x
    y = xp.abs(x) / radius
    up = xp.sort(xp.reshape(y, (-1,)))
    up = up[up > 0]
    d = up.shape[0]
    if d <= k:
        return project_l2(x, radius)
    tail = xp.concat(
        [xp.flip(xp.cumulative_sum(xp.flip(up))), xp.zeros_like(up[:1])]
    )  # tail[i] = up[i] + up[i+1] + ...
    squares = xp.concat([xp.flip(xp.cumulative_sum(xp.flip(up * up))), xp.zeros_like(up[:1])])

    def split(lam: float, b: Array) -> tuple[Array, Array]:
        """Return how many entries are cut, and how many are not divided."""
        return xp.searchsorted(up, lam * b, side="right"), xp.searchsorted(up, (1 + lam) * b, side="left")

    def level(lam: float) -> tuple[float, int]:
        """Return b for which the weights clip(y / b - lam, 0, 1) sum to k, and how many entries are not divided."""
        breaks = xp.sort(xp.concat([up / lam, up / (1 + lam)]))
        low, high = split(lam, breaks)
        middle = xp.take(tail, low) - xp.take(tail, high)
        total = xp.astype(d - high, up.dtype) + middle / breaks - lam * xp.astype(high - low, up.dtype)
        # The sum falls as b grows: between the last break where it is at least k and the next one it is linear in 1/b.
        i = max(int(xp.sum(xp.astype(total >= k, xp.int64))) - 1, 0)
        inside = breaks[i : i + 2]
        low, high = (int(a[0]) for a in split(lam, xp.sum(inside, keepdims=True) / inside.shape[0]))
        if low == high:
            return float(inside[0]), high
        return float(tail[low] - tail[high]) / (k - (d - high) + lam * (high - low)), high

    def excess(lam: float) -> float:
        b, high = level(lam)
        return 1 / (float(squares[high]) / (1 + lam) ** 2 + (k - (d - high)) * b * b) ** 0.5 - 1

    largest_k = float(norm(up[d - k :], 2))
    lam = root_of_increasing(excess, (size / radius - 1) / -(-d // k), largest_k)
    b, _ = level(lam)
    z = xp.where(y >= (1 + lam) * b, y / (1 + lam), xp.maximum(y - lam * b, xp.zeros_like(y)))
    z = z / float(ksupport_norm(z, k))
    return radius * xp.sign(x) * z
