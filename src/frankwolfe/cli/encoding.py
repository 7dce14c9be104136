"""Columns of a table as numbers: text becomes one column for each value, empty cells are filled, and both are said."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from frankwolfe.cli.tables import DECIMAL_COMMA, LARGEST, Table
from frankwolfe.datasets import DatasetError
from frankwolfe.estimators.linear_files import Column

MOST_LEVELS = 50  # different texts that a column may hold
COUNTED = 10  # rows from which on a column that counts them is left out
MARKS = ("", "?", "-", "na", "n/a", "nan", "null", "none", "missing")  # how people write that a number is not there
REMEDY = "leave it out with --drop, or make numbers of it"


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
