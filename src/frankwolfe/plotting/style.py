"""The look of all figures: matplotlib settings in a context, never changed globally."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from frankwolfe.validation import optional

INK = "#27303a"  # text and ticks; html.py turns it into the page's own text colour
FAINT = "#c3c9d1"  # grid and frame; likewise
PAPER = "#ffffff"

SETTINGS: dict[str, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": FAINT,
    "axes.facecolor": "none",
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.labelsize": 10,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": INK,
    "axes.titlelocation": "left",
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "figure.constrained_layout.use": True,
    "figure.facecolor": PAPER,
    "font.family": "sans-serif",
    "font.size": 10,
    "grid.alpha": 0.6,
    "grid.color": FAINT,
    "grid.linewidth": 0.6,
    "legend.fontsize": 9,
    "legend.frameon": False,
    "legend.handlelength": 2.6,
    "legend.labelcolor": INK,
    "lines.solid_capstyle": "round",
    "text.color": INK,
    "xtick.color": INK,
    "xtick.labelsize": 9,
    "xtick.minor.size": 0,
    "ytick.color": INK,
    "ytick.labelsize": 9,
    "ytick.minor.size": 0,
}


@contextlib.contextmanager
def style() -> Iterator[None]:
    """Use the library's look inside a `with` block; the user's own settings are back afterwards.

    Examples
    --------
    >>> import matplotlib
    >>> before = matplotlib.rcParams["axes.grid"]
    >>> with style():
    ...     matplotlib.rcParams["axes.grid"]
    True
    >>> matplotlib.rcParams["axes.grid"] == before
    True
    """
    with optional("matplotlib", extra="plot").rc_context(SETTINGS):
        yield


@contextlib.contextmanager
def figure(width: float = 4.8, height: float = 3.4, columns: int = 1) -> Iterator[tuple[Any, Any]]:
    """Give a figure with its axes in the library's look; it belongs to no window and no global list.

    Parameters
    ----------
    width, height : float
        Inches.
    columns : int, default 1
        Axes side by side; more than one come as an array.

    Examples
    --------
    >>> with figure() as (fig, ax):
    ...     line = ax.plot([1, 2], [3, 4])
    >>> len(fig.axes)
    1
    """
    with style():
        fig = optional("matplotlib.figure", extra="plot").Figure(figsize=(width, height))
        yield fig, fig.subplots(1, columns)
