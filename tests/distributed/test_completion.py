"""Matrix completion with its entries in parts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import frankwolfe as fw

da = pytest.importorskip("dask.array")
dask = pytest.importorskip("dask")

M, N = 130, 90


def entries() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    rows, cols = np.nonzero(rng.random((M, N)) < 0.2)
    truth = rng.standard_normal((M, 2)) @ rng.standard_normal((2, N))
    return rows, cols, truth[rows, cols] + 0.1 * rng.standard_normal(rows.size)


def scattered(parts: int = 4):
    cut = [[dask.delayed(p) for p in np.array_split(v, parts)] for v in entries()]
    return fw.MatrixCompletion(*cut, shape=(M, N))


def test_values_products_and_lines(client) -> None:
    whole = fw.MatrixCompletion(*entries(), shape=(M, N))
    rng = np.random.default_rng(1)
    X = fw.LowRank.from_arrays(rng.standard_normal((M, 3)), rng.standard_normal((N, 3)))
    Z = fw.LowRank.from_arrays(rng.standard_normal((M, 1)), rng.standard_normal((N, 1)))
    rows, cols, values = (da.from_array(v, chunks=700) for v in entries())
    for far in (scattered(), fw.MatrixCompletion(rows, cols, values, shape=(M, N))):
        assert far.value(X) == pytest.approx(whole.value(X), rel=1e-12)
        g, h = far.grad(X) * 0.3 + 0.7 * far.grad(Z), 0.3 * whole.grad(X) + 0.7 * whole.grad(Z)
        assert np.allclose(g @ np.ones(N), h @ np.ones(N), rtol=1e-9, atol=1e-9)
        assert np.allclose(g.T @ np.ones(M), h.T @ np.ones(M), rtol=1e-9, atol=1e-9)
        points = fw.points.Point.at(X), fw.points.Point.at(Z)
        assert np.allclose(far.line(*points)[0](0.3), whole.line(*points)[0](0.3), rtol=1e-9)


def test_runs_agree_with_memory_and_are_certified(client, tmp_path: Path) -> None:
    whole, ball = fw.MatrixCompletion(*entries(), shape=(M, N)), fw.NuclearBall(60.0)
    best = fw.minimize(whole, ball, tol=1e-3)
    save = fw.Checkpoint(tmp_path / "run.npz")
    near = fw.minimize(whole, ball, method="afw", tol=0, max_iter=3)
    far = fw.minimize(scattered(), ball, method="afw", tol=0, max_iter=3)
    assert far.fun == pytest.approx(near.fun, rel=0.05)  # the oracle is no more accurate than the method needs
    assert best.lower_bound <= far.fun
    assert far.lower_bound <= best.fun
    fw.minimize(scattered(), ball, method="afw", tol=0, max_iter=1, checkpoint=save)
    resumed = fw.minimize(scattered(2), ball, method="afw", tol=0, max_iter=3, checkpoint=save)
    assert resumed.fun == pytest.approx(far.fun, rel=1e-9)


def test_what_it_cannot_do_is_said(client) -> None:
    with pytest.raises(TypeError, match="whole matrix in memory"):
        fw.minimize(scattered(), fw.NuclearBall(5.0), method="pgd")
