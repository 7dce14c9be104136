"""How far rounding can have moved a certificate, bounded from the operations done; docs/certificates.md derives it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

FEW = 64.0  # roundings of one term beside those of long sums: its loss, its slope, sums in pairs, the bound itself
MIXED = 8.0  # roundings that the average of tangents, and a carried image, collect in one step
MARGIN = 1.0 + 1e-3  # for what is itself computed with rounding: column norms, reach


class Extent:
    """How far a set reaches, as rounding sees it: two numbers (or one of each for every set of a batch), found once.

    `reach` is the largest sum of c_j |x_j| over the set, with c_j the norm of the j-th column of the data: it bounds
    all margins. `norm` is at least the largest Euclidean norm, and the diameter.

    Examples
    --------
    >>> Extent(lambda: 2.0, lambda: 1.0).reach
    2.0
    """

    def __init__(self, reach: Callable[[], Any], norm: Callable[[], Any]) -> None:
        self._reach, self._norm = reach, norm

    @cached_property
    def reach(self) -> Any:
        return self._reach()

    @cached_property
    def norm(self) -> Any:
        return self._norm()


def noise_of_sums(eps: float, additions: float, value: Any, bend: float, reach: Any) -> Any:
    """Bound what rounding did to f(y) - <r, Ay> + <A'r, x>, where f is a weighted mean of losses and r its slope.

    Losses are nonnegative and their second derivatives at most `bend`, so the slopes have a weighted root mean square
    of at most sqrt(2 bend f), and by Cauchy's inequality all terms together are at most f + 2 sqrt(2 bend f) reach.

    Parameters
    ----------
    eps : float
        Machine epsilon of the arithmetic.
    additions : float
        Most additions behind one number of value, slope and bound.
    value : float or array
        f(y).
    bend : float
        Largest second derivative of the loss.
    reach : float or array
        Largest sum of column norms times |x_j| over the set.

    Examples
    --------
    >>> noise_of_sums(2.0**-52, 0.0, 2.0, 1.0, 1.0) == 64 * 2.0**-52 * 6
    True
    """
    return eps * (additions + FEW) * (value + 2 * (2 * bend * value) ** 0.5 * reach)


def noise_of_balance(eps: float, value: Any, bend: float, farthest: Any) -> Any:
    """Bound what is left of a free intercept: slopes add up to zero only up to the rounding of sums in pairs.

    The rest is multiplied by the best intercept of some point of the set, which is at most `farthest`.

    Examples
    --------
    >>> noise_of_balance(2.0**-52, 2.0, 1.0, 10.0) == 64 * 2.0**-52 * 20
    True
    """
    return eps * FEW * (2 * bend * value) ** 0.5 * farthest


def noise_of_ridge(eps: float, additions: float, ridge: float, norm: Any) -> Any:
    """Bound what rounding did to ridge (|y|²/2 - <y, y> + <y, x>).

    Examples
    --------
    >>> noise_of_ridge(2.0**-52, 0.0, 1.0, 2.0) == 64 * 2.0**-52 * 12
    True
    """
    return eps * (additions + FEW) * 3 * ridge * norm**2
