"""Bits of self-contained HTML pages: the skeleton, figures drawn into it, pictures, tables. No network, no script.

Figures become inline SVG whose text and grid take the colours of the page, so that they suit light and dark screens.
"""

from __future__ import annotations

import base64
import io
import re
import zlib
from collections.abc import Iterable, Sequence
from html import escape
from importlib import resources
from string import Template
from typing import Any

import numpy as np

from frankwolfe.plotting.style import FAINT, INK, style
from frankwolfe.validation import optional


def page(title: str, body: str, *, lead: str = "", contents: Iterable[tuple[str, str]] = (), footer: str = "") -> str:
    """Return a whole page; `contents` are identifiers and titles of links at the top, and all but the title is HTML."""
    folder = resources.files("frankwolfe.plotting")
    links = "".join(f'<a href="#{escape(to)}">{escape(name)}</a>' for to, name in contents)
    return Template(folder.joinpath("page.html").read_text("utf-8")).substitute(
        title=escape(title),
        css=folder.joinpath("page.css").read_text("utf-8"),
        lead=lead,
        contents=f'<nav aria-label="Contents">{links}</nav>' if links else "",
        body=body,
        footer=footer,
    )


def section(name: str, title: str, *parts: str) -> str:
    """Return a section with an anchor and a heading."""
    return f'<section id="{escape(name)}"><h2>{escape(title)}</h2>\n' + "\n".join(parts) + "\n</section>"


def grid(*cells: str, least: int = 340) -> str:
    """Return cells side by side where there is room for `least` pixels each, one under the other where not."""
    return f'<div class="grid" style="--least:{least}px">' + "\n".join(cells) + "</div>"


def figure(inner: str, title: str, caption: str = "") -> str:
    """Return a card with a title, something drawn (HTML), and a caption (HTML)."""
    caption = f"<figcaption>{caption}</figcaption>" if caption else ""
    return f'<figure class="card"><h3>{escape(title)}</h3>{inner}{caption}</figure>'


def svg(fig: Any, alt: str) -> str:
    """Return a matplotlib figure as inline SVG in the colours of the page; `alt` says in words what it shows."""
    buffer = io.StringIO()
    matplotlib = optional("matplotlib", extra="plot")
    with style(), matplotlib.rc_context({"svg.fonttype": "path", "svg.hashsalt": "frankwolfe"}):
        fig.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    text = buffer.getvalue()
    text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
    text = text.replace(INK, "var(--ink)").replace(FAINT, "var(--faint)")
    # Identifiers are shared by all that is on a page: give each figure its own, the same in every run.
    prefix = f"f{zlib.crc32(text.encode()):08x}-"
    text = re.sub(r'\bid="', f'id="{prefix}', text)
    text = re.sub(r'href="#', f'href="#{prefix}', text)
    text = text.replace("url(#", f"url(#{prefix}")
    head, rest = text.split(">", 1)
    head = re.sub(r'\s(width|height|version)="[^"]*"', "", head)
    return f'{head.replace("<svg", f"""<svg role="img" aria-label="{escape(alt)}" """.rstrip(), 1)}>{rest}'.strip()


def save_png(fig: Any, path: Any) -> None:
    """Write a matplotlib figure as a PNG on white."""
    with style():
        fig.savefig(path, format="png", dpi=200, facecolor="white")


def png(pixels: Any, *, cmap: str = "gray", limits: tuple[float, float] = (0.0, 1.0), scale: int = 1) -> bytes:
    """Return a matrix as the bytes of a PNG, one entry a square of `scale` pixels; NaN is transparent."""
    values = np.kron(np.asarray(pixels, dtype=float), np.ones((scale, scale)))
    buffer = io.BytesIO()
    colors = optional("matplotlib", extra="plot").colormaps[cmap].with_extremes(bad=(0, 0, 0, 0))
    image = optional("matplotlib.image", extra="plot")
    image.imsave(buffer, np.ma.masked_invalid(values), cmap=colors, vmin=limits[0], vmax=limits[1], format="png")
    return buffer.getvalue()


def picture(data: bytes, alt: str, *, label: str = "") -> str:
    """Return a PNG embedded in the page, pixels kept sharp, with a label under it."""
    source = base64.b64encode(data).decode("ascii")
    image = f'<img alt="{escape(alt)}" src="data:image/png;base64,{source}">'
    return f'<div class="picture">{image}<span>{escape(label)}</span></div>' if label else image


def tiles(pictures: Iterable[str], size: int = 72) -> str:
    """Return small pictures in rows that wrap, each about `size` pixels wide."""
    return f'<div class="tiles" style="--size:{size}px">' + "".join(pictures) + "</div>"


def table(head: Sequence[str], rows: Iterable[Sequence[Any]], kind: str = "") -> str:
    """Return a table that scrolls sideways in its own box; the first column is a heading.

    Each cell knows its own heading, for narrow screens where a style may show it; `kind` is a class for styles.
    """
    heads = [escape(h) for h in head]
    lines = []
    for first, *rest in rows:
        cells = "".join(f'<td data-head="{h}">{escape(str(c))}</td>' for h, c in zip(heads[1:], rest, strict=True))
        lines.append(f'<tr><th data-head="{heads[0]}">{escape(str(first))}</th>{cells}</tr>')
    opened = f'<table class="{kind}">' if kind else "<table>"
    top = "".join(f"<th>{h}</th>" for h in heads)
    return f'<div class="scroll">{opened}<thead><tr>{top}</tr></thead><tbody>{"".join(lines)}</tbody></table></div>'


def facts(items: Iterable[tuple[str, str]]) -> str:
    """Return a row of large numbers with a word under each."""
    cells = "".join(f"<div><b>{escape(value)}</b><span>{escape(word)}</span></div>" for value, word in items)
    return f'<div class="facts">{cells}</div>'
