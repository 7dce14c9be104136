"""Room on a device that has run out of it: the data go back to main memory and are read in row blocks from there."""

from __future__ import annotations

import gc
import sys
import warnings
from typing import Any

from frankwolfe.objectives.weighted_mean import WeightedMean

SHRINK = 8  # by which blocks become smaller where even they did not fit
SMALLEST_BLOCK = 1 << 18  # bytes: below, the copies would take longer to begin than to end
SIGNS = ("out of memory", "resource_exhausted", "cublas_status_alloc_failed")


def is_out_of_memory(error: BaseException | None) -> bool:
    """Tell whether a device had no room: by what an error says, or one that it arose from."""
    if error is None:
        return False
    torch: Any = sys.modules.get("torch")
    if torch is not None and isinstance(error, torch.OutOfMemoryError):
        return True
    if isinstance(error, RuntimeError | MemoryError) and any(sign in str(error).lower() for sign in SIGNS):
        return True
    return is_out_of_memory(error.__cause__ or error.__context__)


def relieve(objective: Any) -> None:
    """Move the data of an objective to main memory, in place; to smaller blocks where they are there already.

    Whoever else holds the data on the device keeps them there: only the rest of its memory is then for the blocks.
    """
    from frankwolfe.rows.placement import StreamedMatrix
    from frankwolfe.rows.torch_matrix import TorchMatrix

    base = objective
    data = base.data if isinstance(base, WeightedMean) else None
    release()
    if isinstance(data, TorchMatrix):
        matrix = data.matrix
        try:
            kept = matrix.cpu()
        except (RuntimeError, MemoryError):
            raise MemoryError(f"{_short(base)} and main memory has no room for them either; {REMEDIES}") from None
        warnings.warn(
            f"the device ran out of memory in a step; the data, {matrix.nbytes:,} bytes, go to main memory and are "
            "read in row blocks from now on, which is slower",
            stacklevel=2,
        )
        base.data = StreamedMatrix(kept, matrix.device, data.dtype)
        del data, matrix
    elif isinstance(data, StreamedMatrix) and data.block_bytes // SHRINK >= SMALLEST_BLOCK:
        base.data = StreamedMatrix(data.matrix, data.device, data.dtype, data.block_bytes // SHRINK)
        del data
    elif isinstance(data, StreamedMatrix):
        raise MemoryError(
            f"{_short(base)} even though they are read in row blocks from main memory; a tensor of them that you still "
            f"hold on the device takes room there: delete it, or {REMEDIES}"
        )
    else:
        raise MemoryError(f"{_short(base)} and only dense rows of linear models can be read in blocks; {REMEDIES}")
    release()


def forget(objective: Any) -> None:
    """Take the data from an objective that is made again when it is needed: nobody else who holds it keeps them."""
    if isinstance(objective, WeightedMean):
        objective.data = None  # pyright: ignore[reportAttributeAccessIssue]


REMEDIES = "solve fewer radii at once, store the data as bfloat16 or uint8, or use device='cpu'"


def release() -> None:
    """Give back what nobody holds."""
    gc.collect()  # graphs and buffers in cycles
    torch: Any = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()


def _short(base: Any) -> str:
    """Say how much was needed."""
    from frankwolfe.rows.placement import BESIDE

    if not isinstance(base, WeightedMean):
        return f"the device has no room for a step of {type(base).__name__},"
    need = sum(int(part.nbytes) for part in base.data.arrays())
    beside = BESIDE * base.data.shape[0] * base.data.dtype.itemsize
    return f"the device has no room for the data, {need:,} bytes, with about {beside:,} more for a step,"
