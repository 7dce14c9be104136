"""Is a point in a set that is known by its oracle alone?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from frankwolfe.atoms import Atom
from frankwolfe.backends.namespace import all_finite, as_like
from frankwolfe.sets.arrays import on_host, slack
from frankwolfe.sets.base import Set

DECIDING_CALLS, NEARING_CALLS = 1000, 300  # of an oracle: to tell whether a point is inside, to come near to it


def hull_distance(rows: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the distance of the origin from the convex hull of the rows, and the weights of the nearest point.

    Nonnegative least squares with one more equation, that the weights sum to one; they are then normalised. This is a
    form of the nearest-point algorithm of Wolfe (1976), accurate to rounding.
    """
    from scipy.optimize import nnls

    size = float(np.max(np.abs(rows), initial=0.0)) or 1.0
    unit = rows / size
    system = np.vstack([unit.T, np.ones(len(rows))])
    target = np.zeros(len(system))
    target[-1] = 1.0
    weights, _ = nnls(system, target, maxiter=max(100, 30 * len(rows)))
    total = float(np.sum(weights))
    if not total > 0:
        weights, total = np.full(len(rows), 1.0), float(len(rows))
    weights = weights / total
    return size * float(np.linalg.norm(weights @ unit)), weights


def contains_by_oracle(domain: Set, x: np.ndarray, tol: float) -> bool:
    """Tell whether x lies in the set, up to `tol` relative to the size of the atoms met, by calls of the oracle.

    Notes
    -----
    The nearest point to x in the hull of the atoms met so far gives the next direction; the oracle either proves that a
    hyperplane separates x from the set, or gives a new atom. On a polytope it ends after finitely many calls; interior
    points are quick on every set. On a curved boundary in many dimensions it nears x slowly (1e-6 after several hundred
    calls in 20 dimensions), and where `DECIDING_CALLS` do not decide, the answer is no.
    """
    if not all_finite(x):
        return False
    room = slack(x, tol)
    for distance, _, size, apart in _nearer(domain, x, DECIDING_CALLS):
        if distance <= room * size:
            return True
        if apart > room * size:
            return False  # every point of the set is at least so far from x
    return False


def nearest_by_oracle(domain: Set, x: np.ndarray) -> np.ndarray:
    """Return a point of the set, a convex combination of its atoms, as near to x as calls of the oracle come."""
    *_, (_, nearest, *_) = _nearer(domain, x, NEARING_CALLS)
    return nearest


def _nearer(domain: Set, x: np.ndarray, max_calls: int) -> Iterator[tuple[float, np.ndarray, float, float]]:
    """Come nearer to x: yield the distance, the point, the size of the atoms, and how far the set is from x at least.

    The point is the nearest in the hull of the atoms met so far.
    """
    target = on_host(x).reshape(-1)

    def corner(direction: np.ndarray) -> np.ndarray:
        atom: Atom = domain.lmo(as_like(direction.reshape(x.shape), x))
        return on_host(atom.toarray()).reshape(-1)

    offsets = [corner(-target) - target]  # atoms, seen from x
    for _ in range(max_calls):
        rows = np.array(offsets)
        distance, weights = hull_distance(rows)
        size = max(float(np.max(np.abs(rows + target))), np.finfo(float).tiny)
        point = (weights @ (rows + target)).reshape(x.shape)
        if not distance > 0:
            yield 0.0, point, size, 0.0
            return
        nearest = (weights @ rows) / distance
        new = corner(nearest) - target
        yield distance, point, size, float(nearest @ new)
        offsets = [row for row, weight in zip(offsets, weights, strict=True) if weight > 0]
        if any(np.array_equal(new, row) for row in offsets):
            return  # rounding: the hull cannot come nearer
        offsets.append(new)
