"""Bounds of linear functions hold for every atom and are sharp; points in a set are found in it, others are not."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import frankwolfe as fw
from frankwolfe.verify.describe import describe_domain
from frankwolfe.verify.domains import CannotShow, domain_of
from frankwolfe.verify.polytopes import above_level

pytestmark = pytest.mark.usefixtures("quiet")
D = 12
RNG = np.random.default_rng(0)
ROWS = RNG.standard_normal((20, D))
EDGES = [(0, 1), (0, 2), (1, 3), (2, 3), (1, 2), (3, 4), (2, 4), (0, 3), (1, 4), (4, 5), (3, 5), (2, 5)]
GROUPS = np.arange(D) // 3
SETS = {
    "l1": fw.L1Ball(0.7),
    "l2": fw.L2Ball(0.7),
    "linf": fw.LInfBall(0.1),
    "lp 1.5": fw.LpBall(0.7, p=1.5),
    "lp 1.01": fw.LpBall(0.7, p=1.01),
    "lp 6.7": fw.LpBall(3e5, p=6.7),
    "lp 1": fw.LpBall(0.7, p=1),
    "lp inf": fw.LpBall(0.7, p=np.inf),
    "box": fw.Box(-0.5, np.arange(D) / 10),
    "simplex": fw.Simplex(D, 3.0),
    "k-support": fw.KSupportBall(0.7, k=3),
    "k-support 1": fw.KSupportBall(0.7, k=1),
    "k-support all": fw.KSupportBall(0.7, k=D),
    "group": fw.GroupBall(0.7, groups=GROUPS),
    "group 3 2": fw.GroupBall(0.7, groups=GROUPS, s=3, p=2),
    "group inf 1.5": fw.GroupBall(0.4, groups=GROUPS, s=np.inf, p=1.5),
    "owl": fw.OWLBall(0.7, weights=np.linspace(2, 0, D)),
    "permutahedron": fw.Permutahedron(RNG.standard_normal(D)),
    "hypersimplex": fw.Hypersimplex(D, k=4),
    "total variation": fw.TotalVariationBall(0.7),
    "ellipsoid": fw.Ellipsoid(RNG.standard_normal(D), RNG.standard_normal((D, 5))),
    "ellipsoid axes": fw.Ellipsoid(np.zeros(D), np.linspace(0.1, 1, D), 2.0),
    "polytope": fw.Polytope(ROWS, np.ones(20), lower=-1.0, upper=1.0),
    "polytope free": fw.Polytope(np.vstack([ROWS, -ROWS]), np.ones(40)),
    "polytope half open": fw.Polytope(np.ones((1, D)), [1.0], lower=0.0),
    "polytope equations": fw.Polytope(A_eq=ROWS[:2], b_eq=np.zeros(2), lower=-1.0, upper=2.0),
    "ball and box": fw.L2Ball(0.8) & fw.Box(-0.5 * np.ones(D), np.arange(D) / 10),
    "ball and simplex": fw.L2Ball(0.4) & fw.Simplex(D),
    "ball and l1": fw.L2Ball(0.4) & fw.L1Ball(1.0),
    "ball and polytope": fw.L2Ball(0.8) & fw.Polytope(ROWS, np.ones(20), lower=-1.0, upper=1.0),
    "ball and equations": fw.L2Ball(0.8) & fw.Polytope(A_eq=ROWS[:2], b_eq=np.zeros(2), lower=-1.0, upper=2.0),
    "hull": fw.ConvexHull(RNG.standard_normal((30, D))),
    "flow": fw.FlowPolytope(EDGES, 0, 5),
    "flow with cycles": fw.FlowPolytope([*EDGES[:-2], (4, 1), (3, 0)], 0, 5, 2.0),
    "flow with capacity": fw.FlowPolytope(EDGES, 0, 5, 2.0, capacity=0.9),
    "product": fw.Product(fw.Simplex(4), fw.L2Ball(0.3), fw.LpBall(0.2, p=3), shapes=[None, 4, 4]),
    "scaled": -2.0 * fw.Simplex(D, 0.2),
    "shifted": fw.L2Ball(0.3) + np.full(D, 0.1),
    "image": RNG.standard_normal((D, 6)) @ fw.L1Ball(1.0),
    "image of many": RNG.standard_normal((D, 20)) @ fw.L1Ball(1.0),
    "image of a ball": RNG.standard_normal((D, 6)) @ fw.L2Ball(1.0),
    "union": fw.UnionHull(fw.L1Ball(0.3), fw.Simplex(D), fw.L1Ball(0.1) + np.ones(D)),
    "union with a ball": fw.UnionHull(fw.L1Ball(0.3), fw.L2Ball(0.2)),
    "sum of balls": fw.LpBall(0.2, p=3) + fw.L2Ball(0.2),
    "sum of polytopes": fw.L1Ball(0.2) + fw.Simplex(D),
    "sum": fw.L1Ball(0.2) + fw.L2Ball(0.2),
    "nuclear": fw.NuclearBall(1.5),
    "spectral": fw.SpectralBall(1.5),
    "schatten 1.5": fw.SchattenBall(1.5, p=1.5),
    "schatten 3": fw.SchattenBall(1.5, p=3),
    "spectrahedron": fw.Spectrahedron(2.0),
    "total variation 2-D": fw.TotalVariationBall(2.0),
    "transport": fw.TransportPolytope([0.75, 0.25, 0.5], [0.6, 0.4, 0.3, 0.2]),
    "Birkhoff": fw.Birkhoff(5),
}
SHAPES = {
    "nuclear": (4, 7),
    "spectral": (7, 4),
    "schatten 1.5": (4, 7),
    "schatten 3": (5, 5),
    "spectrahedron": (5, 5),
    "total variation 2-D": (5, 6),
    "Birkhoff": (5, 5),
    "transport": (3, 4),
}
UNKNOWN_MEMBERS = {"sum of balls", "union with a ball"}  # shown by a suggestion of points of their parts only


def shape(name):
    return SHAPES.get(name) or SETS[name].shape or (D,)


def directions(name, count=6):
    rng = np.random.default_rng(1)
    for k in range(count):
        h = rng.standard_normal(shape(name)) * 10.0 ** rng.integers(-3, 4, shape(name))
        yield np.round(h) if k == 1 else h  # ties
    yield np.zeros(shape(name))
    yield 1e-200 * rng.standard_normal(shape(name))


@pytest.mark.parametrize("name", SETS)
def test_support_is_above_every_atom_and_sharp(name):
    domain, judged = SETS[name], domain_of(describe_domain(SETS[name]))
    for h in directions(name):
        bound = judged.support(h)
        value = -domain.lmo(-h).inner(-h)
        assert bound >= value - 1e-14 * abs(value)
        assert bound <= value + 1e-12 * np.sum(np.abs(h)) * judged.size + 1e-290
        for other in directions(name, 3):
            atom = domain.lmo(other).toarray()
            assert bound >= np.sum(h * atom) - 1e-13 * np.sum(np.abs(h * atom))
            assert judged.reach(np.abs(h)) >= np.sum(np.abs(h) * np.abs(atom)) * (1 - 1e-12)


@pytest.mark.parametrize("name", SETS)
def test_mixtures_of_atoms_are_in_the_set_and_points_beyond_are_not(name):
    domain, judged = SETS[name], domain_of(describe_domain(SETS[name]))
    rng = np.random.default_rng(2)
    for _ in range(5):
        atoms = [domain.lmo(rng.standard_normal(shape(name))).toarray() for _ in range(4)]
        x = np.tensordot(rng.dirichlet(np.ones(4)), np.array(atoms), 1)
        room = (judged.ulps + 2 * np.sqrt(x.size)) * 2.0**-52
        assert domain_of(describe_domain(domain, None, [x])).excess(x).hi <= room
        for part in (1e-9, 1e-3, 1.0):
            beyond = atoms[0] + part * (atoms[0] - x)
            away = domain.lmo(-(atoms[0] - x))  # is `beyond` outside? its value there says so
            h = atoms[0] - x
            if np.sum(h * beyond) > np.sum(h * away.toarray()) * (1 + 1e-12) + 1e-12 * np.sum(h * h):
                try:
                    assert judged.excess(beyond).hi > room
                except CannotShow:
                    assert name in {*UNKNOWN_MEMBERS, "sum", "sum of polytopes", "image of a ball"}


@pytest.mark.parametrize("name", sorted(set(SETS) - UNKNOWN_MEMBERS - {"sum", "sum of polytopes", "image of a ball"}))
def test_points_far_outside_are_proven_to_be(name):
    judged = domain_of(describe_domain(SETS[name]))
    x = SETS[name].lmo(np.random.default_rng(3).standard_normal(shape(name))).toarray()
    far = x + judged.size * np.random.default_rng(4).standard_normal(shape(name))
    assert judged.excess(far).lo > 1e-3


def test_every_set_can_be_described():
    skipped = {"Set", "ProjectableSet", "OracleSet"}  # abstract, or known by a user's function alone
    public = {name for name in fw.__all__ if inspect.isclass(c := getattr(fw, name)) and issubclass(c, fw.Set)}
    tested = {cls.__name__ for domain in SETS.values() for cls in type(domain).__mro__}
    assert public - skipped <= tested


def test_a_set_known_by_a_function_is_not_judged():
    domain = fw.Set.from_lmo(lambda g: -np.sign(g), shape=(3,))
    f = fw.LeastSquares(np.eye(3), np.ones(3))
    check = fw.verify(fw.minimize(f, domain), f, domain)
    assert not check.ok
    assert "OracleSet" in check.unproven[0]


def test_unbounded_polytopes_are_not_trusted():
    # The library refuses them; a file could claim one.
    claims = {"A_ub": np.array([[1.0, 1.0]]), "b_ub": np.ones(1), "A_eq": np.zeros((0, 2)), "b_eq": np.zeros(0)}
    bounds = {"lower": np.array([0.0, -np.inf]), "upper": np.full(2, np.inf)}
    with pytest.raises(CannotShow):
        domain_of({"kind": "Polytope", **claims, **bounds}).support(np.array([1.0, -1.0]))


def test_the_scale_of_a_polytope_does_not_matter():
    for upper in ([1.0, 1e12], [1e-9, 1e-9], [1.0, 1e8]):
        domain = fw.Polytope(lower=[0.0, 0.0], upper=upper)
        judged = domain_of(describe_domain(domain))
        h = np.array([-1.0, 1e-11])
        assert judged.support(h) >= 1e-11 * upper[1]
        assert judged.support(h) <= 1e-11 * upper[1] * (1 + 1e-14)


@pytest.mark.parametrize("size", [1e-14, 1e-12, 1e-9, 1e9])
def test_linear_programmes_over_small_polytopes_are_solved_too(size):
    """Their tolerances are absolute: over a set smaller than they are every point would be optimal."""
    rng = np.random.default_rng(3)
    rows, h = rng.standard_normal((12, 5)), rng.standard_normal(5)
    bounds = []
    for radius in (1.0, size):
        domain = fw.Polytope(rows, np.full(12, radius), lower=-radius, upper=radius)
        bounds.append(domain_of(describe_domain(domain)).support(h))
    assert bounds[1] == pytest.approx(size * bounds[0], rel=1e-12)


def test_rounding_leaves_the_nearest_point_of_a_simplex_nothing_to_stand_on():
    np.testing.assert_array_equal(above_level(np.array([1e20, 0.0]), 1.0), [0.0, 0.0])


def test_a_set_is_measured_no_more_sharply_than_its_parts():
    group = fw.GroupBall(0.4, groups=GROUPS, s=np.inf, p=1.5)
    for domain in (1e6 * group, group + np.ones(D), fw.Product(group, fw.Simplex(3), shapes=[D, 3])):
        assert domain_of(describe_domain(domain)).ulps >= 32


def test_the_corner_at_zero_is_in_a_polytope():
    judged = domain_of(describe_domain(fw.Polytope([[1.0, 1.0]], [1.0], lower=0.0, upper=[0.7, 0.5])))
    assert judged.excess(np.zeros(2)).hi <= 1e-15


def test_one_pixel_of_mean_zero_is_zero():
    assert domain_of(describe_domain(fw.TotalVariationBall(1e9))).reach(np.ones(1)) <= 1e-300


@pytest.mark.parametrize(("dtype", "far"), [("float64", 1.0), ("float64", 1e6), ("float32", 1.0)])
@pytest.mark.parametrize("small", [1e-2, 1e-6])
def test_a_small_block_beside_a_large_one_is_as_exact_as_its_offset(dtype, far, small):
    """What rounding does to an entry is relative to where it is, and no matter of the other blocks."""
    rng = np.random.default_rng(0)
    domain = fw.Product(fw.Simplex(2, small), fw.L2Ball(1.0), shapes=[2, 3]) + far * rng.standard_normal(5)
    f = fw.LeastSquares(rng.standard_normal((20, 5)).astype(dtype), rng.standard_normal(20))
    check = fw.verify(fw.minimize(f, domain, max_iter=50), f, domain)
    assert not check.false
    assert not check.unproven
    out = domain_of(describe_domain(domain)).excess(domain.lmo(np.ones(5)).toarray() + small * np.eye(5)[0])
    assert out.lo > 0.1 * small / (small + 2 * far)  # and what is outside is seen
