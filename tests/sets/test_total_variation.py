"""The image oracle: both solvers of its cuts, against each other and against enumeration."""

from __future__ import annotations

import importlib.util
import itertools
from fractions import Fraction

import numpy as np
import pytest
from tests import naive

from frankwolfe.sets import TotalVariationBall
from frankwolfe.sets.norm_balls import total_variation

needs_maxflow = pytest.mark.skipif(importlib.util.find_spec("maxflow") is None, reason="PyMaxflow is not installed")


@pytest.fixture(params=[pytest.param("maxflow", marks=needs_maxflow), "highs"])
def solver(request, monkeypatch):
    """Run a test with each of the two ways to find the best region."""
    if request.param == "highs":
        monkeypatch.setattr(total_variation, "_maxflow", lambda: None)
    return request.param


@pytest.mark.parametrize("shape", [(2, 2), (2, 5), (3, 3), (4, 3)])
@pytest.mark.parametrize("seed", range(4))
def test_best_region_against_all_regions(solver, shape, seed):
    rng = np.random.default_rng(seed)
    g = rng.normal(size=shape) if seed % 2 else rng.integers(-2, 3, size=shape).astype(float)
    ball = TotalVariationBall(2.0)
    v = ball.lmo(g).toarray()
    best = naive.best_vertex(naive.vertices_variation(shape, 2.0), g)
    assert np.vdot(g, v) == pytest.approx(best, abs=1e-12)
    assert naive.variation(v) <= 2.0 * (1 + 1e-12)
    assert float(ball.support(g)) == pytest.approx(-best, abs=1e-12)


@pytest.mark.parametrize("shape", [(2, 2), (3, 3), (2, 4), (5,), (9,)])
@pytest.mark.parametrize("seed", range(6))
def test_support_is_never_below_the_best_region_in_rational_arithmetic(solver, shape, seed):
    rng = np.random.default_rng(seed)
    g = rng.normal(size=shape) * 10.0 ** (rng.integers(-14, 14, size=shape) * (seed % 2))
    g = (g + 1e8 * (seed % 3)) * [1.0, 1e-300, 1e290][seed // 2]
    ball = TotalVariationBall(1.0)
    exact = [Fraction(float(value)) for value in g.reshape(-1)]
    mean = sum(exact, Fraction(0)) / len(exact)
    best, size = Fraction(0), Fraction(float(np.sum(np.abs(g - np.mean(g)))))
    for bits in itertools.product((0, 1), repeat=g.size):
        region = np.array(bits, dtype=float).reshape(shape)
        perimeter = Fraction(int(naive.variation(region)))
        if perimeter:
            best = max(
                best, sum((a - mean for a, bit in zip(exact, bits, strict=True) if bit), Fraction(0)) / perimeter
            )
    for bound in (ball.support(g), -ball.minimum(g).lower):
        assert Fraction(float(bound)) >= best
        assert Fraction(float(bound)) <= best + size * Fraction(1e-13)


def test_a_long_signal_in_single_precision_keeps_its_support():
    g = np.random.default_rng(0).normal(size=200_000).astype(np.float32)
    exact = float(TotalVariationBall(1.0).support(g.astype(np.float64)))
    assert exact * (1 - 1e-12) <= float(TotalVariationBall(1.0).support(g)) <= exact * (1 + 1e-6)


@needs_maxflow
@pytest.mark.parametrize("kind", ["noise", "disc", "constant", "ramp"])
def test_the_two_solvers_agree_on_larger_images(kind, monkeypatch):
    rows, columns = np.mgrid[:14, :11]
    g = {
        "noise": np.random.default_rng(0).normal(size=(14, 11)),
        "disc": np.where((rows - 7) ** 2 + (columns - 5) ** 2 < 12, -1.0, 0.1),
        "constant": np.full((14, 11), 0.3),
        "ramp": rows + 0.1 * columns,
    }[kind]
    ball = TotalVariationBall(1.0)
    by_cuts = ball.lmo(g)
    monkeypatch.setattr(total_variation, "_maxflow", lambda: None)
    by_programme = ball.lmo(g)
    assert by_cuts.inner(g) == pytest.approx(by_programme.inner(g), abs=1e-10)
    assert ball.contains(by_cuts.toarray(), 1e-12)
    assert ball.contains(by_programme.toarray(), 1e-12)


@pytest.mark.parametrize("shape", [(2,), (5,), (6,), (2, 2), (2, 3), (3, 3), (2, 5), (3, 4)])
def test_diameter_is_exact(shape):
    """Over all regions: the longest atom, doubled (the set is symmetric)."""
    longest = max(np.linalg.norm(v) for v in naive.vertices_variation(shape, 1.5))
    assert TotalVariationBall(1.5).diameter(shape) == pytest.approx(2 * longest, rel=1e-12)


def test_perimeter_against_loops():
    for bits in itertools.islice(itertools.product((0.0, 1.0), repeat=9), 0, 512, 7):
        region = np.array(bits).reshape(3, 3)
        assert total_variation.perimeter_of(region) == naive.variation(region)


def test_zero_mean_is_part_of_the_set():
    ball = TotalVariationBall(1.0)
    assert ball.contains(np.array([-0.5, 0.5]))
    assert not ball.contains(np.array([0.0, 1.0]))
    assert not ball.contains(np.array([-0.5, 0.5]) + 1e-6)
    assert not ball.contains(np.full((3, 3), 0.1))
    assert ball.contains(np.array([-0.5, 0.5]) + 1e-6, tol=1e-5)


def test_a_direction_with_a_large_mean_keeps_its_support():
    g = np.array([1.0, 2.0, -1.0, 0.5, 0.0, -3.0])
    for offset in (0.0, 2.0**30):
        assert float(TotalVariationBall(1.0).support(g + offset)) == pytest.approx(
            float(TotalVariationBall(1.0).support(g)), rel=1e-6
        )


def test_the_best_region_of_two_columns(solver):
    region, perimeter, ratio = total_variation.best_ratio_cut(np.array([[1.0, -1.0], [1.0, -1.0]]))
    np.testing.assert_array_equal(region, [[1, 0], [1, 0]])
    assert (perimeter, ratio) == (2.0, pytest.approx(1.0))
