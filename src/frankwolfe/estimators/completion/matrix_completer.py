"""A recommender: fill in a matrix of ratings from those that are known."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import field
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from frankwolfe.estimators.completion.completer_files import read_completer, write_completer
from frankwolfe.estimators.completion.completion_solver import Completion, Ratings, Recipe, chosen, complete
from frankwolfe.estimators.completion.ratings import Observed, read_observed
from frankwolfe.estimators.host_results import on_host
from frankwolfe.estimators.parameters import with_parameters
from frankwolfe.result import Status
from frankwolfe.rows.placement import torch_device
from frankwolfe.validation import integer, nonnegative, positive

MANY = 1 << 21  # ratings from which a GPU is ahead of two cores, its start-up counted


@with_parameters
class MatrixCompleter(BaseEstimator):
    """Low-rank completion of a matrix of ratings, by users and items with any identifiers.

    A rating is the mean, plus an effect of the user, plus an effect of the item, plus an entry of a matrix of bounded
    trace norm, fitted by Frank-Wolfe with a certificate.

    Parameters
    ----------
    radius : float or "auto", default "auto"
        Bound on the trace norm of the matrix, in units of ratings. "auto" tries growing radii, each from the last one's
        solution, keeps what predicts a held-out part best, and fits it again on all ratings.
    rank_limit : int, optional
        Keep at most so many factors. `gap_` is then that of what is kept.
    effects : bool, default True
        Fit user and item effects; without them only the mean is taken off.
    shrinkage : float, default 4
        Each effect is drawn to zero as by so many ratings that say zero.
    weighting : float from 0 to 1, default 0.5
        How much rows and columns that are seldom seen are held back: 0 is the plain trace norm, 1 weights rows and
        columns by how often they are seen.
    relax : float or "auto", default "auto"
        Factor on the fitted matrix, which the norm has shrunk. "auto" takes it from the held-out part where `radius` is
        "auto", and is 1 otherwise.
    clip : bool, default True
        Keep predictions within the range of the ratings seen.
    validation : float, default 0.1
        Share of the ratings held out to choose the radius.
    tol : float, default 2e-3
        Certified gap to reach, as a share of what the objective is without the matrix.
    max_iter : int, default 200
        Most steps of each solve.
    method : str or Method, default "auto"
        As in `minimize`.
    random_state : int, default 0
        Seed of the held-out part and of the oracle.
    verbose : bool, default False
        Write a line to stderr for each radius tried.
    device : str or None, default "auto"
        Where the matrix is fitted: "auto" is the GPU where there is one and the ratings are many enough to gain, "cpu"
        (or None) NumPy on the CPU, "cuda" or "cuda:1" that GPU, through torch. What is fitted is NumPy's in any case.

    Attributes
    ----------
    radius_, relax_ : float
        What was chosen. The problem solved has `radius_` as its bound; predictions use `relax_` times its solution.
    mean_, user_effects_, item_effects_ : float and arrays
        Predicted where nothing else is known.
    factors_ : (ndarray, ndarray)
        U (users x rank) and V (items x rank): the matrix is U @ V.T, in units of ratings.
    users_, items_ : list
        The identifiers, in the order of the rows of U and V.
    search_ : list of (radius, rmse, relax, rank)
        The radii tried, with their error on the held-out part.
    gap_, lower_bound_, n_iter_, method_, rank_
        The certificate of the last solve (half the sum of squared errors), its steps and method; number of factors.
    result_ : Result or None
        That solve, for `explain`; None after `load`, or if the effects alone fit exactly.

    Notes
    -----
    The trace norm weighted by how often rows and columns are seen [1]_ predicts better where ratings are not spread
    evenly; half the weighting in the exponent was best on held-out parts of MovieLens. Repeated ratings of one pair are
    averaged. Users and items that were never seen get the mean and the effect that is known.

    References
    ----------
    .. [1] R. Salakhutdinov and N. Srebro, Collaborative filtering in a non-uniform world: learning with the weighted
       trace norm, NIPS 2010.

    Examples
    --------
    >>> users = ["ann", "ann", "bob", "bob", "cid", "cid"]
    >>> films = ["Alien", "Brazil", "Alien", "Casablanca", "Brazil", "Casablanca"]
    >>> model = MatrixCompleter(radius=2.0).fit(users, films, [5, 4, 4, 2, 4, 1])
    >>> model.recommend("cid", n=1)[0][0]
    'Alien'
    >>> bool(model.predict("ann", "Casablanca") < model.predict("cid", "Alien"))
    True
    >>> round(float(model.predict("nobody", "nothing")), 2)
    3.33
    """

    radius: float | str = field(default="auto", kw_only=False)
    rank_limit: int | None = field(default=None, kw_only=False)
    effects: bool = True
    shrinkage: float = 4.0
    weighting: float = 0.5
    relax: float | str = "auto"
    clip: bool = True
    validation: float = 0.1
    tol: float = 2e-3
    max_iter: int = 200
    method: Any = "auto"
    random_state: int = 0
    verbose: bool = False
    device: str | None = "auto"

    def fit(self, rows: Any, cols: Any = None, values: Any = None, *, columns: Sequence[str] | None = None) -> Self:
        """Fit to ratings.

        Parameters
        ----------
        rows, cols, values : array_like of one length
            Users, items (any identifiers) and ratings. Or `rows` alone: a sparse matrix, whose stored entries are the
            ratings, or a pandas, polars or pyarrow frame.
        columns : (str, str, str), optional
            Names of the user, item and rating columns of a frame; the first three otherwise.
        """
        recipe, radius, relax, share = self._checked()
        seen = read_observed(rows, cols, values, columns)
        shape, device = (len(seen.users), len(seen.items)), torch_device(self.device, seen.values.size, MANY)
        data = Ratings(seen.rows, seen.cols, seen.values, shape, device)
        self._remember(seen)
        start, self.search_ = None, []
        if radius is None:
            start, radius, self.search_ = chosen(data, recipe, share, self._clipped)
        fit = complete(data, radius, recipe, start)
        if start is None:  # the effects once more, now that there is a matrix
            fit = complete(data, radius, recipe, fit)
        self.relax_ = relax if relax is not None else 1.0 if start is None else start.relax
        self.radius_ = float(radius)
        self._take(fit)
        if fit.result is not None and fit.result.status is not Status.OPTIMAL:
            warnings.warn(
                f"MatrixCompleter stopped early ({fit.result.message}); raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def predict(self, users: Any, items: Any) -> Any:
        """Return the ratings expected of users for items; one of the two may be a single one."""
        check_is_fitted(self, "factors_")
        rows, cols = self._users.positions(users), self._items.positions(items)
        if rows.ndim and cols.ndim and rows.size != cols.size:
            raise ValueError(f"users and items must be equally many, or one single, got {rows.size}, {cols.size}")
        out = self._expected(*np.broadcast_arrays(rows, cols))
        return out if out.ndim else float(out)

    def recommend(self, user: Any, n: int = 10, *, exclude_seen: bool = True) -> list[tuple[Any, float]]:
        """Return the n best items for a user, each with its expected rating, best first.

        An unknown user gets what everybody likes.
        """
        check_is_fitted(self, "factors_")
        n, row = integer("n", n, 1), int(self._users.positions(user))
        U, V = self.factors_
        scores = self.mean_ + self.item_effects_
        if row >= 0:
            scores = scores + self.user_effects_[row] + V @ U[row]
            if exclude_seen:
                scores[self._seen_by(row)] = -np.inf
        shown = self._clipped(scores)
        return [(self._items.labels[j], float(shown[j])) for j in _largest(scores, n)]

    def similar_items(self, item: Any, n: int = 10) -> list[tuple[Any, float]]:
        """Return the n items that are liked by the same users, each with its similarity from -1 to 1.

        The similarity is the cosine between columns of the fitted matrix. An unknown item has none.
        """
        check_is_fitted(self, "factors_")
        n, col = integer("n", n, 1), int(self._items.positions(item))
        U, V = self.factors_
        if col < 0 or not U.shape[1]:
            return []
        columns = V * np.sqrt(np.sum(U * U, axis=0))  # the columns of U are orthogonal
        length = np.sqrt(np.sum(columns * columns, axis=1))
        alike = columns @ columns[col] / np.maximum(length * length[col], 1e-300)
        alike[length <= 1e-9 * length.max()] = -np.inf  # items of which nothing is known
        alike[col] = -np.inf
        return [(self._items.labels[j], float(np.clip(alike[j], -1.0, 1.0))) for j in _largest(alike, n)]

    def score(self, rows: Any, cols: Any = None, values: Any = None, *, columns: Sequence[str] | None = None) -> float:
        """Return minus the root mean squared error on ratings in any of the forms that `fit` takes."""
        check_is_fitted(self, "factors_")
        seen = read_observed(rows, cols, values, columns)
        known_rows, known_cols = self._users.positions(seen.users.labels), self._items.positions(seen.items.labels)
        error = self._expected(known_rows[seen.rows], known_cols[seen.cols]) - seen.values
        return -float(np.sqrt(np.mean(error * error)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file (.npz): arrays and JSON, no pickle."""
        check_is_fitted(self, "factors_")
        write_completer(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model that `save` wrote. Nothing in the file is run, and a damaged one is refused."""
        return read_completer(cls, path)

    @property
    def users_(self) -> list[Any]:
        return self._users.labels

    @property
    def items_(self) -> list[Any]:
        return self._items.labels

    def _expected(self, rows: np.ndarray, cols: np.ndarray) -> np.ndarray:
        """Return predictions by position; -1 is unknown."""
        U, V = self.factors_
        extra = np.zeros(rows.shape)
        for left, right in zip(U.T, V.T, strict=True):
            extra += left[rows] * right[cols]
        # Unknown ones (-1) point at the last of each, which is then ignored.
        out = self.mean_ + np.where(rows >= 0, self.user_effects_[rows], 0.0)
        out = out + np.where(cols >= 0, self.item_effects_[cols], 0.0)
        return self._clipped(out + np.where((rows >= 0) & (cols >= 0), extra, 0.0))

    def _checked(self) -> tuple[Recipe, float | None, float | None, float]:
        """Return the parameters, checked; None where the held-out part decides."""
        for name in ("radius", "relax"):
            value = getattr(self, name)
            if isinstance(value, str) and value != "auto":
                raise ValueError(f"{name} must be a positive number or 'auto', got {value!r}")
        share = nonnegative("validation", self.validation)
        weighting = nonnegative("weighting", self.weighting)
        if not 0 < share < 1 or weighting > 1:
            raise ValueError(f"validation must lie in (0, 1) and weighting in [0, 1], got {share} and {weighting}")
        recipe = Recipe(
            effects=bool(self.effects),
            shrinkage=nonnegative("shrinkage", self.shrinkage),
            weighting=weighting,
            rank_limit=None if self.rank_limit is None else integer("rank_limit", self.rank_limit, 1),
            tol=positive("tol", self.tol),
            max_iter=integer("max_iter", self.max_iter, 1),
            method=self.method,
            seed=integer("random_state", self.random_state, 0),
            verbose=bool(self.verbose),
        )
        radius = None if self.radius == "auto" else positive("radius", self.radius)
        relax = None if self.relax == "auto" else positive("relax", self.relax)
        return recipe, radius, relax, share

    def _remember(self, seen: Observed) -> None:
        from scipy.sparse import csr_array

        self._users, self._items = seen.users, seen.items
        self.rating_range_ = float(seen.values.min()), float(seen.values.max())
        by_user = csr_array((np.ones(seen.rows.size, bool), (seen.rows, seen.cols)), (len(seen.users), len(seen.items)))
        self._seen = by_user.indptr.astype(np.int64), by_user.indices.astype(np.int64)

    def _take(self, fit: Completion) -> None:
        self.mean_, self.user_effects_, self.item_effects_ = fit.mean, fit.users, fit.items
        U, s, V = fit.factors()
        root = np.sqrt(s)
        self.factors_ = self.relax_ * root * U, root * V
        self.rank_ = int(s.size)
        self.gap_, self.lower_bound_ = float(fit.gap), float(fit.lower_bound)
        self.result_ = None if fit.result is None else on_host(fit.result)
        self.n_iter_ = 0 if fit.result is None else fit.result.n_iter
        self.method_ = "effects alone" if fit.result is None else fit.result.method

    def _seen_by(self, row: int) -> np.ndarray:
        start, items = self._seen
        return items[start[row] : start[row + 1]]

    def _clipped(self, ratings: np.ndarray) -> np.ndarray:
        return np.clip(ratings, *self.rating_range_) if self.clip else ratings


def _largest(scores: np.ndarray, n: int) -> np.ndarray:
    """Return the positions of the n largest finite scores, largest first."""
    n = min(n, int(np.count_nonzero(scores > -np.inf)))
    top = np.argpartition(-scores, n - 1)[:n] if n else np.zeros(0, np.intp)
    return top[np.argsort(-scores[top], kind="stable")]
