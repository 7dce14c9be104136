"""The judge's losses: values and conjugates are enclosed, and the conjugate is the largest um - φ(m)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from frankwolfe.verify.arithmetic import Interval
from frankwolfe.verify.enclosed_losses import loss_of

LD = np.longdouble


def _pinball(e: Any, q: float, delta: float) -> Any:
    u = np.clip(e / delta, -LD(q), LD(1.0 - q))
    return u * e - delta * u * u / 2


FORMULAE: dict[str, Any] = {
    "squared_error": ((), lambda m, b: (m - b) ** 2 / 2, "any"),
    "huber": (
        (0.7,),
        lambda m, b: np.where(abs(m - b) < 0.7, (m - b) ** 2 / 2, LD(0.7) * (abs(m - b) - LD(0.7) / 2)),
        "any",
    ),
    "quantile": ((0.3, 0.1), lambda m, b: _pinball(m - b, 0.3, LD(0.1)), "any"),
    "squared_hinge": ((), lambda m, b: np.maximum(1 - b * m, 0) ** 2 / 2, "labels"),
    "log_loss": ((), lambda m, b: np.logaddexp(LD(0), -b * m), "labels"),
    "poisson": ((), lambda m, b: np.exp(m) - b * m + b * np.log(np.maximum(b, LD(1e-300))) - b, "counts"),
    "gamma": ((), lambda m, b: np.exp(b - m) + m - b - 1, "any"),
}


@pytest.mark.parametrize("name", FORMULAE)
def test_values_and_conjugates(name: str) -> None:
    parameters, formula, kind = FORMULAE[name]
    loss, rng = loss_of({"loss": name, "parameters": parameters}), np.random.default_rng(0)
    with np.errstate(all="ignore"):
        for scale in (1e-6, 1.0, 20.0):
            m, other = scale * rng.standard_normal(200), scale * rng.standard_normal(200)
            b = {
                "any": rng.standard_normal(200),
                "labels": rng.choice([-1.0, 1.0], 200),
                "counts": rng.poisson(2.0, 200) * 1.0,
            }[kind]
            true = formula(m.astype(LD), b.astype(LD))
            size = 1e-15 * (1 + np.abs(true) + loss.size(m, b) + np.abs(m) + m * m).astype(float)
            value = loss.value(Interval(m), b)
            assert np.all(value.lo <= true + 1e-18 * size)
            assert np.all(true <= value.hi + 1e-18 * size)
            assert np.all(value.hi - value.lo <= 100 * size)
            for u in (loss.slope(m, b), loss.tamed(rng.standard_normal(200), b)):
                conjugate = loss.conjugate(Interval(u), b)
                at_other = formula(other.astype(LD), b.astype(LD))
                assert np.all(LD(1) * u * other - conjugate.hi <= at_other + 1e-17)  # Fenchel's inequality
            conjugate = loss.conjugate(Interval(loss.slope(m, b)), b)
            assert np.all(
                np.abs(loss.slope(m, b) * LD(1) * m - conjugate.hi - true) <= 1e4 * size
            )  # and where it is sharp


@pytest.mark.parametrize("name", FORMULAE)
def test_outside_its_domain_a_conjugate_is_infinite(name: str) -> None:
    loss = loss_of({"loss": name, "parameters": FORMULAE[name][0]})
    b = np.array([1.0])
    for end, sign in ((loss.lowest(b), -1.0), (loss.highest(b), 1.0)):
        if np.isfinite(end[0]):
            assert np.isinf(loss.conjugate(Interval(end + sign * 1e-9), b).hi).all()
            assert np.isfinite(loss.conjugate(Interval(end), b).hi).all()
    u = np.array([5.0, -5.0])
    assert np.isfinite(loss.conjugate(Interval(loss.tamed(u, np.ones(2))), np.ones(2)).hi).all()


@pytest.mark.parametrize("name", FORMULAE)
def test_the_best_intercept_balances_the_slopes(name: str) -> None:
    parameters, _, kind = FORMULAE[name]
    loss, rng = loss_of({"loss": name, "parameters": parameters}), np.random.default_rng(1)
    for scale in (0.1, 1.0, 30.0):
        m, weights = scale * rng.standard_normal(60), rng.random(60)
        b = {
            "any": rng.standard_normal(60),
            "labels": rng.choice([-1.0, 1.0], 60),
            "counts": rng.poisson(2.0, 60) * 1.0,
        }[kind]
        slopes = loss.slope(m + loss.shift(m, b, weights), b)
        assert abs(weights @ slopes) <= 1e-12 * (weights @ (np.abs(slopes) + np.abs(m) + 1))
