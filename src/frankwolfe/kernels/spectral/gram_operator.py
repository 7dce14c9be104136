"""The Gram matrix of G on its smaller side, known by products."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from frankwolfe.backends import vdot
from frankwolfe.kernels.pattern import pattern_products
from frankwolfe.kernels.pattern.pattern_matrix import PatternMatrix, Transposed

PACKED = 4  # vectors at once, as `pattern_loops.gram_times_four` takes them
_NARROW = 64 * 2.0**-23  # share of the Frobenius norm: rounding to single precision moves G by 2**-24 of it at most


class ImplicitMatrix(ABC):
    """A matrix whose entries are somewhere else: it multiplies vectors, and its transpose does."""

    __array_ufunc__ = None  # so that a NumPy scalar times it comes to __rmul__
    ndim = 2
    shape: tuple[int, int]
    dtype: np.dtype

    @abstractmethod
    def __matmul__(self, w: np.ndarray) -> np.ndarray: ...

    @abstractmethod
    def rmatvec(self, u: np.ndarray) -> np.ndarray:
        """Return the transpose times u."""

    @property
    @abstractmethod
    def largest(self) -> float:
        """The size of the largest entry."""

    @property
    @abstractmethod
    def fetched(self) -> Any | None:
        """The matrix with its entries here, where they are so few that this is quicker than products; else None."""

    def gram_matvec(self, w: np.ndarray) -> np.ndarray:
        """Return the transpose times the matrix times w."""
        return self.rmatvec(self @ w)

    @property
    def T(self) -> Transposed:
        """The transpose, for multiplying by it."""
        return Transposed(self)


class Gram:
    """G' G or G G', whichever is smaller, known by products with G and its transpose.

    Products are scaled by a power of two (`2**-exponent`) where the entries are so large or so small that their squares
    would overflow or vanish. Vectors have `size` numbers. Of a large PatternMatrix they are `width` vectors side by
    side, which cost little more than one, and where an accuracy is given beside which the rounding of single precision
    is nothing, products are taken in single precision (`narrow`): fewer bytes are read. `matvecs` counts reads of G or
    its transpose.
    """

    def __init__(self, G: Any, rng: np.random.Generator, accuracy: float = 0.0) -> None:
        m, n = G.shape
        self.tall = m >= n
        self.compiled = isinstance(G, PatternMatrix) and G.pattern.compiled
        self.width = PACKED if self.compiled else 1
        self.size = self.width * min(m, n)
        self.kind = np.dtype(np.float32) if G.dtype == np.float32 else np.dtype(np.float64)  # of the answer
        self.matvecs = 0
        self._whole, self.exponent = G, 0
        norm = math.sqrt(vdot(G.values, G.values)) if self.compiled and self.kind == np.float64 else 0.0
        self.narrow = 1e-100 < norm < 1e100 and accuracy >= _NARROW * norm
        self.dtype = np.dtype(np.float32) if self.narrow else self.kind
        self.is_zero, self.exponent = (False, math.frexp(norm)[1]) if self.narrow else self._size(G, rng)
        self.block = None  # for compiled steps
        if self.compiled:
            scale = 2.0**-self.exponent
            self._one_read = G.scaled(scale, self.dtype) if self.tall else G.transposed(scale, self.dtype)
            self.block = pattern_products.one_block(self._one_read.pattern, self._one_read.values)

    def _size(self, G: Any, rng: np.random.Generator) -> tuple[bool, int]:
        """Return whether G is zero, and the power of two that the products are divided by."""
        largest = _largest_entry(G)
        if largest is None:  # only products are known: learn the size from one
            largest = float(np.max(np.abs(self.half(unit_vector(self.size, self.kind, rng)))))
        if not math.isfinite(largest):
            raise ValueError("the matrix contains NaN or infinity")
        exponent = math.frexp(largest)[1]
        plain, most = (20, 110) if self.kind == np.float32 else (240, 1000)  # fourth powers are added up
        return largest == 0.0, 0 if abs(exponent) <= plain else max(-most, min(most, exponent))

    def half(self, v: np.ndarray) -> np.ndarray:
        """Return G v, or G' v where G is wide, in the precision of G: the image on the longer side."""
        self.matvecs += 1
        return self._scaled((self._whole if self.tall else self._whole.T) @ v)

    def __matmul__(self, v: np.ndarray) -> np.ndarray:
        self.matvecs += 2
        if self.compiled:
            return self._one_read.gram_matvec(v.reshape(-1, self.width)).ravel()
        if isinstance(self._whole, ImplicitMatrix) and self.tall and self.exponent == 0:
            return self._whole.gram_matvec(v)
        first, second = (self._whole, self._whole.T) if self.tall else (self._whole.T, self._whole)
        return self._scaled(second @ self._scaled(first @ v))

    def put(self, vector: np.ndarray) -> Any:
        """Return a vector of the host where the vectors of this space are."""
        return vector

    def image(self, v: Any) -> tuple[float, Any]:
        """Return the norm of the image of v on the longer side, and the image over its norm."""
        z = self.half(v)
        norm = float(np.linalg.norm(z.astype(np.float64)))
        return norm, z / z.dtype.type(norm)

    def _scaled(self, z: np.ndarray) -> np.ndarray:
        return z if self.exponent == 0 else z * z.dtype.type(2.0**-self.exponent)


def unit_vector(size: int, dtype: Any, rng: np.random.Generator) -> np.ndarray:
    """Return a vector uniform on the sphere, the same in either precision."""
    v = rng.standard_normal(size)
    return (v / np.linalg.norm(v)).astype(dtype)


def entries(G: Any) -> np.ndarray | None:
    """Return the array of stored entries of G, or None where only its products are known."""
    if isinstance(G, np.ndarray):
        return G
    for name in ("values", "data"):  # PatternMatrix; SciPy sparse
        stored = getattr(G, name, None)
        if isinstance(stored, np.ndarray) and stored.dtype != object:
            return stored
    return None


def _largest_entry(G: Any) -> float | None:
    if isinstance(G, ImplicitMatrix):
        return G.largest
    stored = entries(G)
    if stored is None:
        return None
    return float(np.maximum(np.max(stored), -np.min(stored))) if stored.size else 0.0
