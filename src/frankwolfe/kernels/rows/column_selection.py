"""Columns picked out of sparse rows in one read, compiled. Import inside functions only: Numba is slow to load."""

from __future__ import annotations

import numpy as np

from frankwolfe.kernels.compiling import kernel


def picked(indptr: np.ndarray, indices: np.ndarray, values: np.ndarray, width: int, columns: np.ndarray) -> tuple:
    """Return values, indices and indptr of the rows that are left when only these columns of `width` are kept."""
    place = np.full(width, columns.size, dtype=np.uint32)
    place[columns] = np.arange(columns.size, dtype=np.uint32)
    out_values, out_indices = np.empty(indices.size, values.dtype), np.empty(indices.size, np.uint32)
    out_indptr = np.zeros(indptr.size, dtype=indptr.dtype)  # where short, SciPy leaves the indices short, too
    unsigned = indices.view(f"u{indices.itemsize}")
    size = _pick(indptr, unsigned, values, place, np.uint32(columns.size), out_values, out_indices, out_indptr)
    # Memory that was never written to was never handed out; what is kept is copied, so that the rest can go.
    return out_values[:size].copy(), out_indices[:size].view(np.int32).copy(), out_indptr


@kernel()
def _pick(indptr, indices, values, place, absent, out_values, out_indices, out_indptr):
    size = np.uint64(0)
    for i in range(indptr.size - 1):
        for k in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            j = place[indices[k]]
            out_values[size], out_indices[size] = values[k], j  # written in any case: cheaper than to ask first
            size += np.uint64(j != absent)
        out_indptr[i + 1] = size
    return size
