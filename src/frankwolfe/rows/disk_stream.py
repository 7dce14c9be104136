"""Rows on disk as streams of blocks, the next one read while the present one is worked on."""

from __future__ import annotations

import mmap
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy

from frankwolfe.validation import integer, optional

BLOCK_BYTES = 64 << 20


class Stream(ABC):
    """Rows on disk, read block by block; made by `stream`."""

    shape: tuple[int, int]
    dtype: np.dtype
    cuts: list[int]  # first row of each block, and the number of rows

    @abstractmethod
    def read(self, block: int) -> np.ndarray:
        """Return one block of rows as an array that is ours."""

    @property
    def blocks(self) -> int:
        """Number of blocks."""
        return len(self.cuts) - 1

    def ahead(self) -> Iterator[np.ndarray]:
        """Return the blocks in order; a thread reads the next one meanwhile."""
        with ThreadPoolExecutor(1, thread_name_prefix="read-ahead") as reader:
            waiting = reader.submit(self.read, 0)
            for i in range(self.blocks):
                block = waiting.result()
                if i + 1 < self.blocks:
                    waiting = reader.submit(self.read, i + 1)
                yield block

    def column(self) -> np.ndarray:
        """Return a stream of one column as a vector, in memory."""
        if self.shape[1] != 1:
            raise ValueError(f"targets and weights must be one column, got {self.shape[1]}; name it by columns=")
        return np.concatenate([block[:, 0] for block in self.ahead()])


def stream(source: Any, *, columns: list[str] | None = None, block_bytes: int = BLOCK_BYTES) -> Stream:
    """Return data on disk as something that objectives read block by block and never hold as a whole.

    Parameters
    ----------
    source : str, path, numpy.memmap, zarr.Array, or pyarrow.dataset.Dataset
        A .npy file, a Zarr array (a folder), a Parquet or Arrow file, or a folder of those.
    columns : list of str, optional
        Columns of a Parquet or Arrow table, in this order; all by default.
    block_bytes : int, default 64 MiB
        How much is read at once. Three blocks are in memory at a time.

    Examples
    --------
    >>> import frankwolfe as fw, numpy as np, tempfile, os
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "A.npy")
    ...     np.save(path, np.eye(4))
    ...     f = fw.LeastSquares(stream(path, block_bytes=64), np.ones(4))
    ...     f.parts.blocks, float(f.value(np.zeros(4)))
    (2, 0.5)
    """
    size = integer("block_bytes", block_bytes, 1)
    if isinstance(source, np.memmap):
        return _RowFile.of_map(source, size)
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        if not path.exists():
            raise FileNotFoundError(f"{path} does not exist; stream needs a .npy file, a Zarr array or a Parquet table")
        if path.suffix == ".npy":
            return _RowFile.of_npy(path, size)
        if path.is_dir() and any((path / name).exists() for name in ("zarr.json", ".zarray")):
            return _SlicedArray(optional("zarr", extra="stream").open_array(str(path), mode="r"), size)
        return _ColumnTable(_dataset(path), columns, size)
    kind = type(source).__module__.partition(".")[0]
    if kind == "zarr":
        return _SlicedArray(source, size)
    if kind == "pyarrow":
        return _ColumnTable(source, columns, size)
    raise TypeError(f"stream needs a path, a memory map, a Zarr array or an Arrow dataset, got {type(source).__name__}")


class _SlicedArray(Stream):
    """Anything that gives rows by slicing: a Zarr array, a view of a memory map."""

    def __init__(self, array: Any, block_bytes: int) -> None:
        self.array = array
        self.shape, self.dtype = _two_dimensional(array.shape), np.dtype(array.dtype)
        chunk = getattr(array, "chunks", None)  # whole chunks at a time: each is decompressed once
        self.cuts = _cuts(self.shape, self.dtype, block_bytes, chunk[0] if chunk else 1)

    def read(self, block: int) -> np.ndarray:
        rows = self.array[self.cuts[block] : self.cuts[block + 1]]
        out = np.array(rows).reshape(-1, self.shape[1])
        _forget(self.array)
        return out


class _RowFile(Stream):
    """Rows one after the other in a file: plain reads, so that no page of it stays in our memory."""

    def __init__(self, path: Path, offset: int, shape: tuple[int, ...], dtype: np.dtype, block_bytes: int) -> None:
        self.path, self.offset = path, offset
        self.shape, self.dtype = _two_dimensional(shape), dtype
        self.cuts = _cuts(self.shape, dtype, block_bytes, 1)
        promised = offset + self.shape[0] * self.shape[1] * dtype.itemsize
        if os.path.getsize(path) < promised:
            raise ValueError(f"{path} is cut short: {os.path.getsize(path)} bytes where its header promises {promised}")

    @classmethod
    def of_npy(cls, path: Path, block_bytes: int) -> Stream:
        try:
            with open(path, "rb") as file:
                version = npy.read_magic(file)
                header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
                shape, fortran, dtype = header(file)
                offset = file.tell()
        except (ValueError, OSError, EOFError) as error:
            raise ValueError(f"{path} is not a .npy file ({error})") from None
        if dtype.kind not in "fiub":
            raise ValueError(f"{path} must hold numbers to be streamed, got dtype {dtype}")
        if fortran and len(shape) > 1:
            return _SlicedArray(np.memmap(path, dtype, "r", offset, shape, "F"), block_bytes)
        return cls(path, offset, shape, dtype, block_bytes)

    @classmethod
    def of_map(cls, mapped: np.memmap, block_bytes: int) -> Stream:
        whole = isinstance(mapped.base, mmap.mmap)  # a view of a map does not know where in the file it begins
        if not whole or not mapped.flags.c_contiguous or mapped.filename is None:
            return _SlicedArray(mapped, block_bytes)
        return cls(Path(mapped.filename), mapped.offset, mapped.shape, mapped.dtype, block_bytes)

    def read(self, block: int) -> np.ndarray:
        first, last = self.cuts[block], self.cuts[block + 1]
        start = self.offset + first * self.shape[1] * self.dtype.itemsize
        flat = np.fromfile(self.path, self.dtype, (last - first) * self.shape[1], offset=start)
        return flat.astype(self.dtype.newbyteorder("="), copy=False).reshape(last - first, self.shape[1])


class _ColumnTable(Stream):
    """Columns of a Parquet or Arrow dataset, by row groups or record batches."""

    def __init__(self, dataset: Any, columns: list[str] | None, block_bytes: int) -> None:
        known = dataset.schema.names
        self.columns = known if columns is None else list(columns)
        for name in self.columns:
            if name not in known:
                raise ValueError(f"columns has {name!r}, which the table lacks; it has {', '.join(known[:20])}")
        types = {np.dtype(dataset.schema.field(name).type.to_pandas_dtype()) for name in self.columns}
        if not all(t.kind in "fiub" for t in types):
            raise ValueError("the columns of a streamed table must be numbers; choose them by columns=")
        self.dtype = np.result_type(np.float32, *types)
        per_row = self.dtype.itemsize * len(self.columns)
        self.pieces: list[list[_Piece]] = []
        self.cuts = [0]
        for rows, read in (piece for fragment in dataset.get_fragments() for piece in _pieces(fragment)):
            if self.pieces and (self.cuts[-1] - self.cuts[-2] + rows) * per_row <= block_bytes:
                self.pieces[-1].append((rows, read))
                self.cuts[-1] += rows
            elif rows:
                self.pieces.append([(rows, read)])
                self.cuts.append(self.cuts[-1] + rows)
        self.shape = _two_dimensional((self.cuts[-1], len(self.columns)))

    def read(self, block: int) -> np.ndarray:
        out = np.empty((self.cuts[block + 1] - self.cuts[block], self.shape[1]), self.dtype)
        row = 0
        for rows, read in self.pieces[block]:
            table = read(self.columns)
            for j, name in enumerate(self.columns):
                out[row : row + rows, j] = np.asarray(table.column(name))
            row += rows
        return out


_Piece = tuple[int, Callable[[list[str]], Any]]  # rows, and what reads some columns of them


def _pieces(fragment: Any) -> list[_Piece]:
    """Return the pieces in which a file can be read."""
    import pyarrow as pa
    from pyarrow.dataset import ParquetFileFragment

    if isinstance(fragment, ParquetFileFragment):
        groups = fragment.split_by_row_group()
        return [(sum(g.num_rows for g in group.row_groups), partial(_group, group)) for group in groups]
    with pa.memory_map(fragment.path) as mapped:  # counts rows without reading them
        batches = pa.ipc.open_file(mapped)
        counts = [batches.get_batch(i).num_rows for i in range(batches.num_record_batches)]
    return [(rows, partial(_batch, fragment.path, i)) for i, rows in enumerate(counts)]


def _group(group: Any, columns: list[str]) -> Any:
    return group.to_table(columns=columns)


def _batch(path: str, number: int, columns: list[str]) -> Any:
    import pyarrow as pa

    with pa.OSFile(path) as file:
        return pa.ipc.open_file(file).get_batch(number).select(columns)


def _dataset(path: Path) -> Any:
    arrow = optional("pyarrow.dataset", extra="stream")
    form = "feather" if path.suffix in (".arrow", ".feather", ".ipc") else "parquet"
    try:
        return arrow.dataset(path, format=form)
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} is not a {form} table ({error})") from None


def _two_dimensional(shape: tuple[int, ...]) -> tuple[int, int]:
    if len(shape) == 1:
        shape = (shape[0], 1)
    if len(shape) != 2 or 0 in shape:
        raise ValueError(
            f"streamed data must have two dimensions (rows are samples) and not be empty, got shape {shape}"
        )
    return shape[0], shape[1]


def _cuts(shape: tuple[int, int], dtype: np.dtype, block_bytes: int, multiple: int) -> list[int]:
    rows = max(1, block_bytes // (shape[1] * dtype.itemsize))
    rows = max(rows // multiple, 1) * multiple
    return [*range(0, shape[0], rows), shape[0]]


def _forget(array: Any) -> None:
    """Let the pages of a memory map go: they count as our memory until somebody else needs it."""
    while isinstance(array, np.ndarray):
        array = array.base
    if isinstance(array, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        array.madvise(mmap.MADV_DONTNEED)
