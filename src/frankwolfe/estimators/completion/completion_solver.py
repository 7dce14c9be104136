"""The numerical half of `MatrixCompleter`: effects, the weighted trace norm, and the radius from a held-out part."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from frankwolfe.backends import host
from frankwolfe.backends.namespace import columns
from frankwolfe.datasets.ratings import fit_effects
from frankwolfe.lowrank import LowRank
from frankwolfe.minimize import minimize
from frankwolfe.objectives.matrix_completion import MatrixCompletion
from frankwolfe.result import Result, Status
from frankwolfe.sets.spectral.nuclear import NuclearBall
from frankwolfe.terminal import interruptible

LEAST = 10  # ratings below which there is nothing to hold out
PRIOR = 5.0  # ratings added to each count, so that a user seen once is not given a scale of their own
FIRST = 0.5  # the first radius tried, as a share of the norm of the residuals
GROWTH = 1.5  # from one radius to the next
PATIENCE = 1  # radii without a better score after which the search ends
MOST = 20  # radii tried at most
BETTER = 5e-4  # a score counts as better from this share on: larger radii cost more and gain little
LARGEST_RELAX = 2.5
ROUGH = 1e-2  # tolerance of the search: more does not change a held-out error by 1e-4


class Ratings(NamedTuple):
    """Positions and values, the size of the matrix they belong to, and the torch device that it is fitted on, if any.

    Effects are fitted on the host in any case: the matrix is what takes time.
    """

    rows: np.ndarray
    cols: np.ndarray
    values: np.ndarray
    shape: tuple[int, int]
    device: Any = None

    def part(self, kept: np.ndarray) -> Ratings:
        """Return some of the ratings."""
        return self._replace(rows=self.rows[kept], cols=self.cols[kept], values=self.values[kept])


@dataclass(frozen=True)
class Recipe:
    """How to fit: the parameters of `MatrixCompleter` that are not the radius."""

    effects: bool
    shrinkage: float
    weighting: float
    rank_limit: int | None
    tol: float
    max_iter: int
    method: Any
    seed: int
    verbose: bool


@dataclass(frozen=True)
class Completion:
    """rating = mean + user effect + item effect + relax * row_scale * Z * col_scale, with Z in the trace-norm ball."""

    mean: float
    users: np.ndarray
    items: np.ndarray
    row_scale: np.ndarray
    col_scale: np.ndarray
    Z: LowRank
    result: Result | None  # None: there was nothing left to fit
    gap: float = 0.0
    lower_bound: float = 0.0
    relax: float = 1.0

    def base(self, rows: np.ndarray, cols: np.ndarray) -> np.ndarray:
        """Return what is predicted without the matrix."""
        return self.mean + self.users[rows] + self.items[cols]

    def matrix(self, rows: np.ndarray, cols: np.ndarray) -> np.ndarray:
        """Return what the matrix adds, before relaxation."""
        device = None if isinstance(self.Z.like, np.ndarray) else self.Z.like.device
        entries = self.Z.entries(moved(rows, device), moved(cols, device))
        return self.row_scale[rows] * self.col_scale[cols] * host(entries)

    def factors(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return U, s, V of the matrix in units of ratings, before relaxation."""
        left, right = (host(factor) for factor in self.Z.factors)
        X = LowRank.from_arrays(self.row_scale[:, None] * left, self.col_scale[:, None] * right)
        U, s, V = X.svd()
        kept = s > 1e-12 * (s[0] if s.size else 0.0)
        return U[:, kept], s[kept], V[:, kept]


class Tried(NamedTuple):
    """One radius of the search, and its error on the held-out part."""

    radius: float
    rmse: float
    relax: float
    rank: int


def without_matrix(data: Ratings, recipe: Recipe, known: np.ndarray | float = 0.0) -> Completion:
    """Fit mean and effects to the ratings less what is `known` of them."""
    rows, cols, values, shape, device = data
    mean = float(values.mean())
    left_over = values - mean - known
    users, items, _ = fit_effects(rows, cols, left_over, shape, center=recipe.effects, shrinkage=recipe.shrinkage)
    scales = _scale(rows, shape[0], recipe.weighting), _scale(cols, shape[1], recipe.weighting)
    return Completion(mean, users, items, *scales, LowRank.zero(shape, like=moved(np.empty(0), device)), None)


def complete(data: Ratings, radius: float, recipe: Recipe, start: Completion | None = None) -> Completion:
    """Fit the effects to what the matrix of `start` leaves over, and then the matrix to what the effects leave over."""
    rows, cols, values, shape, device = data
    fit = without_matrix(data, recipe, 0.0 if start is None else start.matrix(rows, cols))
    residual = values - fit.base(rows, cols)
    nothing = 0.5 * float(residual @ residual)
    if nothing <= 1e-24 * max(1.0, float(values @ values)):
        return fit
    weight = fit.row_scale[rows] * fit.col_scale[cols]
    # |row_scale Z col_scale - residual|² in the units in which the trace norm of Z is bounded.
    i, j, wanted = (moved(array, device) for array in (rows, cols, residual / weight))
    f = MatrixCompletion(i, j, wanted, shape, weights=None if recipe.weighting == 0 else moved(weight**2, device))
    result = minimize(
        f,
        NuclearBall(radius),
        None if start is None else _inside(start.Z, radius),
        method=recipe.method,
        tol=recipe.tol * nothing,
        max_iter=recipe.max_iter,
        random_state=recipe.seed,
    )
    if result.status is Status.INTERRUPTED:  # of many solves: the others must not go on
        raise KeyboardInterrupt
    Z, fun = result.x, result.fun
    if recipe.rank_limit is not None and Z.stored > recipe.rank_limit:
        U, s, V = (part[..., : recipe.rank_limit] for part in Z.svd())
        Z = LowRank(host(s), columns(U), columns(V), shape)
        fun = float(f.value(Z))
    return replace(fit, Z=Z, result=result, gap=fun - result.lower_bound, lower_bound=result.lower_bound)


def chosen(
    data: Ratings, recipe: Recipe, share: float, clip: Callable[[np.ndarray], np.ndarray]
) -> tuple[Completion | None, float, list[Tried]]:
    """Hold a share of the ratings out, and return what `search` finds by them; a first radius where they are few."""
    count = data.values.size
    held = np.random.default_rng(recipe.seed).permutation(count)[: max(1, round(share * count))]
    kept = np.setdiff1d(np.arange(count), held)
    if count < LEAST or not kept.size:
        return None, first_radius(data, without_matrix(data, recipe)), []
    return search(data.part(kept), data.part(held), recipe, clip)


def search(
    data: Ratings, held_out: Ratings, recipe: Recipe, clip: Callable[[np.ndarray], np.ndarray]
) -> tuple[Completion, float, list[Tried]]:
    """Try growing radii on `data`, each from the last one's matrix; return the best, its radius, and all scores.

    Each is relaxed before it is scored: the norm that shrinks noise shrinks the signal too, and the factor that the
    held-out part asks for gives the signal its size back.
    """
    recipe = replace(recipe, tol=max(recipe.tol, ROUGH))
    fit = best = without_matrix(data, recipe)
    radius = best_radius = first_radius(data, fit)
    tried, since = [], 0
    with interruptible() as asked:
        for _ in range(MOST):
            fit = complete(data, radius, recipe, fit)
            if asked.is_set():
                raise KeyboardInterrupt
            base, extra = fit.base(held_out.rows, held_out.cols), fit.matrix(held_out.rows, held_out.cols)
            fit = replace(fit, relax=_relaxation(held_out.values - base, extra))
            error = clip(base + fit.relax * extra) - held_out.values
            rmse = float(np.sqrt(np.mean(error * error)))
            since = 0 if not tried or rmse < (1 - BETTER) * min(t.rmse for t in tried) else since + 1
            if since == 0:
                best, best_radius = fit, radius
            tried.append(Tried(radius, rmse, fit.relax, fit.Z.stored))
            if recipe.verbose:
                sys.stderr.write(f"  radius {radius:<10.4g} held-out error {rmse:<8.4f} rank {fit.Z.stored}\n")
            if since == PATIENCE or fit.result is None:
                break
            radius *= GROWTH
    return best, best_radius, tried


def first_radius(data: Ratings, fit: Completion) -> float:
    """Return a radius that is surely too small: a share of the norm of what the effects leave over."""
    left_over = data.values - fit.base(data.rows, data.cols)
    return max(FIRST * float(np.sqrt(left_over @ left_over)), 1e-9)


def _relaxation(wanted: np.ndarray, extra: np.ndarray) -> float:
    """Return the multiple of `extra` that comes nearest to `wanted`, no less than one."""
    size = float(extra @ extra)
    return float(np.clip(wanted @ extra / size, 1.0, LARGEST_RELAX)) if size > 0 else 1.0


def _scale(index: np.ndarray, n: int, weighting: float) -> np.ndarray:
    """Return (how often each is seen, relative to the mean) to the power -weighting / 2."""
    seen = np.bincount(index, minlength=n) + PRIOR
    return (seen / seen.mean()) ** (-0.5 * weighting)


def moved(array: np.ndarray, device: Any) -> Any:
    """Return an array on a torch device; as it is where there is none."""
    if device is None:
        return array
    import torch

    return torch.as_tensor(array, device=device)


def _inside(Z: LowRank, radius: float) -> LowRank:
    norm = float(np.sum(np.abs(Z.weights))) if Z.stored else 0.0  # an SVD after every solve
    return Z * min(1.0, radius / norm) if norm > 0 else Z
