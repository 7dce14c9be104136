"""Where data live: on the device if they fit, else in main memory and streamed through it."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np

from frankwolfe.backends.device_pattern import quiet
from frankwolfe.backends.host_blocks import BLOCK_BYTES, HostBlocks
from frankwolfe.rows.torch_matrix import DenseTorchRows, torch_matrix
from frankwolfe.validation import optional


class StreamedMatrix(DenseTorchRows):
    """A dense matrix in main memory that a device reads in row blocks, copy and work overlapped."""

    picks_rows = False

    def __init__(self, matrix: Any, device: Any, dtype: Any = None, block_bytes: int = BLOCK_BYTES) -> None:
        super().__init__(matrix, device, dtype)
        self.block_bytes = block_bytes

    @cached_property
    def blocks(self) -> HostBlocks:
        """The matrix in blocks on the device; made when first read."""
        return HostBlocks(self.matrix, self.device, self.block_bytes)

    def doubled(self) -> StreamedMatrix:
        import torch

        twin = StreamedMatrix(self.matrix, self.device, torch.float64, self.block_bytes)
        twin.blocks = self.blocks  # the same buffers
        return twin

    def stored_blocks(self) -> Iterable[tuple[slice, Any]]:
        return self.blocks


def place(A: Any, device: Any = "auto", *, stream: bool = True, classes: int = 1) -> Any:
    """Return data on a device, ready for an objective.

    Parameters
    ----------
    A : array, tensor or SciPy sparse matrix of shape (n, d)
        The data.
    device : str or None, default "auto"
        "auto" is the GPU where there is one and the data are large enough to gain from it; "cpu" and None leave the
        data as they are, and so does "auto" elsewhere. "cuda" or "cuda:1" is that GPU, or any other device of torch.
    stream : bool, default True
        Read data that do not fit in row blocks from main memory, rather than raise a MemoryError.
    classes : int, default 1
        How many scores each row will have, for which room is kept.

    Returns
    -------
    DataMatrix or A
        What `Logistic`, `LeastSquares` and the like take in the place of an array.

    Examples
    --------
    >>> A = np.eye(3)
    >>> place(A, "cpu") is A
    True
    """
    target = torch_device(device, _size(A))
    if target is None:
        return A
    torch = optional("torch", extra="torch")
    with quiet():
        if hasattr(A, "tocsr"):
            A = A.tocsr()
            places = A.indptr.astype(np.int64), A.indices.astype(np.int64)
            tensor = torch.sparse_csr_tensor(*places, A.data, A.shape, check_invariants=False)
        else:
            tensor = torch.as_tensor(A)
    try:
        placed = torch_matrix("A", tensor.to(target))
        if target.type == "cuda":  # what a step needs beside the data, tried out before they stay
            torch.empty(BESIDE * classes * tensor.shape[0] + (1 << 22), dtype=placed.dtype, device=target)
        return placed
    except torch.cuda.OutOfMemoryError:
        placed = None
        dense = tensor.layout == torch.strided
        need = sum(part.nbytes for part in ((tensor,) if dense else (tensor.values(), tensor.col_indices())))
        torch.cuda.empty_cache()
        if stream and dense:
            warnings.warn(
                f"the data, {need:,} bytes, and what a step needs beside them do not fit the device; they stay in main "
                "memory and are read in row blocks (stream=False raises instead)",
                stacklevel=2,
            )
            return StreamedMatrix(torch_matrix("A", tensor).matrix, target)
        free = torch.cuda.mem_get_info(target)[0]
        raise MemoryError(
            f"the data need {need:,} bytes and the device has {free:,} free; pass stream=True to read them in row "
            "blocks from main memory, or store them as bfloat16 or uint8"
        ) from None


def torch_device(device: Any, size: int, large: int | None = None) -> Any:
    """Return the torch device that was asked for; None where the work is NumPy's, on the CPU.

    "auto" takes a GPU from so many numbers on (`large`).
    """
    if device is None or device == "cpu":
        return None
    if device == "auto":
        device = gpu() if size >= (LARGE if large is None else large) else None
        if device is None:
            return None
    torch = optional("torch", extra="torch")
    try:
        target = torch.device(device)
    except (RuntimeError, TypeError, ValueError):
        raise ValueError(f"device={device!r} is not known; use 'auto', 'cpu', 'cuda' or 'cuda:1'") from None
    if target.type == "cuda" and not torch.cuda.is_available():
        raise ValueError(f"device={device!r} needs a GPU that torch can use, and there is none; leave device='auto'")
    try:
        torch.empty(0, device=target)
    except (RuntimeError, AssertionError):
        raise ValueError(f"device={device!r} is not there, or not for this torch; leave device='auto'") from None
    return target


def gpu() -> str | None:
    """Return the name of the GPU that "auto" takes; None where torch or a GPU is absent."""
    import importlib.util

    if importlib.util.find_spec("torch") is None:
        return None
    import torch

    return "cuda" if torch.cuda.is_available() else None


def _size(A: Any) -> int:
    """Return how many numbers the data hold; none where nothing is known of them."""
    if not hasattr(A, "shape") or len(A.shape) != 2:
        return 0
    return int(A.nnz if hasattr(A, "nnz") else A.shape[0] * A.shape[1])


BESIDE = 16  # vectors with a number for each row (and class): images, targets, weights, residuals, and copies of them
LARGE = 1 << 24  # numbers from which a GPU is ahead of two cores, its start-up counted
