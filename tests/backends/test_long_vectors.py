"""Long vectors are taken in pieces: the same numbers as in one go, and images handed on."""

from __future__ import annotations

import math

import numpy as np
import pytest

import frankwolfe as fw
from frankwolfe.atoms import Dense
from frankwolfe.backends import blend, largest, vdot
from frankwolfe.backends.namespace import PIECE, Imaged, image_under, is_long
from frankwolfe.points import Point, mix
from frankwolfe.sets.arrays import norm

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((2, 3 * PIECE + 17))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("size", [5, 2 * PIECE, X.size])
def test_pieces_do_not_show(size, dtype) -> None:
    x, y = X[:size].astype(dtype), Y[:size].astype(dtype)
    assert is_long(x) == (size > 2 * PIECE)
    mixed = blend(0.3, x, 0.7, y)
    assert mixed.dtype == dtype
    assert mixed.tobytes() == (0.3 * x + 0.7 * y).tobytes()
    assert float(largest(x)) == float(np.abs(x).max())
    eps = np.finfo(dtype).eps
    np.testing.assert_allclose(vdot(x, y), math.fsum((x * y).tolist()), atol=4 * eps * float(np.abs(x) @ np.abs(y)))
    np.testing.assert_allclose(norm(x, 2), np.linalg.norm(x.astype(np.float64)), rtol=4 * eps)
    v = fw.L2Ball(3.0).lmo(x).toarray()
    assert v.dtype == dtype
    np.testing.assert_allclose(v, -3.0 * x / np.linalg.norm(x.astype(np.float64)), rtol=8 * eps)


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e200])
def test_no_scale_is_too_small_or_too_large(scale) -> None:
    np.testing.assert_allclose(norm(scale * X, 2) / scale, np.linalg.norm(X), rtol=1e-12)
    np.testing.assert_allclose(fw.L2Ball(1.0).lmo(scale * X).toarray(), -X / np.linalg.norm(X), rtol=1e-12)
    assert not fw.L2Ball(1.0).lmo(np.zeros_like(X)).toarray().any()
    assert np.isnan(largest(np.where(X > 3, np.nan, X)))


def test_images_of_long_vectors_are_mixed_too() -> None:
    A = object()
    x, y = Imaged.known(X, np.array([1.0, 2.0]), A), Imaged.known(Y, np.array([4.0, 0.0]), A)
    mixed = blend(0.5, x, 0.25, y)
    np.testing.assert_array_equal(image_under(A, mixed), [1.5, 1.0])
    assert np.asarray(mixed).tobytes() == (0.5 * X + 0.25 * Y).tobytes()
    assert type(blend(0.5, x, 0.25, Y)) is np.ndarray
    vertex = fw.L2Ball(2.0).lmo(x).toarray()
    np.testing.assert_allclose(image_under(A, vertex), -2.0 * x.image / np.linalg.norm(X), rtol=1e-12)


def test_a_mixture_is_where_it_says() -> None:
    x, v = Point.at(np.zeros(3)), Point.at(Dense(np.ones(3)))
    y = mix(mix(x, v, 0.5), v, 0.5)
    np.testing.assert_array_equal(y.coords, np.full(3, 0.75))
    assert y.coords is y.coords
