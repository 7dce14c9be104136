"""Rows drawn by a hash: alike in every order of the rows, compiled as in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import frankwolfe as fw
from frankwolfe.kernels.row_sample import lot, rows_drawn
from frankwolfe.kernels.rows.layouts import compiled


@pytest.mark.parametrize("period", [2, 4, 7, 10, 24, 64])
def test_every_place_of_a_period_is_drawn_as_often(period):
    drawn = np.bincount(rows_drawn(200_000, 4) % period, minlength=period)
    mean = 50_000 / period
    assert np.abs(drawn - mean).max() < 5 * mean**0.5


def test_compiled_rows_are_those_of_numpy():
    each = [compiled("rows.sparse").lot(np.uint64(i), np.uint64(6)) for i in range(300)]
    np.testing.assert_array_equal(each, lot(np.arange(300, dtype=np.uint64), np.uint64(6)))


@pytest.mark.parametrize("domain", [fw.L2Ball(20.0), fw.L1Ball(50.0)])
def test_newton_takes_as_few_steps_on_rows_in_a_periodic_order(domain):
    rng = np.random.default_rng(0)
    n, machines = 12_000, 8
    A = np.zeros((n, 5 * machines))
    for sensor in range(5):
        A[np.arange(n), 5 * (np.arange(n) % machines) + sensor] = 1.0 if sensor == 0 else rng.standard_normal(n)
    b = np.sign(A @ rng.standard_normal(A.shape[1]) + rng.standard_normal(n))
    mixed = rng.permutation(n)
    steps = [
        fw.minimize(fw.Logistic(A[rows], b[rows]), domain, method="newton", tol=1e-8, n_threads=1).n_iter
        for rows in (slice(None), mixed)
    ]
    assert steps[0] <= steps[1] + 4
