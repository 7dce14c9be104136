"""Free intercepts of several classes over rows in parts; the scores stay where the rows are."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from frankwolfe.backends import Scalar, vdot
from frankwolfe.objectives.base import Evaluation, Line
from frankwolfe.objectives.class_intercepts import Trial, balance, regular, sliver, solved
from frankwolfe.objectives.in_parts.free_intercept import FreeIntercept, margins
from frankwolfe.objectives.in_parts.partitioned import Partitioned, norm2, ridge_along
from frankwolfe.objectives.multinomial import Multinomial
from frankwolfe.points import Point
from frankwolfe.rows.parts import Part, Parts, Sums, segment
from frankwolfe.rows.reading import array_of


class FreeIntercepts(Partitioned):
    """Softmax regression over rows in parts, with the best intercepts of the classes for every point.

    An evaluation takes two reads and a few rounds of small sums, as with `FreeIntercept`; what the search leaves over
    is mixed away inside the simplex, as in memory.
    """

    free: ClassVar[bool] = True
    near: np.ndarray | None = None  # the last intercepts found

    def __init__(self, parts: Parts, template: Multinomial, ridge: float = 0.0) -> None:
        super().__init__(parts, template, ridge)
        if not self.frequency.min() > 0:
            raise ValueError("intercept=True needs samples of every class with a positive sample_weight")

    @cached_property
    def frequency(self) -> np.ndarray:
        """The weight of each class."""
        return self.parts.total(frequencies, reads=False)[0]

    def evaluate(self, y: Point, watch: Point) -> Evaluation:
        for leaf in (*y.pending, *watch.pending):
            leaf.resolve(0.0)
        points = [y] if watch is y else [y, watch]
        kept = self.parts.keep(margins, [p.coords for p in points])
        found = [self._balanced(kept, i, None, self.near if self.remember else None) for i in range(len(points))]
        self.near = found[0].intercepts
        eps, ridge = float(np.finfo(self.parts.dtype).eps), [0.5 * self.ridge * norm2(p.coords) for p in points]
        mixed = sliver(found[0].mean, self.frequency, 4 * eps)
        slope, entropy = self.parts.total(tangent, found[0].intercepts, *mixed, kept=kept)
        if self.ridge:
            slope = slope + self.ridge * array_of(y.coords)
        value, watched = found[0].loss + ridge[0], found[-1].loss + ridge[-1]
        return Evaluation(value, slope, found[0].loss + entropy + 2 * ridge[0], watched, 2.0, eps)

    def value_at(self, x: Point) -> tuple[Scalar, float]:
        kept = self.parts.keep(margins, [x.coords])
        return self._balanced(kept).loss + 0.5 * self.ridge * norm2(x.coords), 1.0

    def line(self, x: Point, v: Point) -> tuple[Line, float]:
        return _FreeLine(self, x.coords, v.coords), 1.0

    def best_intercept_at(self, x: Any) -> np.ndarray:
        """Return the intercepts that belong to coefficients, with mean zero."""
        found = self._balanced(self.parts.keep(margins, [x])).intercepts
        return found - found.mean()

    def fingerprint(self, start: Any) -> list[Any]:
        return ["intercept", *super().fingerprint(start)]

    def _balanced(self, kept: Any, i: int = 0, gamma: float | None = None, near: Any = None) -> Trial:
        """Find the intercepts for kept scores, or at a point of a kept segment."""
        K = len(self.classes)

        def at(c: np.ndarray, scale: float) -> Trial:
            (sums,) = self.parts.total(class_sums, i, gamma, c, scale, kept=kept, reads=False)
            more = sums[1 + K + K * K :]
            return Trial(
                c, float(sums[0]), sums[1 : 1 + K], lambda: regular(sums[1 + K :][: K * K].reshape(K, K)), more
            )

        if near is None:
            near = np.log(self.frequency) - self.parts.total(mean_scores, i, kept=kept, reads=False)[0]
        ulp = float(np.finfo(self.parts.dtype).eps)
        return balance(at, near, self.frequency, ulp, lambda: self._spread(kept, i))

    def _spread(self, kept: Any, i: int) -> float:
        """Return how far apart the kept scores are."""
        return max(self.parts.total(largest_score, i, kept=kept, reads=False)[0])


class _FreeLine(Line):
    """f on a segment, the intercepts free at every point of it."""

    def __init__(self, objective: FreeIntercepts, x: Any, v: Any) -> None:
        self.objective, self.near = objective, None
        self.kept = objective.parts.keep(segment, x, v)
        self.ridge = ridge_along(objective.ridge, x, v)

    def __call__(self, gamma: float) -> tuple[float, float]:
        found = self.objective._balanced(self.kept, 0, gamma, self.near)
        self.near = found.intercepts
        first, square, along = float(found.more[0]), float(found.more[1]), found.more[2:]
        second = square - float(along @ solved(found.hessian(), along))
        return first + self.ridge[0] + gamma * self.ridge[1], second + self.ridge[1]


def assembled(parts: Parts, template: Any, ridge: float, intercept: bool) -> Partitioned:
    """Return a model over parts, with free intercepts where they are wanted."""
    if not intercept:
        return Partitioned(parts, template, ridge)
    return (FreeIntercepts if isinstance(template, Multinomial) else FreeIntercept)(parts, template, ridge)


def frequencies(part: Part) -> Sums:
    """The weight of each class."""
    return (part.share * part.objective.frequency,)  # pyright: ignore[reportAttributeAccessIssue]


def mean_scores(part: Part, kept: Sums, i: int) -> Sums:
    """The mean score of each class."""
    model: Any = part.objective
    return (part.share * model._sum(kept[i].reshape(model.truth.shape)),)


def largest_score(part: Part, kept: Sums, i: int) -> Sums:
    """The size of the largest score, in a list."""
    return ([float(np.abs(kept[i]).max())],)


def class_sums(part: Part, kept: Sums, i: int, gamma: float | None, c: np.ndarray, scale: float) -> Sums:
    """At intercepts c: mean loss, mean probabilities, Hessian in c; along a segment also what is met on it.

    Scores and intercepts are divided by the scale.
    """
    model: Any = part.objective
    scores = (kept[i] if gamma is None else kept[0] + gamma * kept[1]).reshape(model.truth.shape)
    loss, P = model._at(scores, c, slice(None)) if scale == 1 else model._at(scores / scale, c / scale, slice(None))
    sums = [loss, *model._sum(P), *(-(model.share * P) @ P.T).ravel()]
    if gamma is not None:
        V = kept[1].reshape(P.shape)
        bent = model._spread(P, V)
        along = bent.sum(axis=1, dtype=np.float64)
        sums += [vdot(model.share * (P - model.truth), V), vdot(bent, V), *along]
    return (part.share * np.array(sums, dtype=np.float64),)


def tangent(part: Part, kept: Sums, c: np.ndarray, mixed: float, needed: np.ndarray) -> Sums:
    """Gradient and conjugate at the first point, the probabilities balanced."""
    model: Any = part.objective
    _, P = model._at(kept[0].reshape(model.truth.shape), c, slice(None))
    if mixed:
        P = ((1 - mixed) * P + mixed * needed[:, None]).astype(P.dtype)
    residual = model._residual(P)
    slope = model.share * residual
    return part.share * model.map.adjoint(slope.reshape(-1)), part.share * float(model._conjugate(residual))
