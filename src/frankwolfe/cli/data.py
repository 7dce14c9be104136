"""`frankwolfe data`: the datasets known by name."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from frankwolfe.cli.errors import polite
from frankwolfe.cli.output import Json, Quiet, show

data = typer.Typer(
    help="List, fetch and describe datasets.\n\nExample:\n\n    frankwolfe data fetch mushrooms",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Name = Annotated[str, typer.Argument(help="The dataset, for example mushrooms.")]
Folder = Annotated[Path | None, typer.Option("--dir", help="Look here first; default: $FRANKWOLFE_DATA.")]


def show_list(as_json: Json = False) -> None:
    """List the datasets known by name.

    Example:

        frankwolfe data list
    """
    from frankwolfe import datasets

    known = {name: datasets.info(name) for name in datasets.names()}
    if as_json:
        show({name: _about(entry) for name, entry in known.items()}, as_json=True, quiet=False)
        return
    for name, about in known.items():
        typer.echo(f"{name:<14} {about.rows:>7} x {about.columns:<5} {about.description}")


def info(name: Name, as_json: Json = False) -> None:
    """Say what a dataset is, without loading it.

    Example:

        frankwolfe data info a9a
    """
    from frankwolfe import datasets

    about = datasets.info(name)
    if as_json:
        show({"name": name, **_about(about)}, as_json=True, quiet=False)
        return
    kind = "users x items" if about.kind == "ratings" else "rows x columns"
    entries = "observed" if about.kind == "ratings" else "nonzeros"
    lines = {
        "what": about.description,
        "size": f"{about.rows} x {about.columns} ({kind}), {about.nonzeros} {entries}",
        "classes": ", ".join(f"{label}: {count}" for label, count in about.classes.items()),
        "files": ", ".join(dict.fromkeys(file.name for file in about.files.values())),
        "source": about.source,
    }
    typer.echo(name)
    for word, text in lines.items():
        if text:
            typer.echo(f"  {word:<8} {text}")


def fetch(name: Name, directory: Folder = None, as_json: Json = False, quiet: Quiet = False) -> None:
    """Load a dataset, downloading it if it is nowhere here, and say what is in it.

    Example:

        frankwolfe data fetch mushrooms
    """
    from frankwolfe import datasets

    datasets.info(name)  # an unknown name is an error before anything is read
    loaded = datasets.load(name, directory=directory, progress=False if quiet or as_json else None)
    if as_json:
        show({"name": name, **_about(datasets.info(name))}, as_json=True, quiet=False)
    elif not quiet:
        typer.echo(repr(loaded))


def _about(entry: Any) -> dict[str, Any]:
    names = ("description", "kind", "rows", "columns", "nonzeros", "classes", "source")
    return {name: getattr(entry, name) for name in names}


data.command("list")(polite(show_list))
data.command("info")(polite(info))
data.command("fetch")(polite(fetch))
