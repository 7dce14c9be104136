"""More data than memory: a table on disk, solved by a process that may not hold a third of it.

    python -m benchmarks.streaming [--quick] [--folder /tmp] [--out benchmarks/results/streaming.txt]

Writes at least 6 GiB of rows (quick: 1 GiB), then solves logistic regression over them to a certified gap of 1e-3 in a
process whose address space is limited to 2 GiB (quick: whose resident memory is only measured), and prints the largest
resident memory that the kernel saw. The data are deleted afterwards.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.report import command_line, held_to

GIB = 1 << 30
COLUMNS = 100
TOL = 1e-3


def write(path: Path, nbytes: int) -> np.ndarray:
    """Write rows to a .npy file, piece by piece; return their labels."""
    rows, rng = -(-nbytes // (8 * COLUMNS)), np.random.default_rng(0)
    truth, scales = rng.standard_normal(COLUMNS), np.geomspace(1.0, 0.03, COLUMNS)
    header = {"descr": "<f8", "fortran_order": False, "shape": (rows, COLUMNS)}
    labels = np.empty(rows, np.int8)
    with open(path, "wb") as file:
        np.lib.format.write_array_header_2_0(file, header)
        for first in range(0, rows, 50_000):
            A = rng.standard_normal((min(50_000, rows - first), COLUMNS), dtype=np.float32) * scales
            labels[first : first + len(A)] = A @ truth + 0.5 * rng.standard_normal(len(A)) > 0
            file.write(A.data)
    return labels


def solve(path: str, limit: int) -> dict:
    """Solve in this process, under a limit on its address space (0: none)."""
    if limit:
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    import frankwolfe as fw
    from frankwolfe.rows.disk_stream import stream

    began = time.perf_counter()
    labels = np.load(Path(path).with_name("b.npy"))
    objective = fw.Logistic(stream(path), labels)
    result = fw.minimize(objective, fw.L2Ball(5.0), tol=TOL, max_iter=200)
    return {
        "seconds": time.perf_counter() - began,
        "gap": result.gap,
        "success": bool(result.success),
        "method": result.method,
        "iterations": result.n_iter,
        "passes": result.n_pass + 1,  # one for the check of the data
        "resident": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }


def measure(quick: bool = False, folder: str = "") -> dict:
    """Return size, limit, resident memory, certified gap and time."""
    size, limit = (1 * GIB, 0) if quick else (6 * GIB + GIB // 8, 2 * GIB)
    bar = GIB // 2 if quick else limit
    with tempfile.TemporaryDirectory(dir=folder or None) as scratch:
        path = Path(scratch) / "A.npy"
        np.save(Path(scratch) / "b.npy", write(path, size))
        on_disk = path.stat().st_size
        code = f"import json; from benchmarks.streaming import solve; print(json.dumps(solve({str(path)!r}, {limit})))"
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found = json.loads(done.stdout.splitlines()[-1])
    row = [
        f"{on_disk / GIB:.2f}",
        f"{limit / GIB:.0f}" if limit else "none",
        f"{found['resident'] / GIB:.2f}",
        f"{found['gap']:.2e}",
        found["method"],
        found["iterations"],
        f"{found['passes']:.0f}",
        f"{found['seconds']:.0f}",
        f"{found['passes'] * on_disk / found['seconds'] / 1e9:.2f}",
    ]
    return {
        "title": "Logistic regression over a file larger than the memory of its process",
        "columns": [
            *("data, GiB", "limit of the address space, GiB", "resident at most, GiB", "certified gap", "method"),
            *("iterations", "reads of the data", "seconds", "GB/s"),
        ],
        "rows": [row],
        "bars": [
            held_to("resident memory", found["resident"] / GIB, bar / GIB, "<=", "GiB"),
            held_to("certified gap", found["gap"], TOL, "<=", ""),
        ],
        "notes": ["rows of 100 numbers in double precision; plain reads, 64 MiB at a time, one block ahead"],
    }


if __name__ == "__main__":
    command_line(measure, folder=("", "where to write the data (default: the system's folder for temporary files)"))
