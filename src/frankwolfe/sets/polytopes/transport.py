"""Transport plans: nonnegative matrices with given row and column sums."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from frankwolfe.atoms import Sparse
from frankwolfe.backends import Array
from frankwolfe.backends.namespace import as_index, as_like
from frankwolfe.sets.base import LinearMinimum, ProvenSet, install, is_point, require_shape
from frankwolfe.sets.fixed_arrays import frozen, on_host
from frankwolfe.sets.norms import slack
from frankwolfe.sets.polytopes.birkhoff import Birkhoff
from frankwolfe.sets.polytopes.polytope import Polytope
from frankwolfe.validation import vector

BALANCED = 1e-9  # relative difference of the two sums that counts as rounding


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
