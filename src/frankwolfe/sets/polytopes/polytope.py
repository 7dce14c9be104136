"""Polytopes given by linear inequalities and equations."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from frankwolfe.atoms import Dense
from frankwolfe.backends.namespace import Array, as_like
from frankwolfe.sets.arrays import above, norm, on_host, slack, spread_vector, unmasked
from frankwolfe.sets.base import EmptySetError, LinearMinimum, ProvenSet, install, is_point, require_shape
from frankwolfe.sets.polytopes.linear_programme import LinearProgramme, Minimum

_ZERO = 1e-12  # of what was subtracted: below is rounding
_NOWHERE = 1e-6  # length of a direction within a unit box up to which the solver has found none


class NearestPoint:
    """Projection onto the points with A x <= b and C x = d, by nonnegative least squares.

    Equations are solved first: x = p + Nw with N orthonormal, which keeps distances. What is left is to find the
    shortest u with Gu >= h, and with y >= 0 that brings (G, h)'y nearest to (0, 1), and r what it misses by, that is
    -r_1/r_2 [1]_. Few inequalities bind as a rule: only those that the point would break take part, until none is.

    References
    ----------
    .. [1] C. L. Lawson, R. J. Hanson, "Solving least squares problems", chapter 23, 1974.
    """

    def __init__(self, A: np.ndarray, b: np.ndarray, C: np.ndarray, d: np.ndarray) -> None:
        n = A.shape[1]
        self.point, self.basis = np.zeros(n), np.eye(n)
        if len(d):
            u, s, vt = np.linalg.svd(C)
            rank = int(np.sum(s > max(C.shape) * np.finfo(float).eps * s[0]))
            self.basis = vt[rank:].T
            self.point = vt[:rank].T @ ((u.T @ d)[:rank] / s[:rank])
        rows = A @ self.basis
        size = np.linalg.norm(rows, axis=1)
        some = size > _ZERO * np.linalg.norm(A, axis=1)  # the others say something of the equations alone
        self.rows, self.bounds = rows[some] / size[some, None], (b - A @ self.point)[some] / size[some]

    def __call__(self, z: np.ndarray) -> np.ndarray:
        w = self.basis.T @ (z - self.point)
        start, part = w, np.zeros(len(self.bounds), bool)
        while True:
            excess = self.rows @ w - self.bounds
            broken = (excess > _ZERO * (np.abs(self.bounds) + float(np.linalg.norm(w)))) & ~part
            if not broken.any():
                return self.point + self.basis @ w
            part |= broken
            rows, bounds = self.rows[part], self.bounds[part]
            u, binding = _shortest(-rows, rows @ start - bounds)
            w = start + u
            for _ in range(2):  # from afar rounding leaves the bounds behind: back to those that bind
                w = w - np.linalg.lstsq(rows[binding], rows[binding] @ w - bounds[binding])[0]


def _shortest(G: np.ndarray, h: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the shortest u with Gu >= h, and which inequalities bind."""
    from scipy.optimize import nnls

    scale = float(np.abs(h).max())
    E = np.vstack([G.T, h / scale])
    goal = np.append(np.zeros(G.shape[1]), 1.0)
    y, _ = nnls(E, goal, maxiter=30 * len(h))
    r = E @ y
    r[-1] -= 1.0
    return -scale * r[:-1] / r[-1], y > 0


@dataclass(frozen=True, eq=False, repr=False)
class Polytope(ProvenSet):
    """The vectors x with A_ub x <= b_ub, A_eq x = b_eq and lower <= x <= upper.

    Parameters
    ----------
    A_ub, b_ub : array or sparse matrix of shape (m, n), array_like of shape (m,), optional
        Inequalities.
    A_eq, b_eq : array or sparse matrix of shape (l, n), array_like of shape (l,), optional
        Equations.
    lower, upper : float or array_like of shape (n,), default -inf and inf
        Bounds on the entries. Unlike SciPy's ``linprog``, nothing is taken as nonnegative unless said so here.
    warm_start : bool, default=True
        Start each linear programme from the solution of the last one (with highspy), which saves most pivots where
        directions change little. Answers depend on the direction alone all the same: where there is a tie, the
        programme is solved again from the start. False saves the attempt where ties are the rule.

    Notes
    -----
    An atom is a vertex, found by the simplex method of HiGHS [1]_: through highspy where it is installed (the model and
    its basis are kept between calls), otherwise through SciPy. That solver's tolerances are in units of the polytope's
    own size, and no bound rests on them: `minimum` and `support` come from multipliers, with the rounding of every
    operation taken off [2]_. An empty or unbounded polytope is refused at once. A linear image, a shift or a product is
    cheaper than one large programme: see the combinators.

    References
    ----------
    .. [1] Q. Huangfu, J. A. J. Hall, "Parallelizing the dual revised simplex method", Mathematical Programming
       Computation 10, 2018.
    .. [2] A. Neumaier, O. Shcherbina, "Safe bounds in linear and mixed-integer linear programming", Mathematical
       Programming 99, 2004.

    Examples
    --------
    >>> import numpy as np
    >>> domain = Polytope([[1.0, 2.0]], [4.0], lower=0.0, upper=3.0)
    >>> domain.lmo(np.array([-1.0, -1.0])).toarray()
    array([3. , 0.5])
    >>> domain
    Polytope(2 variables, 1 inequalities, 0 equations)
    """

    A_ub: Any = None
    b_ub: Any = None
    A_eq: Any = None
    b_eq: Any = None
    lower: Any = field(default=-math.inf, kw_only=True)
    upper: Any = field(default=math.inf, kw_only=True)
    warm_start: bool = field(default=True, kw_only=True)
    digest: str = field(init=False)  # of all numbers: tells two polytopes apart
    closed_form: ClassVar[bool] = False
    quick_membership: ClassVar[bool] = True

    def __post_init__(self) -> None:
        n = _length(self.A_ub, self.A_eq, self.lower, self.upper)
        A_ub, b_ub = _rows("ub", self.A_ub, self.b_ub, n)
        A_eq, b_eq = _rows("eq", self.A_eq, self.b_eq, n)
        lower, upper = spread_vector("lower", self.lower, n), spread_vector("upper", self.upper, n)
        crossed = np.flatnonzero(lower > upper)
        if crossed.size:
            j = int(crossed[0])
            raise ValueError(f"lower must not exceed upper, but entry {j} has lower={lower[j]}, upper={upper[j]}")
        digest = hashlib.sha256(repr((A_ub.shape, A_eq.shape, bool(self.warm_start))).encode())
        for matrix in (A_ub, A_eq):
            for part in (matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data):
                digest.update(part.tobytes())
        for part in (b_ub, b_eq, lower, upper):
            part.setflags(write=False)
            digest.update(part.tobytes())
        install(self, A_ub=A_ub, b_ub=b_ub, A_eq=A_eq, b_eq=b_eq, lower=lower, upper=upper)
        install(self, warm_start=bool(self.warm_start), digest=digest.hexdigest(), shape=lower.shape)
        self._check()

    def __repr__(self) -> str:
        n, (m, l) = self.lower.size, (self.b_ub.size, self.b_eq.size)
        return f"Polytope({n} variables, {m} inequalities, {l} equations)"

    @property
    def _key(self) -> str:
        return self.digest

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_programme", "_nearest")}

    def minimum(self, g: Array) -> LinearMinimum:
        """Return a vertex minimising <g, v>, its value, and a proven lower bound on the minimum."""
        require_shape(self, g)
        found = self._solved(on_host(g))
        atom = Dense(as_like(found.x, g))
        return LinearMinimum(atom, atom.inner(g), found.lower)

    def diameter(self, shape: tuple[int, ...] | None = None) -> float:
        """Return an upper bound: the diagonal of the bounds, or where some are infinite, of the smallest box around.

        That box takes two linear programmes for each entry; it is kept.
        """
        low, high = self._box
        return float(norm(high - low, 2))

    def reach(self, c: Array) -> float:
        require_shape(self, c)
        low, high = self._programme.box
        return above(on_host(c) @ np.maximum(np.abs(low), np.abs(high)), c)

    def contains(self, x: Array, tol: float = 1e-9) -> bool:
        if not is_point(self, x):
            return False
        x64, room = on_host(x), slack(x, tol)
        # Every entry has a size of its own: that of its bounds, where it has both.
        limits = np.maximum(np.abs(self.lower), np.abs(self.upper))
        size = np.where(np.isfinite(limits), limits, np.max(np.abs(x64)))

        def within(A: Any, b: np.ndarray, excess: np.ndarray) -> bool:
            return bool(np.all(excess <= room * (np.abs(b) + abs(A) @ size)))

        over = np.maximum(self.lower - x64, x64 - self.upper)
        return (
            bool(np.all(over <= room * size))
            and within(self.A_ub, self.b_ub, self.A_ub @ x64 - self.b_ub)
            and within(self.A_eq, self.b_eq, np.abs(self.A_eq @ x64 - self.b_eq))
        )

    def project(self, x: Array) -> Array:
        """Return the nearest point, by nonnegative least squares over the constraints: for few of them, not cheap."""
        require_shape(self, x)
        return as_like(self._nearest(on_host(x)), x)

    @cached_property
    def _programme(self) -> LinearProgramme:
        from scipy.sparse import vstack

        below = np.full(self.b_ub.size, -np.inf)
        rows = np.concatenate([below, self.b_eq]), np.concatenate([self.b_ub, self.b_eq])
        return LinearProgramme(vstack([self.A_ub, self.A_eq]).tocsc(), rows, (self.lower, self.upper), self.warm_start)

    @cached_property
    def _nearest(self) -> NearestPoint:
        unit = np.eye(self.lower.size)
        low, high = np.isfinite(self.lower), np.isfinite(self.upper)
        A = np.vstack([self.A_ub.toarray(), -unit[low], unit[high]])
        b = np.concatenate([self.b_ub, -self.lower[low], self.upper[high]])
        return NearestPoint(A, b, self.A_eq.toarray(), self.b_eq)

    @cached_property
    def _box(self) -> tuple[np.ndarray, np.ndarray]:
        low, high = np.array(self.lower), np.array(self.upper)
        for j in np.flatnonzero(~np.isfinite(high - low)):
            unit = np.zeros(low.size)
            unit[j] = 1.0
            low[j], high[j] = self._solved(unit).lower, -self._solved(-unit).lower
        return low, high

    def _solved(self, cost: np.ndarray) -> Minimum:
        found, message = self._programme.minimise(cost)
        if found is None:
            raise RuntimeError(f"the linear programme of {self!r} failed: {message}")
        return found

    def _check(self) -> None:
        """Refuse an empty or unbounded polytope: the second holds a direction in which it never ends."""
        _, message = self._programme.minimise(np.zeros(self.lower.size))
        if message != "optimal":
            raise EmptySetError(
                f"the polytope must not be empty, but HiGHS calls its constraints {message}; relax them"
            )
        if np.all(np.isfinite(self.lower)) and np.all(np.isfinite(self.upper)):
            return
        rows = np.where(np.arange(self.b_ub.size + self.b_eq.size) < self.b_ub.size, -np.inf, 0.0)
        sides = np.where(np.isfinite(self.lower), 0.0, -1.0), np.where(np.isfinite(self.upper), 0.0, 1.0)
        ways = LinearProgramme(self._programme.A, (rows, np.zeros(rows.size)), sides, False)
        cost = np.random.default_rng(0).normal(size=self.lower.size)
        for sign in (1.0, -1.0):  # a nonzero direction has a nonzero product with a random cost, so one sign finds it
            found, _ = ways.minimise(sign * cost)
            if found is None or np.max(np.abs(found.x)) > _NOWHERE:
                j = 0 if found is None else int(np.argmax(np.abs(found.x)))
                raise ValueError(f"the polytope must be bounded, but entry {j} can grow forever; pass lower and upper")


def _length(A_ub: Any, A_eq: Any, lower: Any, upper: Any) -> int:
    for matrix in (A_ub, A_eq):
        if matrix is not None:
            shape = np.shape(matrix) if not hasattr(matrix, "shape") else tuple(matrix.shape)
            if len(shape) != 2 or shape[1] == 0:
                raise ValueError(f"A_ub and A_eq must be matrices with a column for each entry, got shape {shape}")
            return int(shape[1])
    size = max(np.size(lower), np.size(upper))
    if np.ndim(lower) == np.ndim(upper) == 0:
        raise ValueError("Polytope needs A_ub with b_ub, A_eq with b_eq, or vectors lower and upper; got none")
    return size


def _rows(kind: str, A: Any, b: Any, n: int) -> tuple[Any, np.ndarray]:
    """Return a sparse matrix of n columns and its right sides."""
    from scipy.sparse import csr_array

    if (A is None) != (b is None):
        raise ValueError(f"A_{kind} and b_{kind} must be given together, got only one of them")
    if A is None:
        return csr_array((0, n)), np.zeros(0)
    A, b = unmasked(f"A_{kind}", A), unmasked(f"b_{kind}", b)
    try:
        matrix, right = csr_array(A, dtype=np.float64, copy=True), np.array(b, dtype=np.float64).reshape(-1)
    except (TypeError, ValueError):
        raise ValueError(f"A_{kind} and b_{kind} must hold numbers, got {A!r} and {b!r}") from None
    matrix.sum_duplicates()
    if matrix.shape != (right.size, n):
        raise ValueError(
            f"A_{kind} must have shape ({right.size}, {n}) to match b_{kind} and the other arguments, "
            f"got {matrix.shape}"
        )
    if not np.all(np.isfinite(matrix.data)) or not np.all(np.isfinite(right)):
        raise ValueError(f"A_{kind} and b_{kind} must be finite; leave out a row that does not bind")
    return matrix, right
