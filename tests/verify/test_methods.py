"""What every method claims, proven again: small problems of many kinds, and an optimum from another solver."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize as scipy_minimize

import frankwolfe as fw

D = 6
METHODS = ("auto", "fw", "afw", "apgd", "away", "bpcg", "fcfw", "hfw", "extrafw", "lazy", "subspace", "boosted", "cgs")


def models(seed):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((40, D))
    y = A[:, 0] - A[:, 3] + 0.5 * rng.standard_normal(40)
    weights = rng.random(40)
    return {
        "logistic": fw.Logistic(A, y > 0),
        "logistic-intercept": fw.Logistic(A, y > 0.2, intercept=True),
        "logistic-weighted": fw.Logistic(A, y > 0, sample_weight=weights, ridge=0.1),
        "logistic-float32": fw.Logistic(A.astype(np.float32), y > 0),
        "squares": fw.LeastSquares(A, y),
        "squares-intercept": fw.LeastSquares(A, y + 4, intercept=True),
        "huber": fw.Huber(A, y, delta=0.4),
        "quadratic": fw.Quadratic(A.T @ A / 30, A[0]),
    }


def sets(seed):
    rng = np.random.default_rng(seed)
    return {
        "l1": fw.L1Ball(0.6),
        "l2": fw.L2Ball(0.6),
        "l3": fw.LpBall(0.5, p=3),
        "simplex": fw.Simplex(D),
        "box": fw.Box(-0.1, 0.2),
        "k-support": fw.KSupportBall(0.6, k=2),
        "group": fw.GroupBall(0.6, groups=np.arange(D) // 2),
        "hull": fw.ConvexHull(rng.standard_normal((9, D)) / 3),
        "total variation": fw.TotalVariationBall(0.7),
    }


@settings(max_examples=40)
@given(
    st.integers(0, 1000),
    st.sampled_from(METHODS),
    st.sampled_from(sorted(models(0))),
    st.sampled_from(sorted(sets(0))),
    st.sampled_from([3, 30, 300]),
)
def test_what_is_claimed_is_proven_again(seed, method, model, name, steps):
    f, X = models(seed)[model], sets(seed)[name]
    try:
        result = fw.minimize(f, X, method=method, tol=1e-8, max_iter=steps)
    except TypeError:
        return  # the method does not go with the set
    check = fw.verify(result, f, X)
    assert check.ok, f"{method} {model} {name}\n{check}"
    assert check.gap <= 1.5 * result.gap + 1e-12 * (1 + abs(result.fun))


@pytest.mark.parametrize("name", ["simplex", "hull"])
@pytest.mark.parametrize("model", sorted(set(models(0)) - {"logistic-float32"}))
def test_no_bound_exceeds_an_optimum_of_another_solver(model, name):
    # Over a hull of points the weights are the variables, and SciPy's solver knows nothing of ours.
    f, X = models(7)[model], sets(7)[name]
    points = np.eye(D) if name == "simplex" else X.points

    def value(w):
        x = points.T @ (np.abs(w) / np.sum(np.abs(w)))
        return float(f.value(x))

    found = min(
        (
            scipy_minimize(value, w0, method="SLSQP", options={"maxiter": 500, "ftol": 1e-15})
            for w0 in np.random.default_rng(0).dirichlet(np.ones(len(points)), 3)
        ),
        key=lambda r: r.fun,
    )
    for steps in (1, 5, 50, 2000):
        result = fw.minimize(f, X, method="fcfw", tol=0 if steps < 100 else 1e-12, max_iter=steps)
        assert fw.verify(result, f, X).lower <= found.fun + 1e-12


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("method", ["fw", "afw", "apgd", "auto"])
def test_matrix_completion(method, weighted):
    rng = np.random.default_rng(3)
    rows, cols = np.nonzero(rng.random((14, 11)) < 0.6)
    weights = rng.random(rows.size) + 0.1 if weighted else None
    f = fw.MatrixCompletion(rows, cols, rng.standard_normal(rows.size), (14, 11), weights=weights)
    X = fw.NuclearBall(3.0)
    result = fw.minimize(f, X, method=method, tol=1e-9, max_iter=2000)
    tight = fw.minimize(f, X, method="apgd", tol=1e-12, max_iter=5000)
    check = fw.verify(result, f, X)
    assert not check.false
    assert check.lower <= tight.fun + 1e-12 * tight.fun
    assert check.gap <= 1e-2 * tight.fun
    assert check.infeasibility <= 1e-13
    assert fw.verify(tight, f, X).gap <= 1e-6 * tight.fun


@pytest.mark.parametrize("ball", [fw.NuclearBall(0.7), fw.L1Ball(0.7), fw.L2Ball(0.7)], ids=repr)
@pytest.mark.parametrize("kind", ["plain", "intercept", "weighted"])
def test_softmax_regression(kind, ball):
    rng = np.random.default_rng(4)
    A = rng.standard_normal((60, D))
    labels = np.digitize(A[:, 0] + 0.5 * rng.standard_normal(60), [-0.7, 0.7])
    weights = rng.random(60) if kind == "weighted" else None
    f = fw.Multinomial(A, labels, intercept=kind != "plain", sample_weight=weights, ridge=0.1 * (kind == "weighted"))
    result = fw.minimize(f, ball, tol=1e-7, max_iter=3000)
    check = fw.verify(result, f, ball)
    assert check.ok, check
    assert check.gap <= 1.5 * result.gap + 1e-12
    for lie in (1e-9, -1e-9):
        from dataclasses import replace

        assert fw.verify(replace(result, fun=result.fun + lie), f, ball).false


def test_separated_classes_keep_their_small_values():
    # Losses of 1e-30: neither the value nor the bound may drown in what larger numbers round.
    A = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])
    for f in (fw.Logistic(A, [1, 0, 1]), fw.Multinomial(A, [1, 0, 1])):
        X = fw.LInfBall(70.0)
        result = fw.minimize(f, X, method="fw", tol=0, max_iter=30)
        check = fw.verify(result, f, X)
        assert not check.false
        assert check.upper <= result.fun * (1 + 1e-12) + 1e-60


@pytest.mark.data
def test_real_data(data_dir):
    from frankwolfe.datasets import load

    data = load("a9a", directory=data_dir)
    f, X = fw.Logistic(data.A, data.b, intercept=True), fw.L1Ball(5.0)
    result = fw.minimize(f, X, tol=1e-6)
    check = fw.verify(result, f, X)
    assert check.ok, check
    assert check.gap <= 1.5e-6
