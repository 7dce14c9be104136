"""The look of all figures: matplotlib settings in a context, never changed globally."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from frankwolfe.validation import optional

INK = "#27303a"  # text and ticks; html.py turns it into the page's own text colour
FAINT = "#c3c9d1"  # grid and frame; likewise
SHEET = Path(__file__).with_name("frankwolfe.mplstyle")


@contextlib.contextmanager
def style() -> Iterator[None]:
    """Use the library's look inside a `with` block; the user's own settings are back afterwards."""
    matplotlib = optional("matplotlib", extra="plot")
    with matplotlib.rc_context(matplotlib.rc_params_from_file(SHEET, use_default_template=False)):
        yield


@contextlib.contextmanager
def figure(width: float = 4.8, height: float = 3.4) -> Iterator[tuple[Any, Any]]:
    """Give a figure of this size, in inches, with its axes in the library's look; it belongs to no window."""
    with style():
        fig = optional("matplotlib.figure", extra="plot").Figure(figsize=(width, height))
        yield fig, fig.subplots()


def pair(ax: Any, names: str) -> Any:
    """Return the two axes given, or those of a new figure side by side."""
    if ax is None:
        return optional("matplotlib.pyplot", extra="plot").subplots(1, 2, figsize=(9.2, 3.4))[1]
    axes = np.ravel(np.asarray(ax, dtype=object))
    if axes.size != 2:
        raise ValueError(f"ax must be a pair of matplotlib Axes ({names}), got {axes.size}")
    return axes


def spread(ax: Any, x: np.ndarray) -> None:
    """Give the axis a logarithmic scale where it spans more than a factor of fifty."""
    seen = x[x > 0]
    if seen.size and seen.max() >= 50 * seen.min():
        ax.set_xscale("log")
