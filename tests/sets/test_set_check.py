"""check_set finds faults of oracles, and runs tell a wrong oracle from a wrong objective."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from tests.sets.cases import CASES

import frankwolfe as fw
from frankwolfe.sets import BallIntersection, IterativeSet, L2Ball, Simplex
from frankwolfe.sets.base import Set

CORNERS = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 3.0]])


def best(g):
    return CORNERS[np.argmin(CORNERS @ g)]


def spoiled(g):
    g[:] = -g
    return CORNERS[np.argmax(CORNERS @ g)]


SETS = [case for case in CASES if not isinstance(case.set, IterativeSet)][::6]


@pytest.mark.parametrize("case", SETS, ids=str)
def test_sets_of_the_library_pass(case) -> None:
    assert fw.check_set(case.set, case.shape, directions=6) <= 1e-7


@pytest.mark.parametrize(
    ("lmo", "options", "match"),
    [
        (lambda g: CORNERS[np.argmax(CORNERS @ g)], {}, "it seems to maximise"),
        (lambda g: CORNERS[0] + 1 if g[0] > 0 else best(g), {}, "not a minimiser|contains rejects"),
        (lambda g: best(g) / (1 + np.sum(np.abs(g))), {"contains": lambda x, tol: True}, "not a minimiser"),
        (lambda g: best(g) * np.nan if not g.any() else best(g), {}, "a zero direction with NaN"),
        (best, {"diameter": 1.0}, "diameter says 1"),
        (best, {"contains": lambda x, tol: bool(x[0] < 3)}, "contains rejects"),
        (best, {"project": lambda x: x + 1.0}, "project leaves the set"),
    ],
)
def test_faults_are_named(lmo, options, match) -> None:
    with pytest.raises(ValueError, match=match):
        fw.check_set(Set.from_lmo(lmo, shape=2, **options))


def test_arguments_are_checked() -> None:
    with pytest.raises(TypeError, match="check_set needs a Set"):
        fw.check_set(best)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="pass shape="):
        fw.check_set(fw.L1Ball(1.0))
    assert fw.check_set(fw.L1Ball(1.0), 3) <= 1e-12


@pytest.mark.parametrize("method", ["fw", "afw", "away", "auto"])
def test_a_run_tells_a_wrong_oracle_from_a_wrong_objective(method) -> None:
    target = np.array([1.0, 1.0])
    f = fw.Function(lambda x: float(np.sum((x - target) ** 2)), lambda x: 2 * (x - target))
    upside_down = Set.from_lmo(lambda g: CORNERS[np.argmax(CORNERS @ g)], shape=2, contains=lambda x, tol: True)
    result = fw.minimize(f, upside_down, np.array([0.5, 0.5]), method=method)
    assert result.status is fw.Status.WRONG_ORACLE
    assert "check_set" in result.message
    assert "maximise" in result.message
    assert "check_set" in fw.explain(result).next
    wrong = fw.Function(lambda x: float(np.sum((x - target) ** 2)), lambda x: -2 * (x - target))
    result = fw.minimize(wrong, Set.from_lmo(best, shape=2), np.array([0.5, 0.5]), method=method)
    assert result.status is fw.Status.WRONG_GRADIENT
    least = fw.minimize(fw.LeastSquares(np.eye(2), target), upside_down, method=method)
    assert least.status is fw.Status.WRONG_ORACLE, "our own objectives are beyond doubt, a user's oracle is not"


@pytest.mark.parametrize("method", ["fw", "afw", "bpcg"])
def test_what_changes_its_argument_spoils_nothing(method) -> None:
    target = np.array([1.0, 1.0])

    def f(x):
        x -= target
        return float(x @ x)

    buffer = np.zeros(2)

    def grad(x):
        x -= target
        np.multiply(2.0, x, out=buffer)
        return buffer

    answer = np.zeros(2)

    def lmo(g):
        g *= -1.0
        answer[:] = CORNERS[np.argmax(CORNERS @ g)]
        return answer

    domain = Set.from_lmo(lmo, shape=2)
    harmless = fw.Function(lambda x: f(x.copy()), lambda x: grad(x.copy()).copy())
    plain = fw.minimize(harmless, fw.ConvexHull(CORNERS), method=method, max_iter=50, tol=0)
    found = fw.minimize(fw.Function(f, grad), domain, method=method, max_iter=50, tol=0)
    np.testing.assert_allclose(found.x, plain.x, atol=1e-12)
    assert found.fun == pytest.approx(float(np.sum((found.x - target) ** 2)), abs=1e-12)


@pytest.mark.parametrize("where", ["f", "grad", "lmo"])
def test_a_users_error_arrives_with_its_iteration(where) -> None:
    calls = {"f": 0, "grad": 0, "lmo": 0}

    def counted(name, answer):
        calls[name] += 1
        if name == where and calls[name] == 5:
            raise KeyError("the user's own")
        return answer

    f = fw.Function(lambda x: counted("f", float((x - 1) @ (x - 1))), lambda x: counted("grad", 2 * (x - 1)))
    domain = Set.from_lmo(lambda g: counted("lmo", best(g)), shape=2, contains=lambda x, tol: True)
    with pytest.raises(KeyError, match="the user's own") as caught:
        fw.minimize(f, domain, np.zeros(2), method="fw", tol=0)
    assert any("in iteration" in note for note in caught.value.__notes__)
    assert any(entry.name == "counted" for entry in caught.traceback)


# -- new sets against an independent solver ---------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_ball_and_simplex_against_an_independent_solver(seed) -> None:
    cp = pytest.importorskip("cvxpy")
    rng = np.random.default_rng(seed)
    n, radius = 6, float(rng.uniform(0.45, 0.95))
    domain, g = L2Ball(radius) & Simplex(n), rng.standard_normal(n) * 10.0 ** rng.integers(-5, 5)
    x = cp.Variable(n)
    unit = g / np.max(np.abs(g))
    least = cp.Problem(cp.Minimize(unit @ x), [cp.norm2(x) <= radius, x >= 0, cp.sum(x) == 1]).solve()
    found = domain.minimum(g)
    assert domain.contains(found.atom.toarray(), 1e-12)
    assert float(found.value) / np.max(np.abs(g)) == pytest.approx(least, abs=1e-6)
    assert float(found.lower) <= float(found.value) <= float(found.lower) + 1e-12 * np.max(np.abs(g))


def test_intersections_that_cannot_be_are_refused() -> None:
    with pytest.raises(ValueError, match="the two sets do not meet"):
        L2Ball(0.1) & Simplex(5)
    with pytest.raises(TypeError, match="make one Polytope"):
        Simplex(5) & fw.Box(np.zeros(5), np.ones(5))
    with pytest.raises(TypeError, match="has no projection"):
        L2Ball(1.0) & fw.Birkhoff(3)
    both = fw.Box(np.zeros(2), np.ones(2)) & L2Ball(1.0)
    assert both == BallIntersection(L2Ball(1.0), fw.Box(np.zeros(2), np.ones(2))) or both.radius == 1.0
    assert both.with_radius(2.0).radius == 2.0


@pytest.mark.parametrize("n", [3, 12])
def test_transport_against_an_independent_solver(n) -> None:
    from scipy.optimize import linprog

    rng = np.random.default_rng(n)
    a, b, cost = rng.dirichlet(np.ones(n)), rng.dirichlet(np.ones(n + 1)), rng.standard_normal((n, n + 1))
    rows = np.vstack([np.kron(np.eye(n), np.ones(n + 1)), np.kron(np.ones(n), np.eye(n + 1))])
    least = linprog(cost.ravel(), A_eq=rows, b_eq=np.concatenate([a, b])).fun
    found = fw.TransportPolytope(a, b).minimum(cost)
    assert float(found.value) == pytest.approx(least, abs=1e-9)
    assert float(found.lower) <= float(found.value)
    assert float(found.lower) == pytest.approx(least, abs=1e-9)
    with pytest.raises(ValueError, match="must have the same sum"):
        fw.TransportPolytope([1.0], [2.0])


def test_flows_on_roads_with_cycles_settle_at_an_equilibrium() -> None:
    """Travel times that grow with flow, on a grid of two-way streets: the equilibrium, by an independent solver."""
    cp = pytest.importorskip("cvxpy")
    n = 4
    nodes = {(i, j): n * i + j for i in range(n) for j in range(n)}
    ahead = {a: (nodes.get((i + 1, j)), nodes.get((i, j + 1))) for (i, j), a in nodes.items()}
    streets = [(a, b) for a, others in ahead.items() for b in others if b is not None]
    edges = np.array(streets + [(b, a) for a, b in streets])
    free = 1.0 + np.random.default_rng(0).random(len(edges))
    domain = fw.FlowPolytope(edges, 0, n * n - 1, 2.0)
    f = fw.Function(lambda x: float(free @ x + 0.5 * x @ x), lambda x: free + x)
    result = fw.minimize(f, domain, tol=1e-5)
    assert result.success
    x = cp.Variable(len(edges), nonneg=True)
    balance = np.zeros((n * n, len(edges)))
    balance[edges[:, 0], np.arange(len(edges))] += 1
    balance[edges[:, 1], np.arange(len(edges))] -= 1
    supply = np.zeros(n * n)
    supply[0], supply[-1] = 2.0, -2.0
    best = cp.Problem(cp.Minimize(free @ x + 0.5 * cp.sum_squares(x)), [balance @ x == supply]).solve()
    assert result.fun == pytest.approx(best, abs=2e-5)


def test_balls_that_meet_polytopes() -> None:
    """The nearest point of a polytope, near and far, and the oracle of its part in a ball, against a cone solver."""
    cp = pytest.importorskip("cvxpy")
    rng = np.random.default_rng(4)
    d = 5
    order = np.diff(np.eye(d), axis=0)
    cases = {
        "ordered": {"A_ub": order, "b_ub": np.zeros(d - 1)},
        "sum to zero": {"A_eq": np.ones((1, d)), "b_eq": np.zeros(1)},
        "cut": {"A_ub": rng.normal(size=(7, d)), "b_ub": rng.uniform(0, 0.5, 7)},
    }
    for rows in cases.values():
        part = fw.Polytope(**rows, lower=np.full(d, -1.0), upper=np.full(d, 1.0))
        domain = L2Ball(0.9) & part
        v = cp.Variable(d)
        inside = [cp.norm_inf(v) <= 1]
        inside += [rows["A_ub"] @ v <= rows["b_ub"]] if "A_ub" in rows else [rows["A_eq"] @ v == rows["b_eq"]]
        for size in (0.1, 1.0, 1e7):
            g = size * rng.normal(size=d)
            x = part.project(g)
            assert part.contains(x, 1e-9)
            if size == 1:
                cp.Problem(cp.Minimize(cp.sum_squares(v - g)), inside).solve(solver="CLARABEL")
                np.testing.assert_allclose(x, v.value, atol=1e-4)
            least = cp.Problem(cp.Minimize((g / size) @ v), [*inside, cp.norm2(v) <= 0.9])
            least.solve(solver="CLARABEL")
            found = domain.minimum(g)
            assert domain.contains(found.atom.toarray(), 1e-9)
            assert found.value / size == pytest.approx(least.value, abs=1e-6)
            assert found.lower <= found.value <= found.lower + 1e-6 * size


@pytest.mark.parametrize("seed", range(5))
def test_an_intersection_is_no_higher_than_its_part_where_terms_cancel(seed) -> None:
    """The minimum over a box far from the origin, all of it in the ball, was off by the rounding of its terms."""
    for far in (1e3, 1e9):
        rng = np.random.default_rng(seed)
        low, g = far * rng.standard_normal(3), rng.standard_normal(3)
        g[-1] = -(g[:-1] @ low[:-1]) / low[-1]
        domain = fw.L2Ball(1e11) & fw.Box(low, low + 0.1)
        ends = ([Fraction(float(v)) for v in end] for end in (g, domain.part.lower, domain.part.upper))
        least = sum(min(a * low, a * high) for a, low, high in zip(*ends, strict=True))
        assert Fraction(float(domain.minimum(g).lower)) <= least


def test_a_run_blames_the_oracle_of_a_class_of_yours() -> None:
    class Upside(fw.Set):
        shape = (4,)

        def lmo(self, g: np.ndarray) -> fw.Atom:
            return L2Ball(1.0).lmo(-g)

        def diameter(self, shape: tuple[int, ...] | None = None) -> float:
            return 2.0

        def contains(self, x: np.ndarray, tol: float = 1e-9) -> bool:
            return L2Ball(1.0).contains(x, tol)

    f = fw.Function(lambda x: float(((x - 3) ** 2).sum()), lambda x: 2 * (x - 3))
    for method in ("fw", "afw", "auto"):
        result = fw.minimize(f, Upside(), np.zeros(4), method=method, max_iter=50)
        assert result.status is fw.Status.WRONG_ORACLE
        assert "seems to maximise" in result.message
