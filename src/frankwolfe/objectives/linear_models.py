"""Linear models by their losses: each is a constructor and its documentation over `LinearModel`.

A class that names its loss is registered with it: estimators and the command line offer it by that name.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from frankwolfe.losses import (
    GammaLoss,
    HuberLoss,
    LogisticLoss,
    PoissonLoss,
    QuantileLoss,
    SquaredHingeLoss,
    SquaredLoss,
)
from frankwolfe.objectives.linear_model import LinearModel
from frankwolfe.rows.user_data import data_matrix, is_in_parts
from frankwolfe.validation import distinct, plain, positive

__all__ = ["Gamma", "Huber", "LeastSquares", "Logistic", "Poisson", "Quantile", "SquaredHinge"]


class Regression(LinearModel):
    """A model of numbers whose loss has no parameters."""

    def __init__(
        self, A: Any, b: Any, *, sample_weight: Any = None, intercept: bool = False, ridge: float = 0.0
    ) -> None:
        super().__init__(A, b, self.loss_class(), sample_weight, ridge, intercept)


class LeastSquares(Regression, loss=SquaredLoss):
    """Mean squared error of a linear model, f(x) = ‖Ax - b‖²/(2n) + (ridge/2)‖x‖².

    Parameters
    ----------
    A : array, sparse matrix, LinearOperator or DataFrame of shape (n, d)
        One sample per row.
    b : array of shape (n,)
        Targets.
    sample_weight : array of shape (n,), optional
        Nonnegative sample weights; the mean is weighted by them.
    intercept : bool, default False
        Add a free intercept, a constant outside the set: f(x) is then the minimum over it. `best_intercept` returns it
        for margins Ax.
    ridge : float, default 0
        Weight of an optional squared-norm term.

    Examples
    --------
    >>> import numpy as np
    >>> f = LeastSquares(np.eye(2), [2.0, 0.0])
    >>> float(f.value(np.zeros(2))), f.grad(np.zeros(2)), round(f.smoothness, 9)
    (1.0, array([-1.,  0.]), 0.5)
    """


class Huber(LinearModel, loss=HuberLoss):
    """Mean Huber loss of a linear model: squared for residuals up to `delta`, linear beyond, so outliers pull less.

    f(x) = mean h(a_i'x - b_i) + (ridge/2)‖x‖² with h(r) = r²/2 for r between -delta and delta, and
    ``delta |r| - delta²/2`` elsewhere.

    Parameters
    ----------
    A, b, sample_weight, intercept, ridge
        As in `LeastSquares`.
    delta : float, default 1.35
        Where the loss turns linear, in the units of b.

    References
    ----------
    .. [1] P. J. Huber, Robust estimation of a location parameter, Ann. Math. Statist. 35, 1964.

    Examples
    --------
    >>> import numpy as np
    >>> f = Huber(np.eye(2), [0.5, -10.0], delta=1.0)
    >>> float(f.value(np.zeros(2))), f.grad(np.zeros(2))
    (4.8125, array([-0.25,  0.5 ]))
    """

    def __init__(
        self,
        A: Any,
        b: Any,
        *,
        delta: float = 1.35,
        sample_weight: Any = None,
        intercept: bool = False,
        ridge: float = 0.0,
    ) -> None:
        delta = positive("delta", delta)
        super().__init__(A, b, HuberLoss(delta), sample_weight, ridge, intercept, delta=delta)


class Quantile(LinearModel, loss=QuantileLoss):
    """Mean pinball loss of a linear model, smooth near zero: x predicts a quantile of the targets, not their mean.

    f(x) = mean q(a_i'x - b_i) + (ridge/2)‖x‖², where q(r) is the largest ``u r - delta u²/2`` over slopes u from
    -quantile to 1 - quantile: the pinball loss, less at most ``delta max(quantile, 1 - quantile)²/2``, and never more.

    Parameters
    ----------
    A, b, sample_weight, intercept, ridge
        As in `LeastSquares`.
    quantile : float, default 0.5
        Which quantile, between 0 and 1; 0.5 is the median.
    delta : float, default 0.1
        Over what range of residuals the slope turns, in the units of b. The smaller, the nearer to the pinball loss and
        the harder to minimise: the smoothness constant is λmax(A'WA)/delta.

    References
    ----------
    .. [1] R. Koenker and G. Bassett, Regression quantiles, Econometrica 46, 1978.
    .. [2] Y. Nesterov, Smooth minimization of non-smooth functions, Math. Program. 103, 2005.

    Examples
    --------
    >>> import numpy as np
    >>> f = Quantile(np.ones((4, 1)), [1.0, 2.0, 3.0, 10.0], quantile=0.75, delta=0.01)
    >>> float(f.grad(np.array([5.0]))[0])  # three quarters of the targets are below, so that the slopes balance
    0.0
    """

    def __init__(
        self,
        A: Any,
        b: Any,
        *,
        quantile: float = 0.5,
        delta: float = 0.1,
        sample_weight: Any = None,
        intercept: bool = False,
        ridge: float = 0.0,
    ) -> None:
        delta, level = positive("delta", delta), positive("quantile", quantile)
        if level >= 1:
            raise ValueError(f"quantile must lie between 0 and 1, got {quantile!r}")
        loss = QuantileLoss(level, delta)
        super().__init__(A, b, loss, sample_weight, ridge, intercept, quantile=level, delta=delta)


class Poisson(Regression, loss=PoissonLoss):
    """Poisson regression of counts or rates with mean exp(a_i'x): half the mean deviance.

    f(x) = mean (exp(m_i) - b_i m_i + b_i log b_i - b_i) + (ridge/2)‖x‖², where m = Ax: zero for a perfect fit.

    Parameters
    ----------
    A, sample_weight, intercept, ridge
        As in `LeastSquares`.
    b : array of shape (n,)
        Targets, nonnegative; they need not be whole numbers. Where they are rates, `sample_weight` may be exposures.

    Notes
    -----
    The curvature of the exponential has no bound, so there is no smoothness constant before a set bounds the margins:
    on a set where they are at most M it is exp(M) λmax(A'WA) + ridge. Methods that search along lines need none.

    Examples
    --------
    >>> import numpy as np
    >>> f = Poisson(np.eye(2), [1.0, 3.0])
    >>> round(float(f.value(np.zeros(2))), 6), f.grad(np.zeros(2))
    (0.647918, array([ 0., -1.]))
    """


class Gamma(Regression, loss=GammaLoss):
    """Gamma regression of positive targets with mean exp(a_i'x): half the mean deviance.

    f(x) = mean (b_i exp(-m_i) + m_i - log b_i - 1) + (ridge/2)‖x‖², where m = Ax: relative errors count.

    Parameters
    ----------
    A, sample_weight, intercept, ridge
        As in `LeastSquares`.
    b : array of shape (n,)
        Targets, positive. The model keeps their logarithms, of which the loss is a function of the residual.

    Notes
    -----
    The curvature has no bound, so there is no smoothness constant before a set bounds the margins: on a set where they
    are at most M it is exp(M + c) λmax(A'WA) + ridge, with c the largest magnitude of log b_i. Methods that search
    along lines need none.

    Examples
    --------
    >>> import numpy as np
    >>> f = Gamma(np.eye(2), [1.0, 2.0])
    >>> round(float(f.value(np.zeros(2))), 9), f.grad(np.zeros(2))
    (0.15342641, array([ 0. , -0.5]))
    """


class Classifier(LinearModel):
    """A model of two labels, the larger of which is the positive class."""

    def __init__(
        self,
        A: Any,
        b: Any,
        *,
        sample_weight: Any = None,
        intercept: bool = False,
        classes: Any = None,
        ridge: float = 0.0,
    ) -> None:
        if not is_in_parts(A):
            labels = plain("b", b)
            if labels.ndim == 2 and 1 in labels.shape:
                labels = labels.reshape(-1)
            classes = _two_classes(labels) if classes is None else _of_two(labels, classes)
            A, b = data_matrix("A", A), 2 * (labels == classes[1]).astype(np.int8) - 1
            if labels.shape != (A.shape[0],):
                raise ValueError(f"b must have one label per row of A, {A.shape[0]}, got shape {labels.shape}")
        super().__init__(A, b, self.loss_class(), sample_weight, ridge, intercept, classes=classes)

    @classmethod
    def survey(cls, b: Any, weights: Any) -> np.ndarray:
        return np.unique(b)

    @classmethod
    def agree(cls, surveys: list[Any]) -> dict[str, Any]:
        return {"classes": _two_classes(np.concatenate(surveys))}


class Logistic(Classifier, loss=LogisticLoss):
    """Mean logistic loss of a linear classifier, f(x) = mean log(1 + exp(-b_i a_i'x)) + (ridge/2)|x|².

    Parameters
    ----------
    A : array, sparse matrix, LinearOperator or DataFrame of shape (n, d)
        One sample per row. Dense, CSR and CSC data are kept as they are.
    b : array of shape (n,)
        Labels: any two values; the larger one is the positive class.
    sample_weight : array of shape (n,), optional
        Nonnegative sample weights; the mean is weighted by them.
    intercept : bool, default False
        Add a free intercept, a constant outside the set: f(x) is then the minimum over it. `best_intercept` returns it
        for margins Ax.
    classes : pair, optional
        The two labels, the negative one first, where b may hold only one of them.
    ridge : float, default 0
        Weight of an optional squared-norm term.

    Notes
    -----
    The smoothness constant is λmax(A' W A)/4 + ridge with W the normalised weights, computed by Lanczos. Values and
    gradients are exact to rounding for margins of any size.

    Examples
    --------
    >>> import numpy as np
    >>> f = Logistic(np.array([[1.0, 0.0], [0.0, 2.0]]), ["no", "yes"])
    >>> float(f.value(np.zeros(2)))  # log 2
    0.693...
    >>> f.grad(np.zeros(2))
    array([ 0.25, -0.5 ])
    >>> round(f.smoothness, 9)
    0.5
    """


class SquaredHinge(Classifier, loss=SquaredHingeLoss):
    """Mean squared hinge loss of a linear classifier, f(x) = mean max(1 - b_i a_i'x, 0)²/2 + (ridge/2)‖x‖².

    A support vector machine: rows that are right by a margin of one or more count for nothing.

    Parameters
    ----------
    A, b, sample_weight, intercept, classes, ridge
        As in `Logistic`.

    Examples
    --------
    >>> import numpy as np
    >>> f = SquaredHinge(np.array([[1.0, 0.0], [0.0, 2.0]]), ["no", "yes"])
    >>> float(f.value(np.zeros(2))), f.grad(np.zeros(2))
    (0.5, array([ 0.5, -1. ]))
    """


def _of_two(labels: np.ndarray, classes: Any) -> np.ndarray:
    classes = plain("classes", classes)
    if classes.shape != (2,) or classes[0] == classes[1] or not np.isin(labels, classes).all():
        raise ValueError(f"classes must be the two labels in b, got {classes.tolist()!r}")
    return classes


def _two_classes(labels: np.ndarray) -> np.ndarray:
    if labels.size == 0:
        raise ValueError("b is empty; it needs one label per row of A")
    if labels.ndim > 1 and min(labels.shape) > 1:
        raise ValueError(
            f"b must hold one label for each row, got shape {labels.shape}; the data come first and the labels second, "
            "as in Logistic(A, b)"
        )
    classes, _ = distinct("b", labels)
    if classes.size != 2:
        shown = ", ".join(repr(c) for c in classes[:5].tolist()) + (", ..." if classes.size > 5 else "")
        remedy = "choose one class against the rest, or take Multinomial for classes and LeastSquares for numbers"
        if classes.size == 1:
            remedy = "a classifier needs samples of both classes"
        raise ValueError(f"b must have exactly two distinct labels, got {classes.size} ({shown}); {remedy}")
    return classes
