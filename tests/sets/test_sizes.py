"""Every set at sizes from 1e-12 to 1e12, in both precisions, and directions of any size and kind."""

from __future__ import annotations

import numpy as np
import pytest
from tests.sets.cases import CASES

import frankwolfe as fw
from frankwolfe.sets import LinearImage, MinkowskiSum, Product, ProjectableSet, UnionHull

PRECISIONS = pytest.mark.parametrize("dtype", [np.float64, np.float32])
ROADS = [(0, 1), (1, 3), (0, 2), (2, 3), (1, 2), (0, 3)]


def families(r):
    rng = np.random.default_rng(0)
    return {
        "l1": (fw.L1Ball(r), (6,)),
        "l2": (fw.L2Ball(r), (6,)),
        "linf": (fw.LInfBall(r), (6,)),
        "lp-1.5": (fw.LpBall(r, p=1.5), (6,)),
        "lp-4": (fw.LpBall(r, p=4.0), (6,)),
        "simplex": (fw.Simplex(6, r), (6,)),
        "ksupport": (fw.KSupportBall(r, k=2), (6,)),
        "group": (fw.GroupBall(r, groups=[0, 0, 1, 1, 2, 2]), (6,)),
        "group-3": (fw.GroupBall(r, groups=[0, 0, 1, 1, 2, 2], s=3, p=1.5), (6,)),
        "owl": (fw.OWLBall(r, weights=[3, 2, 1, 1, 0.5, 0.0]), (6,)),
        "owl-weights": (fw.OWLBall(1.0, weights=np.array([3, 2, 1, 1, 0.5, 0.0]) / r), (6,)),
        "nuclear": (fw.NuclearBall(r), (3, 4)),
        "spectral": (fw.SpectralBall(r), (3, 4)),
        "schatten": (fw.SchattenBall(r, p=3.0), (3, 4)),
        "spectrahedron": (fw.Spectrahedron(r), (4, 4)),
        "signal": (fw.TotalVariationBall(r), (6,)),
        "image": (fw.TotalVariationBall(r), (3, 4)),
        "box": (fw.Box(-r * np.arange(1, 7.0), r * np.arange(6.0)), (6,)),
        "box-long": (fw.Box(np.zeros(6), r * 10.0 ** np.arange(0, 12, 2)), (6,)),
        "permutahedron": (fw.Permutahedron(r * np.arange(6.0)), (6,)),
        "ellipsoid": (fw.Ellipsoid(np.ones(6) * r, r * rng.normal(size=(6, 3))), (6,)),
        "ellipsoid-long": (fw.Ellipsoid(np.zeros(6), [1, 1e-6, 1, 1, 1e6, 1.0], r), (6,)),
        "hull": (fw.ConvexHull(r * rng.normal(size=(9, 6))), (6,)),
        "paths": (fw.FlowPolytope(ROADS, 0, 3, r), (6,)),
        "flow": (fw.FlowPolytope(ROADS, 0, 3, r, capacity=0.7 * r), (6,)),
        "polytope": (fw.Polytope(rng.normal(size=(5, 6)), r * np.ones(5), lower=-r, upper=r), (6,)),
        "free": (fw.Polytope(rng.normal(size=(9, 2)), r * np.ones(9)), (2,)),
        "hypersimplex": (r * fw.Hypersimplex(6, k=2), (6,)),
        "shifted": (fw.L2Ball(r) + r * np.ones(6), (6,)),
        "shifted-far": (fw.L2Ball(r) + 1e3 * r * np.ones(6), (6,)),
        "sum": (MinkowskiSum(fw.L1Ball(r), fw.LInfBall(r)), (6,)),
        "union": (UnionHull(fw.L1Ball(2 * r), fw.LInfBall(r)), (6,)),
        "product": (Product(fw.L1Ball(r), fw.Simplex(3, 1e6 * r), shapes=[(3,), None]), (6,)),
        "linear": (LinearImage(fw.L1Ball(r), rng.normal(size=(6, 4))), (6,)),
    }


@PRECISIONS
@pytest.mark.parametrize("size", [1e-12, 1.0, 1e12])
@pytest.mark.parametrize("name", families(1.0))
def test_membership_is_relative_to_the_size(name, size, dtype):
    domain, shape = families(size)[name]
    rng, fine = np.random.default_rng(0), 16 * float(np.finfo(dtype).eps)
    directions = [(rng.normal(size=shape) * 10.0 ** rng.integers(-8, 8)).astype(dtype) for _ in range(12)]
    atoms = [np.asarray(domain.lmo(g).toarray()) for g in directions]
    assert all(v.dtype == dtype for v in atoms)
    middle = sum(atoms) / dtype(len(atoms))
    for v in atoms:
        assert domain.contains(v, tol=0.0)
        mixed = dtype(0.25) * v + dtype(0.75) * middle
        assert domain.contains(mixed, tol=fine)
        beyond = v + dtype(0.1) * (v - middle)
        assert not domain.contains(beyond, tol=1e-6)
        if isinstance(domain, ProjectableSet):
            assert domain.contains(domain.project(beyond), tol=fine)


@PRECISIONS
@pytest.mark.parametrize("domain", [fw.SpectralBall(1.0), fw.SchattenBall(1.0, p=1.5)], ids=["spectral", "schatten"])
def test_atoms_made_of_singular_vectors_are_in_their_set(domain, dtype):
    rng = np.random.default_rng(0)
    for shape in ((2, 2), (3, 4), (5, 5)):
        atoms = [domain.lmo(rng.normal(size=shape).astype(dtype)).toarray() for _ in range(200)]
        assert all(domain.contains(v, tol=0.0) for v in atoms)


@PRECISIONS
@pytest.mark.parametrize("name", ["simplex", "signal", "image", "polytope", "flow", "box", "hull"])
@pytest.mark.parametrize("size", [1e-12, 1e12])
def test_no_convex_function_is_called_otherwise(name, size, dtype):
    domain, shape = families(size)[name]
    rng = np.random.default_rng(1)
    d = int(np.prod(shape))
    A = rng.normal(size=(8, d)).astype(dtype)
    b = (A @ (size * rng.normal(size=d))).astype(dtype)
    t = (size * rng.normal(size=shape)).astype(dtype)
    f = fw.LeastSquares(A, b) if len(shape) == 1 else fw.Function(lambda x: 0.5 * np.sum((x - t) ** 2), lambda x: x - t)
    x0 = None if len(shape) == 1 else domain.lmo(t).toarray()
    for method in ("fw", "afw"):
        result = fw.minimize(f, domain, x0, method=method, tol=0, max_iter=60)
        assert result.status is fw.Status.MAX_ITER
        assert result.lower_bound <= result.fun
        assert domain.contains(result.x, tol=64 * float(np.finfo(dtype).eps))


def directions(shape, dtype):
    """Directions as no gradient should be: ties, near-ties, entries of very different size, subnormal, huge, offset."""
    rng = np.random.default_rng(0)
    single = dtype is np.float32
    unit = float(np.finfo(dtype).eps)
    signs = rng.choice([-1.0, 1.0], size=shape)
    spread = rng.integers(*((-8, 8) if single else (-20, 20)), size=shape)
    wild = rng.integers(*((-37, 36) if single else (-300, 300)), size=shape)
    found = {
        "ties": rng.choice([-1.0, 0.0, 1.0, 1.0], size=shape),
        "near-ties": signs * (1 + unit * rng.integers(-2, 3, size=shape)),
        "range": rng.normal(size=shape) * 10.0**spread,
        "wild": rng.normal(size=shape) * 10.0**wild,
        "subnormal": rng.normal(size=shape) * (1e-40 if single else 1e-310),
        "huge": rng.normal(size=shape) * (1e36 if single else 1e300),
        "offset": (1e4 if single else 1e8) + rng.normal(size=shape),
    }
    return {kind: g.astype(dtype) for kind, g in found.items()}


@PRECISIONS
@pytest.mark.parametrize("case", CASES, ids=repr)
def test_answers_are_right_to_a_few_units_of_rounding_for_any_direction(case, dtype):
    unit = float(np.finfo(dtype).eps) * (8 + 2 * np.sqrt(np.prod(case.shape)))
    for kind, g in directions(case.shape, dtype).items():
        top = 2.0 ** np.frexp(float(np.max(np.abs(g))))[1]
        scaled = g.astype(np.float64) / top
        least, room = case.least(scaled), unit * case.set.reach(np.abs(scaled))
        found = case.set.minimum(g)
        v = np.asarray(found.atom.toarray(), dtype=np.float64)
        assert np.vdot(scaled, v) <= least + room, kind
        if kind != "subnormal":  # the values are so small that they have few digits
            assert float(found.lower) / top <= least + room, kind
            assert float(case.set.support(-g)) / top >= -least - room, kind
            assert float(case.set.support(-g)) / top <= -least + 64 * room + 1e-11 * abs(least), kind


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e160, 1e300])
def test_membership_where_squares_overflow_or_vanish(size: float) -> None:
    """Shifted sets, too: an offset is measured without squares of its entries, and so are diameters."""
    centre = size * np.array([1.0, -1.0, 0.5, 0.5])
    ball, box = fw.L2Ball(size) + centre, fw.Box(-size, size)
    assert ball.contains(centre)
    assert not ball.contains(np.zeros(4))
    assert box.diameter((4,)) == pytest.approx(4 * size)
    assert fw.Polytope(lower=np.full(4, -size), upper=np.full(4, size)).diameter() == pytest.approx(4 * size)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_entry_of_a_shifted_box_is_as_exact_as_its_offset(dtype):
    """A short side far from the origin, beside a long one."""
    box = fw.Box([-1.0, -1e-5, 2e-5], [1.0, 1e-5, 2e-5])
    shifted = box + np.array([0.5, 3.0, -7.0])
    x = np.array([1.5, 3.0 + 1e-5, -7.0 + 2e-5], dtype)  # a corner, as near as the numbers come
    assert shifted.contains(x, 4 * np.finfo(dtype).eps)
    assert not shifted.contains(x + np.array([0, 2e-5, 0], dtype), 4 * np.finfo(dtype).eps)
