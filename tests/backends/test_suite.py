"""Methods x sets x objectives on every array library that is here: steps are NumPy's, and what cannot run says so."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from tests.backends.arrays import NAMES, Library, library

import frankwolfe as fw
from frankwolfe.methods import METHODS

RNG = np.random.default_rng(7)
N, D = 40, 6
A = RNG.standard_normal((N, D))
B = np.sign(A @ RNG.standard_normal(D) + RNG.standard_normal(N))
C = RNG.standard_normal(D)
SETS = {
    "l1": fw.L1Ball(1.0),
    "l2": fw.L2Ball(1.0),
    "l1.5": fw.LpBall(1.0, p=1.5),
    "l3": fw.LpBall(1.0, p=3),
    "linf": fw.LInfBall(0.3),
    "box": fw.Box(-0.5, 0.25),
    "simplex": fw.Simplex(D),
    "k-support": fw.KSupportBall(1.0, k=2),
    "group": fw.GroupBall(1.0, groups=[[0, 3], [1], [2, 4, 5]]),
    "owl": fw.OWLBall(1.0, weights=[3, 2, 1, 1, 0.5, 0.2]),
    "permutahedron": fw.Permutahedron(np.arange(6.0)),
    "hypersimplex": fw.Hypersimplex(6, k=2),
    "hull": fw.ConvexHull(RNG.standard_normal((8, 6))),
    "product": fw.Product(fw.L2Ball(1.0), fw.Simplex(3), shapes=[(3,), None]),
    "sum": fw.L1Ball(0.5) + fw.L2Ball(0.5),
    "scaled": 2.0 * fw.L2Ball(1.0),
}
OBJECTIVES = ("logistic", "squares", "quadratic", "function")
# Methods whose steps do not depend on a line search agree coordinate by coordinate; the others end where f is flat, so
# that rounding in f moves the point by the root of rounding.
OPEN_LOOP = ("fw", "afw", "hfw", "extrafw", "richardson", "agm", "agm_sc", "cgs")
LINE_SEARCH = ("away", "pairwise", "bpcg", "bcg", "boosted", "lazy", "pgd", "apgd")
NUMPY_ONLY = ("fcfw", "stochastic", "newton", "subspace", "bcfw")


def objective(kind: str, lib: Library | None, dtype: str) -> Any:
    def array(values: np.ndarray) -> Any:
        return np.asarray(values, dtype=dtype) if lib is None else lib.array(values, dtype)

    if kind == "logistic":
        return fw.Logistic(array(A), B)
    if kind == "squares":
        return fw.LeastSquares(array(A), B)
    if kind == "quadratic":
        return fw.Quadratic(array(A.T @ A / 10), C)
    module = np if lib is None else lib.module.numpy if lib.name == "jax" else lib.module
    centre, total = array(C), module.sum
    return fw.Function(lambda x: total((x - centre) ** 2), lambda x: 2 * (x - centre), smoothness=2.0)


def solve(kind: str, name: str, method: str, lib: Library | None, dtype: str, steps: int) -> fw.Result:
    domain = None if method in ("agm", "agm_sc") else SETS[name]
    x0 = None
    if kind == "function":
        inside = np.zeros(D) if SETS[name].contains(np.zeros(D)) else SETS[name].lmo(C).toarray()
        x0 = np.asarray(inside, dtype=dtype) if lib is None else lib.array(inside, dtype)
    return fw.minimize(objective(kind, lib, dtype), domain, x0, method=method, tol=0, max_iter=steps)


@cache
def on_numpy(kind: str, name: str, method: str, steps: int) -> fw.Result:
    return solve(kind, name, method, None, "float64", steps)


def compare(lib: Library, kind: str, name: str, method: str, steps: int, dtype: str, tol: float) -> None:
    expected, result = on_numpy(kind, name, method, steps), solve(kind, name, method, lib, dtype, steps)
    assert dtype in str(result.x.dtype)
    x_tol = tol if method in OPEN_LOOP else max(tol, 1e-6)
    np.testing.assert_allclose(lib.numpy(result.x), expected.x, atol=x_tol)
    assert abs(result.fun - expected.fun) <= tol
    if dtype == "float64":
        ours, theirs = result.trace.to_array()[:, 2:4], expected.trace.to_array()[:, 2:4]
        np.testing.assert_allclose(ours, theirs, atol=tol)


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("method", ["fw", "afw"])
@pytest.mark.parametrize("backend", NAMES)
def test_every_set(backend: str, method: str, name: str) -> None:
    lib = library(backend)
    for kind in OBJECTIVES if name in ("l1", "l2", "box") else ("logistic",):
        compare(lib, kind, name, method, 50 if name == "l2" else 20, "float64", 1e-10)
    compare(lib, "logistic", name, method, 20, "float32", 1e-4)


@pytest.mark.parametrize("method", [*OPEN_LOOP, *LINE_SEARCH, "dicg"])
@pytest.mark.parametrize("backend", NAMES)
def test_every_method(backend: str, method: str) -> None:
    lib = library(backend)
    if method == "dicg":
        compare(lib, "quadratic", "simplex", method, 6, "float64", 1e-10)
        return
    for kind, name in (("logistic", "l2"), ("squares", "l3"), ("logistic", "box")):
        if method == "agm_sc" and kind == "logistic":
            continue  # not strongly convex
        compare(lib, kind, name, method, 10, "float64", 1e-10)


@pytest.mark.parametrize("method", NUMPY_ONLY)
@pytest.mark.parametrize("backend", NAMES)
def test_what_cannot_run_says_what_can(backend: str, method: str) -> None:
    lib = library(backend)
    name = "product" if method == "bcfw" else "l2"
    with pytest.raises(TypeError, match=r"NumPy.*use '(afw|fw|bpcg)'"):
        solve("logistic", name, method, lib, "float64", 3)


def test_every_method_is_in_the_suite() -> None:
    matrices = {"inface", "factored"}  # of matrix completion only, whose variable is a LowRank
    assert set(METHODS) == {*OPEN_LOOP, *LINE_SEARCH, *NUMPY_ONLY, "dicg"} | matrices
