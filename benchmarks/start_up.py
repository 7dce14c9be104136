"""How long a newcomer waits: the import, and the first small solve after it.

    python benchmarks/start_up.py [--repeats 9]

Each figure is the median over fresh interpreters, next to the import of NumPy alone in the same run.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys

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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=9, help="fresh interpreters per figure (default 9)")
    repeats = parser.parse_args().repeats
    times: dict[str, list[float]] = {name: [] for name in SNIPPETS}
    for _ in range(repeats):  # interleaved, so that a busy moment hurts all alike
        for name, snippet in SNIPPETS.items():
            times[name].append(seconds(snippet))
    for name, each in times.items():
        print(f"{name:<34} {statistics.median(each):6.3f} s   ({min(each):.3f} to {max(each):.3f})")
    taken = statistics.median(times["import frankwolfe"])
    print(f"import frankwolfe within 0.3 s: {'yes' if taken <= 0.3 else 'no'}")


if __name__ == "__main__":
    main()
