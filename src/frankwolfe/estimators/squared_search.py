"""The search for a radius where the loss is squared and features are not too many: from second moments, exactly.

With G and c the second moments of the training rows (features, and features with the target), about their means where
there is an intercept, the model of least loss within a ball solves

    minimise ½ x'Gx - c'x  over  ‖x‖ <= r,

and for some price λ >= 0 of the constraint it is that of ½ x'Gx - c'x + (λ/2)‖x‖₂² or + λ‖x‖₁. In the basis of G's
eigenvectors the first is a division for every λ, and r a function of λ that Newton's method inverts; the second is
linear in r between the radii where a coefficient becomes or stops being zero, found one after the other by least angle
regression [1]_. The loss on held-out rows is a quadratic of their own moments, so that rows are read once however many
radii are tried. With fewer rows than features, models in an l2 ball lie in the span of the rows, and are found there.
Each solution is checked by its Frank-Wolfe gap; where one is not exact enough, there is no answer.

References
----------
.. [1] B. Efron, T. Hastie, I. Johnstone, R. Tibshirani, "Least angle regression", Annals of Statistics 32, 2004.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import lars_path_gram

from frankwolfe.estimators.radius_search import Choice, goal_on_folds
from frankwolfe.objectives import LeastSquares
from frankwolfe.sets import L1Ball, L2Ball
from frankwolfe.validation import integer, positive

READS = 1000  # of the data: second moments may cost as much as so many, about what the path costs without them
RADII = 100  # tried, unless the caller says how many
SMALL = 0.01  # the smallest radius on an l2 ball lowers the loss of a constant by no more than this part
SMALLEST = 1e-12  # of the largest price: the smallest that is looked at
BLOCK = 1 << 22  # numbers at a time
LARGEST = 1 << 25  # numbers of data whose span is looked for
NEWTON, ENOUGH = 60, 1e-9  # steps at most (a handful is usual), and a step after which the next changes nothing


class Moments(NamedTuple):
    """Weighted second moments of features, a constant and the target over some rows: a matrix of d + 2 columns."""

    of: np.ndarray
    intercept: bool

    def normal(self) -> tuple[np.ndarray, np.ndarray, float]:
        """Return G, c and the spread of the target: about the means where there is an intercept."""
        M = self.of / self.of[-2, -2]
        G, c, spread = M[:-2, :-2], M[:-2, -1], float(M[-1, -1])
        if self.intercept:
            mean = M[:-2, -2]
            return G - np.outer(mean, mean), c - mean * M[-2, -1], spread - float(M[-2, -1]) ** 2
        return G, c, spread

    def spread(self) -> float:
        """Return the mean square of the target about its mean."""
        return float(self.of[-1, -1] - self.of[-2, -1] ** 2 / self.of[-2, -2]) / float(self.of[-2, -2])

    def complete(self, x: np.ndarray) -> np.ndarray:
        """Return models, one for each row of x, as weights of features, constant and target: prediction less target."""
        level = (self.of[-2, -1] - x @ self.of[:-2, -2]) / self.of[-2, -2] if self.intercept else np.zeros(len(x))
        return np.column_stack([x, level, np.full(len(x), -1.0)])

    def loss(self, models: np.ndarray) -> np.ndarray:
        """Return the mean loss of each model over these rows."""
        return 0.5 * np.maximum(np.einsum("kd,kd->k", models @ self.of, models), 0.0) / self.of[-2, -2]


class Path(ABC):
    """The best model for every radius, or price."""

    def __init__(self, G: np.ndarray, c: np.ndarray, spread: float) -> None:
        self.G, self.c, self.null = G, c, 0.5 * spread

    @abstractmethod
    def largest_price(self) -> float:
        """Return the price at which next to nothing is bought."""

    @abstractmethod
    def at_prices(self, prices: np.ndarray) -> np.ndarray:
        """Return the models of some prices, as rows."""

    @abstractmethod
    def at_radii(self, radii: np.ndarray, near: np.ndarray | float = 0.0) -> np.ndarray:
        """Return the models of some radii, as rows; their prices may be known about."""

    @abstractmethod
    def norms(self, x: np.ndarray) -> np.ndarray:
        """Return the norms of models."""

    @abstractmethod
    def dual_norms(self, g: np.ndarray) -> np.ndarray:
        """Return the dual norms of slopes."""

    def fun(self, x: np.ndarray) -> np.ndarray:
        """Return the loss of models on the rows of the path."""
        return self.null + np.einsum("kd,kd->k", 0.5 * (x @ self.G) - self.c, x)

    def gaps(self, x: np.ndarray, radii: np.ndarray) -> np.ndarray:
        """Return the Frank-Wolfe gaps of models within their radii: proven bounds on what they miss."""
        g = x @ self.G - self.c
        return np.maximum(np.einsum("kd,kd->k", g, x) + radii * self.dual_norms(g), 0.0)

    def prices(self, count: int, floor: float) -> np.ndarray:
        """Return prices, falling by one factor, until what is left to gain is below `floor`."""
        top = self.largest_price()
        wide = top * np.geomspace(1.0, SMALLEST, RADII)
        fun = self.fun(self.at_prices(wide))
        last = int(np.flatnonzero(fun <= fun.min() + floor)[0])
        return np.geomspace(top, wide[max(last, 1)], count + 1)[1:]


class RidgePath(Path):
    """The path of l2 balls, in the basis of the eigenvectors of G."""

    def __init__(self, G: np.ndarray, c: np.ndarray, spread: float) -> None:
        super().__init__(G, c, spread)
        w, self.basis = np.linalg.eigh(G)
        real = w > len(w) * np.finfo(float).eps * w[-1]  # the rest is rounding: there the target has no part
        self.w, self.along = np.where(real, w, 1.0), np.where(real, self.basis.T @ c, 0.0)

    def largest_price(self) -> float:
        return float(self.along @ self.along) / (SMALL * self.null)

    def at_prices(self, prices: np.ndarray) -> np.ndarray:
        return (self.along / (self.w + prices[:, None])) @ self.basis.T

    def at_radii(self, radii: np.ndarray, near: np.ndarray | float = 0.0) -> np.ndarray:
        price = np.zeros(len(radii)) + near
        for _ in range(NEWTON):  # on 1/‖x‖ - 1/r, concave in the price: from below it never goes too far
            width = self.w + price[:, None]
            squares = (self.along / width) ** 2
            total = squares.sum(axis=1)
            step = (np.sqrt(total) / radii - 1) * total / (squares / width).sum(axis=1)
            before, price = price, np.maximum(price + step, 0.0)
            if (np.abs(price - before) <= ENOUGH * price).all():
                break
        return self.at_prices(price)

    def norms(self, x: np.ndarray) -> np.ndarray:
        return np.linalg.norm(x, axis=1)

    def dual_norms(self, g: np.ndarray) -> np.ndarray:
        return self.norms(g)


class LassoPath(Path):
    """The path of l1 balls: linear between the radii where a coefficient becomes or stops being zero."""

    def __init__(self, G: np.ndarray, c: np.ndarray, spread: float) -> None:
        super().__init__(G, c, spread)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a path that ends early is told by its gaps
            found: Any = lars_path_gram(c, G, n_samples=1, method="lasso", max_iter=8 * len(c))
        self.kinks, self.models = np.maximum.accumulate(found[0][::-1])[::-1], found[2].T
        self.lengths = np.maximum.accumulate(self.norms(self.models))

    def largest_price(self) -> float:
        return float(np.abs(self.c).max())

    def at_prices(self, prices: np.ndarray) -> np.ndarray:
        return self._between(-self.kinks, -prices)

    def at_radii(self, radii: np.ndarray, near: np.ndarray | float = 0.0) -> np.ndarray:
        return self._between(self.lengths, radii)

    def _between(self, known: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        last = len(known) - 1
        right = np.clip(np.searchsorted(known, wanted), 1, last) if last else np.zeros(len(wanted), int)
        left = np.maximum(right - 1, 0)
        width = known[right] - known[left]
        share = np.clip((wanted - known[left]) / np.where(width > 0, width, 1.0), 0.0, 1.0)[:, None]
        return (1 - share) * self.models[left] + share * self.models[right]

    def norms(self, x: np.ndarray) -> np.ndarray:
        return np.abs(x).sum(axis=1)

    def dual_norms(self, g: np.ndarray) -> np.ndarray:
        return np.abs(g).max(axis=1)


PATHS: dict[type, type[Path]] = {L1Ball: LassoPath, L2Ball: RidgePath}


class SquaredSearch(Choice):
    """Radii with the best models of each on each fold, all found at once."""

    def __init__(
        self, path: Path, radii: np.ndarray, facts: dict[str, Any], span: Any, *, found: bool, judged: bool
    ) -> None:
        self.path, self.tried, self.facts, self.span = path, radii, facts, span
        self.found, self.judged = found, judged

    @property
    def radii(self) -> np.ndarray:
        return self.tried

    def table(self, what: str) -> np.ndarray:
        return self.facts[what]

    def solution(self, radius: float, dtype: Any) -> np.ndarray:
        """Return the best model of a radius on all rows."""
        return _spanned(self.path.at_radii(np.array([radius])), self.span)[0].astype(dtype)


def squared_search(
    model: Any, task: Any, parts: list[Any], radii: Any, judge: Any = None, weight: Any = None
) -> SquaredSearch | None:
    """Return the search over given radii, over a number of them, or "auto"; None where this way is not open."""
    objective, path_of = task.objective, PATHS.get(type(model._domain(task, 1.0)))
    if path_of is None or type(objective) is not LeastSquares or (weight is None) != (task.weight is None):
        return None
    matrix: Any = getattr(objective.data, "matrix", None)
    n, d = objective.data.shape
    if not (isinstance(matrix, np.ndarray) or sp.issparse(matrix)) or (isinstance(radii, str) and radii != "auto"):
        return None
    span = None
    if path_of is RidgePath and n < min(d, READS) and n * d <= LARGEST:
        span, square = np.linalg.qr((matrix.toarray() if sp.issparse(matrix) else matrix).T.astype(np.float64))
        matrix = square.T
    elif n * d * d > READS * matrix.size:
        return None
    held_out = [_moments(task, matrix, test) for _, test in parts]
    apart = n == sum(len(test) for _, test in parts) == len(np.unique(np.concatenate([test for _, test in parts])))
    moments = np.sum([m.of for m in held_out], axis=0)
    total = Moments(moments, objective.intercept) if apart else _moments(task, matrix, np.arange(n))
    path = path_of(*total.normal())
    if not (path.null > 0 and np.abs(path.c).max() > 0):
        return None
    found = isinstance(radii, str | int | np.integer)
    if found:
        count = RADII if isinstance(radii, str) else integer("radii", radii, 1)
        prices = path.prices(count, task.floor)
        tried, first = np.unique(path.norms(path.at_prices(prices)), return_index=True)
        near: Any = prices[first]
    else:
        tried, near = np.unique([positive(f"radii[{i}]", radius) for i, radius in enumerate(radii)]), 0.0
    facts: dict[str, Any] = {name: [] for name in ("score", "loss", "gap", "usual", "coef")}
    for (train, test), there in zip(parts, held_out, strict=True):
        rest = apart and len(train) + len(test) == n
        here = Moments(total.of - there.of, objective.intercept) if rest else _moments(task, matrix, train)
        fold = path_of(*here.normal())
        x = fold.at_radii(tried, near)
        loss, gap = there.loss(here.complete(x)), fold.gaps(x, tried)
        if not (np.all(np.isfinite(loss)) and gap.max() <= goal_on_folds(task, float(loss.min()))):
            return None
        x = _spanned(x, span)
        score = -loss if judge is None else _judged(model, task.only(train), x, judge, test)
        coef = model._coef(task.coef(x.T.astype(task.dtype))).T
        for name, row in zip(facts, (score, loss, gap, 1 - 2 * loss / max(there.spread(), 1e-300), coef), strict=True):
            facts[name].append(row)
    tables = {name: np.stack(rows) for name, rows in facts.items()}
    return SquaredSearch(path, tried, tables, span, found=found, judged=judge is not None)


def _spanned(x: np.ndarray, span: np.ndarray | None) -> np.ndarray:
    """Return models, as rows, from those in a basis of the span of the data."""
    return x if span is None else x @ span.T


def _moments(task: Any, matrix: Any, rows: np.ndarray) -> Moments:
    """Return the second moments of some rows, in double precision."""
    f, d, total = task.objective, matrix.shape[1], 0.0
    matrix = matrix.tocsr() if sp.issparse(matrix) else matrix
    level = float(np.dot(f.share, f.b)) if f.intercept else 0.0  # which changes nothing but rounding
    step = max(1, BLOCK // (d + 2))
    for i in range(0, len(rows), step):
        some = rows[i : i + step]
        block = np.empty((len(some), d + 2))
        block[:, :d] = matrix[some].toarray() if sp.issparse(matrix) else matrix[some]
        block[:, d], block[:, d + 1] = 1.0, f.b[some] - level
        block *= np.sqrt(f.share[some])[:, None]
        total = total + block.T @ block
    return Moments(np.asarray(total), bool(f.intercept))


def _judged(model: Any, task: Any, x: np.ndarray, judge: Any, test: np.ndarray) -> np.ndarray:
    """Return the score of each model by the user's scoring."""
    models = x.astype(task.dtype)
    return np.array([judge(model._shell(one, task), task.linear(one)[test], test) for one in models])
