"""What an exact line search adds to the steps of accelerated Frank-Wolfe on the GPU.

python -m benchmarks.gpu.searching
"""

from __future__ import annotations

from functools import partial
from typing import Any

import torch

import frankwolfe as fw
from benchmarks.gpu.timing import labels, numbers, per_step


def solve(objective: Any, ball: Any, search: bool, steps: int) -> None:
    method = fw.AcceleratedFrankWolfe(line_search=search)
    fw.minimize(objective, ball, method=method, tol=0, max_iter=steps, progress=False)


def main(n: int, d: int) -> None:
    A = numbers(n, d)
    objective = fw.Logistic(A, labels(A).cpu().numpy())
    for ball in (fw.L2Ball(10.0), fw.LpBall(10.0, p=3)):
        plain, searching = (1e6 * per_step(partial(solve, objective, ball, search), 120) for search in (False, True))
        print(f"{n} x {d}, {ball!r}: {plain:.1f} us a step, with a search {searching:.1f}")


if __name__ == "__main__":
    for shape in ((400_000, 64), (1_000_000, 1024)):
        main(*shape)
        torch.cuda.empty_cache()
