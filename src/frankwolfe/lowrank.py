"""Low-rank matrices kept as a weighted sum of rank-one factors; an m x n array is never made."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from frankwolfe.atoms import Mixable, RankOne
from frankwolfe.backends import eps, host, namespace, vdot, zeros
from frankwolfe.backends.namespace import as_like, columns, is_foreign
from frankwolfe.kernels.pattern.pattern_matrix import PatternMatrix


class LowRank(Mixable):
    """The matrix sum_i weights[i] * outer(left[i], right[i]); immutable.

    Mixing in an atom, scaling and adding make new weights and share every factor, so that a step of a Frank-Wolfe
    method costs O(number of factors), not O(m + n) times that.

    Parameters
    ----------
    weights : array_like, shape (r,)
        Any sign.
    left, right : sequence of ndarray
        r vectors of length m, r vectors of length n, of NumPy or another array library. They are kept, not copied: do
        not write to them.
    shape : tuple of int
        (m, n).

    Examples
    --------
    >>> import numpy as np
    >>> X = LowRank.from_atom(RankOne(2.0, np.array([1.0, 0.0]), np.array([0.0, 1.0, 0.0])))
    >>> X = X.mixed_with(RankOne(2.0, np.array([0.0, 1.0]), np.array([1.0, 0.0, 0.0])), 0.25)
    >>> X.toarray()
    array([[0. , 1.5, 0. ],
           [0.5, 0. , 0. ]])
    >>> X
    LowRank(2 x 3, 2 factors, float64)
    >>> X.rank(), float(X.nuclear_norm())
    (2, 2.0)
    """

    __array_ufunc__ = None  # so that a NumPy scalar times a LowRank comes to __rmul__
    ndim = 2

    def __init__(
        self,
        weights: Any,
        left: Sequence[np.ndarray],
        right: Sequence[np.ndarray],
        shape: tuple[int, int],
        *,
        dtype: Any = None,
        settled: int = 0,
        like: Any = None,
    ) -> None:
        self.weights = np.asarray(weights, dtype=np.float64)
        self.settled = settled  # factors left by the last compression: tells when the next one pays
        self.left, self.right = tuple(left), tuple(right)
        self.shape = (int(shape[0]), int(shape[1]))
        if not self.weights.shape == (len(self.left),) == (len(self.right),):
            raise ValueError(
                f"weights, left and right must be equally many, got {self.weights.shape}, "
                f"{len(self.left)} and {len(self.right)}"
            )
        if like is None and self.left and not isinstance(self.left[0], np.ndarray):
            like = self.left[0]
        if like is None:
            if dtype is None:
                dtype = np.result_type(*{f.dtype for f in (*self.left, *self.right)}) if self.left else np.float64
            like = np.empty(0, dtype)
        self.like = like[:0]  # empty: tells library, device and kind of number

    @classmethod
    def zero(cls, shape: tuple[int, int], dtype: Any = np.float64, like: Any = None) -> LowRank:
        """Return the zero matrix, with no factors; those to come are arrays like `like`."""
        return cls((), (), (), shape, dtype=dtype, like=like)

    @classmethod
    def from_atom(cls, atom: RankOne) -> LowRank:
        """Return the matrix of a rank-one atom, sharing its vectors."""
        return cls((atom.scale,), (atom.left,), (atom.right,), atom.shape)  # pyright: ignore[reportArgumentType]

    @classmethod
    def from_arrays(cls, left: Any, right: Any) -> LowRank:
        """Return left @ right.T for an m x r and an n x r array.

        Examples
        --------
        >>> LowRank.from_arrays([[1.0], [2.0]], [[3.0]]).toarray()
        array([[3.],
               [6.]])
        """
        on_device = is_foreign(left)
        left, right = (left, right) if on_device else (np.asarray(left), np.asarray(right))
        if left.ndim != 2 or right.ndim != 2 or left.shape[1] != right.shape[1]:
            raise ValueError(f"left and right must be m x r and n x r, got shapes {left.shape} and {right.shape}")
        if on_device:
            return cls(np.ones(left.shape[1]), columns(left), columns(right), (left.shape[0], right.shape[0]))
        kind = np.result_type(left, right, np.float32)
        rows, cols = (np.ascontiguousarray(f.T, dtype=kind) for f in (left, right))
        return cls(np.ones(len(rows)), tuple(rows), tuple(cols), (left.shape[0], right.shape[0]))

    @classmethod
    def from_dense(cls, X: Any) -> LowRank:
        """Return an m x n array by its singular value decomposition, without what rounding has put there.

        Examples
        --------
        >>> LowRank.from_dense(np.diag([3.0, 0.0]))
        LowRank(2 x 2, 1 factors, float64)
        """
        U, sigma, Vt = namespace(X).linalg.svd(X, full_matrices=False)
        sigma = host(sigma)
        kept = int(np.count_nonzero(sigma > sigma[0] * max(X.shape) * eps(X)))
        return cls(sigma[:kept], columns(U[:, :kept]), columns(Vt[:kept, :].T), tuple(X.shape), like=X[0, :0])

    @property
    def dtype(self) -> np.dtype:
        return self.like.dtype

    def in_kind(self, like: Any) -> LowRank:
        """Return the matrix with its factors as arrays of the library, device and dtype of `like`.

        Examples
        --------
        >>> LowRank.from_arrays([[1.0]], [[3.0]]).in_kind(np.zeros(1, np.float32))
        LowRank(1 x 1, 1 factors, float32)
        """
        left, right = ([as_like(factor, like) for factor in side] for side in (self.left, self.right))
        return LowRank(self.weights, left, right, self.shape, settled=self.settled, like=like)

    @property
    def _xp(self) -> Any:
        return namespace(self.like)

    @property
    def stored(self) -> int:
        """Number of stored factors, at least the rank."""
        return len(self.left)

    @property
    def T(self) -> LowRank:
        """The transpose, sharing all factors."""
        return self._like(self.weights, self.right, self.left, self.shape[::-1])

    @property
    def factors(self) -> tuple[np.ndarray, np.ndarray]:
        """Arrays U (m x r) and V (n x r) with X = U @ V.T; each carries the root of a weight, V the sign too."""
        root = np.sqrt(np.abs(self.weights))
        signed = np.copysign(root, self.weights)
        return (
            self._stack(self.left, 0) * as_like(root, self.like),
            self._stack(self.right, 1) * as_like(signed, self.like),
        )

    @property
    def unit_factors(self) -> tuple[Any, Any]:
        """Arrays (m x r) and (n x r) with the factors as they are, without weights."""
        return self._stack(self.left, 0), self._stack(self.right, 1)

    def triples(self) -> Iterable[tuple[float, np.ndarray, np.ndarray]]:
        """Return the (weight, left, right) of each factor."""
        return zip(self.weights.tolist(), self.left, self.right, strict=True)

    def mixed_with(self, atom: RankOne, delta: Any) -> LowRank:
        """Return (1 - delta) X + delta atom; `delta = 1` forgets X, and an atom already stored adds to its weight."""
        delta = float(delta)
        if delta == 1.0:
            return LowRank.from_atom(atom)
        if delta == 0.0:
            return self
        weights = (1.0 - delta) * self.weights
        for i, (left, right) in enumerate(zip(self.left, self.right, strict=True)):
            if left is atom.left and right is atom.right:
                weights[i] += delta * atom.scale
                return self._like(weights, self.left, self.right, self.shape)
        weights = np.append(weights, delta * atom.scale)
        return LowRank(weights, (*self.left, atom.left), (*self.right, atom.right), self.shape, settled=self.settled)

    def sum_of(self, weights: Any, coords: list[Any]) -> LowRank:
        """Return the weighted sum of rank-one atoms, and perhaps low-rank matrices, with shared factors."""
        if all(isinstance(c, RankOne) for c in coords):
            left, right = [c.left for c in coords], [c.right for c in coords]
            return LowRank(weights * [c.scale for c in coords], left, right, self.shape, dtype=self.dtype)
        return LowRank.combine(weights, [LowRank.from_atom(c) if isinstance(c, RankOne) else c for c in coords])

    @classmethod
    def combine(cls, coefficients: Iterable[float], matrices: Iterable[LowRank]) -> LowRank:
        """Return the linear combination; factors that the matrices share are kept once, zero weights dropped."""
        total: dict[tuple[int, int], list[Any]] = {}
        shape, likes = None, []
        for c, X in zip(coefficients, matrices, strict=True):
            if shape is not None and X.shape != shape:
                raise ValueError(f"matrices of different shapes: {shape} and {X.shape}")
            shape = X.shape
            likes.append(X.like)
            for weight, left, right in zip(X.weights, X.left, X.right, strict=True):
                entry = total.setdefault((id(left), id(right)), [0.0, left, right])
                entry[0] += float(c) * weight
        if shape is None:
            raise ValueError("combine needs at least one matrix")
        kept = [entry for entry in total.values() if entry[0] != 0.0]
        like = likes[0] if not isinstance(likes[0], np.ndarray) else np.empty(0, np.result_type(*likes))
        return cls([e[0] for e in kept], [e[1] for e in kept], [e[2] for e in kept], shape, like=like)

    def __add__(self, other: LowRank) -> LowRank:
        return LowRank.combine((1.0, 1.0), (self, other)) if isinstance(other, LowRank) else NotImplemented

    def __sub__(self, other: LowRank) -> LowRank:
        return LowRank.combine((1.0, -1.0), (self, other)) if isinstance(other, LowRank) else NotImplemented

    def __mul__(self, c: Any) -> LowRank:
        if np.ndim(c) != 0:
            return NotImplemented
        return self._like(self.weights * float(c), self.left, self.right, self.shape)

    __rmul__ = __mul__

    def __neg__(self) -> LowRank:
        return -1.0 * self

    def __matmul__(self, w: np.ndarray) -> np.ndarray:
        """Return X @ w for a vector or a block of columns, one factor at a time on NumPy."""
        if not isinstance(self.like, np.ndarray):
            U, V = self.factors
            return U @ (V.T @ w)
        out = np.zeros((self.shape[0], *w.shape[1:]), np.result_type(self.dtype, w))
        for weight, left, right in self.triples():
            out += weight * np.multiply.outer(left, right @ w)
        return out

    def entries(self, rows: Any, cols: Any) -> np.ndarray:
        """Return X[rows, cols] for integer arrays of one shape (or plain integers), one factor at a time.

        Examples
        --------
        >>> LowRank.from_arrays([[1.0], [2.0]], [[3.0], [4.0]]).entries([0, 1], [1, 1])
        array([4., 8.])
        """
        if not isinstance(self.like, np.ndarray):
            return self._entries_on_device(rows, cols)
        rows, cols = np.broadcast_arrays(np.asarray(rows), np.asarray(cols))
        out = np.zeros(rows.shape, self.dtype)
        for weight, left, right in self.triples():
            out += weight * left[rows] * right[cols]
        return out

    def _entries_on_device(self, rows: Any, cols: Any) -> Any:
        xp = self._xp
        rows, cols = (xp.asarray(index, device=self.like.device) for index in (rows, cols))
        terms = (weight * xp.take(left, rows) * xp.take(right, cols) for weight, left, right in self.triples())
        return sum(terms, start=zeros(rows.shape, self.like))

    def toarray(self) -> np.ndarray:
        """Return the m x n array."""
        U, V = self.factors
        return U @ V.T

    def svd(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return U (m x q), s (descending), V (n x q) with X = U @ diag(s) @ V.T and q = min(m, n, stored).

        Notes
        -----
        QR of both stacks of factors, then the SVD of the small core: O((m + n) r²).
        """
        if not self.stored:
            (U, V), none = self.unit_factors, zeros((0,), self.like)
            return U, none, V
        (U, V), linalg = self.factors, self._xp.linalg
        Qu, Ru = linalg.qr(U)
        Qv, Rv = linalg.qr(V)
        left, s, right = linalg.svd(Ru @ Rv.T, full_matrices=False)
        return Qu @ left, s, Qv @ right.T

    def singular_values(self) -> np.ndarray:
        """Return the min(m, n, stored) singular values that can differ from zero, descending."""
        if not self.stored:
            return zeros((0,), self.like)
        (U, V), linalg = self.factors, self._xp.linalg
        (_, Ru), (_, Rv) = linalg.qr(U), linalg.qr(V)
        return linalg.svdvals(Ru @ Rv.T)

    def rank(self, tol: float = 1e-6) -> int:
        """Return the number of singular values above `tol` (absolute)."""
        return int(np.count_nonzero(host(self.singular_values()) > tol))

    def nuclear_norm(self) -> float:
        """Return the sum of singular values."""
        return float(np.sum(host(self.singular_values())))

    def compress(self, tol: float = 1e-12) -> LowRank:
        """Return the matrix with orthonormal factors, without singular values at most `tol` times the largest.

        Examples
        --------
        >>> X = LowRank.from_arrays([[1.0, 1.0]], [[3.0, 4.0]])
        >>> X.stored, X.compress().stored
        (2, 1)
        """
        U, s, V = self.svd()
        s = host(s)
        kept = int(np.count_nonzero(s > tol * (s[0] if s.size else 0.0)))  # the first ones: they descend
        left, right = columns(U[:, :kept]), columns(V[:, :kept])
        return LowRank(s[:kept], left, right, self.shape, settled=kept, like=self.like)

    def inner(self, other: Any) -> float:
        """Return <X, other> for another LowRank, a PatternMatrix, or anything that multiplies a vector."""
        if isinstance(other, LowRank):
            (U, V), (P, Q) = self.factors, other.factors
            return float(self._xp.sum((U.T @ P) * (V.T @ Q)))
        if isinstance(other, PatternMatrix) and self.stored:
            pattern = other.pattern
            total = (w * pattern.rank_one(a, b).inner(other) for w, a, b in self.triples())
        else:
            total = (w * vdot(a, other @ b) for w, a, b in self.triples())
        return math.fsum(total)

    def norm2(self) -> float:
        """Return the squared Frobenius norm."""
        U, V = self.factors
        return max(0.0, float(self._xp.sum((U.T @ U) * (V.T @ V))))

    def _stack(self, factors: Sequence[np.ndarray], axis: int) -> np.ndarray:
        if not factors:
            return zeros((self.shape[axis], 0), self.like)
        return self._xp.astype(self._xp.stack(list(factors), axis=1), self.dtype, copy=False)

    def _like(self, weights: Any, left: Sequence[Any], right: Sequence[Any], shape: tuple[int, ...]) -> LowRank:
        return LowRank(weights, left, right, (shape[0], shape[1]), settled=self.settled, like=self.like)

    def __repr__(self) -> str:
        return f"LowRank({self.shape[0]} x {self.shape[1]}, {self.stored} factors, {self.dtype})"
