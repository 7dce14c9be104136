"""Damaged and hostile files: every reader must refuse them with its own error, in good time, and run nothing.

    python -m benchmarks.fuzz [--inputs 100000] [--seed 0] [--out benchmarks/results/fuzz.txt]

Inputs are mutations of good files: bits flipped, pieces cut out, doubled, swapped or spliced in from another file,
numbers made absurd; and inside archives, where a plain mutation would only meet the checksum, members are mutated and
the archive is put together again with checksums that fit. An audit hook watches for anything that is not reading.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import math
import random
import resource
import signal
import sys
import tempfile
import time
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import frankwolfe as fw
from benchmarks.report import command_line, held_to
from frankwolfe import checkpoint
from frankwolfe.datasets.archives import DatasetError, unpack
from frankwolfe.datasets.libsvm import parse_libsvm
from frankwolfe.datasets.ratings import parse_ratings
from frankwolfe.datasets.readers import parse_images, parse_labels
from frankwolfe.problem import Problem
from frankwolfe.run import Run
from frankwolfe.stopping import Tolerance

SECONDS = 10.0  # more than that on a file of a few kilobytes is a hang
MEMORY = 6 << 30
FORBIDDEN = {
    *("os.system", "subprocess.Popen", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty", "pickle.find_class"),
    *("socket.connect", "socket.bind", "os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.symlink", "os.link"),
    *("os.chmod", "os.chown", "shutil.rmtree", "shutil.unpack_archive", "webbrowser.open", "os.kill", "os.putenv"),
}
WEIGHTS = {  # of the readers among the inputs
    "checkpoint": 12,
    "forged checkpoint": 6,
    "model": 14,
    "LIBSVM": 25,
    "CSV": 15,
    "idx": 25,
    "ratings": 10,
    "archives": 10,
}
TOKENS = [
    *(b"nan", b"inf", b"-1", b"0", b"99999999999999999999", b"1e999", b"-0", b"1e-400", b"2147483648", b"0x10", b"1_0"),
    *(b"\x00", b"\xff\xfe", b"\r", b"\n\n", b'"', b"'", b",", b"\t", b":", b"#", b"{", b"}", b"[", b"]", b"\\"),
    *(
        b"__import__('os').system('true')",
        b"cos\nsystem\n(S'true'\ntR.",
        b"../../etc/passwd",
        b"\xe2\x80\xae",
        b" " * 50,
    ),
]


class Watch:
    """An audit hook that, while it is armed, notes what a reader may not do."""

    def __init__(self) -> None:
        self.armed, self.seen = False, []
        sys.addaudithook(self._hook)

    def _hook(self, event: str, args: tuple[Any, ...]) -> None:
        if not self.armed:
            return
        writes = event == "open" and isinstance(args[1], str) and any(c in args[1] for c in "wxa+")
        if event in FORBIDDEN or writes:
            self.seen.append((event, str(args)[:200]))


def mutated(seed: bytes, other: bytes, rng: random.Random) -> bytes:
    """Return a file with one to four things wrong with it."""
    data = bytearray(seed)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        size = len(data)
        i, j = sorted((rng.randrange(size + 1), rng.randrange(size + 1)))
        kind = rng.randrange(9)
        if kind == 0 and size:
            data[rng.randrange(size)] ^= 1 << rng.randrange(8)
        elif kind == 1 and size:
            data[rng.randrange(size)] = rng.randrange(256)
        elif kind == 2:
            del data[i:]
        elif kind == 3:
            del data[i : min(j, i + 64)]
        elif kind == 4:
            data[i:i] = data[i : min(j, i + 256)]
        elif kind == 5:
            data[i:i] = rng.choice(TOKENS)
        elif kind == 6:
            token = rng.choice(TOKENS)
            data[i : i + len(token)] = token
        elif kind == 7:
            data[i : i + 8] = rng.choice((0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**63, 2**64 - 1)).to_bytes(8, "big")
        else:
            k = rng.randrange(len(other) + 1)
            data[i:j] = other[k : k + (j - i)]
    return bytes(data)


def repacked(seed: bytes, other: bytes, rng: random.Random) -> bytes:
    """Return an archive with one member mutated, left out, renamed or doubled, and every checksum right."""
    source = zipfile.ZipFile(io.BytesIO(seed))
    members = [(info.filename, source.read(info)) for info in source.infolist()]
    i, kind = rng.randrange(len(members)), rng.randrange(8)
    name, content = members[i]
    if kind == 0:
        del members[i]
    elif kind == 1:
        members[i] = (rng.choice(("../x", "/tmp/x", "a" * 300, name[::-1], "C:\\x", "header.npy")), content)
    elif kind == 2:
        members.append((name, mutated(content, other, rng)))
    else:
        members[i] = (name, mutated(content, content, rng))
    out = io.BytesIO()
    method = rng.choice((zipfile.ZIP_STORED,) * 5 + (zipfile.ZIP_DEFLATED,))
    with warnings.catch_warnings(), zipfile.ZipFile(out, "w", method) as archive:
        warnings.simplefilter("ignore")  # of a name twice
        for name, content in members:
            archive.writestr(name, content)
    return out.getvalue()


def resealed(seed: bytes, rng: random.Random) -> bytes:
    """Return a checkpoint whose tree is changed and whose seal fits again: what a hostile writer would make."""
    with np.load(io.BytesIO(seed), allow_pickle=False) as file:
        header = json.loads(bytes(file["header"]))
        arrays = [file[f"a{i}"] for i in range(len(file.files) - 1)]
    nodes: list[tuple[Any, Any]] = []

    def collect(node: Any) -> None:
        for key, child in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
            nodes.append((node, key))
            collect(child)

    collect(header["run"])
    for _ in range(rng.choice((1, 1, 2, 5))):
        node, key = rng.choice(nodes)
        donor, place = rng.choice(nodes)
        strange = (
            None,
            True,
            -1,
            10**30,
            "x",
            [],
            {},
            {"array": 99},
            {"again": 7},
            {"float": "zz"},
            {"type": "os.system"},
        )
        node[key] = rng.choice((*strange, json.loads(json.dumps(donor[place]))))
    if arrays and rng.random() < 0.3:
        i = rng.randrange(len(arrays))
        arrays[i] = rng.choice((arrays[i][:-1] if arrays[i].ndim else arrays[i], np.zeros((0, 3)), np.array("text")))
    try:
        header["seal"] = checkpoint._seal(header["run"], arrays)
    except (TypeError, ValueError, RecursionError):
        return seed
    out = io.BytesIO()
    parts: dict[str, Any] = {f"a{i}": a for i, a in enumerate(arrays)}
    np.savez(out, header=np.frombuffer(json.dumps(header).encode(), np.uint8), **parts)
    return out.getvalue()


class Reader:
    """A reader, its good files, and the errors it may raise."""

    def __init__(
        self, read: Callable[[bytes], Any], seeds: list[bytes], errors: tuple[type, ...], mutants: list
    ) -> None:
        self.read, self.seeds, self.errors, self.mutants = read, seeds, errors, mutants

    def make(self, rng: random.Random) -> bytes:
        return rng.choice(self.mutants)(rng.choice(self.seeds), rng.choice(self.seeds), rng)


def readers(folder: Path) -> dict[str, Reader]:
    """Return every reader of files that the package has."""
    found = _checkpoints(folder)
    A = np.round(np.random.default_rng(0).standard_normal((12, 6)), 3)
    lines = [f"{1 if i % 2 else -1} " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(row)) for i, row in enumerate(A)]
    svm = "\n".join(lines).encode() + b"\n"
    found["LIBSVM"] = Reader(
        lambda raw: parse_libsvm(raw, "f.svm"), [svm, b"# c\n2 1:1e3 7:.5\r\n3\n"], (DatasetError,), [mutated]
    )
    images = b"\x00\x00\x08\x03" + b"".join(n.to_bytes(4, "big") for n in (5, 4, 4)) + bytes(range(80))
    labels = b"\x00\x00\x08\x01\x00\x00\x00\x09" + bytes(range(9))

    def idx(raw: bytes) -> Any:
        return parse_labels(raw, "f") if raw[3:4] == b"\x01" else parse_images(raw, "f")

    found["idx"] = Reader(idx, [images, labels], (DatasetError,), [mutated])
    ratings = b"".join(b"%d\t%d\t%d\t87\n" % (1 + i % 4, 1 + i // 4, 1 + i % 5) for i in range(16))
    found["ratings"] = Reader(lambda raw: parse_ratings(raw, "f", (4, 4)), [ratings], (DatasetError,), [mutated])
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a/u.data", ratings)
    archives = [
        gzip.compress(svm),
        packed.getvalue(),
        __import__("bz2").compress(svm),
        __import__("lzma").compress(svm),
    ]
    found["archives"] = Reader(lambda raw: unpack(raw, "f", limit=1 << 20), archives, (DatasetError,), [mutated])
    return found | _models(folder) | _tables(folder)


def _checkpoints(folder: Path) -> dict[str, Reader]:
    rng = np.random.default_rng(0)
    A = rng.standard_normal((20, 5))
    f, path = fw.Logistic(A, A[:, 0] > 0), folder / "run.npz"
    seeds, save = [], fw.Checkpoint(path)
    for method in ("afw", "afw", "fw", "apgd"):  # read as the first: the others are donors
        path.unlink(missing_ok=True)
        fw.minimize(f, fw.L2Ball(1.0), method=method, max_iter=4, tol=0, checkpoint=save)
        seeds.append(path.read_bytes())

    def read(raw: bytes) -> None:
        path.write_bytes(raw)
        fw.minimize(f, fw.L2Ball(1.0), method="afw", max_iter=6, tol=0, checkpoint=_Reading(path))

    def restore(raw: bytes) -> None:
        # With a seal that fits, numbers are taken for what they say they are: look that nothing else happens.
        path.write_bytes(raw)
        problem = Problem(f, fw.L2Ball(1.0))
        method = fw.AcceleratedFrankWolfe()
        run = Run(problem, method.init(problem, problem.start(None, False)), Tolerance(0.0), 1)
        with np.load(path) as parts:
            identity = json.loads(bytes(parts["header"]))["identity"]
        run.restore(fw.Checkpoint(path).load(identity, f.dual))

    return {
        "checkpoint": Reader(read, seeds, (fw.CheckpointError,), [mutated, repacked]),
        "forged checkpoint": Reader(restore, seeds[:1], (fw.CheckpointError,), [lambda a, b, rng: resealed(a, rng)]),
    }


class _Reading(fw.Checkpoint):
    """A checkpoint that is only read."""

    def save(self, run: Any, identity: str, choices: Any = None) -> None:
        pass


def _models(folder: Path) -> dict[str, Reader]:
    from frankwolfe.estimators import FrankWolfeClassifier, FrankWolfeRegressor, MatrixCompleter
    from frankwolfe.estimators.linear_files import LinearModel, read_linear, write_linear
    from frankwolfe.estimators.model_files import ModelError

    path, seeds = folder / "model.npz", []
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 4)), np.arange(30) % 3
    for fitted in (FrankWolfeClassifier(tol=1e-2).fit(X, y), FrankWolfeRegressor(tol=1e-2).fit(X, X[:, 0])):
        write_linear(LinearModel(fitted, "y"), path)
        seeds.append(path.read_bytes())
    rows, cols = np.divmod(np.arange(0, 40, 2), 8)
    MatrixCompleter(radius=2.0, tol=1e-2).fit(rows, cols, 1.0 + (rows + cols) % 5).save(path)
    seeds.append(path.read_bytes())

    def read(raw: bytes) -> None:
        path.write_bytes(raw)
        try:
            read_linear(path).estimator.predict(X)
        except ModelError:
            MatrixCompleter.load(path).predict([0, 1], [0, 1])

    return {"model": Reader(read, seeds, (ModelError,), [mutated, repacked])}


def _tables(folder: Path) -> dict[str, Reader]:
    from frankwolfe.cli.tables import Table

    path = folder / "table.csv"
    text = b"user,item,rating,when\n" + b"".join(b"u%d,%d,%d.5,x y\n" % (i % 4, i, i % 5) for i in range(12))
    plain = b"1;2;3\n4;5;6\n7;8;9\n"
    quoted = b'name\tvalue\n"a ""b""\nc"\t1\n"d"\t2\n'

    def read(raw: bytes) -> None:
        path.write_bytes(raw)
        table = Table(path, header=None)
        for name in table.names:
            table.ids(name)
            table.numbers(name, "choose another column")

    return {"CSV": Reader(read, [text, plain, quoted], (DatasetError,), [mutated])}


def attack(reader: Reader, count: int, rng: random.Random, watch: Watch) -> tuple[Counter, list[str]]:
    """Feed a reader with mutants; return how they ended, and a line for each that ended badly."""

    def late(number: int, frame: Any) -> None:
        raise TimeoutError("hang")

    for seed in reader.seeds:  # whatever is imported on first use is imported now
        with contextlib.suppress(reader.errors):
            reader.read(seed)
    ends: Counter = Counter()
    faults: list[str] = []
    signal.signal(signal.SIGALRM, late)
    for _ in range(count):
        raw = reader.make(rng)
        watch.seen.clear()
        signal.setitimer(signal.ITIMER_REAL, SECONDS)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                watch.armed = True
                reader.read(raw)
            ends["accepted"] += 1
        except reader.errors:
            ends["refused"] += 1
        except TimeoutError:
            ends["hang"] += 1
            faults.append(f"hang on {raw[:120]!r}")
        except BaseException as error:
            ends["crash"] += 1
            faults.append(f"{type(error).__name__}: {str(error)[:150]} on {raw[:400]!r}")
        finally:
            watch.armed = False
            signal.setitimer(signal.ITIMER_REAL, 0)
        forbidden = [event for event in watch.seen if not _our_own(event)]
        if forbidden:
            ends["forbidden"] += 1
            faults.append(f"did {forbidden[0]} on {raw[:120]!r}")
    return ends, faults


def _our_own(event: tuple[str, str]) -> bool:
    """Tell whether an event is the harness writing the file to be read."""
    return event[0] == "open" and any(name in event[1] for name in ("run.npz", "model.npz", "table.csv"))


def measure(quick: bool = False, inputs: int = 100_000, seed: int = 0, say: Callable[[str], None] = print) -> dict:
    """Return a row for each reader: inputs, refused, accepted, crashes, hangs, forbidden acts."""
    inputs = 3_000 if quick else inputs
    before = resource.getrlimit(resource.RLIMIT_AS)
    watch, rows, bad = Watch(), [], []
    with tempfile.TemporaryDirectory() as folder:
        attacked = readers(Path(folder))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, before[1]))
        try:
            for name, reader in attacked.items():
                began = time.perf_counter()
                count = math.ceil(inputs * WEIGHTS[name] / sum(WEIGHTS.values()))
                ends, faults = attack(reader, count, random.Random(f"{seed} {name}"), watch)
                rows.append(
                    [name, count, *(ends[end] for end in ("refused", "accepted", "crash", "hang", "forbidden"))]
                )
                bad += faults
                say(f"{name:<11} {count} inputs in {time.perf_counter() - began:.0f} s: {dict(ends)}")
        finally:
            resource.setrlimit(resource.RLIMIT_AS, before)
    return {
        "title": "Mutated files",
        "columns": ["reader", "inputs", "refused", "accepted", "crashes", "hangs", "forbidden acts"],
        "rows": rows,
        "bars": [held_to("crashes, hangs and forbidden acts", len(bad), 0, "<=", "")],
        "notes": [f"{sum(row[1] for row in rows)} inputs, seed {seed}", *bad[:50]],
    }


if __name__ == "__main__":
    command_line(measure, inputs=(100_000, "how many in all (default 100000)"), seed=(0, "of the mutations"))
