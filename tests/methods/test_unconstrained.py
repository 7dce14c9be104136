"""The bound of agm_sc, f(y) - |g|²/(2μ), lies below the optimum in exact arithmetic, whatever the scale."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import frankwolfe as fw
from frankwolfe.kernels.spectral.lanczos import least_eigenvalue


def lowest(H, c):
    """Return the minimum of x'Hx/2 + c'x, a Fraction."""
    n = len(c)
    M = [[Fraction(H[i][j]) for j in range(n)] + [-Fraction(c[i])] for i in range(n)]
    for i in range(n):
        p = next(r for r in range(i, n) if M[r][i] != 0)
        M[i], M[p] = M[p], M[i]
        for r in range(n):
            if r != i:
                q = M[r][i] / M[i][i]
                M[r] = [a - q * b for a, b in zip(M[r], M[i], strict=True)]
    return sum(Fraction(c[i]) * M[i][n] / M[i][i] for i in range(n)) / 2


def squares(A, b, ridge):
    """Return the least mean square with a ridge, a Fraction."""
    rows, b = [[Fraction(v) for v in row] for row in A.tolist()], [Fraction(v) for v in b.tolist()]
    n, d = A.shape
    c = [-sum(rows[i][j] * b[i] for i in range(n)) / n for j in range(d)]
    H = [[sum(r[j] * r[k] for r in rows) / n + (Fraction(ridge) if j == k else 0) for k in range(d)] for j in range(d)]
    return lowest(H, c) + sum(v * v for v in b) / (2 * n)


def problem(seed, kind):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 5))
    n = int(rng.integers(d + 1, 12))
    A = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-3, 3, d) + rng.choice([0, 1e3, 1e6])
    b = A @ rng.standard_normal(d) + rng.choice([0, 1e-8, 1.0]) * rng.standard_normal(n)
    ridge = float(rng.choice([1e-6, 1.0]))
    if rng.random() < 0.5:
        A, b = A.astype(kind), b.astype(kind)
        return fw.LeastSquares(A, b, ridge=ridge), squares(A, b, ridge)
    Q, c = (A.T @ A + ridge * np.eye(d)).astype(kind), (A.T @ b).astype(kind)
    return fw.Quadratic(Q, c), lowest(Q.tolist(), c.tolist())


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("seed", range(40))
def test_no_bound_is_above_the_optimum(seed, kind):
    f, optimum = problem(seed, kind)
    if not f.strong_convexity > 0:
        with pytest.raises(ValueError, match="strongly convex"):
            fw.minimize(f, None, method="agm_sc")
        return
    for steps in (3, 100):
        bound = fw.minimize(f, None, method="agm_sc", tol=0, max_iter=steps).lower_bound
        assert bound == -np.inf or Fraction(bound) <= optimum


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_bounds_are_sharp_where_data_are_tame(kind):
    rng = np.random.default_rng(0)
    A = rng.standard_normal((100, 5)).astype(kind)
    b = (A[:, 0] + rng.standard_normal(100)).astype(kind)
    for f in (fw.LeastSquares(A, b), fw.Logistic(A, b > 0, ridge=0.1, intercept=True), fw.Quadratic(A.T @ A, A[0])):
        result = fw.minimize(f, None, method="agm_sc", tol=1e-9)
        assert result.success
        assert result.lower_bound >= result.fun - 1e-9


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("seed", range(20))
def test_strong_convexity_is_a_lower_bound(seed, kind):
    """Two columns: the eigenvalue is known in closed form, and its sign changes nowhere below the bound."""
    rng = np.random.default_rng(seed)
    A = (rng.standard_normal((30, 2)) * [1.0, 10.0 ** rng.uniform(-7, 0)] + rng.choice([0, 1e2, 1e5])).astype(kind)
    mu = Fraction(fw.LeastSquares(A, np.zeros(30)).strong_convexity)
    rows = [[Fraction(v) for v in row] for row in A.tolist()]
    (p, q), (_, r) = [[sum(row[j] * row[k] for row in rows) / 30 for k in range(2)] for j in range(2)]
    # mu is no more than the least eigenvalue where both principal minors of H - mu are nonnegative.
    assert p - mu >= 0
    assert (p - mu) * (r - mu) >= q * q


def test_the_least_eigenvalue_of_a_singular_matrix_is_not_positive():
    rng = np.random.default_rng(0)
    for d in (2, 10, 50):
        B = rng.standard_normal((d - 1, d))
        assert least_eigenvalue(B.T @ B, d) <= 0
