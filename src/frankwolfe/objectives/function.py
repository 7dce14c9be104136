"""Bring your own function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from frankwolfe.atoms import Atom
from frankwolfe.backends import Array, Scalar, eps, namespace, vdot
from frankwolfe.objectives.base import Evaluation, Line, Objective
from frankwolfe.points import Point, mix
from frankwolfe.validation import nonnegative, positive


class Function(Objective):
    """Any smooth convex function given by its value and its gradient.

    Parameters
    ----------
    f : callable
        Value at an array.
    grad : callable
        Gradient at an array, of the same shape.
    smoothness : float, optional
        Lipschitz constant of the gradient, needed by projected methods and short steps.
    strong_convexity : float, default 0
        Constant of strong convexity, used by `agm_sc`.

    Notes
    -----
    `frankwolfe.check_gradient` compares the two functions at a point before you trust them.

    Examples
    --------
    >>> import numpy as np
    >>> square = Function(lambda x: x @ x, lambda x: 2 * x, smoothness=2.0)
    >>> square.value_and_grad(np.array([1.0, 2.0]))
    (5.0, array([2., 4.]))
    """

    def __init__(
        self,
        f: Callable[[Array], Scalar],
        grad: Callable[[Array], Array],
        *,
        smoothness: float | None = None,
        strong_convexity: float = 0.0,
    ) -> None:
        for name, given in (("f", f), ("grad", grad)):
            if not callable(given):
                raise TypeError(f"{name} must be a function of one array, got {type(given).__name__}")
        self.f = f
        self.gradient = grad
        self._smoothness = None if smoothness is None else positive("smoothness", smoothness)
        self._strong_convexity = nonnegative("strong_convexity", strong_convexity)

    @property
    def smoothness(self) -> float | None:
        return self._smoothness

    @property
    def strong_convexity(self) -> float:
        return self._strong_convexity

    def value(self, x: Array) -> Scalar:
        value = self.f(x)
        if not isinstance(value, float) and np.size(value) != 1:
            raise ValueError(f"f must return one number, got an array of shape {np.shape(value)}")
        return float(np.reshape(value, ())) if isinstance(value, np.ndarray | np.generic) else value

    def grad(self, x: Array) -> Array:
        g = self.gradient(x)
        if tuple(np.shape(g)) != tuple(x.shape):
            raise ValueError(f"grad must return an array of the shape of x, {tuple(x.shape)}, got {tuple(np.shape(g))}")
        return namespace(x).asarray(g, dtype=x.dtype)

    def start(self, x0: Any, dense: bool) -> Array:
        if x0 is None:
            raise ValueError("x0 is needed: neither the function nor the set tells the shape of the variable")
        if isinstance(x0, np.ndarray) and x0.dtype.kind != "f":
            x0 = x0.astype(np.float64)
        return x0 if hasattr(x0, "dtype") else np.asarray(x0, dtype=np.float64)

    def value_at(self, x: Point) -> tuple[Scalar, float]:
        return self.value(x.coords), 0.0

    def evaluate(self, y: Point, watch: Point) -> Evaluation:
        for leaf in (*y.pending, *watch.pending):
            leaf.resolve(0.0)  # there is no linear map: the image of every point is nothing
        value, slope = self.value(y.coords), self.grad(y.coords)
        watched = value if watch is y else self.value(watch.coords)
        return Evaluation(value, slope, vdot(slope, y.coords), watched, 0.0, eps(y.coords))

    def line(self, x: Point, v: Point) -> tuple[Line, float]:
        return _GradientLine(self, x, v), 0.0

    def fingerprint(self, start: Any) -> list[Any]:
        return ["Function", *_code(self.f), *_code(self.gradient), self.value(start), self.grad(start)]


class _GradientLine(Line):
    """The segment by gradients: one per probe."""

    gradients = 1

    def __init__(self, objective: Function, x: Point, v: Point) -> None:
        self.objective, self.x, self.v = objective, x, v
        end = v.coords.toarray() if isinstance(v.coords, Atom) else v.coords
        self.step = end - x.coords

    def __call__(self, gamma: float) -> tuple[float, None]:
        return float(vdot(self.objective.grad(mix(self.x, self.v, gamma).coords), self.step)), None


def _code(function: Any) -> list[Any]:
    """Return what can be known of a callable: its name and its bytecode."""
    code = getattr(function, "__code__", None)
    name = getattr(function, "__qualname__", type(function).__name__)
    return [name] if code is None else [name, code.co_code.hex()]
