"""Points and tangents: the two things a method averages, both with one verb, `mix`.

A `Point` is coordinates together with their image under the objective's linear map, as far as it is known. Mixing
commutes with a linear map, so the image of a mixture is the mixture of the images and is never paid for twice. The
image of a new atom starts out pending and is computed inside the next evaluation, in the same read of the data.

A `Tangent` is an affine function below f: slope and offset. The average of tangents is again one, and its minimum over
the set is a lower bound on the optimal value. That is the whole theory of our certificates.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

from frankwolfe.atoms import Atom
from frankwolfe.backends import Scalar, blend

T = TypeVar("T", "Point", "Tangent")


def mix(a: T, b: T, delta: Scalar) -> T:
    """Return (1 - delta) a + delta b, for two points or two tangents.

    Examples
    --------
    >>> import numpy as np
    >>> mix(Point.at(np.zeros(2)), Point.at(np.ones(2)), 0.25).coords
    array([0.25, 0.25])
    """
    return a.mixed(b, delta)


class Leaf:
    """The image of some coordinates, computed at most once: `value` is None until an evaluation needs it."""

    __slots__ = ("coords", "value")

    def __init__(self, coords: Any, value: Any = None) -> None:
        self.coords = coords
        self.value = value

    def resolve(self, value: Any) -> None:
        """Keep the image and forget the coordinates it came from."""
        self.value = value
        self.coords = None


class Late(NamedTuple):
    """The coordinates (1 - delta) start + delta end, not computed yet: of a query point only the image may be used."""

    start: Any
    end: Any
    delta: Scalar

    def mixed(self) -> Any:
        """Compute them."""
        if isinstance(self.end, Atom):
            return self.end.mixed_into(self.start, self.delta)
        return blend(1 - self.delta, self.start, self.delta, self.end)


class Point:
    """Coordinates and their image, an explicit sum of weighted leaves. Immutable to its users.

    Parameters
    ----------
    coords : array, Atom or LowRank
        Where the point is.
    terms : tuple of (weight, Leaf)
        The image: the weighted sum of the leaves' values.
    parts : (tuple of Point, array of weights), optional
        The atoms that the point is a convex combination of, where a method keeps them.
    """

    __slots__ = ("_coords", "parts", "terms")

    def __init__(self, coords: Any, terms: tuple[tuple[Scalar, Leaf], ...], parts: Any = None) -> None:
        self._coords = coords
        self.terms: tuple[tuple[Scalar, Leaf], ...] = terms
        self.parts = parts

    @classmethod
    def at(cls, coords: Any) -> Point:
        """Return the point with these coordinates, its image pending."""
        return cls(coords, ((1.0, Leaf(coords)),))

    @property
    def coords(self) -> Any:
        """Where the point is: of a mixture, computed when first asked for."""
        if isinstance(self._coords, Late):
            self._coords = self._coords.mixed()
        return self._coords

    @property
    def pending(self) -> list[Leaf]:
        """The leaves whose image is not computed yet."""
        return [leaf for _, leaf in self.terms if leaf.value is None]

    @property
    def image(self) -> Any:
        """The image as one array; every leaf must be resolved."""
        (weight, leaf), *more = self.terms
        if more or not (isinstance(weight, float) and weight == 1.0):
            leaf = Leaf(None, weighted_sum([(w, known.value) for w, known in self.terms]))
            self.terms = ((1.0, leaf),)
        return leaf.value

    def bare(self) -> Point:
        """Return the point without its image, which takes memory: for those that are kept for their coordinates."""
        return Point(self._coords, (), self.parts)

    def mixed(self, other: Point, delta: Scalar) -> Point:
        """Return (1 - delta) self + delta other."""
        start, end = self.coords, other.coords
        return Point(Late(start, end, delta), _merge(((1 - delta), self), (delta, other)))


def combine(weights: list[Scalar], points: list[Point]) -> Point:
    """Return the weighted sum of points whose coordinates are arrays (or low-rank matrices).

    Examples
    --------
    >>> import numpy as np
    >>> combine([2.0, -1.0], [Point.at(np.ones(2)), Point.at(np.zeros(2))]).coords
    array([2., 2.])
    """
    dense = [p.coords.toarray() if isinstance(p.coords, Atom) else p.coords for p in points]
    return Point(weighted_sum(list(zip(weights, dense, strict=True))), _merge(*zip(weights, points, strict=True)))


def weighted_sum(terms: list[tuple[Scalar, Any]]) -> Any:
    """Return the sum of weight times value, from left to right, always in the same order."""
    weight, value = terms[0]
    total = weight * value
    for weight, value in terms[1:]:
        total = total + weight * value
    return total


def _merge(*parts: tuple[Scalar, Point]) -> tuple[tuple[Scalar, Leaf], ...]:
    """Return the terms of a weighted sum of points, known leaves first, each leaf once."""
    weights: dict[int, Scalar] = {}
    leaves: dict[int, Leaf] = {}
    for scale, point in parts:
        if not point.pending:
            point.image  # noqa: B018  sum a settled image up once, so that terms stay few
        for weight, leaf in point.terms:
            weights[id(leaf)] = weights.get(id(leaf), 0.0) + scale * weight
            leaves[id(leaf)] = leaf
    ordered = sorted(leaves.values(), key=lambda leaf: leaf.value is None)
    return tuple((weights[id(leaf)], leaf) for leaf in ordered)


class Tangent(NamedTuple):
    """The affine function (offset + <slope, .>) / weight, below f everywhere.

    `weight` is the total weight of the tangents averaged so far: one for a single tangent, 1 - λ_k in the middle of an
    average that started from nothing. `noise` bounds the rounding in `offset`, in the same units. `at` is, where it is
    kept, the average of the points of tangency (with the same total weight): a run in single precision certifies there.
    """

    slope: Any
    offset: Scalar
    weight: Scalar = 1.0
    noise: Scalar = 0.0
    at: Any = None

    @classmethod
    def nothing(cls) -> Tangent:
        """Return the empty average, θ_0 = 0."""
        return cls(None, 0.0, 0.0, 0.0)

    @classmethod
    def constant(cls, bound: float) -> Tangent:
        """Return the constant function `bound`, a lower bound already proven, as the first member of an average."""
        return cls(None, bound, 1.0, 0.0)

    def mixed(self, other: Tangent, delta: Scalar) -> Tangent:
        """Return (1 - delta) self + delta other."""
        keep = 1 - delta
        return Tangent(
            delta * other.slope if self.slope is None else blend(keep, self.slope, delta, other.slope),
            keep * self.offset + delta * other.offset,
            keep * self.weight + delta * other.weight,
            keep * self.noise + delta * other.noise,
            None if other.at is None else delta * other.at if self.at is None else keep * self.at + delta * other.at,
        )

    def bound(self, minimum: Scalar, rounding: float = 0.0, mixings: float = 0.0) -> Scalar:
        """Return the lower bound on f* when <slope, .> is at least `minimum` on the set, rounding taken off.

        `rounding` is that of the minimum, relative to it; `mixings` is how many times the noise of one tangent the
        averaging has added.
        """
        return (self.offset + minimum - (1 + mixings) * self.noise - rounding * abs(minimum)) / self.weight
