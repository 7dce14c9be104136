"""Samples from files, for the commands that fit and predict: LIBSVM text, tables, and the datasets known by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from frankwolfe import datasets
from frankwolfe.cli.encoding import encoded, planned
from frankwolfe.cli.tables import PARQUET, TEXT, Table, existing, suffix
from frankwolfe.datasets import DatasetError
from frankwolfe.estimators.linear_files import Column
from frankwolfe.validation import optional

MOST_CLASSES = 20  # whole numbers with more different values than this are taken for measurements
USUAL_TARGETS = ("target", "label", "class", "y")


@dataclass(frozen=True)
class Samples:
    """Data and, where the file holds them, targets with the name of their column."""

    X: Any
    y: np.ndarray | None
    target: str | None = None
    plan: list[Column] | None = None  # how the columns became numbers

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        return self.X.shape[0], self.X.shape[1]


def read_samples(
    path: Path,
    target: str | None,
    drop: list[str],
    kept: list[str] | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> Samples:
    """Read samples to learn from; tell what was done to their columns."""
    if suffix(path) not in (*TEXT, *PARQUET):
        return _libsvm(path, target, drop)
    table = Table(path)
    name = target if target is not None else table.usual(USUAL_TARGETS)
    values = _target(table, name)
    for column in (*drop, *(kept or ())):
        table.column(column)
    features = [column for column in table.names if column != name and column not in drop]
    if not features:
        raise DatasetError(f"{path}: no columns are left beside the target {name!r}")
    plan = planned(table, features, kept or [], say)
    return Samples(_frame(encoded(table, plan)), values, name, plan)


def stream_samples(path: Path, target: str | None, drop: list[str]) -> Samples:
    """Open samples that stay on disk: a Parquet or Arrow table, of which only the target is read at once."""
    from frankwolfe.rows.disk_stream import stream

    try:
        names = stream(existing(path)).columns  # pyright: ignore[reportAttributeAccessIssue]
        name = target if target is not None else next((t for t in USUAL_TARGETS if t in names), names[-1])
        features = [column for column in names if column != name and column not in drop]
        values = stream(path, columns=[name]).column()
        return Samples(stream(path, columns=features), whole(values), name)
    except (ValueError, AttributeError) as error:
        raise DatasetError(f"--stream needs a .parquet or .arrow table of numbers: {error}") from None


def read_like(
    path: Path,
    features: list[str] | None,
    n_features: int,
    target: str | None,
    plan: list[Column] | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> Samples:
    """Read samples to predict: the same features as a model's, found by name where they have names."""
    if suffix(path) not in (*TEXT, *PARQUET):
        if features is not None:
            raise DatasetError(f"{path}: the model knows its features by name; give a table with those columns")
        data = datasets.load(
            _place(path), labels="raw", n_features=None if str(path) in datasets.names() else n_features
        )
        return Samples(data.A, whole(data.b))
    table = Table(path)
    if features is None:
        features = [column for column in table.names if column != target]
        if len(features) != n_features:
            raise DatasetError(f"{path}: {len(features)} columns, and the model has {n_features} features")
    known = target is not None and target in table.names
    plan = [Column(name) for name in features] if plan is None else plan
    return Samples(_frame(encoded(table, plan, say)), _target(table, str(target)) if known else None, target)


def infer_task(y: np.ndarray, task: str, where: Path) -> str:
    """Return what the targets are for: classification or regression."""
    if task not in ("auto", "classification", "regression"):
        raise ValueError(f"--task must be auto, classification or regression, got {task!r}")
    numeric = y.dtype.kind in "fiu"
    if task == "regression" and not numeric:
        raise DatasetError(f"{where}: the target holds {str(y[0])[:40]!r}, not numbers; use --task classification")
    if task == "auto":
        few = len(np.unique(y)) <= MOST_CLASSES
        task = "classification" if not numeric or (y.dtype.kind in "iu" and few) else "regression"
    if task == "classification":
        classes = np.unique(y)
        if len(classes) == 1:
            raise DatasetError(f"{where}: every row has the label {classes[0]}; two or more classes are needed")
        if y.dtype.kind == "f":
            raise DatasetError(f"{where}: label {y[y != np.rint(y)][0]} is not a whole number; use --task regression")
    return task


def whole(values: np.ndarray) -> np.ndarray:
    """Return whole numbers as integers, other values as they are."""
    return values.astype(np.int64) if values.dtype.kind == "f" and np.all(values == np.rint(values)) else values


def _libsvm(path: Path, target: str | None, drop: list[str]) -> Samples:
    place = _place(path)
    if target is not None or drop:
        raise ValueError(f"--target and --drop are for tables; {path} is read as LIBSVM text, where labels come first")
    if str(path) in datasets.names() and datasets.info(str(path)).kind == "ratings":
        raise ValueError(f"{path} holds ratings; use frankwolfe complete")
    data = datasets.load(place, labels="raw")
    assert isinstance(data, datasets.Dataset)
    return Samples(data.A, whole(data.b))


def _place(path: Path) -> str:
    """Return the name of a known dataset, or the path of a file that is there."""
    return str(path) if str(path) in datasets.names() else str(existing(path))


def _target(table: Table, name: str) -> np.ndarray:
    column = table.column(name)
    if table.is_numeric(name) and not optional("pandas", extra="cli").api.types.is_bool_dtype(column):
        return whole(table.numbers(name, "use --task classification"))
    for row, value in enumerate(column):
        if table.is_empty(value):
            raise DatasetError(f"{table.place(row)}: column {name!r} is empty; leave the row out")
    return np.array([str(value) for value in column])


def _frame(columns: dict[str, np.ndarray]) -> Any:
    return optional("pandas", extra="cli").DataFrame(columns)
