"""`frankwolfe reproduce`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

# Spelled out, so that `--help` need not import the experiments; a test keeps it equal to theirs.
PARTS = (
    *("certificates", "fig1", "fig2", "fig3", "maps", "fig4", "beyond", "proven", "why", "cost", "table"),
    *("claims", "all"),
)


def reproduce(
    part: Annotated[str, typer.Argument(help=f"What to regenerate: {', '.join(PARTS)}.", metavar="[PART]")] = "all",
    out: Annotated[Path, typer.Option(help="Folder for the page, the figures and the runs.")] = Path("reproduction"),
    data: Annotated[
        Path | None, typer.Option(help="Folder with the datasets; FRANKWOLFE_DATA, the cache or a download otherwise.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A first look in a few minutes: less of everything.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes side by side (two by default).")] = None,
    publish: Annotated[
        bool,
        typer.Option("--publish", help="Write the documentation's summary and the README's table (in the sources)."),
    ] = False,
) -> None:
    """Regenerate the paper's figures and tables from the data, with a verdict on every claim.

    A run that was stopped goes on where it was: finished pieces are kept in OUT/runs.

    Example:

        frankwolfe reproduce fig2 --quick --out reproduction
    """
    if part not in PARTS:
        raise ValueError(f"unknown part {part!r}; choose one of {', '.join(PARTS)}")
    if data is not None and not data.is_dir():
        raise ValueError(f"--data: {str(data)!r} is not a folder")
    from frankwolfe.paper import reproduce as run

    page = run(part, out=out, data=data, quick=quick, quiet=quiet, jobs=jobs, into=Path.cwd() if publish else None)
    if not quiet:
        typer.echo(f"wrote {page}")
