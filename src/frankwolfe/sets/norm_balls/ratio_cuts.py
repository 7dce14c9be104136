"""Regions of an image with the best ratio of weight to perimeter."""

from __future__ import annotations

import math
from types import ModuleType
from typing import NamedTuple

import numpy as np

from frankwolfe.sets.polytopes.linear_programme import LinearProgramme

_BITS = 50  # of the sum of all weights: sums and differences of such whole numbers are exact
_MOST_CUTS = 100  # steps of Dinkelbach; a handful is usual


class Cut(NamedTuple):
    """A region, its perimeter, and a number that no region's ratio of weight to perimeter exceeds."""

    region: np.ndarray
    perimeter: float
    bound: float


def best_ratio_cut(weights: np.ndarray) -> Cut:
    """Return the region S of pixels maximising weights(S) / Per(S), the weights less their mean; sides of two or more.

    The perimeter counts pairs of neighbours with one pixel inside. For a guess r, the region maximising weights(S) - r
    Per(S) is a minimum cut; its own ratio is the next guess, which grows until no region is better.

    Weights are rounded to multiples of a unit so small that a flow cannot be rounded, and guesses up to such multiples:
    cuts are exact, and the last one proves the bound. A region and its complement have opposite weights, the smaller of
    them has at most half of the longer side times its perimeter in pixels, and each is off by no more than it was
    rounded.
    """
    centred = weights - weights.mean()
    centred = centred - math.fsum(centred.reshape(-1)) / centred.size  # a mean far from zero was rounded
    total = float(np.sum(np.abs(centred)))
    if not total > 0:  # a constant direction: every region is as good
        return Cut(*_best_of(_straight_cuts(weights), weights)[:2], 0.0)
    unit = math.ldexp(1.0, math.frexp(total)[1] - _BITS)
    whole = np.rint(centred / unit)
    extra = int(whole.sum())
    whole.reshape(-1)[: abs(extra)] -= math.copysign(1.0, extra)  # they are to sum to zero; there are more of them
    off = float(np.max(np.abs(centred - unit * whole))) + abs(math.fsum(centred.reshape(-1))) / centred.size
    off += 2.0**-51 * float(np.max(np.abs(centred)))  # the subtractions were rounded
    region, perimeter, ratio = _best_of(_straight_cuts(whole), whole)
    maxflow = _maxflow()
    if maxflow is None:
        levels, bound = _levels(centred)
        region, perimeter, _ = _best_of([region, *levels], whole)
        return Cut(region, perimeter, bound + 0.5 * max(weights.shape) * off)
    for _ in range(_MOST_CUTS):
        better = _best_of([region, _minimum_cut(maxflow, whole, math.ceil(ratio))], whole)
        if not better[2] > math.ceil(ratio):
            bound = unit * math.ceil(ratio) + 0.5 * max(weights.shape) * off
            return Cut(region, perimeter, bound * (1 + 1e-15))
        region, perimeter, ratio = better
    return Cut(region, perimeter, total)  # never seen; every perimeter is at least two


def perimeter_of(region: np.ndarray) -> int:
    """Return the number of neighbouring pairs with exactly one pixel in the region."""
    return int(np.count_nonzero(region[1:] != region[:-1]) + np.count_nonzero(region[:, 1:] != region[:, :-1]))


def _best_of(regions: list[np.ndarray], weights: np.ndarray) -> tuple[np.ndarray, float, float]:
    """Return the region of the best ratio (the first among equals) with its perimeter and ratio."""
    best = None
    for region in regions:
        perimeter = perimeter_of(region)
        if perimeter == 0:
            continue
        ratio = float(weights[region].sum()) / perimeter
        if ratio < 0:  # weights sum to zero, so the complement has the opposite ratio
            region, ratio = ~region, -ratio
        if best is None or ratio > best[2]:
            best = (region, float(perimeter), ratio)
    assert best is not None  # straight cuts always have a perimeter
    return best


def _straight_cuts(weights: np.ndarray) -> list[np.ndarray]:
    """Return the best horizontal and the best vertical cut, a start for Dinkelbach's method."""
    cuts = []
    for axis in (0, 1):
        sums = np.cumsum(weights.sum(axis=1 - axis))[:-1]
        before = np.arange(weights.shape[axis]) <= int(np.argmax(np.abs(sums)))
        cuts.append(np.broadcast_to(before[:, None] if axis == 0 else before[None, :], weights.shape))
    return cuts


def _maxflow() -> ModuleType | None:
    try:
        import maxflow
    except ImportError:
        return None
    return maxflow


def _minimum_cut(maxflow: ModuleType, weights: np.ndarray, ratio: float) -> np.ndarray:
    """Return the region maximising weights(S) - ratio * Per(S)."""
    graph = maxflow.Graph[float]()
    nodes = graph.add_grid_nodes(weights.shape)
    graph.add_grid_edges(nodes, ratio)
    graph.add_grid_tedges(nodes, np.maximum(weights, 0.0), np.maximum(-weights, 0.0))
    graph.maxflow()
    return ~graph.get_grid_segments(nodes)


def _levels(weights: np.ndarray) -> tuple[list[np.ndarray], float]:
    """Return the level sets of an image maximising <weights, x> over unit total variation, and a bound on that.

    By the coarea formula one of the level sets has the best ratio. A vertex of the programme has two levels only.
    """
    from scipy.sparse import coo_array, eye_array, hstack, vstack

    ids = np.arange(weights.size).reshape(weights.shape)
    heads = np.concatenate([ids[:-1].ravel(), ids[:, :-1].ravel()])
    tails = np.concatenate([ids[1:].ravel(), ids[:, 1:].ravel()])
    m, n = heads.size, weights.size
    signs = np.concatenate([np.ones(m), -np.ones(m)])
    differences = coo_array((signs, (np.tile(np.arange(m), 2), np.concatenate([heads, tails]))), shape=(m, n))
    # Variables: the image (its first pixel pinned at zero), then the positive and negative parts of its differences.
    rows = vstack([hstack([differences, -eye_array(m), eye_array(m)]), np.append(np.zeros(n), np.ones(2 * m))[None, :]])
    low, high = np.append(np.full(n, -1.0), np.zeros(2 * m)), np.ones(n + 2 * m)
    low[0] = high[0] = 0.0
    sides = np.append(np.zeros(m), -np.inf), np.append(np.zeros(m), 1.0)
    cost = np.append(-weights.reshape(-1), np.zeros(2 * m))
    found, message = LinearProgramme(rows.tocsc(), sides, (low, high), warm=False).minimise(cost)
    if found is None:
        raise RuntimeError(f"the linear programme of the total-variation oracle failed: {message}")
    image = found.x[:n].reshape(weights.shape)
    # Pinned at the first pixel instead of at its mean, an image has the weights' sum, which is not quite zero, too.
    bound = -found.lower + abs(math.fsum(weights.reshape(-1)))
    return [image > level for level in np.unique(image)[:-1]], bound
