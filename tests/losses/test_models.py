"""Models by their losses: against other solvers, with certificates, on every kind of data, in paths and on sets."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import frankwolfe as fw
from frankwolfe.objectives import CLASSIFICATION, REGRESSION

N, D = 300, 6
RNG = np.random.default_rng(0)
A = RNG.standard_normal((N, D))
X = RNG.standard_normal(D) / D**0.5
COUNTS = RNG.poisson(np.exp(A @ X)).astype(float)
POSITIVE = np.exp(A @ X) * RNG.gamma(2.0, 0.5, N)
NUMBERS = A @ X + RNG.standard_normal(N)
LABELS = np.sign(NUMBERS)
WEIGHTS = 0.1 + RNG.random(N)
TARGETS: dict[str, np.ndarray] = {"poisson": COUNTS, "gamma": POSITIVE}
ALL = REGRESSION | CLASSIFICATION
NEW = ("poisson", "gamma", "quantile", "squared_hinge")


def targets(name: str) -> np.ndarray:
    return LABELS if name in CLASSIFICATION else TARGETS.get(name, NUMBERS)


def model(name: str, data: Any = A, **options: Any) -> Any:
    return ALL[name](data, targets(name), **options)


def test_the_tables_hold_every_linear_model() -> None:
    assert set(REGRESSION) == {"squared_error", "huber", "quantile", "poisson", "gamma"}
    assert set(CLASSIFICATION) == {"log_loss", "squared_hinge"}
    for kind in ALL.values():
        assert getattr(fw, kind.__name__) is kind


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(("name", "solver"), [("poisson", "PoissonRegressor"), ("gamma", "GammaRegressor")])
def test_deviances_against_scikit_learn(name: str, solver: str, intercept: bool) -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    other = getattr(linear_model, solver)(alpha=0.1, fit_intercept=intercept, tol=1e-10, max_iter=10_000)
    other.fit(A, targets(name), sample_weight=WEIGHTS)
    f = model(name, ridge=0.1, intercept=intercept, sample_weight=WEIGHTS)
    result = fw.minimize(f, fw.L2Ball(10.0), tol=1e-9)
    assert result.success
    np.testing.assert_allclose(result.x, other.coef_, atol=1e-4)
    assert float(f.value(other.coef_)) >= result.lower_bound
    assert f.best_intercept(A @ result.x) == pytest.approx(other.intercept_, abs=1e-4)
    metrics = pytest.importorskip("sklearn.metrics")
    deviance = getattr(metrics, f"mean_{name}_deviance")
    mean = f.row_loss.mean(A @ result.x + f.best_intercept(A @ result.x))
    bare = result.fun - 0.05 * result.x @ result.x
    assert bare == pytest.approx(0.5 * deviance(targets(name), mean, sample_weight=WEIGHTS), rel=1e-7)


def test_squared_hinge_against_scikit_learn() -> None:
    svm = pytest.importorskip("sklearn.svm")
    ridge = 0.05
    other = svm.LinearSVC(C=1 / (2 * ridge * N), dual=False, fit_intercept=False, tol=1e-12, max_iter=100_000)
    other.fit(A, LABELS)
    result = fw.minimize(model("squared_hinge", ridge=ridge), fw.L2Ball(10.0), tol=1e-12)
    np.testing.assert_allclose(result.x, other.coef_[0], atol=1e-6)


@pytest.mark.parametrize("quantile", [0.2, 0.5, 0.9])
def test_quantiles_against_scikit_learn(quantile: float) -> None:
    """The smoothed loss is below the pinball loss by at most what is said, so the optima are as near."""
    linear_model = pytest.importorskip("sklearn.linear_model")
    other = linear_model.QuantileRegressor(quantile=quantile, alpha=0.0).fit(A, NUMBERS)
    residual = NUMBERS - other.predict(A)
    pinball = float(np.mean(np.maximum(quantile * residual, (quantile - 1) * residual)))
    delta = 1e-3
    f = fw.Quantile(A, NUMBERS, quantile=quantile, delta=delta, intercept=True)
    result = fw.minimize(f, fw.L2Ball(10.0), tol=1e-8, max_iter=2000)
    assert result.success
    assert result.lower_bound <= pinball
    assert pinball <= result.fun + 0.5 * delta * max(quantile, 1 - quantile) ** 2
    below = np.mean(A @ result.x + f.best_intercept(A @ result.x) >= NUMBERS)
    assert abs(below - quantile) <= (D + 2) / N


@pytest.mark.parametrize("name", NEW)
def test_constrained_optima_against_cvxpy(name: str) -> None:
    cp: Any = pytest.importorskip("cvxpy")
    x = cp.Variable(D)
    m, b = A @ x, targets(name)
    loss = {
        "poisson": lambda: cp.exp(m) - cp.multiply(b, m) + np.where(b > 0, b * np.log(np.maximum(b, 1)), 0) - b,
        "gamma": lambda: cp.multiply(b, cp.exp(-m)) + m - np.log(b) - 1,
        "quantile": lambda: cp.huber(m - b, 0.5),
        "squared_hinge": lambda: 0.5 * cp.square(cp.pos(1 - cp.multiply(b, m))),
    }[name]()
    # With slopes from -1/2 to 1/2 the smoothed quantile is Huber's loss of e/delta up to 1/2, times delta/2.
    f = model(name, delta=1.0) if name == "quantile" else model(name)
    scale = 0.5 if name == "quantile" else 1.0
    problem = cp.Problem(cp.Minimize(scale * cp.sum(loss) / N), [cp.norm1(x) <= 0.8])
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)
    result = fw.minimize(f, fw.L1Ball(0.8), tol=1e-9)
    assert result.success
    assert result.lower_bound <= problem.value + 1e-7
    assert result.fun == pytest.approx(problem.value, abs=1e-6)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("method", ["fw", "afw", "newton", "subspace", "fcfw", "bpcg"])
@pytest.mark.parametrize("name", NEW)
def test_certificates_hold(name: str, method: str, intercept: bool) -> None:
    f, ball = model(name, intercept=intercept, sample_weight=WEIGHTS), fw.L1Ball(0.7)
    best = fw.minimize(f, ball, tol=1e-9)
    assert best.success
    result = fw.minimize(f, ball, method=method, tol=1e-6, max_iter=300)
    assert result.lower_bound <= best.fun + 1e-13 * (1 + abs(best.fun))
    assert result.fun >= best.lower_bound - 1e-13 * (1 + abs(best.fun))
    assert np.all(result.trace.lower_bound <= best.fun + 1e-13)
    assert not fw.verify(result, f, ball).false
    assert str(fw.explain(result)).startswith("Solved:")


FORMS: list[tuple[str, Any]] = [
    ("poisson", sp.csr_array),
    ("gamma", sp.csc_array),
    ("quantile", lambda data: data.astype(np.float32)),
    ("squared_hinge", sp.csr_array),
]


@pytest.mark.parametrize(("name", "other"), FORMS, ids=[name for name, _ in FORMS])
def test_compiled_data(name: str, other: Any) -> None:
    """Dense rows, sparse ones by rows or by columns, single precision: the same optimum."""
    rng = np.random.default_rng(4)
    data = rng.standard_normal((3000, 50)) * (rng.random((3000, 50)) < 0.7)
    b, values = np.tile(targets(name), 10), []
    for form in (data, other(data)):
        f = ALL[name](form, b)
        result = fw.minimize(f, fw.L1Ball(0.5), tol=1e-7)
        assert result.success
        values.append(result.fun)
        if form is data:
            assert f.compiled is not None
    np.testing.assert_allclose(values, values[0], atol=2e-7)


@pytest.mark.parametrize("name", NEW)
def test_paths(name: str) -> None:
    radii = [0.2, 0.5, 1.0]
    for together in (True, False):
        method = "afw" if together else "auto"
        path = fw.path(model(name), fw.L2Ball, radii, tol=1e-4, method=method, together=together)
        for radius, result in zip(radii, path, strict=True):
            alone = fw.minimize(model(name), fw.L2Ball(radius), tol=1e-9)
            assert result.lower_bound <= alone.fun <= result.fun + 1e-12
            assert result.gap <= 1e-4


@pytest.mark.parametrize("name", ["poisson", "gamma"])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("ball", [fw.L1Ball(0.7), fw.L2Ball(0.7), fw.LInfBall(0.2)])
def test_smoothness_on_a_set(name: str, intercept: bool, ball: Any) -> None:
    """No curvature along a direction, at a point of the set, is above the constant; methods that need it use it."""
    f = model(name, intercept=intercept)
    assert f.smoothness is None
    problem = fw.problem.Problem(f, ball)
    L = problem.smoothness
    rng = np.random.default_rng(3)
    for _ in range(20):
        x = ball.lmo(rng.standard_normal(D)).toarray()
        H = f.evaluate_twice(fw.points.Point.at(x))[1]
        assert np.linalg.eigvalsh(H)[-1] <= L
    for method in ("apgd", fw.FrankWolfe(fw.ShortStep())):
        result = fw.minimize(f, ball, method=method, tol=1e-4, max_iter=3000)
        assert result.lower_bound <= fw.minimize(f, ball, tol=1e-10).fun


@pytest.mark.parametrize(
    ("kind", "b", "said"),
    [
        (fw.Poisson, -COUNTS - 1, "nonnegative"),
        (fw.Gamma, COUNTS * 0.0, "positive"),
        (fw.SquaredHinge, NUMBERS, "two distinct labels"),
        (fw.Gamma, np.full(N, np.nan), "NaN"),
    ],
)
def test_targets_that_a_loss_does_not_take(kind: Any, b: np.ndarray, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        kind(A, b)


def test_intercepts_that_are_not_there() -> None:
    with pytest.raises(ValueError, match="above zero"):
        fw.Poisson(A, np.zeros(N), intercept=True)
    with pytest.raises(ValueError, match="both classes"):
        fw.SquaredHinge(A, np.ones(N), classes=[0, 1], intercept=True)
    for options, said in (
        ({"quantile": 1.0}, "between 0 and 1"),
        ({"delta": 0.0}, "delta"),
        ({"quantile": 0}, "quant"),
    ):
        with pytest.raises(ValueError, match=said):
            REGRESSION["quantile"](A, NUMBERS, **options)


@pytest.mark.parametrize("name", ["poisson", "gamma"])
def test_margins_far_beyond_the_exponential(name: str) -> None:
    """A set so wide that values at its vertices are no numbers: searches stay where they are, and bounds are true."""
    b = targets(name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = fw.minimize(ALL[name](A, b), fw.L2Ball(1e4), tol=1e-8, max_iter=200)
    near = fw.minimize(ALL[name](A, b), fw.L2Ball(10.0), tol=1e-9)
    assert result.lower_bound <= near.fun + 1e-12
    assert result.fun == pytest.approx(near.fun, rel=1e-6)
