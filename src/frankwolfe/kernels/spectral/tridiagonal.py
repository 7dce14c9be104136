"""What the Lanczos matrix T says: plain loops, which `krylov_loops` compiles as they are.

T has the diagonal `alpha` and beside it `beta`, the last of which, the norm of the residual, lies outside.
"""

from __future__ import annotations

import math
from typing import Any


def log_growth(alpha: Any, beta: Any, s: float) -> float:
    """Return log sqrt(1 + p_1(s)² + ... + p_k(s)²), minus infinity unless every eigenvalue of T is below s.

    p_j is the polynomial of degree j by which the j-th basis vector comes from the first: det(s I - T_j) over the
    product of the first j `beta`.
    """
    total, pivot, p, squares, before = 0.0, math.inf, 1.0, 1.0, 0.0
    for j in range(len(alpha)):  # pivots of s I - T: their product is its determinant
        pivot = s - alpha[j] - before * before / pivot
        if pivot <= 0.0:
            return -math.inf
        p *= pivot / beta[j] if beta[j] > 0.0 else math.inf
        squares += p * p
        before = beta[j]
        if p > 1e100:
            total, p, squares = total + math.log(1e100), p * 1e-100, squares * 1e-200
    return total + 0.5 * math.log(squares)


def top_value(alpha: Any, beta: Any, low: float, width: float) -> float:
    """Return a number within `width` below the largest eigenvalue of T, which is known to be no less than `low`."""
    high = low
    for j in range(len(alpha)):  # Gershgorin's circles
        beside = (beta[j - 1] if j > 0 else 0.0) + (beta[j] if j + 1 < len(alpha) else 0.0)
        high = max(high, alpha[j] + beside)
    while high - low > width:
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        pivot, before = math.inf, 0.0
        for j in range(len(alpha)):
            pivot = middle - alpha[j] - before * before / pivot
            if pivot <= 0.0:
                break
            before = beta[j]
        if pivot > 0.0:
            high = middle
        else:
            low = middle
    return low


def pause(steps: int, missing: float, slope: float, dimension: int, often: int) -> int:
    """Return the step at which to look again, when the logarithm must grow by `missing` and `slope` is its last growth.

    It grows about linearly: look a little before it should arrive.
    """
    wait = 0.8 * missing / slope if 0.0 < slope < math.inf else 0.0
    return steps + max(1 + dimension // often, int(min(2.0 + dimension // 2, wait)))
