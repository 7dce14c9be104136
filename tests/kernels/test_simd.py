"""Eight numbers side by side against NumPy, and the series of the losses against more digits."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from frankwolfe.backends.elementary import pick_above
from frankwolfe.kernels.elementary import _exp, _log1p
from frankwolfe.kernels.losses import slope_of, value_of
from frankwolfe.kernels.root_bracket import narrow, settled
from frankwolfe.kernels.simd import lane, load, store, total, totals
from frankwolfe.losses import LogisticLoss, SquaredLoss

RNG = np.random.default_rng(0)


@numba.njit
def arithmetic(a, b, out):
    x, y = load(a, 0), load(b, 0)
    store(out, 0, (x + 2.0 * y) / (1.0 + abs(y)) - x)
    store(out, 8, max(x, y) + 10.0 * min(x, 0.5))
    store(out, 16, pick_above(x, y, -x, lane(y, 3)))
    return total(x)


@numba.njit
def sums_of_rows(flat, out):
    a, b, c, d = load(flat, 0), load(flat, 8), load(flat, 16), load(flat, 24)
    store(out, 0, totals(a, b, c, d, load(flat, 32), load(flat, 40), load(flat, 48), load(flat, 56)))


@numba.njit
def losses(loss, m, b, share, value, slope):
    for i in range(0, m.size, 8):
        store(value, i, load(share, i) * value_of(loss, load(m, i), load(b, i)))
        store(slope, i, load(share, i) * slope_of(loss, load(m, i), load(b, i)))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.uint8, np.int16])
def test_arithmetic_of_lanes(dtype):
    a, b = (50 * RNG.random(8)).astype(dtype), (50 * RNG.random(8)).astype(dtype)
    x, y, out = a.astype(float), b.astype(float), np.zeros(24)
    assert arithmetic(a, b, out) == pytest.approx(x.sum(), rel=1e-15)
    wanted = [(x + 2 * y) / (1 + abs(y)) - x, np.maximum(x, y) + 10 * np.minimum(x, 0.5), np.where(x > y, -x, y[3])]
    np.testing.assert_allclose(out.reshape(3, 8), wanted, rtol=1e-13)


def test_lanes_are_stored_in_single_precision():
    a, out = RNG.standard_normal(24), np.zeros(24, np.float32)
    arithmetic(a[:8], a[8:16], out)
    exact = np.zeros(24)
    arithmetic(a[:8], a[8:16], exact)
    np.testing.assert_array_equal(out, exact.astype(np.float32))


def test_sums_over_the_lanes_of_eight_vectors():
    rows, out = RNG.standard_normal((8, 8)), np.zeros(8)
    sums_of_rows(rows.reshape(-1), out)
    np.testing.assert_allclose(out, rows.sum(axis=1), rtol=1e-13)


def test_what_is_not_a_number_stays_so():
    m, b, share = np.array([np.nan, *np.zeros(7)]), np.ones(8), np.ones(8)
    value, slope = np.zeros(8), np.zeros(8)
    losses(LogisticLoss(), m, b, share, value, slope)
    assert np.isnan(value[0])
    assert np.isfinite(value[1:]).all()


@pytest.mark.parametrize("loss", [LogisticLoss(), SquaredLoss()])
def test_losses_of_lanes_equal_those_of_numbers(loss):
    m, b, share = 30 * RNG.standard_normal(64), np.sign(RNG.standard_normal(64)), RNG.random(64)
    value, slope = np.zeros(64), np.zeros(64)
    losses(loss, m, b, share, value, slope)
    if loss == LogisticLoss():
        wanted = share * np.logaddexp(0, -b * m), -share * b / (1 + np.exp(b * m))
    else:
        wanted = 0.5 * share * (m - b) ** 2, share * (m - b)
    np.testing.assert_allclose([value, slope], wanted, rtol=1e-13)


def test_exponential_and_logarithm_are_right_to_the_last_digits():
    t = np.concatenate([np.linspace(0, 1, 2001), 40 * RNG.random(1000), 700 * RNG.random(200)])
    for x in (t, -t):
        exact = np.exp(x.astype(np.longdouble))
        assert np.max(np.abs(np.array([_exp(v) for v in x]) - exact) / exact) < 4 * 2.0**-53
    u = np.concatenate([np.linspace(0, 1, 4001)[1:], np.logspace(-16, 0, 500)])
    exact = np.log1p(u.astype(np.longdouble))
    assert np.max(np.abs(np.array([_log1p(v) for v in u]) - exact) / exact) < 6 * 2.0**-53


def test_a_bracket_is_narrowed_at_any_scale() -> None:
    assert narrow(-1.0, 0.0, 1.0, np.inf, np.inf, 0.5, 1.0) == (-1.0, -0.5, 0.0, np.inf, 0.5)
    assert narrow(-1e300, 0.0, 1e300, np.inf, np.inf, 0.5, 1e-300)[1] < -1e100
    assert settled(1e-12, 1.0, 0.25, 1.0, 2e-16)
    assert not settled(1e-12, 1.0, 1e-80, 1.0, 2e-16)
    assert not settled(np.inf, np.inf, np.inf, 1.0, 2e-16)
