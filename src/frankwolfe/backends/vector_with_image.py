"""Vectors that know their image under a linear map, and hand it on."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

_MULTIPLES = (np.multiply, np.divide, np.true_divide)


class Imaged(np.ndarray):
    """A vector x with its image Ax: multiples and sums of such vectors know theirs; whatever else is made is plain.

    A gradient A'r costs a read of the data, and its own image can be had in the same read. An average of gradients then
    has its image for nothing, and so has a vertex that is a multiple of it. The map A (`of`) is compared by identity:
    an image under one map says nothing about another.
    """

    image: Any = None
    of: Any = None

    @classmethod
    def known(cls, x: np.ndarray, image: np.ndarray, of: Any) -> Self:
        """Return x as a vector that knows its image under a map."""
        self = np.asarray(x).view(cls)
        self.image, self.of = image, of
        return self

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if "out" in options:
            options["out"] = tuple(_plain(o) for o in options["out"])
        result = getattr(ufunc, method)(*map(_plain, inputs), **options)
        if method != "__call__" or options:
            return result
        image = self._combined(ufunc, inputs)
        return result if image is None else Imaged.known(result, image, self.of)

    def _combined(self, ufunc: Any, inputs: tuple[Any, ...]) -> Any:
        """Return the image of a linear combination of the inputs; None where it is not one, or not known."""
        if self.image is None:
            return None
        if ufunc is np.negative:
            return -self.image
        if ufunc in _MULTIPLES:
            a, b = inputs
            if isinstance(a, Imaged) and np.ndim(b) == 0:
                return ufunc(a.image, b)
            return ufunc(a, b.image) if ufunc is np.multiply and np.ndim(a) == 0 else None
        if ufunc in (np.add, np.subtract) and all(image_under(self.of, a) is not None for a in inputs):
            return ufunc(inputs[0].image, inputs[1].image)
        return None


def image_under(of: Any, x: Any) -> Any:
    """Return the image of x under a map where x knows it, None otherwise."""
    return x.image if isinstance(x, Imaged) and x.of is of else None


def _plain(x: Any) -> Any:
    return np.asarray(x) if isinstance(x, Imaged) else x
