"""`path`: the same problem over sets of many radii, solved together or one after the other."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import replace
from time import monotonic
from typing import Any

import numpy as np

from frankwolfe.backends.compile_policy import choices_of_run
from frankwolfe.backends.precision import exact_products
from frankwolfe.kernels.threads import thread_limit
from frankwolfe.methods import AcceleratedFrankWolfe, Method, auto, named
from frankwolfe.minimize import check_objective, tolerance_of
from frankwolfe.objectives.base import Objective
from frankwolfe.objectives.derive import derive
from frankwolfe.objectives.weighted_mean import WeightedMean
from frankwolfe.path.collection import Path
from frankwolfe.path.strategies import Collector, Job, in_step, in_turn, pays_together, steps_together
from frankwolfe.problem import Problem
from frankwolfe.rows.user_data import data_matrix
from frankwolfe.sets.base import Set
from frankwolfe.terminal import compiling_shown
from frankwolfe.validation import integer, named_options, nonnegative, positive, seed_of

CONSTANT = 1e-12  # of a feature's mean square, the variance below which it counts as constant


@named_options
def path(
    objective: Objective,
    domain: type[Set] | Set,
    radii: Iterable[float],
    *,
    score: Callable[[Any, float], float] | Objective | None = None,
    x0: Any = None,
    method: str | Method = "auto",
    together: bool | None = None,
    standardize: bool = False,
    tol: float | None = None,
    rtol: float = 0.0,
    max_iter: int = 10_000,
    time_limit: float | None = None,
    trace_every: int = 1,
    progress: bool | None = None,
    n_threads: int | None = None,
    random_state: int | None = None,
) -> Path:
    """Minimise over sets of many radii: a whole regularisation path, each radius with its own certificate.

    Parameters
    ----------
    objective : Objective
        What to minimise.
    domain : Set or class of sets
        A class such as `L1Ball`, or a set whose `with_radius` gives the others, such as `LpBall(1.0, p=1.5)`.
    radii : iterable of float
        Positive radii, in any order.
    score : callable or Objective, optional
        `score(x, radius)`, the higher the better; or an objective on held-out data, whose value should be low. Asked
        as each radius is done.
    x0 : array, optional
        Where to start; it must lie in every set. By default as in `minimize`.
    method : str or Method, default "auto"
        As in `minimize`, for every radius.
    together : bool, optional
        True solves all radii at once and reads the data once per iteration for all of them; this needs 'afw' or 'fw',
        and `LeastSquares`, `Logistic` or `Quadratic` over a set with a closed-form oracle. False takes the radii from
        small to large, each from the solution of the last. None, the default, chooses; see Notes.
    standardize : bool, default False
        Bound the coefficients times the spread of their features, as if these had been scaled to unit variance (root
        mean square without an intercept); solutions are for the data as given. For linear models in memory.
    tol, rtol, max_iter, trace_every, n_threads, random_state
        As in `minimize`, for each radius.
    time_limit : float, optional
        Largest number of seconds for the whole path.
    progress : bool, optional
        Show progress on stderr: always, never, or (None) on a terminal for work over two seconds.

    Returns
    -------
    Path
        A sequence of `Result`, in the order of `radii`, with `.scores`, `.best`, `.coefs`, ``.to_pandas()`` and
        ``.plot()``.

    Notes
    -----
    Together, the points are rows of one matrix, and the products with the data are matrix products. Every step is the
    same, number for number, as if the radius were alone; a radius that is done leaves.

    One after the other, a radius starts from the best point between the last solution and itself scaled up, with its
    atoms where the method keeps them. A tangent of f is one whatever the set: with slope g and offset c the last
    radius's tangents prove f* >= c - R|g|_* at the new radius R before any work is done there.

    The default solves together where that was measured to pay: 'afw' and 'fw' with open-loop steps on dense data (1.1
    to 1.6 times ahead of separate solves for 32 radii), and every method that can on a GPU. Elsewhere one after the
    other is ahead. So is 'auto', which takes second-order or corrective steps wherever it can.

    Examples
    --------
    >>> import numpy as np, frankwolfe as fw
    >>> rng = np.random.default_rng(0)
    >>> A = rng.standard_normal((80, 5))
    >>> b = A @ [2.0, -1.0, 0.0, 0.0, 0.0] + rng.standard_normal(80)
    >>> held_out = fw.LeastSquares(A[60:], b[60:])
    >>> path = fw.path(fw.LeastSquares(A[:60], b[:60]), fw.L1Ball, [1.0, 2.0, 3.0, 4.0], score=held_out)
    >>> path.success, path.best_radius
    (True, 3.0)
    """
    sizes = _radii(radii)
    _check(objective, score, together)
    lower_is_better = isinstance(score, Objective)
    unique = np.unique(sizes)
    scale = None
    if standardize:
        objective, scale = on_one_scale(objective)
    members = _members(domain, unique.tolist())
    job = Job(
        objective=objective,
        members=members,
        radii=unique.tolist(),
        x0=x0,
        tolerance=tolerance_of(tol, rtol),
        max_iter=integer("max_iter", max_iter, 0),
        time_limit=None if time_limit is None else nonnegative("time_limit", time_limit),
        trace_every=integer("trace_every", trace_every, 1),
        progress=progress,
        seed=seed_of(random_state),
    )
    threads = None if n_threads is None else integer("n_threads", n_threads, 1)
    collector, began = Collector(job, _scorer(score, scale)), monotonic()
    with thread_limit(threads), exact_products(), compiling_shown(progress), choices_of_run():
        chosen, reason, at_once = _choose(job, method, together)
        n_pass = (in_step if at_once else in_turn)(job, chosen, reason, collector)
    places = np.searchsorted(unique, sizes)
    scores = None if score is None else np.array([collector.scores[i] for i in places])
    results = [collector.results[i] for i in places]
    if scale is not None:  # atoms and tangents belong to the scaled features
        without = {"atoms": None, "weights": None, "tangents": None}
        results = [replace(result, x=_unscaled(result.x, scale), **without) for result in results]
    return Path(sizes, results, scores, lower_is_better, n_pass, monotonic() - began)


def _choose(job: Job, method: str | Method, together: bool | None) -> tuple[Method, str, bool]:
    """Return the method, the reason for it, and whether all radii are solved at once."""
    problem = Problem(job.objective, job.members[-1], job.seed)
    if method != "auto":
        chosen, reason = named(method), "chosen by the caller"
    elif together:
        chosen, reason = AcceleratedFrankWolfe(line_search=job.members[0].curved), "all radii together"
    else:
        chosen, reason = auto.choose(problem)
    possible = steps_together(chosen, job)
    if together and not possible:
        raise ValueError(
            f"together=True needs 'afw' or 'fw' (got {chosen.name!r}) and LeastSquares, Logistic or Quadratic over a "
            f"set with a closed-form oracle (got {type(job.objective).__name__} over {type(job.members[0]).__name__}); "
            "leave together=None"
        )
    return chosen, reason, possible and (pays_together(chosen, job.objective) if together is None else together)


def _check(objective: Any, score: Any, together: Any) -> None:
    check_objective(objective)
    if score is not None and not isinstance(score, Objective) and not callable(score):
        raise TypeError(f"score must be a function of x and radius, or an Objective, got {type(score).__name__}")
    if together not in (None, True, False):
        raise ValueError(f"together must be True, False or None, got {together!r}")


def on_one_scale(objective: Any) -> tuple[Any, np.ndarray]:
    """Return a linear model with its features divided by their spread (root mean square without an intercept)."""
    from scipy.sparse import diags_array, issparse

    matrix: Any = getattr(getattr(objective, "data", None), "matrix", None)
    if not isinstance(objective, WeightedMean) or not (isinstance(matrix, np.ndarray) or issparse(matrix)):
        raise TypeError(
            "standardize=True needs a linear model such as LeastSquares(A, b) with A in memory; scale A first"
        )
    share, data = objective.exact_share, objective.data
    squares = np.asarray(data.column_squares(data.array(share)), dtype=np.float64)
    mean = np.asarray(data.adjoint(data.array(share)), dtype=np.float64) if objective.intercept else 0.0
    variance = squares - np.square(mean)
    scale = np.where(variance > CONSTANT * squares, np.sqrt(np.maximum(variance, 0.0)), 1.0).astype(matrix.dtype)
    divided = matrix / scale if isinstance(matrix, np.ndarray) else matrix @ diags_array(1 / scale)
    return derive(objective, data=data_matrix("A", divided)), scale


def _unscaled(x: Any, scale: np.ndarray) -> Any:
    """Return a solution for the data as given; one entry, or row, for each feature."""
    return (np.asarray(x).T / scale).T


def _scorer(score: Any, scale: np.ndarray | None) -> Callable[[Any, float], float] | None:
    """Return a score of solutions for scaled data, from one of solutions for the data as given."""
    if score is None:
        return None
    given = (lambda x, radius: score.value(x)) if isinstance(score, Objective) else score
    return lambda x, radius: float(given(x if scale is None else _unscaled(x, scale), radius))


def _radii(radii: Any) -> np.ndarray:
    """Return the radii as a vector, or say what is wrong with them."""
    if isinstance(radii, str) or not isinstance(radii, Iterable) or getattr(radii, "ndim", 1) == 0:
        raise TypeError(f"radii must be a list of positive numbers such as [0.1, 1, 10], got {radii!r}")
    values = [positive(f"radii[{i}]", radius) for i, radius in enumerate(radii)]
    if not values:
        raise ValueError("radii is empty; pass at least one positive number, such as [0.1, 1, 10]")
    return np.array(values)


def _members(domain: Any, radii: list[float]) -> list[Set]:
    """Return the set of each radius."""
    if isinstance(domain, Set):
        return [domain.with_radius(radius) for radius in radii]
    if not (isinstance(domain, type) and issubclass(domain, Set)):
        raise TypeError(f"domain must be a set such as L1Ball, or L1Ball(1.0), got {domain!r}")
    parameters = inspect.signature(domain).parameters
    missing = [p.name for p in parameters.values() if p.default is p.empty and p.name != "radius"]
    if "radius" not in parameters or missing:
        needs = f"{' and '.join(missing)} as well as a radius" if "radius" in parameters else "more than a radius"
        raise TypeError(
            f"{domain.__name__} needs {needs}; pass a set of this kind, not the class, and its with_radius is used"
        )
    make: Any = domain
    return [make(radius=radius) for radius in radii]
