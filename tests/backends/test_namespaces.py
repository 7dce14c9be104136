"""The same methods on another array namespace: iterates agree with NumPy's, and the kind of array is kept."""

from __future__ import annotations

import array_api_strict as xp
import numpy as np
import pytest
from tests.problems import GROUPS, logistic_data

import frankwolfe as fw
from frankwolfe.backends.compile_policy import choices_of_run, pays
from frankwolfe.backends.elementary import pick_above
from frankwolfe.backends.namespace import (
    blend,
    fetch,
    fetch_arrays,
    fetch_rows,
    is_at_hand,
    nonzero,
    number_like,
    repeat,
    row_dot,
    summed,
    toward,
    vdot,
)
from frankwolfe.rows.data_matrix import gram

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


def test_small_operations_on_numpy() -> None:
    ones, steps = np.ones(2), np.array([0.0, 2.0])
    np.testing.assert_array_equal(nonzero(steps), [1, 2])
    np.testing.assert_array_equal(blend(0.5, ones, 2.0, steps), [0.5, 4.5])
    np.testing.assert_array_equal(summed([2.0, -1.0], [ones, steps], np.float64), [2, 0])
    np.testing.assert_array_equal(row_dot(np.ones((2, 3)), np.array([1.0, 2.0, 3.0])), [6, 6])
    np.testing.assert_array_equal(fetch_rows([1.0, np.array([0.5, 2.0])], 2), [[1, 1], [0.5, 2]])
    np.testing.assert_array_equal(pick_above(np.array([-1.0, 2.0]), 0.0, 1.0, 0.0), [0, 1])
    np.testing.assert_array_equal(
        gram([(slice(0, 2), np.array([[1.0, 2], [0, 1]]))], np.array([1.0, 3])), [[1, 2], [2, 7]]
    )
    one, vector = fetch_arrays(np.float32(0.5), ones)
    assert one == 0.5
    np.testing.assert_array_equal(vector, ones)
    assert fetch([1, np.float32(0.5), np.asarray(2.0)]) == [1.0, 0.5, 2.0]
    assert vdot(np.ones((2, 2)), np.ones((2, 2))) == 4.0
    assert is_at_hand(ones)
    assert type(number_like(2.0, np.zeros(2, np.float32)[0])) is np.float32
    assert repeat(3, lambda state: (2 * state[0],), (1.0,)) == (8.0,)


def test_no_entry_moves_towards_one_that_is_alike() -> None:
    x = np.array([0.79187962, 0.0])
    assert toward(x, np.array([0.79187962, 1.0]), 0.3)[0] == x[0]
    np.testing.assert_array_equal(toward(x, np.ones(2), 1.0), np.ones(2))


def test_a_run_keeps_to_choices_made_before() -> None:
    with choices_of_run({"rows": 1}):
        assert pays("rows", 10)
