"""The command line: a command is a function whose arguments are typer options, and one line in ``cli/app.py``."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; without typer, say how to install it."""
    try:
        from frankwolfe.cli.app import app
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in {"typer", "click", "rich"}:
            raise
        print('frankwolfe: this needs typer; install it with: pip install "frankwolfe[cli]"', file=sys.stderr)
        raise SystemExit(2) from None
    app()
