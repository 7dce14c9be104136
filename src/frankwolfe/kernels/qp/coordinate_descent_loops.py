"""Coordinate descent on a quadratic model of sparse columns, compiled: one round over some of them.

`values` is None for a pattern of ones. Import inside functions only: loading Numba takes a third of a second.
"""

from __future__ import annotations

import numpy as np

from frankwolfe.kernels.compiling import FUSED, kernel
from frankwolfe.kernels.rows.sparse import dot


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
def best_entry(a, bend, level, firm, others, radius, signed):
    """Return the y (not negative, unless signed) with the least bend y²/2 - a y + penalty(others + |y|).

    The penalty of a sum t is level t + firm (t - radius)²/2; on a ball, signed, it ends where its slope would become
    negative: less than the radius is as good.
    """
    least = level + firm * (others - radius)  # its slope where y is zero
    if not signed:
        return max(a - least, 0.0) / (bend + firm)
    y = abs(a) / bend
    if level + firm * (others + y - radius) > 0.0:
        y = max(abs(a) - least, 0.0) / (bend + firm)
    return y if a > 0.0 else -y


@kernel(fastmath=FUSED)
def descend(indptr, indices, values, columns, c, slope, bend, along, free, ridge, z, v, level, firm, radius, signed):
    """Minimise over one entry of z after the other, in place; v is c times what the moves have done to the margins.

    The model has the slope `slope` + ridge z + A'v, and the curvature `bend` along each entry, ridge included. With a
    free intercept, `free` is one over the sum of c, else zero; `along` is A'c. Returns <slope, z> and the best worth of
    an entry, each as it was when its turn came.
    """
    inner, best, total, lifted = 0.0, -np.inf, np.sum(np.abs(z)), np.sum(v)
    for p in range(columns.size):
        if not bend[p] > 0.0:
            continue
        low, high = np.uint64(indptr[columns[p]]), np.uint64(indptr[columns[p] + 1])
        now = slope[p] + ridge * z[p] + dot(indices, values, low, high, v, False) - free * along[p] * lifted
        inner += now * z[p]
        best = max(best, abs(now) if signed else -now)
        y = best_entry(bend[p] * z[p] - now, bend[p], level, firm, total - abs(z[p]), radius, signed)
        move = y - z[p]
        if move != 0.0:
            for k in range(low, high):
                v[indices[k]] += move * c[indices[k]] if values is None else move * values[k] * c[indices[k]]
            total += abs(y) - abs(z[p])
            lifted += move * along[p]
            z[p] = y
    return inner, best
