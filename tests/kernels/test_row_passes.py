"""Compiled passes over the data of linear models equal their plain twins, whatever the layout, width and threads."""

from __future__ import annotations

from threading import current_thread
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import frankwolfe as fw
from frankwolfe.kernels import threads
from frankwolfe.kernels.rows import compact_storage
from frankwolfe.kernels.rows.column_layouts import Columns, SortedColumns
from frankwolfe.kernels.rows.compact_storage import carrying, dense_layout, sparse_layout
from frankwolfe.kernels.rows.layouts import CHUNK, NONE, Layout, RowLayout, RowLosses
from frankwolfe.losses import LogisticLoss, Loss, SquaredLoss


def naive_loss(kind: Loss, b: np.ndarray, share: np.ndarray, m: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Return value, slope and curvature of a weighted loss, the obvious way."""
    if isinstance(kind, SquaredLoss):
        return 0.5 * float(np.sum(share * (m - b) ** 2)), share * (m - b), share
    wrong, right = np.exp(-np.logaddexp(0.0, b * m)), np.exp(-np.logaddexp(0.0, -b * m))
    return float(np.sum(share * np.logaddexp(0.0, -b * m))), -share * b * wrong, share * wrong * right


def unsigned(matrix: sp.csr_array | sp.csc_array, short: bool = False) -> tuple[np.ndarray, np.ndarray]:
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.uint16 if short else np.uint32)


def dense_form(A: np.ndarray) -> tuple[np.ndarray, Layout]:
    return A, RowLayout((A,), A.shape)


def single_form(A: np.ndarray) -> tuple[np.ndarray, Layout]:
    narrow = A.astype(np.float32)
    return narrow.astype(np.float64), RowLayout((narrow,), A.shape)


def byte_form(A: np.ndarray) -> tuple[np.ndarray, Layout]:
    grey = np.abs(40 * A).astype(np.uint8)
    return grey / 255.0, RowLayout((grey,), A.shape, 1 / 255)


def csr_form(A: np.ndarray) -> tuple[np.ndarray, Layout]:
    """RowLayout with every nonzero stored twice, out of order."""
    rows, cols = np.nonzero(A)
    order = np.argsort(np.concatenate([rows, rows]), kind="stable")
    cols = np.concatenate([cols, cols[::-1] if rows.size and rows[0] == rows[-1] else cols])[order]
    indptr = np.concatenate([[0], np.cumsum(2 * np.bincount(rows, minlength=A.shape[0]))])
    values = np.arange(1.0, cols.size + 1) / max(1, cols.size)
    matrix = sp.csr_array((values, cols, indptr), shape=A.shape)
    return matrix.toarray(), RowLayout((*unsigned(matrix), values), A.shape)


def pattern_form(A: np.ndarray) -> tuple[np.ndarray, Layout]:
    matrix = sp.csr_array((A != 0).astype(float))
    return 2.5 * matrix.toarray(), RowLayout((*unsigned(matrix, short=True), None), A.shape, 2.5)


def csc_form(A: np.ndarray) -> tuple[np.ndarray, Layout]:
    matrix = sp.csc_array(A)
    return A, Columns((*unsigned(matrix), matrix.data), A.shape)


def wide_form(A: np.ndarray) -> tuple[np.ndarray, Layout]:
    """RowLayout with every nonzero stored twice, to be turned into sorted columns."""
    twice, rows = csr_form(A)
    return 0.5 * twice, SortedColumns(rows.arrays, A.shape, 0.5, by_columns=False)


def wide_columns_form(A: np.ndarray) -> tuple[np.ndarray, Layout]:
    matrix = sp.csc_array(A)
    return A, SortedColumns((*unsigned(matrix), matrix.data), A.shape, 1.0, by_columns=True)


def wide_pattern_form(A: np.ndarray) -> tuple[np.ndarray, Layout]:
    matrix = sp.csr_array((A != 0).astype(np.float32))
    return 2.5 * matrix.toarray(), SortedColumns((*unsigned(matrix), None), A.shape, 2.5, by_columns=False)


FORMS = [dense_form, single_form, byte_form, csr_form, pattern_form, csc_form]
WIDE = [wide_form, wide_columns_form, wide_pattern_form]


@st.composite
def problems(draw: st.DrawFn) -> tuple[np.ndarray, Loss, np.random.Generator]:
    """Matrices of any small shape, with empty rows and columns, or all zero; a kind of loss."""
    n, d = draw(st.integers(1, 30)), draw(st.integers(1, 12))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    A = rng.standard_normal((n, d)) * (rng.random((n, d)) < draw(st.sampled_from([0.0, 0.2, 1.0])))
    A[rng.random(n) < 0.2] = 0.0
    A[:, rng.random(d) < 0.2] = 0.0
    return A, draw(st.sampled_from([LogisticLoss(), SquaredLoss()])), rng


@pytest.mark.parametrize("form", FORMS + WIDE)
@settings(max_examples=25, deadline=None)
@given(problem=problems())
def test_passes_equal_their_plain_twins(form, problem) -> None:
    raw, kind, rng = problem
    A, layout = form(raw)
    n, d = A.shape
    x, known, r = rng.standard_normal(d), rng.standard_normal(n), rng.standard_normal(n)
    b = np.where(rng.random(n) < 0.5, 1.0, -1.0) if isinstance(kind, LogisticLoss) else rng.standard_normal(n)
    share = rng.random(n) * (rng.random(n) < 0.8)  # weights, some of them zero
    loss = RowLosses(kind, b, share)

    close(layout.product(x), A @ x)
    close(layout.adjoint(r), A.T @ r)
    mixing = (0.3, 0.7, -0.5, 1.5)
    swept = layout.sweep(loss, mixing, known, x)
    y, watched = 0.3 * known + 0.7 * A @ x, -0.5 * known + 1.5 * A @ x
    value, slope, curvature = naive_loss(kind, b, share, y)
    close(swept.value, value)
    close(swept.inner, slope @ y)
    close(swept.watched, naive_loss(kind, b, share, watched)[0])
    close(swept.slope, A.T @ slope)
    close(swept.image, A @ x)
    close(swept.watched_image, watched)
    if layout.has_hessian:
        whole = layout.sweep(loss, mixing, known, x, hessian=True)
        close(whole.hessian, (A * curvature[:, None]).T @ A)
        close(whole.slope, swept.slope)
    if isinstance(layout, RowLayout):
        close(layout.gram(share), (A * share[:, None]).T @ A)
        close(layout.gram(np.full(n, 0.5)), 0.5 * A.T @ A)

    known_only = layout.sweep(loss, (1.0, 0.0, 1.0, 0.0), known, NONE)
    close(known_only.slope, A.T @ naive_loss(kind, b, share, known)[1])
    close(known_only.watched_image, known)


@settings(max_examples=25, deadline=None)
@given(problem=problems())
def test_the_loss_alone_equals_its_plain_twin(problem) -> None:
    A, kind, rng = problem
    n = 700 * len(A)  # more than one chunk
    b, share = np.where(rng.random(n) < 0.5, 1.0, -1.0), rng.random(n)
    m, step = 3 * rng.standard_normal((2, n))
    loss = RowLosses(kind, b, share)
    value, slope, curvature = naive_loss(kind, b, share, m)
    close(loss.value(m), value)
    close(loss.slope(m), slope)
    close(loss.curvature(m), curvature)
    _, slope, curvature = naive_loss(kind, b, share, m + 0.25 * step)
    first, second = loss.along(m, step, 0.25)
    close(
        np.array([first, second]),
        np.array([slope @ step, curvature @ step**2]),
        at_least=float(np.abs(slope) @ abs(step)),
    )
    images = np.stack([m, step, m * step])
    value, slope, curvature = naive_loss(kind, b, share, m + 0.25)
    found, gradient, hessian, (left, bend, drift) = loss.on_span(m, 0.25, images)
    close(found, value)
    close(gradient, images @ slope, at_least=float((np.abs(images) @ np.abs(slope)).max()))
    close(hessian, images * curvature @ images.T)
    close(drift, images @ curvature, at_least=float((np.abs(images) @ curvature).max()))
    close(np.array([left, bend]), np.array([slope.sum(), curvature.sum()]), at_least=float(np.abs(slope).sum()))


def test_the_loss_holds_for_margins_of_any_size() -> None:
    m = np.array([0.0, 1e-300, -1e-300, 1e-9, 30.0, -30.0, 700.0, -700.0, 1e6, -1e6, 0.3465, -0.3466, 0.881])
    loss = RowLosses(LogisticLoss(), np.ones(m.size), np.ones(m.size))
    for i, t in enumerate(m):
        one = RowLosses(LogisticLoss(), np.ones(1), np.ones(1))
        np.testing.assert_allclose(one.value(m[i : i + 1]), np.logaddexp(0.0, -t), rtol=1e-14, atol=1e-300)
    small = np.exp(-abs(m))
    np.testing.assert_allclose(loss.slope(m), -np.where(m > 0, small, 1.0) / (1 + small), rtol=1e-14, atol=1e-300)
    np.testing.assert_allclose(loss.curvature(m), small / (1 + small) ** 2, rtol=1e-14, atol=1e-300)
    bad = loss.value(np.where(m == 700.0, np.nan, m))
    assert np.isnan(bad)


@pytest.mark.parametrize("form", [dense_form, byte_form, pattern_form, csc_form, wide_form])
def test_the_number_of_threads_does_not_show(form, monkeypatch) -> None:
    monkeypatch.setattr(threads, "PART", 500)
    rng = np.random.default_rng(0)
    A, layout = form(rng.standard_normal((700, 12)) * (rng.random((700, 12)) < 0.5))
    n, d = A.shape
    x, known = rng.standard_normal(d), rng.standard_normal(n)
    loss = RowLosses(LogisticLoss(), np.sign(known), rng.random(n))
    assert len(layout.cuts(threads.parts_of(layout.entries))) > 3
    results = []
    for n_threads in (1, 2, 5):
        with threads.limited(n_threads):
            assert threads.count() == n_threads
            parts = [layout.product(x), layout.adjoint(known), layout.sweep(loss, (0.5, 0.5, 0.1, 0.9), known, x)]
            carry = isinstance(layout, SortedColumns)
            parts.append(layout.sweep(loss, (1.0, 0.0, 1.0, 0.0), known, NONE, hessian=layout.has_hessian, carry=carry))
            if isinstance(layout, RowLayout):
                parts.append(layout.gram(np.abs(known)))
        results.append(np.concatenate([np.ravel(np.asarray(a)) for p in parts for a in flat(p)]))
    assert results[0].tobytes() == results[1].tobytes() == results[2].tobytes()


@pytest.mark.parametrize("form", WIDE)
@settings(max_examples=25, deadline=None)
@given(problem=problems())
def test_a_gradient_comes_with_its_image(form, problem) -> None:
    raw, kind, rng = problem
    A, layout = form(raw)
    n = A.shape[0]
    known, b, share = rng.standard_normal(n), np.where(rng.random(n) < 0.5, 1.0, -1.0), rng.random(n)
    swept = layout.sweep(RowLosses(kind, b, share), (1.0, 0.0, 1.0, 0.0), known, NONE, carry=True)
    slope = A.T @ naive_loss(kind, b, share, known)[1]
    close(swept.slope, slope)
    close(swept.slope_image, A @ slope)


def test_equal_weights_are_kept_once() -> None:
    rng = np.random.default_rng(3)
    A = rng.standard_normal((1400, 100))
    b = np.where(A[:, 0] > 0, 1.0, -1.0)
    equal, given_ = fw.Logistic(A, b), fw.Logistic(A, b, sample_weight=np.ones(1400))
    assert equal.compiled is not None
    assert given_.compiled is not None
    assert (equal.compiled.share.size, given_.compiled.share.size) == (CHUNK, 1400)
    x, m = rng.standard_normal(100), rng.standard_normal(1400)
    assert equal.grad(x).tobytes() == given_.grad(x).tobytes()
    assert equal.compiled.curvature(m).tobytes() == given_.compiled.curvature(m).tobytes()
    assert equal.compiled.along(m, b, 0.3) == given_.compiled.along(m, b, 0.3)
    low, _, high = equal.row_loss.bracket(m, equal.b, equal.share, equal.zero_intercept)
    assert (
        equal.compiled.balance(m, b, 0.3, (low, 0.0, high), 1e-9)[0]
        == given_.compiled.balance(m, b, 0.3, (low, 0.0, high), 1e-9)[0]
    )


def test_narrow_storage_is_chosen_where_it_is_exact() -> None:
    rng = np.random.default_rng(2)
    grey = rng.integers(0, 256, (600, 300))
    for scale in (1.0, 255.0):
        layout = dense_layout(grey / scale)
        assert layout is not None
        assert layout.arrays[0].dtype == np.uint8
        np.testing.assert_array_equal(layout.arrays[0], grey)
        assert layout.scale == 1 / scale
    nearly = grey / 255.0
    nearly[500, 200] += 1e-12
    for other in (nearly, -grey.astype(float), rng.standard_normal((600, 300)), grey.astype(np.float32)):
        layout = dense_layout(other)
        assert layout is not None
        assert layout.arrays[0] is other
    assert dense_layout(nearly[:50]) is None  # too small
    assert dense_layout(np.asfortranarray(nearly)) is None

    ones = sp.csr_array((rng.random((3000, 100)) < 0.5) * 0.5)
    layout = sparse_layout(ones, by_columns=False)
    assert layout is not None
    assert (layout.arrays[1].dtype, layout.arrays[2], layout.scale) == (np.uint16, None, 0.5)
    ones.data[-1] = 0.25
    layout = sparse_layout(ones, by_columns=False)
    assert layout is not None
    assert layout.arrays[2] is ones.data
    assert np.shares_memory(layout.arrays[1], ones.indices)
    assert sparse_layout(ones[:10], by_columns=False) is None


def test_wide_data_are_sorted_by_columns_where_that_pays(monkeypatch) -> None:
    rng = np.random.default_rng(4)
    wide = sp.random_array((40, 9000), density=0.5, random_state=rng, format="csr")
    layout = sparse_layout(wide, by_columns=False)
    assert isinstance(layout, RowLayout)
    assert carrying(layout) is None
    monkeypatch.setattr(compact_storage, "WIDE_ENOUGH", 8000)
    assert isinstance(carrying(layout), SortedColumns)
    monkeypatch.setattr(compact_storage, "WIDE", 8000)
    for form, by_columns in ((wide, False), (wide.tocsc(), True)):
        layout = sparse_layout(form, by_columns)
        assert isinstance(layout, SortedColumns)
        assert carrying(layout) is layout
        close(layout.adjoint(np.ones(40)), wide.toarray().sum(axis=0))
    tall = sparse_layout(sp.random_array((9000, 40), density=0.5, random_state=rng, format="csr"), by_columns=False)
    assert isinstance(tall, RowLayout)
    assert carrying(tall) is None
    assert carrying(dense_layout(rng.standard_normal((40, 9000)))) is None
    assert carrying(None) is None


def test_limits_on_threads_are_respected(monkeypatch) -> None:
    from threadpoolctl import threadpool_limits

    for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(threads.os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    with threadpool_limits(limits=1):
        assert threads.allowed() == 1
    monkeypatch.setattr(threads, "libraries", lambda: SimpleNamespace(info=list))
    assert threads.allowed() == 8
    monkeypatch.setenv("OMP_NUM_THREADS", "3,2")
    assert threads.allowed() == 3
    with threads.limited(None):
        assert threads.count() == 3


def test_errors_in_a_thread_reach_the_caller() -> None:
    def task(part: int) -> None:
        if part == 3:
            raise FloatingPointError("part 3")

    with threads.limited(2), pytest.raises(FloatingPointError, match="part 3"):
        threads.share_out(task, 4)


def test_helpers_that_are_late_are_left_alone_for_a_while() -> None:
    patience = threads.Patience()

    def helped(waited: float) -> bool:
        helpers = patience.take(1)
        if helpers:
            patience.learn([0.001, 0.001], waited)
        return helpers == 1

    seen = [helped(waited=0.02) for _ in range(11)]
    assert seen == [True, False, True, *3 * [False], True, *4 * [False]]  # put aside: rests of 1, 3, 7 passes
    while not helped(waited=0.0):
        pass
    assert [helped(waited=0.0) for _ in range(3)] == [True] * 3


def test_nobody_else_works_while_helpers_are_left_alone(monkeypatch) -> None:
    patience, names = threads.Patience(), []
    patience.learn([0.001], 1.0)
    monkeypatch.setattr(threads, "_patience", patience)
    with threads.limited(2):
        threads.share_out(lambda part: names.append(current_thread().name), 4)
    assert names == 4 * [current_thread().name]


def close(actual, expected, at_least: float = 0.0) -> None:
    scale = max(float(np.max(np.abs(expected), initial=0.0)), at_least)
    np.testing.assert_allclose(actual, expected, rtol=1e-12, atol=1e-12 * scale + 1e-300)


def flat(part) -> list:
    return [part] if isinstance(part, np.ndarray) else [a for a in part if a is not None]
