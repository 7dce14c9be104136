"""Models that learn from one batch of rows after the other, and keep what they have learnt."""

from __future__ import annotations

import math
from dataclasses import field
from types import SimpleNamespace
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from scipy.special import softmax
from sklearn.base import is_classifier

from frankwolfe.estimators.linear import LinearEstimator
from frankwolfe.estimators.parameters import with_parameters
from frankwolfe.estimators.scaling import Scaling
from frankwolfe.estimators.task import Task

LEARNT = ("log_loss", "squared_hinge", "squared_error", "huber")  # of bounded curvature, whatever the batches hold


class Memory(NamedTuple):
    """What is kept between calls: moves made, the model, the average of slopes, and the scale of the features."""

    t: int
    x: np.ndarray  # features first, on the scale of the solver
    intercept: np.ndarray
    slope: np.ndarray
    scaling: Scaling
    radius: float | None


@with_parameters
class Incremental(LinearEstimator):
    """A linear estimator with `partial_fit`: stochastic Frank-Wolfe with averaged slopes."""

    radius: Any = field(default="auto", kw_only=False)  # pyright: ignore[reportIncompatibleVariableOverride]
    tol: float = 1e-6
    warm_start: bool = False  # pyright: ignore[reportIncompatibleVariableOverride]
    _memory: Memory | None = field(default=None, init=False)

    def _learn(self, X: Any, y: np.ndarray, weight: np.ndarray | None) -> Self:
        """Make some moves with these rows: as many as there are batches of the root of their number.

        With B_t the rows of move t = 1, 2, ... over all calls,

            d_t = (1 - ρ_t) d_{t-1} + ρ_t ∇f_B(x_t),  x_{t+1} = x_t + (v - x_t)/(t + 1),  v = argmin <d_t, v>,

        ρ_t = 4/(t+8)^(2/3) (at most one), as `StochasticFrankWolfe` does; an intercept, which no set holds, follows its
        own slope.
        """
        if self.loss not in LEARNT:
            raise ValueError(
                f"partial_fit needs a loss of bounded curvature ({', '.join(LEARNT)}), not {self.loss!r}; use fit"
            )
        memory = self._memory or self._begin(X, y, weight)
        t, x, c, d, scaling, radius = memory
        domain = self._domain(SimpleNamespace(shape=x.shape, scaling=scaling), radius)  # pyright: ignore[reportArgumentType]
        X = scaling.apply(X.tocsr() if sp.issparse(X) else X)
        share = np.ones(len(y)) if weight is None else weight
        bend = self._row_loss.bend(1.0) * (1 if x.ndim == 1 else 2)
        for rows in np.array_split(np.random.default_rng(t).permutation(len(y)), _batches(len(y))):
            w = share[rows]
            if not w.sum() > 0:
                continue
            t, rho = t + 1, min(1.0, 4.0 / (t + 9) ** (2 / 3))
            r = self._row_slopes(X[rows] @ x.reshape(len(x), -1) + c, y[rows]) * (w / w.sum())[:, None]
            d = (1 - rho) * d + rho * (X[rows].T @ r).reshape(x.shape)
            x = x + (np.asarray(domain.lmo(d).toarray()) - x) / (t + 1)
            c = c - rho * r.sum(axis=0) / bend if self.fit_intercept else c
        self._memory, self.radius_, self.n_iter_ = Memory(t, x, c, d, scaling, radius), radius, t
        coef = scaling.coef(x)
        self.coef_ = self._coef(coef)
        self.intercept_ = self._shaped_intercept(np.atleast_1d(c - scaling.shift(coef)))
        self.proven_zero_ = np.zeros(self.coef_.shape, bool)
        return self

    def _begin(self, X: Any, y: np.ndarray, weight: np.ndarray | None) -> Memory:
        """Return the memory before the first move: scale and radius, where the data choose them, are of these rows."""
        classes = len(getattr(self, "classes_", ()))
        if is_classifier(self) and self._by_data and len(np.unique(y)) < classes:
            raise ValueError(
                "radius='auto' is chosen from the first rows, and they lack some of the classes; pass a number as "
                "radius, or rows of all classes first"
            )
        scaling = Scaling.of(X, weight, intercept=bool(self.fit_intercept), standardize=self._standardizes)
        scores = classes if classes > 2 else 1
        shape = (X.shape[1],) if scores == 1 else (X.shape[1], scores)
        radius = self._size(Task.of(self, X, y, weight) if self._by_data else None, X, y)  # pyright: ignore[reportArgumentType]
        domain = self._domain(SimpleNamespace(shape=shape, scaling=scaling), radius)  # pyright: ignore[reportArgumentType]
        zero = np.zeros(shape)
        start = zero if domain.contains(zero) else np.asarray(domain.lmo(zero).toarray(), dtype=np.float64)
        return Memory(0, start, np.zeros(scores), zero, scaling, radius)

    def _row_slopes(self, scores: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return the slope of the loss of each row in each of its scores."""
        if scores.shape[1] > 1:
            return softmax(scores, axis=1) - np.eye(scores.shape[1])[y]
        loss, target = self._row_loss, 2.0 * y - 1.0 if is_classifier(self) else y
        return loss.slope(scores[:, 0], target, *loss)[:, None]


def _batches(n: int) -> int:
    """Return how many moves to make with n rows."""
    return max(1, n // (math.isqrt(max(n - 1, 0)) + 1))
