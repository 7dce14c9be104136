"""Coordinate descent on a quadratic model of sparse columns, compiled: rounds over some of them.

`values` is None for a pattern of ones. Import inside functions only: loading Numba takes a third of a second.
"""

from __future__ import annotations

import numpy as np

from frankwolfe.kernels.compiling import FUSED, kernel
from frankwolfe.kernels.rows.sparse import FOUR, ONE, THREE, TWO

FIRM = 4.0  # with orthogonal columns a round shrinks the error of the multiplier 1 + FIRM times
NOTHING = 1e-9  # of the radius, a sum that is zero but for rounding
SCALED = 4.0  # the gap that scaling the sum back to the radius costs, in terms of the first-order change


@kernel(fastmath=FUSED)
def bends(indptr, indices, values, columns, c):
    """Return a'diag(c)a and c'a for each of the columns a."""
    bend, along = np.empty(columns.size), np.empty(columns.size)
    for p in range(columns.size):
        j, square, single = columns[p], 0.0, 0.0
        for k in range(np.uint64(indptr[j]), np.uint64(indptr[j + 1])):
            weight = c[indices[k]] if values is None else c[indices[k]] * values[k]
            single += weight
            square += weight if values is None else weight * values[k]
        bend[p], along[p] = square, single
    return bend, along


@kernel(fastmath=FUSED)
def descend(indptr, indices, values, columns, c, slope, bend, along, free, ridge, places, radius, signed, tol, gaps):
    """Minimise over one entry of z after the other, round after round; return how many rounds it took.

    A row of `places` holds z, then v, which is c times what the moves have done to the margins, then the level; the
    first row is the start, each round fills the next one, and `gaps` receives the Frank-Wolfe gap as it was seen on the
    way. The last round is the one that finds it at most `tol`.

    The model has the slope `slope` + ridge z + A'v, and the curvature `bend` along each entry, ridge included. With a
    free intercept, `free` is one over the sum of c, else zero; `along` is A'c. The penalty of a sum t of sizes is
    level t + firm (t - radius)²/2; on a ball, signed, it ends where its slope would become negative: less than the
    radius is as good. A c of one number holds for all rows.

    Nothing is called, sums and copies are loops: that takes two thirds off the time of compiling. Where one array is
    assigned to another, Numba compiles the text of what it would say if their shapes differed.
    """
    for r in range(gaps.size):
        place = places[r + 1]
        for i in range(place.size):
            place[i] = places[r, i]
        z, v, level = place[: columns.size], place[columns.size : -1], place[-1]
        inner, best, total, lifted, room = 0.0, -np.inf, 0.0, 0.0, 0.0
        for p in range(columns.size):
            total += abs(z[p])
            if z[p] != 0.0 and bend[p] > 0.0:
                room += 1.0 / bend[p]
        if room == 0.0:  # nothing is in use, which a multiplier that is too large can bring about: let it fall
            for p in range(columns.size):
                if bend[p] > 0.0:
                    room += 1.0 / bend[p]
        if free != 0.0:
            for i in range(v.size):
                lifted += v[i]
        firm = FIRM / room if room > 0.0 else 0.0
        for p in range(columns.size):
            if not bend[p] > 0.0:
                continue
            low, high = np.uint64(indptr[columns[p]]), np.uint64(indptr[columns[p] + 1])
            k, s0, s1, s2, s3 = low, 0.0, 0.0, 0.0, 0.0  # four sums, so that none waits for the one before
            while k + FOUR <= high:
                if values is None:
                    s0 += v[indices[k]]
                    s1 += v[indices[k + ONE]]
                    s2 += v[indices[k + TWO]]
                    s3 += v[indices[k + THREE]]
                else:
                    s0 += values[k] * v[indices[k]]
                    s1 += values[k + ONE] * v[indices[k + ONE]]
                    s2 += values[k + TWO] * v[indices[k + TWO]]
                    s3 += values[k + THREE] * v[indices[k + THREE]]
                k += FOUR
            while k < high:
                s0 += v[indices[k]] if values is None else values[k] * v[indices[k]]
                k += ONE
            now = slope[p] + ridge * z[p] + ((s0 + s1) + (s2 + s3)) - free * along[p] * lifted
            inner += now * z[p]
            best = max(best, abs(now) if signed else -now)
            peak, others = bend[p] * z[p] - now, total - abs(z[p])
            y = max((abs(peak) if signed else peak) - level - firm * (others - radius), 0.0) / (bend[p] + firm)
            if signed:
                alone = abs(peak) / bend[p]
                if not level + firm * (others + alone - radius) > 0.0:
                    y = alone
                if peak < 0.0:
                    y = -y
            move = y - z[p]
            if move != 0.0:
                factor = move * c[0]
                if c.size == 1:
                    for k in range(low, high):
                        v[indices[k]] += factor if values is None else factor * values[k]
                else:
                    for k in range(low, high):
                        v[indices[k]] += move * c[indices[k]] if values is None else move * values[k] * c[indices[k]]
                total += abs(y) - abs(z[p])
                lifted += move * along[p]
                z[p] = y
        level += firm * (total - radius)
        if total <= NOTHING * radius:  # it is above all peaks: at the highest the first entry comes in
            level = min(level, best)
        place[-1] = max(level, 0.0) if signed else level
        gaps[r] = max(inner + radius * best, SCALED * abs(place[-1] * (total - radius)))
        if gaps[r] <= tol:
            return r + 1
    return gaps.size
