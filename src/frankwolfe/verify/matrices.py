"""Products of matrices of given numbers with vectors, enclosed."""

from __future__ import annotations

from typing import Any

import numpy as np

from frankwolfe.verify.arithmetic import Groups, Interval, grouped, joined, product, stacked

CHUNK = 1 << 18  # entries worked on at a time: they stay in cache


class Matrix:
    """A matrix of given numbers: a dense array, or triples of a sparse one; float32 is read as the numbers it holds."""

    def __init__(self, matrix: Any) -> None:
        self.shape: tuple[int, int] = tuple(matrix.shape)
        self.dense: np.ndarray | None = matrix if isinstance(matrix, np.ndarray) else None
        if not isinstance(matrix, np.ndarray):
            entries = matrix.tocoo()
            self.rows, self.cols = np.asarray(entries.row, np.int64), np.asarray(entries.col, np.int64)
            self.values = np.asarray(entries.data, np.float64)

    def times(self, x: np.ndarray) -> Interval:
        """Return an enclosure of the product with a vector."""
        if self.dense is None:
            return grouped(Groups(where=self.rows, count=self.shape[0]), *product(self.values, x[self.cols]))
        parts = [grouped(Groups(1), *product(block, x[None, :])) for _, block in self._blocks()]
        return joined(parts)

    def adjoint(self, r: np.ndarray) -> Interval:
        """Return an enclosure of the product of the transpose with a vector."""
        if self.dense is None:
            return grouped(Groups(where=self.cols, count=self.shape[1]), *product(self.values, r[self.rows]))
        parts = [grouped(Groups(0), *product(block, r[rows, None])) for rows, block in self._blocks()]
        return stacked(parts).sum(0)

    def roughly(self, x: np.ndarray) -> np.ndarray:
        """Return about the product with a vector."""
        if self.dense is None:
            return np.bincount(self.rows, self.values * x[self.cols], self.shape[0])
        return np.concatenate([block @ x for _, block in self._blocks()])

    def row(self, j: int, factor: float) -> Interval:
        """Return an enclosure of a number times one row."""
        if self.dense is not None:
            high, low = product(np.asarray(self.dense[j], np.float64), np.array(factor))
            return Interval(high) + low
        here = np.flatnonzero(self.rows == j)
        return grouped(
            Groups(where=self.cols[here], count=self.shape[1]), *product(self.values[here], np.array(factor))
        )

    def sizes(self, x: np.ndarray) -> np.ndarray:
        """Return roughly \\|A\\| \\|x\\|."""
        if self.dense is None:
            return np.bincount(self.rows, np.abs(self.values * x[self.cols]), self.shape[0])
        return np.concatenate([np.abs(block) @ np.abs(x) for _, block in self._blocks()])

    def _blocks(self) -> Any:
        assert self.dense is not None
        step = max(1, CHUNK // max(self.shape[1], 1))
        for start in range(0, self.shape[0], step):
            rows = slice(start, start + step)
            yield rows, np.asarray(self.dense[rows], np.float64)
