"""Row blocks of a host array on the device, the next one being copied while the last one is worked on."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any

BLOCK_BYTES = 1 << 28  # large beside the latency of a copy, small beside the memory of any GPU


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
