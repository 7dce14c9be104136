"""How long a newcomer waits: the import, and the first small solve after it.

    python -m benchmarks.start_up [--quick]

Each figure is the median over fresh interpreters, next to the import of NumPy alone in the same run.
"""

from __future__ import annotations

import statistics
import subprocess
import sys

from benchmarks.report import command_line, held_to

SNIPPETS = {
    "python alone": "pass",
    "import numpy": "import numpy",
    "import frankwolfe": "import frankwolfe",
    "import, and a first small solve": (
        "import numpy as np, frankwolfe as fw\n"
        "A = np.random.default_rng(0).standard_normal((200, 20))\n"
        "fw.minimize(fw.Logistic(A, A[:, 0] > 0), fw.L2Ball(1.0))"
    ),
}
TIMED = "import time; t = time.perf_counter()\n{}\nprint(time.perf_counter() - t)"


def seconds(snippet: str) -> float:
    """Return the seconds that a snippet takes in a fresh interpreter."""
    done = subprocess.run([sys.executable, "-c", TIMED.format(snippet)], capture_output=True, text=True, check=True)
    return float(done.stdout)


def measure(quick: bool) -> dict:
    times: dict[str, list[float]] = {name: [] for name in SNIPPETS}
    for _ in range(3 if quick else 9):  # interleaved, so that a busy moment hurts all alike
        for name, snippet in SNIPPETS.items():
            times[name].append(seconds(snippet))
    taken = {name: statistics.median(each) for name, each in times.items()}
    solve = taken["import, and a first small solve"] - taken["import frankwolfe"]
    return {
        "title": "Start-up: import and first solve",
        "columns": ["what", "median s", "least s", "most s"],
        "rows": [[name, taken[name], min(each), max(each)] for name, each in times.items()],
        "bars": [
            held_to("import frankwolfe", taken["import frankwolfe"], 0.3, "<=", "s"),
            held_to("first small solve after it", solve, 0.3, "<=", "s"),
        ],
        "notes": ["Fresh interpreters, interleaved."],
    }


if __name__ == "__main__":
    command_line(measure)
