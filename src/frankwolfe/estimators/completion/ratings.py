"""Ratings in the forms that people have them in, with identifiers of any kind."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from frankwolfe.validation import nearest

FRAMES = ("pandas", "polars", "pyarrow")


class Ids:
    """The identifiers of rows or columns, and where each of them stands."""

    def __init__(self, labels: Iterable[Any]) -> None:
        self.labels = list(labels)
        self._where = {label: i for i, label in enumerate(self.labels)}
        if len(self._where) != len(self.labels):
            raise ValueError("identifiers must differ from each other")

    def __len__(self) -> int:
        return len(self.labels)

    def positions(self, ids: Any) -> np.ndarray:
        """Return the position of each identifier, or of the only one; -1 for one that is not known."""
        many = ids if isinstance(ids, list | tuple) else np.asarray(ids).tolist()
        try:
            if not isinstance(many, list | tuple):
                return np.asarray(self._where.get(many, -1), dtype=np.intp)
            return np.fromiter((self._where.get(i, -1) for i in many), np.intp, len(many))
        except TypeError:  # not hashable
            raise TypeError("users and items must be text or numbers, or one-dimensional lists of them") from None


class Observed(NamedTuple):
    """Ratings by position, with the identifiers of the rows (users) and columns (items)."""

    users: Ids
    items: Ids
    rows: np.ndarray
    cols: np.ndarray
    values: np.ndarray


def read_observed(rows: Any, cols: Any = None, values: Any = None, columns: Sequence[str] | None = None) -> Observed:
    """Return the ratings in (rows, cols, values), a sparse matrix, or a frame; repeats of a pair are averaged."""
    users, items, stars, ids = _parts(rows, cols, values, columns)
    stars = _numbers(stars)
    if not len(users) == len(items) == stars.size:
        raise ValueError(
            f"rows, cols and values must be equally many, got {len(users)}, {len(items)} and {stars.size} of them"
        )
    if stars.size == 0:
        raise ValueError("values is empty; at least one rating is needed")
    row_ids, row = _encoded("user", users) if ids is None else (ids[0], np.asarray(users, dtype=np.intp))
    col_ids, col = _encoded("item", items) if ids is None else (ids[1], np.asarray(items, dtype=np.intp))
    return Observed(row_ids, col_ids, *_averaged(row, col, stars, len(col_ids)))


def is_frame(thing: Any) -> bool:
    """Tell whether this is a pandas, polars or pyarrow table, without importing any of them."""
    return type(thing).__module__.partition(".")[0] in FRAMES and len(getattr(thing, "shape", ())) == 2


def column_names(frame: Any) -> list[str]:
    """Return the names of a frame's columns."""
    return list(frame.column_names if type(frame).__module__.startswith("pyarrow") else frame.columns)


def chosen_columns(frame: Any, columns: Sequence[str] | None) -> list[Any]:
    """Return the three named columns of a frame as they are, or the first three."""
    names = column_names(frame)
    if columns is None:
        if len(names) < 3:
            raise ValueError(f"the frame has {len(names)} columns, but user, item and rating are needed")
        columns = names[:3]
    elif isinstance(columns, str) or len(columns) != 3:
        raise ValueError(f"columns must be 3 names, such as ('user', 'item', 'rating'), got {columns!r}")
    for name in columns:
        if name not in names:
            raise ValueError(f"no column {name!r}; {nearest(str(name), map(str, names))}")
    return [frame[name].to_numpy() for name in columns]


def _parts(rows: Any, cols: Any, values: Any, columns: Sequence[str] | None) -> tuple[Any, Any, Any, Any]:
    """Return users, items, ratings, and the identifiers where positions are already what they should be."""
    from scipy.sparse import issparse

    if cols is not None and values is not None:
        return _listed(rows), _listed(cols), values, None
    if cols is not None or values is not None:
        raise TypeError("give rows, cols and values, or a sparse matrix, or a frame: two of the three were given")
    if issparse(rows):
        matrix = rows.tocoo()
        if matrix.ndim != 2:
            raise ValueError(f"the sparse matrix must have two dimensions, got {matrix.ndim}")
        m, n = matrix.shape
        return matrix.row, matrix.col, matrix.data, (Ids(range(m)), Ids(range(n)))
    if is_frame(rows):
        return *chosen_columns(rows, columns), None
    raise TypeError(
        f"ratings must be given as rows, cols and values, as a sparse matrix (what is stored is observed), or as a "
        f"pandas or polars frame, got {type(rows).__name__}"
    )


def _listed(ids: Any) -> Any:
    ids = ids if isinstance(ids, list | tuple) else np.atleast_1d(np.asarray(ids))
    if np.ndim(ids) > 1:
        raise ValueError(f"rows and cols must be one-dimensional, got shape {np.shape(ids)}")
    return ids


def _numbers(stars: Any) -> np.ndarray:
    try:
        stars = np.asarray(stars, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("ratings must be numbers; at least one of them is not") from None
    if stars.ndim != 1:
        raise ValueError(f"values must be one-dimensional, got shape {stars.shape}")
    wrong = np.flatnonzero(~np.isfinite(stars))
    if wrong.size:
        raise ValueError(f"rating number {wrong[0] + 1} is {stars[wrong[0]]}; drop the rows without a rating")
    return stars


def _encoded(what: str, ids: Any) -> tuple[Ids, np.ndarray]:
    array = ids if isinstance(ids, np.ndarray) else None
    if array is not None and array.dtype.kind in "iuU":
        labels, codes = np.unique(array, return_inverse=True)
        return Ids(labels.tolist()), codes
    if array is not None and array.dtype.kind in "mM":  # of which those in nanoseconds would pass for whole numbers
        raise TypeError(f"{what} ids must be text or numbers, got {array.dtype}; convert them to text")
    many = [i.item() if isinstance(i, np.generic) else i for i in (ids if array is None else array.tolist())]
    for number, i in enumerate(many, 1):
        if i is None or i != i:
            raise ValueError(f"{what} number {number} is missing; drop the rows without one")
        if not isinstance(i, str | int | float):
            raise TypeError(f"{what} ids must be text or numbers, got {type(i).__name__}; convert them to text")
    found = Ids(dict.fromkeys(many))
    return found, found.positions(many)


def _averaged(
    rows: np.ndarray, cols: np.ndarray, values: np.ndarray, n: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    pairs = rows.astype(np.int64) * n + cols
    unique, which, count = np.unique(pairs, return_inverse=True, return_counts=True)
    if unique.size == pairs.size:
        return rows.astype(np.intp), cols.astype(np.intp), values
    mean = np.bincount(which, weights=values) / count
    return (unique // n).astype(np.intp), (unique % n).astype(np.intp), mean
