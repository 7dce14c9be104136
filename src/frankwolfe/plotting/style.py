"""The look of all figures: matplotlib settings in a context, never changed globally."""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from frankwolfe.validation import optional

INK = "#27303a"  # text and ticks; html.py turns it into the page's own text colour
FAINT = "#c3c9d1"  # grid and frame; likewise
SHEET = Path(__file__).with_name("frankwolfe.mplstyle")

# Okabe and Ito's colours without black and yellow; all readable on white and on near-black.
BLUE, VERMILION, GREEN, PURPLE = "#0077bb", "#d55e00", "#009e73", "#c06aa0"
ORANGE, SKY, GREY, OLIVE = "#e69f00", "#3fa7dc", "#7f8790", "#8f8a2b"
COLORS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, GREY, OLIVE)

SOLID: Any = "-"
DASHES: tuple[Any, ...] = (
    SOLID,
    (0, (5, 1.6)),
    (0, (5, 1.4, 1.2, 1.4)),
    (0, (1.3, 1.3)),
    (0, (8, 1.5, 1.2, 1.5, 1.2, 1.5)),
)

TITLES = {
    "fw": "Frank-Wolfe",
    "afw": "Accelerated FW",
    "agm": "AGM",
    "agm_sc": "AGM, strongly convex",
    "pgd": "Projected GD",
    "apgd": "Projected AGM",
    "extrafw": "ExtraFW",
    "hfw": "Heavy-ball FW",
    "away": "Away-step FW",
    "pairwise": "Pairwise FW",
    "bpcg": "Blended pairwise",
    "bcg": "Blended CG",
    "lazy": "Lazy FW",
    "boosted": "Boosted FW",
    "dicg": "Decomposition-inv. CG",
    "cgs": "Gradient sliding",
    "inface": "In-face FW",
    "fcfw": "Fully corrective FW",
    "bcfw": "Block-coordinate FW",
    "newton": "Newton FW",
    "subspace": "Subspace FW",
    "factored": "Factored",
    "stochastic": "Stochastic FW",
    "richardson": "Richardson FW",
}

# The paper's methods get the four clearest pairs; the rest follow in the order of TITLES, every pair used once.
_FIXED = {"afw": (0, 0), "fw": (1, 1), "pgd": (2, 2), "apgd": (3, 3), "agm": (4, 4), "agm_sc": (5, 1)}


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


def _assign() -> dict[str, tuple[int, int]]:
    styles = dict(_FIXED)
    free = [(c, (c + turn) % len(DASHES)) for turn in range(len(DASHES)) for c in range(len(COLORS))]
    free = [pair for pair in free if pair not in styles.values()]
    for name in TITLES:
        if name not in styles:
            styles[name] = free.pop(0)
    return styles


_LOOKS = _assign()


def line_style(method: str, variant: int = 0) -> dict[str, Any]:
    """Return colour, dash pattern and width of a method's curves, for matplotlib.

    Names that the library does not know get a look of their own, always the same. Curves of one method in one figure
    (`variant` numbers them) have the same colour and other dashes.
    """
    color, dash = _LOOKS.get(method) or divmod(zlib.crc32(method.encode()) % 40, len(DASHES))
    return {
        "color": COLORS[color % len(COLORS)],
        "linestyle": DASHES[(dash + variant) % len(DASHES)],
        "linewidth": 2.2 if method == "afw" and not variant else 1.8,
    }
