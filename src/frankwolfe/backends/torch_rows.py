"""One read of a dense torch matrix: gradient at y, values at y and x, and the product that was pending.

x and y are both mixtures of one point whose image is known and one vector v whose image is not. The read gives A v, the
two images, the two values, and the gradient. On a GPU with Triton it is one kernel; elsewhere the plain code below,
block by block, which is also what the tests compare the kernel with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple

from frankwolfe.backends import triton_rows
from frankwolfe.backends.precision import fast_products
from frankwolfe.backends.triton_losses import with_loss

kernels: Any = triton_rows  # functions that Triton compiles

BLOCK_BYTES = 1 << 28  # temporaries of the plain code
BATCH_BLOCK = 1024  # rows of one point to a program, where there are many points
VALUES = 4096  # rows to a program that computes values apart
WIDEST = 16384  # columns that fit into the registers of a program


class Pass(NamedTuple):
    """What one read gives."""

    product: Any  # A v
    watched: Any  # image of x
    gradient: Any  # at y
    value: Any  # f(y), in double precision as the next two
    inner: Any  # <gradient, y>
    other: Any  # f(x)


class Tile(NamedTuple):
    """How the kernel takes a matrix: rows at a time, warps and programs per multiprocessor, loads in flight."""

    rows: int
    warps: int
    programs: int
    stages: int
    apart: bool = False  # whether values are computed in a kernel of their own


class DeviceModel(NamedTuple):
    """A linear model's data: matrix, targets, weights of the rows (one number if equal) and the loss."""

    A: Any
    b: Any
    share: Any
    loss: Any


def row_pass(model: DeviceModel, v: Any, known: Any, coef: Any) -> Pass:
    """Take one read; `coef` holds x's weights of `known` and of A v, then y's."""
    if fits(model.A):
        return fused_pass(model, v, known, coef)
    return plain_pass(model, v, known, coef)


@cache
def has_triton() -> bool:
    """Tell whether Triton is installed."""
    return hasattr(kernels.tl, "load")


def fits(A: Any) -> bool:
    """Tell whether the kernel takes this matrix: on a GPU, rows contiguous, not too wide."""
    return bool(A.is_cuda and has_triton() and A.stride(1) == 1 and A.shape[1] <= WIDEST)


def tile(cols: int, size: int, wide: bool) -> Tile:
    """Return how to take a matrix of so many (padded) columns of numbers of `size` bytes; `wide` in double precision.

    The fewer warps share a row, the less is done twice; some 200 kB in flight hide the latency of memory. Found by
    `benchmarks/gpu/tune.py` on an H200.
    """
    if cols > 4096:
        return Tile(1, 16 if wide else 8, 1, 2)
    if wide:  # a logarithm of a row in double precision is repeated by every thread of the row
        warps = 1 if cols <= 256 else 2 if cols <= 2048 else 4
        return Tile(max(1, min(64, 2048 // cols)), warps, max(4, 8 // warps), 3, apart=cols > 64)
    if cols <= 128:
        return Tile(8192 // cols, 4, 1 if size == 4 else 2, 4)
    if cols > 2048:
        return Tile(1, 4, 4, 3)
    if size < 4:  # narrow numbers: one warp to a row, and more of them
        return Tile(max(1, 4096 // cols), 1, 4 if size == 2 else 8, 4, apart=size == 1)
    return Tile(4096 // cols, 2, 4, 3)


def fused_pass(model: DeviceModel, v: Any, known: Any, coef: Any) -> Pass:
    """Take one read with the kernel."""
    import torch

    scratch = Scratch(model, v)
    product, watched = torch.empty_like(model.b, dtype=v.dtype), torch.empty_like(model.b, dtype=v.dtype)
    scratch.read(v, known, coef, product, watched)
    total = scratch.total
    return Pass(product, watched, scratch.gradient[: model.A.shape[1]], total[0], total[1], total[2])


class Scratch:
    """What a kernel writes beside images: the parts of the gradient and of the values, and their totals."""

    def __init__(self, model: DeviceModel, v: Any, chosen: Tile | None = None) -> None:
        import torch

        n, d = model.A.shape
        self.model = model
        self.cols = max(16, 1 << (d - 1).bit_length())
        self.tile = chosen or tile(self.cols, model.A.element_size(), v.dtype == torch.float64)
        multiprocessors = torch.cuda.get_device_properties(model.A.device).multi_processor_count
        self.programs = min(self.tile.programs * multiprocessors, -(-n // self.tile.rows))
        self.parts = v.new_empty((self.programs, self.cols))
        # Narrow numbers come so fast that what is done once for a row counts: values wait for a kernel of their own.
        self.apart = self.tile.apart
        self.counted = -(-n // VALUES) if self.apart else self.programs
        self.ahead = v.new_empty(n if self.apart else 1)
        self.sums = torch.empty((self.counted, 3), dtype=torch.float64, device=v.device)
        self.gradient = v.new_empty(self.cols)
        self.total = torch.empty(3, dtype=torch.float64, device=v.device)

    def read(self, v: Any, known: Any, coef: Any, product: Any, watched: Any) -> None:
        """Launch the pass and add its parts up; `known` or `product` may be None."""
        import torch

        A, b, share, loss = self.model
        n, d = A.shape
        with_loss(kernels.row_pass, loss)[(self.programs,)](
            *(A, v, b if known is None else known, b, share, coef, watched if product is None else product, watched),
            *(self.ahead, self.parts, self.sums, n, d, A.stride(0)),
            WEIGHTED=share.ndim == 1,
            KNOWN=known is not None,
            KEEP=product is not None,
            EVEN=d == self.cols,
            ROWS=self.tile.rows,
            COLS=self.cols,
            STAGES=self.tile.stages,
            APART=self.apart,
            BYTES=A.dtype == torch.uint8 and torch.version.hip is None,  # a quick way to widen them, on NVIDIA's GPUs
            num_warps=self.tile.warps,
        )
        if self.apart:
            with_loss(kernels.values, loss)[(self.counted,)](
                *(watched, self.ahead, b, share, self.sums, n),
                WEIGHTED=share.ndim == 1,
                BLOCK=VALUES,
                num_warps=8,
            )
        slab = min(self.cols, 64)
        kernels.totals[(self.cols // slab,)](
            *(self.parts, self.sums, self.gradient, self.total, self.programs, self.counted),
            COLS=self.cols,
            MANY=64,
            SLAB=slab,
            num_warps=4,
        )


def plain_pass(model: DeviceModel, v: Any, known: Any, coef: Any) -> Pass:
    """Do what the kernel does, in torch."""

    def take(part: DeviceModel, known: Any) -> Pass:
        q = part.A @ v
        watched, r, *sums = batch_in_torch(part, q[None], None if known is None else known[None], coef[None])
        return Pass(q, watched[0], part.A.T @ r[0], *(total[0] for total in sums))

    return over_blocks(widened(model.A, v.dtype), model, known, take)


def batch_pass(model: DeviceModel, V: Any, known: Any, coef: Any) -> Pass:
    """Return, for a vector to a row of V, products, images, gradients and values; `coef` has a row for each.

    float32 products on a GPU are in TF32, ten bits of mantissa, while a run is in progress: good for steps, never for
    certificates, which are computed in double precision (where nothing is rounded so).
    """

    def take(part: DeviceModel, known: Any) -> Pass:
        q = V @ part.A.T
        middle = batch_by_kernel if q.is_cuda and has_triton() else batch_in_torch
        watched, residual, *sums = middle(part, q, None if known is None else known.contiguous(), coef)
        return Pass(q, watched, residual @ part.A, *sums)

    with fast_products():
        return over_blocks(widened(model.A, V.dtype), model, known, take)


def over_blocks(
    pieces: Iterable[tuple[slice, Any]], model: DeviceModel, known: Any, take: Callable[[DeviceModel, Any], Pass]
) -> Pass:
    """Return what `take` gives for all blocks of rows: images one after the other, gradients and values added up."""
    import torch

    seen, (_, b, share, loss) = [], model
    for rows, block in pieces:
        part = DeviceModel(block, b[rows], share if share.ndim == 0 else share[rows], loss)
        seen.append(take(part, None if known is None else known[..., rows]))
    if len(seen) == 1:
        return seen[0]
    images = (torch.cat([one[i] for one in seen], dim=-1) for i in range(2))
    return Pass(*images, *(torch.stack([one[i] for one in seen]).sum(dim=0) for i in range(2, 6)))


def batch_by_kernel(model: DeviceModel, q: Any, known: Any, coef: Any) -> tuple[Any, ...]:
    import torch

    size, n = q.shape
    watched, residual = torch.empty_like(q), torch.empty_like(q)
    parts = -(-n // BATCH_BLOCK)
    sums = torch.empty((size, parts, 3), dtype=torch.float64, device=q.device)
    with_loss(kernels.batch_residual, model.loss)[(parts, size)](
        *(q, q if known is None else known, model.b, model.share, coef, watched, residual, sums, n),
        WEIGHTED=model.share.ndim == 1,
        KNOWN=known is not None,
        BLOCK=BATCH_BLOCK,
        num_warps=4,
    )
    return watched, residual, *sums.sum(dim=1).unbind(dim=1)


def batch_in_torch(model: DeviceModel, q: Any, known: Any, coef: Any) -> tuple[Any, ...]:
    import torch

    x, y = coef[:, 1:2] * q, coef[:, 3:4] * q
    if known is not None:
        x, y = x + coef[:, 0:1] * known, y + coef[:, 2:3] * known
    loss, b = model.loss, model.b
    residual = model.share * loss.slope(y, b, *loss)
    sums = [model.share * loss.value(y, b, *loss), residual * y, model.share * loss.value(x, b, *loss)]
    return x, residual, *(part.sum(dim=1, dtype=torch.float64) for part in sums)


def widened(A: Any, dtype: Any) -> Iterator[tuple[slice, Any]]:
    """Return row blocks in the precision of the arithmetic, whose copies stay small; all rows where none is made."""
    n, d = A.shape
    step = n if A.dtype == dtype else max(1, BLOCK_BYTES // (dtype.itemsize * d))
    for i in range(0, n, step):
        rows = slice(i, min(i + step, n))
        yield rows, A[rows].to(dtype)
