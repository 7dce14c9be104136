"""Softmax regression as the judge knows it: the dual point is a table of probabilities, rows adding up to one exactly.

Probabilities are kept as a sum of two numbers on fixed grids, so that the largest of a row can be one less the others
without an error. With intercepts the columns must balance as well: what is missing is put on one row.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from frankwolfe.verify.arithmetic import Interval, dot, expansion, product, stacked, sums
from frankwolfe.verify.domains import CannotShow
from frankwolfe.verify.functions import exp, log, log1p, times_log
from frankwolfe.verify.objectives import RowModel, Tangent, Touching, Value, average, normalised

MIXED = (0.0, 1e-14, 1e-12, 1e-10, 1e-8)  # parts of other probabilities, the fewest that balance the intercepts


class Multinomial(RowModel):
    """f(X) = Σ share_i (log Σ_k exp(a_i'x_k + c_k) - a_i'x_(b_i) - c_(b_i)) + ridge/2 \\|X\\|²."""

    def __init__(self, description: dict[str, Any]) -> None:
        super().__init__(description)
        self.b = np.asarray(description["b"], np.int64)
        self.K = self.columns = int(description["classes"])
        self.truth = (self.b[:, None] == np.arange(self.K)).astype(np.float64)

    def value(self, x: np.ndarray) -> Value:
        scores = self._scores(x)
        c = self._shift(scores.middle)
        loss = self.mean(_losses(scores + c, self.b))
        P = _softmax(scores.middle + c)
        felt = sum(float(self.weights @ (np.abs(P - self.truth)[:, k] * self.A.sizes(x[:, k]))) for k in range(self.K))
        # The logarithm of a sum just above one is rounded to an ulp of one, that of scores to an ulp of theirs.
        felt += float(self.weights @ (1 + np.max(np.abs(scores.middle), axis=1))) / 256
        if self.intercept:
            constant, tables, extra = self._dual(P)
            below = constant
            for table in tables:
                below = below + (scores * table).sum() / self.total
            for j, row in extra:
                below = below + (scores[j] * row).sum() / self.total
            loss = Interval(np.minimum(below.lo, loss.lo), loss.hi)
        value = loss + dot(x, x) * (0.5 * self.ridge)
        return Value(value, felt / self.total + float(abs(value).hi))

    def tangent(self, touching: Touching) -> Tangent:
        t, P = average(touching), np.zeros(self.truth.shape)
        for weight, (_, point) in zip(normalised(touching), touching, strict=True):
            self.check(point)
            scores = np.stack([self.A.roughly(np.ascontiguousarray(point[:, k])) for k in range(self.K)], axis=1)
            if not np.isfinite(scores).all():
                raise CannotShow("the scores at the point of tangency are not finite")
            P += weight * _softmax(scores + self._shift(scores))
        constant, tables, extra = self._dual(P / np.sum(P, axis=1, keepdims=True))
        columns = []
        for k in range(self.K):
            column = Interval(np.zeros(self.A.shape[1]))
            for table in tables:
                column = column + self.A.adjoint(np.ascontiguousarray(table[:, k]))
            for j, row in extra:
                column = column + self.A.row(j, row[k])
            columns.append(column / self.total)
        slope = stacked(columns)
        slope = Interval(slope.lo.T, slope.hi.T)
        return self.ridged(constant, slope, t)

    def _scores(self, x: np.ndarray) -> Interval:
        self.check(x)
        columns = stacked([self.A.times(np.ascontiguousarray(x[:, k])) for k in range(self.K)])
        if not np.isfinite(columns.middle).all():
            raise CannotShow("the scores are not finite")
        return Interval(columns.lo.T, columns.hi.T)

    def _shift(self, scores: np.ndarray) -> np.ndarray:
        """Return about the best intercepts, by damped Newton steps.

        Where scores are so far apart that the loss has corners, it is smoothed first: by scales that shrink to one.
        """
        if not self.intercept:
            return np.zeros(self.K)
        target = self.weights @ self.truth
        c = np.log(target / target.sum()) - self.weights @ scores / self.weights.sum()
        steps = math.ceil(math.log(max(float(np.ptp(scores)) / 64, 1.0), 8))
        for k in range(steps, -1, -1):
            c = 8.0**k * self._balanced(scores / 8.0**k, c / 8.0**k, target)
        return c

    def _balanced(self, scores: np.ndarray, c: np.ndarray, target: np.ndarray) -> np.ndarray:
        def loss(c: np.ndarray) -> float:
            return float(self.weights @ _losses_roughly(scores + c, self.b))

        here = loss(c)
        for _ in range(100):
            P = _softmax(scores + c)
            g = self.weights @ P - target
            H = np.diag(self.weights @ P) - (P * self.weights[:, None]).T @ P
            step = -np.linalg.lstsq(H + 1e-14 * np.trace(H) * np.eye(self.K), g, rcond=None)[0]
            size = 1.0
            while size > 1e-10 and not loss(c + size * step) <= here:
                size *= 0.5
            if size <= 1e-10 or np.max(np.abs(size * step)) < 1e-15 * (1 + np.max(np.abs(c))):
                break
            c = c + size * step
            here = loss(c)
        return c

    def _dual(self, P: np.ndarray) -> tuple[Interval, list[np.ndarray], list[tuple[int, np.ndarray]]]:
        """Return -Σ share Σ p log p, and weight * (p - truth) as a sum of tables and of single rows."""
        trouble = CannotShow("no probabilities were tried")
        for part in MIXED if self.intercept else MIXED[:1]:
            try:
                return self._exactly(self._mixed(P, part))
            except CannotShow as error:
                trouble = error
        raise trouble

    def _mixed(self, P: np.ndarray, part: float) -> np.ndarray:
        """Return probabilities with a part of other ones mixed in: the same in all rows, so that columns balance."""
        mean, wanted = (self.weights @ table / self.weights.sum() for table in (P, self.truth))
        part = max(part, 2 * float(np.max((mean - wanted) / np.where(mean > 0, mean, 1.0)))) if part else 0.0
        if not 0 < part < 0.5:
            return P
        others = np.maximum(mean + (wanted - mean) / part, 0.0)
        return (1 - part) * P + part * others / others.sum()

    def _exactly(self, P: np.ndarray) -> tuple[Interval, list[np.ndarray], list[tuple[int, np.ndarray]]]:
        n, K = P.shape
        fine = 2.0 ** (106 - math.ceil(math.log2(K)))
        P1 = np.floor(P * 2.0**53) / 2.0**53
        P2 = np.floor((P - P1) * fine) / fine
        best = np.argmax(P, axis=1)
        rows = np.arange(n)
        for part, whole in ((P1, 1.0), (P2, 0.0)):
            part[rows, best] = 0.0
            part[rows, best] = whole - part.sum(axis=1)  # exact on the grid
        tables = [*product(self.weights[:, None], P1 - self.truth), *product(self.weights[:, None], P2)]
        tables = [table for table in tables if table.any()]
        p = Interval(P1) + P2
        p = Interval(np.maximum(p.lo, 0.0), np.where(P1 + P2 == 0, 0.0, p.hi))
        extra: list[tuple[int, np.ndarray]] = []
        if self.intercept:
            residues = [expansion(np.concatenate([np.zeros(1), *(table[:, k] for table in tables)])) for k in range(K)]
            j = int(np.argmax(self.weights * np.min(P, axis=1)))
            for depth in range(max((len(r) for r in residues), default=0)):
                extra.append((j, np.array([-r[depth] if depth < len(r) else 0.0 for r in residues])))
            moved = [p[j, k] - sums(np.array([*residues[k], 0.0])) / self.weights[j] for k in range(K)]
            if min(float(m.lo) for m in moved) < 0:
                raise CannotShow("the probabilities cannot be balanced for the intercepts")
            low, high = p.lo.copy(), p.hi.copy()
            low[j], high[j] = [float(m.lo) for m in moved], [float(m.hi) for m in moved]
            p = Interval(low, high)
        if np.any(P1 + P2 < 0):
            raise CannotShow("a probability came out negative")
        return -self.mean(times_log(p).sum(1)), tables, extra


def _losses(scores: Interval, b: np.ndarray) -> Interval:
    """Return enclosures of log Σ_k exp(s_k - s_b)."""
    rows = np.arange(len(b))
    own = scores[rows, b]
    ahead = scores - own.reshape(-1, 1)
    low, high = ahead.lo.copy(), ahead.hi.copy()
    low[rows, b] = high[rows, b] = 0.0
    top = np.maximum(np.max(high, axis=1), 0.0)
    terms = exp(Interval(low, high) - top[:, None])
    low, high = terms.lo.copy(), terms.hi.copy()
    low[rows, b] = high[rows, b] = 0.0
    others = Interval(low, high).sum(1)
    others = Interval(np.maximum(others.lo, 0.0), others.hi)
    near = log1p(Interval(np.minimum(others.lo, 1.0), np.minimum(others.hi, 1.0)))
    far = log(others + exp(Interval(-top))) + top
    small = (top == 0) & (others.hi <= 1)
    return Interval(np.where(small, near.lo, far.lo), np.where(small, near.hi, far.hi))


def _losses_roughly(scores: np.ndarray, b: np.ndarray) -> np.ndarray:
    top = np.max(scores, axis=1)
    return top + np.log(np.sum(np.exp(scores - top[:, None]), axis=1)) - scores[np.arange(len(b)), b]


def _softmax(scores: np.ndarray) -> np.ndarray:
    terms = np.exp(scores - np.max(scores, axis=1, keepdims=True))
    return terms / np.sum(terms, axis=1, keepdims=True)
