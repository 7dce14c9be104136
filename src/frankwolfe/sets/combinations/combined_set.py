"""What all sets made from other sets share: they pass the question on and put the answers together."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from functools import cache
from typing import Any

import numpy as np

from frankwolfe.atoms import Atom, OneHot, Sparse
from frankwolfe.backends import Array, Scalar
from frankwolfe.sets.base import IterativeSet, LinearMinimum, ProjectableSet, Set, SupportBound
from frankwolfe.sets.membership import contains_by_oracle


class Combination(Set):
    """A set made from parts.

    A subclass says which direction each part is asked (`_questions`), how the atoms make one (`_atom`) and how the
    parts' minima make the minimum (`_total`). Whether the parts' oracles iterate and whether there is a projection is
    told by the type of an instance: `of_kind` gives `__new__` the right one.
    """

    parts: Any  # the sets that this one is made from, a tuple

    @abstractmethod
    def _questions(self, g: Array) -> list[Array]:
        """Return the direction that each part is asked."""

    @abstractmethod
    def _atom(self, g: Array, answers: list[tuple[Atom, Scalar]]) -> Atom:
        """Return the atom made from the parts' atoms, each with its value."""

    @abstractmethod
    def _total(self, g: Array, minima: list[Scalar]) -> Scalar:
        """Return the minimum over this set from the parts' minima (of lower bounds, a lower bound)."""

    _weight: Any = 1.0  # how much an error of a part's minimum weighs

    def lmo(self, g: Array) -> Atom:
        return self._atom(g, [part.minimum(h)[:2] for part, h in self._asked(g)])

    def minimum(self, g: Array) -> LinearMinimum:
        """Return an atom, its value and a lower bound on the minimum, that of the parts' bounds where any is needed."""
        if self.exact_oracle:
            return super().minimum(g)
        found = [part.minimum(h) for part, h in self._asked(g)]
        atom = self._atom(g, [answer[:2] for answer in found])
        return LinearMinimum(atom, atom.inner(g), self._total(g, [answer.lower for answer in found]))

    def support(self, g: Array) -> Scalar:
        return -self._total(-g, [-part.support(-h) for part, h in self._asked(-g)])

    def contains(self, x: Array, tol: float = 1e-9) -> bool:
        return contains_by_oracle(self, x, tol)

    def __reduce__(self) -> tuple[Any, ...]:
        kind = (isinstance(self, IterativeSet), isinstance(self, _Projecting))
        return _restored, (_public(type(self)), *kind, self.__dict__)

    def _asked(self, g: Array) -> list[tuple[Set, Array]]:
        return list(zip(self.parts, self._questions(g), strict=True))


class _Iterating(IterativeSet):
    """A combination some of whose parts have iterative oracles."""

    def minimise(self, g: Any, accuracy: float, rng: np.random.Generator) -> LinearMinimum:
        """Return an atom whose <g, v> is, by estimate, within `accuracy` of the minimum; parts share the error."""
        whole = _combination(self)
        share = accuracy / (whole._weight * sum(isinstance(part, IterativeSet) for part in whole.parts))
        found = [
            part.minimise(h, share, rng) if isinstance(part, IterativeSet) else part.minimum(h)
            for part, h in whole._asked(g)
        ]
        atom = whole._atom(g, [answer[:2] for answer in found])
        lower = whole._total(g, [answer.lower for answer in found])
        return LinearMinimum(atom, atom.inner(g), lower, sum(answer.matvecs for answer in found))

    def support_bound(self, g: Any, rng: np.random.Generator) -> SupportBound:
        """Return an upper bound on the support value; the parts' probabilities of failure add up."""
        whole = _combination(self)
        bounds = [
            part.support_bound(-h, rng)
            if isinstance(part, IterativeSet)
            else SupportBound(float(part.support(-h)), 0.0)
            for part, h in whole._asked(-g)
        ]
        value = -float(whole._total(-g, [-bound.value for bound in bounds]))
        return SupportBound(value, sum(b.failure for b in bounds), sum(b.matvecs for b in bounds))


class _Projecting(ProjectableSet):
    """A combination whose projection follows from those of its parts."""

    def project(self, x: Array) -> Array:
        return self._project(x)  # pyright: ignore[reportAttributeAccessIssue]


def of_kind(cls: type, parts: tuple[Any, ...], projects: bool) -> Any:
    """Return a bare instance of `cls`, of the type that says truthfully what it can do."""
    for part in parts:
        if not isinstance(part, Set):
            raise TypeError(f"{cls.__name__} is made from sets such as L1Ball(1.0), got {type(part).__name__}")
    iterates = any(isinstance(part, IterativeSet) for part in parts)
    projects = projects and all(isinstance(part, ProjectableSet) for part in parts)
    return object.__new__(_kind(_public(cls), iterates, projects))


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


def inherit(domain: Combination, *names: str) -> None:
    """Set flags of a combination: true where they are for every part."""
    for name in names:
        object.__setattr__(domain, name, all(getattr(part, name) for part in domain.parts))


def _combination(domain: Any) -> Combination:
    assert isinstance(domain, Combination)
    return domain


@cache
def _kind(cls: type, iterates: bool, projects: bool) -> type:
    abilities = (_Iterating,) * iterates + (_Projecting,) * projects
    return ABCMeta(
        cls.__name__, (cls, *abilities), {"__module__": cls.__module__, "__doc__": cls.__doc__, "_public": cls}
    )


def _public(cls: Any) -> type:
    return getattr(cls, "_public", cls)


def _restored(cls: type, iterates: bool, projects: bool, state: dict[str, Any]) -> Any:
    new = object.__new__(_kind(cls, iterates, projects))
    new.__dict__.update(state)
    return new
