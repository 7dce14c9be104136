"""Tables from files: comma- or tab-separated text, and Parquet; a fault is named with its line."""

from __future__ import annotations

import csv
import difflib
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from frankwolfe.datasets.archives import SUFFIXES, DatasetError, read_file, unpack
from frankwolfe.validation import nearest, optional

SEPARATORS = (",", "\t", ";", "|")
WHOLE = re.compile(r"0|-?[1-9]\d{0,17}")
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
LARGEST = 1e100  # squares must not overflow
PARQUET = (".parquet", ".pq")
TEXT = (".csv", ".tsv")
FOREIGN = {  # what people keep tables in beside text and Parquet
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), "JSON"),
    **dict.fromkeys((".xlsx", ".xls", ".ods"), "a spreadsheet"),
    **dict.fromkeys((".pkl", ".pickle"), "a pickle"),
    **dict.fromkeys((".feather", ".orc", ".h5", ".hdf5", ".dta", ".sav", ".sas7bdat"), "of another format"),
}


class Table:
    """The columns of a file (text, packed or not, or Parquet) by name, with the line that each row stands on.

    With no `header` said, the first line holds names unless it is all numbers. With `as_text` every cell is
    read as it is written: 007 stays 007.
    """

    def __init__(self, path: Path, *, header: bool | None = True, as_text: bool = False) -> None:
        self.path = existing(path)
        self._text: str | None = None
        self._ends: list[int] | None = None
        self.frame = self._parquet() if suffix(path) in PARQUET else self._read_text(header, as_text)
        if not len(self.frame):
            raise DatasetError(f"{path}: there are names of columns but no rows")

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [str(name) for name in self.frame.columns]

    def column(self, name: str) -> Any:
        """Return a column, or say which names are near."""
        if name not in self.names:
            raise DatasetError(f"{self.path}: no column {name!r}; {self._nameless or nearest(name, self.names)}")
        return self.frame.iloc[:, self.names.index(name)]

    def usual(self, names: tuple[str, ...]) -> str:
        """Return the column with one of these names, or say that it has to be named."""
        lower = {name.lower(): name for name in self.names}
        found = next((lower[name] for name in names if name in lower), None)
        if found is None:
            which = self._nameless or f"name it with --target: {', '.join(self.names)}"
            raise DatasetError(f"{self.path}: which column is the target? {which[0].upper()}{which[1:]}")
        return found

    @property
    def _nameless(self) -> str:
        """The remedy where the first line seems to hold no names; nothing where it does."""
        if not all(map(_is_number, self.names)):
            return ""
        return f"the first line holds numbers ({self.names[0]}, ...): put one with the names of the columns before it"

    def numbers(self, name: str, remedy: str, missing: tuple[str, ...] = ()) -> np.ndarray:
        """Return a column of finite numbers; NaN where a cell is one of the texts for a missing one."""
        pandas = optional("pandas", extra="cli")
        column = self.column(name)
        self.refuse_dates(name, remedy)
        values = pandas.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
        bad = np.flatnonzero(~(np.abs(values) < LARGEST))
        lacks = [bool(missing) and (self.is_empty(v) or str(v).strip().lower() in missing) for v in column.iloc[bad]]
        wrong = bad[~np.array(lacks, dtype=bool)]
        if not wrong.size:
            return values
        first, where = column.iloc[wrong[0]], self.place(int(wrong[0]))
        if self.is_empty(first):
            raise DatasetError(f"{where}: column {name!r} is empty; fill it in or leave the row out")
        shown = str(first)[:40]
        if DECIMAL_COMMA.fullmatch(shown.strip()):
            raise DatasetError(f"{where}: column {name!r} holds {shown!r} with a decimal comma; save it with points")
        if wrong.size == values.size and np.isnan(values[wrong[0]]):
            raise DatasetError(f"{self.path}: column {name!r} is not numeric (it holds {shown!r}); {remedy}")
        raise DatasetError(f"{where}: column {name!r} holds {shown!r}, not a number below {LARGEST:g}")

    def refuse_dates(self, name: str, remedy: str) -> None:
        """Raise where a column holds dates."""
        if optional("pandas", extra="cli").api.types.is_datetime64_any_dtype(self.column(name)):
            raise DatasetError(f"{self.path}: column {name!r} holds dates, not numbers; {remedy}")

    def is_numeric(self, name: str) -> bool:
        """Tell whether a column could be numbers, going by its first filled row."""
        column = self.column(name)
        first = next((v for v in column if not self.is_empty(v)), "")
        try:
            float(first)
        except (TypeError, ValueError):
            return False
        return True

    def ids(self, name: str) -> Any:
        """Return a column of identifiers: whole numbers where all are written as such, text otherwise."""
        column = self.column(name)
        empty = np.flatnonzero([self.is_empty(v) for v in column])
        if empty.size:
            raise DatasetError(f"{self.place(int(empty[0]))}: column {name!r} is empty; leave the row out")
        if column.dtype.kind in "iu":
            return column.to_numpy()
        text = [str(v) for v in column]
        return np.array([int(t) for t in text]) if all(map(WHOLE.fullmatch, text)) else text

    def place(self, row: int) -> str:
        """Return the file and the line of a row, counted from zero, for a message."""
        if self._text is None:
            return f"{self.path}, row {row + 1}"
        return f"{self.path}, line {self._lines()[row]}"

    @staticmethod
    def is_empty(value: Any) -> bool:
        """Tell whether a cell holds nothing."""
        return value is None or value != value or (isinstance(value, str) and not value.strip())

    def _lines(self) -> list[int]:
        """Return the line on which each row ends: not the same as counting rows where cells hold line breaks."""
        if self._ends is None:
            self._ends = [line for line, _ in self._records()][self._named :]
        return self._ends

    def _records(self) -> Iterator[tuple[int, int]]:
        """Give the last line and the number of fields of each record that is not blank."""
        reader = csv.reader(io.StringIO(self._text), delimiter=self._separator)
        try:
            yield from (
                (reader.line_num, len(fields)) for fields in reader if len(fields) > 1 or any(f.strip() for f in fields)
            )
        except csv.Error as error:
            raise DatasetError(f"{self.path}, line {reader.line_num}: {str(error).partition(' - ')[0]}") from None

    def _read_text(self, header: bool | None, as_text: bool) -> Any:
        pandas = optional("pandas", extra="cli")
        raw = unpack(read_file(self.path), str(self.path))
        try:
            text = raw.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = raw.count(b"\n", 0, error.start) + 1
            raise DatasetError(f"{self.path}, line {line}: not UTF-8 text; save the file as UTF-8") from None
        if not text.strip():
            raise DatasetError(f"{self.path}: the file is empty")
        if text.lstrip()[0] in "{[":
            raise DatasetError(f"{self.path} looks like JSON, and a table is needed: save it as CSV or Parquet")
        first = next(line for line in text.splitlines() if line.strip())
        if "::" in first and not any(map(first.count, SEPARATORS)):  # as MovieLens separates columns
            text, first = text.replace("::", "\t"), first.replace("::", "\t")
        self._separator = max(SEPARATORS, key=first.count)
        fields = next(csv.reader([first], delimiter=self._separator))
        self._named = not all(_is_number(f) for f in fields) if header is None else header
        self._text = text
        try:
            frame = pandas.read_csv(
                io.StringIO(text),
                sep=self._separator,
                header=0 if self._named else None,
                keep_default_na=False,
                na_values=[""],
                low_memory=False,
                index_col=False,
                dtype=str if as_text else None,
            )
        except (pandas.errors.ParserError, pandas.errors.EmptyDataError) as error:
            self._check_fields(len(fields))
            raise DatasetError(f"{self.path}: {' '.join(str(error).split()) or 'cannot be read'}") from None
        if not self._named:
            frame.columns = [f"column{i}" for i in range(1, frame.shape[1] + 1)]
        frame.columns = [str(name).strip() for name in frame.columns]
        if len(frame) != len(self._lines()) or frame.isna().any(axis=None):
            self._check_fields(len(fields))
        return frame

    def _check_fields(self, wanted: int) -> None:
        """Name the first line with too many or too few fields."""
        for line, count in self._records():
            if count != wanted:
                fields = f"{count} field{'s' * (count != 1)}"
                raise DatasetError(f"{self.path}, line {line}: {fields}, but the first line has {wanted}")

    def _parquet(self) -> Any:
        arrow = optional("pyarrow.parquet", extra="stream")
        optional("pandas", extra="cli")
        raw = read_file(self.path)
        if not raw:
            raise DatasetError(f"{self.path}: the file is empty")
        try:
            return arrow.read_table(io.BytesIO(raw)).to_pandas()
        except (ValueError, OSError, TypeError, RuntimeError):
            raise DatasetError(f"{self.path}: not a Parquet file, or a damaged one") from None


def existing(path: Path) -> Path:
    """Return the path of a file that is there, or name the nearest that is."""
    if path.is_file():
        kind = FOREIGN.get(suffix(path))
        if kind is not None:
            raise DatasetError(f"{path} is {kind}, and a table is needed: save it as CSV or Parquet")
        return path
    if path.is_dir():
        raise DatasetError(f"{path} is a folder; give a file in it")
    folder = path.parent if path.parent.is_dir() else None
    close = difflib.get_close_matches(path.name, [p.name for p in folder.iterdir()], n=1, cutoff=0.75) if folder else []
    raise DatasetError(f"{path}: no such file" + (f"; did you mean {close[0]!r}?" if close else ""))


def writable(path: Path | None) -> Path | None:
    """Return a path that can be written to; say before the work, not after it, that its folder is not there."""
    if path is not None and not path.absolute().parent.is_dir():
        raise DatasetError(f"{path}: there is no folder {path.parent}; make it first: mkdir -p {path.parent}")
    return path


def suffix(path: Path) -> str:
    """Return the suffix of a file, not counting that of its packing."""
    last = path.suffix.lower()
    return Path(path.stem).suffix.lower() if last in SUFFIXES[1:] else last


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
