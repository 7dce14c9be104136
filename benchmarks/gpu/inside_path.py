"""Where the time of a path on the GPU goes: plain steps, captured steps, and what the host does between.

python -m benchmarks.gpu.inside_path
"""

from __future__ import annotations

from time import perf_counter

import torch

import frankwolfe as fw
from benchmarks.gpu.timing import labels, numbers, per_step, seconds
from frankwolfe.engine import cuda_graph_steps
from frankwolfe.methods import named
from frankwolfe.problem import Problem
from frankwolfe.sets.many_radii import SetBatch

RADII = [float(r) for r in torch.logspace(-1, 1.5, 64)]


def main(n: int, d: int) -> None:
    A = numbers(n, d)
    objective = fw.Logistic(A, labels(A).cpu().numpy())
    method, problem = named("afw"), Problem(objective, SetBatch([fw.L2Ball(r) for r in RADII], like=A))
    state = method.init(problem, problem.start(None, dense=False))

    def plain() -> None:
        nonlocal state
        state, _ = method.step(problem, state)

    per_plain = seconds(plain, 24, 8)
    begin = perf_counter()
    for _ in range(24):
        plain()
    launching = (perf_counter() - begin) / 24
    torch.cuda.synchronize()
    chunk = cuda_graph_steps.Chunk()
    for _ in range(cuda_graph_steps.MET + 1):  # the form of the state changes once: plain steps left it
        state, _ = chunk.advance(problem, method, state)
    torch.cuda.synchronize()
    if chunk.graph is None:
        raise RuntimeError("the steps of a path were not captured, though their state keeps its form")
    per_graph = seconds(chunk.graph.replay, 8, 1) / cuda_graph_steps.PACE
    options = {"method": "afw", "tol": 0, "progress": False}
    inside = per_step(lambda k: fw.path(objective, fw.L2Ball, RADII, max_iter=k, **options), 120, repeats=1)
    memory = torch.cuda.max_memory_allocated() / 1e9
    print(
        f"{n} x {d}, us a step: plain {1e6 * per_plain:.0f} (to launch {1e6 * launching:.0f}), graph "
        f"{1e6 * per_graph:.0f}, inside path {1e6 * inside:.0f}; memory {memory:.1f} GB"
    )


if __name__ == "__main__":
    for shape in ((400_000, 64), (60_000, 1024), (1_000_000, 1024), (2_000_000, 512)):
        main(*shape)
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
