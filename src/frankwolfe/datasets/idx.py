"""The idx format of the MNIST files: a big-endian header, then unsigned bytes."""

from __future__ import annotations

import math
import struct

import numpy as np

from frankwolfe.datasets.errors import DatasetError

_UNSIGNED_BYTE = 8


def parse_idx(content: bytes, file: str, ndim: int) -> np.ndarray:
    """Parse an idx file of unsigned bytes (unpacked) with so many dimensions: 1 for labels, 3 for images."""
    if not content:
        raise DatasetError(f"{file}: the file is empty; fetch it again")
    magic = bytes([0, 0, _UNSIGNED_BYTE, ndim])
    if content[:4] != magic:
        raise DatasetError(
            f"{file}: begins with {content[:4].hex(' ')}, an idx file of bytes with {ndim} dimension(s) begins with "
            f"{magic.hex(' ')}; check that images and labels are not mixed up"
        )
    start = 4 + 4 * ndim
    if len(content) < start:
        raise DatasetError(f"{file}: ends inside its header, after {len(content)} bytes; fetch it again")
    shape = struct.unpack_from(f">{ndim}I", content, 4)
    promised = start + math.prod(shape)
    if len(content) != promised:
        sizes = " x ".join(map(str, shape))
        raise DatasetError(
            f"{file}: {len(content)} bytes where the header ({sizes}) promises {promised}; fetch it again"
        )
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape)


def parse_images(content: bytes, file: str) -> np.ndarray:
    """Parse images into one row of pixels (0 to 255) each."""
    images = parse_idx(content, file, ndim=3)
    if not images.size:
        raise DatasetError(f"{file}: holds no image; fetch it again")
    return images.reshape(len(images), -1)


def parse_labels(content: bytes, file: str) -> np.ndarray:
    """Parse labels, the digits 0 to 9."""
    labels = parse_idx(content, file, ndim=1)
    wrong = np.flatnonzero(labels > 9)
    if wrong.size:
        raise DatasetError(f"{file}: label {labels[wrong[0]]} of image {wrong[0]} is no digit 0..9; fetch it again")
    return labels
