"""The one error of this subpackage, and how its messages are worded."""

from __future__ import annotations

import io
from collections.abc import Callable


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
