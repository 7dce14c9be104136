"""How kernels are compiled: every option that they share, and where the compiled code is kept.

Import inside functions only: loading Numba takes a third of a second.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba import njit
from numba.core import event

from frankwolfe.backends.compile_policy import CLOCK, digest

FUSED = {"contract"}  # a product and a sum may become one instruction
SUMS = {"reassoc", "contract", "nsz", "arcp"}  # sums in an order that vectorises; infinities and NaN stay what they are
INLINE = {"nogil": True, "error_model": "numpy", "forceinline": True}  # of all kernels: callees are taken in whole
STATE = digest((Path(__file__).parent, Path(__file__).parent.parent / "losses"))  # of all that is compiled


class _Watch(event.Listener):
    """Runs the clock while Numba compiles; code that is loaded from a file takes no time worth telling."""

    def on_start(self, event: Any) -> None:
        CLOCK.start()

    def on_end(self, event: Any) -> None:
        CLOCK.stop()


event.register("numba:compile", _Watch())


def kernel(**options: Any) -> Callable[[Callable], Any]:
    """Return a decorator that compiles a function with these options of Numba and keeps the code for later processes.

    A kernel takes its callees in whole. Otherwise each caller would have a copy of a callee, optimised once more and
    so with sums in another order, and which of the copies runs would depend on which kernel was loaded first: a run
    that compiles would differ, in the last bits, from one that loads what it left.

    Numba keeps code until the file of a function changes; here a change in any file of kernels or losses counts, those
    of callees and constants among them. Where there is no place to write to, code is compiled in every process.
    """
    options = {**INLINE, **options}

    def compiled(function: Callable) -> Any:
        name = function.__qualname__
        function.__qualname__ = f"{name}-{STATE}"  # from which Numba makes the name of the file, here and now
        try:
            return njit(cache=True, **options)(function)
        except RuntimeError:  # no folder of those that Numba tries can be written to
            return njit(**options)(function)
        finally:
            function.__qualname__ = name

    return compiled
