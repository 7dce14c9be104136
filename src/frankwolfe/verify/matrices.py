"""Products of matrices of given numbers with vectors, enclosed; the rows may come in blocks, as from disk."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from frankwolfe.verify.arithmetic import Groups, Interval, grouped, joined, product, stacked

CHUNK = 1 << 18  # entries worked on at a time: they stay in cache


class Blocks:
    """Rows of a matrix in blocks, dense or sparse: only one block is in memory at a time where they come from disk."""

    def __init__(self, shape: tuple[int, int], read: Callable[[], Iterable[Any]]) -> None:
        self.shape, self.read = shape, read

    def __iter__(self) -> Iterator[Any]:
        return iter(self.read())

    def in_memory(self) -> Any:
        """Return all rows as one matrix, in memory."""
        blocks = list(self)
        if isinstance(blocks[0], np.ndarray):
            return np.concatenate(blocks)
        from scipy.sparse import vstack

        return vstack(blocks)


class Triples(NamedTuple):
    """Rows of a sparse matrix: the places of its entries, and their values."""

    rows: np.ndarray
    cols: np.ndarray
    values: np.ndarray
    shape: tuple[int, int]

    @classmethod
    def of(cls, matrix: Any) -> Triples:
        """Return the entries of a sparse matrix."""
        entries = matrix.tocoo()
        rows, cols = np.asarray(entries.row, np.int64), np.asarray(entries.col, np.int64)
        return cls(rows, cols, np.asarray(entries.data, np.float64), tuple(matrix.shape))


class Matrix:
    """A matrix of given numbers: dense, sparse, or in blocks of rows that are read anew for every product.

    Single precision is read as the numbers it holds.
    """

    def __init__(self, numbers: Any) -> None:
        self.shape: tuple[int, int] = tuple(numbers.shape)
        kept = isinstance(numbers, Blocks | np.ndarray | Triples)
        self.numbers = numbers if kept else Triples.of(numbers)

    def only(self, rows: np.ndarray) -> Matrix:
        """Return the matrix with the other rows set to zero; as it is where it is read in blocks."""
        if isinstance(self.numbers, np.ndarray):
            return Matrix(np.where(rows[:, None], self.numbers, 0.0))
        if isinstance(self.numbers, Triples):
            values = np.where(rows[self.numbers.rows], self.numbers.values, 0.0)
            return Matrix(self.numbers._replace(values=values))
        return self

    def times(self, x: np.ndarray) -> Interval:
        """Return an enclosure of the product with a vector."""
        return joined([_times(block, x) for _, block in self._read()])

    def adjoint(self, r: np.ndarray) -> Interval:
        """Return an enclosure of the product of the transpose with a vector."""
        parts = [_adjoint(block, r[rows]) for rows, block in self._read()]
        return parts[0] if len(parts) == 1 else stacked(parts).sum(0)

    def roughly(self, x: np.ndarray) -> np.ndarray:
        """Return about the product with a vector."""
        return np.concatenate([_roughly(block, x) for _, block in self._read()])

    def sizes(self, x: np.ndarray) -> np.ndarray:
        """Return roughly \\|A\\| \\|x\\|."""
        return np.concatenate([_roughly(_magnitudes(block), np.abs(x)) for _, block in self._read()])

    def row(self, j: int, factor: float) -> Interval:
        """Return an enclosure of a number times one row."""
        rows, block = next((rows, block) for rows, block in self._read() if j < rows.stop)
        only = np.zeros(rows.stop - rows.start)
        only[j - rows.start] = factor
        return _adjoint(block, only)

    def toarray(self) -> np.ndarray:
        """Return all entries of a matrix in memory; exact unless places repeat."""
        whole = self.numbers
        if not isinstance(whole, Triples):
            return np.asarray(whole, np.float64)
        out = np.zeros(self.shape)
        np.add.at(out, (whole.rows, whole.cols), whole.values)
        return out

    def _read(self) -> Iterator[tuple[slice, np.ndarray | Triples]]:
        """Return blocks of rows, dense ones as large as fit in cache, with their places."""
        first = 0
        for numbers in self.numbers if isinstance(self.numbers, Blocks) else [self.numbers]:
            count, width = numbers.shape
            if isinstance(numbers, np.ndarray):
                step = max(1, CHUNK // max(width, 1))
                for i in range(0, count, step):
                    block = np.asarray(numbers[i : i + step], np.float64)
                    yield slice(first + i, first + i + len(block)), block
            else:
                yield slice(first, first + count), numbers if isinstance(numbers, Triples) else Triples.of(numbers)
            first += count


def _times(block: np.ndarray | Triples, x: np.ndarray) -> Interval:
    if isinstance(block, np.ndarray):
        return grouped(Groups(1), *product(block, x[None, :]))
    return grouped(Groups(where=block.rows, count=block.shape[0]), *product(block.values, x[block.cols]))


def _adjoint(block: np.ndarray | Triples, r: np.ndarray) -> Interval:
    if isinstance(block, np.ndarray):
        return grouped(Groups(0), *product(block, r[:, None]))
    return grouped(Groups(where=block.cols, count=block.shape[1]), *product(block.values, r[block.rows]))


def _roughly(block: np.ndarray | Triples, x: np.ndarray) -> np.ndarray:
    if isinstance(block, np.ndarray):
        return block @ x
    return np.bincount(block.rows, block.values * x[block.cols], block.shape[0])


def _magnitudes(block: np.ndarray | Triples) -> np.ndarray | Triples:
    return np.abs(block) if isinstance(block, np.ndarray) else block._replace(values=np.abs(block.values))
