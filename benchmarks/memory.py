"""Peak memory of a solve against the data it reads and the state it must keep.

python -m benchmarks.memory [--quick]
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from benchmarks.report import command_line, held_to

CHILD = """
import json, sys
import numpy as np, scipy.sparse as sp
import frankwolfe as fw
from benchmarks.memory import peak, resident, watch

kind, size = sys.argv[1], int(sys.argv[2])
rng = np.random.default_rng(0)

def problem(size):
    if kind.startswith("dense"):
        d = 50
        A = rng.standard_normal((size // d, d))
        if kind == "dense float32":
            A = A.astype(np.float32)
        return fw.Logistic(A, A[:, 0] > 0), fw.L2Ball(10.0), A.nbytes, (6 * len(A) + 8 * d) * 8
    if kind.startswith("sparse"):
        n, d, each = size // 20, 2000, 20
        A = sp.csr_array((rng.random(size), rng.integers(0, d, size=size, dtype=np.int32), np.arange(0, size + 1, each,
            dtype=np.int32)), shape=(n, d))
        data = A.data.nbytes + A.indices.nbytes + A.indptr.nbytes
        l1 = kind.endswith("l1")
        ball = fw.L1Ball(10.0) if l1 else fw.L2Ball(10.0)
        return fw.Logistic(A, rng.random(n) > 0.5), ball, data * (2 if l1 else 1), (6 * n + 8 * d) * 8
    m = n = size // 100
    places = np.unique(rng.integers(0, m * n, size=size))
    rows, cols = np.divmod(places, n)
    values = rng.standard_normal(len(rows))
    values /= np.linalg.norm(values)
    f = fw.MatrixCompletion(rows, cols, values, (m, n))
    state = 3 * values.nbytes + 50 * (m + n) * 8  # image, atom's image, slope; atoms and Lanczos vectors
    return f, fw.NuclearBall(1.0), 2 * (rows.nbytes + cols.nbytes + values.nbytes), state

method = "fw" if kind == "completion" else "afw"
f, domain, _, _ = problem(min(size, 2_000_000))
fw.minimize(f, domain, method=method, tol=0.0, max_iter=3)  # compile, and load what is loaded lazily
del f
before = resident()
f, domain, data, state = problem(size)
watch()
result = fw.minimize(f, domain, method=method, tol=0.0, max_iter=20)
json.dump({"peak": peak() - before, "data": data, "state": state}, sys.stdout)
"""


def _status(field: str) -> int:
    found = re.search(rf"{field}:\s+(\d+) kB", Path("/proc/self/status").read_text("utf-8"))
    assert found is not None
    return 1024 * int(found[1])


def resident() -> int:
    """Return the bytes of memory this process holds now."""
    return _status("VmRSS")


def watch() -> None:
    """Forget the high-water mark of this process, so that `peak` counts from here."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def peak() -> int:
    """Return the high-water mark since `watch`."""
    return _status("VmHWM")


def measure(quick: bool) -> dict:
    size = 5_000_000 if quick else 20_000_000
    rows, bars = [], []
    for kind in ("dense", "dense float32", "sparse l2", "sparse l1", "completion"):
        done = subprocess.run(
            [sys.executable, "-c", CHILD, kind, str(size)], capture_output=True, text=True, check=True,
            cwd=Path(__file__).parent.parent,
        )  # fmt: skip
        got = json.loads(done.stdout)
        allowed = got["data"] + got["state"]
        ratio = got["peak"] / allowed
        rows.append([kind, got["data"] / 1e6, got["state"] / 1e6, got["peak"] / 1e6, ratio])
        bars.append(held_to(f"peak memory over data and state, {kind}", ratio, 1.3, "<="))  # fmt: skip
    return {
        "title": "Memory: peak of a solve",
        "columns": ["problem", "data MB", "state MB", "peak MB", "peak / (data + state)"],
        "rows": rows,
        "bars": bars,
        "notes": [
            f"{size:,} numbers; resident memory of a process of its own, from before the data are made to the "
            "high-water mark of the solve. Sparse l1 counts one copy by columns as data; completion counts rows, "
            "columns and values as given and as ordered. State: images and coordinates of x, y, v, atoms, Lanczos."
        ],
    }


if __name__ == "__main__":
    command_line(measure)
