"""The Birkhoff polytope: doubly stochastic matrices."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from frankwolfe.atoms import Atom, Sparse
from frankwolfe.backends import Array, largest, namespace, scaled
from frankwolfe.backends.namespace import as_index, as_like
from frankwolfe.sets.base import LinearMinimum, ProvenSet, install, is_point, require_shape
from frankwolfe.sets.fixed_arrays import on_host
from frankwolfe.sets.norms import slack
from frankwolfe.validation import integer


@dataclass(frozen=True)
class Birkhoff(ProvenSet):
    """Nonnegative n x n matrices whose rows and columns each sum to one.

    Parameters
    ----------
    n : int
        Order of the matrices.

    Notes
    -----
    The extreme points are the permutation matrices [1]_, and an atom is the best assignment of rows to columns: SciPy's
    shortest augmenting paths, O(n³) at worst [2]_. It is kept as n ones and their places.

    References
    ----------
    .. [1] G. Birkhoff, "Tres observaciones sobre el algebra lineal", Univ. Nac. Tucuman Rev. Ser. A 5, 1946.
    .. [2] D. F. Crouse, "On implementing 2D rectangular assignment algorithms", IEEE Transactions on Aerospace and
       Electronic Systems 52, 2016.

    Examples
    --------
    >>> import numpy as np
    >>> Birkhoff(2).lmo(np.array([[1.0, 0.0], [0.0, 3.0]])).toarray()
    array([[0., 1.],
           [1., 0.]])
    """

    n: int
    vertex_height = 1.0
    sparse_atoms: ClassVar[bool] = True
    holds_magnitudes: ClassVar[bool] = True

    def __post_init__(self) -> None:
        install(self, n=integer("n", self.n, 1))
        install(self, shape=(self.n, self.n))

    def lmo(self, g: Array) -> Atom:
        return self._sparse(self._assigned(g)[1], g)

    def minimum(self, g: Array) -> LinearMinimum:
        """Return a permutation with its value, and a lower bound proven by prices of the columns."""
        cost, columns = self._assigned(g)
        atom = self._sparse(columns, g)
        return LinearMinimum(atom, atom.inner(g), float(largest(g)) * _below(cost, columns))

    def diameter(self, shape: tuple[int, ...] | None = None) -> float:
        """Return the distance of two permutations that agree nowhere; zero where there is only one."""
        return math.sqrt(2 * self.n) if self.n > 1 else 0.0

    def contains(self, x: Array, tol: float = 1e-9) -> bool:
        if not is_point(self, x):
            return False
        xp = namespace(x)
        room = slack(x, tol)
        sums = (xp.sum(x, axis=0), xp.sum(x, axis=1))
        return bool(xp.min(x) >= -room) and all(bool(xp.max(xp.abs(s - 1)) <= room) for s in sums)

    def _assigned(self, g: Array) -> tuple[np.ndarray, np.ndarray]:
        """Return the scaled direction in double precision and the best column for each row."""
        require_shape(self, g)
        from scipy.optimize import linear_sum_assignment

        cost = scaled(on_host(g))
        return cost, linear_sum_assignment(cost)[1]

    def _sparse(self, columns: np.ndarray, like: Array) -> Sparse:
        places = np.arange(self.n) * self.n + columns
        return Sparse(as_index(places, like), as_like(np.ones(self.n), like), (self.n, self.n))


def _below(cost: np.ndarray, columns: np.ndarray) -> float:
    """Return a number that no assignment costs less than; entries of `cost` are at most one.

    For any prices v of the columns, an assignment costs at least the sum of v and of the least c_ij - v_j of each row.
    Good prices are the lengths of shortest ways from column to column, changing an assigned row each time.
    """
    n = len(cost)
    change = cost - cost[np.arange(n), columns][:, None]
    v = np.zeros(n)
    for _ in range(n):
        shorter = np.minimum(v, np.min(change + v[columns][:, None], axis=0))
        if np.array_equal(shorter, v):
            break
        v = shorter
    u = np.min(cost - v, axis=1)
    # Scaling, and each difference, is rounded once.
    room = 2.0**-52 * n * (2 + float(np.max(np.abs(v))))
    return math.fsum([*u, *v]) - room
