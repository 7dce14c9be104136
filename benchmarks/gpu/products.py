"""What a step of many radii is made of: the two matrix products, in several forms, and what is between them.

python -m benchmarks.gpu.products
"""

from __future__ import annotations

from typing import Any

import torch

from benchmarks.gpu.timing import labels, numbers, seconds
from frankwolfe.backends import torch_rows
from frankwolfe.backends.precision import exact_products, fast_products
from frankwolfe.backends.torch_rows import DeviceModel
from frankwolfe.losses import LogisticLoss

RADII = 64


def split(R: Any, A: Any, parts: int) -> Any:
    """Return R A with its long inner dimension in parts, each a product of its own."""
    n = A.shape[0] // parts * parts
    left = R[:, :n].reshape(R.shape[0], parts, -1).transpose(0, 1)
    total = torch.bmm(left, A[:n].reshape(parts, -1, A.shape[1])).sum(dim=0)
    return total if n == A.shape[0] else total + R[:, n:] @ A[n:]


def parts_of_a_step(n: int, d: int) -> dict[str, float]:
    """Return the microseconds of each part, products in TF32."""
    A = numbers(n, d)
    b = labels(A)
    V, known = torch.randn(RADII, d, device="cuda"), torch.randn(RADII, n, device="cuda")
    R, coef = torch.randn(RADII, n, device="cuda") / n, torch.rand(RADII, 4, device="cuda")
    model = DeviceModel(A, b, torch.tensor(1 / n, device="cuda"), LogisticLoss())
    times = {}
    with exact_products(), fast_products():
        times["V A'"] = seconds(lambda: V @ A.T)
        times["(A V')'"] = seconds(lambda: (A @ V.T).T)
        q = V @ A.T
        times["between"] = seconds(lambda: torch_rows.batch_by_kernel(model, q, known, coef))
        times["R A"] = seconds(lambda: R @ A)
        times["(A' R')'"] = seconds(lambda: (A.T @ R.T).T)
        for parts in (8, 16, 32, 64, 128, 256):
            times[f"R A in {parts}"] = seconds(lambda: split(R, A, parts))  # noqa: B023
        exact = R.double() @ A.double() if n * d < 1 << 28 else None
        if exact is not None:
            for name, got in (("whole", R @ A), ("in 64", split(R, A, 64))):
                times[f"error {name}"] = float((got - exact).abs().max() / exact.abs().max()) / 1e6
    return {name: 1e6 * t for name, t in times.items()}


if __name__ == "__main__":
    for shape in ((400_000, 64), (60_000, 1024), (1_000_000, 1024), (2_000_000, 512)):
        print(shape, {name: float(f"{t:.4g}") for name, t in parts_of_a_step(*shape).items()}, flush=True)
        torch.cuda.empty_cache()
