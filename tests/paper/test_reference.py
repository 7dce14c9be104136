"""The certified optimum: tight, and right against a plain solver."""

from __future__ import annotations

import numpy as np
import pytest

import frankwolfe as fw
from frankwolfe.paper.problems import Ball, Data, gaussian, objective
from frankwolfe.paper.reference import Reference, geometry, solve

SAMPLES = gaussian(0, n=150, d=12)
BALLS = [
    Ball("l2", 1.0),
    Ball("l2", 100.0),
    Ball("l1", 0.5),
    Ball("l1", 4.0),
    Ball("lp", 1.0, 1.5),
    Ball("lp", 1.0, 6.0),
    Ball("ksupport", 1.0, 2),
    Ball("group", 1.0, 1.0),
    Ball("group", 1.0, 1.5),
    Ball("group", 1.0, 1.5, inner=1.5),
]


@pytest.mark.parametrize("ball", BALLS, ids=lambda b: b.label)
def test_the_gap_is_closed_and_afw_agrees(ball):
    f = fw.Logistic(SAMPLES.A, SAMPLES.b)
    domain = ball.build(f.shape)
    found = solve(f, domain)
    assert domain.contains(found.x)
    assert found.gap < 1e-9
    other = fw.minimize(f, domain, method="afw", tol=0, max_iter=300)
    assert other.lower_bound <= found.fun + 1e-12
    assert found.lower_bound <= other.fun


def test_matrix_completion_is_certified():
    rng = np.random.default_rng(1)
    chosen = rng.permutation(20 * 30)[:200]
    f = fw.MatrixCompletion(chosen // 30, chosen % 30, rng.standard_normal(200) / 14, (20, 30))
    assert solve(f, fw.NuclearBall(1.0), 1e-9).gap < 2e-9


def test_whether_a_constraint_is_active_is_found_out():
    f = fw.Logistic(SAMPLES.A, SAMPLES.b)
    small, large = Ball("l2", 1.0), Ball("l2", 1000.0)
    inside, outside = (geometry(f, b, solve(f, b.build(f.shape)).x) for b in (small, large))
    assert inside["active"]
    assert inside["mu"] > 0
    assert not outside["active"]
    assert outside["mu"] is None
    assert outside["worth"] < 1e-7


def test_the_curvature_of_the_tangent_plane():
    f = fw.Logistic(SAMPLES.A, SAMPLES.b)
    x = solve(f, fw.L2Ball(1.0)).x
    m, p = SAMPLES.A @ x, np.eye(x.size) - np.outer(x, x) / (x @ x)
    H = (SAMPLES.A.T * (0.25 / np.cosh(m / 2) ** 2 / m.size)) @ SAMPLES.A
    expected = np.linalg.eigvalsh(p @ H @ p)[-1] / np.linalg.norm(f.grad(x))
    assert geometry(f, Ball("l2", 1.0), x)["mu"] == pytest.approx(expected)


def test_the_accuracy_is_that_of_the_last_point():
    facts = Reference(Data("gaussian"), Ball("l1", 1.0)).compute(None).facts
    assert 0 < facts["gap"] < 1e-9
    again = solve(objective(Data("gaussian")), fw.L1Ball(1.0))
    assert facts["gap"] <= max(again.gap, 4 * np.spacing(again.fun))
    assert facts["fun"] == again.fun
