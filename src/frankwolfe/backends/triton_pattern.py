"""Entries of U V' on a pattern of positions, in Triton: factors are read through the cache, nothing is gathered."""

# pyright: reportInvalidTypeForm=false
from typing import Any

from frankwolfe.backends.triton_losses import tl, triton

WIDEST = 64  # columns of the factors taken at a time
TILE = 4096  # numbers of each factor in a program


def usable(U: Any) -> bool:
    """Tell whether the kernel takes these factors: torch tensors on a GPU, and Triton there."""
    return bool(getattr(U, "is_cuda", False)) and hasattr(tl, "load")


def entries(rows: Any, cols: Any, U: Any, V: Any) -> Any:
    """Return the entries of U V' at the positions, for factors that `usable` takes."""
    U, V, (size, rank) = U.contiguous(), V.contiguous(), (rows.shape[0], U.shape[1])
    out = U.new_zeros(size)
    if size and rank:
        chunk = min(WIDEST, max(4, 1 << (rank - 1).bit_length()))
        block = TILE // chunk
        kernel: Any = _entries
        kernel[(-(-size // block),)](rows, cols, U, V, out, size, rank, CHUNK=chunk, BLOCK=block, num_warps=4)
    return out


@triton.jit
def _entries(rows, cols, U, V, out, size, rank, CHUNK: tl.constexpr, BLOCK: tl.constexpr):
    """Take a block of positions: one row of U and one of V for each, a chunk of columns at a time."""
    place = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    live = place < size
    i = tl.load(rows + place, mask=live, other=0).to(tl.int64) * rank
    j = tl.load(cols + place, mask=live, other=0).to(tl.int64) * rank
    total = tl.zeros([BLOCK], U.dtype.element_ty)
    for first in range(0, rank, CHUNK):
        k = first + tl.arange(0, CHUNK)
        inside = live[:, None] & (k < rank)[None, :]
        u = tl.load(U + i[:, None] + k[None, :], mask=inside, other=0.0)
        v = tl.load(V + j[:, None] + k[None, :], mask=inside, other=0.0)
        total += tl.sum(u * v, axis=1)
    tl.store(out + place, total, mask=live)
