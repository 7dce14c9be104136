"""Print the oldest versions that pyproject.toml allows, as constraints: python tests/minimum.py pyproject.toml."""

from __future__ import annotations

import re
import sys
import tomllib
from itertools import chain
from pathlib import Path


def constraints(pyproject: str) -> list[str]:
    """Return one line for each dependency, of the core and of all extras: its least version, with that one's repairs.

    Examples
    --------
    >>> constraints('[project]\\ndependencies = ["numpy>=2.0", "rich>=13"]')
    ['numpy==2.0.*', 'rich==13.0.*']
    """
    project = tomllib.loads(pyproject)["project"]
    found = set()
    for line in chain(project["dependencies"], *project.get("optional-dependencies", {}).values()):
        if match := re.fullmatch(r"([\w-]+)(?:\[[\w,]+\])?>=([\d.]+)", line):
            name, version = match.groups()
            found.add(f"{name}=={'.'.join([*version.split('.'), '0'][:2])}.*")
    return sorted(found)


if __name__ == "__main__":
    print("\n".join(constraints(Path(sys.argv[1]).read_text(encoding="utf-8"))))
