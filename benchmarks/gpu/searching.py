"""What an exact line search adds to the steps of accelerated Frank-Wolfe on the GPU.

python -m benchmarks.gpu.searching
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import torch

import frankwolfe as fw
from benchmarks.gpu.timing import labels, numbers


def per_step(objective: Any, ball: Any, method: Any) -> float:
    """Return microseconds a step: the difference between a long run and a short one."""
    took = []
    for steps in (104, 360):
        best = float("inf")
        for _ in range(3):
            torch.cuda.synchronize()
            begin = perf_counter()
            fw.minimize(objective, ball, method=method, tol=0, max_iter=steps, progress=False)
            torch.cuda.synchronize()
            best = min(best, perf_counter() - begin)
        took.append(best)
    return 1e6 * (took[1] - took[0]) / 256


def main(n: int, d: int) -> None:
    A = numbers(n, d)
    objective = fw.Logistic(A, labels(A).cpu().numpy())
    for ball in (fw.L2Ball(10.0), fw.LpBall(10.0, p=3)):
        plain, searching = (per_step(objective, ball, fw.AcceleratedFrankWolfe(line_search=s)) for s in (False, True))
        print(f"{n} x {d}, {ball!r}: {plain:.1f} us a step, with a search {searching:.1f}")


if __name__ == "__main__":
    for shape in ((400_000, 64), (1_000_000, 1024)):
        main(*shape)
        torch.cuda.empty_cache()
