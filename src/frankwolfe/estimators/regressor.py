"""Linear regression with its coefficients in a set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Any, Self

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin, clone
from sklearn.metrics import d2_pinball_score, d2_tweedie_score, r2_score

from frankwolfe.estimators.in_parts import fetched, lazily
from frankwolfe.estimators.incremental import Incremental
from frankwolfe.estimators.linear import LinearEstimator
from frankwolfe.estimators.parameters import with_parameters
from frankwolfe.estimators.scaling import check_squares
from frankwolfe.objectives import REGRESSION
from frankwolfe.rows.user_data import is_in_parts
from frankwolfe.validation import nearest

POWERS = {"poisson": 1, "gamma": 2}  # of Tweedie's deviance, for targets that are not negative


@with_parameters
class RegressorBase(MultiOutputMixin, RegressorMixin, LinearEstimator):
    """Prediction for linear regression, and its losses."""

    loss: str = "squared_error"
    delta: float = 1.35
    quantile: float = 0.5
    coef_: np.ndarray = field(init=False)
    intercept_: Any = field(init=False)

    @lazily
    def predict(self, X: Any) -> np.ndarray:
        """Return the predicted targets.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_targets)
        """
        return self._model.loss_class.mean(self._linear(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return how much of the targets is explained: R², or the same with the loss's own deviance, D².

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        float
        """
        y, said, weight = fetched(y), fetched(self.predict(X)), fetched(sample_weight)
        if self.loss in POWERS:
            return float(d2_tweedie_score(y, said, sample_weight=weight, power=POWERS[self.loss]))
        if self.loss == "quantile":
            return float(d2_pinball_score(y, said, sample_weight=weight, alpha=self.quantile))
        return float(r2_score(y, said, sample_weight=weight))

    def _each(self, X: Any, y: Any, fit: Callable[[Any, np.ndarray], Any]) -> bool:
        y = None if is_in_parts(X) or is_in_parts(y) else np.asarray(y)
        if y is None or y.ndim != 2 or y.shape[1] < 2:
            return False
        self.estimators_ = [fit(clone(self), y[:, j]) for j in range(y.shape[1])]
        for name in ("coef_", "intercept_", "radius_", "gap_", "lower_bound_", "n_iter_", "proven_zero_"):
            setattr(self, name, np.array([getattr(model, name) for model in self.estimators_]))
        self.n_iter_ = max(model.n_iter_ for model in self.estimators_)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimators_[0], name):
                setattr(self, name, getattr(self.estimators_[0], name))
        return True

    def _checked(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, np.ndarray, np.ndarray | None]:
        y = y if y is None else np.asarray(y)
        y = y if y is None or y.ndim != 2 else y.ravel()
        if y is not None and y.dtype.kind in "OU":
            try:
                y = y.astype(np.float64)
            except ValueError as error:
                raise ValueError(
                    f"y holds text ({error}), and a regressor needs numbers; for classes there is "
                    + type(self).__name__.replace("Regressor", "Classifier")
                ) from None
        X, y = self._read(X, y, y_numeric=True)
        if (self.loss in POWERS and np.min(y) < 0) or (self.loss == "gamma" and np.min(y) <= 0):
            least = "positive" if self.loss == "gamma" else "nonnegative"
            raise ValueError(f"loss={self.loss!r} needs {least} targets, and the smallest is {np.min(y):g}")
        check_squares("y", "targets", float(np.abs(y).max()))
        return X, y, self._weights(sample_weight, X)

    def _objective(self, X: Any, y: np.ndarray, weight: np.ndarray | None) -> Any:
        own = self._parameters
        if self.loss == "quantile":  # smooth within a hundredth of the spread of the targets
            own = {"quantile": self.quantile, "delta": 0.01 * float(np.std(y)) or 1.0}
        return self._model(X, y, **own, sample_weight=weight, intercept=bool(self.fit_intercept))

    @property
    def _model(self) -> Any:
        """The class of models with this loss."""
        if self.loss not in REGRESSION:
            raise ValueError(f"loss {self.loss!r} is not known; {nearest(str(self.loss), REGRESSION)}")
        return REGRESSION[self.loss]

    @property
    def _parameters(self) -> dict[str, float]:
        return {"delta": self.delta} if self.loss == "huber" else {}

    @property
    def _row_loss(self) -> Any:
        return self._model.loss_class(**self._parameters)

    def _gains(self, scores: np.ndarray, y: np.ndarray) -> np.ndarray:
        scores = self._shaped(scores)
        if self.loss == "quantile":  # the loss itself, not what is smooth beside it
            return -np.maximum(self.quantile * (y - scores), (self.quantile - 1) * (y - scores))
        loss = self._row_loss
        b = loss.targets(y)
        return -(loss.value(scores, b, *loss) + loss.constant(b))

    def _usual(self, scores: np.ndarray, y: np.ndarray) -> float:
        said = self._model.loss_class.mean(self._shaped(scores))
        spread = float(np.sum((y - np.mean(y)) ** 2))
        return 1 - float(np.sum((y - said) ** 2)) / spread if spread > 0 else float("nan")

    def _targets(self, y: np.ndarray) -> np.ndarray:
        return y

    def _shaped(self, scores: np.ndarray) -> np.ndarray:
        return scores[:, 0]

    def _shaped_intercept(self, intercept: np.ndarray) -> Any:
        return intercept[0]


@with_parameters
class FrankWolfeRegressor(Incremental, RegressorBase):
    """Linear regression with the coefficients in a set of your choice, by least squares or another loss.

    Parameters
    ----------
    constraint : {"l1", "l2", "linf", "lp", "ksupport", "group", "simplex", "box"} or Set, default "l2"
        Where the coefficients lie. "l1" gives few nonzeros, "ksupport" few and stable ones, "group" few groups,
        "simplex" nonnegative ones that sum to the radius.
    radius : float or "auto", default "auto"
        Size of the set. A small one keeps coefficients small. "auto" takes the one that is best on rows held out, a
        third of them (all in turn, up to 2000 rows), along the path; of a simplex or a box it is one, of a Set its own.
        With a Set a number is its radius.
    standardize, positive, linear, p, k, groups, lower, upper
        As in `FrankWolfeClassifier`.
    loss : {"squared_error", "huber", "poisson", "gamma", "quantile"}, default "squared_error"
        Half the mean square of the residuals; Huber's loss, which large residuals pull less; counts or positive
        amounts, whose logarithm is linear; or a quantile of the targets instead of their mean.
    delta : float, default 1.35
        Residual from which Huber's loss is linear, in the units of y.
    quantile : float, default 0.5
        Which quantile; the median by default.
    tol : float, default 1e-6
        Stop when the loss is proven to be within this part of the loss of the best constant from the optimum: a
        certified gap. No gap below 1e-9 of that loss (1e-4 in single precision) is asked for.
    fit_intercept, max_iter, method, warm_start, n_jobs, verbose, random_state, device
        As in `FrankWolfeClassifier`.

    Attributes
    ----------
    coef_ : array of shape (n_features,) or (n_targets, n_features)
        Coefficients. Several targets are fitted one by one, each with a radius of its own (`estimators_`).
    intercept_ : float, or array of shape (n_targets,)
        Intercept.
    radius_, proven_zero_, support_, n_iter_, gap_, lower_bound_, trace_, method_, result_
        As in `FrankWolfeClassifier`; the loss is that of `loss`.
    n_features_in_, feature_names_in_
        Number of features; their names, where X had some.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = FrankWolfeRegressor("l1", radius=1000.0).fit(X, y)
    >>> int((model.coef_ != 0).sum()), round(model.score(X, y), 2)
    (4, 0.44)
    """

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from some more rows, without those of earlier calls; scikit-learn's way to learn from a stream.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Data: a batch. With `radius="auto"` the first batch chooses the radius, and the scale of the features where
            they are standardized; both stay.
        y : array of shape (n_samples,)
            Targets.
        sample_weight : array of shape (n_samples,), optional
            Nonnegative weights of the samples.

        Returns
        -------
        self

        Notes
        -----
        Stochastic Frank-Wolfe with averaged slopes, as `StochasticFrankWolfe` does, for squared and Huber's loss. There
        is no certificate: no one has seen all the rows. A call of `fit` starts anew.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> X, y = load_diabetes(return_X_y=True)
        >>> model = FrankWolfeRegressor("l1", 1000.0)
        >>> for _ in range(30):
        ...     model = model.partial_fit(X, y)
        >>> model.score(X, y) > 0.4
        True
        """
        X, y = self._read(X, y, y_numeric=True, reset=self._memory is None)
        return self._learn(X, np.asarray(y, dtype=np.float64), self._weights(sample_weight, X))
