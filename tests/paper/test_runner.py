"""Processes side by side: the same numbers, progress, and nothing left behind after a kill."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from time import monotonic, sleep

import numpy as np
import pytest

from frankwolfe.paper.problems import Ball, Data
from frankwolfe.paper.reference import Reference
from frankwolfe.paper.runner import Results, run_tasks
from frankwolfe.paper.runs import Run
from frankwolfe.paper.store import Store

BALL = Ball("l2", 2.0)
TASKS = [Reference(Data("gaussian"), BALL), *(Run(Data("gaussian"), BALL, m, 30) for m in ("fw", "afw"))]


@pytest.mark.slow
def test_two_processes_find_what_one_finds(tmp_path):
    stores = [Store(tmp_path / str(jobs)) for jobs in (1, 2)]
    for jobs, store in zip((1, 2), stores, strict=True):
        assert run_tasks(TASKS, store, None, jobs, True) == len(TASKS)
        assert run_tasks(TASKS, store, None, jobs, True) == 0
    one, two = map(Results, stores)
    for task in TASKS:
        for column, values in one[task].table.items():
            if column != "time":
                np.testing.assert_array_equal(values, two[task][column])
        assert one[task].seconds > 0
    assert one.series(TASKS[2]).at(30) > 0


def test_progress_names_what_was_done(tmp_path, capsys):
    run_tasks(TASKS[:1], Store(tmp_path / "loud"), None, 1, False)
    said = capsys.readouterr().err
    assert "1/1" in said
    assert TASKS[0].name in said
    run_tasks(TASKS[:1], Store(tmp_path / "quiet"), None, 1, True)
    assert capsys.readouterr().err == ""


def children(pid: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except (OSError, IndexError):
                continue
            if parent == pid:
                found.append(int(entry.name))
    return found


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to see processes")
def test_a_kill_leaves_no_worker_and_nothing_half_finished(tmp_path):
    script = tmp_path / "long.py"
    script.write_text(
        textwrap.dedent(
            """
            import sys
            from frankwolfe.paper.problems import Ball, Data
            from frankwolfe.paper.runner import run_tasks
            from frankwolfe.paper.runs import Run
            from frankwolfe.paper.store import Store

            if __name__ == "__main__":
                tasks = [Run(Data("gaussian"), Ball("l2", 2.0), m, 10**7) for m in ("fw", "afw")]
                run_tasks(tasks, Store(sys.argv[1]), None, 2, True)
            """
        )
    )
    process = subprocess.Popen([sys.executable, str(script), str(tmp_path / "runs")], stderr=subprocess.DEVNULL)
    try:
        until = monotonic() + 60
        while len(children(process.pid)) < 3 and monotonic() < until:  # two workers and the tracker of semaphores
            sleep(0.2)
        sleep(2)
        workers = children(process.pid)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert len(workers) >= 2
    until = monotonic() + 30
    while any(map(_alive, workers)) and monotonic() < until:
        sleep(0.2)
    assert not any(map(_alive, workers))
    assert not list((tmp_path / "runs").glob("*.json"))


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return "Z" not in Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
