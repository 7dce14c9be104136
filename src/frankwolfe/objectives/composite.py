"""Objectives of the form f(x) = φ(Ax) + (ridge/2)|x|², which keep Ax with the point."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from frankwolfe.backends import Array, Scalar, eps, host, vdot, zeros
from frankwolfe.backends.namespace import Imaged, as_like, fetch_arrays
from frankwolfe.backends.precision import exact_products
from frankwolfe.objectives.base import Evaluation, Line, Objective
from frankwolfe.objectives.line_search import PROBES, ArrayLine
from frankwolfe.objectives.second_moments import SecondMoments
from frankwolfe.points import Coordinates, Point
from frankwolfe.rows.reading import Query, Sweep, TwoReads, array_of


class LinearMap(Protocol):
    """The map A: what it does to coordinates of any form, and its adjoint."""

    adjoint_cost: float  # reads of the data that `adjoint` takes

    def apply(self, coords: Coordinates) -> Array:
        """Return A applied to coordinates."""
        ...

    def cost(self, coords: Coordinates) -> float:
        """Return how many reads of the data `apply` takes: one for a dense vector, a sliver for a one-hot atom."""
        ...

    def adjoint(self, r: Array) -> Any:
        """Return the adjoint of A applied to r."""
        ...


class ImageObjective(Objective):
    """An objective that keeps a linear image of the point, so that nothing is multiplied twice."""

    @property
    @abstractmethod
    def map(self) -> LinearMap:
        """The linear map A."""

    @property
    def holds_images(self) -> bool:
        return True

    @exact_products()
    def value(self, x: Any) -> Scalar:
        return self.value_at(Point.at(x))[0]

    def grad(self, x: Any) -> Any:
        return self.value_and_grad(x)[1]

    @exact_products()
    def value_and_grad(self, x: Any) -> tuple[Scalar, Any]:
        point = Point.at(x)
        at_x = self.evaluate(point, point)
        return at_x.value, at_x.slope

    def resolve(self, x: Point) -> float:
        """Compute what is pending of a point's image; return the reads of the data that took."""
        passes = 0.0
        for leaf in x.pending:
            passes += self.map.cost(leaf.coords)
            leaf.resolve(self.map.apply(leaf.coords))
        return passes


OnSpan = Callable[[np.ndarray], tuple[float, np.ndarray, np.ndarray]]
"""A function of a few weights: value, gradient, Hessian."""

HessianProduct = Callable[[Array], tuple[Array, Array, float]]
"""Of a direction: its image, the Hessian times it, and the reads of the data that took."""


class HessianObjective(ImageObjective):
    """An objective whose Hessian comes from the data."""

    data: Any  # the matrix behind the map

    @property
    @abstractmethod
    def constant_hessian(self) -> bool:
        """Whether the Hessian is the same everywhere."""

    @property
    def second_moments(self) -> SecondMoments | None:
        """What tells value and gradient everywhere without another read of the data; None where there is no such."""
        return None

    @abstractmethod
    def hessian(self, x: Point, every: int = 1) -> np.ndarray:
        """Return the Hessian at a point whose image is known; on the host it may be estimated from one row in `every`.

        It takes a read of the data.
        """

    def evaluate_twice(self, x: Point, every: int = 1) -> tuple[Evaluation, np.ndarray]:
        """Return f, gradient and Hessian at x, in as few reads of the data as possible."""
        at_x = self.evaluate(x, x)
        return at_x._replace(passes=at_x.passes + 1), self.hessian(x, every)

    @abstractmethod
    def hessian_along(self, x: Point) -> HessianProduct:
        """Return products with the Hessian at x."""

    @abstractmethod
    def steepest_bend(self, x: Point, v: Point) -> Scalar:
        """Return a bound on the second derivative anywhere on the segment between two points with known images."""

    def tail(self, m: Array) -> Scalar | None:
        """Return a number t with gg' <= tH where most losses are in exponential tails; None elsewhere."""
        return None


class Composite(ImageObjective):
    """f(x) = φ(Ax) + (ridge/2)|x|². Subclasses give the map and φ with its derivatives, entry by entry of the image."""

    row_loss: Any = None  # the loss of every entry of the image, where there is one
    ridge: float = 0.0
    offset: float = 0.0
    """What is added to f beside, whatever x."""
    separable: bool = True
    """Whether φ is a sum over the entries of the image: a block of them can then be differentiated on its own."""

    @abstractmethod
    def loss(self, m: Array) -> Scalar:
        """Return φ(m)."""

    @abstractmethod
    def loss_slope(self, m: Array) -> Array:
        """Return the gradient of φ at m."""

    @abstractmethod
    def loss_curvature(self, m: Array) -> Array:
        """Return the diagonal of the Hessian of φ at m, or the numbers that `bend` makes the Hessian from."""

    def loss_inner(self, m: Array, slope: Array, value: Scalar) -> Scalar:
        """Return <slope, m> for the slope of φ at m; more where the slope is not exact, so that φ(m) less it is safe.

        `value` is φ(m).

        φ(m) - loss_inner + <slope, ·> must lie below φ everywhere.
        """
        return vdot(slope, m)

    def bend(self, curvature: Array, image: Array) -> Array:
        """Return the Hessian of φ times an image, or each of several (stacked along the first axis)."""
        return curvature * image

    def along(self, start: Array, step: Array, gamma: Scalar) -> tuple[Scalar, Scalar]:
        """Return first and second derivative of φ along start + gamma step."""
        m = start + gamma * step
        return vdot(self.loss_slope(m), step), vdot(self.bend(self.loss_curvature(m), step), step)

    def quadratic_form(self, curvature: Array, images: Any) -> np.ndarray:
        """Return V'HV, on the host: H the Hessian of φ, V the images, columns of an array or a sparse matrix (CSC)."""
        if hasattr(images, "tocsc"):
            scaled = images.copy()
            scaled.data *= curvature[scaled.indices]
            product = (scaled.T @ images).toarray()
        else:
            product = host(images.T @ (images * curvature[:, None]))
        return np.array(product, dtype=np.float64)  # ours to change: JAX's are not

    def on_span(self, images: Array, near: Array) -> OnSpan:
        """Return φ on the combinations of some images, about at the image `near`, as a function of weights."""

        def at(c: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
            m = as_like(c, images) @ images
            slope, curvature = self.loss_slope(m), self.loss_curvature(m)
            first, second = images @ slope, self.bend(curvature, images) @ images.T
            value, gradient, hessian = fetch_arrays(self.loss(m), first, second)
            return float(value), gradient, hessian

        return at

    def value_at(self, x: Point) -> tuple[Scalar, float]:
        passes = self.resolve(x)
        return self.loss(x.image) + (self._ridge(x) + self.offset), passes

    def evaluate(self, y: Point, watch: Point) -> Evaluation:
        return self._evaluation(TwoReads().read(self.map, self, Query(y, watch, vectors=False)), y, watch)

    def _evaluation(self, seen: Sweep, y: Point, watch: Point) -> Evaluation:
        """Return what a read gave, with the offset and the ridge term."""
        value, slope, inner, watched = seen.value, seen.slope, seen.inner, seen.watched
        if self.offset:
            value, watched = value + self.offset, watched + self.offset
        if self.ridge:
            own, at = self._ridge(y), array_of(y.coords)
            value, inner = value + own, inner + 2 * own
            watched = value if watch is y else watched + self._ridge(watch)
            if isinstance(slope, Imaged):
                at = Imaged.known(at, y.image, slope.of)
            slope = slope + self.ridge * at
        return Evaluation(value, slope, inner, watched, seen.passes, self.eps(y), path=seen.path)

    def eps(self, x: Point) -> float:
        """Return the machine epsilon of the arithmetic at a point with an image."""
        return eps(x.image)

    def line(self, x: Point, v: Point) -> tuple[Line, float]:
        passes = self.resolve(x) + self.resolve(v)
        return _ImageLine(self, x, v), passes

    def _ridge(self, x: Point) -> Scalar:
        return 0.5 * self.ridge * _norm2(x.coords) if self.ridge else 0.0


class _ImageLine(ArrayLine):
    """The segment on images: O(n) per probe, no read of the data."""

    def __init__(self, objective: Composite, x: Point, v: Point) -> None:
        self.objective = objective
        self.start = x.image
        self.step = v.image - x.image
        self.ridge = ridge_along(objective.ridge, x, v)

    @property
    def zero(self) -> Array:
        return zeros((), self.start)

    def minimise(self, cap: float, tick: Callable[[], None]) -> Array:
        model: Any = self.objective
        if not self._by_kernel:
            return super().minimise(cap, tick)
        from frankwolfe.backends.triton_line_search import device_search

        share = model.share if model.weighted else model.share[0]
        return device_search(model.row_loss, model.b, share, self.start, self.step, self.ridge, cap, PROBES)

    @property
    def _by_kernel(self) -> bool:
        """Whether one kernel of Triton searches."""
        if self.objective.row_loss is None or not self.objective.separable or not getattr(self.start, "is_cuda", False):
            return False
        from frankwolfe.backends.torch_rows import has_triton

        return has_triton()

    def along(self, gamma: Scalar) -> tuple[Scalar, Scalar]:
        first, second = self.objective.along(self.start, self.step, gamma)
        return first + self.ridge[0] + gamma * self.ridge[1], second + self.ridge[1]


def ridge_along(ridge: float, x: Point, v: Point) -> tuple[Scalar, Scalar]:
    """Return first and second derivative of the ridge term at x, on the way to v."""
    if not ridge:
        return 0.0, 0.0
    at = array_of(x.coords)
    step = array_of(v.coords) - at
    return ridge * vdot(at, step), ridge * vdot(step, step)


def _norm2(x: Any) -> Scalar:
    x = array_of(x)
    return vdot(x, x)
