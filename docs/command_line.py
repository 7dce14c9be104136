"""The page on the command line, written from the commands' own help when the site is built."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import typer.main

from frankwolfe.cli.app import app


def page() -> str:
    """Return the page in Markdown: every command with its usage, examples and options."""
    root = typer.main.get_command(app)
    parts = ["# Command line", *_text(root.help or "")]
    for name, command in _commands(root, "frankwolfe"):
        parts += [f"## {name}", *_text(command.help or ""), *_table(command)]
    return "\n\n".join(parts) + "\n"


def _commands(group: Any, name: str) -> Iterator[tuple[str, Any]]:
    for key, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands(command, f"{name} {key}")
        elif not command.hidden:
            yield f"{name} {key}", command


def _text(help_: str) -> list[str]:
    """Return paragraphs; indented lines are commands."""
    lines = [line for line in help_.replace("\b", "").splitlines() if line.strip() not in {"Example:", "Examples:"}]
    paragraphs = [block for block in re.split(r"\n\s*\n", "\n".join(lines)) if block.strip()]
    shown: list[str] = []
    for block in paragraphs:
        if not block.startswith("    "):
            shown.append(block.strip())
        elif shown and shown[-1].startswith("```"):
            shown[-1] = shown[-1][:-3] + " ".join(block.split()) + "\n```"
        else:
            shown.append("```\n" + " ".join(block.split()) + "\n```")
    return shown


def _table(command: Any) -> list[str]:
    rows = []
    for parameter in command.params:
        if getattr(parameter, "hidden", False) or parameter.name == "help":
            continue
        names = parameter.opts + parameter.secondary_opts if parameter.param_type_name == "option" else [parameter.name]
        help_ = (getattr(parameter, "help", None) or "").replace("|", "\\|")
        default = parameter.default() if callable(parameter.default) else parameter.default
        given = (
            ""
            if default in (None, False, (), "", ...) or "UNSET" in str(default) or parameter.required
            else f"`{default}`"
        )
        rows.append(f"| {' '.join(f'`{name}`' for name in names)} | {help_} | {given} |")
    return ["\n".join(["| argument | what | default |", "|---|---|---|", *rows])] if rows else []
