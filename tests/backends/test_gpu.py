"""The GPU kernels against their plain twins, and runs on the GPU against NumPy; reported as skipped without a GPU."""

from __future__ import annotations

import contextlib
import gc
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import frankwolfe as fw

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'frankwolfe[torch]'")
if not torch.cuda.is_available():
    pytest.skip("there is no GPU here", allow_module_level=True)

from frankwolfe.backends import torch_rows as passes  # noqa: E402
from frankwolfe.engine.cuda_graph import Graph  # noqa: E402
from frankwolfe.losses import (  # noqa: E402
    GammaLoss,
    HuberLoss,
    LogisticLoss,
    PoissonLoss,
    QuantileLoss,
    SquaredHingeLoss,
    SquaredLoss,
)
from frankwolfe.rows.torch_matrix import TorchMatrix  # noqa: E402


def numbers(n: int, d: int, dtype: Any) -> Any:
    torch.manual_seed(n + d)
    if dtype == torch.uint8:
        return torch.randint(0, 256, (n, d), dtype=dtype, device="cuda")
    return torch.randn(n, d, device="cuda").to(dtype)


LOSSES = [SquaredLoss(), HuberLoss(1.0), QuantileLoss(0.3, 0.1), PoissonLoss(), GammaLoss(), SquaredHingeLoss()]
CASES = [
    *((d, "float32", LogisticLoss()) for d in (3, 1024, 5000)),
    *((64, dtype, LogisticLoss()) for dtype in ("bfloat16", "uint8", "float64")),
    *((54, "float32", loss) for loss in LOSSES),
]


@pytest.mark.parametrize(("d", "dtype", "loss"), CASES)
def test_kernel_equals_its_plain_twin(d: int, dtype: str, loss: Any) -> None:
    n = 1003
    A = numbers(n, d, getattr(torch, dtype))
    for work, tol in ((torch.float32, 2e-5), (torch.float64, 1e-12)):
        if dtype == "float64" and work == torch.float32:
            continue
        b = torch.sign(torch.randn(n, device="cuda", dtype=work))
        v = torch.randn(d, device="cuda", dtype=work) / (100 if dtype == "uint8" else 1) / d**0.5
        known = torch.randn(n, device="cuda", dtype=work)
        coef = torch.tensor([0.25, 0.75, 0.5, 0.5], device="cuda", dtype=work)
        weights = torch.rand(n, device="cuda", dtype=work)
        for share, base in ((weights / weights.sum(), known), (torch.tensor(1 / n, device="cuda", dtype=work), None)):
            fast = passes.fused_pass(passes.DeviceModel(A, b, share, loss), v, base, coef)
            wide = passes.DeviceModel(A.double(), b.double(), share.double(), loss)
            plain = passes.plain_pass(wide, v.double(), None if base is None else base.double(), coef.double())
            for name, got, want in zip(plain._fields, fast, plain, strict=True):
                assert float((got.double() - want).abs().max()) <= tol * float(want.abs().max()), (name, work)


@pytest.mark.parametrize("loss", [fw.Logistic, fw.LeastSquares])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_search_equals_its_plain_twin(dtype: str, loss: Any) -> None:
    from frankwolfe.objectives.line_search import minimise_in_arrays
    from frankwolfe.points import Point

    n, kind, rng = 300_001, getattr(torch, dtype), np.random.default_rng(0)
    A = numbers(n, 8, kind)
    b = np.sign(rng.standard_normal(n) + A[:, 0].cpu().numpy())
    for ridge, weights, scale, cap in ((0.0, None, 1.0, 1.0), (0.1, rng.random(n), 30.0, 5.0), (0.0, None, 0.1, 0.3)):
        f = loss(A, b, ridge=ridge, sample_weight=weights)
        x, v = (Point.at(torch.tensor(rng.standard_normal(8), dtype=kind, device="cuda")) for _ in range(2))
        line, _ = f.line(x, Point.at(scale * v.coords))
        got, want = line.minimise(cap, lambda: None), minimise_in_arrays(line.along, line.zero, cap)
        assert got is not None
        assert got.dtype == kind
        assert abs(float(got) - float(want)) <= (1e-10 if dtype == "float64" else 1e-4) * max(1.0, float(want))


@pytest.mark.parametrize(
    "method", [fw.AcceleratedFrankWolfe(line_search=True), fw.FrankWolfe(fw.ExactLineSearch())], ids=str
)
@pytest.mark.parametrize("ball", [fw.L2Ball(1.0), fw.LpBall(1.0, p=3), fw.LInfBall(0.2)], ids=repr)
def test_captured_searches_equal_numpy(ball: Any, method: Any) -> None:
    rng = np.random.default_rng(4)
    A = rng.standard_normal((500, 20))
    b = np.sign(A @ rng.standard_normal(20) + rng.standard_normal(500))
    for ridge in (0.0, 0.1):
        host = fw.minimize(fw.Logistic(A, b, ridge=ridge), ball, method=method, tol=1e-7, max_iter=400)
        data = fw.Logistic(torch.tensor(A, device="cuda"), b, ridge=ridge)
        result = fw.minimize(data, ball, method=method, tol=1e-7, max_iter=400)
        assert abs(result.fun - host.fun) <= 1e-7
        shared = min(len(result.trace), len(host.trace), 12)
        ours, theirs = result.trace.to_array()[:shared, 2:4], host.trace.to_array()[:shared, 2:4]
        np.testing.assert_allclose(ours, theirs, atol=1e-10)


@contextlib.contextmanager
def nothing_waits() -> Iterator[None]:
    """Raise an error where the host would wait for the device."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch says that the mode is new
        torch.cuda.set_sync_debug_mode("error")
        try:
            yield
        finally:
            torch.cuda.set_sync_debug_mode("default")


def test_steps_with_a_search_do_not_wait_for_the_host() -> None:
    """Torch itself would say so."""
    from frankwolfe.methods import named
    from frankwolfe.problem import Problem

    A = numbers(2000, 30, torch.float32)
    method = named(fw.AcceleratedFrankWolfe(line_search=True))
    problem = Problem(fw.Logistic(A, torch.sign(torch.randn(2000)).numpy()), fw.L2Ball(1.0))
    state = method.init(problem, problem.start(None, dense=False))
    for _ in range(2):  # what happens once
        state, _ = method.step(problem, state)
    with nothing_waits():
        for _ in range(8):
            state, _ = method.step(problem, state)


def test_batch_kernel_equals_its_plain_twin() -> None:
    from frankwolfe.backends import torch_rows

    A = numbers(5000, 40, torch.float64)
    b = torch.sign(torch.randn(5000, device="cuda", dtype=A.dtype))
    V, known = torch.randn(7, 40, device="cuda", dtype=A.dtype), torch.randn(7, 5000, device="cuda", dtype=A.dtype)
    coef = torch.rand(7, 4, device="cuda", dtype=A.dtype)
    model = passes.DeviceModel(A, b, torch.tensor(1 / 5000, device="cuda", dtype=A.dtype), LogisticLoss())
    for got, want in zip(
        torch_rows.batch_by_kernel(model, V @ A.T, known, coef),
        torch_rows.batch_in_torch(model, V @ A.T, known, coef),
        strict=True,
    ):
        assert float((got - want).abs().max()) <= 1e-12 * float(want.abs().max())


def test_streaming_equals_data_on_the_device() -> None:
    from frankwolfe.rows.placement import StreamedMatrix

    A = torch.randn(5003, 30)
    b = np.sign(np.random.default_rng(0).standard_normal(5003))
    results = []
    for data in (A.cuda(), StreamedMatrix(A, "cuda", block_bytes=1 << 16), StreamedMatrix(A.clone(), "cuda")):
        results.append(fw.minimize(fw.Logistic(data, b), fw.L2Ball(1.0), method="afw", tol=0, max_iter=25))
    for streamed in results[1:]:
        assert float((streamed.x - results[0].x).abs().max()) < 1e-5
        assert abs(streamed.lower_bound - results[0].lower_bound) < 1e-6


def test_data_that_do_not_fit_are_streamed_or_refused_with_their_size() -> None:
    from frankwolfe.rows.placement import StreamedMatrix, place

    A = np.ones((1 << 16, 1 << 9), np.float32)
    torch.cuda.empty_cache()
    total = torch.cuda.get_device_properties(0).total_memory
    torch.cuda.set_per_process_memory_fraction((torch.cuda.memory_reserved() + (64 << 20)) / total)
    try:
        with pytest.warns(UserWarning, match="134,217,728 bytes.*read in row blocks"):
            assert isinstance(place(A, "cuda"), StreamedMatrix)
        with pytest.raises(MemoryError, match="134,217,728 bytes"):
            place(A, "cuda", stream=False)
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)


@pytest.mark.parametrize("method", ["fw", "afw"])
@pytest.mark.parametrize("ball", [fw.L1Ball(2.0), fw.L2Ball(3.0), fw.LInfBall(0.5)], ids=repr)
@pytest.mark.parametrize("loss", [fw.Logistic, fw.LeastSquares])
def test_captured_steps_equal_numpy(loss: Any, ball: Any, method: str) -> None:
    rng = np.random.default_rng(0)
    A = rng.standard_normal((500, 20))
    b = np.sign(A @ rng.standard_normal(20) + 0.5 * rng.standard_normal(500))
    host = fw.minimize(loss(A, b), ball, method=method, tol=0, max_iter=47)
    for dtype, tol in ((torch.float64, 1e-10), (torch.float32, 1e-4)):
        device = fw.minimize(
            loss(torch.tensor(A, dtype=dtype, device="cuda"), b), ball, method=method, tol=0, max_iter=47
        )
        assert device.x.is_cuda
        assert device.x.dtype == dtype
        np.testing.assert_allclose(device.x.cpu().numpy(), host.x, atol=tol)
        assert abs(device.fun - host.fun) < tol
        if dtype == torch.float64:
            np.testing.assert_allclose(device.trace.to_array()[:, 2:4], host.trace.to_array()[:, 2:4], atol=tol)
            assert abs(device.lower_bound - host.lower_bound) < tol


@pytest.mark.parametrize("steps", [230, 237])
def test_steps_taken_ahead_are_the_same(steps: int) -> None:
    """After a hundred steps the device goes on while the host looks: nothing changes, nor after a change of data."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((500, 20))
    b = np.sign(A @ rng.standard_normal(20) + 0.5 * rng.standard_normal(500))
    objective = fw.Logistic(torch.tensor(A, device="cuda"), b)
    for method in ("fw", "afw"):
        host = fw.minimize(fw.Logistic(A, b), fw.L2Ball(3.0), method=method, tol=0, max_iter=steps)
        for _ in range(2):
            device = fw.minimize(objective, fw.L2Ball(3.0), method=method, tol=0, max_iter=steps)
            np.testing.assert_allclose(device.x.cpu().numpy(), host.x, atol=1e-10)
            np.testing.assert_allclose(device.trace.to_array()[:, 2:4], host.trace.to_array()[:, 2:4], atol=1e-10)


@pytest.mark.parametrize("name", ["l2", "l1", "l3", "box"])
@pytest.mark.parametrize(
    "method",
    ["afw", "fw", "bpcg", "apgd", "extrafw", "subspace", "newton", "fcfw", fw.AcceleratedFrankWolfe(line_search=True)],
    ids=str,
)
def test_plain_steps_on_the_gpu_equal_numpy(name: str, method: Any) -> None:
    ball = {
        "l2": fw.L2Ball(1.0),
        "l1": fw.L1Ball(1.0),
        "l3": fw.LpBall(1.0, p=3),
        "simplex": fw.Simplex(20),
        "box": fw.Box(-0.2, 0.4),
    }
    rng = np.random.default_rng(1)
    A = rng.standard_normal((300, 20))
    b = np.sign(A @ rng.standard_normal(20) + rng.standard_normal(300))
    steps = {"newton": 6, "fcfw": 5}.get(method, 20) if isinstance(method, str) else 20  # solved, or weights not unique
    host = fw.minimize(fw.Logistic(A, b), ball[name], method=method, tol=0, max_iter=steps)
    data = torch.tensor(A, device="cuda")
    device = fw.minimize(fw.Logistic(data, b), ball[name], method=method, tol=0, max_iter=steps)
    assert abs(device.fun - host.fun) < 1e-10
    assert abs(device.lower_bound - host.lower_bound) < 1e-9


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "uint8"])
def test_certificates_hold_in_double_precision_on_the_stored_numbers(dtype: str) -> None:
    A = numbers(2000, 30, getattr(torch, dtype))
    b = torch.sign(torch.randn(2000, device="cuda"))
    radius = 0.01 if dtype == "uint8" else 1.0
    result = fw.minimize(fw.Logistic(A, b.cpu().numpy()), fw.L2Ball(radius), method="afw", tol=1e-4, max_iter=3000)
    tight = fw.minimize(fw.Logistic(A.cpu().double().numpy(), b.cpu().numpy()), fw.L2Ball(radius), tol=1e-12)
    assert result.lower_bound <= tight.fun + 1e-12
    assert result.fun >= tight.lower_bound - 1e-6 * abs(tight.fun)
    assert result.success


def test_room_for_the_steps_is_kept() -> None:
    """Data that fit, but with nothing left for images and gradients, are streamed as well, and solved."""
    from frankwolfe.rows.placement import StreamedMatrix, place

    A = np.random.default_rng(0).standard_normal((1 << 20, 16)).astype(np.float32)  # 64 MiB, and as much beside them
    torch.cuda.empty_cache()
    total = torch.cuda.get_device_properties(0).total_memory
    torch.cuda.set_per_process_memory_fraction((torch.cuda.memory_reserved() + (100 << 20)) / total)
    try:
        with pytest.warns(UserWarning, match="read in row blocks"):
            data = place(A, "cuda")
        assert isinstance(data, StreamedMatrix)
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)


@contextlib.contextmanager
def room(megabytes: int) -> Iterator[None]:
    """Leave so much memory to torch, beside what it holds already."""
    gc.collect()
    torch.cuda.empty_cache()
    total = torch.cuda.get_device_properties(0).total_memory
    torch.cuda.set_per_process_memory_fraction((torch.cuda.memory_reserved() + (megabytes << 20)) / total)
    try:
        yield
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)


@pytest.mark.parametrize("method", ["afw", fw.AcceleratedFrankWolfe(line_search=True)], ids=str)
def test_a_run_without_room_for_a_step_goes_on_with_streamed_rows(method: Any) -> None:
    from frankwolfe.rows.placement import StreamedMatrix

    rng = np.random.default_rng(0)
    A = rng.standard_normal((1 << 20, 64), np.float32)  # 256 MiB, and 4 for each vector of a step, 8 for a proof
    b = np.sign(A[:, :16] @ rng.standard_normal(16) + rng.standard_normal(1 << 20))
    expected = fw.minimize(fw.Logistic(torch.tensor(A, device="cuda"), b), fw.L2Ball(1.0), method=method, tol=1e-3)
    objective = fw.Logistic(torch.tensor(A, device="cuda"), b)  # nobody else holds the data
    with room(6), pytest.warns(UserWarning, match=r"268,435,456 bytes.*row blocks"):
        result = fw.minimize(objective, fw.L2Ball(1.0), method=method, tol=1e-3)
    assert isinstance(objective.data, StreamedMatrix)
    assert result.success
    assert abs(result.fun - expected.fun) <= 1e-3


def test_a_path_without_room_for_its_images_goes_on_with_streamed_rows() -> None:
    A = numbers(1 << 18, 256, torch.float32)  # 256 MiB; the images of 16 points are 16 MiB
    b = torch.sign(A @ torch.ones(256, device="cuda") + torch.randn(1 << 18, device="cuda")).cpu().numpy()
    radii = np.linspace(0.01, 0.1, 16)
    expected = fw.path(fw.Logistic(A.clone(), b), fw.L2Ball, radii, method="afw", tol=1e-2)
    objective = fw.Logistic(A, b)
    del A  # nobody else holds the data
    with room(6), pytest.warns(UserWarning, match=r"268,435,456 bytes.*row blocks"):
        path = fw.path(objective, fw.L2Ball, radii, method="afw", tol=1e-2)
    assert path.success
    for result, other in zip(path, expected, strict=True):
        assert abs(result.fun - other.fun) <= 1e-2


def test_an_error_says_how_much_is_needed_where_nothing_can_be_freed() -> None:
    A = numbers(1 << 20, 16, torch.float32)
    objective = fw.Logistic(A, torch.sign(torch.randn(1 << 20)).numpy())
    warns, raises = pytest.warns(UserWarning, match="row blocks"), pytest.raises(MemoryError, match=r"67,108,864.*hold")
    with room(2), warns, raises:
        fw.minimize(objective, fw.L2Ball(1.0), method="afw", tol=1e-3)
    assert A.is_cuda


def test_sparse_cupy_rows() -> None:
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
    sparse = pytest.importorskip("cupyx.scipy.sparse", reason="CuPy is not installed")
    rng = np.random.default_rng(2)
    A = rng.standard_normal((200, 30)) * (rng.random((200, 30)) < 0.2)
    b = np.sign(rng.standard_normal(200))
    for ball in (fw.L2Ball(1.0), fw.L1Ball(1.0), fw.KSupportBall(1.0, k=3)):
        expected = fw.minimize(fw.Logistic(A, b), ball, method="afw", tol=0, max_iter=30)
        rows = sparse.csr_matrix(cupy.asarray(A))
        for data in (rows, rows.tocsc(), rows.tocoo()):
            result = fw.minimize(fw.Logistic(data, b), ball, method="afw", tol=0, max_iter=30)
            np.testing.assert_allclose(result.x.get(), expected.x, atol=1e-10)
            assert abs(result.lower_bound - expected.lower_bound) < 1e-10
    with pytest.raises(ValueError, match="A contains NaN"):
        fw.Logistic(sparse.csr_matrix(cupy.asarray(A * np.nan)), b)


@pytest.mark.filterwarnings("ignore:Sparse")
def test_sparse_rows_on_the_gpu() -> None:
    rng = np.random.default_rng(2)
    A = rng.standard_normal((200, 30)) * (rng.random((200, 30)) < 0.2)
    b = np.sign(rng.standard_normal(200))
    sparse = torch.tensor(A, device="cuda").to_sparse_csr()
    for ball in (fw.L2Ball(1.0), fw.L1Ball(1.0)):
        host = fw.minimize(fw.Logistic(A, b), ball, method="afw", tol=0, max_iter=20)
        device = fw.minimize(fw.Logistic(sparse, b), ball, method="afw", tol=0, max_iter=20)
        np.testing.assert_allclose(device.x.cpu().numpy(), host.x, atol=1e-10)


def test_data_matrix_is_chosen_by_type() -> None:
    assert isinstance(fw.Logistic(numbers(10, 3, torch.float32), [0, 1] * 5).data, TorchMatrix)


def test_a_path_of_radii_on_the_gpu() -> None:
    rng = np.random.default_rng(3)
    A = rng.standard_normal((400, 20))
    b = np.sign(A @ rng.standard_normal(20) + rng.standard_normal(400))
    radii = [0.1, 0.5, 1.0, 2.0]
    expected = fw.path(fw.Logistic(A, b), fw.L2Ball, radii, method="afw", tol=0, max_iter=30)
    for dtype, tol in ((torch.float64, 1e-10), (torch.float32, 1e-3)):
        data = torch.tensor(A, dtype=dtype, device="cuda")
        results = fw.path(fw.Logistic(data, b), fw.L2Ball, radii, method="afw", tol=0, max_iter=30)
        for result, host in zip(results, expected, strict=True):
            np.testing.assert_allclose(result.x.cpu().numpy(), host.x, atol=tol)
            assert result.lower_bound <= host.fun + 1e-9


@pytest.mark.parametrize("method", ["fw", "afw"])
@pytest.mark.parametrize("domain", [fw.L2Ball, fw.L1Ball, fw.LInfBall, fw.Simplex(20), fw.LpBall(1.0, p=3)], ids=str)
def test_a_captured_path_equals_numpy(domain: Any, method: str) -> None:
    """After some chunks the steps of all radii are one graph, the next one under way while the host looks."""
    rng = np.random.default_rng(3)
    A = rng.standard_normal((400, 20))
    b = np.sign(A @ rng.standard_normal(20) + rng.standard_normal(400))
    options = {"method": method, "together": True, "tol": 0, "max_iter": 150}
    host = fw.path(fw.Logistic(A, b), domain, [0.1, 0.5, 1.0, 2.0], **options)
    data = torch.tensor(A, device="cuda")
    for _ in range(2):
        device = fw.path(fw.Logistic(data, b), domain, [0.1, 0.5, 1.0, 2.0], **options)
        for result, expected in zip(device, host, strict=True):
            np.testing.assert_allclose(result.x.cpu().numpy(), expected.x, atol=1e-10)
            np.testing.assert_allclose(result.trace.to_array()[:, 2:4], expected.trace.to_array()[:, 2:4], atol=1e-10)


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
def test_a_captured_path_is_certified(dtype: str) -> None:
    A = numbers(5000, 30, getattr(torch, dtype))
    b = torch.sign(A.float() @ torch.ones(30, device="cuda") + 3 * torch.randn(5000, device="cuda")).cpu().numpy()
    radii = [0.05, 0.1, 0.2, 0.4, 0.8]
    path = fw.path(fw.Logistic(A, b), fw.L2Ball, radii, method="afw", tol=1e-4, max_iter=5000)
    assert path.success
    for result, radius in zip(path, radii, strict=True):
        tight = fw.minimize(fw.Logistic(A.cpu().double().numpy(), b), fw.L2Ball(radius), tol=1e-11)
        assert result.lower_bound <= tight.fun + 1e-11
        assert tight.lower_bound - 1e-5 <= result.fun <= tight.fun + 1.01e-4


def test_steps_of_a_path_do_not_wait_for_the_host() -> None:
    """Between looks nothing waits for the device: torch itself would say so."""
    A = numbers(2000, 30, torch.float32)
    b = torch.sign(torch.randn(2000)).numpy()
    from frankwolfe.engine import PACE
    from frankwolfe.methods import named
    from frankwolfe.problem import Problem
    from frankwolfe.sets.many_radii import SetBatch

    method = named("afw")
    problem = Problem(fw.Logistic(A, b), SetBatch([fw.L2Ball(r) for r in (0.5, 1.0, 2.0)], like=A))
    state = method.init(problem, problem.start(None, dense=False))
    state, _ = method.step(problem, state)  # what happens once
    with nothing_waits():
        for _ in range(PACE):
            state, _ = method.step(problem, state)


def test_line_search_in_single_precision_is_as_fast_as_in_double() -> None:
    A = numbers(200_000, 30, torch.float32)
    b = torch.sign(A @ torch.ones(30, device="cuda") + 3 * torch.randn(200_000, device="cuda")).cpu().numpy()
    method = fw.AcceleratedFrankWolfe(line_search=True)
    result = fw.minimize(fw.Logistic(A, b), fw.L2Ball(1.0), method=method, tol=1e-4, max_iter=200)
    assert result.success
    assert result.n_iter <= 32


def test_the_hessian_of_a_step_and_its_proof() -> None:
    """Long products are in TF32, which is good for a model; the gap is proven in double precision all the same."""
    from frankwolfe.rows.data_matrix import LONG, gram

    n, d = 200_000, 320
    assert n * d * d > LONG
    A = numbers(n, d, torch.float32)
    w = torch.rand(n, device="cuda")
    exact = (A.double().T @ (A.double() * w.double()[:, None])).cpu().numpy()
    assert np.abs(gram([(slice(None), A)], w) - exact).max() <= 2e-3 * np.abs(exact).max()
    b = torch.sign(A @ torch.ones(d, device="cuda") + 10 * torch.randn(n, device="cuda")).cpu().numpy()
    result = fw.minimize(fw.Logistic(A, b), fw.L2Ball(1.0), rtol=1e-6, tol=0, max_iter=30)
    assert result.method == "newton"
    assert result.success


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16", "uint8"])
@pytest.mark.parametrize("intercept", [False, True])
def test_classes_on_the_gpu_equal_numpy(dtype: str, intercept: bool) -> None:
    A = numbers(700, 30, getattr(torch, dtype))
    wide = A.double().cpu().numpy()
    labels = np.argmax(wide @ np.random.default_rng(0).standard_normal((30, 5)), axis=1)
    scale = 0.01 if dtype == "uint8" else 1.0
    for ball in (fw.L2Ball(scale), fw.L1Ball(scale), fw.NuclearBall(scale), fw.KSupportBall(scale, k=2)):
        for method in ("afw", fw.AcceleratedFrankWolfe(line_search=True)):
            host = fw.minimize(
                fw.Multinomial(wide, labels, intercept=intercept), ball, method=method, tol=0, max_iter=20
            )
            device = fw.minimize(
                fw.Multinomial(A, labels, intercept=intercept), ball, method=method, tol=0, max_iter=20
            )
            assert device.x.is_cuda
            tol = 1e-10 if dtype == "float64" else 1e-4
            np.testing.assert_allclose(device.x.cpu().numpy(), host.x, atol=tol)
            assert abs(device.fun - host.fun) <= tol
            assert device.lower_bound <= host.fun + 1e-12


@pytest.mark.filterwarnings("ignore:Sparse")
def test_classes_of_sparse_and_streamed_rows() -> None:
    from frankwolfe.rows.placement import StreamedMatrix

    rng = np.random.default_rng(2)
    A = rng.standard_normal((400, 30)) * (rng.random((400, 30)) < 0.3)
    labels = np.argmax(A @ rng.standard_normal((30, 4)) + rng.gumbel(size=(400, 4)), axis=1)
    streamed = StreamedMatrix(torch.tensor(A), "cuda", block_bytes=1 << 14)
    for data in (torch.tensor(A, device="cuda").to_sparse_csr(), streamed):
        for ball in (fw.L2Ball(2.0), fw.L1Ball(2.0), fw.KSupportBall(2.0, k=2)):
            host = fw.minimize(fw.Multinomial(A, labels, intercept=True), ball, method="afw", tol=0, max_iter=20)
            device = fw.minimize(fw.Multinomial(data, labels, intercept=True), ball, method="afw", tol=0, max_iter=20)
            np.testing.assert_allclose(device.x.cpu().numpy(), host.x, atol=1e-10)


def test_auto_takes_the_gpu_for_large_data() -> None:
    from frankwolfe.rows.placement import LARGE, place

    A = np.zeros((LARGE // 64, 64), np.float32)
    assert isinstance(place(A), TorchMatrix)
    assert place(A).matrix.is_cuda
    assert isinstance(place(A[:1000]), np.ndarray)
    assert place(A, "cpu") is A


def test_the_collector_of_garbage_does_not_end_a_capture() -> None:
    """A graph that is garbage gives back memory when it is found, which a capture does not survive."""

    def work(inputs: list[Any]) -> list[Any]:
        kept = [[torch.sqrt(inputs[0] + i)] for i in range(50)]
        return [kept[-1][0]]

    ones, before = [torch.ones(1 << 20, device="cuda")], gc.get_threshold()
    ring: list[Any] = [Graph(work, ones)]
    ring.append(ring)
    del ring
    try:
        gc.set_threshold(1)
        graph = Graph(work, ones)
    finally:
        gc.set_threshold(*before)
    assert gc.isenabled()
    np.testing.assert_allclose(graph.launch(ones)[0][:3].cpu(), 50**0.5, rtol=1e-6)
