"""One function for all datasets."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Literal, TypedDict, Unpack, overload

from frankwolfe.datasets.archives import DatasetError
from frankwolfe.datasets.files import Access, local_directory
from frankwolfe.datasets.readers import (
    Labels,
    check_options,
    load_images,
    load_libsvm,
    load_path,
    load_ratings,
    split_rows,
)
from frankwolfe.datasets.registry import REGISTRY, DatasetInfo
from frankwolfe.datasets.types import Counts, Dataset, Ratings, count


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
        machine. The paper's covtype is such a split, of an unknown seed.
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
    check_options(labels, digit, n_features, fraction, seed)
    access = Access(directory, download, cache, progress)
    entry = REGISTRY.get(name) if isinstance(name, str) else None
    if entry is not None and entry.kind == "ratings":
        return load_ratings(entry, access, split, raw=raw, center=center)
    if split not in (None, "train", "test"):
        raise ValueError(f"split must be None, 'train' or 'test' for {str(name)!r}, got {split!r}")
    if entry is None:
        data = load_path(_existing(name, directory), access, labels, n_features)
    elif entry.kind == "idx":
        data = load_images(entry, access, labels, digit, raw=raw)
    else:
        if n_features not in (None, entry.columns):
            raise ValueError(f"n_features must be left out for {name!r}, which has {entry.columns}, got {n_features}")
        data = load_libsvm(entry, access, labels)
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
    names: Iterable[str] | None = None,
    *,
    directory: str | os.PathLike[str] | None = None,
    download: bool = True,
    cache: bool | None = None,
    progress: bool | None = None,
) -> tuple[Counts, ...]:
    """Count rows, columns, nonzeros and classes from the files themselves, one entry a dataset.

    Parameters
    ----------
    names : iterable of str, optional
        Names or paths; by default all datasets known by name.
    directory, download, cache, progress
        As in `load`.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open(os.path.join(folder, "toy.svm"), "w") as file:
    ...         _ = file.write("1 1:0.5 3:1\\n2 2:4\\n")
    ...     rows = table(["toy.svm"], directory=folder)
    >>> rows[0].rows, rows[0].columns, rows[0].nonzeros, rows[0].density, rows[0].classes
    (2, 3, 3, 0.5, {1: 1, 2: 1})
    """
    return tuple(
        count(load(name, raw=True, directory=directory, download=download, cache=cache, progress=progress))
        for name in (REGISTRY if names is None else names)
    )


def _split(data: Dataset, part: str, fraction: float, seed: int) -> Dataset:
    rows = split_rows(data.b.size, part, fraction, seed)
    if not rows.size:
        raise DatasetError(f"{data.name}: {data.b.size} rows leave none for split={part!r} with fraction={fraction!r}")
    about = f"{data.description} ({part} part of a {fraction:g} split, seed {seed})"
    return replace(data, name=f"{data.name}/{part}", A=data.A[rows], b=data.b[rows], description=about)


def _existing(name: str | os.PathLike[str], directory: str | os.PathLike[str] | None) -> Path:
    """Return the path of a file that is not known by name, as it stands or inside the data directory."""
    try:
        path = Path(os.path.expanduser(name))
    except TypeError:
        raise TypeError(f"name must be the name of a dataset or the path of a file, got {name!r}") from None
    folder = local_directory(directory)
    for candidate in (path, folder / path) if folder is not None else (path,):
        if candidate.is_file():
            return candidate
    raise _unknown(name)


def _unknown(name: object) -> DatasetError:
    close = difflib.get_close_matches(str(name), REGISTRY, n=1)
    hint = f"did you mean {close[0]!r}? Known" if close else "known"
    return DatasetError(f"{str(name)!r} is neither a file nor a dataset known by name; {hint}: {', '.join(REGISTRY)}")
