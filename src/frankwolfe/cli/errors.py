"""Errors as one line, never a traceback."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import typer

BAD_INPUT, INTERRUPTED = 2, 130


def polite(command: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a command: what the user can mend becomes one line on stderr and exit code 2; Ctrl-C is exit code 130."""

    @functools.wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        try:
            return command(*args, **kwargs)
        except KeyboardInterrupt:
            typer.echo("frankwolfe: interrupted", err=True)
            raise typer.Exit(INTERRUPTED) from None
        except (ValueError, TypeError, ImportError, OSError) as error:  # DatasetError is a ValueError
            line = " ".join(str(error).split()) or type(error).__name__
            typer.echo(f"frankwolfe: {line}", err=True)
            raise typer.Exit(BAD_INPUT) from None

    return wrapped
