"""The search for a radius: a grid that the data suggest, a path for every fold, and the choice."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import is_classifier

from frankwolfe.backends import host
from frankwolfe.estimators.host_results import is_unsolved
from frankwolfe.estimators.in_parts import PartsTask
from frankwolfe.estimators.linear import LinearEstimator, Task
from frankwolfe.kernels.row_sample import rows_drawn
from frankwolfe.minimize import minimize
from frankwolfe.path import path
from frankwolfe.validation import integer, positive

FEW = 2000  # rows up to which the range of radii is found on all of them
ROWS = 5000  # rows that are enough to find it
SMALL = 0.1  # the smallest radius can lower the loss of a constant by no more than this part
SPENT = 0.02  # at the largest radius, twice the radius can lower it by no more than this part,
WORSE = 1.1  # or the loss on other rows is above the best seen by this factor
GROWTH, GROWTHS = 3.0, 9
LOOSER = 10.0  # how much larger a gap is left on the folds than in the final fit


class Fold(NamedTuple):
    """What the path on one fold says: scores and coefficients (as fitted) by radius, and the worst outcome."""

    scores: np.ndarray
    coefs: np.ndarray
    points: np.ndarray
    unsolved: int
    gap: float


def radius_grid(model: Any, X: Any, y: np.ndarray, weight: np.ndarray | None, whole: Task | None = None) -> np.ndarray:
    """Return the radii to try, increasing: those given, or a geometric grid over the range that matters."""
    radii = model.radii
    if not isinstance(radii, int | np.integer):
        if isinstance(radii, str) or not isinstance(radii, Iterable):
            raise TypeError(f"radii must be a number of radii, or a list of positive ones, got {radii!r}")
        given = [positive(f"radii[{i}]", radius) for i, radius in enumerate(radii)]
        if not given:
            raise ValueError("radii is empty; pass at least one positive number, or how many to try")
        return np.unique(given)
    count = integer("radii", radii, 1)
    task, others = _sample(model, X, y, weight, whole)
    slope = task.objective.grad(task.objective.start(None, dense=False))
    steepest = float(model._family(task.shape).with_radius(1.0).support(-slope))
    if not (steepest > 0 and task.null > 0):
        return np.geomspace(0.1, 1.0, count) if count > 1 else np.array([1.0])
    first = task.null / steepest  # a linear loss would reach zero here
    last = _largest(model, task, others, 2 * first)
    return np.geomspace(SMALL * first, last, count) if count > 1 else np.array([np.sqrt(SMALL * first * last)])


def _largest(model: Any, task: Task, others: Any, radius: float) -> float:
    """Return a radius at which the constraint hardly binds, or already should, by solving roughly at growing ones."""
    last, best, family = None, np.inf, model._family(task.shape)
    for _ in range(GROWTHS):
        domain = family.with_radius(radius)
        last = minimize(task.objective, domain, last, tol=SPENT * task.null, max_iter=200, progress=False)
        # Along the boundary's normal the loss falls at the rate support/radius, and it is convex.
        if float(domain.support(-task.objective.grad(last.x))) <= SPENT * task.null:
            return 2 * radius
        if others is not None:
            held_out = -float(np.mean(model._shell(host(last.x), task)._gains(*others)))
            if held_out > WORSE * best:
                break
            best = min(best, held_out)
        radius *= GROWTH
        if not family.with_radius(radius).contains(last.x):
            last = None  # a set without zero, such as a simplex
    return radius


def _sample(
    model: LinearEstimator, X: Any, y: np.ndarray, weight: np.ndarray | None, whole: Task | None
) -> tuple[Task, Any]:
    """Return the task on some rows and some other rows to judge by; on all rows and None where they are few.

    Some rows are few enough for the host, so that the range of radii does not depend on the device.
    """
    step = max(2, X.shape[0] // ROWS) if X.shape[0] >= FEW else 1
    some, others = (rows_drawn(X.shape[0], step, turn=turn) if step > 1 else slice(None) for turn in (0, 1))
    lost = is_classifier(model) and np.unique(y[some]).size < np.unique(y).size
    lost = lost or (weight is not None and not weight[some].min() > 0)
    if step > 1 and lost and whole is not None:
        return whole, None
    if step == 1 or lost:
        return Task(model, X, y, weight, GROWTHS, device="cpu"), None
    own = None if weight is None else weight[some]
    return Task(model, X[some], y[some], own, GROWTHS, device="cpu"), (X[others], y[others])


def solve_fold(
    model: Any,
    X: Any,
    y: np.ndarray,
    weight: np.ndarray | None,
    train: np.ndarray,
    test: np.ndarray,
    score_params: dict[str, Any],
    whole: Task | None = None,
) -> Fold:
    """Solve the path on the training part of a fold, and score every radius on the other.

    Where the `whole` task is on a device no row moves: those held out have no weight, and are scored there.
    """
    if is_classifier(model) and np.unique(y[train]).size < np.unique(y).size:
        raise ValueError("a fold has no training sample of one of the classes; use fewer folds, or stratified ones")
    if whole is None:
        task = Task(model, X[train], y[train], None if weight is None else weight[train], solves=len(model.radii_))
    else:
        task = whole.only(train)
    inside = whole is not None and model.scoring is None  # a scorer may ask for anything: it gets the rows
    held_out = np.zeros((len(test), 1)) if inside else X[test]

    def judge(shell: Any) -> float:
        if inside:
            scores = task.linear(shell)[test]
            shell._scores = lambda X: scores
        return shell._held_out_score(held_out, y[test], score_params)

    return solve_path(model, task, model.radii_, judge)


def solve_path(model: Any, task: Task | PartsTask, radii: np.ndarray, judge: Callable[[Any], float]) -> Fold:
    """Solve the path of a task, and have the model of every radius judged."""
    coefs = []

    def score(x: Any, radius: float) -> float:
        shell = model._shell(host(x), task)
        coefs.append(shell.coef_)
        return judge(shell)

    options: dict[str, Any] = {**model._options(), "n_threads": None}
    results = path(task.objective, model._family(task.shape), radii, score=score, tol=LOOSER * task.goal, **options)
    order = np.argsort([float(radius) for radius in results.radii], kind="stable")
    assert results.scores is not None
    unsolved = [result.gap for result in results if is_unsolved(result)]
    points = np.stack([host(result.x) for result in results])[order]
    return Fold(results.scores[order], np.stack(coefs), points, len(unsolved), max(unsolved, default=0.0))


def choose(radii: np.ndarray, scores: np.ndarray, selection: str) -> int:
    """Return the place of the chosen radius: the best mean score, or the smallest radius within a standard error.

    Examples
    --------
    >>> scores = np.array([[0.1, 0.8, 0.8], [0.2, 0.9, 1.0], [0.3, 0.7, 0.7]])
    >>> choose(np.array([1.0, 2.0, 3.0]), scores, "best"), choose(np.array([1.0, 2.0, 3.0]), scores, "one_se")
    (2, 1)
    """
    mean = scores.mean(axis=0)
    best = int(np.nanargmax(mean))
    if selection == "best" or len(scores) < 2:
        return best
    error = float(scores[:, best].std(ddof=1)) / np.sqrt(len(scores))
    return int(np.flatnonzero(mean >= mean[best] - error)[0])
