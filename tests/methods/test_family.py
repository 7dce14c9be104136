"""Every method on l1 and simplex least squares, l2 logistic, Birkhoff and completion; and theorems of variants."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from tests.methods.properties import ROUNDING, dense, steps
from tests.problems import Case, case, completion, logistic_data

import frankwolfe as fw
from frankwolfe.methods import METHODS, named
from frankwolfe.methods.open_loop.heavy_ball import HeavyBallFrankWolfe, bend
from frankwolfe.methods.open_loop.richardson import Richardson
from frankwolfe.methods.stochastic.block_coordinate import BlockCoordinateFrankWolfe
from frankwolfe.methods.stochastic.stochastic import StochasticFrankWolfe
from frankwolfe.points import Point
from frankwolfe.problem import Problem
from frankwolfe.sets import Birkhoff, Product

FAMILY = [name for name in METHODS if name not in ("agm", "agm_sc")]
PLACES = ("squares-l1", "squares-simplex", "logistic-l2", "birkhoff", "completion")
LIMITS = {"cgs": 60, "newton": 20, "factored": 20, "stochastic": 20, "subspace": 200, "boosted": 200}


@cache
def place(name: str) -> Case:
    """Return one of the five problems, with its optimum to 1e-10."""
    if name in ("squares-l1", "logistic-l2"):
        return case(name)
    if name == "completion":
        f, domain, tight = completion(8, 6), fw.NuclearBall(3.0), "factored"
    elif name == "birkhoff":
        target = 0.5 * np.eye(5) + 0.3 * np.eye(5)[::-1] + 0.1 * np.random.default_rng(0).standard_normal((5, 5))
        f = fw.Function(lambda X: 0.5 * float(np.sum((X - target) ** 2)), lambda X: X - target, smoothness=1.0)
        domain, tight = Birkhoff(5), "dicg"
    else:
        A, b = logistic_data()
        f, domain, tight = fw.LeastSquares(A, 3 * b), fw.Simplex(12), "fcfw"
    result = fw.minimize(f, domain, method=tight, tol=1e-10, max_iter=5000)
    assert result.success
    return Case(f, domain, result.fun)


LINEAR = {
    "squares-l1": {"away", "pairwise", "bpcg", "bcg", "fcfw", "lazy", "newton", "pgd", "apgd"},
    "squares-simplex": {"away", "pairwise", "bpcg", "bcg", "fcfw", "lazy", "newton", "pgd", "apgd", "dicg"},
    "logistic-l2": {"newton", "subspace", "apgd", "pgd", "fcfw", "boosted", "away", "bpcg"},
    "birkhoff": {"away", "pairwise", "bpcg", "bcg", "lazy", "dicg"},
    "completion": {"factored", "fcfw", "inface", "pgd", "apgd"},
}
APPLIES = {
    "squares-l1": set(FAMILY) - {"inface", "factored", "bcfw", "dicg"},
    "squares-simplex": set(FAMILY) - {"inface", "factored", "bcfw"},
    "logistic-l2": set(FAMILY) - {"inface", "factored", "bcfw", "dicg"},
    "birkhoff": set(FAMILY) - {"inface", "factored", "bcfw", "pgd", "apgd", "newton", "subspace", "stochastic", "fcfw"},
    "completion": set(FAMILY) - {"bcfw", "dicg", "newton", "stochastic"},
}


@pytest.mark.parametrize("where", PLACES)
@pytest.mark.parametrize("name", FAMILY)
def test_certified_optimum_or_the_bound_of_the_rate_or_a_remedy(name: str, where: str) -> None:
    """Certified to 1e-6 of f(x_0) - f*, or within the O(LD²/k) of its own theorem, or an error that names others."""
    f, domain, optimum, x0 = place(where)
    limit = LIMITS.get(name, 600)
    if name not in APPLIES[where]:
        with pytest.raises(TypeError, match="use '"):
            fw.minimize(f, domain, x0, method=name)
        return
    problem = Problem(f, domain)
    first = float(f.value(problem.start(x0, True).coords))
    goal = 1e-6 * (first - optimum)
    result = fw.minimize(f, domain, x0, method=name, tol=goal, max_iter=limit)
    slack = ROUNDING * (1 + abs(optimum))
    assert result.lower_bound <= optimum + slack
    assert result.fun >= optimum - slack
    if name in LINEAR[where]:
        assert result.success, result
        assert result.fun - optimum <= goal + slack
        return
    curvature = problem.curvature
    if name == "stochastic":  # O(t^(-1/3)) in expectation, t mini-batches
        assert result.fun - optimum <= (curvature + first - optimum) / (11 * limit + 9) ** (1 / 3)
        return
    if name == "cgs":  # its own bound, of order 1/k²
        assert result.fun - optimum <= 7.5 * curvature / ((limit + 1) * (limit + 2))
    # The best Frank-Wolfe gap of k steps is at most 27/4 LD²/(k+2) [Jaggi 2013]; averages of tangents prove no less,
    # and steps 1/(k+1) lose a logarithm.
    assert result.success or result.gap <= 6.75 * curvature / (limit + 2) * (
        np.log(limit) if name == "richardson" else 1
    )


def test_cgs_counts_gradients_by_the_root_of_the_accuracy() -> None:
    """A hundredth of the error for ten times the gradients, measured; a method of order 1/ε would need a hundred."""
    f, domain, optimum, _ = place("squares-simplex")
    first = float(f.value(Problem(f, domain).start(None, True).coords)) - optimum
    counts = [
        fw.minimize(f, domain, method="cgs", tol=share * first, max_iter=500).n_grad
        for share in (1e-1, 1e-2, 1e-3, 1e-4)
    ]
    exponent = np.polyfit(np.log([1e1, 1e2, 1e3, 1e4]), np.log(counts), 1)[0]
    assert exponent <= 0.6
    assert counts[-1] <= 40 * counts[0]


@pytest.mark.parametrize("name", ["logistic-l1", "squares-l1", "squares-box"])
def test_svrf_halves_the_error_with_every_epoch(name: str) -> None:
    """E f(x_k) - f* <= LD²/2^(k+1), in the mean of three runs; the gradients of the batches are exact in the end."""
    objective, domain, optimum, _ = case(name)
    curvature = objective.smoothness * domain.diameter(objective.shape) ** 2
    for batch in (None, 8):
        runs = [
            fw.minimize(
                objective, domain, method=StochasticFrankWolfe("svrf", batch), tol=0, max_iter=6, random_state=s
            )
            for s in range(3)
        ]
        h = np.mean([run.trace.fun - optimum for run in runs], axis=0)
        k = np.arange(1, 7)
        assert np.all(h[1:] <= curvature / 2.0 ** (k + 1))
        assert h[6] <= 0.1 * h[1]
    assert runs[0].n_lmo == sum(2 ** (k + 4) - 2 for k in range(6)) + 6
    assert runs[0].n_grad == 6
    assert not np.array_equal(runs[0].x, runs[1].x), "the seed decides the batches"


def test_svrf_resumes_bit_for_bit(tmp_path) -> None:
    objective, domain, *_ = case("logistic-l1")
    method, save = StochasticFrankWolfe("svrf", 8), fw.Checkpoint(tmp_path / "run.npz")
    once = fw.minimize(objective, domain, method=method, tol=0, max_iter=5)
    for limit in (2, 5):
        parts = fw.minimize(objective, domain, method=method, tol=0, max_iter=limit, checkpoint=save)
    assert np.array_equal(parts.x, once.x)


def blocks() -> tuple[fw.LeastSquares, Product, float]:
    A, b = logistic_data()
    f, domain = fw.LeastSquares(A, 3 * b), Product(*[fw.Simplex(4)] * 3, shapes=[4] * 3)
    return f, domain, fw.minimize(f, domain, method="fcfw", tol=1e-11).fun


def test_weighted_average_of_block_steps() -> None:
    """x_k is the average of z after all moves, the t-th weighted by t; its certified gap obeys the theorem's rate."""
    f, domain, optimum = blocks()
    problem = Problem(f, domain)
    method = BlockCoordinateFrankWolfe("open", average=True)
    for before, after, evidence in steps(problem, method, problem.start(None, False), 12):
        single = BlockCoordinateFrankWolfe("open")
        # One sweep of the plain method from the same iterate makes the same moves.
        alone, _ = single.step(problem, single.init(problem, before.z)._replace(k=before.k))
        np.testing.assert_allclose(dense(alone.x), dense(after.z), atol=1e-14)
        assert evidence.seen[0][1] is before.x
        assert domain.contains(after.x.coords, tol=1e-12)
    result = fw.minimize(f, domain, method=method, tol=0, max_iter=60)
    curvature = f.smoothness * domain.diameter() ** 2
    k = result.trace.k[1:]
    assert np.all(result.trace.fun[1:] - optimum <= 4 * (curvature + result.trace.fun[0] - optimum) / (k + 1))
    assert result.gap <= 6.75 * (curvature + result.trace.fun[0] - optimum) / 60


def test_the_average_weights_late_moves() -> None:
    """With one block, whose sweep is one move, x_k is the average of z_1, ..., z_k weighted by 1, ..., k."""
    f, *_ = blocks()
    domain = Product(fw.Simplex(12), shapes=[12])
    problem, z = Problem(f, domain), []
    method = BlockCoordinateFrankWolfe(average=True)
    for _, after, _ in steps(problem, method, problem.start(None, False), 9):
        z.append(dense(after.z))
        np.testing.assert_allclose(dense(after.x), np.average(z, axis=0, weights=np.arange(len(z)) + 1), atol=1e-13)


def test_richardson_wraps_what_averages() -> None:
    """Any open-loop method that can average its vertices; on a face the extrapolation beats the method's own iterate.

    By far for Frank-Wolfe; heavy ball's averaged gradients turn so late that little of its error is of order 1/k.
    """
    rng = np.random.default_rng(1)
    A, signal = rng.standard_normal((200, 50)), np.zeros(50)
    signal[:10] = rng.random(10)
    f, domain = fw.LeastSquares(A, A @ (4 * signal / signal.sum()) + 0.5 * rng.standard_normal(200)), fw.L1Ball(2.0)
    optimum = fw.minimize(f, domain, method="fcfw", tol=1e-12).fun
    for inner, share in ((fw.FrankWolfe(), 0.1), (HeavyBallFrankWolfe(), 0.95)):
        problem = Problem(f, domain)
        *_, (_, after, _) = steps(problem, Richardson(inner), problem.start(None, False), 1024)
        z, x = (float(problem.value(p)) - optimum for p in (after.z, after.x))
        assert 0 <= x <= share * z, inner
    assert Richardson() == Richardson(fw.FrankWolfe()) == named("richardson")
    for wrong in (fw.AcceleratedFrankWolfe(), fw.FrankWolfe(fw.ShortStep()), HeavyBallFrankWolfe(steps="search")):
        with pytest.raises(TypeError, match="FrankWolfe\\(\\)"):
            Richardson(wrong)


@pytest.mark.parametrize("name", ["logistic-l1", "squares-l1", "quadratic-simplex"])
def test_directional_smoothness(name: str) -> None:
    """It bounds the curvature along the segment, is below L|v - x|², and so allows longer steps that still descend."""
    objective, domain, _, _ = case(name)
    problem, rng = Problem(objective, domain), np.random.default_rng(0)
    x, v = (Point.at(domain.lmo(rng.standard_normal(12)).toarray()) for _ in range(2))
    along, length2 = bend(problem, x, v), float(np.sum((x.coords - v.coords) ** 2))
    assert 0 < along <= objective.smoothness * length2 * (1 + 1e-12)
    for t in np.linspace(0, 1, 9):
        h, at = 1e-4, [objective.value(x.coords + (t + s * 1e-4) * (v.coords - x.coords)) for s in (-1, 0, 1)]
        assert (at[0] - 2 * at[1] + at[2]) / h**2 <= along * (1 + 1e-4) + 1e-6
    method = HeavyBallFrankWolfe(steps="directional")
    for before, after, evidence in steps(problem, method, problem.start(None, False), 40):
        vertex = evidence.minorants[0][1]
        gap = float(objective.grad(dense(before.x)) @ (dense(before.x) - dense(vertex.point)))
        delta = min(max(gap / max(bend(problem, before.x, vertex.point), 1e-300), 0.0), 1.0)
        promised = 0.5 * delta * gap if gap > 0 else 0.0
        fall = float(objective.value(dense(before.x)) - objective.value(dense(after.x)))
        assert fall >= promised - ROUNDING, "at least what the parabola above f promises"


def test_directional_smoothness_needs_an_image() -> None:
    f, domain, _, x0 = case("function-l2")
    with pytest.raises(TypeError, match="steps='smooth'"):
        fw.minimize(f, domain, x0, method=HeavyBallFrankWolfe(steps="directional"))
