"""Losses of linear models row by row, compiled: value, slope and curvature from one exponential that vectorises.

Import inside functions only: loading Numba takes a third of a second.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial
from numpy.polynomial.polynomial import polyval

from frankwolfe.kernels.compiling import FUSED, SUMS, kernel
from frankwolfe.kernels.root_bracket import ROUNDS, narrow, settled
from frankwolfe.kernels.rows.layouts import CHUNK, LOGISTIC, SQUARES, Loss
from frankwolfe.kernels.simd import pick_above, power

_narrow, _settled = kernel()(narrow), kernel()(settled)

MAGIC = 1.5 * 2.0**52  # adding it rounds to an integer, which is then in the low bits of the sum
LN2 = math.log(2.0)
LOG2E = 1 / LN2
LN2_HIGH = round(LN2 * 2**32) / 2**32  # its product with the integer is exact
LN2_LOW = (LN2 - LN2_HIGH) + 2.3190468138462996e-17  # what is left, and what log 2 has beyond double precision
MIDDLE = math.sqrt(2.0) - 1.0


def _short(series: list[float], low: float, high: float, degree: int) -> list[float]:
    """Return the coefficients of a polynomial that is next to a power series between low and high."""
    curve = Chebyshev.interpolate(lambda s: polyval(s, series), degree, domain=[low, high])
    return curve.convert(kind=Polynomial).coef.tolist()


# exp(s) = 1 + s + s^2 (E2 + E3 s + ...) for |s| <= log(2)/2, and atanh(s) = s + s q (A1 + A2 q + ...), q = s^2.
E2, E3, E4, E5, E6, E7, E8, E9, E10, E11 = _short([1 / math.factorial(k) for k in range(2, 20)], -LN2 / 2, LN2 / 2, 9)
A1, A2, A3, A4, A5, A6, A7 = _short([1 / (2 * k + 1) for k in range(1, 20)], 0.0, (MIDDLE / (2 + MIDDLE)) ** 2, 6)


@kernel(fastmath=FUSED)
def _exp(t):
    """Return exp(-t) for t >= 0, zero where it leaves the normal numbers.

    It is 2^k times a short series, of which the parts are added in pairs, none waiting long.
    """
    far, t = t, min(t, 708.0)
    near = MAGIC - t * LOG2E
    k = near - MAGIC
    s = (-t - k * LN2_HIGH) - k * LN2_LOW  # |s| <= log(2)/2
    q = s * s
    fourth = q * q
    series = ((E6 + s * E7) + q * (E8 + s * E9)) + fourth * (E10 + s * E11)
    series = ((E2 + s * E3) + q * (E4 + s * E5)) + fourth * series
    return pick_above(far, 708.0, 0.0, power(near) * (1.0 + (s + q * series)))


@kernel(fastmath=SUMS)
def _log(u):
    """Return log(1 + u) for 0 <= u <= 1: 2 atanh(u/(2+u)), from 2 rather than 1 where that is nearer."""
    s = pick_above(u, MIDDLE, u - 1.0, u) / pick_above(u, MIDDLE, u + 3.0, u + 2.0)
    q = s * s
    square = q * q
    series = ((A1 + q * A2) + square * (A3 + q * A4)) + (square * square) * ((A5 + q * A6) + square * A7)
    return pick_above(u, MIDDLE, LN2, 0.0) + 2.0 * (s + s * (q * series))


@kernel()
def at_margin(squares, m, b, share):
    """Return value and slope of the loss of a row, or of eight side by side: the logistic loss if `squares` is None.

    The compiler knows what is None: it leaves no branch.
    """
    if squares is None:
        u = _exp(abs(m))
        value = share * (max(-(b * m), 0.0) + _log(u))
        return value, -(b * share) * (pick_above(b * m, 0.0, u, 1.0) / (1.0 + u))
    e = m - b
    slope = share * e
    return 0.5 * (slope * e), slope


@kernel(fastmath=SUMS)
def _logistic(m, b, share, r, c):
    """Set r and c to slope and curvature at the margins m, where they have room; return value and <r, m>."""
    n = m.size
    small, value, inner = np.empty(n), 0.0, 0.0
    for i in range(n):  # short loops, which vectorise one by one
        small[i] = _exp(abs(m[i]))
    for i in range(n):
        value += share[i] * (max(-b[i] * m[i], 0.0) + _log(small[i]))
    for i in range(min(n, r.size)):
        u = small[i]
        r[i] = -b[i] * share[i] * ((u if b[i] * m[i] > 0.0 else 1.0) / (1.0 + u))
        inner += r[i] * m[i]
    for i in range(c.size):
        u = small[i]
        c[i] = share[i] * u / ((1.0 + u) * (1.0 + u))
    return value, inner


@kernel(fastmath=SUMS)
def _squares(m, b, share, r, c):
    value, inner = 0.0, 0.0
    for i in range(m.size):
        e = m[i] - b[i]
        value += 0.5 * share[i] * e * e
        inner += share[i] * e * m[i]
    for i in range(min(m.size, r.size)):
        r[i] = share[i] * (m[i] - b[i])
    for i in range(c.size):
        c[i] = share[i]
    return value, inner


@kernel()
def at_margins(loss, m, r, c):
    """Set r to the slope of the loss at the margins m, and c to its curvature, where they have room.

    Returns the value of the loss and <r, m> (which is zero for a logistic loss where r has no room).
    """
    kind, b, share = loss
    if kind == LOGISTIC:
        return _logistic(m, b, share, r, c)
    if kind == SQUARES:
        return _squares(m, b, share, r, c)
    raise ValueError("unknown kind of loss")


@kernel()
def move(part, whole):
    """Add a part to the whole, and begin the next one."""
    for j in range(whole.size):
        whole[j] += part[j]
        part[j] = 0.0


@kernel()
def on_rows(loss, low, high):
    """Return the loss of some rows, at most CHUNK of them: equal weights are kept for so many rows only."""
    kind, b, share = loss
    return Loss(kind, b[low:high], share[low:high] if share.size == b.size else share[: high - low])


@kernel()
def differentiate(mixing, known, q, loss, watched, r, c, sums):
    """Take in the rows of a loss, whose products with a vector are q; set r and c to slope and curvature.

    The margins are mixing[0] known + mixing[1] q where f is differentiated, and with mixing[2], mixing[3] where it is
    watched; the latter are kept. `sums` takes the loss, <slope, margins>, and the watched loss.
    """
    n = loss.b.size
    y, known_at, new_at, known_watched, new_watched = np.empty(n), mixing[0], mixing[1], mixing[2], mixing[3]
    for i in range(n):
        y[i] = known_watched * known[i] + new_watched * q[i]
        watched[i] = y[i]
    if known_at != known_watched or new_at != new_watched:
        sums[2] += at_margins(loss, y, r[:0], c[:0])[0]
        for i in range(n):
            y[i] = known_at * known[i] + new_at * q[i]
    value, inner = at_margins(loss, y, r, c[:n])
    sums[0] += value
    sums[1] += inner


@kernel()
def differentiate_all(first, last, mixing, known, q, loss, watched, r, sums):
    """Do that for the rows first to last, a few at a time, which stay in cache; arrays are those of all rows.

    Where q is empty, f is differentiated at what is known itself.
    """
    for low in range(first, last, CHUNK):
        high = min(low + CHUNK, last)
        some, rows = on_rows(loss, low, high), slice(low, high)
        if q.size:
            differentiate(mixing, known[rows], q[rows], some, watched[rows], r[rows], r[:0], sums)
        else:
            value, inner = at_margins(some, known[rows], r[rows], r[:0])
            sums[0] += value
            sums[1] += inner


@kernel(fastmath=SUMS)
def along_line(loss, start, step, gamma):
    """Return first and second derivative of the loss along start + gamma step."""
    y, r, c = np.empty(CHUNK), np.empty(CHUNK), np.empty(CHUNK)
    first, second = 0.0, 0.0
    for low in range(0, start.size, CHUNK):
        high = min(low + CHUNK, start.size)
        m, s, n = start[low:high], step[low:high], high - low
        for i in range(n):
            y[i] = m[i] + gamma * s[i]
        at_margins(on_rows(loss, low, high), y[:n], r[:n], c[:n])
        for i in range(n):
            first += r[i] * s[i]
            second += c[i] * s[i] * s[i]
    return first, second


@kernel()
def value_at(loss, m):
    """Return the loss at the margins m."""
    total, none = 0.0, np.empty(0)
    for low in range(0, m.size, CHUNK):
        high = min(low + CHUNK, m.size)
        total += at_margins(on_rows(loss, low, high), m[low:high], none, none)[0]
    return total


@kernel()
def derivatives_at(loss, m, r, c):
    """Set r to the slope of the loss at the margins m, and c to its curvature where it has room."""
    for low in range(0, m.size, CHUNK):
        high = min(low + CHUNK, m.size)
        at_margins(on_rows(loss, low, high), m[low:high], r[low:high], c[low:high])


@kernel(fastmath=SUMS)
def _shifted_sums(loss, start, step, gamma, shift, sums):
    """Set the sums over the rows at margins start + gamma step + shift; an empty step counts as zero."""
    y, r, c = np.empty(CHUNK), np.empty(CHUNK), np.empty(CHUNK)
    sums[:] = 0.0
    for low in range(0, start.size, CHUNK):
        high = min(low + CHUNK, start.size)
        m, s, n = start[low:high], step[low:high], high - low
        for i in range(n):
            y[i] = m[i] + shift
        for i in range(s.size):
            y[i] += gamma * s[i]
        at_margins(on_rows(loss, low, high), y[:n], r[:n], c[:n])
        left, size, bend = 0.0, 0.0, 0.0
        for i in range(n):
            left += r[i]
            size += abs(r[i])
            bend += c[i]
        sums[0] += left
        sums[1] += size
        sums[3] += bend
        first, along, second = 0.0, 0.0, 0.0
        for i in range(s.size):
            first += r[i] * s[i]
            along += c[i] * s[i]
            second += c[i] * s[i] * s[i]
        sums[2] += first
        sums[4] += along
        sums[5] += second


@kernel()
def balance(loss, start, step, gamma, low, c, high, ulp, sums):
    """Return the shift that balances the slopes, between the ends that are left; `sums` are those there."""
    older = old = math.inf
    for _ in range(ROUNDS):
        _shifted_sums(loss, start, step, gamma, c, sums)
        left, size, bend = sums[0], sums[1], sums[3]
        if _settled(left, size, bend, 1.0, ulp):
            break
        low, moved, high, older, old = _narrow(low, c, high, older, old, left, bend)
        if moved == c:
            break
        c = moved
    return low, c, high
