"""What a shell offers for the values of options: names that are known, and the columns of the file on the line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any


def one_of(*names: str) -> Callable[[str], list[str]]:
    """Return what completes one of some names.

    Examples
    --------
    >>> one_of("l1", "l2", "box")("l")
    ['l1', 'l2']
    """

    def complete(incomplete: str) -> list[str]:
        return [name for name in names if name.startswith(incomplete)]

    return complete


def known_losses(incomplete: str) -> list[str]:
    """Return the losses that estimators know."""
    from frankwolfe.objectives import CLASSIFICATION, REGRESSION

    return one_of(*REGRESSION, *CLASSIFICATION)(incomplete)


def columns_of(ctx: Any, incomplete: str) -> list[str]:
    """Return the columns of the table that is already on the line; none where it cannot be read."""
    from frankwolfe.cli.tables import PARQUET, TEXT, Table, suffix

    try:
        path = Path(str(ctx.params["data"]))
        names = Table(path).names if suffix(path) in (*TEXT, *PARQUET) else []
    except Exception:  # a shell that completes must not be told of errors
        return []
    return [name for name in names if name.startswith(incomplete)]
