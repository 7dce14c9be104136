"""Coordinate descent on a quadratic model of sparse columns, compiled: one round over some of them.

`values` is None for a pattern of ones. Import inside functions only: loading Numba takes a third of a second.
"""

from __future__ import annotations

import numpy as np

from frankwolfe.kernels.compiling import FUSED, kernel
from frankwolfe.kernels.rows.sparse import FOUR, ONE, THREE, TWO


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
def descend(indptr, indices, values, columns, c, slope, bend, along, free, ridge, z, v, level, firm, radius, signed):
    """Minimise over one entry of z after the other, in place; v is c times what the moves have done to the margins.

    The model has the slope `slope` + ridge z + A'v, and the curvature `bend` along each entry, ridge included. With a
    free intercept, `free` is one over the sum of c, else zero; `along` is A'c. The penalty of a sum t of sizes is
    level t + firm (t - radius)²/2; on a ball, signed, it ends where its slope would become negative: less than the
    radius is as good. Returns <slope, z> and the best worth of an entry, each as it was when its turn came.

    Nothing is called, sums are loops: that halves the time that compiling takes.
    """
    inner, best, total, lifted = 0.0, -np.inf, 0.0, 0.0
    for p in range(z.size):
        total += abs(z[p])
    for i in range(v.size):
        lifted += v[i]
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
            for k in range(low, high):
                v[indices[k]] += move * c[indices[k]] if values is None else move * values[k] * c[indices[k]]
            total += abs(y) - abs(z[p])
            lifted += move * along[p]
            z[p] = y
    return inner, best
