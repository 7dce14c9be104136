"""The theorems, at every k: the paper's bounds hold on random instances, no certificate exceeds the optimum."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.methods.properties import dense, steps
from tests.problems import PROBLEMS, case, logistic_data

import frankwolfe as fw
from frankwolfe.lowrank import LowRank
from frankwolfe.methods import AcceleratedFrankWolfe, AcceleratedGradient, StronglyConvexAGM
from frankwolfe.points import Point
from frankwolfe.problem import Problem

ROUNDING = 1e-12


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("line_search", [False, True])
def test_afw_rate_lemma_and_certificate(name: str, seed: int, line_search: bool) -> None:
    """SPEC (a), (b), (h), (i): the O(1/k) rate, the estimate-sequence lemma, the certificate, feasibility."""
    objective, domain, optimum, given = case(name, seed)
    problem = Problem(objective, domain)
    x0 = problem.start(given, dense=False)
    first = float(objective.value(x0.coords))
    L, D = objective.smoothness, domain.diameter(objective.shape or dense(x0).shape)
    bound_on_lemma, best_bound = 0.0, -math.inf
    for before, after, evidence in steps(problem, AcceleratedFrankWolfe(line_search=line_search), x0, 150):
        k = before.k
        delta = 2 / (k + 3)
        value = float(evidence.seen[0][0])
        assert value - optimum <= 2 * (first - optimum) / ((k + 1) * (k + 2)) + 2 * L * D**2 / (k + 2) + ROUNDING
        theta, vertex = evidence.minorants[0]
        # Φ*_{k+1} and ξ_{k+1} of the lemma f(x_{k+1}) <= Φ*_{k+1} + ξ_{k+1}; the oracle's error joins ξ.
        estimate = (1 - theta.weight) * first + theta.offset + vertex.value
        bound_on_lemma = (1 - delta) * bound_on_lemma + 0.5 * L * delta**2 * float(
            np.sum((dense(after.v) - dense(before.v)) ** 2)
        )
        assert float(objective.value(after.x.coords)) <= estimate + bound_on_lemma + 1e-5 * delta**2 + ROUNDING
        lower = (theta.offset + vertex.value) / theta.weight
        best_bound = max(best_bound, lower)
        assert lower <= optimum + 1e-6 * delta**2 + ROUNDING
        assert value - best_bound >= value - optimum - 1e-6 * delta**2 - ROUNDING
        assert domain.contains(after.x.coords, tol=1e-9)


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("method", ["fw", "afw", "afw2", "short", "backtracking", "exact", "pgd", "apgd"])
def test_certificates_never_exceed_the_optimum(name: str, method: str) -> None:
    """SPEC (h): lower_bound <= f* <= fun in every row, so that gap >= f - f*; and iterates stay feasible (i)."""
    methods = {
        "afw2": AcceleratedFrankWolfe(offset=2, sticky=True),
        "short": fw.FrankWolfe(fw.ShortStep()),
        "backtracking": fw.FrankWolfe(fw.Backtracking()),
        "exact": fw.FrankWolfe(fw.ExactLineSearch()),
    }
    objective, domain, optimum, x0 = case(name)
    if method in ("pgd", "apgd") and not isinstance(domain, fw.ProjectableSet):
        pytest.skip(f"{type(domain).__name__} has no projection")
    feasible = []
    result = fw.minimize(
        objective,
        domain,
        x0,
        method=methods.get(method, method),
        tol=0,
        max_iter=120,
        callback=lambda it: feasible.append(domain.contains(it.x, tol=1e-8)),
    )
    slack = ROUNDING * (1 + abs(optimum))
    assert all(feasible)
    assert np.all(result.trace.lower_bound <= optimum + slack)
    assert np.all(result.trace.fun >= optimum - slack)
    assert np.all(result.trace.gap >= result.trace.fun - optimum - slack)
    assert np.all(np.diff(result.trace.lower_bound) >= 0)
    assert result.lower_bound <= optimum + slack
    assert result.fun == pytest.approx(min(result.trace.fun.min(), result.fun), abs=slack)
    assert result.fun == pytest.approx(float(objective.value(result.x)), abs=slack)


@pytest.mark.parametrize("name", [n for n in PROBLEMS if n != "completion-nuclear"])
def test_frank_wolfe_rate(name: str) -> None:
    """h_k <= 2LD²/(k+2) for open-loop, short-step, backtracking (its own constant) and exact steps, at every k >= 1."""
    objective, domain, optimum, x0 = case(name)
    L = objective.smoothness
    for rule in (fw.OpenLoop(), fw.ShortStep(), fw.ExactLineSearch()):
        result = fw.minimize(objective, domain, x0, method=fw.FrankWolfe(rule), tol=0, max_iter=300)
        D = domain.diameter(np.shape(result.x))
        k = result.trace.k[1:]
        assert np.all(result.trace.fun[1:] - optimum <= 2 * L * D**2 / (k + 2) + ROUNDING), rule


@pytest.mark.parametrize("seed", range(3))
def test_gradients_approach_the_optimal_one(seed: int) -> None:
    """SPEC (c), (d): |∇f(y_k) - ∇f*| <= C1/sqrt(k+3) and |θ_{k+1} - ∇f*| <= C2/(sqrt(k+3) - 1) on an active l2 ball."""
    A, b = logistic_data(seed=seed)
    objective, domain = fw.Logistic(A, b), fw.L2Ball(1.0)
    tight = fw.minimize(objective, domain, method=AcceleratedFrankWolfe(line_search=True), tol=1e-13)
    gradient = objective.grad(tight.x)
    L, D, G = objective.smoothness, 2.0, float(gradient @ gradient)
    assert G > 1e-6, "the ball must be active"
    # The largest value over the ball is at least that on the ray through a row's mean: a smaller M is a sharper test.
    ray = -domain.lmo(gradient).toarray()
    M = float(objective.value(ray)) - tight.fun
    C1 = math.sqrt(6 * L * M + 4 * L**2 * D**2)
    C2 = 4 * C1 / 3 + 2 * math.sqrt(G) / (3 * (math.sqrt(3) + 1))
    problem = Problem(objective, domain)
    for before, after, evidence in steps(problem, AcceleratedFrankWolfe(), problem.start(None, False), 400):
        k = before.k
        at_y = evidence.minorants[1][0].slope
        assert np.linalg.norm(at_y - gradient) <= C1 / math.sqrt(k + 3)
        assert np.linalg.norm(after.theta.slope - gradient) <= C2 / (math.sqrt(k + 3) - 1)


def test_vertex_is_identified_in_finite_time() -> None:
    """SPEC (e): where |∇f*| has a unique largest entry, the vertex is constant after T <= (3 C2/λ + 1)² - 3 steps."""
    objective, domain, *_ = case("logistic-l1-vertex")
    tight = fw.minimize(objective, domain, method="afw", tol=1e-10, max_iter=50_000)
    gradient = objective.grad(tight.x)
    top = np.sort(np.abs(gradient))
    margin = top[-1] - top[-2]
    assert np.count_nonzero(np.abs(tight.x) > 1e-6) == 1
    L, D = objective.smoothness, domain.diameter()
    M = max(float(objective.value(s * domain.radius * e)) for e in np.eye(12) for s in (-1, 1)) - tight.fun
    C1 = math.sqrt(6 * L * M + 4 * L**2 * D**2)
    C2 = 4 * C1 / 3 + 2 * np.linalg.norm(gradient) / (3 * (math.sqrt(3) + 1))
    latest = (3 * C2 / margin + 1) ** 2 - 3
    problem = Problem(objective.oriented(True), domain)
    vertices = [
        (after.v.coords.index, float(after.v.coords.value))
        for _, after, _ in steps(problem, AcceleratedFrankWolfe(), problem.start(None, False), 2000)
    ]
    last_change = max((k for k in range(1, 2000) if vertices[k] != vertices[k - 1]), default=0)
    assert last_change <= latest


@pytest.mark.parametrize("seed", range(3))
def test_agm_bounds(seed: int) -> None:
    """SPEC (f) and the AGM inequality of section 4, at every k."""
    A, _ = logistic_data(seed=seed)
    rng = np.random.default_rng(seed)
    objective = fw.LeastSquares(A, rng.standard_normal(A.shape[0]))
    solution = np.linalg.lstsq(A, objective.b, rcond=None)[0]
    optimum = float(objective.value(solution))
    x0 = Point.at(rng.standard_normal(A.shape[1]))
    L = objective.smoothness
    distance2 = float(np.sum((x0.coords - solution) ** 2))
    B = float(objective.value(x0.coords)) - optimum + L * distance2
    weighted, problem = 0.0, Problem(objective, None)
    for before, after, evidence in steps(problem, AcceleratedGradient(), x0, 300):
        k = before.k
        assert float(evidence.seen[0][0]) - optimum <= 2 * B / ((k + 1) * (k + 2)) + ROUNDING
        y = evidence.seen[1][1].coords
        gradient = objective.grad(y)
        assert float(gradient @ gradient) <= 16 * L * B / (k + 2) ** 2 + ROUNDING
        assert float(np.sum((after.v.coords - solution) ** 2)) <= B / L + ROUNDING
        weighted += 2 * (k + 2) * (float(objective.value(y)) + float(gradient @ (after.v.coords - y)))
        K = k + 1
        assert weighted / (K * (K + 3)) <= optimum + 2 * L * distance2 / (K * (K + 3)) + ROUNDING


def test_strongly_convex_agm_rate_and_bound() -> None:
    """The corrected form contracts at (1 - δ)^k, and f - |g|²/2μ bounds the optimum from below."""
    rng = np.random.default_rng(0)
    Q = np.diag(np.geomspace(0.02, 3.0, 15))
    c = rng.standard_normal(15)
    objective = fw.Quadratic(Q, c)
    solution = np.linalg.solve(Q, -c)
    optimum = float(objective.value(solution))
    mu, L = objective.strong_convexity, objective.smoothness
    delta = math.sqrt(mu / L)
    start = float(objective.value(np.zeros(15))) - optimum + 0.5 * mu * float(solution @ solution)
    result = fw.minimize(objective, None, method=StronglyConvexAGM(), tol=1e-9, max_iter=3000)
    assert result.success
    assert np.all(result.trace.fun - optimum <= (1 - delta) ** result.trace.k * start + ROUNDING)
    assert np.all(result.trace.lower_bound <= optimum + ROUNDING)


def test_rank_grows_by_at_most_one() -> None:
    """SPEC (g): rank(X_k) <= k + 1 from a rank-one start."""
    objective, domain, *_ = case("completion-nuclear")
    problem = Problem(objective, domain)
    x0 = Point.at(LowRank.from_atom(domain.lmo(objective.grad(problem.start(None, False).coords))))
    for before, _, _ in steps(problem, AcceleratedFrankWolfe(), x0, 12):
        assert before.x.coords.rank(1e-9) <= before.k + 1


def test_projected_agm_rate() -> None:
    """f(x_T) - f* <= 2L|x_0 - x*|²/T²."""
    objective, domain, optimum, _ = case("logistic-l2")
    tight = fw.minimize(objective, domain, method=AcceleratedFrankWolfe(line_search=True), tol=1e-13)
    result = fw.minimize(objective, domain, method="apgd", tol=0, max_iter=300)
    bound = 2 * objective.smoothness * float(tight.x @ tight.x) / result.trace.k[1:] ** 2
    assert np.all(result.trace.fun[1:] - optimum <= bound + ROUNDING)


def test_closed_form_of_the_average() -> None:
    """x_k = λ_k x_0 + Σ 2(τ+2)/((k+1)(k+2)) v_{τ+1}, and the same weights average the gradients."""
    objective, domain, *_ = case("logistic-l2")
    problem = Problem(objective, domain)
    x0 = Point.at(np.full(12, 0.1))
    vertices, gradients = [], []
    for _, after, evidence in steps(problem, AcceleratedFrankWolfe(), x0, 40):
        vertices.append(dense(after.v) if not hasattr(after.v.coords, "array") else after.v.coords.array)
        gradients.append(evidence.minorants[1][0].slope)
        k = after.k
        weights = 2 * (np.arange(k) + 2) / ((k + 1) * (k + 2))
        expected = 2 / ((k + 1) * (k + 2)) * x0.coords + weights @ np.array(vertices)
        np.testing.assert_allclose(after.x.coords, expected, rtol=0, atol=1e-13)
        np.testing.assert_allclose(after.theta.slope, weights @ np.array(gradients), rtol=0, atol=1e-13)
        assert after.theta.weight == pytest.approx(1 - 2 / ((k + 1) * (k + 2)), abs=1e-14)


def test_first_vertex_is_frank_wolfes() -> None:
    """AFW's first direction is the gradient at x_0, as in Frank-Wolfe."""
    objective, domain, *_ = case("logistic-l1")
    problem = Problem(objective.oriented(True), domain)
    x0 = problem.start(None, False)
    (_, after, _) = next(steps(problem, AcceleratedFrankWolfe(), x0, 1))
    assert after.v.coords.index == domain.lmo(objective.grad(x0.coords)).index


def test_line_search_is_far_ahead_on_a_curved_ball() -> None:
    """Line search on top of momentum, active l2 ball: many orders below open loop at k = 100."""
    objective, domain, optimum, _ = case("logistic-l2")
    open_loop = fw.minimize(objective, domain, method="afw", tol=0, max_iter=100)
    searched = fw.minimize(objective, domain, method=AcceleratedFrankWolfe(line_search=True), tol=0, max_iter=100)
    assert searched.fun - optimum <= 1e-4 * (open_loop.fun - optimum)


@pytest.mark.parametrize("method", ["fw", "afw"])
def test_zero_gradient_moves_nothing(method: str) -> None:
    """Where the averaged gradient is zero every point is a minimiser, and the vertex is kept (v_0 = x_0)."""
    flat = fw.Function(lambda x: 3.0, np.zeros_like)
    for domain, x0 in ((fw.L1Ball(1.0), np.array([0.3, -0.2])), (fw.Simplex(2), np.array([0.5, 0.5]))):
        seen = []
        result = fw.minimize(
            flat, domain, x0, method=method, tol=0, max_iter=5, callback=lambda it, to=seen: to.append(it.x)
        )
        assert all(np.allclose(x, x0, rtol=0, atol=1e-15) for x in seen)
        assert result.lower_bound <= 3.0 <= result.fun + 1e-15
        assert result.gap < 1e-12


def test_sticky_ties_keep_the_vertex() -> None:
    """With two equal minimisers the lowest index is taken afresh each time, unless the last vertex is kept."""
    f = fw.Function(lambda x: -float(x[0] + x[1]), lambda x: -np.ones(3))
    x0 = np.array([0.0, 1.0, 0.0])
    for sticky, index in ((False, 0), (True, 1)):
        problem = Problem(f, fw.Simplex(3))
        (_, after, _) = next(steps(problem, AcceleratedFrankWolfe(sticky=sticky), Point.at(x0), 1))
        assert int(np.argmax(dense(after.v))) == index
