"""Points and tangents: the two things a method averages, both with one verb, `mix`.

A `Point` is coordinates together with their image under the objective's linear map, as far as it is known. Mixing
commutes with a linear map, so the image of a mixture is the mixture of the images and is never paid for twice. The
image of a new atom starts out pending and is computed inside the next evaluation, in the same read of the data.

A `Tangent` is an affine function below f: slope and offset. The average of tangents is again one, and its minimum over
the set is a lower bound on the optimal value. That is the whole theory of our certificates.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np

from frankwolfe.atoms import Atom, Mixable
from frankwolfe.backends import Array, Scalar, blend, toward

Coordinates: TypeAlias = "Array | Atom | Mixable"
"""Where a point is: an array, a vertex in its natural form, or a low-rank matrix."""
Image: TypeAlias = "Array"
"""What the objective's linear map makes of coordinates: a number for each row, or for each observed entry."""


class Slope(Protocol):
    """A gradient, or an average of them: an array, numbers on a pattern, or what multiplies vectors only."""

    @property
    def shape(self) -> Any:
        """That of the points."""
        ...

    def __add__(self, other: Any, /) -> Any: ...
    def __sub__(self, other: Any, /) -> Any: ...
    def __mul__(self, other: Any, /) -> Any: ...
    def __rmul__(self, other: Any, /) -> Any: ...
    def __truediv__(self, other: Any, /) -> Any: ...
    def __neg__(self) -> Any: ...
    def __matmul__(self, other: Any, /) -> Any: ...


T = TypeVar("T", "Point", "Tangent")
KEPT_TOUCHES = 32  # points of tangency that are kept of an average
NO_SLOPE: Any = None  # where there is none, or where it stays on a device


def mix(a: T, b: T, delta: Scalar) -> T:
    """Return (1 - delta) a + delta b, for two points or two tangents."""
    return a.mixed(b, delta)


class Leaf:
    """The image of some coordinates, computed at most once: `value` is None until an evaluation needs it."""

    __slots__ = ("coords", "value")

    def __init__(self, coords: Coordinates, value: Image | None = None) -> None:
        self.coords = coords
        self.value = value

    def resolve(self, value: Image) -> None:
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
        if isinstance(self.start, Mixable) or isinstance(self.end, Mixable):
            return (1 - self.delta) * self.start + self.delta * self.end
        return toward(self.start, self.end, self.delta)


class Point:
    """Coordinates and their image, an explicit sum of weighted leaves. Immutable to its users.

    `parts` are the atoms that the point is a convex combination of, and their weights, where a method keeps them;
    `rest` is what rounding has taken off the coordinates, where that is kept (`mixed_closely`).
    """

    __slots__ = ("_coords", "parts", "rest", "terms")

    def __init__(
        self, coords: Coordinates, terms: tuple[tuple[Scalar, Leaf], ...], parts: Any = None, rest: Array | None = None
    ) -> None:
        self._coords = coords
        self.terms: tuple[tuple[Scalar, Leaf], ...] = terms
        self.parts = parts
        self.rest = rest

    @classmethod
    def at(cls, coords: Coordinates) -> Point:
        """Return the point with these coordinates, its image pending."""
        return cls(coords, ((1.0, Leaf(coords)),))

    @property
    def coords(self) -> Coordinates:
        """Where the point is: of a mixture, computed when first asked for."""
        if isinstance(self._coords, Late):
            self._coords = self._coords.mixed()
        return self._coords

    @property
    def array(self) -> Array:
        """The coordinates, those of an atom written out."""
        return self.coords.toarray() if isinstance(self.coords, Atom) else self.coords

    @property
    def low_rank(self) -> Any:
        """The coordinates of a point that is kept as factors: a `LowRank`."""
        return self.coords

    @property
    def pending(self) -> list[Leaf]:
        """The leaves whose image is not computed yet."""
        return [leaf for _, leaf in self.terms if leaf.value is None]

    @property
    def image(self) -> Image:
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

    def mixed_closely(self, other: Point, delta: Scalar) -> Point:
        """Return (1 - delta) self + delta other, for arrays, with what rounding takes off kept for the next time.

        Rounding errors of many such steps then stay below an ulp of the distance gone, however many: without it they
        add up where steps are short.
        """
        start = self.array
        step = delta * (other.array - start)
        if self.rest is not None:
            step = step + (1 - delta) * self.rest
        moved = start + step
        gone = moved - start
        rest = (start - (moved - gone)) + (step - gone)  # of the sum exactly (Knuth)
        return Point(moved, _merge(((1 - delta), self), (delta, other)), rest=rest)


def combine(weights: list[Scalar], points: list[Point]) -> Point:
    """Return the weighted sum of points whose coordinates are arrays (or low-rank matrices)."""
    dense = [p.array for p in points]
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


class Touches(NamedTuple):
    """Where an average of tangents touches f: a few points with their weights, neighbours put together when too many.

    The tangents at these points, averaged with these weights, prove nearly as much as all that were averaged: a bound
    can be proven again from them, by anybody. Neighbours in time whose weighted values of f differ least are put
    together, at the average of the two points.
    """

    scale: float  # of all weights
    weights: tuple[float, ...]
    values: tuple[float, ...]  # of f at the points
    points: tuple[Any, ...]

    @classmethod
    def at(cls, point: Any, value: float) -> Touches:
        """Return a single point of tangency."""
        return cls(1.0, (1.0,), (value,), (point,))

    def mixed(self, other: Touches, keep: float, delta: float) -> Touches:
        """Return where keep times the one average plus delta times the other touches."""
        scale = keep * self.scale
        if not scale > 0:
            return other._replace(scale=delta * other.scale)
        weights = self.weights + tuple(delta * other.scale / scale * w for w in other.weights)
        both = Touches(scale, weights, self.values + other.values, self.points + other.points)
        return both.fewer() if len(weights) > 2 * KEPT_TOUCHES else both

    def fewer(self) -> Touches:
        """Return at most `KEPT_TOUCHES` points, those put together where the least is lost."""
        weights, values, points = list(self.weights), list(self.values), list(self.points)
        while len(points) > KEPT_TOUCHES:
            lost = [
                w * v / (w + v) * abs(a - b) if w + v > 0 else 0.0
                for w, v, a, b in zip(weights, weights[1:], values, values[1:], strict=False)
            ]
            chosen: set[int] = set()  # the first of each pair to put together; no point is in two pairs
            for i in sorted(range(len(lost)), key=lost.__getitem__):
                if len(points) - len(chosen) > KEPT_TOUCHES and not {i - 1, i, i + 1} & chosen:
                    chosen.add(i)
            for i in sorted(chosen, reverse=True):
                total = weights[i] + weights[i + 1]
                share = weights[i + 1] / total if total > 0 else 0.5
                points[i : i + 2] = [blend(1 - share, points[i], share, points[i + 1])]
                values[i : i + 2] = [(1 - share) * values[i] + share * values[i + 1]]
                weights[i : i + 2] = [total]
        return Touches(self.scale, tuple(weights), tuple(values), tuple(points))

    def shares(self) -> np.ndarray:
        """Return the weights, which add up to one."""
        return np.array(self.weights) / sum(self.weights)

    def mean(self) -> Any:
        """Return the average of the points: where there is one, itself."""
        if len(self.points) == 1:
            return self.points[0]
        return weighted_sum(list(zip(self.shares().tolist(), self.points, strict=True)))


class Tangent(NamedTuple):
    """The affine function (offset + <slope, .>) / weight, below f everywhere.

    `weight` is the total weight of the tangents averaged so far: one for a single tangent, 1 - λ_k in the middle of an
    average that started from nothing. `noise` bounds the rounding in `offset`, in the same units. `at` tells, where it
    is kept, where the tangent touches f: `Touches`, or on a device the average of the points (with the same weight).
    """

    slope: Slope  # NO_SLOPE of an empty average, and of a constant
    offset: Scalar
    weight: Scalar = 1.0
    noise: Scalar = 0.0
    at: Any = None

    @classmethod
    def nothing(cls) -> Tangent:
        """Return the empty average, θ_0 = 0."""
        return cls(NO_SLOPE, 0.0, 0.0, 0.0)

    @classmethod
    def constant(cls, bound: float) -> Tangent:
        """Return the constant function `bound`, a lower bound already proven, as the first member of an average."""
        return cls(NO_SLOPE, bound, 1.0, 0.0)

    def mixed(self, other: Tangent, delta: Scalar) -> Tangent:
        """Return (1 - delta) self + delta other."""
        keep = 1 - delta
        return Tangent(
            delta * other.slope if self.slope is NO_SLOPE else blend(keep, self.slope, delta, other.slope),
            keep * self.offset + delta * other.offset,
            keep * self.weight + delta * other.weight,
            keep * self.noise + delta * other.noise,
            _mixed_touches(keep, self.at, delta, other.at),
        )

    @property
    def touch(self) -> Any:
        """The average of the points of tangency; None where it is not kept."""
        if self.at is None or isinstance(self.at, Touches):
            return self.at and self.at.mean()
        weight = float(self.weight)
        return self.at if weight == 1.0 else self.at / weight

    def bound(self, minimum: Scalar, rounding: float = 0.0, mixings: Scalar = 0.0) -> Scalar:
        """Return the lower bound on f* when <slope, .> is at least `minimum` on the set, rounding taken off.

        `rounding` is that of the minimum, relative to it; `mixings` is how many times the noise of one tangent the
        averaging has added.
        """
        return (self.offset + minimum - (1 + mixings) * self.noise - rounding * abs(minimum)) / self.weight


def _mixed_touches(keep: Scalar, one: Any, delta: Scalar, other: Any) -> Any:
    if isinstance(other, Touches):
        return other._replace(scale=delta * other.scale) if one is None else one.mixed(other, keep, delta)
    return None if other is None else delta * other if one is None else keep * one + delta * other
