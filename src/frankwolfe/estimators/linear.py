"""What the linear estimators share: data in, the problem stated and solved, fitted attributes out."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from frankwolfe.backends import host
from frankwolfe.backends.namespace import is_foreign
from frankwolfe.estimators.constraints import constraint_set
from frankwolfe.estimators.host_results import is_unsolved, on_host
from frankwolfe.estimators.in_parts import PartsTask, fit_in_parts
from frankwolfe.minimize import minimize
from frankwolfe.objectives import Huber, LeastSquares, Logistic, Multinomial
from frankwolfe.result import Result
from frankwolfe.rows.placement import place
from frankwolfe.rows.user_data import is_in_parts
from frankwolfe.sets import Set
from frankwolfe.validation import nonnegative

Loss = Logistic | Multinomial | LeastSquares | Huber
FLOOR = {np.dtype(np.float64): 1e-9, np.dtype(np.float32): 1e-4}  # of the loss of a constant: no gap below is asked for

FAR = 100.0  # how far features may be from zero beside their range before they are centred


class Task:
    """Data and targets as an objective, for so many solves.

    A free intercept makes f the same whether the data are centred or not. Dense features far from zero beside their
    spread are centred all the same, for the sake of rounding.
    """

    def __init__(
        self,
        model: LinearEstimator,
        X: Any,
        y: np.ndarray,
        weight: np.ndarray | None,
        solves: int = 1,
        device: Any = None,
    ) -> None:
        self.mean = None
        if model.fit_intercept and not sp.issparse(X):
            low, high = X.min(axis=0), X.max(axis=0)
            if np.any(np.abs(low + high) > FAR * (high - low)):
                self.mean = np.average(X, axis=0, weights=weight).astype(X.dtype)
                X = X - self.mean
        data = place(X, model.device if device is None else device, classes=model._classes)
        self.objective: Loss = model._objective(data, y, weight)
        self.objective.data.solves = solves
        self.objective.remember = True
        self.shape: tuple[int, ...] = self.objective.shape or ()
        self.weight, self.tol, self.dtype = weight, nonnegative("tol", model.tol), np.dtype(X.dtype)

    @cached_property
    def null(self) -> float:
        """The loss of the best constant."""
        return float(self.objective.value(self.objective.start(None, dense=False)))

    @property
    def goal(self) -> float:
        """The gap to reach; a constant target is fitted at once."""
        return max(self.tol * min(1.0, self.null), FLOOR[self.dtype] * self.null, 1e-30)

    @property
    def away(self) -> bool:
        """Whether the data are on a device."""
        return is_foreign(self.objective.share)

    def only(self, rows: np.ndarray) -> Task:
        """Return the task on some of the rows; none of them moves, the others get no weight."""
        share = np.zeros(self.objective.data.shape[0])
        share[rows] = 1.0 if self.weight is None else self.weight[rows]
        twin = copy(self)
        vars(twin).pop("null", None)
        twin.objective = self.objective.reweighted(share / share.sum())
        return twin

    def linear(self, shell: Any) -> np.ndarray:
        """Return the linear part of an estimator's predictions for all rows, wherever these are."""
        data, coef = self.objective.data, shell.coef_.T
        shift = 0.0 if self.mean is None else self.mean @ coef
        return host(data.product(data.array(coef))) + (shift + shell.intercept_)

    def intercept(self, x: np.ndarray) -> np.ndarray:
        """Return the intercepts that belong to coefficients, one for each class."""
        if not self.objective.intercept:
            return np.zeros(x.shape[1:] or (1,), x.dtype)
        here = self.objective.start(x, dense=False)
        best = np.atleast_1d(self.objective.best_intercept(self.objective.map.apply(here)))
        shift = 0.0 if self.mean is None else self.mean @ x
        return np.asarray(best - shift, dtype=x.dtype)


def keep(estimator: BaseEstimator, arguments: dict[str, Any]) -> None:
    """Set the arguments of a constructor, its `locals()`, under their own names: all that scikit-learn lets it do."""
    vars(estimator).update({name: value for name, value in arguments.items() if name != "self"})


class LinearEstimator(BaseEstimator):
    """A linear model with its coefficients in a set and, by default, an intercept outside it."""

    constraint: Any
    radius: float
    fit_intercept: bool
    tol: float
    max_iter: int
    method: Any
    warm_start: bool
    n_jobs: int | None
    verbose: int
    random_state: Any
    device: str | None = None

    @abstractmethod
    def _checked(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, np.ndarray, np.ndarray | None]:
        """Return validated data, targets and weights."""

    @abstractmethod
    def _objective(self, X: Any, y: np.ndarray, weight: np.ndarray | None) -> Loss:
        """Return the loss on some rows."""

    @property
    def _classes(self) -> int:
        """How many scores each row has."""
        return 1

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Data.
        y : array of shape (n_samples,)
            Class labels, or targets.
        sample_weight : array of shape (n_samples,), optional
            Nonnegative weights of the samples.

        Returns
        -------
        self
        """
        if is_in_parts(X):
            fit_in_parts(self, X, y, sample_weight)
        else:
            self._solve(*self._checked(X, y, sample_weight))
        return self

    def _domain(self, shape: tuple[int, ...], radius: float) -> Set:
        names = ("p", "k", "groups", "lower", "upper")
        return constraint_set(self.constraint, radius, shape, **{name: getattr(self, name) for name in names})

    def _options(self) -> dict[str, Any]:
        """Return what is passed on to the solver as it is."""
        seed = self.random_state
        if seed is not None and not isinstance(seed, int | np.integer):
            seed = int(check_random_state(seed).randint(2**31 - 1))
        return {
            "method": self.method,
            "max_iter": self.max_iter,
            "progress": bool(self.verbose),
            "random_state": seed,
            "n_threads": None if self.n_jobs is None else effective_n_jobs(self.n_jobs),
        }

    def _read(self, X: Any, y: Any, **checks: Any) -> tuple[Any, Any]:
        read: Any = validate_data(self, X, y, accept_sparse=("csr", "csc"), dtype=(np.float64, np.float32), **checks)
        return read

    def _weights(self, sample_weight: Any, X: Any) -> np.ndarray | None:
        if sample_weight is None:
            return None
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        if not weight.sum() > 0:
            raise ValueError("sample_weight is zero for every sample; at least one must be positive")
        return weight

    def _solve(self, X: Any, y: np.ndarray, weight: np.ndarray | None) -> None:
        """Fit to validated data and set the fitted attributes."""
        task = Task(self, X, y, weight)
        domain = self._domain(task.shape, self.radius)
        start = self._start(domain, task.shape, X.dtype) if self.warm_start else None
        result = minimize(task.objective, domain, start, tol=task.goal, **self._options())
        self._keep(result, task)

    def _keep(self, result: Result, task: Task | PartsTask) -> None:
        """Set the fitted attributes from a result; warn if it is not as good as was asked for."""
        result = on_host(result)
        x = result.x
        self.result_, self.trace_, self.method_ = result, result.trace, result.method
        self.coef_, self.intercept_ = self._coef(x), self._shaped_intercept(task.intercept(x))
        self.n_iter_, self.gap_, self.lower_bound_ = result.n_iter, result.gap, result.lower_bound
        if is_unsolved(result):
            warnings.warn(
                f"{type(self).__name__} stopped after {result.n_iter} steps of {result.method!r} with a certified gap "
                f"of {result.gap:.3g}, above the {task.goal:.3g} asked for: raise max_iter or tol, or scale the "
                f"features ({result.message})",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _start(self, domain: Set, shape: tuple[int, ...], dtype: Any) -> Result | None:
        """Return the last result, moved towards zero if the set has shrunk; None where there is none to start from."""
        last = getattr(self, "result_", None)
        if last is None or np.shape(last.x) != shape:
            return None
        x = np.asarray(last.x, dtype=dtype)
        for scale in (1.0, *np.geomspace(1.0, 1e-3, 40), 0.0):
            if domain.contains(scale * x):
                return replace(last, x=scale * x)
        return None

    def _shell(self, x: np.ndarray, task: Task | PartsTask) -> Any:
        """Return a copy that predicts with coefficients x, from data without names."""
        shell: Any = copy(self)
        shell.__dict__.pop("feature_names_in_", None)
        shell.coef_, shell.intercept_ = shell._coef(x), shell._shaped_intercept(task.intercept(x))
        return shell

    def _coef(self, x: np.ndarray) -> np.ndarray:
        return x

    def _shaped_intercept(self, intercept: np.ndarray) -> Any:
        return intercept

    def _linear(self, X: Any) -> np.ndarray:
        """Return the linear part of the prediction."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse=("csr", "csc"), dtype=(np.float64, np.float32), reset=False)
        return self._scores(X)

    def _scores(self, X: Any) -> np.ndarray:
        return np.asarray(X @ self.coef_.T) + self.intercept_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
