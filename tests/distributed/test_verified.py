"""Rows and entries on a cluster are judged like those in memory."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

import frankwolfe as fw

da = pytest.importorskip("dask.array")


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_on_a_cluster_are_judged(client, sparse, weighted):
    rng = np.random.default_rng(0)
    A = rng.standard_normal((60, 4))
    b, w = A[:, 0] > rng.standard_normal(60), np.where(np.arange(60) < 25, 0.0, rng.random(60))
    rows = da.from_array(A, chunks=(20, 4))
    rows = rows.map_blocks(csr_array) if sparse else rows
    options = {"sample_weight": da.from_array(w, chunks=20)} if weighted else {}
    f, ball = fw.Logistic(rows, da.from_array(b, chunks=20), intercept=True, **options), fw.L1Ball(0.5)
    result = fw.minimize(f, ball, tol=1e-4, max_iter=200)
    check = fw.verify(result, f, ball)
    assert check.ok, check
    same = fw.Logistic(A, b, intercept=True, sample_weight=w if weighted else None)
    assert check.upper == pytest.approx(fw.verify(result, same, ball).upper, abs=1e-14)


def test_entries_on_a_cluster_are_judged(client):
    rng = np.random.default_rng(1)
    i, j = np.divmod(rng.choice(200, 80, replace=False), 10)
    v = rng.standard_normal(80)
    f = fw.MatrixCompletion(*(da.from_array(part, chunks=30) for part in (i, j, v)), shape=(20, 10))
    ball = fw.NuclearBall(2.0)
    result = fw.minimize(f, ball, tol=1e-3, max_iter=100)
    check = fw.verify(result, f, ball)
    assert not check.false
    same = fw.verify(result, fw.MatrixCompletion(i, j, v, shape=(20, 10)), ball)
    assert check.upper == pytest.approx(same.upper, rel=1e-14)
    assert check.lower == pytest.approx(same.lower, rel=1e-12)
