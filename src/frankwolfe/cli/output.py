"""What commands print: tables for people, JSON for machines, or nothing."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
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
