"""Frank-Wolfe for the nuclear-norm ball with corrective steps in factor space."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from frankwolfe.atoms import RankOne
from frankwolfe.kernels.pattern import Pattern, PatternMatrix
from frankwolfe.lowrank import LowRank
from frankwolfe.methods.base import Evidence, Method
from frankwolfe.objectives.matrix_completion import MatrixCompletion
from frankwolfe.points import Leaf, Point
from frankwolfe.problem import Problem
from frankwolfe.serialisation import plain
from frankwolfe.sets.nuclear import NuclearBall
from frankwolfe.validation import integer

GROWTH = 1.0  # new directions per step, as a share of the rank: one doubles it
POWERS = 4  # block power iterations for the directions beside the oracle's own, which need no accuracy
CUT = 0.1  # singular values are dropped while that costs at most this share of what the step has gained
SETTLED = 0.05  # a correction ends when the factors can promise no more than this share of the gap
ARMIJO = 1e-4
SPARSE = 40  # from this share of observed entries on, whole rows by BLAS beat gathering
BLOCK = 1 << 17  # numbers in a block of whole rows: 1 MB

Smooth = Callable[[np.ndarray], tuple[float, np.ndarray]]


@plain
class FactoredState(NamedTuple):
    k: int
    x: Point  # a LowRank in the form of an SVD: the factors of the next correction are read off it
    gap: float  # Frank-Wolfe gap of the last iterate, which sets all accuracies


@dataclass(frozen=True)
class FactoredFrankWolfe(Method):
    """Frank-Wolfe on the nuclear-norm ball; between oracle calls the factors are optimised together.

    Parameters
    ----------
    corrections : int, default 200
        Most L-BFGS iterations between two oracle calls.
    memory : int, default 10
        Pairs that L-BFGS remembers.

    Notes
    -----
    The ball is {U V' : (|U|² + |V|²)/2 <= R}, a Euclidean ball in factor space [1]_; with one more coordinate for the
    slack it is a sphere, on which L-BFGS [2]_ runs unconstrained. An evaluation reads the observed entries once and
    costs rank flops for each; an m x n array is never made. A step is

    1. the oracle at the gradient: the global certificate, exactly Frank-Wolfe's;
    2. a step towards a mixture of the singular pairs of the gradient that beat the multiplier -<G, X>/R (at least the
       oracle's own), by exact line search: this is what no local method in factor space can do, and why a rank that is
       too small never traps the method. The rank at most doubles;
    3. L-BFGS on the factors, then an SVD of them, which cuts what does not matter beside the certified gap.

    Step 2 alone gives the rate of Frank-Wolfe; step 3 only lowers f further. The rank is found, not given.

    Applies to `MatrixCompletion` over a `NuclearBall`.

    References
    ----------
    .. [1] N. Srebro, J. Rennie and T. Jaakkola, Maximum-margin matrix factorization, NIPS 2004.
    .. [2] J. Nocedal, Updating quasi-Newton matrices with limited storage, Math. Comp. 35, 1980.
    .. [3] S. Laue, A hybrid algorithm for convex semidefinite optimization, ICML 2012.

    Examples
    --------
    >>> import numpy as np, frankwolfe as fw
    >>> truth = np.outer([1.0, 2.0, 3.0, -1.0], [1.0, 0.0, -1.0])
    >>> rows, cols = np.nonzero(np.ones((4, 3)))
    >>> f = fw.MatrixCompletion(rows, cols, truth[rows, cols], (4, 3))
    >>> result = fw.minimize(f, fw.NuclearBall(3.0), method=FactoredFrankWolfe(), tol=1e-8)
    >>> result.success, result.x.rank(), round(float(result.x.nuclear_norm()), 6)
    (True, 1, 3.0)
    """

    name: ClassVar[str] = "factored"
    corrections: int = 200
    memory: int = 10

    def __post_init__(self) -> None:
        object.__setattr__(self, "corrections", integer("corrections", self.corrections, 0))
        object.__setattr__(self, "memory", integer("memory", self.memory, 1))

    def check(self, problem: Problem) -> None:
        super().check(problem)
        if not isinstance(problem.domain, NuclearBall):
            raise TypeError(
                "method 'factored' is for the NuclearBall, whose points have factors, not "
                f"{type(problem.domain).__name__}; use 'subspace', 'fcfw' or 'afw'"
            )
        if not isinstance(problem.objective, MatrixCompletion):
            raise TypeError(
                "method 'factored' needs the MatrixCompletion objective, whose entries are read from factors, not "
                f"{type(problem.objective).__name__}; use 'afw' or 'fw'"
            )

    def init(self, problem: Problem, x0: Point) -> FactoredState:
        if x0.coords.stored:
            x0 = Point.at(x0.coords.compress())
        return FactoredState(0, x0, float("inf"))

    def step(self, problem: Problem, state: FactoredState) -> tuple[FactoredState, Evidence]:
        k, x, gap = state
        at_x = problem.evaluate(x)
        share = min(0.03, 0.2 * gap / problem.curvature)
        vertex = problem.lmo(at_x.slope, k, share=share, keep=x)
        gap = max(float(at_x.inner - vertex.value), 0.0)

        U, V = x.coords.factors
        if isinstance(vertex.point.coords, RankOne) and gap > 0:
            U, V = self._grown(problem, k, x, at_x.slope, vertex.point, float(at_x.inner), U, V)
        x_next = self._corrected(problem, U, V, float(at_x.value), gap)
        return FactoredState(k + 1, x_next, gap), Evidence(((at_x.value, x),), ((at_x.tangent, vertex),))

    def _grown(
        self,
        problem: Problem,
        k: int,
        x: Point,
        slope: PatternMatrix,
        v: Point,
        inner: float,
        U: np.ndarray,
        V: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the factors of the best point between x and a mixture of atoms that beat the multiplier."""
        radius, top = _radius(problem), v.coords
        level = -inner / radius
        left, sigma, right = _new_pairs(slope, x.coords, int(GROWTH * U.shape[1]), level, problem.rng(k))
        problem.counts.n_matvec += 2 * (POWERS + 1) * U.shape[1]
        left, right = np.hstack([top.left[:, None], left]), np.hstack([top.right[:, None], right])
        excess = np.append(float(top.inner(slope)) / -radius, sigma) - level
        share = radius * excess / excess.sum()
        mixture = Point.at(LowRank(-share, list(left.T), list(right.T), slope.shape))
        gamma = problem.line_search(x, mixture)
        if not gamma > 0:
            return U, V
        kept, new = (1 - gamma) ** 0.5, ((gamma * share) ** 0.5).astype(U.dtype)
        return np.hstack([kept * U, -new * left]), np.hstack([kept * V, new * right])

    def _corrected(self, problem: Problem, U: np.ndarray, V: np.ndarray, value: float, gap: float) -> Point:
        """Return the point after L-BFGS on the factors, as an SVD without what the gap does not notice."""
        objective, radius = problem.objective, _radius(problem)
        assert isinstance(objective, MatrixCompletion)
        (m, n), rank, corrected = objective.pattern.shape, U.shape[1], value
        if rank:
            slack = max(2 * radius - float(np.sum(U * U) + np.sum(V * V)), 0.0) ** 0.5
            z = np.concatenate([U.ravel(), V.ravel(), np.array([slack], U.dtype)])
            smooth = _on_sphere(objective, rank, (2 * radius) ** 0.5)
            goal = SETTLED * gap / (2 * radius) ** 0.5
            z, corrected, evaluations = lbfgs(smooth, z, self.corrections, self.memory, goal)
            problem.counts.n_grad += evaluations
            problem.counts.n_pass += evaluations * rank
            z = z * ((2 * radius) ** 0.5 / float(np.sqrt(z @ z)))
            U, V = z[: m * rank].reshape(m, rank), z[m * rank : -1].reshape(n, rank)
        X = LowRank.from_arrays(U, V) if rank else LowRank.zero((m, n), objective.values.dtype)
        left, sigma, right = X.svd()
        tail = np.cumsum(sigma[::-1])[::-1]  # what would be lost by cutting from here on
        # Cutting a part of nuclear norm t moves f by at most t|G| + Lt²/2, and |G| is at most the root of 2Lf.
        L = objective.smoothness
        kept = tail * ((2 * L * corrected) ** 0.5 + 0.5 * L * tail) > min(1e-3 * gap, CUT * (value - corrected))
        left, sigma, right = left[:, kept], sigma[kept], right[:, kept]
        sigma = sigma * min(1.0, radius / max(float(sigma.sum()), 1e-300))
        coords = LowRank(sigma, list(left.T.copy()), list(right.T.copy()), (m, n), settled=len(sigma))
        image = _entries(objective.pattern, left * sigma, right)
        problem.counts.n_pass += max(len(sigma), 1)
        return Point(coords, ((1.0, Leaf(None, image)),))


def _radius(problem: Problem) -> float:
    assert isinstance(problem.domain, NuclearBall)
    return problem.domain.radius


def _new_pairs(
    G: PatternMatrix, x: LowRank, more: int, level: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return, roughly, the singular pairs above `level` of G outside the spans of x: left, sigma, right.

    Inside the spans the factors can turn by themselves.
    """
    (m, n), more = G.shape, min(more, min(G.shape) - x.stored)
    if more <= 0:
        return np.zeros((m, 0), G.dtype), np.zeros(0), np.zeros((n, 0), G.dtype)
    P, Q = np.stack(x.left, axis=1), np.stack(x.right, axis=1)

    def outside(basis: np.ndarray, block: np.ndarray) -> np.ndarray:
        return block - basis @ (basis.T @ block)

    right = outside(Q, rng.standard_normal((n, more)).astype(Q.dtype))
    for _ in range(POWERS):
        right = np.linalg.qr(outside(Q, G.rmatvec(outside(P, G @ np.linalg.qr(right)[0]))))[0]
    left, sigma, turn = np.linalg.svd(outside(P, G @ right), full_matrices=False)
    kept = sigma > level
    return left[:, kept], sigma[kept], (right @ turn.T)[:, kept]


def _on_sphere(objective: MatrixCompletion, rank: int, rho: float) -> Smooth:
    """Return f(UV') as a function of z = (U, V, slack) brought to length rho first: the same along every ray."""
    (m, n), pattern = objective.pattern.shape, objective.pattern

    def smooth(z: np.ndarray) -> tuple[float, np.ndarray]:
        scale = rho / float(np.sqrt(z @ z))
        U, V = scale * z[: m * rank].reshape(m, rank), scale * z[m * rank : -1].reshape(n, rank)
        image = _entries(pattern, U, V)
        G = PatternMatrix(objective.loss_slope(image), pattern)
        g = np.concatenate([(G @ V).ravel(), G.rmatvec(U).ravel(), np.zeros(1, z.dtype)])
        g -= (scale / rho) ** 2 * float(g @ z) * z
        return float(objective.loss(image)), scale * g

    return smooth


def _entries(pattern: Pattern, U: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Return the observed entries of U V', a block of rows at a time; by whole rows where many are observed."""
    m, n = pattern.shape
    if pattern.size * SPARSE < m * n:
        return pattern.entries(U, np.ones(U.shape[1]), V).values
    out, rows = np.empty(pattern.size, np.result_type(U, V)), max(1, BLOCK // n)
    for i in range(0, m, rows):
        part = slice(pattern.indptr[i], pattern.indptr[min(i + rows, m)])
        out[part] = (U[i : i + rows] @ V.T)[pattern.rows[part] - i, pattern.cols[part]]
    return out


def lbfgs(smooth: Smooth, z: np.ndarray, most: int, memory: int, goal: float) -> tuple[np.ndarray, float, int]:
    """Minimise by L-BFGS with backtracking until |gradient| <= `goal`; return point, value and evaluations.

    Examples
    --------
    >>> z, _, _ = lbfgs(lambda z: (float(z @ z), 2 * z), np.array([3.0, 4.0]), 20, 5, 1e-12)
    >>> z.round(12) + 0.0
    array([0., 0.])
    """
    value, g = smooth(z)
    evaluations = 1
    pairs: list[tuple[np.ndarray, np.ndarray, float]] = []
    for _ in range(most):
        if not float(g @ g) > goal * goal:
            break
        d = _quasi_newton(g, pairs)
        slope = float(g @ d)
        if not slope < 0:
            d, slope, pairs = -g, -float(g @ g), []
        t = 1.0 if pairs else min(1.0, float(np.sqrt((z @ z) / (g @ g))) * 1e-2)
        while True:
            trial, g_trial = smooth(z + t * d)
            evaluations += 1
            if trial <= value + ARMIJO * t * slope or t < 1e-12:
                break
            # The parabola through what is known, kept away from both ends.
            t *= min(max(-0.5 * t * slope / (trial - value - t * slope), 0.1), 0.5)
        if not trial < value:
            break
        s, y = t * d, g_trial - g
        z, value, g = z + s, trial, g_trial
        if float(s @ y) > 1e-10 * float(np.sqrt((s @ s) * (y @ y))):
            pairs = [*pairs, (s, y, 1.0 / float(s @ y))][-memory:]
    return z, value, evaluations


def _quasi_newton(g: np.ndarray, pairs: list[tuple[np.ndarray, np.ndarray, float]]) -> np.ndarray:
    """Return minus the inverse Hessian estimate times g, by the two-loop recursion."""
    q, alphas = -g, []
    for s, y, rho in reversed(pairs):
        alphas.append(rho * float(s @ q))
        q = q - alphas[-1] * y
    if pairs:
        s, y, _ = pairs[-1]
        q = q * (float(s @ y) / float(y @ y))
    for (s, y, rho), alpha in zip(pairs, reversed(alphas), strict=True):
        q = q + (alpha - rho * float(y @ q)) * s
    return q
