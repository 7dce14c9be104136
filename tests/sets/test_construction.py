"""What sets refuse, in which words, and the edges of what they accept."""

from __future__ import annotations

import contextlib
import math

import numpy as np
import pytest

import frankwolfe as fw
from frankwolfe.sets import (
    Box,
    GroupBall,
    KSupportBall,
    L1Ball,
    L2Ball,
    LInfBall,
    LpBall,
    ProjectableSet,
    Simplex,
    TotalVariationBall,
)

BALLS = {
    "l1": L1Ball,
    "l2": L2Ball,
    "linf": LInfBall,
    "lp": lambda r: LpBall(r, p=1.5),
    "simplex": lambda r: Simplex(3, r),
    "ksupport": lambda r: KSupportBall(r, k=2),
    "group": lambda r: GroupBall(r, groups=[0, 0, 1]),
    "variation": TotalVariationBall,
}


@pytest.mark.parametrize("make", BALLS.values(), ids=BALLS)
@pytest.mark.parametrize("radius", [0, -1.0, math.nan, math.inf, "1", None, True])
def test_radius_must_be_positive_and_finite(make, radius):
    with pytest.raises(ValueError, match="radius must be a positive finite number, got"):
        make(radius)
    with pytest.raises(ValueError, match="radius must be a positive finite number, got"):
        make(1.0).with_radius(radius)


@pytest.mark.parametrize("bad", [0.5, -1, math.nan, -math.inf, "2", None])
def test_exponents_are_at_least_one(bad):
    with pytest.raises(ValueError, match="p must be at least 1"):
        LpBall(1.0, p=bad)
    with pytest.raises(ValueError, match="p must be at least 1"):
        GroupBall(1.0, groups=[0, 1], p=bad)
    with pytest.raises(ValueError, match="s must be at least 1"):
        GroupBall(1.0, groups=[0, 1], s=bad)


@pytest.mark.parametrize("bad", [0, -2, 1.5, math.nan, "3"])
def test_counts_are_whole_and_positive(bad):
    with pytest.raises(ValueError, match="k must be an integer of at least 1, got"):
        KSupportBall(1.0, k=bad)
    with pytest.raises(ValueError, match="dim must be an integer of at least 1, got"):
        Simplex(bad)


def test_ksupport_with_more_than_all_coordinates_is_the_l2_ball():
    g = np.array([3.0, -4.0])
    assert np.array_equal(KSupportBall(5.0, k=7).lmo(g).toarray(), L2Ball(5.0).lmo(g).toarray())
    np.testing.assert_allclose(KSupportBall(1.0, k=7).project(g), L2Ball(1.0).project(g))


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ([[0, 1], [1, 2]], "groups overlap: coordinate 1"),
        ([[0, 0], [1]], "groups overlap: coordinate 0"),
        ([[0, 1], []], "group 1 of groups is empty"),
        ([[0, 1], [3]], "groups leave out coordinate 2"),
        ([[0, 1], [10**9]], "groups leave out coordinate 2"),
        ([[0, -1], [1]], "holds the index -1, which is negative"),
        ([[0.5, 1.0]], "must hold integer indices"),
        ([0.5, 1.0], "integer or string labels"),
        ([], "nonempty partition"),
        (None, "nonempty partition"),
        (3, "nonempty partition"),
        ("ab", "nonempty partition"),
        ([[[0], [1]]], "not one-dimensional"),
    ],
)
def test_groups_must_be_a_partition(groups, words):
    with pytest.raises(ValueError, match=words):
        GroupBall(1.0, groups=groups)


@pytest.mark.parametrize(
    "groups",
    [
        [[0, 3], [1, 2]],
        (np.array([3, 0]), np.array([2, 1])),
        np.array([[0, 3], [1, 2]]),
        [0, 1, 1, 0],
        np.array([5, 7, 7, 5]),
        ["a", "b", "b", "a"],
    ],
)
def test_groups_may_be_indices_or_labels(groups):
    ball = GroupBall(1.0, groups=groups)
    assert ball.groups.tolist() == [0, 1, 1, 0]
    assert ball == GroupBall(1.0, groups=[0, 1, 1, 0])
    assert ball != GroupBall(1.0, groups=[0, 1, 0, 1])
    assert ball.lmo(np.array([0.0, 3.0, 4.0, 1.0])).toarray() == pytest.approx([0, -0.6, -0.8, 0])
    with pytest.raises(ValueError, match="read-only"):
        ball.groups[0] = 1


def test_group_ball_says_truthfully_whether_it_projects():
    for s, p, expected in [(2, 1, True), (2, 3, True), (2.0, math.inf, True), (1, 1, False), (math.inf, 1, False)]:
        ball = GroupBall(1.0, groups=[0, 0, 1], s=s, p=p)
        assert isinstance(ball, GroupBall)
        assert isinstance(ball, ProjectableSet) is expected
        with contextlib.nullcontext() if expected else pytest.raises(TypeError, match="projection"):
            assert ball.contains(ball.project(np.full(3, 9.0)))
        assert ball.sparse_atoms is (p == 1)
        assert isinstance(ball.with_radius(2.0), ProjectableSet) is expected
    assert repr(GroupBall(1.0, groups=[0, 0, 1])) == "GroupBall(radius=1.0, groups=<2 groups>, s=2.0, p=1.0)"


def test_many_groups_of_many_sizes_against_a_loop():
    rng = np.random.default_rng(0)
    labels = rng.permutation(np.repeat(np.arange(60), rng.integers(1, 9, size=60)))
    g = rng.normal(size=labels.size)
    sizes = [np.linalg.norm(g[labels == i]) for i in range(60)]
    ball = GroupBall(2.0, groups=labels)
    best = int(np.argmax(sizes))
    np.testing.assert_allclose(ball.lmo(g).toarray(), np.where(labels == best, -2 * g / sizes[best], 0), atol=1e-15)
    assert ball.lmo(g).inner(g) == pytest.approx(-2 * sizes[best])


@pytest.mark.parametrize(
    ("lower", "upper", "words"),
    [
        (1.0, 0.0, "lower must not exceed upper"),
        ([0.0, 2.0], [1.0, 1.0], "lower must not exceed upper"),
        (0.0, math.inf, "upper contains NaN or infinity"),
        (math.nan, 1.0, "lower contains NaN or infinity"),
        ("a", 1.0, "lower must be numbers"),
        ([0.0, 0.0], [1.0, 1.0, 1.0], "must have one shape"),
    ],
)
def test_box_refuses_bad_bounds(lower, upper, words):
    with pytest.raises(ValueError, match=words):
        Box(lower, upper)


def test_box_radius_and_shape():
    assert Box(-2, 2).radius == 2.0
    assert Box(-2, 2).with_radius(3) == Box(-3, 3)
    assert Box([-1, -2], [1, 2]).with_radius(4) == Box([-2, -4], [2, 4])
    assert Box(0, 1).shape is None
    assert Box(0, [1, 2]).shape == (2,)
    for box in (Box(0, 1), Box(-1, [1, 2]), Box(0, 0)):
        with pytest.raises(TypeError, match="not centred at zero"):
            box.with_radius(1.0)
    with pytest.raises(ValueError, match="radius must be a positive"):
        Box(-1, 1).with_radius(0)


def test_box_keeps_its_own_bounds():
    upper = np.ones(2)
    box = Box(0.0, upper)
    upper[:] = 7
    assert box.upper.tolist() == [1, 1]
    with pytest.raises(ValueError, match="read-only"):
        box.upper[0] = 5
    box.lmo(-np.ones(2)).toarray()[0] = 9
    assert box.lmo(-np.ones(2)).toarray().tolist() == [1, 1]


@pytest.mark.parametrize(
    ("domain", "shape", "words"),
    [
        (Simplex(5), (3,), r"Simplex holds points of shape \(5,\), got an array of shape \(3,\)"),
        (Simplex(6), (2, 3), "Simplex holds points of shape"),
        (Box(0, np.ones(4)), (3,), "Box holds points of shape"),
        (Box(np.zeros((2, 2)), 1), (4,), "Box holds points of shape"),
        (GroupBall(1.0, groups=[0, 0, 1]), (4,), "groups cover 3 coordinates, but the array has 4 entries"),
        (GroupBall(1.0, groups=[0, 0, 1], p=2, s=1), (4,), "groups cover 3 coordinates"),
        (TotalVariationBall(1.0), (2, 2, 2), "signals .* or images"),
    ],
)
def test_wrong_shapes_are_named(domain, shape, words):
    for question in ("lmo", "support", "contains", "project"):
        if question != "project" or isinstance(domain, ProjectableSet):
            with pytest.raises(ValueError, match=words):
                getattr(domain, question)(np.ones(shape))


@pytest.mark.parametrize("domain", [LInfBall(1.0), LpBall(1.0, p=3), Box(0, 1), TotalVariationBall(1.0)], ids=repr)
def test_diameter_asks_for_the_shape_where_it_matters(domain):
    with pytest.raises(ValueError, match="depends on the shape"):
        domain.diameter()


def test_images_in_other_namespaces_are_refused_clearly():
    strict = pytest.importorskip("array_api_strict")
    with pytest.raises(TypeError, match="NumPy arrays only"):
        TotalVariationBall(1.0).lmo(strict.ones((3, 3)))


def test_ties_go_to_the_lowest_index():
    g = np.array([1.0, -2.0, 2.0, -2.0])
    assert L1Ball(1.0).lmo(g).toarray().tolist() == [0, 1, 0, 0]
    assert LpBall(1.0, p=1).lmo(g).toarray().tolist() == [0, 1, 0, 0]
    assert Simplex(4).lmo(g).toarray().tolist() == [0, 1, 0, 0]
    assert np.flatnonzero(KSupportBall(1.0, k=2).lmo(g).toarray()).tolist() == [1, 2]
    assert np.flatnonzero(GroupBall(1.0, groups=[0, 1, 2, 3], s=1).lmo(g).toarray()).tolist() == [1]
    assert np.flatnonzero(GroupBall(1.0, groups=[0, 1, 1, 1], s=1).lmo(g).toarray()).tolist() == [1]


def test_atoms_are_kept_in_their_natural_form():
    g = np.arange(1.0, 7.0)
    names = {
        "OneHot": [L1Ball(1.0), LpBall(1.0, p=1), Simplex(6)],
        "Sparse": [KSupportBall(1.0, k=2), GroupBall(1.0, groups=[0, 0, 1, 1, 2, 2])],
        "Dense": [L2Ball(1.0), LInfBall(1.0), LpBall(1.0, p=3), Box(0, 1), TotalVariationBall(1.0)],
    }
    for name, domains in names.items():
        for domain in domains:
            assert type(domain.lmo(g)).__name__ == name
            assert domain.sparse_atoms is (name != "Dense")


def test_membership_of_simplex_and_box():
    simplex, box = Simplex(3, 2.0), Box([-1.0, 0.0], [1.0, 3.0])
    assert simplex.contains(np.array([0.5, 1.5, 0.0]))
    assert not simplex.contains(np.array([-0.1, 2.1, 0.0]))
    assert not simplex.contains(np.array([0.5, 1.0, 0.0]))
    assert not simplex.contains(np.array([0.5, 2.0, 0.0]))
    assert simplex.with_radius(1.5).contains(np.array([0.5, 1.0, 0.0]))
    assert simplex.contains(np.array([-0.1, 2.1, 0.0]), tol=0.1)
    assert box.contains(np.array([-1.0, 3.0]))
    assert not box.contains(np.array([-1.001, 3.0]))
    assert not box.contains(np.array([-1.0, 3.001]))
    assert box.contains(np.array([-1.001, 3.0]), tol=1e-2)


VECTOR, MATRIX = np.array([1.0, 2.0, 3.0]), np.array([[1.0, 2.0, 3.0], [0.0, 1.0, 1.0]])
MADE_FROM = {
    "box": lambda w: Box(-w(VECTOR), w(VECTOR)),
    "permutahedron": lambda w: fw.Permutahedron(w(VECTOR)),
    "owl": lambda w: fw.OWLBall(1.0, weights=w(VECTOR[::-1])),
    "hull": lambda w: fw.ConvexHull(w(MATRIX)),
    "ellipsoid": lambda w: fw.Ellipsoid(w(VECTOR), w(MATRIX.T)),
    "polytope": lambda w: fw.Polytope(w(MATRIX), w(np.ones(2)), lower=w(-VECTOR), upper=w(VECTOR)),
    "equation": lambda w: fw.Polytope(A_eq=w(MATRIX[:1]), b_eq=w(np.ones(1)), lower=w(-VECTOR), upper=w(VECTOR)),
    "flow": lambda w: fw.FlowPolytope([(0, 1), (0, 1), (0, 1)], 0, 1, capacity=w(VECTOR)),
    "graph": lambda w: fw.FlowPolytope(w(np.array([[0, 1], [0, 1], [1, 2]])), 0, 2),
    "shifted": lambda w: L1Ball(1.0) + w(VECTOR),
    "image": lambda w: fw.sets.LinearImage(L1Ball(1.0), w(MATRIX)),
    "groups": lambda w: GroupBall(1.0, groups=w(np.array([0, 1, 1]))),
}


@pytest.mark.parametrize("name", MADE_FROM)
def test_masked_entries_are_no_numbers_and_the_order_of_bytes_does_not_matter(name):
    make = MADE_FROM[name]
    plain = make(np.asarray)
    g = np.arange(1.0, 1 + np.prod(plain.shape or 3)).reshape(plain.shape or 3)
    kinds = (lambda a: a.astype(a.dtype.newbyteorder(">")), np.ma.masked_array, lambda a: np.array(a, order="F"))
    for twin in (make(kind) for kind in kinds):
        assert twin == plain
        assert hash(twin) == hash(plain)
        assert type(twin.lmo(g).toarray()) is np.ndarray
        assert np.array_equal(twin.lmo(g).toarray(), plain.lmo(g).toarray())
    with pytest.raises(ValueError, match="has masked entries; fill them, or leave them out"):
        make(lambda a: np.ma.masked_array(a, mask=np.arange(a.size).reshape(a.shape) == 0))


@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_matrices_are_arrays_of_two_dimensions():
    matrix = np.asmatrix
    assert fw.ConvexHull(matrix(MATRIX)) == fw.ConvexHull(MATRIX)
    assert fw.Polytope(matrix(MATRIX), [1, 1], lower=-1.0, upper=1.0) == fw.Polytope(
        MATRIX, [1, 1], lower=-1.0, upper=1.0
    )
    assert (L1Ball(1.0) + matrix(VECTOR)).shape == (1, 3)
    for name in ("permutahedron", "owl", "ellipsoid", "polytope", "flow"):
        with pytest.raises(ValueError, match=r"vector|one entry for each"):
            MADE_FROM[name](matrix)


SINGLE_POINTS = [
    (Simplex(1, 2.0), (1,)),
    (fw.Birkhoff(1), (1, 1)),
    (Box([1.0, 2.0], [1.0, 2.0]), (2,)),
    (Box(1.0, 1.0), (3,)),
    (fw.Hypersimplex(3, k=3), (3,)),
    (fw.ConvexHull([[1.0, 2.0]]), (2,)),
    (fw.Polytope(lower=[1.0, 2.0], upper=[1.0, 2.0]), (2,)),
    (fw.Permutahedron([2.0, 2.0]), (2,)),
    (fw.Spectrahedron(2.0), (1, 1)),
    (TotalVariationBall(1.0), (1,)),
    (TotalVariationBall(1.0), (1, 1)),
    (fw.FlowPolytope([(0, 1)], 0, 1), (1,)),
    (2.0 * Simplex(1), (1,)),
    (Simplex(1) + np.array([3.0]), (1,)),
    (fw.sets.LinearImage(L1Ball(1.0), np.zeros((2, 2))), (2,)),
    (fw.Ellipsoid([1.0, 2.0], np.zeros((2, 1))), (2,)),
]


@pytest.mark.parametrize(("domain", "shape"), SINGLE_POINTS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_single_point_is_a_set(domain, shape, dtype):
    v = domain.lmo(np.zeros(shape, dtype)).toarray()
    g = np.ones(shape, dtype)
    assert domain.diameter(shape) == 0
    assert domain.contains(v, tol=0.0)
    assert not domain.contains(v + 1)
    assert float(domain.support(g)) == pytest.approx(float(np.sum(v)), rel=1e-5)
    assert domain.reach(g) >= float(np.sum(np.abs(v))) * (1 - 1e-7)
    result = fw.minimize(fw.Function(lambda x: 0.5 * np.sum(x**2), lambda x: x), domain, v, method="fw", max_iter=3)
    assert result.gap <= 1e-4
