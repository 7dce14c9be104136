"""Inside the loop a device is asked for numbers rarely: one small vector every few steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.backends.arrays import library

import frankwolfe as fw
from frankwolfe.backends import fetch, fetch_rows
from frankwolfe.engine import PACE

RNG = np.random.default_rng(0)
A = RNG.standard_normal((60, 8))
B = np.sign(A @ RNG.standard_normal(8) + 0.5 * RNG.standard_normal(60))
STEPS = 40


class Counted:
    """Counts what an array's conversions to Python numbers and to NumPy read."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, kind: type) -> None:
        self.reads = 0
        for name in ("__float__", "__int__", "__bool__", "__array__", "__index__", "item", "tolist"):
            if hasattr(kind, name):
                monkeypatch.setattr(kind, name, self.counting(getattr(kind, name)))

    def counting(self, convert: Any) -> Any:
        def read(*args: Any, **options: Any) -> Any:
            self.reads += 1
            return convert(*args, **options)

        return read


def reads(monkeypatch: pytest.MonkeyPatch, backend: str, domain: Any, method: Any, steps: int) -> int:
    lib = library(backend)
    objective = fw.Logistic(lib.array(A), B)
    with monkeypatch.context() as patch:
        counted = Counted(patch, type(lib.array(0.0)))
        fw.minimize(objective, domain, method=method, tol=0, max_iter=steps)
        return counted.reads


SEARCHING = [fw.AcceleratedFrankWolfe(line_search=True), fw.FrankWolfe(fw.ExactLineSearch())]


@pytest.mark.parametrize("method", ["fw", "afw", "extrafw", *SEARCHING], ids=str)
@pytest.mark.parametrize("domain", [fw.L2Ball(1.0), fw.LInfBall(0.3), fw.Box(-0.5, 0.2), fw.LpBall(1.0, p=3)], ids=repr)
@pytest.mark.parametrize("backend", ["strict", "torch"])
def test_one_read_every_few_steps(monkeypatch: pytest.MonkeyPatch, backend: str, domain: Any, method: Any) -> None:
    few = reads(monkeypatch, backend, domain, method, PACE)
    many = reads(monkeypatch, backend, domain, method, PACE + STEPS)
    # array-api-strict is read once through __array__; what a run reads once (start, end) is in both counts.
    assert many - few <= 3 * STEPS / PACE


@pytest.mark.parametrize("method", ["fw", "afw", SEARCHING[0]], ids=str)
@pytest.mark.parametrize("domain", [fw.L2Ball, fw.L1Ball, fw.Simplex(8), fw.LpBall(1.0, p=3)], ids=str)
@pytest.mark.parametrize("backend", ["strict", "torch"])
def test_a_path_is_read_once_every_few_steps(
    monkeypatch: pytest.MonkeyPatch, backend: str, domain: Any, method: Any
) -> None:
    lib = library(backend)
    objective = fw.Logistic(lib.array(A), B)
    counts = []
    for steps in (PACE, PACE + STEPS):
        with monkeypatch.context() as patch:
            counted = Counted(patch, type(lib.array(0.0)))
            fw.path(objective, domain, [0.3, 1.0, 3.0], method=method, together=True, tol=0, max_iter=steps)
            counts.append(counted.reads)
    assert counts[1] - counts[0] <= 3 * STEPS / PACE


def test_rows_are_fetched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    lib = library("strict")
    numbers = [lib.array([1.0, 2.0]), 3.0, lib.array(4.0)]
    counted = Counted(monkeypatch, type(lib.array(0.0)))
    np.testing.assert_array_equal(fetch_rows(numbers, 2), [[1.0, 2.0], [3.0, 3.0], [4.0, 4.0]])
    assert counted.reads <= 2


def test_fetch_reads_once(monkeypatch: pytest.MonkeyPatch) -> None:
    lib = library("strict")
    numbers = [lib.array(float(i))[()] for i in range(20)]
    counted = Counted(monkeypatch, type(lib.array(0.0)))
    assert fetch([*numbers, 20.0]) == [float(i) for i in range(21)]
    assert counted.reads <= 2


def test_the_host_looks_at_every_step_of_a_callback() -> None:
    lib = library("strict")
    seen: list[int] = []
    objective = fw.Logistic(lib.array(A), B)
    fw.minimize(objective, fw.L2Ball(1.0), method="afw", tol=0, max_iter=9, callback=lambda it: seen.append(it.k))
    assert seen == list(range(9))
