"""Small quadratic programs on the simplex, by an active-set method: exact up to rounding."""

from __future__ import annotations

import numpy as np

RIDGE = 1e-12  # of the largest diagonal entry, added where atoms depend on each other


def simplex_qp(H: np.ndarray, b: np.ndarray, start: np.ndarray, tol: float = 0.0, max_iter: int = 1000) -> np.ndarray:
    """Return the u >= 0 with sum one that minimises u'Hu/2 + b'u, for H positive semidefinite.

    Parameters
    ----------
    H : array of shape (s, s)
        Symmetric positive semidefinite.
    b : array of shape (s,)
        Linear term.
    start : array of shape (s,)
        Feasible; the closer its support to the answer's, the fewer linear systems are solved.
    tol : float, default 0
        An entry stays at zero unless its derivative is below the multiplier by more than this.
    max_iter : int, default 1000
        Largest number of linear systems.

    Notes
    -----
    The primal active-set method: minimise over the affine hull of the entries that are not held at zero; stop at the
    first entry that would become negative and hold it; at a minimiser let go the entry with the most negative
    multiplier. The objective never rises, and no support comes up twice.

    Examples
    --------
    >>> simplex_qp(np.eye(3), np.array([-0.5, -0.2, 1.0]), np.ones(3) / 3).round(6)
    array([0.65, 0.35, 0.  ])
    """
    u = np.array(start, dtype=np.float64)
    free = u > 0
    ridge = RIDGE * float(np.max(np.diag(H), initial=0.0)) or 1.0
    released = -1
    for _ in range(max_iter):
        F = np.flatnonzero(free)
        z = _on_the_hull(H[np.ix_(F, F)], b[F], u[F], ridge)
        if z is None:
            ridge *= 1e3  # rounding made the system indefinite
            continue
        if z.min() > 0:
            u[F] = z / z.sum()
            q = H @ u + b
            rest = np.flatnonzero(~free)
            if not rest.size:
                return u
            j = int(rest[np.argmin(q[rest])])
            if q[j] >= float(q @ u) - tol:
                return u
            free[j], released = True, j
            continue
        falls = u[F] - z
        ratios = np.divide(u[F], falls, out=np.full(F.size, np.inf), where=z <= 0)
        i = int(np.argmin(ratios))
        if F[i] == released and ratios[i] <= 0:
            return u  # rounding alone made it look worth letting go
        u[F] += min(float(ratios[i]), 1.0) * (z - u[F])
        if F.size == 1 or not float(u.sum() - u[F[i]]) > 0:
            return np.maximum(u, 0.0) / np.maximum(u, 0.0).sum()
        u[F[i]] = 0.0
        free[F[i]] = False
        u = np.maximum(u, 0.0)
        u /= u.sum()
    return u


def _on_the_hull(H: np.ndarray, b: np.ndarray, u: np.ndarray, ridge: float) -> np.ndarray | None:
    """Return the minimiser with sum one, signs free, kept near u by the ridge; None if the system is not definite."""
    rights = np.stack([ridge * u - b, np.ones(u.size)], axis=1)
    try:
        plain, ones = np.linalg.solve(H + ridge * np.eye(u.size), rights).T
    except np.linalg.LinAlgError:
        return None
    total = ones.sum()
    if not total > 0:  # 1'H⁻¹1 is positive for every definite H
        return None
    z = plain + ones * ((1 - plain.sum()) / total)
    return z if np.all(np.isfinite(z)) else None
