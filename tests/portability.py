"""Tests under other instruction sets, as other processors have them: `python -m tests.portability [for pytest]`.

BLAS, NumPy and compiled kernels can each be told to do without what this processor offers. Sums are then taken in
another order, and whatever rounding decides comes out differently; what is proven must not.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from numpy._core import _multiarray_umath as umath
from threadpoolctl import threadpool_info

ROOT = Path(__file__).parents[1]
FEATURES: dict[str, bool] = umath.__cpu_features__  # what NumPy knows this processor to have
AVOIDABLE = " ".join(name for name in umath.__cpu_dispatch__ if FEATURES.get(name))  # what it uses and need not
CORES = {"Prescott": "SSE3", "Sandybridge": "AVX", "Haswell": "AVX2", "Zen": "AVX2", "SkylakeX": "AVX512_SKX"}


class Configuration(NamedTuple):
    """Something to do without: variables of the environment, and why it cannot be tried here ("" where it can)."""

    name: str
    variables: dict[str, str]
    missing: str = ""


def _lacks(feature: str) -> str:
    return "" if FEATURES.get(feature) else f"this processor has no {feature}"


def _blas(core: str) -> Configuration:
    found = any(library["internal_api"] == "openblas" for library in threadpool_info())
    return Configuration(
        f"BLAS of {core}", {"OPENBLAS_CORETYPE": core}, _lacks(CORES[core]) if found else "no OpenBLAS"
    )


ANY_KERNELS = Configuration("kernels for any processor", {"NUMBA_CPU_NAME": "generic"})
HASWELL_KERNELS = Configuration(
    "kernels for Haswell", {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": ""}, _lacks("AVX2")
)
PLAIN_NUMPY = Configuration(
    "NumPy without SIMD", {"NPY_DISABLE_CPU_FEATURES": AVOIDABLE}, "" if AVOIDABLE else "NumPy uses none here"
)
ONE_THREAD = Configuration("one thread", {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"})
MANY_THREADS = Configuration("eight BLAS threads", {"OPENBLAS_NUM_THREADS": "8"})
ALL = [
    Configuration("as it is", {}),
    *(_blas(core) for core in CORES),
    *(ANY_KERNELS, HASWELL_KERNELS, PLAIN_NUMPY, ONE_THREAD, MANY_THREADS),
]


def together(name: str, *parts: Configuration) -> Configuration:
    """Return several at once, those that can be tried."""
    variables: dict[str, str] = {}
    for part in parts:
        variables |= {} if part.missing else part.variables
    return Configuration(name, variables, "" if variables else "nothing can be left out")


OTHER_PROCESSORS = [
    together("old", _blas("Prescott"), ANY_KERNELS, PLAIN_NUMPY, ONE_THREAD),
    together("without AVX-512", _blas("Haswell"), HASWELL_KERNELS, MANY_THREADS),
]


def run(configuration: Configuration, caches: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a module of Python; kernels compiled for another processor are kept in a folder of their own."""
    target = configuration.variables.get("NUMBA_CPU_NAME", "")
    cache = {"NUMBA_CACHE_DIR": str(caches / target)} if target else {}
    environment = {**os.environ, **configuration.variables, **cache}
    command = sys.executable, "-m", *command
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def same_bits(caches: Path) -> bool:
    """Tell whether every kernel gives the same bits when it is compiled and when it is loaded."""
    afresh = Configuration("compiled afresh", {"NUMBA_CACHE_DIR": str(caches / "afresh")})
    first, later = (run(afresh, caches, "tests.kernels.bits") for _ in range(2))
    return first.returncode == later.returncode == 0 and first.stdout == later.stdout


def main(arguments: list[str]) -> int:
    """Run the tests under every configuration, print a table, and return 1 if any failed."""
    rows, failed = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for configuration in ALL:
            if configuration.missing:
                rows.append((configuration.name, f"skipped: {configuration.missing}"))
                continue
            began = time.perf_counter()
            done = run(configuration, Path(folder), "pytest", "-q", "-p", "no:cacheprovider", *arguments)
            failed += done.returncode != 0
            verdict = "failed" if done.returncode else "passed"
            summary = (done.stdout.strip() or done.stderr.strip() or "nothing was run").splitlines()[-1]
            rows.append((configuration.name, f"{verdict}: {summary}"))
            print(f"{configuration.name}: {verdict} after {time.perf_counter() - began:.0f} s", flush=True)
            print(*re.findall(r"^(?:FAILED|ERROR) .*", done.stdout, re.MULTILINE), sep="\n", end="\n", flush=True)
        same = same_bits(Path(folder))
        rows.append(("compiled and loaded", "passed: the same bits" if same else "failed: other bits"))
    width = max(len(name) for name, _ in rows)
    print(*(f"{name:{width}}  {what}" for name, what in rows), sep="\n")
    return int(failed > 0 or not same)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
