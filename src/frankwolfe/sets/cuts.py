"""Regions of an image with the best ratio of weight to perimeter."""

from __future__ import annotations

from types import ModuleType

import numpy as np


def best_ratio_cut(weights: np.ndarray, max_cuts: int = 100) -> tuple[np.ndarray, float, float]:
    """Return the region S maximising weights(S) / Per(S), with its perimeter and the ratio.

    Parameters
    ----------
    weights : ndarray of shape (m, n)
        Weight of each pixel, summing to zero; both sides at least two.
    max_cuts : int, default=100
        Bound on Dinkelbach steps; a handful is usual.

    Notes
    -----
    The perimeter counts pairs of neighbours with one pixel inside. For a guess r, the region maximising
    weights(S) - r Per(S) is a minimum cut; its own ratio is the next guess, which grows until no region is better.

    Examples
    --------
    >>> import numpy as np
    >>> region, perimeter, ratio = best_ratio_cut(np.array([[1.0, -1.0], [1.0, -1.0]]))
    >>> region.astype(int), perimeter, ratio
    (array([[1, 0],
           [1, 0]]), 2.0, 1.0)
    """
    region, perimeter, ratio = _best_of(_straight_cuts(weights), weights)
    maxflow = _maxflow()
    if maxflow is None:
        return _best_of([region, *_levels(weights)], weights)
    for _ in range(max_cuts):
        if not ratio > 0:  # a constant direction: every region is as good
            break
        candidate = _minimum_cut(maxflow, weights, ratio)
        better = _best_of([region, candidate], weights)
        if not better[2] > ratio:
            break
        region, perimeter, ratio = better
    return region, perimeter, ratio


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


def _levels(weights: np.ndarray) -> list[np.ndarray]:
    """Return the level sets of an image maximising <weights, x> over unit total variation, by linear programming.

    By the coarea formula one of the level sets has the best ratio. A vertex of the programme has two levels only.
    """
    from scipy.optimize import linprog
    from scipy.sparse import coo_array, eye_array, hstack

    ids = np.arange(weights.size).reshape(weights.shape)
    heads = np.concatenate([ids[:-1].ravel(), ids[:, :-1].ravel()])
    tails = np.concatenate([ids[1:].ravel(), ids[:, 1:].ravel()])
    m, n = heads.size, weights.size
    signs = np.concatenate([np.ones(m), -np.ones(m)])
    differences = coo_array((signs, (np.tile(np.arange(m), 2), np.concatenate([heads, tails]))), shape=(m, n))
    # Variables: the image (its first pixel pinned at zero), then the positive and negative parts of its differences.
    answer = linprog(
        np.concatenate([-weights.ravel(), np.zeros(2 * m)]),
        A_ub=np.concatenate([np.zeros(n), np.ones(2 * m)])[None, :],
        b_ub=[1.0],
        A_eq=hstack([differences, -eye_array(m), eye_array(m)]).tocsr(),
        b_eq=np.zeros(m),
        bounds=[(0, 0)] + [(None, None)] * (n - 1) + [(0, None)] * (2 * m),
        method="highs",
    )
    if answer.x is None:
        raise RuntimeError(f"the linear programme of the total-variation oracle failed: {answer.message}")
    image = answer.x[:n].reshape(weights.shape)
    return [image > level for level in np.unique(image)[:-1]]
