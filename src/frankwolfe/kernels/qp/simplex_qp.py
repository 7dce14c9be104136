"""Quadratic programs on the simplex and on the l1 ball, by an active-set method: exact up to rounding."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

RIDGE = 1e-14  # of the largest diagonal entry, added where atoms depend on each other
EPS = 2.0**-52
LET_GO = 0.03  # of the largest violation: entries that violate optimality by more are let go together
FRACTIONS = (0.05, 0.2, 0.5, 1.0)  # of a step that are tried, beside the one that ends at the first zero
SINGULAR = 1e-5  # share of the largest pivot of a factor that is next to nothing: of the curvature the square
PATIENCE = 30  # rounds in which the gap must fall by a tenth
HOPELESS = 1e280  # a ridge beyond all data


Tick = Callable[[], None]
"""Called in every round; raises where the time is over."""


def simplex_qp(
    H: np.ndarray, b: np.ndarray, start: np.ndarray, tol: float = 0.0, tick: Tick = lambda: None, share: float = 0.0
) -> np.ndarray:
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
    tick : callable, optional
        Called in every round.
    share : float, default 0
        Stop also when the gap is at most this share of what is gained since the start.

    Notes
    -----
    The primal active-set method: minimise over the affine hull of the entries that are not held at zero; stop at the
    first entry that would become negative and hold it; at a minimiser let go the entries whose multipliers are the most
    negative, several at a time. The objective never rises. Solved for the step, from differences of slopes: accurate
    where b is large beside H.

    Examples
    --------
    >>> simplex_qp(np.eye(3), np.array([-0.5, -0.2, 1.0]), np.ones(3) / 3).round(6)
    array([0.65, 0.35, 0.  ])
    """
    u = np.array(start, dtype=np.float64)
    u = _minimised(H, b, u / u.sum(), 1.0, tol, share, tick, signed=False)
    return u / u.sum()


def l1_qp(
    H: np.ndarray,
    b: np.ndarray,
    radius: float,
    start: np.ndarray,
    tol: float = 0.0,
    tick: Tick = lambda: None,
    share: float = 0.0,
) -> np.ndarray:
    """Return the z with |z|_1 <= radius that minimises z'Hz/2 + b'z, as `simplex_qp` does.

    Examples
    --------
    >>> l1_qp(np.eye(2), np.array([-3.0, 0.5]), 1.0, np.zeros(2))
    array([1., 0.])
    """
    # A start that rounding has put outside would have to come in first, uphill.
    z = _minimised(H, b, _inside(np.array(start, dtype=np.float64), radius), radius, tol, share, tick, signed=True)
    return _inside(z, radius)


def _inside(z: np.ndarray, radius: float) -> np.ndarray:
    return z * min(1.0, radius / max(float(np.abs(z).sum()), 1e-300))


@np.errstate(over="ignore", invalid="ignore")  # a step that overflows does not descend
def _minimised(
    H: np.ndarray, b: np.ndarray, z: np.ndarray, radius: float, tol: float, share: float, tick: Tick, signed: bool
) -> np.ndarray:
    """Move z to the minimiser over the simplex of this radius or, signed, the l1 ball."""
    if not (np.isfinite(b).all() and np.isfinite(H).all()):
        return z
    # Rounding can leave no entry of the diagonal positive: what it takes to make H definite is then of its size.
    # Where H is zero a step must be able to cross the set at once.
    ridge = RIDGE * float(np.abs(H.diagonal()).max()) or RIDGE * float(np.abs(b).max()) / radius or 1.0
    part, least, patience, before = LET_GO, np.inf, PATIENCE, np.inf
    for _ in range(20 * len(b) + 100):
        tick()
        bent = H @ z
        slope = b + bent
        worth = np.abs(slope) if signed else -slope
        inner, best = float(slope @ z), float(worth.max())
        gap, noise = inner + radius * best, 4 * EPS * radius * float((np.abs(b) + np.abs(bent)).max())
        patience = PATIENCE if gap < 0.9 * least else patience - 1
        least = min(gap, least)
        value = 0.5 * (inner + float(b @ z))
        before = value if before == np.inf else before
        if gap <= max(tol, noise, share * (before - value)) or patience == 0:
            break
        level = -inner / radius
        new = (z == 0) & (worth >= level + part * (best - level))
        signs = np.sign(z)
        signs[new] = -np.sign(slope[new]) if signed else 1.0
        moved, ridge = _over_face(H, b, z, slope, signs, radius, ridge, tick, signed)
        if moved <= noise and part == 1.0:
            break  # rounding alone made it look worth letting go
        part = LET_GO if moved > noise else 1.0
    return z


def _over_face(
    H: np.ndarray,
    b: np.ndarray,
    z: np.ndarray,
    slope: np.ndarray,
    signs: np.ndarray,
    radius: float,
    ridge: float,
    tick: Tick,
    signed: bool,
) -> tuple[float, float]:
    """Move z, in place, to the minimiser over the entries with a sign; return what is gained at most, and the ridge."""
    F, gained = np.flatnonzero(signs), 0.0
    while F.size:
        tick()
        s, sign = slope[F], signs[F]
        now, bend = sign * z[F], H if F.size == len(H) else H[F[:, None], F]
        room = max(radius - float(np.abs(z).sum()), 0.0) if signed else 0.0  # coming in from outside would be uphill
        step = _step(bend, s, sign, room, ridge, signed)
        if step is None and ridge < HOPELESS:
            ridge *= 1e3  # rounding made the system indefinite
            continue
        if step is None:
            break
        ahead = sign * step
        stuck = (now == 0) & (ahead < 0)
        if stuck.any():  # let go too early
            F = F[~stuck]
            continue
        crossing = now + ahead < 0
        if not crossing.any():
            z[F] = sign * (now + ahead)
            return gained - float(s @ step), ridge
        after, change = _cut_short(bend, s, sign, now, ahead, crossing, now.sum() + room)
        z[F], gained = sign * after, gained - change
        F, slope = F[after > 0], b + H @ z
    return gained, ridge


def _cut_short(
    H: np.ndarray,
    slope: np.ndarray,
    sign: np.ndarray,
    now: np.ndarray,
    ahead: np.ndarray,
    crossing: np.ndarray,
    most: float,
) -> tuple[np.ndarray, float]:
    """Return what becomes of sizes `now` on the way to now + ahead, where some would become negative; and the change.

    Either the first of them stops the step, or more of it is taken and those that would be negative end at zero, the
    sum brought back to `most`: whichever lowers the objective most.
    """
    rooms = now[crossing] / -ahead[crossing]
    first = float(rooms.min())
    parts = np.array([first, *(t for t in FRACTIONS if t > first)])
    after = np.maximum(now + parts[:, None] * ahead, 0.0)
    after[0, np.flatnonzero(crossing)[rooms.argmin()]] = 0.0
    after *= np.minimum(1.0, most / np.maximum(after.sum(axis=1), 1e-300))[:, None]
    moves = sign * (after - now)
    changes = moves @ slope + 0.5 * np.sum(moves @ H * moves, axis=1)
    best = int(changes.argmin())
    return after[best], float(changes[best])


def _step(
    H: np.ndarray, slope: np.ndarray, sign: np.ndarray, room: float, ridge: float, signed: bool
) -> np.ndarray | None:
    """Return the step to the minimiser with signs free, None if rounding spoils it.

    The sum of sign times step is `room`: on the simplex always, on the ball unless less is better. The part of the
    slope along the signs only shares in the multiplier of that sum, and is taken off before a solution magnifies it.
    """
    share = float(sign @ slope) / sign.size
    right = np.empty((sign.size, 2), order="F")
    right[:, 0], right[:, 1] = share * sign - slope, sign
    solved = _solve(_ridged(H.copy(), ridge), right, SINGULAR) if signed else None
    known = solved is not None  # whether the minimiser that leaves the sum free is known as well
    if not known:
        # Curvature along the signs does no harm where their sum is given, and makes the system definite.
        solved = _solve(_ridged(sign[:, None] * max(float(H.diagonal().max()), ridge) * sign + H, ridge), right)
    if solved is None:
        return None
    free, along = solved[:, 0], solved[:, 1]
    total, bend = float(sign @ free), float(sign @ along)
    if not bend > 0:
        return None
    inside = known and total - share * bend <= room  # the ball need not be left at its boundary
    step = free + (-share if inside else (room - total) / bend) * along
    if signed and not known and float(sign @ (slope + H @ step)) > 0:
        solved = _solve(_ridged(H.copy(), ridge), -slope)
        step = step if solved is None or float(sign @ solved) > room else solved
    descent = float(slope @ step) <= EPS * float(np.abs(slope) @ np.abs(step))  # not so for NaN
    return step if descent else None


def _ridged(H: np.ndarray, ridge: float) -> np.ndarray:
    """Return H with a ridge on its diagonal, in place."""
    H.flat[:: len(H) + 1] += ridge
    return H


def _solve(K: np.ndarray, right: np.ndarray, least: float = 0.0) -> np.ndarray | None:
    """Return K⁻¹ times some right-hand sides, for K positive definite; None where it is not. K is spoilt.

    None also where a pivot of its factor is less than `least` of the largest.
    """
    from scipy.linalg import lapack

    factor, solved, failed = lapack.dposv(K.T, right, lower=1, overwrite_a=1)  # pyright: ignore[reportAttributeAccessIssue]
    if least and not failed:
        pivots = factor.diagonal()
        failed = not pivots.min() > least * pivots.max()
    return None if failed else solved
