"""The search for a radius by the price of its constraint: of l2 balls, of l1 balls for several classes or small data.

A radius is what the coefficients take up on all rows at some price; on a fold it stands for that price, not for the
same length: with fewer rows a solution is shorter. All folds, and all rows beside them, are solved together, see
`penalised.py`.
"""

from __future__ import annotations

import math
from copy import copy
from typing import Any

import numpy as np
import scipy.sparse as sp

from frankwolfe.estimators.newton_steps import pays
from frankwolfe.estimators.penalised import Losses, Penalised, Place
from frankwolfe.estimators.radius_search import (
    FREE,
    GROWTH,
    SMALL,
    STEPS,
    Search,
    Trial,
    check_classes,
    goal_on_folds,
)
from frankwolfe.objectives import Multinomial
from frankwolfe.objectives.linear_model import LinearModel
from frankwolfe.sets import L1Ball, L2Ball

LARGEST = 1 << 24  # entries of data, times classes: beyond, folds are solved one by one
CLOSE, CLOSE_SPARSE = 1e-4, 0.01  # of what the coefficients cost: what is left is less, and two prices give two lengths
ROUNDING = 1e-13  # of the largest terms of a slope: no more than that is none
LAST = 100  # steps on all rows at the end: what they leave is done by the method of any other fit


class PriceSearch(Search):
    """The prices tried so far; a size is one over the root of a price."""

    def __init__(self, model: Any, task: Any, y: np.ndarray, parts: list[Any], judge: Any, weight: Any) -> None:
        for train, _ in parts:
            check_classes(model, y, train)
        super().__init__(model, task, judge)
        self.y, self.parts, self.weight = y, parts, weight
        n = len(y)
        self.shares = np.zeros((len(parts) + 1, n))
        for share, rows in zip(self.shares, [*(train for train, _ in parts), np.arange(n)], strict=True):
            share[rows] = 1.0 if task.weight is None else task.weight[rows]
        self.shares /= self.shares.sum(axis=1, keepdims=True)
        l1 = isinstance(model._family(task)[0], L1Ball)
        self.solver = Penalised(Losses(task.objective, self.shares, turned=not l1), sparse=l1)
        self.level = getattr(task.objective, "level", 0.0)  # what was taken off the targets
        self.places: dict[float, Place] = {}
        self.lowest = np.full(len(parts), math.inf)
        self.start, self.first = self._begin()

    def begin(self, count: int | None) -> float:
        return self.first * (4.0 if count == 1 else 1.0)

    @property
    def radii(self) -> np.ndarray:  # pyright: ignore[reportIncompatibleVariableOverride]
        return np.array([self._length(size) for size in self.sizes])

    def _length(self, size: float) -> float:
        return float(self.solver.lengths(self.places[size].z)[-1])

    def _begin(self) -> tuple[Place, float]:
        """Return the best constants, and a small size to begin with: zero where the loss has no slope."""
        losses = self.solver.losses
        z = np.zeros((1, losses.classes, losses.features + losses.intercept))
        if losses.intercept:
            nowhere = np.zeros(self.task.shape)
            z[0, :, -1] = self.task._best_intercept(nowhere) - self.level
        start = self.solver.at(np.repeat(z.reshape(1, -1), len(self.shares), axis=0))
        slope = (start.slope * losses.priced)[-1]
        if not float(np.abs(slope).max()) > ROUNDING * losses.largest_terms(self.shares[-1]):
            return start, 0.0
        price = 0.5 * float(np.abs(slope).max())
        if not self.solver.sparse:
            price = float(slope @ slope) / (SMALL * max(abs(self.task.null), 1e-300))
        return start, price**-0.5 if price > 1e-200 and math.isfinite(price) else 0.0

    def solve(self, size: float) -> list[Trial]:
        near = min(self.places, key=lambda other: abs(math.log(other / size)), default=None)
        here = self.start if near is None else self.places[near]
        self.price = price = size**-2.0
        here, done = self.solver.solve(here, price, self._goals, min(self.model.max_iter, STEPS))
        self.places[size] = here
        loss, (_, goal), gap = self._held_out(here), self._goals(here), self.solver.gaps(here)
        self.lowest = np.fmin(self.lowest, loss)
        slope = here.slope * self.solver.losses.priced
        # What twice the radius could gain at most: the gap there.
        gain = gap + (GROWTH - 1) * np.maximum(gap - np.einsum("kp,kp->k", slope, here.z), 0.0)
        null, coefs, trials = self.task.null, self.solver.losses.coefficients(here.z), []
        for i, (train, test) in enumerate(self.parts):
            x, scores = coefs[i], self._scores(here, i)
            judge: Any = self.judge
            own = None if judge is None else self.task.only(train)
            trials.append(
                Trial(
                    score=-loss[i] if own is None else judge(self.model._shell(x, own), scores, test),  # pyright: ignore[reportOptionalCall]
                    loss=loss[i],
                    usual=self.model._usual(scores, self.y[test]),
                    coef=self.model._coef(self.task.coef(x)),
                    gap=gap[i],
                    goal=goal[i],
                    pull=price,
                    free=bool(gain[i] <= min(2 * goal[i], FREE * (null - here.fun[i]))),
                    idle=bool(null - here.fun[i] <= goal[i]),
                    unsolved=bool(not done[i] and gap[i] > 0.1 * abs(loss[i])),
                )
            )
        self.trials[size] = trials
        return trials

    def _scores(self, here: Place, i: int) -> np.ndarray:
        return here.margins[:, i, self.parts[i][1]].T + self.level

    def _held_out(self, here: Place) -> np.ndarray:
        """Return the loss of each fold's model on the rows held out."""
        losses = []
        for i, (_, test) in enumerate(self.parts):
            gains = self.model._gains(self._scores(here, i), self.y[test])
            losses.append(-float(np.average(gains, weights=None if self.weight is None else self.weight[test])))
        return np.array(losses)

    def _goals(self, here: Place) -> tuple[np.ndarray, np.ndarray]:
        """Return the gaps that are small enough, and below them those that are not felt in the coefficients."""
        lowest = self.lowest if np.isfinite(self.lowest).all() else here.fun[:-1]
        goals = [goal_on_folds(self.task, float(loss)) for loss in lowest]
        lengths = self.solver.lengths(here.z)
        rough = self.solver.sparse and self.solver.newton is None  # whose steps are worth many digits
        near = self.price * (CLOSE_SPARSE if rough else CLOSE) * (lengths if self.solver.sparse else lengths**2)
        enough = np.maximum([*goals, max(goals)], self.task.floor)
        near = np.clip(near, self.task.floor, enough)
        # With ‖x‖² what is proven is far above what is left, by as much as the loss bends more than the price.
        return near if self.solver.sparse else enough, near

    def best(self) -> float:
        place = self.place("best")
        return self.finish(place, min(trial.goal for trial in self.trials[float(self.sizes[place])]))[0]

    def finish(self, place: int, goal: float) -> tuple[float, np.ndarray]:
        """Return the radius at a place of the table once all rows are solved to `goal` at its price, and the model."""
        size, radius = float(self.sizes[place]), float(self.radii[self.radii > 0][0]) if self.radii.any() else 1.0
        losses = copy(self.solver.losses)
        losses.shares = self.shares[-1:]
        solver = Penalised(losses, sparse=self.solver.sparse)
        here = self.places[size]
        solver.pairs.S, solver.pairs.Y = self.solver.pairs.S[-1:], self.solver.pairs.Y[-1:]

        def goals(place: Place) -> tuple[np.ndarray, np.ndarray]:
            return np.where(solver.gaps(place) <= 0.5 * goal, 0.5 * goal, -1.0), np.array([math.inf])

        here, _ = solver.solve(solver.at(here.z[-1:]), size**-2.0, goals, min(self.model.max_iter, LAST))
        x = solver.losses.coefficients(here.z)[0]
        return float(solver.lengths(here.z)[0]) or radius, x.astype(self.task.dtype)


def price_search(
    model: Any, task: Any, y: np.ndarray, parts: list[Any], radii: Any, judge: Any = None, weight: Any = None
) -> PriceSearch | None:
    """Return the search over a number of radii, or "auto", ready to run; None where this way is not open."""
    f, kind = task.objective, type(model._family(task)[0])
    matrix: Any = getattr(f.data, "matrix", None)
    several = isinstance(f, Multinomial)
    known = kind in (L1Ball, L2Ball) and (several or isinstance(f, LinearModel))
    held = isinstance(matrix, np.ndarray) or sp.issparse(matrix)
    free = isinstance(radii, str | int | np.integer) and isinstance(model.method, str) and model.method == "auto"
    if not (known and held and free):
        return None
    if kind is L1Ball and not (several or pays(matrix, 1)):  # coordinate descent is faster
        return None
    if matrix.size * (len(f.classes) if several else 1) > LARGEST:
        return None
    search = PriceSearch(model, task, y, parts, judge, weight)
    return search if search.first > 0 else None
