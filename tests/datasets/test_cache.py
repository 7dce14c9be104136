"""The cache may be absent, read-only or damaged; loading goes on."""

import os

import numpy as np
from scipy.sparse import csr_array

from frankwolfe.datasets import files, load
from frankwolfe.datasets.files import cache_directory, parsed_key, read_parsed, write_parsed
from frankwolfe.files import write_arrays

A = csr_array(np.array([[0.5, 0, 1], [0, 4, 0]]))
LABELS = np.array([1.0, 2.0])


def assert_kept(kept):
    assert kept is not None
    np.testing.assert_array_equal(kept[0].toarray(), A.toarray())
    np.testing.assert_array_equal(kept[1], LABELS)


def test_round_trip(cache):
    assert read_parsed("key") is None
    assert write_parsed("key", A, LABELS)
    assert_kept(read_parsed("key"))
    assert [p.name for p in cache.rglob("*.*")] == ["key.npz"]


def test_any_damaged_byte_or_truncation_is_noticed(cache):
    write_parsed("key", A, LABELS)
    path = cache / "parsed" / "key.npz"
    sound = path.read_bytes()
    for place in range(0, len(sound), 3):
        path.write_bytes(sound[:place])
        assert read_parsed("key") is None
        path.write_bytes(sound[:place] + bytes([sound[place] ^ 0x10]) + sound[place + 1 :])
        kept = read_parsed("key")
        if kept is not None:  # a time stamp or the like
            assert_kept(kept)


def test_arrays_that_do_not_fit_together_are_refused(cache):
    path = cache / "parsed" / "key.npz"
    path.parent.mkdir(parents=True)
    header = {"shape": A.shape}
    good = {"data": A.data, "indices": A.indices, "indptr": A.indptr, "labels": LABELS}
    for change in ({"indices": A.indices + 5}, {"indptr": A.indptr[::-1].copy()}, {"labels": np.ones(7)}):
        write_arrays(path, header, good | change)
        assert read_parsed("key") is None
    write_arrays(path, {"shape": (5, 5)}, good)
    assert read_parsed("key") is None
    np.savez(path, header=np.frombuffer(b'{"shape": [2, 3]}', np.uint8), **(good | {"labels": np.array([{}], object)}))
    assert read_parsed("key") is None
    np.save(path.with_suffix(".npy"), A.data)
    os.replace(path.with_suffix(".npy"), path)
    assert read_parsed("key") is None
    write_arrays(path, header, good)
    assert_kept(read_parsed("key"))


def test_keys_differ_with_everything_that_matters(monkeypatch):
    keys = {
        parsed_key(b"1", "", None),
        parsed_key(b"2", "", None),
        parsed_key(b"1", "x", None),
        parsed_key(b"1", "", 3),
    }
    monkeypatch.setattr(files, "_PARSER_VERSION", 99)
    assert len(keys | {parsed_key(b"1", "", None)}) == 5


def test_a_cache_that_cannot_be_written_is_no_error(monkeypatch, tmp_path, tiny):
    (tmp_path / "tiny").write_bytes(tiny())
    (tmp_path / "blocked").write_bytes(b"a file, where a directory should be")
    monkeypatch.setenv("FRANKWOLFE_CACHE", str(tmp_path / "blocked"))
    assert load("tiny", directory=tmp_path).shape == (4, 3)
    assert not write_parsed("key", A, LABELS)
    monkeypatch.setattr(files, "cache_directory", lambda: None)
    assert load("tiny", directory=tmp_path, cache=True).shape == (4, 3)


def test_the_cache_is_used_and_a_damaged_one_rebuilt(tmp_path, cache, tiny):
    (tmp_path / "tiny").write_bytes(tiny())
    first = load("tiny", directory=tmp_path)
    (entry,) = (cache / "parsed").iterdir()
    doubled = csr_array(first.A * 2)
    write_parsed(entry.stem, doubled, np.array([1.0, 2, 1, 2]))
    np.testing.assert_array_equal(load("tiny", directory=tmp_path).A.toarray(), doubled.toarray())
    np.testing.assert_array_equal(load("tiny", directory=tmp_path, cache=False).A.toarray(), first.A.toarray())
    entry.write_bytes(b"garbage")
    np.testing.assert_array_equal(load("tiny", directory=tmp_path).A.toarray(), first.A.toarray())
    assert entry.read_bytes() != b"garbage"


def test_a_changed_file_is_parsed_anew(tmp_path, cache):
    path = tmp_path / "toy.svm"
    path.write_bytes(b"1 1:1\n2 1:2\n")
    assert not cache.exists()
    for _ in range(2):
        assert load(path, cache=True).A.toarray().tolist() == [[1], [2]]
    path.write_bytes(b"1 1:1\n2 1:3\n")
    assert load(path, cache=True).A.toarray().tolist() == [[1], [3]]
    assert len(list((cache / "parsed").iterdir())) == 2


def test_files_given_by_path_are_cached_only_on_request(tmp_path, cache):
    (tmp_path / "toy.svm").write_bytes(b"1 1:1\n2 1:2\n")
    load(tmp_path / "toy.svm")
    load(tmp_path / "toy.svm", cache=False)
    assert not cache.exists()


def test_where_the_cache_is(monkeypatch, tmp_path):
    assert cache_directory() == tmp_path / "cache"
    monkeypatch.delenv("FRANKWOLFE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert "frankwolfe" in str(cache_directory())
    monkeypatch.setitem(__import__("sys").modules, "pooch", None)
    assert cache_directory() is None
