"""One read of a dense torch matrix: gradient at y, values at y and x, and the product that was pending.

x and y are both mixtures of one point whose image is known and one vector v whose image is not. The read gives A v, the
two images, the two values, and the gradient. On a GPU with Triton it is one kernel; elsewhere the plain code below,
block by block, which is also what the tests compare the kernel with.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from frankwolfe.backends import triton_rows
from frankwolfe.backends.triton_losses import with_loss

kernels: Any = triton_rows  # functions that Triton compiles

BLOCK_BYTES = 1 << 28  # temporaries of the plain code
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


def is_bytes(A: Any) -> bool:
    """Tell whether the matrix holds bytes for which there is a quick way to widen them: on NVIDIA's GPUs."""
    import torch

    return A.dtype == torch.uint8 and torch.version.hip is None


def tile(cols: int, size: int, wide: bool) -> Tile:
    """Return how to take a matrix of so many (padded) columns of numbers of `size` bytes; `wide` in double precision.

    The fewer warps share a row, the less is done twice; some 200 kB in flight hide the latency of memory. Found by
    `benchmarks/gpu/tune.py` on an H200.
    """
    if cols > 4096:
        return Tile(1, 16 if wide else 8, 1, 2)
    if wide:
        return Tile(max(1, min(64, 2048 // cols)), 4 if cols > 1024 else 2, 4, 2)
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
            BYTES=is_bytes(A),
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
    import torch

    A, b, share, loss = model
    x_known, x_product, y_known, y_product = coef
    products, images, gradient = [], [], torch.zeros_like(v)
    sums = torch.zeros(3, dtype=torch.float64, device=v.device)
    for rows in blocks(A, v.element_size()):
        block = A[rows].to(v.dtype)
        q = block @ v
        x, y = x_product * q, y_product * q
        if known is not None:
            x, y = x + x_known * known[rows], y + y_known * known[rows]
        weights = share if share.ndim == 0 else share[rows]
        r = weights * loss.slope(y, b[rows], *loss)
        parts = (weights * loss.value(y, b[rows], *loss), r * y, weights * loss.value(x, b[rows], *loss))
        sums += torch.stack([part.sum(dtype=sums.dtype) for part in parts])
        gradient += block.T @ r
        products.append(q)
        images.append(x)
    return Pass(torch.cat(products), torch.cat(images), gradient, sums[0], sums[1], sums[2])


def blocks(A: Any, itemsize: int) -> list[slice]:
    """Return the row blocks whose copies in the arithmetic's precision stay small; all rows where no copy is made."""
    n, d = A.shape
    rows = n if A.element_size() == itemsize and A.is_floating_point() else max(1, BLOCK_BYTES // (itemsize * d))
    return [slice(i, min(i + rows, n)) for i in range(0, n, rows)]
