"""The page: one self-contained HTML file with interactive figures, the verdicts, settings, versions and timings."""

from __future__ import annotations

import json
import platform
from html import escape
from importlib import metadata, resources
from pathlib import Path
from typing import Any

from frankwolfe import __version__
from frankwolfe.experiments.claims import CLAIMS
from frankwolfe.experiments.errata import errata_table
from frankwolfe.experiments.figures import Figure, Section, Table, payload
from frankwolfe.experiments.problems import METHODS
from frankwolfe.experiments.runner import Results
from frankwolfe.experiments.store import write_csv, write_text
from frankwolfe.experiments.verdicts import FAILS, HOLDS, PARTLY, UNKNOWN, Verdict
from frankwolfe.plotting import html
from frankwolfe.validation import optional

TITLE = "How does momentum help Frank-Wolfe? The paper, reproduced"
_CLASSES = {HOLDS: "holds", PARTLY: "partly", FAILS: "fails", UNKNOWN: "unknown"}


def write_page(
    path: Path, sections: list[Section], missing: list[str], results: Results, quick: bool, about: dict[str, Any]
) -> None:
    """Write index.html, and the tables as CSV files beside the figures.

    Parameters
    ----------
    path : Path
        The page; figures are in the folder `figures` beside it.
    sections : list of Section
        What has been run.
    missing : list of str
        Parts that have not been run, by name.
    results : Results
        For the verdicts.
    quick : bool
        Whether this is the short version, which the page then says.
    about : dict
        Timings and settings for the last section.
    """
    plotly = optional("plotly.offline", extra="plot").get_plotlyjs().replace("</script", "<\\/script")
    folder = path.parent / "figures"
    claims, verdicts = _claims(results, quick, {f.key for s in sections for f in s.figures})
    body = [_opening(verdicts, missing, quick), claims]
    body += [_section(section, folder) for section in sections]
    body += [_errata(results, quick, folder), _settings(results, about, folder)]
    figures = [payload(figure) for section in sections for figure in section.figures]
    data = json.dumps(figures, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    own = resources.files("frankwolfe.experiments")
    style = f"<style>{own.joinpath('page.css').read_text('utf-8')}</style>"
    scripts = (
        f'<script type="application/json" id="figures">{data}</script>'
        f"<script>{plotly}</script>"
        f"<script>{own.joinpath('page.js').read_text('utf-8')}</script>"
    )
    contents = [("claims", "Verdicts"), *((s.key, s.title.split(":")[0]) for s in _distinct(sections))]
    contents += [("errata", "Errata"), ("settings", "Settings")]
    text = html.page(
        TITLE,
        style + "\n".join(body) + scripts,
        lead=_lead(),
        contents=contents,
        footer=f"Written by frankwolfe {__version__}, <code>frankwolfe reproduce</code>.",
    )
    write_text(path, text)


def _distinct(sections: list[Section]) -> list[Section]:
    """Return sections with titles short enough for the list of contents."""
    names = {"beyond": "Other sets", "certificates": "Certificates", "table": "Datasets"}
    return [Section(s.key, names.get(s.key, s.title), "") for s in sections]


def _lead() -> str:
    return (
        '<p class="lead">Li, Coutino, Giannakis and Leus give Frank-Wolfe a momentum term, prove when it pays, and '
        "show it on real data. Here every figure and table is computed again from the public data, with the optimal "
        "value known to a proven accuracy, and every claim gets a verdict that is computed from the numbers.</p>"
    )


def _opening(verdicts: list[Verdict], missing: list[str], quick: bool) -> str:
    counts = [(str(sum(v.kind == kind for v in verdicts)), word) for kind, word in _COUNTED]
    parts = [html.facts(counts)]
    if quick:
        parts.append(
            '<p class="warning">This is the quick version: fewer iterations, fewer draws of data, samples of mnist and '
            "covtype, fewer radii. Run <code>frankwolfe reproduce all</code> for the numbers that count.</p>"
        )
    if missing:
        names = ", ".join(f"<code>{escape(name)}</code>" for name in missing)
        parts.append(
            f'<p class="warning">Not run yet: {names}. <code>frankwolfe reproduce all</code> runs everything.</p>'
        )
    parts.append(
        '<p class="note">In every figure: click on a legend entry to hide or show a method in all panels, drag '
        "to zoom, "
        "double-click to go back, and switch the horizontal axis with the buttons. The files beside this page hold "
        "each figure as PNG and SVG and the numbers behind it as CSV.</p>"
    )
    return "\n".join(parts)


_COUNTED = ((HOLDS, "claims hold"), (PARTLY, "hold in part"), (FAILS, "do not hold"), (UNKNOWN, "not run"))


def _claims(results: Results, quick: bool, anchors: set[str]) -> tuple[str, list[Verdict]]:
    rows, verdicts = [], []
    for claim in CLAIMS:
        judged = claim.judged(results, quick)
        verdicts.append(judged.verdict)
        link = f'<a href="#{claim.figure}">{_figure_name(claim.figure)}</a>' if claim.figure in anchors else ""
        measured = escape(judged.measured)
        if len(measured) > 160:
            head = escape(judged.measured[: judged.measured.rfind(";", 0, 120)])
            measured = f"<details><summary>{head} …</summary>{measured}</details>"
        rows.append(
            f"<tr><th>{escape(claim.text)}</th><td>{escape(claim.where)}</td>"
            f'<td class="long">{measured}</td><td class="long">{escape(judged.setting)}</td>'
            f"<td>{_badge(judged.verdict)}</td><td>{link}</td></tr>"
        )
    head = "".join(f"<th>{h}</th>" for h in ("claim", "where", "measured here", "setting", "verdict", "figure"))
    inner = f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody>"
    table = f'<div class="scroll"><table class="words">{inner}</table></div>'
    words = (
        "<p>Where the paper gives no setting, ours is printed with the figure, and neighbouring settings were "
        "run too: a "
        "claim that holds at one radius and fails at the next is reported as holding only there.</p>"
    )
    return html.section("claims", "A verdict on every claim", words, table), verdicts


def _figure_name(key: str) -> str:
    return {"beyond": "other sets", "certificates": "certificates", "proofs": "proofs"}.get(key, f"figure {key[3:]}")


def _badge(verdict: Verdict) -> str:
    detail = f" {escape(verdict.detail)}" if verdict.detail else ""
    if len(detail) > 90:
        cases = verdict.detail.rsplit(" (", 1)
        detail = f" <details><summary>{escape(cases[-1].rstrip(')'))} cases</summary>{escape(cases[0])}</details>"
    return f'<span class="verdict {_CLASSES[verdict.kind]}">{verdict.kind}</span>{detail}'


def _section(section: Section, folder: Path) -> str:
    parts = [section.intro, *(_figure(f) for f in section.figures), *(_table(t, folder) for t in section.tables)]
    # The section of a figure shares its anchor with the figure itself.
    return html.section(f"{section.key}-section" if _has(section) else section.key, section.title, *parts)


def _has(section: Section) -> bool:
    return any(figure.key == section.key for figure in section.figures)


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


def _table(table: Table, folder: Path, *, words: bool = False) -> str:
    columns = zip(*table.rows, strict=True) if table.rows else [[] for _ in table.head]
    write_csv(
        folder / f"{table.key}-table.csv",
        {h: [str(c) for c in column] for h, column in zip(table.head, columns, strict=True)},
    )
    text = html.table(table.head, table.rows)
    if words:
        text = text.replace("<table>", '<table class="words">')
    note = f'<p class="note">{escape(table.note)}</p>' if table.note else ""
    return f"<h3>{escape(table.title)}</h3>{text}{note}"


def _errata(results: Results, quick: bool, folder: Path) -> str:
    words = "<p>None of these changes a theorem’s message; several change what one should expect to measure.</p>"
    return html.section("errata", "Errata", words, _table(errata_table(results, quick), folder, words=True))


def _settings(results: Results, about: dict[str, Any], folder: Path) -> str:
    methods = Table("methods", "Methods", ["name", "what it is"], [[m.name, m.about] for m in METHODS.values()])
    libraries = ["numpy", "scipy", "scikit-learn", "matplotlib", "plotly"]
    versions = [
        ["frankwolfe", __version__],
        ["Python", platform.python_version()],
        *([n, _version(n)] for n in libraries),
    ]
    timings = [[name, value] for name, value in about.items()]
    words = (
        "<p>f* is never the best of the runs. For the logistic problems it comes from a Newton method over the set "
        "(second-order models minimised over the ball itself), for MovieLens from restarted projected AGM; in both "
        "cases the accuracy is then proven from the last point alone: f(x) − f* ≤ max ⟨∇f(x), x − v⟩ over the "
        "set. Every run "
        "starts from zero, uses one thread, and is kept in <code>runs/</code> as a CSV trace with its settings "
        "as JSON; "
        "delete that folder to compute everything afresh. Numbers repeat to the last digit; seconds do not.</p>"
    )
    return html.section(
        "settings",
        "Settings, versions and timings",
        words,
        _table(methods, folder, words=True),
        _table(Table("versions", "Versions", ["library", "version"], versions), folder),
        _table(Table("timings", "This page", ["what", "value"], timings), folder),
    )


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"
