"""What is done to one part of the observed entries of a matrix: pure, and what it returns adds up over parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from frankwolfe.backends import vdot
from frankwolfe.rows.parts import Most, Part, odd, words
from frankwolfe.rows.rows import Sums


def errors(part: Part, y: Any, watch: Any) -> Sums:
    """Value and <gradient, y> at y, and the value at `watch` (None: y again)."""
    f = part.objective
    m = f.map.apply(y)
    value = f.loss(m)
    return value, vdot(f.loss_slope(m), m), value if watch is None else f.loss(f.map.apply(watch))


def along(part: Part, x: Any, v: Any) -> Sums:
    """First and second derivative at x on the way to v."""
    f = part.objective
    m = f.map.apply(x)
    return f.along(m, f.map.apply(v) - m, 0.0)


def residuals(part: Part, point: Any, weight: float) -> Sums:
    """The matrix of a gradient on a part, to be kept."""
    f: Any = part.objective
    off = f.map.apply(point) - weight * f.values
    return (f.dual(off if f.weights is None else f.weights * off),)


def product(part: Part, kept: Sums, w: np.ndarray) -> Sums:
    return (np.asarray(kept[0] @ w),)


def transposed(part: Part, kept: Sums, u: np.ndarray) -> Sums:
    return (np.asarray(kept[0].T @ u),)


def squared(part: Part, kept: Sums, w: np.ndarray) -> Sums:
    return (np.asarray(kept[0].gram_matvec(w)),)


def entries(part: Part, point: Any, weight: float) -> Sums:
    """The entries of a gradient, in a list, which adds up to all of them."""
    return ([residuals(part, point, weight)[0].values],)


def rows_and_columns(part: Part) -> Sums:
    """Rows and columns of the entries, in lists."""
    pattern: Any = part.objective.pattern
    return [pattern.rows], [pattern.cols]


def largest(part: Part, kept: Sums) -> Sums:
    """The size of the largest entry."""
    return (Most(np.max(np.abs(kept[0].values))),)


def heaviest(part: Part) -> Sums:
    """The largest weight of an entry."""
    # Not by `smoothness`, whose lock the caller holds: parts may be computed in its own process.
    return (Most(part.objective.entries.heaviest),)


def rows_held(part: Part) -> Sums:
    """One for every row of the matrix with entries in the part."""
    held = np.diff(part.objective.pattern.indptr) > 0
    return (held.astype(np.int32),)


def checksum(part: Part) -> Sums:
    """A number for positions, values and weights that adds up to the same whatever the parts."""
    f: Any = part.objective
    rows, cols = (odd(p.astype(np.uint64)) for p in (f.pattern.rows, f.pattern.cols))
    places = rows * odd(cols)
    total = (words(f.values) * places).sum(keepdims=True)
    return (total if f.weights is None else total + (words(f.weights) * odd(places)).sum(),)
