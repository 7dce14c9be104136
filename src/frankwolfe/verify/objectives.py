"""Objectives as the judge knows them, from descriptions alone: f(x) enclosed, and affine functions proven below f."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np

from frankwolfe.verify.arithmetic import Interval, dot, expansion, product, sums, up
from frankwolfe.verify.domains import CannotShow
from frankwolfe.verify.losses import loss_of
from frankwolfe.verify.matrices import Matrix


class Value(NamedTuple):
    """f(x): between the ends of `enclosure`; `scale` is about the size of what was added up for it."""

    enclosure: Interval
    scale: float


class Tangent(NamedTuple):
    """f(y) >= constant + <slope, y> - bend/2 \\|y - at\\|² for every y, whatever number of each interval is taken."""

    constant: Interval
    slope: Interval
    bend: float = 0.0
    at: Any = None


class Objective(ABC):
    """A function to be judged."""

    remarks: tuple[str, ...] = ()

    @abstractmethod
    def value(self, x: Any) -> Value:
        """Return f(x), enclosed."""

    @abstractmethod
    def tangent(self, t: Any) -> Tangent:
        """Return an affine function below f, near f at t."""


class LinearModel(Objective):
    """f(x) = Σ share_i φ(a_i'x + c, b_i) + ridge/2 \\|x\\|², c zero or, with an intercept, the best one."""

    def __init__(self, description: dict[str, Any]) -> None:
        self.loss = loss_of(description)
        self.A = Matrix(description["A"])
        self.b = np.asarray(description["b"], np.float64)
        share = description.get("share")
        # Shares are weights / total: without weights one each, which are exact numbers, and n.
        self.weights = np.ones(len(self.b)) if share is None else np.asarray(share, np.float64)
        self.total = float(len(self.b)) if share is None else 1.0
        self.ridge = float(description.get("ridge", 0.0))
        self.intercept = bool(description.get("intercept", False))

    def value(self, x: np.ndarray) -> Value:
        m = self.A.times(x)
        u = self._slopes(m.middle)
        shifted = m + self._shift(m.middle) if self.intercept else m
        loss = self._mean(self.loss.value(shifted, self.b))
        if self.intercept:  # the intercept is the best one only to rounding; the tangent bounds f(x) from below
            constant, rows = self._dual(u)
            r, places = (np.concatenate(pair) for pair in zip(*rows, strict=True))
            below = (Interval(r) * m[places]).sum() / self.total + constant
            loss = Interval(np.minimum(below.lo, loss.lo), loss.hi)
        square = dot(x, x) * (0.5 * self.ridge)
        felt = float(self.weights @ (np.abs(u) * self.A.sizes(x))) / self.total
        value = loss + square
        return Value(value, felt + float(abs(value).hi))

    def tangent(self, t: np.ndarray) -> Tangent:
        constant, rows = self._dual(self._slopes(self.A.times(t).middle))
        slope = Interval(np.zeros(self.A.shape[1]))
        for r, places in rows:
            full = r
            if places.size != self.b.size:
                full = np.bincount(places, r, self.b.size)
            slope = slope + self.A.adjoint(full)
        slope = slope / self.total
        if self.ridge:
            slope = slope + Interval(self.ridge) * t
            constant = constant - dot(t, t) * (0.5 * self.ridge)
        return Tangent(constant, slope)

    def _mean(self, values: Interval) -> Interval:
        return (values * self.weights).sum() / self.total

    def _shift(self, m: np.ndarray) -> float:
        return self.loss.shift(m, self.b, self.weights)

    def _slopes(self, m: np.ndarray) -> np.ndarray:
        shifted = m + self._shift(m) if self.intercept else m
        u = self.loss.tamed(self.loss.slope(shifted, self.b), self.b)
        if not np.isfinite(u).all():
            raise CannotShow("the margins at the point of tangency are not finite")
        if not self.intercept:
            return u
        above, below = (float(self.weights @ np.maximum(s * u, 0.0)) for s in (1.0, -1.0))
        if min(above, below) > 0:  # take what is over off the heavier side
            u = np.where(u > 0, u * min(1.0, below / above), u * min(1.0, above / below))
        return u

    def _dual(self, u: np.ndarray) -> tuple[Interval, list[tuple[np.ndarray, np.ndarray]]]:
        """Return -Σ share φ*(u), and the vector weight * u as a sum of (numbers, rows), balanced for an intercept."""
        everywhere = np.arange(u.size)
        high, low = product(self.weights, u)
        rows = [(high, everywhere)] + ([(low, everywhere)] if low.any() else [])
        at = Interval(u)
        if self.intercept:
            residue = expansion(np.concatenate([r for r, _ in rows]))
            if residue:
                j = int(np.argmax(self.weights * self.loss.room(u, self.b)))
                rows += [(np.array([-s]), np.array([j])) for s in residue]
                moved = (Interval(high[j]) + low[j] - sums(np.array(residue))) / self.weights[j]
                lo, hi = u.copy(), u.copy()
                lo[j], hi[j] = moved.lo, moved.hi
                at = Interval(lo, hi)
        conjugate = self.loss.conjugate(at, self.b)
        if not np.isfinite(conjugate.hi).all():
            raise CannotShow("the slopes of the losses cannot be balanced for the intercept inside their domain")
        return -self._mean(conjugate), rows


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

    def tangent(self, t: np.ndarray) -> Tangent:
        image = (self.Q.times(t) + self.Q.adjoint(t)) * 0.5
        return Tangent(self.constant - (image * (0.5 * t)).sum(), image + self.c, self.bend, t)

    @property
    def bend(self) -> float:
        """A number with λmin(Q) >= -bend, proven."""
        if self._bend is None:
            Q = self.Q.dense
            if Q is None:
                d = self.Q.shape[0]
                if d > LARGEST:
                    raise CannotShow(f"Q is sparse of order {d}: that it is positive semidefinite was not shown")
                Q = np.zeros(self.Q.shape)
                np.add.at(Q, (self.Q.rows, self.Q.cols), self.Q.values)  # exact unless positions repeat
            self._bend = lowest_eigenvalue(np.asarray(Q, np.float64))
        return self._bend


LARGEST = 4000


def lowest_eigenvalue(Q: np.ndarray) -> float:
    """Return e >= 0 such that no eigenvalue of the symmetric part of Q is below -e, by a Cholesky factorisation.

    A factorisation that ends is that of a matrix within γ/(1-γ) trace of S + shift I, γ = (d + 1)u/(1 - (d + 1)u),
    whatever the order of its sums (Higham, Accuracy and stability of numerical algorithms, theorem 10.3); the symmetric
    part and the shifted diagonal are rounded once each.
    """
    d = len(Q)
    if d > LARGEST:
        raise CannotShow(f"Q has order {d}: that it is positive semidefinite was not shown")
    S = 0.5 * (Q + Q.T)
    if np.array_equal(Q, Q.T) and np.all(np.abs(S).sum(axis=1) * (1 + d * 2.0**-51) <= 2 * np.diagonal(S)):
        return 0.0  # diagonally dominant
    scale = float(np.trace(np.abs(S)))
    gamma = (d + 2) * 2.0**-52
    rounding = gamma * scale * 1.01 + 2.0**-52 * float(np.linalg.norm(S)) + d * 1e-290
    for shift in (-4 * rounding, *(rounding * 4.0**k for k in range(24))):
        try:
            np.linalg.cholesky(S + shift * np.eye(d))
        except np.linalg.LinAlgError:
            continue
        found = float(up(shift + gamma * (scale + d * abs(shift)) * 1.01 + rounding))
        if math.isfinite(found):
            return max(found, 0.0)
    raise CannotShow("Q is not positive semidefinite, or not near enough to show a bound")


def objective_of(description: dict[str, Any]) -> Objective:
    """Return the objective that a description names."""
    from frankwolfe.verify.classes import Multinomial
    from frankwolfe.verify.completion import Function, MatrixCompletion

    kinds: dict[str, Any] = {
        "linear_model": LinearModel,
        "quadratic": Quadratic,
        "multinomial": Multinomial,
        "matrix_completion": MatrixCompletion,
        "function": Function,
    }
    kind = description.get("kind")
    if kind not in kinds:
        raise CannotShow(f"no proof is known for an objective of kind {kind!r}")
    return kinds[kind](description)
