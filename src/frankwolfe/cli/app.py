"""The app, assembled from its commands."""

from __future__ import annotations

import importlib.util
from typing import Annotated

import typer

import frankwolfe
from frankwolfe.cli.data import data
from frankwolfe.cli.demo import demo
from frankwolfe.cli.errors import polite

HELP = """
Optimisation without projections, with a proven gap with every answer.

Examples:

    frankwolfe demo --out report

    frankwolfe data list
"""

app = typer.Typer(help=HELP, no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None)

app.command()(polite(demo))
app.add_typer(data, name="data")
if importlib.util.find_spec("frankwolfe.cli.reproduce") is not None:
    from frankwolfe.cli.reproduce import reproduce  # pyright: ignore[reportMissingImports]

    app.command()(polite(reproduce))


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"frankwolfe {frankwolfe.__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


_main.__doc__ = HELP
