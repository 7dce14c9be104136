"""The datasets that are known by name: where they live, and what must be in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["REGISTRY", "DataFile", "DatasetInfo"]

_LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary"
_MNIST = ("https://ossci-datasets.s3.amazonaws.com/mnist", "https://storage.googleapis.com/cvdf-datasets/mnist")
_GROUPLENS = "https://files.grouplens.org/datasets/movielens"

_LIBSVM_SOURCE = "LIBSVM data page (Chang and Lin, 2011), https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/"
_MNIST_SOURCE = "MNIST (LeCun, Cortes and Burges)"
_MOVIELENS_SOURCE = (
    "MovieLens (Harper and Konstan, 2015), https://grouplens.org/datasets/movielens/100k/; "
    "not to be redistributed, no commercial use"
)


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
    """

    name: str
    urls: tuple[str, ...]
    size: int
    sha256: str
    stems: tuple[str, ...]
    member: str = ""


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


def _libsvm_info(
    name: str,
    shape: tuple[int, int],
    nonzeros: int,
    classes: dict[int, int],
    file: DataFile,
    description: str,
) -> DatasetInfo:
    return DatasetInfo(name, "libsvm", *shape, nonzeros, classes, {"data": file}, description, _LIBSVM_SOURCE)


def _libsvm_file(name: str, size: int, sha256: str, *more_stems: str) -> DataFile:
    stem = name.removesuffix(".bz2")
    stems = tuple(s + end for s in (stem, *more_stems) for end in ("", ".txt", ".libsvm", ".svm"))
    return DataFile(name, (f"{_LIBSVM}/{name}",), size, sha256, stems)


def _mnist_file(stem: str, size: int, sha256: str) -> DataFile:
    name = f"{stem}.gz"
    plain = stem, stem.replace("-idx", ".idx")  # both spellings are about
    stems = tuple(folder + s for folder in ("", "mnist/", "MNIST/raw/") for s in plain)
    return DataFile(name, tuple(f"{mirror}/{name}" for mirror in _MNIST), size, sha256, stems)


def _movielens_file(stem: str, size: int, sha256: str) -> DataFile:
    url = f"{_GROUPLENS}/ml-100k.zip"
    return DataFile("ml-100k.zip", (url,), size, sha256, (stem, f"ml-100k/{stem}"), f"ml-100k/{stem}")


_A9A = _libsvm_file("a9a", 2329875, "f5d5ffd8d865ff41328e7ee043e4b020816914ff6843ff15b98905ddbedce906")
_A9A_TEST = _libsvm_file("a9a.t", 1164628, "1f448a153f0320399a7e40836eb207655b0bde0f21fc941cc472193daa9f5de9")
_MUSHROOMS = _libsvm_file("mushrooms", 879712, "f39a4eb628dc61a7d43760815b061c9e497aa728ce1ad8bde57a09ef6043b538")
_COVTYPE = _libsvm_file(
    "covtype.libsvm.binary.scale.bz2",
    71183474,
    "859809c092ca933e1a8cc1cfa15e33b56cb11651e4e0a5b52b702abc315a6c0f",
    "covtype.binary.scale",
    "covtype.scale",
    "covtype",
)
_TRAIN = {
    "images": _mnist_file(
        "train-images-idx3-ubyte", 47040016, "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"
    ),
    "labels": _mnist_file(
        "train-labels-idx1-ubyte", 60008, "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"
    ),
}
_T10K = {
    "images": _mnist_file(
        "t10k-images-idx3-ubyte", 7840016, "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"
    ),
    "labels": _mnist_file(
        "t10k-labels-idx1-ubyte", 10008, "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"
    ),
}
_RATINGS = {
    "u.data": _movielens_file("u.data", 1979173, "06416e597f82b7342361e41163890c81036900f418ad91315590814211dca490"),
    "u1.base": _movielens_file("u1.base", 1586544, "ce253ec86c448b44fb3ba9a30d12dcfc2e9210cbde71efada3730c22e9ac212a"),
    "u1.test": _movielens_file("u1.test", 392629, "18c6014a4b2c7324f250a63f8904a7b16b2b19f911129e346141507b0cbac950"),
    "u2.base": _movielens_file("u2.base", 1583948, "6c06f0b5df4b256da1a994f3ac66edc8da4d3f09bc9282df6b14d893366d703e"),
    "u2.test": _movielens_file("u2.test", 395225, "4de658d1e04ed9104629509a2e2528fce833ac8e048280183f1df167632038c3"),
    "u3.base": _movielens_file("u3.base", 1582546, "afdc155c291c6edc41c0407e39d7462eb98d341e064f0b0a12175b80b3c4af5d"),
    "u3.test": _movielens_file("u3.test", 396627, "0f548b51c78327de4c156461d3e430b7e5579fe2b5681586a59416e48fd35f6d"),
    "u4.base": _movielens_file("u4.base", 1581878, "219f0f4d40dfe9c5141d425f53fa91ee23ed275f14e280bbf1b50117afb064ca"),
    "u4.test": _movielens_file("u4.test", 397295, "7c02ad0a1e7ab1083c8b9d4b627203a051dd7b5eab46d99fa44de33470de8db9"),
    "u5.base": _movielens_file("u5.base", 1581776, "a9574e59ce961eec2121627760b6e9b0974ce1637b3fe69ac32cb14a4bfab485"),
    "u5.test": _movielens_file("u5.test", 397397, "351cc52e0d15b6c721466276fc24671d40936899e3d01fadeaf312915b8c5634"),
}
_DIGITS = {0: 5923, 1: 6742, 2: 5958, 3: 6131, 4: 5842, 5: 5421, 6: 5918, 7: 6265, 8: 5851, 9: 5949}
_DIGITS_TEST = {0: 980, 1: 1135, 2: 1032, 3: 1010, 4: 982, 5: 892, 6: 958, 7: 1028, 8: 974, 9: 1009}

REGISTRY: dict[str, DatasetInfo] = {
    entry.name: entry
    for entry in (
        _libsvm_info(
            "a9a",
            (32561, 123),
            451592,
            {-1: 24720, 1: 7841},
            _A9A,
            "Census income (Adult), features made binary: does a person earn more than 50000 dollars a year?",
        ),
        _libsvm_info(
            "a9a.t",
            (16281, 123),
            225731,
            {-1: 12435, 1: 3846},
            _A9A_TEST,
            "Test set of a9a; the file itself uses 122 of the 123 features",
        ),
        _libsvm_info(
            "mushrooms",
            (8124, 112),
            170604,
            {1: 3916, 2: 4208},
            _MUSHROOMS,
            "Mushrooms described by categories, one-hot, 21 nonzeros each: poisonous (1) or edible (2)?",
        ),
        _libsvm_info(
            "covtype",
            (581012, 54),
            6940438,
            {1: 297711, 2: 283301},
            _COVTYPE,
            "Forest cover of 30 m cells from maps, features scaled to [0, 1]: 2 is lodgepole pine, 1 the rest",
        ),
        DatasetInfo(
            "mnist",
            "idx",
            60000,
            784,
            8994156,
            _DIGITS,
            _TRAIN,
            "Handwritten digits, 28 x 28 grey pixels, training set: one digit against the rest",
            _MNIST_SOURCE,
        ),
        DatasetInfo(
            "mnist.t",
            "idx",
            10000,
            784,
            1511219,
            _DIGITS_TEST,
            _T10K,
            "Handwritten digits, 28 x 28 grey pixels, test set: one digit against the rest",
            _MNIST_SOURCE,
        ),
        DatasetInfo(
            "movielens100k",
            "ratings",
            943,
            1682,
            100000,
            {},
            _RATINGS,
            "Ratings of films from 1 to 5 by people who rated at least 20",
            _MOVIELENS_SOURCE,
        ),
    )
}
