"""Values and slopes are right to a few ulps: certificates rest on them. Judged by sixty digits, or by exact sums."""

from __future__ import annotations

import math
import warnings
from decimal import Decimal
from typing import Any, ClassVar

import numpy as np
import pytest
import scipy.sparse as sp
from tests.objectives import exact

import frankwolfe as fw
from frankwolfe.kernels.rows.layouts import RowLayout, RowLosses
from frankwolfe.losses import LogisticLoss, SquaredLoss

RNG = np.random.default_rng(0)
ULP = 2.0**-52
NORMAL = Decimal("2.3e-308")
MARGINS = np.concatenate(
    [
        RNG.uniform(-5, 5, 400),
        RNG.uniform(-40, 40, 300),
        RNG.uniform(-700, 700, 300),
        10.0 ** RNG.uniform(-20, 1, 200) * RNG.choice([-1, 1], 200),
        [0.0, 1e-300, -1e-300, 700.0, -700.0, 708.0, -708.0, 745.0, 1e4, -1e4, 1e8, -1e8, 1e300, -1e300],
    ]
)


def worst(got: Any, wanted: list[Decimal]) -> float:
    """Return the largest relative error, in ulps of double precision; numbers below the normal ones count as zero."""
    errors = (abs(exact.number(g) - w) / max(abs(w), NORMAL) for g, w in zip(list(got), wanted, strict=True))
    return max((float(e) for e, w in zip(errors, wanted, strict=True) if abs(w) > 2 * NORMAL), default=0.0) / ULP


@pytest.mark.parametrize("label", [1.0, -1.0])
def test_logistic_loss_of_a_margin(label: float) -> None:
    """Measured: 1.5 ulps for values, 1.3 for slopes, 2.1 for curvatures; small slopes are as exact as large ones."""
    wanted = list(zip(*(exact.logistic(exact.number(m), exact.number(label)) for m in MARGINS.tolist()), strict=True))
    b = np.full(MARGINS.size, label)
    one = RowLosses(LogisticLoss(), b[:1], np.ones(1))
    losses = RowLosses(LogisticLoss(), b, np.ones(MARGINS.size))
    r, c = losses.slope(MARGINS), losses.curvature(MARGINS)
    values = [one.value(np.array([m])) for m in MARGINS]
    for got, of, most in zip((values, r, c), wanted, (2.0, 2.0, 3.0), strict=True):
        assert worst(got, list(of)) <= most
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain = LogisticLoss.value(MARGINS, b), LogisticLoss.slope(MARGINS, b), LogisticLoss.curvature(MARGINS, b)
    for got, of, most in zip(plain, wanted, (2.0, 3.0, 3.0), strict=True):
        assert worst(got, list(of)) <= most


def test_logistic_loss_of_eight_rows_at_a_time() -> None:
    """Short dense rows: the same formulae in vector registers."""
    for start in range(0, MARGINS.size - 8, 8):
        m = MARGINS[start : start + 8]
        if np.abs(m).max() > 705:
            continue
        A = np.zeros((8, 8))
        np.fill_diagonal(A, m)
        swept = RowLayout((A,), A.shape).sweep(
            RowLosses(LogisticLoss(), np.ones(8), np.ones(8)), (0.0, 1.0, 0.0, 1.0), np.zeros(0), np.ones(8)
        )
        wanted = [exact.logistic(exact.number(x), exact.ONE) for x in m.tolist()]
        assert worst([swept.value], [sum((w[0] for w in wanted), exact.ZERO)]) <= 5
        slopes = [w[1] * exact.number(x) for w, x in zip(wanted, m.tolist(), strict=True)]
        assert worst(swept.slope, slopes) <= 3


def data_in(form: str, A: np.ndarray) -> Any:
    return {"dense": A, "csr": sp.csr_array(A), "csc": sp.csc_array(A)}[form]


@pytest.mark.parametrize("form", ["dense", "csr", "csc"])
@pytest.mark.parametrize("long", [False, True], ids=["plain", "compiled"])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e4])
@pytest.mark.parametrize("kind", ["logistic", "squares", "huber"])
def test_values_are_right_to_a_few_ulps(kind: str, scale: float, long: bool, form: str) -> None:
    """One variable at a power of two: margins are exact, so that the loss alone is judged."""
    n = (1 << 17) + 5 if long else 300
    A = scale * RNG.standard_normal((n, 1))
    A[A == 0] = 1.0
    b = np.where(RNG.random(n) < 0.5, 1.0, -1.0) if kind == "logistic" else 1e6 * scale + RNG.standard_normal(n)
    model = {"logistic": fw.Logistic, "squares": fw.LeastSquares, "huber": lambda A, b: fw.Huber(A, b, delta=1.0)}[kind]
    f = model(data_in(form, A), b)
    x = np.array([0.5])
    m, share = 0.5 * A[:, 0], 1 / n
    if kind == "logistic":
        rows, slopes = np.maximum(-b * m, 0) + np.log1p(np.exp(-np.abs(m))), -b * np.exp(-np.logaddexp(0.0, b * m))
    elif kind == "squares":
        rows, slopes = 0.5 * (m - b) ** 2, m - b
    else:
        e = m - b
        rows, slopes = np.where(np.abs(e) <= 1, 0.5 * e * e, np.abs(e) - 0.5), np.clip(e, -1, 1)
    value, g = f.value_and_grad(x)
    assert float(value) == pytest.approx(math.fsum(share * rows), rel=8 * ULP)
    terms = share * slopes * A[:, 0]
    assert abs(float(g[0]) - math.fsum(terms)) <= (f.additions + 8) * ULP * math.fsum(np.abs(terms))


def test_sums_over_many_rows_are_made_in_blocks() -> None:
    """A gradient of a million equal terms: one after the other they would be off by hundreds of times as much."""
    n = 1 << 20
    for A in (np.ones((n, 1)), np.ones((n, 9)), np.ones((n, 300), np.uint8)):
        layout = RowLayout((A,), A.shape)
        assert layout.additions <= A.shape[1] + 2 * 1024 + n // 1024 + 16
        r = np.full(n, 0.1)
        wanted = float(exact.number(0.1) * n)
        np.testing.assert_allclose(layout.adjoint(r), wanted, rtol=200 * ULP)
        loss = RowLosses(SquaredLoss(), np.full(n, -0.1), np.ones(n))
        swept = layout.sweep(loss, (0.0, 1.0, 0.0, 1.0), np.zeros(0), np.zeros(A.shape[1]))
        np.testing.assert_allclose(swept.slope, wanted, rtol=200 * ULP)
        assert swept.value == pytest.approx(float(exact.number(0.1) * exact.number(0.1) * n / 2), rel=200 * ULP)


@pytest.mark.parametrize("gap", [1e-9, 1.0, 40.0, 300.0, 700.0, 1e4])
def test_softmax_losses_and_residuals_however_small(gap: float) -> None:
    """All rows classified by a wide margin: the loss is what is left of the other classes."""
    labels = np.array([0, 1, 2, 0])
    f = fw.Multinomial(np.eye(4), labels)
    scores = np.where(np.arange(3)[:, None] == labels, gap, -0.25 * gap * np.arange(3)[:, None]).astype(float)
    rows, residuals = [], []
    for i, label in enumerate(labels.tolist()):
        s = [exact.number(x) - exact.number(scores[label, i]) for x in scores[:, i].tolist()]
        others = sum((exact.exp(x) for k, x in enumerate(s) if k != label), exact.ZERO)
        rows.append(exact.log1p(others))
        residuals.append(
            [-others / (1 + others) if k == label else exact.exp(x) / (1 + others) for k, x in enumerate(s)]
        )
    total = sum(rows, exact.ZERO) / 4
    assert worst([f.loss(scores.reshape(-1))], [total]) <= 8
    slope = 4 * f.loss_slope(scores.reshape(-1)).reshape(3, 4)
    # exp(x) is right to an ulp of x times its size.
    assert worst(slope.T.ravel(), [r for row in residuals for r in row]) <= 8
    free = fw.Multinomial(np.eye(4), labels, intercept=True)
    m = scores.reshape(-1).copy()
    value, s = float(free.loss(m)), free.loss_slope(m)
    # The conjugate gives <slope, scores> up to what the slope is out of balance by, which meets the intercepts.
    unbalanced = 16 * ULP * (1 + np.abs(free.best_intercept(m)).sum())
    assert free.loss_inner(m, s, free.loss(m)) == pytest.approx(
        float(s @ m), abs=1e-12 * (value + np.abs(s) @ np.abs(m)) + unbalanced
    )


@pytest.mark.parametrize("gap", [1.0, 40.0, 300.0, 600.0])
def test_the_conjugate_of_small_logistic_slopes(gap: float) -> None:
    f = fw.Logistic(np.ones((4, 1)), [0, 1, 0, 1], intercept=True)
    m = gap * np.array([-1.0, 1.0, -1.1, 1.1])
    slope = f.loss_slope(m)
    value = float(f.loss(m))
    inner = exact.ZERO
    for s, t in zip(slope.tolist(), (m + f.best_intercept(m)).tolist(), strict=True):
        inner += exact.number(s) * exact.number(t)
    assert float(f.loss_inner(m, slope, f.loss(m))) == pytest.approx(float(inner), rel=1e-12)
    assert value > 0


class TestDegenerate:
    """Zero data, one row, one column, constant targets: finite numbers, and no division by zero."""

    MODELS: ClassVar[dict[str, Any]] = {
        "logistic": lambda A, **k: fw.Logistic(A, np.arange(A.shape[0]) % 2, classes=[0, 1], **k),
        "squares": lambda A, **k: fw.LeastSquares(A, np.full(A.shape[0], 3.0), **k),
        "huber": lambda A, **k: fw.Huber(A, np.full(A.shape[0], 3.0), **k),
        "softmax": lambda A, **k: fw.Multinomial(A, np.arange(A.shape[0]) % 3, classes=[0, 1, 2], **k),
    }

    @pytest.mark.parametrize("name", MODELS)
    @pytest.mark.parametrize("shape", [(1, 1), (1, 5), (6, 1), (6, 5)])
    @pytest.mark.parametrize("zero", [True, False])
    @pytest.mark.parametrize("ridge", [0.0, 0.1])
    @pytest.mark.parametrize("intercept", [False, True])
    def test_models(self, name: str, shape: tuple[int, int], zero: bool, ridge: float, intercept: bool) -> None:
        A = np.zeros(shape) if zero else np.random.default_rng(1).standard_normal(shape)
        if intercept and shape[0] == 1 and name in ("logistic", "softmax"):
            with pytest.raises(ValueError, match="intercept=True needs samples"):
                self.MODELS[name](A, intercept=True)
            return
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for data in (A, sp.csr_array(A), sp.csc_array(A)):
                f = self.MODELS[name](data, ridge=ridge, intercept=intercept)
                x = np.full(f.shape, 0.3)
                value, g = f.value_and_grad(x)
                assert math.isfinite(float(value))
                assert np.isfinite(g).all()
                assert math.isfinite(f.smoothness)
                assert 0 <= f.strong_convexity <= f.smoothness * (1 + 1e-9) + 1e-12
                if zero:
                    np.testing.assert_allclose(g, ridge * x, atol=1e-15)
                    assert f.smoothness == pytest.approx(ridge, abs=1e-12)

    def test_others(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for f in (
                fw.Quadratic(np.zeros((2, 2))),
                fw.Quadratic(np.zeros((1, 1)), [1.0]),
                fw.MatrixCompletion([0], [0], [0.0], (1, 1)),
                fw.MatrixCompletion([0], [0], [2.0], (1, 1), weights=[1e-12]),
            ):
                x = np.zeros(f.shape)
                assert math.isfinite(float(f.value(x)))
                assert f.smoothness >= 0
                radius = fw.NuclearBall(1.0) if isinstance(f, fw.MatrixCompletion) else fw.L2Ball(1.0)
                assert fw.minimize(f, radius, tol=1e-6, max_iter=50).success
