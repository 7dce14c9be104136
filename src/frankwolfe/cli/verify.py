"""`frankwolfe verify`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from frankwolfe.cli.output import Json, Quiet, show

NOT_VERIFIED = 3


def verify(
    file: Annotated[Path, typer.Argument(help="A file that Result.save(path, objective, domain) wrote.")],
    slack: Annotated[
        float, typer.Option(help="A bound counts as shown up to this part of the claimed gap; 0 asks for all of it.")
    ] = 0.5,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Judge a saved result: recompute f(x), a lower bound and membership from the data in the file, with proof.

    Interval arithmetic, and none of the solver's code. The exit code is 0 if every claim was shown, else 3.

    Example:

        frankwolfe verify run.npz
    """
    from frankwolfe.verify import verify as judged

    found = judged(file, slack=slack)
    if json:
        names = ("ok", "gap", "upper", "lower", "infeasibility", "fun", "lower_bound", "false", "unproven", "remarks")
        show({name: getattr(found, name) for name in names}, as_json=True, quiet=quiet)
    elif not quiet:
        typer.echo(repr(found))
    if not found.ok:
        raise typer.Exit(NOT_VERIFIED)
