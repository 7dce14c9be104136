"""Clusters in operation: lost workers, limits, Ctrl-C, checkpoints on another cluster, logs."""

from __future__ import annotations

import logging
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import frankwolfe as fw
from frankwolfe.rows.disk_stream import stream

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

D = 7


def rows(seed: int, slowly: float = 0.0) -> np.ndarray:
    time.sleep(slowly)
    return np.random.default_rng(seed).standard_normal((60, D))


def problem(blocks: int = 4) -> fw.Objective:
    b = np.concatenate([np.sign(rows(seed)[:, 0] + 0.3) for seed in range(blocks)])
    return fw.Logistic([dask.delayed(rows, pure=False)(seed) for seed in range(blocks)], b)


def solve(objective: fw.Objective, **options) -> fw.Result:
    return fw.minimize(objective, fw.L2Ball(3.0), **({"method": "afw", "tol": 0, "max_iter": 30} | options))


@contextmanager
def two_processes(settings: dict[str, object]) -> Iterator[Any]:
    """Yield a client of two workers that can be killed; in the end Dask may tire of waiting for one that just was."""
    with dask.config.set(settings):
        cluster = distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=logging.CRITICAL
        )
        try:
            with distributed.Client(cluster) as client:
                yield client
        finally:
            with suppress(TimeoutError):
                cluster.close()


@pytest.fixture(scope="module")
def processes():
    """A client of two worker processes, which may take their time to come back."""
    with two_processes({"distributed.deploy.lost-worker-timeout": "600s"}) as client:
        yield client


@pytest.mark.slow
def test_losing_workers_changes_nothing(processes) -> None:
    """One worker is killed during a run, then both at once; the answers are the undisturbed one."""
    undisturbed = solve(problem()).x
    for doomed in (1, 2):
        processes.wait_for_workers(2, timeout=300)
        pids = list(processes.run(os.getpid).values())[:doomed]
        struck = []

        def strike(iteration: fw.Iteration, pids=pids, struck=struck) -> None:
            if iteration.k == 5:
                for pid in pids:
                    os.kill(pid, signal.SIGKILL)
                    struck.append(pid)

        x = solve(problem(), callback=strike).x
        assert len(struck) == doomed
        assert np.abs(x - undisturbed).max() <= 1e-10 * np.abs(undisturbed).max()


@pytest.mark.slow
def test_workers_that_dask_gives_up_are_had_again(monkeypatch: pytest.MonkeyPatch, caplog) -> None:
    """A death ends a task's attempts, and lost workers are not waited for: the run goes on, and says why it waited."""
    monkeypatch.setattr("frankwolfe.distributed.cluster.PATIENCE", 2.0)
    hard = {"distributed.scheduler.allowed-failures": 0, "distributed.deploy.lost-worker-timeout": "100ms"}
    with two_processes(hard) as client:
        objective = problem()
        methods = "afw", fw.AcceleratedFrankWolfe(line_search=True)
        for method, undisturbed in [(m, solve(objective, method=m, max_iter=12).x) for m in methods]:
            pids = list(client.run(os.getpid).values())

            def strike(iteration: fw.Iteration, pids=pids) -> None:
                if iteration.k == 5:
                    os.kill(pids[0], signal.SIGKILL)

            x = solve(objective, method=method, max_iter=12, callback=strike).x
            assert np.abs(x - undisturbed).max() <= 1e-10 * np.abs(undisturbed).max()
    assert "lost-worker-timeout" in caplog.text


def test_a_checkpoint_goes_on_on_another_cluster(client, tmp_path: Path) -> None:
    """Saved from three workers and four blocks; resumed from five blocks, and from disk."""
    save = fw.Checkpoint(tmp_path / "run.npz")
    A = np.concatenate([rows(seed) for seed in range(4)])
    b = np.sign(A[:, 0] + 0.3)
    np.save(tmp_path / "A.npy", A)
    once = solve(problem(), max_iter=24).x
    solve(problem(), max_iter=10, checkpoint=save)
    pieces = [dask.delayed(part) for part in np.array_split(A, 5)]
    resumed = solve(fw.Logistic(pieces, b), max_iter=17, checkpoint=save)
    assert resumed.n_iter == 17
    last = solve(fw.Logistic(stream(tmp_path / "A.npy", block_bytes=900), b), max_iter=24, checkpoint=save)
    assert np.allclose(last.x, once, rtol=1e-12)
    other = A.copy()
    other[100, 3] = np.nextafter(other[100, 3], 9)
    with pytest.raises(fw.CheckpointError, match="another problem"):
        solve(fw.Logistic([dask.delayed(part) for part in np.array_split(other, 5)], b), checkpoint=save)


def test_limits_and_interrupts_leave_a_checkpoint(client, tmp_path: Path) -> None:
    save = fw.Checkpoint(tmp_path / "run.npz", every=1000)
    limited = solve(problem(), max_iter=10**6, time_limit=0.4, checkpoint=save)
    assert limited.status is fw.Status.TIME_LIMIT

    def press(iteration: fw.Iteration) -> None:
        if iteration.k == limited.n_iter + 3:
            os.kill(os.getpid(), signal.SIGINT)

    interrupted = solve(problem(), max_iter=10**6, checkpoint=save, callback=press)
    assert interrupted.status is fw.Status.INTERRUPTED
    assert interrupted.n_iter > limited.n_iter
    resumed = solve(problem(), max_iter=interrupted.n_iter + 3, checkpoint=save)
    assert np.array_equal(resumed.x, solve(problem(), max_iter=interrupted.n_iter + 3).x)


def test_throughput_of_every_worker_is_reported(client, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="frankwolfe.distributed"):
        objective = problem(blocks=6)
        solve(objective, max_iter=3)
    table = objective.parts.report()
    assert 1 <= len(table) <= 3  # on a busy machine the scheduler may give a worker nothing to do
    assert sum(row["rows"] for row in table.values()) >= 3 * 360
    assert all(row["rows_per_second"] > 0 and row["bytes_per_second"] > 0 for row in table.values())
    assert "360 rows x 7 columns in 6 blocks on 3 workers" in caplog.text
    assert " rows" in caplog.text.partition("holds ")[2]
    assert objective.note.count(" + ") == len(table) - 1
    assert objective.note.endswith("MB/s")


def test_a_slow_worker_changes_nothing(client) -> None:
    fast = problem()
    b = np.concatenate([np.sign(rows(seed)[:, 0] + 0.3) for seed in range(4)])
    slow = fw.Logistic([dask.delayed(rows, pure=False)(seed, 0.2 * (seed % 2)) for seed in range(4)], b)
    assert np.array_equal(solve(fast, max_iter=5).x, solve(slow, max_iter=5).x)


def test_tasks_carry_our_name(client) -> None:
    """The dashboard groups tasks by the first part of their key."""
    objective = problem()
    solve(objective, max_iter=2)
    seen = client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.task_prefixes))
    assert "frankwolfe-evaluation" in seen
