"""What the linear estimators share: data in, the problem stated and solved, fitted attributes out."""

from __future__ import annotations

import math
import warnings
from abc import abstractmethod
from collections.abc import Callable
from copy import copy
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from frankwolfe.estimators.auto_radius import chosen_radius
from frankwolfe.estimators.completion.ratings import column_names
from frankwolfe.estimators.constraints import BALLS, constraint_set
from frankwolfe.estimators.host_results import is_unsolved, on_host
from frankwolfe.estimators.in_parts import parts_task
from frankwolfe.estimators.parameters import with_parameters
from frankwolfe.estimators.screening import proven_zeros, strangled
from frankwolfe.estimators.task import Task
from frankwolfe.minimize import minimize
from frankwolfe.result import Result
from frankwolfe.rows.user_data import is_in_parts
from frankwolfe.sets import Set
from frankwolfe.sets.base import EmptySetError
from frankwolfe.validation import positive

DOUBLINGS = 60  # of a radius, until linear constraints leave something of the set


def _is_number(column: Any) -> bool:
    """Tell whether the entries of a column are numbers, or text or objects that stand for some."""
    values = np.asarray(column)
    try:
        return values.dtype.kind not in "mM" and values.astype(np.float64) is not None
    except (ValueError, TypeError):
        return False


@with_parameters
class LinearEstimator(BaseEstimator):
    """A linear model with its coefficients in a set and, by default, an intercept outside it."""

    constraint: Any = field(default="l2", kw_only=False)
    radius: ClassVar[Any] = "auto"
    standardize: Any = "auto"
    positive: bool = False
    linear: Any = None
    p: float = 1.5
    k: int = 10
    groups: Any = None
    lower: Any = -1.0
    upper: Any = 1.0
    fit_intercept: bool = True
    max_iter: int = 10_000
    method: Any = "auto"
    warm_start: ClassVar[bool] = False
    n_jobs: int | None = None
    verbose: int = 0
    random_state: Any = None
    device: str | None = "auto"
    if TYPE_CHECKING:  # of which each kind has its own default
        loss: str = ""
        tol: float = 0.0

    @abstractmethod
    def _checked(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, np.ndarray, np.ndarray | None]:
        """Return validated data, targets and weights."""

    @abstractmethod
    def _objective(self, X: Any, y: np.ndarray, weight: np.ndarray | None) -> Any:
        """Return the loss on some rows."""

    @abstractmethod
    def _gains(self, scores: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return minus the loss of each row, from the linear part of its prediction: a column for each class."""

    @abstractmethod
    def _usual(self, scores: np.ndarray, y: np.ndarray) -> float:
        """Return the accuracy of classes, or R², from the linear part of predictions."""

    @property
    @abstractmethod
    def _row_loss(self) -> Any:
        """The loss of a row."""

    def _each(self, X: Any, y: Any, fit: Callable[[Any, np.ndarray], Any]) -> bool:
        """Fit a model to each of several targets, the columns of y, where there are several; tell whether."""
        return False

    _loss_unit = math.inf  # the loss that `tol` is a part of, where that of a constant is not less

    @property
    def _classes(self) -> int:
        """How many scores each row has."""
        return 1

    @property
    def _standardizes(self) -> bool:
        """Whether features are brought to one scale: by default where the data choose the radius of a norm ball."""
        if isinstance(self.standardize, str):
            if self.standardize != "auto":
                raise ValueError(f"standardize must be True, False or 'auto', got {self.standardize!r}")
            return self._by_data and isinstance(self.constraint, str) and self.constraint in BALLS
        return bool(self.standardize)

    @property
    def _by_data(self) -> bool:
        """Whether the data choose the radius."""
        return isinstance(self.radius, str)

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
        self.__dict__.pop("_memory", None)  # of partial_fit
        if self._each(X, y, lambda model, target: model.fit(X, target, sample_weight)):
            return self
        if is_in_parts(X):
            task, y = parts_task(self, X, y, sample_weight)
        else:
            X, y, weight = self._checked(X, y, sample_weight)
            task = Task.of(self, X, y, weight)
        self.radius_ = self._size(task, X, y)
        domain = self._domain(task, self.radius_)
        start = self._start(domain, task.shape, task.dtype) if self.warm_start else None
        result = minimize(task.objective, domain, start, tol=task.goal, **self._options())
        self._keep(result, task, domain, not self._by_data)
        return self

    def _size(self, task: Task, X: Any, y: Any) -> float | None:
        """Return the radius, chosen by the data where it is "auto"; None for a set as it is."""
        if not self._by_data:
            return positive("radius", self.radius)
        if self.radius != "auto":
            raise ValueError(f"radius must be a positive number or 'auto', got {self.radius!r}")
        if isinstance(self.constraint, Set):
            return None
        if self.constraint not in BALLS:
            return 1.0  # a simplex of shares, or the bounds as given
        return chosen_radius(self, task, X, y)

    def _domain(self, task: Task, radius: float | None) -> Set:
        """Return the set of a radius, for x as the solver sees it."""
        return constraint_set(
            self.constraint,
            radius,
            task.shape,
            **{name: getattr(self, name) for name in ("p", "k", "groups", "lower", "upper", "positive", "linear")},
            names=getattr(self, "feature_names_in_", None),
            scale=task.scaling.scale,
        )

    def _family(self, task: Task, radius: float = 1.0) -> tuple[Set, float]:
        """Return the set of a radius, and that radius: raised where linear constraints would leave nothing of it."""
        for power in range(DOUBLINGS):
            try:
                return self._domain(task, radius * 2.0**power), radius * 2.0**power
            except EmptySetError:
                continue
        return self._domain(task, radius), radius

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
        try:
            read: Any = validate_data(
                self, X, y, accept_sparse=("csr", "csc"), dtype=(np.float64, np.float32), **checks
            )
        except (ValueError, TypeError):
            columns = column_names(X) if hasattr(X, "columns") else []
            names = [str(name) for name in columns if not _is_number(X[name])]
            if not names:
                raise
            raise ValueError(
                f"X holds text or dates in {', '.join(map(repr, names[:5]))}; make numbers of it first: of text for "
                "instance with pandas.get_dummies or sklearn.preprocessing.OneHotEncoder"
            ) from None
        return read

    def _weights(self, sample_weight: Any, X: Any) -> np.ndarray | None:
        if sample_weight is None:
            return None
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        if not weight.sum() > 0:
            raise ValueError("sample_weight is zero for every sample; at least one must be positive")
        return weight

    def _keep(self, result: Result, task: Task, domain: Set, given: bool) -> None:
        """Set the fitted attributes from a result; warn if it is not as good as was asked for.

        Where the caller has `given` the radius, also if that leaves next to nothing of the model.
        """
        zeros = proven_zeros(task.objective, domain, result)
        result = on_host(result)
        x = result.x
        self.result_, self.trace_, self.method_ = result, result.trace, result.method
        self.coef_, self.intercept_ = self._coef(task.coef(x)), self._shaped_intercept(task.intercept(x))
        self.n_iter_, self.gap_, self.lower_bound_ = result.n_iter, result.gap, result.lower_bound
        self.proven_zero_ = self._coef(np.zeros(task.shape, bool) if zeros is None else zeros)
        if is_unsolved(result):
            warnings.warn(
                f"{type(self).__name__} stopped after {result.n_iter} steps of {result.method!r} with a certified gap "
                f"of {result.gap:.3g}, above the {task.goal:.3g} asked for: raise max_iter or tol, or scale the "
                f"features ({result.message})",
                ConvergenceWarning,
                stacklevel=3,
            )
        elif given and (factor := strangled(task, x)) is not None:
            warnings.warn(
                f"{type(self).__name__}: radius {self.radius_:g} leaves the model hardly better than a constant, and "
                f"the same coefficients times {factor:.2g} fit far better; use "
                f"{'radii' if hasattr(self, 'radii') else 'radius'}='auto', a larger one, or standardize=True",
                UserWarning,
                stacklevel=3,
            )

    @property
    def support_(self) -> np.ndarray:
        """The features, by number, with a coefficient that is not proven to be zero in the best model."""
        check_is_fitted(self)
        return np.flatnonzero(~np.atleast_2d(self.proven_zero_).all(axis=0))

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

    def _shell(self, x: np.ndarray, task: Task) -> Any:
        """Return a copy that predicts with the coefficients that belong to x, from data without names."""
        shell: Any = copy(self)
        shell.__dict__.pop("feature_names_in_", None)
        shell.coef_, shell.intercept_ = shell._coef(task.coef(x)), shell._shaped_intercept(task.intercept(x))
        return shell

    def _coef(self, x: np.ndarray) -> np.ndarray:
        return x

    def _shaped_intercept(self, intercept: np.ndarray) -> Any:
        return intercept

    def _linear(self, X: Any) -> np.ndarray:
        """Return the linear part of the prediction."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse=("csr", "csc"), dtype=(np.float64, np.float32), reset=False)
        return safe_sparse_dot(X, self.coef_.T, dense_output=True) + self.intercept_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
