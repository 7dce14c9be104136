"""Properties that every set must have, driven by one list of instances."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests.sets.cases import CASES
from tests.sets.norm_ball_cases import NORM_BALLS

from frankwolfe.atoms import RankOne
from frankwolfe.sets import ProjectableSet, Set

every_case = pytest.mark.parametrize("case", CASES, ids=repr)
every_projection = pytest.mark.parametrize("case", [c for c in CASES if isinstance(c.set, ProjectableSet)], ids=repr)


def directions(shape):
    """Random directions, and directions full of ties and zeros."""
    smooth = arrays(np.float64, shape, elements=st.floats(-10, 10, allow_subnormal=False))
    tied = arrays(np.float64, shape, elements=st.sampled_from([-2.0, -1.0, 0.0, 1.0, 2.0]))
    return st.one_of(smooth, tied)


def random_points(case, n=4):
    """A few points, inside and outside, with ties among them."""
    rng = np.random.default_rng(3)
    plain = [scale * rng.normal(size=case.shape) for scale in (0.05, 1.0, 3.0, 100.0)]
    return [*plain[:n], 2 * np.ones(case.shape), np.round(2 * rng.normal(size=case.shape)), np.zeros(case.shape)]


def close(a, b, g=1.0, rel=1e-11):
    return abs(float(a) - float(b)) <= rel * (abs(float(b)) + float(np.max(np.abs(g))) * 10)


@every_case
@given(data=st.data())
def test_lmo_is_feasible_and_as_low_as_the_naive_twin(case, data):
    g = data.draw(directions(case.shape))
    before = g.copy()
    atom = case.set.lmo(g)
    v = atom.toarray()
    assert np.array_equal(g, before), "the direction was changed"
    assert v.shape == atom.shape == case.shape
    assert v.dtype == np.float64
    assert np.all(np.isfinite(v))
    assert case.set.contains(v, tol=case.room)
    assert close(np.vdot(g, v), case.least(g), g)
    assert close(atom.inner(g), case.least(g), g)


@every_case
@given(data=st.data())
def test_support_is_minus_the_least_value_at_the_opposite_direction(case, data):
    g = data.draw(directions(case.shape))
    assert close(case.set.support(g), -case.least(-g), g)
    assert close(Set.support(case.set, g), case.set.support(g), g)  # the default: through the oracle


@every_case
@pytest.mark.parametrize("scale", [1e300, 1e-300, 1e-308])
def test_lmo_does_not_depend_on_the_scale_of_the_direction(case, scale):
    g = np.random.default_rng(0).uniform(0.5, 2.0, size=case.shape) * np.where(
        np.arange(math.prod(case.shape)) % 3, 1, -1
    ).reshape(case.shape)
    near, far = case.set.lmo(g).toarray(), case.set.lmo(g * scale).toarray()
    np.testing.assert_allclose(far, near, rtol=1e-7, atol=1e-9)
    assert case.set.contains(far, tol=case.room)
    assert float(case.set.support(g * scale)) / scale == pytest.approx(float(case.set.support(g)), rel=1e-9, abs=1e-12)


@every_case
def test_lmo_at_subnormal_directions(case):
    g = np.round(np.random.default_rng(1).normal(size=case.shape) * 8) * 1e-310
    v = case.set.lmo(g).toarray()
    assert np.all(np.isfinite(v))
    assert case.set.contains(v, tol=case.room)
    assert np.vdot(g / 1e-310, v) <= case.least(g / 1e-310) + 1e-9


@every_case
@pytest.mark.parametrize("scale", [1.0, 1e30, 1e-30, 1e-42])
def test_float32_stays_float32(case, scale):
    g64 = np.random.default_rng(2).normal(size=case.shape)
    g = (g64 * scale).astype(np.float32)
    v = case.set.lmo(g).toarray()
    assert v.dtype == np.float32
    assert case.set.contains(v)
    g64 = g.astype(np.float64) / scale
    assert np.vdot(g64, v.astype(np.float64)) == pytest.approx(case.least(g64), rel=2e-5, abs=2e-5)


@every_projection
def test_projection_of_float32_stays_float32(case):
    for x in random_points(case):
        z = case.set.project(x.astype(np.float32))
        assert z.dtype == np.float32
        assert case.set.contains(z, tol=1e-5)
        scale = max(1.0, float(np.max(np.abs(x))))
        np.testing.assert_allclose(z, case.set.project(x), atol=1e-4 * scale)


@every_case
def test_zero_direction(case):
    g = np.zeros(case.shape)
    v = case.set.lmo(g).toarray()
    assert np.all(np.isfinite(v))
    assert case.set.contains(v)
    assert float(case.set.support(g)) == 0


@every_case
def test_oracle_is_deterministic_and_atoms_mix(case):
    g = np.round(np.random.default_rng(4).normal(size=case.shape))
    first, second = case.set.lmo(g), case.set.lmo(g.copy())
    assert np.array_equal(first.toarray(), second.toarray())
    x = np.ones(case.shape)
    np.testing.assert_allclose(first.mixed_into(x, 0.25), 0.75 * x + 0.25 * first.toarray(), atol=1e-15)
    assert np.array_equal(x, np.ones(case.shape))


@every_case
def test_diameter_bounds_the_atoms_and_is_attained(case):
    rng = np.random.default_rng(5)
    # Directions of few distinct magnitudes reach the corners of curved sets, random ones the rest.
    draws = [rng.normal(size=case.shape) for _ in range(40)] + [np.ones(case.shape)]
    draws += [np.sign(rng.normal(size=case.shape)) * rng.integers(0, 2, size=case.shape) for _ in range(200)]
    draws += [
        s * np.eye(math.prod(case.shape))[j].reshape(case.shape) for j in range(math.prod(case.shape)) for s in (1, -1)
    ]
    index = np.arange(math.prod(case.shape)).reshape(case.shape)
    draws += [s * np.where(index < j, 1.0, -1.0) for j in range(index.size) for s in (1, -1)]
    draws += [s * np.where(index % case.shape[-1] < j, 1.0, -1.0) for j in range(case.shape[-1]) for s in (1, -1)]
    draws += [s * np.eye(*case.shape) for s in (1, -1) if len(case.shape) == 2]
    if case.name.startswith("ellipsoid"):  # widest along its longest axis
        matrix = np.diag(case.set.matrix) if case.set.matrix.ndim == 1 else case.set.matrix
        draws += [s * np.linalg.svd(matrix)[0][:, 0] for s in (1, -1)]
    atoms = np.array([case.set.lmo(g).toarray().ravel() for g in draws])
    longest = max(np.linalg.norm(atoms - a, axis=1).max() for a in atoms)
    diameter = case.set.diameter(case.shape)
    assert isinstance(diameter, float)
    assert longest <= diameter * (1 + 1e-12)
    assert longest >= diameter * (1 - 1e-9 if case.exact else 0.3)


@pytest.mark.parametrize("case", [c for c in CASES if c.size is not None], ids=repr)
def test_contains_agrees_with_the_gauge(case):
    for x in random_points(case):
        size = case.size(x)
        assert case.set.contains(x) == (size <= case.set.radius)
        if size > 0:
            assert case.set.contains(x / size * case.set.radius, tol=1e-12)
            assert not case.set.contains(x / size * case.set.radius * (1 + 1e-6))
            assert case.set.with_radius(size * 1.000001).contains(x)
            assert not case.set.with_radius(size * 0.999999).contains(x)
    assert case.set.with_radius(3.0).radius == 3.0
    assert type(case.set.with_radius(3.0)) is type(case.set)


@every_case
def test_contains_survives_extreme_points(case):
    for bad in (np.nan, np.inf, -np.inf, 1e308 if case in NORM_BALLS else 1e300):
        x = np.zeros(case.shape)
        x.flat[-1] = bad
        if math.prod(case.shape) > 1 or "variation" not in case.name or not np.isfinite(bad):
            assert not case.set.contains(x)


@every_case
def test_equality_hash_and_pickle(case):
    twin = pickle.loads(pickle.dumps(case.set))
    assert twin == case.set
    assert hash(twin) == hash(case.set)
    assert type(twin) is type(case.set)
    assert twin != object()
    g = np.random.default_rng(6).normal(size=case.shape)
    np.testing.assert_allclose(twin.lmo(g).toarray(), case.set.lmo(g).toarray(), atol=1e-12)
    assert repr(case.set).startswith(tuple(f"{kind.__name__}(" for kind in type(case.set).__mro__))


@every_projection
def test_projection_properties(case):
    points = random_points(case)
    images = [case.set.project(x.copy()) for x in points]
    for x, z in zip(points, images, strict=True):
        scale = 1 + float(np.abs(x).max())
        before = x.copy()
        assert case.set.contains(z, tol=case.room)
        np.testing.assert_allclose(case.set.project(x), z)
        assert np.array_equal(x, before), "the point was changed"
        np.testing.assert_allclose(case.set.project(z), z, atol=1e-12)  # idempotent
        # Variational inequality: no feasible w has <x - z, w - z> > 0; the worst w is the support's.
        assert float(case.set.support(x - z)) - np.vdot(x - z, z) <= 1e-11 * scale
        if case.set.contains(x):
            np.testing.assert_allclose(z, x, atol=1e-12)
    for x, z in zip(points, images, strict=True):
        for y, w in zip(points, images, strict=True):
            assert np.linalg.norm(z - w) <= np.linalg.norm(x - y) * (1 + 1e-12) + 1e-12  # nonexpansive


@every_projection
@given(data=st.data())
def test_projection_variational_inequality_on_any_point(case, data):
    x = data.draw(directions(case.shape))
    z = case.set.project(x)
    assert case.set.contains(z, tol=case.room)
    assert float(case.set.support(x - z)) - np.vdot(x - z, z) <= 1e-11 * (1 + float(np.abs(x).max()))


@every_projection
@pytest.mark.parametrize("scale", [1e12, 1e18, 1.0 + 1e-9])
def test_projection_far_away_and_just_outside(case, scale):
    """Just outside, the point comes from the boundary: an atom, pushed outwards by one part in 1e9."""
    direction = np.random.default_rng(7).normal(size=case.shape)
    x = scale * (direction if scale > 2 else case.set.lmo(direction).toarray())
    z = case.set.project(x)
    assert np.all(np.isfinite(z))
    assert case.set.contains(z, tol=case.room)
    gap = float(case.set.support(x - z)) - np.vdot(x - z, z)
    assert gap <= 1e-11 * (1 + float(np.abs(x).max()))


@pytest.mark.parametrize("case", [c for c in CASES if c.array_native], ids=repr)
def test_the_strict_array_namespace_agrees(case):
    strict = pytest.importorskip("array_api_strict")
    g = np.random.default_rng(8).normal(size=case.shape)
    h = strict.asarray(g)
    atom = case.set.lmo(h)
    v = atom.scale * strict.linalg.outer(atom.left, atom.right) if isinstance(atom, RankOne) else atom.toarray()
    assert type(v) is type(h)
    np.testing.assert_allclose(np.asarray(v), case.set.lmo(g).toarray(), rtol=1e-10, atol=1e-12)
    assert float(atom.inner(h)) == pytest.approx(float(case.set.lmo(g).inner(g)))
    assert float(case.set.support(h)) == pytest.approx(float(case.set.support(g)))
    assert case.set.contains(v, tol=1e-9)
    assert np.asarray(atom.mixed_into(h, 0.5)) == pytest.approx(case.set.lmo(g).mixed_into(g, 0.5))
    assert float(case.set.support(strict.zeros(case.shape))) == 0
    if isinstance(case.set, ProjectableSet):
        z = case.set.project(5 * h)
        assert type(z) is type(h)
        np.testing.assert_allclose(np.asarray(z), case.set.project(5 * g), atol=1e-12)


@every_case
def test_contains_tells_inside_from_outside(case):
    """The mean of atoms is inside; a step beyond a supporting plane is not."""
    rng = np.random.default_rng(6)
    atoms = [case.set.lmo(rng.normal(size=case.shape)).toarray() for _ in range(6)]
    assert case.set.contains(sum(atoms) / 6, tol=1e-9)
    for g in rng.normal(size=(3, *case.shape)):
        v = case.set.lmo(g).toarray()
        outwards = g / np.linalg.norm(g)
        assert not case.set.contains(v - 1e-5 * outwards, tol=1e-9)


def cvxpy_fits(case):
    """CVXPY approximates powers by rationals: p = 1.0001, 50 and 1e6 are not for it."""
    return case.judge is not None and case.name not in {f"lp-{p}" for p in (1.0001, 50, 1e6)}


@pytest.mark.parametrize("case", [c for c in CASES if cvxpy_fits(c)], ids=repr)
def test_oracle_and_projection_agree_with_cvxpy(case):
    cp = pytest.importorskip("cvxpy")
    rng = np.random.default_rng(9)
    g, x0 = rng.normal(size=case.shape), 3 * rng.normal(size=case.shape)
    x = cp.Variable(math.prod(case.shape))
    value = cp.Problem(cp.Minimize(g.ravel() @ x), case.judge(x)).solve(solver=cp.CLARABEL)
    assert float(case.set.lmo(g).inner(g)) == pytest.approx(value, abs=1e-6)
    if isinstance(case.set, ProjectableSet):
        value = cp.Problem(cp.Minimize(cp.sum_squares(x - x0.ravel())), case.judge(x)).solve(solver=cp.CLARABEL)
        z = case.set.project(x0)
        assert np.sum((z - x0) ** 2) == pytest.approx(value, rel=1e-6, abs=1e-6)
        np.testing.assert_allclose(z.ravel(), x.value, atol=5e-4)
