"""A benchmark's record in words: the table, the bars, the notes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any


def cell(value: Any) -> str:
    """Return a table cell: numbers to three digits."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    return "" if value is None else str(value)


def held_to(name: str, value: float, bar: float, sense: str = ">=", unit: str = "x") -> dict:
    """Return a bar of a record: what was measured, and the limit that it is held to."""
    return {"name": name, "value": float(value), "bar": float(bar), "sense": sense, "unit": unit}


def holds(bar: dict) -> bool:
    """Tell whether a bar is held."""
    return bar["value"] <= bar["bar"] if bar["sense"] == "<=" else bar["value"] >= bar["bar"]


def verdict(bar: dict) -> str:
    """Return one line: what was measured, the bar, pass or fall short.

    Examples
    --------
    >>> verdict({"name": "import", "value": 0.2, "bar": 0.3, "sense": "<=", "unit": "s"})
    'pass        import: 0.2 s (bar: <= 0.3 s)'
    """
    unit = f" {bar['unit']}" if bar.get("unit") else ""
    word = "pass" if holds(bar) else "fall short"
    return f"{word:<11} {bar['name']}: {cell(float(bar['value']))}{unit} (bar: {bar['sense']} {bar['bar']:g}{unit})"


def aligned(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return a plain table with columns lined up."""
    cells = [list(map(str, columns)), *([cell(value) for value in row] for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(columns))]
    lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in cells]
    return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]])


def printed(record: dict) -> str:
    """Return the whole record as text."""
    parts = [record["title"], aligned(record["columns"], record["rows"])]
    parts += [verdict(bar) for bar in record["bars"]]
    parts += [f"note: {note}" for note in record.get("notes", [])]
    return "\n".join(parts)


def command_line(measure: Callable[..., dict], **more: tuple[Any, str]) -> None:
    """Run one benchmark from its own file: `python -m benchmarks.NAME [--quick] [--out FILE]`.

    Further options of `measure` come with their default and what they mean.
    """
    about = sys.modules[measure.__module__].__doc__
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="smaller data and fewer repeats")
    parser.add_argument("--out", type=Path, help="write what was measured to this file too")
    for name, (default, meaning) in more.items():
        kind: dict[str, Any] = {"action": "store_true"} if default is False else {"type": type(default)}
        parser.add_argument(f"--{name}", default=default, help=meaning, **kind)
    given = vars(parser.parse_args())
    out, text = given.pop("out"), printed(measure(**given))
    print(text)
    if out is not None:
        out.write_text(f"{text}\n", encoding="utf-8")
