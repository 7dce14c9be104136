"""More data than memory: a table on disk, solved by a process that may not hold a third of it.

    python benchmarks/streaming.py [--quick] [--folder /tmp] [--out benchmarks/results/streaming.txt]

Writes at least 6 GiB of rows (quick: 1 GiB), then solves logistic regression over them to a certified gap of 1e-3 in a
process whose address space is limited to 2 GiB (quick: whose resident memory is only measured), and prints the largest
resident memory that the kernel saw. The data are deleted afterwards.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

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


def measure(quick: bool = False, folder: str | None = None) -> dict:
    """Return size, limit, resident memory, certified gap and time."""
    size, limit = (1 * GIB, 0) if quick else (6 * GIB + GIB // 8, 2 * GIB)
    bar = GIB // 2 if quick else limit
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        path = Path(scratch) / "A.npy"
        np.save(Path(scratch) / "b.npy", write(path, size))
        on_disk = path.stat().st_size
        command = [sys.executable, __file__, "--solve", str(path), str(limit)]
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
            {
                "name": "resident memory",
                "value": found["resident"] / GIB,
                "bar": bar / GIB,
                "sense": "<=",
                "unit": "GiB",
            },
            {"name": "certified gap", "value": found["gap"], "bar": TOL, "sense": "<=", "unit": ""},
        ],
        "notes": ["rows of 100 numbers in double precision; plain reads, 64 MiB at a time, one block ahead"],
    }


def main(say: Callable[[str], None] = print) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="1 GiB instead of 6")
    parser.add_argument("--folder", help="where to write the data (default: the system's folder for temporary files)")
    parser.add_argument("--out", type=Path, help="write the result to this file too")
    parser.add_argument("--solve", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.solve:
        say(json.dumps(solve(options.solve[0], int(options.solve[1]))))
        return
    found = measure(options.quick, options.folder)
    lines = [f"{name}: {value}" for name, value in zip(found["columns"], found["rows"][0], strict=True)]
    for bar in found["bars"]:
        kept = bar["value"] <= bar["bar"]
        lines.append(f"{bar['name']} {bar['value']:.3g} {bar['unit']} <= {bar['bar']:.3g}: {'yes' if kept else 'NO'}")
    say("\n".join(lines))
    if options.out:
        options.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
