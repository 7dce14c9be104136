"""A user's own set, given by one function, and whether that function belongs to its set."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from array_api_compat import is_array_api_obj

from frankwolfe.atoms import Atom, Dense
from frankwolfe.backends.namespace import Array, as_like, eps, own
from frankwolfe.sets.arrays import on_host
from frankwolfe.sets.base import ProjectableSet, Set, install, known_shape, require_shape
from frankwolfe.sets.membership import contains_by_oracle
from frankwolfe.validation import code_of, integer, nonnegative

SIGN = "it seems to maximise: an oracle is given the gradient and must minimise <g, v>, so answer for -g"


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


def check_set(
    domain: Set, shape: Any = None, *, directions: int = 20, tol: float = 1e-7, random_state: int = 0
) -> float:
    """Test the oracle of a set: its answers must belong to the set, and none may be beaten by another.

    Parameters
    ----------
    domain : Set
        The set, usually one made by `Set.from_lmo`.
    shape : int or tuple of int, optional
        Shape of the points, where the set does not fix it.
    directions : int, default 20
        How many random directions to try, dense and sparse ones; opposite ones and zero are tried as well.
    tol : float, default 1e-7
        Largest error that is accepted, relative to the size of a direction and of the answers.
    random_state : int, default 0
        Seed of the directions.

    Returns
    -------
    float
        The largest relative error found: by how much an answer is worse than another point of the set.

    Raises
    ------
    ValueError
        If an answer has the wrong shape, is not finite, lies outside the set, is beaten by another, or depends on the
        length of the direction; or if two answers are farther apart than the diameter, or a projection leaves the set.

    Examples
    --------
    >>> import numpy as np, frankwolfe as fw
    >>> corners = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 3.0]])
    >>> check_set(fw.Set.from_lmo(lambda g: corners[np.argmin(corners @ g)], shape=2))
    0.0
    >>> check_set(fw.Set.from_lmo(lambda g: corners[np.argmax(corners @ g)], shape=2))
    Traceback (most recent call last):
    ValueError: lmo(g) is not a minimiser: ... it seems to maximise: ...
    """
    if not isinstance(domain, Set):
        raise TypeError(f"check_set needs a Set such as Set.from_lmo(lmo, shape=...), got {type(domain).__name__}")
    shape = domain.shape if shape is None else tuple(int(n) for n in np.atleast_1d(shape))
    if shape is None:
        raise ValueError(f"{type(domain).__name__} does not tell the shape of its points; pass shape=")
    rng, half = np.random.default_rng(random_state), (integer("directions", directions, 1) + 1) // 2
    dense = rng.standard_normal((half, *shape))
    kept = rng.random((half, *shape)) < 0.3
    asked = [sign * g for g in [*dense, *(dense * kept)] for sign in (1.0, -1.0)]
    answers = np.stack([_answer(domain, g) for g in asked]).reshape(len(asked), -1)
    points = [*answers, _answer(domain, np.zeros(shape)).reshape(-1)]
    worst = _check_minimal(asked, np.stack(points), tol)
    _check_members(domain, points, shape, tol)
    for scale in (1e-6, 1e6):
        g, size = asked[0].reshape(-1), float(np.max(np.abs(points))) or 1.0
        again = _answer(domain, scale * asked[0]).reshape(-1)
        if not abs(float(g @ again) - float(g @ answers[0])) <= tol * float(np.abs(g).sum()) * size:
            raise ValueError(f"lmo({scale:g} g) is another answer than lmo(g): only the direction of g may count")
    return worst


def is_of_user(domain: Any) -> bool:
    """Tell whether the oracle of a set is the user's: a function, or the method of a class of theirs."""
    return isinstance(domain, OracleSet) or not (domain is None or type(domain).__module__.startswith("frankwolfe."))


def unlike_a_minimum(domain: Set, slope: Any, points: list[Any]) -> str | None:
    """Say what is wrong with the oracle if some point of the set is below its answer for a slope; else None."""
    g = on_host(slope).reshape(-1)
    found = float(g @ on_host(domain.lmo(slope).toarray()).reshape(-1))
    opposite = float(g @ on_host(domain.lmo(-slope).toarray()).reshape(-1))
    others = [(float(g @ x), float(np.abs(g) @ np.abs(x))) for x in (on_host(p).reshape(-1) for p in points)]
    room = 1e6 * eps(slope) * max(size for _, size in others)
    best = min([opposite, *(value for value, _ in others)])
    if found <= best + room:
        return None
    sign = f"; {SIGN}" if found >= opposite and opposite <= best + room else ""
    return (
        f"lmo(g) is not a minimiser: <g, v> is {found:.6g} at its answer, and {best:.6g} at another point of the "
        f"set{sign}. frankwolfe.check_set helps to find the error"
    )


def _answer(domain: Set, g: np.ndarray) -> np.ndarray:
    given = g.copy()
    v = on_host(domain.lmo(given).toarray())
    if not np.array_equal(given, g):
        raise ValueError("lmo changes the array that it is given; work on a copy of g")
    if v.shape != g.shape:
        raise ValueError(f"lmo must answer with a point of shape {g.shape}, got {v.shape}")
    if not np.all(np.isfinite(v)):
        kind = "a zero direction" if not np.any(g) else "a direction"
        raise ValueError(f"lmo answers {kind} with NaN or infinity; any point of the set would do for zero")
    return v


def _check_members(domain: Set, points: list[np.ndarray], shape: tuple[int, ...], tol: float) -> None:
    for x in [*points, 0.5 * (points[0] + points[1])]:
        if not domain.contains(x.reshape(shape), max(tol, 1e-9)):
            raise ValueError("contains rejects an answer of lmo, or the middle of two; one of the two is wrong")
    apart = max(float(np.linalg.norm(x - y)) for x in points for y in points)
    diameter = domain.diameter(shape)
    if not apart <= diameter * (1 + tol):
        raise ValueError(f"two answers of lmo are {apart:.6g} apart, and diameter says {diameter:.6g}")
    if isinstance(domain, ProjectableSet):
        for x in points:
            inside, nearest = x.reshape(shape), domain.project(2.0 * x.reshape(shape))
            again = domain.project(inside)
            size = float(np.max(np.abs(inside))) or 1.0
            if not domain.contains(nearest, 1e-6) or not float(np.max(np.abs(again - inside))) <= 1e-6 * size:
                raise ValueError("project leaves the set, or moves a point that lies in it")


def _check_minimal(asked: list[np.ndarray], points: np.ndarray, tol: float) -> float:
    worst, shown, highest = 0.0, (0.0, 0.0), True
    for i, g in enumerate(asked):
        values = points @ g.reshape(-1)
        size = float(np.abs(g).sum()) * float(np.max(np.abs(points)))
        error = (float(values[i]) - float(values.min())) / size if size > 0 else 0.0
        highest = highest and float(values[i]) >= float(values.max()) - tol * size
        if error > worst:
            worst, shown = error, (float(values[i]), float(values.min()))
    if not worst <= tol or math.isnan(worst):
        raise ValueError(
            f"lmo(g) is not a minimiser: <g, v> is {shown[0]:.6g} at its answer for some g, and {shown[1]:.6g} at its "
            f"answer for another{'; ' + SIGN if highest else ''}"
        )
    return worst
