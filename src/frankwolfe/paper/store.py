"""Finished pieces of work as plain files: what was asked (JSON) and what came out (JSON and CSV)."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import frankwolfe
from frankwolfe.files import replacing

FORMAT = 3
"""Raised whenever the meaning of a stored number changes; older files are then computed afresh."""


@dataclass(frozen=True)
class Outcome:
    """What a piece of work found: a few facts, columns of numbers, and the processor time that it took."""

    facts: dict[str, Any]
    table: dict[str, np.ndarray] = field(default_factory=dict)
    seconds: float = 0.0

    def __getitem__(self, column: str) -> np.ndarray:
        return self.table[column]


@dataclass(frozen=True)
class Task(ABC):
    """A piece of work: its settings decide its outcome, and nothing else does."""

    @property
    def name(self) -> str:
        """A short name for files and progress: the kind of work, and its settings."""
        settings = (str(value) for value in vars(self).values() if not isinstance(value, bool))
        return "-".join([type(self).__name__.lower(), *settings])

    @property
    def constants(self) -> Any:
        """What the outcome depends on beside the fields, as plain data."""
        return None

    @property
    def settings(self) -> dict[str, Any]:
        """Everything that the outcome depends on, as plain data."""
        return {"task": type(self).__name__, **asdict(self), "constants": self.constants}

    @abstractmethod
    def compute(self, directory: str | None) -> Outcome:
        """Do the work; `directory` is where the data are."""


def source_digest() -> str:
    """Return a digest of the code that numbers come from: everything but what draws, prints or tests.

    A version number alone would let runs of two states of the library stand side by side in one figure.
    """
    root = Path(frankwolfe.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        part = path.relative_to(root)
        if part.parts[0] not in _NOT_NUMBERS:
            digest.update(part.as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:12]


_NOT_NUMBERS = frozenset({"cli", "estimators", "paper", "plotting"})


class Store:
    """A folder of outcomes. Files are written whole or not at all: a kill at any moment loses only work in progress."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.source = source_digest()  # taken once: worker processes get it with the store
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)

    def stem(self, task: Task) -> str:
        """Return the name of a task's files: readable, with a digest of settings, version, source and format."""
        asked = {"format": FORMAT, "version": frankwolfe.__version__, "source": self.source, **task.settings}
        digest = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:10]
        return f"{task.name}-{digest}"

    def path(self, task: Task, suffix: str) -> Path:
        """Return the path of one of a task's files."""
        return self.folder / f"{self.stem(task)}{suffix}"

    def get(self, task: Task) -> Outcome | None:
        """Return a stored outcome, or None if there is none that can be read."""
        try:
            found = json.loads(self.path(task, ".json").read_text(encoding="utf-8"))
            table = read_csv(self.path(task, ".csv")) if found["columns"] else {}
        except (OSError, ValueError, KeyError):
            return None
        if list(table) != found["columns"]:
            return None
        return Outcome(found["facts"], table, found["seconds"])

    def put(self, task: Task, outcome: Outcome) -> None:
        """Write an outcome; the JSON comes last and marks it as finished."""
        if outcome.table:
            write_csv(self.path(task, ".csv"), outcome.table)
        done = {
            "format": FORMAT,
            "version": frankwolfe.__version__,
            "source": self.source,
            "settings": task.settings,
            "facts": outcome.facts,
            "seconds": outcome.seconds,
            "columns": list(outcome.table),
        }
        write_text(self.path(task, ".json"), json.dumps(done, indent=1))


def write_text(path: Path, text: str) -> None:
    """Write a text file, whole or not at all."""
    with replacing(path) as file:
        file.write(text.encode())


def columns(names: str, rows: Iterable[Sequence[float]]) -> dict[str, np.ndarray]:
    """Return rows of numbers as columns, their names in one text."""
    return {c: np.array(values, dtype=float) for c, values in zip(names.split(), zip(*rows, strict=True), strict=True)}


def write_csv(path: Path, table: dict[str, Any]) -> None:
    """Write columns as comma-separated text, numbers in full precision, whole or not at all."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(table)
    writer.writerows(zip(*(map(_text, values) for values in table.values()), strict=True))
    write_text(path, text.getvalue())


def read_csv(path: Path) -> dict[str, np.ndarray]:
    """Read what `write_csv` wrote; empty fields are NaN."""
    with open(path, newline="", encoding="utf-8") as file:
        names, *rows = csv.reader(file)
    return columns(" ".join(names), [[float(v) if v else np.nan for v in row] for row in rows] or [()])


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    number = float(value)
    return "" if np.isnan(number) else str(int(number)) if number.is_integer() else repr(number)
