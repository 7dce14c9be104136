"""The published form: a committed summary, the chapter of the documentation built from it, and the README's table."""

from __future__ import annotations

from html import escape
from pathlib import Path

from frankwolfe.paper.publication.figure_data import Figure
from frankwolfe.paper.publication.page import claims_table, show_table
from frankwolfe.paper.publication.pictures import save_panels
from frankwolfe.paper.publication.summary import TEXT, Summary, counts, read_summary, write_summary
from frankwolfe.paper.store import write_text

SUMMARY = Path("docs") / "paper" / "summary.json"
BEGIN, END = (
    "<!-- verdicts of the paper, written by `frankwolfe reproduce all --publish` -->",
    "<!-- end of verdicts -->",
)


def checkout(folder: Path) -> Path:
    """Return the folder of the project's sources, which publishing writes into."""
    if not ((folder / "pyproject.toml").is_file() and (folder / "docs" / "conf.py").is_file()):
        raise ValueError(f"--publish writes into the project's own sources: {str(folder)!r} does not hold them")
    return folder


def publish(summary: Summary, folder: Path) -> None:
    """Write the summary into the project's sources, and its table of verdicts into the README."""
    write_summary(folder / SUMMARY, summary)
    readme = folder / "README.md"
    write_text(readme, with_table(readme.read_text(encoding="utf-8"), read_summary(folder / SUMMARY)))


def with_table(text: str, summary: Summary) -> str:
    """Return the README with the table of verdicts between its marks brought up to date."""
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    return f"{before}{BEGIN}\n\n{verdict_table(summary)}\n\n{END}{after}"


def verdict_table(summary: Summary) -> str:
    """Return claim, verdict and number in Markdown."""
    lines = ["| claim | where | verdict | one number |", "|---|---|---|---|"]
    lines += [
        f"| {_cell(r.text)} | {_cell(r.where)} | {r.verdict} | {_cell(r.number)} |"
        for r in (*summary.findings, *summary.claims)
    ]
    return "\n".join(lines)


def _cell(text: str) -> str:
    # Bars would end a cell; |x| is set with the letter that only looks like one.
    return text.replace("|", "∣")


def write_chapter(summary: Summary, page: Path, pictures: Path) -> None:
    """Write the chapter of the documentation, with its figures drawn from the summary.

    Parameters
    ----------
    summary : Summary
        As committed.
    page : Path
        The chapter, in the Markdown of the site.
    pictures : Path
        Folder for the figures; the chapter links to it relative to its own folder.
    """
    pictures.mkdir(parents=True, exist_ok=True)
    where = pictures.relative_to(page.parent).as_posix()
    anchors = {f.key for s in summary.sections for f in s.figures}
    parts = [
        f"# {TEXT['title']}",
        TEXT["lead"].strip(),
        f"Verdicts on {len(summary.claims)} claims: {', '.join(f'{kind} {n}' for kind, n in counts(summary))}.",
        "## What is new here, and holds",
        _html(claims_table(summary.findings, anchors)),
        "## A verdict on every claim",
        _html(f"{TEXT['claims']}<p>Open the cases to see every setting.</p>"),
        _html(claims_table(summary.claims, anchors)),
    ]
    for section in (*summary.sections, *summary.end):
        parts += [f"## {section.title}", _html(section.intro)]
        parts += [_picture(figure, pictures, where) for figure in section.figures]
        parts += [_html(show_table(table)) for table in section.tables]
    write_text(page, "\n\n".join(p for p in parts if p) + "\n")


def _html(text: str) -> str:
    return f'<div class="paper">{text}</div>' if text else ""


def _picture(figure: Figure, folder: Path, where: str) -> str:
    drawn = "".join(
        f'<img src="{where}/{path.name}" alt="{escape(figure.title)}: {escape(panel.title)}">'
        for panel, path in zip(figure.panels, save_panels(figure, folder), strict=True)
    )
    return _html(
        f'<figure id="{figure.key}"><h3>{escape(figure.title)}</h3>'
        f'<div class="panels" style="--columns:{figure.columns}">{drawn}</div>'
        f"<figcaption>{escape(figure.caption)}</figcaption></figure>"
    )
