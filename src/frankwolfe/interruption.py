"""Ctrl-C as a wish: what is under way may come to a good end."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from typing import Any

_waiting: list[threading.Event] = []  # of the runs that are under way in the main thread


@contextlib.contextmanager
def interruptible() -> Iterator[threading.Event]:
    """Let the first Ctrl-C finish the step and stop; the second one interrupts at once.

    Where one is inside another, as a solve is inside a search, a Ctrl-C is for both.
    """
    asked = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield asked
        return

    def ask(number: int, frame: Any) -> None:
        for event in _waiting:
            event.set()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    try:
        previous = signal.signal(signal.SIGINT, ask)
    except ValueError:  # an embedded interpreter without signals
        yield asked
        return
    _waiting.append(asked)
    try:
        yield asked
    finally:
        _waiting.pop()
        signal.signal(signal.SIGINT, previous)
