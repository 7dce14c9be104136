"""Frank-Wolfe for the nuclear-norm ball with corrective steps in factor space."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np

from frankwolfe.atoms import RankOne
from frankwolfe.backends import Array, host, namespace, vdot, zeros
from frankwolfe.backends.namespace import as_like, columns
from frankwolfe.kernels.lbfgs import Smooth, lbfgs
from frankwolfe.kernels.pattern.pattern_matrix import PatternMatrix
from frankwolfe.kernels.pattern.pattern_products import entries, fit
from frankwolfe.lowrank import LowRank
from frankwolfe.methods.base import ORACLE_ERROR, Evidence, Method, nuclear_radius, require_completion
from frankwolfe.objectives.base import Evaluation
from frankwolfe.objectives.matrix_completion import MatrixCompletion
from frankwolfe.points import Leaf, Point
from frankwolfe.problem import Problem
from frankwolfe.serialisation import plain
from frankwolfe.validation import integer

# What was tuned, each on `python -m benchmarks completion`:
ASKED = 0.2  # share of the last gap that the oracle's answer may be wrong by
WEAK = 0.25  # weight of directions that do not beat the multiplier yet, in terms of the best one's excess, all together
FIRST = 16  # new directions looked for in the first step, and least number in every other
GROWTH = 2.0  # most new directions of a step, as a share of the rank: two triples it
BLOCKS = 4  # blocks of the Krylov space that new directions are taken from
AHEAD = 0.3  # directions this share of the excess below the multiplier are taken too: they will beat it soon
CUT = 0.1  # singular values are dropped while that costs at most this share of what the step has gained
SETTLED = 0.2  # a correction ends when the factors can promise no more than this share of the gap
SINGLE = 2e-4  # corrections run in single precision while the gap is above this share of R|G|, G the gradient at zero
STALLED = 0.9  # and while a step brings it below this share of the last one
RANGE = 1e-8, 1e8  # of radius and gradient, where their squares are safe in single precision
UNSEEN = 1e-3  # share of the gap that cutting singular values may cost at most


@plain
class FactoredState(NamedTuple):
    k: int
    x: Point  # a LowRank in the form of an SVD: the factors of the next correction are read off it
    gap: float  # Frank-Wolfe gap of the last iterate, which sets all accuracies
    more: int  # directions to look for beside the oracle's own


@dataclass(frozen=True)
class FactoredFrankWolfe(Method):
    """Frank-Wolfe on the nuclear-norm ball; between oracle calls the factors are optimised together.

    Parameters
    ----------
    corrections : int, default 60
        Most L-BFGS iterations between two oracle calls.
    memory : int, default 5
        Pairs that L-BFGS remembers.

    Notes
    -----
    The ball is {U V' : (‖U‖² + ‖V‖²)/2 <= R}, a Euclidean ball in factor space [1]_; with one more coordinate for the
    slack it is a sphere, on which L-BFGS [2]_ runs unconstrained. An evaluation reads the observed entries once and
    costs rank flops for each; an m x n array is never made. Besides a few numbers for each observed entry, memory holds
    2 `memory` + 6 arrays of (m + n) rank numbers. A step is

    1. the oracle at the gradient: the global certificate, exactly Frank-Wolfe's;
    2. a step towards a mixture of the singular pairs of the gradient that beat the multiplier -<G, X>/R, or nearly do
       (at least the oracle's own), by exact line search: this is what no local method in factor space can do, and why
       a rank that is too small never traps the method. A block Krylov space gives many at once, so that the rank may
       triple;
    3. L-BFGS on the factors, in single precision while the gap is large, then an SVD of them, which cuts what does not
       matter beside the certified gap.

    Step 2 alone descends like Frank-Wolfe; step 3 only lowers f further. The rank is found, not given.

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
    corrections: int = 60
    memory: int = 5

    def __post_init__(self) -> None:
        object.__setattr__(self, "corrections", integer("corrections", self.corrections, 0))
        object.__setattr__(self, "memory", integer("memory", self.memory, 1))

    def check(self, problem: Problem) -> None:
        super().check(problem)
        require_completion(self, problem, "'subspace', 'fcfw' or 'afw'")

    def init(self, problem: Problem, x0: Point) -> FactoredState:
        if x0.low_rank.stored:
            x0 = Point.at(x0.low_rank.compress())
        return FactoredState(0, x0, float("inf"), FIRST)

    def step(self, problem: Problem, state: FactoredState) -> tuple[FactoredState, Evidence]:
        k, x, before, more = state
        at_x = problem.evaluate(x)
        share = min(ORACLE_ERROR, ASKED * before / problem.curvature)
        vertex = problem.lmo(at_x.slope, k, share=share, keep=x)
        gap = max(float(at_x.inner - vertex.value), 0.0)

        U, V = x.low_rank.factors
        rank = U.shape[1]
        if vertex.point is not x and gap > problem.eps * abs(float(vertex.value)):
            U, V = self._grown(problem, k, x, at_x, vertex.point.low_rank, more)
        found = U.shape[1] - rank
        more = max(FIRST, min(2 * found, int(GROWTH * U.shape[1])))
        kind = namespace(U).float32 if self._single(problem, gap, before) else U.dtype
        x_next = self._corrected(problem, U, V, float(at_x.value), gap, kind)
        return FactoredState(k + 1, x_next, gap, more), Evidence(((at_x.value, x),), ((at_x.tangent, vertex),))

    def _single(self, problem: Problem, gap: float, before: float) -> bool:
        """Tell whether single precision does: squares in its range, rounding small beside the gap, and getting on."""
        objective, radius = _completion(problem), nuclear_radius(problem)
        slope = objective.values if objective.weights is None else objective.weights * objective.values  # at zero
        size = math.sqrt(float(vdot(slope, slope)))
        least, most = RANGE
        return least < min(radius, size) <= max(radius, size) < most and SINGLE * radius * size < gap < STALLED * before

    def _grown(
        self, problem: Problem, k: int, x: Point, at_x: Evaluation, top: RankOne, more: int
    ) -> tuple[Array, Array]:
        """Return the factors of the best point between x and a mixture of atoms that beat the multiplier."""
        slope: Any = at_x.slope
        objective, radius = _completion(problem), nuclear_radius(problem)
        best, multiplier = float(top.inner(slope)) / -radius, -float(at_x.inner) / radius
        level = multiplier - AHEAD * (best - multiplier)
        left, sigma, right = _new_pairs(slope, x.low_rank, more, level, problem.rng(k))
        problem.counts.n_matvec += 2 * BLOCKS * _width(slope, x.low_rank, more)
        left, right = _beside(top.left[:, None], left), _beside(top.right[:, None], right)
        # Those that do not beat the multiplier yet start with next to nothing: together they cannot spoil the step.
        excess = np.maximum(np.append(best, sigma) - multiplier, WEAK * (best - multiplier) / (1 + len(sigma)))
        share = radius * excess / (excess.sum() or 1.0)  # nothing beats the multiplier: towards zero
        image = entries(objective.pattern, left * as_like(-share, left), right)
        problem.counts.n_pass += len(share)
        mixture = Point(LowRank(-share, columns(left), columns(right), slope.shape), ((1.0, Leaf(None, image)),))
        gamma = problem.line_search(x, mixture)
        U, V = x.low_rank.factors
        if not gamma > 0:
            return U, V
        kept, new = (1 - gamma) ** 0.5, as_like((gamma * share) ** 0.5, U)
        return _beside(kept * U, -new * left), _beside(kept * V, new * right)

    def _corrected(self, problem: Problem, U: Array, V: Array, value: float, gap: float, kind: Any) -> Point:
        """Return the point after L-BFGS on the factors, as an SVD without what the gap does not notice."""
        objective, radius = _completion(problem), nuclear_radius(problem)
        (m, n), rank, corrected, xp = objective.pattern.shape, U.shape[1], value, namespace(U)
        if rank:
            slack = max(2 * radius - float(vdot(U, U) + vdot(V, V)), 0.0) ** 0.5
            z = xp.astype(_long(U, V, slack), kind)
            smooth = _on_sphere(objective, rank, (2 * radius) ** 0.5, kind, problem.tick)
            goal = SETTLED * gap / (2 * radius) ** 0.5
            z, corrected, evaluations = lbfgs(smooth, z, self.corrections, self.memory, goal)
            problem.counts.n_grad += evaluations
            problem.counts.n_pass += evaluations * rank
            z = xp.astype(z, U.dtype)
            z = z * ((2 * radius) ** 0.5 / math.sqrt(float(z @ z)))
            U, V = xp.reshape(z[: m * rank], (m, rank)), xp.reshape(z[m * rank : -1], (n, rank))
        X = LowRank.from_arrays(U, V) if rank else LowRank.zero((m, n), like=objective.values)
        left, sigma, right = X.svd()
        sigma = host(sigma)
        tail = np.cumsum(sigma[::-1])[::-1]  # what would be lost by cutting from here on
        # Cutting a part of nuclear norm t moves f by at most t|G| + Lt²/2, and |G| is at most the root of 2Lf.
        L = objective.smoothness
        kept = tail * ((2 * L * corrected) ** 0.5 + 0.5 * L * tail) > min(UNSEEN * gap, CUT * (value - corrected))
        rank = int(np.count_nonzero(kept))  # the first ones: what is lost falls with each
        left, sigma, right = left[:, :rank], sigma[:rank], right[:, :rank]
        sigma = sigma * min(1.0, radius / max(float(sigma.sum()), 1e-300))
        coords = LowRank(sigma, columns(left), columns(right), (m, n), settled=rank, like=objective.values)
        image = entries(objective.pattern, left * as_like(sigma, left), right)
        problem.counts.n_pass += max(len(sigma), 1)
        return Point(coords, ((1.0, Leaf(None, image)),))


def _completion(problem: Problem) -> MatrixCompletion:
    return cast(MatrixCompletion, problem.composite)  # as `check` has asked


def _width(G: PatternMatrix, x: LowRank, more: int) -> int:
    """Return the width of the blocks of a Krylov space somewhat larger than `more`, within what is left outside x."""
    return min(-(-more // (BLOCKS - 1)), (min(G.shape) - x.stored) // BLOCKS)


def _beside(left: Array, right: Array) -> Array:
    return namespace(left).concat([left, right], axis=1)


def _long(U: Array, V: Array, slack: float) -> Array:
    """Return the variable of a correction as one vector."""
    xp = namespace(U)
    return xp.concat([xp.reshape(U, (-1,)), xp.reshape(V, (-1,)), as_like([slack], U)])


def _new_pairs(
    G: PatternMatrix, x: LowRank, more: int, level: float, rng: np.random.Generator
) -> tuple[Array, np.ndarray, Array]:
    """Return left, sigma, right: roughly, the singular pairs of G above `level` outside the spans of x, at most `more`.

    They come from a block Krylov space with a random start and need no accuracy: the corrective steps see to that.
    Inside the spans the factors can turn by themselves.
    """
    m, n = G.shape
    if not _width(G, x, more):
        return zeros((m, 0), G.values), np.zeros(0), zeros((n, 0), G.values)
    xp, (P, basis) = namespace(G.values), x.unit_factors

    def outside(space: Array, block: Array) -> Array:
        return block - space @ (space.T @ block)

    block, images = as_like(rng.standard_normal((n, _width(G, x, more))), G.values), []
    for _ in range(BLOCKS):
        block = xp.linalg.qr(outside(basis, outside(basis, block)))[0]
        basis = _beside(basis, block)
        images.append(outside(P, G @ block))
        block = G.rmatvec(images[-1])
    left, sigma, turn = xp.linalg.svd(xp.concat(images, axis=1), full_matrices=False)
    sigma = host(sigma)
    kept = min(int(np.count_nonzero(sigma > level)), more)
    return left[:, :kept], sigma[:kept], basis[:, x.stored :] @ turn[:kept, :].T


def _on_sphere(
    objective: MatrixCompletion, rank: int, rho: float, kind: Any, tick: Callable[[], None] = lambda: None
) -> Smooth:
    """Return f(UV') as a function of z = (U, V, slack) brought to length rho first: the same along every ray."""
    (m, n), pattern = objective.pattern.shape, objective.pattern
    xp = namespace(objective.values)
    target, weights = xp.astype(objective.values, kind, copy=False), objective.weights
    weights = None if weights is None else xp.astype(weights, kind, copy=False)

    def smooth(z: Array) -> tuple[float, Array]:
        tick()
        scale = rho / math.sqrt(float(z @ z))
        y = scale * z
        U, V = xp.reshape(y[: m * rank], (m, rank)), xp.reshape(y[m * rank : -1], (n, rank))
        value, GU, GV = fit(pattern, target, weights, U, V)
        g = _long(GU, GV, 0.0)
        g -= (float(g @ y) / rho**2) * y
        g *= scale
        return value, g

    return smooth
