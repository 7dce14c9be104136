"""What the estimators that choose their radius share: folds, paths, the choice and the fit with it."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn import get_config
from sklearn.base import is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import get_scorer
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from frankwolfe.estimators.host_results import is_unsolved
from frankwolfe.estimators.in_parts import PartsTask
from frankwolfe.estimators.linear import LinearEstimator, Task
from frankwolfe.estimators.radius_search import Fold, choose, radius_grid, solve_fold
from frankwolfe.estimators.radius_search_in_parts import search_in_parts
from frankwolfe.kernels.threads import limited
from frankwolfe.minimize import minimize
from frankwolfe.rows.user_data import is_in_parts
from frankwolfe.sets import Set


class CrossValidated(LinearEstimator):
    """A linear estimator whose radius is chosen on held-out folds."""

    radii: Any
    cv: Any
    scoring: Any
    selection: str
    scores_: np.ndarray
    radii_: np.ndarray

    @abstractmethod
    def _gains(self, X: Any, y: np.ndarray) -> np.ndarray:
        """Return minus the loss of each row."""

    @abstractmethod
    def _targets(self, y: np.ndarray) -> np.ndarray:
        """Return targets as the user gave them."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Choose the radius on held-out folds, and fit the model with it to all the data.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Data.
        y : array of shape (n_samples,)
            Class labels, or targets.
        sample_weight : array of shape (n_samples,), optional
            Nonnegative weights of the samples, in fitting and in scoring.
        **params : dict
            Metadata for the splitter and the scorer, where metadata routing is enabled.

        Returns
        -------
        self
        """
        if self.selection not in ("best", "one_se"):
            raise ValueError(f"selection must be 'best' or 'one_se', got {self.selection!r}")
        if is_in_parts(X):
            search_in_parts(self, X, y, sample_weight, params)
            return self
        X, y, weight = self._checked(X, y, sample_weight)
        X = X.tocsr() if sp.issparse(X) else X
        split_params, score_params = self._routed(sample_weight, params)
        splitter: Any = check_cv(self.cv, y, classifier=is_classifier(self))
        folds = list(splitter.split(X, self._targets(y), **split_params))
        with limited(None):  # the number of threads is asked for once
            self._search(X, y, weight, folds, score_params)
        return self

    def _search(self, X: Any, y: np.ndarray, weight: np.ndarray | None, folds: list[Any], score_params: Any) -> None:
        """Choose the radius and fit with it."""
        whole = Task(self, X, y, weight)
        away = whole if whole.away else None
        self.radii_ = radius_grid(self, X, y, weight, away)
        whole.objective.data.solves = len(self.radii_)

        def job(train: np.ndarray, test: np.ndarray) -> Any:
            held_out = {name: _safe_indexing(value, test) for name, value in score_params.items()}
            return delayed(solve_fold)(self, X, y, weight, train, test, held_out, away)

        n_jobs = 1 if away else self.n_jobs  # a device has one copy of the data, and is busy with one fold
        found: Any = Parallel(n_jobs=n_jobs)(job(train, test) for train, test in folds)
        self._take(found, whole, X.dtype)

    def _take(self, found: list[Fold], task: Task | PartsTask, dtype: Any) -> None:
        """Choose the radius by what the folds say, and fit with it to all rows."""
        self.scores_ = np.stack([fold.scores for fold in found])
        self.coefs_paths_ = np.stack([fold.coefs for fold in found])
        place = choose(self.radii_, self.scores_, self.selection)
        self.radius_ = float(self.radii_[place])
        self.cv_results_ = _table(self.radii_, self.scores_)
        domain = self._family(task.shape).with_radius(self.radius_)
        # The folds' mean lies in the set, which is convex; sparse atoms are better collected afresh.
        start = np.mean([fold.points[place] for fold in found], axis=0).astype(dtype)
        options: dict[str, Any] = {**self._options(), "n_threads": None}
        x0 = None if domain.sparse_atoms else start
        self._keep(minimize(task.objective, domain, x0, tol=task.goal, **options), task)
        unsolved = sum(fold.unsolved for fold in found)
        if unsolved and not is_unsolved(self.result_):
            warnings.warn(
                f"{type(self).__name__}: max_iter={self.max_iter} stopped {unsolved} of {self.scores_.size} problems "
                f"on the folds, the worst with a gap of {max(f.gap for f in found):.3g}: raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _family(self, shape: tuple[int, ...]) -> Set:
        """Return a set of the kind asked for, of any radius."""
        return self._domain(shape, 1.0)

    def _held_out_score(self, X: Any, y: np.ndarray, params: dict[str, Any]) -> float:
        if self.scoring is not None:
            return float(get_scorer(self.scoring)(self, X, self._targets(y), **params))
        return float(np.average(self._gains(X, y), weights=params.get("sample_weight")))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the score of predictions: `scoring` where it was given, else accuracy (classes) or R² (targets).

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        float
        """
        if self.scoring is None:
            return super().score(X, y, sample_weight=sample_weight)  # pyright: ignore[reportAttributeAccessIssue]
        weight = {} if sample_weight is None else {"sample_weight": sample_weight}
        return float(get_scorer(self.scoring)(self, X, y, **weight))

    def plot_path(self, ax: Any = None) -> Any:
        """Draw coefficients (mean over the folds) and held-out score against the radius.

        Parameters
        ----------
        ax : pair of matplotlib Axes, optional
            Where to draw coefficients and score; a new figure by default.

        Returns
        -------
        array of two Axes
            Coefficients on the left, score with its standard error on the right; the chosen radius is marked.
        """
        from frankwolfe.plotting.paths import plot_search

        check_is_fitted(self)
        coefs = self.coefs_paths_.mean(axis=0).reshape(len(self.radii_), -1)
        label = (
            self.scoring if isinstance(self.scoring, str) else "held-out score" if self.scoring else "minus the loss"
        )
        return plot_search(self.radii_, coefs, self.scores_, self.radius_, self.method_, label, ax=ax)

    def get_metadata_routing(self) -> MetadataRouter:
        """Return who takes which metadata: this estimator, its splitter and its scorer."""
        router = MetadataRouter(owner=self).add_self_request(self)
        router.add(splitter=check_cv(self.cv), method_mapping=MethodMapping().add(caller="fit", callee="split"))
        if self.scoring is not None:
            mapping = MethodMapping().add(caller="fit", callee="score")
            router.add(scorer=get_scorer(self.scoring), method_mapping=mapping)
        return router

    def _routed(self, sample_weight: Any, params: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what the splitter and the scorer are given."""
        weight = {} if sample_weight is None else {"sample_weight": np.asarray(sample_weight)}
        if get_config()["enable_metadata_routing"]:
            routed = process_routing(self, "fit", **weight, **params)
            return routed.splitter.split, weight if self.scoring is None else routed.scorer.score
        if params:
            raise TypeError(
                f"fit got {', '.join(params)}, which needs sklearn.set_config(enable_metadata_routing=True); or "
                "pass the folds themselves as cv"
            )
        return {}, weight


def _table(radii: np.ndarray, scores: np.ndarray) -> dict[str, Any]:
    """Return the results in the form of scikit-learn's searches."""
    mean = scores.mean(axis=0)
    return {
        "param_radius": radii,
        "params": [{"radius": float(radius)} for radius in radii],
        **{f"split{i}_test_score": row for i, row in enumerate(scores)},
        "mean_test_score": mean,
        "std_test_score": scores.std(axis=0),
        "rank_test_score": 1 + (mean[:, None] < mean).sum(axis=1).astype(np.int32),
    }
