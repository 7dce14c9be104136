"""Seconds of device work, by events, medians of repeats."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from time import perf_counter
from typing import Any

import torch


def seconds(work: Callable[[], Any], repeats: int = 20, warm: int = 3) -> float:
    """Return the median time of one call."""
    for _ in range(warm):
        work()
    torch.cuda.synchronize()
    times = []
    for _ in range(repeats):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        work()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) / 1e3)
    return statistics.median(times)


def waited(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the seconds of one call until the device has done all that it was given, and what the call returned."""
    torch.cuda.synchronize()
    begin = perf_counter()
    answer = work()
    torch.cuda.synchronize()
    return perf_counter() - begin, answer


def per_step(solve: Callable[[int], Any], steps: int, repeats: int = 3) -> float:
    """Return the seconds of one step, everything counted but what happens once: three times as many steps, less those.

    `solve` takes so many steps.
    """
    solve(steps)
    short, long = (min(waited(lambda n=n: solve(n))[0] for _ in range(repeats)) for n in (steps, 3 * steps))
    return (long - short) / (2 * steps)


def numbers(n: int, d: int, dtype: Any = torch.float32, seed: int = 0) -> Any:
    """Return random data on the GPU, made in blocks so that nothing larger than the result is needed."""
    torch.manual_seed(seed)
    A = torch.empty((n, d), dtype=dtype, device="cuda")
    for i in range(0, n, 1 << 18):
        block = A[i : i + (1 << 18)]
        if dtype == torch.uint8:
            block.random_(0, 256)
        else:
            block.copy_(torch.randn(block.shape, device="cuda"))
    return A


def labels(A: Any, noise: float = 1.0) -> Any:
    """Return labels that a linear rule explains up to noise."""
    torch.manual_seed(1)
    w = torch.randn(A.shape[1], device="cuda") / A.shape[1] ** 0.5
    margins = torch.cat([A[i : i + (1 << 18)].float() @ w for i in range(0, A.shape[0], 1 << 18)])
    margins = (margins - margins.mean()) / margins.std()
    return torch.where(margins + noise * torch.randn_like(margins) > 0, 1.0, -1.0)


def read_floor(A: Any) -> float:
    """Return the seconds of the fastest plain read of A, over several ways to take it."""
    from benchmarks.gpu.read_only import read_only

    kernel: Any = read_only
    n, d = A.shape
    cols = 1 << (d - 1).bit_length()
    out = torch.empty(1 << 16, device="cuda")
    multiprocessors = torch.cuda.get_device_properties(0).multi_processor_count
    best = float("inf")
    for elements, warps, per, stages in [
        (e, w, p, s) for e in (8192, 16384) for w in (4, 8) for p in (2, 4) for s in (1, 3)
    ]:
        rows = max(1, elements // cols)
        grid = (min(per * multiprocessors, -(-n // rows)),)
        options = {"ROWS": rows, "COLS": cols, "STAGES": stages, "num_warps": warps}
        try:
            best = min(best, seconds(lambda: kernel[grid](A, out, n, d, A.stride(0), **options), 5, 2))  # noqa: B023
        except Exception as error:  # a way that does not fit the registers
            print("read", options, repr(error)[:100])
    return best
