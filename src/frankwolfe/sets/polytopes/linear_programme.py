"""Linear programmes over one polytope and many costs: vertices by HiGHS, bounds by proof."""

from __future__ import annotations

import math
import threading
from functools import cached_property
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from frankwolfe.sets.polytopes.enclosing_box import Sides, enclosure, tightened
from frankwolfe.sets.polytopes.highs import Model, by_scipy

_UNITS = 10  # ranges are about 2**10 units, as is the largest cost: the solver's tolerances are absolute
_DENSE = 1 << 15  # up to so many entries whole arrays are quicker than sparse ones
_THIN = 2.0**-60  # the least range, in units of that given, that gets units of its own
_UNIT = 2.0**-53
_WIDE_UNIT = float(np.finfo(np.longdouble).eps)  # finer where the processor has a wider type
_TINY = 1e-290  # more than what underflows


class Minimum(NamedTuple):
    """A vertex, and a number that <cost, .> is nowhere less than on the polytope."""

    x: np.ndarray
    lower: float


class LinearProgramme:
    """Minimise <cost, x> over rows_low <= A x <= rows_high, low <= x <= high, a bounded polytope.

    *Units.* Columns, rows and costs are scaled by powers of two, exactly, so that the tolerances of HiGHS are relative
    to the size of the polytope and of the cost.

    *Vertex.* HiGHS is asked for a basis only. The vertex and the multipliers are computed from it, and rows that
    rounding left are met again by least squares. With highspy (``pip install highspy``) the last basis is tried first
    (`warm`), which is 4 to 14 times faster than a start from nothing; where the basis found is clear of ties, hence the
    only one, it does not depend on that. Where it is not, the programme is solved from the start: an answer depends on
    the cost alone. Every thread has its own model.

    *Bound.* For any multipliers y of the right signs, and r = c - A'y, all x of the polytope have

        <c, x> >= sum of y_i rows_low_i or y_i rows_high_i + sum of the least of r_j x_j between low_j and high_j.

    This is computed with the rounding of each operation taken off (A. Neumaier, O. Shcherbina, "Safe bounds in linear
    and mixed-integer linear programming", Mathematical Programming 99, 2004); a variable without a finite bound gets
    one from `enclosure`.
    """

    def __init__(self, A: Any, rows: Sides, columns: Sides, warm: bool, fine: bool = True) -> None:
        # First by the bounds as they are given (or a guess), then, in fine units, by those that the rows imply.
        self.limits, self.given = columns, (A, rows, columns) if fine else None
        rows_at, self.columns_at = _exponents(A, rows, columns)
        A, rows, columns = _scaled(A, rows, columns, rows_at, self.columns_at)
        implied = tightened(A, rows, columns)
        rows_at, columns_at = _exponents(A, rows, implied, least=_THIN if fine else 1.0)
        self.A, self.rows, self.columns = _scaled(A, rows, columns, rows_at, columns_at)
        self.columns_at, self.implied = self.columns_at + columns_at, _times(implied, -columns_at)
        counts = np.bincount(self.A.indices, minlength=rows_at.size)
        self.depth = 4 + int(np.max(np.diff(self.A.indptr), initial=0)), 4 + counts
        self.by_row = self.A.toarray() if math.prod(A.shape) <= _DENSE else self.A.tocsr()
        self.wide, self.magnitudes = self.by_row.astype(np.longdouble), abs(self.by_row)
        self.warm, self.own = warm, threading.local()

    def minimise(self, cost: np.ndarray) -> tuple[Minimum | None, str]:
        """Return a vertex with the bound (None where there is none), and in words how it went."""
        if not np.all(np.isfinite(cost)):
            found, message = self.minimise(np.zeros_like(cost))
            return found and found._replace(lower=-math.inf), message
        some = cost != 0
        top = int(np.max((np.frexp(cost)[1] + self.columns_at)[some], initial=-10_000))
        c = np.ldexp(cost, np.maximum(self.columns_at + (_UNITS - top), -10_000))
        found, message = self._basic(c)
        if found is None:  # units of very different sizes may be too much for the solver
            return (None, message) if self._coarse is None else self._coarse.minimise(cost)
        z, y = found
        x = np.clip(np.ldexp(self._repaired(z), self.columns_at), *self.limits)
        lower = math.nextafter(float(np.ldexp(self._below(c, y), top - _UNITS)), -math.inf) if some.any() else 0.0
        return Minimum(x, lower), message

    @cached_property
    def _coarse(self) -> LinearProgramme | None:
        """The same programme in the units of the bounds as they were given."""
        return None if self.given is None else LinearProgramme(*self.given, self.warm, fine=False)

    def _basic(self, c: np.ndarray) -> tuple[tuple[np.ndarray, np.ndarray] | None, str]:
        """Return a basic solution and its multipliers, in our units."""
        highspy = _highspy()
        if highspy is None:
            return by_scipy(self, c)
        if not hasattr(self.own, "model"):
            self.own.model = Model(highspy, self)
        return self.own.model.minimise(c)

    def _repaired(self, z: np.ndarray) -> np.ndarray:
        """Return a point near z that meets every row up to the rounding of its sum."""
        from scipy.sparse.linalg import lsmr

        (low, high), (rows_low, rows_high) = self.columns, self.rows
        largest = np.maximum(*(np.where(np.isfinite(side), np.abs(side), 0.0) for side in self.rows))
        met, goal, inward = rows_low == rows_high, rows_high.copy(), np.zeros(rows_low.size)
        for _ in range(8):
            z = np.clip(z, low, high)
            at, room = self.by_row @ z, _UNIT * self.depth[1] * (self.magnitudes @ np.abs(z) + largest)
            over, under = at - rows_high > room, rows_low - at > room
            if not np.any(over | under):
                break
            # A row once left is met from then on, and a little farther in, so that near-parallel rows agree.
            inward = np.where(met & (inward == 0), 0.0, np.where(over, 1.0, np.where(under, -1.0, inward)))
            goal, met = np.where(under, rows_low, np.where(over, rows_high, goal)), met | over | under
            places, free = np.flatnonzero(met), np.flatnonzero((z > low) & (z < high))
            error = (at - goal + inward * room)[places]
            z[free] -= lsmr(self.by_row[places][:, free], error, atol=1e-15, btol=1e-15)[0]
        return z

    def _below(self, c: np.ndarray, y: np.ndarray) -> float:
        """Return a number proven to be no more than the minimum, from any multipliers of the rows."""
        (rows_low, rows_high), (low, high) = self.rows, self._box
        farthest = np.maximum(np.abs(low), np.abs(high))
        if not np.all(np.isfinite(farthest)):
            return -math.inf
        side = np.where(y > 0, rows_low, rows_high)
        y = np.where(np.isfinite(side) & np.isfinite(y), y, 0.0)
        r = (c - self.wide.T @ y.astype(np.longdouble)).astype(np.float64)
        error = self.depth[0] * _WIDE_UNIT * (np.abs(c) + self.magnitudes.T @ np.abs(y)) + _UNIT * np.abs(r) + _TINY
        sums = np.concatenate([np.where(y == 0, 0.0, side) * y, np.where(r > 0, low, high) * r])
        off = 3 * _UNIT * float(np.sum(np.abs(sums))) + float(error @ farthest)
        return math.fsum(sums) - 1.01 * off

    @cached_property
    def box(self) -> Sides:
        """Finite bounds on the variables that every point of the polytope keeps."""
        return _times(self._box, self.columns_at)

    @cached_property
    def _box(self) -> Sides:
        """The same in our units."""
        return enclosure(self.A, self.rows, self.implied)


def _scaled(A: Any, rows: Sides, columns: Sides, rows_at: Any, columns_at: Any) -> tuple[Any, Sides, Sides]:
    """Return the programme in other units, powers of two."""
    S = A.tocsc(copy=True)
    S.data = np.ldexp(S.data, rows_at[S.indices] + np.repeat(columns_at, np.diff(S.indptr)))
    return S, _times(rows, rows_at), _times(columns, -columns_at)


def _times(sides: Sides, powers: np.ndarray) -> Sides:
    with np.errstate(over="ignore"):  # a side that far away binds nothing
        return np.ldexp(sides[0], powers), np.ldexp(sides[1], powers)


def _exponents(A: Any, rows: Sides, columns: Sides, least: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Return the powers of two of the units: ranges then take about 2**_UNITS of them, and rows have entries to one.

    No range counts as less than `least`, nor as less than 2**-30 of its ends. That of a variable without finite bounds
    is guessed from the right sides of its rows; one that cannot move at all is as large as the others in its rows.
    """
    M = abs(A.tocoo())
    (low, high), n = columns, A.shape[1]
    with np.errstate(over="ignore"):
        width = high - low
    bounded = np.isfinite(width)
    size = np.maximum(np.abs(low), np.abs(high))
    sizes = np.where(bounded, np.where(width > least, np.maximum(width, 2.0**-30 * size), least), 1.0)
    sizes[width == 0] = 0.0
    if not bounded.all() and M.nnz:
        nearest = np.clip(0.0, low, high)
        right = [np.abs(np.where(np.isfinite(side), side - A @ nearest, 0.0)) for side in rows]
        for _ in range(6):
            across = _largest(M.row, M.data * sizes[M.col], A.shape[0])
            sizes = np.where(bounded, sizes, sizes / _largest(M.col, M.data * sizes[M.col] / across[M.row], n))
        across = _largest(M.row, M.data * sizes[M.col], A.shape[0])
        touched = np.unique(M.row[~bounded[M.col]])
        guess = np.max(np.maximum(*right)[touched] / across[touched], initial=0.0)
        sizes = np.where(bounded, sizes, sizes * (guess or 1.0))
    across = _largest(M.row, M.data * sizes[M.col], A.shape[0])
    alike = np.maximum(1.0 / _largest(M.col, M.data / across[M.row], n), 2.0**-30 * size)
    sizes = np.where(width == 0, alike, sizes)
    columns_at = np.frexp(sizes)[1].astype(np.int64) - _UNITS
    terms = np.frexp(M.data)[1] + columns_at[M.col]
    rows_at = np.zeros(A.shape[0], dtype=np.int64)
    np.maximum.at(rows_at, M.row, terms + 10**6)  # an empty row stays at zero
    return np.where(rows_at > 0, 10**6 - rows_at, 0), columns_at


def _largest(places: np.ndarray, values: np.ndarray, n: int) -> np.ndarray:
    """Return the largest of the values at each place; one where there is none."""
    out = np.zeros(n)
    np.maximum.at(out, places, values)
    return np.where(out > 0, out, 1.0)


def _highspy() -> ModuleType | None:
    try:
        import highspy
    except ImportError:
        return None
    return highspy
