"""Shared by all tests: a repeatable hypothesis, real data where there is some, problems of every kind."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

os.environ.setdefault("MPLBACKEND", "Agg")
os.environ.setdefault("FRANKWOLFE_COMPILE", "always")  # tests of kernels do not fall to plain operations
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # else JAX takes the whole GPU from other libraries

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as shells have it for what runs in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile(
    "repeatable", derandomize=True, deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("repeatable")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes() -> None:
    """Keep each worker to one thread: BLAS waits by spinning, and takes the cores from the other workers."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of the real datasets; a test that asks for it is reported as skipped where there is none."""
    folder = os.environ.get("FRANKWOLFE_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("the real datasets are not here: set FRANKWOLFE_DATA to their folder")
    return Path(folder)
