"""Matrix completion with weights: the function, its gradient, and the methods on it."""

from __future__ import annotations

import numpy as np
import pytest

import frankwolfe as fw

g = np.random.default_rng(5)
SHAPE = (9, 7)
ROWS, COLS = np.nonzero(g.random(SHAPE) < 0.6)
VALUES = g.standard_normal(ROWS.size)
WEIGHTS = g.uniform(0.1, 4.0, ROWS.size)
ORDER = g.permutation(ROWS.size)  # the caller's order is not the sorted one
f = fw.MatrixCompletion(ROWS[ORDER], COLS[ORDER], VALUES[ORDER], SHAPE, weights=WEIGHTS[ORDER])


def naive(X):
    return 0.5 * sum(w * (X[i, j] - v) ** 2 for i, j, v, w in zip(ROWS, COLS, VALUES, WEIGHTS, strict=True))


def test_value_and_gradient():
    X = g.standard_normal(SHAPE)
    assert f.value(X) == pytest.approx(naive(X))
    wanted = np.zeros(SHAPE)
    wanted[ROWS, COLS] = WEIGHTS * (X[ROWS, COLS] - VALUES)
    np.testing.assert_allclose(f.grad(X).toarray(), wanted, atol=1e-12)
    assert f.smoothness == WEIGHTS.max()
    assert fw.MatrixCompletion(ROWS, COLS, VALUES, SHAPE).smoothness == 1.0


@pytest.mark.parametrize("method", ["factored", "afw", "fw", "inface", "apgd"])
def test_methods_agree_on_it(method):
    ball = fw.NuclearBall(2.0)
    best = fw.minimize(f, ball, tol=1e-9, method="factored")
    assert best.success
    other = fw.minimize(f, ball, tol=1e-2, method=method, max_iter=5000)
    assert other.success
    assert other.lower_bound <= best.fun + 1e-9
    assert best.lower_bound <= other.fun + 1e-9


def test_equal_weights_are_no_weights():
    plain = fw.minimize(fw.MatrixCompletion(ROWS, COLS, VALUES, SHAPE), fw.NuclearBall(2.0), tol=1e-10)
    same = fw.MatrixCompletion(ROWS, COLS, VALUES, SHAPE, weights=np.full(ROWS.size, 3.0))
    thrice = fw.minimize(same, fw.NuclearBall(2.0), tol=1e-10)
    assert thrice.fun == pytest.approx(3 * plain.fun, rel=1e-8)


def test_rows_and_columns_scaled():
    """Weights (r c)² on values / (r c) is the map Z -> r Z c: the two ways to write it have the same optimum."""
    r, c = g.uniform(0.5, 2.0, SHAPE[0]), g.uniform(0.5, 2.0, SHAPE[1])
    scale = r[ROWS] * c[COLS]
    scaled = fw.MatrixCompletion(ROWS, COLS, VALUES / scale, SHAPE, weights=scale**2)
    Z = fw.minimize(scaled, fw.NuclearBall(2.0), tol=1e-9).x.toarray()
    X = r[:, None] * Z * c
    assert scaled.value(Z) == pytest.approx(0.5 * np.sum((X[ROWS, COLS] - VALUES) ** 2))
    grad = r[:, None] * fw.MatrixCompletion(ROWS, COLS, VALUES, SHAPE).grad(X).toarray() * c
    gap = np.sum(grad * Z) + 2.0 * np.linalg.norm(grad, 2)  # the Frank-Wolfe gap, written out
    assert gap + 1e-12 >= 0
    assert gap <= 1e-6


@pytest.mark.parametrize("weights", [[1.0], np.zeros(ROWS.size), -WEIGHTS, np.full(ROWS.size, np.nan)])
def test_bad_weights(weights):
    with pytest.raises(ValueError, match="weights"):
        fw.MatrixCompletion(ROWS, COLS, VALUES, SHAPE, weights=weights)


def test_checkpoints_tell_weights_apart(tmp_path):
    save = fw.Checkpoint(tmp_path / "run.npz")
    fw.minimize(f, fw.NuclearBall(1.0), max_iter=3, tol=0.0, method="fw", checkpoint=save)
    with pytest.raises(fw.CheckpointError, match="another problem"):
        fw.minimize(fw.MatrixCompletion(ROWS, COLS, VALUES, SHAPE), fw.NuclearBall(1.0), method="fw", checkpoint=save)
