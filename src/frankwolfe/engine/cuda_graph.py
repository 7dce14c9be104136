"""Work on torch tensors that is launched as one CUDA graph, and tables that reach the host without a halt."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable, Iterator
from typing import Any

SPARE = 24 << 20  # bytes: memory is given out in larger pieces than it is asked for


class Graph:
    """A function from tensors to tensors of fixed shapes, captured once and replayed.

    Where there is no GPU the function is called again instead, with the same effect.
    """

    def __init__(self, work: Callable[[list[Any]], list[Any]], inputs: list[Any]) -> None:

        self.inputs = [tensor.clone() for tensor in inputs]
        if self.inputs[0].is_cuda:
            _find_room(work, self.inputs)
            with captured() as graph:
                self.outputs = work(self.inputs)
            self.replay = graph.replay
        else:
            self.outputs = work(self.inputs)
            self.replay = lambda: _overwrite(self.outputs, work(self.inputs))

    def launch(self, inputs: list[Any]) -> list[Any]:
        """Start the work and return its results, which the next launch overwrites."""
        _overwrite(self.inputs, inputs)
        self.replay()
        return self.outputs


@contextlib.contextmanager
def captured() -> Iterator[Any]:
    """Capture what is launched inside in a graph, which is returned.

    Python's collector is held off: an older graph that it finds would give back memory, which ends a capture.
    """
    import torch

    graph, collecting = torch.cuda.CUDAGraph(), gc.isenabled()
    gc.disable()
    try:
        with torch.cuda.graph(graph, capture_error_mode="thread_local"):  # other threads may do what they like
            yield graph
    finally:
        if collecting:
            gc.enable()


def _find_room(work: Callable[[list[Any]], list[Any]], inputs: list[Any]) -> None:
    """Raise the device's error where the work has no room, before it is captured: a capture would not survive it."""
    import torch

    device = inputs[0].device
    torch.cuda.reset_peak_memory_stats(device)
    before = torch.cuda.memory_allocated(device)
    work(inputs)
    ask_for(torch.cuda.max_memory_allocated(device) - before, device)


def ask_for(size: int, device: Any) -> None:
    """Raise the device's error where it has not so many bytes left for a graph, which has memory of its own."""
    import torch

    torch.cuda.empty_cache()
    torch.empty(size + SPARE, dtype=torch.uint8, device=device)
    torch.cuda.empty_cache()


def _overwrite(old: list[Any], new: list[Any]) -> None:
    for mine, given in zip(old, new, strict=True):
        mine.copy_(given)


class HostCopy:
    """A vector on its way to the host; only who reads it waits, not the work that was launched after it."""

    def __init__(self, vector: Any) -> None:
        import torch

        self.sent = torch.cuda.Event() if vector.is_cuda else None
        self.copy = torch.empty(vector.shape, dtype=vector.dtype, pin_memory=vector.is_cuda)
        self.copy.copy_(vector, non_blocking=True)
        if self.sent is not None:
            self.sent.record()

    def read(self) -> Any:
        """Return the vector as a NumPy array."""
        if self.sent is not None:
            self.sent.synchronize()
        return self.copy.numpy()
