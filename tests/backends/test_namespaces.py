"""The same methods on another array namespace: iterates agree with NumPy's, and the kind of array is kept."""

from __future__ import annotations

import array_api_strict as xp
import numpy as np
import pytest
from tests.problems import GROUPS, logistic_data

import frankwolfe as fw

A, B = logistic_data()
SETS = {
    "l1": fw.L1Ball(2.0),
    "l2": fw.L2Ball(2.0),
    "l3": fw.LpBall(2.0, p=3),
    "linf": fw.LInfBall(0.5),
    "box": fw.Box(-0.5, 0.25),
    "simplex": fw.Simplex(12),
    "k-support": fw.KSupportBall(1.5, k=3),
    "group": fw.GroupBall(1.5, groups=GROUPS),
}
METHODS = {
    "fw": "fw",
    "afw": "afw",
    "afw-line-search": fw.AcceleratedFrankWolfe(line_search=True),
    "fw-short": fw.FrankWolfe(fw.ShortStep()),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("loss", [fw.Logistic, fw.LeastSquares])
def test_iterates_agree_with_numpy(loss: type, name: str, method: str) -> None:
    iterates: dict[str, list[np.ndarray]] = {"numpy": [], "strict": []}
    for kind, data in (("numpy", A), ("strict", xp.asarray(A))):
        keep = iterates[kind].append
        result = fw.minimize(
            *(loss(data, B), SETS[name]),
            method=METHODS[method],
            tol=0,
            max_iter=30,
            callback=lambda it, keep=keep: keep(np.asarray(it.x).copy()),
        )
        assert isinstance(result.x, type(xp.asarray(0.0)) if kind == "strict" else np.ndarray)
    np.testing.assert_allclose(iterates["strict"], iterates["numpy"], atol=1e-9)


@pytest.mark.parametrize("name", SETS)
def test_auto_chooses_a_method_that_runs(name: str) -> None:
    objective = fw.Logistic(xp.asarray(A), B)
    assert fw.minimize(objective, SETS[name], max_iter=20).gap < np.inf
