"""Files that appear whole or not at all; arrays with a JSON header in an uncompressed .npz, read without trust.

What is stored uncompressed cannot be larger than its file, and an array's size is held against its header before any
memory is taken for it: a small file cannot ask for a large amount of memory. There is no pickle, so nothing is run.
"""

from __future__ import annotations

import io
import json
import math
import os
import threading
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

LONGEST_HEADER = 64 * 2**20  # bytes of JSON


@contextmanager
def replacing(path: str | os.PathLike[str], *, durable: bool = False) -> Iterator[IO[bytes]]:
    """Open a file that replaces the one at `path` when the block ends well; a kill at any moment leaves the old one."""
    target = Path(path)
    scratch = target.with_name(f".{target.name}.{os.getpid()}-{threading.get_ident()}.tmp")
    try:
        with open(scratch, "wb") as file:
            yield file
            if durable:
                file.flush()
                os.fsync(file.fileno())
        os.replace(scratch, target)
    finally:
        scratch.unlink(missing_ok=True)
    if durable:
        with suppress(OSError):  # not every system lets a folder be opened
            handle = os.open(target.parent, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)


def write_arrays(
    path: str | os.PathLike[str], header: Mapping[str, Any], arrays: Mapping[str, Any], *, durable: bool = False
) -> None:
    """Write arrays by name, and a header of plain values; ValueError or TypeError where that does not fit JSON."""
    text = json.dumps(header, allow_nan=False)
    with replacing(path, durable=durable) as file:
        np.savez(file, **{"header": np.frombuffer(text.encode(), np.uint8), **arrays})


def read_arrays(content: bytes) -> tuple[Any, dict[str, np.ndarray]]:
    """Return the header and the arrays in a file's content; what `write_arrays` did not write raises any exception."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = archive.infolist()
        packed = any(m.compress_type != zipfile.ZIP_STORED for m in members)
        if packed or sum(m.file_size for m in members) > len(content):
            raise ValueError("compressed or overlapping parts")
        if len({m.filename for m in members}) != len(members):
            raise ValueError("the same name twice")
        if any(m.filename == "header.npy" and m.file_size > LONGEST_HEADER for m in members):
            raise ValueError("header too long")
        arrays = {m.filename.removesuffix(".npy"): _array(archive.read(m)) for m in members}
    return json.loads(bytes(arrays.pop("header"))), arrays


def _array(content: bytes) -> np.ndarray:
    stream = io.BytesIO(content)
    if npy.read_magic(stream) != (1, 0):
        raise ValueError("not a plain array")
    shape, fortran, dtype = npy.read_array_header_1_0(stream)
    body = memoryview(content)[stream.tell() :]
    if dtype.kind not in "fiub" or min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != len(body):
        raise ValueError("not a plain array of numbers")
    return np.frombuffer(body, dtype).reshape(shape, order="F" if fortran else "C").copy()
