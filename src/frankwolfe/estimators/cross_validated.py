"""Linear estimators that choose their radius by cross-validation, through `frankwolfe.path`."""

from __future__ import annotations

from typing import Any

import numpy as np

from frankwolfe.estimators.classifier import ClassifierBase, log_chances
from frankwolfe.estimators.linear import keep
from frankwolfe.estimators.radius_cross_validation import CrossValidated
from frankwolfe.estimators.regressor import RegressorBase


class FrankWolfeClassifierCV(CrossValidated, ClassifierBase):
    """Logistic regression with the coefficients in a set whose radius is chosen by cross-validation.

    Parameters
    ----------
    constraint : str or Set, default "l2"
        As in `FrankWolfeClassifier`; of a Set, the radius is changed by its `with_radius`.
    radii : int or list of float, default 10
        Radii to try, or how many: then a geometric grid from a small one to one at which the constraint hardly binds.
    cv : int, splitter or iterable of (train, test), optional
        Folds; five stratified ones by default.
    scoring : str or callable, optional
        What to choose the radius by; by default the log loss on the held-out fold.
    selection : {"best", "one_se"}, default "best"
        The radius with the best mean score, or the smallest one within a standard error of it.
    p, k, groups, lower, upper, fit_intercept, class_weight
        As in `FrankWolfeClassifier`.
    tol : float, default 1e-4
        Certified gap, in nats, of the final fit; on the folds ten times that is enough.
    max_iter, method, verbose, random_state
        As in `FrankWolfeClassifier`.
    n_jobs : int, optional
        Folds solved at a time; one at a time on a device.
    device : str or None, default "auto"
        Where the data are worked on, as in `FrankWolfeClassifier`. They are moved once: a fold is the same rows with no
        weight on those held out.

    Attributes
    ----------
    radius_ : float
        The radius chosen.
    radii_ : array of shape (n_radii,)
        The radii tried, increasing.
    scores_ : array of shape (n_folds, n_radii)
        Score of each radius on each held-out fold.
    cv_results_ : dict
        The same in the form of scikit-learn's searches.
    coefs_paths_ : array of shape (n_folds, n_radii, ...)
        Coefficients of each radius on each fold.
    coef_, intercept_, classes_, n_iter_, gap_, lower_bound_, trace_, method_, result_
        As in `FrankWolfeClassifier`, for the fit to all the data.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = FrankWolfeClassifierCV("l1", cv=3).fit(X, y)
    >>> round(model.score(X, y), 1), model.scores_.shape
    (1.0, (3, 10))
    """

    def __init__(
        self,
        constraint: Any = "l2",
        *,
        radii: Any = 10,
        cv: Any = None,
        scoring: Any = None,
        selection: str = "best",
        p: float = 1.5,
        k: int = 10,
        groups: Any = None,
        lower: Any = -1.0,
        upper: Any = 1.0,
        fit_intercept: bool = True,
        class_weight: Any = None,
        tol: float = 1e-4,
        max_iter: int = 10_000,
        method: Any = "auto",
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
        device: str | None = "auto",
    ) -> None:
        keep(self, locals())

    def _gains(self, X: Any, y: np.ndarray) -> np.ndarray:
        return log_chances(self._scores(X))[np.arange(len(y)), y]

    def _targets(self, y: np.ndarray) -> np.ndarray:
        return self.classes_[y]


class FrankWolfeRegressorCV(CrossValidated, RegressorBase):
    """Linear regression with the coefficients in a set whose radius is chosen by cross-validation.

    Parameters
    ----------
    constraint : str or Set, default "l2"
        As in `FrankWolfeRegressor`; of a Set, the radius is changed by its `with_radius`.
    radii : int or list of float, default 10
        Radii to try, or how many: then a geometric grid from a small one to one at which the constraint hardly binds.
    cv : int, splitter or iterable of (train, test), optional
        Folds; five by default.
    scoring : str or callable, optional
        What to choose the radius by; by default the model's own loss on the held-out fold.
    selection : {"best", "one_se"}, default "best"
        The radius with the best mean score, or the smallest one within a standard error of it.
    loss, delta, p, k, groups, lower, upper, fit_intercept
        As in `FrankWolfeRegressor`.
    tol : float, default 1e-4
        Certified gap of the final fit, as in `FrankWolfeRegressor`; on the folds ten times that is enough.
    max_iter, method, verbose, random_state
        As in `FrankWolfeRegressor`.
    n_jobs : int, optional
        Folds solved at a time; one at a time on a device.
    device : str or None, default "auto"
        Where the data are worked on, as in `FrankWolfeRegressor`. They are moved once: a fold is the same rows with no
        weight on those held out.

    Attributes
    ----------
    radius_ : float
        The radius chosen.
    radii_ : array of shape (n_radii,)
        The radii tried, increasing.
    scores_ : array of shape (n_folds, n_radii)
        Score of each radius on each held-out fold.
    cv_results_ : dict
        The same in the form of scikit-learn's searches.
    coefs_paths_ : array of shape (n_folds, n_radii, n_features)
        Coefficients of each radius on each fold.
    coef_, intercept_, n_iter_, gap_, lower_bound_, trace_, method_, result_
        As in `FrankWolfeRegressor`, for the fit to all the data.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = FrankWolfeRegressorCV("l1").fit(X, y)
    >>> round(model.score(X, y), 1), model.radii_.size
    (0.5, 10)
    """

    def __init__(
        self,
        constraint: Any = "l2",
        *,
        radii: Any = 10,
        cv: Any = None,
        scoring: Any = None,
        selection: str = "best",
        loss: str = "squared_error",
        delta: float = 1.35,
        p: float = 1.5,
        k: int = 10,
        groups: Any = None,
        lower: Any = -1.0,
        upper: Any = 1.0,
        fit_intercept: bool = True,
        tol: float = 1e-4,
        max_iter: int = 10_000,
        method: Any = "auto",
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
        device: str | None = "auto",
    ) -> None:
        keep(self, locals())

    def _gains(self, X: Any, y: np.ndarray) -> np.ndarray:
        off = np.abs(self._scores(X) - y)
        near = np.minimum(off, self.delta) if self.loss == "huber" else off
        return -near * (off - 0.5 * near)

    def _targets(self, y: np.ndarray) -> np.ndarray:
        return y
