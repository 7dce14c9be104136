"""A device that runs out of memory in the middle of a run: the run goes on with the data in main memory.

Without a GPU the error is raised by hand; `test_gpu.py` has a card whose memory is capped.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.backends.arrays import library

import frankwolfe as fw
from frankwolfe.problem import Problem
from frankwolfe.rows.placement import is_out_of_memory

RNG = np.random.default_rng(0)
A = RNG.standard_normal((90, 6))
B = np.sign(A @ RNG.standard_normal(6) + 0.5 * RNG.standard_normal(90))
MOVED = "ran out of memory.*4,320 bytes.*row blocks"


def failing(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, calls: Callable[[int], bool]) -> None:
    """Let some calls of a function find no memory."""
    torch, work, count = library("torch").module, getattr(owner, name), [0]

    def call(*args: Any, **options: Any) -> Any:
        count[0] += 1
        if calls(count[0]):
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
        return work(*args, **options)

    monkeypatch.setattr(owner, name, call)


@pytest.fixture
def matrix() -> Any:
    library("torch")
    from frankwolfe.rows.torch_matrix import TorchMatrix

    return TorchMatrix


@pytest.mark.parametrize("method", ["afw", "fw", "away", "apgd", fw.AcceleratedFrankWolfe(line_search=True)], ids=str)
@pytest.mark.parametrize("call", [1, 12])
def test_a_run_goes_on(monkeypatch: pytest.MonkeyPatch, matrix: Any, call: int, method: Any) -> None:
    lib = library("torch")
    from frankwolfe.rows.placement import StreamedMatrix

    expected = fw.minimize(fw.Logistic(A, B), fw.L2Ball(1.0), method=method, tol=0, max_iter=20)
    objective = fw.Logistic(lib.array(A), B)
    failing(monkeypatch, matrix, "row_blocks", lambda n: n >= call)
    with pytest.warns(UserWarning, match=MOVED):
        result = fw.minimize(objective, fw.L2Ball(1.0), method=method, tol=0, max_iter=20)
    assert isinstance(objective.data, StreamedMatrix)
    assert len(result.trace) == 21
    np.testing.assert_allclose(result.trace.to_array()[:, 2:4], expected.trace.to_array()[:, 2:4], atol=1e-10)
    again = fw.minimize(objective, fw.L2Ball(1.0), method=method, tol=0, max_iter=20)  # without a word
    assert abs(again.fun - expected.fun) < 1e-12


def test_a_proof_that_finds_no_memory(monkeypatch: pytest.MonkeyPatch, matrix: Any) -> None:
    lib = library("torch")
    objective = fw.Logistic(lib.array(A, "float32"), B)
    failing(monkeypatch, Problem, "certify", lambda n: n == 5)
    with pytest.warns(UserWarning, match="2,160 bytes"):
        result = fw.minimize(objective, fw.L2Ball(1.0), method="afw", tol=1e-4, max_iter=3000)
    tight = fw.minimize(fw.Logistic(A.astype("float32").astype(float), B), fw.L2Ball(1.0), tol=1e-11)
    assert result.success
    assert result.lower_bound <= tight.fun + 1e-12
    assert np.all(np.diff(result.trace.k) == 1)


@pytest.mark.parametrize("together", [True, False])
def test_a_path_goes_on(monkeypatch: pytest.MonkeyPatch, matrix: Any, together: bool) -> None:
    lib, radii = library("torch"), [0.2, 1.0, 4.0]
    options = {"method": "afw", "together": together, "tol": 0, "max_iter": 30}
    expected = fw.path(fw.Logistic(A, B), fw.L2Ball, radii, **options)
    failing(monkeypatch, matrix, "stored_blocks" if together else "row_blocks", lambda n: n >= 12)
    with pytest.warns(UserWarning, match=MOVED):
        path = fw.path(fw.Logistic(lib.array(A), B), fw.L2Ball, radii, **options)
    for result, other in zip(path, expected, strict=True):
        np.testing.assert_allclose(lib.numpy(result.x), other.x, atol=1e-10)
        np.testing.assert_allclose(result.trace.to_array()[:, 2:4], other.trace.to_array()[:, 2:4], atol=1e-10)


@pytest.mark.parametrize("together", [True, False])
def test_nothing_keeps_the_data_on_the_device(monkeypatch: pytest.MonkeyPatch, matrix: Any, together: bool) -> None:
    """They are freed at once where nobody but the objective holds them."""
    lib = library("torch")
    from frankwolfe.rows import placement

    objective, seen = fw.Logistic(lib.array(A, "float32"), B), []
    alive = weakref.ref(objective.data.matrix)
    moved = type(objective.data.matrix).cpu
    monkeypatch.setattr(type(objective.data.matrix), "cpu", lambda tensor: moved(tensor).clone())
    release = placement.release
    monkeypatch.setattr(placement, "release", lambda: release() or seen.append(alive() is None))
    failing(monkeypatch, matrix, "stored_blocks" if together else "row_blocks", lambda n: n == 40)
    with pytest.warns(UserWarning, match="2,160 bytes"):
        fw.path(objective, fw.L2Ball, [0.01, 1.0, 4.0], method="afw", together=together, tol=1e-4)
    assert seen == [False, True]


def test_blocks_become_smaller_and_then_there_is_an_error(monkeypatch: pytest.MonkeyPatch, matrix: Any) -> None:
    lib = library("torch")
    from frankwolfe.rows.placement import StreamedMatrix

    objective = fw.Logistic(lib.array(A), B)
    failing(monkeypatch, matrix, "row_blocks", lambda n: True)
    with monkeypatch.context() as patch:
        failing(patch, StreamedMatrix, "settle", lambda n: n <= 2)
        with pytest.warns(UserWarning, match=MOVED):
            fw.minimize(objective, fw.L2Ball(1.0), method="afw", tol=0, max_iter=3)
    assert objective.data.block_bytes == (1 << 28) // 64
    failing(monkeypatch, StreamedMatrix, "settle", lambda n: True)
    with pytest.raises(MemoryError, match=r"4,320 bytes.*11,520 more.*still hold on the device.*device='cpu'"):
        fw.minimize(objective, fw.L2Ball(1.0), method="afw", tol=0, max_iter=3)


@pytest.mark.filterwarnings("ignore:Sparse")
def test_what_cannot_be_streamed_says_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    lib = library("torch")
    from frankwolfe.rows.torch_matrix import TorchCSR

    failing(monkeypatch, TorchCSR, "adjoint", lambda n: n == 3)
    with pytest.raises(MemoryError, match=r"only dense rows.*bfloat16"):
        fw.minimize(fw.Logistic(lib.array(A).to_sparse_csr(), B), fw.L2Ball(1.0), method="afw", tol=0)
    failing(monkeypatch, fw.Function, "evaluate", lambda n: n == 3)
    f = fw.Function(lambda x: (x**2).sum(), lambda x: 2 * x)
    with pytest.raises(MemoryError, match=r"no room for a step of Function"):
        fw.minimize(f, fw.L2Ball(1.0), lib.array(np.full(3, 0.1)), method="afw", tol=0)


def test_other_errors_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(x: Any) -> Any:
        raise RuntimeError("the sensor is off")

    with pytest.raises(RuntimeError, match="sensor"):
        fw.minimize(fw.Function(broken, broken), fw.L2Ball(1.0), np.zeros(2))


def test_an_error_that_hides_another() -> None:
    """The end of a failed capture raises an error of its own."""
    with pytest.raises(ValueError, match="capture") as caught:  # noqa: PT012
        try:
            raise RuntimeError("CUDA out of memory")
        finally:
            raise ValueError("the capture failed")
    assert is_out_of_memory(caught.value)
