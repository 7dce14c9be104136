"""The app, assembled from its commands."""

from __future__ import annotations

from typing import Annotated

import typer

import frankwolfe
from frankwolfe.cli.complete import complete, recommend
from frankwolfe.cli.fit import fit, predict
from frankwolfe.cli.library import bench, compile, data, demo, reproduce, verify
from frankwolfe.cli.output import polite
from frankwolfe.cli.path import path
from frankwolfe.cli.show import show

HELP = """
Optimisation without projections, with a proven gap with every answer.

Examples:

    frankwolfe demo --out report

    frankwolfe fit data.csv --target income --constraint l1 --radius 10 --out model.npz

    frankwolfe predict model.npz new.csv --out predictions.csv

    frankwolfe show model.npz

    frankwolfe complete ratings.csv --out model.npz

    frankwolfe recommend model.npz 196 -n 5

    frankwolfe reproduce all --quick

    frankwolfe verify run.npz

    frankwolfe data list

Exit codes: 0 done; 1 something unexpected; 2 bad input, with one line that says what; 3 `verify` found a claim false or
not shown; 130 interrupted.
"""

app = typer.Typer(help=HELP, no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None)

for command in (demo, fit, predict, show, path, complete, recommend, reproduce, bench, compile, verify):
    app.command()(polite(command))
app.add_typer(data, name="data")


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
