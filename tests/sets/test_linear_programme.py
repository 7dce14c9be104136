"""Linear programmes of every size: bounds judged in rational arithmetic, vertices inside, answers that repeat."""

from __future__ import annotations

import copy
import itertools
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csc_array

import frankwolfe as fw
from frankwolfe.sets.polytopes.enclosing_box import enclosure, tightened
from frankwolfe.sets.polytopes.flow import read_edges

UNIT = Fraction(1, 2**53)


def solved(rows, right):
    """Return the solution of a square system in rational arithmetic, None where it is singular."""
    n = len(rows)
    table = [[*row, b] for row, b in zip(rows, right, strict=True)]
    for i in range(n):
        pivot = next((k for k in range(i, n) if table[k][i] != 0), None)
        if pivot is None:
            return None
        table[i], table[pivot] = table[pivot], table[i]
        table[i] = [value / table[i][i] for value in table[i]]
        for k in range(n):
            if k != i and table[k][i] != 0:
                table[k] = [a - table[k][i] * b for a, b in zip(table[k], table[i], strict=True)]
    return [row[-1] for row in table]


def dot(a, b):
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def rational(a) -> Any:
    return [rational(row) if np.ndim(row) else Fraction(float(row)) for row in np.asarray(a)]


class Exact:
    """The same polytope in rational arithmetic, with all its vertices."""

    def __init__(self, A, b, lower, upper, A_eq=None, b_eq=None):
        n = len(lower)
        unit = np.eye(n)
        finite = [(row, top) for row, top in zip(unit, upper, strict=True) if np.isfinite(top)]
        finite += [(-row, -low) for row, low in zip(unit, lower, strict=True) if np.isfinite(low)]
        self.equal = [] if A_eq is None else list(zip(rational(A_eq), rational(b_eq), strict=True))
        self.rows = list(zip(rational(A), rational(b), strict=True)) + [
            (rational(row), Fraction(float(top))) for row, top in finite
        ]
        self.vertices = []
        for chosen in itertools.combinations(self.rows, n - len(self.equal)):
            active = [*self.equal, *chosen]
            x = solved([row for row, _ in active], [b for _, b in active])
            if x is not None and all(dot(row, x) <= b for row, b in self.rows):
                self.vertices.append(x)

    def least(self, c):
        return min(dot(rational(c), x) for x in self.vertices)

    def excess(self, x):
        """Return by how much a point leaves a row, in ulps of the terms of that row."""
        x = rational(x)
        worst = Fraction(0)
        for (row, b), over in [
            *((pair, dot(pair[0], x) - pair[1]) for pair in self.rows),
            *((pair, abs(dot(pair[0], x) - pair[1])) for pair in self.equal),
        ]:
            terms = abs(b) + dot([abs(a) for a in row], [abs(value) for value in x])
            worst = max(worst, over / terms if terms else (Fraction(0) if over <= 0 else Fraction(1)))
        return float(worst / UNIT)


def programmes():
    """Polytopes of all sizes and shapes: ranges far apart, near-parallel and repeated rows, equations, no bounds."""
    rng = np.random.default_rng(0)
    out = []
    for size in (1e-12, 1e-8, 1.0, 1e8, 1e12):
        for kind in ("plain", "ranges", "parallel", "free", "equation", "offset", "columns", "empty"):
            n, m = 3, 5
            A, b = rng.normal(size=(m, n)), size * (0.2 + rng.random(m))
            lower, upper = np.full(n, -size), np.full(n, size)
            more = {}
            if kind == "ranges":
                upper, A = size * np.array([1.0, 1e-8, 1e4]), A / [1.0, 1e-8, 1e4]
                lower = -upper
            elif kind == "parallel":
                A[1], b[1] = A[0] * (1 + 1e-13 * rng.normal(size=n)), b[0]
                A[2], b[2] = A[0], b[0]
            elif kind == "free":
                A = np.vstack([A, np.eye(n), -np.eye(n)])
                b = np.concatenate([b, np.full(2 * n, size)])
                lower, upper = np.full(n, -np.inf), np.full(n, np.inf)
            elif kind == "equation":
                more = {"A_eq": np.ones((1, n)), "b_eq": np.array([0.1 * size])}
            elif kind == "offset":
                lower, upper = size * (1 + np.arange(n) * 1e-9), size * (1 + 1e-6 * (1 + np.arange(n)))
                b = A @ (0.5 * lower + 0.5 * upper) + size * 1e-6 * rng.random(m)
            elif kind == "empty":
                A[:] = 0.0
            elif kind == "columns":
                scale = np.array([1e-6, 1.0, 1e6])
                A, lower, upper = A / scale, lower * scale, upper * scale
            out.append(pytest.param(A, b, lower, upper, more, id=f"{kind}-{size:g}"))
    return out


@pytest.mark.parametrize(("A", "b", "lower", "upper", "more"), programmes())
@pytest.mark.parametrize("with_highspy", [True, False])
def test_bounds_are_below_the_minimum_and_vertices_inside(monkeypatch, A, b, lower, upper, more, with_highspy):
    if not with_highspy:
        monkeypatch.setattr("frankwolfe.sets.polytopes.linear_programme._highspy", lambda: None)
    exact = Exact(A, b, lower, upper, **more)
    domain = fw.Polytope(A, b, lower=lower, upper=upper, **more)
    rng = np.random.default_rng(1)
    n = len(lower)
    farthest = np.max(np.abs(np.array(exact.vertices, dtype=float)), axis=0)
    costs = [rng.normal(size=n), rng.normal(size=n) * 10.0 ** rng.integers(-12, 12, size=n), A[0], -A[0], np.eye(n)[0]]
    costs += [1e-300 * costs[0], 1e280 * costs[0], A[0] * (1 + 1e-14 * rng.normal(size=n)), 5e-324 * np.ones(n)]
    for c in costs:
        found, least = domain.minimum(c), exact.least(c)
        assert Fraction(found.lower) <= least
        assert Fraction(float(domain.support(-c))) >= -least
        scale = Fraction(float(np.abs(c) @ farthest)) + Fraction(1, 2**1000)
        assert least - Fraction(found.lower) <= scale * Fraction(1e-11)
        assert dot(rational(c), rational(found.atom.toarray())) - least <= scale * Fraction(1e-11)
        assert exact.excess(found.atom.toarray()) <= 16
        assert domain.contains(found.atom.toarray(), tol=1e-14)


@pytest.mark.parametrize(("A", "b", "lower", "upper", "more"), [p for p in programmes() if "free" in (p.id or "")])
def test_a_box_around_is_proven(A, b, lower, upper, more):
    exact = Exact(A, b, lower, upper, **more)
    from scipy.sparse import csc_array

    low, high = enclosure(csc_array(A), (np.full(len(b), -np.inf), b), (lower, upper))
    found = np.array(exact.vertices, dtype=float)
    assert np.all(low <= found.min(axis=0))
    assert np.all(found.max(axis=0) <= high)
    width = found.max(axis=0) - found.min(axis=0)
    assert np.all(high - low <= len(b) * 2 * width)
    domain = fw.Polytope(A, b)
    assert domain.diameter() >= np.max(np.linalg.norm(found[:, None] - found, axis=-1)) * (1 - 1e-12)
    assert domain.reach(np.ones(3)) >= np.max(np.abs(found).sum(axis=1)) * (1 - 1e-12)


def test_a_small_cost_on_a_long_side_counts():
    result = fw.minimize(
        fw.Quadratic(np.zeros((2, 2)), [1.0, -1e-11]), fw.Polytope(lower=[0.0, 0.0], upper=[1.0, 1e12])
    )
    assert result.lower_bound <= -10.0 <= result.fun + 1e-9
    assert result.status is fw.Status.OPTIMAL


@pytest.mark.parametrize("seed", range(8))
def test_ranges_of_very_different_size_are_certified_rightly(seed):
    rng = np.random.default_rng(seed)
    scale = np.where(rng.random(6) < 0.5, 1.0, 1e8)
    A, target = rng.normal(size=(4, 6)) / scale, rng.normal(size=6) * scale
    domain = fw.Polytope(A, 0.5 + rng.random(4), lower=-scale, upper=scale)
    f = fw.Quadratic(np.diag(scale**-2.0), -target / scale**2)
    result = fw.minimize(f, domain, method="away", tol=1e-12, max_iter=500)
    assert result.status not in (fw.Status.NOT_CONVEX, fw.Status.WRONG_GRADIENT)
    # Any feasible point is above the bound: here those of another method, in units where all ranges are one.
    twin = fw.Polytope(A * scale, domain.b_ub, lower=-1.0, upper=1.0)
    other = fw.minimize(fw.Quadratic(np.eye(6), -target / scale), twin, method="fcfw", tol=1e-9)
    assert result.lower_bound <= other.fun + 1e-12
    assert other.lower_bound <= result.fun + 1e-12


def flow(**options):
    rng = np.random.default_rng(3)
    edges = [(i, j) for i in range(8) for j in range(i + 1, 8) if rng.random() < 0.7 or j == i + 1]
    return fw.FlowPolytope(edges, 0, 7, **options)


def polytope(**options):
    A = np.random.default_rng(0).normal(size=(30, 10))
    return fw.Polytope(A, np.ones(30), lower=-1.0, upper=1.0, **options)


def tied(**options):
    """A polytope and directions (see `asked`) with many best vertices, each of many bases."""
    steps = np.eye(10)[1:] - np.eye(10)[:-1]
    return fw.Polytope(np.vstack([steps, steps, np.ones((1, 10))]), np.ones(19), lower=-1.0, upper=1.0, **options)


def asked(domain, n=30):
    rng = np.random.default_rng(2)
    smooth = np.cumsum(rng.normal(size=(n, *domain.shape)), axis=0)
    return [*smooth, *np.round(smooth), *np.sign(smooth)]


def fingerprint(answer):
    return answer.atom.toarray().tobytes(), float(answer.value), float(answer.lower)


@pytest.mark.parametrize("make", [polytope, tied, lambda: flow(capacity=0.3), lambda: flow(radius=1e-9, capacity=1.0)])
def test_an_answer_depends_on_the_direction_alone(make):
    domain = make()
    directions = asked(domain)
    first = [fingerprint(domain.minimum(g)) for g in directions]
    assert first[::-1] == [fingerprint(domain.minimum(g)) for g in directions[::-1]]
    for twin in (make(), copy.deepcopy(domain), copy.copy(domain), pickle.loads(pickle.dumps(domain))):
        assert twin == domain
        assert [fingerprint(twin.minimum(g)) for g in directions[7::9]] == first[7::9]


def test_answers_with_and_without_the_last_basis_are_the_same():
    for make in (polytope, tied):
        warm, cold = make(), make(warm_start=False)
        for g in asked(warm):
            assert fingerprint(warm.minimum(g)) == fingerprint(cold.minimum(g))


@pytest.mark.parametrize("make", [polytope, lambda: flow(capacity=0.3)])
def test_one_set_serves_many_threads(make):
    domain = make()
    f = fw.Quadratic(np.eye(domain.shape[0]), -np.arange(domain.shape[0]) / 7)
    alone = fw.minimize(f, domain, max_iter=60, tol=1e-9)
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: fw.minimize(f, domain, max_iter=60, tol=1e-9), range(24)))
    for result in results:
        assert np.array_equal(result.x, alone.x)
        assert result.lower_bound == alone.lower_bound


def test_a_run_repeats_bit_for_bit_and_in_another_process():
    code = (
        "import numpy as np, frankwolfe as fw; A = np.random.default_rng(0).normal(size=(30, 10));"
        "P = fw.Polytope(A, np.ones(30), lower=-1.0, upper=1.0);"
        "f = fw.Quadratic(np.eye(10), -np.arange(10.0));"
        "r = fw.minimize(f, P, method='away', max_iter=40, tol=0);"
        "print(r.x.tobytes().hex(), r.lower_bound.hex())"
    )
    domain, f = polytope(), fw.Quadratic(np.eye(10), -np.arange(10.0))
    for g in asked(domain, 5):
        domain.lmo(g)
    results = [fw.minimize(f, domain, method="away", max_iter=40, tol=0) for _ in range(2)]
    lines = [f"{r.x.tobytes().hex()} {float(r.lower_bound).hex()}" for r in results]
    there = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert lines == [there.stdout.strip()] * 2


def test_parts_of_a_combination_keep_their_proofs():
    rng = np.random.default_rng(0)
    part = fw.Polytope(lower=[0.0, 0.0], upper=[1.0, 1e12])
    B, offset = rng.normal(size=(3, 2)), np.array([1.0, -2.0])
    for domain, corners in (
        (-2.0 * part, [-2.0 * np.array(p) for p in itertools.product([0.0, 1.0], [0.0, 1e12])]),
        (part + offset, [offset + p for p in itertools.product([0.0, 1.0], [0.0, 1e12])]),
        (part + fw.Box([0.0, 0.0], [1.0, 1.0]), list(itertools.product([0.0, 2.0], [0.0, 1e12 + 1]))),
        (fw.sets.LinearImage(part, B), [B @ p for p in itertools.product([0.0, 1.0], [0.0, 1e12])]),
        (
            fw.sets.Product(part, fw.Simplex(2)),
            [(*p, *q) for p in itertools.product([0.0, 1.0], [0.0, 1e12]) for q in ((0.0, 1.0), (1.0, 0.0))],
        ),
        (
            fw.sets.UnionHull(part, fw.L1Ball(2.0)),
            [*itertools.product([0.0, 1.0], [0.0, 1e12]), (2.0, 0.0), (-2.0, 0.0), (0.0, 2.0), (0.0, -2.0)],
        ),
    ):
        assert not domain.exact_oracle
        for _ in range(5):
            g = rng.normal(size=len(corners[0])) * np.append(np.ones(len(corners[0]) - 1), 1e-11)
            least = min(dot(rational(g), rational(x)) for x in corners)
            size = max(float(np.abs(g) @ np.abs(x)) for x in corners)
            assert Fraction(float(domain.minimum(g).lower)) <= least + Fraction(1e-15 * size)
            assert float(domain.minimum(g).lower) >= float(least) - 1e-12 * size
            assert Fraction(float(domain.support(-g))) >= -least - Fraction(1e-15 * size)


@pytest.mark.parametrize("size", [1e-8, 1e-20, 1e-30, 1e-100, 1e-300, 1e30])
@pytest.mark.parametrize("at", [0.0, 1.0])
def test_a_variable_that_cannot_move_sets_no_scale(size: float, at: float) -> None:
    """The rows are as fine as what moves in them, whatever the size of the rest."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((3, 4))
    A[:, 0] = (1.0, -2.0, 0.5)
    low, high = np.full(4, -size), np.full(4, size)
    low[0] = high[0] = at * size
    b = size * (A[:, 0] * at + np.array([0.5, 0.3, 0.4]))
    domain = fw.Polytope(np.vstack([A, 2 * A]), np.concatenate([b, 2 * b]), lower=low, upper=high)
    for _ in range(5):
        x = domain.lmo(rng.standard_normal(4)).toarray()
        assert np.max(A @ (x / size) - b / size) <= 1e-14
        assert np.all((low <= x) & (x <= high))


def test_rows_tighten_bounds_and_edges_get_numbers():
    sums = np.ones(1), np.ones(1)
    low, high = tightened(csc_array([[1.0, 2.0]]), sums, (np.zeros(2), np.full(2, np.inf)))
    np.testing.assert_allclose([low, high], [[0, 0], [1, 0.5]])
    sides = np.full(2, -np.inf), np.ones(2)
    low, high = enclosure(csc_array([[1.0], [-2.0]]), sides, (np.array([-np.inf]), np.array([np.inf])))
    assert low[0] <= -0.5
    assert 1.0 <= high[0] <= 4.0
    edges, ends = read_edges([("a", "b"), ("b", "c")], "a", "c")
    assert (edges.tolist(), ends) == ([[0, 1], [1, 2]], (0, 2))
