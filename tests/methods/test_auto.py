"""`auto`: what it begins with, when it changes, and that changing costs neither certificate nor repeatability."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from tests.problems import PROBLEMS, case, completion, logistic_data

import frankwolfe as fw
from frankwolfe.methods import auto
from frankwolfe.methods.auto import CHOICES, FAMILIES, Auto, Choice, interior_depth, planned
from frankwolfe.methods.base import Evidence
from frankwolfe.points import Point, Tangent
from frankwolfe.problem import Problem, Vertex
from frankwolfe.serialisation import decode, encode
from frankwolfe.sets import Birkhoff, ConvexHull, Ellipsoid, Hypersimplex, Polytope, Product, Spectrahedron


@cache
def interior() -> tuple[fw.LeastSquares, fw.LpBall, float]:
    """Least squares with its free minimum well inside the ball, all entries of one size; and that minimum."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((500, 60))
    b = A @ rng.choice([-1.0, 1.0], 60) + 0.1 * rng.standard_normal(500)
    x = np.linalg.lstsq(A, b, rcond=None)[0]
    return fw.LeastSquares(A, b), fw.LpBall(60.0, p=1.5), float(np.sum((A @ x - b) ** 2) / 1000)


def test_an_interior_solution_is_seen_and_the_switch_pays() -> None:
    objective, domain, optimum = interior()
    result = fw.minimize(objective, domain, tol=1e-7)
    assert result.success
    assert result.method == "afw -> apgd"
    assert "deep inside the set" in result.reason
    assert result.lower_bound <= optimum + 1e-12
    assert result.fun - optimum <= 1e-7
    stayed = fw.minimize(
        objective, domain, method=fw.AcceleratedFrankWolfe(line_search=True), tol=1e-7, max_iter=10 * result.n_iter
    )
    assert not stayed.success
    assert stayed.n_pass > 5 * result.n_pass


@pytest.mark.parametrize(
    ("domain", "after"), [(fw.LpBall(60.0, p=1.5), "apgd"), (Ellipsoid(np.zeros(60), np.full(60, 20.0)), "fw")]
)
def test_inside_a_curved_set(domain: fw.Set, after: str) -> None:
    """Momentum is slow inside a set: with a projection on to it, without one on to plain line searches."""
    objective, _, optimum = interior()
    result = fw.minimize(objective, domain, tol=1e-6)
    assert result.success
    assert result.method == f"afw -> {after}"
    assert "inside" in result.reason
    assert abs(result.fun - optimum) <= 1e-6
    stayed = fw.minimize(
        objective, domain, method=fw.AcceleratedFrankWolfe(line_search=True), tol=1e-6, max_iter=2 * result.n_iter
    )
    assert not stayed.success


def test_a_solution_on_the_boundary_needs_no_switch() -> None:
    for name in ("squares-l1", "logistic-l1-vertex", "logistic-l3", "logistic-group"):
        objective, domain, optimum, _ = case(name)
        result = fw.minimize(objective, domain, tol=1e-5)
        assert result.success
        assert " -> " not in result.method, (name, result.method)
        assert result.fun - optimum <= 1e-5


@pytest.fixture
def wrong_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every problem begin with plain Frank-Wolfe, which crawls, and go on to projected steps."""
    monkeypatch.setitem(CHOICES, "crawl", Choice(fw.FrankWolfe(), "a wrong first choice"))
    monkeypatch.setattr(auto, "FAMILIES", ((lambda known: True, ("crawl", "apgd", "fcfw")),))


def test_a_wrong_first_choice_is_corrected(wrong_first: None) -> None:
    objective, domain, optimum, _ = case("quadratic-simplex")
    result = fw.minimize(objective, domain, tol=1e-9)
    assert result.method.startswith("fw -> apgd")
    assert result.reason.startswith("a wrong first choice; after ")
    assert result.success
    assert result.fun - optimum <= 1e-9
    crawling = fw.minimize(objective, domain, method="fw", tol=1e-9, max_iter=10 * result.n_iter)
    assert not crawling.success


def test_the_certificate_is_carried_over(wrong_first: None) -> None:
    """The bound never falls, at a switch least of all, and never exceeds the optimum."""
    for name in ("quadratic-simplex", "squares-l1", "logistic-linf"):
        objective, domain, optimum, x0 = case(name)
        result = fw.minimize(objective, domain, x0, tol=0, max_iter=60)
        assert "apgd" in result.method
        assert np.all(np.diff(result.trace.lower_bound) >= 0)
        slack = 1e-12 * (1 + abs(optimum))
        assert np.all(result.trace.lower_bound <= optimum + slack)
        assert np.all(result.trace.fun >= optimum - slack)
        assert np.array_equal(result.trace.k, np.arange(61))
        switch = int(result.reason.split("after ")[1].split()[0])
        assert result.trace.fun[switch] <= result.trace.fun[0], "goes on from where it was"
        assert result.trace.lower_bound[switch] > -np.inf


@pytest.mark.parametrize("stop", [15, 16, 17, 30])
def test_resume_across_a_switch_bit_for_bit(stop: int, tmp_path) -> None:
    objective, domain, _ = interior()
    once = fw.minimize(objective, domain, tol=0, max_iter=50)
    assert once.method == "afw -> apgd"
    save = fw.Checkpoint(tmp_path / "run.npz")
    first = fw.minimize(objective, domain, tol=0, max_iter=stop, checkpoint=save)
    assert (" -> " in first.method) == (stop >= 16)
    parts = fw.minimize(objective, domain, tol=0, max_iter=50, checkpoint=save)
    assert np.array_equal(parts.x, once.x)
    for column in ("fun", "lower_bound", "n_lmo", "n_pass"):
        assert np.array_equal(getattr(parts.trace, column), getattr(once.trace, column)), column
    assert (parts.method, parts.reason) == (once.method, once.reason)
    assert parts.n_lmo == once.n_lmo


def test_the_state_is_plain_data() -> None:
    objective, domain, _ = interior()
    problem = Problem(objective.oriented(True), domain)
    state = Auto().init(problem, problem.start(None, False))
    for _ in range(20):
        state, _ = Auto().step(problem, state)
        tree, arrays = encode(state)
        again = decode(json.loads(json.dumps(tree)), [a.copy() for a in arrays])
        assert type(again.inner) is type(state.inner)
        assert again.plan == state.plan
        assert np.array_equal(again.x.coords, state.x.coords)
    assert state.plan[state.turn] == "apgd"


def test_depth() -> None:
    """Zero on the face that the oracle answers with, one on the opposite one, between them inside."""
    problem = Problem(fw.LeastSquares(np.eye(3), np.ones(3)), fw.Box(-1.0, 1.0))
    g = np.array([1.0, 0.0, 0.0])

    def seen(slope: np.ndarray, lowest: float) -> Evidence:
        return Evidence((), ((Tangent(slope, 0.0), Vertex(Point.at(slope), lowest, lowest)),))

    for first, expected in ((-1.0, 0.0), (0.0, 0.5), (0.5, 0.75), (1.0, 1.0)):
        assert interior_depth(problem, Point.at(np.array([first, 0.3, -0.9])), seen(g, -1.0)) == pytest.approx(expected)
    assert interior_depth(problem, Point.at(np.zeros(3)), seen(0 * g, 0.0)) == 0


def rows_of_many_columns(spread: float) -> fw.Logistic:
    """Sparse rows whose Hessian costs many reads; the sizes of the columns span so many powers of ten."""
    rng = np.random.default_rng(4)
    A = sp.random_array((1200, 240), density=0.25, rng=rng, data_sampler=rng.standard_normal, format="csr")
    A = sp.csr_array(A @ sp.diags_array(10.0 ** rng.uniform(-spread, 0.0, 240)))
    return fw.Logistic(A, A @ (rng.standard_normal(240) / abs(A).max(axis=0).toarray().ravel()) > 0)


def test_products_where_a_hessian_is_expensive() -> None:
    """They stay where a step takes few of them, and give way to the Hessian where one takes many."""
    for spread, radius, method in ((0.0, 1.0, "subspace"), (2.0, 100.0, "subspace -> newton")):
        result = fw.minimize(rows_of_many_columns(spread), fw.L2Ball(radius), tol=1e-7)
        assert result.success
        assert result.method == method


A, b = logistic_data()
TALL = np.random.default_rng(0).standard_normal((1300, 12))
BLIND = fw.Function(lambda x: float(np.sum(x * x)), lambda x: 2 * x)
KNOWN = fw.Function(lambda x: float(np.sum(x * x)), lambda x: 2 * x, smoothness=2.0)
PLANS = [
    (completion(), fw.NuclearBall(8.0), None, ("factored",)),
    (fw.Logistic(A, b), fw.L2Ball(1.0), None, ("newton",)),
    (fw.Quadratic(A.T @ A), fw.L2Ball(1.0), None, ("newton",)),
    (fw.Logistic(A[:6], b[:6]), fw.L2Ball(1.0), None, ("subspace",)),
    (fw.Logistic(A, b), fw.LpBall(1.0, p=1.5), None, ("search", "apgd", "fw")),
    (fw.Logistic(TALL, TALL[:, 0] > 0), fw.LpBall(1.0, p=1.5), None, ("search", "newton")),
    (BLIND, fw.LpBall(1.0, p=3), np.zeros(4), ("search", "fw")),
    (fw.Logistic(A, b), fw.L1Ball(1.0), None, ("newton",)),
    (fw.Logistic(TALL, TALL[:, 0] > 0), fw.L1Ball(1.0), None, ("newton",)),
    (fw.Logistic(A, b), fw.Box(-1.0, 1.0), None, ("newton",)),
    (fw.Logistic(TALL, TALL[:, 0] > 0), fw.Box(-1.0, 1.0), None, ("newton",)),
    (fw.LeastSquares(TALL, TALL[:, 0]), fw.Box(-1.0, 1.0), None, ("newton",)),
    (fw.LeastSquares(TALL, TALL[:, 0]), fw.L1Ball(0.5), None, ("newton",)),
    (fw.Logistic(A, b), Hypersimplex(12, k=4), None, ("apgd", "fcfw")),
    (fw.Logistic(A, b), Product(*[fw.Simplex(4)] * 3, shapes=[4] * 3), None, ("apgd", "fcfw")),
    (KNOWN, fw.L1Ball(1.0), np.zeros(4), ("apgd",)),
    (KNOWN, fw.NuclearBall(1.0), np.zeros((4, 3)), ("apgd",)),
    (KNOWN, Spectrahedron(1.0), np.eye(3) / 3, ("apgd",)),
    (BLIND, Spectrahedron(1.0), np.eye(3) / 3, ("afw",)),
    (BLIND, fw.NuclearBall(1.0), np.zeros((4, 3)), ("afw",)),
    (BLIND, fw.LInfBall(1.0), np.zeros(4), ("pairwise",)),
    (KNOWN, fw.TotalVariationBall(1.0), np.zeros(4), ("pairwise",)),
    (KNOWN, fw.TotalVariationBall(1.0), np.zeros((4, 4)), ("lazy",)),
    (KNOWN, Polytope([[1.0, 1.0]], [1.0], lower=0.0), np.zeros(2), ("lazy",)),
    (KNOWN, Birkhoff(3), None, ("dicg",)),
    (fw.Quadratic(np.eye(2)), Polytope([[1.0, 1.0]], [1.0], lower=0.0), None, ("fcfw",)),
    (fw.Quadratic(np.eye(2)), ConvexHull([[1.0, 0.0], [0.0, 1.0]]), None, ("fcfw",)),
]


@pytest.mark.parametrize(("objective", "domain", "x0", "plan"), PLANS)
def test_plans(objective: fw.Objective, domain: fw.Set, x0, plan: tuple[str, ...]) -> None:
    """The plan follows from what is known of objective and set; the run ends certified and says what ran."""
    problem = Problem(objective, domain)
    assert planned(problem, problem.start(x0, False)) == plan
    result = fw.minimize(objective, domain, x0, tol=1e-3, max_iter=3000)
    assert result.success
    assert result.method.split(" -> ")[0] == CHOICES[plan[0]].method.name
    assert result.reason.startswith(CHOICES[plan[0]].reason)


def test_planning_does_not_ask_for_the_smoothness_constant(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may cost more than the run: only projected steps pay for it, when their turn comes."""
    objective = fw.LeastSquares(A, b)
    monkeypatch.setattr(fw.LeastSquares, "smoothness", property(lambda self: pytest.fail("asked")))
    problem = Problem(objective, fw.L1Ball(1.0))
    assert planned(problem, problem.start(None, False))[0] == "newton"


def test_every_problem_has_a_plan() -> None:
    assert FAMILIES[-1][1] == ("pairwise",), "applies to every set"
    for name in PROBLEMS.keys() - {"completion-nuclear"}:
        objective, domain, optimum, x0 = case(name)
        result = fw.minimize(objective, domain, x0, tol=1e-6 * (1 + abs(optimum)))
        assert result.success, (name, result)
        assert result.fun - optimum <= 1e-6 * (1 + abs(optimum))


def test_without_a_set() -> None:
    strong = fw.minimize(fw.Quadratic(np.eye(2)), None, np.ones(2), tol=1e-6)
    assert (strong.method, strong.success) == ("agm_sc", True)
    plain = fw.minimize(fw.Logistic(A, b), None, max_iter=5)
    assert plain.method == "agm"


def test_warm_start_from_a_result() -> None:
    objective, domain, optimum, _ = case("logistic-l1")
    rough = fw.minimize(objective, domain, tol=1e-2)
    better = fw.minimize(objective, domain, rough, tol=1e-8)
    assert better.success
    assert better.trace.fun[0] == pytest.approx(rough.fun, abs=1e-12)
    assert better.fun - optimum <= 1e-8
