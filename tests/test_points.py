"""Mixtures of points, and what rounding takes off them."""

from __future__ import annotations

import numpy as np

from frankwolfe.points import Point, Touches, combine, mix


def test_mixtures_and_sums() -> None:
    zero, one = Point.at(np.zeros(2)), Point.at(np.ones(2))
    np.testing.assert_array_equal(mix(zero, one, 0.25).coords, [0.25, 0.25])
    np.testing.assert_array_equal(combine([2.0, -1.0], [one, zero]).coords, [2, 2])
    touches = Touches.at(np.zeros(2), 0.0).mixed(Touches.at(np.ones(2), 1.0), 0.5, 0.5)
    np.testing.assert_array_equal(touches.mean(), [0.5, 0.5])


def test_many_short_steps_in_single_precision_do_not_drift() -> None:
    x, v = Point.at(np.zeros(1, np.float32)), Point.at(np.ones(1, np.float32))
    for _ in range(1000):
        x = x.mixed_closely(v, 1e-4)
    assert abs(x.coords[0] - (1 - (1 - 1e-4) ** 1000)) < 1e-8
