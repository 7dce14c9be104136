"""extrafw, hfw, cgs, newton, boosted, dicg: their theorems at every k, their accuracy, certificates and limits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.methods.properties import ROUNDING, check_certificates, check_resumption, dense, steps
from tests.problems import PROBLEMS, case, completion, logistic_data

import frankwolfe as fw
from frankwolfe.methods.active_set.decomposition_invariant import DecompositionInvariant
from frankwolfe.methods.low_rank.factored import FactoredFrankWolfe
from frankwolfe.methods.open_loop.boosted import BoostedFrankWolfe
from frankwolfe.methods.open_loop.extra import ExtraFrankWolfe
from frankwolfe.methods.open_loop.heavy_ball import HeavyBallFrankWolfe
from frankwolfe.methods.projected.sliding import ConditionalGradientSliding
from frankwolfe.methods.second_order.newton import NewtonFrankWolfe
from frankwolfe.methods.second_order.subspace import SubspaceFrankWolfe
from frankwolfe.problem import Problem
from frankwolfe.sets.polytopes.birkhoff import Birkhoff
from frankwolfe.sets.polytopes.hypersimplex import Hypersimplex

METHODS = {
    "extrafw": ExtraFrankWolfe(),
    "hfw": HeavyBallFrankWolfe(),
    "hfw-uniform": HeavyBallFrankWolfe(weights="uniform"),
    "hfw-smooth": HeavyBallFrankWolfe(steps="smooth"),
    "hfw-directional": HeavyBallFrankWolfe(steps="directional"),
    "hfw-search": HeavyBallFrankWolfe(steps="search"),
    "hfw-restart": HeavyBallFrankWolfe(restart=True),
    "cgs": ConditionalGradientSliding(),
    "cgs-strong": ConditionalGradientSliding(mu=0.05),
    "newton": NewtonFrankWolfe(),
    "boosted": BoostedFrankWolfe(),
    "boosted-short": BoostedFrankWolfe(step_size=fw.ShortStep()),
    "dicg": DecompositionInvariant(),
    "subspace": SubspaceFrankWolfe(),
    "factored": FactoredFrankWolfe(),
}


def applies(label: str, name: str) -> bool:
    kind, domain = PROBLEMS[name]
    try:
        METHODS[label].check(Problem(case(name).objective, domain))
    except TypeError:
        return False
    if label == "cgs-strong":  # its certificate needs the constant to be true
        return kind in ("quadratic", "least squares")
    return not (label.startswith("cgs") and name == "completion-nuclear")


PAIRS = [(label, name) for label in METHODS for name in PROBLEMS if applies(label, name)]


def constants(name: str):
    objective, domain, optimum, x0 = case(name)
    shape = objective.shape or domain.shape or np.shape(x0)
    return objective, domain, optimum, x0, objective.smoothness * domain.diameter(shape) ** 2


@pytest.mark.parametrize(("label", "name"), PAIRS)
def test_certificates_never_exceed_the_optimum(label: str, name: str) -> None:
    """lower_bound <= f* <= fun in every row, and iterates stay in the set."""
    n = 12 if label in ("newton", "factored") else 25 if label.startswith("cgs") else 60
    check_certificates(METHODS[label], case(name), n, tol=1e-8)


@pytest.mark.parametrize("label", METHODS)
def test_save_and_load_at_every_iteration(label: str) -> None:
    """A state that goes through the file format after every step makes the same iterates, to the last bit."""
    for name in [n for lab, n in PAIRS if lab == label][:4]:
        check_resumption(METHODS[label], case(name))


@pytest.mark.parametrize("name", ["logistic-l2", "logistic-l1", "logistic-l3", "quadratic-simplex", "squares-l1"])
def test_extrafw_lemma_and_rate(name: str) -> None:
    """f(x_k) <= Φ_k* + ξ_k with ξ_{k+1} = (1-δ)ξ_k + Lδ²|v̂ - v_k||v_{k+1} - v̂|, and the rate that follows."""
    objective, domain, optimum, x0, curvature = constants(name)
    problem = Problem(objective, domain)
    start = problem.start(x0, False)
    first, xi = float(objective.value(start.coords)), 0.0
    for before, after, evidence in steps(problem, ExtraFrankWolfe(), start, 150):
        k, delta = before.k, 2 / (before.k + 3)
        # The vertex of the prediction is not kept; it follows from x⁺ = (1-δ)x + δv̂.
        ahead = (dense(after.x) - (1 - delta) * dense(before.x)) / delta
        moved, turned = np.linalg.norm(ahead - dense(before.v)), np.linalg.norm(dense(after.v) - ahead)
        xi = (1 - delta) * xi + objective.smoothness * delta**2 * moved * turned
        theta, vertex = evidence.minorants[0]
        estimate = (1 - theta.weight) * first + theta.offset + vertex.value
        value = float(objective.value(after.x.coords))
        assert value <= estimate + xi + ROUNDING
        assert value - optimum <= 2 * (first - optimum) / ((k + 2) * (k + 3)) + 4 * curvature / (k + 3) + ROUNDING


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", ["logistic-l2", "logistic-l1", "logistic-linf", "quadratic-simplex", "squares-box"])
@pytest.mark.parametrize("rule", ["open", "smooth", "directional", "search"])
def test_hfw_generalised_gap_at_every_k(name: str, rule: str, seed: int) -> None:
    """G_{k+1} <= 2LD²/(k+2) for δ = 2/(k+2), and <= LD²(1 + ln(k+1))/(2(k+1)) for the uniform average; G >= f - f*."""
    objective, domain, optimum, x0 = case(name, seed)
    shape = objective.shape or domain.shape
    curvature = objective.smoothness * domain.diameter(shape) ** 2
    for weights in ("weighted", "uniform"):
        problem = Problem(objective, domain)
        method = HeavyBallFrankWolfe(weights=weights, steps=rule)
        for before, after, evidence in steps(problem, method, problem.start(x0, False), 120):
            k, (theta, vertex) = before.k, evidence.minorants[0]
            assert theta.weight == pytest.approx(1.0, abs=1e-12)
            value = float(objective.value(after.x.coords))
            gap = value - float(theta.offset + vertex.value)
            bound = 2 * curvature / (k + 2)
            if weights == "uniform":
                bound = curvature * (1 + math.log(k + 1)) / (2 * (k + 1))
            assert gap <= bound + ROUNDING, (weights, k)
            assert gap >= value - optimum - ROUNDING


@pytest.mark.parametrize("name", ["logistic-l2", "squares-l1"])
def test_hfw_restart_keeps_its_bound(name: str) -> None:
    """After a restart from gap G, the gap j steps later is at most 2LD²/(j + 2LD²/G)."""
    objective, domain, _, x0, curvature = constants(name)
    problem = Problem(objective, domain)
    restarts = 0
    for before, after, evidence in steps(problem, HeavyBallFrankWolfe(restart=True), problem.start(x0, False), 150):
        restarts += after.age <= before.age
        theta, vertex = evidence.minorants[0]
        if after.shift > 0:
            gap = float(objective.value(after.x.coords)) - float(theta.offset + vertex.value)
            assert gap <= 2 * curvature / (after.age + after.shift) + ROUNDING
    assert restarts > 3


def test_hfw_restart_pays_on_a_polytope() -> None:
    objective, domain, optimum, _ = case("squares-l1")
    plain, restarted = (
        fw.minimize(objective, domain, method=HeavyBallFrankWolfe(restart=r), tol=0, max_iter=1000)
        for r in (False, True)
    )
    assert restarted.fun - optimum <= 0.1 * (plain.fun - optimum)
    assert restarted.gap <= 0.5 * plain.gap


@pytest.mark.parametrize("name", ["logistic-l2", "logistic-l1", "quadratic-simplex"])
def test_cgs_rate_and_gradient_count(name: str) -> None:
    """f(y_k) - f* <= 15LD²/(2(k+1)(k+2)) at every k; certified accuracy ε after O(1/sqrt(ε)) gradients."""
    objective, domain, optimum, x0, curvature = constants(name)
    result = fw.minimize(objective, domain, x0, method=ConditionalGradientSliding(), tol=0, max_iter=60)
    k = result.trace.k[1:]
    assert np.all(result.trace.fun[1:] - optimum <= 7.5 * curvature / ((k + 1) * (k + 2)) + ROUNDING)
    assert result.n_grad == 60
    assert result.n_lmo > 60
    # The certified gap, against the number of gradients: slope -2 (a method of order 1/ε shows -1).
    slope = np.polyfit(np.log(k[7:]), np.log(result.trace.gap[8:]), 1)[0]
    assert slope <= -1.7


def test_cgs_phases_halve_the_error() -> None:
    """Strongly convex form: after s phases of N steps f - f* is at most Δ 2^(-s)."""
    A = np.diag(np.linspace(1.0, 2.0, 12))
    objective, domain = fw.Quadratic(A, -np.linspace(-1, 2, 12)), fw.Simplex(12)
    optimum = fw.minimize(objective, domain, method=fw.AcceleratedProjectedGradient(restart=True), tol=1e-13).fun
    method = ConditionalGradientSliding(mu=objective.strong_convexity)
    N = math.ceil(2 * math.sqrt(6 * objective.smoothness / objective.strong_convexity))
    problem = Problem(objective, domain)
    x0 = problem.start(None, True)
    g = objective.grad(x0.coords)
    excess = float(g @ x0.coords - g.min())
    for _, after, _ in steps(problem, method, x0, 8 * N):
        if after.k % N == 0:
            assert float(objective.value(after.x.coords)) - optimum <= excess * 2.0 ** -(after.k // N) + ROUNDING
    assert after.excess == pytest.approx(excess)


@pytest.mark.parametrize(("method", "factor"), [("extrafw", 4), ("hfw", 2), ("hfw-search", 2)])
def test_warm_start_bound(method: str, factor: int) -> None:
    """From certified gap G: f(x_k) - f* <= factor LD²/(k + factor LD²/G), and the start is not thrown away."""
    objective, domain, optimum, _, curvature = constants("logistic-l1")
    rough = fw.minimize(objective, domain, method="afw", tol=0, max_iter=200)
    warm = fw.minimize(objective, domain, rough, method=METHODS[method], tol=0, max_iter=80)
    gap = rough.fun - warm.trace.lower_bound[0]
    assert warm.trace.fun[0] == pytest.approx(rough.fun, abs=1e-12)
    assert np.all(warm.trace.fun - optimum <= factor * curvature / (warm.trace.k + factor * curvature / gap) + ROUNDING)
    cold = fw.minimize(objective, domain, rough.x, method=METHODS[method], tol=0, max_iter=1)
    assert warm.trace.fun[1] < cold.trace.fun[1] or method == "hfw-search"


def test_single_precision() -> None:
    """Every method runs in float32, keeps its dtype, and its bound stays below the optimum."""
    A, b = (a.astype(np.float32) for a in logistic_data())
    for label, method in METHODS.items():
        domain = fw.Simplex(12) if label == "dicg" else fw.L1Ball(2.0) if label == "newton" else fw.L2Ball(2.0)
        objective = fw.Logistic(A, b)
        if label == "factored":
            exact = completion()
            domain = fw.NuclearBall(8.0)
            rows, cols = exact.pattern.rows, exact.pattern.cols
            objective = fw.MatrixCompletion(rows, cols, exact.values.astype(np.float32), exact.pattern.shape)
        n = 10 if label.startswith(("newton", "factored", "cgs")) else 60
        result = fw.minimize(objective, domain, method=method, tol=0, max_iter=n)
        assert result.x.dtype == np.float32, label
        assert result.status is fw.Status.MAX_ITER, (label, result.message)
        assert result.lower_bound <= result.fun
        assert result.gap < 0.5, label


EXACT = {
    "newton": ["logistic-l2", "logistic-l1", "squares-l1", "quadratic-simplex", "logistic-l3", "squares-box"],
    "boosted": ["logistic-l2", "quadratic-l2", "function-l2"],
    "dicg": ["quadratic-simplex"],
    "subspace": ["logistic-l2", "quadratic-l2", "logistic-l1-vertex"],
    "factored": ["completion-nuclear"],
    "hfw-restart": ["logistic-l1-vertex"],
}


@pytest.mark.parametrize(("label", "name"), [(label, name) for label, names in EXACT.items() for name in names])
def test_certified_to_one_in_a_million(label: str, name: str) -> None:
    objective, domain, optimum, x0 = case(name)
    first = float(objective.value(np.zeros(12))) if label != "factored" else float(objective.loss(0 * objective.values))
    goal = 1e-6 * max(first - optimum, 1e-3)
    result = fw.minimize(objective, domain, x0, method=METHODS[label], tol=goal, max_iter=2000)
    assert result.success
    assert result.gap <= goal
    assert result.fun - optimum <= goal
    if label == "newton":
        assert result.n_iter <= 12
        assert result.n_pass <= 3 * result.n_iter + 3


@pytest.mark.parametrize("label", ["extrafw", "hfw", "hfw-smooth", "boosted", "subspace"])
@pytest.mark.parametrize("name", ["logistic-l2", "squares-l1", "quadratic-simplex", "completion-nuclear"])
def test_certified_to_the_bound_of_the_rate(label: str, name: str) -> None:
    """The certified gap at k = 300 is within the O(1/k) bound; and far below it where the method accelerates."""
    objective, domain, _, x0, curvature = constants(name)
    result = fw.minimize(objective, domain, x0, method=METHODS[label], tol=0, max_iter=300)
    assert result.gap <= 2 * curvature / 300
    if label == "extrafw":
        assert result.gap <= 0.1 * 2 * curvature / 300


def face_problem(d: int = 30) -> tuple[fw.Quadratic, np.ndarray]:
    """A strongly convex quadratic whose optimum lies inside a face of the simplex, with ten positive entries."""
    rng = np.random.default_rng(3)
    B = rng.standard_normal((d, d))
    Q = B @ B.T / d + np.eye(d)
    x = np.where(np.arange(d) < 10, 0.05 + rng.random(d), 0.0)
    x /= x.sum()
    multiplier = np.where(np.arange(d) < 10, 0.0, 0.2 + rng.random(d))
    return fw.Quadratic(Q, multiplier - Q @ x), x


def test_dicg_is_linear_where_frank_wolfe_is_not() -> None:
    objective, solution = face_problem()
    optimum = float(objective.value(solution))
    ours = fw.minimize(objective, fw.Simplex(30), method=DecompositionInvariant(), tol=0, max_iter=150)
    plain = fw.minimize(objective, fw.Simplex(30), method=fw.FrankWolfe(fw.ExactLineSearch()), tol=0, max_iter=150)
    h = ours.trace.fun - optimum
    clear = (h > 1e-12) & (ours.trace.k > 5)
    rate = np.polyfit(ours.trace.k[clear], np.log(h[clear]), 1)[0]
    assert rate <= -0.08
    assert h[-1] <= 1e-12
    assert plain.fun - optimum >= 1e-8
    assert np.all(ours.x[10:] == 0), "entries off the face are zero, not small"


@pytest.mark.parametrize("domain", [Hypersimplex(12, k=4), Birkhoff(4)])
def test_dicg_on_other_polytopes(domain) -> None:
    """A target strictly inside a face: entries at both bounds, which the away vertex must respect."""
    rng = np.random.default_rng(5)
    if isinstance(domain, Hypersimplex):
        target = np.array([1.6, 1.4, 0.7, 0.4, 0.5, 0.3, *np.full(6, -0.4)])
    else:
        target = np.eye(4) + 0.4 * rng.standard_normal((4, 4))
    f = fw.Function(lambda x: 0.5 * float(np.sum((x - target) ** 2)), lambda x: x - target, smoothness=1.0)
    x0 = domain.lmo(-target).toarray()
    result = fw.minimize(f, domain, x0, method=DecompositionInvariant(), tol=1e-9, max_iter=400)
    assert result.success
    if isinstance(domain, Hypersimplex):
        np.testing.assert_allclose(result.x, domain.project(target), atol=1e-4)
    assert domain.contains(result.x, tol=1e-9)


def test_boosting_beats_frank_wolfe_in_gradients() -> None:
    objective, domain, optimum, _ = case("squares-l1")
    boosted = fw.minimize(objective, domain, method=BoostedFrankWolfe(), tol=0, max_iter=40)
    plain = fw.minimize(objective, domain, method=fw.FrankWolfe(fw.ExactLineSearch()), tol=0, max_iter=40)
    assert boosted.fun - optimum <= 0.2 * (plain.fun - optimum)
    assert boosted.n_lmo > boosted.n_grad


def test_newton_on_sparse_and_dense_data_alike() -> None:
    from scipy.sparse import csr_array

    A, b = logistic_data()
    A = A * (np.abs(A) > 0.8)
    for domain in (fw.L1Ball(2.0), fw.L2Ball(2.0)):
        sparse, full = (
            fw.minimize(fw.Logistic(M, b, ridge=0.01), domain, method=NewtonFrankWolfe(), tol=1e-9, max_iter=40)
            for M in (csr_array(A), A)
        )
        assert sparse.success
        np.testing.assert_allclose(sparse.x, full.x, atol=1e-6)


@pytest.mark.parametrize(
    ("label", "objective", "domain", "remedy"),
    [
        ("dicg", fw.LeastSquares(np.eye(3), np.ones(3)), fw.L1Ball(1.0), "pairwise"),
        ("newton", fw.Function(lambda x: 0.0, lambda x: x), fw.L2Ball(1.0), "afw"),
        ("newton", case("completion-nuclear").objective, fw.NuclearBall(1.0), "afw"),
        ("subspace", fw.Function(lambda x: 0.0, lambda x: x), fw.L2Ball(1.0), "afw"),
        ("factored", fw.LeastSquares(np.eye(3), np.ones(3)), fw.L2Ball(1.0), "subspace"),
        ("factored", fw.LeastSquares(np.eye(3), np.ones(3)), fw.NuclearBall(1.0), "afw"),
        ("hfw-restart", case("completion-nuclear").objective, fw.NuclearBall(1.0), "restart=False"),
    ],
)
def test_inapplicable_pairs_name_what_applies(label: str, objective, domain, remedy: str) -> None:
    with pytest.raises(TypeError, match=remedy):
        fw.minimize(objective, domain, np.zeros(3), method=METHODS[label])


@pytest.mark.parametrize("label", ["cgs", "hfw-smooth", "hfw-restart", "boosted-short"])
def test_a_missing_smoothness_constant_is_asked_for(label: str) -> None:
    f = fw.Function(lambda x: float(x @ x), lambda x: 2 * x)
    with pytest.raises(ValueError, match="smoothness"):
        fw.minimize(f, fw.L2Ball(1.0), np.ones(3) / 3, method=METHODS[label])


def test_options_are_checked() -> None:
    for make, match in (
        (lambda: HeavyBallFrankWolfe(weights="heavy"), "weights"),
        (lambda: HeavyBallFrankWolfe(steps="long"), "steps"),
        (lambda: HeavyBallFrankWolfe(weights="uniform", restart=True), "restart"),
        (lambda: ExtraFrankWolfe(offset=1), "offset"),
        (lambda: NewtonFrankWolfe(accuracy=2.0), "accuracy"),
        (lambda: BoostedFrankWolfe(rounds=0), "rounds"),
        (lambda: ConditionalGradientSliding(L=-1.0), "L"),
        (lambda: SubspaceFrankWolfe(memory=-1), "memory"),
    ):
        with pytest.raises(ValueError, match=match):
            make()
