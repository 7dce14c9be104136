"""Tests under other instruction sets, as other processors have them: `python -m tests.portability [for pytest]`.

BLAS, NumPy and compiled kernels can each be told to do without what this processor offers. Sums are then taken in
another order, and whatever rounding decides comes out differently; what is proven must not.

The configurations share the cores: `--jobs` says how many, `--only "BLAS of Haswell"` picks one (may be repeated),
`--write FILE` keeps the table.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from importlib import metadata
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
MANY_THREADS = Configuration(  # of which OpenBLAS uses as many as there are cores
    "eight BLAS threads",
    {"OPENBLAS_NUM_THREADS": "8", "OMP_NUM_THREADS": "8"},
    "" if (os.cpu_count() or 1) > 1 else "one core alone",
)
AS_IT_IS = Configuration("as it is", {})
ALL = [
    AS_IT_IS,
    *(_blas(core) for core in CORES),
    *(ANY_KERNELS, HASWELL_KERNELS, PLAIN_NUMPY, MANY_THREADS),
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


class Outcome(NamedTuple):
    """What came of one configuration: a line for the table, and the tests that failed."""

    name: str
    verdict: str  # begins with "passed", "failed" or "skipped"
    failures: tuple[str, ...] = ()


def own_kernels(configuration: Configuration) -> bool:
    """Tell whether kernels are compiled for another processor."""
    return "NUMBA_CPU_NAME" in configuration.variables


def run(configuration: Configuration, caches: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a module of Python; kernels compiled for another processor are kept in a folder of their own."""
    variables = configuration.variables
    cache = {"NUMBA_CACHE_DIR": str(caches / variables["NUMBA_CPU_NAME"])} if own_kernels(configuration) else {}
    environment = {**os.environ, **variables, **cache}
    command = sys.executable, "-m", *command
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def same_bits(caches: Path) -> Outcome:
    """Tell whether every kernel gives the same bits when it is compiled and when it is loaded."""
    afresh = Configuration("compiled and loaded", {"NUMBA_CACHE_DIR": str(caches / "afresh")})
    first, later = (run(afresh, caches, "tests.kernels.bits") for _ in range(2))
    same = first.returncode == later.returncode == 0 and first.stdout == later.stdout
    return Outcome(afresh.name, "passed: the same bits" if same else "failed: other bits")


def outcome_of(configuration: Configuration, caches: Path, arguments: Iterable[str]) -> Outcome:
    """Run the tests under one configuration."""
    if configuration.missing:
        return Outcome(configuration.name, f"skipped: {configuration.missing}")
    done = run(configuration, caches, "pytest", "-q", "-p", "no:cacheprovider", *arguments)
    summary = (done.stdout.strip() or done.stderr.strip() or "nothing was run").splitlines()[-1]
    failures = re.findall(r"^(?:FAILED|ERROR) .*", done.stdout, re.MULTILINE)
    verdict = "failed" if done.returncode else "passed"
    return Outcome(configuration.name, f"{verdict}: {summary.strip('= ')}", tuple(failures))


def shared(configurations: Iterable[Configuration], jobs: int) -> tuple[int, int]:
    """Return how many configurations run at once, and how many processes each has.

    Examples
    --------
    >>> shared(ALL[:6], 2), shared(ALL[:6], 16)
    ((2, 1), (6, 3))
    """
    at_once = min(jobs, max(1, sum(not configuration.missing for configuration in configurations)))
    return at_once, -(-jobs // at_once)


def outcomes(configurations: list[Configuration], jobs: int, arguments: list[str]) -> Iterator[Outcome]:
    """Yield what comes of each configuration, as soon as it is known.

    BLAS has one thread where a configuration says nothing else: more, in as many processes as there are cores, would
    be in each other's way. Most configurations share their kernels, which are compiled once before.
    """
    at_once, processes = shared(configurations, jobs)
    workers = ["-n", str(processes), "--dist", "worksteal"] if _installed("pytest-xdist") else []
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(at_once) as pool:
        caches = Path(folder)
        compiled = pool.submit(run, AS_IT_IS, caches, "tests.kernels.bits")

        def with_kernels(configuration: Configuration) -> Outcome:
            if not (own_kernels(configuration) or configuration.missing):
                compiled.result()
            variables = {**ONE_THREAD.variables, **configuration.variables}
            return outcome_of(configuration._replace(variables=variables), caches, [*workers, *arguments])

        found = [pool.submit(same_bits, caches)]
        found += [pool.submit(with_kernels, one) for one in sorted(configurations, key=own_kernels, reverse=True)]
        for one in as_completed(found):
            yield one.result()


def _installed(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def machine() -> str:
    """Return on what this was run: processor and versions."""
    names = Path("/proc/cpuinfo")
    found = re.search(r"model name\s*: (.*)", names.read_text()) if names.exists() else None
    packages = [f"{name} {_installed(name)}" for name in ("numpy", "scipy", "numba")]
    processor = found.group(1) if found else platform.processor()
    return f"{processor}, {os.cpu_count()} cores; " + ", ".join([f"Python {platform.python_version()}", *packages])


def table(found: Iterable[Outcome]) -> str:
    """Return a line for each configuration, in the order in which they are listed, and below it what failed.

    Examples
    --------
    >>> print(table([Outcome("BLAS of Zen", "failed: 1 failed", ("FAILED a.py::b",)), Outcome("as it is", "passed")]))
    as it is     passed
    BLAS of Zen  failed: 1 failed
    <BLANKLINE>
    BLAS of Zen:
    FAILED a.py::b
    """
    order = [configuration.name for configuration in ALL]
    found = sorted(found, key=lambda one: order.index(one.name) if one.name in order else len(order))
    width = max(len(one.name) for one in found)
    lines = [f"{one.name:{width}}  {one.verdict}" for one in found]
    for one in found:
        lines += ["", f"{one.name}:", *one.failures] if one.failures else []
    return "\n".join(lines)


def main(words: list[str]) -> int:
    """Run the tests under every configuration, print a table, and return 1 if any failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.portability", description="All else is for pytest.")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="processes at once, of all configurations"
    )
    parser.add_argument("--only", action="append", choices=[one.name for one in ALL], help="a configuration")
    parser.add_argument("--write", type=Path, help="a file for the table")
    options, arguments = parser.parse_known_args(words)
    chosen = [one for one in ALL if not options.only or one.name in options.only]
    began, found = time.perf_counter(), []
    for one in outcomes(chosen, options.jobs, arguments):
        found.append(one)
        print(f"{time.perf_counter() - began:5.0f} s  {one.name}: {one.verdict}", *one.failures, sep="\n", flush=True)
    said = f"{machine()}; one BLAS thread where nothing else is said\n\n{table(found)}\n"
    print(f"\n{said}", end="")
    if options.write:
        command = shlex.join(["python", "-m", "tests.portability", *words])
        options.write.write_text(f"{command}: {time.perf_counter() - began:.0f} s\n{said}", encoding="utf-8")
    return int(any(one.verdict.startswith("failed") for one in found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
