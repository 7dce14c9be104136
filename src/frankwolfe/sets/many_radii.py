"""One kind of set with many radii: row i of a point belongs to the set of radius i."""

from __future__ import annotations

from typing import Any, NoReturn

from frankwolfe.atoms import StackedAtoms
from frankwolfe.backends.namespace import Array, as_like, namespace, nonzero
from frankwolfe.sets.arrays import conjugate, dual_vectors, norms
from frankwolfe.sets.base import Set, install


class SetBatch(Set):
    """The product of sets that differ in their radius only, their oracles answered in one go: a row of points for each.

    Norm balls and simplices answer by operations on whole arrays, any other set with a closed form row by row. Points
    have namespace, dtype and device of `like`.
    """

    def __init__(self, members: list[Any], like: Array) -> None:
        self.members = members
        self.like = like
        install(self, curved=members[0].curved, exponent=members[0].exponent)
        if self.oracle_in_arrays:
            self.radii = as_like([member.radius for member in members], like)

    def rows(self, kept: list[int]) -> SetBatch:
        """Return the batch of some of its members."""
        return SetBatch([self.members[i] for i in kept], self.like)

    @property
    def oracle_in_arrays(self) -> bool:
        return self.exponent is not None or self._simplices

    @property
    def _simplices(self) -> bool:
        return self.members[0].coordinate_signs == (1.0,)

    def lmo(self, g: Array) -> StackedAtoms:
        xp = namespace(g)
        if self.exponent is not None:
            magnitudes = xp.abs(g)
            u = dual_vectors(magnitudes / nonzero(xp.max(magnitudes, axis=-1))[:, None], self.exponent)
            signs = xp.where(g > 0, -xp.ones_like(g), xp.ones_like(g))
            return StackedAtoms(self.radii[:, None] * signs * u)
        if self._simplices:
            steps = dual_vectors(xp.max(g, axis=-1)[:, None] - g, 1.0)  # one where g is least, zero elsewhere
            return StackedAtoms(self.radii[:, None] * steps)
        return StackedAtoms(xp.stack([member.lmo(g[i, ...]).toarray() for i, member in enumerate(self.members)]))

    def support(self, g: Array) -> Array:
        if self.exponent is not None:
            return self.radii * norms(g, conjugate(self.exponent))
        if self._simplices:
            return self.radii * namespace(g).max(g, axis=-1)
        return as_like([float(member.support(g[i, ...])) for i, member in enumerate(self.members)], self.like)

    def diameter(self, shape: tuple[int, ...] | None = None) -> float:
        """Return the largest diameter of a member, for points of `shape` in each."""
        return max(member.diameter(shape) for member in self.members)

    def reach(self, c: Array) -> Array:
        """Return the members' bounds, one for each row of c."""
        return as_like([member.reach(c[i, ...]) for i, member in enumerate(self.members)], self.like)

    def contains(self, x: Array, tol: float = 1e-9) -> bool:
        return all(member.contains(x[i, ...], tol) for i, member in enumerate(self.members))

    def with_radius(self, radius: float) -> NoReturn:
        raise TypeError("a batch of sets has many radii; call with_radius on its members")
