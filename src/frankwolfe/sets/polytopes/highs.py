"""Basic solutions of a scaled linear programme by HiGHS, through highspy or through SciPy."""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any

import numpy as np

_TOLERANCE = 1e-10  # the finest that HiGHS accepts
_CLEAR = 1e-7  # what is farther from a tie than this, no start and no tolerance decides
_LONGEST_REST = 64  # calls after which the last basis is tried again where it did not help
_DENSE = 200  # up to this order a basis is factorised as a dense matrix
_DUAL, _PRIMAL = 1, 4  # HiGHS codes: from the start dual is best; a changed cost leaves the last basis primal feasible
_INFEASIBLE, _UNBOUNDED = "infeasible", "unbounded"


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
    if isinstance(B, np.ndarray) or B.shape[0] <= _DENSE or B.nnz > 0.1 * B.shape[0] ** 2:
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
