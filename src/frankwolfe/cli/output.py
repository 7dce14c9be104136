"""What commands print: tables for people, JSON for machines, or nothing."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import numpy as np
import typer

from frankwolfe.result import Status

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]


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


def remark(notes: Iterable[str], quiet: bool) -> None:
    """Say on stderr what was done to the data, a line each."""
    for note in () if quiet else notes:
        typer.echo(f"frankwolfe: {note}", err=True)


def talkative(as_json: bool, quiet: bool) -> bool:
    """Tell whether progress should be shown: on a terminal, unless told otherwise."""
    return not quiet and not as_json and sys.stderr.isatty()


@contextmanager
def working(text: str, shown: bool) -> Iterator[None]:
    """Show on the terminal what is going on, until it is done."""
    if not shown:
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(text):
        yield


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
