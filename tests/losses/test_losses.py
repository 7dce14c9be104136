"""Every loss in every form against sixty digits: NumPy, Numba (one number and eight), torch, JAX, Triton.

An error is counted in ulps of the result, and of the terms where these cancel: exp(m) and bm for Poisson's value; for
the gamma loss also of its exponential times the residual, whose rounding the exponential magnifies.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest
from tests.objectives import exact

from frankwolfe.kernels import losses as kernels
from frankwolfe.kernels import simd
from frankwolfe.losses import (
    GammaLoss,
    HuberLoss,
    LogisticLoss,
    Loss,
    PoissonLoss,
    QuantileLoss,
    SquaredHingeLoss,
    SquaredLoss,
)
from frankwolfe.losses.base import log_mean_exp, times_log
from frankwolfe.losses.logistic import complement

load: Any = simd.load  # type checkers do not see through what Numba makes
store: Any = simd.store
RNG = np.random.default_rng(0)
ULPS, ULP = 4, 2.0**-52
NORMAL = 2.3e-308  # numbers below the normal ones count as zero
MARGINS = np.concatenate(
    [
        RNG.uniform(-5, 5, 150),
        RNG.uniform(-40, 40, 100),
        RNG.uniform(-700, 700, 60),
        RNG.uniform(-1e4, 1e4, 20),
        10.0 ** RNG.uniform(-20, 1, 60) * RNG.choice([-1, 1], 60),
        [0.0, 1e-300, 700.0, -700.0, 708.0, -708.0, 709.5, 1e4, -1e4, 1.0],
    ]
)
NAMES = ("value", "slope", "curvature")
Exact = Callable[..., tuple[Decimal, Decimal, Decimal]]


class Case(NamedTuple):
    """A loss and its twin; the targets it takes, and the sizes of the terms in it that cancel, where there are any."""

    loss: Loss
    formula: Exact
    targets: Callable[[int], np.ndarray] = lambda n: 3 * RNG.standard_normal(n)
    terms: Callable[[float, float], tuple[float, ...]] = lambda m, b: ()


def labels(n: int) -> np.ndarray:
    return RNG.choice([-1.0, 1.0], n)


LOSSES = [
    Case(LogisticLoss(), exact.logistic, labels),
    Case(SquaredLoss(), exact.squares),
    Case(HuberLoss(1.35), exact.huber),
    Case(QuantileLoss(0.3, 0.1), exact.quantile),
    Case(
        PoissonLoss(),
        exact.poisson,
        lambda n: RNG.poisson(3.0, n).astype(float),
        lambda m, b: (float(np.exp(min(m, 709.0))), abs(b * m), b),
    ),
    Case(
        GammaLoss(),
        exact.gamma,
        terms=lambda m, b: (abs(m - b), 1.0, float(np.exp(min(b - m, 709.0))) * (1 + abs(m - b))),
    ),
    Case(SquaredHingeLoss(), exact.squared_hinge, labels),
]
CASES = {case.loss: case for case in LOSSES}
ALL = pytest.mark.parametrize(("loss", "formula"), [case[:2] for case in LOSSES], ids=[c.loss.name for c in LOSSES])


def targets(loss: Loss) -> np.ndarray:
    """Return targets as the formulae take them, one for each margin."""
    return CASES[loss].targets(MARGINS.size)


def check(loss: Loss, formula: Exact, b: np.ndarray, got: dict[str, Any]) -> None:
    """Compare what a form gave with sixty digits."""
    largest = exact.number(np.finfo(np.float64).max)
    for i, (m, target) in enumerate(zip(MARGINS.tolist(), b.tolist(), strict=True)):
        wanted = formula(exact.number(m), exact.number(target), *map(exact.number, loss))
        for name, value in zip(NAMES, wanted, strict=True):
            found = float(np.asarray(got[name])[i])
            if abs(value) > largest:
                assert abs(found) == float("inf"), (name, m, target)
                continue
            size = max([abs(value), *map(exact.number, CASES[loss].terms(m, target))])
            error, most = abs(exact.number(found) - value), exact.number(ULPS * ULP)
            assert error <= most * max(size, exact.number(NORMAL / ULP)), (name, m, target, found, error)


@ALL
def test_arrays_of_numpy(loss: Loss, formula: Exact) -> None:
    b = targets(loss)
    check(loss, formula, b, {name: getattr(loss, name)(MARGINS, b, *loss) for name in NAMES})
    narrow = {name: getattr(loss, name)(MARGINS.astype(np.float32), b.astype(np.float32), *loss) for name in NAMES}
    assert {x.dtype for x in narrow.values()} == {np.dtype(np.float32)}


@numba.njit
def one_by_one(loss, m, b, out):
    for i in range(m.size):
        out[0, i] = kernels.value_of(loss, m[i], b[i])
        out[1, i] = kernels.slope_of(loss, m[i], b[i])
        out[2, i] = kernels.curvature_of(loss, m[i], b[i])


@numba.njit
def eight_by_eight(loss, m, b, out):
    value, slope, curvature = out[0], out[1], out[2]
    for i in range(0, m.size, 8):
        store(value, i, kernels.value_of(loss, load(m, i), load(b, i)))
        store(slope, i, kernels.slope_of(loss, load(m, i), load(b, i)))
        store(curvature, i, kernels.curvature_of(loss, load(m, i), load(b, i)))


@ALL
@pytest.mark.parametrize("form", [one_by_one, eight_by_eight], ids=["a number", "eight"])
def test_compiled(loss: Loss, formula: Exact, form: Any) -> None:
    b = targets(loss)
    assert MARGINS.size % 8 == 0
    out = np.empty((3, MARGINS.size))
    form(loss, MARGINS, b, out)
    check(loss, formula, b, dict(zip(NAMES, out, strict=True)))


@ALL
def test_compiled_formulae_keep_what_is_no_number(loss: Loss, formula: Exact) -> None:
    for form in (one_by_one, eight_by_eight):
        out = np.zeros((3, 8))
        form(loss, np.full(8, np.nan), np.ones(8), out)
        assert np.isnan(out[:2]).all() or loss.quadratic


@ALL
def test_arrays_of_torch(loss: Loss, formula: Exact) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'frankwolfe[torch]'")
    b = targets(loss)
    m, of = torch.from_numpy(MARGINS), torch.from_numpy(b)
    check(loss, formula, b, {name: getattr(loss, name)(m, of, *loss) for name in NAMES})


@ALL
def test_arrays_of_jax(loss: Loss, formula: Exact) -> None:
    jax = pytest.importorskip("jax", reason="jax is not installed: pip install 'frankwolfe[jax]'")
    b = targets(loss)
    with jax.enable_x64(True):
        m, of = jax.numpy.asarray(MARGINS), jax.numpy.asarray(b)
        check(loss, formula, b, {name: getattr(loss, name)(m, of, *loss) for name in NAMES})


@ALL
def test_triton(loss: Loss, formula: Exact) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'frankwolfe[torch]'")
    triton = pytest.importorskip("triton", reason="Triton is not installed")
    interpreted = triton.knobs.runtime.interpret if hasattr(triton, "knobs") else False
    if not torch.cuda.is_available() and not interpreted:
        pytest.skip("there is no GPU here; TRITON_INTERPRET=1 runs Triton without one")
    from tests.losses.in_triton import formulae

    b = targets(loss)
    device = "cpu" if interpreted else "cuda"
    m, of = torch.from_numpy(MARGINS).to(device), torch.from_numpy(b).to(device)
    with np.errstate(over="ignore"):  # the interpreter computes with NumPy
        found = formulae(loss, m, of).cpu().numpy()
    check(loss, formula, b, dict(zip(NAMES, found, strict=True)))


@ALL
def test_conjugates(loss: Loss, formula: Exact) -> None:
    """φ(m) + φ*(u) is at least um, and equal to it for the slope at m."""
    b = targets(loss)
    few = np.abs(MARGINS) < 30
    m, b = MARGINS[few], b[few]
    value, u = loss.value(m, b, *loss), loss.slope(m, b, *loss)
    size = 1 + np.abs(value) + np.abs(u * m) + np.exp(np.abs(m)) * (isinstance(loss, PoissonLoss | GammaLoss))
    np.testing.assert_array_less(np.abs(value + loss.conjugate(u, b) - u * m) / size, 1e-13)
    for shift in (-3.0, -0.5, 0.01, 2.0):
        other = loss.slope(m + shift, b, *loss)  # slopes that the loss has elsewhere
        assert np.all(value + loss.conjugate(other, b) - other * m >= -1e-13 * size * (1 + np.abs(other * m)))


@ALL
def test_what_rounding_is_told(loss: Loss, formula: Exact) -> None:
    """|φ'| <= sqrt(2 bend φ) + steep φ, and curvatures within a margin are at most what is said."""
    b = targets(loss)
    few = np.abs(MARGINS) < 100
    m, b = MARGINS[few], b[few]
    largest = float(np.max(np.abs(b)))
    least = loss.constant(b)
    for margin, target, constant in zip(m.tolist(), b.tolist(), np.broadcast_to(least, b.shape).tolist(), strict=True):
        value, slope, curvature = map(
            float, formula(exact.number(margin), exact.number(target), *map(exact.number, loss))
        )
        value = max(value + constant, 0.0)
        noise = 1e-7 * (1 + abs(constant)) ** 0.5
        assert abs(slope) <= ((2 * loss.bend(largest) * value) ** 0.5 + loss.steep * value) * (1 + 1e-9) + noise
        assert curvature <= loss.steepest(abs(margin), largest) * (1 + 1e-12)
        assert not loss.bounded or curvature <= loss.bend(largest)


@ALL
def test_intercepts(loss: Loss, formula: Exact) -> None:
    """The bracket holds the root of the sum of slopes, and a formula gives it."""
    rng = np.random.default_rng(1)
    for scale in (0.1, 3.0, 20.0):
        m, share = scale * rng.standard_normal(50), rng.random(50)
        share[:5] = 0.0
        share /= share.sum()
        b = np.sign(rng.standard_normal(50)) if loss.labels else np.abs(rng.standard_normal(50))
        level = loss.level(*loss.totals(b, share))
        low, _, high = loss.bracket(m, b, share, level)
        assert share @ loss.slope(m + low - 1e-9, b, *loss) <= 1e-12
        assert share @ loss.slope(m + high + 1e-9, b, *loss) >= -1e-12
        known = loss.intercept(m, b, share, level)
        if known is not None:
            slopes = share * loss.slope(m + known, b, *loss)
            assert abs(slopes.sum()) <= 1e-12 * (1 + np.abs(slopes).sum())


def test_links_invert_what_targets_mean() -> None:
    m = np.linspace(-3, 3, 13)
    np.testing.assert_allclose(LogisticLoss().mean(m), 1 / (1 + np.exp(-m)), rtol=1e-14)
    for loss in (PoissonLoss(), GammaLoss()):
        np.testing.assert_allclose(loss.mean(m), np.exp(m), rtol=1e-15)
        b = loss.targets(np.exp(m))
        np.testing.assert_allclose(loss.slope(m, b), 0.0, atol=1e-13)  # the mean is where the loss is least
    for loss in (SquaredLoss(), HuberLoss(1.0), QuantileLoss(0.5, 0.1)):
        assert loss.mean(m) is m


def test_losses_are_told_apart() -> None:
    """They are tuples of parameters, and those of many are empty."""
    assert len(CASES) == len(LOSSES)
    assert LogisticLoss() != SquaredLoss()
    assert HuberLoss(1.0) == HuberLoss(1.0)
    assert HuberLoss(1.0) != HuberLoss(2.0)


def test_terms_of_conjugates_at_the_ends_of_their_range() -> None:
    assert log_mean_exp(np.array([1000.0, 1000.0]), np.array([0.5, 0.5])) == 1000.0
    assert times_log(np.array([0.0, 1.0])).tolist() == [0.0, 0.0]
    np.testing.assert_allclose(complement(np.array([1e-30, 0.5, 1.0])), [-1e-30, 0.5 * np.log(0.5), 0], rtol=1e-15)
