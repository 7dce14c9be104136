"""Accelerated Frank-Wolfe on a GPU by each way that the engine has: Triton update, captured plain steps, one by one.

python -m benchmarks.gpu.ways
"""

from __future__ import annotations

from functools import partial

import torch

import frankwolfe as fw
from benchmarks.gpu.timing import labels, numbers, waited
from frankwolfe import engine

SHAPES = ((400_000, 64), (60_000, 1024), (1_000_000, 1024))
STEPS = 800


def microseconds(objective: fw.Objective, ways: tuple[engine.Way, ...]) -> float:
    """Return the time of a step inside `minimize`, everything counted, with some of the engine's ways."""
    known = engine.WAYS
    engine.WAYS = ways
    try:
        solve = partial(fw.minimize, objective, fw.L2Ball(10.0), method="afw", tol=0, max_iter=STEPS)
        return 1e6 * min(waited(solve)[0] for _ in range(4)) / STEPS  # the first compiles
    finally:
        engine.WAYS = known


def main() -> None:
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}: microseconds a step of afw, logistic, l2 ball")
    triton, graph, _, plain = engine.WAYS
    for n, d in SHAPES:
        A = numbers(n, d)
        objective = fw.Logistic(A, labels(A).cpu().numpy())
        by_triton = microseconds(objective, (triton, plain))
        by_graph = microseconds(objective, (graph, plain))
        one_by_one = microseconds(objective, (plain,))
        print(
            f"{n} x {d}: Triton update {by_triton:.1f}, graph of plain steps {by_graph:.1f} "
            f"({by_graph / by_triton:.2f}x), one by one {one_by_one:.1f}",
            flush=True,
        )
        del A, objective


if __name__ == "__main__":
    main()
