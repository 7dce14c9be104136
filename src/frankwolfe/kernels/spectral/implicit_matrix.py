"""Matrices known by their products alone."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from frankwolfe.kernels.pattern.pattern_matrix import Transposed


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
