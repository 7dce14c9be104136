"""Matrix completion on the GPU beside the same run on the CPU: seconds a step, and to a certified gap."""

from __future__ import annotations

import importlib.util
import os
from typing import Any

import torch

import frankwolfe as fw
from benchmarks.gpu.timing import seconds, waited
from frankwolfe.kernels.pattern import pattern_products

USERS, ITEMS, EACH = 138_493, 26_744, 145  # the shape of MovieLens 20M


def ratings(users: int, items: int, rank: int = 10) -> tuple[Any, Any, Any]:
    """Return rows, columns and values on the GPU: each user rates about 145 items, popular ones more often."""
    torch.manual_seed(0)
    place = (torch.arange(EACH, device="cuda") + torch.rand((users, EACH), device="cuda")) / EACH
    cols = (items * place**1.5).long().clamp(max=items - 1).reshape(-1)
    rows = torch.arange(users, device="cuda").repeat_interleave(EACH)
    fresh = torch.ones_like(rows, dtype=torch.bool)
    fresh[1:] = (rows[1:] != rows[:-1]) | (cols[1:] != cols[:-1])
    rows, cols = rows[fresh], cols[fresh]
    U, V = torch.randn((users, rank), device="cuda"), torch.randn((items, rank), device="cuda")
    values = (U[rows] * V[cols]).sum(dim=1) + 2 * torch.randn(rows.shape[0], device="cuda")
    return rows, cols, (values / torch.linalg.vector_norm(values)).to(torch.float32)


def run(f: Any, radius: float, method: str, steps: int, tol: float = 0.0) -> tuple[float, Any]:
    """Return the seconds of a run and its result."""
    return waited(lambda: fw.minimize(f, fw.NuclearBall(radius), method=method, tol=tol, max_iter=steps))


def completion(quick: bool) -> list[list[Any]]:
    """Return rows: what, seconds on the GPU, seconds on the CPU of this machine, ratio, and a note."""
    shrink = 16 if quick else 1
    users, items = USERS // shrink, ITEMS // shrink
    rows, cols, values = ratings(users, items)
    there = fw.MatrixCompletion(rows, cols, values, (users, items))
    here = fw.MatrixCompletion(rows.cpu().numpy(), cols.cpu().numpy(), values.cpu().numpy(), (users, items))
    table: list[list[Any]] = []
    radius = 2.0
    compiled = importlib.util.find_spec("numba") is not None
    if not compiled:  # SciPy's products instead
        pattern_products.COMPILED_FROM = 1 << 62  # pyright: ignore[reportAttributeAccessIssue]
    table.append(["the CPU's products", "", "Numba" if compiled else "SciPy", "", f"{os.cpu_count()} cores"])

    U, V = (torch.randn((side, 32), device="cuda") for side in (users, items))
    places, G = there.pattern.places, there.dual(there.values)
    w, u = torch.randn(items, device="cuda"), torch.randn(users, device="cuda")
    for name, work in (
        ("entries of U V', rank 32", lambda: places.entries(U, V)),
        ("value and gradients in U, V", lambda: places.fit(there.values, None, U, V)),
        ("G w", lambda: G @ w),
        ("G' u", lambda: G.T @ u),
        ("entries of u v'", lambda: places.rank_one(u, w)),
    ):
        table.append([name, f"{1e3 * seconds(work, 10):.3f} ms", "", "", f"{places.size} entries"])
    for method, steps in (("fw", 20), ("afw", 20)):
        run(there, radius, method, steps)
        fast, a = run(there, radius, method, steps)
        slow, b = run(here, radius, method, steps)
        note = f"values {a.fun:.7f} and {b.fun:.7f}, bounds {a.lower_bound:.6f} and {b.lower_bound:.6f}"
        table.append([f"{method}, {steps} steps", f"{fast:.3f} s", f"{slow:.3f} s", f"{slow / fast:.1f}x", note])
    goal = 1e-2 * here.loss(here.values * 0)
    run(there, radius, "factored", 40, goal)
    fast, a = run(there, radius, "factored", 40, goal)
    slow, b = run(here, radius, "factored", 40, goal)
    note = f"gaps {a.gap:.1e} and {b.gap:.1e} after {a.n_iter} and {b.n_iter} steps, rank {a.x.stored} and {b.x.stored}"
    table.append([f"factored to a gap of {goal:.1e}", f"{fast:.3f} s", f"{slow:.3f} s", f"{slow / fast:.1f}x", note])
    return table
