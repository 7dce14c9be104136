"""One read of rows, dense or sparse, compiled: product, margins, loss, slope, gradient and Hessian together.

A matrix is a tuple of arrays: one for a dense matrix; indptr, indices and values (None for a pattern of ones) for a
sparse one. The compiler drops the branches that do not apply.
Import inside functions only: loading Numba takes a third of a second.
"""

from __future__ import annotations

import numpy as np

from frankwolfe.kernels.compiling import kernel
from frankwolfe.kernels.losses import differentiate, move, on_rows
from frankwolfe.kernels.rows import dense, simd_rows, sparse
from frankwolfe.kernels.rows.layouts import CHUNK

# Dense rows of at most so many columns and bytes are worked on eight at a time, in registers.
COLUMNS, BYTES = 256, 800


@kernel()
def product(matrix, first, last, x, out):
    """Set out to the products of rows first to last with x."""
    if len(matrix) == 1:
        dense.dots(matrix[0], first, last, x, out)
    else:
        sparse.dots(matrix[0], matrix[1], matrix[2], first, last, x, out)


@kernel()
def products(matrix, first, last, x, y, out, other):
    """Set out and other to the products of rows first to last with x and with y."""
    if len(matrix) == 1:
        dense.two_dots(matrix[0], first, last, x, y, out, other)
    else:
        product(matrix, first, last, x, out)
        product(matrix, first, last, y, other)


@kernel()
def adjoint(matrix, first, last, r, g, fetch=True):
    """Add the rows first to last, times r, to g; `fetch` tells that they are not in cache yet."""
    if len(matrix) == 1:
        dense.add_rows(matrix[0], first, last, r, g)
    else:
        sparse.add_rows(matrix[0], matrix[1], matrix[2], first, last, r, g, fetch)


@kernel()
def adjoint_in_blocks(matrix, first, last, block, r, g):
    """Do that block by block: what is added up within one does not meet the rounding of the whole."""
    if last - first <= block:
        adjoint(matrix, first, last, r, g)
        return
    part = np.zeros(g.size)
    for low in range(first, last, block):
        adjoint(matrix, low, min(low + block, last), r[low - first :], part)
        move(part, g)


@kernel()
def outer(matrix, first, last, c, H):
    """Add half of c times the outer product of each sparse row with itself to H, up to symmetry: H + H' is whole."""
    if len(matrix) > 1:
        sparse.add_outer(matrix[0], matrix[1], matrix[2], first, last, c, H)


@kernel()
def _short(A):
    """Tell whether rows are so short that eight of them, and what is made of them, stay near the processor."""
    return A.shape[1] <= COLUMNS and A.shape[1] * A.itemsize <= BYTES


@kernel()
def sweep(matrix, first, last, step, block, x, base, mixing, known, loss, every, images, whole, H, total):
    """Read some rows once, `step` at a time: product with x, margins, loss, and their part of gradient and Hessian.

    Sums over a `block` of rows are added to the whole gradient and the total: no more additions follow one another than
    a block has rows and there are blocks.

    `x` is empty where all is known, `known` where nothing is, H where no Hessian is wanted; it is made from one row in
    `every`. Where `base` is not empty, what is known is its product, made here. Ax and the watched margins are written
    to `images` where that has room; for `mixing` and `sums` see `differentiate`.
    """
    q, r, c = np.zeros(CHUNK), np.empty(CHUNK), np.empty(CHUNK if H.size else 0)
    # What is known and what is watched, where nobody keeps it:
    own, spare = np.zeros(CHUNK, known.dtype), np.empty(CHUNK, images.dtype)
    many = last - first > block
    g, sums, held = np.zeros(whole.size if many else 0), np.zeros(3), 0
    if not many:
        g = whole
    if len(matrix) == 1 and _short(matrix[0]) and x.size and not (base.size or H.size):
        for low in range(first, last, block):  # whole eights, but for the last of them
            after = simd_rows.sweep(matrix[0], low, min(low + block, last), x, mixing, known, loss, images, g, sums)
            if many:
                move(g, whole)
            move(sums, total)
            first = after
            if after < low + block:
                break
    for low in range(first, last, step):
        high = min(low + step, last)
        before = known[low:high] if known.size else own
        watched = images[1][low:high] if images.size else spare
        if x.size:
            if base.size:
                products(matrix, low, high, x, base, q, before)
            else:
                product(matrix, low, high, x, q)
            if images.size:
                for i in range(high - low):  # assigning a slice would compile its error message, a second's work
                    images[0, low + i] = q[i]
        differentiate(mixing, before, q, on_rows(loss, low, high), watched, r, c, sums)
        adjoint(matrix, low, high, r, g, x.size == 0)
        if H.size:
            if every > 1:
                for i in range(high - low):
                    c[i] = c[i] * every if sparse.lot(np.uint64(low + i), np.uint64(every)) == sparse.ZERO else 0.0
            outer(matrix, low, high, c, H)
        held += high - low
        if held >= block:
            if many:
                move(g, whole)
            move(sums, total)
            held = 0
    if many:
        move(g, whole)
    move(sums, total)
