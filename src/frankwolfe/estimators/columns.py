"""How the columns of a table become the features of a model."""

from __future__ import annotations

from typing import NamedTuple


class Column(NamedTuple):
    """How a column becomes numbers: by its levels where it is text, else by what fills its empty cells.

    Examples
    --------
    >>> Column("colour", ["blue", "red"]).names, Column("age", fill=41.0).names
    (['colour=blue', 'colour=red'], ['age'])
    """

    name: str
    levels: list[str] | None = None
    fill: float | None = None

    @property
    def names(self) -> list[str]:
        """The names of the numbers that it becomes."""
        return [self.name] if self.levels is None else [f"{self.name}={level}" for level in self.levels]
