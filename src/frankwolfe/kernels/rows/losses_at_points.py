"""Losses at many points at once, compiled: a block of rows is in cache while one point after the other is taken.

Import inside functions only: loading Numba takes a third of a second.
"""

from __future__ import annotations

import numpy as np

from frankwolfe.kernels.compiling import kernel
from frankwolfe.kernels.losses import at_margins, on_rows


@kernel()
def differentiate(first, mixing, known, new, start, loss, watched, r, sums):
    """Take in the rows from `first` on, as many as r has columns; set r to the slopes of the loss, a row per point.

    The margins of point j are mixing[j, 0] known + mixing[j, 1] new where f is differentiated, and with mixing[j, 2]
    and mixing[j, 3] where it is watched; the latter are kept. `new` begins with row `start` of the data. Set sums[j]
    to the loss, <slope, margins>, and the watched loss.
    """
    n = r.shape[1]
    some, y, none, low = on_rows(loss, first, first + n), np.empty(n), np.empty(0), first - start
    for j in range(r.shape[0]):
        m, q, slope = known[j, first : first + n], new[j, low : low + n], r[j]
        kept = watched[j, first : first + n]
        c0, c1, c2, c3 = mixing[j]
        for i in range(n):
            y[i] = c2 * m[i] + c3 * q[i]
            kept[i] = y[i]
        if c0 != c2 or c1 != c3:
            sums[j, 2] = at_margins(some, y, slope[:0], none)[0]
            for i in range(n):
                y[i] = c0 * m[i] + c1 * q[i]
        value, inner = at_margins(some, y, slope, none)
        sums[j, 0], sums[j, 1] = value, inner
        if c0 == c2 and c1 == c3:
            sums[j, 2] = value
