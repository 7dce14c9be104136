"""In-face extended Frank-Wolfe on the nuclear-norm ball: solutions of low rank."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from frankwolfe.atoms import RankOne
from frankwolfe.backends import host
from frankwolfe.backends.namespace import as_like
from frankwolfe.lowrank import LowRank
from frankwolfe.methods.base import Evidence, Method, nuclear_radius, oracle_share, require_completion
from frankwolfe.points import Leaf, Point
from frankwolfe.problem import Problem
from frankwolfe.serialisation import plain

NEAR_VERTEX = 1e-4  # nearer to a vertex than that, the way to the other end of the face is too long to be accurate
CUT, ULPS = 1e-12, 32  # singular values below this share of the largest, or so many ulps of it, are rounding


@plain
class InFaceState(NamedTuple):
    k: int
    x: Point  # a LowRank with orthonormal factors and positive weights: a thin SVD
    bound: float  # best lower bound by the oracle's own value, which steers the choice of step


@dataclass(frozen=True)
class InFaceFrankWolfe(Method):
    """Frank-Wolfe that first tries to move away inside the smallest face of x, which lowers the rank.

    Parameters
    ----------
    gamma1 : float, default 0
        Progress that a move to the boundary of the face must make; zero: f must not rise.
    gamma2 : float, default inf
        Progress that the best point inside the face must make; infinity: it is never taken.

    Notes
    -----
    On the sphere of the nuclear norm, with X = U diag(s) V', the smallest face is {U M V' : M psd, trace R}. The worst
    vertex of it, R(Uw)(Vw)', has w the top eigenvector of the symmetric part of U'GV; away from it lies a face of
    lower rank. Progress is measured in 2LD²/(f - B), B the best lower bound so far. A step is the first of

    1. to the boundary of the face, if that gains at least gamma1;
    2. to the best point on the way, if that gains at least gamma2;
    3. a Frank-Wolfe step with exact line search.

    f(x_k) - f* = O(LD²/k) [1]_; among the pairs of [1]_ are (1, 1), (0, 1) and (0, inf). Steps 1 and 2 ask no oracle;
    only step 3 renews the certificate, by the Frank-Wolfe gap. Rank r costs O((m + n) r²) a step.

    Two things are ours, as mixing takes x off the sphere: every step ends with a line search along the ray through x,
    which brings it back where the constraint holds f up; and an x inside the ball moves in the face of the smaller ball
    through x. Neither can spoil the rate, which asks of each step only that it is feasible and makes progress.

    Applies to `MatrixCompletion` over a `NuclearBall`.

    References
    ----------
    .. [1] R. Freund, P. Grigas and R. Mazumder, An extended Frank-Wolfe method with "in-face" directions, and its
       application to low-rank matrix completion, SIAM J. Optim. 27, 2017.

    Examples
    --------
    >>> import numpy as np, frankwolfe as fw
    >>> truth = np.outer([1.0, 2.0, 3.0, -1.0], [1.0, 0.0, -1.0])
    >>> rows, cols = np.nonzero(np.ones((4, 3)))
    >>> f = fw.MatrixCompletion(rows, cols, truth[rows, cols], (4, 3))
    >>> result = fw.minimize(f, fw.NuclearBall(3.0), method=InFaceFrankWolfe(), tol=1e-8)
    >>> result.success, result.x.rank(), round(float(result.x.nuclear_norm()), 6)
    (True, 1, 3.0)
    """

    name: ClassVar[str] = "inface"
    syncs_host: ClassVar[bool] = True
    gamma1: float = 0.0
    gamma2: float = math.inf

    def __post_init__(self) -> None:
        for name in ("gamma1", "gamma2"):
            value = getattr(self, name)
            if not value >= 0:
                raise ValueError(f"{name} must be nonnegative, got {value!r}")

    def check(self, problem: Problem) -> None:
        super().check(problem)
        require_completion(self, problem, "'away', 'bpcg' or 'afw'")

    def init(self, problem: Problem, x0: Point) -> InFaceState:
        if x0.low_rank.stored:
            x0 = Point.at(x0.low_rank.compress(max(CUT, ULPS * problem.eps)))
        return InFaceState(0, x0, -math.inf)

    def step(self, problem: Problem, state: InFaceState) -> tuple[InFaceState, Evidence]:
        k, x, bound = state
        at_x = problem.evaluate(x)
        seen = ((at_x.value, x),)

        x_next = self._in_face(problem, x, float(at_x.value), at_x.slope, bound)
        if x_next is not None:
            return InFaceState(k + 1, x_next, bound), Evidence(seen)

        vertex = problem.lmo(at_x.slope, k, share=oracle_share(k), keep=x)
        bound = max(bound, float(at_x.value - at_x.inner + vertex.value))
        if vertex.point is not x:
            gamma = problem.line_search(x, vertex.point)
            x = _settled(problem, problem.mix(x, vertex.point, gamma))
        return InFaceState(k + 1, x, bound), Evidence(seen, ((at_x.tangent, vertex),))

    def _in_face(self, problem: Problem, x: Point, value: float, G: Any, bound: float) -> Point | None:
        """Return the next iterate inside the face of x, None where there is none that is worth it."""
        sigma = x.low_rank.weights
        if sigma.size < 2 or not sigma.min() > 0 or not -math.inf < bound < value:
            return None
        radius = float(sigma.sum())
        U, V = x.low_rank.unit_factors
        core = host(U.T @ (G @ V))
        _, vectors = np.linalg.eigh(0.5 * (core + core.T))
        w = vectors[:, -1]
        ratio = radius * float((w * w) @ (1.0 / sigma)) - 1.0
        if not ratio > NEAR_VERTEX:
            return None
        along = as_like(w, U)
        worst = Point.at(RankOne(radius, U @ along, V @ along))
        unit = 2.0 * problem.curvature  # 2 L D²

        end = problem.mix(x, worst, -1.0 / ratio)
        if _gained(float(problem.value(end)), value, bound, unit) >= self.gamma1:
            return _settled(problem, end)
        if self.gamma2 < math.inf:
            inside = problem.mix(x, worst, -problem.line_search(x, end) / ratio)
            if _gained(float(problem.value(inside)), value, bound, unit) >= self.gamma2:
                return _settled(problem, inside)
        return None


def _gained(after: float, before: float, bound: float, unit: float) -> float:
    """Return the progress from `before` to `after`, both measured from the bound."""
    if not after > bound:
        return math.inf
    return unit / (after - bound) - unit / (before - bound)


def _settled(problem: Problem, x: Point) -> Point:
    """Return the best point on the ray through x, with orthonormal factors, none of them rounding."""
    coords = x.low_rank.compress(max(CUT, ULPS * problem.eps))
    norm = float(coords.weights.sum())
    if not norm > 0:
        return Point.at(coords)
    nothing = 0.0 * problem.image(x)
    origin = Point(LowRank.zero(coords.shape, like=coords.like), ((1.0, Leaf(None, nothing)),))
    scale = problem.line_search(origin, x, cap=nuclear_radius(problem) / norm)
    weights = (scale * coords.weights).astype(np.float64)
    terms = tuple((scale * weight, leaf) for weight, leaf in x.terms)
    return Point(LowRank(weights, coords.left, coords.right, coords.shape, like=coords.like), terms)
