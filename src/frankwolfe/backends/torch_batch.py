"""Many linear models on one torch matrix: two matrix products, and one kernel for all that is between them."""

from __future__ import annotations

from typing import Any

from frankwolfe.backends import triton_rows
from frankwolfe.backends.precision import fast_products
from frankwolfe.backends.torch_rows import DeviceModel, Pass, blocks, has_triton
from frankwolfe.backends.triton_losses import with_loss

kernels: Any = triton_rows  # functions that Triton compiles

BLOCK = 1024


def batch_pass(model: DeviceModel, V: Any, known: Any, coef: Any) -> Pass:
    """Return, for a vector to a row of V, products, images, gradients and values; `coef` has a row for each.

    float32 products on a GPU are in TF32, ten bits of mantissa, while a run is in progress: good for steps, never for
    certificates, which are computed in double precision (where nothing is rounded so).
    """
    import torch

    A, b, share, loss = model
    seen = []
    with fast_products():
        for rows in blocks(A, V.element_size()):
            block = A[rows].to(V.dtype)
            q = V @ block.T
            part = DeviceModel(block, b[rows], share if share.ndim == 0 else share[rows], loss)
            middle = _fused if q.is_cuda and has_triton() else _plain
            watched, residual, *sums = middle(part, q, None if known is None else known[:, rows].contiguous(), coef)
            seen.append((q, watched, residual @ block, *sums))
    if len(seen) == 1:
        return Pass(*seen[0])
    images = (torch.cat([s[i] for s in seen], dim=1) for i in range(2))
    return Pass(*images, *(torch.stack([s[i] for s in seen]).sum(dim=0) for i in range(2, 6)))


def _fused(model: DeviceModel, q: Any, known: Any, coef: Any) -> tuple[Any, ...]:
    import torch

    size, n = q.shape
    watched, residual = torch.empty_like(q), torch.empty_like(q)
    parts = -(-n // BLOCK)
    sums = torch.empty((size, parts, 3), dtype=torch.float64, device=q.device)
    with_loss(kernels.batch_residual, model.loss)[(parts, size)](
        *(q, q if known is None else known, model.b, model.share, coef, watched, residual, sums, n),
        WEIGHTED=model.share.ndim == 1,
        KNOWN=known is not None,
        BLOCK=BLOCK,
        num_warps=4,
    )
    return watched, residual, *sums.sum(dim=1).unbind(dim=1)


def _plain(model: DeviceModel, q: Any, known: Any, coef: Any) -> tuple[Any, ...]:
    import torch

    x, y = coef[:, 1:2] * q, coef[:, 3:4] * q
    if known is not None:
        x, y = x + coef[:, 0:1] * known, y + coef[:, 2:3] * known
    loss, b = model.loss, model.b
    residual = model.share * loss.slope(y, b, *loss)
    sums = [model.share * loss.value(y, b, *loss), residual * y, model.share * loss.value(x, b, *loss)]
    return x, residual, *(part.sum(dim=1, dtype=torch.float64) for part in sums)
