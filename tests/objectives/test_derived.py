"""Objectives made from others: the same function in double precision, other weights, fewer columns, other layouts."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numba
import numpy as np
import pytest

import frankwolfe as fw
from frankwolfe.kernels.rows.layouts import RowLayout, RowLosses
from frankwolfe.objectives.derive import derive

RNG = np.random.default_rng(0)
LONG = RNG.standard_normal((3001, 50)).astype(np.float32)  # long enough for compiled passes
LABELS = RNG.random(3001) < 0.4
TARGETS = RNG.standard_normal(3001)
WEIGHTS = RNG.random(3001)


def test_nothing_that_was_cached_is_handed_on() -> None:
    class Model:
        number = 2.0
        _last = None

        @cached_property
        def square(self) -> float:
            return self.number**2

    model = Model()
    model.number, model._last = 3.0, "something"
    assert model.square == 9.0
    twin = derive(model, number=4.0)
    assert (twin.square, twin._last, model.square) == (16.0, None, 9.0)
    assert derive(model, ("square",), number=4.0).square == 9.0


@pytest.mark.parametrize("asked", [False, True], ids=["fresh", "cached"])
def test_double_precision_is_that_of_the_numbers_given(asked: bool) -> None:
    """At zero f is log 2 whatever the precision of the data: weights are not rounded to it."""
    f = fw.Logistic(LONG, LABELS)
    if asked:
        _ = f.compiled, f.value(np.zeros(50, np.float32))
    twin = f.doubled()
    assert twin is not None
    assert float(twin.value(np.zeros(50))) == pytest.approx(math.log(2), rel=1e-15)
    assert float(f.value(np.zeros(50, np.float32))) == pytest.approx(math.log(2), rel=1e-15)
    x = RNG.standard_normal(50) / 10
    for options in ({}, {"sample_weight": WEIGHTS}, {"intercept": True}, {"sample_weight": WEIGHTS, "intercept": True}):
        for kind, b in ((fw.Logistic, LABELS), (fw.LeastSquares, TARGETS + 1e6), (fw.Huber, TARGETS + 1e3)):
            narrow, wide = kind(LONG, b, **options), kind(LONG.astype(np.float64), b, **options)
            if asked:
                _ = narrow.compiled, narrow.value(x.astype(np.float32))
            twin = narrow.doubled()
            assert twin is not None
            assert float(twin.value(x)) == pytest.approx(float(wide.value(x)), rel=1e-13)
            np.testing.assert_allclose(twin.grad(x), wide.grad(x), atol=1e-13 * np.abs(wide.grad(x)).max())


def test_a_quadratic_keeps_its_linear_term() -> None:
    c = RNG.standard_normal(3)
    twin = fw.Quadratic(np.eye(3, dtype=np.float32), c).doubled()
    assert twin is not None
    np.testing.assert_array_equal(twin.grad(np.zeros(3)), c)


def test_fewer_columns_have_a_curvature_of_their_own() -> None:
    A = np.diag([1.0, 2.0, 10.0])
    f = fw.LeastSquares(A, np.ones(3))
    assert f.strong_convexity == pytest.approx(1 / 3)
    assert f.smoothness == pytest.approx(100 / 3)
    few = f.restricted(np.array([1]))
    assert few.strong_convexity == pytest.approx(4 / 3)
    assert few.smoothness == pytest.approx(4 / 3)


@pytest.mark.parametrize("kind", [fw.Logistic, fw.LeastSquares, fw.Huber])
@pytest.mark.parametrize("intercept", [False, True])
def test_other_weights_are_those_of_a_model_made_with_them(kind: Any, intercept: bool) -> None:
    b = LABELS if kind is fw.Logistic else TARGETS
    f, data = kind(LONG, b, intercept=intercept), LONG.astype(np.float64)
    x = np.full(50, 0.1)
    _ = f.value(x), f.smoothness, f.strong_convexity
    twin, fresh = f.reweighted(WEIGHTS / WEIGHTS.sum()), kind(data, b, intercept=intercept, sample_weight=WEIGHTS)
    assert float(twin.value(x)) == pytest.approx(float(fresh.value(x)), rel=1e-6)
    assert twin.smoothness == pytest.approx(fresh.smoothness, rel=1e-4)
    assert twin.strong_convexity == pytest.approx(fresh.strong_convexity, rel=1e-3)


def test_a_loss_that_the_kernels_do_not_know_is_an_error() -> None:
    """It is not taken for least squares."""
    loss = RowLosses(7, np.ones(8), np.ones(8))
    with pytest.raises(numba.TypingError, match="unknown loss"):
        loss.value(np.zeros(8))
    A = np.ones((8, 3))
    with pytest.raises(numba.TypingError, match="unknown loss"):
        RowLayout((A,), A.shape).sweep(loss, (0.0, 1.0, 0.0, 1.0), np.zeros(0), np.ones(3))
