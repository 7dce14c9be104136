"""The quick starts run, are short, and say true things."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import frankwolfe as fw

PAGES = sorted((Path(__file__).parent.parent / "docs").glob("quickstart-*.md"))


def program(page: Path) -> str:
    return re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)[0]


def test_there_are_quick_starts() -> None:
    assert {"quickstart-recommender", "quickstart-own-function"} <= {page.stem for page in PAGES}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_it_is_short_and_runs(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = program(page)
    assert sum(bool(line.strip()) for line in code.splitlines()) < 10
    exec(compile(code, str(page), "exec"), {})
    assert capsys.readouterr().out.strip()


def test_the_recommender_recommends(capsys: pytest.CaptureFixture[str]) -> None:
    page = next(page for page in PAGES if page.stem == "quickstart-recommender")
    exec(compile(program(page), str(page), "exec"), space := {})
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["Heat", "Amelie"]
    model = space["model"]
    assert 1 <= model.predict("bob", "Heat") <= 5
    assert model.similar_items("Alien")


def test_the_portfolio_is_proven_good(capsys: pytest.CaptureFixture[str]) -> None:
    page = next(page for page in PAGES if page.stem == "quickstart-own-function")
    exec(compile(program(page), str(page), "exec"), space := {})
    result = space["result"]
    assert result.success
    assert result.gap <= 1e-8
    assert abs(result.x.sum() - 1) < 1e-9
    assert "proven" in capsys.readouterr().out


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_name_on_the_page_exists(page: Path) -> None:
    names = set(re.findall(r"\b(?:fw|frankwolfe)\.([A-Za-z_]+(?:\.[A-Za-z_]+)?)\b", page.read_text(encoding="utf-8")))
    for name in names:
        thing: object = fw
        for part in name.split("."):
            thing = getattr(thing, part)
