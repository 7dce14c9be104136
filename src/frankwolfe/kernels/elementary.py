"""The functions that formulae of losses are written in, compiled: for one number, and for eight side by side.

One exponential serves all losses: it has no branch and no table, so that loops over it vectorise.
Import inside functions only: loading Numba takes a third of a second.
"""

from __future__ import annotations

import math

from numba.extending import overload
from numpy.polynomial import Chebyshev, Polynomial
from numpy.polynomial.polynomial import polyval

from frankwolfe.backends import elementary
from frankwolfe.backends.elementary import pick_above
from frankwolfe.kernels.compiling import FUSED, INLINE, SUMS, kernel
from frankwolfe.kernels.simd import power

MAGIC = 1.5 * 2.0**52  # adding it rounds to an integer, which is then in the low bits of the sum
LN2 = math.log(2.0)
LOG2E = 1 / LN2
LN2_HIGH = round(LN2 * 2**32) / 2**32  # its product with the integer is exact
LN2_LOW = (LN2 - LN2_HIGH) + 2.3190468138462996e-17  # what is left, and what log 2 has beyond double precision
MIDDLE = math.sqrt(2.0) - 1.0
LEAST, MOST = -708.0, 710.0  # below the one exp leaves the normal numbers, above the other it is infinite


def _short(series: list[float], low: float, high: float, degree: int) -> list[float]:
    """Return the coefficients of a polynomial that is next to a power series between low and high."""
    curve = Chebyshev.interpolate(lambda s: polyval(s, series), degree, domain=[low, high])
    return curve.convert(kind=Polynomial).coef.tolist()


# exp(s) = 1 + s + s^2 (E2 + E3 s + ...) for |s| <= log(2)/2, and atanh(s) = s + s q (A1 + A2 q + ...), q = s^2.
E2, E3, E4, E5, E6, E7, E8, E9, E10, E11 = _short([1 / math.factorial(k) for k in range(2, 20)], -LN2 / 2, LN2 / 2, 9)
A1, A2, A3, A4, A5, A6, A7 = _short([1 / (2 * k + 1) for k in range(1, 20)], 0.0, (MIDDLE / (2 + MIDDLE)) ** 2, 6)


@kernel(fastmath=FUSED)
def _exp(x):
    """Return exp(x), zero where it leaves the normal numbers.

    It is 2^k times a short series, of which the parts are added in pairs, none waiting long.
    """
    t = pick_above(x, MOST, MOST, x)
    t = pick_above(LEAST, t, LEAST, t)
    near = MAGIC + t * LOG2E
    k = near - MAGIC
    s = (t - k * LN2_HIGH) - k * LN2_LOW  # |s| <= log(2)/2
    q = s * s
    fourth = q * q
    series = ((E6 + s * E7) + q * (E8 + s * E9)) + fourth * (E10 + s * E11)
    series = ((E2 + s * E3) + q * (E4 + s * E5)) + fourth * series
    half = power(near - 1.0) * (1.0 + (s + q * series))  # 2^k itself may be too large for a number
    return pick_above(LEAST, x, 0.0, half + half)


@kernel(fastmath=SUMS)
def _log1p(u):
    """Return log(1 + u) for 0 <= u <= 1: 2 atanh(u/(2+u)), from 2 rather than 1 where that is nearer."""
    s = pick_above(u, MIDDLE, u - 1.0, u) / pick_above(u, MIDDLE, u + 3.0, u + 2.0)
    q = s * s
    square = q * q
    series = ((A1 + q * A2) + square * (A3 + q * A4)) + (square * square) * ((A5 + q * A6) + square * A7)
    return pick_above(u, MIDDLE, LN2, 0.0) + 2.0 * (s + s * (q * series))


@overload(elementary.exp, jit_options=INLINE)  # pyright: ignore[reportArgumentType]
def _(x):
    return lambda x: _exp(x)


@overload(elementary.log1p, jit_options=INLINE)  # pyright: ignore[reportArgumentType]
def _(u):
    return lambda u: _log1p(u)


@overload(elementary.maximum, jit_options=INLINE)  # pyright: ignore[reportArgumentType]
def _(a, bound):
    return lambda a, bound: pick_above(bound, a, bound, a)


@overload(elementary.minimum, jit_options=INLINE)  # pyright: ignore[reportArgumentType]
def _(a, bound):
    return lambda a, bound: pick_above(a, bound, bound, a)
