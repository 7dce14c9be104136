"""Files are data: mutated ones are refused by name, nothing in them runs, and a kill during a write loses nothing."""

from __future__ import annotations

import importlib.util
import io
import json
import os
import random
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest

import frankwolfe as fw
from frankwolfe.datasets.archives import DatasetError, unpack

ROOT = Path(__file__).parent.parent


def harness(name: str):
    """Load a benchmark as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "benchmarks" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_mutated_files_are_refused_and_run_nothing() -> None:
    """The small form of benchmarks/fuzz.py, in a process of its own: its audit hook would stay with us."""
    code = (
        "from benchmarks import fuzz\n"
        "lines = []\n"
        "found = fuzz.measure(inputs=700, seed=7, say=lines.append)\n"
        "assert found['bars'][0]['value'] == 0, '\\n'.join(lines)\n"
        "assert all(row[2] > 0 for row in found['rows']), found['rows']\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, timeout=300)


def test_the_harness_sees_what_it_looks_for(tmp_path: Path) -> None:
    """A reader that crashes, one that hangs and one that writes are all found out."""
    code = (
        "import random, time; from benchmarks import fuzz\n"
        "fuzz.SECONDS = 0.05\n"
        "watch = fuzz.Watch()\n"
        "def crash(raw): raise KeyError\n"
        "def hang(raw): time.sleep(0.2)\n"
        f"def write(raw): open({str(tmp_path / 'x')!r}, 'wb').close()\n"
        "def fine(raw): raise ValueError\n"
        "for read, end in ((crash, 'crash'), (hang, 'hang'), (write, 'forbidden'), (fine, 'refused')):\n"
        "    reader = fuzz.Reader(lambda raw: None, [b'abc'], (ValueError,), [fuzz.mutated])\n"
        "    reader.seeds, reader.read = [b'abc'], read\n"
        "    reader.errors = (ValueError,)\n"
        "    warm = reader.read\n"
        "    reader.read = lambda raw, warm=warm: None if raw == b'abc' else warm(raw)\n"
        "    ends, _ = fuzz.attack(reader, 20, random.Random(0), watch)\n"
        "    assert ends[end] > 0, (end, ends)\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, timeout=300)


def test_a_changed_checkpoint_is_refused(tmp_path: Path) -> None:
    """Even with the archive's own checksums put right."""
    f, path = fw.LeastSquares(np.eye(3), np.ones(3)), tmp_path / "run.npz"
    fw.minimize(f, fw.L2Ball(1.0), method="afw", max_iter=3, tol=0, checkpoint=fw.Checkpoint(path))
    with np.load(path, allow_pickle=False) as file:
        parts = {name: file[name] for name in file.files}
    name = next(n for n in parts if n != "header" and parts[n].dtype == float and parts[n].size > 2)
    parts[name] = parts[name] + 1e-9
    np.savez(path, **parts)
    with pytest.raises(fw.CheckpointError, match="has been changed"):
        fw.minimize(f, fw.L2Ball(1.0), method="afw", max_iter=5, tol=0, checkpoint=fw.Checkpoint(path))


def test_a_small_file_cannot_ask_for_much_memory(tmp_path: Path) -> None:
    """A compressed member (a bomb) is refused unread."""
    path = tmp_path / "run.npz"
    np.savez_compressed(path, header=np.zeros(10**6, np.uint8))
    with pytest.raises(fw.CheckpointError, match="compressed"):
        fw.Checkpoint(path).load("x", lambda v: v)


def test_a_pickle_is_never_opened(tmp_path: Path) -> None:
    path, witness = tmp_path / "run.npz", tmp_path / "witness"

    class Trap:
        def __reduce__(self):
            return (Path.touch, (witness,))

    np.savez(path, header=np.frombuffer(json.dumps({}).encode(), np.uint8), a0=np.array([Trap()], dtype=object))
    with pytest.raises(fw.CheckpointError):
        fw.Checkpoint(path).load("x", lambda v: v)
    assert not witness.exists()


@pytest.mark.parametrize("name", ["../escape.txt", "/tmp/escape.txt", "a/../../escape.txt", "..\\escape.txt"])
def test_members_of_archives_cannot_escape(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Archives are unpacked in memory: a member's name is never a place to write to."""
    monkeypatch.chdir(tmp_path)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(name, b"+1 1:1\n")
    before = set(tmp_path.rglob("*")) | set(tmp_path.parent.glob("*"))
    assert unpack(packed.getvalue(), "f.zip") == b"+1 1:1\n"
    with pytest.raises(DatasetError):
        unpack(packed.getvalue(), "f.zip", member="u.data")
    assert set(tmp_path.rglob("*")) | set(tmp_path.parent.glob("*")) == before
    assert not Path("/tmp/escape.txt").exists()


WRITER = """
import os, sys
import numpy as np
from frankwolfe.checkpoint import Checkpoint
from frankwolfe.estimators.model_files import write_model
from frankwolfe.files import replacing

def pair(i):
    return np.full(60_000, float(i))

while True:  # a child of our own for every kill: forked, so that 200 of them take seconds
    command = sys.stdin.readline().split()
    if not command:
        break
    kind, path, i = command[0], command[1], int(command[2])
    child = os.fork()
    if child == 0:
        while True:
            i += 1
            if kind == "checkpoint":
                Checkpoint(path).save((pair(i), i), "same")
            elif kind == "model":
                write_model(path, "test", {"i": i}, {"a": pair(i)})
            else:
                with replacing(path) as file:
                    np.save(file, pair(i))
    print(child, flush=True)
    os.waitpid(child, 0)
    print("gone", flush=True)
"""


@pytest.mark.slow
def test_200_kills_during_a_write_leave_the_old_file_whole(tmp_path: Path) -> None:
    """Processes that do nothing but write are killed at random moments; what is there is always complete."""
    from frankwolfe.estimators.model_files import read_model

    rng = random.Random(0)
    writer = subprocess.Popen([sys.executable, "-c", WRITER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert writer.stdin is not None
    assert writer.stdout is not None
    seen = {}
    for kill in range(200):
        kind = ("checkpoint", "model", "cache")[kill % 3]
        path = tmp_path / f"{kind}.npz"
        writer.stdin.write(f"{kind} {path} {seen.get(kind, 0)}\n")
        writer.stdin.flush()
        child = int(writer.stdout.readline())
        deadline = time.monotonic() + 60
        while not path.exists() and time.monotonic() < deadline:
            time.sleep(0.001)
        time.sleep(rng.random() * 0.03)
        os.kill(child, signal.SIGKILL)
        assert writer.stdout.readline() == "gone\n"
        if kind == "checkpoint":
            array, i = fw.Checkpoint(path).load("same", lambda v: v)
        elif kind == "model":
            header, arrays = read_model(path)
            array, i = arrays["a"], header["i"]
        else:
            array = np.load(path)
            i = array[0]
        assert array.size == 60_000
        assert np.all(array == i)
        assert i >= seen.get(kind, 0)
        seen[kind] = int(i)
    writer.stdin.close()
    assert writer.wait(timeout=300) == 0
    writer.stdout.close()
    assert min(seen.values()) > 2, "the writers have hardly written"
