"""Does a gradient belong to its function?"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from frankwolfe.backends import Array, eps, largest, namespace, vdot
from frankwolfe.objectives.base import Objective

LEVELS, SHRINK = 12, 32.0  # steps that are tried, and how much shorter each is than the last
DOUBTED = 1e3  # ulps of its terms that a user's function may be off by


def check_gradient(
    objective: Objective, x: Array, *, directions: int = 5, tol: float = 1e-5, random_state: int = 0
) -> float:
    """Compare the gradient with finite differences of the value along random directions.

    Parameters
    ----------
    objective : Objective
        The function to check.
    x : array
        Where to check it.
    directions : int, default 5
        How many random directions to try.
    tol : float, default 1e-5
        Largest relative error that is accepted, beyond what rounding and curvature make of the differences.
    random_state : int, default 0
        Seed of the directions.

    Returns
    -------
    float
        The largest relative error found; zero where the differences are no more exact than the gradient.

    Raises
    ------
    ValueError
        If the error exceeds `tol`.

    Examples
    --------
    >>> import numpy as np
    >>> from frankwolfe import Function
    >>> check_gradient(Function(lambda x: x @ x, lambda x: 2 * x), np.ones(3)) < 1e-8
    True
    >>> check_gradient(Function(lambda x: x @ x, lambda x: x), np.ones(3))
    Traceback (most recent call last):
    ValueError: the gradient does not match the function at this x: ... relative error 0.5...
    """
    x = namespace(x).asarray(x) if hasattr(x, "dtype") and x.dtype.kind == "f" else np.asarray(x, dtype=np.float64)
    rng = np.random.default_rng(random_state)
    tol = max(tol, DOUBTED * eps(x))
    worst, shown = 0.0, (0.0, 0.0)
    g, size = objective.grad(x), float(largest(x)) or 1.0
    for _ in range(directions):
        d = namespace(x).asarray(size * rng.standard_normal(tuple(x.shape)), dtype=x.dtype)
        error, shown_here = directional_error(objective, x, g, d)
        if not error <= worst:
            worst, shown = error, shown_here
    if not worst <= tol:
        raise ValueError(
            f"the gradient does not match the function at this x: along a random direction <grad, d> is {shown[0]:.6g} "
            f"and differences of f give {shown[1]:.6g}, a relative error {worst:.2g}"
        )
    return worst


def directional_error(objective: Objective, x: Array, g: Any, d: Array) -> tuple[float, tuple[float, float]]:
    """Return by how much <g, d> is off differences of f along d beyond all doubt, relative to them, and the two.

    With e₊ = f(x + hd) - f(x) - h<g, d> and e₋ = f(x) - f(x - hd) - h<g, d>, a right gradient of a convex function has
    e₋ <= 0 <= e₊ for every h: then |e₊ + e₋| <= |e₊ - e₋|, and what is above that is the error of g, up to rounding.
    The step h is the one of many that leaves the least doubt. For other functions the change of the difference quotient
    since the last longer step counts as doubt too.
    """
    far, size, ulp = float(largest(x)), float(largest(d)), eps(x)
    tiny = float(namespace(x).finfo(x.dtype).smallest_normal)
    if not size > 0:
        return 0.0, (0.0, 0.0)
    if not math.isfinite(_inner(g, d)):
        return math.inf, (_inner(g, d), math.nan)
    longest = max(far / size, 1.0)
    here = float(objective.value(x))
    noise, slant = _jitter(objective, x, d, 4 * ulp * far / size if far > 0 else SHRINK**-LEVELS)
    best, found, quotient = math.inf, (0.0, (0.0, 0.0)), math.nan
    for k in range(LEVELS):
        h = longest * SHRINK**-k
        ahead, behind = x + h * d, x - h * d
        to, back = ahead - x, x - behind  # as rounded
        up, down = float(objective.value(ahead)) - here, here - float(objective.value(behind))
        stated, other = _inner(g, to), _inner(g, back)
        if not math.isfinite(up - down):
            continue
        rounding = ulp * (abs(here) + abs(here + up) + abs(here - down) + _sizes(g, abs(to) + abs(back)))
        rounding += tiny * (1 + h * size)  # where numbers become too small to be exact
        before, quotient = quotient, (up + down) / (2 * h)
        doubt = 0.5 * abs((up - stated) - (down - other)) + noise + h * slant + 4 * rounding
        if math.isfinite(before):
            doubt += h * abs(quotient - before) / (SHRINK - 2)
        if doubt / h < best:
            best, off = doubt / h, 0.5 * abs((up - stated) + (down - other))
            mean = 0.5 * (stated + other)
            error = max(off - doubt, 0.0) / max(abs(mean), abs(h * quotient), 1e-300)
            found = error, (mean / h, quotient)
    return found


def contradicts(objective: Objective, x: Array, y: Array) -> bool:
    """Tell whether values and gradients at two points cannot be those of one convex function.

    A convex function has <grad(x), y - x> <= f(y) - f(x) <= <grad(y), y - x>. This costs two evaluations, and does not
    tell what is wrong: a gradient, or the convexity. Ask it of a point that is claimed to be optimal and of vertices of
    the set, or points on the way to them, where more errors show; a gradient that is zero everywhere is found out by
    any point where f has another value.
    """
    (at_x, g), (at_y, h) = objective.value_and_grad(x), objective.value_and_grad(y)
    step, far = y - x, abs(x) + abs(y)
    least, rise, most = _inner(g, step), float(at_y) - float(at_x), _inner(h, step)
    rounding = eps(x) * (abs(float(at_x)) + abs(float(at_y)) + _sizes(g, far) + _sizes(h, far))
    return rise < least - DOUBTED * rounding or rise > most + DOUBTED * rounding


def _inner(g: Any, d: Array) -> float:
    return float(g.inner(d) if hasattr(g, "inner") else vdot(g, d))


def _sizes(g: Any, d: Array) -> float:
    """Return a bound on <|g|, d> for a nonnegative d."""
    if hasattr(g, "inner"):  # on a pattern: by Cauchy's inequality
        return float(vdot(g.values, g.values) * vdot(d, d)) ** 0.5
    return float(vdot(abs(g), d))


def _jitter(objective: Objective, x: Array, d: Array, h: float) -> tuple[float, float]:
    """Return how much values and slopes along d differ between points next to each other: that is mostly rounding."""
    near = [*range(-8, 9)]
    if eps(x) < 1e-9:  # all of them may be alike: a little farther there is room in double precision
        near += [5003 * j for j in range(-8, 9) if j]
    seen = [objective.value_and_grad(x + j * h * d) for j in near]
    spread = (2 if eps(x) < 1e-9 else 1) * np.ptp([(float(value), _inner(g, d)) for value, g in seen], axis=0)
    return (float(spread[0]), float(spread[1])) if np.isfinite(spread).all() else (0.0, 0.0)
