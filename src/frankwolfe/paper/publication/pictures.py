"""Figures as PNG and SVG files, drawn by matplotlib."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np

from frankwolfe.paper.publication.figure_data import AXES, Curve, Figure, Heat, Panel, drawable
from frankwolfe.plotting.style import FAINT, style
from frankwolfe.validation import optional

_DASHES: dict[str, Any] = {
    "solid": "-",
    "dash": (0, (5, 1.6)),
    "dashdot": (0, (5, 1.4, 1.2, 1.4)),
    "dot": (0, (1.3, 1.3)),
}

TITLE, LEFT = 12.5, 0.8  # letters in an inch of a panel's title; inches before it
SIZE = (4.3, 3.5)  # of a panel, in inches


def save_pictures(figure: Figure, folder: Path) -> None:
    """Draw a figure against its first axis, as PNG and SVG."""
    drawn = draw(figure.panels, figure.axes[0], figure.columns)
    for kind in ("png", "svg"):
        _save(drawn, folder / f"{figure.key}.{kind}")


def save_panels(figure: Figure, folder: Path) -> list[Path]:
    """Draw the panels of a figure one by one, as SVG, so that a page can put them where it has room.

    Where three stand side by side they are drawn smaller, so that the page shows their words no smaller.
    """
    paths = [folder / f"{figure.key}-{i}.svg" for i in range(len(figure.panels))]
    size = SIZE if figure.columns < 3 else (3.2, 2.7)
    for panel, path in zip(figure.panels, paths, strict=True):
        _save(draw([panel], figure.axes[0], size=size), path)
    return paths


def draw(panels: Sequence[Panel], axis: str, columns: int = 1, size: tuple[float, float] = SIZE) -> Any:
    """Return a matplotlib figure of panels of this size, in inches, against one of their axes."""
    rows = math.ceil(len(panels) / columns)
    with style():
        shape = size[0] * columns, size[1] * rows
        drawn = optional("matplotlib.figure", extra="plot").Figure(figsize=shape)
        axes = drawn.subplots(rows, columns, squeeze=False).ravel()
        for ax, panel in zip(axes, panels, strict=False):
            _draw(ax, panel, axis)
        for ax in axes[len(panels) :]:
            ax.set_visible(False)
    return drawn


def _save(drawn: Any, path: Path) -> None:
    with style(), optional("matplotlib", extra="plot").rc_context({"svg.hashsalt": "frankwolfe"}):
        drawn.savefig(path, **({"metadata": {"Date": None}} if path.suffix == ".svg" else {"dpi": 150}))


def _title(ax: Any, panel: Panel) -> None:
    width = ax.figure.get_figwidth() / ax.get_subplotspec().get_gridspec().ncols
    title = panel.title.replace(" = ", "\u00a0=\u00a0")  # "R = 5" stays on one line
    ax.set_title(fill(title, round(TITLE * (width - LEFT))), fontsize=9.5)


def _map(ax: Any, panel: Panel, heat: Heat) -> None:
    """Draw a map: colours for log10 of the ratio, white at one, between a hundredth and a hundred."""
    edges = np.sqrt(heat.x[1:] * heat.x[:-1])
    edges = np.concatenate([[heat.x[0] ** 1.5 / edges[0] ** 0.5], edges, [heat.x[-1] ** 1.5 / edges[-1] ** 0.5]])
    rows = np.arange(len(heat.rows) + 1) - 0.5
    with np.errstate(divide="ignore"):
        z = np.log10(heat.z)
    drawn = ax.pcolormesh(edges, rows, np.ma.masked_invalid(z), cmap="RdBu", vmin=-2, vmax=2)
    ax.set_xscale("log")
    ax.set_yticks(range(len(heat.rows)), heat.rows)
    ax.set(ylabel=panel.ylabel, xlabel=panel.xlabel)
    _title(ax, panel)
    ax.grid(visible=False)
    bar = ax.figure.colorbar(drawn, ax=ax, extend="both", ticks=range(-2, 3))
    bar.ax.set_yticklabels(["1/100", "1/10", "1", "10", "100"])


def _draw(ax: Any, panel: Panel, axis: str) -> None:
    if panel.heat is not None:
        _map(ax, panel, panel.heat)
        return
    for curve in panel.curves:
        if curve.shown:
            _line(ax, curve, axis, panel.log)
    if panel.log[0]:
        ax.set_xscale("log")
    if panel.log[1] and ax.lines:
        ax.set_yscale("log")
        bottom = ax.get_ylim()[0]
        if panel.floor > bottom:
            ax.axhspan(bottom, panel.floor, color=FAINT, alpha=0.5, linewidth=0)
            ax.set_ylim(bottom=bottom)
    ax.set(ylabel=panel.ylabel, xlabel=panel.xlabel or AXES.get(axis, axis))
    _title(ax, panel)
    if ax.lines:
        ax.legend(fontsize=7.5, frameon=True, facecolor="white", edgecolor="none", framealpha=0.4)


def _line(ax: Any, curve: Curve, axis: str, log: tuple[bool, bool]) -> None:
    x, y = np.asarray(curve.x[axis], dtype=float), drawable(curve.y, log[1])
    seen = (x > 0) | (not log[0])
    style = "none" if curve.mode == "markers" else _DASHES[curve.dash]
    marker = "o" if "markers" in curve.mode else None
    ax.plot(
        x[seen], y[seen], color=curve.colour, linestyle=style, marker=marker, markersize=4, linewidth=0.8 * curve.width,
        label=curve.name,
    )  # fmt: skip
    if curve.low is not None and curve.high is not None:
        low = np.maximum(curve.low[seen], 1e-300) if log[1] else curve.low[seen]
        ax.fill_between(x[seen], low, curve.high[seen], color=curve.colour, alpha=0.18, linewidth=0)
