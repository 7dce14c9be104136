"""Sets of matrices by their singular values, from a decomposition that is checked: G = W V' + E, W = U Σ.

Norms of the parts follow from how far U and V are from orthogonal and how small E is, all enclosed; what LAPACK found
is only a guess.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from frankwolfe.verify.arithmetic import Interval, dot, sums, up
from frankwolfe.verify.domains import CannotShow, Domain, largest
from frankwolfe.verify.functions import conjugate, norm, norms

LARGEST = 1 << 23  # entries of a matrix that is decomposed


def matrix_product(A: np.ndarray, B: np.ndarray) -> Interval:
    """Return an enclosure of A @ B, sharp to about an ulp, with three products.

    Rows of A and columns of B are cut so short that their product is exact in any order of its sums; the rest is small.
    """
    k = A.shape[1]
    bits = (53 - math.ceil(math.log2(k + 1))) // 2 - 1
    A1, B1 = _cut(A, 1, bits), _cut(B, 0, bits)
    A2, B2 = A - A1, B - B1
    rest = A1 @ B2 + A2 @ B
    tiny = 1e-150  # squares below it underflow
    rows, cols = (np.sqrt(np.sum(M * M, axis=axis)) + tiny for M, axis in ((A, 1), (B, 0)))
    rows2, cols2 = (np.sqrt(np.sum(M * M, axis=axis)) + tiny for M, axis in ((A2, 1), (B2, 0)))
    gamma = (k + 4) * 2.0**-52
    # |A1| <= 2 |A|; norms of rows and columns bound the sums of magnitudes (Cauchy), and carry their own rounding.
    error = 2.02 * gamma * (np.outer(rows, cols2) + np.outer(rows2, cols)) + 2.0**-52 * np.abs(rest) + k * 1e-300
    return Interval(A1 @ B1) + Interval.around(rest, error)


def _cut(A: np.ndarray, axis: int, bits: int) -> np.ndarray:
    _, exponent = np.frexp(np.max(np.abs(A), axis=axis, keepdims=True))
    sigma = np.ldexp(1.5, exponent + 52 - bits)
    return (A + sigma) - sigma


class Decomposed(NamedTuple):
    """U and V have spectral norms at most `u` and `v`, `s` is about the singular values, `error` bounds \\|E\\|_F."""

    u: float
    v: float
    s: np.ndarray
    error: float
    U: np.ndarray
    V: np.ndarray

    def schatten(self, p: float | Interval) -> Interval:
        """Return an enclosure of the l_p norm of the singular values of G."""
        found = norm(self.s, p)
        spread = self.error * max(1.0, math.sqrt(len(self.s)))  # any l_p norm of E's singular values
        upper = found * (Interval(self.u) * self.v) + spread
        # The inverses of U and V on their ranges have norms 1/sqrt(2 - u²) at most.
        inner = [math.sqrt(max(2 - w * w, 0.0)) * (1 - 2.0**-50) for w in (self.u, self.v)]
        lower = found * (Interval(inner[0]) * inner[1]) - spread
        return Interval(lower.lo, upper.hi)


def decomposed(G: np.ndarray) -> Decomposed:
    """Return a checked singular value decomposition."""
    if G.ndim != 2:
        raise CannotShow(f"the set holds matrices, and this one has shape {G.shape}")
    if G.size > LARGEST:
        raise CannotShow(f"a matrix of shape {G.shape} is too large to decompose")
    if not G.any():
        return Decomposed(1.0, 1.0, np.zeros(1), 0.0, np.zeros((G.shape[0], 1)), np.zeros((G.shape[1], 1)))
    scale = math.frexp(float(np.max(np.abs(G))))[1]
    G = np.ldexp(G, -scale)
    try:
        U, s, Vt = np.linalg.svd(G, full_matrices=False)
    except np.linalg.LinAlgError:
        raise CannotShow("the singular values of a matrix were not found") from None
    W = U * s
    rounded = up(float(np.linalg.norm(s)) * 1.01 * 2.0**-53 * orthogonality(U))  # of W = U Σ
    error = float(norm_of(Interval(G) - matrix_product(W, Vt)).hi) + rounded + 1e-300
    return Decomposed(orthogonality(U), orthogonality(Vt.T), np.ldexp(s, scale), math.ldexp(error, scale), U, Vt.T)


def norm_of(E: Interval) -> Interval:
    """Return an enclosure of the Frobenius norm of a matrix of intervals."""
    return norms(abs(E).reshape(-1), 2)[0]


def orthogonality(Q: np.ndarray) -> float:
    """Return an upper bound of the spectral norm of a matrix with almost orthogonal columns."""
    off = norm_of(matrix_product(Q.T, Q) - np.eye(Q.shape[1]))
    return float((1.0 + off).sqrt().hi)


class SchattenBall(Domain, judges=("NuclearBall", "SpectralBall", "SchattenBall")):
    """A ball of the l_p norm of the singular values: their sum for the nuclear norm, the largest for the spectral."""

    ulps = 64

    def __init__(self, description: dict[str, Any]) -> None:
        super().__init__(description)
        self.p = {"NuclearBall": 1.0, "SpectralBall": math.inf}.get(description["kind"]) or description["p"]

    def support(self, h: np.ndarray) -> float:
        return float((decomposed(h).schatten(conjugate(self.p)) * self.radius).hi)

    def reach(self, e: np.ndarray) -> float:
        longest = 1.0 if self.p <= 2 else math.sqrt(min(e.shape)) * (1 + 2.0**-50)  # \\|v\\|_F over the unit ball
        return float((norm(e, 2) * self.radius * longest).hi)

    def excess(self, x: Any) -> Interval:
        if isinstance(x, dict):
            short = self._triangle(x)
            if math.prod(x["shape"]) > LARGEST or float(short.hi) <= 2.0**-50:
                return short
            x, missed = dense(x)
        else:
            missed = 0.0
        spread = Interval(missed) * (math.sqrt(min(x.shape)) * (1 + 2.0**-50))
        found = decomposed(x).schatten(self.p) + Interval(-spread.hi, spread.hi)
        return found / self.radius - 1.0

    def _triangle(self, x: dict[str, Any]) -> Interval:
        """Return an upper bound from the sum of the norms of the rank-one terms."""
        left, right = (norms_of_rows(x[side]) for side in ("left", "right"))
        total = (left * right * np.abs(x["weights"])).sum() if len(x["weights"]) else Interval(0.0)
        return Interval(-1.0, (total / self.radius - 1.0).hi)


class Spectrahedron(Domain):
    """Symmetric positive semidefinite matrices whose trace is the radius."""

    ulps = 64

    def support(self, h: np.ndarray) -> float:
        return float((Interval(self._highest(h)) * self.radius).hi) if h.any() else 0.0

    def reach(self, e: np.ndarray) -> float:
        return float((norm(e, 2) * self.radius).hi)

    def excess(self, x: Any) -> Interval:
        if isinstance(x, dict):
            x, missed = dense(x)
            return self.excess(x) + Interval(-1.0, 1.0) * (len(x) * missed / self.radius)
        trace = abs(sums(np.diagonal(x)) - self.radius) / self.radius
        skew = largest(abs(Interval(x) - x.T)) / self.radius
        return largest(trace, skew, Interval(self._least(x), self._highest(-x)) / self.radius)

    @staticmethod
    def _least(x: np.ndarray) -> float:
        """Return a lower bound of how negative x is, from the vector for which it is most."""
        q = np.linalg.eigh(0.5 * (x + x.T))[1][:, 0]
        form = (matrix_product(x, q[:, None]).reshape(-1) * q).sum() / dot(q, q)
        return -float(form.hi)

    @staticmethod
    def _highest(h: np.ndarray) -> float:
        """Return an upper bound of the largest eigenvalue of the symmetric part."""
        if h.ndim != 2 or h.shape[0] != h.shape[1]:
            raise CannotShow(f"the set holds square matrices, and this one has shape {h.shape}")
        if h.size > LARGEST:
            raise CannotShow(f"a matrix of shape {h.shape} is too large to decompose")
        scale = math.frexp(float(np.max(np.abs(h))))[1]
        h = np.ldexp(h, -scale)
        values, Q = np.linalg.eigh(0.5 * (h + h.T))
        off = norm_of(matrix_product(Q.T, Q) - np.eye(len(Q)))
        error = norm_of((Interval(h) + h.T) * 0.5 - matrix_product(Q * values, np.ascontiguousarray(Q.T)))
        rounded = float(np.linalg.norm(values)) * 1.01 * 2.0**-53 * float((1.0 + off).hi)
        found = Interval(values[-1]) * (1.0 + Interval(-off.hi, off.hi)) + error + (rounded + 1e-300)
        return math.ldexp(float(found.hi), scale)


def dense(x: dict[str, Any]) -> tuple[np.ndarray, float]:
    """Return a low-rank matrix as an array, and a bound of the Frobenius norm of what rounding left out."""
    if math.prod(x["shape"]) > LARGEST:
        raise CannotShow(f"a matrix of shape {tuple(x['shape'])} is too large")
    if not len(x["weights"]):
        return np.zeros(x["shape"]), 0.0
    left = x["left"] * x["weights"][:, None]
    found = matrix_product(np.ascontiguousarray(left.T), x["right"])
    rounded = (norms_of_rows(left) * norms_of_rows(x["right"])).sum() * 2.0**-52  # of left
    return found.middle, float((norm_of(Interval(found.radius)) + rounded).hi)


def norms_of_rows(rows: np.ndarray) -> Interval:
    """Return enclosures of the Euclidean norms of the rows."""
    where = np.repeat(np.arange(len(rows)), rows.shape[1])
    return norms(Interval(np.abs(np.ravel(rows))), 2, where, len(rows))
