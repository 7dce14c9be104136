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
SLOW = {"cgs": 10, "stochastic": 10, "newton": 3, "factored": 3, "subspace": 2, "fcfw": 2}  # so many times fewer steps
DEAR = {"polytope": 3, "hull": 2}
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
        steps, worst = max(STEPS // SLOW.get(name, 1) // DEAR.get(where, 1), 12), [0.0]

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
