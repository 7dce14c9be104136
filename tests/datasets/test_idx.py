"""idx files: header, exact size, digits."""

import contextlib
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frankwolfe.datasets import DatasetError
from frankwolfe.datasets.readers import parse_idx, parse_images, parse_labels


def idx(array):
    array = np.asarray(array, np.uint8)
    return bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape) + array.tobytes()


IMAGES = np.arange(24).reshape(2, 3, 4)


def test_round_trip():
    np.testing.assert_array_equal(parse_idx(idx(IMAGES), "images", 3), IMAGES)
    np.testing.assert_array_equal(parse_images(idx(IMAGES), "images"), IMAGES.reshape(2, 12))
    np.testing.assert_array_equal(parse_labels(idx([0, 9, 4]), "labels"), [0, 9, 4])


@pytest.mark.parametrize("length", range(len(idx(IMAGES))))
def test_every_truncation_is_refused(length):
    with pytest.raises(DatasetError, match="images: "):
        parse_images(idx(IMAGES)[:length], "images")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (idx([1, 2]), "begins with 00 00 08 01, .* begins with 00 00 08 03; check that images and labels"),
        (b"\0\0\x0d\x03" + idx(IMAGES)[4:], "begins with 00 00 0d 03"),
        (idx(IMAGES) + b"\0", r"41 bytes where the header \(2 x 3 x 4\) promises 40"),
        (idx(IMAGES)[:10], "ends inside its header, after 10 bytes"),
        (idx(np.zeros((0, 28, 28))), "holds no image"),
        (bytes([0, 0, 8, 3]) + b"\xff" * 12, "promises 79228162458924105385300197391"),
    ],
)
def test_faults_are_named(content, message):
    with pytest.raises(DatasetError, match=message):
        parse_images(content, "images")


def test_labels_are_digits():
    with pytest.raises(DatasetError, match=r"labels: label 10 of image 2 is no digit 0\.\.9"):
        parse_labels(idx([0, 9, 10, 11]), "labels")


@given(st.binary(max_size=40), st.sampled_from([b"", bytes([0, 0, 8, 1]), bytes([0, 0, 8, 3])]))
@settings(deadline=None)
def test_random_bytes_never_raise_anything_else(content, magic):
    for parse in (parse_images, parse_labels):
        with contextlib.suppress(DatasetError):
            parse(magic + content, "file")
