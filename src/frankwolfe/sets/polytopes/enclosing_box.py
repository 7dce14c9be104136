"""Boxes around a polytope that every point of it is proven to keep, rounding included."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

Sides: TypeAlias = tuple[np.ndarray, np.ndarray]  # lower and upper

_UNIT = 2.0**-53
_WIDER = 1e-9  # share by which a box is widened beyond what is proven
_ROUNDS = 10  # of tightening; more help little


def tightened(A: Any, rows: Sides, columns: Sides) -> Sides:
    """Return no wider bounds on the variables: what each row leaves when the others are at their ends."""
    M = A.tocoo()
    i, j, a, m = M.row, M.col, M.data, A.shape[0]
    kept = a != 0
    i, j, a = i[kept], j[kept], a[kept]
    low, high = (np.array(side) for side in columns)
    depth = (np.bincount(i, minlength=m) + 8) * _UNIT
    for _ in range(_ROUNDS if a.size else 0):
        before = low.copy(), high.copy()
        for sign, side in ((1.0, rows[1]), (-1.0, -rows[0])):  # sign * A x <= side
            least = sign * a * np.where(sign * a > 0, low[j], high[j])
            known = np.isfinite(least)
            terms = np.where(known, least, 0.0)
            total, size = np.bincount(i, terms, m), np.bincount(i, np.abs(terms), m)
            alone = np.bincount(i, ~known, m)[i] == ~known  # no other term of the row is without an end
            over = (side - total + depth * (size + np.abs(side)))[i] + terms
            with np.errstate(invalid="ignore", over="ignore"):
                limit = over / (sign * a)
                limit += np.sign(sign * a) * (4 * _UNIT * np.abs(limit) + 1e-300)
            limit = np.where(alone & np.isfinite(limit), limit, np.sign(sign * a) * np.inf)
            above = sign * a > 0
            np.minimum.at(high, j[above], limit[above])
            np.maximum.at(low, j[~above], limit[~above])
        crossed = low > high  # empty, or so thin that rounding cannot tell
        low, high = np.where(crossed, before[0], low), np.where(crossed, before[1], high)
        if np.array_equal(before, (low, high)):
            break
    return low, high


def enclosure(A: Any, rows: Sides, columns: Sides) -> Sides:
    """Return finite bounds that all x with rows_low <= A x <= rows_high, low <= x <= high keep, rounding included.

    Columns whose bounds are both finite keep them; where nothing could be proven the bounds are infinite.

    With all finite sides written as G x <= h, the polytope is bounded just where some y > 0 has G'y = 0 (Stiemke). One
    linear programme finds it. Then w = Z + t y, with Z from weighted least squares such that G'Z = e_j and t the least
    for which w >= 0, has G'w = e_j, so that x_j <= h'w. These bounds are too wide by at most the number of rows, and
    take one programme instead of two for each variable. G'w is e_j up to rounding only: with M the largest magnitude of
    a variable and rho the sum of what is off, M <= a + rho M, hence M <= 2 a where rho <= 1/2.
    """
    low, high = columns
    free = np.flatnonzero(~np.isfinite(low) | ~np.isfinite(high))
    if free.size == 0:
        return low, high
    G, h = _as_inequalities(A, rows, (low, high), free)
    y = _positive_relation(G[:, free])
    if y is None:
        return np.where(np.isfinite(low), low, -np.inf), np.where(np.isfinite(high), high, np.inf)
    inside = np.isfinite(low) & np.isfinite(high)
    size = np.where(inside, np.maximum(np.abs(low), np.abs(high)), 0.0)
    weighted = y[:, None] * G[:, free].toarray()
    root = np.linalg.pinv(weighted)  # (f, p): rows are y-weighted solutions of G'z = e_j
    Z = (root * y).T
    steep = np.max(np.abs(root), axis=1)
    depth = (G.shape[0] + 8) * _UNIT
    bounds, off = [], np.zeros((free.size, free.size))
    for sign in (1.0, -1.0):
        W = sign * Z + np.outer(y, steep) * (1 + 8 * _UNIT)
        W = np.maximum(W, 0.0)
        at, terms = G.T @ W, abs(G).T @ W
        at[free, np.arange(free.size)] -= sign
        rest = np.abs(at) + depth * (terms + 1)  # what keeps G'w from being e_j
        bounds.append(h @ W + depth * (np.abs(h) @ W) + size @ rest)
        off = np.maximum(off, rest[free].T)
    most = np.maximum(np.abs(bounds[0]), np.abs(bounds[1]))
    rho = float(np.max(np.sum(off, axis=1)))
    room = off.sum(axis=1) * 2 * float(np.max(most)) if rho <= 0.5 else np.full(free.size, np.inf)
    low, high = low.copy(), high.copy()
    grown = _WIDER * most + room
    high[free] = np.minimum(high[free], bounds[0] + grown)
    low[free] = np.maximum(low[free], -(bounds[1] + grown))
    return low, high


def _as_inequalities(A: Any, rows: Sides, columns: Sides, free: np.ndarray) -> tuple[Any, np.ndarray]:
    """Return G and h with G x <= h for all finite sides of rows, and of the variables that lack one."""
    from scipy.sparse import csr_array, eye_array, vstack

    parts, right = [], []
    unit = csr_array(eye_array(A.shape[1]))[free]
    for M, (below, above) in ((A.tocsr(), rows), (unit, tuple(side[free] for side in columns))):
        for sign, side in ((1.0, above), (-1.0, -below)):
            kept = np.flatnonzero(np.isfinite(side))
            parts.append(sign * M[kept])
            right.append(side[kept])
    return csr_array(vstack(parts)), np.concatenate(right)


def _positive_relation(G: Any) -> np.ndarray | None:
    """Return y > 0 with G'y = 0 up to rounding, its least entry as large as can be among those of sum one."""
    from scipy.optimize import linprog
    from scipy.sparse import hstack, vstack

    p, f = G.shape
    sums = np.asarray(G.sum(axis=0)).reshape(-1)
    # y = w + t with w >= 0; maximise t.
    rows = vstack([hstack([G.T, sums[:, None]]), np.append(np.ones(p), p)[None, :]]).tocsr()
    answer = linprog(
        np.append(np.zeros(p), -1.0), A_eq=rows, b_eq=np.append(np.zeros(f), 1.0), bounds=(0, None), method="highs"
    )
    if answer.x is None or not answer.x[-1] > 0:
        return None
    return answer.x[:-1] + answer.x[-1]
