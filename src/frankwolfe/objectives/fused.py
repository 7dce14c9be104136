"""Evaluations and line searches of linear models by compiled passes: everything from one read of the data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from frankwolfe.atoms import Atom, Dense
from frankwolfe.backends import vdot
from frankwolfe.backends.imaged import Imaged
from frankwolfe.kernels.layouts import NONE, Layout, double
from frankwolfe.objectives.base import Evaluation, Line
from frankwolfe.points import Leaf, Point, weighted_sum

if TYPE_CHECKING:
    from frankwolfe.objectives.linear_model import LinearModel


def fused(
    objective: LinearModel, y: Point, watch: Point, layout: Layout, hessian: int = 0, keep: bool = True
) -> tuple[Evaluation, np.ndarray | None] | None:
    """Return f and gradient at y and f at `watch`, and the Hessian at y if wanted, from one read of the data.

    None where more than one image is pending, unless they are of the two points themselves. Without `keep` images that
    are not needed here are not kept: the points are not to be used again.
    """
    data, loss = objective.data, objective.compiled
    assert loss is not None
    passes = sum(_settle(objective, leaf) for leaf in (*y.pending, *watch.pending))
    pending = list(dict.fromkeys([*y.pending, *watch.pending]))
    (y_known, y_new, base), (w_known, w_new, other) = _split(y), _split(watch)
    together = base is other
    mixing = (y_known, y_new, w_known, w_new) if together else (y_known, y_new, y_known, y_new)
    second = NONE
    if len(pending) > 1:
        if len(y.terms) + len(watch.terms) + len(pending) > 4 or (y_new, w_new) != (1.0, 1.0):
            return None
        mixing, second = (0.0, 1.0, 1.0, 0.0), _vector(pending[1].coords)
    known = NONE if base is None else np.ascontiguousarray(base)
    x = NONE if not pending else _vector(pending[0].coords)
    keep = keep or not together
    swept = layout.sweep(loss, mixing, known, x, hessian, second, keep, data.carries)

    for leaf, image in zip(pending if keep else [], (swept.image, swept.watched_image), strict=False):
        leaf.resolve(image.astype(data.dtype, copy=False))
    if keep and together and second is NONE:
        watch.terms = ((1.0, Leaf(None, swept.watched_image.astype(data.dtype, copy=False))),)
    value = swept.value + objective._ridge(y)
    inner, slope = swept.inner, swept.slope.astype(data.dtype, copy=False)
    if swept.slope_image is not None:
        slope = Imaged.known(slope, swept.slope_image.astype(data.dtype, copy=False), layout)
    if objective.ridge:
        at = y.coords if swept.slope_image is None else Imaged.known(_vector(y.coords), y.image, layout)
        slope = slope + objective.ridge * at
        inner = inner + 2 * objective._ridge(y)
    if watch is y:
        watched = value
    elif together:
        same = mixing[:2] == mixing[2:]
        watched = (swept.value if same else swept.watched) + objective._ridge(watch)
    else:
        watched = loss.value(watch.image) + objective._ridge(watch)
    passes += layout.reads if pending else 1.0
    return Evaluation(value, slope, inner, watched, passes, float(np.finfo(data.dtype).eps)), swept.hessian


class FusedLine(Line):
    """The segment on images, loss and derivatives compiled: O(n) per probe, no read of the data."""

    def __init__(self, objective: LinearModel, x: Point, v: Point) -> None:
        assert objective.compiled is not None
        self.loss = objective.compiled
        self.start = double(x.image)
        self.step = double(v.image) - self.start
        self.ridge = (0.0, 0.0)
        if objective.ridge:
            at, to = _vector(x.coords), _vector(v.coords)
            self.ridge = (objective.ridge * vdot(at, to - at), objective.ridge * vdot(to - at, to - at))

    def __call__(self, gamma: float) -> tuple[float, float]:
        first, second = self.loss.along(self.start, self.step, float(gamma))
        return first + self.ridge[0] + gamma * self.ridge[1], second + self.ridge[1]


def _settle(objective: LinearModel, leaf: Leaf) -> float:
    """Compute an image that costs no more than a few columns; return the reads of the data that took."""
    coords, cost = leaf.coords, objective.data.cost(leaf.coords)
    if isinstance(coords, np.ndarray) and coords[0] == 0 and not coords.any():  # as at the start of most runs
        leaf.resolve(np.zeros(objective.data.shape[0], objective.data.dtype))
        return 0.0
    if cost > 0 and (not isinstance(coords, Atom) or isinstance(coords, Dense)):
        return 0.0
    leaf.resolve(objective.data.apply(coords))
    return cost


def _split(point: Point) -> tuple[float, float, np.ndarray | None]:
    """Return the image as a known w, v and m: w m + v Ax, with Ax pending."""
    known = [(float(w), leaf.value) for w, leaf in point.terms if leaf.value is not None]
    new = float(sum(w for w, leaf in point.terms if leaf.value is None))
    if not known:
        return 0.0, new, None
    if not point.pending:
        return 1.0, 0.0, point.image
    if len(known) == 1:
        return known[0][0], new, known[0][1]
    return 1.0, new, weighted_sum(known)


def _vector(coords: Any) -> np.ndarray:
    return coords.array if isinstance(coords, Dense) else coords.toarray() if isinstance(coords, Atom) else coords
