"""What commands print: tables for people, JSON for machines, or nothing; errors as one line."""

from __future__ import annotations

import functools
import inspect
import json
import math
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from frankwolfe.result import Status

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]

FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130

Debug = Annotated[bool, typer.Option("--debug", help="Show where an error comes from.", rich_help_panel=None)]


def show(facts: Mapping[str, Any], *, as_json: bool, quiet: bool) -> None:
    """Print facts: one line each, or as JSON; lists of mappings become tables."""
    if as_json:
        typer.echo(json.dumps(_plain(facts), allow_nan=False))
        return
    if quiet:
        return
    width = max((len(name) for name, value in facts.items() if not _is_table(value)), default=0)
    for name, value in facts.items():
        if _is_table(value):
            table(list(value[0]), [list(row.values()) for row in value])
        elif value is not None:
            typer.echo(f"{name.replace('_', ' '):<{width}}  {shown(value)}")


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print columns: text to the left, numbers to the right."""
    cells = [[shown(value) for value in row] for row in rows]
    widths = [max(len(c) for c in column) for column in zip(head, *cells, strict=True)]
    right = [all(isinstance(row[i], int | float) for row in rows) for i in range(len(head))]
    for line in [list(head), *cells]:
        padded = (c.rjust(w) if r else c.ljust(w) for c, w, r in zip(line, widths, right, strict=True))
        typer.echo("  ".join(padded).rstrip())


def shown(value: Any) -> str:
    """Return a value as people read it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list | tuple):
        return ", ".join(map(shown, value))
    return str(value)


def number_or(text: str, word: str) -> float | None:
    """Return the number that --radius was given, or None for the word that leaves the choice to us."""
    try:
        return None if text == word else float(text)
    except ValueError:
        raise ValueError(f"--radius must be a positive number or {word}, got {text!r}") from None


def save_picture(figure: Any, out: Path) -> Path:
    """Write a matplotlib figure, as PNG where the name says nothing else; return where."""
    path = out if out.suffix else out.with_suffix(".png")
    try:
        figure.savefig(path, bbox_inches="tight")
    except ValueError as error:
        raise ValueError(f"--out {path}: {error}") from None
    return path


def talkative(as_json: bool, quiet: bool) -> bool:
    """Tell whether progress should be shown: on a terminal, unless told otherwise."""
    return not quiet and not as_json and sys.stderr.isatty()


@contextmanager
def working(text: str, shown: bool, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Show on the terminal what is going on; what is remarked meanwhile comes on stderr afterwards, a line each."""
    notes: list[str] = []
    if shown:
        from rich.console import Console

        with Console(stderr=True).status(text):
            yield notes.append
    else:
        yield notes.append
    for note in () if quiet else notes:
        typer.echo(f"frankwolfe: {note}", err=True)


def uninterrupted(results: Iterable[Any]) -> None:
    """Go on only if no solve was stopped by Ctrl-C, which `minimize` answers with the best point so far."""
    if any(result.status is Status.INTERRUPTED for result in results):
        raise KeyboardInterrupt


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], Mapping)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def polite(command: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a command: what the user can mend becomes one line on stderr and exit code 2; Ctrl-C is exit code 130.

    Anything else is one line too, with exit code 1. The option --debug is added, which shows the traceback.
    """

    @functools.wraps(command)
    def wrapped(*args: Any, debug: bool = False, **kwargs: Any) -> Any:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("always", UserWarning)
                warnings.showwarning = _one_line
                return command(*args, **kwargs)
        except (typer.Exit, typer.Abort):
            raise
        except KeyboardInterrupt:
            _say("interrupted")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:  # the reader, `head` say, has had enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None
        except (ValueError, TypeError, ImportError, OSError) as error:  # DatasetError is a ValueError
            if debug:
                raise
            _say(_message(error))
            raise typer.Exit(BAD_INPUT) from None
        except Exception as error:
            if debug:
                raise
            _say(f"{type(error).__name__}: {_message(error)} (this should not happen; --debug shows where)")
            raise typer.Exit(FAILED) from None

    given = inspect.signature(command, eval_str=True)  # typer does not look into text behind a signature
    option = inspect.Parameter("debug", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Debug)
    wrapped.__signature__ = given.replace(parameters=[*given.parameters.values(), option])  # pyright: ignore[reportAttributeAccessIssue]
    wrapped.__annotations__ = {name: p.annotation for name, p in given.parameters.items()} | {"debug": Debug}
    return wrapped


def _message(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split()) or type(error).__name__


def _say(text: str) -> None:
    typer.echo(f"frankwolfe: {text}", err=True)


def _one_line(message: Any, category: type[Warning], filename: str, lineno: int, *_: Any) -> None:
    if issubclass(category, UserWarning):  # those meant for users; not a library's talk of its future
        _say(f"warning: {' '.join(str(message).split())}")
