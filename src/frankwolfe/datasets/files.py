"""Where a known file is looked for: a local directory, then pooch's cache, then its public addresses; parsed data."""

from __future__ import annotations

import hashlib
import io
import logging
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from frankwolfe.datasets.archives import SUFFIXES, DatasetError, read_file
from frankwolfe.datasets.registry import DataFile
from frankwolfe.files import read_arrays, write_arrays
from frankwolfe.validation import optional

if TYPE_CHECKING:
    from scipy.sparse import csr_array

T = TypeVar("T")

_TIMEOUT = 30  # seconds without a byte
_LARGEST_DOWNLOAD = 2**28

# Raise it whenever the parser's answer for some file changes: older entries are then never looked at.
_PARSER_VERSION = 2


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


def cache_directory() -> Path | None:
    """Return where to keep things: ``FRANKWOLFE_CACHE``, else the system's cache directory, else nowhere."""
    chosen = os.environ.get("FRANKWOLFE_CACHE")
    if chosen:
        return Path(os.path.expanduser(chosen))
    try:
        import pooch

        return Path(pooch.os_cache("frankwolfe"))
    except (ImportError, OSError, RuntimeError):  # no pooch, or no home directory
        return None


def local_directory(directory: str | os.PathLike[str] | None) -> Path | None:
    """Return the directory asked for, else ``FRANKWOLFE_DATA``, else None."""
    chosen = directory if directory is not None else os.environ.get("FRANKWOLFE_DATA") or None
    if chosen is None:
        return None
    folder = Path(os.path.expanduser(chosen))
    if directory is not None and not folder.is_dir():
        raise DatasetError(f"directory {str(folder)!r} does not exist; give the directory that holds the data files")
    return folder


def read_known(file: DataFile, access: Access, parse: Callable[[Source], T]) -> T:
    """Parse a known file from the first place that has it.

    A local file that is wrong is an error: it is the user's, and they should know. A cached one that is wrong is
    fetched again.
    """
    folder = local_directory(access.directory)
    if folder is not None:
        names = [(stem + suffix, "") for stem in file.stems for suffix in SUFFIXES]
        for name, member in [*names, *([(file.name, file.member)] if file.member else [])]:
            if (folder / name).is_file():
                return parse(Source(str(folder / name), read_file(folder / name), member))
    where = "on this machine" if folder is None else f"in {str(folder)!r}"
    remedy = (
        f"get {file.urls[0] if file.urls else file.name} by other means, put it (packed or not) in a directory, and "
        "name that directory with directory=... or in the environment variable FRANKWOLFE_DATA"
    )
    try:
        return _published(file, access, parse)
    except DatasetError as error:
        said = f"{error}. Without a network, {remedy}" if access.download else f"download=False; {remedy}"
        raise DatasetError(f"{file.name} is not {where}, and {said}") from error


def _published(file: DataFile, access: Access, parse: Callable[[Source], T]) -> T:
    """Parse a file from pooch's cache, which is filled from the first address that has the published file."""
    pooch = optional("pooch", extra="data")
    failures = []
    with tempfile.TemporaryDirectory() as scratch, _silent(pooch.get_logger()):
        cache = _writable(file) or Path(scratch)
        kept = cache / file.name
        for url in (*file.urls[:1], *file.urls) if kept.is_file() else file.urls:
            keeper = pooch.create(cache, base_url="", registry={file.name: file.packed}, urls={file.name: url})

            def process(path: str, action: str, keeper: Any, url: str = url) -> T:
                return parse(Source(url, read_file(path), file.member))

            try:
                return keeper.fetch(file.name, process, downloader=_Downloader(access))
            except DatasetError as error:
                failures.append(str(error))
            except ValueError as error:  # of pooch: not the hash in the registry
                failures.append(f"{url}: the content is not the published {file.name} ({error})")
            kept.unlink(missing_ok=True)
    raise DatasetError("; ".join(failures) or f"{file.name}: no address to download it from")


def _writable(file: DataFile) -> Path | None:
    """Return where downloads are kept, or None if the file could not be put there."""
    root = cache_directory()
    if root is None:
        return None
    folder = root / "downloads"
    with suppress(OSError):  # read-only, full, not a directory, ...
        folder.mkdir(parents=True, exist_ok=True)
    return folder if (folder / file.name).is_file() or os.access(folder, os.W_OK) else None


class _Downloader:
    """A downloader for pooch: bounded in size and in patience, with a bar on a terminal, or refusing."""

    def __init__(self, access: Access) -> None:
        self.access = access

    def __call__(self, url: str, output_file: str, keeper: Any) -> None:
        if not self.access.download:
            raise DatasetError("download=False")
        pooch, tqdm = optional("pooch", extra="data"), optional("tqdm", extra="data").tqdm
        hidden = None if self.access.progress is None else not self.access.progress  # None: shown on a terminal
        form: Any = {"unit": "B", "unit_scale": True, "leave": False, "disable": hidden}
        try:
            with _Bounded(output_file, "wb") as out, tqdm(desc=url.rpartition("/")[2], total=1, **form) as bar:
                pooch.HTTPDownloader(progressbar=bar, timeout=_TIMEOUT)(url, out, keeper)
        except Exception as error:  # of requests, urllib3, http.client, ssl and socket
            raise DatasetError(f"{url}: download failed ({_reason(error)})") from error


class _Bounded(io.FileIO):
    """A download of bounded size."""

    def write(self, data: Any, /) -> int:
        if self.tell() + len(data) > _LARGEST_DOWNLOAD:
            raise DatasetError(f"more than {_LARGEST_DOWNLOAD} bytes")
        return super().write(data)


def _reason(error: Exception) -> str:
    from requests import exceptions

    if isinstance(error, exceptions.Timeout):
        return f"no answer within {_TIMEOUT} seconds"
    if isinstance(error, exceptions.ChunkedEncodingError):
        return "the connection broke off"
    if type(error) is exceptions.ConnectionError:  # not its kin: a bad certificate has its own story to tell
        return "no connection"
    return " ".join(str(error).split())[:200] or type(error).__name__


@contextmanager
def _silent(logger: logging.Logger) -> Iterator[None]:
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def parsed(key: str, parse: Callable[[], tuple[csr_array, np.ndarray]], *, cache: bool) -> tuple[csr_array, np.ndarray]:
    """Return what was kept under a key, or else parse, and keep that."""
    if not cache:
        return parse()
    kept = read_parsed(key)
    if kept is None:
        kept = parse()
        write_parsed(key, *kept)
    return kept


def parsed_key(raw: bytes, member: str, n_features: int | None) -> str:
    """Name a parsed file by the bytes it came from and by everything else its parsing depends on."""
    whole = hashlib.sha256(raw).hexdigest()
    return hashlib.sha256(f"{whole} {member} {n_features} {_PARSER_VERSION}".encode()).hexdigest()


def _path(key: str) -> Path:
    root = cache_directory()
    if root is None:
        raise FileNotFoundError("there is no cache")
    return root / "parsed" / f"{key}.npz"


def write_parsed(key: str, A: csr_array, labels: np.ndarray) -> bool:
    """Keep a parsed matrix with its labels; say whether that worked."""
    try:
        path = _path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        arrays = {"data": A.data, "indices": A.indices, "indptr": A.indptr, "labels": labels}
        write_arrays(path, {"shape": A.shape}, arrays)
    except OSError:  # read-only, full, not a directory, ...
        return False
    return True


def read_parsed(key: str) -> tuple[csr_array, np.ndarray] | None:
    """Return what `write_parsed` kept, or None if there is nothing sound."""
    from scipy.sparse import csr_array

    try:
        header, kept = read_arrays(_path(key).read_bytes())
        A = csr_array((kept["data"], kept["indices"], kept["indptr"]), shape=tuple(header["shape"]))
        A.check_format(full_check=True)
        return (A, kept["labels"]) if kept["labels"].shape == (A.indptr.size - 1,) else None
    except Exception:  # damage shows itself in a dozen ways, and all of them mean: parse the file again
        return None
