"""Where a known file is looked for: a local directory, the cache, its public address."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeVar

from ._archives import SUFFIXES, read_file
from ._cache import cache_directory
from ._errors import DatasetError
from ._fetch import fetch
from ._registry import DataFile

__all__ = ["Access", "Source", "find_local", "local_directory", "read_known"]

T = TypeVar("T")


@dataclass(frozen=True)
class Access:
    """How the user lets us get at files; see `load`."""

    directory: str | os.PathLike[str] | None = None
    download: bool = True
    cache: bool | None = None
    progress: bool | None = None


class Source(NamedTuple):
    """A file as it was found."""

    label: str  # its path or address, for messages
    raw: bytes
    member: str  # what to take from a zip archive; "" for its only file


def local_directory(directory: str | os.PathLike[str] | None) -> Path | None:
    """Return the directory asked for, else ``FRANKWOLFE_DATA``, else None."""
    chosen = directory if directory is not None else os.environ.get("FRANKWOLFE_DATA") or None
    if chosen is None:
        return None
    folder = Path(os.path.expanduser(chosen))
    if directory is not None and not folder.is_dir():
        raise DatasetError(f"directory {str(folder)!r} does not exist; give the directory that holds the data files")
    return folder


def find_local(file: DataFile, folder: Path | None) -> tuple[Path, str] | None:
    """Return the path of a known file in a directory and what to take from it, or None."""
    if folder is None:
        return None
    loose = [(folder / (stem + suffix), "") for stem in file.stems for suffix in SUFFIXES]
    whole = [(folder / file.name, file.member)] if file.member else []
    return next((found for found in loose + whole if found[0].is_file()), None)


def read_known(file: DataFile, access: Access, parse: Callable[[Source], T]) -> T:
    """Parse a known file from the first place that has it.

    A local file that is wrong is an error: it is the user's, and they should know. A cached one that is wrong is
    fetched again.
    """
    folder = local_directory(access.directory)
    found = find_local(file, folder)
    if found is not None:
        path, member = found
        return parse(Source(str(path), read_file(path), member))
    root = cache_directory()
    cached = root / "downloads" / file.name if root is not None else None
    if cached is not None and cached.is_file():
        try:
            return parse(Source(str(cached), read_file(cached), file.member))
        except DatasetError:
            if not access.download:
                raise
    if not access.download:
        raise DatasetError(f"{_absent(file, folder)}, and download=False; {_remedy(file)}")
    try:
        url, raw = fetch(file, progress=access.progress)
    except DatasetError as error:
        raise DatasetError(f"{_absent(file, folder)}, and {error}. Without a network, {_remedy(file)}") from error
    return parse(Source(url, raw, file.member))


def _absent(file: DataFile, folder: Path | None) -> str:
    return f"{file.name} is not in {str(folder)!r}" if folder is not None else f"{file.name} is not on this machine"


def _remedy(file: DataFile) -> str:
    where = file.urls[0] if file.urls else file.name
    return (
        f"get {where} by other means, put it (packed or not) in a directory, and name that directory "
        "with directory=... or in the environment variable FRANKWOLFE_DATA"
    )
