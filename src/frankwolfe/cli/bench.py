"""`frankwolfe bench`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from frankwolfe.validation import nearest


def bench(
    names: Annotated[list[str] | None, typer.Argument(help="Which benchmarks; all by default.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="The short form.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Run the benchmarks of a checkout and write what they measured.

    They are not part of the installed package: run this in a clone of the repository.

    Example:

        frankwolfe bench recommender --quick
    """
    home = checkout()
    if home is None:
        raise ValueError("the benchmarks are in the repository and not in the package; run this in a clone of it")
    known = sorted(p.stem for p in (home / "benchmarks").glob("*.py") if "def measure(" in p.read_text("utf-8"))
    names = names or []
    for name in names:
        if name not in known:
            raise ValueError(f"no benchmark {name!r}; {nearest(name, known)}")
    command = [sys.executable, "-m", "benchmarks", *["--quick"] * quick, *names]
    done = subprocess.run(command, cwd=home, stdout=subprocess.DEVNULL if quiet else None)
    if done.returncode:
        raise typer.Exit(done.returncode)


def checkout() -> Path | None:
    """Return the repository that holds the benchmarks: here, above, or where the package was installed from."""
    here = Path.cwd()
    for folder in (here, *here.parents, *Path(__file__).resolve().parents):
        if (folder / "benchmarks" / "__main__.py").is_file() and (folder / "src" / "frankwolfe").is_dir():
            return folder
    return None
