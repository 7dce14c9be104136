"""`frankwolfe compile`."""

from __future__ import annotations

from typing import Annotated

import typer


def compile(
    loss: Annotated[
        list[str] | None,
        typer.Option("--loss", help="A loss; may be repeated. Default: log_loss, squared_error."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Compile the kernels now, so that no solve waits for it.

    Without this, data are read by plain NumPy and SciPy until so much was read that compiling pays. The environment
    variable FRANKWOLFE_COMPILE overrules that: `always` compiles at first use, `never` does not compile.

    Example:

        frankwolfe compile --loss log_loss
    """
    from frankwolfe.precompile import LOSSES, compile_kernels

    for what, seconds in compile_kernels(loss or LOSSES):
        if not quiet:
            typer.echo(f"{what}: {f'{seconds:.1f} s' if seconds else 'there already'}")
