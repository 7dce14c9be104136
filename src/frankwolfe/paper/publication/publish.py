"""The published form: a committed summary, the chapter of the documentation built from it, and the README's table."""

from __future__ import annotations

from html import escape
from pathlib import Path

from frankwolfe.paper.publication.figure_data import Figure
from frankwolfe.paper.publication.page import page_parts
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
    """Write the chapter of the documentation, in Markdown; its figures are drawn from the summary into `pictures`."""
    pictures.mkdir(parents=True, exist_ok=True)
    where = pictures.relative_to(page.parent).as_posix()

    def picture(figure: Figure) -> str:
        drawn = "".join(
            f'<img src="{where}/{path.name}" alt="{escape(figure.title)}: {escape(panel.title)}">'
            for panel, path in zip(figure.panels, save_panels(figure, pictures), strict=True)
        )
        return (
            f'<figure id="{figure.key}"><h3>{escape(figure.title)}</h3>'
            f'<div class="panels" style="--columns:{figure.columns}">{drawn}</div>'
            f"<figcaption>{escape(figure.caption)}</figcaption></figure>"
        )

    found = f"Verdicts on {len(summary.claims)} claims: {', '.join(f'{kind} {n}' for kind, n in counts(summary))}."
    parts = [f"# {TEXT['title']}", TEXT["lead"].strip(), found]
    for _, title, inner in page_parts(summary, picture):
        parts += [f"## {title}", f'<div class="paper">{inner}</div>']
    write_text(page, "\n\n".join(parts) + "\n")
