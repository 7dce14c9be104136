"""Objectives as the judge knows them, from descriptions alone: f(x) enclosed, and affine functions proven below f."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np

from frankwolfe.verify.arithmetic import Interval, dot, expansion, product, sums, up
from frankwolfe.verify.domains import CannotShow
from frankwolfe.verify.enclosed_losses import loss_of
from frankwolfe.verify.matrices import Matrix

Touching = list[tuple[float, Any]]
"""Points with weights: where tangents touch f, and how they are averaged."""

SECOND = 2.0**-50
"""What rounding of margins does to a loss at its minimum, where the slope is zero, relative to their squared sizes."""


class Value(NamedTuple):
    """f(x): between the ends of `enclosure`; `scale` is about the size of what was added up for it."""

    enclosure: Interval
    scale: float


class Tangent(NamedTuple):
    """f(y) >= constant + <slope, y> - bend/2 \\|y - at\\|² for every y, whatever number of each interval is taken.

    Where `bend` is negative, f bends upwards so much more than a plane.
    """

    constant: Interval
    slope: Interval
    bend: float = 0.0
    at: Any = None


class Objective(ABC):
    """A function to be judged."""

    known: ClassVar[dict[str, type[Objective]]] = {}
    remarks: tuple[str, ...] = ()
    floor = -math.inf
    """What f is never below, on any set."""

    def __init_subclass__(cls) -> None:
        Objective.known[cls.__name__] = cls

    @abstractmethod
    def __init__(self, description: dict[str, Any]) -> None: ...

    @abstractmethod
    def value(self, x: Any) -> Value:
        """Return f(x), enclosed."""

    @abstractmethod
    def tangent(self, touching: Touching) -> Tangent:
        """Return an affine function below f: no lower than the average of the tangents at some points, to rounding."""

    def from_residuals(self, r: np.ndarray) -> Tangent:
        """Return an affine function below f with this slope on the entries of a matrix."""
        raise CannotShow("residuals belong to matrix completion")


def average(touching: Touching) -> Any:
    """Return about the average of the points."""
    weights = normalised(touching)
    if isinstance(touching[0][1], dict):
        if len(touching) > 1:
            raise CannotShow("an average of low-rank points was not formed")
        return touching[0][1]
    return sum(weight * point for weight, (_, point) in zip(weights, touching, strict=True))


def normalised(touching: Touching) -> np.ndarray:
    """Return the weights as parts of one."""
    weights = np.array([weight for weight, _ in touching], np.float64)
    if not (np.all(weights >= 0) and np.sum(weights) > 0):
        raise CannotShow("the weights of the tangents are negative or none")
    return weights / np.sum(weights)


class RowModel(Objective):
    """A weighted mean of losses of rows of data, plus a ridge term; with an intercept the minimum over it."""

    columns: int | None = None
    """How many vectors a point is made of; None for one, and not a matrix."""

    def __init__(self, description: dict[str, Any]) -> None:
        self.A = Matrix(description["A"])
        share = description.get("share")
        # Shares are weights / total: without weights one each, which are exact numbers, and n.
        self.weights = np.ones(self.A.shape[0]) if share is None else np.asarray(share, np.float64)
        self.total = float(self.A.shape[0]) if share is None else 1.0
        if not self.weights.all():  # what does not count may overflow
            self.A = self.A.only(self.weights != 0)
        self.ridge = float(description.get("ridge", 0.0))
        self.intercept = bool(description.get("intercept", False))
        self.floor = 0.0 if self.ridge >= 0 else -math.inf
        self.remarks = (description["trusted"],) if description.get("trusted") else ()

    def ridged(self, constant: Interval, slope: Interval, t: np.ndarray) -> Tangent:
        """Return a tangent of the mean loss with that of the ridge term at t, which it leaves by its square."""
        if self.ridge:
            slope = slope + Interval(self.ridge) * t
            constant = constant - dot(t, t) * (0.5 * self.ridge)
        return Tangent(constant, slope, -self.ridge, t)

    def mean(self, values: Interval) -> Interval:
        """Return the weighted mean over the rows."""
        return (values * self.weights).sum() / self.total

    def check(self, x: np.ndarray) -> None:
        """Raise unless x has the shape of a point."""
        shape = (self.A.shape[1],) if self.columns is None else (self.A.shape[1], self.columns)
        if not isinstance(x, np.ndarray) or x.shape != shape:
            raise CannotShow(f"a point must have shape {shape}, and this one has {np.shape(x)}")


class LinearModel(RowModel):
    """f(x) = Σ share_i φ(a_i'x + c, b_i) + ridge/2 \\|x\\|², c zero or, with an intercept, the best one."""

    def __init__(self, description: dict[str, Any]) -> None:
        super().__init__(description)
        self.loss, self.b = loss_of(description), np.asarray(description["b"], np.float64)
        self._last: tuple[np.ndarray, Interval, float] | None = None

    def value(self, x: np.ndarray) -> Value:
        m, shift = self._margins(x)
        u = self._slopes(m.middle + shift)
        shifted = m + shift if self.intercept else m
        loss = self.mean(self.loss.value(shifted, self.b))
        if self.intercept:  # the intercept is the best one only to rounding; the tangent bounds f(x) from below
            constant, parts, j, residue = self._dual(u)
            below = constant + sums_of([(m * part).sum() for part in parts] + [m[j] * -s for s in residue]) / self.total
            loss = Interval(np.minimum(below.lo, loss.lo), loss.hi)
        square = dot(x, x) * (0.5 * self.ridge)
        sizes = self.A.sizes(x)
        second = SECOND * (sizes + abs(shift) + np.abs(self.b)) ** 2 + self.loss.size(shifted.middle, self.b)
        felt = float(self.weights @ (np.abs(u) * sizes + second)) / self.total
        value = loss + square
        return Value(value, felt + float(abs(value).hi))

    def tangent(self, touching: Touching) -> Tangent:
        t, u = average(touching), np.zeros(len(self.b))
        for weight, (_, point) in zip(normalised(touching), touching, strict=True):
            u += weight * self._slopes_at(point)
        constant, parts, j, residue = self._dual(self.loss.tamed(u, self.b))
        slope = sums_of([self.A.adjoint(part) for part in parts] + [self.A.row(j, -s) for s in residue])
        return self.ridged(constant, slope / self.total, t)

    def _slopes_at(self, point: np.ndarray) -> np.ndarray:
        """Return about the slopes of the losses at a point."""
        if self._last is not None and np.array_equal(self._last[0], point):
            return self._slopes(self._last[1].middle + self._last[2])
        self.check(point)
        m = self.A.roughly(point)
        if not np.isfinite(m).all():
            raise CannotShow("the products of the rows with the point of tangency are not finite")
        return self._slopes(m + self.loss.shift(m, self.b, self.weights) if self.intercept else m)

    def _margins(self, x: np.ndarray) -> tuple[Interval, float]:
        """Return Ax, and about the best intercept; kept, for a point is often asked about twice."""
        if self._last is None or not np.array_equal(self._last[0], x):
            self.check(x)
            m = self.A.times(x)
            if not np.isfinite(m.middle).all():
                raise CannotShow("the products of the rows with the point are not finite")
            self._last = (x, m, self.loss.shift(m.middle, self.b, self.weights) if self.intercept else 0.0)
        return self._last[1:]

    def _slopes(self, m: np.ndarray) -> np.ndarray:
        u = self.loss.tamed(self.loss.slope(m, self.b), self.b)
        if not self.intercept:
            return u
        u = np.where(
            np.abs(self.weights * u) < 1e-280, 0.0, u
        )  # whose products would underflow, and not balance exactly
        above, below = (float(self.weights @ np.maximum(s * u, 0.0)) for s in (1.0, -1.0))
        if min(above, below) > 0:  # take what is over off the heavier side
            u = np.where(u > 0, u * min(1.0, below / above), u * min(1.0, above / below))
        # What balancing leaves over is less than this takes off: one slope must be able to move, if all are at ends.
        return u * (1 - 2.0**-44) if np.max(self.weights * self.loss.room(u, self.b)) < 2.0**-44 * above else u

    def _dual(self, u: np.ndarray) -> tuple[Interval, list[np.ndarray], int, list[float]]:
        """Return -Σ share φ*(u), and weight * u as a sum of vectors, less some numbers on row j to balance it."""
        high, low = product(self.weights, u)
        parts, at, j, residue = [high, low] if low.any() else [high], Interval(u), 0, []
        if self.intercept and (residue := expansion(np.concatenate(parts))):
            j = int(np.argmax(self.weights * self.loss.room(u, self.b)))
            moved = (Interval(high[j]) + low[j] - sums(np.array(residue))) / self.weights[j]
            lo, hi = u.copy(), u.copy()
            lo[j], hi[j] = moved.lo, moved.hi
            at = Interval(lo, hi)
        conjugate = self.loss.conjugate(at, self.b)
        if not np.isfinite(conjugate.hi).all():
            raise CannotShow("the slopes of the losses cannot be balanced for the intercept inside their domain")
        return -self.mean(conjugate), parts, j, residue


def sums_of(terms: list[Interval]) -> Interval:
    """Return the sum of a few intervals."""
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


class Quadratic(Objective):
    """f(x) = x'Qx/2 + c'x + constant; only the symmetric part of Q counts."""

    def __init__(self, description: dict[str, Any]) -> None:
        self.Q = Matrix(description["Q"])
        self.c = np.asarray(description["c"], np.float64)
        self.constant = float(description["constant"])
        self._bend: float | None = None

    def value(self, x: np.ndarray) -> Value:
        image = self.Q.times(x)
        value = (image * (0.5 * x)).sum() + dot(self.c, x) + self.constant
        scale = 0.5 * float(np.abs(x) @ self.Q.sizes(x)) + float(np.abs(self.c) @ np.abs(x)) + abs(self.constant)
        return Value(value, scale)

    def tangent(self, touching: Touching) -> Tangent:
        t = average(touching)
        image = (self.Q.times(t) + self.Q.adjoint(t)) * 0.5
        return Tangent(self.constant - (image * (0.5 * t)).sum(), image + self.c, self.bend, t)

    @property
    def bend(self) -> float:
        """A number with λmin(Q) >= -bend, proven; negative where f is strongly convex."""
        if self._bend is None:
            if self.Q.shape[0] > LARGEST:
                raise CannotShow(f"Q has order {self.Q.shape[0]}: that it is positive semidefinite was not shown")
            self._bend = lowest_eigenvalue(self.Q.toarray())
        return self._bend


LARGEST = 4000


def lowest_eigenvalue(Q: np.ndarray) -> float:
    """Return e such that no eigenvalue of the symmetric part of Q is below -e, by a Cholesky factorisation.

    A factorisation that ends is that of a matrix within γ/(1-γ) trace of S + shift I, γ = (d + 1)u/(1 - (d + 1)u),
    whatever the order of its sums (Higham, Accuracy and stability of numerical algorithms, theorem 10.3); the symmetric
    part and the shifted diagonal are rounded once each.
    """
    d = len(Q)
    S = 0.5 * (Q + Q.T)
    scale = float(np.trace(np.abs(S)))
    gamma = (d + 2) * 2.0**-52
    rounding = gamma * scale * 1.01 + 2.0**-52 * float(np.linalg.norm(S)) + d * 1e-290
    dominant = np.array_equal(Q, Q.T) and np.all(np.abs(S).sum(axis=1) * (1 + d * 2.0**-51) <= 2 * np.diagonal(S))
    guess = -(1 - 1e-7) * float(np.linalg.eigvalsh(S)[0]) if d <= 1000 else 0.0
    for shift in (guess + 4 * rounding, -4 * rounding, *(rounding * 4.0**k for k in range(24))):
        try:
            np.linalg.cholesky(S + shift * np.eye(d))
        except np.linalg.LinAlgError:
            continue
        found = float(up(shift + gamma * (scale + d * abs(shift)) * 1.01 + rounding))
        if math.isfinite(found):
            return min(found, 0.0) if dominant else found
    raise CannotShow("Q is not positive semidefinite, or not near enough to show a bound")


def objective_of(description: dict[str, Any]) -> Objective:
    """Return the objective that a description names."""
    kind = description.get("kind")
    if kind not in Objective.known:
        raise CannotShow(f"no proof is known for an objective of kind {kind!r}")
    return Objective.known[kind](description)
