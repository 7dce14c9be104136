"""Methods x sets x objectives on every array library that is here: steps are NumPy's, and what cannot run says so."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import takewhile
from typing import Any, NamedTuple

import numpy as np
import pytest
from tests.backends.arrays import NAMES, Library, library

import frankwolfe as fw
from frankwolfe.methods import METHODS, SubspaceFrankWolfe

RNG = np.random.default_rng(7)
N, D = 40, 6
A = RNG.standard_normal((N, D))
# Far from the origin, so that solutions lie on the boundary: inside a set the gradient vanishes, every vertex is as
# good as any other, and which one comes next is a matter of rounding.
CENTRE = RNG.standard_normal(D)
B = np.sign(A @ CENTRE + RNG.standard_normal(N))
T = A @ CENTRE + RNG.standard_normal(N)
OTHER = np.random.default_rng(8)
CLASSES = np.argmax(A @ OTHER.standard_normal((D, 3)) + OTHER.gumbel(size=(N, 3)), axis=1)
SETS = {
    "l1": fw.L1Ball(1.0),
    "l2": fw.L2Ball(1.0),
    "l1.5": fw.LpBall(1.0, p=1.5),
    "l3": fw.LpBall(0.5, p=3),
    "linf": fw.LInfBall(0.5),
    "box": fw.Box(-0.75, 0.5),
    "simplex": fw.Simplex(D),
    "k-support": fw.KSupportBall(0.5, k=2),
    "group": fw.GroupBall(1.0, groups=[[0, 3], [1], [2, 4, 5]]),
    "owl": fw.OWLBall(1.0, weights=[3, 2, 1, 1, 0.5, 0.2]),
    "permutahedron": fw.Permutahedron(np.arange(6.0)),
    "hypersimplex": fw.Hypersimplex(6, k=2),
    "hull": fw.ConvexHull(RNG.standard_normal((8, 6))),
    "product": fw.Product(fw.L2Ball(0.5), fw.Simplex(3), shapes=[(3,), None]),
    "sum": fw.L1Ball(0.5) + fw.L2Ball(0.5),
    "scaled": 2.0 * fw.L2Ball(0.25),
}
OBJECTIVES = ("logistic", "squares", "quadratic", "function", "multinomial")
OPEN_LOOP = ("fw", "afw", "hfw", "extrafw", "richardson", "agm", "agm_sc", "cgs", "stochastic")
LINE_SEARCH = ("away", "pairwise", "bpcg", "bcg", "boosted", "lazy", "pgd", "apgd", "dicg", "bcfw")
SECOND_ORDER = ("subspace", "newton", "fcfw")
ROUNDING_DECIDES = ("away", "pairwise", "bpcg", "bcg", "boosted", "lazy", "bcfw", *SECOND_ORDER)  # in single precision
# Every run is followed for 50 steps (20 on array-api-strict), or until its gap is closed, but for these.
CLOSED = {"float64": 1e-9, "float32": 1e-5}  # the gap: what comes after is a matter of rounding
STEPS = {
    # Its direction is made of differences of vertices, and vertices of the l3 ball are roots of gradients: each step
    # doubles what rounding has done, on any library.
    ("boosted", "l3"): 10,
    # Six atoms in six variables depend on each other, so that their weights are not unique, and rounding chooses.
    **{("fcfw", name): 5 for name in ("l1", "linf", "box", "permutahedron", "hull", "group", "sum")},
    # An epoch is many moves, and this is slow enough.
    ("stochastic", None): 15,
}
# In single precision line searches between atoms are decided by rounding from the first steps on: there the answers are
# compared, not the way to them. Schedules do not amplify rounding, nor do projections.


def steps_of(lib: Library, method: str, name: str) -> int:
    steps = STEPS.get((method, name), STEPS.get((method, None), 50))
    return min(steps, 20) if lib.name == "strict" else steps  # where every index is checked, and on NumPy's arrays


def objective(kind: str, lib: Library | None, dtype: str) -> Any:
    def array(values: np.ndarray) -> Any:
        return np.asarray(values, dtype=dtype) if lib is None else lib.array(values, dtype)

    if kind == "logistic":
        return fw.Logistic(array(A), B)
    if kind == "squares":
        return fw.LeastSquares(array(A), T)
    if kind == "quadratic":
        return fw.Quadratic(array(A.T @ A / 10), -A.T @ T / 10)
    if kind.startswith("multinomial"):
        return fw.Multinomial(array(A), CLASSES, intercept=kind.endswith("intercepts"))
    module = np if lib is None else lib.module.numpy if lib.name == "jax" else lib.module
    centre, total = array(CENTRE), module.sum
    return fw.Function(lambda x: total((x - centre) ** 2), lambda x: 2 * (x - centre), smoothness=2.0)


def solve(
    kind: str, name: str, method: str, lib: Library | None, dtype: str, steps: int, callback: Any = None
) -> fw.Result:
    domain = None if method in ("agm", "agm_sc") else SETS[name]
    x0 = None
    if kind == "function":
        inside = np.zeros(D) if SETS[name].contains(np.zeros(D)) else SETS[name].lmo(CENTRE).toarray()
        x0 = np.asarray(inside, dtype=dtype) if lib is None else lib.array(inside, dtype)
    f = objective(kind, lib, dtype)
    same: Any = SubspaceFrankWolfe(newton=False) if method == "subspace" else method  # Newton steps are NumPy's alone
    return fw.minimize(f, domain, x0, method=same, tol=0, max_iter=steps, callback=callback)


@cache
def on_numpy(kind: str, name: str, method: str, steps: int) -> fw.Result:
    return solve(kind, name, method, None, "float64", steps)


def compare(lib: Library, kind: str, name: str, method: str, steps: int, dtype: str, tol: float) -> None:
    """Compare what is returned: the best point, its value, and the trace."""
    expected, result = on_numpy(kind, name, method, steps), solve(kind, name, method, lib, dtype, steps)
    assert dtype in str(result.x.dtype)
    np.testing.assert_allclose(lib.numpy(result.x), expected.x, atol=tol)
    assert abs(result.fun - expected.fun) <= tol
    if dtype == "float64":
        ours, theirs = result.trace.to_array()[:, 2:4], expected.trace.to_array()[:, 2:4]
        np.testing.assert_allclose(ours, theirs, atol=tol)


def iterates(kind: str, name: str, method: str, lib: Library | None, dtype: str, steps: int) -> list[tuple[Any, float]]:
    """Return x_k and its gap for every step, until the gap is closed."""
    seen: list[tuple[Any, float]] = []
    take = np.copy if lib is None else lib.numpy

    def look(it: Any) -> bool:
        seen.append((take(it.x), it.gap))
        return it.gap < CLOSED["float64"]

    solve(kind, name, method, lib, dtype, steps, callback=look)
    return seen


@cache
def iterates_on_numpy(kind: str, name: str, method: str, steps: int) -> list[tuple[Any, float]] | None:
    try:
        return iterates(kind, name, method, None, "float64", steps)
    except (TypeError, ValueError):
        return None  # a pair that no library can run


def follow(lib: Library, kind: str, name: str, method: str, dtype: str) -> None:
    """Compare every iterate until the run has converged as far as rounding shows."""
    tol, steps = (1e-10 if dtype == "float64" else 1e-4), steps_of(lib, method, name)
    expected = iterates_on_numpy(kind, name, method, steps)
    assert expected is not None
    wanted = [x for x, _ in takewhile(lambda seen: seen[1] >= CLOSED[dtype], expected)]
    for (x, _), y in zip(iterates(kind, name, method, lib, dtype, max(len(wanted), 1)), wanted, strict=False):
        np.testing.assert_allclose(x, y, atol=tol * max(1.0, float(np.abs(y).max())), err_msg=f"{method} {kind} {name}")


def arrive(lib: Library, kind: str, name: str, method: str, dtype: str) -> None:
    """Compare the answer: in the set, its bound a bound, its value NumPy's up to a factor and rounding."""
    steps = steps_of(lib, method, name)
    result, expected, optimum = (
        solve(kind, name, method, lib, dtype, steps),
        on_numpy(kind, name, method, steps),
        best(kind, name),
    )
    scale = max(abs(optimum.fun), expected.trace["fun"][0] - optimum.fun)
    case = f"{method} {kind} {name}"
    assert SETS[name].contains(lib.numpy(result.x).astype(float), tol=1e-5), case
    assert result.lower_bound <= optimum.fun + 1e-6 * scale, case
    assert result.fun >= optimum.lower_bound - 1e-6 * scale, case
    assert result.fun - optimum.fun <= 10 * (expected.fun - optimum.fun) + 1e-4 * scale, case


@cache
def best(kind: str, name: str) -> fw.Result:
    """Return the optimum, in double precision."""
    x0 = SETS[name].lmo(CENTRE).toarray() if kind == "function" else None
    return fw.minimize(objective(kind, None, "float64"), SETS[name], x0, rtol=1e-9, max_iter=3000)


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("method", ["fw", "afw"])
@pytest.mark.parametrize("backend", NAMES)
def test_every_set(backend: str, method: str, name: str) -> None:
    lib = library(backend)
    for kind in OBJECTIVES if name in ("l1", "l2", "box") else ("logistic",):
        compare(lib, kind, name, method, 50 if name == "l2" else 20, "float64", 1e-10)
    compare(lib, "logistic", name, method, 20, "float32", 1e-4)


EVERYWHERE = [(kind, name) for name in SETS for kind in OBJECTIVES]
SOME = [("logistic", "l2"), ("squares", "l1"), ("quadratic", "box"), ("function", "simplex"), ("squares", "product")]
SOME += [("multinomial", "l2"), ("multinomial with intercepts", "k-support")]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("method", [*OPEN_LOOP, *LINE_SEARCH, *SECOND_ORDER])
@pytest.mark.parametrize("backend", NAMES)
def test_every_method(backend: str, method: str, dtype: str) -> None:
    """Every step is NumPy's, or every answer where rounding decides: for all pairs on torch, for some elsewhere."""
    lib = library(backend)
    pairs = EVERYWHERE if backend == "torch" and method not in ("agm", "agm_sc") else SOME
    check = arrive if dtype == "float32" and method in ROUNDING_DECIDES else follow
    if check is arrive and backend == "strict":
        pairs = SOME[::2]  # whole runs, and every index is checked
    ran = 0
    for kind, name in pairs:
        if iterates_on_numpy(kind, name, method, steps_of(lib, method, name)) is None:
            with pytest.raises((TypeError, ValueError)):
                solve(kind, name, method, lib, dtype, 3)
        else:
            check(lib, kind, name, method, dtype)
            ran += 1
    assert ran


class Refused(NamedTuple):
    """What cannot run on an array that is not NumPy's, and what the error says."""

    method: str
    objective: Callable[[Library], Any]
    domain: Any
    error: type[Exception]
    says: str


def own(lib: Library) -> Any:
    return objective("function", lib, "float64")


REFUSED = {
    "newton, too many variables": Refused(
        "newton",
        lambda lib: fw.LeastSquares(lib.array(np.ones((2, 5001))), [1.0, 2.0]),
        fw.L1Ball(1.0),
        ValueError,
        "p x p Hessian.*5001 is more than 5000; use",
    ),
    "stochastic, an objective that is no sum": Refused(
        "stochastic", lambda lib: fw.Quadratic(lib.array(np.eye(3))), fw.L1Ball(1.0), TypeError, "sum over rows.*use"
    ),
    "subspace, no image": Refused("subspace", own, fw.Simplex(D), TypeError, "needs images.*use 'afw'"),
    "fcfw, no curvature": Refused("fcfw", own, fw.Simplex(D), TypeError, "needs the curvature.*use 'bpcg'"),
    "newton, no data": Refused("newton", own, fw.Simplex(D), TypeError, "forms the Hessian from the data.*use"),
    "bcfw, no blocks": Refused("bcfw", own, fw.Simplex(D), TypeError, "has no blocks; use"),
    "dicg, other vertices": Refused("dicg", own, fw.L2Ball(1.0), TypeError, "0/1 vertices.*use"),
    "inface, no matrix": Refused("inface", own, fw.L2Ball(1.0), TypeError, "is for the NuclearBall.*use"),
    "factored, no matrix": Refused("factored", own, fw.L2Ball(1.0), TypeError, "is for the NuclearBall.*use"),
}


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("backend", NAMES)
def test_what_cannot_run_says_what_can(backend: str, case: str) -> None:
    lib = library(backend)
    method, make, domain, error, says = REFUSED[case]
    with pytest.raises(error, match=says):
        fw.minimize(make(lib), domain, method=method, max_iter=3)


def test_every_method_is_in_the_suite() -> None:
    matrices = {"inface", "factored"}  # of matrix completion only, whose variable is a LowRank: test_completion
    assert set(METHODS) == {*OPEN_LOOP, *LINE_SEARCH, *SECOND_ORDER} | matrices
