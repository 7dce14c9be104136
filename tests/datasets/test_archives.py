"""Packed files: the same content from each, and one clear error from each damaged one."""

import bz2
import contextlib
import gzip
import io
import lzma
import random
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frankwolfe.datasets import DatasetError, load
from frankwolfe.datasets.archives import read_file, unpack

TEXT = b"1 1:0.5 3:1\n2 2:4\n" * 3


def zipped(**members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


PACKED = {
    "toy.svm.bz2": bz2.compress(TEXT),
    "toy.svm.gz": gzip.compress(TEXT),
    "toy.svm.xz": lzma.compress(TEXT),
    "toy.svm.zip": zipped(toy=TEXT),
}


@pytest.mark.parametrize("name", PACKED)
def test_packed_files_are_read_as_they_are(name, tmp_path):
    (tmp_path / name).write_bytes(PACKED[name])
    assert load(tmp_path / name).A.shape == (6, 3)


@pytest.mark.parametrize("name", PACKED)
def test_the_first_bytes_decide_without_a_suffix(name):
    assert unpack(PACKED[name], "toy") == TEXT


@pytest.mark.parametrize("name", PACKED)
def test_every_truncation_is_an_error_that_names_the_file(name):
    for length in range(len(PACKED[name])):
        with pytest.raises(DatasetError, match=name):
            unpack(PACKED[name][:length], name)


@pytest.mark.parametrize("name", PACKED)
def test_changed_bytes_are_found_or_harmless(name):
    random.seed(0)
    refused = 0
    for _ in range(200):
        raw = bytearray(PACKED[name])
        raw[random.randrange(len(raw))] ^= 1 << random.randrange(8)
        try:
            assert unpack(bytes(raw), name) == TEXT  # the change was in a header nobody reads
        except DatasetError:
            refused += 1
    assert refused > 50


@given(st.binary(max_size=80), st.sampled_from([b"", b"BZh9", b"\x1f\x8b\x08\x00", b"\xfd7zXZ\x00", b"PK\x03\x04"]))
@settings(deadline=None, max_examples=200)
def test_random_bytes_never_raise_anything_else(content, magic):
    for name in (*PACKED, "toy"):
        with contextlib.suppress(DatasetError):
            unpack(magic + content, name)


def test_a_zip_must_hold_one_file_or_the_wanted_one():
    two = zipped(one=b"1", two=b"2")
    assert unpack(two, "x.zip", member="two") == b"2"
    with pytest.raises(DatasetError, match=r"x\.zip: the archive holds 2 files, expected one"):
        unpack(two, "x.zip")
    with pytest.raises(DatasetError, match=r"x\.zip: the archive holds no 'three'"):
        unpack(two, "x.zip", member="three")
    with pytest.raises(DatasetError, match="holds 0 files"):
        unpack(zipped(), "x.zip")


def test_a_zip_member_that_points_outside_writes_nothing(tmp_path, monkeypatch):
    (tmp_path / "inner").mkdir()
    monkeypatch.chdir(tmp_path / "inner")
    (tmp_path / "inner" / "evil.zip").write_bytes(zipped(**{"../escaped": TEXT, "/tmp/x/../escaped": TEXT}))
    (tmp_path / "inner" / "one.zip").write_bytes(zipped(**{"../escaped": TEXT}))
    with pytest.raises(DatasetError, match="holds 2 files"):
        load("evil.zip")
    assert load("one.zip").A.shape == (6, 3)  # read in memory: the name inside does not matter
    assert [p.name for p in tmp_path.rglob("*escaped*")] == []


@pytest.mark.parametrize("pack", [bz2.compress, gzip.compress, lzma.compress, lambda c: zipped(a=c)])
def test_bombs_are_stopped_at_the_limit(pack):
    bomb = pack(bytes(10**6))
    with pytest.raises(DatasetError, match="more than 1000 bytes unpacked"):
        unpack(bomb, "bomb", limit=1000)
    assert len(unpack(bomb, "bomb")) == 10**6
    with pytest.raises(DatasetError, match="more than 1000 bytes"):
        unpack(bytes(1001), "plain", limit=1000)


def test_unreadable_files_are_dataset_errors(tmp_path):
    with pytest.raises(DatasetError, match="cannot be read"):
        read_file(tmp_path)
    with pytest.raises(DatasetError, match="cannot be read"):
        read_file(tmp_path / "absent")
    with pytest.raises(DatasetError, match="cannot be read"):
        read_file("a\0b")
