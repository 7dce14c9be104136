"""Figures as plain data: curves in panels, from which the page, the pictures and the CSV files are all made."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, field
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


def method_curve(method: str, x: dict[str, np.ndarray], y: np.ndarray, more: str = "", **look: Any) -> Curve:
    """Return a curve under the name (and `more`) and in the colour of a method."""
    return Curve(METHODS[method].name + more, x, y, METHODS[method].colour, **look)


def error_panel(title: str, series: Collection[Series], *, window: int = 0, hidden: Sequence[str] = ()) -> Panel:
    """Return the errors of several runs in the looks of their methods; those of `hidden` ones are drawn after a click.

    With a `window` each is shaded from the least to the most within so many k.
    """
    from scipy.ndimage import maximum_filter1d, minimum_filter1d

    curves = []
    for s in series:
        method, x = s.run.method, {axis: s.outcome[axis] for axis in AXES}
        low, high = (f(s.h, window, mode="nearest") if window else None for f in (minimum_filter1d, maximum_filter1d))
        look = {"dash": METHODS[method].dash, "width": 2.4 if method == "afw" else 1.9, "shown": method not in hidden}
        curves.append(method_curve(method, x, s.h, low=low, high=high, **look))
    return Panel(title, curves, floor=max(s.floor for s in series))


def spread(n: int, points: int = POINTS, log: bool = True) -> np.ndarray:
    """Return which of n rows to draw: evenly, in the logarithm if so asked, first and last included.

    Rows come in neighbouring pairs: errors that alternate would otherwise look smooth wherever all rows drawn are even.
    """
    if n <= 2 * points:
        return np.arange(n)
    places = np.rint((np.geomspace if log else np.linspace)(1, n - 2, points)).astype(int)
    return np.unique(np.concatenate([[0, n - 1], places, places + 1]))


def save_numbers(figure: Figure, folder: Path) -> Path:
    """Write every row behind a figure as one CSV file, in full precision."""
    names = ("panel", "curve", *figure.axes, "y", "low", "high")
    columns: dict[str, list[Any]] = {name: [] for name in names}
    for panel in figure.panels:
        heat = panel.heat
        rows = [] if heat is None else zip(heat.rows, heat.z, strict=True)
        maps = [Curve(row, {figure.axes[0]: heat.x}, z, "") for row, z in rows if heat is not None]
        for curve in (*panel.curves, *maps):
            n, known = curve.y.size, {**curve.x, "y": curve.y, "low": curve.low, "high": curve.high}
            for name, words in (("panel", panel.title), ("curve", curve.name)):
                columns[name] += [words] * n
            for name in names[2:]:
                values = known.get(name)
                columns[name] += list(np.full(n, np.nan) if values is None else values)
    path = folder / f"{figure.key}.csv"
    write_csv(path, columns)
    return path


def payload(figure: Figure, points: int = POINTS, digits: int = 6) -> dict[str, Any]:
    """Return a figure as plain data: each column once, thinned, to so many digits. `from_payload` reads it back."""
    data = asdict(figure)
    data["axes"] = {axis: AXES.get(axis, axis) for axis in figure.axes}
    for told, panel in zip(data["panels"], figure.panels, strict=True):
        told["curves"] = [_curve(curve, figure.axes, panel.log, points) for curve in panel.curves]
    return _plain(data, digits)


def from_payload(data: dict[str, Any]) -> Figure:
    """Return the figure that `payload` wrote down."""
    panels = []
    for p in data["panels"]:
        heat = p.get("heat")
        curves = [Curve(**_arrays(c)) for c in p["curves"]]
        panels.append(Panel(**{**p, "curves": curves, "heat": heat and Heat(**_arrays(heat))}))
    return Figure(**{**data, "panels": panels, "axes": tuple(data["axes"])})


def _arrays(told: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a curve or of a map, lists of numbers as arrays again."""
    numbers = {n: np.array(told[n], dtype=float) for n in ("y", "z", "low", "high") if told.get(n) is not None}
    x = told["x"]
    return {**told, **numbers, "x": {a: np.array(v) for a, v in x.items()} if isinstance(x, dict) else np.array(x)}


def drawable(y: np.ndarray, log: bool) -> np.ndarray:
    """Return y with NaN, a gap in its line, where a logarithmic axis has no place for it."""
    return np.where(np.nan_to_num(y, nan=-1.0) > 0, y, np.nan) if log else y


def _curve(curve: Curve, axes: tuple[str, ...], log: tuple[bool, bool], points: int) -> dict[str, Any]:
    """Return the rows of a curve that are drawn: not too many, from the first that has a place to the last."""
    rows, y = spread(curve.y.size, points, log[0]), drawable(curve.y, log[1])
    known = np.flatnonzero(np.isfinite(y[rows]))
    rows = rows[known[0] : known[-1] + 1] if known.size else rows[:0]
    band = {"low": curve.low, "high": curve.high} if curve.low is not None and curve.high is not None else {}
    least = 1e-300 if log[1] else -np.inf
    return {
        **asdict(curve),
        "x": {axis: curve.x[axis][rows] for axis in axes if axis in curve.x},
        "y": y[rows],
        **{name: np.maximum(edge[rows], least) for name, edge in band.items()},
    }


def _plain(value: Any, digits: int) -> Any:
    """Return data as JSON has them: arrays as lists of numbers with so many digits, NaN as None."""
    if isinstance(value, dict):
        return {name: _plain(inner, digits) for name, inner in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(inner, digits) for inner in value]
    if isinstance(value, float | np.floating):
        return float(f"{value:.{digits}g}") if np.isfinite(value) else None
    return int(value) if isinstance(value, np.integer) else value
