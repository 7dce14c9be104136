"""The structural support vector machine, in its dual form."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from frankwolfe.atoms import Atom, Sparse
from frankwolfe.backends import Array, Scalar
from frankwolfe.objectives.base import Evaluation
from frankwolfe.objectives.composite import Composite
from frankwolfe.rounding import FEW, Extent
from frankwolfe.sets.combinations.sums_products_unions import Product
from frankwolfe.sets.oracle_set import OracleSet
from frankwolfe.validation import integer, positive

Decoder = Callable[[int, np.ndarray, float], tuple[Any, float]]


class StructuralSVM(Composite):
    """Dual of the structural SVM: f = (λ/2)|w|² - ℓ, where (w, ℓ) is the sum of n blocks (w_i, ℓ_i), one per example.

    Parameters
    ----------
    decode : callable
        ``decode(i, w, c)`` finds the output y that maximises c·loss_i(y) - <w, ψ_i(y)>, where ψ_i(y) is the features
        of example i with its true output less those with y; it returns (ψ_i(y), loss_i(y)). For c = 1 that is the
        loss-augmented decoding of example i.
    n : int
        Number of examples.
    d : int
        Number of features.
    lam : float
        Weight λ of the squared norm in the primal.

    Notes
    -----
    The primal is P(w) = (λ/2)|w|² + mean_i max_y [loss_i(y) - <w, ψ_i(y)>]. Block i ranges over the hull of all
    (ψ_i(y)/(λn), loss_i(y)/n) [1]_: `domain` is the product of these hulls, each known by its decoder alone. The
    minimum of f is minus that of P, and the Frank-Wolfe gap at a point is exactly P(w) + f: a certificate for both.
    Made for 'bcfw', which decodes one example at a time; blocks take n(d + 1) numbers.

    References
    ----------
    .. [1] S. Lacoste-Julien, M. Jaggi, M. Schmidt and P. Pletscher, Block-coordinate Frank-Wolfe optimization for
       structural SVMs, ICML 2013.

    Examples
    --------
    Two examples with outputs -1 and 1, one feature: the ordinary SVM.

    >>> import frankwolfe as fw
    >>> from frankwolfe.methods.stochastic.block_coordinate import BlockCoordinateFrankWolfe
    >>> signs, points = [1.0, -1.0], [2.0, -1.0]
    >>> def decode(i, w, c):
    ...     psi = np.array([2.0 * signs[i] * points[i]])
    ...     return (psi, 1.0) if c > w @ psi else (0.0 * psi, 0.0)
    >>> f = StructuralSVM(decode, n=2, d=1, lam=1.0)
    >>> result = fw.minimize(f, f.domain, method=BlockCoordinateFrankWolfe(), tol=1e-9)
    >>> w = f.weights(result.x)
    >>> w.round(4), round(f.primal(w), 4), round(float(result.fun), 4)
    (array([0.5]), 0.125, -0.125)
    """

    def __init__(self, decode: Decoder, n: int, d: int, lam: float) -> None:
        if not callable(decode):
            raise TypeError(f"decode must be a function of (i, w, c), got {type(decode).__name__}")
        self.decode = decode
        self.n, self.d = integer("n", n, 1), integer("d", d, 1)
        self.lam = positive("lam", lam)
        self.shape: tuple[int, ...] = (self.n * (self.d + 1),)

    @cached_property
    def domain(self) -> Any:
        """The set to minimise over: for each example the hull of what its outputs give."""
        return Product(*(_hull(self, i) for i in range(self.n)))

    @property
    def smoothness(self) -> float:
        return self.lam * self.n  # the sum of n blocks has norm √n

    @cached_property
    def map(self) -> _BlockSum:
        return _BlockSum(self.n, self.d + 1)

    proven = True

    @property
    def additions(self) -> int:
        return self.n + self.d

    def noise(self, at: Evaluation, extent: Extent) -> Scalar:
        # Of value (a - b) and inner (2a - b), the two terms a and b follow.
        return at.eps * (self.additions + FEW) * (3 * abs(at.value) + 2 * abs(at.inner))

    def loss(self, m: Array) -> Scalar:
        return 0.5 * self.lam * float(m[:-1] @ m[:-1]) - m[-1]

    def loss_slope(self, m: Array) -> Array:
        return np.append(self.lam * m[:-1], -1.0)

    def loss_curvature(self, m: Array) -> Array:
        return np.append(np.full(self.d, self.lam), 0.0)

    def block_gradient(self, image: Array, block: slice) -> Array:
        """Return the gradient of one block: the same for all."""
        return self.loss_slope(image)

    def start(self, x0: Any, dense: bool) -> Array:
        return np.zeros(self.shape) if x0 is None else np.asarray(x0, dtype=np.float64)

    def weights(self, x: Array) -> np.ndarray:
        """Return the primal w of a point of the domain."""
        return np.reshape(x, (self.n, self.d + 1)).sum(axis=0)[:-1]

    def primal(self, w: np.ndarray) -> float:
        """Return P(w), the regularised structured hinge loss; decodes every example."""
        answers = (self.decode(i, w, 1.0) for i in range(self.n))
        hinge = sum(loss - float(np.dot(w, psi)) for psi, loss in answers) / self.n
        return 0.5 * self.lam * float(w @ w) + hinge

    def fingerprint(self, start: Any) -> list[Any]:
        # The decoder is known by its answers: at zero and at one other w.
        ends = np.stack([np.zeros(self.d + 1), np.random.default_rng(0).standard_normal(self.d + 1)])
        probes = [self.domain.lmo(np.tile(self.loss_slope(m), self.n)).toarray() for m in ends]
        return ["StructuralSVM", self.n, self.d, self.lam, *probes]


class _Oracle:
    """The linear minimisation oracle of one example's block, by its decoder."""

    def __init__(self, svm: StructuralSVM, i: int) -> None:
        self.svm, self.i = svm, i

    def __call__(self, g: np.ndarray) -> np.ndarray:
        # <g_w, ψ/(λn)> + g_ℓ loss/n is least where -g_ℓ loss - <g_w/λ, ψ> is largest.
        svm = self.svm
        psi, loss = svm.decode(self.i, g[:-1] / svm.lam, -float(g[-1]))
        return np.append(np.asarray(psi, dtype=np.float64) / (svm.lam * svm.n), float(loss) / svm.n)


def _hull(svm: StructuralSVM, i: int) -> OracleSet:
    oracle, shape = _Oracle(svm, i), (svm.d + 1,)
    hull = OracleSet(oracle, shape=shape)
    # The true output gives zero, where runs start: that needs no proof by decoding.
    return OracleSet(oracle, shape=shape, contains=lambda x, tol: not np.any(x) or hull.contains(x, tol))


class _BlockSum:
    """The map from n blocks to their sum."""

    adjoint_cost = 1.0

    def __init__(self, n: int, size: int) -> None:
        self.n, self.size = n, size

    def apply(self, coords: Any) -> Array:
        if isinstance(coords, Sparse):
            return np.bincount(coords.indices % self.size, coords.values, minlength=self.size)
        if isinstance(coords, Atom):
            coords = coords.toarray()
        return coords.reshape(self.n, self.size).sum(axis=0)

    def cost(self, coords: Any) -> float:
        return coords.indices.size / (self.n * self.size) if isinstance(coords, Sparse) else 1.0

    def adjoint(self, r: Array) -> Array:
        return np.tile(r, self.n)
