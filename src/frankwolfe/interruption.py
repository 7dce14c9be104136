"""The first Ctrl-C stops after the step: what is under way comes to a good end."""

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

    Where one is inside another, as a solve is inside a search, a Ctrl-C is for both. A handler of the user's own is
    called as well; where the user ignores Ctrl-C, or a handler was installed from C, everything stays as it is.
    """
    asked = threading.Event()
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before in (signal.SIG_IGN, None):
        yield asked
        return
    own = before if callable(before) and before is not signal.default_int_handler else None

    def ask(number: int, frame: Any) -> None:
        for event in _waiting:
            event.set()
        signal.signal(signal.SIGINT, own or signal.default_int_handler)
        if own is not None:
            own(number, frame)

    try:
        signal.signal(signal.SIGINT, ask)
    except ValueError:  # an embedded interpreter without signals
        yield asked
        return
    _waiting.append(asked)
    try:
        yield asked
    finally:
        _waiting.pop()
        signal.signal(signal.SIGINT, before)
