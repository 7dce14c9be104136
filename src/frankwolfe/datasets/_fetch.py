"""Downloads: everything arrives in memory, is checked there, and only then enters the cache."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Iterator
from typing import Any

from ._archives import unpack
from ._cache import cache_directory, digest, store
from ._errors import DatasetError, unavailable
from ._registry import DataFile

__all__ = ["check_content", "fetch", "unpack_known"]

_TIMEOUT = 30  # seconds without a byte
_LARGEST_DOWNLOAD = 2**28


def fetch(file: DataFile, *, progress: bool | None = None) -> tuple[str, bytes]:
    """Download a published file, check its content, and keep it in the cache if there is one.

    Parameters
    ----------
    file : DataFile
        Its addresses are tried in order.
    progress : bool, optional
        Show a progress bar; by default only on a terminal.

    Returns
    -------
    url, raw : str and bytes
        The address that worked, and the file as it came.

    Raises
    ------
    DatasetError
        With the reason for each address. Nothing is left behind then.
    """
    failures = []
    for url in file.urls:
        try:
            raw = _download(url, file.name, progress)
            check_content(unpack_known(raw, url, file), url, file)
        except DatasetError as error:
            failures.append(str(error))
            continue
        root = cache_directory()
        if root is not None:
            store(root / "downloads" / file.name, lambda out, raw=raw: out.write(raw))
        return url, raw
    raise DatasetError("; ".join(failures) or f"{file.name}: no address to download it from")


def unpack_known(raw: bytes, label: str, file: DataFile, member: str | None = None) -> bytes:
    """Unpack a file whose size is known, and never much more than that."""
    return unpack(raw, label, member=file.member if member is None else member, limit=2 * file.size + 2**20)


def check_content(content: bytes, label: str, file: DataFile) -> None:
    """Refuse content that is not the published one, bit for bit."""
    found = digest(content)
    if found != file.sha256:
        raise DatasetError(
            f"{label}: the content is not the published {file.member or file.name} ({len(content)} bytes with sha256 "
            f"{found[:16]}..., expected {file.size} with {file.sha256[:16]}...); fetch it again"
        )


def _download(url: str, name: str, progress: bool | None) -> bytes:
    try:
        from pooch import HTTPDownloader
    except ImportError as error:
        raise unavailable("pooch", f"downloading {url}") from error
    body = _Body()
    try:
        with _bar(name, progress) as bar:
            HTTPDownloader(progressbar=bar, timeout=_TIMEOUT)(url, body, None)
    except ImportError:
        raise
    except Exception as error:  # of requests, urllib3, http.client, ssl and socket
        raise DatasetError(f"{url}: download failed ({_reason(error)})") from error
    return body.getvalue()


def _reason(error: Exception) -> str:
    from requests import exceptions

    if isinstance(error, exceptions.Timeout):
        return f"no answer within {_TIMEOUT} seconds"
    if isinstance(error, exceptions.ChunkedEncodingError):
        return "the connection broke off"
    if type(error) is exceptions.ConnectionError:  # not its kin: a bad certificate has its own story to tell
        return "no connection"
    return " ".join(str(error).split())[:200] or type(error).__name__


class _Body(io.BytesIO):
    """A download in memory, of bounded size."""

    def write(self, data: bytes, /) -> int:  # pyright: ignore[reportIncompatibleMethodOverride]
        if self.tell() + len(data) > _LARGEST_DOWNLOAD:
            raise DatasetError(f"more than {_LARGEST_DOWNLOAD} bytes")
        return super().write(data)


@contextlib.contextmanager
def _bar(name: str, progress: bool | None) -> Iterator[Any]:
    wanted = sys.stderr is not None and sys.stderr.isatty() if progress is None else progress
    try:
        from tqdm import tqdm
    except ImportError as error:
        if progress:
            raise unavailable("tqdm", "a progress bar") from error
        wanted = False
    if not wanted:
        yield False
        return
    with tqdm(desc=name, total=1, unit="B", unit_scale=True, leave=False) as bar:  # pooch sets the true total
        yield bar
