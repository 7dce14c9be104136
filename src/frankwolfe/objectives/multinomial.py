"""Multinomial (softmax) regression."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from frankwolfe.backends import Array, Scalar, eps, host, largest, namespace, vdot
from frankwolfe.backends.namespace import as_like, is_foreign, nonzero
from frankwolfe.backends.precision import exact_products
from frankwolfe.kernels.row_sample import rows_drawn
from frankwolfe.losses.logistic import complement
from frankwolfe.lowrank import LowRank
from frankwolfe.objectives.base import Line
from frankwolfe.objectives.class_intercepts import (
    ClassInterceptsLine,
    Trial,
    balance,
    balanced_slope,
    class_weights,
    intercepts_by_sums,
    mean_loss,
    regular,
    sliver,
    solved,
)
from frankwolfe.objectives.class_scores import ClassScores
from frankwolfe.objectives.derive import derive
from frankwolfe.objectives.profiled_intercept import SummedLine
from frankwolfe.objectives.weighted_mean import WeightedMean
from frankwolfe.points import Point
from frankwolfe.rounding import RowFacts
from frankwolfe.rows.rows import Rows
from frankwolfe.rows.rows_in_parts import KeptImage
from frankwolfe.rows.user_data import is_in_parts
from frankwolfe.validation import distinct, plain

AT_ONCE = 32  # images that are bent together
FEW = 1 << 14  # scores on a device whose intercepts the host finds: hundreds of tries cost less than their launches
STEPS = (64, 8)  # intercepts are first guessed from one row in so many,
ROWS_A_CLASS = 200  # where that leaves so many rows for each class
NEAR = 20.0  # how far the last intercepts may be from the first guess to be a better one


class Multinomial(WeightedMean):
    """Mean softmax loss of a linear classifier with K classes, a function of a d x K matrix of coefficients.

    f(X) = mean over rows of log(sum_k exp(a_i'x_k)) - a_i'x_(label i), plus (ridge/2)|X|².

    Parameters
    ----------
    A : array, sparse matrix, LinearOperator or DataFrame of shape (n, d)
        One sample per row.
    labels : array of shape (n,)
        Class of each sample: any values; column k of X belongs to `classes[k]`, by default the k-th in sorted order.
    sample_weight : array of shape (n,), optional
        Nonnegative sample weights; the mean is weighted by them.
    intercept : bool, default False
        Add a free intercept for each class, outside the set: f(X) is then the minimum over them. `best_intercept`
        returns them for scores AX.
    classes : array, optional
        All labels in the order of the columns of X, where `labels` may not hold each of them.
    ridge : float, default 0
        Weight of an optional squared-norm term.

    Notes
    -----
    The smoothness constant is λmax(A'WA)/2 + ridge with W the normalised weights. Sets take the matrix: norm balls work
    on its entries, `NuclearBall` makes classes share a few directions, `GroupBall` with one group per row selects
    features for all classes together. The image is the K n scores in one vector, class after class.

    With intercepts the slope of f on the scores is balanced (it sums to zero for each class): what the search for them
    leaves over is mixed away inside the simplex, and the tangent comes from the entropies. It lies below f whatever the
    accuracy of the intercepts.

    Examples
    --------
    >>> import numpy as np, frankwolfe as fw
    >>> A = np.array([[2.0, 0.0], [0.0, 2.0], [-1.0, -1.0]])
    >>> f = Multinomial(A, ["red", "green", "blue"])
    >>> float(f.value(np.zeros((2, 3))))  # log 3
    1.098...
    >>> fw.minimize(f, fw.NuclearBall(1.0), method="afw", tol=1e-4).x.shape
    (2, 3)
    """

    separable = False

    vectors: ClassVar[bool] = False

    @classmethod
    def survey(cls, b: Any, weights: Any) -> np.ndarray:
        return np.unique(b)

    @classmethod
    def agree(cls, surveys: list[Any]) -> dict[str, Any]:
        return {"classes": np.unique(np.concatenate(surveys))}

    def __init__(
        self,
        A: Any,
        labels: Any,
        *,
        sample_weight: Any = None,
        intercept: bool = False,
        classes: Any = None,
        ridge: float = 0.0,
    ) -> None:
        if is_in_parts(A):
            self._take_parts(A, labels, sample_weight, ridge, intercept, classes=classes)
            self._check_intercept()
            return
        super().__init__(A, sample_weight, ridge, intercept)
        n = self.data.shape[0]
        labels = plain("labels", labels)
        labels = labels.reshape(-1) if labels.ndim == 2 and 1 in labels.shape else labels
        if labels.shape != (n,):
            raise ValueError(f"labels must have one entry per row of A, {n}, got shape {labels.shape}")
        found, codes = distinct("labels", labels)
        self.classes = found if classes is None else plain("classes", classes)
        if classes is not None:
            if self.classes.ndim != 1 or not np.isin(found, self.classes).all():
                raise ValueError(f"classes must hold all labels, got {self.classes.tolist()!r}")
            sorted_classes, places = np.unique(self.classes, return_index=True)
            if len(sorted_classes) < len(self.classes):
                raise ValueError(f"classes must hold each label once, got {self.classes.tolist()!r}")
            codes = places[np.searchsorted(sorted_classes, found)][codes]
        K = len(self.classes)
        if K < 2:
            raise ValueError(f"labels must have at least two distinct values, got {self.classes.tolist()}")
        self.b = codes
        self.truth = self.data.array(np.arange(K)[:, None] == codes)  # (K, n), as everything on scores
        self._check_intercept()

    def _check_intercept(self) -> None:
        if self.intercept and not self.frequency.min() > 0:
            raise ValueError("intercept=True needs samples of every class with a positive sample_weight")

    @property
    def shape(self) -> tuple[int, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.data.shape[1], len(self.classes)

    @cached_property
    def frequency(self) -> np.ndarray:
        """The weight of each class."""
        return self.total(class_weights)[0]

    @property
    def facts(self) -> RowFacts:
        spread = float(np.max(np.abs(np.log(self.frequency)))) if self.intercept else 0.0
        return RowFacts(self.least_share, spread, bend=0.5, conjugate_unit=2.0)

    @property
    def map(self) -> ClassScores | Rows:
        return ClassScores(self.data, len(self.classes)) if self.holds_images else self.data

    @property
    def smoothness(self) -> float:
        return 0.5 * self._gram_norm + self.ridge

    @property
    def strong_convexity(self) -> float:
        return self.ridge

    def doubled(self) -> Self | None:
        twin = super().doubled()
        if twin is not None:
            twin.truth = twin.data.array(self.truth)
        return twin

    def start(self, x0: Any, dense: bool) -> Array:
        return super().start(x0.toarray() if isinstance(x0, LowRank) else x0, dense)

    def loss(self, m: Any) -> Scalar:
        kept = self.holds_images or self.intercept
        return self._solved(m).loss if kept else self.total(mean_loss, images=[m])[0]

    def line(self, x: Point, v: Point) -> tuple[Line, float]:
        if self.holds_images:
            return super().line(x, v)
        return (ClassInterceptsLine if self.intercept else SummedLine).between(self, x, v)

    def balanced_slope(self, images: list[KeptImage]) -> tuple[np.ndarray, float, list[float]]:
        """Return the gradient at the first of some images of rows in parts, its product with X, and all values."""
        last = self._last[1].intercepts if self.warm_intercepts and self._last is not None else None
        found = [intercepts_by_sums(self, image, near=last) for image in images]
        self._last = (images[0], found[0])
        mixed = sliver(found[0].mean, self.frequency, 4 * self.data.eps)
        of_first = {"images": images[:1], "reads": True}
        slope, entropy = self.total(balanced_slope, found[0].intercepts, *mixed, **of_first)
        return slope, found[0].loss + entropy, [trial.loss for trial in found]

    def loss_slope(self, m: Array) -> Array:
        slope = self.share * self._residual(self._balanced(self._solved(m).more))
        return namespace(m).reshape(slope, (-1,))

    def _residual(self, chances: Array) -> Array:
        """Return probabilities less the truth: for the true class what the others have, however little that is."""
        wrong = chances - self.truth * chances
        return wrong - self.truth * namespace(chances).sum(wrong, axis=0)

    def loss_curvature(self, m: Array) -> Array:
        return namespace(m).reshape(self._solved(m).more, (-1,))

    def loss_inner(self, m: Array, slope: Array, value: Scalar) -> Scalar:
        if not self.intercept:
            return vdot(slope, m)
        return value + self._conjugate(namespace(slope).reshape(slope, self.truth.shape) / nonzero(self.share))

    def _conjugate(self, residual: Array) -> Scalar:
        """Return the convex conjugate of the mean loss."""
        return vdot(self.share, softmax_conjugate(residual, self.truth))

    def bend(self, curvature: Array, image: Array) -> Array:
        xp = namespace(curvature)
        P = xp.reshape(curvature, self.truth.shape)
        V = xp.reshape(image, (*image.shape[:-1], *P.shape))
        bent = self._spread(P, V)
        if self.intercept:  # profiled out: what moving the intercepts can undo is not felt
            along = np.asarray(host(xp.sum(bent, axis=-1, keepdims=True)), dtype=np.float64)
            bent = bent - self._spread(P, as_like(solved(self._intercept_hessian(P), along), P))
        return xp.reshape(bent, image.shape)

    def quadratic_form(self, curvature: Array, images: Any) -> np.ndarray:
        from scipy.sparse import issparse

        rows = []
        for i in range(0, images.shape[1], AT_ONCE):
            some = images[:, i : min(i + AT_ONCE, images.shape[1])]
            bent = self.bend(curvature, some.toarray().T if issparse(some) else some.T)
            rows.append(host(images.T @ bent.T).T)
        return np.asarray(np.concatenate(rows), dtype=np.float64)

    def best_intercept(self, m: Any) -> np.ndarray:
        """Return the K intercepts that minimise the loss of scores m (n K of them), with mean zero."""
        if not self.intercept:
            return np.zeros(len(self.classes))
        found = self._solved(m).intercepts
        return found - found.mean()

    def _solved(self, m: Any) -> Trial:
        """Return what the best intercepts give."""
        if self._last is None or self._last[0] is not m:
            here = self.holds_images
            found = self._solve(namespace(m).reshape(m, self.truth.shape)) if here else intercepts_by_sums(self, m)
            self._last = (m, found)
        return self._last[1]

    def _at(self, scores: Array, c: np.ndarray | None, rows: Any) -> tuple[Scalar, Array]:
        """Return mean loss and probabilities for scores shifted by c, on some rows."""
        if c is not None:
            scores = scores + as_like(c, scores)[:, None]
        losses, chances = softmax_losses(scores, self.truth[:, rows])
        return vdot(self.share[rows], losses), chances

    def _solve(self, scores: Array) -> Trial:
        """Find the best intercepts by Newton's method, first on a few rows, then on all."""
        if not self.intercept:
            return self._tried(scores, None)
        if is_foreign(scores) and math.prod(scores.shape) <= FEW:
            self._on_host._last = self._last
            return self._tried(scores, self._on_host._solve(host(scores)).intercepts)
        c = np.log(self.frequency) - self._sum(scores)
        if self.warm_intercepts and self._last is not None:
            here = self._last[1].intercepts
            return self._balance(scores, here if np.abs(here - c).max() < NEAR else c, slice(None))
        for step in STEPS:
            if scores.shape[1] > ROWS_A_CLASS * step * len(self.classes) and isinstance(scores, np.ndarray):
                few = rows_drawn(scores.shape[1], step)
                if (self._sum(self.truth[:, few], few) > 0).all():  # every class is among them
                    c = self._balance(scores[:, few], c, few).intercepts
        return self._balance(scores, c, slice(None))

    @cached_property
    def _on_host(self) -> Multinomial:
        """The same weights and labels as NumPy arrays, for intercepts of few scores."""
        return derive(self, share=host(self.share), truth=host(self.truth))

    def _tried(self, scores: Array, c: np.ndarray | None) -> Trial:
        loss, chances = self._at(scores, c, slice(None))
        return Trial(np.zeros(len(self.classes)) if c is None else c, loss, more=chances)

    def _balance(self, scores: Array, c: np.ndarray, rows: Any) -> Trial:
        """Minimise the loss on some rows over the intercepts."""

        def at(c: np.ndarray, scale: float) -> Trial:
            loss, chances = self._at(scores, c, rows) if scale == 1 else self._at(scores / scale, c / scale, rows)
            loss, mean = _fetched(loss, chances @ self.share[rows])
            return Trial(c, loss, mean, lambda: self._intercept_hessian(chances, rows), chances)

        found = balance(at, c, self._sum(self.truth[:, rows], rows), eps(scores), lambda: float(largest(scores)))
        return found._replace(hessian=None)  # which would hold the model

    def _balanced(self, chances: Array) -> Array:
        """Return probabilities whose mean is the classes' frequency exactly: a sliver of the needed ones mixed in."""
        if not self.intercept:
            return chances
        part, needed = sliver(self._sum(chances), self.frequency, 4 * eps(chances))
        return (1 - part) * chances + as_like(part * needed, chances)[:, None] if part else chances

    @exact_products()
    def _sum(self, table: Array, rows: Any = slice(None)) -> np.ndarray:
        """Return the weighted sum over the rows, for each class."""
        return np.asarray(host(table @ self.share[rows]), dtype=np.float64)

    def _intercept_hessian(self, chances: Array, rows: Any = slice(None)) -> np.ndarray:
        """Return the Hessian in the intercepts, made regular along the all-ones direction, which changes nothing."""
        weighted = self.share[rows] * chances
        return regular(host(-weighted @ chances.T))

    def _spread(self, P: Array, V: Array) -> Array:
        """Return the Hessian of the mean loss times V."""
        PV = P * V
        moved = P * namespace(P).sum(PV, axis=-2, keepdims=True)
        if not isinstance(PV, np.ndarray):
            return self.share * (PV - moved)
        PV -= moved  # in place: of many images at once this is a large array
        PV *= self.share
        return PV


def _fetched(loss: Scalar, mean: Array) -> tuple[float, np.ndarray]:
    """Return a number and a vector on the host, with one read of the device where they are on one."""
    if isinstance(mean, np.ndarray):
        return float(loss), np.asarray(mean, dtype=np.float64)
    xp = namespace(mean)
    both = np.asarray(host(xp.concat([xp.reshape(loss, (1,)), xp.astype(mean, loss.dtype)])), dtype=np.float64)
    return float(both[0]), both[1:]


def softmax_conjugate(residual: Array, truth: Array) -> Array:
    """Return minus the entropy of every row's probabilities, from what they are off the truth by: classes first."""
    xp = namespace(residual)
    wrong = xp.maximum(residual, xp.zeros_like(residual))
    missing = -xp.sum(xp.where(truth > 0, residual, xp.zeros_like(residual)), axis=0)
    return xp.sum(wrong * xp.log(nonzero(wrong)), axis=0) + complement(missing)


def softmax_losses(scores: Array, truth: Array) -> tuple[Array, Array]:
    """Return the loss of every row and its probabilities, from scores and true classes (1, others 0): classes first."""
    xp = namespace(scores)
    scores = scores - xp.max(scores, axis=0)
    chances = xp.exp(scores)
    # The sum less one, the exponential of the largest score: however little it is, it is the loss.
    ones = xp.astype(chances == 1, chances.dtype)
    rest = xp.sum(chances - ones, axis=0) + (xp.sum(ones, axis=0) - 1)
    return xp.log1p(rest) - xp.sum(truth * scores, axis=0), chances / (1 + rest)
