"""Cases where rounding, a missing constant or a lack of time once made a method fail, hang or lie."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.methods.properties import dense
from tests.problems import case, completion, logistic_data

import frankwolfe as fw
from frankwolfe import sets
from frankwolfe.kernels.qp.ball_qp import ball_qp, small_ball_qp
from frankwolfe.methods import named
from frankwolfe.methods.active_set.active_set import ActiveSet, coarse
from frankwolfe.methods.second_order.subspace import SubspaceFrankWolfe, best_average
from frankwolfe.points import Leaf, Point, Tangent
from frankwolfe.problem import OutOfTime, Problem, Vertex
from frankwolfe.result import Status

MATRIX_SETS = [fw.L2Ball(1.0), fw.Box(-1.0, 1.0), sets.Spectrahedron(1.0), fw.NuclearBall(1.0) + np.eye(5)]


@pytest.mark.parametrize("name", ["quadratic-l2", "logistic-l2"])
@pytest.mark.parametrize("seed", range(4))
def test_images_that_are_off_by_an_ulp_mislead_nobody(name: str, seed: int) -> None:
    """On every processor images are rounded in another way; here at random, after every step of `subspace`."""
    objective, domain, optimum, _ = case(name)
    problem, rng = Problem(objective.oriented(False), domain), np.random.default_rng(seed)
    method = SubspaceFrankWolfe()

    def shaken(p: Point) -> Point:
        image = problem.image(p)
        return Point(p.coords, ((1.0, Leaf(None, image * (1 + 2.0**-52 * rng.integers(-1, 2, image.shape)))),))

    state = method.init(problem, problem.start(None, False))
    for _ in range(80):
        state, evidence = method.step(problem, state)
        assert float(evidence.seen[0][0]) >= optimum - 1e-12
        state = state._replace(x=shaken(state.x), past=tuple(map(shaken, state.past)))
    assert float(objective.value(dense(state.x))) == pytest.approx(optimum, abs=1e-12)


def test_wide_data_on_a_small_ball() -> None:
    """The solution fits the data: f is far smaller than the terms that it is made of."""
    for seed in range(6):
        g = np.random.default_rng(seed)
        X, y = g.standard_normal((8, 40)), g.standard_normal(8)
        for method in ("subspace", "newton", "away", "fcfw"):
            result = fw.minimize(fw.LeastSquares(X, y), fw.L2Ball(0.3), method=method, tol=0, max_iter=60)
            assert result.status is Status.MAX_ITER, (seed, method)
            assert np.linalg.norm(result.x) <= 0.3 * (1 + 1e-14)


def test_tangents_whose_slopes_cancel() -> None:
    """Their average has a slope of rounding alone, whose square may be negative."""
    g = 4e7 * np.ones(3)
    tangents = (Tangent(g, 1.0), Tangent(-g, 1.0 - 1e-9), Tangent((1 + 2e-16) * g, 1.0))
    best = best_average(tangents, 50.0)
    assert np.isfinite(best.offset)
    assert best.offset - 50 * np.linalg.norm(best.slope) >= 1 - 1e-6
    nothing = (Tangent(np.zeros(3), 1.0), Tangent(np.zeros(3), 1.0))
    assert best_average(nothing, 1.0).offset == 1.0


@pytest.mark.parametrize("size", [1e-150, 1e-12, 1.0, 1e12, 1e150])
def test_quadratic_models_of_any_size_on_a_ball(size: float) -> None:
    """Flat ones, too: the minimiser is then the vertex."""
    q = size * np.array([3.0, -4.0])
    for H in (np.zeros((2, 2)), 1e-30 * size * np.eye(2)):
        for z in (small_ball_qp(H, q, 2.0), ball_qp(H, q, 2.0).z, ball_qp(H, q, 2.0, 2.5 * size).z):
            np.testing.assert_allclose(z, [-1.2, 1.6], rtol=1e-6)


def test_there_is_no_way_away_from_the_only_atom() -> None:
    """Where rounding makes the one active atom look worse than x, which it is."""
    point = Point.at(np.array([1.0, 0.0]))
    active, vertex = ActiveSet.at(point), Vertex(point, 1.0, 1.0)
    move, _ = fw.AwayFrankWolfe().choose(active, np.array([1.0 + 1e-15]), 1.0, vertex, 0.0, 0.0)
    assert move.cap == 1.0
    for seed in range(5):
        A, b = logistic_data(seed=seed)
        for step in (fw.ShortStep(), fw.Backtracking(), fw.ExactLineSearch()):
            result = fw.minimize(fw.Logistic(A, b), fw.L1Ball(0.1), method=fw.AwayFrankWolfe(step), tol=0, max_iter=60)
            assert result.gap <= 1e-12


def test_a_slope_that_underflows() -> None:
    """In single precision a part in a million of the smallest numbers is zero."""
    tiny = np.array([1e-44, 0.0], dtype=np.float32)
    assert np.all(np.isfinite(coarse(tiny, 2.0**-23)))


@pytest.mark.parametrize("method", ["pgd", "apgd", "cgs", "hfw", "fw", "afw", "away", "boosted", "newton", "subspace"])
@pytest.mark.parametrize(
    "domain", [fw.Box(-1.0, 2.0), fw.L2Ball(1.0), fw.Simplex(3), fw.Simplex(3, 1e-12), fw.Box(0.5, 0.5)], ids=repr
)
def test_functions_without_curvature_and_sets_of_one_point(method: str, domain: fw.Set) -> None:
    for f in (fw.LeastSquares(np.zeros((4, 3)), np.ones(4)), fw.Quadratic(np.zeros((3, 3)), np.ones(3))):
        result = fw.minimize(f, domain, method=method, max_iter=2000, tol=1e-5)
        assert result.success, f
        warm = fw.minimize(f, domain, result, method=method, max_iter=10)
        assert warm.gap <= 1e-5


def test_a_single_point_asks_the_oracle_once() -> None:
    A, b = logistic_data()
    for domain, columns in ((fw.Simplex(1), A[:, :1]), (fw.Box(0.25, 0.25), A)):
        result = fw.minimize(fw.Logistic(columns, b), domain, method="cgs", tol=0, max_iter=5)
        assert result.n_lmo <= 10


@pytest.mark.parametrize(
    "domain", [fw.LInfBall(1.0), fw.Box(-1.0, 1.0), fw.LpBall(1.0, p=3), fw.TotalVariationBall(1.0)], ids=repr
)
@pytest.mark.parametrize("method", ["cgs", "afw", "fw", "hfw", "extrafw"])
def test_the_start_tells_the_shape_that_a_diameter_depends_on(domain: Any, method: str) -> None:
    t = np.linspace(-1, 2, 6)
    f = fw.Function(lambda x: 0.5 * float(np.sum((x - t) ** 2)), lambda x: x - t, smoothness=1.0)
    first = fw.minimize(f, domain, np.zeros(6), method=method, tol=1e-2, max_iter=2000)
    again = fw.minimize(f, domain, first, method=method, tol=5e-3, max_iter=4000)
    assert first.success
    assert again.success


@pytest.mark.parametrize("domain", MATRIX_SETS, ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("method", ["auto", "fw", "apgd", "subspace", "cgs"])
def test_completion_names_the_set_that_it_needs(domain: Any, method: str) -> None:
    with pytest.raises(TypeError, match="MatrixCompletion is for a NuclearBall"):
        fw.minimize(completion(5, 5), domain, method=method)


def test_scaled_nuclear_balls_are_nuclear_balls() -> None:
    f = completion(8, 6)
    plain, scaled = (fw.minimize(f, domain, tol=1e-6) for domain in (fw.NuclearBall(3.0), 2 * fw.NuclearBall(1.5)))
    assert scaled.fun == pytest.approx(plain.fun, abs=2e-6)


@pytest.mark.parametrize("n", [5, 50])
def test_backtracking_is_exact_on_a_quadratic(n: int) -> None:
    """|x|² over the simplex: as many steps as short steps, or a line search, take (FrankWolfe.jl has it as a test)."""
    f, x0 = fw.Quadratic(2 * np.eye(n), np.zeros(n)), np.eye(n)[0]
    for rule in (fw.Backtracking(), fw.ShortStep()):
        result = fw.minimize(f, fw.Simplex(n), x0, method=fw.FrankWolfe(rule), tol=1e-10, max_iter=n + 5)
        assert result.success
        assert result.fun == pytest.approx(1 / n, abs=1e-12)


def test_lazy_computes_the_double_precision_twin_once() -> None:
    A, b = logistic_data()
    f = fw.Logistic(A.astype(np.float32), b)
    made = []
    twin = f.doubled()
    f.doubled = lambda: made.append(1) or twin  # pyright: ignore[reportAttributeAccessIssue]
    problem, method = Problem(f, fw.L1Ball(1.0)), named("lazy")
    state = method.init(problem, problem.start(None, False))
    for _ in range(20):
        state, _ = method.step(problem, state)
    assert len(made) == 1


BLOCKS = sets.Product(*[fw.Simplex(4)] * 3, shapes=[4] * 3)


@pytest.mark.parametrize(
    ("method", "domain"),
    [
        ("cgs", fw.L1Ball(2.0)),
        ("stochastic", fw.L1Ball(2.0)),
        ("bcfw", BLOCKS),
        ("newton", fw.L1Ball(2.0)),
        ("newton", fw.Simplex(12)),
        ("newton", fw.LInfBall(0.5)),
        ("fcfw", fw.L1Ball(2.0)),
        ("boosted", fw.L1Ball(2.0)),
        ("pairwise", fw.LInfBall(0.5)),
        (fw.FrankWolfe(fw.Backtracking()), fw.L1Ball(2.0)),
        ("subspace", fw.L2Ball(2.0)),
    ],
    ids=str,
)
def test_a_step_ends_when_the_time_is_over(method: Any, domain: fw.Set) -> None:
    """Its inner loops ask; the state before it is what remains."""
    A, b = logistic_data()
    problem, method = Problem(fw.Logistic(A, b).oriented(domain.sparse_atoms), domain), named(method)
    state = method.init(problem, problem.start(None, method.dense))
    for _ in range(3):
        state, _ = method.step(problem, state)
    problem.over = lambda: True
    with pytest.raises(OutOfTime):
        method.step(problem, state)


def test_a_time_limit_ends_a_long_step() -> None:
    """The first epoch alone would take hours; the start is returned, with its value."""
    A, b = logistic_data()
    f = fw.Logistic(np.tile(A, (50, 1)), np.tile(b, 50))
    method = fw.ConditionalGradientSliding(L=1e-9)  # far too small: the oracle is asked in vain
    result = fw.minimize(f, fw.L2Ball(2.0), method=method, tol=0, time_limit=0.2)
    assert result.status is Status.TIME_LIMIT
    assert np.isfinite(result.fun)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_newton_goes_on_where_single_precision_shows_no_descent(seed: int) -> None:
    """An x outside by a tenth of an ulp has a value that no point inside has: the model's minimiser is taken for it."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((2000, 100))
    b = np.sign(A @ rng.standard_normal(100) + rng.standard_normal(2000))
    result = fw.minimize(fw.Logistic(A.astype(np.float32), b), fw.L1Ball(5.0), method="newton", tol=3e-7, max_iter=40)
    assert result.success


@pytest.mark.parametrize("seed", range(20))
def test_a_convex_built_in_is_never_called_not_convex_on_a_users_set(seed: int) -> None:
    rng = np.random.default_rng(seed)
    A = (1e-2 * rng.standard_normal((8, 3))).astype("f4")
    f = fw.Poisson(A, np.ones(8), sample_weight=10.0 ** rng.uniform(-9, 0, 8))
    own = fw.Set.from_lmo(lambda g: np.where(g > 0, -1.0, 1.0).astype(np.float32), shape=(3,))
    result = fw.minimize(f, own, x0=np.zeros(3, np.float32), method="fw", tol=0, max_iter=40)
    assert result.status not in (Status.NOT_CONVEX, Status.WRONG_GRADIENT)


LARGE = {"l2": fw.L2Ball, "l1": fw.L1Ball, "box": lambda r: fw.Box(-r, r), "linf": fw.LInfBall}


@pytest.mark.parametrize("kind", LARGE)
@pytest.mark.parametrize("radius", [1e-300, 1e-160, 1e160, 1e300])
@pytest.mark.parametrize("method", ["newton", "subspace", "cgs", "pgd", fw.FrankWolfe(fw.Backtracking())], ids=str)
def test_sets_whose_squared_size_overflows_or_vanishes(kind: str, radius: float, method: Any) -> None:
    """No step goes on for ever, nothing is raised or warned of, and no point is outside."""
    rng = np.random.default_rng(0)
    A, b = rng.standard_normal((20, 6)), rng.standard_normal(20)
    for objective in (fw.LeastSquares(A, b), fw.Huber(A, b, ridge=1.0)):
        result = fw.minimize(objective, LARGE[kind](radius), method=method, tol=0, max_iter=20, time_limit=20)
        assert result.status in (Status.MAX_ITER, Status.NOT_FINITE)
        norm = {"l1": 1, "l2": 2}.get(kind, np.inf)
        assert np.linalg.norm(result.x / radius, norm) <= 1 + 1e-14


@pytest.mark.parametrize("radius", [2.0**-300, 2.0**-400])
def test_backtracking_where_the_product_of_fall_and_squared_length_vanishes(radius: float) -> None:
    """Targets that fit the set make f as small as its square; by powers of two nothing else changes."""
    A = np.random.default_rng(0).standard_normal((30, 5))

    def gap(radius: float) -> float:
        objective = fw.LeastSquares(A, A @ np.array([0.1, -0.1, 0.6, 0.1, -0.5]) * radius)
        rule = fw.FrankWolfe(fw.Backtracking())
        return fw.minimize(objective, fw.L1Ball(radius), method=rule, tol=0, max_iter=30).gap

    assert gap(radius) == pytest.approx(gap(1.0) * radius * radius, rel=1e-6, abs=0)


def test_an_oracle_that_fails_on_numbers_that_are_not_finite() -> None:
    """Linear programmes and points of sets cannot be made from them: the run says what has happened."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((7, 3))
    half = fw.Polytope(A, np.ones(7), lower=-5.0, upper=5.0)
    pair = fw.Product(fw.Simplex(2), fw.L2Ball(1.0), shapes=[2, 1])
    for domain in (half, fw.Simplex(3, 5.0), fw.Hypersimplex(3, k=2), pair):
        start = domain.lmo(np.array([1.0, 2.0, 3.0])).toarray()
        for method in ("fw", "richardson", "stochastic", "away", "lazy"):
            result = fw.minimize(fw.Poisson(1e5 * A, np.ones(7), ridge=1.0), domain, start, method=method)
            assert result.status is Status.NOT_FINITE, (domain, method)


@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("domain", [fw.L1Ball(1.0), fw.LpBall(1.0, p=3), fw.Hypersimplex(3, k=1)], ids=repr)
def test_a_users_gradient_that_is_not_finite_ends_the_run(domain: fw.Set, bad: float) -> None:
    for method in ("fw", "afw", "pgd", "cgs"):
        calls = iter(range(100))

        def grad(x: np.ndarray, calls: Any = calls) -> np.ndarray:
            return x - np.array([bad if next(calls) > 2 else 0.3, 0.2, 0.1])

        def f(x: np.ndarray) -> float:
            return 0.5 * float(np.sum((x - np.array([0.3, 0.2, 0.1])) ** 2))

        start = np.array([0.0, 0.0, 1.0])
        result = fw.minimize(fw.Function(f, grad, smoothness=1.0), domain, start, method=method, tol=0, max_iter=20)
        assert result.status is Status.NOT_FINITE, method


def test_what_a_users_function_raises_is_raised() -> None:
    def grad(x: np.ndarray) -> np.ndarray:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        fw.minimize(fw.Function(np.sum, grad), fw.L1Ball(1.0), np.zeros(3))


@pytest.mark.parametrize("method", ["away", "bpcg", "bcg", "lazy"])
def test_line_searches_over_slopes_that_overflow_stay_on_their_segment(method: str) -> None:
    rng = np.random.default_rng(0)
    A, b = rng.standard_normal((20, 6)), rng.standard_normal(20)
    f = fw.Logistic(A, b > 0, intercept=True)
    result = fw.minimize(f, fw.Simplex(6, 1e160), method=method, tol=0, max_iter=40)
    assert float(np.sum(result.x / 1e160)) == pytest.approx(1.0, abs=1e-14)
    assert np.all(result.x >= 0)
