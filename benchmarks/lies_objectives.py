"""The objectives of the campaign, written a second time from their formulae, in 80-bit numbers.

`look(x)` gives f(x), the gradient, and the sizes that rounding is measured against: a computation with unit roundoff u
that is done with care is wrong by a modest multiple of ``u * first + u² * second``. Nothing here calls the library.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np

LD = np.longdouble


class Look(NamedTuple):
    """What is true at a point. `sure` is False where f(x), a minimum over intercepts, is an upper bound only."""

    value: Any
    slope: np.ndarray
    first: float
    second: float = 0.0
    sure: bool = True


class Model(ABC):
    """An objective by its formula; `terms` is the number of roundings in a row that plain code would do."""

    shape: tuple[int, ...]
    terms: float
    convex_to_the_bit = True  # a quadratic form made in floating point may not be

    @abstractmethod
    def look(self, x: np.ndarray) -> Look:
        """Return value, gradient and sizes at x."""

    def rounding(self, look: Look, u: float) -> float:
        """Return what a careful computation in unit roundoff u may be wrong by."""
        k = 32 + self.terms
        return float(k * u * look.first + (k * u) ** 2 * look.second) + 1e-300


def _softplus(t: np.ndarray) -> np.ndarray:
    return np.maximum(t, 0) + np.log1p(np.exp(-np.abs(t)))


def _sigmoid(t: np.ndarray) -> np.ndarray:
    e = np.exp(-np.abs(t))
    return np.where(t >= 0, 1, e) / (1 + e)


class Linear(Model):
    """Weighted mean of a loss of each row's product, plus ridge; with a free intercept the minimum over it."""

    def __init__(
        self,
        kind: str,
        A: np.ndarray,
        b: np.ndarray,
        weights: Any,
        ridge: float,
        intercept: bool,
        delta: float,
        quantile: float = 0.5,
    ) -> None:
        self.kind, self.ridge, self.intercept, self.delta = kind, LD(ridge), intercept, LD(delta)
        self.ends = (-LD(quantile), LD(1.0 - quantile))  # slopes of the quantile's loss
        self.A, self.b = A.astype(LD), b.astype(LD)
        if kind == "gamma":
            self.b = np.log(self.b)
        self.size = np.abs(self.A)
        w = np.ones(len(b), LD) if weights is None else np.asarray(weights).astype(LD)
        self.share = w / w.sum()
        self.shape = (A.shape[1],)
        self.terms = A.shape[1] + math.sqrt(A.shape[0])

    def loss(self, m: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return loss and slope of each margin; labels b are +1 and -1, those of `gamma` logarithms."""
        if self.kind == "logistic":
            return _softplus(-self.b * m), -self.b * _sigmoid(-self.b * m)
        if self.kind == "hinge":
            short = np.maximum(1 - self.b * m, 0)
            return short * short / 2, -self.b * short
        r = m - self.b
        if self.kind == "gamma":
            return np.expm1(-r) + r, -np.expm1(-r)
        if self.kind == "poisson":
            e = np.exp(m)
            return e - self.b * m + self.b * np.log(np.where(self.b > 0, self.b, 1)) - self.b, e - self.b
        if self.kind == "quantile":
            u = np.clip(r / self.delta, *self.ends)
            return u * (r - self.delta * u / 2), u
        if self.kind == "squares":
            return r * r / 2, r
        a = np.abs(r)
        return np.where(a <= self.delta, r * r / 2, self.delta * (a - self.delta / 2)), np.clip(
            r, -self.delta, self.delta
        )

    def best_intercept(self, m: np.ndarray) -> Any:
        """Return the c that minimises the mean loss of m + c, by bisection on its derivative."""
        kept = self.share > 0
        if self.kind == "squares":
            return np.sum(self.share * (self.b - m))
        if self.kind == "poisson":
            return np.log(np.sum(self.share * self.b)) - np.log(np.sum(self.share * np.exp(m)))
        if self.kind == "gamma":
            return np.log(np.sum(self.share * np.exp(self.b - m)))
        if self.kind == "logistic":
            spread = np.abs(m[kept]).max() + 12000
            low, high = -spread, spread
        else:
            low, high = (self.b - m)[kept].min(), (self.b - m)[kept].max()
        for _ in range(20000):
            c = (low + high) / 2
            if not low < c < high:
                break
            if np.sum(self.share * self.loss(m + c)[1]) > 0:
                high = c
            else:
                low = c
        return low

    def look(self, x: np.ndarray) -> Look:
        x = x.astype(LD)
        m = self.A @ x
        c = self.best_intercept(m) if self.intercept else LD(0)
        value, slope = self.loss(m + c)
        most = (
            self.size @ np.abs(x) + abs(c) + (0 if self.kind == "logistic" else np.abs(self.b) + (self.kind == "gamma"))
        )
        if self.intercept:
            most = most + np.sum(self.share * most)  # the intercept is as good as the mean of what it is taken from
        curvature = {"logistic": LD(0.25), "quantile": 1 / self.delta}.get(self.kind, LD(1))
        if self.kind in ("poisson", "gamma"):
            e = np.exp(m + c) if self.kind == "poisson" else np.exp(self.b - m - c)
            curvature = e
            value_terms = e * (1 + most) + np.abs(self.b) * (1 + most + np.abs(np.log(np.abs(self.b) + 1e-300)))
        else:
            value_terms = value
        square = self.ridge * np.sum(x * x)
        return Look(
            np.sum(self.share * value) + square / 2,
            self.A.T @ (self.share * slope) + self.ridge * x,
            float(np.sum(self.share * (value_terms + np.abs(slope) * most)) + square),
            float(np.sum(curvature * self.share * most * most)),
        )


class Softmax(Model):
    """Mean softmax loss of K classes, plus ridge; labels are 0..K-1."""

    def __init__(self, A: np.ndarray, labels: np.ndarray, K: int, weights: Any, ridge: float, intercept: bool) -> None:
        self.A, self.labels, self.K, self.ridge, self.intercept = A.astype(LD), labels, K, LD(ridge), intercept
        w = np.ones(len(labels), LD) if weights is None else np.asarray(weights).astype(LD)
        self.share = w / w.sum()
        self.hot = np.eye(K, dtype=LD)[labels]
        self.shape = (A.shape[1], K)
        self.terms = A.shape[1] + K + math.sqrt(A.shape[0])

    def _loss(self, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        ahead = scores - np.take_along_axis(scores, self.labels[:, None], 1)  # of the right class
        best = ahead.argmax(1)[:, None]
        top = np.take_along_axis(ahead, best, 1)
        e = np.exp(ahead - top)
        chances = e / e.sum(1, keepdims=True)
        np.put_along_axis(e, best, LD(0), 1)
        return (top + np.log1p(e.sum(1, keepdims=True)))[:, 0], chances

    def _intercepts(self, scores: np.ndarray) -> tuple[np.ndarray, bool]:
        """Newton's method with halving; tell whether it has converged."""
        c = np.zeros(self.K, LD)
        value = np.sum(self.share * self._loss(scores)[0])
        for _ in range(60):
            chances = self._loss(scores + c)[1]
            g = (self.share[:, None] * (chances - self.hot)).sum(0)
            if float(np.abs(g).max()) < 1e-17:
                return c, True
            H = np.diag((self.share[:, None] * chances).sum(0)) - chances.T @ (self.share[:, None] * chances)
            step = np.linalg.lstsq(H.astype(float), -g.astype(float), rcond=None)[0]
            for _ in range(40):
                new = np.sum(self.share * self._loss(scores + c + step)[0])
                if new < value:
                    break
                step = step / 2
            else:
                return c, bool(np.abs(g).max() < 1e-14)
            c, value = c + step, new
        return c, False

    def look(self, x: np.ndarray) -> Look:
        x = x.astype(LD)
        scores = self.A @ x
        c, sure = self._intercepts(scores) if self.intercept else (np.zeros(self.K, LD), True)
        value, chances = self._loss(scores + c)
        slope = chances - self.hot
        most = np.abs(self.A) @ np.abs(x) + np.abs(c)
        if self.intercept:
            most = most + np.sum(self.share[:, None] * most, 0)
        square = self.ridge * np.sum(x * x)
        return Look(
            np.sum(self.share * value) + square / 2,
            self.A.T @ (self.share[:, None] * slope) + self.ridge * x,
            # Mean probabilities meet the frequencies to some ulps of one: so far is f from its minimum over intercepts.
            float(np.sum(self.share * (value + (np.abs(slope) * most).sum(1))) + square + self.intercept),
            float(np.sum(self.share[:, None] * most * most)),
            sure,
        )


class Parabola(Model):
    """x'Qx/2 + c'x + constant. `reach` bounds |x| on the set: Q may be indefinite by rounding, so sizes take it."""

    def __init__(self, Q: np.ndarray, c: np.ndarray, constant: float, reach: float, exact: bool) -> None:
        self.convex_to_the_bit = exact
        self.Q, self.c, self.constant, self.reach = Q.astype(LD), c.astype(LD), LD(constant), LD(reach)
        self.shape, self.terms = c.shape, len(c)

    def look(self, x: np.ndarray) -> Look:
        x = x.astype(LD)
        far = np.maximum(np.abs(x), self.reach)
        qx = self.Q @ x
        size = far @ np.abs(self.Q) @ far + np.abs(self.c) @ far + abs(self.constant)
        return Look(x @ qx / 2 + self.c @ x + self.constant, qx + self.c, float(size))


class Distance(Model):
    """sum of weights (x - t)²/2 over entries: for functions of users, and for completion where few are observed."""

    def __init__(self, weights: np.ndarray, target: np.ndarray) -> None:
        self.w, self.t = weights.astype(LD), target.astype(LD)
        self.shape, self.terms = target.shape, math.sqrt(target.size)

    def look(self, x: np.ndarray) -> Look:
        r = x.astype(LD) - self.t
        pull = self.w * r
        return Look(
            np.sum(pull * r) / 2,
            pull,
            float(np.sum(pull * r + np.abs(pull) * (np.abs(x) + np.abs(self.t)))),
            float(np.sum(self.w * (np.abs(x) + np.abs(self.t)) ** 2)),
        )


class Hinge(Model):
    """The dual of a structural SVM: (lam/2)|w|² - l with (w, l) the sum of n blocks of d + 1 numbers."""

    def __init__(self, n: int, d: int, lam: float) -> None:
        self.n, self.d, self.lam = n, d, LD(lam)
        self.shape, self.terms = (n * (d + 1),), n

    def look(self, x: np.ndarray) -> Look:
        blocks = x.astype(LD).reshape(self.n, self.d + 1)
        total = blocks.sum(0)
        w, l = total[:-1], total[-1]
        slope = np.tile(np.append(self.lam * w, -1), self.n)
        size = self.lam * np.sum(np.abs(w) * np.abs(blocks[:, :-1]).sum(0)) + np.abs(blocks[:, -1]).sum()
        return Look(self.lam / 2 * np.sum(w * w) - l, slope, float(size))
