"""Small quadratic programs on the simplex, by an active-set method: exact up to rounding."""

from __future__ import annotations

import numpy as np

RIDGE = 1e-14  # of the largest diagonal entry, added where atoms depend on each other
EPS = 2.0**-52


def simplex_qp(H: np.ndarray, b: np.ndarray, start: np.ndarray, tol: float = 0.0) -> np.ndarray:
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
        The Frank-Wolfe gap at which to stop.

    Notes
    -----
    The primal active-set method: minimise over the affine hull of the entries that are not held at zero; stop at the
    first entry that would become negative and hold it; at a minimiser let go the entry with the most negative
    multiplier. The objective never rises, and no support comes up twice. Solved for the step, from differences of
    slopes: accurate where b is large beside H.

    Examples
    --------
    >>> simplex_qp(np.eye(3), np.array([-0.5, -0.2, 1.0]), np.ones(3) / 3).round(6)
    array([0.65, 0.35, 0.  ])
    """
    u = np.array(start, dtype=np.float64)
    u, free, released = u / u.sum(), u > 0, -1
    ridge = RIDGE * float(np.max(np.diag(H))) or RIDGE * float(np.ptp(b)) or 1.0
    for _ in range(20 * len(b) + 100):
        F, slope = np.flatnonzero(free), b + H @ u
        step = _step(H[np.ix_(F, F)], slope[F], int(np.argmax(u[F])), ridge)
        if step is None:
            ridge *= 1e3  # rounding made the system indefinite
            continue
        rooms = np.divide(u[F], -step, out=np.full(F.size, np.inf), where=u[F] + step < 0)
        i = int(np.argmin(rooms))
        if rooms[i] <= 0 and F[i] == released:
            break  # rounding alone made it look worth letting go
        u[F] = np.maximum(u[F] + min(float(rooms[i]), 1.0) * step, 0.0)
        if rooms[i] < 1:
            u[F[i]], free[F[i]] = 0.0, False
            u /= u.sum()
            continue
        u /= u.sum()
        slope = b + H @ u
        released = int(np.argmin(np.where(free, np.inf, slope)))
        if free.all() or slope[released] >= float(slope @ u) - max(tol, 4 * EPS * float(np.max(np.abs(slope)))):
            break
        free[released] = True
    return u


def _step(H: np.ndarray, slope: np.ndarray, first: int, ridge: float) -> np.ndarray | None:
    """Return the step, of sum zero, to the minimiser with signs free; None if the system is not definite.

    Entry `first` pays for what the others gain.
    """
    step = np.zeros(slope.size)
    rest = np.arange(slope.size) != first
    across = H[first, rest]
    bend = H[np.ix_(rest, rest)] - across[:, None] - across[None, :] + H[first, first]
    bend.flat[:: len(bend) + 1] += ridge
    try:
        step[rest] = np.linalg.solve(bend, slope[first] - slope[rest])
    except np.linalg.LinAlgError:
        return None
    step[first] = -step.sum()
    return step if float(slope @ step) <= 0 else None  # NaN is no descent either
