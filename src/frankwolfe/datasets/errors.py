"""The one error of this subpackage, and how its messages are worded."""

from __future__ import annotations


class DatasetError(ValueError):
    """A data file is missing, damaged, or not what its name promises.

    The message names the file, the line where there is one, and what to do about it.
    """


def show(token: bytes, limit: int = 40) -> str:
    """Quote a piece of a data file so that any byte of it can stand in a message.

    Examples
    --------
    >>> show(b"3:x"), show(bytes([0, 255]))
    ("'3:x'", "'\\\\x00\\\\xff'")
    """
    text = "".join(chr(c) if 32 <= c < 127 else f"\\x{c:02x}" for c in token[:limit])
    return f"'{text}'" + ("..." if len(token) > limit else "")
