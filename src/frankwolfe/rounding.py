"""How far rounding can have moved a certificate, bounded from the operations done; docs/certificates.md derives it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

FEW = 64.0  # roundings of one term beside those of long sums: its loss, its slope, sums in pairs, the bound itself
MIXED = 8.0  # roundings that the average of tangents, and a carried image, collect in one step
MARGIN = 1.0 + 1e-3  # for what is itself computed with rounding: column norms, reach


class Extent:
    """How far a set reaches, as rounding sees it: numbers (or one of each for every set of a batch), found once.

    `reach` is the largest sum of c_j |x_j| over the set, with c_j the weighted norm of the j-th column of the data: it
    bounds the root mean square of all margins. `norm` is at least the largest Euclidean norm, and the diameter.
    `margin` bounds the sum of |a_ij x_j| of every row, where somebody can tell.
    """

    def __init__(
        self, reach: Callable[[], Any], norm: Callable[[], Any], margin: Callable[[], Any] = lambda: None
    ) -> None:
        self._reach, self._norm, self._margin = reach, norm, margin

    @cached_property
    def reach(self) -> Any:
        return self._reach()

    @cached_property
    def norm(self) -> Any:
        return self._norm()

    @cached_property
    def margin(self) -> Any:
        return self._margin()


class RowFacts(NamedTuple):
    """What rounding asks of a mean of losses φ >= 0 over the rows of data, where |φ'| <= sqrt(2 bend φ) + steep φ."""

    least_share: float  # the smallest weight of a row that is not zero
    spread: float  # how far the best intercept may be from minus a margin
    bend: float
    steep: float = 0.0
    unit: float = 0.0  # values are right to ulps of themselves and so much,
    scale: float = 0.0  # and so much times a margin
    conjugate_unit: float = 0.0  # conjugates and logarithms of sums, where there are any, are right to ulps of so much


def noise_of_rows(
    facts: RowFacts,
    eps: float,
    additions: float,
    value: Any,
    extent: Extent,
    ridge: float = 0.0,
    free: bool = False,
) -> Any:
    """Bound what rounding did to f(y) - inner + <slope, x>, where f is a mean over rows, and a ridge term.

    `free` tells that there are free intercepts.
    """
    reach, margin, farthest = extent.reach, 0.0, 0.0
    if facts.steep:  # what rounding does to a residual is felt in its exponential
        margin = reach / facts.least_share**0.5 if extent.margin is None else extent.margin
        reach, margin = reach + facts.spread, margin + facts.spread
    total = noise_of_sums(eps, additions, value, facts.bend, reach, facts.steep * margin)
    if free:
        largest = extent.reach / facts.least_share**0.5 if extent.margin is None else extent.margin
        farthest = facts.spread + largest
        total = total + noise_of_balance(eps, value, facts.bend, farthest, facts.steep)
    if facts.conjugate_unit:
        total = total + eps * FEW * facts.conjugate_unit
    if facts.unit or facts.scale:
        total = total + eps * (additions + FEW) * (facts.unit + 2 * facts.scale * (farthest if free else extent.reach))
    return total + noise_of_ridge(eps, additions, ridge, extent.norm) if ridge else total


def noise_of_sums(eps: float, additions: float, value: Any, bend: float, reach: Any, steep: Any = 0.0) -> Any:
    """Bound what rounding did to f(y) - <r, Ay> + <A'r, x>, where f is a weighted mean of losses and r its slope.

    Losses are nonnegative and their second derivatives at most `bend`, so the slopes have a weighted root mean square
    of at most sqrt(2 bend f), and by Cauchy's inequality all terms together are at most f + 2 sqrt(2 bend f) reach. At
    most so many `additions` are behind one number; `reach` is the largest sum of column norms times |x_j| over the set.
    Where second derivatives have no bound, `steep` times f is added to the product of slopes and reach.
    """
    value = abs(value)  # nonnegative but for rounding
    return eps * (additions + FEW) * (value + 2 * ((2 * bend * value) ** 0.5 * reach + steep * value))


def noise_of_moments(eps: float, additions: float, length: float, here: float, reach: Any) -> Any:
    """Bound what rounding did to f(y) - <g, y> + <g, x>, where f comes from second moments of rows and targets.

    A moment of columns j and k is off by so many roundings of c_j c_k, one with the targets of c_j times their length,
    with c the weighted norms of the columns; the product of means that is taken off of twice as many at most, and is
    itself no larger. `here` is the sum of c_j |y_j|, and `reach` the largest over the set.
    """
    return 3 * eps * (additions + FEW) * (0.5 * (length * length + here * here) + (here + length) * reach)


def noise_of_balance(eps: float, value: Any, bend: float, farthest: Any, steep: float = 0.0) -> Any:
    """Bound what is left of a free intercept: slopes add up to zero only up to the rounding of sums in pairs.

    The rest is multiplied by the best intercept of some point of the set, which is at most `farthest`.
    """
    value = abs(value)
    return eps * FEW * ((2 * bend * value) ** 0.5 + steep * value) * farthest


def noise_of_ridge(eps: float, additions: float, ridge: float, norm: Any) -> Any:
    """Bound what rounding did to ridge (|y|²/2 - <y, y> + <y, x>)."""
    return eps * (additions + FEW) * 3 * ridge * norm * norm
