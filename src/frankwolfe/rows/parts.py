"""Data in parts: each is an objective of its own, f = Σ f_i, and is worked on where it lies.

What is done to one part is a pure function, and what it returns adds up over parts: the same whether the part lives in
another process, was just read from disk or lies in memory.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from frankwolfe.rows.rows import Sums

PartTask = Callable[..., Sums]  # of a part, what it keeps (if asked for), and arguments


@dataclass(frozen=True)
class Part:
    """Some rows: their objective, a sum over them without ridge and intercept."""

    objective: Any
    first: int = 0  # number of the first row
    weights: np.ndarray | None = None  # as given


class Parts(ABC):
    """All parts of an objective, wherever they are."""

    @abstractmethod
    def total(self, task: PartTask, *args: Any, kept: Any = None, reads: bool = True) -> Sums:
        """Return the sum over parts of task(part, *args), added in an order that never changes.

        With `kept`, what an earlier `keep` left behind, it is task(part, its own kept value, *args). A task that does
        not read the rows says so by `reads=False`.
        """

    @abstractmethod
    def keep(self, task: PartTask, *args: Any) -> Any:
        """Run a task on every part and leave each result where its part is; return a handle to them."""

    def reweighted(self, weights: np.ndarray) -> Parts:
        """Return the parts with other weights of the rows, which stay where they are."""
        raise TypeError(f"{type(self).__name__} has no rows to weigh")

    def changed(self, change: Callable[[Any], Any]) -> Parts:
        """Return the parts with a function applied to their rows, an array or a sparse matrix of them."""
        raise TypeError(f"{type(self).__name__} has no rows to change")

    @property
    def note(self) -> str:
        """A few words on throughput, for the line of progress."""
        return ""

    def report(self) -> dict[str, dict[str, float]]:
        """Return for each worker its rows, bytes and seconds so far, and rows and bytes per second."""
        return {}


class Most(float):
    """A number that adds up to the largest."""

    def __add__(self, other: float) -> Most:
        return Most(max(self, other))


def added(a: Sums, b: Sums) -> Sums:
    """Return the sums of two groups of parts."""
    return tuple(x + y for x, y in zip(a, b, strict=True))


def tree_sum(sums: list[Sums]) -> Sums:
    """Add up neighbours, then neighbouring pairs, and so on: a fixed order with little rounding."""
    while len(sums) > 1:
        sums = [reduce(added, sums[i : i + 2]) for i in range(0, len(sums), 2)]
    return sums[0]


def checksum(part: Part) -> Sums:
    """A number for data and targets that adds up to the same whatever the parts, wrapping at 2⁶⁴."""
    objective: Any = part.objective
    matrix = objective.data.matrix
    rows = odd(np.arange(part.first, part.first + matrix.shape[0], dtype=np.uint64))
    total = _mix(objective.b, rows)
    if part.weights is not None:
        total += _mix(part.weights, odd(rows))
    if isinstance(matrix, np.ndarray):
        columns = odd(np.arange(matrix.shape[1], dtype=np.uint64))
        step = max(1, (1 << 22) // matrix.shape[1])
        for i in range(0, matrix.shape[0], step):
            total += ((words(matrix[i : i + step]) * columns).sum(axis=1) * rows[i : i + step]).sum()
    else:
        entries = matrix.tocoo()
        total += (words(entries.data) * odd(entries.col.astype(np.uint64)) * rows[entries.row]).sum()
    return (total,)


def _mix(values: np.ndarray, rows: np.ndarray) -> np.ndarray:
    return (words(np.asarray(values)) * odd(rows)).sum(keepdims=True)


def words(values: np.ndarray) -> np.ndarray:
    """Return the bits of numbers as integers; minus zero is zero."""
    values = np.ascontiguousarray(values) + values.dtype.type(0)
    return values.view(np.uint64 if values.dtype.itemsize == 8 else np.uint32).astype(np.uint64)


def odd(numbers: np.ndarray) -> np.ndarray:
    """Return well-spread odd numbers for numbers (the finaliser of splitmix64)."""
    z = numbers * np.uint64(0x9E3779B97F4A7C15) + np.uint64(0x632BE59BD9B4E019)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    return (z ^ (z >> np.uint64(31))) | np.uint64(1)
