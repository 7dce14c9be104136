"""Options whose values a shell can complete: names that are known, and the columns of the file on the line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer


def choice(help: str, *names: str) -> Any:
    """Return an option that takes one of some names."""
    return typer.Option(help=help, autocompletion=lambda incomplete: _starting(names, incomplete))


def column(help: str) -> Any:
    """Return an option that takes a column of the table on the line."""
    return typer.Option(help=help, autocompletion=columns_of)


def known_losses(incomplete: str) -> list[str]:
    """Return the losses that estimators know."""
    from frankwolfe.objectives import CLASSIFICATION, REGRESSION

    return _starting((*REGRESSION, *CLASSIFICATION), incomplete)


def columns_of(ctx: Any, incomplete: str) -> list[str]:
    """Return the columns of the table that is already on the line; none where it cannot be read."""
    from frankwolfe.cli.tables import PARQUET, TEXT, Table, suffix

    try:
        path = Path(str(ctx.params["data"]))
        names = Table(path).names if suffix(path) in (*TEXT, *PARQUET) else []
    except Exception:  # a shell that completes must not be told of errors
        return []
    return _starting(names, incomplete)


def _starting(names: Any, incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]
