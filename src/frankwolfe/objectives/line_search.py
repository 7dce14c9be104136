"""Exact line search: the root of a nondecreasing derivative on [0, cap]."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from frankwolfe.objectives.base import Line

SAME = 1 - 1e-9  # of the end of a segment: from there on it is the end


def minimise_on_segment(line: Line, cap: float = 1.0, rtol: float = 1e-12, max_probes: int = 100) -> tuple[float, int]:
    """Return the minimiser gamma in [0, cap] of a convex function on a segment, and the number of probes.

    Newton's method on the derivative, kept inside a bracket that at least halves every two probes; plain secant and
    bisection where no second derivative is known.

    Examples
    --------
    >>> class Parabola(Line):
    ...     def __call__(self, gamma):
    ...         return 2 * (gamma - 0.25), 2.0
    >>> minimise_on_segment(Parabola())[0]
    0.25
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
        if not low < gamma < high or probe % 4 == 0:
            # A trial outside the bracket, or a stale bracket: halve it (near zero, in the geometric sense).
            gamma = (low * high) ** 0.5 if low > 0 and high > 4 * low else 0.5 * (low + high)
        slope, curvature = line(gamma)
        if slope < 0:
            low, slope_low = gamma, slope
        else:
            high, slope_high = gamma, slope
        if abs(slope) <= floor or high - low <= rtol * high:
            return gamma, probe
        secant = low - slope_low * (high - low) / (slope_high - slope_low)
        gamma = gamma - slope / curvature if curvature else secant
    return gamma, max_probes


def minimise_on_segments(
    line: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]],
    size: int,
    cap: float = 1.0,
    rtol: float = 1e-12,
    max_probes: int = 100,
) -> tuple[np.ndarray, int]:
    """Do what `minimise_on_segment` does for many convex functions whose derivatives come together.

    Parameters
    ----------
    line : callable
        From one gamma for each function to the first and second derivatives there.
    size : int
        Number of functions.
    cap, rtol, max_probes
        As for a single function.

    Examples
    --------
    >>> minimise_on_segments(lambda gamma: (gamma - np.array([0.25, -1.0, 2.0]), np.ones(3)), 3)[0]
    array([0.25, 0.  , 1.  ])
    """
    low, high = np.zeros(size), np.full(size, cap)
    (slope_low, curvature), (slope_high, _) = line(low), line(high)
    gamma = np.where((slope_low < 0) & (slope_high <= 0), cap, 0.0)
    going = (slope_low < 0) & (slope_high > 0)
    floor, probe = rtol * -slope_low, 2
    with np.errstate(divide="ignore", invalid="ignore"):  # a trial that is not a number is replaced by a bisection
        trial = low - slope_low / curvature
        trial = np.where(trial < SAME * cap, trial, cap)
        while going.any() and probe < max_probes:
            probe += 1
            middle = np.where((low > 0) & (high > 4 * low), np.sqrt(low * high), 0.5 * (low + high))
            inside = (low < trial) & (trial < high) & (probe % 4 != 0)
            gamma = np.where(going, np.where(inside, trial, middle), gamma)
            slope, curvature = line(gamma)
            low, high = np.where(slope < 0, gamma, low), np.where(slope < 0, high, gamma)
            going &= ~((np.abs(slope) <= floor) | (high - low <= rtol * high))
            trial = gamma - slope / curvature
    return gamma, probe
