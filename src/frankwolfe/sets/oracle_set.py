"""A user's own set, given by one function."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from array_api_compat import is_array_api_obj

from frankwolfe.atoms import Atom, Dense
from frankwolfe.backends import Array
from frankwolfe.backends.namespace import as_like, own
from frankwolfe.sets.base import ProjectableSet, install, known_shape, require_shape
from frankwolfe.sets.fixed_arrays import on_host
from frankwolfe.sets.membership import contains_by_oracle
from frankwolfe.validation import code_of, nonnegative


@dataclass(frozen=True, init=False)
class OracleSet(ProjectableSet):
    """A compact convex set known by a function that minimises linear functions over it; `Set.from_lmo` makes one.

    Parameters
    ----------
    lmo : callable
        ``lmo(g)`` returns a point of the set (an array shaped like g, or an `Atom`) where <g, v> is least.
    shape : tuple of int, optional
        Shape of the points, where the set fixes it.
    diameter : float, optional
        The Euclidean diameter or an upper bound. By default the diagonal of the smallest box around the set, from two
        calls for each entry of a point.
    contains : callable, optional
        ``contains(x, tol)`` tells whether x belongs to the set. By default it is found out by calls of `lmo`.
    project : callable, optional
        ``project(x)`` returns the nearest point; with it the set is a `ProjectableSet`.

    Notes
    -----
    Certificates are as good as the function: an answer that is not the minimum makes lower bounds wrong. Methods that
    project refuse the set where `project` is not given.

    Examples
    --------
    >>> import numpy as np
    >>> triangle = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 3.0]])
    >>> domain = OracleSet(lambda g: triangle[np.argmin(triangle @ g)], shape=(2,))
    >>> domain.lmo(np.array([-1.0, -1.0])).toarray()
    array([4., 0.])
    >>> domain.contains(np.array([1.0, 1.0])), domain.contains(np.array([3.0, 3.0])), domain.diameter()
    (True, False, 5.0)
    """

    name: str
    shape: tuple[int, ...] | None
    size: float | None
    code: tuple[str, ...] = field(repr=False)  # of the functions: what two sets are compared by

    def __init__(
        self,
        lmo: Callable[[Any], Any],
        *,
        shape: Any = None,
        diameter: float | None = None,
        contains: Callable[[Any, float], bool] | None = None,
        project: Callable[[Any], Any] | None = None,
    ) -> None:
        functions = {"lmo": lmo, "contains": contains, "project": project}
        for name, function in functions.items():
            if not callable(function) and (name == "lmo" or function is not None):
                raise TypeError(f"{name} must be a function, got {type(function).__name__}")
        values = {
            "name": getattr(lmo, "__qualname__", type(lmo).__name__),
            "shape": None if shape is None else tuple(int(n) for n in np.atleast_1d(shape)),
            "size": None if diameter is None else nonnegative("diameter", diameter),
            "code": tuple(" ".join(code_of(function)) for function in functions.values()),
            "_functions": functions,
            "_diagonals": {},  # by shape, once they are known
        }
        install(self, quick_membership=project is not None, **values)

    def can(self, capability: type) -> bool:
        return capability is not ProjectableSet or self._function("project") is not None

    def lmo(self, g: Array) -> Atom:
        require_shape(self, g)
        v = self._function("lmo")(own(g))  # which the function may change, and use its own array again
        if not isinstance(v, Atom):
            v = Dense(own(_like(v, g)))
        if tuple(v.shape) != tuple(g.shape):
            raise ValueError(f"lmo must return a point of shape {tuple(g.shape)} as it was given, got {tuple(v.shape)}")
        return v

    def diameter(self, shape: tuple[int, ...] | None = None) -> float:
        """Return what was given, else an upper bound from two calls of `lmo` for each entry of a point."""
        if self.size is not None:
            return self.size
        shape = self.shape or known_shape(self, shape)
        kept = self.__dict__["_diagonals"]
        if shape not in kept:
            kept[shape] = self._diagonal(shape)
        return kept[shape]

    def contains(self, x: Array, tol: float = 1e-9) -> bool:
        require_shape(self, x)
        test = self._function("contains")
        return contains_by_oracle(self, x, tol) if test is None else bool(test(own(x), tol))

    def project(self, x: Array) -> Array:
        nearest = self._function("project")
        if nearest is None:
            raise TypeError("this set has no projection; pass project= to Set.from_lmo")
        return _like(nearest(own(x)), x)

    def _function(self, name: str) -> Any:
        return self.__dict__["_functions"][name]

    def _diagonal(self, shape: tuple[int, ...]) -> float:
        widths = []
        for j in range(math.prod(shape)):
            unit = np.zeros(math.prod(shape))
            unit[j] = 1.0
            ends = [on_host(self.lmo(sign * unit.reshape(shape)).toarray()).reshape(-1)[j] for sign in (1.0, -1.0)]
            widths.append(ends[1] - ends[0])
        return float(np.linalg.norm(widths))


def _like(values: Any, like: Array) -> Array:
    return (
        values if is_array_api_obj(values) and getattr(values, "dtype", None) == like.dtype else as_like(values, like)
    )
