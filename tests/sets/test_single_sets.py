"""Single sets: large instances against slow twins, forms, algebra, what they refuse, known values."""

from __future__ import annotations

import itertools
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests import naive
from tests.sets.polytope_and_matrix_cases import DAG, POLYTOPES_AND_MATRICES, ROADS, paths

import frankwolfe as fw
from frankwolfe.atoms import Dense, OneHot, RankOne, Sparse
from frankwolfe.checkpoint import identity
from frankwolfe.sets import L1Ball, L2Ball, LInfBall, NuclearBall, ProjectableSet, Set, Simplex
from frankwolfe.sets.base import IterativeSet
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
from frankwolfe.sets.polytopes.transport import Birkhoff
from frankwolfe.sets.spectral.decomposed import SchattenBall, Spectrahedron, SpectralBall


def variational(domain, x, z):
    """How much farther than z some feasible point lies in the direction of x: zero for the projection."""
    return float(domain.support(x - z)) - float(np.vdot(x - z, z))


# --- larger, against slow twins -------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [3, 30, 400])
def test_hypersimplex_and_permutahedron_projections_by_bisection_and_theory(n):
    rng = np.random.default_rng(n)
    for spread in (0.1, 1.0, 50.0):
        x = spread * rng.normal(size=n) + 1e6
        for k in sorted({1, n // 2 or 1, n}):
            z = Hypersimplex(n, k=k).project(x)
            low, high = x.min() - 1, x.max()
            for _ in range(200):
                middle = (low + high) / 2
                low, high = (middle, high) if np.clip(x - middle, 0, 1).sum() > k else (low, middle)
            np.testing.assert_allclose(z, np.clip(x - high, 0, 1), atol=1e-8)
            assert z.sum() == pytest.approx(k, abs=1e-11 * n)
        domain = Permutahedron(rng.normal(size=n))
        z = domain.project(x)
        assert domain.contains(z, tol=1e-12)
        shifted = x - x.mean()  # adding a constant to x changes nothing: the sum is fixed
        np.testing.assert_allclose(domain.project(shifted), z, atol=1e-8)
        assert variational(domain, shifted, z) <= 1e-9 * n * spread


@pytest.mark.parametrize("d", [1, 10, 500])
@pytest.mark.parametrize("spread", [0.0, 1.0, 8.0])
def test_owl_projection_at_every_spread(d, spread):
    rng = np.random.default_rng(d)
    x = rng.choice([-1.0, 0.0, 1.0], size=d) * 10 ** (spread * rng.uniform(-1, 1, size=d))
    x[0] = 1.0
    for weights in (np.ones(d), np.linspace(2, 1, d), np.linspace(1, 0, d + 1)[:d], np.arange(1, d + 1) ** -0.5):
        size = float(OWLBall(1.0, weights=weights)._norm(x))
        for radius in (1e-6 * size, 0.5 * size, 0.999999 * size):
            ball = OWLBall(radius, weights=weights)
            z = ball.project(x)
            assert ball.contains(z, tol=1e-11)
            assert variational(ball, x, z) <= 1e-10 * radius * max(1.0, float(np.abs(x).max()) / weights[0])


def test_shortest_paths_on_a_layered_network_of_any_costs():
    """Three layers of twenty nodes against a matrix recursion; and against HiGHS with generous capacities."""
    names = [(layer, i) for layer in range(3) for i in range(20)]
    edges = [("s", (0, i)) for i in range(20)] + [((2, i), "t") for i in range(20)]
    edges += [((layer, i), (layer + 1, j)) for layer in range(2) for i in range(20) for j in range(20)]
    domain, limited = FlowPolytope(edges, "s", "t"), FlowPolytope(edges, "s", "t", capacity=2.0)
    assert len(names) == 60
    for seed in range(5):
        g = np.random.default_rng(seed).normal(size=len(edges))
        one, two = g[40:440].reshape(20, 20), g[440:].reshape(20, 20)
        best = (g[:20, None, None] + one[:, :, None] + two[None] + g[20:40]).min()
        atom = domain.lmo(g)
        assert atom.inner(g) == pytest.approx(best, abs=1e-12)
        assert isinstance(atom, Sparse)
        assert atom.indices.size == 4
        assert limited.lmo(g).inner(g) == pytest.approx(best, abs=1e-9)


def test_polytope_answers_alike_cold_warm_and_without_highspy(monkeypatch):
    rng = np.random.default_rng(4)
    A, b = sp.random_array((30, 12), density=0.4, random_state=rng), 1 + rng.random(30)
    arguments = {"A_ub": A, "b_ub": b, "A_eq": np.ones((1, 12)), "b_eq": [0.3], "lower": -1.0, "upper": 2.0}
    warm, cold = Polytope(**arguments), Polytope(**arguments, warm_start=False)
    monkeypatch.setattr("frankwolfe.sets.polytopes.linear_programme._highspy", lambda: None)
    plain = Polytope(**arguments)
    assert warm == plain != cold
    g = rng.normal(size=12)
    for _ in range(20):
        g = g + 0.3 * rng.normal(size=12)
        values = [float(domain.lmo(g).inner(g)) for domain in (warm, cold, plain)]
        np.testing.assert_allclose(values, values[0], rtol=1e-9)


def whole_directions(shape, seed):
    """Directions whose answers are exact in floating point, in units of 2**-20, and others that round."""
    rng = np.random.default_rng(seed)
    potentials = rng.integers(-(2**30), 2**30, size=(shape[0], *(1,) * (len(shape) - 1))) + np.zeros(shape)
    return np.ldexp(rng.integers(-(2**20), 2**20, size=shape) + potentials * (seed % 2), -20)


@pytest.mark.parametrize("seed", range(6))
def test_bounds_hold_where_costs_nearly_cancel(seed):
    rng = np.random.default_rng(seed)
    n = 5
    g = whole_directions((n, n), seed)
    least = min(math.fsum(g[i, p[i]] for i in range(n)) for p in itertools.permutations(range(n)))
    for scale in (1.0, 1 / 3, 1e-300, 1e290):
        found = Birkhoff(n).minimum(scale * g)
        exact = min(
            sum(Fraction(float(scale * g[i, p[i]])) for i in range(n)) for p in itertools.permutations(range(n))
        )
        assert Fraction(float(found.lower)) <= exact
        assert Fraction(float(Birkhoff(n).support(-scale * g))) >= -exact
        assert float(found.lower) >= scale * (least - 1e-13 * n * np.max(np.abs(g)))
    points, matrix = rng.normal(size=(7, 40)), rng.normal(size=(40, 6))
    direction = whole_directions((40,), seed) / 3
    for domain, corners in (
        (ConvexHull(points), points),
        (LinearImage(L1Ball(2.0), matrix), np.concatenate([2 * matrix.T, -2 * matrix.T])),
        (FlowPolytope([(i, i + 1) for i in range(20) for _ in range(2)], 0, 20), None),
    ):
        least = exactly_least(direction, corners)
        assert Fraction(float(domain.minimum(direction).lower)) <= least
        assert Fraction(float(domain.support(-direction))) >= -least
        assert float(domain.minimum(direction).lower) >= float(least) - 1e-12 * domain.reach(np.abs(direction))


def exactly_least(g, corners):
    """Return the least product with a corner in rational arithmetic; without corners, of one edge from each pair."""
    g = [Fraction(float(value)) for value in g]
    if corners is None:
        return sum((min(a, b) for a, b in zip(g[::2], g[1::2], strict=True)), Fraction(0))
    return min(sum((a * Fraction(float(b)) for a, b in zip(g, x, strict=True)), Fraction(0)) for x in corners)


def test_large_birkhoff_beats_random_permutations_and_is_dual_feasible():
    cp = pytest.importorskip("cvxpy")
    g = np.random.default_rng(0).normal(size=(60, 60))
    value = Birkhoff(60).lmo(g).inner(g)
    x = cp.Variable((60, 60), nonneg=True)
    exact = cp.Problem(cp.Minimize(cp.sum(cp.multiply(g, x))), [cp.sum(x, 0) == 1, cp.sum(x, 1) == 1]).solve(cp.SCIPY)
    assert value == pytest.approx(exact, abs=1e-8)


def test_diameter_of_many_points_is_a_bound():
    points = np.random.default_rng(0).normal(size=(4001, 2))
    few = ConvexHull(points[:4000]).diameter()
    assert few <= ConvexHull(points).diameter() * (1 + 1e-12) <= 1.3 * few


# --- forms, types and algebra -----------------------------------------------------------------------------------------


def test_atoms_are_kept_in_their_natural_form():
    g = np.random.default_rng(0).normal(size=4)
    G = g.reshape(2, 2)
    assert isinstance(Hypersimplex(4, k=2).lmo(g), Sparse)
    assert isinstance(OWLBall(1.0, weights=[1, 1, 1, 1]).lmo(g), Sparse)
    assert isinstance(Birkhoff(2).lmo(G), Sparse)
    assert isinstance(FlowPolytope(DAG, 0, 3).lmo(np.ones(7)), Sparse)
    assert isinstance(Spectrahedron(1.0).lmo(G), RankOne)
    assert isinstance(SchattenBall(1.0, p=1).lmo(G), RankOne)
    assert isinstance(SpectralBall(1.0).lmo(G), Dense)
    assert isinstance(Scaled(Simplex(4), 2.0).lmo(g), OneHot)
    assert isinstance(Product(Simplex(2), Simplex(2)).lmo(g), Sparse)
    assert isinstance(MinkowskiSum(Simplex(4), L1Ball(1.0)).lmo(g), Sparse)
    assert Product(Simplex(2), Simplex(2)).sparse_atoms
    assert not Product(Simplex(2), L2Ball(1.0), shapes=[2, 2]).sparse_atoms


def test_a_type_tells_truthfully_what_a_combination_can_do():
    curved, flat = L2Ball(1.0), Birkhoff(2)
    assert isinstance(Scaled(curved, 2.0), ProjectableSet)
    assert isinstance(Shifted(curved, np.ones(2)), ProjectableSet)
    assert isinstance(Product(curved, Simplex(2), shapes=[2, 2]), ProjectableSet)
    for domain in (
        Scaled(flat, 2.0),
        Shifted(flat, np.ones((2, 2))),
        Product(flat, Simplex(2)),
        MinkowskiSum(curved, LInfBall(1.0)),
        UnionHull(curved, LInfBall(1.0)),
        LinearImage(curved, np.eye(2)),
    ):
        assert not isinstance(domain, ProjectableSet)
        with pytest.raises(AttributeError, match="project"):
            domain.project(np.ones(domain.shape or (2,)))
    assert Scaled(curved, 2.0).curved
    assert not Scaled(flat, 2.0).curved
    nuclear = Product(NuclearBall(2.0), L1Ball(1.0), shapes=[(3, 2), 6])
    assert isinstance(nuclear, IterativeSet)
    assert not nuclear.closed_form
    assert type(pickle.loads(pickle.dumps(nuclear))) is type(nuclear)


def test_iterative_parts_keep_their_accuracy_and_their_proofs():
    rng = np.random.default_rng(0)
    g = rng.normal(size=12)
    domain = Product(Scaled(NuclearBall(2.0), 3.0), L1Ball(1.0), shapes=[(3, 2), 6])
    exact = 6 * np.linalg.svd(g[:6].reshape(3, 2), compute_uv=False)[0] + np.abs(g[6:]).max()
    found = domain.minimise(g, 1e-3, rng)
    assert -exact * (1 + 1e-12) <= found.value <= -exact + 1e-3
    assert found.lower <= -exact
    bound = domain.support_bound(g, rng)
    assert exact <= bound.value <= exact * (1 + 1e-9)
    assert bound.failure == 0


def test_algebra_flattens():
    a, b, c = L1Ball(1.0), LInfBall(2.0), Simplex(3)
    assert a + b + c == MinkowskiSum(a, b, c)
    assert a + (b + c) == MinkowskiSum(a, b, c)
    assert a + np.ones(3) + np.ones(3) == Shifted(a, 2 * np.ones(3))
    assert (c * 2.0) * -1.5 == Scaled(c, -3.0)
    assert np.eye(3) @ c == LinearImage(c, np.eye(3))
    for wrong in ("x", None, 1.0, True):
        assert a.__add__(wrong) is NotImplemented
    for wrong in ("x", None, np.ones(2), True):
        assert a.__mul__(wrong) is NotImplemented
    assert c.__rmatmul__(np.ones(3)) is NotImplemented


def test_operators():
    a, b, x = L1Ball(1.0), LInfBall(2.0), np.arange(3.0)
    assert a + b == MinkowskiSum(a, b)
    assert a + x == x + a == Shifted(a, x)
    assert a - x == Shifted(a, -x)
    assert 2.0 * a == a * 2.0 == np.float64(2.0) * a == Scaled(a, 2.0)
    assert -Simplex(3) == Scaled(Simplex(3), -1.0)
    assert np.ones((2, 3)) @ Simplex(3) == LinearImage(Simplex(3), np.ones((2, 3)))
    for wrong in (lambda: a + 1.0, lambda: a * "x", lambda: x * a, lambda: "y" + a, lambda: a - b):
        with pytest.raises(TypeError):
            wrong()
    mine = Set.from_lmo(lambda g: -np.sign(g), diameter=4.0)
    assert isinstance(mine, OracleSet)
    assert mine.diameter() == 4.0


def test_with_radius_where_it_means_something():
    assert Scaled(L1Ball(1.0), 2.0).with_radius(6.0) == Scaled(L1Ball(3.0), 2.0)
    assert Shifted(L1Ball(1.0), np.ones(2)).with_radius(3.0) == Shifted(L1Ball(3.0), np.ones(2))
    assert Ellipsoid([0.0], [1.0]).with_radius(2.0).diameter() == 4.0
    assert FlowPolytope(DAG, 0, 3).with_radius(2.0) == FlowPolytope(DAG, 0, 3, 2.0)
    assert Spectrahedron().with_radius(2.0) == Spectrahedron(2.0)
    for domain in (
        Permutahedron([1, 2]),
        Birkhoff(2),
        Hypersimplex(3, k=1),
        ConvexHull([[1.0]]),
        Polytope(lower=[0.0], upper=[1.0]),
        MinkowskiSum(L1Ball(1.0)),
        Product(Simplex(2)),
        OracleSet(np.sign),
    ):
        with pytest.raises(TypeError, match="has no radius to change; scale it"):
            domain.with_radius(2.0)


def test_own_set_from_one_function():
    cube = OracleSet(lambda g: np.where(g > 0, -1.0, 1.0))
    assert cube.lmo(np.array([1.0, -1.0], dtype=np.float32)).toarray().dtype == np.float32
    assert cube.diameter((4,)) == pytest.approx(4.0)
    assert cube.contains(np.array([1.0, 0.3]))
    assert not cube.contains(np.array([1.1, 0.3]))
    assert not isinstance(cube, ProjectableSet)
    with_all = OracleSet(
        lambda g: Dense(np.where(g > 0, -1.0, 1.0)),
        diameter=9,
        contains=lambda x, tol: bool(np.abs(x).max() <= 1 + tol),
        project=lambda x: np.clip(x, -1, 1),
    )
    assert isinstance(with_all, ProjectableSet)
    assert with_all.project(np.array([3.0, 0.5])).tolist() == [1, 0.5]
    assert with_all.diameter((4,)) == 9.0
    f = fw.LeastSquares(np.eye(2), np.array([3.0, 0.5]))
    for domain in (cube, with_all):
        result = fw.minimize(f, domain, method="fw", tol=1e-3)
        assert result.success
        np.testing.assert_allclose(result.x, [1, 0.5], atol=0.05)
    with pytest.raises(ValueError, match=r"lmo must return a point of shape \(3,\)"):
        OracleSet(lambda g: np.zeros(2)).lmo(np.ones(3))
    with pytest.raises(TypeError, match="lmo must be a function, got int"):
        OracleSet(3)
    with pytest.raises(TypeError, match="project must be a function"):
        OracleSet(np.sign, project=3)
    with pytest.raises(ValueError, match="depends on the shape"):
        cube.diameter()


# --- what is refused ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: SpectralBall(0), "radius must be a positive finite number, got 0"),
        (lambda: SchattenBall(1.0, p=0.5), "p must be at least 1"),
        (lambda: Spectrahedron(-1), "radius must be a positive"),
        (lambda: OWLBall(1.0, weights=[1.0, 2.0]), "weights must never increase"),
        (lambda: OWLBall(1.0, weights=[1.0, -1.0]), "weights must be nonnegative"),
        (lambda: OWLBall(1.0, weights=[0.0]), "the first one positive"),
        (lambda: OWLBall(1.0, weights=[]), "weights must be a nonempty vector"),
        (lambda: OWLBall(-1.0, weights=[1.0]), "radius must be a positive"),
        (lambda: Permutahedron([[1.0]]), "c must be a nonempty vector, got shape"),
        (lambda: Permutahedron([1.0, math.nan]), "c contains NaN"),
        (lambda: Permutahedron(["a"]), "c must be numbers"),
        (lambda: Birkhoff(0), "n must be an integer of at least 1, got 0"),
        (lambda: Hypersimplex(3, k=4), "k must be at most n = 3"),
        (lambda: Hypersimplex(3, k=1.5), "k must be an integer"),
        (lambda: ConvexHull([1.0, 2.0]), r"points must have shape \(m, ...\)"),
        (lambda: ConvexHull([[math.inf]]), "points contains NaN or infinity"),
        (lambda: Ellipsoid([0.0, 0.0], np.eye(3)), r"matrix must have shape \(2, q\) or \(2,\)"),
        (lambda: Ellipsoid([0.0], [1.0], 0), "radius must be a positive"),
        (lambda: Polytope(), "Polytope needs A_ub"),
        (lambda: Polytope([[1.0]]), "A_ub and b_ub must be given together"),
        (lambda: Polytope([[1.0, 1.0]], [1.0, 2.0]), r"A_ub must have shape \(2, 2\)"),
        (lambda: Polytope([1.0], [1.0]), "must be matrices"),
        (lambda: Polytope([[math.nan]], [1.0]), "must be finite"),
        (lambda: Polytope([[1.0]], [1.0]), "entry 0 can grow forever"),
        (lambda: Polytope([[-1.0]], [1.0]), "entry 0 can grow forever"),
        (lambda: Polytope([[1.0, 1.0]], [1.0]), "must be bounded, but entry . can grow forever; pass lower and upper"),
        (lambda: Polytope([[1.0, 0.0]], [1.0], lower=[0.0, -math.inf], upper=[1.0, math.inf]), "entry 1 can grow"),
        (lambda: Polytope([[1.0], [-1.0]], [1.0, -2.0]), "must not be empty"),
        (lambda: Polytope(lower=[0.0, 3.0], upper=1.0), "entry 1 has lower=3.0, upper=1.0"),
        (lambda: Polytope([[1.0]], [1.0], lower=[0.0, 1.0]), "lower must be a number or a vector of length 1"),
        (lambda: FlowPolytope([], 0, 1), "graph must be a nonempty sequence"),
        (lambda: FlowPolytope([(0, 1, 2)], 0, 1), "graph must be a nonempty sequence"),
        (lambda: FlowPolytope([(0, 1)], 0, 5), "target must be a node of the graph, got 5"),
        (lambda: FlowPolytope([(0, 1)], 0, 0), "source and target must differ"),
        (lambda: FlowPolytope([(0, 1)], 1, 0), "no directed path"),
        (lambda: FlowPolytope(ROADS, 0, 3, capacity=math.inf), "finite where the graph has a directed cycle"),
        (lambda: FlowPolytope(DAG, 0, 3, capacity=[1.0, 2.0]), "capacity must be a number or a vector of length 7"),
        (lambda: FlowPolytope(DAG, 0, 3, 9.0, capacity=1.0), "do not let 9.0 units through"),
        (lambda: Scaled(L1Ball(1.0), 0.0), "factor must be a nonzero finite number"),
        (lambda: Shifted(Simplex(3), np.ones(2)), r"offset must have the shape of the points, \(3,\)"),
        (lambda: LinearImage(Simplex(3), np.ones((2, 2))), "matrix must have 3 columns"),
        (lambda: MinkowskiSum(), "MinkowskiSum needs at least one set"),
        (lambda: MinkowskiSum(Simplex(2), Simplex(3)), "must hold points of one shape"),
        (lambda: Product(L1Ball(1.0)), "L1Ball .* holds points of any shape; say which"),
        (lambda: Product(Simplex(2), shapes=[(3,)]), "shapes says"),
        (lambda: Product(Simplex(2), shapes=[None, None]), "one entry for each of the 1 sets"),
    ],
)
def test_bad_arguments_are_named(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_combinations_are_made_from_sets():
    for make in (lambda: Scaled(3.0, 2.0), lambda: UnionHull(L1Ball(1.0), "ball"), lambda: Product(None)):
        with pytest.raises(TypeError, match="is made from sets such as"):
            make()


@pytest.mark.parametrize("case", [c for c in POLYTOPES_AND_MATRICES if c.set.shape is not None], ids=repr)
def test_wrong_shapes_are_named(case):
    wrong = np.ones((*case.shape, 2))
    questions = ["lmo", "support", "contains"] + ["project"] * isinstance(case.set, ProjectableSet)
    for question in questions:
        with pytest.raises(ValueError, match="holds points of shape"):
            getattr(case.set, question)(wrong)


def test_checkpoints_tell_sets_apart():
    A = sp.csr_array(np.eye(2))
    pairs = [
        (Polytope(A, [1, 1], lower=0.0, upper=2.0), Polytope(2 * A, [1, 1], lower=0.0, upper=2.0)),
        (FlowPolytope(DAG, 0, 3), FlowPolytope(DAG, 0, 2)),
        (MinkowskiSum(L1Ball(1.0), L2Ball(1.0)), MinkowskiSum(L1Ball(1.0), L2Ball(2.0))),
        (LinearImage(L1Ball(1.0), np.eye(2)), LinearImage(L1Ball(1.0), 2 * np.eye(2))),
        (OracleSet(lambda g: g), OracleSet(lambda g: -g)),
    ]
    for one, other in pairs:
        assert one != other
        assert identity(one) != identity(other)
        assert identity(one) == identity(one)


def test_matrices_are_asked_for():
    for domain in (SpectralBall(1.0), SchattenBall(1.0, p=3), Spectrahedron(1.0)):
        with pytest.raises(ValueError, match="matrices, got an array of shape"):
            domain.lmo(np.ones(3))
    with pytest.raises(ValueError, match="square matrices"):
        Spectrahedron().lmo(np.ones((2, 3)))
    with pytest.raises(ValueError, match="depends on the shape"):
        SpectralBall(1.0).diameter()


def test_sets_keep_their_own_numbers():
    points, weights = np.ones((2, 2)), np.ones(2)
    hull, ball, moved = ConvexHull(points), OWLBall(1.0, weights=weights), Shifted(L1Ball(1.0), weights)
    points[:], weights[:] = 7, 9
    assert hull.points.max() == ball.weights.max() == moved.offset.max() == 1
    hull.lmo(np.ones(2)).toarray()[:] = 5
    assert hull.points.max() == 1


# --- known values -----------------------------------------------------------------------------------------------------


def test_smallest_norm_on_the_simplex_after_101_open_loop_steps():
    """A value that other Frank-Wolfe codes print: n = 100, steps 2 / (k + 2), from the first corner."""
    f = fw.Quadratic(2 * np.eye(100))
    result = fw.minimize(f, Simplex(100), method="fw", tol=0, max_iter=101)
    assert result.fun == pytest.approx(0.0131442209964941, rel=1e-12)


def test_projection_onto_birkhoff_and_flows_by_frank_wolfe():
    cp = pytest.importorskip("cvxpy")
    rng = np.random.default_rng(1)
    target = rng.normal(size=(4, 4))
    f = fw.Function(lambda x: 0.5 * np.sum((x - target) ** 2), lambda x: x - target, smoothness=1.0)
    result = fw.minimize(f, Birkhoff(4), method="fw", tol=1e-3)
    x = cp.Variable((4, 4), nonneg=True)
    best = cp.Problem(cp.Minimize(cp.sum_squares(x - target) / 2), [cp.sum(x, 0) == 1, cp.sum(x, 1) == 1]).solve()
    assert result.lower_bound - 1e-6 <= best <= result.fun + 1e-6
    assert result.gap <= 1e-3
    congestion = fw.Quadratic(np.diag(np.arange(1.0, 8.0)))
    result = fw.minimize(congestion, FlowPolytope(DAG, 0, 3, 2.0), method="fw", tol=1e-3)
    ways = 2 * np.array(paths(DAG, 0, 3))
    share = cp.Variable(len(ways), nonneg=True)
    flow = ways.T @ share
    best = cp.Problem(cp.Minimize(cp.sum(cp.multiply(np.arange(1.0, 8.0), flow**2)) / 2), [cp.sum(share) == 1]).solve()
    assert result.lower_bound - 1e-6 <= best <= result.fun + 1e-6


@given(data=st.data())
def test_support_functions_obey_the_algebra(data):
    """The support function of a sum is the sum, of a hull the maximum, of an image that of the adjoint direction."""
    g = data.draw(arrays(np.float64, (3,), elements=st.floats(-10, 10, allow_subnormal=False)))
    B = np.random.default_rng(0).normal(size=(3, 3))
    S, T = OWLBall(1.0, weights=[2.0, 1.0, 0.5]), Permutahedron([1.0, 2.0, 4.0])
    s, t = float(S.support(g)), float(T.support(g))
    assert float(MinkowskiSum(S, T).support(g)) == pytest.approx(s + t, abs=1e-12)
    assert float(UnionHull(S, T).support(g)) == pytest.approx(max(s, t), abs=1e-12)
    assert float(Scaled(T, -2.0).support(g)) == pytest.approx(2 * float(T.support(-g)), abs=1e-12)
    assert float(Shifted(T, [1.0, 2.0, 3.0]).support(g)) == pytest.approx(t + float(g @ [1, 2, 3]), abs=1e-12)
    assert float(LinearImage(T, B).support(g)) == pytest.approx(float(T.support(B.T @ g)), abs=1e-12)
    assert naive.best_vertex([2 * np.array(p) for p in itertools.permutations([1.0, 2.0, 4.0])], g) == pytest.approx(
        float(Scaled(T, 2.0).lmo(g).inner(g)), abs=1e-12
    )
