"""Exact line search: the root of a nondecreasing derivative on [0, cap]."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import array_api_compat
import numpy as np

from frankwolfe.backends import Array, Scalar, fetch, namespace, zeros
from frankwolfe.backends.namespace import as_like, is_traced, nonzero, repeat
from frankwolfe.objectives.base import Line
from frankwolfe.points import Leaf, Point
from frankwolfe.rows.reading import array_of

SAME = 1 - 1e-9  # of the end of a segment: from there on it is the end
PROBES = 12  # inside the bracket: enough for every search of a thousand runs to end at the root, to ten digits


def minimise_on_segment(
    line: Line,
    cap: float = 1.0,
    rtol: float = 1e-12,
    max_probes: int = 100,
    tick: Callable[[], None] = lambda: None,
) -> tuple[float, int]:
    """Return the minimiser gamma in [0, cap] of a convex function on a segment, and the number of probes.

    Newton's method on the derivative, kept inside a bracket that at least halves every two probes; plain secant and
    bisection where no second derivative is known. `tick` is called before each probe inside the bracket.
    """
    low, high = 0.0, cap
    slope_low, curvature = line(low)
    if not slope_low < 0:
        return 0.0, 1
    slope_high, _ = line(high)
    if slope_high <= 0:
        return cap, 2
    floor = rtol * -slope_low
    gamma = low - slope_low / curvature if curvature else 0.5 * cap
    gamma = gamma if gamma < SAME * cap else cap  # the end is known already, and rounding shall not probe it again
    for probe in range(3, max_probes + 1):
        tick()
        if not low < gamma < high or probe % 4 == 0:
            # A trial outside the bracket, or a stale bracket: halve it (near zero, in the geometric sense).
            gamma = (low * high) ** 0.5 if low > 0 and high > 4 * low else 0.5 * (low + high)
        slope, curvature = line(gamma)
        if slope < 0:
            low, slope_low = gamma, slope
        else:
            high, slope_high = gamma, slope
        if abs(slope) <= floor or high - low <= rtol * high:
            return (low if math.isinf(slope) else gamma), probe  # a function may end on the way
        secant = low - slope_low * (high - low) / (slope_high - slope_low)
        gamma = gamma - slope / curvature if curvature else secant
    return (gamma if low <= gamma <= high else low), max_probes


def minimise_in_arrays(along: Callable[[Array], tuple[Array, Array]], zero: Array, cap: float = 1.0) -> Array:
    """Return the minimisers on one segment or many, in array operations alone: nothing is read from a device.

    `along` tells both derivatives at one gamma for each function, and `zero` has a zero for each. Newton's method in a
    bracket, as for a single function, with a fixed number of probes. A probe that does not halve the derivative is
    followed by a bisection, and the probe where the derivative was least is the answer.
    """
    xp = namespace(zero)

    def at(gamma: Array) -> tuple[Array, Array]:
        slope, curvature = along(gamma)  # sums in double precision, perhaps
        return xp.astype(slope, zero.dtype), xp.astype(curvature, zero.dtype)

    def probed(state: tuple) -> tuple:
        low, high, trial, gamma, size = state
        middle = xp.where((low > 0) & (high > 4 * low), xp.sqrt(low * high), 0.5 * (low + high))
        probe = xp.where((low < trial) & (trial < high), trial, middle)
        slope, curvature = at(probe)
        left = xp.abs(slope)
        gamma = xp.where(left < size, probe, gamma)
        low, high = xp.where(slope < 0, probe, low), xp.where(slope < 0, high, probe)
        # The upper end of the bracket is no trial: the next probe is then a bisection.
        trial = xp.where(left <= 0.5 * size, probe - slope / nonzero(curvature), high)
        return low, high, trial, gamma, xp.minimum(left, size)

    end = zero + cap
    (first, curvature), (last, _) = at(zero), at(end)
    size, gamma = xp.minimum(xp.abs(first), xp.abs(last)), xp.where(xp.abs(last) < xp.abs(first), end, zero)
    trial = -first / nonzero(curvature)
    trial = xp.where(trial < SAME * end, trial, end)
    *_, gamma, _ = repeat(PROBES, probed, (zero, end, trial, gamma, size))
    return xp.where(first < 0, xp.where(last <= 0, end, gamma), zero)


class ArrayLine(Line):
    """A line whose derivatives are array code: a search along it need not look at any number."""

    @property
    @abstractmethod
    def zero(self) -> Array:
        """The number zero, of the dtype and on the device of the variable."""

    @abstractmethod
    def along(self, gamma: Scalar) -> tuple[Scalar, Scalar]:
        """Return first and second derivative, not looked at."""

    def minimise(self, cap: float, tick: Callable[[], None]) -> Array:
        """Return the minimiser, not looked at; `tick` is called before each probe."""

        def along(gamma: Array) -> tuple[Array, Array]:
            tick()
            return self.along(gamma)

        return minimise_in_arrays(along, self.zero, cap)

    def __call__(self, gamma: float) -> tuple[float, float]:
        first, second = self.along(gamma)
        if not isinstance(first, float):
            first, second = fetch([first, second])
        return first, second


class Lines(Line):
    """f on many segments at once, one to a row."""

    def __init__(self, objective: Any, x: Point, v: Point) -> None:
        self.objective, self.x, self.v = objective, x, v

    def __call__(self, gamma: Any) -> tuple[Any, Any]:
        return self.objective.derivatives(self.x, self.v, gamma)

    def minimise(self, cap: float, rtol: float) -> tuple[Array, int]:
        """Return the minimisers as a column, and the number of probes of the longest search."""
        x = self.x.array
        if not isinstance(x, np.ndarray):
            return minimise_in_arrays(self, zeros(x.shape[:1], x), cap)[:, None], PROBES
        # One row after the other stays in cache, and none waits for the others.
        lines = (self.objective.line(_row(self.x, i), _row(self.v, i))[0] for i in range(len(x)))
        found = [minimise_on_segment(line, cap, rtol) for line in lines]
        return as_like([gamma for gamma, _ in found], x)[:, None], max(probes for _, probes in found)


def _row(x: Point, i: int) -> Point:
    """Return one of many points, whose images are known."""
    return Point(array_of(x.coords)[i], ((1.0, Leaf(None, x.image[i])),))


def searches_in_arrays(x: Array, look: bool) -> bool:
    """Tell whether to search in arrays: where looking at a number costs time or is impossible, or nobody wants to.

    What JAX does not compile it is slow at: looking is faster.
    """
    if array_api_compat.is_jax_array(x):
        return is_traced(x)
    far = bool(getattr(x, "is_cuda", False)) or array_api_compat.is_cupy_array(x)
    return array_api_compat.is_array_api_obj(x) and (far or not look)
