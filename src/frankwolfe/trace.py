"""The trace: one row per iteration, in plain columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

COLUMNS = ("k", "time", "fun", "lower_bound", "gap", "n_grad", "n_lmo", "n_pass", "n_matvec", "n_proj")
_INTEGERS = {"k", "n_grad", "n_lmo", "n_matvec", "n_proj"}


class Trace:
    """Columns k, time, fun, lower_bound, gap and counts; row k describes the iterate x_k.

    `fun` is f(x_k), `lower_bound` the best bound proven so far, `gap` their difference. Columns are arrays, by
    attribute or by name.

    Examples
    --------
    >>> import numpy as np, frankwolfe as fw
    >>> trace = fw.minimize(fw.LeastSquares(np.eye(2), np.ones(2)), fw.L1Ball(1.0), method="afw", max_iter=3).trace
    >>> len(trace), trace.k, trace["fun"].shape
    (4, array([0, 1, 2, 3]), (4,))
    """

    def __init__(self, rows: list[tuple[float, ...]] | None = None) -> None:
        self._rows: list[tuple[float, ...]] = [] if rows is None else rows

    def append(self, k: int, time: float, fun: float, lower_bound: float, counts: dict[str, float]) -> None:
        """Add a row; that of a step which is taken again replaces the first."""
        while self._rows and self._rows[-1][0] >= k:
            self._rows.pop()
        numbers = {"k": k, "time": time, "fun": fun, "lower_bound": lower_bound, "gap": fun - lower_bound, **counts}
        self._rows.append(tuple(float(numbers[c]) for c in COLUMNS))

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[dict[str, float]]:
        return (dict(zip(COLUMNS, row, strict=True)) for row in self._rows)

    def __getitem__(self, column: str) -> np.ndarray:
        if column not in COLUMNS:
            raise KeyError(f"no column {column!r}; the columns are {', '.join(COLUMNS)}")
        values = np.array([row[COLUMNS.index(column)] for row in self._rows])
        return values.astype(np.int64) if column in _INTEGERS else values

    def __getattr__(self, column: str) -> np.ndarray:
        if column in COLUMNS:
            return self[column]
        raise AttributeError(f"a trace has no attribute {column!r}; its columns are {', '.join(COLUMNS)}")

    def to_array(self) -> np.ndarray:
        """Return all rows as one float array."""
        return np.array(self._rows, dtype=np.float64).reshape(-1, len(COLUMNS))

    @classmethod
    def from_array(cls, array: np.ndarray) -> Trace:
        """Return the trace with these rows."""
        return cls([tuple(row) for row in array.tolist()])

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame."""
        from frankwolfe.validation import optional

        return optional("pandas", extra="pandas").DataFrame({c: self[c] for c in COLUMNS})

    def to_csv(self, path: Any) -> None:
        """Write the rows as comma-separated text, numbers in full precision."""
        import csv

        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(COLUMNS)
            for row in self._rows:
                writer.writerow([int(v) if c in _INTEGERS else repr(v) for c, v in zip(COLUMNS, row, strict=True)])

    def picture(self) -> str:
        """Return the certified gap against iterations as an inline SVG picture."""
        from frankwolfe.plotting.notebook import curves

        return curves({"gap": (self["k"], self["gap"])})

    def _repr_html_(self) -> str:
        from frankwolfe.plotting.notebook import table

        last = {c: f"{self[c][-1]:.6g}" for c in COLUMNS} if len(self) else {}
        return f"<div><b>Trace of {len(self)} rows</b>, the last of which is{table(last)}{self.picture()}</div>"

    def __repr__(self) -> str:
        last = (
            f"; the last: k={self['k'][-1]}, fun={self['fun'][-1]:.6g}, gap={self['gap'][-1]:.3g}" if len(self) else ""
        )
        return f"Trace({len(self)} rows: {', '.join(COLUMNS)}{last})"
