"""What the README shows is what happens."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from frankwolfe.methods import METHODS

README = Path(__file__).parent.parent / "README.md"


def test_the_first_example_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    code, shown = re.findall(r"```(?:python)?\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)[:2]
    exec(compile(code, str(README), "exec"), {})
    printed = capsys.readouterr().out
    # Seconds differ, and the last digits may on another machine.
    pattern = re.compile(r"in [\d.e-]+ s|(?<=\d\.\d{5})\d+|\d\.\d+e-\d+")
    assert pattern.sub("", printed).split() == pattern.sub("", shown).split()


def test_every_method_is_in_the_table() -> None:
    text = README.read_text(encoding="utf-8")
    assert [name for name in METHODS if f"`{name}`" not in text] == []
