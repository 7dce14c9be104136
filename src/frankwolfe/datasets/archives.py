"""The one error of this subpackage, and unpacking in memory: no archive ever decides where something is written."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
from collections.abc import Callable
from pathlib import Path, PurePath
from typing import IO, Any

SUFFIXES = ("", ".bz2", ".gz", ".xz", ".zip")

_MAGIC = {b"BZh": ".bz2", b"\x1f\x8b": ".gz", b"\xfd7zXZ\x00": ".xz", b"PK\x03\x04": ".zip"}


class DatasetError(ValueError):
    """A data file is missing, damaged, or not what its name promises.

    The message names the file, the line where there is one, and what to do about it.
    """


def show(token: bytes, limit: int = 40) -> str:
    """Quote a piece of a data file so that any byte of it can stand in a message."""
    text = "".join(chr(c) if 32 <= c < 127 else f"\\x{c:02x}" for c in token[:limit])
    return f"'{text}'" + ("..." if len(token) > limit else "")


def at_fault(content: bytes, file: str, fault: Callable[[bytes], str | None], otherwise: str) -> DatasetError:
    """Return an error that names the first line with a fault, found slowly."""
    for number, line in enumerate(io.BytesIO(content), 1):
        found = fault(line.removesuffix(b"\n").removesuffix(b"\r"))
        if found:
            cut = "" if line.endswith(b"\n") else " (the last line has no end: the file may be cut short)"
            return DatasetError(f"{file}, line {number}: {found}{cut}")
    return DatasetError(f"{file}: {otherwise}")


def read_file(path: str | Path) -> bytes:
    """Read a whole file; a file that cannot be read is a `DatasetError`."""
    try:
        return Path(path).read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = getattr(error, "strerror", None) or error
        raise DatasetError(f"{path}: cannot be read ({reason}); check that it is a file you may read") from error


def unpack(raw: bytes, file: str, *, member: str = "", limit: int | None = None) -> bytes:
    """Return the content of a bz2, gz, xz or zip file, or the bytes themselves if they are not packed.

    Where `file` has no known suffix the first bytes decide. Without the name of a `member` a zip archive must hold a
    single file. More than `limit` bytes are not unpacked.
    """
    kind = PurePath(file).suffix.lower()
    if kind not in SUFFIXES[1:]:
        kind = next((suffix for magic, suffix in _MAGIC.items() if raw.startswith(magic)), "")
    if kind and not raw:
        raise DatasetError(f"{file}: the file is empty; fetch it again")
    try:
        with _open(raw, kind, file, member) as stream:
            content = stream.read(-1 if limit is None else limit + 1)
    except DatasetError:
        raise
    except Exception as error:  # the unpackers raise at least eight types; each means the same to the user
        raise DatasetError(f"{file}: damaged or incomplete archive ({error}); fetch it again") from error
    if limit is not None and len(content) > limit:
        raise DatasetError(f"{file}: more than {limit} bytes unpacked, far beyond the published file; fetch it again")
    return content


def _open(raw: bytes, kind: str, file: str, wanted: str) -> IO[bytes] | Any:
    stream = io.BytesIO(raw)
    if kind != ".zip":
        return stream if not kind else {".bz2": bz2, ".gz": gzip, ".xz": lzma}[kind].open(stream)
    archive = zipfile.ZipFile(stream)
    held = [entry.filename for entry in archive.infolist() if not entry.is_dir()]
    if wanted and wanted not in held:
        raise DatasetError(f"{file}: the archive holds no {wanted!r}; fetch the complete archive")
    if not wanted and len(held) != 1:
        raise DatasetError(f"{file}: the archive holds {len(held)} files, expected one; unpack it and give the path")
    return archive.open(wanted or held[0])
