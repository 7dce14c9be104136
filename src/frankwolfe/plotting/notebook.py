"""How results look in a notebook: a small table, and the gap as a line on a logarithmic axis."""

from __future__ import annotations

import math
from collections.abc import Mapping
from html import escape
from typing import Any

from frankwolfe.plotting.style import COLORS

WIDTH, HEIGHT, MARGIN = 320, 120, 28
POINTS = 200  # of a curve: a longer one is thinned


def table(rows: Mapping[str, Any]) -> str:
    """Return names and values as a table."""
    left = 'style="text-align:left"'
    lines = (f"<tr><th {left}>{escape(str(k))}</th><td {left}>{escape(str(v))}</td></tr>" for k, v in rows.items())
    return f"<table>{''.join(lines)}</table>"


def curves(series: Mapping[str, tuple[Any, Any]], title: str = "certified gap") -> str:
    """Return curves of positive numbers against iterations as an inline picture; nothing where there are none."""
    kept = {name: _thinned(k, y) for name, (k, y) in series.items()}
    kept = {name: points for name, points in kept.items() if len(points) > 1}
    if not kept:
        return ""
    heights = [math.log10(y) for points in kept.values() for _, y in points]
    low, high = math.floor(min(heights)), math.ceil(max(heights))
    last, span = max(k for points in kept.values() for k, _ in points) or 1.0, max(high - low, 1)

    def at(k: float, y: float) -> str:
        right = MARGIN + (WIDTH - 2 * MARGIN) * k / last
        down = MARGIN + (HEIGHT - 2 * MARGIN) * (high - math.log10(y)) / span
        return f"{right:.1f},{down:.1f}"

    lines, text = [], 'font-size="10" fill="currentColor"'
    for i, (name, points) in enumerate(kept.items()):
        colour, path = COLORS[i % len(COLORS)], " ".join(at(*point) for point in points)
        lines.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        if len(kept) > 1:
            lines.append(f'<text x="{MARGIN + 60 * i}" y="12" font-size="10" fill="{colour}">{escape(name)}</text>')
    words = [f'<text x="0" y="{MARGIN + 4}" {text}>1e{high}</text>']
    words.append(f'<text x="0" y="{HEIGHT - MARGIN + 4}" {text}>1e{low}</text>')
    words.append(f'<text x="{WIDTH - MARGIN}" y="{HEIGHT - 10}" {text} text-anchor="end">{last:.0f} steps</text>')
    if len(kept) == 1:
        words.append(f'<text x="{MARGIN}" y="12" {text}>{escape(title)}</text>')
    size = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    return f'<svg {size} role="img" aria-label="{escape(title)}">{"".join([*lines, *words])}</svg>'


def _thinned(k: Any, y: Any) -> list[tuple[float, float]]:
    points = [(float(a), float(b)) for a, b in zip(k, y, strict=True) if 0 < float(b) < math.inf]
    step = max(1, math.ceil(len(points) / POINTS))
    return points[::step] + (points[-1:] if points and (len(points) - 1) % step else [])
