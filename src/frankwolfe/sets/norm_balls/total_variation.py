"""Balls of total variation: signals and images that jump little."""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import ModuleType
from typing import NamedTuple

import array_api_compat
import numpy as np

from frankwolfe.atoms import Dense
from frankwolfe.backends import Array, Scalar, all_finite, eps, largest, namespace, scaled
from frankwolfe.sets.arrays import above, norm, slack
from frankwolfe.sets.base import Ball, LinearMinimum, ProvenSet, known_shape
from frankwolfe.sets.polytopes.linear_programme import LinearProgramme

_BITS = 50  # of the sum of all weights: sums and differences of such whole numbers are exact
_MOST_CUTS = 100  # steps of Dinkelbach; a handful is usual


@dataclass(frozen=True)
class TotalVariationBall(Ball, ProvenSet):
    """Zero-mean signals (1-D) or images (2-D) with total variation at most `radius`.

    Total variation is the sum of absolute differences between neighbours; for an image, between neighbours in a row and
    in a column (the anisotropic form). Without the zero mean the set would be unbounded: constants have no variation.

    Parameters
    ----------
    radius : float
        Positive radius.

    Notes
    -----
    For a signal the atoms have a single jump, found from one running sum in O(n), in every array namespace.

    For an image an atom is constant on some region S and on its complement, and the oracle maximises g(S) / Per(S) over
    regions for the centred direction: Dinkelbach's method [1]_ [2]_ with one minimum cut for each guess of the ratio (a
    handful). It is exact but far costlier than one pass, and is for NumPy arrays only. Cuts are by PyMaxflow where it
    is installed (``pip install "frankwolfe[tv]"``); otherwise one linear programme is solved by HiGHS, more slowly.

    References
    ----------
    .. [1] W. Dinkelbach, "On nonlinear fractional programming", Management Science 13, 1967.
    .. [2] A. Chambolle, V. Duval, G. Peyre, C. Poon, "Geometric properties of solutions to the total variation
       denoising problem", Inverse Problems 33, 2016.

    Examples
    --------
    >>> import numpy as np
    >>> TotalVariationBall(4.0).lmo(np.array([1.0, 1.0, -1.0, -1.0])).toarray()
    array([-2., -2.,  2.,  2.])
    """

    def slow_oracle(self, shape: tuple[int, ...]) -> bool:
        return len(shape) > 1  # a flow on the image

    def minimum(self, g: Array) -> LinearMinimum:
        """Return an atom with its value, and a lower bound that allows for the rounding of cuts and running sums."""
        if _is_image(g):
            region, perimeter, bound = _best_region(g)
            v = region.astype(g.dtype if g.dtype.kind == "f" else np.float64)
            atom = Dense((-self.radius / perimeter) * (v - float(np.mean(region))))
            return LinearMinimum(atom, atom.inner(g), -self.radius * bound)
        xp, n = namespace(g), math.prod(g.shape)
        if n == 1:
            return LinearMinimum(Dense(xp.zeros_like(g)), 0.0, 0.0)
        sums, room, unit = _running_sums(g)
        i = int(xp.argmax(xp.abs(sums)))
        behind = xp.arange(n, device=array_api_compat.device(g)) > i
        step = xp.astype(behind, g.dtype) - (n - 1 - i) / n
        jump = self.radius * xp.where(sums[i] >= 0, xp.ones_like(step[i]), -xp.ones_like(step[i]))
        atom = Dense(xp.reshape(jump * step, tuple(g.shape)))
        return LinearMinimum(atom, atom.inner(g), -self.radius * unit * (xp.abs(sums[i]) + room))

    def diameter(self, shape: tuple[int, ...] | None = None) -> float:
        """Return the exact diameter: twice the norm of the atom that cuts the longer side in half."""
        sides = sorted(known_shape(self, shape))
        short, long = (1, *sides)[-2:]
        return 2 * self.radius * math.sqrt((long // 2) * ((long + 1) // 2) / (long * short))

    def reach(self, c: Array) -> float:
        if _is_image(c):
            return above(norm(c, 2) * (0.5 * self.diameter(tuple(c.shape))), c)
        xp, n = namespace(c), math.prod(c.shape)
        left = xp.cumulative_sum(xp.reshape(c, (-1,)))
        # The atom with its jump after entry i has magnitude (n - 1 - i) / n before it and (i + 1) / n behind.
        i = xp.cumulative_sum(xp.ones_like(left)) - 1
        return above(self.radius * xp.max(left * ((n - 1 - i) / n) + (left[-1] - left) * ((i + 1) / n)), c)

    def contains(self, x: Array, tol: float = 1e-9) -> bool:
        _is_image(x)
        if not all_finite(x):
            return False
        xp = namespace(x)
        room = slack(x, tol)
        steps = [x[1:] - x[:-1]] if x.ndim == 1 else [x[1:, :] - x[:-1, :], x[:, 1:] - x[:, :-1]]
        variation = sum(float(xp.sum(xp.abs(step))) for step in steps)
        return bool(xp.abs(xp.mean(x)) <= room * self.radius) and variation <= self.radius * (1 + room)


def _is_image(g: Array) -> bool:
    """Tell an image from a signal; an image of one row or one column is a signal."""
    if g.ndim not in (1, 2):
        raise ValueError(
            f"TotalVariationBall holds signals (1-D) or images (2-D), got an array of shape {tuple(g.shape)}"
        )
    return g.ndim == 2 and min(g.shape) > 1


def _in_units(g: Array) -> tuple[Array, Scalar]:
    """Return g in units of about its largest entry, and that unit: a power of two where NumPy makes it exact."""
    if not isinstance(g, np.ndarray):
        return scaled(g), largest(g)
    exponent = math.frexp(float(largest(g)))[1]
    return np.ldexp(g, -exponent), math.ldexp(1.0, exponent)


def _running_sums(g: Array) -> tuple[Array, Scalar, Scalar]:
    """Return the running sums of the centred direction, all but the last (which is zero), their rounding, their unit.

    NumPy adds up in the widest type there is: a running sum is not pairwise.
    """
    xp, n = namespace(g), math.prod(g.shape)
    flat, unit = _in_units(xp.reshape(g, (-1,)))
    if xp is np:
        flat = flat.astype(np.float64) - float(np.mean(flat))
        wide = np.cumsum(flat, dtype=np.longdouble)
        sums = (wide - np.arange(1, n + 1) / n * wide[-1])[:-1].astype(np.float64)
        room = (n * float(np.finfo(np.longdouble).eps) + 4 * eps(flat)) * np.sum(np.abs(flat))
    else:
        room = 4 * eps(flat) * xp.sum(xp.abs(flat))
        flat = flat - xp.mean(flat)
        sums = xp.cumulative_sum(flat)[:-1]
        room = room + (2 * n + 4) * eps(flat) * xp.sum(xp.abs(flat))
    return sums, room, unit


def _best_region(g: Array) -> Cut:
    """Return the region S of the image with the largest g(S) / Per(S), its perimeter and a bound on the ratio."""
    if not isinstance(g, np.ndarray):
        raise TypeError(
            f"TotalVariationBall takes images as NumPy arrays only, got {type(g).__name__}; use numpy.asarray"
        )
    weights, unit = _in_units(g.astype(np.float64))
    cut = best_ratio_cut(weights)
    return cut._replace(bound=unit * cut.bound)


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
