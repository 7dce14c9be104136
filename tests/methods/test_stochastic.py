"""Stochastic Frank-Wolfe: unbiased batches, momentum, variance reduction, and what a pass is."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array
from tests.methods.variants import known, suboptimality
from tests.problems import logistic_data

import frankwolfe as fw
from frankwolfe.methods.stochastic.stochastic import StochasticFrankWolfe, _Rows


@pytest.mark.parametrize("form", [np.asarray, csr_array, csc_array])
@pytest.mark.parametrize("make", [fw.Logistic, fw.LeastSquares])
def test_mini_batches_are_unbiased(make, form) -> None:
    """The mean over all rows of one-row gradients is the gradient, weights and ridge included."""
    A, b = logistic_data()
    A = A * (abs(A) > 0.7)
    rng = np.random.default_rng(0)
    f = make(form(A), b, sample_weight=rng.random(b.size), ridge=0.1)
    x, y = rng.standard_normal((2, A.shape[1]))
    rows = _Rows(f)
    mean = np.mean([rows.gradient(np.array([i]), x) for i in range(b.size)], axis=0)
    np.testing.assert_allclose(mean, f.grad(x), atol=1e-12)
    change = np.mean([rows.gradient(np.array([i]), x, y) for i in range(b.size)], axis=0)
    np.testing.assert_allclose(change, f.grad(x) - f.grad(y), atol=1e-12)


@pytest.mark.parametrize("name", ["logistic-l1", "logistic-l2", "squares-l1"])
def test_momentum_tames_the_noise(name: str) -> None:
    """Mean of four runs: below the theorem's t^(-1/3), and falling at least that fast."""
    objective, domain, *_ = known(name)
    h = np.mean([suboptimality(name, StochasticFrankWolfe(batch=4), 64, seed) for seed in range(4)], axis=0)
    A, n = objective.data.matrix, objective.data.shape[0]
    start = np.zeros(A.shape[1])
    spread = max(float(np.sum((n * A[i] * objective.loss_slope(0 * objective.b)[i]) ** 2)) for i in range(n))
    L, D = objective.smoothness, domain.diameter(objective.shape)
    error = max(3 * np.linalg.norm(objective.grad(start)), (16 * spread + 2 * L**2 * D**2) ** 0.5)
    Q = max(9 ** (1 / 3) * h[0], L * D**2 / 2 + 2 * D * error)
    t = 30 * np.arange(len(h))
    assert np.all(h <= Q / (t + 9) ** (1 / 3))
    assert h[64] <= h[2] * 32 ** (-1 / 3)


@pytest.mark.parametrize("name", ["logistic-l1", "logistic-l2", "squares-l1", "squares-box"])
def test_variance_reduction_restores_the_rate(name: str) -> None:
    """f(x_t) - f* within Frank-Wolfe's own bound 2LD²/(t+2) up to a factor, t all moves; far below momentum."""
    objective, domain, *_ = known(name)
    spider = np.mean([suboptimality(name, StochasticFrankWolfe("spider"), 64, seed) for seed in range(4)], axis=0)
    momentum = np.mean([suboptimality(name, StochasticFrankWolfe(), 64, seed) for seed in range(4)], axis=0)
    t = 10 * np.arange(1, len(spider))
    assert np.all(spider[1:] <= 4 * objective.smoothness * domain.diameter(objective.shape) ** 2 / (t + 2))
    assert math.log(spider[4] / spider[64]) >= 0.8 * math.log(64 / 4)
    assert spider[64] <= 0.1 * momentum[64]


def test_passes_count_the_rows_read() -> None:
    objective, domain, *_ = known("logistic-l2")
    result = fw.minimize(objective, domain, method=StochasticFrankWolfe(batch=10), tol=0, max_iter=5)
    assert result.n_grad == 5
    assert result.n_lmo == 5 * (1 + 12)
    assert result.n_pass == pytest.approx(5 + 5 + 1)  # evaluations, mini-batches, the last value
