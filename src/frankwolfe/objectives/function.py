"""Bring your own function."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from frankwolfe.atoms import Atom
from frankwolfe.backends import Array, Scalar, double, eps, host, namespace, vdot
from frankwolfe.backends.autodiff import (
    BACKENDS,
    Tree,
    answers_in_double,
    differentiated,
    is_complex,
    is_tree,
    one_number,
)
from frankwolfe.backends.namespace import all_finite, as_like, is_traced, own
from frankwolfe.backends.precision import users_products
from frankwolfe.objectives.base import Evaluation, Line, Objective
from frankwolfe.objectives.derive import derive
from frankwolfe.points import Point, mix
from frankwolfe.rounding import FEW
from frankwolfe.validation import code_of, floating, nonnegative, optional, plain, positive

EDGE = 1e4  # ulps by which a value may rise where the gradient says that it falls
SINGLE = 16.0  # a function that cannot be repeated in double precision is supposed to round this much more than a sum


class Function(Objective):
    """Any smooth function given by its value, and by its gradient or a library that finds it.

    Parameters
    ----------
    f : callable
        Value at an array.
    grad : callable, optional
        Gradient at an array, of the same shape. Needed unless `backend` is given.
    smoothness : float, optional
        Lipschitz constant of the gradient, needed by projected methods and short steps.
    strong_convexity : float, default 0
        Constant of strong convexity, used by `agm_sc`.
    backend : {"torch", "jax"}, optional
        Find the gradient by automatic differentiation: `f` is written in that library. The variable may then also be a
        nest of dicts, lists and tuples of arrays (pass one as `x0`); the set holds one long vector with all entries,
        and the result comes back in the nest's form. JAX functions are compiled.
    convex : bool, default True
        False for a function that is not convex: no bound on the optimum is claimed then, and the gap is infinite.

    Notes
    -----
    `frankwolfe.check_gradient` compares the two functions at a point before you trust them.

    A run in single precision proves its bounds in double precision where the function can be computed so: called with a
    64-bit array it must answer with 64-bit numbers, as NumPy and JAX do whatever the data, and torch for 64-bit data.
    Where it cannot, bounds suppose that value and gradient are right to 1024 ulps of ``|f| + <|gradient|, |x|>``, and
    keep that distance.

    Examples
    --------
    >>> import numpy as np
    >>> square = Function(lambda x: x @ x, lambda x: 2 * x, smoothness=2.0)
    >>> square.value_and_grad(np.array([1.0, 2.0]))
    (5.0, array([2., 4.]))
    """

    ours = False

    def __init__(
        self,
        f: Callable[[Any], Scalar],
        grad: Callable[[Array], Array] | None = None,
        *,
        smoothness: float | None = None,
        strong_convexity: float = 0.0,
        backend: str | None = None,
        convex: bool = True,
    ) -> None:
        if not callable(f):
            raise TypeError(f"f must be a function of one array, got {type(f).__name__}")
        if backend is not None and backend not in BACKENDS:
            raise ValueError(f"backend must be 'torch' or 'jax', got {backend!r}; or leave it out and pass grad")
        if grad is None and backend is None:
            raise TypeError("grad is missing: pass the gradient, or backend='torch' or backend='jax' to have it found")
        if grad is not None and not callable(grad):
            raise TypeError(f"grad must be a function of one array, got {type(grad).__name__}")
        if backend is not None:
            optional(backend, extra=backend)
        self.f = f
        self.gradient = grad
        self.backend = backend
        self.convex = bool(convex)
        self.tree: Tree | None = None  # how the variable is laid out, where it is a nest of arrays
        self.wide = False  # whether points are brought to double precision first
        self._last: tuple[Array, Any] | None = None  # the last point, and what was found there: it is asked for again
        self._start: Array | None = None  # the last starting point: tells the kind of array
        self._smoothness = None if smoothness is None else positive("smoothness", smoothness)
        self._strong_convexity = nonnegative("strong_convexity", strong_convexity)

    @property
    def smoothness(self) -> float | None:
        return self._smoothness

    @property
    def strong_convexity(self) -> float:
        return self._strong_convexity

    def value(self, x: Array) -> Scalar:
        if self.backend is not None:
            return self.value_and_grad(x)[0]
        if self._last is None or self._last[0] is not x:
            self._last = x, self._value(x)
        return self._last[1]

    def _value(self, x: Array) -> Scalar:
        with self._products:
            value = self.f(own(x))
        if type(value) is float:
            return value
        value = one_number(value)
        if isinstance(value, np.ndarray | np.generic):
            return float(np.reshape(value, ()))
        return value if isinstance(value, float | int) else namespace(value).reshape(value, ())

    def grad(self, x: Array) -> Array:
        return self.value_and_grad(x)[1]

    def value_and_grad(self, x: Array) -> tuple[Scalar, Array]:
        if self.gradient is None:
            if self._last is None or self._last[0] is not x or is_traced(x):
                with self._products:
                    self._last = x, self._differentiated(x)
            return self._last[1]
        with self._products:
            g = self.gradient(own(x))
        g = g.toarray() if hasattr(g, "toarray") else g
        if g is None or tuple(np.shape(g)) != tuple(x.shape):
            shown = "None" if g is None else f"shape {tuple(np.shape(g))}"
            raise ValueError(f"grad must return an array of the shape of x, {tuple(x.shape)}, got {shown}")
        if is_complex(g):
            raise TypeError("grad must return real numbers, got complex ones; return their real part if that is meant")
        g = own(as_like(g, x))  # the function may use its array again
        if isinstance(g, np.ndarray) and not all_finite(g):
            g = np.full_like(g, np.nan)  # which ends the run; infinite entries would warn on their way through a step
        return self.value(x) if self.backend is None else self._differentiated(x)[0], g

    @property
    def _products(self) -> contextlib.AbstractContextManager[None]:
        """The precision of products: the user's own setting where no bound rests on them."""
        return contextlib.nullcontext() if self.convex else users_products()

    @cached_property
    def _differentiated(self) -> Callable[[Array], tuple[Scalar, Array]]:
        assert self.backend is not None
        return differentiated(self.f, self.backend, self.natural)

    def natural(self, coords: Array) -> Any:
        return coords if self.tree is None else self.tree.unflatten(coords)

    def start(self, x0: Any, dense: bool) -> Array:
        if x0 is None:
            raise ValueError("x0 is needed: neither the function nor the set tells the shape of the variable")
        if is_tree(x0, self.backend):
            assert self.backend is not None
            self.tree = self.tree or Tree.of(x0, self.backend)
            x0 = self.tree.flatten(x0)
        x0 = floating("x0", plain("x0", x0)) if isinstance(x0, np.ndarray) or not hasattr(x0, "dtype") else x0
        self._start = x0
        return self._widened(x0) if self.wide else x0

    def doubled(self) -> Function | None:
        """Return the function in double precision, if it answers a 64-bit array with 64-bit numbers."""
        start = self._start
        if start is None or not self.convex:  # nothing will be proven
            return None
        twin = derive(self, wide=True)
        try:
            if self.backend == "jax" and not answers_in_double(self.f, self.natural, tuple(start.shape)):
                return None
            at = twin._widened(start)
            value = self.f(own(at)) if self.backend is None else twin.value(at)
            slope = twin.grad(at) if self.gradient is None else self.gradient(own(at))
            slope = slope.toarray() if hasattr(slope, "toarray") else slope
            narrow = any(hasattr(answer, "dtype") and eps(answer) > 1e-9 for answer in (value, slope))
        except Exception:  # torch does not mix precisions: the data are narrow, and the function is theirs
            return None
        return None if narrow else twin

    def _widened(self, x: Array) -> Array:
        wide = double(x)  # JAX without 64 bits takes NumPy's, and computes with them
        return host(x).astype(np.float64) if wide is None else namespace(x).astype(x, wide)

    def value_at(self, x: Point) -> tuple[Scalar, float]:
        return self.value(x.coords), 0.0

    def evaluate(self, y: Point, watch: Point) -> Evaluation:
        for leaf in (*y.pending, *watch.pending):
            leaf.resolve(0.0)  # there is no linear map: the image of every point is nothing
        value, slope = self.value_and_grad(y.coords)
        watched = value if watch is y else self.value(watch.coords)
        ulp, terms = eps(y.coords), vdot(abs(slope), abs(y.array))
        noise = FEW * (SINGLE if ulp > 1e-9 else 1.0) * ulp * (abs(value) + terms)
        return Evaluation(value, slope, vdot(slope, y.coords), watched, 0.0, ulp, noise=noise)

    def line(self, x: Point, v: Point) -> tuple[Line, float]:
        return _GradientLine(self, x, v), 0.0

    def fingerprint(self, start: Any) -> list[Any]:
        return ["Function", *code_of(self.f), *code_of(self.gradient), *self.value_and_grad(start)]


class _GradientLine(Line):
    """The segment by gradients: one per probe."""

    gradients = 1

    def __init__(self, objective: Function, x: Point, v: Point) -> None:
        self.objective, self.x, self.v = objective, x, v
        end = v.coords.toarray() if isinstance(v.coords, Atom) else v.coords
        self.step = end - x.array

    def __call__(self, gamma: float) -> tuple[float, None]:
        at = mix(self.x, self.v, gamma).coords
        gradient = self.objective.grad_inside(at)
        slope = math.inf if gradient is None else float(vdot(gradient, self.step))  # outside, f rises without end
        if slope < 0 and gamma > 0 and self.objective.convex:
            # So f should have fallen all the way. At the edge of its domain a gradient may be anything.
            start = self.objective.value_inside(self.x.coords)
            fallen = self.objective.value_inside(at) <= start + EDGE * eps(at) * abs(start)
            return (slope if fallen else math.inf), None
        return slope, None
