"""The search for a root of a sum of slopes, one step of it: plain numbers, so that it serves compiled loops too."""

from __future__ import annotations

import math

NEAR = 1e-8  # a Newton step so much shorter than a bend of the loss is right to rounding
ROUNDING = 8.0  # ulps of the sum of their sizes that a sum of slopes may be off by
ROUNDS = 250  # far more than bisection needs from end to end of the numbers


def settled(left: float, size: float, bend: float, knee: float, ulp: float) -> bool:
    """Tell whether one more step of Newton's method reaches the root to rounding, or nothing can tell it from here.

    `left` is the sum of the slopes, `size` that of their sizes, `bend` that of the curvatures; a curvature stays about
    the same for a length `knee`. Sums that overflow tell only on which side the root is.
    """
    return abs(left) <= max(NEAR * knee * bend, ROUNDING * ulp * size) < math.inf


def narrow(
    low: float, c: float, high: float, older: float, old: float, left: float, bend: float
) -> tuple[float, float, float, float, float]:
    """Return a narrower bracket with the next number to try, and the lengths of the last two steps.

    The slopes at c add up to `left`. Newton's step is taken where it stays inside and is at most half as long as the
    last but one (`older`), else the bracket is halved: on the scale of the numbers' logarithms while it spans orders of
    magnitude, so that margins of any size take no more than a hundred rounds. c comes back where no number is between.
    """
    if left < 0:
        low = c
    else:
        high = c
    moved = c - left / bend if bend > 0 else -math.copysign(math.inf, left)
    farthest = 4 * (1 + abs(c)) * (1 + abs(c))  # where nobody knows an end
    if high == math.inf:
        moved = min(moved, c + farthest)
    if low == -math.inf:
        moved = max(moved, c - farthest)
    if not low < moved < high or abs(moved - c) > 0.5 * older:
        low_end, high_end = max(low, -1.7e308), min(high, 1.7e308)
        moved = 0.5 * low_end + 0.5 * high_end
        if 0.5 * high_end - 0.5 * low_end > max(2.0, 0.25 * abs(low_end), 0.25 * abs(high_end)):
            moved = math.sinh(0.5 * (math.asinh(low_end) + math.asinh(high_end)))
        if not low < moved < high:
            moved = c
    return low, moved, high, old, abs(moved - c)
