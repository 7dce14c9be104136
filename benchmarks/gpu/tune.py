"""Times of the fused pass over ways to take the matrix: how `backends.torch_rows.tile` was chosen."""

from __future__ import annotations

import sys
from typing import Any

import torch

from benchmarks.gpu.timing import labels, numbers, read_floor, seconds
from frankwolfe.backends.torch_rows import DeviceModel, Scratch, Tile
from frankwolfe.engine.triton_steps import LENGTH, Engine, Start
from frankwolfe.losses import LogisticLoss


def engine_seconds(A: Any, b: Any, chosen: Tile | None, dtype: Any = torch.float32) -> float:
    """Return the time of one step inside a captured graph."""
    n, d = A.shape
    share = torch.tensor(1 / n, dtype=dtype, device="cuda")
    engine = Engine(DeviceModel(A, b.to(dtype), share, LogisticLoss()), dtype, "l2", 10.0, 3.0, True, chosen)
    zero = torch.zeros(d, dtype=dtype, device="cuda")
    engine.advance(Start(0, zero, zero, None, None, (1.0, 1.0, 1.0, 1.0)), LENGTH)

    def replay() -> None:
        engine.clock[1].zero_()
        engine.graph.replay()

    return seconds(replay, 7, 2) / LENGTH


def proof_seconds(A: Any, b: Any, chosen: Tile) -> float:
    """Return the time of one read in double precision, as certificates need it."""
    n, d = A.shape
    share = torch.tensor(1 / n, dtype=torch.float64, device="cuda")
    v, coef = torch.full((d,), 1 / d, dtype=share.dtype, device="cuda"), share.new_tensor([0.0, 1.0, 0.0, 1.0])
    product, watched = share.new_empty(n), share.new_empty(n)
    scratch = Scratch(DeviceModel(A, b.double(), share, LogisticLoss()), v, chosen)
    return seconds(lambda: scratch.read(v, None, coef, product, watched), 3, 2)


def sweep_proofs(n: int, d: int) -> None:
    """Print the floor and the best ways of one shape in double precision."""
    A = numbers(n, d, torch.float32)
    b, floor = labels(A), read_floor(A)
    ways = [
        Tile(per * warps // d, warps, programs, stages, apart)
        for per in (1024, 2048, 4096)
        for warps in (1, 2, 4)
        for programs in (4, 8)
        for stages in (2, 3)
        for apart in (False, True)
        if per * warps >= d
    ]
    print(f"{n}x{d} in double precision, floor {floor * 1e6:.1f} us", flush=True)
    for ratio, way in sorted((proof_seconds(A, b, way) / floor, way) for way in ways)[:8]:
        print(f"   {ratio:.3f}  {way}", flush=True)


def sweep(n: int, d: int, dtype: Any) -> None:
    """Print the floor and the best ways for one shape."""
    A = numbers(n, d, dtype)
    b = labels(A)
    floor = read_floor(A)
    print(
        f"{n}x{d} {dtype} floor {floor * 1e6:.1f} us ({A.numel() * A.element_size() / floor / 1e12:.2f} TB/s)",
        flush=True,
    )
    cols = 1 << (d - 1).bit_length()
    found = []
    for warps in (1, 2, 4):
        for registers in (32, 64) if dtype == torch.float32 else (64, 128):
            rows = registers * 32 * warps // cols
            if rows < 1 or rows > 256:
                continue
            for programs in (1, 2, 4, 8, 16):
                for stages in (2, 3, 4):
                    if warps * programs > 32 or rows * cols * A.element_size() * stages * programs > 225_000:
                        continue
                    chosen = Tile(rows, warps, programs, stages)
                    try:
                        found.append((engine_seconds(A, b, chosen) / floor, chosen))
                    except Exception as error:
                        print("   ", chosen, repr(error)[:80], flush=True)
    for ratio, chosen in sorted(found)[:8]:
        print(f"   {ratio:.3f}  {chosen}", flush=True)
    del A
    torch.cuda.empty_cache()


if __name__ == "__main__":
    shapes = {"a": (1_000_000, 1024), "b": (400_000, 64), "c": (60_000, 1024), "d": (2_000_000, 512)}
    for key in sys.argv[1]:
        sweep(*shapes[key], torch.float32)
    for key in sys.argv[2] if len(sys.argv) > 2 else "":
        for dtype in (torch.bfloat16, torch.uint8):
            sweep(*shapes[key], dtype)
    for key in sys.argv[3] if len(sys.argv) > 3 else "":
        sweep_proofs(*shapes[key])
