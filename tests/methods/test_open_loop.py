"""Theorems of extrafw, hfw, boosted and richardson, at every k."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.methods.properties import ROUNDING, dense, steps
from tests.methods.variants import METHODS, constants, known
from tests.problems import case

import frankwolfe as fw
from frankwolfe.methods.open_loop.boosted import BoostedFrankWolfe
from frankwolfe.methods.open_loop.extra import ExtraFrankWolfe
from frankwolfe.methods.open_loop.heavy_ball import HeavyBallFrankWolfe
from frankwolfe.methods.open_loop.richardson import Richardson
from frankwolfe.problem import Problem


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


@pytest.mark.parametrize(("method", "factor"), [("afw", 2), ("fw", 2), ("extrafw", 4), ("hfw", 2), ("hfw-search", 2)])
def test_warm_start_bound(method: str, factor: int) -> None:
    """From certified gap G: f(x_k) - f* <= factor LD²/(k + factor LD²/G), and the start is not thrown away."""
    objective, domain, optimum, _, curvature = constants("logistic-l1")
    rough = fw.minimize(objective, domain, method="afw", tol=0, max_iter=200)
    warm = fw.minimize(objective, domain, rough, method=METHODS.get(method, method), tol=0, max_iter=100)
    gap = rough.fun - warm.trace.lower_bound[0]
    assert warm.trace.fun[0] == pytest.approx(rough.fun, abs=1e-12)
    assert np.all(warm.trace.fun - optimum <= factor * curvature / (warm.trace.k + factor * curvature / gap) + ROUNDING)
    cold = fw.minimize(objective, domain, rough.x, method=METHODS.get(method, method), tol=0, max_iter=1)
    assert warm.trace.fun[1] < cold.trace.fun[1] or method == "hfw-search"


def test_boosting_beats_frank_wolfe_in_gradients() -> None:
    objective, domain, optimum, _ = case("squares-l1")
    boosted = fw.minimize(objective, domain, method=BoostedFrankWolfe(), tol=0, max_iter=40)
    plain = fw.minimize(objective, domain, method=fw.FrankWolfe(fw.ExactLineSearch()), tol=0, max_iter=40)
    assert boosted.fun - optimum <= 0.2 * (plain.fun - optimum)
    assert boosted.n_lmo > boosted.n_grad


@pytest.mark.parametrize("name", ["quadratic-simplex", "logistic-l1", "completion-nuclear"])
def test_richardson_is_an_extrapolation_of_frank_wolfe(name: str) -> None:
    """z_k is Frank-Wolfe's iterate with steps 1/(k+1); x_k = (k z_k - a z_a)/(k - a), and 2z_k - z_{k/2} at k = 2^j."""
    objective, domain, *_ = known(name)
    problem = Problem(objective, domain)
    z = [dense(problem.start(None, False))]
    for before, after, evidence in steps(problem, Richardson(), problem.start(None, False), 40):
        k = before.k
        _, vertex = evidence.minorants[0]
        assert vertex is not None
        z.append(z[k] + (dense(vertex.point) - z[k]) / (k + 1))
        np.testing.assert_allclose(dense(after.z), z[k + 1], atol=1e-12)
        if k + 1 >= 2:
            a = 2 ** int(math.log2(k + 1)) // 2
            extrapolated = ((k + 1) * z[k + 1] - a * z[a]) / (k + 1 - a)
            np.testing.assert_allclose(dense(after.x), extrapolated, atol=1e-11)
        value, at = evidence.seen[0]
        assert at is before.x
        assert float(value) == pytest.approx(float(objective.value(at.coords)), rel=1e-10)


@pytest.mark.parametrize("seed", range(3))
def test_richardson_removes_the_leading_term(seed: int) -> None:
    """Where early vertices lie off the optimal face, f(z_k) - f* falls like 1/k and f(x_k) - f* like 1/k²."""
    rng = np.random.default_rng(seed)
    A, signal = rng.standard_normal((200, 50)), np.zeros(50)
    signal[:10] = rng.random(10)
    f = fw.LeastSquares(A, A @ (4 * signal / signal.sum()) + 0.5 * rng.standard_normal(200))
    tight = fw.AcceleratedProjectedGradient(restart=True)
    optimum = fw.minimize(f, fw.L1Ball(2.0), method=tight, tol=1e-13, max_iter=5000).fun
    problem, h = Problem(f, fw.L1Ball(2.0)), []
    for _, after, _ in steps(problem, Richardson(), problem.start(None, False), 2048):
        if after.k in (64, 2048):
            h.append([float(problem.value(p)) - optimum for p in (after.z, after.x)])
    slope_z, slope_x = np.log(np.divide(*h)) / math.log(32)
    assert slope_x > 1.7
    assert slope_z < 1.3
    assert h[1][1] < 0.02 * h[1][0]
