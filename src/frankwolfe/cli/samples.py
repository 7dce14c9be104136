"""Samples from files, for the commands that fit and predict: LIBSVM text, tables, and the datasets known by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from frankwolfe import datasets
from frankwolfe.cli.tables import DECIMAL_COMMA, LARGEST, PARQUET, TEXT, Table, existing, suffix
from frankwolfe.datasets import DatasetError
from frankwolfe.estimators.linear_files import Column
from frankwolfe.validation import optional

MOST_CLASSES = 20  # whole numbers with more different values than this are taken for measurements
USUAL_TARGETS = ("target", "label", "class", "y")

MOST_LEVELS = 50  # different texts that a column may hold
COUNTED = 10  # rows from which on a column that counts them is left out
MARKS = ("", "?", "-", "na", "n/a", "nan", "null", "none", "missing")  # how people write that a number is not there
REMEDY = "leave it out with --drop, or make numbers of it"


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


def planned(table: Table, features: list[str], kept: list[str], say: Callable[[str], None]) -> list[Column]:
    """Return how the columns become numbers; tell what is left out, filled in or spread."""
    plan = [_column(table, name, name in kept, say) for name in features]
    columns = [column for column in plan if column is not None]
    if not columns:
        raise DatasetError(f"{table.path}: no column is left to learn from")
    return columns


def encoded(table: Table, plan: list[Column], say: Callable[[str], None] = lambda text: None) -> dict[str, np.ndarray]:
    """Return the numbers, by name."""
    out: dict[str, np.ndarray] = {}
    for column in plan:
        if column.levels is None:
            values = _numbers(table, column.name)
            out[column.name] = values if column.fill is None else np.where(np.isnan(values), column.fill, values)
            if column.fill is None and np.isnan(values).any():
                row = int(np.flatnonzero(np.isnan(values))[0])
                raise DatasetError(
                    f"{table.place(row)}: column {column.name!r} is empty; fill it in or leave the row out"
                )
            continue
        texts = np.array(_texts(table, column.name))
        unknown = sorted(set(texts[texts != ""].tolist()) - set(column.levels))
        if unknown:
            say(f"{column.name!r} holds {unknown[0]!r}, which the model has not seen: taken as none of its values")
        for name, level in zip(column.names, column.levels, strict=True):
            out[name] = (texts == level).astype(np.float64)
    return out


def _column(table: Table, name: str, kept: bool, say: Callable[[str], None]) -> Column | None:
    table.refuse_dates(name, REMEDY)
    if all(map(table.is_empty, table.column(name))):
        say(f"{name!r} is empty and is left out")
        return None
    if table.is_numeric(name) or not _is_text(table, name):
        values = _numbers(table, name)
        known = values[~np.isnan(values)]
        if not kept and len(values) >= COUNTED and known.size == values.size and np.all(np.diff(values) == 1):
            say(f"{name!r} only counts the rows and is left out; --keep {name} keeps it")
            return None
        if known.size == values.size:
            return Column(name)
        fill = float(np.median(known))
        say(f"{values.size - known.size} empty cells of {name!r} are filled with the median, {fill:g}")
        return Column(name, fill=fill)
    texts = _texts(table, name)
    levels = sorted(set(texts) - {""})
    if len(levels) > MOST_LEVELS or (len(levels) > 2 and 2 * len(levels) > len(texts)):
        if kept:
            raise DatasetError(f"{table.path}: column {name!r} holds {len(levels)} different texts; {REMEDY}")
        say(f"{name!r} holds {len(levels)} different texts in {len(texts)} rows and is left out")
        return None
    empty = texts.count("")
    note = f", {empty} empty cells as none of them" if empty else ""
    say(f"{name!r} is text: a column for each of {len(levels)} values{note}")
    return Column(name, levels)


def _is_text(table: Table, name: str) -> bool:
    """Tell whether most filled cells of a column are no numbers."""
    cells = [str(v) for v in table.column(name) if not table.is_empty(v) and str(v).strip().lower() not in MARKS]
    return 2 * sum(map(_is_number, cells)) < len(cells) or not cells


def _numbers(table: Table, name: str) -> np.ndarray:
    """Return a column of numbers, NaN where a cell is empty or says that there is none."""
    return table.numbers(name, REMEDY, missing=MARKS)


def _texts(table: Table, name: str) -> list[str]:
    return ["" if table.is_empty(v) else str(v).strip() for v in table.column(name)]


def _is_number(text: str) -> bool:
    try:
        return abs(float(text)) < LARGEST
    except ValueError:
        return DECIMAL_COMMA.fullmatch(text.strip()) is not None  # which is then refused by name
