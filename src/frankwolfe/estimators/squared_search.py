"""The search for a radius where the loss is squared and features are not too many: from second moments, exactly.

With G and c the second moments of the training rows (features, and features with the target), about their means where
there is an intercept, the model of least loss within a ball solves

    minimise ½ x'Gx - c'x  over  ‖x‖ <= r,

and for some price λ >= 0 of the constraint it is that of ½ x'Gx - c'x + (λ/2)‖x‖₂² or + λ‖x‖₁. In the basis of G's
eigenvectors the first is a division for every λ, and r a function of λ that Newton's method inverts; the second is
linear in r between the radii where a coefficient becomes or stops being zero, found one after the other by least angle
regression [1]_. The loss on held-out rows is a quadratic of their own moments, so that rows are read once however many
radii are tried. With fewer rows than features, models in an l2 ball lie in the span of the rows, and are found there;
for those in an l1 ball with very many features the rows stand in for their moments.
Radii that are not given are those of a sequence of prices on all rows, and stand for these prices on the folds, as in
`price_search.py`. Each solution is checked by its Frank-Wolfe gap; where one is not exact enough, there is no answer.

All weightings of the rows, those of the folds and last that of all rows, are worked on together: arrays begin with an
axis of them.

References
----------
.. [1] B. Efron, T. Hastie, I. Johnstone, R. Tibshirani, "Least angle regression", Annals of Statistics 32, 2004.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import lars_path, lars_path_gram

from frankwolfe.estimators.radius_search import FREE, GROWTH, Choice, goal_on_folds
from frankwolfe.objectives import LeastSquares
from frankwolfe.objectives.second_moments import ROUNDING, Moments, Weighted, row_dots
from frankwolfe.rows.host_matrix import with_targets
from frankwolfe.sets import L1Ball, L2Ball
from frankwolfe.validation import integer, positive

READS = 1000  # of the data: second moments may cost as much as so many, about what the path costs without them
RADII = 100  # tried, unless the caller says how many
SMALL = 0.01  # the smallest radius on an l2 ball lowers the loss of a constant by no more than this part
SMALLEST = 1e-12  # of the largest price: the smallest that is looked at
NOTHING, ENDED = 1e-9, 1e-6  # of the loss of a constant: what the last price may leave to gain, and the end of a path
BLOCK = 1 << 22  # numbers at a time
LARGEST = 1 << 25  # numbers of data whose span is looked for, or of rows and models of all folds
FEW_ROWS = READS // 2  # that stand in for moments: a path has about as many corners, each two reads of them
NEWTON, ENOUGH = 60, 1e-9  # steps at most (a handful is usual), and a step after which the next changes nothing
FALLING = np.geomspace(1.0, SMALLEST, RADII)
EACH, LAST = slice(None), slice(-1, None)  # weighting; the last is that of all rows


class Paths(ABC):
    """The best model of each weighting for every radius, or price."""

    def __init__(self, G: np.ndarray, c: np.ndarray, spread: np.ndarray) -> None:
        self.G, self.c, self.null = G, c, 0.5 * spread

    @abstractmethod
    def largest_price(self) -> float:
        """Return the price at which next to nothing is bought on all rows."""

    @abstractmethod
    def at_prices(self, prices: np.ndarray, which: slice = EACH) -> np.ndarray:
        """Return the models of some prices, as rows."""

    @abstractmethod
    def at_radii(self, radii: np.ndarray) -> np.ndarray:
        """Return the models of some radii, as rows."""

    @abstractmethod
    def norms(self, x: np.ndarray) -> np.ndarray:
        """Return the norms of models."""

    @abstractmethod
    def dual_norms(self, g: np.ndarray) -> np.ndarray:
        """Return the dual norms of slopes."""

    @abstractmethod
    def multipliers(self, prices: np.ndarray, norms: np.ndarray) -> np.ndarray:
        """Return the dual norms that slopes have at their prices."""

    def bend(self, x: np.ndarray, which: slice) -> np.ndarray:
        """Return models times G."""
        return x @ self.G[which]

    def fun(self, x: np.ndarray, which: slice = EACH) -> np.ndarray:
        """Return the loss of models on the rows of their path."""
        return self.null[which, None] + row_dots(0.5 * self.bend(x, which) - self.c[which, None], x)

    def gaps(
        self, x: np.ndarray, radii: np.ndarray, prices: np.ndarray | None = None, which: slice = EACH
    ) -> np.ndarray:
        """Return the Frank-Wolfe gaps of models within their radii: proven bounds on what they miss.

        Of models at given prices, with their norms as radii: and what slopes above the price could still gain.
        """
        g = self.bend(x, which) - self.c[which, None]
        slopes = self.dual_norms(g)
        gaps = np.maximum(row_dots(g, x) + radii * slopes, 0.0)
        if prices is None:
            return gaps
        return gaps + radii[-1] * np.maximum(slopes - self.multipliers(prices, radii), 0.0)

    def prices(self, count: int) -> np.ndarray | None:
        """Return prices, falling by one factor, until next to nothing is left to gain on all rows.

        None where the path itself ends before that.
        """
        top = self.largest_price()
        wide = top * FALLING
        x = self.at_prices(wide, LAST)
        if not self.gaps(x[:, -1:], self.norms(x[:, -1:]), wide[-1:], LAST)[0, 0] <= ENDED * self.null[-1]:
            return None
        fun = self.fun(x, LAST)[0]
        last = int(np.flatnonzero(fun <= fun.min() + NOTHING * self.null[-1])[0])
        return top * (wide[max(last, 1)] / top) ** (np.arange(1, count + 1) / count)


class RidgePaths(Paths):
    """The paths of l2 balls, in the basis of the eigenvectors of G."""

    def __init__(self, G: np.ndarray, c: np.ndarray, spread: np.ndarray) -> None:
        super().__init__(G, c, spread)
        w, basis = np.linalg.eigh(G)
        self.basis = basis.swapaxes(1, 2)
        real = w > w.shape[1] * np.finfo(float).eps * w[:, -1:]  # the rest is rounding: there the target has no part
        along = np.matmul(self.basis, c[:, :, None])[:, :, 0]
        self.w, self.along = np.where(real, w, 1.0)[:, None], np.where(real, along, 0.0)[:, None]

    def largest_price(self) -> float:
        return float(np.sum(self.along[-1] ** 2)) / (SMALL * float(self.null[-1]))

    def at_prices(self, prices: np.ndarray, which: slice = EACH) -> np.ndarray:
        return (self.along[which] / (self.w[which] + prices[..., None])) @ self.basis[which]

    def at_radii(self, radii: np.ndarray) -> np.ndarray:
        price = np.zeros((len(self.w), len(radii)))
        for _ in range(NEWTON):  # on 1/‖x‖ - 1/r, concave in the price: from below it never goes too far
            width = self.w + price[:, :, None]
            squares = (self.along / width) ** 2
            total = squares.sum(axis=2)
            step = (np.sqrt(total) / radii - 1) * total / (squares / width).sum(axis=2)
            before, price = price, np.maximum(price + step, 0.0)
            if (np.abs(price - before) <= ENOUGH * price).all():
                break
        return self.at_prices(price)

    def norms(self, x: np.ndarray) -> np.ndarray:
        return np.sqrt(row_dots(x, x))

    def dual_norms(self, g: np.ndarray) -> np.ndarray:
        return self.norms(g)

    def multipliers(self, prices: np.ndarray, norms: np.ndarray) -> np.ndarray:
        return prices * norms


class LassoPaths(Paths):
    """The paths of l1 balls: linear between the radii where a coefficient becomes or stops being zero."""

    def __init__(self, G: np.ndarray, c: np.ndarray, spread: np.ndarray) -> None:
        super().__init__(G, c, spread)
        # Small numbers end the path, so the largest are brought to one.
        units = [(np.abs(row).max() or 1.0, bend or 1.0) for row, bend in zip(c, self._largest(), strict=True)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a path that ends early is told by its gaps
            found = [self._corners(i, unit, bend) for i, (unit, bend) in enumerate(units)]
        self.models = [corners.T * (unit / bend) for (_, _, corners), (unit, bend) in zip(found, units, strict=True)]
        falling = [prices[::-1] * unit for (prices, _, _), (unit, _) in zip(found, units, strict=True)]
        self.kinks = [-np.maximum.accumulate(prices)[::-1] for prices in falling]  # minus the prices: rising
        self.lengths = [np.maximum.accumulate(np.abs(corners).sum(axis=1)) for corners in self.models]

    def _largest(self) -> np.ndarray:
        """Return the largest number in each G."""
        return np.abs(self.G).max(axis=(1, 2))

    def _corners(self, i: int, unit: float, bend: float) -> Any:
        """Return the corners of a path, of c and G in these units: their prices, and the models there as columns."""
        c, G = self.c[i] / unit, self.G[i] / bend
        return lars_path_gram(c, G, n_samples=1, method="lasso", max_iter=8 * len(c))

    def largest_price(self) -> float:
        return float(np.abs(self.c[-1]).max())

    def at_prices(self, prices: np.ndarray, which: slice = EACH) -> np.ndarray:
        return np.stack([_between(*path, -prices) for path in zip(self.kinks[which], self.models[which], strict=True)])

    def at_radii(self, radii: np.ndarray) -> np.ndarray:
        return np.stack([_between(*path, radii) for path in zip(self.lengths, self.models, strict=True)])

    def norms(self, x: np.ndarray) -> np.ndarray:
        return np.abs(x).sum(axis=2)

    def dual_norms(self, g: np.ndarray) -> np.ndarray:
        return np.abs(g).max(axis=2)

    def multipliers(self, prices: np.ndarray, norms: np.ndarray) -> np.ndarray:
        return prices


class LassoPathsOfRows(LassoPaths):
    """The same from few rows of very many features: G is never made."""

    def __init__(self, rows: np.ndarray, targets: np.ndarray) -> None:
        self.rows, self.targets = rows, targets
        super().__init__(rows, np.einsum("knd,kn->kd", rows, targets), np.einsum("kn,kn->k", targets, targets))

    def bend(self, x: np.ndarray, which: slice) -> np.ndarray:
        return (x @ self.rows[which].swapaxes(1, 2)) @ self.rows[which]

    def _largest(self) -> np.ndarray:
        return np.einsum("knd,knd->kd", self.rows, self.rows).max(axis=1)

    def _corners(self, i: int, unit: float, bend: float) -> Any:
        rows, targets, n = self.rows[i] / np.sqrt(bend), self.targets[i] * (np.sqrt(bend) / unit), self.rows.shape[1]
        prices, *rest = lars_path(np.asfortranarray(rows), targets, method="lasso", max_iter=8 * n, copy_X=False)
        return prices * n, *rest


@dataclass(frozen=True)
class FewRows(Weighted):
    """Few rows of very many features, in place of their moments: each times the root of its weight."""

    rows: np.ndarray
    counted: np.ndarray  # weightings by rows: how often each row counts
    intercept: bool

    @cached_property
    def ends(self) -> np.ndarray:  # pyright: ignore[reportIncompatibleMethodOverride]
        return np.stack([some @ self.rows for some in self.counted[:, None] * self.rows[:, -2:].T])

    @cached_property
    def squares(self) -> np.ndarray:  # pyright: ignore[reportIncompatibleMethodOverride]
        return self.counted @ self.rows**2

    def missed(self, models: np.ndarray) -> np.ndarray:
        return np.einsum("krn,kn->kr", np.square(models @ self.rows.T), self.counted)

    def normal(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows of G and their targets: about the means where there is an intercept."""
        total, rows = self.ends[:, 0, -2, None], np.sqrt(self.counted)[:, :, None] * self.rows
        if self.intercept:
            rows = rows - rows[:, :, -2:-1] * (self.ends[:, 0] / total)[:, None]
        rows = rows / np.sqrt(total)[:, :, None]
        return rows[:, :, :-2], rows[:, :, -1]


def _between(known: np.ndarray, models: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return models between known ones."""
    last = len(known) - 1
    right = np.clip(np.searchsorted(known, wanted), 1, last) if last else np.zeros(len(wanted), int)
    left = np.maximum(right - 1, 0)
    width = known[right] - known[left]
    share = np.clip((wanted - known[left]) / np.where(width > 0, width, 1.0), 0.0, 1.0)[:, None]
    return (1 - share) * models[left] + share * models[right]


PATHS: dict[type, type[Paths]] = {L1Ball: LassoPaths, L2Ball: RidgePaths}


@dataclass
class SquaredSearch(Choice):
    """Radii with the best models of each on each fold, and on all rows, all found at once."""

    radii: np.ndarray
    facts: dict[str, np.ndarray]
    solutions: np.ndarray
    found: bool
    judged: bool
    binds: bool

    def finish(self, place: int, goal: float) -> tuple[float, np.ndarray | None]:
        return float(self.radii[place]), self.solutions[place]

    def table(self, what: str) -> np.ndarray:
        return self.facts[what]


def squared_search(
    model: Any, task: Any, parts: list[Any], radii: Any, judge: Any = None, weight: Any = None
) -> SquaredSearch | None:
    """Return the search over given radii, over a number of them, or "auto"; None where this way is not open."""
    objective, paths_of = task.objective, PATHS.get(type(model._family(task)[0]))
    if paths_of is None or type(objective) is not LeastSquares or (weight is None) != (task.weight is None):
        return None
    matrix: Any = getattr(objective.data, "matrix", None)
    n, d = objective.data.shape
    if not (isinstance(matrix, np.ndarray) or sp.issparse(matrix)) or (isinstance(radii, str) and radii != "auto"):
        return None
    span, few = None, False
    if paths_of is RidgePaths and n < min(d, READS) and n * d <= LARGEST:
        span, square = np.linalg.qr(_dense(matrix).T.astype(np.float64))
        matrix = square.T
    elif n * d * d > READS * matrix.size:
        few = n <= FEW_ROWS and (len(parts) + 1) * max(n, RADII) * d <= LARGEST
        if not (few and paths_of is LassoPaths):
            return None
    matrix = sp.csr_array(matrix) if sp.issparse(matrix) else matrix
    if few:
        here, there = _few_rows(task, matrix, parts)
        paths = LassoPathsOfRows(*here.normal())
    else:
        here, there = _moments(task, matrix, parts)
        paths = paths_of(*here.normal())
    if not (paths.null[-1] > 0 and (np.abs(paths.c[-1]) > ROUNDING * here.sizes()[-1]).any()):
        return None  # no feature has to do with the target
    task.null = float(paths.null[-1])
    found, binds = isinstance(radii, str | int | np.integer), False
    if found:
        count = RADII if isinstance(radii, str) else integer("radii", radii, 1)
        prices = paths.prices(count)
        if prices is None:
            return None
        x = paths.at_prices(prices)
        norms = paths.norms(x)
        tried, first = np.unique(norms[-1], return_index=True)
        x = x[:, first]
        gap = paths.gaps(x, norms[:, first], prices[first])[:-1]
    else:
        tried = np.unique([positive(f"radii[{i}]", radius) for i, radius in enumerate(radii)])
        x = paths.at_radii(tried)
        gap = paths.gaps(x, tried)[:-1]
        last, gained = x[:, -1:], paths.null - paths.fun(x[:, -1:])[:, 0]
        binds = bool((paths.gaps(last, GROWTH * tried[-1:])[:, 0] > FREE * gained).any())
    loss = there.loss(here.complete(x)[:-1])
    goals = [goal_on_folds(task, lowest) for lowest in loss.min(axis=1).tolist()]
    if not (np.isfinite(loss).all() and (gap.max(axis=1) <= goals).all()):
        return None
    x = (x if span is None else x @ span.T).astype(task.dtype, copy=False)
    score = -loss
    if judge is not None:
        score = [
            _judged(model, task.only(train), rows, judge, test)
            for (train, test), rows in zip(parts, x[:-1], strict=True)
        ]
    facts = {
        "score": np.asarray(score),
        "loss": loss,
        "gap": gap,
        "usual": 1 - 2 * loss / there.spread()[:, None],
        "coef": task.coef(x[:-1].T).T,
    }
    return SquaredSearch(tried, facts, x[-1], found, judge is not None, binds)


def _dense(matrix: Any) -> np.ndarray:
    return matrix.toarray() if sp.issparse(matrix) else matrix


def _few_rows(task: Any, matrix: Any, parts: list[Any]) -> tuple[FewRows, FewRows]:
    """Return the training rows of each fold and all rows, and the held-out rows of each fold."""
    n, intercept = len(task.objective.b), task.objective.intercept
    rows, counted = _block(task, matrix, np.arange(n)), np.zeros((2, len(parts) + 1, n))
    for i, (train, test) in enumerate([*parts, (np.arange(n), np.arange(0))]):
        counted[:, i] = np.bincount(train, minlength=n), np.bincount(test, minlength=n)
    return FewRows(rows, counted[0], intercept), FewRows(rows, counted[1, :-1], intercept)


def _moments(task: Any, matrix: Any, parts: list[Any]) -> tuple[Moments, Moments]:
    """Return the moments of these rows."""
    n, intercept = len(task.objective.b), task.objective.intercept
    trains, tests = [train for train, _ in parts], [test for _, test in parts]
    there = _second_moments(task, matrix, tests)
    once = bool((np.bincount(np.concatenate(tests), minlength=n) == 1).all())
    whole = there.sum(axis=0) if once else _second_moments(task, matrix, [np.arange(n)])[0]
    rest = once and all(len(train) + len(test) == n for train, test in parts)
    here = np.concatenate([whole - there if rest else _second_moments(task, matrix, trains), whole[None]])
    return Moments(here, intercept), Moments(there, intercept)


def _second_moments(task: Any, matrix: Any, groups: list[np.ndarray]) -> np.ndarray:
    """Return the second moments of some groups of rows."""
    d = matrix.shape[1]
    totals, rows = np.zeros((len(groups), d + 2, d + 2)), np.concatenate(groups)
    ends = np.cumsum([len(group) for group in groups])
    step = max(1, BLOCK // (d + 2))
    for i in range(0, len(rows), step):
        block = _block(task, matrix, rows[i : i + step])
        for total, group, end in zip(totals, groups, ends, strict=True):
            piece = block[max(end - len(group) - i, 0) : max(end - i, 0)]
            total += piece.T @ piece
    return totals


def _block(task: Any, matrix: Any, some: np.ndarray) -> np.ndarray:
    """Return features, constant and target of some rows, times the roots of their weights, in double precision."""
    f = task.objective
    level = float(np.dot(f.share, f.b)) if f.intercept else 0.0  # which changes nothing but rounding
    return with_targets(_dense(matrix[some]), f.b[some] - level, f.share[some])


def _judged(model: Any, task: Any, x: np.ndarray, judge: Any, test: np.ndarray) -> np.ndarray:
    """Return the score of each model by the user's scoring."""
    return np.array([judge(model._shell(one, task), task.linear(one)[test], test) for one in x])
