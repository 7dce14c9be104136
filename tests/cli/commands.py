"""The command line, called from tests."""

from __future__ import annotations

from typing import Any

from typer.testing import CliRunner

from frankwolfe.cli.app import app


def call(*arguments: Any, code: int = 0) -> Any:
    """Run a command that must end with an exit code; return what it printed."""
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    assert result.exit_code == code, result.output
    return result


def refused(*arguments: Any) -> str:
    """Run a command that must fail politely; return its line."""
    result = call(*arguments, code=2)
    assert result.stderr.startswith("frankwolfe: ")
    assert result.stderr.count("\n") == 1
    assert not result.stdout
    return result.stderr
