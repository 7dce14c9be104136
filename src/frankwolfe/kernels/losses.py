"""Losses of linear models row by row, compiled: value, slope and curvature from one exponential that vectorises.

Import inside functions only: loading Numba takes a third of a second.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from frankwolfe.kernels.layouts import CHUNK, LOGISTIC

SUMS = {"reassoc", "contract", "nsz", "arcp"}  # sums in an order that vectorises; infinities and NaN stay what they are

MAGIC = 1.5 * 2.0**52  # adding it rounds to an integer, which is then in the low bits of the sum
LN2 = math.log(2.0)
LOG2E = 1 / LN2
LN2_HIGH = round(LN2 * 2**32) / 2**32  # its product with the integer is exact
LN2_LOW = (LN2 - LN2_HIGH) + 2.3190468138462996e-17  # what is left, and what log 2 has beyond double precision
E2, E3, E4, E5, E6, E7, E8, E9, E10, E11, E12, E13 = (1.0 / math.factorial(k) for k in range(2, 14))
A1, A2, A3, A4, A5, A6, A7, A8, A9, A10 = (1.0 / (2 * k + 1) for k in range(1, 11))


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def exp_negative(t, out, bits):
    """Set out to exp(-t), for t >= 0, and overwrite t; `bits` are the memory of out, as integers."""
    for i in range(t.size):
        out[i] = MAGIC - min(t[i], 708.0) * LOG2E
    for i in range(t.size):
        k = out[i] - MAGIC
        s = (-min(t[i], 708.0) - k * LN2_HIGH) - k * LN2_LOW  # |s| <= log(2)/2: the series of exp is short
        near = s * (E7 + s * (E8 + s * (E9 + s * (E10 + s * (E11 + s * (E12 + s * E13))))))
        near = s * (E2 + s * (E3 + s * (E4 + s * (E5 + s * (E6 + near)))))
        t[i] = 1.0 + (s + s * near)
    for i in range(t.size):
        bits[i] = (bits[i] + np.int64(1023)) << np.int64(52)  # 2^k
    for i in range(t.size):
        out[i] *= t[i]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=SUMS)
def _logistic(m, b, share, r, c):
    """Set r and c to slope and curvature at the margins m, where they have room; return value and <r, m>."""
    n = m.size
    t, small = np.empty(n), np.empty(n)
    for i in range(n):
        t[i] = abs(m[i])
    exp_negative(t, small, small.view(np.int64))
    value, inner = 0.0, 0.0
    for i in range(n):
        u, z = small[i], b[i] * m[i]
        # log(1 + u) = 2 atanh(u/(2+u)), from 2 rather than 1 where that is nearer.
        far = u > 0.4142135623730951
        s = (u - 1.0) / (u + 3.0) if far else u / (2.0 + u)
        q = s * s
        series = q * (A6 + q * (A7 + q * (A8 + q * (A9 + q * A10))))
        series = q * (A1 + q * (A2 + q * (A3 + q * (A4 + q * (A5 + series)))))
        value += share[i] * (max(-z, 0.0) + (LN2 if far else 0.0) + 2.0 * (s + s * series))
    for i in range(min(n, r.size)):
        u = small[i]
        r[i] = -b[i] * share[i] * ((u if b[i] * m[i] > 0.0 else 1.0) / (1.0 + u))
        inner += r[i] * m[i]
    for i in range(c.size):
        u = small[i]
        c[i] = share[i] * u / ((1.0 + u) * (1.0 + u))
    return value, inner


@njit(cache=True, nogil=True, error_model="numpy", fastmath=SUMS)
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


@njit(cache=True, nogil=True)
def at_margins(kind, m, b, share, r, c):
    """Set r to the slope of the loss at the margins m, and c to its curvature, where they have room.

    Returns the value of the loss and <r, m> (which is zero for a logistic loss where r has no room).
    """
    if kind == LOGISTIC:
        return _logistic(m, b, share, r, c)
    return _squares(m, b, share, r, c)


@njit(cache=True, nogil=True)
def differentiate(low, n, mixing, known, q, loss, watched, r, c, sums):
    """Take in n rows from `low` on, whose products with a vector are q; set r and c to slope and curvature.

    The margins are mixing[0] known + mixing[1] q where f is differentiated, and with mixing[2], mixing[3] where it is
    watched; the latter are kept. `sums` takes the loss, <slope, margins>, and the watched loss.
    """
    kind, b, share = loss
    b, share, y = b[low : low + n], share[low : low + n], np.empty(n)
    for i in range(n):
        y[i] = mixing[2] * known[low + i] + mixing[3] * q[i]
        watched[low + i] = y[i]
    if mixing[0] != mixing[2] or mixing[1] != mixing[3]:
        sums[2] += at_margins(kind, y, b, share, r, c[:0])[0]
        for i in range(n):
            y[i] = mixing[0] * known[low + i] + mixing[1] * q[i]
    value, inner = at_margins(kind, y, b, share, r, c[:n])
    sums[0] += value
    sums[1] += inner


@njit(cache=True, nogil=True, error_model="numpy", fastmath=SUMS)
def along_line(loss, start, step, gamma):
    """Return first and second derivative of the loss along start + gamma step."""
    kind, b, share = loss
    m, r, c = np.empty(CHUNK), np.empty(CHUNK), np.empty(CHUNK)
    first, second = 0.0, 0.0
    for low in range(0, start.size, CHUNK):
        n = min(CHUNK, start.size - low)
        rows = slice(low, low + n)
        for i in range(n):
            m[i] = start[low + i] + gamma * step[low + i]
        at_margins(kind, m[:n], b[rows], share[rows], r[:n], c[:n])
        for i in range(n):
            first += r[i] * step[low + i]
            second += c[i] * step[low + i] * step[low + i]
    return first, second


@njit(cache=True, nogil=True, error_model="numpy")
def value_at(loss, m):
    """Return the loss at the margins m."""
    kind, b, share = loss
    total, r = 0.0, np.empty(CHUNK)
    for low in range(0, m.size, CHUNK):
        rows = slice(low, min(low + CHUNK, m.size))
        total += at_margins(kind, m[rows], b[rows], share[rows], r, r[:0])[0]
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def derivatives_at(loss, m, r, c):
    """Set r to the slope of the loss at the margins m, and c to its curvature where it has room."""
    kind, b, share = loss
    for low in range(0, m.size, CHUNK):
        rows = slice(low, min(low + CHUNK, m.size))
        at_margins(kind, m[rows], b[rows], share[rows], r[rows], c[rows])


@njit(cache=True, nogil=True, error_model="numpy", fastmath=SUMS)
def _shifted_sums(loss, start, step, gamma, shift, sums):
    """Set the sums over the rows at margins start + gamma step + shift; an empty step counts as zero."""
    kind, b, share = loss
    m, r, c = np.empty(CHUNK), np.empty(CHUNK), np.empty(CHUNK)
    sums[:] = 0.0
    for low in range(0, start.size, CHUNK):
        n = min(CHUNK, start.size - low)
        rows = slice(low, low + n)
        for i in range(n):
            m[i] = start[low + i] + shift
        for i in range(min(n, step.size)):
            m[i] += gamma * step[low + i]
        at_margins(kind, m[:n], b[rows], share[rows], r[:n], c[:n])
        left, size, bend = 0.0, 0.0, 0.0
        for i in range(n):
            left += r[i]
            size += abs(r[i])
            bend += c[i]
        sums[0] += left
        sums[1] += size
        sums[3] += bend
        first, along, second = 0.0, 0.0, 0.0
        for i in range(min(n, step.size)):
            s = step[low + i]
            first += r[i] * s
            along += c[i] * s
            second += c[i] * s * s
        sums[2] += first
        sums[4] += along
        sums[5] += second


@njit(cache=True, nogil=True, error_model="numpy")
def balance(loss, start, step, gamma, low, c, high, enough, sums):
    """Return the shift that balances the slopes, by Newton's method inside a bracket; `sums` are those there."""
    for _ in range(100):
        _shifted_sums(loss, start, step, gamma, c, sums)
        left, bend = sums[0], sums[3]
        if abs(left) <= enough * sums[1]:
            break
        if left < 0:
            low = c
        else:
            high = c
        moved = c - left / bend if bend > 0 else math.inf
        if not low < moved < high:
            moved = 0.5 * (low + high)
        if moved == c:
            break
        c = moved
    return c
