"""Linear estimators that choose their radius by cross-validation along the path."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import field
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn import get_config
from sklearn.metrics import get_scorer
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted

from frankwolfe.estimators.classifier import ClassifierBase
from frankwolfe.estimators.host_results import is_unsolved
from frankwolfe.estimators.in_parts import fetched, parts_task
from frankwolfe.estimators.linear import LinearEstimator
from frankwolfe.estimators.parameters import with_parameters
from frankwolfe.estimators.price_search import PriceSearch, price_search
from frankwolfe.estimators.radius_search import Choice, RadiusSearch, Search, pulled
from frankwolfe.estimators.regressor import RegressorBase
from frankwolfe.estimators.squared_search import squared_search
from frankwolfe.estimators.task import Task, quiet
from frankwolfe.kernels.threads import calm, limited
from frankwolfe.minimize import minimize
from frankwolfe.result import Result
from frankwolfe.rows.user_data import is_in_parts
from frankwolfe.sets import Set

PRESS = 1.5  # how much harder than on the folds all rows may press against the constraint
RAISE = 2**0.25  # the factor by which a radius that is too small for all rows grows
BINDING = 0.99  # of the gauge of a solution inside its set: the radius at which the constraint just binds


@with_parameters
class CrossValidated(LinearEstimator):
    """A linear estimator whose radius is chosen on held-out folds."""

    radii: Any = "auto"
    cv: Any = None
    scoring: Any = None
    selection: str = "best"
    tol: float = 1e-4
    scores_: np.ndarray = field(init=False)
    radii_: np.ndarray = field(init=False)
    _by_data = True  # pyright: ignore[reportAssignmentType]
    _targets: ClassVar[Callable[..., np.ndarray]]  # what a splitter and a scorer see of the targets

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
        if self._each(X, y, lambda model, target: model.fit(X, target, sample_weight, **params)):
            return self
        if is_in_parts(X):
            sample_weight = fetched(sample_weight)
            task, y = parts_task(self, X, y, sample_weight)
            X = None
        else:
            X, y, weight = self._checked(X, y, sample_weight)
            X = X.tocsr() if sp.issparse(X) else X
            task = Task.of(self, X, y, weight)
        split_params, score_params = self._routed(sample_weight, params)
        splitter: Any = check_cv(self.cv, y, classifier=isinstance(self, ClassifierBase))
        rows = np.zeros((len(y), 1)) if X is None else X
        try:
            parts = list(splitter.split(rows, self._targets(y), **split_params))
        except ValueError as error:
            if "n_splits" not in str(error):
                raise
            raise ValueError(
                f"the radius is chosen on held-out folds: {error} Take fewer folds (cv), or give a radius"
            ) from None
        judge = None if self.scoring is None else self._judge(X, y, score_params)
        own = score_params.get("sample_weight")
        for weight, halves in ((task.weight, [train for train, _ in parts]), (own, [test for _, test in parts])):
            if weight is not None and not all(np.any(weight[half] > 0) for half in halves):
                raise ValueError(
                    "sample_weight is zero for every sample that a fold is fitted to or judged by; leave samples "
                    "without weight out, or shuffle the folds (cv)"
                )
        with limited(None), quiet(task):  # the number of threads is asked for once
            search = (
                squared_search(self, task, parts, self.radii, judge, own)
                or price_search(self, task, y, parts, self.radii, judge, own)
                or RadiusSearch(self, task, y, parts, judge, own, self.n_jobs)
            )
            with calm() if isinstance(search, PriceSearch) else nullcontext():  # products with a few columns
                if isinstance(search, Search):
                    search.find(self.radii)
                self._take(search, task)
        return self

    def _judge(self, X: Any, y: np.ndarray, params: dict[str, Any]) -> Any:
        """Return what scores a model on some rows by the user's scoring."""
        scorer = get_scorer(self.scoring)

        def judge(shell: Any, scores: np.ndarray, test: np.ndarray) -> float:
            held_out = {name: _safe_indexing(value, test) for name, value in params.items()}
            if X is None:  # the rows are elsewhere, and their scores known
                shell._linear = lambda X: shell._shaped(scores)
            rows = np.zeros((len(test), 1)) if X is None else X[test]
            return float(scorer(shell, rows, self._targets(y[test]), **held_out))

        return judge

    def _fit_radius(self, task: Task, goal: float, start: np.ndarray | None = None) -> tuple[Set, Result]:
        """Fit to all rows with the radius there is."""
        domain = self._domain(task, self.radius_)
        return domain, minimize(task.objective, domain, start, tol=goal, **{**self._options(), "n_threads": None})

    def _take(self, search: Choice, task: Task) -> None:
        """Choose the radius by what the folds say, and fit with it to all rows."""
        self.radii_, self.scores_, self.coefs_paths_ = search.radii, search.table("score"), search.table("coef")
        place = search.place(self.selection)
        self.cv_score_ = float(search.table("usual")[:, place].mean())
        loss = float(search.table("loss")[:, place].mean())
        goal = max(min(task.goal, 0.01 * loss), task.floor)
        self.radius_, start = search.finish(place, goal)
        self.radii_[place] = self.radius_
        domain, result = self._fit_radius(task, goal, start)
        if isinstance(search, RadiusSearch) and search.found:
            trials = search.trials[self.radius_]
            # With more rows a solution is longer: where all rows press harder than the folds did, the set is too small.
            most = max(PRESS * float(np.mean([trial.pull for trial in trials])), goal / self.radius_)
            while pulled(task, domain, self.radius_, result.x)[0] > most:
                self.radius_ *= RAISE
                domain, result = self._fit_radius(task, goal)
            if domain.sparse_atoms and all(trial.free for trial in trials):
                # Where nothing binds nothing is sparse: the radius is that of the solution itself, or just below.
                self.radius_ = _gauge(lambda r: self._domain(task, r), result.x, self.radius_) * BINDING
                domain, result = self._fit_radius(task, goal)
        ends = search.ends_too_soon()
        self._keep(result, task, domain, not (search.found or ends))
        if isinstance(search, Search) and not is_unsolved(self.result_):
            search.warn_unsolved()
        if ends:
            warnings.warn(
                f"{type(self).__name__}: the best radius, {self.radii_[-1]:.3g}, is the largest tried, and the "
                "constraint still binds there; pass larger ones as radii, or scale the features",
                UserWarning,
                stacklevel=3,
            )

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

    @property
    def cv_results_(self) -> dict[str, Any]:
        """What the search found, in the form of scikit-learn's searches."""
        check_is_fitted(self)
        mean = self.scores_.mean(axis=0)
        return {
            "param_radius": self.radii_,
            "params": [{"radius": radius} for radius in self.radii_.tolist()],
            **{f"split{i}_test_score": row for i, row in enumerate(self.scores_)},
            "mean_test_score": mean,
            "std_test_score": self.scores_.std(axis=0),
            "rank_test_score": 1 + (mean[:, None] < mean).sum(axis=1).astype(np.int32),
        }

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
        from frankwolfe.plotting.curves import plot_search

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


def _gauge(domain: Any, x: np.ndarray, radius: float) -> float:
    """Return about the smallest radius whose set holds x."""
    low, high = 0.0, radius
    for _ in range(30):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if domain(middle).contains(x, 0.0) else (middle, high)
    return high


@with_parameters
class FrankWolfeClassifierCV(CrossValidated, ClassifierBase):
    """Logistic regression with the coefficients in a set whose radius is chosen by cross-validation.

    Parameters
    ----------
    constraint : str or Set, default "l2"
        As in `FrankWolfeClassifier`; of a Set, the radius is changed by its `with_radius`.
    radii : "auto", int or list of float, default "auto"
        Radii to try, or about how many. By default they double from a small one until the held-out loss gains no
        more or, certified, the constraint no longer binds; then the steps around the best are halved until neighbours
        are within 7 %, or their losses within 5 %.
    standardize : bool or "auto", default "auto"
        Bring the features to one scale before their coefficients are constrained, as in `FrankWolfeClassifier`;
        "auto" does so for norm balls by name.
    cv : int, splitter or iterable of (train, test), optional
        Folds; five stratified ones by default.
    scoring : str or callable, optional
        What to choose the radius by; by default the log loss on the held-out fold.
    selection : {"best", "one_se"}, default "best"
        The radius with the best mean score, or the smallest one within a standard error of it. Scores that differ by
        less than the folds were solved to count as equal, and the smallest of equal radii is taken.
    positive, linear, loss, p, k, groups, lower, upper, fit_intercept, class_weight
        As in `FrankWolfeClassifier`.
    tol : float, default 1e-4
        Certified gap, in nats, of the final fit; on the folds three percent of the held-out loss is enough.
    max_iter, method, verbose, random_state
        As in `FrankWolfeClassifier`.
    n_jobs : int, optional
        Folds solved at a time; one at a time on a device.
    device : str or None, default "auto"
        Where the data are worked on, as in `FrankWolfeClassifier`. They are moved once: a fold is the same rows with no
        weight on those held out.

    Attributes
    ----------
    radius_ : float
        The radius chosen: one of `radii_`, but for two cases where the folds are solved for radii, not for prices. It
        is raised where all rows press against it much harder than the folds did (with more rows a solution is longer),
        and lowered to where the constraint just binds where it does not bind at all.
    radii_ : array of shape (n_radii,)
        The radii tried, increasing. Those of l2 balls, and of l1 balls for squared loss, several classes or small
        data, that were not given stand for the price of the constraint (the multiplier) that they have on all rows: the
        folds are solved at that price.
    scores_ : array of shape (n_folds, n_radii)
        Score of each radius on each held-out fold.
    cv_score_ : float
        Accuracy (classes) or R² (targets) on the held-out folds at the radius chosen, in the mean.
    cv_results_ : dict
        The same in the form of scikit-learn's searches.
    coefs_paths_ : array of shape (n_folds, n_radii, ...)
        Coefficients of each radius on each fold.
    coef_, intercept_, proven_zero_, support_, classes_, n_iter_, gap_, lower_bound_, trace_, method_, result_
        As in `FrankWolfeClassifier`, for the fit to all the data.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = FrankWolfeClassifierCV("l1", cv=3).fit(X, y)
    >>> model.score(X, y) > 0.95, model.scores_.shape == (3, model.radii_.size)
    (True, True)
    """


@with_parameters
class FrankWolfeRegressorCV(CrossValidated, RegressorBase):
    """Linear regression with the coefficients in a set whose radius is chosen by cross-validation.

    Parameters
    ----------
    constraint : str or Set, default "l2"
        As in `FrankWolfeRegressor`; of a Set, the radius is changed by its `with_radius`.
    radii : "auto", int or list of float, default "auto"
        Radii to try, or about how many. By default they double from a small one until the held-out loss gains no
        more or, certified, the constraint no longer binds; then the steps around the best are halved until neighbours
        are within 7 %, or their losses within 5 %. For squared loss on l1 and l2 balls with up to about 1000 features,
        or 500 samples, they are 100, from nothing to where nothing more can be gained, so that the price of the
        constraint falls by one factor from each to the next; all are solved exactly, from the rows or their second
        moments.
    standardize : bool or "auto", default "auto"
        Bring the features to one scale before their coefficients are constrained, as in `FrankWolfeRegressor`;
        "auto" does so for norm balls by name.
    cv, scoring, selection
        As in `FrankWolfeClassifierCV`; five folds, and the model's own loss, by default.
    positive, linear, loss, delta, quantile, p, k, groups, lower, upper, fit_intercept
        As in `FrankWolfeRegressor`.
    tol : float, default 1e-4
        Certified gap of the final fit, as in `FrankWolfeRegressor`; on the folds three percent of the held-out loss is
        enough.
    max_iter, method, verbose, random_state, n_jobs, device
        As in `FrankWolfeClassifierCV`.

    Attributes
    ----------
    radius_, radii_, scores_, cv_score_, cv_results_, coefs_paths_
        As in `FrankWolfeClassifierCV`.
    coef_, intercept_, proven_zero_, support_, n_iter_, gap_, lower_bound_, trace_, method_, result_
        As in `FrankWolfeRegressor`, for the fit to all the data.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = FrankWolfeRegressorCV("l1").fit(X, y)
    >>> round(model.score(X, y), 1), model.radius_ in model.radii_
    (0.5, True)
    """
