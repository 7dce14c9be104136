"""Rows answer the same questions wherever they live, and say how they were read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

import frankwolfe as fw
from frankwolfe.points import Point
from frankwolfe.problem import Problem
from frankwolfe.rows.disk_stream import stream
from frankwolfe.rows.parts import tree_sum
from frankwolfe.rows.reading import TwoReads
from frankwolfe.rows.rows import Rows, shares, summable
from frankwolfe.rows.rows_in_parts import RowsInParts
from frankwolfe.rows.user_data import data_matrix, picked

N, D = 90, 5
rng = np.random.default_rng(0)
A = rng.standard_normal((N, D)) * (rng.random((N, D)) < 0.7)
B = np.sign(A[:, 0] + 0.5 * rng.standard_normal(N))
WEIGHTS = rng.random(N)
FORMS = ["dense", "csr", "csc", "operator", "disk", "dask"]
KINDS: dict[str, tuple[Any, dict[str, Any]]] = {
    "logistic": (fw.Logistic, {}),
    "squares": (fw.LeastSquares, {}),
    "huber": (fw.Huber, {"delta": 0.3}),
    "quantile": (fw.Quantile, {"quantile": 0.3, "delta": 0.5}),
    "poisson": (fw.Poisson, {}),
    "gamma": (fw.Gamma, {}),
    "hinge": (fw.SquaredHinge, {}),
    "classes": (fw.Multinomial, {}),
}


def as_form(form: str, folder: Path) -> Any:
    if form == "disk":
        np.save(folder / "A.npy", A)
        return stream(folder / "A.npy", block_bytes=A.nbytes // 4)
    if form == "dask":
        return pytest.importorskip("dask.array").from_array(A, chunks=(25, D))
    return {"dense": np.asarray, "csr": sp.csr_array, "csc": sp.csc_array, "operator": aslinearoperator}[form](A)


def row_sums(model: Any, m: np.ndarray, c: float) -> tuple[float, float]:
    return float(model.share @ m), float(c * (model.share @ model.b))


@pytest.mark.parametrize("form", FORMS)
def test_products_and_sums(form: str, tmp_path: Path) -> None:
    """Product, adjoint, Gram matrix, sums over images and the largest eigenvalue, against plain NumPy."""
    f = fw.LeastSquares(as_form(form, tmp_path), B, sample_weight=WEIGHTS)
    rows, share = f.data, WEIGHTS / WEIGHTS.sum()
    assert isinstance(rows, Rows)
    assert rows.shape == (N, D)
    x = np.linspace(-1, 1, D)
    image = rows.product(x)
    assert np.allclose(rows.adjoint(image), A.T @ (A @ x), rtol=1e-12)
    assert f.total(row_sums, 2.0, images=[image]) == pytest.approx((share @ A @ x, 2 * share @ B), rel=1e-12)
    gram = A.T @ (share[:, None] * A)
    assert rows.gram_norm(f) == pytest.approx(np.linalg.eigvalsh(gram)[-1], rel=1e-9)
    some = np.array([3, 0, 3])
    columns = rows.columns(some)
    assert np.array_equal(columns.toarray() if sp.issparse(columns) else columns, A[:, some])
    if form != "operator":
        assert np.allclose(rows.scores(A[:2].T), A @ A[:2].T, rtol=1e-12)
        assert np.allclose(rows.gram(image), A.T @ ((A @ x)[:, None] * A), rtol=1e-12)
        norms = f.column_norms(Problem(f, fw.L2Ball(1.0)).extent)
        assert norms is not None
        assert np.allclose(norms**2, np.diag(gram), rtol=1e-12)


@pytest.mark.parametrize("compiling", ["never", "always"])
def test_a_dense_gram_matrix_is_symmetric_and_its_weights_may_be_negative(
    compiling: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the last bit: each pair of columns is multiplied once, whoever reads the rows."""
    monkeypatch.setenv("FRANKWOLFE_COMPILE", compiling)
    rng = np.random.default_rng(1)
    wide = rng.standard_normal((3000, 7))
    rows = fw.LeastSquares(wide, wide[:, 0]).data
    for weights in (np.full(3000, 0.3), rng.random(3000), rng.standard_normal(3000)):
        gram = rows.gram(weights)
        assert np.allclose(gram, wide.T @ (weights[:, None] * wide), rtol=1e-12, atol=1e-12)
        assert np.array_equal(gram, gram.T) or weights.min() < 0


@pytest.mark.parametrize("form", ["disk", "dask"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("intercept", [False, True])
def test_a_model_over_parts_is_the_model(form: str, kind: str, intercept: bool, tmp_path: Path) -> None:
    """Its class, and everything that certificates are made of."""
    made, options = KINDS[kind]
    b = np.exp(B) if kind in ("poisson", "gamma") else B
    f = made(as_form(form, tmp_path), b, intercept=intercept, ridge=0.1, sample_weight=WEIGHTS, **options)
    g = made(A, b, intercept=intercept, ridge=0.1, sample_weight=WEIGHTS, **options)
    assert type(f) is made
    assert isinstance(f.data, RowsInParts)
    assert f.shape == g.shape
    extent = Problem(g, fw.L2Ball(1.0)).extent
    x = 0.3 * rng.standard_normal(g.shape)
    ours, theirs = (h.evaluate(Point.at(x), Point.at(-x)) for h in (f, g))
    assert np.allclose(ours.slope, theirs.slope, rtol=1e-9, atol=1e-12)
    assert (ours.value, ours.inner, ours.watched) == pytest.approx((theirs.value, theirs.inner, theirs.watched))
    assert np.allclose(f.column_norms(extent), g.column_norms(extent), rtol=1e-12)
    assert f.noise(ours, extent) == pytest.approx(g.noise(theirs, extent), rel=0.5)
    smooth = [Problem(h, fw.L2Ball(1.0), shape=h.shape).smoothness for h in (f, g)]
    # Targets in memory are centred where there is an intercept: two bounds on how far a margin goes, both right.
    assert smooth[0] == pytest.approx(smooth[1], rel=0.6 if kind == "gamma" and intercept else 1e-9)
    assert f.best_intercept(f.map.apply(x)) == pytest.approx(g.best_intercept(g.map.apply(x)), rel=1e-8, abs=1e-10)


def test_classes_that_are_given_are_kept(tmp_path: Path) -> None:
    """Their order is the user's, whatever the targets hold."""
    given = ["c", "a", "b"]
    labels = np.array(["a", "b", "c"])[np.arange(N) % 3]
    X = rng.standard_normal((D, 3))
    f = fw.Multinomial(as_form("disk", tmp_path), labels, classes=given)
    assert list(f.classes) == given
    assert f.value(X) == pytest.approx(fw.Multinomial(A, labels, classes=given).value(X))
    one = fw.Logistic(as_form("disk", tmp_path), np.ones(N), classes=[-1.0, 1.0])
    assert one.value(np.ones(D)) == pytest.approx(fw.Logistic(A, np.ones(N), classes=[-1.0, 1.0]).value(np.ones(D)))


@pytest.mark.parametrize("form", FORMS)
def test_results_name_the_path(form: str, tmp_path: Path) -> None:
    f = fw.Logistic(as_form(form, tmp_path), B)
    result = fw.minimize(f, fw.L2Ball(2.0), method="afw", tol=1e-2)
    assert set(result.paths) <= {path.name for path in f.data.paths}
    assert result.paths[0] in str(fw.explain(result))


def test_a_path_can_be_forced() -> None:
    f = fw.Logistic(A, B)
    usual = fw.minimize(f, fw.L2Ball(2.0), method="afw", tol=1e-3)
    f.data.paths = (TwoReads(),)
    forced = fw.minimize(f, fw.L2Ball(2.0), method="afw", tol=1e-3)
    assert forced.paths == (TwoReads.name,)
    assert usual.paths != forced.paths
    assert np.allclose(usual.x, forced.x, atol=1e-9)


def test_no_curvature_is_proven_from_sums_in_single_precision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The columns depend on each other: what is left of the least eigenvalue is rounding."""
    monkeypatch.setenv("FRANKWOLFE_COMPILE", "never")
    for seed in range(5):
        rng = np.random.default_rng(seed)
        three = rng.standard_normal((4000, 3))
        data = np.hstack([three, three @ rng.standard_normal((3, 1))]).astype(np.float32)
        np.save(tmp_path / "A.npy", data)
        f = fw.LeastSquares(stream(tmp_path / "A.npy", block_bytes=8000), three[:, 0])
        exact = data.astype(np.float64)
        assert f.strong_convexity <= max(float(np.linalg.eigvalsh(exact.T @ exact / 4000)[0]), 0.0) + 1e-12


@pytest.mark.parametrize("form", FORMS)
def test_the_curvature_of_squares_is_known_wherever_the_rows_are(form: str, tmp_path: Path) -> None:
    f = fw.LeastSquares(as_form(form, tmp_path), B, sample_weight=WEIGHTS, intercept=True, ridge=0.1)
    share = WEIGHTS / WEIGHTS.sum()
    centred = A - share @ A
    least = float(np.linalg.eigvalsh(centred.T @ (share[:, None] * centred))[0]) + 0.1
    assert least * (1 - 1e-9) <= f.strong_convexity <= least * (1 + 1e-14)


def test_sums_of_parts_weights_and_columns() -> None:
    assert tree_sum([(1.0, "a"), (2.0, "b"), (3.0, "c")]) == (6.0, "abc")
    np.testing.assert_array_equal(shares([1, 3], 2), [0.25, 0.75])
    np.testing.assert_array_equal(summable("sample_weight", np.array([1e308, 1e308])), [1, 1])
    np.testing.assert_array_equal(summable("sample_weight", np.array([2.0, 1.0])), [2, 1])
    data = data_matrix("A", [[1, 2, 3], [4, 5, 6]])
    np.testing.assert_array_equal(picked(data, np.array([0, 2])).matrix, [[1, 3], [4, 6]])
    np.testing.assert_array_equal(data.adjoint(np.ones(2)), [5, 7, 9])
