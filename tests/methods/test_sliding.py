"""Conditional gradient sliding: its rate, and how few gradients it takes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.methods.properties import ROUNDING, steps
from tests.methods.variants import constants

import frankwolfe as fw
from frankwolfe.methods.projected.sliding import ConditionalGradientSliding
from frankwolfe.problem import Problem


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
