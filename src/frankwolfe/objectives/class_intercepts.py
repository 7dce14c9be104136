"""Free intercepts of several classes: those at which mean probabilities meet the classes' frequencies."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from frankwolfe.backends import Array, Scalar, vdot
from frankwolfe.objectives.profiled_intercept import SummedLine
from frankwolfe.rows.parts import Most
from frankwolfe.rows.rows import Sums
from frankwolfe.rows.rows_in_parts import KeptImage

if TYPE_CHECKING:
    from frankwolfe.objectives.multinomial import Multinomial

ROUNDING = 8.0  # ulps that mean probabilities may be off by
COOLING = 8.0  # by which the scale of a smoothed loss shrinks
STEPS, SEARCH = 30, 40  # at most: of Newton, and tries along one of them
LONGEST = 20.0  # a step in units of the scale, before it is searched along
PROMISED = 0.1  # share of what the slope promises that a step must gain, or leave of the slope
SHORT = 0.4  # power of an ulp below which a step of Newton's method is right to rounding
LEAST_MEAN = 1e-12  # of a class's probability, whose logarithm is taken
RIDGE = 1e-14  # of the trace, so that a Hessian is regular


class Trial(NamedTuple):
    """What some intercepts give: mean loss, mean probability of each class, Hessian (when asked), and what else is.

    That is all probabilities (K, n) where the scores are at hand.
    """

    intercepts: np.ndarray
    loss: Scalar
    mean: Any = None
    hessian: Any = None  # a function that returns it
    more: Any = None

    def off(self, wanted: np.ndarray) -> float:
        """Return how far the mean probabilities are from those wanted."""
        return float(np.abs(self.mean - wanted).max())


def balance(
    at: Callable[[np.ndarray, float], Trial], c: np.ndarray, wanted: np.ndarray, ulp: float, spread: Callable[[], float]
) -> Trial:
    """Minimise the loss over the intercepts, from c, until probabilities have the classes' frequencies (`wanted`).

    Where the scores are so far apart (`spread`) that the loss has corners, it is smoothed first: by a scale that
    shrinks to one. `at` tries intercepts on a scale: what it returns is that of scores and intercepts divided by the
    scale.
    """
    here, found = _newton(at, c, 1.0, wanted, ulp)
    if found:
        return here
    scale, c = spread() / COOLING, here.intercepts
    while scale > 1:
        c = _newton(at, c, scale, wanted, ulp)[0].intercepts
        scale /= COOLING
    other, _ = _newton(at, c, 1.0, wanted, ulp)
    return other if other.loss < here.loss else here


def _newton(
    at: Callable[[np.ndarray, float], Trial], c: np.ndarray, scale: float, wanted: np.ndarray, ulp: float
) -> tuple[Trial, bool]:
    """Return what Newton steps come to, searched along where they do not halve what is wrong; and whether it is best.

    A Newton step that is short beside one, where the loss bends, is right to rounding and the last.
    """
    here = at(c, scale)
    for _ in range(STEPS):
        size = here.off(wanted)
        if size <= ROUNDING * ulp:
            return here, True
        excess = here.mean - wanted
        step = np.clip(solved(here.hessian(), excess), -1e100, 1e100)  # near singular: inf
        step = np.clip(step - step.mean(), -LONGEST, LONGEST)
        short = bool(0 < np.abs(step).max() <= ulp**SHORT)
        scaling = np.clip(np.log(np.maximum(here.mean, LEAST_MEAN) / wanted), -LONGEST, LONGEST)
        trial = at(here.intercepts - scale * step, scale)
        if not (trial.off(wanted) <= 0.5 * size or trial.loss < here.loss - PROMISED * float(excess @ step)):
            trials = [_searched(at, here, move, scale, wanted) for move in (step, scaling)]
            trial = min([trial, *trials], key=lambda trial: trial.loss)
        if not (trial.off(wanted) < size or trial.loss < here.loss):
            return here, short  # rounding has the last word
        here = trial
        if short:
            return here, True
    return here, False


def _searched(
    at: Callable[[np.ndarray, float], Trial], here: Trial, move: np.ndarray, scale: float, wanted: np.ndarray
) -> Trial:
    """Return about the best trial along a move: doubled while the loss descends, then halved in between."""
    best, low, high, share = here, 0.0, np.inf, 1.0
    first = float((here.mean - wanted) @ move)
    for _ in range(SEARCH):
        trial = at(here.intercepts - share * scale * move, scale)
        slope = float((trial.mean - wanted) @ move)
        best = min(best, trial, key=lambda trial: trial.loss)
        if abs(slope) <= PROMISED * first:
            break
        low, high = (share, high) if slope > 0 else (low, share)
        share = 2 * share if high == np.inf else (low + high) / 2
    return best


def solved(H: np.ndarray, excess: np.ndarray) -> np.ndarray:
    """Return how far the intercepts move to undo some excess of probabilities; not at all where nothing bends."""
    try:
        return np.linalg.solve(H, excess)
    except np.linalg.LinAlgError:  # every row is certain of its class
        return np.zeros_like(excess)


def regular(H: np.ndarray) -> np.ndarray:
    """Return the Hessian in the intercepts from its entries off the diagonal, regular along the all-ones direction.

    That direction changes nothing.
    """
    H = np.array(H, dtype=np.float64)
    np.fill_diagonal(H, 0.0)
    np.fill_diagonal(H, -H.sum(axis=1))  # rows add up to zero: accurate where a class is all but certain
    K, size = len(H), np.trace(H)
    return 0.5 * (H + H.T) + (size / K**2 + 1e-300) * np.ones((K, K)) + RIDGE * size * np.eye(K)


def sliver(mean: np.ndarray, frequency: np.ndarray, rounding: float) -> tuple[float, np.ndarray]:
    """Return how much of which probabilities to mix in so that their mean is the classes' frequency exactly."""
    wanted = frequency / frequency.sum()
    excess = mean / mean.sum() - wanted
    part = float(np.max(excess / (wanted + np.maximum(excess, 0.0))))
    if not part > rounding:
        return 0.0, wanted  # balanced up to rounding
    needed = np.maximum(wanted - excess * (1 - part) / part, 0.0)
    return part, needed / needed.sum()


def intercepts_by_sums(
    model: Multinomial, image: KeptImage, step: KeptImage | None = None, gamma: float = 0.0, near: Any = None
) -> Trial:
    """Return the best intercepts for scores that rows in parts keep, or at a point of a segment of them."""
    K, images = len(model.classes), [image] if step is None else [image, step]

    def at(c: np.ndarray, scale: float) -> Trial:
        (sums,) = model.total(class_sums, gamma, c, scale, images=images)
        loss, mean, hessian, more = np.split(sums, [1, 1 + K, 1 + K + K * K])
        return Trial(c, float(loss[0]), mean, lambda: regular(hessian.reshape(K, K)), more)

    if near is None:
        near = np.log(model.frequency) - model.total(mean_scores, images=[image])[0]
    return balance(at, near, model.frequency, model.data.eps, lambda: model.total(largest_score, images=[image])[0])


class ClassInterceptsLine(SummedLine):
    """The segment on scores that rows in parts keep, with the best intercepts at every point of it."""

    near: np.ndarray | None = None  # the last intercepts

    def loss_along(self, gamma: float) -> Sums:
        found = intercepts_by_sums(self.objective, self.start, self.step, gamma, self.near)
        self.near = found.intercepts
        first, second, along = float(found.more[0]), float(found.more[1]), found.more[2:]
        return first, second - float(along @ solved(found.hessian(), along))


def mean_loss(model: Multinomial, scores: Array) -> Sums:
    return (model.loss(scores),)


def class_weights(model: Multinomial) -> Sums:
    """The weight of each class."""
    return (model._sum(model.truth),)


def mean_scores(model: Multinomial, scores: Array) -> Sums:
    """The mean score of each class."""
    return (model._sum(scores.reshape(model.truth.shape)),)


def largest_score(model: Multinomial, scores: Array) -> Sums:
    """The size of the largest score."""
    return (Most(np.abs(scores).max()),)


def class_sums(model: Multinomial, *images_and_more: Any) -> Sums:
    """At intercepts c: mean loss, mean probabilities, Hessian in c; along a segment also what is met on it.

    Scores and intercepts are divided by the scale.
    """
    start, *step, gamma, c, scale = images_and_more
    scores = (start + gamma * step[0] if step else start).reshape(model.truth.shape)
    loss, P = model._at(scores, c, slice(None)) if scale == 1 else model._at(scores / scale, c / scale, slice(None))
    sums = [loss, *model._sum(P), *(-(model.share * P) @ P.T).ravel()]
    if step:
        V = step[0].reshape(P.shape)
        bent = model._spread(P, V)
        sums += [vdot(model.share * (P - model.truth), V), vdot(bent, V), *bent.sum(axis=1, dtype=np.float64)]
    return (np.array(sums, dtype=np.float64),)


def balanced_slope(model: Multinomial, scores: Array, c: np.ndarray, mixed: float, needed: np.ndarray) -> Sums:
    """Gradient and conjugate, the probabilities balanced."""
    _, P = model._at(scores.reshape(model.truth.shape), c, slice(None))
    if mixed:
        P = ((1 - mixed) * P + mixed * needed[:, None]).astype(P.dtype)
    residual = model._residual(P)
    return model.map.adjoint((model.share * residual).reshape(-1)), float(model._conjugate(residual))
