"""The README's performance section, written from what was measured."""

from __future__ import annotations

from pathlib import Path

from benchmarks.report import cell, holds

BEGIN = "<!-- performance: written by `python -m benchmarks`, not by hand -->"
END = "<!-- end of performance -->"


def section(records: dict[str, dict]) -> str:
    """Return the section: each bar with what was measured."""
    lines = [
        BEGIN,
        "",
        "Measured by `make bench`, ratios of runs side by side on one machine; the page with tables and curves is",
        "`benchmarks/results/index.html`.",
        "",
        "| what | measured | bar | |",
        "|---|---|---|---|",
    ]
    for record in records.values():
        for bar in record["bars"]:
            unit = f" {bar['unit']}" if bar.get("unit") else ""
            sense = "at most" if bar["sense"] == "<=" else "at least"
            mark = "holds" if holds(bar) else "falls short"
            measured = f"{cell(float(bar['value']))}{unit}"
            lines.append(f"| {bar['name']} | {measured} | {sense} {bar['bar']:g}{unit} | {mark} |")
    return "\n".join([*lines, "", END])


def write_readme(path: Path, records: dict[str, dict]) -> None:
    """Replace the section between the two marks."""
    text = path.read_text("utf-8")
    if BEGIN not in text or END not in text:
        raise SystemExit(f"{path.name} has lost its marks {BEGIN} … {END}; put them back where the section belongs")
    before, rest = text.split(BEGIN, 1)
    after = rest.split(END, 1)[1]
    path.write_text(before + section(records) + after, encoding="utf-8")
