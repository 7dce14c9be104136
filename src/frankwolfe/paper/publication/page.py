"""The page: one self-contained HTML file with interactive figures, the verdicts, settings, versions and timings."""

from __future__ import annotations

import json
from html import escape
from importlib import resources
from pathlib import Path

from frankwolfe import __version__
from frankwolfe.paper.claims.claims import Row
from frankwolfe.paper.claims.verdicts import KINDS
from frankwolfe.paper.publication.figure_data import Figure, Section, Table, payload
from frankwolfe.paper.publication.summary import TEXT, Summary, counts
from frankwolfe.paper.store import write_csv, write_text
from frankwolfe.plotting import html
from frankwolfe.validation import optional

_CLASSES: dict[str, str] = dict(
    zip(KINDS, ("holds", "partly", "fails", "undecided", "unknown", "unknown"), strict=True)
)


def write_page(path: Path, summary: Summary, missing: list[str], quick: bool) -> None:
    """Write index.html, and the tables as CSV files beside the figures.

    Parameters
    ----------
    path : Path
        The page; figures are in the folder `figures` beside it.
    summary : Summary
        What has been run and judged.
    missing : list of str
        Parts that have not been run, by name.
    quick : bool
        Whether this is the short version, which the page then says.
    """
    plotly = optional("plotly.offline", extra="plot").get_plotlyjs().replace("</script", "<\\/script")
    folder = path.parent / "figures"
    for table in (t for s in (*summary.sections, *summary.end) for t in s.tables):
        _save(table, folder)
    anchors = {f.key for s in summary.sections for f in s.figures}
    body = [
        _opening(summary, missing, quick),
        html.section("new", "What is new here, and holds", claims_table(summary.findings, anchors)),
        html.section("claims", "A verdict on every claim", TEXT["claims"], claims_table(summary.claims, anchors)),
    ]
    body += [_section(section) for section in (*summary.sections, *summary.end)]
    figures = [payload(figure) for section in summary.sections for figure in section.figures]
    data = json.dumps(figures, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    own = resources.files("frankwolfe.paper.publication")
    style = f"<style>{own.joinpath('page.css').read_text('utf-8')}</style>"
    scripts = (
        f'<script type="application/json" id="figures">{data}</script>'
        f"<script>{plotly}</script><script>{own.joinpath('page.js').read_text('utf-8')}</script>"
    )
    contents = [("new", "New here"), ("claims", "Verdicts")]
    contents += [
        (_anchor(s), TEXT["short"].get(s.key, s.title.split(":")[0])) for s in (*summary.sections, *summary.end)
    ]
    text = html.page(
        TEXT["title"],
        style + "\n".join(body) + scripts,
        lead=f'<p class="lead">{TEXT["lead"].strip()}</p>',
        contents=contents,
        footer=f"Written by frankwolfe {__version__}, <code>frankwolfe reproduce</code>.",
    )
    write_text(path, text)


def _opening(summary: Summary, missing: list[str], quick: bool) -> str:
    parts = [html.facts([(str(n), kind) for kind, n in counts(summary)])]
    if quick:
        parts.append(TEXT["quick"])
    if missing:
        names = ", ".join(f"<code>{escape(name)}</code>" for name in missing)
        parts.append(TEXT["missing"].format(names=names))
    return "\n".join([*parts, TEXT["use"]])


def claims_table(rows: list[Row], anchors: set[str]) -> str:
    """Return claims as a table that wraps: claim and place, verdict and number, reasoning with the cases, figure."""
    lines = []
    for row in rows:
        quotation = f"<q>{escape(row.quotation)}</q>" if row.quotation else ""
        link = f'<a href="#{row.figure}">figure</a>' if row.figure in anchors else ""
        cases = ""
        if row.cases:
            inner = "".join(
                f"<li><b>{escape(name)}</b>: {badge(kind)} {escape(text)}"
                + (f' <span class="soft">({escape(hypothesis)})</span>' if hypothesis else "")
                + "</li>"
                for name, kind, text, hypothesis in row.cases
            )
            count = f"{len(row.cases)} case" + "s" * (len(row.cases) > 1)
            cases = f"<details><summary>{count}</summary><ul>{inner}</ul></details>"
        lines.append(
            f'<tr id="claim-{row.key}"><th>{escape(row.text)} {quotation}'
            f'<span class="where">{escape(row.where)}</span></th>'
            f'<td>{badge(row.verdict)}<span class="number">{escape(row.number)}</span></td>'
            f'<td class="long">{escape(row.sentence)}{cases}</td><td>{link}</td></tr>'
        )
    head = "".join(f"<th>{h}</th>" for h in ("claim", "verdict", "why", "shown in"))
    return f'<table class="words claims"><thead><tr>{head}</tr></thead><tbody>' + "".join(lines) + "</tbody></table>"


def badge(kind: str) -> str:
    """Return a verdict as a coloured word."""
    return f'<span class="verdict {_CLASSES[kind]}">{kind}</span>'


def _anchor(section: Section) -> str:
    """Return the anchor of a section; one that a figure or table has already gets an ending."""
    return f"{section.key}-section" if any(f.key == section.key for f in section.figures) else section.key


def _section(section: Section) -> str:
    parts = [section.intro, *(_figure(f) for f in section.figures), *(show_table(t) for t in section.tables)]
    return html.section(_anchor(section), section.title, *parts)


def _figure(figure: Figure) -> str:
    cells = "".join(
        f'<div class="panel"><h4>{escape(panel.title)}</h4><div class="plot" id="{figure.key}-panel-{i}"></div></div>'
        for i, panel in enumerate(figure.panels)
    )
    axes = (
        f'<div class="axes" id="{figure.key}-axes" aria-label="Horizontal axis"></div>' if len(figure.axes) > 1 else ""
    )
    files = ", ".join(f'<a href="figures/{figure.key}.{kind}">{kind.upper()}</a>' for kind in ("png", "svg", "csv"))
    return (
        f'<div class="figure" id="{figure.key}"><h3>{escape(figure.title)}</h3>{axes}'
        f'<div class="panels" style="--columns:{figure.columns}">{cells}</div>'
        f'<p class="note">{escape(figure.caption)} <span class="files">{files}</span></p></div>'
    )


def _save(table: Table, folder: Path) -> None:
    columns = zip(*table.rows, strict=True) if table.rows else [[] for _ in table.head]
    write_csv(
        folder / f"{table.key}-table.csv",
        {h: [str(c) for c in column] for h, column in zip(table.head, columns, strict=True)},
    )


def show_table(table: Table) -> str:
    """Return a table as HTML, under its title and over its note."""
    note = f'<p class="note">{escape(table.note)}</p>' if table.note else ""
    kind = "words" if table.words else "tight"
    return f"<h3>{escape(table.title)}</h3>{html.table(table.head, table.rows, kind)}{note}"
