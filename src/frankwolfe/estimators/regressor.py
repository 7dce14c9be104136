"""Linear regression with its coefficients in a set."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score

from frankwolfe.estimators.in_parts import fetched, lazily
from frankwolfe.estimators.linear import LinearEstimator, Loss, keep
from frankwolfe.objectives import Huber, LeastSquares
from frankwolfe.validation import nearest

LOSSES = ("squared_error", "huber")


class RegressorBase(RegressorMixin, LinearEstimator):
    """Prediction for linear regression, and its losses."""

    coef_: np.ndarray
    intercept_: float
    loss: str
    delta: float

    @lazily
    def predict(self, X: Any) -> np.ndarray:
        """Return the predicted targets.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        return self._linear(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the coefficient of determination, R², of predictions.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        float
        """
        return float(r2_score(fetched(y), fetched(self.predict(X)), sample_weight=fetched(sample_weight)))

    def _checked(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, np.ndarray, np.ndarray | None]:
        X, y = self._read(X, y, y_numeric=True)
        return X, y, self._weights(sample_weight, X)

    def _objective(self, X: Any, y: np.ndarray, weight: np.ndarray | None) -> Loss:
        if self.loss not in LOSSES:
            raise ValueError(f"loss {self.loss!r} is not known; {nearest(str(self.loss), LOSSES)}")
        if self.loss == "huber":
            return Huber(X, y, delta=self.delta, sample_weight=weight, intercept=bool(self.fit_intercept))
        return LeastSquares(X, y, sample_weight=weight, intercept=bool(self.fit_intercept))

    def _shaped_intercept(self, intercept: np.ndarray) -> Any:
        return intercept[0]


class FrankWolfeRegressor(RegressorBase):
    """Linear regression with the coefficients in a set of your choice, by least squares or Huber's robust loss.

    Parameters
    ----------
    constraint : {"l1", "l2", "linf", "lp", "ksupport", "group", "simplex", "box"} or Set, default "l2"
        Where the coefficients lie. "l1" gives few nonzeros, "ksupport" few and stable ones, "group" few groups,
        "simplex" nonnegative ones that sum to the radius.
    radius : float, default 1.0
        Size of the set. A small one keeps coefficients small; see `FrankWolfeRegressorCV` to have it chosen.
    loss : {"squared_error", "huber"}, default "squared_error"
        Half the mean square of the residuals, or Huber's loss, which large residuals pull less.
    delta : float, default 1.35
        Residual from which Huber's loss is linear, in the units of y.
    p, k, groups, lower, upper
        Options of the constraints, as in `FrankWolfeClassifier`.
    fit_intercept : bool, default True
        Add an intercept, which is not constrained.
    tol : float, default 1e-6
        Stop when the loss is proven to be within this of the optimum: a certified gap. Where the loss of the best
        constant is below one, within this part of it; no gap below 1e-9 of that loss (1e-4 in single precision) is
        asked for.
    max_iter : int, default 10000
        Largest number of steps.
    method : str or Method, default "auto"
        As in `frankwolfe.minimize`.
    warm_start : bool, default False
        Start from the last solution.
    n_jobs : int, optional
        Threads of the linear algebra.
    verbose : int, default 0
        Show progress.
    random_state : int or RandomState, optional
        Seed of iterative oracles.
    device : str or None, default "auto"
        Where the data are worked on: "auto" is the GPU where there is one and the data are large enough to gain, "cpu"
        (or None) NumPy on the CPU, "cuda" or "cuda:1" that GPU, through torch. What is fitted is NumPy's in any case.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        Coefficients.
    intercept_ : float
        Intercept.
    n_iter_ : int
        Steps taken.
    gap_, lower_bound_ : float
        Proven bound on the distance of the mean loss from its optimum, and on the optimum.
    trace_ : Trace
        Value and bound, step by step.
    method_ : str
        The method that ran.
    result_ : Result
        All that `frankwolfe.minimize` returned.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of str
        Their names, where X had some.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = FrankWolfeRegressor("l1", radius=1000.0).fit(X, y)
    >>> int((model.coef_ != 0).sum()), round(model.score(X, y), 2)
    (4, 0.44)
    """

    def __init__(
        self,
        constraint: Any = "l2",
        radius: float = 1.0,
        *,
        loss: str = "squared_error",
        delta: float = 1.35,
        p: float = 1.5,
        k: int = 10,
        groups: Any = None,
        lower: Any = -1.0,
        upper: Any = 1.0,
        fit_intercept: bool = True,
        tol: float = 1e-6,
        max_iter: int = 10_000,
        method: Any = "auto",
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
        device: str | None = "auto",
    ) -> None:
        keep(self, locals())
