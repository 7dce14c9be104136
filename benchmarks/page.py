"""The results page: bars, tables and curves on one self-contained HTML file."""

from __future__ import annotations

import platform
from html import escape
from importlib import metadata
from itertools import cycle
from pathlib import Path
from typing import Any

from benchmarks.report import cell, holds
from frankwolfe.plotting import html
from frankwolfe.plotting.style import figure

COLOURS = ["#0b6e99", "#c8553d", "#588157", "#8f5aa8", "#b8860b", "#4a4e69", "#d17b88", "#2a9d8f"]
MARKERS = ["o", "s", "^", "D", "v", "P", "X", "*"]


def write_page(path: Path, records: dict[str, dict]) -> None:
    """Write the page from the records there are."""
    bars = [bar for record in records.values() for bar in record["bars"]]
    kept = sum(map(holds, bars))
    summary = html.section(
        "bars",
        "The bars",
        html.facts([(f"{kept} of {len(bars)}", "bars held"), (str(len(records)), "benchmarks")]),
        html.table(["what", "measured", "bar", ""], [_bar(bar) for bar in bars]),
    )
    body = [summary, *(_section(name, record) for name, record in records.items())]
    versions = " · ".join(
        f"{name} {_version(name)}" for name in ("frankwolfe", "numpy", "scipy", "numba", "scikit-learn")
    )
    text = html.page(
        "frankwolfe, measured",
        "\n".join(body),
        lead="<p>Ratios of runs side by side in one session, medians of interleaved repeats. Accuracy is the certified "
        "gap, checked against an independent optimum. <code>make bench</code> draws this page again.</p>",
        contents=[("bars", "The bars"), *((name, record["title"].split(":")[0]) for name, record in records.items())],
        footer=escape(f"Python {platform.python_version()} · {versions}"),
    )
    path.write_text(text, encoding="utf-8")


def _bar(bar: dict) -> list[str]:
    unit = f" {bar['unit']}" if bar.get("unit") else ""
    sense = "at most" if bar["sense"] == "<=" else "at least"
    measured = f"{cell(float(bar['value']))}{unit}"
    return [bar["name"], measured, f"{sense} {bar['bar']:g}{unit}", "holds" if holds(bar) else "falls short"]


def _section(name: str, record: dict) -> str:
    parts = [html.table(record["columns"], [[cell(value) for value in row] for row in record["rows"]])]
    if record.get("curves"):
        parts.append(html.grid(*map(_curve, record["curves"])))
    notes = [
        *record.get("notes", []),
        f"took {record['seconds']:.0f} s" + (", the short form" if record["quick"] else ""),
    ]
    parts.append("<ul>" + "".join(f"<li>{escape(note)}</li>" for note in notes) + "</ul>")
    return html.section(name, record["title"], *parts)


def _curve(curve: dict[str, Any]) -> str:
    """Return one picture: {"title", "x", "y", "series": {name: [[x, y], ...]}}, both axes logarithmic."""
    with figure() as (fig, ax):
        for (name, points), colour, marker in zip(
            curve["series"].items(), cycle(COLOURS), cycle(MARKERS), strict=False
        ):
            drawn = [(x, y) for x, y in points if x > 0 and y > 0]
            if drawn:
                ax.plot(*zip(*drawn, strict=True), color=colour, marker=marker, markersize=3.5, label=name, lw=1.6)
        ax.set(xscale="log", yscale="log", xlabel=curve["x"], ylabel=curve["y"])
        ax.legend(fontsize=7)
    return html.figure(html.svg(fig, f"{curve['title']}: {curve['y']} against {curve['x']}"), curve["title"])


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "absent"
