"""A run on the terminal: a line of progress, for work over two seconds, and the first Ctrl-C: stop after the step."""

from __future__ import annotations

import contextlib
import math
import shutil
import signal
import sys
import threading
from collections.abc import Iterator
from time import monotonic
from typing import Any, TextIO

from frankwolfe.backends.compile_policy import CLOCK

PATIENCE = 2.0  # seconds of silence before anything is shown
EVERY = 0.2  # seconds between two updates
_waiting: list[threading.Event] = []  # of the runs that are under way in the main thread


@contextlib.contextmanager
def compiling_shown(wanted: bool | None, stream: TextIO | None = None) -> Iterator[None]:
    """Say on the terminal that kernels are being compiled, which may take longer than all the rest."""
    stream = sys.stderr if stream is None else stream
    if wanted is False or stream is None or not (wanted or stream.isatty()):
        yield
        return

    def tell(busy: bool) -> None:
        line = "  compiling kernels (once after installation) ..."
        if stream.isatty():
            stream.write("\r" + line if busy else "\r" + " " * len(line) + "\r")
        elif busy:
            stream.write(line + "\n")
        stream.flush()

    with CLOCK.told(tell):
        yield


class Progress:
    """A line that is rewritten in place: iteration, certified gap, rate. Silent unless asked or on a terminal.

    Wanted (True) it is shown at once, unwanted never, and else (None) on a terminal after two seconds.
    """

    def __init__(self, wanted: bool | None, limit: int, stream: TextIO | None = None) -> None:
        self.stream = sys.stderr if stream is None else stream
        self.shown = wanted is True or (wanted is None and self.stream is not None and self.stream.isatty())
        self.limit = limit
        self.started = monotonic()
        self.next = self.started if wanted else self.started + PATIENCE
        self.first: tuple[int, float] | None = None
        self.width = 0

    def update(self, k: int, goal: float, fun: float, gap: float, note: str = "") -> None:
        """Show the state of iteration k, with a note where there is one, if it is time to."""
        if not self.shown:
            return
        now = monotonic()
        if now < self.next:
            return
        if self.first is None or k < self.first[0]:  # iterations count from zero again: another run of a path
            self.first = (k, now)
        self.next = now + (EVERY if self.stream.isatty() else PATIENCE)
        # Of a single step there is no rate yet.
        rate = f"{(k - self.first[0]) / (now - self.first[1]):8.1f} it/s" if now > self.first[1] else " " * 13
        bar = self._bar(k, goal, gap)
        self._write(f"  {bar} k={k:<7d} f={fun:<12.6g} gap={gap:<9.2e} {rate}  {note}".rstrip())

    def _bar(self, k: int, goal: float, gap: float) -> str:
        done = k / self.limit if self.limit else 1.0
        if goal > 0 and 0 < gap < math.inf:
            # Gaps fall by powers of ten: half the way from 1e-0 to 1e-6 is 1e-3.
            done = max(done, min(math.log10(max(1.0, 1 / gap)) / max(1e-9, math.log10(max(10.0, 1 / goal))), 1.0))
        filled = round(20 * min(done, 1.0))
        return "[" + "#" * filled + "." * (20 - filled) + "]"

    def _write(self, line: str) -> None:
        if self.stream.isatty():
            line = line[: shutil.get_terminal_size().columns - 1]  # a line that wraps cannot be rewritten in place
            self.stream.write("\r" + line.ljust(self.width))
            self.width = len(line)
        else:
            self.stream.write(line + "\n")
        self.stream.flush()

    def close(self) -> None:
        """Clear the line."""
        if self.width:
            self.stream.write("\r" + " " * self.width + "\r")
            self.stream.flush()
            self.width = 0


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
