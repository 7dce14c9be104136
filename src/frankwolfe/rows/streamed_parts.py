"""Data larger than memory: linear models over rows on disk."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from frankwolfe.objectives.derive import derive
from frankwolfe.objectives.in_parts.free_class_intercepts import assembled
from frankwolfe.objectives.in_parts.partitioned import Partitioned
from frankwolfe.objectives.linear_model import LinearModel
from frankwolfe.rows.disk_stream import Stream
from frankwolfe.rows.parts import Part, Parts, Sums, Task, reweighted, tree_sum
from frankwolfe.rows.row_weights import summable
from frankwolfe.rows.user_data import DataMatrix, DenseMatrix, data_matrix
from frankwolfe.validation import vector


class StreamedParts(Parts):
    """Parts whose rows are on disk; targets, weights and, during a line search, margins are in memory."""

    def __init__(self, source: Stream, parts: list[Part]) -> None:
        self.source, self.held = source, parts
        self.rows, self.columns = source.shape
        self.dtype = parts[0].objective.share.dtype  # pyright: ignore[reportAttributeAccessIssue]

    @property
    def blocks(self) -> int:
        """Number of blocks."""
        return len(self.held)

    def total(self, task: Task, *args: Any, kept: Any = None, reads: bool = True) -> Sums:
        parts = self._read() if reads else iter(self.held)
        extra = [()] * self.blocks if kept is None else [(own,) for own in kept]
        return tree_sum([task(part, *own, *args) for part, own in zip(parts, extra, strict=True)])

    def keep(self, task: Task, *args: Any) -> Any:
        return [task(part, *args) for part in self._read()]

    def reweighted(self, weights: np.ndarray) -> StreamedParts:
        whole = float(weights.sum(dtype=np.float64))
        own = [weights[part.first :][: len(part.objective.share)] for part in self.held]  # pyright: ignore[reportAttributeAccessIssue]
        return StreamedParts(self.source, [reweighted(p, w, whole) for p, w in zip(self.held, own, strict=True)])

    def _read(self) -> Iterator[Part]:
        for part, block in zip(self.held, self.source.ahead(), strict=True):
            # Checked for NaN when the model was made; whole numbers become floats as they did then.
            data = DenseMatrix(block) if block.dtype == self.dtype else data_matrix("A", block)
            yield replace(part, objective=_with_rows(part.objective, data))


def streamed(
    cls: Any, A: Stream, b: Any, *, ridge: float = 0.0, intercept: bool = False, **options: Any
) -> Partitioned:
    """Return a linear model over rows on disk: one read for the check of the data, one for every evaluation."""
    n = A.shape[0]
    b = b.column() if isinstance(b, Stream) else np.asarray(b).reshape(-1)
    if b.shape != (n,):
        raise ValueError(f"b must have one entry per row of A, {n}, got shape {b.shape}")
    weights = options.pop(cls.weights_name, None)
    if weights is not None:
        weights = vector(cls.weights_name, weights.column() if isinstance(weights, Stream) else weights, n)
        weights = summable(cls.weights_name, weights)
    options |= cls.agree([cls.survey(b, weights)])
    weights = cls.weigh(b, weights)
    whole = float(n if weights is None else weights.sum(dtype=np.float64))
    parts = []
    for i, block in enumerate(A.ahead()):
        rows = slice(A.cuts[i], A.cuts[i + 1])
        own = None if weights is None else weights[rows]
        share = float(block.shape[0] if own is None else own.sum(dtype=np.float64)) / whole
        # A block without weight keeps its place, with equal weights inside and none outside.
        more = options if own is None or share == 0 else {**options, cls.weights_name: own}
        model = cls(block, b[rows], **more)
        if isinstance(model, LinearModel):
            _ = model.compiled  # the loss outlives the rows
        parts.append(Part(_with_rows(model, None), share, A.cuts[i], own))
    return assembled(StreamedParts(A, parts), parts[0].objective, ridge, intercept)


def _with_rows(model: Any, data: DataMatrix | None) -> Any:
    return derive(model, ("compiled",), data=data)  # the same targets and weights
