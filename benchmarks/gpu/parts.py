"""The parts of the GPU benchmark: steps against the floor, radii, narrow types, size, streaming, time to accuracy."""

from __future__ import annotations

import gc
from time import perf_counter
from typing import Any

import torch

import frankwolfe as fw
from benchmarks.gpu.rivals import TwoPass, lbfgs, scikit_learn
from benchmarks.gpu.timing import labels, numbers, per_step, read_floor, seconds
from benchmarks.gpu.tune import engine_seconds
from frankwolfe.rows.placement import place

SHAPES = [(400_000, 64), (60_000, 1024), (1_000_000, 1024), (2_000_000, 512)]
GIB = 1 << 30


def clear() -> None:
    gc.collect()
    torch.cuda.empty_cache()


def run_seconds(A: Any, b: Any, steps: int, radius: float = 10.0) -> float:
    """Return the seconds of one step inside `minimize`."""
    objective = fw.Logistic(A, b.cpu().numpy())
    return per_step(lambda n: fw.minimize(objective, fw.L2Ball(radius), method="afw", tol=0, max_iter=n), steps)


def radii_seconds(A: Any, b: Any, steps: int, count: int = 64) -> float:
    """Return the seconds of one step of accelerated Frank-Wolfe at many radii together, inside `path`."""
    objective, radii = fw.Logistic(A, b.cpu().numpy()), [float(r) for r in torch.logspace(-1, 1.5, count)]
    options = {"method": "afw", "tol": 0, "progress": False}
    return per_step(lambda n: fw.path(objective, fw.L2Ball, radii, max_iter=n, **options), steps, repeats=2)


def steps_table(shapes: list[tuple[int, int]], bandwidth: float) -> list[list[Any]]:
    """Return microseconds a step for each shape: two-pass torch, captured graph, minimize, floor, 64 radii each."""
    table = []
    for n, d in shapes:
        A = numbers(n, d)
        b = labels(A)
        two = TwoPass(A, b, 10.0)
        floor = 4 * n * d / bandwidth
        times = [seconds(two.step, 30, 5), engine_seconds(A, b, None), run_seconds(A, b, 200), floor]
        table.append([f"{n} x {d}", *(round(1e6 * t, 1) for t in times), round(1e6 * radii_seconds(A, b, 120) / 64, 2)])
        del A, b, two
        clear()
    return table


def measured_bandwidth() -> float:
    """Return the bytes per second of the fastest read of 4 GB."""
    A = numbers(1_000_000, 1024)
    floor = read_floor(A)
    del A
    clear()
    return 4 * 1_000_000 * 1024 / floor


def narrow(n: int, d: int) -> list[list[Any]]:
    """Return for each number type: bytes per number, microseconds a step, and the certified gap of a solve."""
    rows = []
    for name, radius in (("float32", 2.0), ("bfloat16", 2.0), ("uint8", 0.01)):
        A = numbers(n, d, getattr(torch, name))
        b = labels(A)
        step = engine_seconds(A, b, None)
        result = fw.minimize(fw.Logistic(A, b.cpu().numpy()), fw.L2Ball(radius), method="afw", tol=1e-4, max_iter=2000)
        rows.append([name, A.element_size(), round(1e6 * step, 1), result.n_iter, f"{result.gap:.2e}"])
        del A, b
        clear()
    return rows


def large(bytes_: float) -> list[Any]:
    """Return what a solve on that many bytes on the card takes: shape, seconds a step, certified gap."""
    d = 1024
    n = int(bytes_ // (4 * d))
    A = numbers(n, d)
    b = labels(A)
    begin = perf_counter()
    result = fw.minimize(fw.Logistic(A, b.cpu().numpy()), fw.L2Ball(10.0), method="afw", tol=0, max_iter=60)
    took = perf_counter() - begin
    step = engine_seconds(A, b, None)
    memory = torch.cuda.max_memory_allocated() / 1e9
    del A, b
    clear()
    return [
        f"{n} x {d}",
        f"{4 * n * d / 1e9:.1f} GB",
        f"{1e3 * step:.2f} ms",
        f"{took:.1f} s for 60",
        f"{result.gap:.2e}",
        f"{memory:.1f} GB",
    ]


def streamed(bytes_: int, cap: int, steps: int) -> list[Any]:
    """Return what a solve takes that does not fit: bytes, seconds a read, the copy alone, rate, gap, memory."""
    d = 1024
    n = bytes_ // (4 * d)
    host = torch.empty((n, d))
    torch.cuda.set_per_process_memory_fraction(cap / torch.cuda.get_device_properties(0).total_memory)
    torch.cuda.reset_peak_memory_stats()
    for i in range(0, n, 1 << 18):
        host[i : i + (1 << 18)].copy_(torch.randn((min(1 << 18, n - i), d), device="cuda"))
    w = torch.randn(d) / d**0.5
    b = torch.where(host @ w + torch.randn(n) > 0, 1.0, -1.0)
    begin = perf_counter()
    data = place(host, "cuda")
    placed = perf_counter() - begin
    blocks = data.blocks
    for _ in range(2):
        torch.cuda.synchronize()
        begin = perf_counter()
        for _ in blocks:
            pass
        torch.cuda.synchronize()
        copy = perf_counter() - begin
    objective = fw.Logistic(data, b.numpy())
    fw.minimize(objective, fw.L2Ball(10.0), method="afw", tol=0, max_iter=1)
    begin = perf_counter()
    result = fw.minimize(objective, fw.L2Ball(10.0), method="afw", tol=0, max_iter=steps)
    step = (perf_counter() - begin) / result.n_pass  # reads for the certificate among them
    memory = torch.cuda.max_memory_reserved() / GIB
    torch.cuda.set_per_process_memory_fraction(1.0)
    return [
        f"{bytes_ / GIB:.0f} GiB",
        type(data).__name__,
        f"{step:.2f} s a read",
        f"{copy:.2f} s copy alone",
        f"{bytes_ / step / 1e9:.1f} GB/s",
        f"gap {result.gap:.2e} after {steps} steps",
        f"{memory:.1f} GiB of the card",
        f"placed in {placed:.1f} s",
    ]


SOLVERS: dict[str, Any] = {
    "auto": "auto",
    "newton": "newton",
    "subspace": "subspace",
    "afw, line search": fw.AcceleratedFrankWolfe(line_search=True),
    "afw": "afw",
}


def to_accuracy(n: int, d: int, relative: float) -> list[list[Any]]:
    """Return seconds to a relative accuracy for our methods, which prove it, and rivals on the same problem."""
    A = numbers(n, d)
    b = labels(A)
    radius, tol = 2.0, relative * 0.6931
    objective, ball = fw.Logistic(A, b.cpu().numpy()), fw.L2Ball(radius)
    rows = []
    for name, method in SOLVERS.items():
        took = []
        for _ in range(3):
            torch.cuda.synchronize()
            begin = perf_counter()
            result = fw.minimize(objective, ball, method=method, tol=tol, max_iter=3000)
            took.append(perf_counter() - begin)
        what = f"certified gap {result.gap:.1e} after {result.n_iter} steps, {result.n_pass:.0f} passes"
        chosen = f" ({result.method})" if name == "auto" else ""
        rows.append([f"frankwolfe {name}{chosen}", round(min(took[1:]), 4), what])
    best = fw.minimize(objective, ball, method="newton", tol=1e-7, max_iter=30)
    penalty = float(torch.linalg.vector_norm(objective.grad(best.x))) / radius
    value = best.fun + 0.5 * penalty * radius**2
    lbfgs(A, b, penalty, value + tol)
    seconds, reached = lbfgs(A, b, penalty, value + tol)
    rows.append(["torch L-BFGS, GPU", round(seconds, 4), f"penalised value {reached - value:+.1e} from ours"])
    if relative >= 1e-4:
        for name, seconds in scikit_learn(A, b, penalty).items():
            rows.append([f"scikit-learn {name}, CPU", round(seconds, 3), "the matching penalty"])
    return rows
