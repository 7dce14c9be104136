"""Logistic regression with its coefficients in a set."""

from __future__ import annotations

from dataclasses import field
from typing import Any, Self

import numpy as np
from scipy.special import expit, log_expit, log_softmax, softmax
from sklearn.base import ClassifierMixin
from sklearn.linear_model._base import SparseCoefMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets

from frankwolfe.estimators.in_parts import fetched, lazily
from frankwolfe.estimators.incremental import Incremental
from frankwolfe.estimators.linear import LinearEstimator
from frankwolfe.estimators.parameters import with_parameters
from frankwolfe.objectives import CLASSIFICATION, Multinomial
from frankwolfe.validation import nearest


def _is_logistic(model: Any) -> bool:
    if model.loss != "log_loss":
        raise AttributeError(f"loss={model.loss!r} gives no probabilities; use loss='log_loss', or calibrate the model")
    return True


@with_parameters
class ClassifierBase(ClassifierMixin, SparseCoefMixin, LinearEstimator):
    """Prediction for linear classifiers, and their losses."""

    loss: str = "log_loss"
    class_weight: Any = None
    classes_: np.ndarray = field(init=False)
    coef_: np.ndarray = field(init=False)
    intercept_: np.ndarray = field(init=False)
    _loss_unit = 1.0  # nats

    @lazily
    def decision_function(self, X: Any) -> np.ndarray:
        """Return the scores of the classes, one column each; of the second class alone where there are two.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_classes)
        """
        scores = self._linear(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    @lazily
    def predict(self, X: Any) -> np.ndarray:
        """Return the most likely class of each sample.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]

    @available_if(_is_logistic)
    @lazily
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        scores = self.decision_function(X)
        return softmax(scores, axis=1) if scores.ndim > 1 else np.stack([expit(-scores), expit(scores)], axis=1)

    @available_if(_is_logistic)
    @lazily
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return the logarithm of the probability of each class, accurate for small ones too.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        return log_chances(self._linear(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy of predictions.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        float
        """
        return float(accuracy_score(fetched(y), fetched(self.predict(X)), sample_weight=fetched(sample_weight)))

    def _checked(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, np.ndarray, np.ndarray | None]:
        """Return data, class numbers and weights (those of the classes included); set `classes_`."""
        X, y = self._read(X, y)
        weight = self._weights(sample_weight, X)
        try:
            check_classification_targets(y)
            self.classes_, codes = np.unique(y, return_inverse=True)
        except TypeError:
            kinds = sorted({type(label).__name__ for label in y})
            raise ValueError(
                f"y mixes labels of the types {' and '.join(kinds)}; make all of one kind, and leave out rows that "
                "have none"
            ) from None
        if len(self.classes_) < 2:
            raise ValueError(f"y holds only one class, {self.classes_.tolist()[0]!r}; a classifier needs at least two")
        if weight is not None:
            for code in np.flatnonzero(~(np.bincount(codes, weight) > 0)):
                raise ValueError(f"class {self.classes_.tolist()[code]!r} has no sample with a positive sample_weight")
        if self.class_weight is not None:
            share = compute_class_weight(self.class_weight, classes=self.classes_, y=y, sample_weight=weight)
            weight = share[codes] * (1.0 if weight is None else weight)
        return X, codes, weight

    def _objective(self, X: Any, y: np.ndarray, weight: np.ndarray | None) -> Any:
        if self.loss not in CLASSIFICATION:
            raise ValueError(f"loss {self.loss!r} is not known; {nearest(str(self.loss), CLASSIFICATION)}")
        make = CLASSIFICATION[self.loss]
        if len(self.classes_) > 2:
            if self.loss != "log_loss":
                raise ValueError(
                    f"loss={self.loss!r} is for two classes, and y has {len(self.classes_)}; use loss='log_loss', or "
                    "sklearn.multiclass.OneVsRestClassifier around this one"
                )
            make = Multinomial
        return make(X, y, sample_weight=weight, intercept=bool(self.fit_intercept))

    @property
    def _row_loss(self) -> Any:
        return CLASSIFICATION[self.loss].loss_class()

    def _gains(self, scores: np.ndarray, y: np.ndarray) -> np.ndarray:
        if scores.shape[1] > 1:
            return log_softmax(scores, axis=1)[np.arange(len(y)), y]
        loss = self._row_loss
        return -loss.value(scores[:, 0], np.where(y == 1, 1.0, -1.0), *loss)

    def _usual(self, scores: np.ndarray, y: np.ndarray) -> float:
        said = scores[:, 0] > 0 if scores.shape[1] == 1 else scores.argmax(axis=1)
        return float(np.mean(said == y))

    def _targets(self, y: np.ndarray) -> np.ndarray:
        return self.classes_[y]

    def _shaped(self, scores: np.ndarray) -> np.ndarray:
        return scores

    @property
    def _classes(self) -> int:
        return 1 if len(self.classes_) == 2 else len(self.classes_)

    def _coef(self, x: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(x.T) if x.ndim == 2 else x[None, :]


def log_chances(scores: np.ndarray) -> np.ndarray:
    """Return the logarithms of the probabilities of all classes, from a column of scores for each or for the second."""
    if scores.shape[1] > 1:
        return log_softmax(scores, axis=1)
    return np.concatenate([log_expit(-scores), log_expit(scores)], axis=1)


@with_parameters
class FrankWolfeClassifier(Incremental, ClassifierBase):
    """Logistic regression, for two classes or more, with the coefficients in a set of your choice.

    Parameters
    ----------
    constraint : {"l1", "l2", "linf", "lp", "ksupport", "group", "simplex", "nuclear", "box"} or Set, default "l2"
        Where the coefficients lie. "l1" gives few nonzeros, "ksupport" few and stable ones, "group" few groups (with
        more than two classes and no `groups`: few features, each used by all classes), "simplex" nonnegative ones that
        sum to the radius, "nuclear" (three classes or more) classes that share a few directions.
    radius : float or "auto", default "auto"
        Size of the set. A small one keeps coefficients small. "auto" takes the one that is best on rows held out, a
        third of them (all in turn, up to 2000 rows), along the path; of a simplex or a box it is one, of a Set its own.
        With a Set a number is its radius.
    standardize : bool or "auto", default "auto"
        Bring the features to one scale before their coefficients are constrained: dense data are centred (where there
        is an intercept) and divided by their standard deviation, sparse data divided only. Coefficients are reported
        for the data as given; `result_` is on the new scale. "auto" does so where the radius of a norm ball is "auto".
    positive : bool, default False
        No coefficient below zero; with "l1", "l2", "linf", "box" or "simplex".
    linear : str, dict, scipy.optimize.LinearConstraint or list of these, optional
        Linear constraints on the coefficients besides: "zero_sum" (for compositions), "increasing" or "decreasing"
        along the features, `dict(A_ub=, b_ub=, A_eq=, b_eq=)` as in `Polytope`; with "l1", "l2", "linf", "box" or
        "simplex".
    loss : {"log_loss", "squared_hinge"}, default "log_loss"
        Logistic (softmax) loss, or the squared hinge of a support vector machine (two classes).
    p : float, default 1.5
        Exponent of "lp".
    k : int, default 10
        Number of coefficients that "ksupport" lets an atom have.
    groups : array of labels, list of lists of columns, or dict of those, optional
        Partition of the features, for "group": columns by number, or by name where X has names.
    lower, upper : float or array, default -1 and 1
        Bounds of "box", times the radius.
    fit_intercept : bool, default True
        Add an intercept, which is not constrained.
    class_weight : dict or "balanced", optional
        Weights of the classes.
    tol : float, default 1e-6
        Stop when the loss is proven to be within this of the optimum: a certified gap, in nats.
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
        Seed of iterative oracles ("nuclear").
    device : str or None, default "auto"
        Where the data are worked on: "auto" is the GPU where there is one and the data are large enough to gain, "cpu"
        (or None) NumPy on the CPU, "cuda" or "cuda:1" that GPU, through torch. What is fitted is NumPy's in any case.

    Attributes
    ----------
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
        Coefficients; one row, for the second class, where there are two.
    radius_ : float
        The radius used.
    proven_zero_ : array of bool, of the shape of coef_
        Coefficients that the certificate proves to be zero in the best model ("l1", "simplex", "group").
    support_ : array of int
        Features with a coefficient that is not proven to be zero.
    intercept_ : array of shape (1,) or (n_classes,)
        Intercepts.
    classes_ : array of shape (n_classes,)
        Class labels.
    n_iter_ : int
        Steps taken.
    gap_, lower_bound_ : float
        Proven bound on the distance of the mean log loss from its optimum, and on the optimum.
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
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = FrankWolfeClassifier().fit(X, y)
    >>> model.score(X, y) > 0.95, bool(model.gap_ <= 1e-6)
    (True, True)
    """

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from some more rows, without those of earlier calls; scikit-learn's way to learn from a stream.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Data: a batch. With `radius="auto"` the first batch chooses the radius, and the scale of the features where
            they are standardized; both stay.
        y : array of shape (n_samples,)
            Class labels.
        classes : array of shape (n_classes,), optional
            All the classes there will be; needed in the first call.
        sample_weight : array of shape (n_samples,), optional
            Nonnegative weights of the samples.

        Returns
        -------
        self

        Notes
        -----
        Stochastic Frank-Wolfe with averaged slopes, as `StochasticFrankWolfe` does. There is no certificate: no one has
        seen all the rows. A call of `fit` starts anew.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> model = FrankWolfeClassifier("l2", 10.0)
        >>> for _ in range(20):
        ...     model = model.partial_fit(X, y, classes=[0, 1, 2])
        >>> model.score(X, y) > 0.9
        True
        """
        first = self._memory is None
        X, y = self._read(X, y, reset=first)
        check_classification_targets(y)
        if first:
            classes = getattr(self, "classes_", None) if classes is None else classes
            if classes is None:
                raise ValueError("partial_fit needs classes, all the labels there will be, in its first call")
            self.classes_ = np.unique(classes)
            if len(self.classes_) < 2:
                raise ValueError(f"classes holds only {self.classes_.tolist()!r}; a classifier needs at least two")
            if len(self.classes_) > 2 and self.loss != "log_loss":
                raise ValueError(f"loss={self.loss!r} is for two classes; use loss='log_loss' for more")
        elif classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(f"classes is {list(classes)!r}, and was {self.classes_.tolist()!r} in the first call")
        codes = np.searchsorted(self.classes_, y).clip(0, len(self.classes_) - 1)
        for label in y[self.classes_[codes] != y]:
            raise ValueError(f"y holds {label!r}, which is not among the classes {self.classes_.tolist()!r}")
        weight = self._weights(sample_weight, X)
        if self.class_weight is not None:
            if isinstance(self.class_weight, str):
                raise ValueError("class_weight='balanced' needs all rows; pass a dict of weights to partial_fit")
            share = np.array([self.class_weight.get(label, 1.0) for label in self.classes_.tolist()])
            weight = share[codes] * (1.0 if weight is None else weight)
        return self._learn(X, codes, weight)
