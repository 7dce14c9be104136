"""`frankwolfe demo`."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated

import typer


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the report.")] = Path("report"),
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing.")] = False,
    show: Annotated[bool, typer.Option("--open/--no-open", help="Open the report in a browser.")] = False,
    small: Annotated[bool, typer.Option("--small", help="A few seconds' work only: less data, fewer steps.")] = False,
) -> None:
    """Solve three real problems four ways, and write a report worth looking at.

    Example:

        frankwolfe demo --out report --open
    """
    from frankwolfe.paper.demo import FULL, SMALL, run

    path = run(out, settings=SMALL if small else FULL, quiet=quiet)
    if show:
        webbrowser.open(path.resolve().as_uri())
