"""Linear programmes over one polytope and many costs: vertices by HiGHS, bounds by proof."""

from __future__ import annotations

import math
import threading
from functools import cached_property
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from frankwolfe.sets.polytopes.enclosing_box import Sides, enclosure, tightened

_TOLERANCE = 1e-10  # the finest that HiGHS accepts
_CLEAR = 1e-7  # what is farther from a tie than this, no start and no tolerance decides
_LONGEST_REST = 64  # calls after which the last basis is tried again where it did not help
_DENSE_BASIS = 200  # up to this order a basis is factorised as a dense matrix
_DUAL, _PRIMAL = 1, 4  # HiGHS codes: from the start dual is best; a changed cost leaves the last basis primal feasible
_INFEASIBLE, _UNBOUNDED = "infeasible", "unbounded"
_UNITS = 10  # ranges are about 2**10 units, as is the largest cost: the solver's tolerances are absolute
_DENSE = 1 << 15  # up to so many entries whole arrays are quicker than sparse ones
_THIN = 2.0**-60  # the least range, in units of that given, that gets units of its own
_UNIT = 2.0**-53
_WIDE_UNIT = float(np.finfo(np.longdouble).eps)  # finer where the processor has a wider type
_TINY = 1e-290  # more than what underflows


class Model:
    """HiGHS through highspy, the model kept."""

    def __init__(self, highspy: ModuleType, programme: Any) -> None:
        self.highspy, self.programme = highspy, programme
        self.warm, self.rest, self.skip = False, 0, 1
        A = programme.A
        self.every = np.arange(A.shape[1], dtype=np.int32)
        # Seen from the bound nearest to zero, a small range far from zero keeps its digits.
        self.origin = np.clip(0.0, *programme.columns)
        self.shift = A @ self.origin
        lp = highspy.HighsLp()
        lp.num_row_, lp.num_col_ = A.shape
        lp.col_cost_ = np.zeros(A.shape[1])
        lp.col_lower_, lp.col_upper_ = (side - self.origin for side in programme.columns)
        lp.row_lower_, lp.row_upper_ = (side - self.shift for side in programme.rows)
        lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = A.indptr, A.indices, A.data
        self.model = highspy.Highs()
        for option, value in {
            "output_flag": False,
            "threads": 1,
            "solver": "simplex",
            "presolve": "off",  # it saves nothing here, and hides the basis
            "primal_feasibility_tolerance": _TOLERANCE,
            "dual_feasibility_tolerance": _TOLERANCE,
            "small_matrix_value": 1e-12,
        }.items():
            self.model.setOptionValue(option, value)
        self.model.passModel(lp)

    def minimise(self, c: np.ndarray) -> tuple[tuple[np.ndarray, np.ndarray] | None, str]:
        kinds = self.highspy.HighsModelStatus
        if self.warm and self.rest == 0:
            self.model.setOptionValue("simplex_strategy", _PRIMAL)
            if self._run(c) == kinds.kOptimal:
                z, y, clear = self._solution(c)
                if clear:
                    self.skip = 1
                    return (z, y), "optimal"
            self.rest, self.skip = self.skip, min(2 * self.skip, _LONGEST_REST)  # ties are seldom alone
        self.rest = max(self.rest - 1, 0)
        self.model.setOptionValue("simplex_strategy", _DUAL)
        for scale in (1.0, 2.0**-10):  # where tolerances are too fine, they are loosened
            self.model.clearSolver()
            status = self._run(scale * c)
            if status == kinds.kOptimal:
                self.warm = self.programme.warm
                return self._solution(c)[:2], "optimal"
        self.warm = False
        if status == kinds.kInfeasible:
            return None, _INFEASIBLE
        if status in (kinds.kUnbounded, kinds.kUnboundedOrInfeasible):
            return None, _UNBOUNDED
        return None, self.model.modelStatusToString(status)

    def _run(self, c: np.ndarray) -> Any:
        self.model.changeColsCost(self.every.size, self.every, c)
        self.model.run()
        return self.model.getModelStatus()

    def _solution(self, c: np.ndarray) -> tuple[np.ndarray, np.ndarray, bool]:
        """Return the solution and the multipliers of the basis found, and whether it is clear of ties."""
        (low, high), (rows_low, rows_high) = self.programme.columns, self.programme.rows
        found = self.model.getSolution()
        basis, basic = self.model.getBasis(), self.highspy.HighsBasisStatus.kBasic
        inside = np.array([status == basic for status in basis.col_status], dtype=bool)
        resting = np.array([status != basic for status in basis.row_status], dtype=bool)
        z = _nearer(self.origin + np.array(found.col_value), low, high)
        side = _nearer(np.array(found.row_value) + self.shift, rows_low, rows_high)
        C, R = np.flatnonzero(inside), np.flatnonzero(resting)
        z[C], y = 0.0, np.zeros(side.size)
        if C.size:
            B, by_row = self.programme.by_row[R][:, C], self.programme.by_row[R]
            solve = _solver(B)
            z[C] = solve(side[R] - by_row @ z, False)
            z[C] += solve(side[R] - by_row @ z, False)  # one step of refinement makes each row's error its rounding
            y[R] = solve(c[C], True)
            y[R] += solve(c[C] - B.T @ y[R], True)
        r, at = c - self.programme.by_row.T @ y, self.programme.by_row @ z
        apart = [
            np.abs(r[~inside & (low < high)]),
            np.abs(y[resting & (rows_low < rows_high)]),
            np.minimum(z - low, high - z)[inside],
            np.minimum(at - rows_low, rows_high - at)[~resting],
        ]
        return z, y, bool(np.min(np.concatenate(apart), initial=math.inf) > _CLEAR)


def _nearer(values: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return of two bounds the one that each value is nearer to; the value itself where neither is finite."""
    near = np.where(np.abs(values - low) <= np.abs(values - high), low, high)
    return np.where(np.isfinite(near), near, values)


def _solver(B: Any) -> Any:
    """Return a function that solves B x = right, or B' x = right."""
    if isinstance(B, np.ndarray) or B.shape[0] <= _DENSE_BASIS or B.nnz > 0.1 * B.shape[0] ** 2:
        from scipy.linalg import lu_factor, lu_solve

        factors = lu_factor(B if isinstance(B, np.ndarray) else B.toarray(), check_finite=False)
        return lambda right, transposed: lu_solve(factors, right, trans=int(transposed), check_finite=False)
    from scipy.sparse.linalg import splu

    sparse = splu(B.tocsc())
    return lambda right, transposed: sparse.solve(right, "T" if transposed else "N")


def by_scipy(programme: Any, c: np.ndarray) -> tuple[tuple[np.ndarray, np.ndarray] | None, str]:
    """Return a basic solution and its multipliers by SciPy's copy of HiGHS, from the start each time."""
    from scipy.optimize import linprog
    from scipy.sparse import vstack

    A, origin = programme.A.tocsr(), np.clip(0.0, *programme.columns)
    shift = A @ origin
    low, high = (side - shift for side in programme.rows)
    fixed = low == high
    above, below = np.isfinite(high) & ~fixed, np.isfinite(low) & ~fixed
    answer = linprog(
        c,
        A_ub=vstack([A[np.flatnonzero(above)], -A[np.flatnonzero(below)]]),
        b_ub=np.concatenate([high[above], -low[below]]),
        A_eq=A[np.flatnonzero(fixed)],
        b_eq=high[fixed],
        bounds=np.column_stack([side - origin for side in programme.columns]),
        method="highs-ds",
        options={"primal_feasibility_tolerance": _TOLERANCE, "dual_feasibility_tolerance": _TOLERANCE},
    )
    if answer.status != 0:
        return None, {2: _INFEASIBLE, 3: _UNBOUNDED}.get(answer.status, str(answer.message))
    y, shares = np.zeros(low.size), np.asarray(answer.ineqlin.marginals)
    y[above] += shares[: np.count_nonzero(above)]
    y[below] -= shares[np.count_nonzero(above) :]
    y[fixed] = answer.eqlin.marginals
    return (origin + answer.x, y), "optimal"


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
