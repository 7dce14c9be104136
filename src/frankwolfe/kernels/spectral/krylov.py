"""A Krylov space of the Gram matrix of G, and what a random start lets one conclude from it."""

from __future__ import annotations

import math

import numpy as np

from frankwolfe.kernels.spectral import tridiagonal
from frankwolfe.kernels.spectral.gram_operator import Gram, unit_vector


class Krylov:
    """Lanczos with full reorthogonalisation and thick restarts, from one uniformly random unit vector.

    The projected matrix stays tridiagonal (diagonal `alpha`, off-diagonal `beta`, the last `beta` being the residual's
    norm). A restart keeps the top Ritz vectors and rotates them so that the new basis is again a Lanczos basis: the
    implicitly restarted Lanczos method of Calvetti, Reichel and Sorensen (1994), by the thick restart of Wu and Simon
    (2000).

    Notes
    -----
    Every basis vector is p(A) b for the random start b and a polynomial p that is known: its roots are Ritz values,
    present and discarded. An eigenvector x of the eigenvalue s with the component c in b has the component p(s) c in
    that vector, and as the basis is orthonormal, c² Σ p(s)² <= 1. Above the largest Ritz value every p increases, so a
    lower limit on |c|, which holds with a known probability because b is random, gives an upper limit on the largest
    eigenvalue. With the last p alone this is the Lanczos-polynomial bound of van Dorsselaer, Hochstenbach and van der
    Vorst (SIAM J. Matrix Anal. Appl. 22(3), 2000); all of them, and restarts, cost nothing more. It is far smaller than
    the a-priori bound of Kuczynski and Wozniakowski, and like it supposes exact arithmetic, to which full
    reorthogonalisation comes close.

    With k vectors side by side (`Gram.width`) the operator is A once for each, every eigenvalue has k eigenvectors, and
    c is the length of k random components: far less likely to be tiny, so fewer steps are needed.
    """

    def __init__(self, A: Gram, rng: np.random.Generator, most: int) -> None:
        self.A = A
        self.most = max(1, min(most, A.size))
        self.basis = np.empty((self.most + 1, A.size), A.dtype)  # pages are only touched as the space grows
        self.basis[0] = unit_vector(A.size, A.dtype, rng)
        self._alpha, self._beta = np.empty(self.most), np.empty(self.most)
        self.dimension = self.steps = 0
        self._rounding = 8 * float(np.finfo(A.dtype).eps)
        self._discarded = np.zeros(0)
        self._log_norm = 0.0  # of the polynomial with the discarded roots, applied to the start

    @property
    def alpha(self) -> np.ndarray:
        return self._alpha[: self.dimension]

    @property
    def beta(self) -> np.ndarray:
        return self._beta[: self.dimension]

    def grow(self, steps: int = 1) -> bool:
        """Take so many steps; return False where the space has become invariant (it then holds every answer)."""
        first, last = self.dimension, min(self.dimension + steps, self.most)
        if self.A.block is None:
            while self.dimension < last and (self.dimension == first or self.alive):
                self._step()
            return self.alive
        from frankwolfe.kernels.spectral import krylov_loops

        arrays = self.A.block, self.basis, self._alpha, self._beta
        return self._counted(krylov_loops.grow(*arrays, first, last, self._rounding))

    def reach(self, accuracy: float, log_bound: float) -> bool:
        """Grow in compiled steps until `log_growth` reaches the bound where the root of s is `accuracy`
        above that of the largest Ritz value, or the basis is full; return what `grow` does."""
        from frankwolfe.kernels.spectral import krylov_loops

        arrays = self.A.block, self.basis, self._alpha, self._beta
        rest = self._rounding, self._discarded, accuracy, log_bound + self._log_norm, 50
        return self._counted(krylov_loops.reach(*arrays, self.dimension, *rest))

    @property
    def alive(self) -> bool:
        """Whether there is a next basis vector."""
        return bool(self.beta[-1] > self._rounding * self.alpha.max()) and self.dimension < self.A.size

    def _counted(self, dimension: int) -> bool:
        self.steps += dimension - self.dimension
        self.A.matvecs += 2 * (dimension - self.dimension)
        self.dimension = dimension
        return self.alive

    def _step(self) -> None:
        j = self.dimension
        v, before, w = self.basis[j], float(self._beta[j - 1]) if j else 0.0, self.A @ self.basis[j]
        if self.A.compiled:
            from frankwolfe.kernels.spectral import krylov_loops

            a, b = krylov_loops.extend(self.basis, np.uint64(j), w, before)
        else:
            a, old = float(v @ w), self.basis[: j + 1]
            w = w - w.dtype.type(a) * v
            if j:
                w -= w.dtype.type(before) * self.basis[j - 1]
            w -= (old @ w) @ old
            b = float(np.linalg.norm(w))
            self.basis[j + 1] = w / w.dtype.type(b or 1.0)
        self._alpha[j], self._beta[j] = a, b
        self.dimension, self.steps = j + 1, self.steps + 1

    def top(self) -> tuple[float, np.ndarray]:
        """Return the largest Ritz value and its coordinates."""
        from scipy.linalg import eigh_tridiagonal

        j = self.dimension
        if j == 1:
            return float(self.alpha[0]), np.ones(1)
        for driver in ("stemr", "stebz"):  # the first is quicker, but gives NaN for some T that nearly fall apart
            values, vectors = eigh_tridiagonal(
                self.alpha.copy(),  # LAPACK writes over it
                self.beta[:-1],
                select="i",
                select_range=(j - 1, j - 1),
                lapack_driver=driver,
                check_finite=False,
            )
            if np.isfinite(vectors).all():
                break
        return float(values[0]), vectors[:, 0]

    def vector(self, coordinates: np.ndarray) -> np.ndarray:
        """Return the unit vector with these coordinates, in the precision of G.

        Of vectors side by side, Y, the best combination: A Y = theta Y + R with the residual R, which is known, so that
        Rayleigh quotients need no further product. The best of them is no less than theta.
        """
        j, width = self.dimension, self.A.width
        Y = (coordinates.astype(self.A.dtype) @ self.basis[:j]).astype(self.A.kind, copy=False).reshape(-1, width)
        if width > 1:
            R = (self.beta[-1] * coordinates[-1]) * self.basis[j].reshape(-1, width)
            Y = Y @ best_combination(Y.T @ Y, Y.T @ R)[:, None].astype(Y.dtype)
        return Y.ravel() / Y.dtype.type(np.linalg.norm(Y))

    def log_growth(self, s: float) -> float:
        """Return log sqrt(Σ p(s)²) for s above the largest Ritz value (see Notes)."""
        total = -self._log_norm
        if self._discarded.size:
            total += float(np.sum(np.log(s - self._discarded)))
        if not self.A.compiled:
            return total + tridiagonal.log_growth(self.alpha.tolist(), self.beta.tolist(), s)
        from frankwolfe.kernels.spectral import krylov_loops

        return total + krylov_loops.log_growth(self.alpha, self.beta, s)

    def upper(self, theta: float, log_bound: float) -> float:
        """Return the s above theta with log_growth(s) = log_bound, rounded upwards: by bisection on log(s - theta)."""
        low, high = math.log(theta) - 46.0, math.log(theta)
        while self.log_growth(theta + math.exp(high)) < log_bound:
            high += 1.0
        while high - low > 1e-3:
            middle = 0.5 * (low + high)
            if self.log_growth(theta + math.exp(middle)) < log_bound:
                low = middle
            else:
                high = middle
        return theta + math.exp(high)

    def restart(self, keep: int) -> None:
        """Shrink the basis to the `keep` top Ritz vectors."""
        from scipy.linalg import eigh_tridiagonal, hessenberg

        j = self.dimension
        theta, S = eigh_tridiagonal(self.alpha.copy(), self.beta[:-1], check_finite=False)
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
        self.dimension = keep
        self._alpha[:keep] = np.diag(H)[:0:-1]
        beta = np.diag(H, -1)[::-1]
        signs = np.cumprod(np.where(beta[::-1] < 0, -1.0, 1.0))[::-1]  # make all beta positive, from the residual back
        self.flip(signs)
        self._beta[:keep] = np.abs(beta)

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


def best_combination(squares: np.ndarray, excess: np.ndarray) -> np.ndarray:
    """Return the weights of the best combination of the columns of Y, from Y'Y and Y'R with R the residual."""
    from scipy.linalg import eigh

    # The excess is symmetric but for rounding, as A is; its trace is zero, so its best quotient is not less.
    ridge = 1e-3 * float(np.trace(squares)) * np.eye(len(squares))  # no direction that Y hardly has
    return eigh(excess + excess.T, squares + ridge, check_finite=False)[1][:, -1]


def log_component(size: int, failure: float, copies: int = 1) -> float:
    """Return log(1/d), d a length that a random unit vector's part in an eigenspace exceeds but for this probability.

    The vector is uniform on the sphere in `size` dimensions, the eigenspace has at least `copies`.

    Notes
    -----
    One component has a density that is at most its value at zero, Gamma(n/2) / (sqrt(pi) Gamma((n-1)/2)), for n >= 3,
    which is at most sqrt((n-1) / (2 pi)) by Gautschi's inequality; n = 2 has the arcsine law, n = 1 no randomness to
    fear. The square of k components has the beta law with parameters k/2 and (n-k)/2, whose density is at most
    t^(k/2-1) / B(k/2, (n-k)/2) if n >= k + 2, so d^k = failure (k/2) B(k/2, (n-k)/2).
    """
    if size <= copies:
        return 0.0
    if copies > 1:
        a, b = copies / 2, (size - copies) / 2
        log_beta = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
        return max(0.0, -(math.log(failure * a) + log_beta) / copies)
    if size == 2:
        return -math.log(math.sin(math.pi * failure / 2))
    return math.log(math.sqrt(2 * (size - 1) / math.pi) / failure)
