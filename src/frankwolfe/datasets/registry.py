"""The datasets that are known by name: where they live, and what must be in them, as ``registry.toml`` says."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib import resources
from typing import Any, Literal


@dataclass(frozen=True)
class DataFile:
    """One published file.

    Attributes
    ----------
    name : str
        What it is called at its source, and in the cache.
    urls : tuple of str
        Where it can be fetched, best first.
    size, sha256 : int and str
        Of the *content*: the same data come packed in many ways.
    stems : tuple of str
        Names it may have in a local directory, before a suffix such as ``.bz2``.
    member : str, default ""
        Its name inside ``name``, where that is a zip archive of several files.
    packed : str, optional
        The sha256 of ``name`` as it is published, where that is known.
    """

    name: str
    urls: tuple[str, ...]
    size: int
    sha256: str
    stems: tuple[str, ...]
    member: str = ""
    packed: str | None = None


@dataclass(frozen=True)
class DatasetInfo:
    """What is known of a dataset before it is loaded.

    Attributes
    ----------
    name : str
        What to give to `load`.
    kind : {"libsvm", "idx", "ratings"}
        Its format.
    rows, columns, nonzeros : int
        What the files must hold, exactly. For ratings: users, items, observed entries.
    classes : dict
        Samples of each label as it stands in the file; empty for ratings.
    files : dict of DataFile
        By their part in the dataset.
    description, source : str
        What the data are, and where they come from.
    """

    name: str
    kind: Literal["libsvm", "idx", "ratings"]
    rows: int
    columns: int
    nonzeros: int
    classes: dict[int, int]
    files: dict[str, DataFile]
    description: str
    source: str


def _stems(kind: str, name: str, also: list[str]) -> tuple[str, ...]:
    """Return the names that a file may have in a local directory."""
    if kind == "libsvm":
        plain = name.removesuffix(".bz2")
        return tuple(stem + end for stem in (plain, *also) for end in ("", ".txt", ".libsvm", ".svm"))
    plain = name.removesuffix(".gz")
    spellings = plain, plain.replace("-idx", ".idx")  # both are about
    return tuple(folder + stem for folder in ("", "mnist/", "MNIST/raw/") for stem in spellings)


def _file(kind: str, urls: list[str], part: str, entry: dict[str, Any], archive: dict[str, str] | None) -> DataFile:
    size, sha256 = entry["size"], entry["sha256"]
    if archive is not None:
        name, packed = archive["name"], archive["packed"]
        member = f"{name.removesuffix('.zip')}/{part}"
        return DataFile(name, tuple(f"{url}/{name}" for url in urls), size, sha256, (part, member), member, packed)
    name = entry["name"]
    packed = entry.get("packed", None if name.endswith(".bz2") else sha256)
    stems = _stems(kind, name, entry.get("also", []))
    return DataFile(name, tuple(f"{url}/{name}" for url in urls), size, sha256, stems, packed=packed)


def _read() -> dict[str, DatasetInfo]:
    found = tomllib.loads(resources.files("frankwolfe.datasets").joinpath("registry.toml").read_text("utf-8"))
    registry = {}
    for name, entry in found["datasets"].items():
        kind, site, archive = entry["kind"], found["sites"][entry["kind"]], entry.pop("archive", None)
        entry["files"] = {part: _file(kind, site["urls"], part, file, archive) for part, file in entry["files"].items()}
        entry["classes"] = {int(label): count for label, count in entry.get("classes", {}).items()}
        registry[name] = DatasetInfo(name=name, source=site["source"], **entry)
    return registry


REGISTRY = _read()
