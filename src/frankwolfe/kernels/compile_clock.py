"""How long kernels have been compiling, and who wants to be told when they do; knows nothing of the compiler."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from time import monotonic


class CompileClock:
    """A stopwatch that runs while kernels are compiled; one kernel may have others compiled on the way."""

    def __init__(self) -> None:
        self._total, self._depth, self._began = 0.0, 0, 0.0
        self._listeners: list[Callable[[bool], None]] = []

    @property
    def seconds(self) -> float:
        """Seconds in this process so far."""
        return self._total + (monotonic() - self._began if self._depth else 0.0)

    def start(self) -> None:
        self._depth += 1
        if self._depth == 1:
            self._began = monotonic()
            for listener in self._listeners:
                listener(True)

    def stop(self) -> None:
        self._depth = max(self._depth - 1, 0)
        if self._depth == 0:
            self._total += monotonic() - self._began
            for listener in self._listeners:
                listener(False)

    @contextlib.contextmanager
    def told(self, listener: Callable[[bool], None]) -> Iterator[None]:
        """Tell a listener of each beginning (True) and end (False) for a while."""
        self._listeners.append(listener)
        try:
            yield
        finally:
            self._listeners.remove(listener)


CLOCK = CompileClock()
