"""Block-coordinate Frank-Wolfe, and the structural SVM it is made for."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.methods.properties import ROUNDING, steps
from tests.methods.variants import PRODUCTS, known, suboptimality
from tests.problems import logistic_data

import frankwolfe as fw
from frankwolfe.methods.stochastic.block_coordinate import BlockCoordinateFrankWolfe, _block_gradient
from frankwolfe.objectives.structural_svm import StructuralSVM
from frankwolfe.points import Point
from frankwolfe.problem import Problem
from frankwolfe.sets import Product


@pytest.mark.parametrize("name", PRODUCTS)
def test_bcfw_rate(name: str) -> None:
    """f - f* <= 2(LD² + f(x_0) - f*)/(k + 2) after k sweeps, in the mean of two orders."""
    objective, domain, *_ = known(name)
    L = fw.LeastSquares(*LEAST).smoothness if name == "product-function" else objective.smoothness
    curvature = L * domain.diameter() ** 2
    k = np.arange(41)
    for rule in ("search", "open"):
        h = np.mean([suboptimality(name, BlockCoordinateFrankWolfe(rule), 40, s) for s in range(2)], axis=0)
        assert np.all(h <= 2 * (curvature + h[0]) / (k + 2) + ROUNDING)


def test_sweeps_beat_whole_steps() -> None:
    """Twenty l1 balls: a sweep, for the price of a step of Frank-Wolfe in columns and oracles, gains far more."""
    rng = np.random.default_rng(3)
    A = rng.standard_normal((80, 60))
    f, domain = fw.LeastSquares(A, A @ rng.standard_normal(60)), Product(*[fw.L1Ball(0.5)] * 20, shapes=[3] * 20)
    tight = fw.AcceleratedProjectedGradient(restart=True)
    optimum = fw.minimize(f, domain, method=tight, tol=1e-12, max_iter=5000).fun
    sweeps = fw.minimize(f, domain, method=BlockCoordinateFrankWolfe(), tol=0, max_iter=30)
    whole = fw.minimize(f, domain, method=fw.FrankWolfe(fw.ExactLineSearch()), tol=0, max_iter=30)
    assert sweeps.fun - optimum <= 0.05 * (whole.fun - optimum)
    assert sweeps.n_lmo == 2 * whole.n_lmo
    assert sweeps.n_grad == whole.n_grad


LEAST = (logistic_data()[0], 3 * logistic_data()[1])


@pytest.mark.parametrize("name", [*PRODUCTS, "svm"])
def test_gradients_of_blocks_are_parts_of_the_gradient(name: str) -> None:
    f, domain = (sequences()[0], sequences()[0].domain) if name == "svm" else known(name)[:2]
    x = np.random.default_rng(0).standard_normal(domain.shape)
    for block in domain.blocks:
        part = _block_gradient(Problem(f, domain), Point.at(x), block)
        np.testing.assert_allclose(part, f.grad(x)[block], atol=1e-12)


def test_bcfw_orders_follow_the_seed() -> None:
    runs = [suboptimality("product-squares", BlockCoordinateFrankWolfe(), 3, seed) for seed in (0, 0, 1, 2, 3)]
    assert np.array_equal(runs[0], runs[1])
    assert any(not np.array_equal(runs[0], other) for other in runs[2:])


def sequences(n: int = 6, length: int = 3, p: int = 2, lam: float = 0.1):
    """A chain of binary labels: emission features by label, one for equal neighbours; Hamming loss; by enumeration."""
    rng = np.random.default_rng(0)
    outputs = list(itertools.product((0, 1), repeat=length))
    X = rng.standard_normal((n, length, p))
    truth = [outputs[i] for i in rng.integers(len(outputs), size=n)]

    def features(x: np.ndarray, y: tuple[int, ...]) -> np.ndarray:
        emission = np.zeros((2, p))
        for at, label in zip(x, y, strict=True):
            emission[label] += at
        return np.append(emission.ravel(), sum(a == b for a, b in itertools.pairwise(y)))

    psi = np.array([[features(x, t) - features(x, y) for y in outputs] for x, t in zip(X, truth, strict=True)])
    loss = np.array([[np.mean(np.not_equal(t, y)) for y in outputs] for t in truth])

    def decoder(i: int, w: np.ndarray, c: float):
        best = int(np.argmax(c * loss[i] - psi[i] @ w))
        return psi[i, best], loss[i, best]

    return StructuralSVM(decoder, n=n, d=psi.shape[2], lam=lam), psi, loss


def test_structural_svm_against_cvxpy() -> None:
    """bcfw solves the dual: minus its optimum is the primal's, the certificate is the primal at w, and w agrees."""
    cvxpy = pytest.importorskip("cvxpy")
    svm, psi, loss = sequences()
    w, xi = cvxpy.Variable(svm.d), cvxpy.Variable(svm.n)
    limits = [xi[i] >= loss[i] - psi[i] @ w for i in range(svm.n)]
    primal = cvxpy.Problem(cvxpy.Minimize(0.5 * svm.lam * cvxpy.sum_squares(w) + cvxpy.sum(xi) / svm.n), limits)
    optimum = primal.solve(solver="CLARABEL")
    result = fw.minimize(svm, svm.domain, method=BlockCoordinateFrankWolfe(), tol=1e-4, max_iter=3000)
    assert result.success
    assert -result.fun == pytest.approx(optimum, abs=1e-4)
    assert result.lower_bound <= -optimum + 1e-7
    ours, theirs = svm.weights(result.x), np.asarray(w.value)
    assert optimum - 1e-7 <= svm.primal(ours) <= optimum + 1e-2
    assert float(np.linalg.norm(ours - theirs)) <= (2 * 1.01e-4 / svm.lam) ** 0.5  # f is strongly convex in w


def test_the_gap_of_the_dual_is_the_primal_gap() -> None:
    svm, *_ = sequences()
    problem = Problem(svm, svm.domain)
    for before, _, evidence in steps(problem, BlockCoordinateFrankWolfe(), problem.start(None, False), 5):
        tangent, vertex = evidence.minorants[0]
        assert vertex is not None
        bound = float(tangent.offset + vertex.value)
        assert -bound == pytest.approx(svm.primal(svm.weights(before.x.coords)), rel=1e-12)
    x = np.random.default_rng(1).standard_normal(svm.shape)
    assert fw.check_gradient(svm, x) < 1e-6
