"""Odd input works, or gets one sentence that names the argument and says what to do."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import frankwolfe as fw

RNG = np.random.default_rng(0)
A = RNG.standard_normal((60, 4))
Y = A[:, 0] + RNG.standard_normal(60) > 0
T = A[:, 1] + RNG.standard_normal(60)
LONG = RNG.standard_normal((1100, 128))  # more than 2^17 numbers: compiled passes
LONG_T = LONG[:, 0] + RNG.standard_normal(1100)
X = np.array([0.3, -0.2, 0.1, 0.4])


@pytest.mark.parametrize("size", [1e308, 1e-308, 1.0, 5e-324])
@pytest.mark.parametrize("model", [fw.Logistic, fw.LeastSquares, fw.Huber, fw.Multinomial])
def test_weights_of_any_size(model: Any, size: float) -> None:
    plain, weighted = model(A, Y), model(A, Y, sample_weight=np.full(60, size))
    x = np.stack([X, -X], axis=1) if model is fw.Multinomial else X
    assert float(weighted.value(x)) == pytest.approx(float(plain.value(x)), rel=1e-14)
    result = fw.minimize(weighted, fw.L2Ball(1.0), tol=1e-6)
    assert result.fun > 0.01


def test_weights_that_weigh_nothing() -> None:
    for bad in (np.zeros(60), -np.ones(60), np.full(60, np.nan), np.full(60, np.inf), np.ones(59), "heavy", None):
        if bad is None:
            fw.Logistic(A, Y, sample_weight=None)
            continue
        with pytest.raises(ValueError, match="sample_weight"):
            fw.Logistic(A, Y, sample_weight=bad)


def test_rows_without_weight_do_not_count() -> None:
    w = (np.arange(60) % 3 > 0).astype(float)
    for model, b in ((fw.Logistic, Y), (fw.LeastSquares, T), (fw.Huber, T), (fw.Multinomial, Y)):
        x = np.stack([X, -X], axis=1) if model is fw.Multinomial else X
        for intercept in (False, True):
            few = model(A[w > 0], b[w > 0], intercept=intercept)
            all_rows = model(A, b, sample_weight=w, intercept=intercept)
            assert float(all_rows.value(x)) == pytest.approx(float(few.value(x)), rel=1e-13)
            np.testing.assert_allclose(all_rows.grad(x), few.grad(x), atol=1e-14)


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0], [1, 2, 0]])
def test_classes_in_any_order(order: list[int]) -> None:
    labels = RNG.integers(0, 3, 60)
    X3 = RNG.standard_normal((4, 3))
    f, g = fw.Multinomial(A, labels), fw.Multinomial(A, labels, classes=order)
    assert float(g.value(X3[:, order])) == pytest.approx(float(f.value(X3)), rel=1e-14)
    np.testing.assert_allclose(g.grad(X3[:, order]), f.grad(X3)[:, order], atol=1e-15)
    with pytest.raises(ValueError, match="classes"):
        fw.Multinomial(A, labels, classes=[0, 1, 1, 2])
    with pytest.raises(ValueError, match="classes"):
        fw.Multinomial(A, labels, classes=[0, 1])
    with pytest.raises(ValueError, match="classes"):
        fw.Logistic(A, Y, classes=[True, True])


def strided(data: np.ndarray) -> np.ndarray:
    wide = np.empty((2 * len(data), 2 * data.shape[1]))
    wide[::2, ::2] = data
    return wide[::2, ::2]


def frozen(data: np.ndarray) -> np.ndarray:
    data = data.copy()
    data.flags.writeable = False
    return data


DENSE_FORMS: dict[str, Callable[[np.ndarray], Any]] = {
    "big-endian": lambda data: data.astype(">f8"),
    "big-endian columns": lambda data: np.asfortranarray(data).astype(">f8"),
    "matrix": lambda data: data.view(np.matrix),
    "unmasked": np.ma.masked_array,
    "objects": lambda data: data.astype(object),
    "longdouble": lambda data: data.astype(np.longdouble),
    "columns": np.asfortranarray,
    "strided": strided,
    "backwards": lambda data: data[::-1, ::-1].copy()[::-1, ::-1],
    "read-only": frozen,
    "frame": lambda data: pytest.importorskip("pandas").DataFrame(data),
    "lists": np.ndarray.tolist,
}


@pytest.mark.parametrize("name", DENSE_FORMS)
@pytest.mark.parametrize("long", [False, True], ids=["plain", "compiled"])
def test_dense_data_of_any_form(name: str, long: bool) -> None:
    data, b, x = (LONG, LONG_T, np.full(128, 0.1)) if long else (A, T, X)
    given = DENSE_FORMS[name](data)
    for model, targets in ((fw.LeastSquares, b), (fw.Logistic, b > 0)):
        reference, f = model(data, targets), model(given, targets)
        assert float(f.value(x)) == pytest.approx(float(reference.value(x)), rel=1e-13)
        np.testing.assert_allclose(f.grad(x), reference.grad(x), atol=1e-13)
    result = fw.minimize(fw.LeastSquares(given, b), fw.L2Ball(1.0), tol=1e-4)
    assert result.success
    assert result.x.dtype == np.float64
    assert result.x.dtype.isnative


def test_memory_mapped_data(tmp_path: Any) -> None:
    np.save(tmp_path / "A.npy", LONG)
    for mode in ("r", "r+", "c"):
        given = np.load(tmp_path / "A.npy", mmap_mode=mode)
        result = fw.minimize(fw.LeastSquares(given, LONG_T), fw.L2Ball(1.0), tol=1e-4)
        assert result.success


@pytest.mark.parametrize("dtype", ["f2", "f4", ">f4", "i1", "i8", "u2", ">i4", "?"])
def test_numbers_of_any_width(dtype: str) -> None:
    small = np.round(3 * np.abs(A)).astype(dtype)
    f, reference = fw.LeastSquares(small, T), fw.LeastSquares(small.astype(float), T)
    x = X.astype(np.float32) if dtype.endswith("f4") else X
    assert float(f.value(x)) == pytest.approx(float(reference.value(X)), rel=1e-6)
    b = np.round(3 * T).astype(dtype)
    assert float(fw.LeastSquares(A, b).value(X)) == pytest.approx(float(fw.LeastSquares(A, b.astype(float)).value(X)))


def sparse_forms(data: np.ndarray) -> dict[str, Any]:
    whole = sp.csr_array(data)
    rows, cols = (i.astype(np.int64) for i in sp.coo_array(data).coords)
    values = sp.coo_array(data).data
    swapped = whole.copy()
    for i in range(len(data)):
        part = slice(swapped.indptr[i], swapped.indptr[i + 1])
        swapped.indices[part], swapped.data[part] = swapped.indices[part][::-1].copy(), swapped.data[part][::-1].copy()
    swapped.has_sorted_indices = False
    doubled = sp.csr_array(
        (np.repeat(0.5 * whole.data, 2), np.repeat(whole.indices, 2), 2 * whole.indptr), shape=whole.shape
    )
    zeros = whole.copy()
    with_zeros = sp.csr_array(np.where(data == 0, 1.0, data))
    with_zeros.data[np.asarray(data == 0)[np.nonzero(np.where(data == 0, 1.0, data))]] = 0.0
    long = whole.copy()
    long.indices, long.indptr = long.indices.astype(np.int64), long.indptr.astype(np.int64)
    frozen = whole.copy()
    for part in (frozen.data, frozen.indices, frozen.indptr):
        part.flags.writeable = False
    return {
        "unsorted": swapped,
        "duplicates": doubled,
        "explicit zeros": with_zeros,
        "long indices": long,
        "read-only": frozen,
        "csc": sp.csc_matrix(zeros),
        "coo": sp.coo_array((values, (rows, cols)), shape=data.shape),
        "dok": sp.dok_array(data),
    }


@pytest.mark.parametrize("name", sparse_forms(A * (np.abs(A) > 0.5)))
@pytest.mark.parametrize("long", [False, True], ids=["plain", "compiled"])
def test_sparse_data_of_any_form(name: str, long: bool) -> None:
    if long:
        data = np.where(RNG.random((2600, 128)) < 0.5, RNG.standard_normal((2600, 128)), 0.0)
        b, x = data[:, 0] + 1.0, np.full(128, 0.1)
    else:
        data, b, x = A * (np.abs(A) > 0.5), T, X
    given = sparse_forms(data)[name]
    for model, targets in ((fw.LeastSquares, b), (fw.Logistic, b > 0)):
        reference, f = model(data, targets), model(given, targets)
        assert float(f.value(x)) == pytest.approx(float(reference.value(x)), rel=1e-12)
        np.testing.assert_allclose(f.grad(x), reference.grad(x), atol=1e-12)
    assert fw.minimize(fw.LeastSquares(given, b), fw.L1Ball(1.0), tol=1e-3).success


def test_sparse_indices_outside_the_matrix() -> None:
    good = sp.csr_array(A)
    for name, value in (("indices", 7), ("indices", -1), ("indptr", 999)):
        bad = good.copy()
        getattr(bad, name)[3] = value
        with pytest.raises(ValueError, match="A is no valid sparse matrix"):
            fw.LeastSquares(bad, T)


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: fw.Logistic(A, None), "b is None"),
        (lambda: fw.Multinomial(A, None), "labels is None"),
        (lambda: fw.LeastSquares(A, None), "b is None"),
        (lambda: fw.Logistic(A, ["yes", None] * 30), "b must hold labels of one kind"),
        (lambda: fw.Multinomial(A, ["yes", None, 3] * 20), "labels must hold labels of one kind"),
        (lambda: fw.Logistic(A, np.ma.masked_array(Y, mask=np.arange(60) < 2)), "b has masked entries"),
        (lambda: fw.LeastSquares(np.ma.masked_array(A, mask=A > 2), T), "A has masked entries"),
        (lambda: fw.LeastSquares(A.astype(complex), T), "A must be numeric"),
        (lambda: fw.LeastSquares(A, T.astype(complex)), "b must be numeric"),
        (lambda: fw.LeastSquares([["a", "b"]], [1.0]), "A must be numeric"),
        (lambda: fw.LeastSquares([[1.0, None]], [1.0]), "A"),
        (lambda: fw.LeastSquares([[1.0, 2.0], [3.0]], [1.0, 2.0]), "A must be an array of numbers"),
        (lambda: fw.LeastSquares(None, T), "A is None"),
        (lambda: fw.LeastSquares(np.zeros((0, 3)), []), "A is empty"),
        (lambda: fw.LeastSquares(sp.csr_array((0, 3)), []), "A is empty"),
        (lambda: fw.LeastSquares(A[:, 0], T), "A must be two-dimensional"),
        (lambda: fw.LeastSquares(A, T[:-1]), "b must have length 60"),
        (lambda: fw.Quadratic(np.eye(2), constant=math.nan), "constant"),
        (lambda: fw.Quadratic(np.eye(2), [1.0, "x"]), "c"),
        (lambda: fw.MatrixCompletion([0], [0], [1.0], (2, 2), weights=[0.0]), "weights"),
        (lambda: fw.MatrixCompletion([5], [0], [1.0], (2, 2)), "rows"),
    ],
)
def test_one_sentence_for_what_does_not_work(make: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        make()


def test_exact_numbers_are_numbers() -> None:
    f = fw.LeastSquares([[Fraction(1, 2)], [Fraction(1, 4)]], [Fraction(1), Fraction(2)])
    assert float(f.value(np.zeros(1))) == pytest.approx(1.25)


def test_a_seed_that_is_too_large() -> None:
    f = fw.LeastSquares(A, T)
    for seed in (2**64, 2**70, -1, 1.5):
        with pytest.raises(ValueError, match="random_state"):
            fw.minimize(f, fw.L2Ball(1.0), random_state=seed)  # pyright: ignore[reportArgumentType]
        with pytest.raises(ValueError, match="random_state"):
            fw.path(f, fw.L2Ball, [1.0], random_state=seed)  # pyright: ignore[reportArgumentType]
    assert fw.minimize(f, fw.L2Ball(1.0), random_state=2**64 - 1).success


class TestFunctions:
    """What a user's function does with its arrays, and what it returns."""

    Q = np.diag([1.0, 2.0, 3.0, 4.0])
    c = np.array([-1.0, 2.0, 0.5, -3.0])

    def exact(self) -> fw.Result:
        return fw.minimize(fw.Quadratic(self.Q, self.c), fw.L2Ball(1.0), method="away", tol=1e-8)

    @pytest.mark.parametrize("method", ["fw", "afw", "away", "apgd", "bpcg", "boosted"])
    def test_a_gradient_may_use_its_array_again(self, method: str) -> None:
        buffer = np.empty(4)

        def grad(x: np.ndarray) -> np.ndarray:
            np.add(self.Q @ x, self.c, out=buffer)
            return buffer

        f = fw.Function(lambda x: 0.5 * x @ self.Q @ x + self.c @ x, grad, smoothness=4.0)
        result = fw.minimize(f, fw.L2Ball(1.0), np.zeros(4), method=method, tol=1e-5, max_iter=5000)
        assert result.success
        assert result.fun == pytest.approx(self.exact().fun, abs=2e-5)

    @pytest.mark.parametrize("method", ["fw", "afw", "away", "apgd", "bpcg", "boosted"])
    def test_a_function_may_write_to_its_argument(self, method: str) -> None:
        def value(x: np.ndarray) -> float:
            out = float(0.5 * x @ self.Q @ x + self.c @ x)
            x *= 7.0
            return out

        def grad(x: np.ndarray) -> np.ndarray:
            out = self.Q @ x + self.c
            x[:] = np.nan
            return out

        f = fw.Function(value, grad, smoothness=4.0)
        result = fw.minimize(f, fw.L2Ball(1.0), np.zeros(4), method=method, tol=1e-5, max_iter=5000)
        assert result.success
        assert result.fun == pytest.approx(self.exact().fun, abs=2e-5)

    @pytest.mark.parametrize("given", [None, "much", 1 + 2j, np.ones(2), object(), {}])
    def test_what_is_no_number(self, given: Any) -> None:
        f = fw.Function(lambda x: given, lambda x: x)
        with pytest.raises((TypeError, ValueError), match="f must return one"):
            fw.minimize(f, fw.L2Ball(1.0), np.zeros(4))

    @pytest.mark.parametrize("given", [2, np.float32(2), np.array([[2.0]]), [2.0], True, np.int8(2)])
    def test_what_is_a_number(self, given: Any) -> None:
        assert float(fw.Function(lambda x: given, lambda x: x).value(np.zeros(4))) in (1.0, 2.0)

    @pytest.mark.parametrize("given", [None, np.ones(3), 1.0, np.ones(4, complex), "up"])
    def test_what_is_no_gradient(self, given: Any) -> None:
        f = fw.Function(lambda x: 0.0, lambda x: given)
        with pytest.raises((TypeError, ValueError), match="grad must return"):
            fw.minimize(f, fw.L2Ball(1.0), np.zeros(4))

    @pytest.mark.parametrize("given", [sp.csr_array([[1.0], [0.0], [0.0], [0.0]]), [1.0, 0.0, 0.0, 0.0]])
    def test_what_is_a_gradient(self, given: Any) -> None:
        shape = np.shape(given.toarray() if sp.issparse(given) else given)
        g = fw.Function(lambda x: 0.0, lambda x: given).grad(np.zeros(shape))
        assert g.ravel().tolist() == [1.0, 0.0, 0.0, 0.0]

    @pytest.mark.parametrize(
        "start", [np.zeros(4, ">f8"), np.zeros(4, int), np.zeros((1, 4)).view(np.matrix), [0, 0, 0, 0]]
    )
    def test_starts_of_any_form(self, start: Any) -> None:
        f = fw.Function(lambda x: float(np.sum((x - 1) ** 2)), lambda x: 2 * (x - 1))
        assert fw.minimize(f, fw.L2Ball(1.0), start, tol=1e-3).x.dtype == np.float64

    def test_nothing_that_is_given_is_changed(self) -> None:
        data, b, w, x = A.copy(), T.copy(), np.ones(60), np.zeros(4)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            fw.minimize(fw.LeastSquares(data, b, sample_weight=w, intercept=True), fw.L2Ball(1.0), x)
        for after, before in ((data, A), (b, T), (w, np.ones(60)), (x, np.zeros(4))):
            np.testing.assert_array_equal(after, before)


def test_targets_and_sets_beyond_single_precision() -> None:
    narrow = A.astype(np.float32)
    with pytest.raises(ValueError, match="b holds numbers too large for single precision"):
        fw.LeastSquares(narrow, np.full(60, 1e150))
    with pytest.raises(ValueError, match="radius 1e\\+300 is too large for single precision"):
        fw.minimize(fw.LeastSquares(narrow, T), fw.Simplex(4, 1e300))
    for domain in (fw.Simplex(4, 1e-300), fw.Product(fw.Simplex(2, 1e-300), fw.L2Ball(1.0), shapes=[2, 2])):
        with pytest.raises(ValueError, match="too small for single precision"):
            fw.minimize(fw.LeastSquares(narrow, T), domain)


@pytest.mark.parametrize("light", [1e-320, 1e-300, 1e300])
def test_an_intercept_for_classes_of_very_different_weight(light: float) -> None:
    weights = np.where(Y, 1.0, light)
    f = fw.Logistic(np.zeros_like(A), Y, sample_weight=weights, intercept=True)
    rare = min(light, 1 / light) * max(np.sum(Y), np.sum(~Y))
    assert 0 <= float(f.value(X)) <= 800 * rare


@pytest.mark.parametrize("scale", [1e75, 1e85, 1e95, 1e-95])
def test_smoothness_of_data_whose_fourth_powers_overflow(scale: float) -> None:
    rng = np.random.default_rng(0)
    wide = rng.standard_normal((40, 5))
    expected = np.linalg.norm(wide, 2) ** 2 / 40
    assert fw.LeastSquares(scale * wide, np.ones(40)).smoothness == pytest.approx(expected * scale * scale, rel=1e-8)
