"""Long runs with tol=0: every iterate of every method stays in its set, and nothing drifts.

A short form by default; FRANKWOLFE_STEPS=10000 makes all runs as long as that, on all objectives.
"""

from __future__ import annotations

import os

import numpy as np
import pytest
from tests.methods.long_runs import CURVED, MATRICES, OBJECTIVES, VECTORS, outside, place

import frankwolfe as fw
from frankwolfe.methods import METHODS
from frankwolfe.result import Status

STEPS = int(os.environ.get("FRANKWOLFE_STEPS", "60"))
LONG = STEPS > 1000
SLOW = {"cgs": 10, "stochastic": 10, "newton": 3, "factored": 3, "subspace": 2, "fcfw": 2}  # how many times fewer steps
SLOW_SETS = {"polytope": 3, "hull": 2}
ULPS = 64  # of the size of the set, and of the value
FAMILY = [name for name in METHODS if name not in ("agm", "agm_sc")]
KINDS = {name: OBJECTIVES[i % len(OBJECTIVES)] for i, name in enumerate(VECTORS)}  # one for each set, by turns
PLACES = [
    *((kind, name) for name in VECTORS for kind in (OBJECTIVES if LONG else (KINDS[name],))),
    *(("matrix", name) for name in MATRICES),
    ("completion", "nuclear"),
]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("kind", "where"), PLACES, ids=lambda p: str(p))
def test_no_iterate_leaves_the_set(kind: str, where: str, dtype: str) -> None:
    f, domain, floor, x0 = place(kind, where, dtype)
    eps, every, applied = float(np.finfo(dtype).eps), max(STEPS // 200, 1), 0
    slack = ULPS * eps * (1 + abs(floor))
    for name in FAMILY:
        steps, worst = max(STEPS // SLOW.get(name, 1) // SLOW_SETS.get(where, 1), 12), [0.0]

        def look(it, every=every, worst=worst) -> None:
            if it.k % every == 0:
                worst[0] = max(worst[0], outside(domain, it.x))

        try:
            result = fw.minimize(f, domain, x0, method=name, tol=0, max_iter=steps, callback=look, trace_every=every)
        except (TypeError, ValueError) as error:
            assert "use '" in str(error), name  # noqa: PT017
            continue
        applied += 1
        assert result.status is Status.MAX_ITER, (name, result.message)
        assert max(worst[0], outside(domain, result.x)) <= ULPS, name
        assert min(result.fun, result.trace.fun.min()) >= floor - slack, name
    assert applied > 8


@pytest.mark.parametrize("where", [*CURVED, "l1", "simplex", "box", "group", "tv", "product"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_what_rounding_took_out_is_put_back(where: str, dtype: str) -> None:
    """A point outside by some hundred ulps; what is inside stays as it is."""
    from frankwolfe.methods.drift import settled
    from frankwolfe.points import Point
    from frankwolfe.problem import Problem

    f, domain, _, _ = place("squares", where, dtype)
    problem = Problem(f, domain)
    problem.start(None, True)
    g = np.random.default_rng(0).standard_normal(8).astype(dtype)
    x = (sum(domain.lmo(s * g).toarray() for s in (1.0, 1.0, 1.0, 0.5)) / 4).astype(dtype)
    inside, out = Point.at(x), Point.at((1 + 200 * problem.eps) * x)
    assert settled(problem, 1, inside) is inside
    assert outside(domain, out.coords) > 50
    assert outside(domain, settled(problem, 1, out).coords) <= 16


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_short_steps_along_a_segment_do_not_leave_it(dtype: str) -> None:
    """A set known by its oracle alone: nobody looks whether a point is in it, so nothing may add up."""
    eps = np.finfo(dtype).eps
    for seed in range(5):
        ends = np.random.default_rng(seed).standard_normal((2, 5)).astype(dtype)
        domain = fw.Set.from_lmo(lambda g, ends=ends: ends[int(np.argmin(ends @ g))], shape=(5,))
        f = fw.LeastSquares(np.eye(5, dtype=dtype), 0.37 * ends[0] + 0.63 * ends[1])
        x = fw.minimize(f, domain, method=fw.FrankWolfe(fw.ShortStep(50.0)), tol=0, max_iter=3000, trace_every=999).x
        start, end = ends.astype(np.longdouble)
        gone, along = x.astype(np.longdouble) - start, end - start
        assert np.abs(gone - along * (along @ gone) / (along @ along)).max() <= 4 * eps


def test_an_entry_that_atoms_share_stays_what_it_is() -> None:
    """One-hot and sparse atoms, mixed thousands of times."""
    from frankwolfe.atoms import OneHot, Sparse

    value, x, y = np.float64(0.79187962), np.array([0.0, 0.79187962, 0.3]), np.array([0.0, 0.79187962, 0.3])
    for k in range(2000):
        delta = 2.0 / (k + 3)
        x = OneHot(1, value, (3,)).mixed_into(x, delta)
        y = Sparse(np.array([0, 1]), np.array([0.1, value]), (3,)).mixed_into(y, delta)
    assert x[1] == value
    assert y[1] == value
