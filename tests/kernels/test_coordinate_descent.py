"""Coordinate descent on models of sparse columns: each round as its plain twin takes it, and optimal in the end."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from frankwolfe.kernels.qp import coordinate_descent_loops
from frankwolfe.kernels.qp.coordinate_descent import Model, Start, descended, extrapolated, water_level
from frankwolfe.kernels.qp.simplex_qp import l1_qp, simplex_qp
from frankwolfe.kernels.rows.column_layouts import Columns


def columns_of(A: np.ndarray, scale: float = 1.0) -> Columns:
    """Return a matrix by columns; without values where they are all one."""
    csc = sp.csc_array(A)
    values = None if csc.nnz and (csc.data == 1.0).all() else csc.data
    return Columns((csc.indptr.astype(np.int64), csc.indices.astype(np.uint32), values), A.shape, scale)


def made(seed: int, n: int = 30, d: int = 12, pattern: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return sparse data with an empty column, curvatures of the rows, and a slope."""
    rng = np.random.default_rng(seed)
    A = (rng.random((n, d)) < 0.4) * (1.0 if pattern else rng.standard_normal((n, d)))
    A[:, d // 2] = 0.0
    return A, rng.random(n) / n, 0.2 * rng.standard_normal(d)


def hessian(A: np.ndarray, c: np.ndarray, ridge: float, intercept: bool) -> np.ndarray:
    """Return the Hessian of the model, formed."""
    along = A.T @ c
    return A.T @ (c[:, None] * A) + ridge * np.eye(A.shape[1]) - intercept * np.outer(along, along) / c.sum()


def gap(H: np.ndarray, slope: np.ndarray, radius: float, start: np.ndarray, z: np.ndarray, signed: bool) -> float:
    """Return the Frank-Wolfe gap of the model at z."""
    g = slope + H @ (z - start)
    return float(g @ z + radius * np.max(np.abs(g) if signed else -g))


@given(
    seed=st.integers(0, 99), pattern=st.booleans(), intercept=st.booleans(), signed=st.booleans(), level=st.floats(0, 1)
)
@settings(max_examples=25, deadline=None)
def test_rounds_are_those_of_their_plain_twin(seed, pattern, intercept, signed, level) -> None:
    A, c, slope = made(seed, pattern=pattern)
    H, layout, d, ridge, radius = hessian(A, c, 0.1, intercept), columns_of(A), A.shape[1], 0.1, 1.5
    rng = np.random.default_rng(seed)
    start = rng.random(d) * (rng.random(d) < 0.5)
    bend, along = coordinate_descent_loops.bends(*layout.arrays, np.arange(d), c)
    free = intercept / c.sum()
    np.testing.assert_allclose(bend + ridge - free * along**2, np.diag(H), atol=1e-14)
    arguments = *layout.arrays, np.arange(d), c, slope - ridge * start, bend + ridge - free * along**2, along, free
    places, gaps = np.zeros((3, d + len(c) + 1)), np.zeros(2)
    places[0, :d], places[0, -1] = start, level
    rounds = coordinate_descent_loops.descend(*arguments, ridge, places, radius, signed, -np.inf, gaps)
    assert rounds == 2
    plain = start.copy()
    for found in places[1:]:
        some = plain != 0 if plain.any() else np.ones(d)
        firm, best = coordinate_descent_loops.FIRM / np.sum(some / np.diag(H)), -np.inf
        for j in range(d):  # the best of each entry on a fine grid
            now = slope[j] + H[j] @ (plain - start)
            best = max(best, abs(now) if signed else -now)
            others, ways = np.abs(plain).sum() - abs(plain[j]), np.linspace(-4 if signed else 0, 4, 80001)
            over = level + firm * (others + np.abs(ways) - radius)
            penalty = (np.maximum(over, 0.0) if signed else over) ** 2 / (2 * firm)
            plain[j] = ways[np.argmin(now * (ways - plain[j]) + 0.5 * H[j, j] * (ways - plain[j]) ** 2 + penalty)]
        level += firm * (np.abs(plain).sum() - radius)
        if not np.abs(found[:d]).sum() > coordinate_descent_loops.NOTHING * radius:
            level = min(level, best)
        level = max(level, 0.0) if signed else level
        np.testing.assert_allclose(found[:d], plain, atol=1e-3)
        np.testing.assert_allclose(found[d:-1], c * (A @ (found[:d] - start)), atol=1e-14)
        assert found[-1] == pytest.approx(level, abs=1e-2 * max(firm, 1))


@pytest.mark.parametrize("pattern", [False, True])
def test_a_curvature_that_is_the_same_everywhere_is_one_number(pattern: bool) -> None:
    A, _, slope = made(6, pattern=pattern)
    layout, (n, d), found = columns_of(A), A.shape, []
    for c in (np.full(n, 0.05), np.full(1, 0.05)):
        bend, along = coordinate_descent_loops.bends(*layout.arrays, np.arange(d), np.full(n, 0.05))
        places, gaps = np.zeros((4, d + n + 1)), np.zeros(3)
        arguments = np.arange(d), c, slope, bend, along, 0.0, 0.0, places, 2.0, True, -np.inf, gaps
        assert coordinate_descent_loops.descend(*layout.arrays, *arguments) == 3
        found.append(places)
    assert np.abs(found[0]).max() > 0
    np.testing.assert_allclose(found[1], found[0], rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize(("radius", "scale", "pattern"), [(0.3, 1.0, False), (2.0, 0.5, True), (1e4, 1.0, False)])
def test_ends_at_the_minimiser(radius: float, scale: float, pattern: bool, signed: bool, intercept: bool) -> None:
    A, c, slope = made(3, pattern=pattern)
    ridge, every = 0.01, np.arange(A.shape[1])
    start = np.zeros(A.shape[1])
    start[1] = radius
    H = hessian(scale * A, c, ridge, intercept)
    model = Model(columns_of(A, scale), every, slope, c, ridge, intercept)
    found = descended(model, radius, Start(start, 0.0), signed, 1e-12 * radius, 3000)
    assert found.done
    b = slope - H @ start
    best = l1_qp(H, b, radius, start) if signed else radius * simplex_qp(radius**2 * H, radius * b, start / radius)
    np.testing.assert_allclose(found.z, best, atol=1e-6 * min(radius, 10.0))
    assert gap(H, slope, radius, start, found.z, signed) <= 1e-8 * radius
    assert np.abs(found.z).sum() <= radius * (1 + 1e-12)


def test_a_limit_on_the_rounds_is_kept_and_told() -> None:
    A, c, slope = made(5)
    found = descended(Model(columns_of(A), np.arange(12), slope, c), 1.0, Start(np.zeros(12), 0.01), True, 0.0, 3)
    assert (found.rounds, found.done) == (3, False)


@pytest.mark.parametrize("signed", [True, False])
def test_a_limit_ends_inside_the_set(signed: bool) -> None:
    """Also where the last rounds were to be extrapolated, which leaves the simplex for a while."""
    rng = np.random.default_rng(7)
    A = rng.standard_normal((20, 3)) @ rng.standard_normal((3, 40)) + 0.05 * rng.standard_normal((20, 40))
    c, slope, start, layout = np.full(20, 0.05), rng.standard_normal(40), np.zeros(40), columns_of(A)
    start[0] = 3.0
    for most in range(1, 80):
        z = descended(Model(layout, np.arange(40), slope, c), 3.0, Start(start), signed, 0.0, most).z
        assert np.abs(z).sum() <= 3.0 * (1 + 1e-12)
        assert signed or z.min() >= 0


@pytest.mark.parametrize("signed", [True, False])
def test_from_a_start_far_from_everything_descent_begins_at_zero(signed: bool) -> None:
    """Its rounds are those from zero, and their end is the answer that the Hessian gives."""
    rng = np.random.default_rng(8)
    A, c, d, radius = rng.standard_normal((60, 25)), np.full(60, 1 / 60), 25, 1000.0
    start, target = radius * (np.arange(d) == 3), 100 * A @ rng.standard_normal(d)
    slope, bent = A.T @ (c * (A @ start - target)), c * (A @ start)
    assert float((A @ start) @ target) < 0.5 * float((A @ start) @ (A @ start))
    model, H = Model(columns_of(A), np.arange(d), slope, c), hessian(A, c, 0.0, False)
    b = slope - H @ start
    for most in (1, 3):
        near = descended(model, radius, Start(start, None, (bent, A.T @ bent)), signed, 0.0, most).z
        at_zero = model._replace(slope=b)
        np.testing.assert_allclose(descended(at_zero, radius, Start(np.zeros(d)), signed, 0.0, most).z, near, rtol=1e-6)
    found = descended(model, radius, Start(start, None, (bent, A.T @ bent)), signed, 1e-3, 2000)
    assert found.done
    best = l1_qp(H, b, radius, start) if signed else radius * simplex_qp(radius**2 * H, radius * b, start / radius)
    np.testing.assert_allclose(found.z, best, atol=0.1)


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("level", [None, 5.0, 1e9])
def test_a_level_that_is_too_high_falls(signed: bool, level: float | None) -> None:
    """Nothing is in use then; and on a large simplex the multiplier is negative."""
    d, start = 12, 50.0 * (np.arange(12) == 3)
    A, c, slope = made(4, d=d)
    model, H = Model(columns_of(A), np.arange(d), slope, c, 0.01), hessian(A, c, 0.01, False)
    bent = c * (A @ start)
    found = descended(model, 50.0, Start(start, level, (bent, A.T @ bent)), signed, 1e-6, 3000)
    assert found.done
    assert np.abs(found.z).sum() <= 50.0 * (1 + 1e-12)
    assert signed or (found.z.min() >= 0 and found.z.sum() == pytest.approx(50.0))
    assert gap(H, slope, 50.0, start, found.z, signed) <= 1e-4


@given(seed=st.integers(0, 99), radius=st.sampled_from([0.01, 1.0, 50.0]))
@settings(max_examples=30, deadline=None)
def test_water_level_fills_the_radius(seed: int, radius: float) -> None:
    rng = np.random.default_rng(seed)
    peaks, bend = rng.random(40), np.where(rng.random(40) < 0.2, 0.0, rng.random(40) + 0.01)
    level = water_level(peaks, bend, radius)
    held = np.sum(np.maximum(peaks - level, 0.0)[bend > 0] / bend[bend > 0])
    assert held == pytest.approx(radius) if level > 0 else held <= radius * (1 + 1e-12)


def test_extrapolation_finds_the_limit_of_a_linear_iteration() -> None:
    rng = np.random.default_rng(0)
    M, limit = 0.9 * np.diag(rng.random(4)), rng.standard_normal(4)
    places = [np.zeros(4)]
    for _ in range(5):
        places.append(limit + M @ (places[-1] - limit))
    np.testing.assert_allclose(extrapolated(np.stack(places), 4), limit, atol=1e-4)
