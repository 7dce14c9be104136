"""Solves with compiled passes: the same answers as plain NumPy gives, for every method, dtype and option."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import frankwolfe as fw
from frankwolfe.backends.namespace import Imaged, image_under
from frankwolfe.kernels import threads
from frankwolfe.kernels.qp.ball_qp import ball_qp
from frankwolfe.kernels.qp.simplex_qp import l1_qp
from frankwolfe.kernels.rows import compact_storage
from frankwolfe.kernels.rows.column_layouts import Columns, SortedColumns
from frankwolfe.kernels.rows.layouts import RowLayout
from frankwolfe.methods import SubspaceFrankWolfe
from frankwolfe.methods.active_set.fully_corrective import runners_up
from frankwolfe.points import Point, mix
from frankwolfe.rows import sparse_matrix

RNG = np.random.default_rng(0)
A = RNG.standard_normal((300, 12)) * (RNG.random((300, 12)) < 0.5)
B = np.where(A @ np.linspace(-1, 1, 12) + 0.5 * RNG.standard_normal(300) > 0, 1.0, -1.0)
W = RNG.random(300)


@pytest.fixture
def compiled(monkeypatch) -> None:
    """Let the kernels take small data, in several parts."""
    monkeypatch.setattr(compact_storage, "COMPILED_FROM", 1)
    monkeypatch.setattr(threads, "PART", 500)


def models(form) -> list[fw.Logistic | fw.LeastSquares]:
    return [
        fw.Logistic(form(A), B, sample_weight=W, ridge=0.01),
        fw.Logistic(form(A), B, intercept=True),
        fw.LeastSquares(form(A), A[:, 0] + B, ridge=0.01),
    ]


CASES = [
    *(("afw", fw.L2Ball(1.0)), ("subspace", fw.L2Ball(1.0)), ("newton", fw.L2Ball(1.0)), ("newton", fw.L1Ball(2.0))),
    *(
        ("fcfw", fw.L1Ball(2.0)),
        ("away", fw.L1Ball(2.0)),
        ("newton", fw.Simplex(12)),
        ("afw", fw.KSupportBall(1.0, k=2)),
    ),
]


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize(("method", "domain"), CASES)
def test_compiled_solves_follow_plain_ones(form, method, domain, monkeypatch) -> None:
    plain = [fw.minimize(f, domain, method=method, max_iter=40, tol=1e-9) for f in models(form)]
    monkeypatch.setattr(compact_storage, "COMPILED_FROM", 1)
    for before, f in zip(plain, models(form), strict=True):
        assert f.data.layout is not None
        after = fw.minimize(f, domain, method=method, max_iter=40, tol=1e-9)
        assert abs(after.n_iter - before.n_iter) <= 1  # rounding may decide the last one
        np.testing.assert_allclose(after.fun, before.fun, rtol=1e-10)
        np.testing.assert_allclose(after.x, before.x, atol=1e-5)  # a gap of 1e-9 fixes x to its root
        assert after.lower_bound <= before.fun + 1e-12


def test_methods_cost_what_they_say(compiled) -> None:
    """Momentum: one read a step. The second-order step: two, three of dense data, and two to confirm the end."""
    for data, reads in ((A, 3), (sp.csr_array(A), 2)):
        f = fw.Logistic(data, B)
        assert isinstance(f.data.layout, RowLayout)
        steps = fw.minimize(f, fw.L2Ball(1.0), method="afw", tol=0, max_iter=20)
        assert steps.n_pass <= 20 + 2
        newton = fw.minimize(f, fw.L2Ball(1.0), method="newton", tol=1e-10)
        assert newton.n_pass <= reads * newton.n_iter + 2


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_single_precision_stays_single(form, compiled) -> None:
    f = fw.Logistic(form(A.astype(np.float32)), B)
    result = fw.minimize(f, fw.L2Ball(1.0), method="afw", tol=1e-4)
    exact = fw.minimize(fw.Logistic(A, B), fw.L2Ball(1.0), method="newton", tol=1e-10)
    assert (result.x.dtype, f.grad(result.x).dtype) == (np.float32, np.float32)
    assert result.success
    np.testing.assert_allclose(result.fun, exact.fun, atol=1.2e-4)
    np.testing.assert_allclose(f.grad(exact.x.astype(np.float32)), fw.Logistic(A, B).grad(exact.x), atol=1e-5)


def test_the_second_derivatives_are_the_differences_of_the_first(compiled) -> None:
    for f in models(sp.csr_array):
        x, step = np.full(12, 0.1), 1e-5 * np.eye(12)
        at_x, H = f.evaluate_twice(Point.at(x))
        np.testing.assert_allclose(at_x.slope, f.grad(x), atol=1e-12)
        np.testing.assert_allclose(H, [(f.grad(x + e) - f.grad(x - e)) / 2e-5 for e in step], atol=1e-8)


def test_a_point_with_many_pending_images_is_evaluated_too(compiled) -> None:
    f = fw.Logistic(A, B, ridge=0.1)
    x, v, w = np.full(12, 0.1), np.linspace(0, 1, 12), np.linspace(-1, 0, 12)
    y = mix(mix(Point.at(x), Point.at(v), 0.3), Point.at(w), 0.2)
    at_y = f.evaluate(y, Point.at(v))
    where = 0.8 * (0.7 * x + 0.3 * v) + 0.2 * w
    np.testing.assert_allclose(at_y.slope, f.grad(where), atol=1e-12)
    np.testing.assert_allclose([at_y.value, at_y.watched], [f.value(where), f.value(v)], rtol=1e-12)
    np.testing.assert_allclose(at_y.inner, at_y.slope @ where, rtol=1e-10)


def test_a_compiled_run_goes_on_bit_for_bit(compiled, tmp_path) -> None:
    f, domain = fw.Logistic(sp.csr_array(A), B), fw.L1Ball(2.0)
    for method in ("afw", "newton", "fcfw"):
        whole = fw.minimize(f, domain, method=method, tol=0, max_iter=12)
        for steps in (5, 12):
            again = fw.Logistic(sp.csr_array(A), B)  # nothing may hide in the objective
            checkpoint = fw.Checkpoint(tmp_path / f"{method}.npz")
            resumed = fw.minimize(again, domain, method=method, tol=0, max_iter=steps, checkpoint=checkpoint)
        assert resumed.x.tobytes() == whole.x.tobytes()
        assert (resumed.fun, resumed.lower_bound) == (whole.fun, whole.lower_bound)


def test_threads_do_not_show_in_a_solve(compiled) -> None:
    one, two = (
        fw.minimize(fw.Logistic(sp.csr_array(A), B), fw.L2Ball(1.0), method="newton", tol=1e-9, n_threads=n)
        for n in (1, 2)
    )
    assert one.x.tobytes() == two.x.tobytes()
    assert (one.fun, one.lower_bound, one.n_pass) == (two.fun, two.lower_bound, two.n_pass)


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("method", ["afw", fw.AcceleratedFrankWolfe(line_search=True), "subspace", "apgd"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_wide_data_are_read_once_a_step(form, method, dtype, monkeypatch, tmp_path) -> None:
    rng = np.random.default_rng(5)
    wide = (rng.standard_normal((60, 400)) * (rng.random((60, 400)) < 0.1)).astype(dtype)
    b, domain = np.where(wide[:, :5].sum(axis=1) > 0, 1.0, -1.0), fw.L2Ball(3.0)

    def model() -> fw.Logistic:
        return fw.Logistic(form(wide), b, ridge=0.01)

    def solve(steps: int = 30, checkpoint: fw.Checkpoint | None = None) -> fw.Result:
        plain = SubspaceFrankWolfe(newton=False) if method == "subspace" else method  # whose steps read once
        return fw.minimize(model(), domain, method=plain, tol=0, max_iter=steps, checkpoint=checkpoint)

    plain = solve()
    monkeypatch.setattr(compact_storage, "COMPILED_FROM", 1)
    monkeypatch.setattr(compact_storage, "WIDE_ENOUGH", 4)
    f = model().oriented(False, parallel_atoms=True)
    assert isinstance(f.data.layout, SortedColumns)
    assert not isinstance(model().data.layout, SortedColumns)
    whole = solve()
    np.testing.assert_allclose(whole.fun, plain.fun, rtol=1e-9 if dtype is np.float64 else 1e-4)
    np.testing.assert_allclose(whole.x, plain.x, atol=1e-6 if dtype is np.float64 else 2e-2)
    assert whole.x.dtype == plain.x.dtype
    assert type(whole.x) is np.ndarray
    if method != "apgd" and dtype is np.float64:
        assert solve(12).n_pass <= 12 + 3  # solved to rounding later, `subspace` begins to check its images
    for steps in (12, 30):
        resumed = solve(steps, fw.Checkpoint(tmp_path / "run.npz"))
    assert resumed.x.tobytes() == whole.x.tobytes()
    assert (resumed.fun, resumed.lower_bound) == (whole.fun, whole.lower_bound)


def test_an_image_is_handed_on_by_linear_steps_only() -> None:
    A, other = np.array([[1.0, 2.0], [0.0, 1.0]]), object()
    x, z = (Imaged.known(a, A @ a, A) for a in (np.array([1.0, 3.0]), np.array([2.0, -1.0])))
    for made in (2.0 * x, x * 2, x / 4, -x, x + z, x - z, np.float64(0.1) * x - z / 3.0):
        np.testing.assert_allclose(image_under(A, made), A @ np.asarray(made), rtol=1e-14)
        assert image_under(other, made) is None
    foreign = Imaged.known(np.ones(2), np.ones(2), other)
    for made in (x * z, abs(x), x + np.ones(2), np.ones(2) - x, x + foreign, foreign - x, 1.0 / x, x / z, x + 1.0):
        assert type(made) is np.ndarray
    for part in (x[:1], x.reshape(2, 1), x.astype(np.float32), x.copy()):
        assert image_under(A, part) is None
        assert image_under(A, 2 * part) is None
    assert isinstance(x.sum(), float)
    out = np.empty(2)
    assert np.multiply(x, 2.0, out=out) is out


def test_columns_come_out_of_rows(compiled, monkeypatch) -> None:
    monkeypatch.setattr(sparse_matrix, "TURN_AFTER", 3)
    twice = sp.csr_array((np.arange(1.0, 7.0), [0, 0, 2, 1, 1, 0], [0, 3, 3, 6]), shape=(3, 4))  # repeated entries
    data = sparse_matrix.CSRMatrix(twice)
    assert data.by_columns() is data
    for _ in range(2):  # from the rows, then from the turned copy
        for j in range(4):
            np.testing.assert_array_equal(data.column(j), twice.toarray()[:, j])
    np.testing.assert_array_equal(data.columns(np.array([2, 0])) @ np.ones(2), twice.toarray()[:, [2, 0]].sum(axis=1))
    assert isinstance(sparse_matrix.CSCMatrix(twice.tocsc()).layout, Columns)


def test_models_are_minimised_over_the_ball_and_the_cross() -> None:
    rng = np.random.default_rng(3)
    for size, inside in ((0.5, False), (50.0, True)):
        half = rng.standard_normal((9, 6))
        H, q = half.T @ half, rng.standard_normal(6)
        f = fw.Quadratic(H, q)
        z = ball_qp(H, q, size, rng.random()).z
        assert (np.linalg.norm(z) < 0.9 * size) == inside
        best = fw.minimize(f, fw.L2Ball(size), method="subspace", tol=1e-12)
        assert best.lower_bound <= f.value(z) <= best.fun + 1e-9
        start = rng.standard_normal(6)
        z = l1_qp(H, q, size, start * size / np.abs(start).sum())
        assert np.abs(z).sum() <= size * (1 + 1e-12)
        best = fw.minimize(f, fw.L1Ball(size), method="fcfw", tol=1e-12)
        assert best.lower_bound <= f.value(z) <= best.fun + 1e-9
    flat = np.diag([1.0, 0.0, 0.0])  # a singular model, zero on two axes
    np.testing.assert_allclose(np.linalg.norm(ball_qp(flat, np.array([0.0, -1.0, 0.0]), 2.0).z), 2.0)


def test_runners_up_are_the_next_vertices() -> None:
    g = np.array([3.0, -1.0, 0.0, -2.0])
    found = [(a.index, float(a.value)) for a in runners_up(fw.L1Ball(2.0), g, 3)]
    assert found == [(3, 2.0), (1, 2.0)]  # a coordinate with no slope is no vertex to go to
    assert [(a.index, float(a.value)) for a in runners_up(fw.Simplex(4), g, 1)] == [(1, 1.0)]
    assert runners_up(fw.L2Ball(1.0), g, 3) == []
