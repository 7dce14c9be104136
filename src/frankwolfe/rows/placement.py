"""Where data live: on the device while they and a step fit there, else in main memory and streamed through it."""

from __future__ import annotations

import gc
import sys
import warnings
import weakref
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any

import numpy as np

from frankwolfe.backends.device_pattern import quiet
from frankwolfe.objectives.weighted_mean import WeightedMean
from frankwolfe.rows.torch_matrix import DenseTorchRows, TorchMatrix, torch_matrix
from frankwolfe.validation import optional

BLOCK_BYTES = 1 << 28  # large beside the latency of a copy, small beside the memory of any GPU
SHRINK = 8  # by which blocks become smaller where even they did not fit
SMALLEST_BLOCK = 1 << 18  # bytes: below, the copies would take longer to begin than to end
SIGNS = ("out of memory", "resource_exhausted", "cublas_status_alloc_failed")


class HostBlocks:
    """A tensor in main memory, read by a device in row blocks through two buffers there.

    Pages are locked so that the copy engine takes them at full speed; where the system refuses, blocks pass through two
    small locked buffers instead.
    """

    def __init__(self, host: Any, device: Any, block_bytes: int = BLOCK_BYTES) -> None:
        import torch

        self.host, self.device = host, torch.device(device)
        n, d = host.shape
        rows = min(n, max(1, block_bytes // (host.element_size() * d)))
        self.slices = [slice(i, min(i + rows, n)) for i in range(0, n, rows)]
        self.stage: list[Any] = []
        if self.device.type == "cuda":
            self.buffers = [torch.empty((rows, d), dtype=host.dtype, device=device) for _ in range(2)]
            self.copies = torch.cuda.Stream(device)
            if not host.is_pinned() and not _lock(host):
                self.stage = [torch.empty((rows, d), dtype=host.dtype, pin_memory=True) for _ in range(2)]

    def __iter__(self) -> Iterator[tuple[slice, Any]]:
        """Yield the rows of each block and the block on the device; it is overwritten two blocks later."""
        if self.device.type != "cuda":
            for rows in self.slices:
                yield rows, self.host[rows].to(self.device)
            return
        import torch

        work = torch.cuda.current_stream(self.device)
        ready, free = ([torch.cuda.Event() for _ in range(2)] for _ in range(2))
        for event in free:
            event.record(work)
        self._copy(0, ready, free)
        for i, rows in enumerate(self.slices):
            if i + 1 < len(self.slices):
                self._copy(i + 1, ready, free)
            work.wait_event(ready[i % 2])
            yield rows, self.buffers[i % 2][: rows.stop - rows.start]
            free[i % 2].record(work)

    def _copy(self, i: int, ready: list[Any], free: list[Any]) -> None:
        import torch

        rows, side = self.slices[i], i % 2
        source = self.host[rows]
        if self.stage:
            ready[side].synchronize()  # the copy that last used this locked buffer is over
            source = self.stage[side][: rows.stop - rows.start].copy_(source)
        with torch.cuda.stream(self.copies):
            self.copies.wait_event(free[side])
            self.buffers[side][: rows.stop - rows.start].copy_(source, non_blocking=True)
            ready[side].record(self.copies)


def _lock(host: Any) -> bool:
    """Lock the pages of a tensor for the copy engine until it is gone; tell whether that worked."""
    import torch

    runtime, address = torch.cuda.cudart(), host.data_ptr()
    locked = host.is_contiguous() and int(runtime.cudaHostRegister(address, host.nbytes, 0)) == 0
    if locked:
        weakref.finalize(host, runtime.cudaHostUnregister, address)
    return locked


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
    if not isinstance(base, WeightedMean):
        return f"the device has no room for a step of {type(base).__name__},"
    need = sum(int(part.nbytes) for part in base.data.arrays())
    beside = BESIDE * base.data.shape[0] * base.data.dtype.itemsize
    return f"the device has no room for the data, {need:,} bytes, with about {beside:,} more for a step,"
