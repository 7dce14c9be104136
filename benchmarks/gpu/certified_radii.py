"""Sixty-four radii in one run on the GPU: seconds, and gaps certified in double precision."""

from __future__ import annotations

import torch

import frankwolfe as fw
from benchmarks.gpu.timing import labels, numbers, waited


def certified_radii(n: int, d: int, tol: float = 1e-4) -> list[list[object]]:
    """Return the seconds of a path of 64 radii to a certified gap, beside that of its largest radius alone."""
    A = numbers(n, d)
    objective = fw.Logistic(A, labels(A).cpu().numpy())
    radii = [float(r) for r in torch.logspace(-1.5, 0.5, 64)]
    rows: list[list[object]] = []
    for name, many in (("64 radii", radii), ("the largest alone", radii[-1:])):
        for _ in range(2):
            took, results = waited(
                lambda many=many: fw.path(
                    objective, fw.L2Ball, many, method="afw", tol=tol, max_iter=2000, progress=False
                )
            )
        gaps = [result.gap for result in results]
        steps = max(result.n_iter for result in results)
        rows.append([name, f"{took:.3f} s", steps, f"{max(gaps):.1e}", sum(result.success for result in results)])
    return rows
