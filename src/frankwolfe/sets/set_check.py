"""Does an oracle belong to its set?"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from frankwolfe.backends import eps
from frankwolfe.sets.base import ProjectableSet, Set
from frankwolfe.sets.fixed_arrays import on_host
from frankwolfe.sets.oracle_set import OracleSet
from frankwolfe.validation import integer

SIGN = "it seems to maximise: an oracle is given the gradient and must minimise <g, v>, so answer for -g"


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
