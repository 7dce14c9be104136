"""Paths: every radius is solved as if it were alone, every bound holds, and the data are read once for all."""

from __future__ import annotations

import array_api_strict as xp
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest
import scipy.sparse as sp
from tests.problems import GROUPS, completion, logistic_data

import frankwolfe as fw
from frankwolfe.atoms import StackedAtoms
from frankwolfe.objectives.line_search import minimise_in_arrays, minimise_on_segment
from frankwolfe.points import Point, mix
from frankwolfe.problem import Problem
from frankwolfe.rows.data_matrix import IN_ARRAYS
from frankwolfe.sets.many_radii import SetBatch

RADII = [0.3, 2.0, 0.8, 5.0]
BALLS = {
    "l1": fw.L1Ball(1.0),
    "l2": fw.L2Ball(1.0),
    "l1.5": fw.LpBall(1.0, p=1.5),
    "l4": fw.LpBall(1.0, p=4),
    "linf": fw.LInfBall(1.0),
    "simplex": fw.Simplex(12),
    "groups": fw.GroupBall(1.0, groups=GROUPS),
}
METHODS = {
    "afw": fw.AcceleratedFrankWolfe(),
    "afw, offset 2": fw.AcceleratedFrankWolfe(offset=2),
    "afw, line search": fw.AcceleratedFrankWolfe(line_search=True),
    "fw": fw.FrankWolfe(),
    "fw, line search": fw.FrankWolfe(fw.ExactLineSearch()),
}


def objective(kind: str, wrap=np.asarray):
    A, b = logistic_data(n=60)
    if kind == "logistic":
        return fw.Logistic(wrap(A), b)
    if kind == "ridge":
        return fw.Logistic(wrap(A), b, ridge=0.3, sample_weight=np.arange(60.0))
    target = A @ np.linspace(-1, 1, 12) + 0.1 * b
    if kind == "squares":
        return fw.LeastSquares(wrap(A), target)
    if kind == "quadratic":
        return fw.Quadratic(wrap(A.T @ A / 60), -A.T @ target / 60, constant=1.5)
    base = fw.LeastSquares(A, target)
    return fw.Function(base.value, base.grad, smoothness=base.smoothness)


KINDS = ["logistic", "ridge", "squares", "quadratic"]


def optimum(f, domain, x0=None) -> float:
    """Return f* to about 1e-12, proven."""
    tight = fw.AcceleratedProjectedGradient(restart=True)
    if isinstance(domain, fw.ProjectableSet):
        result = fw.minimize(f, domain, x0, method=tight, tol=1e-12, max_iter=20_000, trace_every=1000)
    else:
        result = fw.minimize(f, domain, x0, method="fcfw", tol=1e-12, max_iter=20_000, trace_every=1000)
    assert result.gap <= 1e-10
    return result.fun


# --- all radii in step ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", BALLS)
def test_in_step_equals_alone(name, method):
    f, steps = objective("logistic"), 25
    path = fw.path(f, BALLS[name], RADII, method=METHODS[method], together=True, tol=0, max_iter=steps)
    for radius, result in zip(RADII, path, strict=True):
        alone = fw.minimize(f, BALLS[name].with_radius(radius), method=METHODS[method], tol=0, max_iter=steps)
        # A line search magnifies roundings: its root is only as sharp as the derivative is.
        sharp = 1e-7 if "search" in method else 1e-12
        np.testing.assert_allclose(result.x, alone.x, rtol=0, atol=sharp)
        np.testing.assert_allclose(result.trace.fun, alone.trace.fun, rtol=max(1e-12, 1e-3 * sharp))
        np.testing.assert_allclose(result.trace.lower_bound, alone.trace.lower_bound, rtol=1e-11, atol=sharp)
        np.testing.assert_array_equal(result.trace.k, alone.trace.k)
        assert (result.n_iter, result.status, result.method) == (alone.n_iter, alone.status, alone.method)
        assert result.fun == pytest.approx(f.value(result.x), rel=1e-14)


@pytest.mark.parametrize("method", ["afw", "afw, line search", "fw, line search"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_objective_in_step(kind, method):
    f, radii = objective(kind), [0.3, 0.7, 0.5]  # all active: inside, vertices depend on roundings
    path = fw.path(f, fw.L2Ball, radii, method=METHODS[method], together=True, tol=1e-4, max_iter=200)
    for radius, result in zip(radii, path, strict=True):
        alone = fw.minimize(f, fw.L2Ball(radius), method=METHODS[method], tol=1e-4, max_iter=200)
        np.testing.assert_allclose(result.x, alone.x, rtol=0, atol=1e-12 if method == "afw" else 1e-7)
        assert (result.n_iter, result.status, len(result.trace)) == (alone.n_iter, alone.status, len(alone.trace))


def test_in_step_reads_the_data_as_often_as_the_slowest_radius():
    f = objective("logistic")
    path = fw.path(f, fw.L2Ball, RADII, method="afw", tol=1e-4)
    alone = [fw.minimize(f, fw.L2Ball(radius), method="afw", tol=1e-4) for radius in RADII]
    ends = {result.n_iter for result in path}
    assert path.n_pass == max(result.n_iter for result in alone) + len(ends)  # one more to check those that end
    for result in path:
        assert result.trace.n_pass[5] - result.trace.n_pass[4] == 1.0
        assert result.n_grad == result.n_iter
    assert sum(result.n_pass for result in alone) > 2 * path.n_pass


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_tolerance_out_of_reach_ends_every_radius_as_it_would_alone(dtype):
    A, b = logistic_data(n=60)
    f, options = fw.Logistic(A.astype(dtype), b), {"method": METHODS["afw, line search"], "tol": 1e-17}
    path = fw.path(f, fw.L2Ball, [0.2, 0.5], together=True, max_iter=3000, **options)
    for radius, result in zip([0.2, 0.5], path, strict=True):
        alone = fw.minimize(f, fw.L2Ball(radius), max_iter=3000, **options)
        assert result.status is alone.status is fw.Status.PRECISION
        assert result.gap <= 2 * alone.gap


def test_radii_leave_when_they_are_done():
    f = objective("squares")
    path = fw.path(f, fw.L2Ball, [0.3, 1.5, 0.8], method="afw", tol=1e-4)
    steps = [result.n_iter for result in path]
    assert len(set(steps)) > 1
    for result in path:
        assert result.success
        assert result.gap <= 1e-4
        assert len(result.trace) == result.n_iter + 1
        assert result.trace.k[-1] == result.n_iter
        assert np.isfinite(result.trace.fun).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", [fw.Logistic, fw.LeastSquares])
def test_compiled_passes_equal_plain_ones(kind, dtype, monkeypatch):
    """Data large enough for the kernels; ragged blocks, several parts, a mixture with a weight for each point."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((9001, 15)).astype(dtype)
    f = kind(A, np.sign(A[:, 0] + rng.standard_normal(9001)), sample_weight=rng.random(9001), ridge=0.1)
    assert f.compiled is not None
    X = (0.3 * rng.standard_normal((40, 15))).astype(dtype)
    x, v, z = Point.at(X), Point.at(StackedAtoms(-X)), Point.at(StackedAtoms(X[::-1].copy()))
    f.resolve(x)
    loose, tight = (2e-5, 1e-4) if dtype == np.float32 else (1e-12, 1e-12)
    for gamma in (0.25, rng.random((40, 1)).astype(dtype)):
        watch = mix(x, v, gamma)
        y = mix(watch, v, 0.5)
        found = f.evaluate(y, watch)
        kept = watch.image
        with monkeypatch.context() as patch:
            patch.setattr(f.data, "paths", IN_ARRAYS)
            again = mix(x, v, gamma)
            plain = f.evaluate(mix(again, v, 0.5), again)
        for a, b in zip(found[:6], plain[:6], strict=True):
            np.testing.assert_allclose(a, b, rtol=loose, atol=tight * np.max(np.abs(plain.slope)))
        np.testing.assert_allclose(kept, again.image, rtol=loose, atol=tight)
        for i in (0, 17):
            alone = f.evaluate(Point.at(y.coords[i]), Point.at(watch.coords[i]))
            np.testing.assert_allclose(found.slope[i], alone.slope, rtol=loose, atol=tight)
            assert found.watched[i] == pytest.approx(float(alone.watched), rel=loose)
    np.testing.assert_allclose(f.value_at(z)[0], [float(f.value(row)) for row in X[::-1]], rtol=loose)


def test_threads_do_not_change_a_path():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((20_000, 12))
    f = fw.Logistic(A, A[:, 0] > rng.standard_normal(20_000))
    one, two = (fw.path(f, fw.L2Ball, RADII * 5, method="afw", tol=0, max_iter=5, n_threads=k) for k in (1, 2))
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a.x, b.x)


def test_float32_stays_float32():
    A, b = logistic_data(n=60)
    path = fw.path(fw.Logistic(A.astype(np.float32), b), fw.L2Ball, RADII, method="afw", tol=1e-3)
    assert all(result.x.dtype == np.float32 for result in path)
    assert path.success


def test_sparse_data_in_step():
    A, b = logistic_data(n=60)
    A[np.abs(A) < 0.5] = 0.0
    sparse, dense = fw.Logistic(sp.csr_array(A), b), fw.Logistic(A, b)
    together = fw.path(sparse, fw.L1Ball, RADII, method="afw", together=True, tol=0, max_iter=20)
    for a, c in zip(together, fw.path(dense, fw.L1Ball, RADII, method="afw", tol=0, max_iter=20), strict=True):
        np.testing.assert_allclose(a.x, c.x, atol=1e-13)
    assert fw.path(sparse, fw.L1Ball, RADII, method="afw", tol=1e-3).n_pass != together.n_pass  # by default in turn


@pytest.mark.parametrize(
    ("kind", "name"),
    [*((kind, "l2") for kind in KINDS), *(("squares", name) for name in ("l1", "l1.5", "linf", "simplex", "groups"))],
)
def test_other_array_namespaces(kind, name):
    f, g = objective(kind), objective(kind, xp.asarray)
    for method in ("afw", METHODS["afw, line search"]):
        ours = fw.path(f, BALLS[name], RADII, method=method, together=True, tol=0, max_iter=8)
        theirs = fw.path(g, BALLS[name], RADII, method=method, together=True, tol=0, max_iter=8)
        for a, c in zip(ours, theirs, strict=True):
            assert type(c.x).__module__.startswith("array_api_strict")
            assert (a.n_iter, a.status) == (c.n_iter, c.status)
            np.testing.assert_allclose(a.x, np.asarray(c.x), rtol=0, atol=1e-10)


def test_a_start_of_ones_own():
    f, x0 = objective("logistic"), np.full(12, 0.02)
    path = fw.path(f, fw.L2Ball, RADII, method="afw", x0=x0, tol=0, max_iter=5)
    for radius, result in zip(RADII, path, strict=True):
        alone = fw.minimize(f, fw.L2Ball(radius), x0, method="afw", tol=0, max_iter=5)
        np.testing.assert_allclose(result.x, alone.x, atol=1e-14)
    with pytest.raises(ValueError, match="x0 does not lie in"):
        fw.path(f, fw.L2Ball, RADII, method="afw", x0=np.ones(12))
    with pytest.raises(ValueError, match="x0 must have shape"):
        fw.path(f, fw.L2Ball, RADII, method="afw", x0=np.ones(3))


def test_nothing_is_proven_of_an_indefinite_quadratic_at_any_radius():
    """It looks convex on a small ball and not on a large one."""
    Q, c = np.diag([2.0, -0.5]), np.array([-1.0, 1e-3])
    path = fw.path(fw.Quadratic(Q, c), fw.L2Ball, [0.01, 100.0], method="afw", tol=1e-6, max_iter=500)
    assert [r.status for r in path] == [fw.Status.NOT_CONVEX] * 2
    assert [r.lower_bound for r in path] == [-np.inf] * 2


def test_what_is_not_finite_ends_a_radius():
    f, options = fw.LeastSquares(1e200 * np.eye(2), [1.0, 1.0]), {"method": "afw", "tol": 1e-9, "max_iter": 50}
    with np.errstate(all="ignore"):
        path = fw.path(f, fw.L2Ball, [1e-201, 1e200], **options)
        alone = fw.minimize(f, fw.L2Ball(1e200), **options)
    assert path[1].status is alone.status is fw.Status.NOT_FINITE
    assert path[1].message == alone.message
    assert path[0].status is not fw.Status.NOT_FINITE
    assert np.isfinite(path[1].trace.fun).all()  # the step that went wrong is not taken in
    all_wrong = fw.path(f, fw.L2Ball, [1e200, 1e201], together=True, **options)
    assert [r.status for r in all_wrong] == [fw.Status.NOT_FINITE] * 2


def test_the_set_of_many_radii_answers_as_its_members_do():
    rng = np.random.default_rng(0)
    g = rng.standard_normal((4, 12))
    g[1, 3] = 0.0
    for ball in BALLS.values():
        members = [ball.with_radius(radius) for radius in RADII]
        batch = SetBatch(members, g)
        v = batch.lmo(g)
        for i, member in enumerate(members):
            np.testing.assert_allclose(v.array[i], member.lmo(g[i]).toarray(), atol=1e-15)
            assert v.inner(g)[i] == pytest.approx(float(member.lmo(g[i]).inner(g[i])))
            assert batch.support(g)[i] == pytest.approx(float(member.support(g[i])))
            assert batch.rows([i]).support(g[i : i + 1])[0] == pytest.approx(float(member.support(g[i])))
        assert batch.contains(v.array, 1e-9)
        assert not batch.contains(3 * v.array)
        assert batch.diameter((12,)) == max(member.diameter((12,)) for member in members)


def test_line_searches_side_by_side():
    f = objective("ridge")
    rng = np.random.default_rng(1)
    X, V = 0.1 * rng.standard_normal((5, 12)), 3 * rng.standard_normal((5, 12))
    x, v = Point.at(X), Point.at(V)
    line, passes = f.line(x, v)
    assert passes == 2.0
    together = minimise_in_arrays(line, np.zeros(5))
    for i in range(5):
        alone, _ = minimise_on_segment(f.line(Point.at(X[i]), Point.at(V[i]))[0])
        assert together[i] == pytest.approx(alone, rel=1e-9, abs=1e-12)
    gamma = Problem(f, None).line_search(x, v)
    np.testing.assert_allclose(gamma[:, 0], together, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(mix(x, v, gamma).coords[2], (1 - together[2]) * X[2] + together[2] * V[2], rtol=1e-9)


# --- one radius after the other ------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["auto", "fcfw", "away", "newton", "subspace", "afw", "apgd", "bpcg"])
@pytest.mark.parametrize("name", ["l1", "l2", "simplex"])
def test_in_turn_finds_every_optimum(name, method):
    f, radii, tol = objective("logistic"), [0.5, 4.0, 1.0, 1.1], 1e-5 if method != "afw" else 3e-3
    path = fw.path(f, BALLS[name], radii, method=method, together=False, tol=tol)
    assert path.success
    for radius, result in zip(radii, path, strict=True):
        domain = BALLS[name].with_radius(radius)
        best = optimum(f, domain)
        assert domain.contains(result.x, 1e-9)
        assert result.lower_bound <= best + 1e-12
        assert best - 1e-12 <= result.fun <= best + tol
        assert (result.trace.lower_bound <= best + 1e-12).all()
        assert len(result.trace) == result.n_iter + 1


@pytest.mark.parametrize("kind", [*KINDS, "function"])
def test_every_objective_in_turn(kind):
    f = objective(kind)
    x0 = np.zeros(12) if kind == "function" else None
    path = fw.path(f, fw.L1Ball, [0.5, 1.0, 2.0], x0=x0, tol=1e-5)
    for result in path:
        assert result.success
    for radius, result in zip([0.5, 1.0, 2.0], path, strict=True):
        best = optimum(f, fw.L1Ball(radius), x0)
        assert result.lower_bound <= best + 1e-12
        assert result.fun <= best + 1e-5


def test_function_over_a_set_that_knows_its_shape():
    path = fw.path(objective("function"), fw.Simplex(12), [0.5, 1.0, 2.0], tol=1e-4)
    assert path.success
    np.testing.assert_allclose(path.coefs.sum(axis=1), [0.5, 1.0, 2.0], rtol=1e-9)


@pytest.mark.parametrize("domain", [-1.0 * fw.Simplex(12), fw.LInfBall(1.0) + np.ones(12)], ids=str)
def test_function_over_a_set_made_of_others(domain):
    """Whose size, which the rounding of its minima depends on, is asked at every radius."""
    for result in fw.path(objective("function"), domain, [0.5, 1.0, 2.0], method="away", max_iter=20):
        assert result.lower_bound <= result.fun


def test_in_turn_takes_less_work_than_alone():
    A, b = logistic_data(n=400, d=40)
    f, radii = fw.Logistic(sp.csr_array(A), b), np.linspace(1, 5, 12)
    path = fw.path(f, fw.L1Ball, radii, tol=1e-6)
    alone = [fw.minimize(f, fw.L1Ball(radius), tol=1e-6) for radius in radii]
    assert path.success
    assert sum(r.n_lmo for r in path) < 0.9 * sum(r.n_lmo for r in alone)
    assert path.n_pass < 0.9 * sum(r.n_pass for r in alone)


@pytest.mark.parametrize("method", ["fw", "afw", "extrafw", "hfw"])
def test_open_loop_steps_do_not_suffer_from_a_warm_start(method):
    f, radii = objective("logistic"), [0.5, 1.0, 1.5]
    path = fw.path(f, fw.L2Ball, radii, method=method, together=False, tol=1e-3)
    for radius, result in zip(radii, path, strict=True):
        alone = fw.minimize(f, fw.L2Ball(radius), method=method, tol=1e-3)
        assert result.n_iter <= alone.n_iter


def test_tangents_of_one_radius_settle_the_next_at_once():
    path = fw.path(objective("logistic"), fw.L2Ball, [1.0, 1.0 + 1e-9], method="newton", tol=1e-6)
    first, second = path
    assert first.n_iter > 0
    assert (second.n_iter, second.n_grad, second.n_lmo) == (0, 0, 0)
    assert second.success
    assert second.lower_bound <= optimum(objective("logistic"), fw.L2Ball(1.0 + 1e-9)) + 1e-12


@pytest.mark.parametrize(
    "domain", [fw.Simplex(12), -1.0 * fw.Simplex(12), fw.L1Ball(1.0) + np.linspace(1, 2, 12)], ids=str
)
@pytest.mark.parametrize("method", ["auto", "afw", "fcfw"])
def test_points_lie_in_their_own_set_though_the_last_one_is_next_to_it(domain, method):
    """A point of one simplex is no point of the next, however near; it had a lower value, too."""
    radii = [1.0, 1 + 1e-9, 1 + 1e-7]
    f = fw.LeastSquares(np.eye(12), np.zeros(12))
    path = fw.path(f, domain, radii, method=method, together=False, tol=1e-7)
    for radius, result in zip(radii, path, strict=True):
        assert domain.with_radius(radius).contains(result.x, 1e-14)


def test_atoms_are_carried_to_the_next_radius():
    f = objective("squares")
    path = fw.path(f, fw.L1Ball, [1.0, 1.2], method="fcfw", tol=1e-9)
    for radius, result in zip([1.0, 1.2], path, strict=True):
        on_it = [np.abs(a.toarray()).sum() for a in result.atoms if not isinstance(a, np.ndarray)]
        assert set(on_it) == {radius}  # exactly: a vertex that is met again must be recognised
        arrays = [a if isinstance(a, np.ndarray) else a.toarray() for a in result.atoms]
        total = sum(w * a for w, a in zip(result.weights, arrays, strict=True))
        np.testing.assert_allclose(total, result.x, atol=1e-12)


@pytest.mark.parametrize("method", ["auto", "afw", "fcfw"])
def test_matrix_completion(method):
    f, radii, tol = completion(), [2.0, 4.0, 8.0], 1e-4 if method != "afw" else 0.5
    path = fw.path(f, fw.NuclearBall, radii, method=method, tol=tol, max_iter=3000)
    assert path.success
    assert isinstance(path.coefs, list)
    for radius, result in zip(radii, path, strict=True):
        tight = fw.minimize(f, fw.NuclearBall(radius), method="apgd", tol=1e-9)
        assert result.x.nuclear_norm() <= radius * (1 + 1e-9)
        assert result.lower_bound <= tight.fun + 1e-12
        assert tight.lower_bound - 1e-12 <= result.fun <= tight.fun + tol


def test_bounds_against_cvxpy():
    cp = pytest.importorskip("cvxpy")
    A, b = logistic_data(n=60)
    f, radii = fw.LeastSquares(A, b), [0.1, 0.2]
    for p, ball in ((1, fw.L1Ball), (2, fw.L2Ball), ("inf", fw.LInfBall)):
        paths = [fw.path(f, ball, radii, method=method, tol=1e-3) for method in ("auto", "afw")]
        for i, radius in enumerate(radii):
            x = cp.Variable(12)
            problem = cp.Problem(cp.Minimize(cp.sum_squares(A @ x - b) / 120), [cp.norm(x, p) <= radius])
            problem.solve(solver=cp.CLARABEL)
            for path in paths:
                assert path[i].lower_bound <= problem.value + 1e-7
                assert path[i].fun >= problem.value - 1e-7
                assert path[i].gap <= 1e-3


def test_limits_end_every_radius_truthfully():
    f = objective("logistic")
    for together in (True, False):
        path = fw.path(f, fw.L2Ball, [5.0, 3.0], method="afw", together=together, tol=1e-12, max_iter=4)
        assert [r.status for r in path] == [fw.Status.MAX_ITER] * 2
        late = fw.path(f, fw.L2Ball, [5.0, 3.0], method="afw", together=together, tol=1e-12, time_limit=0)
        assert [r.status for r in late] == [fw.Status.TIME_LIMIT] * 2
        for radius, result in zip([5.0, 3.0], [*path, *late], strict=False):
            assert result.lower_bound <= optimum(f, fw.L2Ball(radius)) + 1e-12


# --- the face ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("together", [True, False])
def test_order_and_repeats(together):
    f, radii = objective("squares"), [1.5, 0.5, 1.5, 1.0]
    path = fw.path(f, fw.L2Ball, radii, method="afw", together=together, tol=1e-3)
    np.testing.assert_array_equal(path.radii, radii)
    assert len(path) == 4
    assert path[0] is path[2]
    assert path[1].fun > path[3].fun > path[0].fun
    assert [r.fun for r in path[1:3]] == [path[1].fun, path[2].fun]
    assert fw.path(f, fw.L2Ball, [1.5], method="afw", together=together, tol=1e-3)[0].success
    assert fw.path(f, fw.L2Ball, (r for r in (1, 2)), tol=1e-5).radii.tolist() == [1.0, 2.0]


def test_scores_along_the_way():
    A, b = logistic_data(n=200)
    f, held_out, seen = fw.Logistic(A[:100], b[:100]), fw.Logistic(A[100:], b[100:]), []

    def accuracy(x, radius):
        seen.append(radius)
        return np.mean(np.sign(A[100:] @ x) == b[100:])

    radii = [4.0, 0.1, 1.0]
    for options in ({}, {"method": "afw", "tol": 1e-3}):
        seen.clear()
        path = fw.path(f, fw.L2Ball, radii, score=accuracy, **options)
        assert sorted(seen) == sorted(radii)
        assert path.scores.tolist() == [np.mean(np.sign(A[100:] @ r.x) == b[100:]) for r in path]
        assert path.best is path[int(np.argmax(path.scores))]
        loss = fw.path(f, fw.L2Ball, radii, score=held_out, **options)
        np.testing.assert_allclose(loss.scores, [held_out.value(r.x) for r in loss])
        assert loss.best is loss[int(np.argmin(loss.scores))]
        assert loss.best_radius == radii[int(np.argmin(loss.scores))]
    with pytest.raises(ValueError, match="without scores"):
        fw.path(f, fw.L2Ball, radii).best
    with pytest.raises(ValueError, match="none of the scores"):
        fw.path(f, fw.L2Ball, radii, score=lambda x, r: np.nan).best
    assert fw.path(f, fw.L2Ball, radii, score=lambda x, r: np.nan if r > 2 else -r).best_radius == 0.1


def test_table_and_picture():
    f = objective("squares")
    path = fw.path(f, fw.L1Ball, [4.0, 0.05, 1.0], score=lambda x, r: -abs(r - 1))
    frame = path.to_pandas()
    assert frame["radius"].tolist() == [4.0, 0.05, 1.0]
    assert {"fun", "gap", "status", "score", "n_iter"} <= set(frame)
    assert path.coefs.shape == (3, 12)
    assert "radius" in repr(path)
    left, right = path.plot()
    assert len(left.lines) == 12
    np.testing.assert_array_equal(left.lines[0].get_xdata(), [0.05, 1.0, 4.0])
    np.testing.assert_array_equal(right.lines[0].get_ydata(), path.scores[[1, 2, 0]])
    assert (left.get_xscale(), right.get_title(loc="left")) == ("log", "Score (higher is better)")
    left, right = fw.path(completion(), fw.NuclearBall, [1.0, 4.0], tol=1e-2).plot(ax=plt.subplots(1, 2)[1])
    assert (left.get_ylabel(), right.get_ylabel()) == ("rank", "objective value")
    with pytest.raises(ValueError, match="pair of matplotlib Axes"):
        path.plot(ax=plt.subplots()[1])
    plt.close("all")


def test_progress_names_the_radii(capsys):
    f = objective("logistic")
    fw.path(f, fw.L2Ball, [1.0, 2.0], method="afw", tol=1e-3, progress=True)
    assert "of 2 radii done" in capsys.readouterr().err
    fw.path(f, fw.L1Ball, [1.0, 2.0], progress=True)
    assert "radius 1 of 2" in capsys.readouterr().err
    fw.path(f, fw.L1Ball, [1.0, 2.0], progress=False)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("arguments", "options", "error", "words"),
    [
        ((fw.L1Ball, []), {}, ValueError, "radii is empty"),
        ((fw.L1Ball, [1.0, -2.0]), {}, ValueError, r"radii\[1\] must be a positive finite number, got -2.0"),
        ((fw.L1Ball, [1.0, float("nan")]), {}, ValueError, r"radii\[1\]"),
        ((fw.L1Ball, ["a"]), {}, ValueError, r"radii\[0\]"),
        ((fw.L1Ball, np.ones((2, 2))), {}, ValueError, r"radii\[0\]"),
        ((fw.L1Ball, 3.0), {}, TypeError, "radii must be a list"),
        ((fw.L1Ball, "12"), {}, TypeError, "radii must be a list"),
        ((fw.L1Ball, np.array(3.0)), {}, TypeError, "radii must be a list"),
        ((fw.LpBall, [1.0]), {}, TypeError, "LpBall needs p as well as a radius"),
        ((fw.Simplex, [1.0]), {}, TypeError, "Simplex needs dim as well as a radius"),
        ((fw.Birkhoff, [1.0]), {}, TypeError, "Birkhoff needs more than a radius"),
        ((fw.Hypersimplex(12, k=2), [1.0]), {}, TypeError, "radius"),
        (("l1", [1.0]), {}, TypeError, "domain must be a set"),
        ((fw.L1Ball, [1.0]), {"method": "newtn"}, ValueError, "newton"),
        ((fw.L1Ball, [1.0]), {"method": "newton", "together": True}, ValueError, "together=True needs 'afw'"),
        ((fw.L1Ball, [1.0]), {"together": "yes"}, ValueError, "together must be"),
        ((fw.L1Ball, [1.0]), {"score": 3}, TypeError, "score must be"),
        ((fw.L1Ball, [1.0]), {"tol": -1}, ValueError, "tol"),
        ((fw.L1Ball, [1.0]), {"max_iter": 1.5}, ValueError, "max_iter"),
    ],
)
def test_bad_input_is_one_clear_sentence(arguments, options, error, words):
    with pytest.raises(error, match=words) as caught:
        fw.path(objective("logistic"), *arguments, **options)
    assert "\n" not in str(caught.value)


def test_an_objective_is_needed():
    with pytest.raises(TypeError, match="objective must be an Objective"):
        fw.path(np.ones(3), fw.L1Ball, [1.0])  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_standardised_paths_are_those_of_scaled_data(sparse: bool) -> None:
    import scipy.sparse

    rng = np.random.default_rng(2)
    A = rng.standard_normal((60, 4)) * [1e-3, 1.0, 10.0, 1e3] * (rng.random((60, 4)) < 0.7)
    b = A @ [1e3, 1.0, 0.1, 0.0] + 0.1 * rng.standard_normal(60)
    spread = A.std(axis=0)
    data, scaled = (scipy.sparse.csr_array(M) if sparse else M for M in (A, A / spread))
    held_out = fw.LeastSquares(data, b, intercept=True)
    found = fw.path(held_out, fw.L1Ball, [0.5, 2.0], tol=1e-10, standardize=True, score=held_out)
    wanted = fw.path(fw.LeastSquares(scaled, b, intercept=True), fw.L1Ball, [0.5, 2.0], tol=1e-10)
    np.testing.assert_allclose(found.coefs * spread, wanted.coefs, atol=1e-6)
    assert found.scores is not None
    np.testing.assert_allclose(found.scores, [result.fun for result in found], rtol=1e-9)
    assert found.lower_is_better
    with pytest.raises(TypeError, match="standardize=True needs a linear model"):
        fw.path(fw.Function(lambda x: float(x @ x), lambda x: 2 * x), fw.L1Ball, [1.0], standardize=True)
