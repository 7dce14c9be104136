"""The quick start of classification runs as it is printed, is short, and prints what the page says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "quickstart-classification.md"


def test_the_page_is_short_and_true(capsys: pytest.CaptureFixture[str]) -> None:
    text = PAGE.read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (shown,) = re.findall(r"```text\n(.*?)```", text, re.DOTALL)
    assert sum(bool(line.strip()) for line in code.splitlines()) < 10
    exec(compile(code, str(PAGE), "exec"), {})
    said = capsys.readouterr().out
    accuracy, used = re.search(r"accuracy ([0-9.]+) with ([0-9]+) of 30", said).groups()  # pyright: ignore
    assert float(accuracy) >= 0.93
    assert 0 < int(used) < 30
    assert re.sub(r"[0-9][0-9.e-]*", "#", said) == re.sub(r"[0-9][0-9.e-]*", "#", shown)
