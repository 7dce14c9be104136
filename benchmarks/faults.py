"""Runs in which workers are killed, slowed down, or the client dies: do they finish, and with the same answer?

    python -m benchmarks.faults [--quick] [--out benchmarks/results/faults.txt]

A run is accelerated Frank-Wolfe on logistic regression over a Dask cluster of two worker processes, whose rows come
from a function that makes them afresh (as a file would be read again). The moment of every fault is random over the
whole run, loading included.
"""

from __future__ import annotations

import logging
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import dask
import numpy as np

import frankwolfe as fw
from benchmarks.report import command_line, held_to
from distributed import Client, LocalCluster

ROWS, COLUMNS, BLOCKS, STEPS, TOL = 6_000, 20, 6, 40, 1e-10
COUNTS = {"one worker killed": 30, "two workers killed": 10, "a slow worker": 10, "the client killed": 5}


def block(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((ROWS // BLOCKS, COLUMNS))
    return A, np.sign(A @ np.linspace(-1, 1, COLUMNS) + rng.standard_normal(len(A)))


def solve(checkpoint: fw.Checkpoint | None = None) -> np.ndarray:
    """Solve on the current client, from the making of the data on."""
    pairs = [dask.delayed(block, nout=2, pure=False)(seed) for seed in range(BLOCKS)]
    objective = fw.Logistic([A for A, _ in pairs], [b for _, b in pairs])
    return fw.minimize(objective, fw.L2Ball(2.0), method="afw", tol=0, max_iter=STEPS, checkpoint=checkpoint).x


@contextmanager
def at_random_moments(faults: list[Callable[[], None]], duration: float, rng: random.Random) -> Any:
    """Let each fault happen at a moment of its own while the block runs; yield how many have."""
    struck: list[float] = []
    timers = []
    for fault in faults:
        moment = rng.uniform(0, duration)
        timers.append(threading.Timer(moment, lambda fault=fault, moment=moment: (fault(), struck.append(moment))))
    for timer in timers:
        timer.start()
    try:
        yield struck
    finally:
        for timer in timers:
            timer.cancel()
            timer.join()


class Cluster:
    """Two worker processes that their nannies restart; the whole is made anew where a nanny has not within a minute."""

    def __init__(self) -> None:
        self._start()

    def _start(self) -> None:
        # On a busy machine a worker takes longer to come back than the 15 s after which a LocalCluster forgets it.
        dask.config.set({"distributed.deploy.lost-worker-timeout": "600s"})
        self.local = LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=logging.CRITICAL
        )
        self.client = Client(self.local)

    def workers(self) -> list[int]:
        """Return the process ids of the workers, once both are well."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                found = list(self.client.run(os.getpid).values())
            except (OSError, ValueError):  # one of them has just died
                found = []
            if len(set(found)) == 2:
                return found
            time.sleep(0.2)
        self.close()
        self._start()
        return self.workers()

    def close(self) -> None:
        self.client.close()
        self.local.close()


def kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def slow_down(pid: int, stop: threading.Event) -> None:
    """Stop a process four fifths of the time."""
    while not stop.is_set():
        try:
            os.kill(pid, signal.SIGSTOP)
            time.sleep(0.08)
            os.kill(pid, signal.SIGCONT)
        except ProcessLookupError:
            return
        time.sleep(0.02)


def with_slow_worker(pid: int) -> np.ndarray:
    stop = threading.Event()
    thread = threading.Thread(target=slow_down, args=(pid, stop))
    thread.start()
    try:
        return solve()
    finally:
        stop.set()
        thread.join()


def with_killed_client(address: str, moment: float, folder: Path) -> np.ndarray:
    """Solve in a process of its own, kill it, and let a second one go on from the checkpoint."""
    code = "import sys; from benchmarks.faults import client_process; client_process(*sys.argv[1:])"
    command = [sys.executable, "-c", code, address, str(folder)]
    first = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while not (folder / "run.npz").exists() and time.monotonic() < deadline and first.poll() is None:
        time.sleep(0.01)  # python itself takes a second to start: count from the first checkpoint
    time.sleep(moment)
    first.kill()
    first.wait()
    subprocess.run(command, check=True, timeout=300, stdout=subprocess.DEVNULL)
    return np.load(folder / "x.npy")


def client_process(address: str, folder: str) -> None:
    with Client(address, set_as_default=True):
        np.save(Path(folder) / "x.npy", solve(fw.Checkpoint(Path(folder) / "run.npz", every=0.1)))


def measure(quick: bool = False) -> dict:
    """Return the table of faults, runs, runs that finished, and the largest error."""
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    warnings.simplefilter("ignore")
    rng = random.Random(0)
    rows, good, asked = [], 0, 0
    cluster = Cluster()
    try:
        cluster.workers()
        solve()  # first imports on the workers
        duration = np.inf
        for _ in range(3):
            began = time.perf_counter()
            answer = solve()
            duration = min(duration, time.perf_counter() - began)
        print(f"undisturbed: {duration:.2f} s")
        for fault, count in COUNTS.items():
            runs = max(1, count // 10) if quick else count
            finished, within, worst = 0, 0, 0.0
            i = 0
            while i < runs:
                pids = cluster.workers()
                rng.shuffle(pids)
                began = time.perf_counter()
                try:
                    if fault == "a slow worker":
                        x = with_slow_worker(pids[0])
                    elif fault == "the client killed":
                        with tempfile.TemporaryDirectory() as folder:
                            x = with_killed_client(cluster.local.scheduler_address, rng.uniform(0, 1.0), Path(folder))
                    else:
                        doomed = pids[: 1 if fault.startswith("one") else 2]
                        with at_random_moments([lambda pid=pid: kill(pid) for pid in doomed], duration, rng) as struck:
                            x = solve()
                            late = len(struck) < len(doomed)
                        if late:  # the run was over before the fault: it proves nothing
                            continue
                    finished += 1
                    error = float(np.abs(x - answer).max() / np.abs(answer).max())
                except Exception as failure:
                    error = np.inf
                    print(f"  {type(failure).__name__}: {failure}")
                i += 1
                worst = max(worst, error)
                within += error <= TOL
                print(f"  {fault}, run {i}: {time.perf_counter() - began:.1f} s, error {error:.1e}", flush=True)
            rows.append([fault, runs, finished, within, worst])
            good, asked = good + within, asked + runs
    finally:
        cluster.close()
    return {
        "title": "Faults on a cluster of two worker processes",
        "columns": ["fault", "runs", "finished", "within 1e-10", "largest relative error"],
        "rows": rows,
        "bars": [held_to("runs with the undisturbed answer", good, asked, unit="")],
        "notes": [f"{ROWS} x {COLUMNS} rows in {BLOCKS} blocks, {STEPS} steps, {duration:.2f} s undisturbed"],
    }


if __name__ == "__main__":
    command_line(measure)
