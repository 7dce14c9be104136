"""The search for a radius: along the path until held-out rows gain no more, then closer around the best."""

from __future__ import annotations

import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.parallel import Parallel, delayed

from frankwolfe.backends import host, vdot
from frankwolfe.estimators.host_results import is_unsolved
from frankwolfe.methods import auto, named
from frankwolfe.minimize import conclude, drive
from frankwolfe.path.strategies import Walk
from frankwolfe.problem import Problem
from frankwolfe.sets.base import EmptySetError
from frankwolfe.stopping import Tolerance
from frankwolfe.validation import integer, positive, seed_of

SUSPECT, ROUNDING = 1e-6, 1e-12  # of the loss, a slope to look at; of the columns, what rounding leaves of no slope
SMALL = 0.1  # the smallest radius can lower the loss of a constant by no more than this part
GROWTH, FEW_RADII = 2.0, 8  # from one radius to the next; where fewer are asked for, twice as far
MOST = 40  # radii, up or down, after which the search gives up
WORSE = 1.05  # a held-out loss above the best by this factor ends the path at once, any other at the second time
FREE = 0.05  # of what was gained so far: a constraint whose next radius gains less no longer binds
NOTHING = 1e-3  # nats: a held-out loss with which no larger radius is needed
NEAR = 0.5 * math.log(GROWTH) + 1e-9  # further apart, in logarithms, radii are not neighbours
FINE = 1.07  # neighbours of the best radius need not be closer than this factor
ACCURACY = 0.03  # of the best held-out loss: no smaller gap is asked for on the folds,
LOOSER = 100.0  # nor one below so many times that of the final fit
STEPS = 500  # at most, for one radius on one fold: a gap that is left tells no more than that much
KEPT = 4  # solutions that radii in between can start from


class Trial(NamedTuple):
    """What one radius gives on one fold."""

    score: float  # by the user's scoring
    loss: float  # on held-out rows
    usual: float  # accuracy or R² there
    coef: np.ndarray
    gap: float
    goal: float
    pull: float  # how much the loss would fall for each unit of radius: the multiplier of the constraint
    free: bool  # the constraint no longer binds: the next radius gains next to nothing, proven by the slope
    idle: bool  # nothing is gained over a constant
    unsolved: bool


def check_classes(model: Any, y: np.ndarray, train: Any) -> None:
    """Raise an error where training rows lack a class."""
    if not is_classifier(model):
        return
    for code in np.setdiff1d(np.arange(len(model.classes_)), y[train]).tolist():
        rows = int((y == code).sum())
        raise ValueError(
            f"a fold has no training sample of class {model.classes_.tolist()[code]!r}, which has {rows} in all; "
            + ("leave its rows out, or join it to another class" if rows < 3 else "use fewer folds, or stratified ones")
        )


class Fold:
    """The path on the training rows of one fold, judged on the others."""

    def __init__(self, model: Any, task: Any, y: np.ndarray, train: Any, test: Any, score: Any, weight: Any) -> None:
        check_classes(model, y, train)
        self.model, self.task, self.y, self.test = model, task.only(train), y[test], test
        self.score, self.weight = score, None if weight is None else weight[test]
        (family, _), seed = model._family(task), seed_of(model._options()["random_state"])
        if isinstance(model.method, str) and model.method == "auto":
            self.method, self.reason = auto.choose(Problem(self.task.objective, family, seed))
        else:
            self.method, self.reason = named(model.method), "chosen by the caller"
        self.walk = Walk(self.task.objective, self.method, family, seed, keep=KEPT)
        self.lowest = math.inf

    def solve(self, radius: float) -> Trial:
        """Solve one radius, from the nearest one that is known, as exactly as the held-out loss is worth."""
        model, task, domain = self.model, self.task, self.model._domain(self.task, radius)
        most = min(model.max_iter, STEPS)
        while True:
            goal = goal_on_folds(task, self.lowest)
            run = self.walk.begin(domain, radius, Tolerance(goal))
            status = drive(run, self.method, most, None, None, bool(model.verbose))
            self.walk.end(run, radius)
            result = conclude(run, status, self.method, self.reason, most)
            x = host(result.x)
            scores = task.linear(x)[self.test]
            loss = -float(np.average(model._gains(scores, self.y), weights=self.weight))
            self.lowest = min(self.lowest, loss) if np.isfinite(loss) else self.lowest
            if is_unsolved(result) or result.gap <= 2 * goal_on_folds(task, self.lowest):
                break
        pull, slope = pulled(task, domain, radius, result.x)
        gain = float(model._domain(task, GROWTH * radius).support(-slope)) + float(vdot(slope, result.x))
        gained = task.null - result.fun
        return Trial(
            score=-loss if self.score is None else self.score(model._shell(x, task), scores, self.test),
            loss=loss,
            usual=model._usual(scores, self.y),
            coef=model._coef(task.coef(x)),
            gap=result.gap,
            goal=goal,
            pull=pull,
            # At a small radius any gain is small, so it is also held against what the path has gained so far.
            free=gain <= min(2 * goal, FREE * gained),
            idle=gained <= goal,
            unsolved=is_unsolved(result) and result.gap > 0.1 * abs(loss),
        )


def goal_on_folds(task: Any, loss: float) -> float:
    """Return the gap that is small enough on a fold whose best held-out loss so far is given."""
    return max(min(ACCURACY * loss, LOOSER * task.goal), task.floor)


class Choice(ABC):
    """Radii with what they give on each fold: tables of folds by radii."""

    radii: Any  # increasing
    found: bool  # along the path, not given
    judged: bool  # by the user's scoring, not by the loss
    binds: Any  # whether a radius larger than all of these could still gain something, on some fold

    @abstractmethod
    def table(self, what: str) -> np.ndarray:
        """Return "score", "loss", "gap", "usual" or "coef": folds by radii."""

    def resolution(self) -> float:
        """Return what losses cannot tell apart: the gap that was left at the best; nothing for other scores."""
        if self.judged or not self.found:
            return 0.0
        return float(self.table("gap")[:, best_place(self.table("score").mean(axis=0))].mean())

    def place(self, selection: str) -> int:
        """Return the place of the chosen radius: see `choose`."""
        return choose(self.radii, self.table("score"), selection, self.resolution())

    def ends_too_soon(self) -> bool:
        """Tell whether the best radius is the largest of several, and one beyond might be better."""
        return bool(self.binds) and 0 < self.place("best") == len(self.radii) - 1

    def best(self) -> float:
        """Return the smallest radius whose score cannot be told from the best."""
        return float(self.radii[self.place("best")])

    def finish(self, place: int, goal: float) -> tuple[float, np.ndarray | None]:
        """Return the radius at a place of the table, and where a fit of all rows to `goal` may start."""
        return float(self.radii[place]), None


class Search(Choice):
    """The sizes tried so far, with a trial of each on each fold: of radii, or of what grows with them."""

    def __init__(self, model: Any, task: Any, judge: Any) -> None:
        self.model, self.task, self.judge = model, task, judge
        self.found, self.judged = True, judge is not None
        self.enough = NOTHING * task.unit if task.unit < math.inf else -math.inf  # loss: no larger size is needed
        self.trials: dict[float, list[Trial]] = {}

    @abstractmethod
    def begin(self, count: int | None) -> float:
        """Return a small size to begin with; zero where the loss has no slope."""

    @property
    def sizes(self) -> np.ndarray:
        """What was tried, increasing."""
        return np.array(sorted(self.trials))

    def table(self, what: str) -> np.ndarray:
        rows = [[getattr(trial, what) for trial in self.trials[size]] for size in sorted(self.trials)]
        return np.stack([np.stack(row) for row in rows], axis=1)

    @abstractmethod
    def solve(self, size: float) -> list[Trial]:
        """Try a size on all folds."""

    def _best(self) -> float:
        return float(self.sizes[self.place("best")])

    def run(self, count: int | None = None) -> None:
        """Go on from a small size until held-out rows gain no more or the constraint no longer binds; then refine."""
        growth = GROWTH if count is None or count >= FEW_RADII else GROWTH**2
        size, worse, lowest = self.begin(count), 0, math.inf
        if not size > 0:
            self.solve(1.0)
            return
        for _ in range(MOST):
            found = self.solve(size)
            loss = float(np.mean([trial.loss for trial in found]))
            worse, lowest = (worse + 1 if loss >= lowest else 0), min(lowest, loss)
            ended = worse >= 2 or loss - lowest > (WORSE - 1) * abs(lowest) or not math.isfinite(loss)
            if count == 1 or self._at_rest(found) or (ended and self._best() != size):
                break
            size *= growth
        self._extend_down(growth)
        self._refine(None if count is None else count - len(self.trials))

    @property
    def binds(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        return not self._at_rest(self.trials[float(self.sizes[-1])])

    def _at_rest(self, found: list[Trial]) -> bool:
        """Tell whether larger sizes need not be tried: nothing binds, or nothing is left to gain."""
        return all(trial.free for trial in found) or float(np.mean([trial.loss for trial in found])) <= self.enough

    def _extend_down(self, growth: float) -> None:
        """Try smaller ones while the smallest is the best, and better than a constant."""
        for _ in range(MOST):
            least = float(self.sizes[0])
            if len(self.trials) == 1 or self._best() != least or all(trial.idle for trial in self.trials[least]):
                return
            try:
                self.solve(least / growth)
            except EmptySetError:  # linear constraints leave nothing of so small a set
                return

    def _refine(self, budget: int | None) -> None:
        """Halve the steps on both sides of the best size until they are short, or scores no longer differ.

        The smaller side first: few coefficients cost less, and where it holds a better size the larger ones are spared.
        """
        while budget is None or budget > 0:
            sizes, best = self.sizes, self.place("best")
            steps = {i: abs(math.log(sizes[i] / sizes[best])) for i in (best - 1, best + 1) if 0 <= i < len(sizes)}
            # Equal losses tell nothing of what is between radii that are far apart.
            far = [i for i, step in steps.items() if step > NEAR or (step > math.log(FINE) and self._differ(i, best))]
            if not far:
                return
            self.solve(math.sqrt(sizes[best] * sizes[far[0]]))
            budget = None if budget is None else budget - 1

    def _differ(self, i: int, best: int) -> bool:
        """Tell whether a size is worse than the best by more than folds that differ among each other can tell."""
        scores = self.table("score")
        worse = scores[:, best] - scores[:, i]
        flat = max(self.resolution(), 0.0 if self.judged else (WORSE - 1) * abs(float(scores[:, best].mean())))
        if len(worse) > 1:
            flat = max(flat, float(worse.std(ddof=1)) / math.sqrt(len(worse)))
        return abs(float(worse.mean())) > flat

    def sharpen(self) -> None:
        """Halve the step below the smallest size within a standard error of the best, until it is short."""
        for _ in range(MOST):
            sizes, place = self.sizes, self.place("one_se")
            if place == 0 or sizes[place] / sizes[place - 1] <= FINE:
                return
            self.solve(math.sqrt(sizes[place] * sizes[place - 1]))

    def find(self, radii: Any) -> None:
        """Try radii as the caller of an estimator says."""
        if isinstance(radii, Iterable) and not isinstance(radii, str):
            self._try(radii)
            return
        if (isinstance(radii, str) and radii != "auto") or not isinstance(radii, str | int | np.integer):
            raise TypeError(f"radii must be 'auto', a number of radii, or a list of positive ones, got {radii!r}")
        count = None if isinstance(radii, str) else integer("radii", radii, 1)
        self.run(count)
        if count is None and self.model.selection == "one_se":
            self.sharpen()

    def warn_unsolved(self) -> None:
        """Warn once where problems on the folds were not solved."""
        unsolved = self.table("unsolved")
        if unsolved.any():
            warnings.warn(
                f"{type(self.model).__name__}: {min(self.model.max_iter, STEPS)} steps left {unsolved.sum()} of "
                f"{unsolved.size} problems on the folds unsolved, the worst with a gap of "
                f"{self.table('gap')[unsolved].max():.3g}: raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _try(self, radii: Iterable[Any]) -> None:
        """Try the radii that are given, and no others."""
        self.found = False
        given = [positive(f"radii[{i}]", radius) for i, radius in enumerate(radii)]
        if not given:
            raise ValueError("radii is empty; pass at least one positive number, or how many to try")
        for radius in np.unique(given).tolist():
            self.solve(radius)


class RadiusSearch(Search):
    """The radii tried so far: each fold is solved on its own."""

    def __init__(
        self, model: Any, task: Any, y: np.ndarray, parts: list[Any], judge: Any, weight: Any, n_jobs: int | None = None
    ) -> None:
        super().__init__(model, task, judge)
        self.n_jobs = 1 if task.on_device else n_jobs  # a device is busy with one fold
        self.folds = [Fold(model, task, y, train, test, judge, weight) for train, test in parts]

    @property
    def radii(self) -> np.ndarray:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.sizes

    def solve(self, size: float) -> list[Trial]:
        found: Any = Parallel(n_jobs=self.n_jobs, prefer="threads")(delayed(fold.solve)(size) for fold in self.folds)
        self.trials[size] = found
        return found

    def begin(self, count: int | None) -> float:
        first = first_radius(self.model, self.task)
        return 0.0 if first is None else self.model._family(self.task, first if count == 1 else SMALL * first)[1]


def pulled(task: Any, domain: Any, radius: float, x: Any) -> tuple[float, Any]:
    """Return the support value of minus the slope at x for each unit of radius, and the slope."""
    slope = task.objective.grad(x)
    return float(domain.support(-slope)) / radius, slope


def first_radius(model: Any, task: Any) -> float | None:
    """Return the radius at which a linear loss would reach zero; None where the loss has no slope but rounding."""
    f, (domain, radius), null = task.objective, model._family(task), abs(task.null)
    steepest = float(domain.support(-f.grad(f.start(None, dense=False)))) / radius
    if not (steepest > 0 and null > 0 and math.isfinite(null)):
        return None
    if steepest < SUSPECT * null:  # features may be small, or constant
        largest = f.data.array(f.column_norms(None) + 0.0)
        if steepest <= ROUNDING * float(domain.support(largest)) / radius * math.sqrt(null):
            return None
    return null / steepest


def best_place(scores: np.ndarray) -> int:
    """Return the place of the best score that is a number."""
    place = int(scores.argmax())  # of a score that is none, where there is one
    return place if scores[place] == scores[place] else int(np.nanargmax(scores))


def choose(radii: np.ndarray, scores: np.ndarray, selection: str, slack: float = 0.0) -> int:
    """Return the place of the chosen radius: the smallest with the best mean score, or within a standard error of it.

    Scores that differ by no more than `slack` count as equal.
    """
    mean = scores.mean(axis=0)
    best = best_place(mean)
    if selection == "one_se" and len(scores) > 1:
        slack = max(slack, float(scores[:, best].std(ddof=1)) / np.sqrt(len(scores)))
    return int(np.flatnonzero(mean >= mean[best] - slack)[0])
