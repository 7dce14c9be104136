"""Free intercepts at margins of any size: the minimiser to rounding, by bisection in exact arithmetic."""

from __future__ import annotations

import math
import warnings
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from tests.objectives import exact

import frankwolfe as fw
from frankwolfe.kernels.rows.layouts import NONE, RowLosses
from frankwolfe.losses import LogisticLoss
from frankwolfe.rows.disk_stream import stream

LOSSES = {"logistic": exact.logistic, "huber": exact.huber}
Rows = tuple[np.ndarray, np.ndarray, np.ndarray]  # margins, labels or targets, weights


def summed(kind: str, rows: Rows, c: Decimal) -> tuple[Decimal, Decimal]:
    """Return the weighted mean loss at the intercept c and its derivative in c."""
    value = slope = weight = exact.ZERO
    for m, b, w in zip(*(map(exact.number, column.tolist()) for column in rows), strict=True):
        if w:
            loss, first, _ = LOSSES[kind](m + c, b)
            value, slope, weight = value + w * loss, slope + w * first, weight + w
    return value / weight, slope


def best(kind: str, rows: Rows) -> Decimal:
    """Return the least loss over the intercepts that are doubles next to the best one."""
    high = exact.number(max(np.abs(rows[0]).max(), np.abs(rows[1]).max())) * 2 + 1000
    low = -high
    while high - low > Decimal("1e-25") and high - low > Decimal("1e-19") * abs(low):
        middle = (low + high) / 2
        low, high = (middle, high) if summed(kind, rows, middle)[1] < 0 else (low, middle)
    near = float(low)
    nearby = (near, np.nextafter(near, -math.inf), np.nextafter(near, math.inf))
    return min(summed(kind, rows, exact.number(c))[0] for c in nearby)


def cases() -> list[tuple[str, np.ndarray, np.ndarray, np.ndarray]]:
    """Margins, labels and weights where a search goes astray."""
    rng = np.random.default_rng(0)
    found = []
    for scale in (1e-12, 1.0, 30.0, 1e3, 1e4, 1e8, 1e15, 1e100, 1e300):
        for n, rare in ((2, 0.5), (12, 0.5), (40, 0.05)):
            m = scale * rng.standard_normal(n)
            b = np.where(rng.random(n) < rare, 1.0, -1.0)
            b[:2] = (1.0, -1.0)
            w = rng.random(n) * (rng.random(n) < 0.8)
            w[:2] = (1.0, 1e-6 if n == 40 else 1.0)
            found.append((f"spread {scale:g}, {n} rows", m, b, w))
            # Two heaps, the classes apart, or mixed with one of each on the wrong side.
            found.append((f"apart {scale:g}, {n} rows", np.where(b > 0, scale, -scale), b, w))
            crossed = np.where(b > 0, scale, -scale)
            crossed[:2] *= -1
            found.append((f"crossed {scale:g}, {n} rows", crossed, b, w))
            found.append((f"one heap {scale:g}, {n} rows", np.full(n, scale), b, w))
            found.append((f"offset {scale:g}, {n} rows", scale + rng.standard_normal(n), b, w))
    return found


CASES = cases()


@pytest.mark.parametrize(("name", "m", "b", "w"), CASES, ids=[case[0] for case in CASES])
@pytest.mark.parametrize("kind", ["logistic", "huber"])
def test_the_intercept_is_the_best(kind: str, name: str, m: np.ndarray, b: np.ndarray, w: np.ndarray) -> None:
    A = np.ones((m.size, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if kind == "logistic":
            f = fw.Logistic(A, b, sample_weight=w, intercept=True)
        else:
            f = fw.Huber(A, b, delta=1.0, sample_weight=w, intercept=True)
        value = float(f.loss(m))
        slope = f.loss_slope(m)
    wanted = best(kind, (m, b, w))
    # Where the intercept is added margins are rounded to an ulp, and the tails of the loss with them.
    rounded = exact.number(4e-16 * max(np.abs(m).max(), 1.0)) ** 2 if kind == "huber" else Decimal("1e-290")
    assert exact.number(value) <= wanted * Decimal(1 + 2e-13) + rounded
    at = summed(kind, (m, b, w), exact.number(f.best_intercept(m)))[0]
    assert at <= wanted * Decimal(1 + 1e-12) + rounded
    assert np.isfinite(slope).all()
    assert abs(slope.sum()) <= 4e-16 * np.abs(slope).sum()


@pytest.mark.parametrize(("name", "m", "b", "w"), CASES[::4], ids=[case[0] for case in CASES[::4]])
def test_the_compiled_search_finds_the_same(name: str, m: np.ndarray, b: np.ndarray, w: np.ndarray) -> None:
    f = fw.Logistic(np.ones((m.size, 1)), b, sample_weight=w, intercept=True)
    compiled = fw.Logistic(np.ones((m.size, 1)), b, sample_weight=w, intercept=True)
    vars(compiled)["compiled"] = RowLosses(LogisticLoss(), b, w / w.sum())
    assert float(compiled.loss(m)) == pytest.approx(float(f.loss(m)), rel=4e-13, abs=1e-290)
    bracket = f.row_loss.bracket(m, f.b, f.share, f.zero_intercept)
    for low, high in ((-np.inf, np.inf), bracket[::2]):
        (_, c, _), sums = compiled.compiled.balance(
            m, NONE, 0.0, (low, 0.5 * low if low > -np.inf else 0.0, high), 2e-16
        )
        assert np.isfinite([c, *sums]).all()


def test_large_features_do_not_spoil_a_run() -> None:
    rng = np.random.default_rng(0)
    A, y = rng.standard_normal((300, 5)) * 1e4, rng.random(300) < 0.5
    f = fw.Logistic(A, y, intercept=True)
    result = fw.minimize(f, fw.Simplex(5, 10.0), max_iter=50)
    m = A @ result.x
    b = np.where(y, 1.0, -1.0)
    assert result.fun == pytest.approx(float(best("logistic", (m, b, np.ones(300)))), rel=1e-9)


@pytest.mark.parametrize("scale", [1.0, 1e4, 1e12])
def test_a_guess_from_few_rows_is_only_a_guess(scale: float) -> None:
    """The one row in 64 that is looked at first has one class only, and margins of its own."""
    rng = np.random.default_rng(1)
    n = 8000
    m, b = rng.standard_normal(n), np.where(rng.random(n) < 0.3, 1.0, -1.0)
    m[::64] *= scale
    b[::64] = 1.0
    f = fw.Logistic(np.ones((n, 1)), b, intercept=True)
    t = m + f.best_intercept(m)
    slope = -b * np.exp(-np.logaddexp(0.0, b * t)) / n
    assert abs(slope.sum()) <= 1e-14


@pytest.mark.parametrize("scale", [1e-6, 1.0, 30.0, 1e3, 1e4, 1e8, 1e100, 1e300])
@pytest.mark.parametrize("rare", [False, True])
def test_intercepts_of_several_classes_are_the_best(scale: float, rare: bool) -> None:
    """The mean probabilities are the frequencies, and no other intercepts are better."""
    rng = np.random.default_rng(2)
    n, K = 120, 4
    labels = rng.choice(K, n, p=[0.94, 0.02, 0.02, 0.02] if rare else None)
    labels[:K] = np.arange(K)
    f = fw.Multinomial(np.ones((n, 1)), labels, intercept=True)
    scores = scale * rng.standard_normal((K, n))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        value = float(f.loss(scores.reshape(-1)))
        slope = f.loss_slope(scores.reshape(-1)).reshape(K, n)
    assert np.isfinite(slope).all()
    np.testing.assert_allclose(slope.sum(axis=1), 0.0, atol=1e-15)
    found = f._solved(f._last[0]).intercepts

    def of(c: np.ndarray) -> float:
        return float(f._at(scores, c, slice(None))[0])

    assert value == pytest.approx(of(found), rel=1e-15)
    for k in range(K):
        for size in (1e-3, 1.0, 1e-8 * scale, 1e-3 * scale, scale):
            for sign in (-1, 1):
                moved = found.copy()
                moved[k] += sign * size
                assert of(moved) >= value * (1 - 1e-14)


@pytest.mark.parametrize("kind", [fw.Logistic, fw.Huber, fw.Multinomial])
@pytest.mark.parametrize("scale", [1.0, 1e4, 1e9])
def test_rows_in_parts_find_the_same_intercept(kind: Any, scale: float, tmp_path: Any) -> None:
    rng = np.random.default_rng(3)
    A, b = scale * rng.standard_normal((90, 3)), rng.integers(0, 3 if kind is fw.Multinomial else 2, 90)
    np.save(tmp_path / "A.npy", A)
    x = rng.standard_normal((3, 3) if kind is fw.Multinomial else 3)
    whole = kind(A, b, intercept=True)
    parts = kind(stream(tmp_path / "A.npy", block_bytes=800), b, intercept=True)
    assert parts.parts.blocks > 1
    assert float(parts.value(x)) == pytest.approx(float(whole.value(x)), rel=1e-12)
    size = np.abs(A).mean()
    np.testing.assert_allclose(parts.grad(x), whole.grad(x), atol=1e-9 * size)


@pytest.mark.parametrize("method", ["auto", "fw", "away"])
@pytest.mark.parametrize("domain", [fw.L1Ball(1e-160), fw.Box(-1e-160, 1e-160)], ids=["l1", "box"])
def test_data_whose_squares_overflow_end_a_run_without_an_exception(domain: fw.Set, method: str) -> None:
    """Then nothing is known of the curvature, nor of what rounding does."""
    rng = np.random.default_rng(0)
    A, b = 1e160 * rng.standard_normal((30, 4)), rng.standard_normal(30)
    f = fw.LeastSquares(A, b)
    with pytest.raises(ValueError, match="needs the smoothness constant"):
        fw.minimize(f, domain, method="cgs")
    result = fw.minimize(f, domain, method=method, max_iter=20)
    assert np.isfinite(result.fun)
    assert domain.contains(result.x)
    least = fw.minimize(fw.LeastSquares(A * 1e-160, b), 1e160 * domain).fun
    assert result.lower_bound <= least


@pytest.mark.parametrize("kind", [fw.Poisson, fw.Gamma])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("columns", [3, 70])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array], ids=["dense", "csr", "csc"])
def test_rows_without_weight_may_overflow(kind: Any, intercept: bool, columns: int, form: Any) -> None:
    """Their exponentials are infinite, and count for nothing: as if the rows were not there."""
    rng = np.random.default_rng(0)
    A, b, w = 0.1 * rng.standard_normal((400, columns)), 1.0 + rng.poisson(1.0, 400), np.ones(400)
    A[::7], w[::7] = 1e6 * A[::7], 0.0
    whole = kind(form(A), b, sample_weight=w, intercept=intercept)
    some = kind(form(A[w > 0]), b[w > 0], intercept=intercept)
    x = np.full(columns, 0.3)
    for got, wanted in zip(whole.value_and_grad(x), some.value_and_grad(x), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-12)
    results = [fw.minimize(f, fw.L1Ball(1.0), method="newton") for f in (whole, some)]
    assert [result.success for result in results] == [True, True]
    assert results[0].fun == pytest.approx(results[1].fun, rel=1e-5)
    assert not fw.verify(results[0], whole, fw.L1Ball(1.0)).false
