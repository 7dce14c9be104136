"""Long runs with tol=0: every iterate of every method stays in its set, and nothing drifts.

A short form, one objective for each set; `python -m benchmarks.long_runs` has 10,000 steps on all of them.
"""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.lies_cases import case
from benchmarks.long_runs import CURVED, FAMILY, MATRICES, OBJECTIVES, VECTORS, long_run, outside, place

import frankwolfe as fw

STEPS = 60
SLOW = {"cgs": 5, "stochastic": 5, "newton": 3, "factored": 3, "subspace": 2, "fcfw": 2}  # how many times fewer steps
PLACES = [
    *((OBJECTIVES[i % len(OBJECTIVES)], name) for i, name in enumerate(VECTORS)),
    *(("matrix", name) for name in MATRICES),
    ("softmax", "spectral"),
    ("completion", "nuclear"),
]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("kind", "where"), PLACES, ids=lambda p: str(p))
def test_no_iterate_leaves_the_set(kind: str, where: str, dtype: str) -> None:
    fewer = 3 if where == "polytope" else 1
    endings = [long_run(place(kind, where, dtype), name, STEPS // SLOW.get(name, 1) // fewer) for name in FAMILY]
    assert {name: ending.faults for name, ending in zip(FAMILY, endings, strict=True) if ending and ending.faults} == {}
    assert len([ending for ending in endings if ending]) > 8


@pytest.mark.parametrize("where", [*CURVED, "l1", "simplex", "box", "group", "tv", "product"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_what_rounding_took_out_is_put_back(where: str, dtype: str) -> None:
    """A point outside by some hundred ulps; what is inside stays as it is."""
    from frankwolfe.feasible import settled
    from frankwolfe.points import Point
    from frankwolfe.problem import Problem

    f, domain, *_ = place("squares", where, dtype)
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


@pytest.mark.parametrize(("seed", "steps"), [(1021202, 100), (3008947, 250)])
def test_short_steps_on_other_arrays_do_not_leave_the_set(seed: int, steps: int) -> None:
    """A device is seldom asked whether a point is in its set: what rounding takes off is kept, or the answer looked at.

    A product of sets in single precision and doubly stochastic matrices, found by `benchmarks.lies`.
    """
    problem = case(seed, library="strict")
    problem.options |= {"max_iter": steps, "time_limit": None}
    assert outside(problem.set, problem.solve().x) <= 8


def test_sliding_keeps_account_of_rounding_too() -> None:
    """A sum of sets is asked nothing: in single precision 800 steps had added up to more than 4 ulps."""
    ending = long_run(place("squares", "sum", "float32"), "cgs", 800)
    assert ending is not None
    assert ending.ulps <= 4


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
