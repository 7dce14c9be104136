"""Losses of linear models over many rows, compiled: whatever the loss, by its own formulae.

A loss comes as a tuple of its parameters, of a class with the formulae `value`, `slope` and `curvature`
(`frankwolfe.losses`): the compiler knows the class, takes its formulae in, and computes once what they share.
Import inside functions only: loading Numba takes a third of a second.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numba import TypingError, njit
from numba.extending import overload

from frankwolfe.backends.elementary import pick_above
from frankwolfe.kernels import elementary as elementary  # the functions that formulae are written in
from frankwolfe.kernels.compiling import FUSED, INLINE, SUMS, kernel
from frankwolfe.kernels.root_bracket import ROUNDS, narrow, settled
from frankwolfe.kernels.rows.layouts import CHUNK, RowLosses

FEW = 32  # rows whose slopes are added up plainly

_narrow, _settled = kernel()(narrow), kernel()(settled)


def value_of(loss, m, b):
    """Return the loss of a row, or of eight side by side, with margin m and target b."""


def slope_of(loss, m, b):
    """Return the derivative of the loss in the margin."""


def curvature_of(loss, m, b):
    """Return the second derivative of the loss in the margin."""


def weighed(loss, share, m):
    """Return the margin of a row, or of eight; zero where a row has no weight and its loss may overflow."""


@overload(weighed, jit_options=INLINE)  # pyright: ignore[reportArgumentType]
def _weighed(loss, share, m):
    if getattr(getattr(loss, "instance_class", None), "bounded", True):
        return lambda loss, share, m: m
    return lambda loss, share, m: pick_above(share, 0.0, m, 0.0)


@cache
def _formula(kind, name):
    return njit(**INLINE, fastmath=FUSED)(getattr(kind, name))


def _compile(function, name):
    """Let kernels call a function of a loss, a margin and a target: the formula of that name of the loss's class."""

    @overload(function, jit_options=INLINE)  # pyright: ignore[reportArgumentType]
    def _(loss, m, b):
        if not hasattr(getattr(loss, "instance_class", None), name):
            raise TypingError(f"unknown loss: {loss} has no formula {name!r}")
        formula = _formula(loss.instance_class, name)
        forms = (
            lambda loss, m, b: formula(m, b),
            lambda loss, m, b: formula(m, b, loss[0]),
            lambda loss, m, b: formula(m, b, loss[0], loss[1]),
        )
        return forms[len(loss.instance_class._fields)]


for _function, _name in ((value_of, "value"), (slope_of, "slope"), (curvature_of, "curvature")):
    _compile(_function, _name)


@kernel(fastmath=SUMS)
def at_margins(rows, m, r, c):
    """Set r to the slope of the loss at the margins m, and c to its curvature, where they have room.

    Returns the value of the loss and <r, m>, which is zero where r has no room.
    """
    loss, b, share = rows
    value, inner = 0.0, 0.0
    if r.size == 0:
        for i in range(m.size):
            value += share[i] * value_of(loss, weighed(loss, share[i], m[i]), b[i])
    elif c.size == 0:
        for i in range(m.size):
            t = weighed(loss, share[i], m[i])
            value += share[i] * value_of(loss, t, b[i])
            r[i] = share[i] * slope_of(loss, t, b[i])
            inner += r[i] * t
    else:
        for i in range(m.size):
            t = weighed(loss, share[i], m[i])
            value += share[i] * value_of(loss, t, b[i])
            r[i] = share[i] * slope_of(loss, t, b[i])
            c[i] = share[i] * curvature_of(loss, t, b[i])
            inner += r[i] * t
    return value, inner


@kernel()
def move(part, whole):
    """Add a part to the whole, and begin the next one."""
    for j in range(whole.size):
        whole[j] += part[j]
        part[j] = 0.0


@kernel()
def on_rows(rows, low, high):
    """Return the losses of some rows, at most CHUNK of them: equal weights are kept for so many rows only."""
    loss, b, share = rows
    return RowLosses(loss, b[low:high], share[low:high] if share.size == b.size else share[: high - low])


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


@kernel()
def differentiate_points(first, mixing, known, new, start, loss, watched, r, sums):
    """Do that at many points, a row of the arrays for each, for the rows of data from `first` on, as many as r has.

    A block of rows is in cache while one point after the other is taken. `new` begins with row `start` of the data.
    """
    n = r.shape[1]
    some, rows, none, low = on_rows(loss, first, first + n), slice(first, first + n), np.empty(0), first - start
    for j in range(r.shape[0]):
        sums[j] = 0.0
        differentiate(mixing[j], known[j, rows], new[j, low : low + n], some, watched[j, rows], r[j], none, sums[j])
        if mixing[j, 0] == mixing[j, 2] and mixing[j, 1] == mixing[j, 3]:
            sums[j, 2] = sums[j, 0]


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


@kernel(fastmath=SUMS)
def on_span(loss, m, shift, images, gradient, hessian, drift):
    """Add to the derivatives of the loss at m + shift along some images, to its Hessian's lower half, and to `drift`.

    The last is what the derivatives do where the shift moves. Returns the loss and the sums of slopes and curvatures.
    """
    y, r, c = np.empty(CHUNK), np.empty(CHUNK), np.empty(CHUNK)
    value, left, bend = 0.0, 0.0, 0.0
    for low in range(0, m.size, CHUNK):
        high = min(low + CHUNK, m.size)
        n = high - low
        for i in range(n):
            y[i] = m[low + i] + shift
        value += at_margins(on_rows(loss, low, high), y[:n], r[:n], c[:n])[0]
        slopes, curvatures = 0.0, 0.0
        for i in range(n):
            slopes += r[i]
            curvatures += c[i]
        left += slopes
        bend += curvatures
        for j in range(images.shape[0]):
            along = images[j, low:high]
            first, moved = 0.0, 0.0
            for i in range(n):
                y[i] = c[i] * along[i]
                first += r[i] * along[i]
                moved += y[i]
            gradient[j] += first
            drift[j] += moved
            for k in range(j + 1):
                other, second = images[k, low:high], 0.0
                for i in range(n):
                    second += y[i] * other[i]
                hessian[j, k] += second
    return value, left, bend


@kernel()
def value_at(loss, m):
    """Return the loss at the margins m."""
    total, none = 0.0, np.empty(0)
    for low in range(0, m.size, CHUNK):
        high = min(low + CHUNK, m.size)
        total += at_margins(on_rows(loss, low, high), m[low:high], none, none)[0]
    return total


@kernel()
def derivatives_at(loss, m, shift, r, c):
    """Set r to the slope of the loss at the margins m + shift, where it has room, and c to its curvature, likewise."""
    y, spare = np.empty(CHUNK), np.empty(CHUNK)
    for low in range(0, m.size, CHUNK):
        high = min(low + CHUNK, m.size)
        for i in range(high - low):
            y[i] = m[low + i] + shift
        slope = r[low:high] if r.size else spare[: high - low]
        at_margins(on_rows(loss, low, high), y[: high - low], slope, c[low:high])


@kernel(fastmath=SUMS)
def _sides(r, m):
    """Return the sums of the positive and of the negative slopes, and those of both times the margins."""
    up, down, along_up, along_down = 0.0, 0.0, 0.0, 0.0
    for i in range(r.size):
        above = max(r[i], 0.0)
        below = r[i] - above
        up += above
        down -= below
        along_up += above * m[i]
        along_down += below * m[i]
    return up, down, along_up, along_down


@kernel()
def _add(whole, lost, part):
    """Return the sum of two numbers, and what rounding has taken off such sums so far."""
    added = whole + part
    moved = added - whole
    return added, lost + ((whole - (added - moved)) + (part - moved))


@kernel()
def balanced(loss, m, shift, r):
    """Set r to the slope of the loss at m + shift, its heavier side scaled down until the slopes add up to nothing.

    Returns the value of the loss, <r, m>, and the share that was taken off the heavier side. The sums of the sides are
    right to as many roundings as FEW rows take: the rest of the balance is multiplied by intercepts of any size.
    """
    y, value = np.empty(CHUNK), 0.0
    up, down, up_lost, down_lost, along_up, along_down = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for low in range(0, m.size, CHUNK):
        high = min(low + CHUNK, m.size)
        for i in range(high - low):
            y[i] = m[low + i] + shift
        value += at_margins(on_rows(loss, low, high), y[: high - low], r[low:high], r[:0])[0]
        for first in range(low, high, FEW):
            after = min(first + FEW, high)
            above, below, along_above, along_below = _sides(r[first:after], m[first:after])
            up, up_lost = _add(up, up_lost, above)
            down, down_lost = _add(down, down_lost, below)
            along_up += along_above
            along_down += along_below
    up, down = up + up_lost, down + down_lost
    keep_up, keep_down = min(1.0, down / up) if up > 0.0 else 1.0, min(1.0, up / down) if down > 0.0 else 1.0
    if keep_up < 1.0 or keep_down < 1.0:
        for i in range(m.size):
            r[i] *= keep_up if r[i] > 0.0 else keep_down
    return value, keep_up * along_up + keep_down * along_down, 1.0 - min(keep_up, keep_down)


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
def balance(loss, start, step, gamma, low, c, high, knee, ulp, sums):
    """Return the shift that balances the slopes, between the ends that are left; `sums` are those there."""
    older = old = math.inf
    for _ in range(ROUNDS):
        _shifted_sums(loss, start, step, gamma, c, sums)
        left, size, bend = sums[0], sums[1], sums[3]
        if _settled(left, size, bend, knee, ulp):
            break
        low, moved, high, older, old = _narrow(low, c, high, older, old, left, bend)
        if moved == c:
            break
        c = moved
    return low, c, high
