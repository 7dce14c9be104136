"""Squares from second moments: as true as from the rows, where they say so, and used where rounding is not felt."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import frankwolfe as fw
from frankwolfe.methods import NewtonFrankWolfe
from frankwolfe.objectives.second_moments import SecondMoments
from frankwolfe.rounding import Extent

SETS = [fw.L2Ball(0.7), fw.L1Ball(0.9), fw.Simplex(5, 0.8), fw.Box(-0.2, 0.3)]
OPTIONS = [{}, {"intercept": True}, {"ridge": 0.3}, {"intercept": True, "ridge": 0.1, "sample_weight": True}]


def data(n=60, d=5, seed=0):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, d)) * np.array([1.0, 10.0, 0.1, 1.0, 3.0]) + np.array([0.0, 5.0, 0.0, -1.0, 0.3])
    return A, A @ rng.standard_normal(d) * 0.2 + rng.standard_normal(n) + 2.0, rng.random(n)


def model(options, A, b, weights):
    given = dict(options)
    if given.pop("sample_weight", False):
        given["sample_weight"] = weights
    return fw.LeastSquares(A, b, **given)


def exact_tangent(f, y, v):
    """Return f(y) + <gradient at y, v - y> in fractions, of the numbers as the model keeps them."""
    rows = [[Fraction(a) for a in row] for row in f.data.matrix.tolist()]
    b, share = [Fraction(t) for t in f.b.tolist()], [Fraction(s) for s in f.exact_share.tolist()]
    (y, v), ridge = ([Fraction(t) for t in point.tolist()] for point in (y, v)), Fraction(f.ridge)
    left = [sum(a * t for a, t in zip(row, y, strict=True)) - target for row, target in zip(rows, b, strict=True)]
    moves = [sum(a * (t - u) for a, t, u in zip(row, v, y, strict=True)) for row in rows]
    if f.intercept:
        level = sum(s * r for s, r in zip(share, left, strict=True)) / sum(share)
        left = [r - level for r in left]
    value = sum(s * r * r for s, r in zip(share, left, strict=True)) / 2 + ridge * sum(t * t for t in y) / 2
    change = sum(s * r * m for s, r, m in zip(share, left, moves, strict=True))
    return value, value + change + ridge * sum(t * (u - t) for t, u in zip(y, v, strict=True))


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("scale", [1.0, 1e4])
def test_the_tangent_is_off_by_no_more_than_its_noise(options, scale):
    A, b, weights = data()
    A[:, 0] += 100 * scale  # far from its mean
    f = model(options, A, b, weights)
    moments = SecondMoments.of(f)
    rng = np.random.default_rng(1)
    for _ in range(5):
        y, v = rng.standard_normal((2, 5)) / scale
        extent = Extent(lambda v=v: float(moments.norms @ np.abs(v)), lambda: 10.0)
        at_y, _ = moments.evaluate(y, extent)
        value, there = exact_tangent(f, y, v)
        noise = Fraction(float(at_y.noise))
        assert abs(Fraction(at_y.value) - value) <= noise
        assert abs(Fraction(at_y.value) - Fraction(at_y.inner) + Fraction(float(at_y.slope @ v)) - there) <= noise
        assert noise < 1e-6 * max(1, abs(value)) * int(scale) ** 2


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("domain", SETS, ids=lambda domain: type(domain).__name__)
def test_a_run_reads_the_rows_once_and_its_claims_hold(options, domain):
    A, b, weights = data()
    f = model(options, A, b, weights)
    sweep, reads = f.data.sweep, []
    f.data.sweep = lambda *given: reads.append(1) or sweep(*given)
    result = fw.minimize(f, domain, tol=1e-9, method=NewtonFrankWolfe())
    assert result.success
    assert result.n_pass == 1
    assert not reads  # not even for the vertex that is the start where zero is not in the set
    assert result.paths[0] == SecondMoments.name
    assert fw.verify(result, model(options, A, b, weights), domain).ok
    default = fw.minimize(model(options, A, b, weights), domain)  # whose goal nobody knows before the first step
    assert default.success
    assert default.n_pass == 1
    again = fw.minimize(f, domain, tol=1e-9)
    assert again.success
    assert again.n_pass == 0  # the moments are still there


def test_where_rounding_of_moments_is_felt_the_rows_have_the_last_word():
    A, b, _ = data()
    A[:, 0] += 1e9
    f, domain = fw.LeastSquares(A, b, intercept=True), fw.L2Ball(0.5)
    result = fw.minimize(f, domain, tol=1e-9, method=NewtonFrankWolfe())
    assert len(result.paths) == 2
    assert fw.verify(result, f, domain).ok


def test_a_value_whose_terms_cancel_is_computed_from_the_rows():
    A, _, _ = data()
    x = np.array([0.3, -0.2, 0.1, 0.4, 0.05])
    f, domain = fw.LeastSquares(A, A @ x + 1e-6 * A[:, 0] ** 2), fw.L2Ball(5.0)
    result = fw.minimize(f, domain, method=NewtonFrankWolfe())
    assert result.success
    assert result.fun == f.value(result.x)
    assert fw.verify(result, f, domain).ok


def test_sparse_and_narrow_rows_form_none():
    A, b, _ = data()
    assert fw.LeastSquares(A.astype(np.float32), b).second_moments is None
    assert fw.Logistic(A, np.sign(b - 2)).second_moments is None
    assert fw.Quadratic(np.eye(3)).second_moments is None
