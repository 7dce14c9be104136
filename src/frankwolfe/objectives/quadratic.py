"""Quadratic functions."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from frankwolfe.backends import Array, Scalar, eps, host, vdot, zeros
from frankwolfe.backends.precision import exact_products
from frankwolfe.kernels.spectral.lanczos import least_eigenvalue
from frankwolfe.objectives.base import Evaluation, Line
from frankwolfe.objectives.composite import HessianObjective, HessianProduct
from frankwolfe.objectives.derive import derive
from frankwolfe.objectives.line_search import ArrayLine, Lines
from frankwolfe.points import Point
from frankwolfe.rounding import FEW, Extent
from frankwolfe.rows.reading import array_of, products
from frankwolfe.rows.user_data import DataMatrix, data_matrix, reoriented
from frankwolfe.validation import number, vector

SMALL = 500  # size up to which all eigenvalues cost no more than one by Lanczos
DENSE_LIMIT = 3000  # size up to which eigenvalues come from LAPACK


class Quadratic(HessianObjective):
    """f(x) = x'Qx/2 + c'x + constant, with Q symmetric and positive semidefinite.

    The point's image is Qx, so the gradient at a mixture is a mixture of gradients and no product with Q is ever
    repeated; on the l1 ball and the simplex an iteration reads one column of Q.

    Parameters
    ----------
    Q : array, sparse matrix or LinearOperator of shape (d, d)
        Symmetric positive semidefinite matrix.
    c : array of shape (d,), optional
        Linear term, zero by default.
    constant : float, default 0
        Added to the value.

    Examples
    --------
    >>> import numpy as np
    >>> f = Quadratic(np.diag([1.0, 4.0]), [-1.0, 0.0])
    >>> f.grad(np.ones(2)), round(f.smoothness, 9), round(f.strong_convexity, 9)
    (array([0., 4.]), 4.0, 1.0)
    """

    def __init__(self, Q: Any, c: Any = None, constant: float = 0.0) -> None:
        self.data = data_matrix("Q", Q)
        d, columns = self.data.shape
        if d != columns:
            raise ValueError(f"Q must be square, got shape {self.data.shape}")
        self.shape: tuple[int, ...] = (d,)
        self._check_symmetric(*(self.data.array(u) for u in np.random.default_rng(0).standard_normal((2, d))))
        self.exact_c = np.zeros(d) if c is None else vector("c", c, d)  # where the data are narrower
        self.c = self.data.array(self.exact_c)
        self.constant = number("constant", constant)

    @exact_products()
    def _check_symmetric(self, u: Array, w: Array) -> None:
        # <u, Qw> = <w, Qu> for random u, w: catches an unsymmetric matrix without forming Q'.
        with np.errstate(over="ignore", invalid="ignore"):  # squares may leave single precision: then nothing is seen
            qu, qw = self.data.product(u), self.data.product(w)
            size = (vdot(u, u) * vdot(qw, qw)) ** 0.5 + (vdot(w, w) * vdot(qu, qu)) ** 0.5
            apart = abs(vdot(u, qw) - vdot(w, qu))
        if apart > 1e3 * eps(u) * size:
            raise ValueError("Q must be symmetric, and it is not; pass (Q + Q.T) / 2, which gives the same function")

    @property
    def map(self) -> DataMatrix:
        return self.data

    @cached_property
    def _extreme_eigenvalues(self) -> tuple[float, float | None]:
        d = self.data.shape[0]
        if d <= DENSE_LIMIT and self.data.stored:
            values = np.linalg.eigvalsh(self._dense)
            return float(values[-1]), float(values[0])
        from frankwolfe.kernels.spectral.lanczos import spectral_norm

        return spectral_norm(self.data.matrix), None

    @property
    def _dense(self) -> np.ndarray:
        """Q on the host, in double precision."""
        matrix = self.data.matrix
        return host(matrix.toarray() if hasattr(matrix, "toarray") else matrix).astype(np.float64, copy=False)

    @cached_property
    def smoothness(self) -> float:  # pyright: ignore[reportIncompatibleVariableOverride]
        d = self.data.shape[0]
        if d <= SMALL or not self.data.stored:
            return self._extreme_eigenvalues[0]
        from frankwolfe.kernels.spectral.lanczos import top_singular

        return top_singular(self.data.matrix, 0.0, np.random.default_rng(0), rtol=1e-9).sigma  # one eigenvalue, not all

    @cached_property
    def strong_convexity(self) -> float:  # pyright: ignore[reportIncompatibleVariableOverride]
        return max(self._least_eigenvalue, 0.0)

    @cached_property
    def _least_eigenvalue(self) -> float:
        """A proven lower bound on the eigenvalues of Q; zero, the user's word, where Q is too large to look at."""
        return 0.0 if self._extreme_eigenvalues[1] is None else least_eigenvalue(self._dense, 0)

    @cached_property
    def proven(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether the eigenvalues are known, and none is negative beyond rounding."""
        largest, smallest = self._extreme_eigenvalues
        return smallest is not None and smallest >= -self.data.shape[0] * eps(self.c) * abs(largest)

    @cached_property
    def _hollow(self) -> float:
        """How far below zero eigenvalues of Q may be: f is below its tangents by so much."""
        return max(-self._least_eigenvalue, 0.0)

    @cached_property
    def flaw(self) -> str | None:  # pyright: ignore[reportIncompatibleVariableOverride]
        least, largest = -self._hollow, abs(self._extreme_eigenvalues[0])
        if least >= -self.data.shape[0] * float(np.finfo(np.float32).eps) * largest:  # its entries may be rounded
            return None
        return (
            f"the objective is not convex: Q has an eigenvalue of {least:.3g}. No bound on the optimum holds; "
            "Function(f, grad, convex=False) is minimised without one"
        )

    def column_norms(self, extent: Extent) -> np.ndarray | None:
        squares = self._column_squares  # of an operator they are unknown, and no more than those of its norm
        norms = self.smoothness if squares is None else np.sqrt(squares)
        return extent.norm * norms + np.abs(host(self.c)).astype(np.float64)

    @cached_property
    def _column_squares(self) -> np.ndarray | None:
        return self.data.column_squares(None)

    @property
    def additions(self) -> int:
        return 2 * self.data.shape[0]

    def noise(self, at: Evaluation, extent: Extent) -> Scalar:
        # Every product of entries of Q or c with those of two points of the set is in the reach.
        terms = abs(self.constant) + 4 * extent.reach + abs(at.value) + abs(at.inner)
        return at.eps * (self.additions + FEW) * terms + 0.5 * self._hollow * extent.norm * extent.norm

    def start(self, x0: Any, dense: bool) -> Array:
        return self.data.array(np.zeros(self.data.shape[0]) if x0 is None else x0)

    def value_at(self, x: Point) -> tuple[Scalar, float]:
        passes = self.resolve(x)
        return self._value(x), passes

    def evaluate(self, y: Point, watch: Point) -> Evaluation:
        passes = self.resolve(y) + self.resolve(watch)
        slope = y.image + self.c
        value = self._value(y)
        watched = value if watch is y else self._value(watch)
        return Evaluation(value, slope, products(slope, y.coords), watched, passes, eps(slope))

    def line(self, x: Point, v: Point) -> tuple[Line, float]:
        passes = self.resolve(x) + self.resolve(v)
        return Lines(self, x, v) if x.image.ndim == 2 else _Parabola(x, v, self.c), passes

    def derivatives(self, x: Point, v: Point, gamma: Array) -> tuple[Array, Array]:
        """Return first and second derivative along x + gamma (v - x), for each of many points with known images."""
        segment = _Parabola(x, v, self.c)
        return segment.along(gamma)

    @property
    def constant_hessian(self) -> bool:
        return True

    @property
    def linear_term(self) -> Array:
        return self.c

    def hessian_along(self, x: Point) -> HessianProduct:
        def bent(way: Array) -> tuple[Array, Array, float]:
            along = self.data.product(way)
            return along, along, 1.0

        return bent

    def hessian(self, x: Point, every: int = 1) -> np.ndarray:
        return self._dense

    def evaluate_twice(self, x: Point, every: int = 1) -> tuple[Evaluation, np.ndarray]:
        return self.evaluate(x, x), self._dense

    def steepest_bend(self, x: Point, v: Point) -> Scalar:
        move = v.image - x.image
        return max(float(products(move, v.array) - products(move, x.array)), 0.0)

    @property
    def takes_many(self) -> bool:
        return self.data.stored

    def _value(self, x: Point) -> Scalar:
        return products(0.5 * x.image + self.c, array_of(x.coords)) + self.constant

    def doubled(self) -> Quadratic:
        data = self.data.doubled()
        return derive(self, data=data, c=data.array(self.exact_c))

    def oriented(self, sparse_atoms: bool, parallel_atoms: bool = False) -> Quadratic:
        return reoriented(self, sparse_atoms)

    def fingerprint(self, start: Any) -> list[Any]:
        return ["Quadratic", self.constant, self.c, *self.data.arrays()]


class _Parabola(ArrayLine):
    """f on a segment: a parabola, from two inner products."""

    def __init__(self, x: Point, v: Point, c: Array) -> None:
        step = array_of(v.coords) - x.coords
        self.first = products(x.image + c, step)
        self.second = products(v.image - x.image, step)
        self.like = x.coords

    @property
    def zero(self) -> Array:
        return zeros((), self.like)

    def along(self, gamma: Scalar) -> tuple[Scalar, Scalar]:
        return self.first + gamma * self.second, self.second
