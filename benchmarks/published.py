"""What was measured, as it is published: every bar in docs/performance.md, some lines of them in the README."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from benchmarks.report import cell, holds

BEGIN = "<!-- performance: written by `python -m benchmarks`, not by hand -->"
END = "<!-- end of performance -->"

SUMMARY = (  # benchmark, which of its bars, and what they come to: {low}, {high} are the least and the largest of them
    ("start_up", r"import", "importing it takes {low} s; compiled kernels are kept between runs"),
    (
        "iteration",
        r"over the read floor",
        "a step on dense rows takes {low} to {high} times one read of the data",
    ),
    ("iteration", r"2 threads, ahead of naive", "on sparse rows it is {low} to {high} times ahead of NumPy and SciPy"),
    ("accuracy", r"^2: .*best peer", "l2 balls: {low} to {high} times ahead of the best solver of scikit-learn"),
    ("accuracy", r"^3: .*best peer", "l1 balls: {low} to {high} times ahead of the best of liblinear, skglm and celer"),
    ("unseen", r"^1: geometric mean", "unseen data: {low} times the best peer of each case, in the geometric mean"),
    ("unseen", r"^1: share", "unseen data: ahead of the best peer in a share of {low} of the cases"),
    ("estimators", r"time beside", "choosing the radius takes {low} to {high} of the time of LogisticRegressionCV"),
)


def page(records: dict[str, dict]) -> str:
    """Return each bar with what was measured, one table for each benchmark."""
    lines = []
    for record in records.values():
        lines += ["", f"### {record['title']}", "", "| what | measured | bar | |", "|---|---|---|---|"]
        for bar in record["bars"]:
            unit = f" {bar['unit']}" if bar.get("unit") else ""
            sense = "at most" if bar["sense"] == "<=" else "at least"
            measured, mark = f"{cell(float(bar['value']))}{unit}", "holds" if holds(bar) else "falls short"
            lines.append(f"| {bar['name']} | {measured} | {sense} {bar['bar']:g}{unit} | {mark} |")
    return "\n".join([BEGIN, *lines, "", END])


def summary(records: dict[str, dict]) -> str:
    """Return the README's lines: a range for each kind of bar, and how many bars hold."""
    lines = []
    for name, wanted, sentence in SUMMARY:
        values = [
            float(bar["value"]) for bar in records.get(name, {"bars": ()})["bars"] if re.search(wanted, bar["name"])
        ]
        if values:
            lines.append(f"- {sentence.format(low=f'{min(values):.2g}', high=f'{max(values):.2g}')}")
    bars = [bar for record in records.values() for bar in record["bars"]]
    count = f"{sum(map(holds, bars))} of {len(bars)} bars that we set ourselves hold; the others say so."
    return "\n".join([BEGIN, "", *lines, "", count, "", END])


def write_section(path: Path, section: Callable[[dict[str, dict]], str], records: dict[str, dict]) -> None:
    """Replace what stands between the two marks of a page."""
    text = path.read_text("utf-8")
    if BEGIN not in text or END not in text:
        raise SystemExit(f"{path.name} has lost its marks {BEGIN} … {END}; put them back where the section belongs")
    before, rest = text.split(BEGIN, 1)
    path.write_text(before + section(records) + rest.split(END, 1)[1], encoding="utf-8")
