"""A free intercept: profiled out, its Hessian, and certificates that hold against an independent optimum."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize as scipy_minimize

import frankwolfe as fw
from frankwolfe.losses import SquaredLoss
from frankwolfe.objectives import profiled_intercept
from frankwolfe.objectives.array_losses import ArrayLosses
from frankwolfe.objectives.class_intercepts import regular, sliver, solved
from frankwolfe.objectives.multinomial import softmax_conjugate, softmax_losses

RNG = np.random.default_rng(3)
N, D = 90, 6
A = RNG.standard_normal((N, D)) * [1, 2, 1, 1, 0.5, 1] + [3, 0, -1, 0, 0, 0]
TRUTH = np.array([1.0, -1.0, 0.0, 2.0, 0.0, 0.5])
BINARY = A @ TRUTH + 2 * RNG.standard_normal(N) > 4.0
TARGET = A @ TRUTH + 20.0 + 1.5 * RNG.standard_t(1.5, N)
LABELS = np.argmax(A @ RNG.standard_normal((D, 4)) + 2 * RNG.standard_normal((N, 4)), axis=1)
W = RNG.random(N) * (RNG.random(N) > 0.1)
MODELS = {
    "logistic": lambda **k: fw.Logistic(A, BINARY, **k),
    "least-squares": lambda **k: fw.LeastSquares(A, TARGET, **k),
    "huber": lambda **k: fw.Huber(A, TARGET, delta=0.8, **k),
    "multinomial": lambda **k: fw.Multinomial(A, LABELS, **k),
}


def mean_loss(name: str, scores: np.ndarray, share: np.ndarray) -> float:
    """Return the weighted mean loss, written the slow and obvious way."""
    if name == "logistic":
        rows = np.logaddexp(0.0, np.where(BINARY, -scores, scores))
    elif name == "multinomial":
        rows = np.log(np.exp(scores).sum(axis=1)) - scores[np.arange(N), LABELS]
    else:
        r = np.abs(scores - TARGET)
        rows = 0.5 * r**2 if name == "least-squares" else np.where(r <= 0.8, 0.5 * r**2, 0.8 * r - 0.32)
    return float(share @ rows)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("weights", [None, W], ids=["plain", "weighted"])
def test_value_is_the_minimum_over_the_intercept(name: str, weights: np.ndarray | None) -> None:
    f = MODELS[name](sample_weight=weights, intercept=True, ridge=0.2)
    share = np.full(N, 1 / N) if weights is None else weights / weights.sum()
    x = 0.7 * np.random.default_rng(0).standard_normal(f.shape)
    width = f.shape[1] if name == "multinomial" else None

    def of(c: np.ndarray) -> float:
        return mean_loss(name, A @ x + (c if width else c[0]), share) + 0.1 * float(np.sum(x * x))

    start = np.zeros(width or 1) if width else np.array([np.median(TARGET - A @ x)])
    best = scipy_minimize(of, start, method="BFGS", options={"gtol": 1e-9})
    assert float(f.value(x)) == pytest.approx(best.fun, abs=1e-9)
    c = f.best_intercept(f.map.apply(x))
    assert of(np.atleast_1d(c)) == pytest.approx(float(f.value(x)), rel=1e-12)


@pytest.mark.parametrize("name", MODELS)
def test_hessian_of_the_profiled_loss(name: str) -> None:
    f = MODELS[name](sample_weight=W, intercept=True)
    rng = np.random.default_rng(1)
    m = f.map.apply(0.5 * rng.standard_normal(f.shape))
    V = rng.standard_normal((3, m.size))
    curvature = f.loss_curvature(m)
    numeric = np.stack([(f.loss_slope(m + 1e-6 * v) - f.loss_slope(m - 1e-6 * v)) / 2e-6 for v in V])
    bent = f.bend(curvature, V)
    np.testing.assert_allclose(bent, numeric, atol=1e-7 * np.abs(numeric).max())
    np.testing.assert_allclose(f.bend(curvature, V[1]), bent[1], atol=1e-15)
    for images in (V.T, sp.csc_array(V.T)):
        np.testing.assert_allclose(f.quadratic_form(curvature, images), V @ bent.T, atol=1e-12)


def test_rows_that_are_certain_of_their_class_do_not_bend() -> None:
    f = fw.Multinomial(np.eye(3), [0, 1, 2], intercept=True)
    m = f.map.apply(1e4 * np.eye(3))
    assert not f.bend(f.loss_curvature(m), np.arange(9.0)).any()
    assert not solved(np.zeros((3, 3)), np.ones(3)).any()  # what LAPACK makes of their Hessian depends on the processor


def test_newton_uses_the_hessian_of_the_profiled_function() -> None:
    from frankwolfe.points import Point

    f = fw.Logistic(A, BINARY, sample_weight=W, intercept=True, ridge=0.1)
    x = np.full(D, 0.1)
    H = f.evaluate_twice(Point.at(x))[1]
    steps = 1e-5 * np.eye(D)
    np.testing.assert_allclose(H, [(f.grad(x + e) - f.grad(x - e)) / 2e-5 for e in steps], atol=1e-8)


def judge(name: str, norm: str, weights: np.ndarray) -> float:
    """Return the optimum with a free intercept, by an interior-point method."""
    cp = pytest.importorskip("cvxpy")
    share = weights / weights.sum()
    matrix = name == "multinomial"
    x = cp.Variable((D, 4) if matrix else D)
    c = cp.Variable(4 if matrix else 1)
    scores = A @ x + (np.ones((N, 1)) @ cp.reshape(c, (1, 4), order="C") if matrix else c)
    if name == "logistic":
        loss = share @ cp.logistic(cp.multiply(np.where(BINARY, -1.0, 1.0), scores))
    elif matrix:
        loss = share @ cp.log_sum_exp(scores, axis=1) - cp.sum(cp.multiply(share[:, None] * np.eye(4)[LABELS], scores))
    elif name == "huber":
        loss = 0.5 * share @ cp.huber(scores - TARGET, 0.8)
    else:
        loss = 0.5 * share @ cp.square(scores - TARGET)
    size = {"l1": lambda: cp.sum(cp.abs(x)), "l2": lambda: cp.norm(cp.vec(x, order="C")), "nuc": lambda: cp.normNuc(x)}
    problem = cp.Problem(cp.Minimize(loss), [size[norm]() <= 1.5])
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)
    return float(problem.value)


@pytest.mark.parametrize(
    ("name", "norm"), [(n, s) for n in MODELS for s in ("l1", "l2", "nuc") if s != "nuc" or n == "multinomial"]
)
def test_every_bound_lies_below_the_independent_optimum(name: str, norm: str) -> None:
    f = MODELS[name](sample_weight=W, intercept=True)
    ball = {"l1": fw.L1Ball, "l2": fw.L2Ball, "nuc": fw.NuclearBall}[norm](1.5)
    optimum = judge(name, norm, W)
    for method in ("afw", "fcfw", "subspace", "auto"):
        result = fw.minimize(f, ball, method=method, tol=1e-8, max_iter=150)
        assert result.lower_bound <= optimum + 1e-8
        assert result.fun >= optimum - 1e-8
        if method == "fcfw":
            assert result.success
            assert result.fun == pytest.approx(optimum, abs=2e-8)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shift", [0.0, 300.0])
def test_bounds_with_few_bits_off_centre_and_few_positives(dtype: type, shift: float) -> None:
    """Three positives in ninety, features far from zero, large weights: where rounding and saturation would show."""
    rare = np.arange(N) % 30 == 0
    for radius in (0.5, 40.0):
        data = (A + shift).astype(dtype)
        f = fw.Logistic(data, rare, intercept=True)
        exact = fw.Logistic(data.astype(np.float64), rare, intercept=True)
        best = fw.minimize(exact, fw.L2Ball(radius), method="newton", tol=1e-9, max_iter=300)
        for method in ("afw", "newton", "fcfw"):
            result = fw.minimize(f, fw.L2Ball(radius), method=method, tol=0.0, max_iter=60)
            # An ulp of the products of the residuals with features that far from zero cannot be told apart.
            ulp = np.finfo(dtype).eps * radius * float(np.abs(f.loss_slope(data @ result.x)).sum() * np.abs(data).max())
            assert result.lower_bound <= best.fun + (ulp if shift else 0.0), (method, radius)
            assert result.status is fw.Status.MAX_ITER


def test_the_tangent_holds_even_if_the_intercept_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound rests on balanced residuals and the conjugate, not on how well the intercept was found."""
    from frankwolfe.points import Point

    rng = np.random.default_rng(0)
    for name, build in MODELS.items():
        f = build(sample_weight=W, intercept=True)
        x, others = rng.standard_normal(f.shape), rng.standard_normal((20, *f.shape))
        values = [float(f.value(z)) for z in others]
        find, balance = profiled_intercept.find_intercept, fw.Multinomial._balance
        with monkeypatch.context() as patch:
            if name == "multinomial":
                patch.setattr(type(f), "_balance", lambda *a, b=balance: _perturbed(a[0], b(*a), a[1]))
            else:
                patch.setattr(profiled_intercept, "find_intercept", lambda f, m, find=find: find(f, m) + 0.05)
            f._last = None
            point = Point.at(x)
            tangent = f.evaluate(point, point).tangent
        for z, value in zip(others, values, strict=True):
            assert tangent.offset + float(np.vdot(tangent.slope, z)) <= value + 1e-12, name


@pytest.mark.parametrize("shift", [0.0, 0.05, -3.0])
@pytest.mark.parametrize("loss", [fw.Logistic, fw.Huber, fw.Gamma])
def test_compiled_and_plain_slopes_are_balanced_alike(
    loss: type, shift: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the tangent lies below f, wherever the intercept is: of all points, at the best intercepts of these."""
    rng = np.random.default_rng(4)
    data, target = rng.standard_normal((3000, 60)), np.exp(rng.standard_normal(3000))
    target = target > 1.0 if loss is fw.Logistic else target
    f = loss(data, target, intercept=True)
    points = 0.2 * rng.standard_normal((6, 60))
    values = [float(f.value(x)) for x in points]
    find = profiled_intercept.find_intercept
    monkeypatch.setattr(profiled_intercept, "find_intercept", lambda f, m: find(f, m) + shift)
    m, seen = data @ points[0], []
    for choice in ("always", "never"):
        monkeypatch.setenv("FRANKWOLFE_COMPILE", choice)
        f = loss(data, target, intercept=True)
        assert (f.compiled is None) == (choice == "never")
        seen.append((f.loss(m), f.loss_inner(m, f.loss_slope(m), f.loss(m)), f.loss_slope(m)))
    (value, inner, slope), (_, _, plain) = seen
    np.testing.assert_allclose(slope, plain, rtol=1e-9, atol=1e-16)
    np.testing.assert_allclose(seen[0][:2], seen[1][:2], rtol=1e-9)
    assert abs(slope.sum()) <= 4e-16 * np.abs(slope).sum()
    for x, at_x in zip(points, values, strict=True):
        assert value + f.offset - inner + slope @ (data @ x) <= at_x + 1e-12


def _perturbed(f: fw.Multinomial, found: Any, scores: np.ndarray) -> Any:
    c = found.intercepts + 0.1 * np.arange(4)
    return f._tried(scores, c)


def test_a_class_without_weight_has_no_intercept() -> None:
    none = np.where(BINARY, 0.0, 1.0)
    with pytest.raises(ValueError, match="both classes"):
        fw.Logistic(A, BINARY, sample_weight=none, intercept=True)
    with pytest.raises(ValueError, match="every class"):
        fw.Multinomial(A, LABELS, sample_weight=np.where(LABELS == 2, 0.0, 1.0), intercept=True)
    with pytest.raises(TypeError, match="intercept"):
        fw.minimize(fw.Logistic(A, BINARY, intercept=True), fw.L2Ball(1.0), method="stochastic")


def test_multinomial_takes_every_kind_of_atom_and_data() -> None:
    from scipy.sparse.linalg import aslinearoperator

    f = fw.Multinomial(A, LABELS, intercept=True)
    groups = [np.arange(4 * j, 4 * j + 4) for j in range(D)]
    for domain in (fw.L1Ball(2.0), fw.KSupportBall(2.0, k=3), fw.GroupBall(2.0, groups=groups), fw.NuclearBall(2.0)):
        atom = domain.lmo(f.grad(np.zeros((D, 4))))
        np.testing.assert_allclose(f.map.apply(atom), f.map.apply(atom.toarray()), atol=1e-12)
        results = [
            fw.minimize(fw.Multinomial(data, LABELS, intercept=True), domain, method="fcfw", tol=1e-4).fun
            for data in (A, sp.csr_array(A), sp.csc_array(A), aslinearoperator(A))
        ]
        np.testing.assert_allclose(results, results[0], atol=1e-4)


def test_two_classes_of_softmax_are_the_logistic_loss() -> None:
    x = np.linspace(-1, 1, D)
    logistic = fw.Logistic(A, BINARY, sample_weight=W, intercept=True)
    softmax = fw.Multinomial(A, BINARY, sample_weight=W, intercept=True)
    assert float(softmax.value(np.stack([0 * x, x], axis=1))) == pytest.approx(float(logistic.value(x)), rel=1e-12)
    np.testing.assert_allclose(softmax.grad(np.stack([0 * x, x], axis=1))[:, 1], logistic.grad(x), atol=1e-13)


def test_intercepts_are_found_where_all_rows_are_certain() -> None:
    """Scores in the thousands: the loss is flat pieces with corners, which Newton steps alone do not get over."""
    A = np.array([[-2132.28259083], [-333.34923771], [1566.32023121]])
    weights = np.array([0.32429174, 0.33804458, 0.33766368])
    f = fw.Multinomial(A, [2, 0, 1], sample_weight=weights, intercept=True)
    X = np.array([[1.0, -0.5, -0.5]])
    scores = A @ X + np.asarray(f.best_intercept((A @ X).T.reshape(-1)))
    chances = np.exp(scores - scores.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    frequency = np.array([0.33804458, 0.33766368, 0.32429174])
    np.testing.assert_allclose(weights @ chances, frequency, atol=1e-9)


def test_no_order_of_the_rows_hides_a_class_from_the_search() -> None:
    """Classes in turn, with the period of any stride: a few rows are drawn, not counted off."""
    n, rng = 70_000, np.random.default_rng(0)
    A = rng.standard_normal((n, 1))
    classes = np.where(np.arange(n) % 64 == 0, 0, 1 + np.arange(n) % 2)
    order = np.argsort(classes, kind="stable")
    x = rng.standard_normal((1, 3))
    with np.errstate(all="raise"):
        turned = fw.Multinomial(A, classes, intercept=True).value(x)
        in_order = fw.Multinomial(A[order], classes[order], intercept=True).value(x)
    assert turned == pytest.approx(in_order, rel=1e-12)
    b = np.where(np.arange(n) % 64 == 0, 1.0, -1.0)
    turned = fw.Logistic(A, b, intercept=True).value(x[0, :1])
    assert turned == pytest.approx(fw.Logistic(A[order], b[order], intercept=True).value(x[0, :1]), rel=1e-12)


@pytest.mark.parametrize("method", ["bpcg", "fcfw", "fw"])
def test_exponentials_that_overflow_on_the_way_balance_nothing(method: str) -> None:
    """Margins of thousands at the end of a segment: infinite sums of slopes, which tell a side and no root."""
    A, far = np.array([[-9.0, -7.0], [2.0, 0.0], [3.0, -4.0]]), np.array([[-1.0, -533.9], [-1.0, 133.4], [1.0, 133.4]])
    f = fw.Poisson(A, [4.0, 3.0, 1.0], sample_weight=[0.18, 0.71, 0.12], intercept=True)
    step = fw.FrankWolfe(fw.ExactLineSearch()) if method == "fw" else method
    with np.errstate(all="ignore"):
        result = fw.minimize(f, fw.ConvexHull(far), method=step, tol=0, max_iter=40)
    assert result.status == fw.Status.MAX_ITER
    assert np.isfinite([result.fun, result.gap]).all()
    assert result.fun < f.value(far[0])


def test_slopes_are_scaled_down_to_balance() -> None:
    losses = ArrayLosses(SquaredLoss(), np.array([-3.0, 1.0, 1.0]), np.ones(3))
    slope, value, inner, share = losses.balanced(np.zeros(3), 0.0)
    np.testing.assert_allclose(slope, [2, -1, -1], rtol=1e-15)
    assert (value, inner, share) == (5.5, 0.0, pytest.approx(1 / 3))


def test_terms_of_class_intercepts() -> None:
    bent = regular(np.array([[0.0, -0.25], [-0.25, 0.0]]))
    np.testing.assert_allclose(bent, [[0.375, -0.125], [-0.125, 0.375]])
    share, mixed = sliver(np.array([0.6, 0.4]), np.array([0.5, 0.5]), 1e-15)
    assert share == pytest.approx(1 / 6)
    np.testing.assert_array_equal(mixed, [0, 1])
    truth = np.array([[1.0], [0.0]])
    loss, chances = softmax_losses(np.zeros((2, 1)), truth)
    np.testing.assert_allclose([loss, softmax_conjugate(np.array([[-0.5], [0.5]]), truth)], np.log([[2], [0.5]]))
    np.testing.assert_allclose(chances, 0.5)
