"""Enclosures hold the truth, computed here in exact rationals and long decimals, and are sharp."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array

from frankwolfe.verify.arithmetic import Interval, dot, expansion, product, sums
from frankwolfe.verify.functions import exp, log, log1p, norm, power
from frankwolfe.verify.matrices import Matrix
from frankwolfe.verify.spectral import matrix_product

pytestmark = pytest.mark.usefixtures("quiet")
numbers = st.floats(-1e60, 1e60, allow_subnormal=True)
lists = st.lists(numbers, min_size=1, max_size=40)


def holds(found: Interval, truth: Fraction) -> bool:
    return Fraction(float(found.lo)) <= truth <= Fraction(float(found.hi))


@given(numbers, numbers, numbers, numbers)
def test_operations_hold_every_combination(a, b, c, d):
    with np.errstate(all="ignore"):
        x, y = Interval(min(a, b), max(a, b)), Interval(min(c, d), max(c, d))
        for s in (a, b):
            for t in (c, d):
                assert holds(x + y, Fraction(s) + Fraction(t))
                assert holds(x - y, Fraction(s) - Fraction(t))
                assert holds(x * y, Fraction(s) * Fraction(t))
                quotient = x / y
                if t and np.isfinite(quotient.lo) and np.isfinite(quotient.hi):
                    assert holds(quotient, Fraction(s) / Fraction(t))
            assert holds(abs(x), abs(Fraction(s)))
            assert holds(x.squared(), Fraction(s) ** 2)
            root = abs(x).sqrt()
            assert Fraction(float(root.lo)) ** 2 <= abs(Fraction(s)) <= Fraction(float(root.hi)) ** 2


@given(lists)
def test_sums_and_expansions_are_right_whatever_cancels(values):
    with np.errstate(all="ignore"):
        a = np.array(values)
        truth = sum(map(Fraction, values))
        found = sums(a)
        assert holds(found, truth)
        assert float(found.hi - found.lo) <= 2e-15 * abs(float(truth)) + 1e-25 * float(np.max(np.abs(a))) + 1e-300
        assert sum(map(Fraction, expansion(a))) == truth


@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=40))
def test_inner_products_are_right_whatever_cancels(pairs):
    with np.errstate(all="ignore"):
        a, b = np.array(pairs).T
        assert holds(dot(a, b), sum(Fraction(s) * Fraction(t) for s, t in pairs))


def test_products_are_split_exactly():
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, 100)) * 10.0 ** rng.integers(-80, 80, (2, 100))
    for s, t, p, e in zip(a, b, *product(a, b), strict=True):
        assert Fraction(s) * Fraction(t) == Fraction(p) + Fraction(e)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_matrix_products_hold_the_exact_ones(sparse, dtype):
    rng = np.random.default_rng(1)
    A = (rng.standard_normal((30, 7)) * 10.0 ** rng.integers(-9, 9, 7)).astype(dtype)
    A[rng.random(A.shape) < 0.3] = 0
    x, r = rng.standard_normal(7), rng.standard_normal(30)
    matrix = Matrix(coo_array(A) if sparse else A)
    exact = [[Fraction(float(v)) for v in row] for row in A]
    for i, row in enumerate(exact):
        assert holds(matrix.times(x)[i], sum(v * Fraction(t) for v, t in zip(row, x, strict=True)))
    for j in range(7):
        assert holds(matrix.adjoint(r)[j], sum(row[j] * Fraction(t) for row, t in zip(exact, r, strict=True)))


def test_repeated_entries_of_a_sparse_matrix_add_up_exactly():
    matrix = Matrix(coo_array(([1e30, 1.0, -1e30], ([0, 0, 0], [0, 0, 0])), shape=(1, 1)))
    assert holds(matrix.times(np.array([3.0]))[0], Fraction(3))


@settings(max_examples=300)
@given(st.floats(5e-324, 1e308))
def test_logarithms(x):
    with np.errstate(all="ignore"), localcontext() as context:
        context.prec = 60
        found, truth = log(Interval(x)), Decimal(x).ln()
        assert Decimal(float(found.lo)) <= truth <= Decimal(float(found.hi))
        assert float(found.hi - found.lo) <= 1e-14 * abs(float(truth))


@settings(max_examples=300)
@given(st.floats(-800, 700))
def test_exponentials(t):
    with np.errstate(all="ignore"), localcontext() as context:
        context.prec = 60
        found, truth = exp(Interval(t)), Decimal(t).exp()
        assert Decimal(float(found.lo)) <= truth <= Decimal(float(found.hi))
        assert float(found.hi - found.lo) <= 1e-14 * (1 + abs(t)) * float(found.hi) + 1e-300


@given(st.floats(-0.5, 1))
def test_logarithms_near_one(y):
    with np.errstate(all="ignore"), localcontext() as context:
        context.prec = 800
        found, truth = log1p(Interval(y)), (1 + Decimal(y)).ln()
        assert Decimal(float(found.lo)) <= truth <= Decimal(float(found.hi))


@given(st.floats(1e-100, 1e50), st.floats(0.1, 6))
def test_powers(x, p):
    with np.errstate(all="ignore"), localcontext() as context:
        context.prec = 60
        found, truth = power(Interval(x), p), (Decimal(x).ln() * Decimal(p)).exp()
        rounding = truth * Decimal("1e-50")  # of 60 digits, where the truth itself is a floating-point number
        assert Decimal(float(found.lo)) - rounding <= truth <= Decimal(float(found.hi)) + rounding


def test_what_overflows_is_unknown_not_wrong():
    huge = np.array([1e300, 1e300])
    assert not np.isfinite(dot(huge, huge).hi)
    assert sums(np.array([1.7e308, 1.7e308])).hi == np.inf


def test_norms_and_matrix_products_are_enclosed():
    found = norm(np.array([3e200, -4e200]), 2)
    assert found.lo <= 5e200 <= found.hi
    found = matrix_product(np.array([[1e16, 1.0]]), np.array([[1.0], [1.0]]))
    assert holds(Interval(found.lo[0, 0], found.hi[0, 0]), Fraction(10**16 + 1))
