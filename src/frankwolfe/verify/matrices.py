"""Products of matrices of given numbers with vectors, enclosed; the rows may come in blocks, as from disk."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from frankwolfe.verify.arithmetic import Groups, Interval, grouped, joined, product, stacked

CHUNK = 1 << 18  # entries worked on at a time: they stay in cache


class Blocks:
    """Rows of a matrix in blocks, dense or sparse: only one block is in memory at a time where they come from disk."""

    def __init__(self, shape: tuple[int, int], read: Callable[[], Iterable[Any]]) -> None:
        self.shape, self.read = shape, read

    def __iter__(self) -> Iterator[Any]:
        return iter(self.read())

    def together(self) -> Any:
        """Return all rows as one matrix, in memory."""
        blocks = list(self)
        if isinstance(blocks[0], np.ndarray):
            return np.concatenate(blocks)
        from scipy.sparse import vstack

        return vstack(blocks)


def matrix_of(numbers: Any) -> Matrix | Stack:
    """Return an array, a sparse matrix or blocks of rows as something to multiply with."""
    return Stack(numbers) if isinstance(numbers, Blocks) else Matrix(numbers)


class Stack:
    """A matrix whose rows come in blocks, read anew for every product."""

    def __init__(self, blocks: Blocks) -> None:
        self.blocks, self.shape = blocks, blocks.shape

    def times(self, x: np.ndarray) -> Interval:
        """Return an enclosure of the product with a vector."""
        return joined([block.times(x) for _, block in self._read()])

    def adjoint(self, r: np.ndarray) -> Interval:
        """Return an enclosure of the product of the transpose with a vector."""
        return stacked([block.adjoint(r[rows]) for rows, block in self._read()]).sum(0)

    def roughly(self, x: np.ndarray) -> np.ndarray:
        """Return about the product with a vector."""
        return np.concatenate([block.roughly(x) for _, block in self._read()])

    def row(self, j: int, factor: float) -> Interval:
        """Return an enclosure of a number times one row."""
        for rows, block in self._read():
            if j < rows.stop:
                return block.row(j - rows.start, factor)
        raise IndexError(j)

    def sizes(self, x: np.ndarray) -> np.ndarray:
        """Return roughly \\|A\\| \\|x\\|."""
        return np.concatenate([block.sizes(x) for _, block in self._read()])

    def _read(self) -> Iterator[tuple[slice, Matrix]]:
        start = 0
        for numbers in self.blocks:
            block = Matrix(numbers)
            yield slice(start, start + block.shape[0]), block
            start += block.shape[0]


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
