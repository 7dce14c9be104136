"""README and the site's pages: what they show runs and prints what they say, and nothing public is missing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.markdown import blocks, difference, run_page

import frankwolfe as fw
from frankwolfe.methods import METHODS

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
GENERATED = {"paper", "cli"}  # written when the site is built
PAGES = [ROOT / "README.md", *sorted(page for page in DOCS.glob("*.md") if page.stem not in GENERATED)]


@pytest.mark.parametrize("page", [page for page in PAGES if any(blocks(page.read_text("utf-8")))], ids=lambda p: p.stem)
def test_a_page_prints_what_it_shows(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("sklearn", "matplotlib", "typer"):
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    if missing := run_page(page):
        pytest.skip(f"all but the blocks that need {', '.join(sorted(set(missing)))}")


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("gap 1.01e-07 in 3 steps", "gap 4e-08   in 2 steps\n"),
        ("took 0.02 s", "took 1.7 s"),
        ("error 0.123", "error 0.1241"),
        ("a ... z", "a 1 2 3 z"),
        ("...", ""),
        ("1,234 rows", "1234 rows"),
    ],
)
def test_rounding_is_no_difference(shown: str, printed: str) -> None:
    assert not difference(shown, printed)


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("gap 1e-07", "gap 1e-02"),
        ("3 steps", "9 steps"),
        ("error 0.123", "error 0.133"),
        ("holds", "falls"),
        ("", "something"),
        ("12 of 30", "15 of 30"),
        ("a ... z", "a 1 2 3"),
    ],
)
def test_everything_else_is(shown: str, printed: str) -> None:
    assert difference(shown, printed)


def test_the_reference_lists_everything_public_once() -> None:
    listed = re.findall(r"^   (\w+)$", (DOCS / "api.rst").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(fw.__all__)


def test_every_page_can_be_reached() -> None:
    entries = {
        re.sub(r".*<(.+)>", r"\1", line.strip())
        for page in DOCS.glob("*.md")
        for tree in re.findall(r"```{toctree}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
        for line in tree.splitlines()
    }
    assert {page.stem for page in DOCS.glob("*.md")} - {"index"} <= entries


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_name_on_a_page_exists(page: Path) -> None:
    for name in set(re.findall(r"\bfw\.([A-Za-z_]+(?:\.[A-Za-z_]+)?)\b", page.read_text(encoding="utf-8"))):
        thing: object = fw
        for part in name.split("."):
            thing = getattr(thing, part)


def test_every_method_is_in_its_table() -> None:
    text = (DOCS / "methods.md").read_text(encoding="utf-8")
    assert [name for name in METHODS if f"`{name}`" not in text] == []


def test_the_methods_and_rules_named_as_advice_exist() -> None:
    text = (DOCS / "choosing.md").read_text(encoding="utf-8")
    assert set(re.findall(r"`([a-z]+)`", text)) - {"tol"} <= set(METHODS)
    assert set(re.findall(r"`([A-Z]\w+)\(", text)) <= set(fw.__all__)


def test_links_of_the_readme_work_wherever_it_is_shown() -> None:
    links = re.findall(r"\]\(([^)]+)\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert links
    assert [link for link in links if not link.startswith(("https://", "#"))] == []


def test_links_between_pages_lead_somewhere() -> None:
    for page in DOCS.glob("*.md"):
        for link in re.findall(r"\]\(([^):]+\.md)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (DOCS / link).exists() or Path(link).stem in GENERATED, f"{page.name}: {link}"


def test_the_map_of_the_code_is_true() -> None:
    source = Path(fw.__file__).parent
    table = re.search(
        r"^\| where \| what \|.*?\n\n", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    assert table
    named = [line.split("|")[1] for line in table[0].splitlines()[2:] if line]
    places = {place.rstrip("/") for cell in named for place in re.findall(r"`([\w./]+)`", cell)}
    assert [place for place in places if not (source / place).exists()] == []
    folders = {path.parent.name for path in source.glob("*/__init__.py")}
    assert folders <= places
    for page in ("iteration.md", "fast.md"):
        for place in re.findall(r"`((?:\w+/)+\w+\.py)`", (DOCS / page).read_text("utf-8")):
            assert (source / place).exists() or (ROOT / place).exists(), f"{page}: {place}"
