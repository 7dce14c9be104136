"""An objective in parts: rows of the data in blocks, each an objective of its own, f = Σ share_i f_i.

The functions here are what is done to one part: pure, small, and the same whether the part lives in another process,
was just read from disk or lies in memory. What they return adds up over parts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np

from frankwolfe.backends import vdot
from frankwolfe.kernels.rows.layouts import double
from frankwolfe.objectives.composite import Composite
from frankwolfe.objectives.linear_model import LinearModel
from frankwolfe.points import Point

Sums = tuple[Any, ...]  # numbers and arrays that add up over parts
Task = Callable[..., Sums]


@dataclass(frozen=True)
class Part:
    """Some rows: their objective (a mean over them, without ridge), and their share in the whole mean."""

    objective: Composite
    share: float
    first: int  # number of the first row
    weights: np.ndarray | None = None  # as given


class Parts(ABC):
    """All parts of an objective, wherever they are."""

    rows: int
    columns: int
    dtype: np.dtype
    dense: bool = True  # whether the rows are, and not sparse

    @abstractmethod
    def total(self, task: Task, *args: Any, kept: Any = None, reads: bool = True) -> Sums:
        """Return the sum over parts of task(part, *args), added in an order that never changes.

        With `kept`, what an earlier `keep` left behind, it is task(part, its own kept value, *args). A task that does
        not read the rows says so by `reads=False`.
        """

    @abstractmethod
    def keep(self, task: Task, *args: Any) -> Any:
        """Run a task on every part and leave each result where its part is; return a handle to them."""

    def reweighted(self, weights: np.ndarray) -> Parts:
        """Return the parts with other weights of the rows, which stay where they are."""
        raise TypeError(f"{type(self).__name__} has no rows to weigh")

    @property
    def note(self) -> str:
        """A few words on throughput, for the line of progress."""
        return ""

    def report(self) -> dict[str, dict[str, float]]:
        """Return for each worker its rows, bytes and seconds so far, and rows and bytes per second."""
        return {}


def added(a: Sums, b: Sums) -> Sums:
    """Return the sums of two groups of parts."""
    return tuple(x + y for x, y in zip(a, b, strict=True))


def tree_sum(sums: list[Sums]) -> Sums:
    """Add up neighbours, then neighbouring pairs, and so on: a fixed order with little rounding.

    Examples
    --------
    >>> tree_sum([(1.0, "a"), (2.0, "b"), (3.0, "c")])
    (6.0, 'abc')
    """
    while len(sums) > 1:
        sums = [reduce(added, sums[i : i + 2]) for i in range(0, len(sums), 2)]
    return sums[0]


def evaluation(part: Part, y: Any, watch: Any) -> Sums:
    """Value, gradient and <gradient, y> at y, the value at `watch` (None: y again), and the reads of the rows."""
    at = Point.at(y)
    to, model = at if watch is None else Point.at(watch), part.objective
    seen = model.evaluate(at, to, keep=False) if isinstance(model, LinearModel) else model.evaluate(at, to)
    c = part.share
    return c * seen.value, c * seen.slope, c * seen.inner, c * seen.watched, c * seen.passes


def value(part: Part, x: Any) -> Sums:
    """Value at x, and the reads of the rows."""
    seen, passes = part.objective.value_at(Point.at(x))
    return part.share * seen, part.share * passes


def segment(part: Part, x: Any, v: Any) -> Sums:
    """Margins at x and their change on the way to v: as long as the part has rows, so to be kept, not sent."""
    ends = Point.at(x), Point.at(v)
    for end in ends:
        part.objective.resolve(end)
    start, stop = (end.image for end in ends)
    return start, stop - start


def probe(part: Part, margins: Sums, gamma: float) -> Sums:
    """First and second derivative along a segment."""
    start, step = margins
    model: Any = part.objective
    if getattr(model, "compiled", None) is not None:
        first, second = model.compiled.along(double(start), double(step), gamma)
    else:
        m = start + gamma * step
        first, second = vdot(model.loss_slope(m), step), vdot(model.bend(model.loss_curvature(m), step), step)
    return part.share * first, part.share * second


def products(part: Part, coefs: np.ndarray) -> Sums:
    """The number of the first row, and the rows times coefficients: in a list, which adds up to all of them."""
    model: Any = part.objective
    return ([(part.first, np.asarray(model.data.matrix @ coefs))],)


def picked(part: Part, step: int) -> Sums:
    """Numbers and rows, in a list: one in `step`, and those in the middle between them."""
    model: Any = part.objective
    numbers = part.first + np.arange(len(model.share))
    chosen = np.isin(numbers % step, (0, step // 2))
    return ([(numbers[chosen], model.data.matrix[np.flatnonzero(chosen)])],)


def reweighted(part: Part, weights: np.ndarray, whole: float) -> Part:
    """Return a part with other weights of its rows; one without weight keeps equal ones inside, and has no share."""
    model: Any = part.objective
    total = float(weights.sum(dtype=np.float64))
    inside = weights / total if total > 0 else np.full(weights.size, 1.0 / weights.size)
    return replace(part, objective=model.reweighted(inside), share=total / whole, weights=weights)


def gram(part: Part) -> Sums:
    """The weighted Gram matrix, sum of share_i a_i a_i'."""
    model: Any = part.objective
    return (part.share * model.data.gram(model.share),)


def column_squares(part: Part) -> Sums:
    """The weighted sums of squares of the columns."""
    model: Any = part.objective
    return (part.share * model.data.column_squares(model.share),)


def facts(part: Part) -> Sums:
    """What rounding asks of the rows, with their weights in the whole mean: in a list, one for each part."""
    model: Any = part.objective
    share = part.share * model.least_share
    return ([model.facts._replace(least_share=share if share > 0 else 1.0)],)


def gram_product(part: Part, w: np.ndarray) -> Sums:
    """The weighted Gram matrix times w."""
    model: Any = part.objective
    return (part.share * model.data.adjoint(model.share * model.data.product(w)),)


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
