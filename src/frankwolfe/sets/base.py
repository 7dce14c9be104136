"""What a feasible set must answer."""

from __future__ import annotations

import numbers
from abc import ABCMeta, abstractmethod
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from array_api_compat import is_array_api_obj

from frankwolfe.atoms import Atom
from frankwolfe.backends import Array, Scalar, all_finite, zeros
from frankwolfe.sets.arrays import above, norm, unmasked
from frankwolfe.validation import positive


class EmptySetError(ValueError):
    """What was asked for leaves no point."""


class Capability(ABCMeta):
    """The type of classes of sets: what depends on its parts, or on an option, an instance may lack, and says so.

    So ``isinstance(domain, ProjectableSet)`` is true of a product where it is of every factor.
    """

    def __instancecheck__(cls, instance: Any) -> bool:
        kinds = type(instance).__mro__  # quicker than asking `ABCMeta`, which has the last word
        return (cls in kinds or super().__instancecheck__(instance)) and instance.can(cls)


class Set(metaclass=Capability):
    """A compact convex set, known by its answers to linear questions.

    To add one, write `lmo`, `diameter` and `contains`; everything else has a default. Classes are final:
    wrap a set to change it.
    """

    __array_ufunc__ = None  # so that an array plus, or times, a set comes to the set

    closed_form: ClassVar[bool] = True
    """Whether `lmo` and `support` are exact and cheap (no inner iteration)."""

    exact_oracle: ClassVar[bool] = True
    """Whether `lmo` errs by no more than the rounding of <g, v>; otherwise `minimum` says what is proven."""

    quick_support: ClassVar[bool] = False
    """Whether `support` costs no more than an inner product."""

    quick_membership: ClassVar[bool] = False
    """Whether `contains` costs no more than a few operations on each entry of a point."""

    sparse_atoms: ClassVar[bool] = False
    """Whether atoms have few nonzeros, so that single columns of the data are read (objectives store columns then)."""

    parallel_atoms: ClassVar[bool] = False
    """Whether the atom for a direction is a multiple of it, and of its image: objectives then give gradients theirs."""

    holds_magnitudes: ClassVar[bool] = False
    """Whether \\|x\\| belongs to the set with every x, as in a ball of l_p: `reach` is then a support value."""

    combines_choices: ClassVar[bool] = False
    """Whether a vertex is a choice for each entry, as in a box: exchanging one choice for another leaves ties."""

    coordinate_signs: ClassVar[tuple[float, ...]] = ()
    """Where the vertices are the unit vectors times `radius` and a sign: the signs. Empty for other sets."""

    spectral_atoms: ClassVar[bool] = False
    """Whether atoms are matrices from a decomposition, which hardly ever come twice."""

    mixes_atoms: ClassVar[bool] = False
    """Whether a vertex is several choices at once, so that a solution mixes many of them, however few entries each."""

    exponent: ClassVar[float | None] = None
    """p where the set is a ball of l_p, centred at zero; None elsewhere."""

    curved: bool = False
    """Whether the boundary is so curved that a line search on top of momentum is known to help."""

    keeps_factors: bool = False
    """Whether points may be low-rank matrices, and slopes the entries of a sparse one."""

    nuclear_radius: float | None = None
    """The radius where the set is the ball of the nuclear norm, of matrices kept as factors; None elsewhere."""

    vertex_height: float | None = None
    """The one nonzero value in the vertices, where faces are given by entries at zero or at it; else None."""

    shape: tuple[int, ...] | None = None
    """Shape of the points where the set fixes it (a simplex does, a ball does not)."""

    def can(self, capability: type) -> bool:
        """Tell whether this very set has what one of its classes promises; `isinstance` asks."""
        return True

    @property
    def factors(self) -> tuple[Factor, ...]:
        """The factors of a product of sets; empty for other sets."""
        return ()

    def bounds(self, x: Array) -> tuple[Array, Array] | None:
        """Return the least and the greatest value of each entry, where these are all that binds; None elsewhere."""
        return None

    def slow_oracle(self, shape: tuple[int, ...]) -> bool:
        """Tell whether the oracle, for points of this shape, is far more work than a look at the atoms seen before."""
        return not self.closed_form

    @property
    def oracle_in_arrays(self) -> bool:
        """Whether the oracle's answer is a whole array, made without a look at a number."""
        return self.exponent is not None and self.exponent > 1

    @abstractmethod
    def lmo(self, g: Array) -> Atom:
        """Return an atom minimising <g, v> over the set; any point of the set where g is zero. Ties: lowest index."""

    def minimum(self, g: Array) -> LinearMinimum:
        """Return an atom minimising <g, v> with its value, and a number that <g, .> is nowhere less than on the set.

        That number is the value itself where the oracle is exact up to rounding; a set whose oracle is not answers with
        what it can prove.
        """
        atom = self.lmo(g)
        value = atom.inner(g)
        return LinearMinimum(atom, value, value)

    def support(self, g: Array) -> Scalar:
        """Return the support value, the maximum of <g, v> over the set; never less, where the oracle is not exact."""
        return -self.lmo(-g).inner(-g)

    @abstractmethod
    def diameter(self, shape: tuple[int, ...] | None = None) -> float:
        """Return the Euclidean diameter, for points of the given shape where it matters."""

    def reach(self, c: Array) -> float:
        """Return an upper bound of <c, \\|x\\|> over the set, for nonnegative c of the points' shape.

        It weighs the rounding of inner products with points of the set: each entry of c is how far one of the slope
        may be off, relative to some unit.
        """
        if self.holds_magnitudes:
            return above(self.support(c), c)
        point = self.lmo(zeros(tuple(c.shape), c)).toarray()
        return above(norm(c, 2) * (float(norm(point, 2)) + self.diameter(tuple(c.shape))), c)

    @abstractmethod
    def contains(self, x: Array, tol: float = 1e-9) -> bool:
        """Tell whether x belongs to the set, up to `tol` relative to its size."""

    def with_radius(self, radius: float) -> Self:
        """Return the same kind of set with another radius."""
        if is_dataclass(self) and any(entry.name == "radius" for entry in fields(self)):
            return replace(self, radius=radius)
        raise TypeError(f"{type(self).__name__} has no radius to change; scale it instead: Scaled(domain, factor)")

    @property
    def _key(self) -> Any:
        """What tells the set from others of its class: its fields, of arrays the numbers."""
        if not is_dataclass(self):
            return id(self)
        values = (getattr(self, entry.name) for entry in fields(self))
        return tuple((v.shape, (v + 0.0).tobytes()) if isinstance(v, np.ndarray) else v for v in values)

    def __eq__(self, other: object) -> bool:
        return self._key == other._key if isinstance(other, Set) and type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key)

    @classmethod
    def from_lmo(cls, lmo: Any, **options: Any) -> Set:
        """Return the set of a user's own oracle, with optional `shape`, `diameter`, `contains` and `project`.

        See :class:`frankwolfe.sets.OracleSet`.
        """
        from frankwolfe.sets.oracle_set import OracleSet

        return OracleSet(lmo, **options)

    def _repr_html_(self) -> str:
        from html import escape

        return f"<code>{escape(repr(self))}</code>"

    def __add__(self, other: Any) -> Set:
        """Return the Minkowski sum with a set, or the set shifted by an array."""
        from frankwolfe.sets.combinations.linear_maps import Shifted
        from frankwolfe.sets.combinations.sums_products_unions import MinkowskiSum

        if isinstance(other, Set):
            lists = (d.parts if isinstance(d, MinkowskiSum) else (d,) for d in (self, other))
            return MinkowskiSum(*(part for parts in lists for part in parts))
        other = unmasked("offset", other)
        if not is_array_api_obj(other) or getattr(other, "ndim", 0) == 0:
            return NotImplemented
        if isinstance(self, Shifted):
            return Shifted(self.part, self.offset + np.asarray(other))
        return Shifted(self, other)

    __radd__ = __add__

    def __and__(self, other: Any) -> Set:
        from frankwolfe.sets.combinations.intersection import BallIntersection
        from frankwolfe.sets.norm_balls.lp_balls import L2Ball

        if not isinstance(other, Set):
            return NotImplemented
        return BallIntersection(self, other) if isinstance(self, L2Ball) else BallIntersection(other, self)

    def __sub__(self, offset: Any) -> Set:
        return NotImplemented if isinstance(offset, Set) else self + -offset

    def __mul__(self, factor: Any) -> Set:
        from frankwolfe.sets.combinations.linear_maps import Scaled

        if not isinstance(factor, numbers.Real) or isinstance(factor, bool):
            return NotImplemented
        if isinstance(self, Scaled):
            return Scaled(self.part, self.factor * float(factor))
        return Scaled(self, float(factor))

    __rmul__ = __mul__

    def __neg__(self) -> Set:
        return -1.0 * self

    def __rmatmul__(self, matrix: Any) -> Set:
        from frankwolfe.sets.combinations.linear_maps import LinearImage

        return LinearImage(self, matrix) if getattr(matrix, "ndim", 0) == 2 else NotImplemented


class ProvenSet(Set):
    """A set whose oracle errs by more than rounding: it writes `minimum`, with a bound that it proves."""

    exact_oracle: ClassVar[bool] = False

    @abstractmethod
    def minimum(self, g: Array) -> LinearMinimum:
        """Return an atom minimising <g, v> up to some error, its value, and a proven lower bound on the minimum."""

    def lmo(self, g: Array) -> Atom:
        return self.minimum(g).atom

    def support(self, g: Array) -> Scalar:
        return -self.minimum(-g).lower


class Factor(NamedTuple):
    """One factor of a product: where its block is in a point, the set, and the shape of the block."""

    block: slice
    part: Set
    shape: tuple[int, ...]


class ProjectableSet(Set):
    """A set whose Euclidean projection is cheap enough to use."""

    quick_membership: ClassVar[bool] = True

    @abstractmethod
    def project(self, x: Array) -> Array:
        """Return the point of the set nearest to x."""


class CoordinateSet(ProjectableSet):
    """A set whose vertices are the unit vectors times `radius` and each of `coordinate_signs`."""

    sparse_atoms: ClassVar[bool] = True
    holds_magnitudes: ClassVar[bool] = True
    radius: float

    @property
    def signed(self) -> bool:
        """Whether vertices come with both signs."""
        return -1.0 in self.coordinate_signs

    @abstractmethod
    def of_size(self, count: int) -> CoordinateSet:
        """Return the set of the points with so many entries, of the same radius."""


@dataclass(frozen=True, eq=False)
class Ball(Set):
    """A set with a positive radius, its first field."""

    quick_membership: ClassVar[bool] = True
    radius: float

    def __post_init__(self) -> None:
        install(self, radius=positive("radius", self.radius))


class LinearMinimum(NamedTuple):
    """An oracle's answer with what is known about it.

    `value` is <g, atom>; `lower` is a bound the minimum cannot go below: equal to `value` for an exact oracle, minus
    infinity where an iterative oracle has proven nothing.
    """

    atom: Atom
    value: Scalar
    lower: Scalar
    matvecs: int = 0


class SupportBound(NamedTuple):
    """An upper bound on the support value; `failure` is the probability that it is wrong, zero for a proof."""

    value: float
    failure: float
    matvecs: int = 0


class IterativeSet(Set):
    """A set whose oracle iterates (Lanczos, say), to an accuracy that the method chooses."""

    closed_form: ClassVar[bool] = False
    spectral_atoms: ClassVar[bool] = True

    @abstractmethod
    def minimise(self, g: Any, accuracy: float, rng: np.random.Generator) -> LinearMinimum:
        """Return an atom whose <g, v> is, by estimate, within `accuracy` of the minimum."""

    @abstractmethod
    def support_bound(self, g: Any, rng: np.random.Generator) -> SupportBound:
        """Return an upper bound on the support value: proven where affordable, otherwise with a failure probability."""


def install(domain: Set, **fields: Any) -> None:
    """Give a set, which is frozen, fields in the form in which it keeps them."""
    for name, value in fields.items():
        object.__setattr__(domain, name, value)


def require_shape(domain: Set, x: Any) -> None:
    """Raise unless x has the shape of the set's points, where it fixes one."""
    if domain.shape is not None and tuple(x.shape) != domain.shape:
        raise ValueError(
            f"{type(domain).__name__} holds points of shape {domain.shape}, got an array of shape {tuple(x.shape)}"
        )


def require_matrix(domain: Set, x: Any, square: bool = False) -> Any:
    """Return x, or raise unless it is a matrix."""
    if len(x.shape) != 2 or 0 in x.shape or (square and x.shape[0] != x.shape[1]):
        kind = "square matrices" if square else "matrices"
        raise ValueError(f"{type(domain).__name__} holds {kind}, got an array of shape {tuple(x.shape)}; reshape it")
    return x


def is_point(domain: Set, x: Array) -> bool:
    """Tell whether all entries of x are finite; raise unless it has the shape of the set's points."""
    require_shape(domain, x)
    return all_finite(x)


def known_shape(domain: Set, shape: tuple[int, ...] | None) -> tuple[int, ...]:
    """Return the shape, or say that the diameter depends on it."""
    if shape is None:
        name = type(domain).__name__
        raise ValueError(f"the diameter of {name} depends on the shape of its points; pass it: diameter(shape)")
    return tuple(shape)
