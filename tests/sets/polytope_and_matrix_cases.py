"""Polytopes, sets of matrices, flows and combinations, each with a naive twin and CVXPY's words."""

from __future__ import annotations

import itertools
import math

import numpy as np
from benchmarks.lies_sets import ROADS as DAG
from benchmarks.lies_sets import paths, whole_flows
from tests import naive
from tests.sets.case import Case

from frankwolfe.sets import Box, L1Ball, L2Ball, LInfBall, Simplex
from frankwolfe.sets.combinations.linear_maps import LinearImage, Scaled, Shifted
from frankwolfe.sets.combinations.sums_products_unions import MinkowskiSum, Product, UnionHull
from frankwolfe.sets.norm_balls.ellipsoid import Ellipsoid
from frankwolfe.sets.norm_balls.owl import OWLBall
from frankwolfe.sets.oracle_set import OracleSet
from frankwolfe.sets.polytopes.convex_hull import ConvexHull
from frankwolfe.sets.polytopes.flow import FlowPolytope
from frankwolfe.sets.polytopes.permutahedron import Permutahedron
from frankwolfe.sets.polytopes.polytope import Polytope
from frankwolfe.sets.polytopes.simplices import Hypersimplex
from frankwolfe.sets.polytopes.transport import Birkhoff, TransportPolytope
from frankwolfe.sets.spectral.decomposed import SchattenBall, Spectrahedron, SpectralBall

INF = math.inf
RNG = np.random.default_rng(20)
SHIFT = np.array([1.0, -2.0, 0.5, 0.0])
TALL = RNG.normal(size=(4, 3))
WIDE = RNG.normal(size=(3, 4))
POINTS = RNG.normal(size=(7, 3))
A_UB, B_UB = RNG.normal(size=(8, 3)), 0.5 + RNG.random(8)
ROADS = [*DAG, (3, 1)]  # which closes a cycle; 4 is a dead end


def _lowest_point(g):
    return POINTS[np.argmin(POINTS @ g)]


def _hull(name, domain, vertices, **more):
    """A polytope by its vertices."""
    vertices = [np.asarray(v, dtype=float) for v in vertices]
    rows = np.array([v.ravel() for v in vertices])

    def judge(x):
        import cvxpy as cp

        share = cp.Variable(len(rows), nonneg=True)
        return [cp.sum(share) == 1, rows.T @ share == x]

    shape = vertices[0].shape
    return Case(name, domain, shape, lambda g: naive.best_vertex(vertices, g), judge, **more)


def _singular(name, domain, shape, p):
    def judge(x):
        import cvxpy as cp

        X = cp.reshape(x, shape, order="C")
        norm = {1.0: cp.normNuc, 2.0: lambda X: cp.norm(X, "fro"), INF: cp.sigma_max}[p](X)
        return [norm <= domain.radius]

    def size(x):
        return naive.lp_norm(np.linalg.svd(x, compute_uv=False), p)

    def least(g):
        return -domain.radius * naive.lp_norm(np.linalg.svd(g, compute_uv=False), naive.dual_exponent(p))

    return Case(name, domain, shape, least, judge if p in (1, 2, INF) else None, size)


def _spectrahedron(n, radius):
    def judge(x):
        import cvxpy as cp

        X = cp.reshape(x, (n, n), order="C")
        return [X == X.T, X >> 0, cp.trace(X) == radius]

    def least(g):
        return radius * float(np.linalg.eigvalsh((g + g.T) / 2)[0])

    return Case(f"spectrahedron-{n}", Spectrahedron(radius), (n, n), least, judge, room=1e-11)


def owl_vertices(weights, radius):
    """Every sign pattern on every support, of the length that the weights allow."""
    for pattern in itertools.product((-1.0, 0.0, 1.0), repeat=len(weights)):
        k = sum(p != 0 for p in pattern)
        if k:
            yield radius * np.array(pattern) / sum(weights[:k])


def _owl(name, radius, weights):
    def judge(x):
        import cvxpy as cp

        steps = -np.diff([*weights, 0.0])
        tops = [cp.sum_largest(cp.abs(x), k) for k in range(1, len(weights))] + [cp.norm1(x)]
        return [sum(step * top for step, top in zip(steps, tops, strict=True) if step) <= radius]

    def size(x):
        return math.fsum(w * a for w, a in zip(weights, sorted(np.abs(x), reverse=True), strict=True))

    vertices = list(owl_vertices(weights, radius))
    domain = OWLBall(radius, weights=weights)
    return Case(name, domain, (len(weights),), lambda g: naive.best_vertex(vertices, g), judge, size)


def _permutahedron(c):
    return _hull(f"permutahedron-{len(c)}", Permutahedron(c), list(itertools.permutations(c)))


def _birkhoff(n):
    return _hull(f"birkhoff-{n}", Birkhoff(n), [np.eye(n)[list(p)] for p in itertools.permutations(range(n))])


def _hypersimplex(n, k):
    subsets = itertools.combinations(range(n), k)
    return _hull(f"hypersimplex-{n}-{k}", Hypersimplex(n, k=k), [np.isin(np.arange(n), s) * 1.0 for s in subsets])


def polytope_vertices(A, b, A_eq=None, b_eq=None):
    """Every feasible point where n independent constraints are tight."""
    n = A.shape[1]
    A_eq, b_eq = (np.zeros((0, n)), np.zeros(0)) if A_eq is None else (A_eq, b_eq)
    for tight in itertools.combinations(range(len(b)), n - len(b_eq)):
        M, right = np.vstack([A_eq, A[list(tight)]]), np.concatenate([b_eq, b[list(tight)]])
        if abs(np.linalg.det(M)) > 1e-9:
            v = np.linalg.solve(M, right)
            if np.all(A @ v <= b + 1e-9):
                yield v


def _polytope(name, equation, **options):
    """|x| <= 2 in every entry, eight random inequalities, and where wanted one equation."""
    A, b = np.vstack([A_UB, np.eye(3), -np.eye(3)]), np.concatenate([B_UB, np.full(6, 2.0)])
    more = {"A_eq": [[1.0, 1.0, 1.0]], "b_eq": [0.5]} if equation else {}
    vertices = polytope_vertices(A, b, *(np.array(v) for v in more.values()))
    domain = Polytope(A_UB, B_UB, **more, lower=-2.0, upper=2.0, **options)
    return _hull(name, domain, list(vertices), exact=False, room=1e-9)


def _ball_and_box(name, radius, lower, upper):
    def judge(x):
        import cvxpy as cp

        return [cp.norm2(x) <= radius, x >= lower, x <= upper]

    domain = L2Ball(radius) & Box(np.array(lower), np.array(upper))
    least = lambda g: naive.least_in_ball_and_box(g, radius, lower, upper)  # noqa: E731
    return Case(name, domain, (len(lower),), least, judge, exact=False)


def _ellipsoid(name, center, matrix, radius):
    M = np.diag(matrix) if np.ndim(matrix) == 1 else np.asarray(matrix)

    def judge(x):
        import cvxpy as cp

        u = cp.Variable(M.shape[1])
        return [x == center + M @ u, cp.norm2(u) <= radius]

    def least(g):
        return float(np.dot(center, g)) - radius * math.hypot(*(M.T @ g))

    flat = np.linalg.matrix_rank(M) < len(center)
    return Case(name, Ellipsoid(center, matrix, radius), (len(center),), least, judge, room=1e-9 if flat else 1e-12)


L1_4, CUBE_4 = list(naive.vertices_l1((4,), 2.0)), list(naive.vertices_box(-np.ones(4), np.ones(4)))
SIMPLEX_4 = list(naive.vertices_simplex(4, 1.0))


def _stadium():
    """The sum of a disc and a segment, curved and flat."""

    def judge(x):
        import cvxpy as cp

        y, t = cp.Variable(2), cp.Variable()
        return [x == y + t * np.array([1.0, 1.0]), cp.norm2(y) <= 1, cp.abs(t) <= 2]

    def least(g):
        return -math.hypot(*g) - 2 * abs(g.sum())

    domain = MinkowskiSum(L2Ball(1.0), ConvexHull([[2.0, 2.0], [-2.0, -2.0]]))
    return Case("stadium", domain, (2,), least, judge, room=1e-9)


POLYTOPES_AND_MATRICES = [
    _singular("spectral", SpectralBall(1.5), (2, 3), INF),
    _singular("spectral-tall", SpectralBall(0.5), (4, 2), INF),
    *(_singular(f"schatten-{p}", SchattenBall(2.0, p=p), (3, 2), p) for p in (1.0, 1.5, 2.0, 3.0, INF)),
    _spectrahedron(3, 1.0),
    _spectrahedron(2, 5.0),
    _spectrahedron(1, 2.0),
    _owl("owl", 2.0, [3.0, 2.0, 2.0, 1.0, 0.5]),
    _owl("owl-l1", 1.0, [1.0, 1.0, 1.0, 1.0]),
    _owl("owl-cube", 1.0, [1.0, 0.0, 0.0]),
    _owl("owl-zeros", 0.3, [2.0, 1.0, 0.0, 0.0]),
    _permutahedron([3.0, -1.0, 0.5, 2.0, 2.0]),
    _permutahedron([1.0, 1.0]),
    _birkhoff(1),
    _birkhoff(2),
    _birkhoff(4),
    *(_hypersimplex(n, k) for n, k in [(5, 1), (5, 2), (6, 4), (3, 3)]),
    _polytope("polytope", False),
    _polytope("polytope-equation", True, warm_start=False),
    _hull("hull", ConvexHull(POINTS), POINTS, room=1e-11),
    _hull("hull-matrices", ConvexHull(POINTS.reshape(7, 1, 3)), POINTS.reshape(7, 1, 3), room=1e-11),
    _hull("flow-paths", FlowPolytope(DAG, 0, 3), paths(DAG, 0, 3), exact=False),
    _hull("flow-3", FlowPolytope(DAG, 0, 3, 3.0), [3 * p for p in paths(DAG, 0, 3)], exact=False),
    _hull(
        "flow-capacity",
        FlowPolytope(ROADS, 0, 3, 2.0, capacity=[2, 1, 1, 1, 1, 1, 5, 1]),
        whole_flows(ROADS, 0, 3, 2, [2, 1, 1, 1, 1, 1, 5, 1]),
        exact=False,
        room=1e-11,
    ),
    _hull(
        "flow-cycles",
        FlowPolytope(ROADS, 0, 3, 2.0),
        whole_flows(ROADS, 0, 3, 2, [2] * 8),
        exact=False,
        room=1e-11,
    ),
    _hull(
        "transport", TransportPolytope([2, 1, 0], [1, 2]), naive.whole_plans([2, 1, 0], [1, 2]), exact=False, room=1e-11
    ),
    _hull("transport-even", TransportPolytope([2, 2, 2], [2, 2, 2]), naive.whole_plans([2] * 3, [2] * 3), exact=False),
    _ball_and_box("ball-and-box", 1.0, [-0.5, 0.1, -2.0], [0.8, 0.7, 0.9]),
    _ball_and_box("ball-in-box", 0.5, [-1.0, -1.0], [1.0, 1.0]),
    _ellipsoid("ellipsoid", [1.0, -2.0, 0.5, 0.0], RNG.normal(size=(4, 4)), 1.5),
    _ellipsoid("ellipsoid-axes", [1.0, 0.0, 3.0], [2.0, 0.5, 1.0], 2.0),
    _ellipsoid("ellipsoid-flat", [1.0, -2.0, 0.5, 0.0], RNG.normal(size=(4, 2)), 1.0),
    _hull("scaled", Scaled(L1Ball(1.0), 2.0), L1_4),
    _hull("reflected", Scaled(Simplex(4), -3.0), [-3 * v for v in SIMPLEX_4]),
    _hull("shifted", Shifted(L1Ball(2.0), SHIFT), [v + SHIFT for v in L1_4]),
    _hull("shifted-polytope", Shifted(Birkhoff(2), np.ones((2, 2))), [np.eye(2) + 1, 2 - np.eye(2)]),
    _hull(
        "sum",
        MinkowskiSum(L1Ball(2.0), LInfBall(1.0)),
        [v + w for v in L1_4 for w in CUBE_4],
        exact=False,
        room=1e-11,
    ),
    _hull(
        "sum-sparse",
        MinkowskiSum(L1Ball(2.0), Simplex(4)),
        [v + w for v in L1_4 for w in SIMPLEX_4],
        exact=False,
        room=1e-11,
    ),
    _stadium(),
    _hull("union", UnionHull(L1Ball(2.0), LInfBall(1.0)), L1_4 + CUBE_4, exact=False, room=1e-11),
    _hull(
        "union-apart",
        UnionHull(Shifted(L1Ball(2.0), 5 * SHIFT), Simplex(4)),
        [v + 5 * SHIFT for v in L1_4] + SIMPLEX_4,
        exact=False,
        room=1e-11,
    ),
    _hull(
        "product",
        Product(Simplex(2), L1Ball(1.0), shapes=[None, 2]),
        [np.concatenate([v, w]) for v in np.eye(2) for w in naive.vertices_l1((2,), 1.0)],
    ),
    _hull(
        "product-matrices",
        Product(Birkhoff(2), LInfBall(1.0), shapes=[None, (2,)]),
        [np.concatenate([p, c]) for p in ([1, 0, 0, 1], [0, 1, 1, 0]) for c in itertools.product((1, -1), repeat=2)],
    ),
    _hull("image-tall", LinearImage(L1Ball(1.0), TALL), [TALL @ v for v in naive.vertices_l1((3,), 1.0)], exact=False),
    _hull("image-wide", LinearImage(L1Ball(2.0), WIDE), [WIDE @ v for v in L1_4], exact=False, room=1e-11),
    _hull(
        "own",
        OracleSet(_lowest_point, shape=(3,)),
        POINTS,
        array_native=False,  # the user's function is NumPy's
        exact=False,
        room=1e-11,
    ),
]
