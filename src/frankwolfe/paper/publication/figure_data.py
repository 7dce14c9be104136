"""Figures as plain data: curves in panels, from which the page, the pictures and the CSV files are all made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from frankwolfe.paper.problems import METHODS
from frankwolfe.paper.runs import Series
from frankwolfe.paper.store import write_csv
from frankwolfe.plotting import AXES

POINTS = 180  # places per curve on the page, two rows each; the CSV files have every row


@dataclass(frozen=True)
class Curve:
    """One line: a name, columns to draw it against, and how it looks."""

    name: str
    x: dict[str, np.ndarray]
    y: np.ndarray
    colour: str
    dash: str = "solid"
    width: float = 2.0
    low: np.ndarray | None = None  # a band around the line
    high: np.ndarray | None = None
    shown: bool = True  # or only after a click on its legend entry
    mode: str = "lines"


@dataclass(frozen=True)
class Heat:
    """A map of numbers: a row of `z` for each of `rows` (words), a column for each of `x`; `words` says what z is.

    Colours are for log10 of z, white at one; NaN stays empty.
    """

    x: np.ndarray
    rows: list[str]
    z: np.ndarray
    words: str


@dataclass(frozen=True)
class Panel:
    """Axes with their curves, or with a map; `floor` is the accuracy of f*, below which nothing is known."""

    title: str
    curves: list[Curve] = field(default_factory=list)
    ylabel: str = "f(x) − f*"
    note: str = ""
    floor: float = 0.0
    log: tuple[bool, bool] = (True, True)
    xlabel: str = ""
    heat: Heat | None = None


@dataclass(frozen=True)
class Figure:
    """Panels in rows of `columns`, with one caption; `axes` can be switched on the page."""

    key: str
    title: str
    caption: str
    panels: list[Panel]
    columns: int = 1
    axes: tuple[str, ...] = ("k", "time", "n_pass")


@dataclass(frozen=True)
class Table:
    """A table of the page, also saved as CSV; `words` is for tables of sentences, which wrap."""

    key: str
    title: str
    head: list[str]
    rows: list[list[Any]]
    note: str = ""
    words: bool = False


@dataclass(frozen=True)
class Section:
    """A part of the page: words (HTML), figures and tables."""

    key: str
    title: str
    intro: str
    figures: list[Figure] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)


def error_curve(series: Series, *, window: int = 0, shown: bool = True) -> Curve:
    """Return the error of a run as a curve in its method's look, shaded from the least to the most in a window of k."""
    look = METHODS[series.run.method]
    low, high = _window(series.h, window) if window else (None, None)
    x = {axis: series.outcome[axis] for axis in AXES}
    width = 2.4 if series.run.method == "afw" else 1.9
    return Curve(look.name, x, series.h, look.colour, look.dash, width, low, high, shown)


def error_panel(title: str, series: Sequence[Series], *, window: int = 0, hidden: Sequence[str] = ()) -> Panel:
    """Return the errors of several runs in one panel; those of `hidden` methods are drawn after a click."""
    curves = [error_curve(s, window=window, shown=s.run.method not in hidden) for s in series]
    return Panel(title, curves, floor=max(s.floor for s in series))


def _window(y: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Return smallest and largest value within half a window on either side."""
    from scipy.ndimage import maximum_filter1d, minimum_filter1d

    return minimum_filter1d(y, width, mode="nearest"), maximum_filter1d(y, width, mode="nearest")


def spread(n: int, points: int = POINTS) -> np.ndarray:
    """Return which of n rows to draw: evenly in the logarithm, first and last included.

    Rows come in neighbouring pairs: errors that alternate would otherwise look smooth wherever all rows drawn are even.

    Examples
    --------
    >>> spread(5)
    array([0, 1, 2, 3, 4])
    """
    if n <= 2 * points:
        return np.arange(n)
    places = np.rint(np.geomspace(1, n - 2, points)).astype(int)
    return np.unique(np.concatenate([[0, n - 1], places, places + 1]))


def save_numbers(figure: Figure, folder: Path) -> Path:
    """Write every row behind a figure as one CSV file, in full precision."""
    columns: dict[str, list[Any]] = {"panel": [], "curve": [], **{axis: [] for axis in figure.axes}}
    columns |= {"y": [], "low": [], "high": []}
    for panel in figure.panels:
        for curve in (*panel.curves, *_rows(panel.heat, figure.axes[0])):
            n = curve.y.size
            columns["panel"] += [panel.title] * n
            columns["curve"] += [curve.name] * n
            for axis in figure.axes:
                columns[axis] += list(curve.x.get(axis, np.full(n, np.nan)))
            columns["y"] += list(curve.y)
            columns["low"] += list(np.full(n, np.nan) if curve.low is None else curve.low)
            columns["high"] += list(np.full(n, np.nan) if curve.high is None else curve.high)
    path = folder / f"{figure.key}.csv"
    write_csv(path, columns)
    return path


def _rows(heat: Heat | None, axis: str) -> list[Curve]:
    """Return the rows of a map as curves, for the file of numbers."""
    return [] if heat is None else [Curve(r, {axis: heat.x}, z, "") for r, z in zip(heat.rows, heat.z, strict=True)]


def payload(figure: Figure, points: int = POINTS, digits: int = 6) -> dict[str, Any]:
    """Return a figure as plain data: each column once, thinned, to so many digits. `from_payload` reads it back."""
    return {
        "key": figure.key,
        "title": figure.title,
        "caption": figure.caption,
        "columns": figure.columns,
        "axes": {axis: AXES.get(axis, axis) for axis in figure.axes},
        "panels": [
            {
                "title": panel.title,
                "ylabel": panel.ylabel,
                "xlabel": panel.xlabel,
                "log": list(panel.log),
                "floor": float(f"{panel.floor:.{digits}g}"),
                "curves": [_curve(curve, figure.axes, panel.log[1], points, digits) for curve in panel.curves],
                **({} if panel.heat is None else {"heat": _heat(panel.heat, digits)}),
            }
            for panel in figure.panels
        ],
    }


def from_payload(data: dict[str, Any]) -> Figure:
    """Return the figure that `payload` wrote down.

    Examples
    --------
    >>> drawn = Figure("a", "A", "", [Panel("p", [Curve("c", {"k": np.arange(1, 4)}, np.ones(3), "red")])], axes=("k",))
    >>> from_payload(payload(drawn)).panels[0].curves[0].y
    array([1., 1., 1.])
    """
    panels = [
        Panel(
            p["title"],
            [Curve(**{**c, "x": {a: np.array(x) for a, x in c["x"].items()}, **_arrays(c)}) for c in p["curves"]],
            ylabel=p["ylabel"],
            floor=p["floor"],
            log=tuple(p["log"]),
            xlabel=p["xlabel"],
            heat=_heat_of(p["heat"]) if "heat" in p else None,
        )
        for p in data["panels"]
    ]
    return Figure(data["key"], data["title"], data["caption"], panels, data["columns"], tuple(data["axes"]))


def _arrays(curve: dict[str, Any]) -> dict[str, np.ndarray]:
    return {name: np.array(curve[name], dtype=float) for name in ("y", "low", "high") if name in curve}


def _heat(heat: Heat, digits: int) -> dict[str, Any]:
    z = [[None if not np.isfinite(v) else float(f"{v:.{digits}g}") for v in row] for row in heat.z]
    return {"x": _short(heat.x, digits), "rows": heat.rows, "z": z, "words": heat.words}


def _heat_of(data: dict[str, Any]) -> Heat:
    return Heat(np.array(data["x"]), data["rows"], np.array(data["z"], dtype=float), data["words"])


def _curve(curve: Curve, axes: tuple[str, ...], positive: bool, points: int, digits: int) -> dict[str, Any]:
    rows = spread(curve.y.size, points)
    usable = np.nan_to_num(curve.y, nan=-1.0) > 0 if positive else np.isfinite(curve.y)
    rows = rows[usable[rows]]
    out: dict[str, Any] = {
        "name": curve.name,
        "colour": curve.colour,
        "dash": curve.dash,
        "width": curve.width,
        "shown": curve.shown,
        "mode": curve.mode,
        "x": {axis: _short(curve.x[axis][rows], digits) for axis in axes if axis in curve.x},
        "y": _short(curve.y[rows], digits),
    }
    if curve.low is not None and curve.high is not None:
        least = 1e-300 if positive else -np.inf
        out |= {"low": _short(np.maximum(curve.low[rows], least), digits), "high": _short(curve.high[rows], digits)}
    return out


def _short(values: np.ndarray, digits: int) -> list[float]:
    return [float(f"{v:.{digits}g}") for v in values]
