"""Doubly stochastic matrices, and transport plans: nonnegative matrices with given row and column sums."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from frankwolfe.atoms import Atom, Sparse
from frankwolfe.backends.namespace import Array, as_index, as_like, largest, namespace, scaled
from frankwolfe.sets.arrays import frozen, on_host, slack
from frankwolfe.sets.base import LinearMinimum, ProvenSet, install, is_point, require_shape
from frankwolfe.sets.polytopes.polytope import Polytope
from frankwolfe.validation import integer, vector

BALANCED = 1e-9  # relative difference of the two sums that counts as rounding


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


@dataclass(frozen=True, eq=False, repr=False)
class TransportPolytope(ProvenSet):
    """Plans that move goods from sources to sinks: nonnegative matrices with given row and column sums.

    Parameters
    ----------
    supply : array_like of shape (m,)
        What each row adds up to; nonnegative.
    demand : array_like of shape (n,)
        What each column adds up to; nonnegative, and the same in all.

    Notes
    -----
    An atom is a cheapest plan for the direction as costs, with at most m + n - 1 nonzeros. Where all sums are equal it
    is an assignment (see :class:`Birkhoff`), otherwise a transportation problem, solved by the simplex method (see
    :class:`Polytope`) [1]_. Either comes with a proven lower bound.

    References
    ----------
    .. [1] G. Peyre, M. Cuturi, "Computational optimal transport", Foundations and Trends in Machine Learning 11, 2019.

    Examples
    --------
    >>> import numpy as np
    >>> plans = TransportPolytope([0.75, 0.25], [0.5, 0.5])
    >>> plans.lmo(np.array([[0.0, 1.0], [1.0, 3.0]])).toarray()
    array([[0.25, 0.5 ],
           [0.25, 0.  ]])
    """

    supply: Any
    demand: Any
    quick_membership: ClassVar[bool] = True
    sparse_atoms: ClassVar[bool] = True
    holds_magnitudes: ClassVar[bool] = True

    def __post_init__(self) -> None:
        supply, demand = (np.asarray(vector(name, getattr(self, name)), float) for name in ("supply", "demand"))
        for name, sums in (("supply", supply), ("demand", demand)):
            if not np.all(sums >= 0) or not np.any(sums > 0):
                raise ValueError(f"{name} must be nonnegative, and not all zero")
        total, wanted = math.fsum(supply), math.fsum(demand)
        if abs(total - wanted) > BALANCED * total:
            raise ValueError(
                f"supply and demand must have the same sum, got {total:.6g} and {wanted:.6g}; divide each by its sum"
            )
        install(self, supply=frozen("supply", supply), demand=frozen("demand", demand * (total / wanted)))
        install(self, closed_form=self._each is not None, shape=(supply.size, demand.size))

    def __repr__(self) -> str:
        return f"TransportPolytope(<{self.supply.size} sources>, <{self.demand.size} sinks>)"

    def minimum(self, g: Array) -> LinearMinimum:
        """Return a cheapest plan, its cost, and a proven lower bound on that."""
        require_shape(self, g)
        if self._each is not None:
            found = Birkhoff(self.supply.size).minimum(g)
            atom = found.atom.scale_by(self._each)
            lower = self._each * float(found.lower)
            return LinearMinimum(atom, atom.inner(g), lower - 2.0**-52 * abs(lower))
        found = self._polytope.minimum(on_host(g).reshape(-1))
        plan = found.atom.toarray()
        places = np.flatnonzero(plan)
        atom = Sparse(as_index(places, g), as_like(plan[places], g), tuple(g.shape))
        return LinearMinimum(atom, atom.inner(g), found.lower)

    def diameter(self, shape: tuple[int, ...] | None = None) -> float:
        """Return an upper bound: two plans differ by at most twice the total, and in no entry by more than it can hold.

        So their squared distance is at most the product of the two.
        """
        return math.sqrt(2 * math.fsum(self.supply) * float(np.max(self._most)))

    def contains(self, x: Array, tol: float = 1e-9) -> bool:
        if not is_point(self, x):
            return False
        plan, room = on_host(x), slack(x, tol) * max(float(np.max(self.supply)), float(np.max(self.demand)))
        off = np.abs(plan.sum(axis=1) - self.supply), np.abs(plan.sum(axis=0) - self.demand)
        return bool(np.min(plan) >= -room) and all(bool(np.max(part) <= room) for part in off)

    def with_radius(self, radius: float) -> Self:
        """Return the plans that move `radius` units in all."""
        factor = radius / math.fsum(self.supply)
        return replace(self, supply=factor * self.supply, demand=factor * self.demand)

    @cached_property
    def _each(self) -> float | None:
        """What every row and column adds up to, where that is one number."""
        first = float(self.supply[0])
        same = self.supply.size == self.demand.size and np.all(self.supply == first) and np.all(self.demand == first)
        return first if same else None

    @cached_property
    def _most(self) -> np.ndarray:
        """The most that an entry can hold."""
        return np.minimum.outer(self.supply, self.demand)

    @cached_property
    def _polytope(self) -> Polytope:
        from scipy.sparse import eye_array, kron, vstack

        m, n = self.supply.size, self.demand.size
        rows = vstack([kron(eye_array(m), np.ones((1, n))), kron(np.ones((1, m)), eye_array(n))]).tocsr()
        # The last equation follows from the others; rounding of the sums must not make it contradict them.
        return Polytope(
            A_eq=rows[:-1],
            b_eq=np.concatenate([self.supply, self.demand])[:-1],
            lower=0.0,
            upper=self._most.reshape(-1),
        )
