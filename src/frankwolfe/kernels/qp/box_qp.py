"""Quadratic programs with bounds on each entry, by projected Newton steps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

RIDGE = 1e-14  # of the largest diagonal entry, added where columns depend on each other
EPS = 2.0**-52
ARMIJO = 1e-4
SHORTEST = 2.0**-20  # share of a step below which rounding hides what it gains
STIFFER, EASED = 1e3, 0.1  # what the ridge is multiplied with after a step that gains nothing, and after one that does
PATIENCE = 12  # rounds in which the objective must fall by more than rounding
STIFF = 1e6  # largest diagonal entries: a ridge beyond that leaves of a step its direction, the slope


def box_qp(
    H: np.ndarray,
    b: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    start: np.ndarray,
    tol: float = 0.0,
    tick: Callable[[], None] = lambda: None,
    share: float = 0.0,
) -> np.ndarray:
    """Return the z with lower <= z <= upper that minimises b'z + z'Hz/2, for H positive semidefinite.

    Parameters
    ----------
    H : array of shape (d, d)
        Symmetric positive semidefinite.
    b : array of shape (d,)
        Linear term.
    lower, upper : array of shape (d,)
        Bounds.
    start : array of shape (d,)
        Where to begin.
    tol, share : float, default 0
        Stop when the Frank-Wolfe gap is at most `tol`, or this share of what is gained since the start.
    tick : callable, optional
        Called in every round.

    Notes
    -----
    Entries at a bound that the slope presses them against are held; the others take Newton's step among themselves,
    cut off at the bounds, and shortened until the objective falls by a share of what the slope promises [1]_. Where it
    does not, a larger ridge turns the step towards the slope, along which it falls.

    References
    ----------
    .. [1] D. P. Bertsekas, Projected Newton methods for optimization problems with simple constraints, SIAM J. Control
       Optim. 20, 1982.

    Examples
    --------
    >>> box_qp(np.eye(2), np.array([-3.0, 0.5]), -np.ones(2), np.ones(2), np.zeros(2))
    array([ 1. , -0.5])
    """
    from scipy.linalg import lapack

    z = np.clip(start, lower, upper)
    largest = float(np.abs(H.diagonal()).max())
    patience, least = PATIENCE, RIDGE * largest or 1.0
    ridge = least
    bent = H @ z
    value = before = float((b + 0.5 * bent) @ z)
    for _ in range(10 * b.size + 100):
        tick()
        slope = b + bent
        gap = float(np.maximum(slope * (z - lower), slope * (z - upper)).sum())
        noise = 4 * EPS * float((np.abs(b) + np.abs(bent)) @ np.maximum(np.abs(lower), np.abs(upper)))
        if gap <= max(tol, noise, share * (before - value)):
            break
        free = np.flatnonzero(((z > lower) | (slope < 0)) & ((z < upper) | (slope > 0)))
        bend = H[free[:, None], free]
        bend.flat[:: free.size + 1] += ridge
        _, solved, failed = lapack.dposv(bend, slope[free], lower=1)  # pyright: ignore[reportAttributeAccessIssue]
        ahead, part, change = np.zeros_like(z), 1.0, 0.0
        ahead[free] = 0.0 if failed else -solved
        while part > SHORTEST and not failed:
            moved = np.clip(z + part * ahead, lower, upper) - z
            turned = H @ moved
            change = float((slope + 0.5 * turned) @ moved)
            if change <= ARMIJO * float(slope @ moved):
                break
            part, change = 0.5 * part, 0.0
        patience = PATIENCE if change < -EPS * abs(value) else patience - 1
        if change < 0 and patience:
            z, bent, value, ridge = z + moved, bent + turned, value + change, max(least, EASED * ridge)
        elif not patience or ridge > STIFF * largest:  # a step along the slope gains nothing either
            break
        else:  # rounding made the system indefinite, or columns that depend on each other the step endless
            ridge *= STIFFER
    return np.clip(z, lower, upper)
