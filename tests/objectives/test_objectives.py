"""Every objective: gradient against finite differences, one form of the data against another, extremes, constants."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.linalg import aslinearoperator
from tests.problems import completion, logistic_data

import frankwolfe as fw
from frankwolfe.objectives.line_search import minimise_on_segment
from frankwolfe.objectives.linear_model import LinearModel
from frankwolfe.points import Point, mix
from frankwolfe.rows.host_matrix import BLOCK_BYTES, DenseMatrix
from frankwolfe.rows.sparse_matrix import CSRMatrix

A, B = logistic_data()
W = np.random.default_rng(5).random(len(A))
LABELS = np.argmax(A[:, :3] + np.random.default_rng(6).standard_normal((len(A), 3)), axis=1)
OBJECTIVES = {
    "logistic": fw.Logistic(A, B),
    "logistic-weighted-ridge": fw.Logistic(A, B, sample_weight=W, ridge=0.3),
    "least-squares": fw.LeastSquares(A, A[:, 0] + B),
    "least-squares-weighted-ridge": fw.LeastSquares(A, A[:, 0] + B, sample_weight=W, ridge=0.3),
    "logistic-intercept": fw.Logistic(A, B, sample_weight=W, intercept=True, ridge=0.3),
    "least-squares-intercept": fw.LeastSquares(A, A[:, 0] + B + 50, sample_weight=W, intercept=True),
    "huber": fw.Huber(A, 2 * A[:, 0] + B, delta=0.7, sample_weight=W, ridge=0.3),
    "huber-intercept": fw.Huber(A, 2 * A[:, 0] + B + 50, delta=0.7, intercept=True),
    "quantile": fw.Quantile(A, 2 * A[:, 0] + B, quantile=0.3, delta=2.0, sample_weight=W, ridge=0.3),
    "quantile-intercept": fw.Quantile(A, 2 * A[:, 0] + B + 50, quantile=0.8, delta=2.0, intercept=True),
    "poisson": fw.Poisson(A, np.floor(np.exp(A[:, 0])), sample_weight=W, ridge=0.3),
    "poisson-intercept": fw.Poisson(A, np.floor(20 * np.exp(A[:, 0])), sample_weight=W, intercept=True),
    "gamma": fw.Gamma(A, np.exp(A[:, 0] + B), sample_weight=W, ridge=0.3),
    "gamma-intercept": fw.Gamma(A, np.exp(A[:, 0] + B + 5), sample_weight=W, intercept=True),
    "squared-hinge": fw.SquaredHinge(A, B, sample_weight=W, ridge=0.3),
    "squared-hinge-intercept": fw.SquaredHinge(A, B, sample_weight=W, intercept=True),
    "multinomial": fw.Multinomial(A, LABELS, sample_weight=W, ridge=0.3),
    "multinomial-intercept": fw.Multinomial(A, LABELS, sample_weight=W, intercept=True),
    "quadratic": fw.Quadratic(A.T @ A, A[0], constant=2.5),
    "function": fw.Function(lambda x: float(np.sum(np.exp(x))), np.exp),
    "completion": completion(),
}


def random_point(name: str, seed: int = 0) -> np.ndarray:
    shape = OBJECTIVES[name].shape or (12,)
    return np.random.default_rng(seed).standard_normal(shape)


@pytest.mark.parametrize("name", OBJECTIVES)
@pytest.mark.parametrize("seed", range(3))
def test_gradient_matches_differences(name: str, seed: int) -> None:
    assert fw.check_gradient(OBJECTIVES[name], random_point(name, seed)) < 1e-6


@pytest.mark.parametrize("name", OBJECTIVES)
def test_every_entry_of_the_gradient(name: str) -> None:
    f, x = OBJECTIVES[name], random_point(name)
    g = f.grad(x)
    g = g.toarray() if hasattr(g, "toarray") else g
    for index in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[index] = 1e-6
        assert g[index] == pytest.approx((f.value(x + step) - f.value(x - step)) / 2e-6, abs=1e-6, rel=1e-6)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_value_and_grad_agree_with_each_alone(name: str) -> None:
    f, x = OBJECTIVES[name], random_point(name)
    value, g = f.value_and_grad(x)
    other = f.grad(x)
    assert float(value) == float(f.value(x))
    np.testing.assert_array_equal(*(a.toarray() if hasattr(a, "toarray") else a for a in (g, other)))


@pytest.mark.parametrize(
    "name", ["logistic", "logistic-weighted-ridge", "least-squares", "least-squares-weighted-ridge", "quadratic"]
)
def test_smoothness_is_the_largest_curvature(name: str) -> None:
    f = OBJECTIVES[name]
    share = W / W.sum() if "weighted" in name else np.full(len(A), 1 / len(A))
    gram = A.T @ (share[:, None] * A)
    expected = {"logistic": 0.25 * gram, "least": gram, "quadratic": A.T @ A}[name.split("-")[0]]
    ridge = 0.3 if "ridge" in name else 0.0
    values = np.linalg.eigvalsh(expected)
    assert f.smoothness == pytest.approx(values[-1] + ridge, rel=1e-8)
    if not name.startswith("logistic"):
        assert f.strong_convexity == pytest.approx(values[0] + ridge, rel=1e-6)


def test_smoothness_on_sparse_and_operators() -> None:
    thin = A * (np.abs(A) > 1)
    exact = np.linalg.norm(thin, 2) ** 2 / (4 * len(A))
    for data in (thin, sp.csr_array(thin), sp.csc_array(thin), sp.coo_matrix(thin), aslinearoperator(thin)):
        assert fw.Logistic(data, B).smoothness == pytest.approx(exact, rel=1e-8)


@pytest.mark.parametrize("scale", [1.0, 1e4, 1e8])
def test_logistic_is_stable_at_any_margin(scale: float) -> None:
    f = fw.Logistic(np.array([[1.0], [1.0], [-1.0]]), [1, 0, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for x in (np.array([scale]), np.array([-scale])):
            t = np.array([1, -1, -1]) * x[0]
            expected = np.mean([max(0.0, -s) + math.log1p(math.exp(-abs(s))) for s in t])
            assert float(f.value(x)) == pytest.approx(expected, rel=1e-15)
            assert np.all(np.isfinite(f.grad(x)))
    tail = fw.Logistic(np.array([[1.0], [-1.0]]), [1, 0])
    assert float(tail.grad(np.array([600.0]))[0]) == pytest.approx(-math.exp(-600), rel=1e-12), (
        "full accuracy in the tail"
    )


def test_labels_of_any_kind() -> None:
    pd = pytest.importorskip("pandas")
    reference = fw.Logistic(A, B).grad(np.ones(12))
    for labels in (B > 0, np.where(B > 0, 7, 3), np.where(B > 0, "yes", "no"), B.reshape(-1, 1), pd.Series(B)):
        np.testing.assert_array_equal(fw.Logistic(A, labels).grad(np.ones(12)), reference)


def test_data_of_any_kind() -> None:
    pd = pytest.importorskip("pandas")
    x = np.linspace(-1, 1, 12)
    reference = fw.Logistic(A, B).value_and_grad(x)
    forms = [
        pd.DataFrame(A),
        A.tolist(),
        sp.csr_matrix(A),
        sp.csc_array(A),
        sp.lil_array(A),
        np.asfortranarray(A),
        aslinearoperator(A),
    ]
    for data in forms:
        value, g = fw.Logistic(data, B).value_and_grad(x)
        assert value == pytest.approx(reference[0], rel=1e-14)
        np.testing.assert_allclose(g, reference[1], rtol=1e-12, atol=1e-15)
    integers = fw.LeastSquares((10 * A).astype(int), B)
    assert integers.grad(x).dtype == np.float64


def test_weights_are_repetitions() -> None:
    counts = np.random.default_rng(0).integers(1, 4, len(A))
    repeated = fw.Logistic(np.repeat(A, counts, axis=0), np.repeat(B, counts))
    x = np.linspace(-1, 1, 12)
    np.testing.assert_allclose(fw.Logistic(A, B, sample_weight=counts).grad(x), repeated.grad(x), rtol=1e-12)


@given(
    n=st.integers(1, 40),
    d=st.integers(1, 9),
    density=st.floats(0, 1),
    block=st.sampled_from([64, 300, BLOCK_BYTES]),
    seed=st.integers(0, 10**6),
)
def test_blocks_equal_the_naive_products(n: int, d: int, density: float, block: int, seed: int) -> None:
    """Row blocks of any size, empty rows and columns included: product, adjoint and both together."""
    from unittest import mock

    rng = np.random.default_rng(seed)
    M = rng.standard_normal((n, d)) * (rng.random((n, d)) < density)
    x, v = rng.standard_normal((2, d))
    with mock.patch("frankwolfe.rows.host_matrix.BLOCK_BYTES", block):
        for data in (DenseMatrix(M), CSRMatrix(sp.csr_array(M)), CSRMatrix(sp.csr_array(M)).by_columns()):
            np.testing.assert_allclose(data.product(x), M @ x, atol=1e-12)
            r = rng.standard_normal(n)
            np.testing.assert_allclose(data.adjoint(r), M.T @ r, atol=1e-12)
            np.testing.assert_allclose(data.column(d - 1), M[:, -1], atol=1e-15)
            f = fw.LeastSquares(data, r)
            y, images = mix(Point.at(x), Point.at(v), 2.0), [M @ x, M @ v]  # 2 v - x
            seen = f.evaluate(y, Point.at(v))
            m = 2 * images[1] - images[0]
            np.testing.assert_allclose(seen.slope, M.T @ (m - r) / n, atol=1e-10)
            np.testing.assert_allclose(y.image, m, atol=1e-12)
            assert seen.watched == pytest.approx(0.5 * np.mean((images[1] - r) ** 2), rel=1e-12)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_image_of_a_mixture(name: str) -> None:
    """Evaluating a mixture of points, some images known and some pending, equals evaluating its coordinates."""
    f = OBJECTIVES[name]
    a, b, c = (Point.at(random_point(name, s)) for s in range(3))
    f.evaluate(a, a)
    y = mix(mix(a, b, 0.3), c, 0.6)
    watch = mix(a, c, 0.5)
    at_y = f.evaluate(y, watch)
    assert float(at_y.value) == pytest.approx(float(f.value(y.coords)), rel=1e-12)
    assert float(at_y.watched) == pytest.approx(float(f.value(watch.coords)), rel=1e-12)
    g, expected = (v.toarray() if hasattr(v, "toarray") else v for v in (at_y.slope, f.grad(y.coords)))
    np.testing.assert_allclose(g, expected, atol=1e-10)
    assert float(at_y.inner) == pytest.approx(float(np.vdot(expected, y.coords)), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_line_search_finds_the_minimum(name: str) -> None:
    from scipy.optimize import minimize_scalar

    f = OBJECTIVES[name]
    for seed in range(4):
        x, v = (Point.at(random_point(name, 2 * seed + i)) for i in range(2))
        line, _ = f.line(x, v)
        gamma, probes = minimise_on_segment(line)
        best = minimize_scalar(
            lambda t, x=x, v=v: float(f.value(mix(x, v, t).coords)),
            bounds=(0, 1),
            method="bounded",
            options={"xatol": 1e-12},
        )
        assert float(f.value(mix(x, v, gamma).coords)) <= best.fun + 1e-12 * (1 + abs(best.fun))
        assert probes < 70


@given(st.floats(-3, 3), st.floats(1e-3, 1e3), st.floats(0.1, 4))
def test_line_search_on_hard_lines(root: float, scale: float, power: float) -> None:
    """Derivatives with a kink or a flat spot at the root, with and without the second derivative."""
    from frankwolfe.objectives.base import Line

    class Kinked(Line):
        def __call__(self, gamma: float) -> tuple[float, None]:
            t = gamma - root
            return scale * math.copysign(abs(t) ** power, t), None

    gamma, _ = minimise_on_segment(Kinked(), rtol=1e-12)
    expected = min(max(root, 0.0), 1.0)
    assert abs(gamma - expected) <= max(1e-9, (1e-11) ** (1 / max(power, 1.0)))


@pytest.mark.parametrize("name", [name for name, f in OBJECTIVES.items() if isinstance(f, LinearModel)])
def test_the_loss_on_a_span_of_images(name: str) -> None:
    """Value, gradient and Hessian as the weights change, one after the other, against differences."""
    f, rng = OBJECTIVES[name], np.random.default_rng(9)
    images = np.stack([f.data.apply(random_point(name, seed)) for seed in range(3)])
    at, h = f.on_span(images, 0.1 * images[0]), 1e-5
    for c in 0.2 * rng.standard_normal((4, 3)):
        value, gradient, hessian = at(c)
        assert value == pytest.approx(float(f.loss(c @ images)), rel=1e-12)
        np.testing.assert_allclose(hessian, hessian.T, rtol=1e-12, atol=1e-14)
        ways = [(at(c + h * e), at(c - h * e)) for e in np.eye(3)]
        slopes = [(up[0] - down[0]) / (2 * h) for up, down in ways]
        np.testing.assert_allclose(gradient, slopes, rtol=1e-6, atol=1e-7 * max(1.0, abs(value)))
        if "hu" not in name and "hinge" not in name:  # whose curvature jumps
            bends = [(up[1] - down[1]) / (2 * h) for up, down in ways]
            np.testing.assert_allclose(hessian, bends, rtol=1e-6, atol=1e-6 * max(1.0, float(np.abs(hessian).max())))


def test_check_gradient_rejects() -> None:
    with pytest.raises(ValueError, match="does not match"):
        fw.check_gradient(fw.Function(lambda x: float(x @ x), lambda x: 2.001 * x), np.ones(4))
    with pytest.raises(ValueError, match="does not match"):
        fw.check_gradient(fw.Function(lambda x: float(x @ x), lambda x: np.full(4, np.nan)), np.ones(4))


def test_completion_never_needs_the_whole_matrix() -> None:
    f = completion()
    x = f.start(None, dense=False)
    assert isinstance(x, fw.LowRank)
    dense = np.random.default_rng(0).standard_normal((14, 11))
    low = f.start(dense, dense=False)
    np.testing.assert_allclose(low.toarray(), dense, atol=1e-12)
    assert float(f.value(low)) == pytest.approx(float(f.value(dense)), rel=1e-12)
