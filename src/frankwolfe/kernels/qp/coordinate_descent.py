"""Quadratic models of sparse columns on the simplex and on the l1 ball, by coordinate descent: no Hessian is formed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from frankwolfe.kernels.rows.layouts import Layout, compiled, double

DEPTH = 5  # rounds from which the next ones are extrapolated
# Share of the gap on all columns at which rounds on those in use end (`python -m benchmarks unseen`, squares):
SHARE = 0.03
MOST = 30  # and how many there are at most


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
    diagonal : array of shape (s,), optional
        Without an intercept: the curvature along each column, or a little more, where that is known.
    """

    layout: Layout
    columns: np.ndarray
    slope: np.ndarray
    c: np.ndarray
    ridge: float = 0.0
    intercept: bool = False
    diagonal: np.ndarray | None = None


class Start(NamedTuple):
    """Where descent begins.

    Parameters
    ----------
    z : array of shape (s,)
        Feasible; where the slope of the model was taken.
    level : float, optional
        A guess of the multiplier of the constraint; by default that for orthogonal columns.
    bent : arrays of shape (n,) and (s,), optional
        c times the margins of z, less their mean where an intercept is free, and A' times that: descent then begins at
        zero, since z, on a simplex a vertex perhaps, is far from everything.
    """

    z: np.ndarray
    level: float | None = None
    bent: tuple[np.ndarray, np.ndarray] | None = None


class Descent(NamedTuple):
    """Where coordinate descent ended, after how many rounds, and whether the gap was then as small as asked for.

    `entries` tells how many entries of the data the rounds have visited.
    """

    z: np.ndarray
    rounds: int
    done: bool
    entries: float


def descended(
    model: Model,
    radius: float,
    start: Start,
    signed: bool,
    tol: float,
    most: int,
    least: int = 2,
    tick: Callable[[], None] = lambda: None,
) -> Descent:
    """Return the z that minimises the model over the l1 ball (signed) or the simplex of this radius, from a start.

    Parameters
    ----------
    model : Model
        What to minimise.
    radius : float
        Sum of the sizes of the entries, on the ball the largest.
    start : Start
        Where to begin.
    signed : bool
        Ball or simplex.
    tol : float
        The Frank-Wolfe gap of the model, as seen on the way, at which to stop.
    most : int
        Rounds over the columns at most.
    least : int, default 2
        And at least.
    tick : callable, optional
        Called after every few rounds; raises where the time is over.

    Notes
    -----
    One entry after the other is set to its best value, given a multiplier of the constraint and a penalty of the
    squared error of the sum, so small that it hampers no entry; after each round over the columns the multiplier
    follows (the method of multipliers). A round over all columns is followed by rounds over those in use, until these
    are much better than what a round over all of them can tell. Every few such rounds the next ones are extrapolated,
    as long as that helps [1]_.

    References
    ----------
    .. [1] Q. Bertrand and M. Massias, Anderson acceleration of coordinate descent, AISTATS 2021.
    """
    loops, layout = compiled("qp.coordinate_descent_loops"), model.layout
    c = layout.scale**2 * double(model.c)
    free, bend, along = 0.0, model.diagonal, np.zeros(model.columns.size)
    if bend is None:
        bend, along = loops.bends(*layout.arrays, model.columns, c)
        free = 1 / max(float(c.sum()), 1e-300) if model.intercept else 0.0
        bend += model.ridge - free * along**2
    weights = c[:1] if (c == c[0]).all() else c
    size, lengths = start.z.size, np.diff(layout.arrays[0])[model.columns]
    slope, z, moved = model.slope - model.ridge * start.z, start.z, np.zeros(c.size)

    def descend(some: Any, place: np.ndarray, count: int, tol: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the places after each of at most so many rounds over some of the columns, and the gaps they saw."""
        tick()
        places, gaps = np.empty((count + 1, place.size)), np.empty(count)
        places[0] = place
        given = model.columns[some], weights, slope[some], bend[some], along[some], free, model.ridge, places
        taken = loops.descend(*layout.arrays, *given, radius, signed, tol, gaps)
        return places[: taken + 1], gaps[:taken]

    here, level = model.slope, start.level
    if start.bent is not None:
        z, moved, here = np.zeros(size), -layout.scale * start.bent[0], slope - start.bent[1]
    if level is None:
        peaks = bend * z - here
        level = water_level(np.abs(peaks), bend, radius) if signed else water_level(peaks, bend, radius, -np.inf)
    place = np.concatenate([z, moved, [level]])  # all that a round leaves to the next
    rounds, entries, done = 0, 0.0, False
    while rounds < most and not done:
        places, gaps = descend(slice(None), place, 1, -np.inf)
        place, rounds, entries = places[-1], rounds + 1, entries + float(lengths.sum())
        done, used = bool(rounds >= least and gaps[0] <= tol), np.flatnonzero(place[:size])
        left, ends = min(MOST, most - rounds - 1), max(SHARE * gaps[0], 0.5 * tol)
        part, before, visited = np.concatenate([place[used], place[size:]]), None, float(lengths[used].sum())
        while left > 0 and used.size and not done:
            places, gaps = descend(used, part, min(DEPTH, left), ends)
            left, rounds, entries = left - gaps.size, rounds + gaps.size, entries + gaps.size * visited
            if before is not None and not gaps[0] <= before[1]:  # what was extrapolated did harm
                part, before = before[0], None
                continue
            part, before = places[-1], None
            if gaps[-1] <= ends:
                break
            if gaps.size == DEPTH and left > 0:  # a round is to follow, which brings it back into the set
                part, before = extrapolated(places, used.size), (part, gaps[-1])
        place[used], place[size:] = part[: used.size], part[used.size :]
    z, total = place[:size], float(np.abs(place[:size]).sum())
    if not signed and not 0 < total < np.inf:
        return Descent(start.z, rounds, False, entries)
    loose = signed and total <= radius and place[-1] == 0
    return Descent(z if loose else z * (radius / max(total, 1e-300)), rounds, done, entries)


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


def water_level(peaks: np.ndarray, bend: np.ndarray, radius: float, least: float = 0.0) -> float:
    """Return the multiplier of a separable model on the simplex: the u with sum (peaks - u)+ / bend = radius.

    At least `least`: zero on a ball, where the sum may fall short of the radius, minus infinity on the simplex. Entries
    with no curvature are left out.

    Examples
    --------
    >>> water_level(np.array([3.0, 2.0, 1.0]), np.ones(3), 3.0)
    1.0
    >>> water_level(np.array([3.0, 2.0, 1.0]), np.ones(3), 9.0, -np.inf)
    -1.0
    """
    level, bends = least, bend > 0
    if bends.any():  # the level for the highest is at most that for all
        level = _level(peaks, bend, bends & (peaks > 0.1 * peaks[bends].max()), radius, least)
        level = _level(peaks, bend, bends & (peaks > level), radius, least)
    return level if level > -np.inf else 0.0


def _level(peaks: np.ndarray, bend: np.ndarray, some: np.ndarray, radius: float, least: float) -> float:
    """Return the same for some entries, all of which bend, taking those away that turn out to be below."""
    peaks, bend, level = peaks[some], bend[some], least
    while peaks.size:
        level = max((float(np.sum(peaks / bend)) - radius) / float(np.sum(1 / bend)), least)
        above = peaks > level
        if above.all():
            break
        peaks, bend = peaks[above], bend[above]
    return level
