"""One function for all datasets."""

from __future__ import annotations

import difflib
import os
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal, TypedDict, Unpack, overload

import numpy as np

from ._archives import read_file, unpack
from ._cache import parsed_key, read_parsed, write_parsed
from ._checks import check_counts, check_options
from ._errors import DatasetError
from ._fetch import check_content, unpack_known
from ._idx import parse_images, parse_labels
from ._labels import Labels, take, to_binary
from ._libsvm import parse_libsvm
from ._locate import Access, Source, local_directory, read_known
from ._ratings import Effects, fit_effects, parse_ratings
from ._registry import REGISTRY, DataFile, DatasetInfo
from ._types import Counts, Dataset, Ratings, count

__all__ = ["info", "load", "names", "table"]


class Options(TypedDict, total=False):
    """The options of `load`, for type checkers."""

    directory: str | os.PathLike[str] | None
    labels: Labels
    digit: int
    n_features: int | None
    raw: bool
    center: bool
    split: str | None
    fraction: float
    seed: int
    download: bool
    cache: bool | None
    progress: bool | None


@overload
def load(name: Literal["movielens100k"], **options: Unpack[Options]) -> Ratings: ...


@overload
def load(name: str | os.PathLike[str], **options: Unpack[Options]) -> Dataset: ...


def load(
    name: str | os.PathLike[str],
    *,
    directory: str | os.PathLike[str] | None = None,
    labels: Labels = "binary",
    digit: int = 4,
    n_features: int | None = None,
    raw: bool = False,
    center: bool = True,
    split: str | None = None,
    fraction: float = 0.7,
    seed: int = 0,
    download: bool = True,
    cache: bool | None = None,
    progress: bool | None = None,
) -> Dataset | Ratings:
    """Load a dataset by name, or any LIBSVM file by its path.

    Parameters
    ----------
    name : str or path
        One of `names`, or the path of a LIBSVM file, plain or packed (bz2, gz, xz, zip). A name wins over a file of
        that name in the working directory; write ``"./a9a"`` for the file.
    directory : str or path, optional
        Where to look first; by default the directory in the environment variable ``FRANKWOLFE_DATA``.
    labels : {"binary", "raw"}, default "binary"
        Two classes as -1.0 and +1.0 (the larger label is +1; for MNIST ``digit`` is +1), or the labels as they are.
    digit : int, default 4
        MNIST only: the digit to tell from the others.
    n_features : int, optional
        LIBSVM files only: the number of columns; by default the largest index in the file.
    raw : bool, default False
        MNIST: pixels as bytes 0..255, not as floats 0..1. MovieLens: ratings 1..5, neither centred nor scaled.
    center : bool, default True
        MovieLens only: take off user and item effects before scaling to unit norm.
    split : str, optional
        ``"train"`` or ``"test"``: a random part of the rows, and the rest. MovieLens: the published ``"u1.base"``,
        ``"u1.test"``, ..., ``"u5.test"``; effects and scale of a test set are those of its base set.
    fraction, seed : float and int, default 0.7 and 0
        The part of the rows in ``"train"``, rounded up, and the seed it is drawn with. The draw is the same on every
        machine.
    download : bool, default True
        Fetch a dataset that is not here from its public source, once.
    cache : bool, optional
        Keep the parsed form for faster loading: True for every LIBSVM file, False for none; by default for the
        datasets known by name. ``FRANKWOLFE_CACHE`` overrides the place.
    progress : bool, optional
        Show a progress bar while downloading; by default only on a terminal.

    Returns
    -------
    Dataset or Ratings
        `Ratings` for MovieLens, else `Dataset`.

    Raises
    ------
    DatasetError
        If the file is missing, damaged, or not what it should be; the message says where and what to do.

    Notes
    -----
    A dataset known by name is the published one bit for bit (once unpacked), or an error. To load a changed copy, give
    its path.

    Examples
    --------
    >>> import os, tempfile
    >>> from frankwolfe import datasets
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "toy.svm")
    ...     with open(path, "w") as file:
    ...         _ = file.write("1 1:0.5 3:1\\n2 2:4\\n")
    ...     toy = datasets.load(path)
    >>> toy.A.toarray(), toy.b, toy.classes
    (array([[0.5, 0. , 1. ], [0. , 4. , 0. ]]), array([-1.,  1.]), (1, 2))
    >>> datasets.load("covtype", split="train")  # doctest: +SKIP
    Dataset('covtype/train', 406709 samples x 54 features, ... nonzeros, classes 1 and 2)
    """
    check_options(labels, digit, n_features, split, fraction, seed)
    access = Access(directory, download, cache, progress)
    entry = REGISTRY.get(name) if isinstance(name, str) else None
    if entry is None:
        data = _load_path(_existing(name, directory), access, labels, n_features)
    elif entry.kind == "ratings":
        return _load_ratings(entry, access, split, raw=raw, center=center)
    elif entry.kind == "idx":
        data = _load_images(entry, access, labels, digit, raw=raw)
    else:
        if n_features not in (None, entry.columns):
            raise ValueError(f"n_features must be left out for {name!r}, which has {entry.columns}, got {n_features}")
        data = _load_known_libsvm(entry, access, labels)
    return data if split is None else _split(data, split, fraction, seed)


def names() -> tuple[str, ...]:
    """Return the datasets known by name.

    Examples
    --------
    >>> names()
    ('a9a', 'a9a.t', 'mushrooms', 'covtype', 'mnist', 'mnist.t', 'movielens100k')
    """
    return tuple(REGISTRY)


def info(name: str) -> DatasetInfo:
    """Return what is known of a dataset without loading it.

    Examples
    --------
    >>> about = info("mushrooms")
    >>> about.rows, about.columns, about.nonzeros, about.classes
    (8124, 112, 170604, {1: 3916, 2: 4208})
    """
    if name not in REGISTRY:
        raise _unknown(name)
    return REGISTRY[name]


def table(
    names: tuple[str, ...] | list[str] | None = None,
    *,
    directory: str | os.PathLike[str] | None = None,
    download: bool = True,
    cache: bool | None = None,
    progress: bool | None = None,
) -> tuple[Counts, ...]:
    """Count rows, columns, nonzeros and classes from the files themselves, one entry a dataset.

    Parameters
    ----------
    names : sequence of str, optional
        Names or paths; by default all datasets known by name.
    directory, download, cache, progress
        As in `load`.

    Examples
    --------
    >>> table(["mushrooms"])[0].density  # doctest: +SKIP
    0.1875
    """
    chosen = REGISTRY if names is None else names
    access: Options = {"directory": directory, "download": download, "cache": cache, "progress": progress}
    return tuple(count(load(name, raw=True, **access)) for name in chosen)


def _load_known_libsvm(entry: DatasetInfo, access: Access, labels: Labels) -> Dataset:
    file = entry.files["data"]

    def parse(source: Source):
        content = partial(unpack_known, source.raw, source.label, file, source.member)
        A, y = _parse_cached(source, content, entry.columns, access.cache is not False, check=(entry, file))
        return A, y

    A, y = read_known(file, access, parse)
    b, classes = to_binary(y, entry.name) if labels == "binary" else (y, _distinct(y))
    return Dataset(entry.name, A, b, classes, entry.description, entry.source)
