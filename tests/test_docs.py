"""The site's pages: nothing public is missing, nothing is left out of the index, and what they show runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import frankwolfe as fw
from frankwolfe.methods import METHODS

DOCS = Path(__file__).parent.parent / "docs"
GUIDES = [DOCS / f"{name}.md" for name in ("index", "choosing", "own-set", "verify")]


def test_the_reference_lists_everything_public_once() -> None:
    listed = re.findall(r"^   (\w+)$", (DOCS / "api.rst").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(fw.__all__)


def test_every_page_is_in_the_index() -> None:
    index = (DOCS / "index.md").read_text(encoding="utf-8").splitlines()
    assert {page.stem for page in DOCS.glob("*.md")} - {"index"} <= set(index)


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.stem)
def test_what_a_guide_shows_runs_and_prints_what_it_says(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    space: dict[str, object] = {}
    for code, output in re.findall(
        r"```python\n(.*?)```\n(?:\n```text\n(.*?)```)?", page.read_text(encoding="utf-8"), re.DOTALL
    ):
        exec(compile(code, str(page), "exec"), space)
        printed = capsys.readouterr().out
        assert printed == output if output else printed


def test_the_methods_and_rules_named_as_advice_exist() -> None:
    text = (DOCS / "choosing.md").read_text(encoding="utf-8")
    assert set(re.findall(r"`([a-z]+)`", text)) - {"tol"} <= set(METHODS)
    assert set(re.findall(r"`([A-Z]\w+)\(", text)) <= set(fw.__all__)
