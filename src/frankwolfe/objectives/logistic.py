"""Logistic regression."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from frankwolfe.backends import Array, Scalar, namespace, vdot
from frankwolfe.backends.namespace import nonzero
from frankwolfe.kernels.rows.layouts import LOGISTIC
from frankwolfe.objectives.linear_model import LinearModel
from frankwolfe.rows.rows import Sums
from frankwolfe.rows.user_data import is_in_parts
from frankwolfe.validation import distinct, plain


class Logistic(LinearModel):
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

    kind: ClassVar[int | None] = LOGISTIC

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
        if is_in_parts(A):
            self._take_parts(A, b, sample_weight, ridge, intercept, classes=classes)
            self._check_intercept()
            return
        labels = plain("b", b)
        if labels.ndim == 2 and 1 in labels.shape:
            labels = labels.reshape(-1)
        self.classes = _two_classes(labels) if classes is None else _of_two(labels, classes)
        super().__init__(A, np.where(labels == self.classes[1], 1.0, -1.0), sample_weight, ridge, intercept)
        if labels.shape != (self.data.shape[0],):
            raise ValueError(f"b must have one label per row of A, {self.data.shape[0]}, got shape {labels.shape}")
        self._check_intercept()

    @classmethod
    def survey(cls, b: Any, weights: Any) -> np.ndarray:
        return np.unique(b)

    @classmethod
    def agree(cls, surveys: list[Any]) -> dict[str, Any]:
        return {"classes": _two_classes(np.concatenate(surveys))}

    bend_limit: ClassVar[float] = 0.25
    loss_unit: ClassVar[float] = 2.0

    @property
    def target_spread(self) -> float:  # pyright: ignore[reportIncompatibleVariableOverride]
        return abs(self._odds)

    @property
    def smoothness(self) -> float:
        return 0.25 * self._gram_norm + self.ridge

    @property
    def strong_convexity(self) -> float:
        return self.ridge

    def _check_intercept(self) -> None:
        if self.intercept:
            _ = self._odds

    def losses(self, m: Array, rows: slice = slice(None)) -> Array:
        # log(1 + exp(-t)) = max(-t, 0) + log1p(exp(-|t|)): finite and accurate for margins of any size, and far faster
        # than logaddexp.
        xp = namespace(m)
        t = -self.b[rows] * m
        return xp.maximum(t, xp.zeros_like(t)) + xp.log1p(xp.exp(-xp.abs(t)))

    def _slope(self, t: Array, rows: Any) -> Array:
        b = self.b[rows]
        return -b * self.share[rows] * _sigmoid(-b * t)

    def _curvature(self, t: Array, rows: Any) -> Array:
        small = namespace(t).exp(-abs(t))  # the product of the two tails, with one exponential
        return self.share[rows] * small / (1 + small) ** 2

    def tail(self, m: Array) -> Scalar:
        """Return a number t with gg' <= tH, by Cauchy's inequality: the mean of exp(-margin).

        It is nearly f where most losses are in their exponential tails.
        """
        t = -self.b * self._shifted(m)
        xp = namespace(t)
        return vdot(self.share, xp.exp(xp.minimum(t, xp.full_like(t, 700.0))))

    def _conjugate(self, slope: Array) -> Scalar:
        """Return minus the mean binary entropy of the residual probabilities."""
        xp = namespace(slope)
        wrong = xp.abs(slope) / nonzero(self.share)
        return vdot(self.share, wrong * xp.log(nonzero(wrong)) + complement(wrong))

    def _bracket(self, m: Array) -> tuple[float, float, float]:
        # Were all margins equal, the best intercept would bring them to the log odds.
        ends = (m.min(), m.mean(), m.max()) if isinstance(m, np.ndarray) else self._ends(m)
        high, middle, low = (self._odds - float(x) for x in ends)
        return low, middle, high

    @staticmethod
    def _ends(m: Array) -> tuple[Scalar, Scalar, Scalar]:
        xp = namespace(m)
        return xp.min(m), xp.mean(m), xp.max(m)

    @cached_property
    def _odds(self) -> float:
        """The log odds of the classes."""
        above, below = (float(weight) for weight in self.total(_class_weights))
        if not min(above, below) > 0:
            raise ValueError("intercept=True needs samples of both classes with a positive sample_weight")
        return math.log(above / below)


def _class_weights(model: Logistic) -> Sums:
    """The weights of the positive and of the negative class."""
    return tuple(float(vdot(model.exact_share, 0.5 * (1 + sign * model.exact_b))) for sign in (1, -1))


def complement(p: Array) -> Array:
    """Return (1 - p) log(1 - p) to rounding for probabilities however small, zero from one on.

    Examples
    --------
    >>> complement(np.array([1e-30, 0.5, 1.0])).tolist()
    [-1e-30, -0.34657359..., -0.0]
    """
    xp = namespace(p)
    one = xp.ones_like(p)
    return (one - xp.minimum(p, one)) * xp.log1p(-xp.where(p < 1, p, xp.zeros_like(p)))


def _sigmoid(t: Array) -> Array:
    """Return 1/(1 + exp(-t)) with full relative accuracy in both tails."""
    xp = namespace(t)
    small = xp.exp(-xp.abs(t))
    return xp.where(t >= 0, xp.ones_like(t), small) / (1 + small)


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
        remedy = (
            "a classifier needs samples of both classes" if classes.size == 1 else "choose one class against the rest"
        )
        raise ValueError(f"b must have exactly two distinct labels, got {classes.size} ({shown}); {remedy}")
    return classes
