"""Exact line search: the root of a nondecreasing derivative on [0, cap]."""

from __future__ import annotations

from frankwolfe.objectives.base import Line


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
