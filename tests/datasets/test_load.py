"""The public functions, on made-up files."""

import bz2
import gzip
import sys

import numpy as np
import pytest
from tests.datasets.test_idx import idx

from frankwolfe import datasets
from frankwolfe.datasets import DatasetError, load

RATINGS = b"1\t1\t5\t0\n1\t2\t3\t0\n2\t1\t4\t0\n2\t3\t1\t0\n3\t3\t2\t0\n"


@pytest.fixture
def toy(tmp_path):
    path = tmp_path / "toy.svm"
    path.write_bytes(b"0 1:0.5 3:1\n3 2:4\n0 1:2\n3 3:1\n0 2:7\n")
    return path


def test_a_file_by_its_path(toy):
    data = load(toy)
    assert data.b.tolist() == [-1, 1, -1, 1, -1]
    assert data.classes == (0, 3)
    assert data.shape == (5, 3)
    assert data.name == data.source == str(toy)
    assert load(str(toy), n_features=9).shape == (5, 9)
    assert load(toy.name, directory=toy.parent).shape == (5, 3)
    assert repr(data) == f"Dataset({str(toy)!r}, 5 samples x 3 features, 6 nonzeros, classes 0 and 3)"
    with pytest.raises(AttributeError):
        data.name = "other"


def test_raw_labels_may_be_anything(tmp_path):
    (tmp_path / "r.svm").write_bytes(b"0.5 1:1\n2 1:1\n-3 1:1\n")
    with pytest.raises(
        DatasetError, match=r'r\.svm: 3 different labels, but two classes are needed; give labels="raw"'
    ):
        load(tmp_path / "r.svm")
    data = load(tmp_path / "r.svm", labels="raw")
    assert data.b.tolist() == [0.5, 2, -3]
    assert data.classes == (-3, 0.5, 2)
    assert "3 labels" in repr(data)


def test_splits_of_a_file(toy):
    whole, train, test = (load(toy, split=part, fraction=0.6, seed=1) for part in (None, "train", "test"))
    assert (train.shape, test.shape) == ((3, 3), (2, 3))
    rows = {tuple(row) for row in whole.A.toarray().tolist()}
    assert {tuple(row) for part in (train, test) for row in part.A.toarray().tolist()} == rows
    assert train.name.endswith("toy.svm/train")
    assert "seed 1" in train.description
    with pytest.raises(ValueError, match="split must be None, 'train' or 'test'"):
        load(toy, split="u1.base")
    with pytest.raises(DatasetError, match=r"5 rows leave none for split='test' with fraction=0.9"):
        load(toy, split="test", fraction=0.9)


@pytest.mark.parametrize("name", ["nothing.svm", "a\0b", "~nobody/x", "", "."])
def test_unknown_names_are_one_clear_error(name):
    with pytest.raises(
        DatasetError, match=r"is neither a file nor a dataset known by name; known: a9a, a9a.t, mushrooms"
    ):
        load(name)


def test_a_slip_of_the_pen_is_noticed():
    with pytest.raises(DatasetError, match="did you mean 'mushrooms'"):
        load("mushroom")
    with pytest.raises(DatasetError, match="did you mean 'covtype'"):
        datasets.info("covtyp")
    with pytest.raises(TypeError, match="name must be the name of a dataset or the path of a file, got 3"):
        load(3)


def test_a_directory_that_does_not_exist_is_an_error(tmp_path, monkeypatch):
    with pytest.raises(DatasetError, match=r"directory '.*absent' does not exist"):
        load("a9a", directory=tmp_path / "absent")
    monkeypatch.setenv("FRANKWOLFE_DATA", str(tmp_path / "absent"))
    with pytest.raises(DatasetError, match=r"a9a is not in '.*absent', and download=False"):
        load("a9a", download=False)


def test_known_files_must_be_the_published_ones(tmp_path, tiny):
    content = tiny()
    path = tmp_path / "tiny"
    cases = {
        content[: content.rindex(b"2 1:1")]: "tiny: 3 rows, the published tiny has 4",
        content.replace(b" 3:17", b""): "tiny: 6 nonzeros, the published tiny has 7",
        content.replace(b"2 2:4", b"1 2:4"): r"tiny: \{1.0: 3, 2.0: 1\} labels",
        content.replace(b"3:17", b"3:1"): "tiny: the content is not the published tiny",
        content.replace(b"3:17", b"4:17"): "tiny, line 1: feature index 4 exceeds n_features=3",
        content * 100000: "bytes unpacked, far beyond the published file",
    }
    for changed, message in cases.items():
        path.write_bytes(changed)
        with pytest.raises(DatasetError, match=message):
            load("tiny", directory=tmp_path)
    path.write_bytes(content)
    assert load("tiny", directory=tmp_path).shape == (4, 3)
    with pytest.raises(ValueError, match="n_features must be left out for 'tiny', which has 3, got 7"):
        load("tiny", directory=tmp_path, n_features=7)


def test_no_truncation_of_a_known_file_is_taken_for_it(tmp_path, tiny):
    content = tiny()
    for length in range(len(content)):
        (tmp_path / "tiny").write_bytes(content[:length])
        with pytest.raises(DatasetError, match=str(tmp_path)):
            load("tiny", directory=tmp_path)


def test_a_wrong_file_cached_under_its_path_does_not_pass_for_the_known_one(tmp_path, tiny):
    (tmp_path / "tiny").write_bytes(tiny().replace(b"3:17", b"3:1"))
    load(tmp_path / "tiny", n_features=3, cache=True)
    with pytest.raises(DatasetError, match="not the published"):
        load("tiny", directory=tmp_path, cache=True)


@pytest.mark.parametrize("name", ["a9a", "a9a.txt.gz", "a9a.bz2", "a9a.libsvm.xz", "a9a.zip"])
def test_local_names_that_are_accepted(name, tmp_path):
    (tmp_path / name).write_bytes(b"no archive, no data")
    with pytest.raises(DatasetError, match=f"{name}(, line 1)?: "):
        load("a9a", directory=tmp_path)


@pytest.fixture
def images(register, make_file, tmp_path):
    pixels, digits = np.arange(0, 240, 10).reshape(4, 2, 3), [4, 0, 9, 4]
    files = {"images": make_file("img", idx(pixels)), "labels": make_file("lab", idx(digits))}
    register("digits", "idx", (4, 6), 23, {4: 2, 0: 1, 9: 1}, files)
    (tmp_path / "img.gz").write_bytes(gzip.compress(idx(pixels)))
    (tmp_path / "lab").write_bytes(idx(digits))
    return pixels.reshape(4, 6)


def test_images(images, tmp_path):
    data = load("digits", directory=tmp_path)
    np.testing.assert_array_equal(data.A, images / 255)
    assert data.b.tolist() == [1, -1, -1, 1]
    assert data.classes == ("not 4", "4")
    assert load("digits", directory=tmp_path, digit=9).b.tolist() == [-1, -1, 1, -1]
    raw = load("digits", directory=tmp_path, raw=True, labels="raw")
    assert raw.A.dtype == np.uint8
    assert raw.A.flags.writeable
    assert raw.b.tolist() == [4, 0, 9, 4]
    assert raw.classes == tuple(range(10))
    assert datasets.count(raw).classes == {0: 1, 4: 2, 9: 1}
    assert load("digits", directory=tmp_path, split="train", fraction=0.5).A.shape == (2, 6)


def test_images_and_labels_must_match_and_be_the_published_ones(images, register, make_file, tmp_path):
    (tmp_path / "lab").write_bytes(idx([4, 0, 9, 5]))
    with pytest.raises(DatasetError, match="lab: the content is not the published lab"):
        load("digits", directory=tmp_path)
    (tmp_path / "lab").write_bytes(idx([4, 0, 9]))
    files = {"images": make_file("img", idx(images.reshape(4, 2, 3))), "labels": make_file("lab", idx([4, 0, 9]))}
    register("digits", "idx", (4, 6), 23, {}, files)
    with pytest.raises(DatasetError, match="digits: 4 images but 3 labels"):
        load("digits", directory=tmp_path)


@pytest.fixture
def films(register, make_file, tmp_path):
    lines = RATINGS.splitlines(keepends=True)
    parts = {"u.data": RATINGS, "u1.base": b"".join(lines[:4]), "u1.test": lines[4]}
    files = {n: make_file("ml.zip", c, (), (n, f"ml/{n}"), f"ml/{n}") for n, c in parts.items()}
    register("films", "ratings", (3, 3), 5, {}, files)
    (tmp_path / "ml").mkdir()
    (tmp_path / "u.data.bz2").write_bytes(bz2.compress(RATINGS))
    for name in ("u1.base", "u1.test"):
        (tmp_path / "ml" / name).write_bytes(parts[name])


def test_ratings(films, tmp_path):
    raw = load("films", directory=tmp_path, raw=True)
    assert raw.rows.tolist() == [0, 0, 1, 1, 2]
    assert raw.cols.tolist() == [0, 1, 0, 2, 2]
    assert raw.values.tolist() == [5, 3, 4, 1, 2]
    assert raw.tocsr().toarray().tolist() == [[5, 3, 0], [4, 0, 1], [0, 0, 2]]
    assert (raw.scale, raw.shape, repr(raw)) == (1.0, (3, 3), "Ratings('films', 5 of 3 x 3 entries)")
    for center in (True, False):
        data = load("films", directory=tmp_path, center=center)
        assert np.linalg.norm(data.values) == pytest.approx(1)
        assert data.user_effects.any() == center
        np.testing.assert_allclose(data.to_ratings(), raw.values)
        assert datasets.count(data).classes == {1: 1, 2: 1, 3: 1, 4: 1, 5: 1}


def test_a_test_set_is_seen_with_the_eyes_of_its_base_set(films, tmp_path):
    base, test = (load("films", directory=tmp_path, split=s) for s in ("u1.base", "u1.test"))
    assert base.name == "films/u1.base"
    np.testing.assert_array_equal(base.item_effects, test.item_effects)
    assert base.scale == test.scale
    assert base.user_effects[2] == 0  # that user is in the test set only
    np.testing.assert_allclose(test.to_ratings(), [2])
    np.testing.assert_allclose(test.to_ratings(np.zeros(1)), test.item_effects[[2]])
    with pytest.raises(
        ValueError, match=r"split must be None or one of \('u1.base', 'u1.test'\) for 'films', got 'u9'"
    ):
        load("films", directory=tmp_path, split="u9")


def test_no_truncation_of_known_ratings_is_taken_for_them(films, tmp_path):
    (tmp_path / "u.data.bz2").unlink()
    for length in range(len(RATINGS)):
        (tmp_path / "u.data").write_bytes(RATINGS[:length])
        with pytest.raises(DatasetError, match=r"u\.data"):
            load("films", directory=tmp_path)
    (tmp_path / "u.data").write_bytes(RATINGS[: RATINGS.rindex(b"3\t3")])
    with pytest.raises(DatasetError, match=r"u\.data: 4 ratings, the published u\.data has 5"):
        load("films", directory=tmp_path)


def test_table_counts_from_the_files(tiny, toy, films, images, tmp_path):
    (tmp_path / "tiny").write_bytes(tiny())
    rows = datasets.table(["tiny", str(toy), "films", "digits"], directory=tmp_path)
    assert [(r.rows, r.columns, r.nonzeros) for r in rows] == [(4, 3, 7), (5, 3, 6), (3, 3, 5), (4, 6, 23)]
    assert rows[0].classes == {1: 2, 2: 2}
    assert rows[3].classes == {"not 4": 2, "4": 2}
    assert rows[0].density == pytest.approx(7 / 12)


def test_every_known_dataset_describes_itself():
    for name in datasets.names():
        entry = datasets.info(name)
        assert entry.name == name
        assert entry.description
        assert entry.source
        assert not entry.classes or sum(entry.classes.values()) == entry.rows
        for file in entry.files.values():
            assert file.urls
            assert all(url.startswith("https://") and url.endswith(file.name) for url in file.urls)
            assert len(file.sha256) == 64


def test_a_missing_scikit_learn_names_the_remedy(toy, monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with pytest.raises(ImportError, match=r'scikit-learn; install it with: pip install "frankwolfe\[data\]"'):
        load(toy)
