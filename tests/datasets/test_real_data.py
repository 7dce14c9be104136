"""The published files, counted. These tests need them: set FRANKWOLFE_DATA."""

import bz2

import numpy as np
import pytest

from frankwolfe import datasets
from frankwolfe.datasets import DatasetError, load

pytestmark = pytest.mark.data

COUNTS = {
    "a9a": (32561, 123, 451592, {-1: 24720, 1: 7841}),
    "a9a.t": (16281, 123, 225731, {-1: 12435, 1: 3846}),
    "mushrooms": (8124, 112, 170604, {1: 3916, 2: 4208}),
    "mnist": (60000, 784, 8994156, {"not 4": 54158, "4": 5842}),
    "mnist.t": (10000, 784, 1511219, {"not 4": 9018, "4": 982}),
    "movielens100k": (943, 1682, 100000, {1: 6110, 2: 11370, 3: 27145, 4: 34174, 5: 21201}),
}


@pytest.mark.parametrize("name", COUNTS)
def test_the_table_counts_what_was_published(name, data):
    (row,) = datasets.table([name], directory=data, download=False)
    assert (row.rows, row.columns, row.nonzeros, row.classes) == COUNTS[name]
    about = datasets.info(name)
    assert (about.rows, about.columns, about.nonzeros) == COUNTS[name][:3]


@pytest.mark.slow
def test_covtype(data, cache):
    first = load("covtype", directory=data, download=False)
    assert datasets.count(first) == datasets.Counts("covtype", 581012, 54, 6940438, {1: 297711, 2: 283301})
    assert len(list((cache / "parsed").iterdir())) == 1
    train = load("covtype", directory=data, split="train")  # from the cache
    assert train.shape == (406709, 54)
    rest = load("covtype", directory=data, split="test")
    assert train.A.nnz + rest.A.nnz == first.A.nnz
    assert train.b.sum() + rest.b.sum() == first.b.sum() == 283301 - 297711


def test_the_test_set_of_a9a_has_the_width_of_the_training_set(data):
    test = load("a9a.t", directory=data)
    assert test.A.indices.max() == 121
    assert test.shape[1] == load("a9a", directory=data).shape[1] == 123


def test_the_environment_variable_is_used(data, monkeypatch):
    monkeypatch.setenv("FRANKWOLFE_DATA", str(data))
    assert load("mushrooms", download=False).b.sum() == 4208 - 3916


def test_mnist_pixels_are_scaled(data):
    scaled, raw = (load("mnist.t", directory=data, raw=raw) for raw in (False, True))
    assert (scaled.A.min(), scaled.A.max(), scaled.A.dtype) == (0.0, 1.0, np.float64)
    np.testing.assert_array_equal(scaled.A * 255, raw.A)
    for digit in (0, 7):
        assert (load("mnist.t", directory=data, digit=digit).b > 0).sum() == datasets.info("mnist.t").classes[digit]


@pytest.mark.parametrize(("center", "norm"), [(True, 22.2599), (False, 18.7576)])
def test_nuclear_norm_of_the_preprocessed_ratings(center, norm, data):
    ratings = load("movielens100k", directory=data, center=center)
    gram = (ratings.tocsr() @ ratings.tocsr().T).toarray()
    found = np.sqrt(np.linalg.eigvalsh(gram).clip(0)).sum()
    assert found == pytest.approx(norm, abs=1e-4)
    assert np.linalg.norm(ratings.values) == pytest.approx(1)
    if center:
        assert ratings.scale == pytest.approx(288.80, abs=0.005)


@pytest.mark.parametrize("k", range(1, 6))
def test_the_published_splits_partition_the_ratings(k, data):
    def entries(split):
        ratings = load("movielens100k", directory=data, split=split, raw=True)
        return set(zip(ratings.rows.tolist(), ratings.cols.tolist(), ratings.values.tolist(), strict=True))

    base, test = entries(f"u{k}.base"), entries(f"u{k}.test")
    assert (len(base), len(test)) == (80000, 20000)
    assert base | test == entries(None)


def test_an_extracted_archive_is_read_too(data, tmp_path):
    import zipfile

    (tmp_path / "ml-100k").mkdir()
    with zipfile.ZipFile(data / "ml-100k.zip") as archive:
        for name in ("u.data", "u1.test"):
            (tmp_path / "ml-100k" / name).write_bytes(archive.read(f"ml-100k/{name}"))
    for directory in (tmp_path, tmp_path / "ml-100k"):
        assert load("movielens100k", directory=directory, raw=True).values.size == 100000
        assert load("movielens100k", directory=directory, raw=True, split="u1.test").values.size == 20000
    with pytest.raises(DatasetError, match=r"ml-100k\.zip is not in .*download=False"):
        load("movielens100k", directory=tmp_path, split="u2.base", download=False)


def test_a_file_cut_short_is_refused(data, tmp_path):
    text = bz2.decompress((data / "mushrooms.bz2").read_bytes())
    for cut in (1, 2, 4, 10000):  # the first two lose only the end of the line
        (tmp_path / "mushrooms").write_bytes(text[:-cut])
        with pytest.raises(DatasetError, match="mushrooms"):
            load("mushrooms", directory=tmp_path)
    (tmp_path / "mushrooms.txt").write_bytes(text)
    (tmp_path / "mushrooms").unlink()
    assert load("mushrooms", directory=tmp_path).shape == (8124, 112)
