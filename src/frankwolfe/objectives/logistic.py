"""Logistic regression."""

from __future__ import annotations

from typing import Any, ClassVar

import array_api_compat
import numpy as np

from frankwolfe.backends import Array, Scalar, host, namespace, vdot
from frankwolfe.objectives.linear_model import LinearModel


class Logistic(LinearModel):
    """Mean logistic loss of a linear classifier, f(x) = mean log(1 + exp(-b_i a_i'x)) + (ridge/2)|x|².

    Parameters
    ----------
    A : array, sparse matrix, LinearOperator or DataFrame of shape (n, d)
        One sample per row. Dense, CSR and CSC data are kept as they are.
    b : array of shape (n,)
        Labels: any two values; the larger one is the positive class.
    weights : array of shape (n,), optional
        Nonnegative sample weights; the mean is weighted by them.
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

    kernel: ClassVar[str] = "logistic"

    def __init__(self, A: Any, b: Any, *, weights: Any = None, ridge: float = 0.0) -> None:
        labels = np.asarray(host(b) if array_api_compat.is_array_api_obj(b) else b)
        if labels.ndim == 2 and 1 in labels.shape:
            labels = labels.reshape(-1)
        self.classes = _two_classes(labels)
        super().__init__(A, np.where(labels == self.classes[1], 1.0, -1.0), weights, ridge)
        if labels.shape != (self.data.shape[0],):
            raise ValueError(f"b must have one label per row of A, {self.data.shape[0]}, got shape {labels.shape}")

    @property
    def smoothness(self) -> float:
        return 0.25 * self._gram_norm + self.ridge

    @property
    def strong_convexity(self) -> float:
        return self.ridge

    def loss(self, m: Array) -> Scalar:
        # log(1 + exp(-t)) = max(-t, 0) + log1p(exp(-|t|)): finite and accurate for margins of any size, and far faster
        # than logaddexp.
        xp = namespace(m)
        t = -self.b * m
        return vdot(self.share, xp.maximum(t, xp.zeros_like(t)) + xp.log1p(xp.exp(-xp.abs(t))))

    def loss_slope(self, m: Array, rows: slice = slice(None)) -> Array:
        b = self.b[rows]
        return -b * self.share[rows] * _sigmoid(-b * m)

    def loss_curvature(self, m: Array) -> Array:
        small = namespace(m).exp(-abs(m))  # the product of the two tails, with one exponential
        return self.share * small / (1 + small) ** 2


def _sigmoid(t: Array) -> Array:
    """Return 1/(1 + exp(-t)) with full relative accuracy in both tails."""
    xp = namespace(t)
    small = xp.exp(-xp.abs(t))
    return xp.where(t >= 0, xp.ones_like(t), small) / (1 + small)


def _two_classes(labels: np.ndarray) -> np.ndarray:
    if labels.size == 0:
        raise ValueError("b is empty; it needs one label per row of A")
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError("b contains NaN or infinity; drop the samples without a label first")
    classes = np.unique(labels)
    if classes.size != 2:
        shown = ", ".join(repr(c.item()) for c in classes[:5]) + (", ..." if classes.size > 5 else "")
        remedy = (
            "a classifier needs samples of both classes" if classes.size == 1 else "choose one class against the rest"
        )
        raise ValueError(f"b must have exactly two distinct labels, got {classes.size} ({shown}); {remedy}")
    return classes
