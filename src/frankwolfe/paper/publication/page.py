"""The page: one self-contained HTML file with interactive figures, the verdicts, settings, versions and timings."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from html import escape
from importlib import resources
from pathlib import Path

from frankwolfe import __version__
from frankwolfe.paper.claims import Claim
from frankwolfe.paper.publication.figure_data import Figure, Section, Table, payload
from frankwolfe.paper.publication.summary import TEXT, Summary, counts
from frankwolfe.paper.store import write_csv, write_text
from frankwolfe.paper.verdicts import KINDS, Case
from frankwolfe.plotting import html
from frankwolfe.validation import optional

_CLASSES: dict[str, str] = dict(
    zip(KINDS, ("holds", "partly", "fails", "undecided", "unknown", "unknown"), strict=True)
)


def write_page(path: Path, summary: Summary, missing: list[str], quick: bool) -> None:
    """Write the page, and the tables as CSV files beside the figures; it says what is missing, or that it is quick."""
    plotly = optional("plotly.offline", extra="plot").get_plotlyjs().replace("</script", "<\\/script")
    sections = (*summary.sections, *summary.end)
    for table in (t for s in sections for t in s.tables):
        columns = zip(*table.rows, strict=True) if table.rows else [[] for _ in table.head]
        cells = {h: [str(c) for c in column] for h, column in zip(table.head, columns, strict=True)}
        write_csv(path.parent / "figures" / f"{table.key}-table.csv", cells)
    figures = [payload(figure) for section in summary.sections for figure in section.figures]
    data = json.dumps(figures, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    own = resources.files("frankwolfe.paper.publication")
    body = [
        f"<style>{own.joinpath('page.css').read_text('utf-8')}</style>",
        html.facts([(str(n), kind) for kind, n in counts(summary)]),
        TEXT["quick"] if quick else "",
        TEXT["missing"].format(names=", ".join(f"<code>{escape(name)}</code>" for name in missing)) if missing else "",
        TEXT["use"],
        *(html.section(*part) for part in page_parts(summary, _interactive)),
        f'<script type="application/json" id="figures">{data}</script>',
        f"<script>{plotly}</script><script>{own.joinpath('page.js').read_text('utf-8')}</script>",
    ]
    contents = [(_anchor(s), TEXT["short"].get(s.key, s.title.split(":")[0])) for s in sections]
    text = html.page(
        TEXT["title"],
        "\n".join(body),
        lead=f'<p class="lead">{TEXT["lead"].strip()}</p>',
        contents=[("new", "New here"), ("claims", "Verdicts"), *contents],
        footer=f"Written by frankwolfe {__version__}, <code>frankwolfe reproduce</code>.",
    )
    write_text(path, text)


def page_parts(summary: Summary, draw: Callable[[Figure], str]) -> list[tuple[str, str, str]]:
    """Return anchor, title and HTML of every part; `draw` gives the HTML of a figure."""
    anchors = {f.key for s in summary.sections for f in s.figures}
    out = [
        ("new", "What is new here, and holds", claims_table(summary.findings, anchors)),
        ("claims", "A verdict on every claim", TEXT["claims"].strip() + claims_table(summary.claims, anchors)),
    ]
    for s in (*summary.sections, *summary.end):
        parts = [s.intro.strip(), *map(draw, s.figures), *map(show_table, s.tables)]
        out.append((_anchor(s), s.title, "\n".join(filter(None, parts))))
    return out


def claims_table(rows: Sequence[Claim], anchors: set[str]) -> str:
    """Return claims as a table that wraps: claim and place, verdict and number, reasoning with the cases, figure."""
    lines = []
    for row in rows:
        quotation = f"<q>{escape(row.quotation)}</q>" if row.quotation else ""
        quoted = f", quoted from the {escape(row.quoted_from)}" if row.quoted_from else ""
        link = f'<a href="#{row.figure}">figure</a>' if row.figure in anchors else ""
        count = f"{len(row.cases)} case" + "s" * (len(row.cases) > 1)
        inner = "".join(map(_case, row.cases))
        cases = f"<details><summary>{count}</summary><ul>{inner}</ul></details>" if row.cases else ""
        lines.append(
            f'<tr id="claim-{row.key}"><th>{escape(row.text)} {quotation}'
            f'<span class="where">{escape(row.where)}{quoted}</span></th>'
            f'<td>{badge(row.verdict)}<span class="number">{escape(row.number)}</span></td>'
            f'<td class="long">{escape(row.sentence)}{cases}</td><td>{link}</td></tr>'
        )
    head = "".join(f"<th>{h}</th>" for h in ("claim", "verdict", "why", "shown in"))
    return f'<table class="words claims"><thead><tr>{head}</tr></thead><tbody>' + "".join(lines) + "</tbody></table>"


def _case(case: Case) -> str:
    soft = f' <span class="soft">({escape(case.hypothesis)})</span>' if case.hypothesis else ""
    return f"<li><b>{escape(case.name)}</b>: {badge(case.verdict)} {escape(case.measured)}{soft}</li>"


def badge(kind: str) -> str:
    """Return a verdict as a coloured word."""
    return f'<span class="verdict {_CLASSES[kind]}">{kind}</span>'


def _anchor(section: Section) -> str:
    """Return the anchor of a section; one that a figure or table has already gets an ending."""
    return f"{section.key}-section" if any(f.key == section.key for f in section.figures) else section.key


def _interactive(figure: Figure) -> str:
    cells = "".join(
        f'<div class="panel"><h4>{escape(panel.title)}</h4><div class="plot" id="{figure.key}-panel-{i}"></div></div>'
        for i, panel in enumerate(figure.panels)
    )
    buttons = f'<div class="axes" id="{figure.key}-axes" aria-label="Horizontal axis"></div>'
    files = ", ".join(f'<a href="figures/{figure.key}.{kind}">{kind.upper()}</a>' for kind in ("png", "svg", "csv"))
    return (
        f'<div class="figure" id="{figure.key}"><h3>{escape(figure.title)}</h3>{buttons * (len(figure.axes) > 1)}'
        f'<div class="panels" style="--columns:{figure.columns}">{cells}</div>'
        f'<p class="note">{escape(figure.caption)} <span class="files">{files}</span></p></div>'
    )


def show_table(table: Table) -> str:
    """Return a table as HTML, under its title and over its note."""
    note = f'<p class="note">{escape(table.note)}</p>' if table.note else ""
    kind = "words" if table.words else "tight"
    return f"<h3>{escape(table.title)}</h3>{html.table(table.head, table.rows, kind)}{note}"
