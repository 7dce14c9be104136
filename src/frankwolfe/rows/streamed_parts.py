"""Data larger than memory: rows in parts on disk, with targets and weights in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from frankwolfe.objectives.derive import derive
from frankwolfe.rows.disk_stream import Stream
from frankwolfe.rows.parts import Part, Parts, PartTask, tree_sum
from frankwolfe.rows.rows import Sums, summable
from frankwolfe.rows.rows_in_parts import RowsInParts
from frankwolfe.rows.user_data import DataMatrix, DenseMatrix, agreed_options, data_matrix
from frankwolfe.validation import vector


class StreamedParts(Parts):
    """Parts whose rows are on disk; targets, weights and, during a search, images are in memory."""

    def __init__(self, source: Stream, parts: list[Part], change: Callable[[Any], Any] | None = None) -> None:
        self.source, self.held, self.change = source, parts, change

    @property
    def blocks(self) -> int:
        """Number of blocks."""
        return len(self.held)

    def total(self, task: PartTask, *args: Any, kept: Any = None, reads: bool = True) -> Sums:
        parts = self._read() if reads else iter(self.held)
        extra = [()] * self.blocks if kept is None else [(own,) for own in kept]
        return tree_sum([task(part, *own, *args) for part, own in zip(parts, extra, strict=True)])

    def keep(self, task: PartTask, *args: Any) -> Any:
        return [task(part, *args) for part in self._read()]

    def reweighted(self, weights: np.ndarray) -> StreamedParts:
        whole = float(weights.sum(dtype=np.float64))
        own = [weights[i:j] for i, j in zip(self.source.cuts, self.source.cuts[1:], strict=False)]
        models = [p.objective.reweighted(w / whole) for p, w in zip(self.held, own, strict=True)]
        parts = [replace(p, objective=f, weights=w) for p, f, w in zip(self.held, models, own, strict=True)]
        return StreamedParts(self.source, parts, self.change)

    def changed(self, change: Callable[[Any], Any]) -> StreamedParts:
        return StreamedParts(self.source, self.held, change)

    def _read(self) -> Iterator[Part]:
        for part, block in zip(self.held, self.source.ahead(), strict=True):
            # Checked for NaN when the model was made; whole numbers become floats as they did then.
            data = DenseMatrix(block) if block.dtype == part.objective.share.dtype else data_matrix("A", block)
            data = data if self.change is None else DenseMatrix(self.change(data.matrix))
            yield replace(part, objective=_with_rows(part.objective, data))


def streamed(kind: Any, A: Stream, b: Any, weights: Any, options: dict[str, Any]) -> RowsInParts:
    """Return rows on disk, with models of a kind: one read for the check of the data, one for every evaluation."""
    n = A.shape[0]
    b = b.column() if isinstance(b, Stream) else np.asarray(b).reshape(-1)
    if b.shape != (n,):
        raise ValueError(f"b must have one entry per row of A, {n}, got shape {b.shape}")
    if weights is not None:
        weights = vector(kind.weights_name, weights.column() if isinstance(weights, Stream) else weights, n)
        weights = summable(kind.weights_name, weights)
    options = agreed_options(kind, options, [kind.survey(b, weights)])
    weights = kind.weigh(b, weights)
    whole = float(n if weights is None else weights.sum(dtype=np.float64))
    parts = []
    for i, block in enumerate(A.ahead()):
        rows = slice(A.cuts[i], A.cuts[i + 1])
        own = None if weights is None else weights[rows]
        model = kind.part(block, b[rows], own, whole, options)
        _ = model.compiled  # the loss outlives the rows
        parts.append(Part(_with_rows(model, None), A.cuts[i], own))
    return RowsInParts(StreamedParts(A, parts), A.shape, parts[0].objective.share.dtype, options)


def _with_rows(model: Any, data: DataMatrix | None) -> Any:
    if data is not None and isinstance(data, DenseMatrix) and "compiled" in vars(model):
        data.loss = model.row_loss.name
        if model.compiled is None:  # as was decided when the model was made
            data.layout = None
    return derive(model, ("compiled",), data=data)  # the same targets and weights
