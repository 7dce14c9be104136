"""The Krylov space of a matrix on a pattern whose entries are on a device: several steps before the host looks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from frankwolfe.backends.namespace import Array, as_like, eps, fetch, largest, namespace, put, vdot, zeros
from frankwolfe.kernels.pattern.pattern_matrix import PatternMatrix
from frankwolfe.kernels.spectral.gram_operator import Gram, unit_vector
from frankwolfe.kernels.spectral.krylov import Krylov

AHEAD = 6  # Lanczos steps between two reads of the device


def is_on_device(G: Any) -> bool:
    """Tell whether G is a matrix on a pattern whose entries are not NumPy's."""
    return isinstance(G, PatternMatrix) and G.pattern.places is not None


def gram_of(G: Any, rng: np.random.Generator, accuracy: float = 0.0) -> Gram:
    """Return the Gram matrix of G where G is."""
    return DeviceGram(G) if is_on_device(G) else Gram(G, rng, accuracy)


def space_of(A: Gram, rng: np.random.Generator, most: int) -> Krylov:
    """Return a Krylov space of A, where A is, with a random start."""
    return DeviceKrylov(A, rng, most) if isinstance(A, DeviceGram) else Krylov(A, rng, most)


class DeviceGram(Gram):
    """G' G or G G' of a PatternMatrix on a device; what the host works with is scaled and counted as there."""

    def __init__(self, G: PatternMatrix) -> None:
        m, n = G.shape
        self.like = G.values
        self.compiled = self.narrow = False
        self.block, self.width = None, 1  # sparse products with a few columns are slow on a GPU
        self.tall = m >= n
        self.size = min(m, n)
        self.kind = self.dtype = np.dtype(np.float32 if eps(G.values) > 1e-9 else np.float64)
        self.matvecs = 0
        top = float(largest(G.values))
        if not math.isfinite(top):
            raise ValueError("the matrix contains NaN or infinity")
        self.is_zero = top == 0.0
        # A copy scaled by a power of two costs little beside the products, and squares cannot leave the range.
        exponent = math.frexp(top)[1] if top else 0
        self.exponent = exponent if abs(exponent) > (20 if self.dtype == np.float32 else 300) else 0
        scaled = G * math.ldexp(1.0, -self.exponent) if self.exponent else G
        self._first, self._second = (scaled, scaled.T) if self.tall else (scaled.T, scaled)

    def half(self, v: Array) -> Array:
        self.matvecs += 1
        return self._first @ v

    def __matmul__(self, v: Array) -> Array:
        self.matvecs += 2
        return self._second @ (self._first @ v)

    def put(self, vector: np.ndarray) -> Array:
        return as_like(vector, self.like)

    def image(self, v: Array) -> tuple[float, Array]:
        z = self.half(v)
        norm = math.sqrt(float(vdot(z, z)))
        return norm, z / norm


class DeviceKrylov(Krylov):
    """The space of the host, its vectors on the device; coefficients are read for several steps at a time."""

    def __init__(self, A: DeviceGram, rng: np.random.Generator, most: int) -> None:
        super().__init__(A, np.random.default_rng(0), 1)
        self.most = max(1, min(most, A.size))
        self._alpha, self._beta = np.empty(self.most), np.empty(self.most)
        # Drawn in double precision whatever the numbers are: runs in single precision then take the same steps.
        start, self.like = unit_vector(A.size, np.float64, rng), A.like
        self.xp: Any = namespace(A.like)
        self.basis = zeros((self.most + 1, A.size), A.like)
        self.basis = put(self.basis, 0, as_like(start, A.like))
        self._ahead: list[tuple[float, float]] = []  # coefficients of steps taken and not yet handed out

    def _step(self) -> None:
        j = self.dimension
        if not self._ahead:
            self._ahead = self._steps(j, min(AHEAD, self.most - j))
        self._alpha[j], self._beta[j] = self._ahead.pop(0)
        self.dimension, self.steps = j + 1, self.steps + 1

    def _steps(self, j: int, count: int) -> list[tuple[float, float]]:
        """Take steps without a look at their numbers; where the space is exhausted the rest is noise, never used."""
        seen, last = [], float(self._beta[j - 1]) if j else 0.0
        for i in range(j, j + count):
            v, old = self.basis[i, :], self.basis[: i + 1, :]
            w = self.A @ v
            a = self.xp.sum(v * w)
            w = w - a * v
            if i:
                w = w - last * self.basis[i - 1, :]
            w = w - (old @ w) @ old
            b = self.xp.sqrt(self.xp.sum(w * w))
            self.basis = put(self.basis, i + 1, w / self.xp.where(b > 0, b, self.xp.ones_like(b)))
            seen += [a, b]
            last = b
        numbers = fetch(seen)
        return list(zip(numbers[::2], numbers[1::2], strict=True))

    def vector(self, coordinates: np.ndarray) -> Array:
        y = as_like(coordinates, self.like) @ self.basis[: self.dimension, :]
        return y / self.xp.sqrt(self.xp.sum(y * y))

    def turn(self, rotation: np.ndarray, keep: int, j: int) -> None:
        turned = as_like(rotation, self.like) @ self.basis[:j, :]
        last = self.basis[j, :]
        self.basis = put(put(self.basis, slice(0, keep), turned), keep, last)

    def flip(self, signs: np.ndarray) -> None:
        kept = slice(0, len(signs))
        self.basis = put(self.basis, kept, as_like(signs[:, None], self.like) * self.basis[kept, :])
