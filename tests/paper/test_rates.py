"""Slopes and their intervals."""

from __future__ import annotations

import math

import numpy as np
import pytest

from frankwolfe.paper.rates import NOTHING, envelope, pooled, slope

K = np.arange(1, 3001)


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_the_slope_of_a_power_is_found(power):
    fit = slope(K, 5.0 * K**-power, 300, 3000)
    assert fit.value == pytest.approx(-power)
    assert fit.low <= fit.value <= fit.high


def test_the_interval_covers_the_truth_despite_noise():
    rng = np.random.default_rng(0)
    covered = 0
    for seed in range(50):
        h = K**-1.5 * np.exp(0.3 * rng.standard_normal(K.size))
        fit = slope(K, h, 300, 3000, seed=seed)
        covered += fit.low <= -1.5 <= fit.high
    assert covered >= 40


def test_what_lies_under_the_floor_is_left_out():
    h = np.maximum(1.0 / K**2, 1e-6)
    assert slope(K, h, 100, 3000, floor=1e-6).value == pytest.approx(-2.0)
    assert math.isnan(slope(K, np.full(K.size, 1e-9), 100, 3000, floor=1e-6).value)


def test_zig_zags_do_not_count_as_progress():
    h = 1.0 / K * np.where(K % 2 == 0, 1.0, 0.01)
    assert slope(K, envelope(h), 300, 3000).value == pytest.approx(-1.0, abs=0.01)


def test_pooling():
    fits = [slope(K, K**-p, 300, 3000) for p in (1.8, 2.0, 2.2)]
    both = pooled([*fits, NOTHING])
    assert both.value == pytest.approx(-2.0)
    assert both.low < -2.2
    assert both.high > -1.8
    assert pooled([NOTHING]) is NOTHING
    assert str(NOTHING) == "not measurable"
