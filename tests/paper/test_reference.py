"""The certified optimum: tight, and right against a plain solver."""

from __future__ import annotations

import numpy as np
import pytest

import frankwolfe as fw
from frankwolfe.paper.problems import Ball, Data, gaussian
from frankwolfe.paper.reference import Reference, ball_quadratic, certified, geometry, newton, projected_steps

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
def test_newton_closes_the_gap_and_agrees_with_afw(ball):
    f = fw.Logistic(SAMPLES.A, SAMPLES.b)
    domain = ball.build(f.shape)
    x, _ = newton(f, domain)
    proof = certified(f, domain, x)
    assert domain.contains(x)
    assert proof.gap < 1e-9
    other = fw.minimize(f, domain, method="afw", tol=0, max_iter=300)
    assert other.lower_bound <= proof.fun + 1e-12
    assert proof.lower_bound <= other.fun


def test_the_quadratic_on_a_ball_satisfies_its_optimality_conditions():
    rng = np.random.default_rng(0)
    root = rng.standard_normal((6, 6))
    H, c = root @ root.T, rng.standard_normal(6)
    for radius in (0.01, 0.1, 100.0):
        u = ball_quadratic(H, c, radius)
        g = H @ u + c
        assert np.linalg.norm(u) <= radius * (1 + 1e-12)
        assert float(g @ u) + radius * np.linalg.norm(g) <= 1e-9 * radius * np.linalg.norm(c) + 1e-10


def test_projected_steps_certify_matrix_completion():
    rng = np.random.default_rng(1)
    chosen = rng.permutation(20 * 30)[:200]
    f = fw.MatrixCompletion(chosen // 30, chosen % 30, rng.standard_normal(200) / 14, (20, 30))
    ball = fw.NuclearBall(1.0)
    x, _ = projected_steps(f, ball, 1e-9)
    assert certified(f, ball, x).gap < 2e-9


def test_whether_a_constraint_is_active_is_found_out():
    f = fw.Logistic(SAMPLES.A, SAMPLES.b)
    small, large = Ball("l2", 1.0), Ball("l2", 1000.0)
    inside, outside = (geometry(f, b, newton(f, b.build(f.shape))[0]) for b in (small, large))
    assert inside["active"]
    assert inside["mu"] > 0
    assert not outside["active"]
    assert outside["mu"] is None
    assert outside["worth"] < 1e-7


def test_the_accuracy_is_that_of_the_last_point(tmp_path):
    from frankwolfe.paper.store import Store

    facts = Reference(Data("gaussian"), Ball("l1", 1.0)).compute(Store(tmp_path), None).facts
    assert 0 < facts["gap"] < 1e-9
    assert facts["lower_bound"] <= facts["fun"]
    assert facts["proven"] >= 0
