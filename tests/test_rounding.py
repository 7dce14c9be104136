"""What rounding can have done to a certificate is bounded: against exact arithmetic, and in what runs claim."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import frankwolfe as fw
from frankwolfe.points import Point
from frankwolfe.problem import Problem
from frankwolfe.rounding import Extent, RowFacts, noise_of_balance, noise_of_ridge, noise_of_rows, noise_of_sums

SCALES = {
    "plain": lambda rng, d: np.ones(d),
    "wild columns": lambda rng, d: 10.0 ** rng.uniform(-8, 8, d),
    "tiny": lambda rng, d: np.full(d, 1e-12),
    "huge": lambda rng, d: np.full(d, 1e12),
}


def exact(values: Any) -> list[Fraction]:
    """Return floats as the rational numbers that they are."""
    return [Fraction(float(v)) for v in np.ravel(values)]


def products(A: np.ndarray, x: list[Fraction]) -> list[Fraction]:
    return [sum(map(lambda a, b: Fraction(float(a)) * b, row, x)) for row in A]


def squares_tangent(A: np.ndarray, b: np.ndarray, share: Fraction, y: np.ndarray, x: np.ndarray) -> Fraction:
    """Return the tangent of the mean squared error at y, evaluated at x, exactly."""
    targets, at_y, at_x = exact(b), products(A, exact(y)), products(A, exact(x))
    terms = zip(targets, at_y, at_x, strict=True)
    return share * sum((m - t) ** 2 / 2 + (m - t) * (n - m) for t, m, n in terms)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("kind", ["dense", "csr", "csc"])
@pytest.mark.parametrize("mean", [0.0, 1e6])
def test_tangents_of_squares_are_exact_but_for_their_noise(scale: str, kind: str, mean: float) -> None:
    rng = np.random.default_rng(3)
    n, d = 40, 5
    A = (rng.standard_normal((n, d)) + mean) * SCALES[scale](rng, d)
    b = A @ rng.standard_normal(d) + rng.standard_normal(n)
    ball = fw.L2Ball(2.0)
    objective = fw.LeastSquares(A if kind == "dense" else sp.csr_array(A).asformat(kind), b)
    problem = Problem(objective, ball)
    for _ in range(5):
        y, x = (ball.project(3 * rng.standard_normal(d)) for _ in range(2))
        tangent = problem.evaluate(Point.at(y)).tangent
        computed = Fraction(float(tangent.offset)) + sum(map(Fraction.__mul__, exact(tangent.slope), exact(x)))
        # The margins that the tangent touches at are those of y up to rounding: the tangent at any margins is below.
        true = squares_tangent(A, b, Fraction(1, n), y, x)
        assert computed - true <= Fraction(float(tangent.noise))


@pytest.mark.parametrize("mean", [0.0, 1e5])
def test_tangents_of_a_quadratic_are_exact_but_for_their_noise(mean: float) -> None:
    rng = np.random.default_rng(0)
    A = rng.standard_normal((20, 4)) + mean
    b = rng.standard_normal(20)
    Q, c, constant = A.T @ A, -A.T @ b, 0.5 * float(b @ b)
    problem = Problem(fw.Quadratic(Q, c, constant), fw.L1Ball(3.0))
    for _ in range(5):
        y, x = (fw.L1Ball(3.0).project(rng.standard_normal(4)) for _ in range(2))
        tangent = problem.evaluate(Point.at(y)).tangent
        computed = Fraction(float(tangent.offset)) + sum(map(Fraction.__mul__, exact(tangent.slope), exact(x)))
        Qy = products(Q, exact(y))
        half = sum(map(Fraction.__mul__, Qy, exact(y))) / 2
        linear = sum((q + e) * z for q, e, z in zip(Qy, exact(c), exact(x), strict=True))
        assert abs(computed - (linear - half + Fraction(constant))) <= Fraction(float(tangent.noise))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("seed", range(4))
def test_a_quadratic_that_rounding_made_indefinite(dtype: str, seed: int) -> None:
    """The bound is one on the function as it is stored, which may go below zero where the exact one would not."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((3, 6))
    Q = (A.T @ A).astype(dtype)
    Q = (Q + Q.T) / 2
    least, direction = (part[..., 0] for part in np.linalg.eigh(Q.astype(float)))
    x = [Fraction(float(v)) * Fraction(999, 1000) for v in direction]
    value = sum(map(Fraction.__mul__, products(Q, x), x)) / 2
    result = fw.minimize(fw.Quadratic(Q, np.zeros(6, dtype)), fw.L2Ball(1.0), tol=1e-4)
    assert result.success
    assert Fraction(result.lower_bound) <= min(value, 0)
    assert least < 0 or value >= 0


def test_operators_are_as_noisy_as_their_norm() -> None:
    from scipy.sparse.linalg import aslinearoperator

    rng = np.random.default_rng(0)
    A, b = 1e6 * rng.standard_normal((30, 4)), rng.standard_normal(30)
    for make in (lambda M: fw.LeastSquares(M, b), lambda M: fw.Logistic(M, b > 0, intercept=True)):
        plain, hidden = (Problem(make(M), fw.L1Ball(1.0)) for M in (A, aslinearoperator(A)))
        noises = [float(p.evaluate(Point.at(np.full(4, 0.1))).tangent.noise) for p in (plain, hidden)]
        assert noises[0] <= noises[1] <= 10 * noises[0]
    Q = A.T @ A
    plain, hidden = (Problem(fw.Quadratic(M, b[:4]), fw.L1Ball(1.0)) for M in (Q, aslinearoperator(Q)))
    noises = [float(p.evaluate(Point.at(np.full(4, 0.1))).tangent.noise) for p in (plain, hidden)]
    assert 0.5 * noises[0] <= noises[1] <= 10 * noises[0]


def test_column_norms_know_every_layout() -> None:
    rng = np.random.default_rng(0)
    A = rng.standard_normal((30, 6)) * (rng.random((30, 6)) < 0.5)
    weights = rng.random(30)
    share = weights / weights.sum()
    for matrix in (A, sp.csr_array(A), sp.csc_array(A), np.asfortranarray(A), A.astype(np.float32)):
        for given, used in ((None, np.full(30, 1 / 30)), (weights, share)):
            f = fw.LeastSquares(matrix, np.ones(30), sample_weight=given)
            np.testing.assert_allclose(f.column_norms(None), np.sqrt(used @ (A * A)), rtol=1e-6)  # type: ignore[arg-type]


def test_entries_stored_in_pieces_count_with_all_their_pieces() -> None:
    """An entry 1e8 - 1e8 + 1 is rounded like its largest piece."""
    rows, cols = np.array([0, 0, 0, 1]), np.array([0, 0, 0, 1])
    pieces = sp.csr_array(([1e8, -1e8, 1.0, 1.0], cols, [0, 3, 4]), shape=(2, 2))
    assert rows.size == pieces.nnz
    f = fw.LeastSquares(pieces, [1.0, 1.0])
    assert fw.minimize(f, fw.L2Ball(5.0), tol=1e-3).success


@pytest.mark.parametrize("radius", [1e-12, 1.0, 1e12])
@pytest.mark.parametrize("method", ["afw", "fw", "pairwise", "apgd", "subspace", "newton"])
def test_bounds_hold_at_every_scale(radius: float, method: str) -> None:
    """Columns from 1e-8 to 1e8 and data of mean 1e6: no bound above the value of a feasible point."""
    rng = np.random.default_rng(1)
    for mean in (0.0, 1e6):
        A = (rng.standard_normal((25, 4)) + mean) * 10.0 ** np.array([-8.0, 0.0, 3.0, 8.0])
        b = rng.standard_normal(25)
        f, ball = fw.LeastSquares(A, b), fw.L1Ball(radius)
        result = fw.minimize(f, ball, method=method, tol=0, max_iter=40)
        lowest = min(_value(A, b, ball.project(result.x + radius * t)) for t in np.linspace(-0.1, 0.1, 5))
        assert Fraction(result.lower_bound) <= lowest
        assert result.status is fw.Status.MAX_ITER


def _value(A: np.ndarray, b: np.ndarray, x: np.ndarray) -> Fraction:
    left = zip(products(A, exact(x)), exact(b), strict=True)
    return sum((m - t) ** 2 for m, t in left) / (2 * len(b))


def test_a_goal_below_rounding_ends_with_its_own_status() -> None:
    rng = np.random.default_rng(0)
    A = rng.standard_normal((60, 5))
    result = fw.minimize(fw.LeastSquares(A, rng.standard_normal(60)), fw.L2Ball(0.1), tol=1e-300)
    assert result.status is fw.Status.PRECISION
    assert not result.success
    assert 0 <= result.gap < 1e-11
    assert result.n_iter < 1000
    assert "as exact as this arithmetic allows" in result.message


def test_single_precision_reports_the_value_of_its_point() -> None:
    """In double precision, from the numbers as they are stored: a lower value that a step met does not count."""
    rng = np.random.default_rng(0)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        A = rng.standard_normal((61, 4)).astype(np.float32)
        y = A[:, 0] + rng.standard_normal(61) > 0
        result = fw.minimize(fw.Logistic(A, y), fw.L1Ball(0.1), tol=1e-9)
        true = float(fw.Logistic(A.astype(np.float64), y).value(result.x.astype(np.float64)))
        assert result.fun == pytest.approx(true, rel=1e-14)
        assert result.lower_bound <= true


@pytest.mark.parametrize("seed", range(12))
def test_wide_data_far_beyond_convergence(seed: int) -> None:
    """A convex objective of ours is never called anything else, however long the run goes on."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((8, 40))
    result = fw.minimize(fw.LeastSquares(X, rng.standard_normal(8)), fw.L2Ball(0.3), tol=0, max_iter=200)
    assert result.status is fw.Status.MAX_ITER


@pytest.mark.parametrize("method", ["pairwise", "away", "fcfw"])
def test_a_quadratic_whose_terms_cancel(method: str) -> None:
    """|Ax - b|²/2 written out, for data of mean 1e6: bounds keep the distance that cancellation asks for."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((40, 6)) + 1e6
    b = A @ rng.standard_normal(6)
    f = fw.Quadratic(A.T @ A, -A.T @ b, 0.5 * float(b @ b))
    result = fw.minimize(f, fw.Simplex(6), method=method, tol=1e-12, max_iter=300)
    assert result.status in (fw.Status.PRECISION, fw.Status.MAX_ITER)
    x = [Fraction(1, 6)] * 6
    Qx = products(A.T @ A, x)
    at = sum((q / 2 + c) * z for q, c, z in zip(Qx, exact(-A.T @ b), x, strict=True)) + Fraction(0.5 * float(b @ b))
    assert Fraction(result.lower_bound) <= at


@pytest.mark.parametrize("outside", [1e-15, 1e-12, 1e-9, 5e-7])
@pytest.mark.parametrize(
    "domain",
    [
        fw.L2Ball(2.0),
        fw.L1Ball(2.0),
        fw.LpBall(2.0, p=3),
        fw.KSupportBall(2.0, k=2),
        fw.OWLBall(2.0, weights=[4.0, 3.0, 2.0, 1.0]),
        fw.GroupBall(2.0, groups=[[0, 1], [2, 3]]),
        fw.Simplex(4, 2.0),
        fw.Polytope(np.ones((1, 4)), [2.0], lower=-1.0, upper=1.0),
        fw.ConvexHull(np.vstack([np.eye(4), -np.eye(4)])),
    ],
    ids=lambda s: type(s).__name__,
)
def test_a_start_just_outside_is_pulled_in(domain: fw.Set, outside: float) -> None:
    """As another precision leaves it: the run begins inside, and nothing is below the optimum."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((30, 4))
    f = fw.LeastSquares(A, A @ np.array([3.0, -2.0, 1.0, 0.0]))
    start = domain.lmo(f.grad(np.zeros(4))).toarray() * (1 + outside)
    best = fw.minimize(f, domain, tol=1e-9)
    for method in ("fw", "pairwise", "auto"):
        result = fw.minimize(f, domain, start, method=method, max_iter=30, tol=0)
        assert result.status is fw.Status.MAX_ITER
        assert domain.contains(result.x, tol=1e-14)
        assert result.fun >= best.lower_bound
    with pytest.raises(ValueError, match="does not lie in"):
        fw.minimize(f, domain, start * 1.01)


def test_a_result_in_single_precision_starts_a_run_in_double() -> None:
    rng = np.random.default_rng(0)
    A = rng.standard_normal((50, 8))
    b = A @ np.ones(8)
    far = fw.L2Ball(1e-3) + np.linspace(0.1, 0.2, 8)  # of which the rounding of its points is a larger part
    for domain in (fw.L2Ball(1.0), fw.L1Ball(1.0), fw.KSupportBall(1.0, k=3), far):
        narrow = fw.minimize(fw.LeastSquares(A.astype(np.float32), b), domain, max_iter=50)
        result = fw.minimize(fw.LeastSquares(A, b), domain, narrow, tol=1e-10)
        assert result.status in (fw.Status.OPTIMAL, fw.Status.PRECISION)


def test_a_quadratic_is_convex_where_its_eigenvalues_say_so() -> None:
    rng = np.random.default_rng(0)
    A = rng.standard_normal((3, 6))
    assert fw.Quadratic(A.T @ A).proven
    assert fw.Quadratic((A.T @ A).astype(np.float32)).proven
    saddle = fw.Quadratic(np.diag([1.0, -1.0]), [0.1, 0.1])
    assert not saddle.proven
    assert fw.minimize(saddle, fw.L2Ball(1.0), [0.5, 0.0], method="fw", max_iter=50).status is fw.Status.NOT_CONVEX


@pytest.mark.parametrize("method", ["auto", "fw", "newton", "fcfw", "apgd"])
def test_nothing_is_proven_of_an_indefinite_quadratic(method: str) -> None:
    """At a vertex that is a local minimum every tangent agrees with f; the optimum is elsewhere."""
    hollow = fw.Quadratic(np.diag([1.0, -1.0, -3.0]))
    result = fw.minimize(hollow, fw.Simplex(3), [0.0, 1.0, 0.0], method=method)
    assert (result.status, result.lower_bound) == (fw.Status.NOT_CONVEX, -math.inf)
    assert "eigenvalue of -3" in result.message


@pytest.mark.parametrize("method", ["fw", "afw", "hfw", "extrafw"])
def test_steps_to_the_same_vertex_do_not_drift(method: str) -> None:
    """Thousands of averages of equal entries: none is an ulp above the bound."""
    box = fw.Box(-1.0, 0.79187962)
    result = fw.minimize(fw.LeastSquares(np.eye(2), [3.0, 5.0]), box, method=method, tol=0, max_iter=3000)
    assert np.all(result.x <= 0.79187962)


def test_bounds_of_rounding_follow_their_formulae() -> None:
    eps, extent = 2.0**-52, Extent(lambda: 1.0, lambda: 1.0)
    assert noise_of_rows(RowFacts(0.5, 0.0, 1.0), eps, 0.0, 2.0, extent) == 64 * eps * 6
    assert noise_of_sums(eps, 0.0, 2.0, 1.0, 1.0) == 64 * eps * 6
    assert noise_of_balance(eps, 2.0, 1.0, 10.0) == 64 * eps * 20
    assert noise_of_ridge(eps, 0.0, 1.0, 2.0) == 64 * eps * 12


@pytest.mark.parametrize("far", [1e3, 1e6, 1e9])
@pytest.mark.parametrize("method", ["fw", "afw", "away", "apgd"])
def test_products_of_a_users_gradient_may_cancel(far: float, method: str) -> None:
    """Far from the origin, in a direction along which f does not change, <g, x> is nothing beside its terms."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        t, away = rng.standard_normal((2, 6))
        offset = far * (away - (away @ t) / (t @ t) * t)
        f = fw.Function(
            lambda x, o=offset, t=t: 0.5 * float((x - o - t) @ (x - o - t)),
            lambda x, o=offset, t=t: x - o - t,
            smoothness=1,
        )
        result = fw.minimize(f, fw.L2Ball(0.5) + offset, offset, method=method, tol=1e-13, max_iter=40)
        assert result.status not in (fw.Status.NOT_CONVEX, fw.Status.WRONG_GRADIENT)
        best = 0.5 * max(math.sqrt(math.fsum(t * t)) - 0.5, 0.0) ** 2
        assert result.lower_bound <= best * (1 + 1e-14)


def test_minima_over_a_product_may_cancel() -> None:
    """A linear function whose minimum over a box far from the origin is nothing beside its terms."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        c, low = rng.standard_normal(2), 1e9 * rng.standard_normal(2)
        c[1] = -c[0] * low[0] / low[1]
        domain = fw.Box(low, low + 0.1)
        f = fw.Function(lambda x, c=c: math.fsum(c * x), lambda x, c=c: c)
        result = fw.minimize(f, domain, low + 0.05, method="fw", tol=1e-13, max_iter=10)
        ends = [exact(end) for end in (domain.lower, domain.upper)]
        best = sum(min(w * end[j] for end in ends) for j, w in enumerate(exact(c)))
        assert Fraction(result.lower_bound) <= best
