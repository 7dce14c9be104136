"""Quadratic programs on the l2 ball: three ways to one answer, which satisfies the optimality conditions."""

from __future__ import annotations

import numpy as np
import pytest

from frankwolfe.kernels.qp.ball_qp import (
    FAINT,
    POWERS,
    _guessed,
    ball_qp,
    ball_qp_by_products,
    small_ball_qp,
    tridiagonal_ball_qp,
)


def model(seed: int, d: int, rank: int, spread: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    half = rng.standard_normal((rank, d)) * np.logspace(0, -spread, d)
    return half.T @ half, half.T @ rng.standard_normal(rank)


def value(H: np.ndarray, b: np.ndarray, z: np.ndarray) -> float:
    return float(b @ z + 0.5 * z @ H @ z)


def gap(H: np.ndarray, b: np.ndarray, z: np.ndarray, radius: float) -> float:
    slope = b + H @ z
    return float(slope @ z + radius * np.linalg.norm(slope))


@pytest.mark.parametrize("d", [POWERS, 40, 150])
def test_a_multiplier_is_guessed_from_below(d: int) -> None:
    """The best point of a part of the ball is held back by less; of all of it, by the multiplier itself."""
    for seed in range(4):
        H, b = model(seed, d, 2 * d, 1.0)
        radius = 0.1 * float(np.linalg.norm(np.linalg.solve(H, b)))
        exact, guess = ball_qp(H, b, radius, 1.0).multiplier, _guessed(H, b, radius)
        assert FAINT * np.linalg.norm(b) / radius * (1 - 1e-12) <= guess <= exact * (1 + 1e-9)
        assert d > POWERS or guess == pytest.approx(exact, rel=1e-6)
        assert gap(H, b, ball_qp(H, b, radius).z, radius) <= 1e-9 * abs(value(H, b, ball_qp(H, b, radius).z))


@pytest.mark.parametrize("radius", [1e-3, 1.0, 30.0, 1e4])
@pytest.mark.parametrize(("d", "rank", "spread"), [(4, 4, 0.0), (40, 40, 1.0), (40, 7, 0.0), (90, 200, 3.0)])
def test_three_ways_to_one_answer(d: int, rank: int, spread: float, radius: float) -> None:
    """Definite and singular H, solutions inside and on the sphere, guesses far too small and far too large."""
    for seed in range(3):
        H, b = model(seed, d, rank, spread)
        best = value(H, b, small_ball_qp(H, b, radius))
        scale = abs(best)
        found = [ball_qp(H, b, radius, guess).z for guess in (0.0, 1e-9, 1.0, 1e6)]
        found.append(ball_qp_by_products(lambda v, H=H: H @ v, b, radius, 1e-9 * scale))
        for z in found:
            assert np.linalg.norm(z) <= radius * (1 + 1e-12)
            assert abs(value(H, b, z) - best) <= 1e-8 * scale


@pytest.mark.parametrize("radius", [0.1, 3.0, 1e3])
def test_a_rough_answer_is_as_good_as_it_says(radius: float) -> None:
    """The gap is at most the tolerance, or a share of what was gained since the start."""
    for seed in range(5):
        H, b = model(seed, 30, 60, 2.0)
        rng = np.random.default_rng(seed)
        start = rng.standard_normal(30)
        start *= radius / np.linalg.norm(start)
        for share in (0.3, 1e-3):
            z = ball_qp(H, b, radius, 1.0, start, 0.0, share).z
            gained = value(H, b, start) - value(H, b, z)
            assert gap(H, b, z, radius) <= share * gained * (1 + 1e-6) + 1e-9
        tol = 1e-3 * abs(value(H, b, z))
        for z in (ball_qp(H, b, radius, tol=tol).z, ball_qp_by_products(lambda v, H=H: H @ v, b, radius, tol)):
            assert gap(H, b, z, radius) <= tol * (1 + 1e-6) + 1e-9 * abs(value(H, b, z))


def test_nothing_to_gain_and_nothing_that_bends() -> None:
    H, b = np.zeros((3, 3)), np.array([3.0, 0.0, -4.0])
    for z in (ball_qp(H, b, 2.0).z, ball_qp_by_products(lambda v: 0.0 * v, b, 2.0, 1e-12), small_ball_qp(H, b, 2.0)):
        np.testing.assert_allclose(z, [-1.2, 0.0, 1.6], rtol=1e-9)
    for z in (ball_qp(np.eye(3), 0 * b, 2.0).z, ball_qp_by_products(lambda v: v, 0 * b, 2.0, 1e-12)):
        np.testing.assert_array_equal(z, np.zeros(3))


def test_no_more_products_than_the_spectrum_has_values() -> None:
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((50, 50)))[0]
    H, b, asked = Q @ np.diag(np.repeat([1.0, 2.0, 5.0, 9.0, 20.0], 10)) @ Q.T, rng.standard_normal(50), []

    def bent(v: np.ndarray) -> np.ndarray:
        asked.append(1)
        return H @ v

    z = ball_qp_by_products(bent, b, 0.5, 1e-10)
    assert gap(H, b, z, 0.5) <= 2e-10
    assert len(asked) <= 7  # five distinct eigenvalues, and looks at every second product


@pytest.mark.parametrize("radius", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("size", [1, 2, 40])
def test_a_tridiagonal_matrix_needs_no_eigenvectors(size: int, radius: float) -> None:
    """The answer is the one that they give, also from the multiplier of a leading block, which is no larger."""
    rng, before = np.random.default_rng(size), 0.0
    rows = rng.standard_normal((60, size)) * (1 if size < 40 else np.linspace(1e-3, 1, size))
    diagonal, beside = np.sum(rows**2, axis=0), np.sum(rows[:, 1:] * rows[:, :-1], axis=0)
    for k in range(1, size + 1):
        T = np.diag(diagonal[:k]) + np.diag(beside[: k - 1], 1) + np.diag(beside[: k - 1], -1)
        z, shift = tridiagonal_ball_qp(diagonal[:k], beside[: k - 1], 3.0, radius, before)
        assert np.linalg.norm(z) <= radius * (1 + 1e-12)
        np.testing.assert_allclose(z, small_ball_qp(T, 3.0 * np.eye(1, k)[0], radius), rtol=1e-6, atol=1e-9 * radius)
        assert shift >= before
        before = shift


def test_a_tridiagonal_matrix_without_factors_is_solved_all_the_same() -> None:
    """Rounding may have made it indefinite."""
    diagonal, beside = np.array([1.0, 1.0, 1.0]), np.array([1.0, 1e-9])
    z, _ = tridiagonal_ball_qp(diagonal - 1e-12, beside, 1.0, 10.0)
    T = np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1)
    assert z[0] + 0.5 * z @ T @ z <= -0.5
    assert np.linalg.norm(z) <= 10.0 * (1 + 1e-12)


def test_products_end_where_another_way_costs_less() -> None:
    rng = np.random.default_rng(3)
    Q, _ = np.linalg.qr(rng.standard_normal((300, 300)))
    H, b, count = (Q * np.logspace(-6, 0, 300)) @ Q.T, rng.standard_normal(300), 0

    def bent(v: np.ndarray) -> np.ndarray:
        nonlocal count
        count += 1
        return H @ v

    whole = ball_qp_by_products(bent, b, 1e6, 1e-6)
    needed, count = count, 0
    assert whole is not None
    assert ball_qp_by_products(bent, b, 1e6, 1e-6, worth=needed / 4) is None
    assert count <= needed / 4 + 3
    easy = ball_qp_by_products(bent, b, 1e-3, 1e-9, worth=20)  # a small ball: few products do
    assert easy is not None
    np.testing.assert_allclose(easy, ball_qp(H, b, 1e-3).z, atol=1e-7)


@pytest.mark.parametrize("size", [1e-140, 1e140])
def test_squares_of_the_radius_need_not_be_numbers(size: float) -> None:
    """H z + b is scaled so that the answer is that of radius one, times the size."""
    H, b = np.diag([1.0, 2.0, 0.0]), np.array([3.0, -1.0, 0.5])
    z = small_ball_qp(H / size, b, size)
    np.testing.assert_allclose(z / size, small_ball_qp(H, b, 1.0), rtol=1e-12)
