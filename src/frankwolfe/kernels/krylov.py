"""A Krylov space of the Gram matrix of G on its smaller side, and what a random start lets one conclude from it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from frankwolfe.kernels.implicit import ImplicitMatrix
from frankwolfe.kernels.pattern import PatternMatrix
from frankwolfe.kernels.pattern_products import gram_operator


class Gram:
    """G' G or G G', in general whichever is smaller, known by products with G and its transpose.

    Products are scaled by a power of two (`2**-exponent`) where the entries are so large or so small that their squares
    would overflow or vanish; nothing is copied. `matvecs` counts products with G or its transpose.
    """

    def __init__(self, G: Any, rng: np.random.Generator) -> None:
        m, n = G.shape
        # Entries on a pattern are stored by row: G' G takes one read, worth a basis of somewhat longer vectors.
        self._fused = G if isinstance(G, PatternMatrix | ImplicitMatrix) and n <= 2 * m else None
        fast = isinstance(self._fused, PatternMatrix)
        self.quick = gram_operator(G.pattern, G.values) if fast else None
        self.tall = m >= n or self._fused is not None
        self.size = n if self.tall else m
        self.dtype = np.dtype(np.float32) if G.dtype == np.float32 else np.dtype(np.float64)
        self._first, self._second = (G, G.T) if self.tall else (G.T, G)
        self.matvecs = 0
        self.exponent = 0
        largest = _largest_entry(G)
        if largest is None:  # only products are known: learn the size from one
            largest = float(np.max(np.abs(self.half(unit_vector(self.size, self.dtype, rng)))))
        if not math.isfinite(largest):
            raise ValueError("the matrix contains NaN or infinity")
        self.is_zero = largest == 0.0
        exponent = math.frexp(largest)[1]
        plain, most = (20, 110) if self.dtype == np.float32 else (300, 1000)
        self.exponent = 0 if abs(exponent) <= plain else max(-most, min(most, exponent))
        self._scale = 2.0**-self.exponent

    def half(self, v: np.ndarray) -> np.ndarray:
        """Return G v, or G' v where G is wide: the image on the longer side."""
        self.matvecs += 1
        return self._scaled(self._first @ v)

    def __matmul__(self, v: np.ndarray) -> np.ndarray:
        if self._fused is not None and self.exponent == 0:
            self.matvecs += 2
            return self._fused.gram_matvec(v) if self.quick is None else self.quick(v)
        z = self.half(v)
        self.matvecs += 1
        return self._scaled(self._second @ z)

    def space(self, rng: np.random.Generator, most: int) -> Krylov:
        """Return a Krylov space with a random start."""
        return Krylov(self, rng, most)

    def put(self, vector: np.ndarray) -> Any:
        """Return a vector of the host where the vectors of this space are."""
        return vector

    def image(self, v: Any) -> tuple[float, Any]:
        """Return the norm of the image of v on the longer side, and the image over its norm."""
        z = self.half(v)
        norm = float(np.linalg.norm(z.astype(np.float64)))
        return norm, z / z.dtype.type(norm)

    def _scaled(self, z: np.ndarray) -> np.ndarray:
        return z if self.exponent == 0 else z * z.dtype.type(self._scale)


class Krylov:
    """Lanczos with full reorthogonalisation and thick restarts, from one uniformly random unit vector.

    The projected matrix stays tridiagonal (diagonal `alpha`, off-diagonal `beta`, the last `beta` being the residual's
    norm). A restart keeps the top Ritz vectors and rotates them so that the new basis is again a Lanczos basis: the
    implicitly restarted Lanczos method of Calvetti, Reichel and Sorensen (1994), by the thick restart of Wu and Simon
    (2000).

    Notes
    -----
    The next basis vector is p(A) b for the random start b and a polynomial p that is known here: its roots are the Ritz
    values, present and discarded. As |p(A) b| = 1, an eigenvalue s whose eigenvector has the component c in b obeys
    |p(s) c| <= 1. Above the largest Ritz value p increases, so a lower limit on |c|, which holds with a known
    probability because b is random, gives an upper limit on the largest eigenvalue. This is the Lanczos-polynomial
    bound of van Dorsselaer, Hochstenbach and van der Vorst (SIAM J. Matrix Anal. Appl. 22(3), 2000), carried through
    restarts. It is far smaller than the a-priori bound of Kuczynski and Wozniakowski, and like it supposes exact
    arithmetic, to which full reorthogonalisation comes close.
    """

    def __init__(self, A: Gram, rng: np.random.Generator, most: int) -> None:
        self.A = A
        self.most = max(1, min(most, A.size))
        self.basis = np.empty((self.most + 1, A.size), A.dtype)  # pages are only touched as the space grows
        self.basis[0] = unit_vector(A.size, A.dtype, rng)
        self.alpha: list[float] = []
        self.beta: list[float] = []
        self.steps = 0
        self._discarded = np.zeros(0)
        self._log_norm = 0.0  # of the polynomial with the discarded roots, applied to the start

    @property
    def dimension(self) -> int:
        return len(self.alpha)

    def grow(self) -> bool:
        """Take one step; return False where the space has become invariant (it then holds every answer)."""
        j = len(self.alpha)
        v, old = self.basis[j], self.basis[: j + 1]
        w = self.A @ v
        if self.A.quick is None:
            a = float(v @ w)
            w = w - w.dtype.type(a) * v
            if j:
                w -= w.dtype.type(self.beta[-1]) * self.basis[j - 1]
            w -= (old @ w) @ old
            b = float(np.linalg.norm(w))
            self.basis[j + 1] = w / w.dtype.type(b or 1.0)
        else:
            from frankwolfe.kernels import pattern_loops

            a, b = pattern_loops.extend(self.basis, np.uint64(j), w, self.beta[-1] if j else 0.0)
        self.steps += 1
        self.alpha.append(a)
        self.beta.append(b)
        alive = b > 8 * np.finfo(w.dtype).eps * max(self.alpha) and j + 1 < self.A.size
        return alive

    def top(self) -> tuple[float, np.ndarray]:
        """Return the largest Ritz value and its coordinates."""
        from scipy.linalg import eigh_tridiagonal

        j = self.dimension
        if j == 1:
            return self.alpha[0], np.ones(1)
        values, vectors = eigh_tridiagonal(
            self.alpha,
            self.beta[:-1],
            select="i",
            select_range=(j - 1, j - 1),
            lapack_driver="stemr",
            check_finite=False,
        )
        return float(values[0]), vectors[:, 0]

    def vector(self, coordinates: np.ndarray) -> np.ndarray:
        """Return the unit vector with these coordinates."""
        y = coordinates.astype(self.A.dtype) @ self.basis[: self.dimension]
        return y / y.dtype.type(np.linalg.norm(y))

    def log_polynomial(self, s: float) -> float:
        """Return log p(s) for s above the largest Ritz value (see Notes)."""
        total = -self._log_norm
        if self._discarded.size:
            total += float(np.sum(np.log(s - self._discarded)))
        pivot, product, before = math.inf, 1.0, 0.0
        for a, b in zip(self.alpha, self.beta, strict=True):  # pivots of s I - T: their product is its determinant
            pivot = s - a - before * before / pivot
            if pivot <= 0.0:
                return -math.inf
            product *= pivot / b
            before = b
            if not 1e-150 < product < 1e150:
                total += math.log(product)
                product = 1.0
        return total + math.log(product)

    def upper(self, theta: float, log_bound: float) -> float:
        """Return the s above theta with log p(s) = log_bound, rounded upwards: by bisection on log(s - theta)."""
        low, high = math.log(theta) - 46.0, math.log(theta)
        while self.log_polynomial(theta + math.exp(high)) < log_bound:
            high += 1.0
        while high - low > 1e-3:
            middle = 0.5 * (low + high)
            if self.log_polynomial(theta + math.exp(middle)) < log_bound:
                low = middle
            else:
                high = middle
        return theta + math.exp(high)

    def restart(self, keep: int) -> None:
        """Shrink the basis to the `keep` top Ritz vectors."""
        from scipy.linalg import eigh_tridiagonal, hessenberg

        j = self.dimension
        theta, S = eigh_tridiagonal(self.alpha, self.beta[:-1], check_finite=False)
        gone, kept, S = theta[: j - keep], theta[j - keep :], S[:, j - keep :]
        # The start after the restart is q(A) b / |q(A) b|, q with the roots given up; its norm goes into p's scale.
        logs = np.log(np.abs(S[0]) + 1e-300) + np.sum(np.log(np.maximum(kept[:, None] - gone, 1e-300)), axis=1)
        self._log_norm += float(np.max(logs) + 0.5 * np.log(np.sum(np.exp(2 * (logs - np.max(logs))))))
        self._discarded = np.concatenate([self._discarded, gone])
        # Kept Ritz values couple to the residual vector through b; a rotation makes the bordered matrix tridiagonal.
        b = self.beta[-1] * S[-1]
        bordered = np.zeros((keep + 1, keep + 1))
        bordered[0, 1:] = bordered[1:, 0] = b
        bordered[np.arange(1, keep + 1), np.arange(1, keep + 1)] = kept
        H, Q = hessenberg(bordered, calc_q=True)
        self.turn((S @ Q[1:, 1:])[:, ::-1].T, keep, j)
        self.alpha = np.diag(H)[:0:-1].tolist()
        beta = np.diag(H, -1)[::-1]
        signs = np.cumprod(np.where(beta[::-1] < 0, -1.0, 1.0))[::-1]  # make all beta positive, from the residual back
        self.flip(signs)
        self.beta = np.abs(beta).tolist()

    def turn(self, rotation: np.ndarray, keep: int, j: int) -> None:
        """Replace the first j vectors of the basis by `keep` combinations of them, followed by the last vector."""
        rotation = rotation.astype(self.basis.dtype)
        for start in range(0, self.A.size, 4096):  # in place, a band of coordinates at a time
            band = slice(start, start + 4096)
            self.basis[:keep, band] = rotation @ self.basis[:j, band]
        self.basis[keep] = self.basis[j]

    def flip(self, signs: np.ndarray) -> None:
        """Multiply the first vectors of the basis by signs."""
        self.basis[: len(signs)] *= signs[:, None].astype(self.basis.dtype)


def unit_vector(size: int, dtype: np.dtype, rng: np.random.Generator) -> np.ndarray:
    """Return a vector uniform on the sphere."""
    v = rng.standard_normal(size)
    return (v / np.linalg.norm(v)).astype(dtype)


def log_component(size: int, failure: float) -> float:
    """Return log(1/d) where a component of a uniform unit vector is within d of zero with probability <= failure.

    The density of one component is at most its value at zero, Gamma(n/2) / (sqrt(pi) Gamma((n-1)/2)), for n >= 3, which
    is at most sqrt((n-1) / (2 pi)) by Gautschi's inequality; n = 2 has the arcsine law, n = 1 no randomness to fear.
    """
    if size == 1:
        return 0.0
    if size == 2:
        return -math.log(math.sin(math.pi * failure / 2))
    return math.log(math.sqrt(2 * (size - 1) / math.pi) / failure)


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
