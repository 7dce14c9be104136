"""Short dense rows, eight at a time: product, margins, loss and gradient before the next eight are read.

They stay in registers and in the nearest cache, and the processor fetches the next ones meanwhile: an iteration takes
about as long as one read of the data.
Import inside functions only: loading Numba takes a third of a second.
"""

from __future__ import annotations

import numpy as np

from frankwolfe.kernels.compiling import kernel
from frankwolfe.kernels.losses import slope_of, value_of, weighed
from frankwolfe.kernels.simd import everywhere, lane, load, store, total, totals

ZERO, TWO, EIGHT = np.uint64(0), np.uint64(2), np.uint64(8)


@kernel()
def sweep(A, first, last, x, mixing, known, loss, images, g, sums):
    """Do for eight rows at a time what `sweep.sweep` does, as far as eights go; return the first row that is left.

    The vectors x and g fill whole registers: what is read beyond a row meets zeros, and lands at the end of g.
    """
    flat, d = A.reshape(A.size), np.uint64(A.shape[1])
    formulae, targets, shares = loss
    image, watched_image = images[0], images[1]
    known_at, new_at, known_watched, new_watched = mixing
    two_points = known_at != known_watched or new_at != new_watched
    value, inner, watched, share = everywhere(0.0), everywhere(0.0), everywhere(0.0), everywhere(shares[0])
    room = (flat.size - x.size) // A.shape[1] + 1  # rows that whole registers may be read from
    stop = first + (min(last, room) - first) // 8 * 8
    for i in range(np.uint64(first), np.uint64(max(first, stop)), EIGHT):
        starts = _starts(i * d, d)
        q = _dots(flat, starts, x)
        before = load(known, i) if known.size else everywhere(0.0)
        m = known_watched * before + new_watched * q
        if images.size:
            store(image, i, q)
            store(watched_image, i, m)
        b = load(targets, i)
        if shares.size == targets.size:
            share = load(shares, i)
        if two_points:
            watched = watched + share * value_of(formulae, weighed(formulae, share, m), b)
            m = known_at * before + new_at * q
        m = weighed(formulae, share, m)
        slopes = share * slope_of(formulae, m, b)
        value, inner = value + share * value_of(formulae, m, b), inner + slopes * m
        _add_rows(flat, starts, slopes, g)
    sums[0] += total(value)
    sums[1] += total(inner)
    sums[2] += total(watched)
    return max(first, stop)


@kernel()
def _starts(start, d):
    """Return where eight rows begin."""
    fifth = start + np.uint64(4) * d
    third, seventh = start + TWO * d, fifth + TWO * d
    return start, start + d, third, third + d, fifth, fifth + d, seventh, seventh + d


@kernel()
def _dots(flat, starts, x):
    """Return the products of eight rows with x: one row after the other, as they lie in memory."""
    a0, a1, a2, a3, a4, a5, a6, a7 = starts
    s0, s1, s2, s3 = _dot(flat, a0, x), _dot(flat, a1, x), _dot(flat, a2, x), _dot(flat, a3, x)
    s4, s5, s6, s7 = _dot(flat, a4, x), _dot(flat, a5, x), _dot(flat, a6, x), _dot(flat, a7, x)
    return totals(s0, s1, s2, s3, s4, s5, s6, s7)


@kernel()
def _dot(flat, start, x):
    """Return the products of a row with x, to be added up over the lanes."""
    sums = load(flat, start) * load(x, ZERO)
    for j in range(EIGHT, np.uint64(x.size), EIGHT):
        sums = sums + load(flat, start + j) * load(x, j)
    return sums


@kernel()
def _add_rows(flat, starts, r, g):
    """Add eight rows, times the lanes of r, to g."""
    a0, a1, a2, a3, a4, a5, a6, a7 = starts
    r0, r1, r2, r3 = lane(r, 0), lane(r, 1), lane(r, 2), lane(r, 3)
    r4, r5, r6, r7 = lane(r, 4), lane(r, 5), lane(r, 6), lane(r, 7)
    for j in range(ZERO, np.uint64(g.size), EIGHT):
        even = load(g, j) + r0 * load(flat, a0 + j)
        even = even + r2 * load(flat, a2 + j)
        even = even + r4 * load(flat, a4 + j)
        even = even + r6 * load(flat, a6 + j)
        odd = r1 * load(flat, a1 + j)
        odd = odd + r3 * load(flat, a3 + j)
        odd = odd + r5 * load(flat, a5 + j)
        odd = odd + r7 * load(flat, a7 + j)
        store(g, j, even + odd)
