"""Data and targets as an objective, with what the estimators ask of it."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from frankwolfe.backends.namespace import is_foreign
from frankwolfe.estimators.scaling import Scaling
from frankwolfe.kernels.threads import calm
from frankwolfe.rows.placement import place
from frankwolfe.validation import nonnegative

if TYPE_CHECKING:
    from frankwolfe.estimators.linear import LinearEstimator

FLOOR = {np.dtype(np.float64): 1e-9, np.dtype(np.float32): 1e-4}  # of the loss of a constant: no gap below is asked for
SMALL = 1 << 18  # entries of data that one thread multiplies about as fast as several do


class Task:
    """Rows wherever they are, on the scale that the estimator asks for, and their loss.

    x is what the solver sees, features first; `coef` and `intercept` turn it into what belongs to the data as given.
    """

    def __init__(
        self, model: LinearEstimator, objective: Any, scaling: Scaling, weight: np.ndarray | None, dtype: np.dtype
    ) -> None:
        self.objective, self.scaling, self.weight, self.dtype = objective, scaling, weight, dtype
        objective.warm_intercepts = True
        self.shape: tuple[int, ...] = objective.shape or ()
        self.tol, self.unit = nonnegative("tol", model.tol), model._loss_unit

    @classmethod
    def of(cls, model: LinearEstimator, X: Any, y: np.ndarray, weight: np.ndarray | None, device: Any = None) -> Task:
        """Return the task of rows in memory, which may go to a device."""
        scaling = Scaling.of(X, weight, intercept=bool(model.fit_intercept), standardize=model._standardizes)
        data = place(scaling.apply(X), model.device if device is None else device, classes=model._classes)
        return cls(model, model._objective(data, y, weight), scaling, weight, np.dtype(X.dtype))

    @cached_property
    def null(self) -> float:
        """The loss of the best constant."""
        return float(self.objective.value(self.objective.start(None, dense=False)))

    @property
    def floor(self) -> float:
        """The smallest gap that is ever asked for."""
        return max(FLOOR[self.dtype] * abs(self.null), 1e-30)

    @property
    def goal(self) -> float:
        """The gap to reach; a constant target is fitted at once."""
        return max(self.tol * min(self.unit, abs(self.null)), self.floor)

    @property
    def on_device(self) -> bool:
        """Whether the data are on a device."""
        return self.objective.holds_images and is_foreign(self.objective.share)

    def only(self, rows: np.ndarray) -> Task:
        """Return the task on some of the rows; none of them moves, the others get no weight."""
        share = np.zeros(self.objective.data.shape[0])
        share[rows] = 1.0 if self.weight is None else self.weight[rows]
        twin = copy(self)
        vars(twin).pop("null", None)
        twin.objective = self.objective.reweighted(share / share.sum())
        return twin

    def linear(self, x: np.ndarray) -> np.ndarray:
        """Return the linear part of the prediction for all rows, intercept included: a column for each class."""
        return self.objective.data.scores(x.reshape(x.shape[0], -1)) + self._best_intercept(x)

    def coef(self, x: np.ndarray) -> np.ndarray:
        """Return the coefficients for the data as given."""
        return self.scaling.coef(x)

    def intercept(self, x: np.ndarray) -> np.ndarray:
        """Return the intercepts that belong to x for the data as given, one for each class."""
        return np.asarray(self._best_intercept(x) - self.scaling.shift(self.coef(x)), dtype=x.dtype)

    def _best_intercept(self, x: np.ndarray) -> np.ndarray:
        if not self.objective.intercept:
            return np.zeros(x.shape[1:] or (1,), x.dtype)
        here = self.objective.start(x, dense=False)
        return np.atleast_1d(self.objective.best_intercept(self.objective.map.apply(here)))


def quiet(task: Task) -> AbstractContextManager[None]:
    """Keep BLAS to one thread while small data are worked on: waiting for others would take most of the time."""
    n, d = task.objective.data.shape
    return calm() if n * d <= SMALL else nullcontext()
