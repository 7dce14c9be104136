"""What the pages say: ``text/*.toml``, one file for each section, into which measured numbers are filled.

Texts may be wrapped anywhere; a field such as ``{gap:.1e}`` is filled in by the section that has the number.
"""

from __future__ import annotations

import platform
import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import metadata, resources
from typing import Any

from frankwolfe.paper.publication.figure_data import Figure, Panel, Section, Table


@cache
def read(name: str) -> dict[str, Any]:
    """Return a file of texts as plain data."""
    return tomllib.loads(resources.files("frankwolfe.paper").joinpath("text", f"{name}.toml").read_text("utf-8"))


def fill(template: str, values: dict[str, Any]) -> str:
    """Return a text on one line, with its fields filled in, large numbers written short."""
    return re.sub(r"(\d)e\+0?(\d)", r"\1e\2", " ".join(template.split()).format(**values))


def versions(*packages: str) -> dict[str, str]:
    """Return the versions of Python and of packages."""
    found = {d.metadata["Name"].lower(): d.version for d in metadata.distributions() if d.metadata["Name"]}
    return {"Python": platform.python_version()} | {p: found.get(p, "not installed") for p in packages}


class Words:
    """The words of one section (`key`, also its file), of its figures and tables; `values` are for their fields."""

    def __init__(self, key: str, **values: Any) -> None:
        self.key, self.text, self.values = key, read(key), values

    def figure(
        self,
        key: str,
        panels: list[Panel],
        columns: int = 1,
        axes: tuple[str, ...] = ("k", "time", "n_pass"),
        **values: Any,
    ) -> Figure:
        """Return a figure with its title and caption; further `values` are for this figure alone."""
        told, values = self.text["figures"][values.pop("text", key)], self.values | values
        return Figure(key, fill(told["title"], values), fill(told["caption"], values), panels, columns, axes)

    def section(self, figures: list[Figure], tables: Mapping[str, Sequence[Sequence[Any]]] | None = None) -> Section:
        """Return the section with its title and introduction, and tables with their titles, heads and notes."""
        text = self.text
        drawn = [self._table(key, rows, **text["tables"][key]) for key, rows in (tables or {}).items()]
        return Section(self.key, text["title"], fill(text.get("intro", ""), self.values), figures, drawn)

    def _table(
        self, key: str, rows: Sequence[Sequence[Any]], title: str, head: list[str], note: str = "", words: bool = False
    ) -> Table:
        title, note, *head = (fill(text, self.values) for text in (title, note, *head))
        return Table(key, title, head, [list(row) for row in rows], note, words)
