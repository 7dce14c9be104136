"""Rows on disk are data: they are judged block by block, as rows in memory are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import frankwolfe as fw

RNG = np.random.default_rng(0)
A = RNG.standard_normal((90, 5))
Y = A[:, 0] + RNG.standard_normal(90)
WEIGHTS = np.where(np.arange(90) < 40, 0.0, RNG.random(90))  # whole blocks without weight

MODELS = {
    "logistic": lambda rows: fw.Logistic(rows, Y > 0, ridge=0.1),
    "logistic-weighted": lambda rows: fw.Logistic(rows, Y > 0.3, sample_weight=WEIGHTS, intercept=True),
    "squares": lambda rows: fw.LeastSquares(rows, Y + 5, intercept=True),
    "huber": lambda rows: fw.Huber(rows, Y, delta=0.5, sample_weight=WEIGHTS),
    "multinomial": lambda rows: fw.Multinomial(rows, np.digitize(Y, [-1, 1]), intercept=True),
}


@pytest.mark.parametrize("model", MODELS)
def test_rows_on_disk_are_judged(model, tmp_path):
    np.save(tmp_path / "A.npy", A)
    f = MODELS[model](fw.stream(tmp_path / "A.npy", block_bytes=800))
    assert f.parts.blocks > 3
    ball = fw.L2Ball(0.5)
    result = fw.minimize(f, ball, tol=1e-4, max_iter=300)
    check, in_memory = fw.verify(result, f, ball), fw.verify(result, MODELS[model](A), ball)
    assert check.ok, check
    assert check.upper == pytest.approx(in_memory.upper, abs=1e-14)
    assert check.lower == pytest.approx(in_memory.lower, abs=1e-14)
    assert fw.verify(replace(result, fun=result.fun - 1e-9), f, ball).false


def test_a_file_holds_the_rows_that_were_on_disk(tmp_path):
    np.save(tmp_path / "A.npy", A)
    f, ball = MODELS["logistic"](fw.stream(tmp_path / "A.npy", block_bytes=800)), fw.L2Ball(0.5)
    result = fw.minimize(f, ball, tol=1e-4, max_iter=300)
    result.save(tmp_path / "run.npz", f, ball)
    (tmp_path / "A.npy").unlink()
    assert fw.verify(tmp_path / "run.npz").ok
