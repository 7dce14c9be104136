"""What an objective must answer."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np

from frankwolfe.backends import Array, Scalar, all_finite
from frankwolfe.points import Coordinates, Point, Slope, Tangent
from frankwolfe.rounding import FEW, Extent


class Evaluation(NamedTuple):
    """f and its gradient at one point, with the value at a second one that shared the read of the data."""

    value: Scalar
    slope: Slope  # the gradient
    inner: Scalar  # <gradient, point>, from the image where there is one
    watched: Scalar  # f at the second point
    passes: float  # reads of the whole data this took
    eps: float  # machine epsilon of the arithmetic
    at: Any = None  # coordinates of the point, where certificates will need them
    noise: Scalar | None = None  # what rounding may have done to value - inner + <slope, x>, whatever x of the set
    path: str = ""  # how the rows were read, where there are ways to choose from

    @property
    def tangent(self) -> Tangent:
        """The tangent of f at the point."""
        return Tangent(
            self.slope, self.value - self.inner, 1.0, self.trusted if self.noise is None else self.noise, self.at
        )

    @property
    def trusted(self) -> Scalar:
        """The noise of value and slope that are right to a few ulps, as those of a user's function are taken to be."""
        return FEW * self.eps * (abs(self.value) + abs(self.inner))


class Line(ABC):
    """f on the segment from x to v: its derivative at x + gamma (v - x), and the second where it is known."""

    passes: float = 0.0  # reads of the data per probe
    gradients: int = 0  # gradients per probe

    @abstractmethod
    def __call__(self, gamma: float) -> tuple[float, float | None]:
        """Return first and second derivative (None if unknown) at gamma."""


class Objective(ABC):
    """A differentiable function f.

    Users call `value`, `grad` and `value_and_grad` with plain coordinates. The loop calls `evaluate` with points. To
    add an objective of the form φ(Ax), subclass `Composite` instead.
    """

    shape: tuple[int, ...] | None = None
    """Shape of the variable where the data fix it."""

    convex: bool = True
    """Whether f is convex; bounds on the optimum are claimed only then."""

    flaw: str | None = None
    """Why f is known not to be convex though it was given as such: a sentence that ends the run at its first step."""

    ours: bool = True
    """Whether value and gradient are formulae of this library; those of a user are tried before an answer is given."""

    proven: bool = False
    """Whether convexity and gradient are beyond doubt: what contradicts them can only be rounding."""

    keeps_factors: bool = False
    """Whether f sees entries of a matrix only, so that points are kept as factors."""

    @property
    def data_shape(self) -> tuple[int, int] | None:
        """Rows and variables of the data where f is a mean over rows that anybody may read; None elsewhere."""
        return None

    @property
    def linear_term(self) -> Array | None:
        """c where f(x) = <x, Qx>/2 + <c, x> and images are Qx; None where f is not of this form."""
        return None

    @property
    def holds_images(self) -> bool:
        """Whether f is a function of a linear image, and images are arrays that methods may work with."""
        return False

    def __repr__(self) -> str:
        data = getattr(self, "data", None)
        size = getattr(data, "shape", None) or self.shape
        return f"{type(self).__name__}({'' if size is None else 'of ' + ' x '.join(map(str, size)) + ' numbers'})"

    def _repr_html_(self) -> str:
        from html import escape

        return f"<code>{escape(repr(self))}</code>"

    @property
    def takes_many(self) -> bool:
        """Whether all that follows takes many points at once, stacked in rows, and gives a number for each."""
        return False

    @property
    def note(self) -> str:
        """A few words for the line of progress, such as the throughput of a cluster."""
        return ""

    @abstractmethod
    def value(self, x: Array) -> Scalar:
        """Return f(x)."""

    @abstractmethod
    def grad(self, x: Array) -> Array:
        """Return the gradient at x."""

    def value_and_grad(self, x: Array) -> tuple[Scalar, Array]:
        """Return f(x) and the gradient at x."""
        return self.value(x), self.grad(x)

    @property
    def smoothness(self) -> float | None:
        """Lipschitz constant L of the gradient in the Euclidean norm, None if unknown."""
        return None

    smooth_everywhere: bool = True
    """Whether one constant of the gradient holds everywhere, and not on compact sets alone."""

    def smoothness_within(self, margin: float) -> float | None:
        """Return the constant of the gradient on a set where margins are at most this large, None if unknown."""
        return self.smoothness

    @property
    def row_sizes(self) -> tuple[np.ndarray, float] | None:
        """The largest entry of each column of the data and the largest norm of a row, where margins matter."""
        return None

    @property
    def strong_convexity(self) -> float:
        """Constant mu of strong convexity, zero if none is known."""
        return 0.0

    @property
    def additions(self) -> int:
        """Most additions behind one number of value, slope and bound: what their rounding grows with."""
        return 0

    def column_norms(self, extent: Extent) -> np.ndarray | None:
        """Return the norms of the columns of the data, on the host; None where nobody can tell.

        All terms of a product of a point x of the set with a slope are then a multiple of the sum of c_j abs(x_j).
        """
        return None

    def noise(self, at: Evaluation, extent: Extent) -> Scalar:
        """Return a bound on what rounding did to value - inner + <slope, x>, for every x of a set of this extent."""
        return at.trusted if at.noise is None else at.noise

    @abstractmethod
    def start(self, x0: Any, dense: bool) -> Any:
        """Return coordinates to start from (zero if x0 is None); `dense` asks for an array, for projections."""

    @abstractmethod
    def evaluate(self, y: Point, watch: Point) -> Evaluation:
        """Return f and gradient at y and f at `watch` (often y itself), in as few reads of the data as possible."""

    @abstractmethod
    def value_at(self, x: Point) -> tuple[Scalar, float]:
        """Return f at a point and the reads of the data that took."""

    def value_inside(self, x: Array) -> float:
        """Return f(x), infinity where it is not defined: for points on trial, where a user's function may fail."""
        try:
            with np.errstate(all="ignore"):
                value = float(self.value(x))
        except (ArithmeticError, ValueError, np.linalg.LinAlgError):
            return math.inf
        return math.inf if math.isnan(value) else value

    def grad_inside(self, x: Array) -> Array | None:
        """Return the gradient at x; None where f is not defined there."""
        if not math.isfinite(self.value_inside(x)):
            return None
        try:
            with np.errstate(all="ignore"):
                slope = self.grad(x)
        except (ArithmeticError, np.linalg.LinAlgError):
            return None
        return slope if all_finite(slope) else None

    @abstractmethod
    def line(self, x: Point, v: Point) -> tuple[Line, float]:
        """Return f on the segment from x to v, and the reads of the data that took."""

    def oriented(self, sparse_atoms: bool, parallel_atoms: bool = False) -> Objective:
        """Return the same objective with its data laid out for the set's atoms; itself where nothing is gained."""
        return self

    def natural(self, coords: Coordinates) -> Any:
        """Return coordinates in the form that the user gave the starting point in."""
        return coords

    def doubled(self) -> Objective | None:
        """Return the same function in double precision, from data of a narrower type; None where that is unknown."""
        return None

    def dual(self, values: Array) -> Any:
        """Return the gradient whose numbers are `values` (what a checkpoint stores)."""
        return values

    @abstractmethod
    def fingerprint(self, start: Any) -> list[Any]:
        """Return what identifies the function: names, numbers and arrays, hashed by checkpoints.

        A function whose data cannot be seen is identified by what it does at the starting coordinates.
        """
