"""Quadratic models of sparse columns on the simplex and on the l1 ball, by coordinate descent: no Hessian is formed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from frankwolfe.kernels.rows.layouts import Layout, compiled, double

FIRM = 4.0  # with orthogonal columns a round shrinks the error of the multiplier 1 + FIRM times
SCALED = 4.0  # the gap that scaling the sum back to the radius costs, in terms of the first-order change
DEPTH = 5  # rounds from which the next ones are extrapolated


class Model(NamedTuple):
    """A quadratic model on some columns of the data: A'diag(c)A and what else bends it, and its slope where it begins.

    Parameters
    ----------
    layout : Layout
        The sparse data, by columns.
    columns : array of shape (s,)
        Which of them.
    slope : array of shape (s,)
        At the start.
    c : array of shape (n,)
        Curvature of the loss of each row.
    ridge : float
        Added to the curvature along each column.
    intercept : bool
        Whether a constant added to the margins is free.
    """

    layout: Layout
    columns: np.ndarray
    slope: np.ndarray
    c: np.ndarray
    ridge: float = 0.0
    intercept: bool = False


class Descent(NamedTuple):
    """Where coordinate descent ended, after how many rounds, and whether the gap was then as small as asked for."""

    z: np.ndarray
    rounds: int
    done: bool


def descended(
    model: Model, radius: float, start: np.ndarray, level: float, signed: bool, tol: float, most: int, least: int = 2
) -> Descent:
    """Return the z that minimises the model over the l1 ball (signed) or the simplex of this radius, from a start.

    Parameters
    ----------
    model : Model
        What to minimise.
    radius : float
        Sum of the sizes of the entries, on the ball the largest.
    start : array of shape (s,)
        Feasible.
    level : float
        A guess of the multiplier of the constraint.
    signed : bool
        Ball or simplex.
    tol : float
        The Frank-Wolfe gap of the model, as seen on the way, at which to stop.
    most : int
        Rounds over the columns at most.
    least : int, default 2
        And at least.

    Notes
    -----
    One entry after the other is set to its best value, given a multiplier of the constraint and a penalty of the
    squared error of the sum, so small that it hampers no entry; after each round over the columns the multiplier
    follows (the method of multipliers). Every few rounds the next ones are extrapolated, as long as that helps [1]_.

    References
    ----------
    .. [1] Q. Bertrand and M. Massias, Anderson acceleration of coordinate descent, AISTATS 2021.
    """
    loops = compiled("qp.coordinate_descent_loops")
    c = model.layout.scale**2 * double(model.c)
    bend, along = loops.bends(*model.layout.arrays, model.columns, c)
    free = 1 / max(float(c.sum()), 1e-300) if model.intercept else 0.0
    bend += model.ridge - free * along**2
    inverse = 1 / np.where(bend > 0, bend, np.inf)
    given = *model.layout.arrays, model.columns, c, model.slope - model.ridge * start, bend, along, free, model.ridge
    place = np.concatenate([start, np.zeros(c.size), [level]])  # all that a round leaves to the next
    z, v, past, before = place[: start.size], place[start.size : -1], [place.copy()], None
    rounds, done = 0, False
    while rounds < most and not done:
        rounds += 1
        firm = FIRM / max(float(inverse[z != 0].sum()), 1e-300) if z.any() else 0.0
        inner, best = loops.descend(*given, z, v, place[-1], firm, radius, signed)
        excess = float(np.abs(z).sum()) - radius
        place[-1] = max(place[-1] + firm * excess, 0.0 if signed else -np.inf)
        gap = max(inner + radius * best, SCALED * abs(place[-1] * excess))
        done = rounds >= least and gap <= tol
        if before is not None and gap > before[1]:
            place[:], past = before[0], []
        past.append(place.copy())
        before = None
        if len(past) > DEPTH and not done:
            ahead = extrapolated(np.stack(past), start.size)
            if np.array_equal(np.sign(ahead[: start.size]), np.sign(z)):
                before, place[:] = (past[-1], gap), ahead
            past = [place.copy()]
    total = float(np.abs(z).sum())
    loose = signed and total <= radius and place[-1] == 0
    return Descent(z if loose else z * (radius / max(total, 1e-300)), rounds, done)


def extrapolated(places: np.ndarray, size: int) -> np.ndarray:
    """Return the mixture of places, each reached from the one before, whose step is the shortest in `size` entries.

    Examples
    --------
    >>> extrapolated(np.array([[0.0], [1.0], [1.5]]), 1).round(6)
    array([2.])
    """
    steps = np.diff(places[:, :size], axis=0)
    gram = steps @ steps.T
    gram.flat[:: len(gram) + 1] += 1e-14 * np.trace(gram) + 1e-300
    weights = np.linalg.solve(gram, np.ones(len(gram)))
    return (weights / weights.sum()) @ places[1:]


def water_level(peaks: np.ndarray, bend: np.ndarray, radius: float) -> float:
    """Return the multiplier of a separable model on the simplex: the u >= 0 with sum (peaks - u)+ / bend = radius.

    Zero where the sum falls short of the radius, as on a ball. Entries with no curvature are left out.

    Examples
    --------
    >>> water_level(np.array([3.0, 2.0, 1.0]), np.ones(3), 3.0)
    1.0
    """
    some = (bend > 0) & (peaks > 0.1 * peaks.max())  # the level for these is at most that for all
    level = _level(peaks[some], bend[some], radius)
    some = (bend > 0) & (peaks > level)
    return _level(peaks[some], bend[some], radius)


def _level(peaks: np.ndarray, bend: np.ndarray, radius: float) -> float:
    """Return the same for entries that bend, taking those away that turn out to be below."""
    level = 0.0
    while peaks.size:
        level = max((float(np.sum(peaks / bend)) - radius) / float(np.sum(1 / bend)), 0.0)
        above = peaks > level
        if above.all():
            break
        peaks, bend = peaks[above], bend[above]
    return level
