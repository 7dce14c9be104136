"""What all sets made from other sets share: they pass the question on and put the answers together."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from frankwolfe.atoms import Atom, OneHot, Sparse
from frankwolfe.backends import Array, Scalar
from frankwolfe.sets.base import IterativeSet, LinearMinimum, ProjectableSet, Set, SupportBound, install
from frankwolfe.sets.membership import contains_by_oracle


class Combination(IterativeSet):
    """A set made from parts.

    A subclass says which direction each part is asked (`_questions`), how the atoms make one (`_atom`) and how the
    parts' minima make the minimum (`_total`). It iterates where an oracle of its parts does, and projects, if it can,
    where all parts do.
    """

    spectral_atoms: ClassVar[bool] = False
    parts: Any  # the sets that this one is made from, a tuple

    def can(self, capability: type) -> bool:
        if capability is IterativeSet:
            return any(isinstance(part, IterativeSet) for part in self.parts)
        return capability is not ProjectableSet or all(isinstance(part, ProjectableSet) for part in self.parts)

    @abstractmethod
    def _questions(self, g: Array) -> list[Array]:
        """Return the direction that each part is asked, linear in g."""

    @abstractmethod
    def _atom(self, g: Array, answers: list[tuple[Atom, Scalar]]) -> Atom:
        """Return the atom made from the parts' atoms, each with its value."""

    @abstractmethod
    def _total(self, g: Array, minima: list[Scalar]) -> Scalar:
        """Return the minimum over this set from the parts' minima (of lower bounds, a lower bound)."""

    _weight: Any = 1.0  # how much an error of a part's minimum weighs
    _shared: ClassVar[tuple[str, ...]] = ("exact_oracle", "sparse_atoms")  # flags that it has where all parts do

    def lmo(self, g: Array) -> Atom:
        return self._atom(g, [part.minimum(h)[:2] for part, h in self._asked(g)])

    def minimum(self, g: Array) -> LinearMinimum:
        """Return an atom, its value and a lower bound on the minimum, that of the parts' bounds where any is needed."""
        if self.exact_oracle:
            return super().minimum(g)
        return self._joined(g, [part.minimum(h) for part, h in self._asked(g)])

    def minimise(self, g: Any, accuracy: float, rng: np.random.Generator) -> LinearMinimum:
        """Return an atom whose <g, v> is, by estimate, within `accuracy` of the minimum; parts share the error."""
        share = accuracy / (self._weight * sum(isinstance(part, IterativeSet) for part in self.parts))
        found = [
            part.minimise(h, share, rng) if isinstance(part, IterativeSet) else part.minimum(h)
            for part, h in self._asked(g)
        ]
        return self._joined(g, found)

    def support(self, g: Array) -> Scalar:
        return -self._total(-g, [-part.support(h) for part, h in self._asked(g)])

    def support_bound(self, g: Any, rng: np.random.Generator) -> SupportBound:
        """Return an upper bound on the support value; the parts' probabilities of failure add up."""
        bounds = [
            part.support_bound(h, rng) if isinstance(part, IterativeSet) else SupportBound(float(part.support(h)), 0.0)
            for part, h in self._asked(g)
        ]
        value = -float(self._total(-g, [-bound.value for bound in bounds]))
        return SupportBound(value, sum(b.failure for b in bounds), sum(b.matvecs for b in bounds))

    def contains(self, x: Array, tol: float = 1e-9) -> bool:
        return contains_by_oracle(self, x, tol)

    def _asked(self, g: Array) -> list[tuple[Set, Array]]:
        return list(zip(self.parts, self._questions(g), strict=True))

    def _joined(self, g: Array, found: list[LinearMinimum]) -> LinearMinimum:
        atom = self._atom(g, [answer[:2] for answer in found])
        lower = self._total(g, [answer.lower for answer in found])
        return LinearMinimum(atom, atom.inner(g), lower, sum(answer.matvecs for answer in found))

    def _inherit(self) -> None:
        """Check the parts, and set flags: true where they are for every part."""
        for part in self.parts:
            if not isinstance(part, Set):
                raise TypeError(
                    f"{type(self).__name__} is made from sets such as L1Ball(1.0), got {type(part).__name__}"
                )
        if isinstance(self, IterativeSet):
            install(self, spectral_atoms=True)
        install(self, quick_membership=isinstance(self, ProjectableSet))
        flags = ("closed_form", *self._shared)
        install(self, **{name: all(getattr(part, name) for part in self.parts) for name in flags})


def common_shape(name: str, parts: tuple[Set, ...]) -> tuple[int, ...] | None:
    """Return the shape of the parts' points, None where none of them fixes it."""
    shapes = {part.shape for part in parts if part.shape is not None}
    if len(shapes) > 1:
        raise ValueError(f"the parts of {name} must hold points of one shape, got {sorted(shapes)}")
    return next(iter(shapes), None)


def entries_of(atom: Atom) -> tuple[np.ndarray, np.ndarray] | None:
    """Return places and values of a NumPy atom with few nonzeros, None for any other."""
    if isinstance(atom, OneHot) and isinstance(atom.value, np.ndarray | np.generic):
        return np.array([atom.index]), np.reshape(atom.value, (1,))
    if isinstance(atom, Sparse) and isinstance(atom.values, np.ndarray):
        return atom.indices, atom.values
    return None
