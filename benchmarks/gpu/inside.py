"""What `minimize` adds to its captured steps: proofs in double precision, chunks, and the host's own work.

python -m benchmarks.gpu.inside
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import torch

import frankwolfe as fw
from benchmarks.gpu.timing import labels, numbers, waited
from benchmarks.gpu.tune import engine_seconds
from frankwolfe import run as runs
from frankwolfe.engine import triton_steps
from frankwolfe.problem import Problem

SPENT: dict[str, list[float]] = {}


def timed(owner: Any, name: str, waits: bool) -> None:
    """Keep the seconds of each call of a function; `waits` for the device before and after."""
    call = getattr(owner, name)

    def wrapped(*args: Any, **options: Any) -> Any:
        if waits:
            torch.cuda.synchronize()
        begin = perf_counter()
        out = call(*args, **options)
        if waits:
            torch.cuda.synchronize()
        SPENT.setdefault(f"{owner.__name__}.{name}", []).append(perf_counter() - begin)
        return out

    if not hasattr(call, "__wrapped__"):  # once is enough
        wrapped.__wrapped__ = call  # pyright: ignore[reportFunctionMemberAccess]
        setattr(owner, name, wrapped)


def main(n: int = 1_000_000, d: int = 1024, steps: int = 600) -> None:
    A = numbers(n, d)
    b = labels(A)
    objective = fw.Logistic(A, b.cpu().numpy())

    def solve() -> float:
        return waited(lambda: fw.minimize(objective, fw.L2Ball(10.0), method="afw", tol=0, max_iter=steps))[0]

    solve()
    print(f"{n} x {d}: graph alone {1e6 * engine_seconds(A, b, None):.1f} us a step")
    print(f"minimize, {steps} steps: {1e6 * min(solve() for _ in range(3)) / steps:.1f} us a step, all counted")
    waits = ((Problem, "certify"), (triton_steps.Engine, "_captured"), (runs.Run, "finish"), (Problem, "start"))
    for owner, name in waits:
        timed(owner, name, waits=True)
    for owner, name in ((triton_steps.Engine, "advance"), (runs.Run, "absorb_all")):
        timed(owner, name, waits=False)
    SPENT.clear()
    took = solve()
    print(f"watched: {1e6 * took / steps:.1f} us a step")
    for name, times in SPENT.items():
        print(f"  {name}: {len(times)} calls, {1e3 * sum(times):.2f} ms, longest {1e3 * max(times):.2f} ms")


if __name__ == "__main__":
    main()
    main(400_000, 64)
