"""The published summary: written by the claims as they are now, small, shown in the README and the documentation."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from frankwolfe.paper import reproduce
from frankwolfe.paper.claims import CLAIMS, FINDINGS
from frankwolfe.paper.publication.publish import BEGIN, END, SUMMARY, publish, verdict_table, with_table, write_chapter
from frankwolfe.paper.publication.summary import Summary, read_summary
from frankwolfe.paper.verdicts import KINDS, UNKNOWN

ROOT = Path(__file__).parents[2]
AGAIN = "run `frankwolfe reproduce all --publish`"


@pytest.fixture(scope="module")
def committed() -> Summary:
    return read_summary(ROOT / SUMMARY)


def test_it_was_written_by_the_current_claims(committed):
    for rows, claims in ((committed.findings, FINDINGS), (committed.claims, CLAIMS)):
        told = [(r.key, r.text, r.quotation, r.where, r.figure) for r in rows]
        assert told == [(c.key, c.text, c.quotation, c.where, c.figure) for c in claims], AGAIN


def test_advice_quotes_the_slopes_and_ratios_that_were_measured(committed):
    text = (ROOT / "docs" / "choosing.md").read_text(encoding="utf-8")
    tables = {t.key: t for s in committed.sections for t in s.tables}
    slopes = {row[0]: row for row in tables["beyond-slopes"].rows}
    for ball, columns in {"l2 ball, R = 1": (1, 2), "l2 ball, R = 20": (1, 2), "l1 ball, R = 10": (1, 2)}.items():
        for column in columns:
            assert slopes[ball][column].split()[0].replace("-", "−") in text, (ball, column)
    errors = {row[0].lstrip("★ "): float(row[2]) / float(row[3]) for row in tables["fig3-radii"].rows}
    l1 = [errors[f"{name}, l1 ball, R = 60"] for name in ("mushrooms", "mnist", "covtype")]
    assert f"by {min(l1):.0f} to {max(l1):.0f} times at radius 60" in text
    assert f"by {1 / errors['mushrooms, l1 ball, R = 1']:.0f} times at radius 1 on mushrooms" in text


def test_every_claim_has_a_verdict_a_number_a_sentence_and_a_figure(committed):
    figures = {f.key for s in committed.sections for f in s.figures}
    for row in (*committed.findings, *committed.claims):
        assert row.verdict in KINDS
        assert row.verdict != UNKNOWN, row.key
        assert row.number, row.key
        assert row.sentence, row.key
        assert row.figure in figures, row.key
    assert committed.about["machine"]
    assert "--quick" not in committed.about["command"]


def test_every_table_has_a_sentence(committed):
    for section in (*committed.sections, *committed.end):
        for table in section.tables:
            assert table.note or section in committed.end, table.key
        assert section.intro or all(table.note for table in section.tables), section.key


def test_it_is_small():
    assert (ROOT / SUMMARY).stat().st_size < 2_000_000


def test_the_readme_shows_it(committed):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert text == with_table(text, committed), AGAIN
    assert verdict_table(committed) in text


def test_an_erratum_does_not_contradict_its_claim(committed):
    (errata,) = (t for s in committed.end for t in s.tables if t.key == "errata")
    verdicts = {r.key: r for r in committed.claims}
    found = next(row for row in errata.rows if "too expensive" in row[0])
    assert found[2].startswith(verdicts["expensive"].verdict)


@pytest.mark.slow
def test_the_chapter_is_built_from_it(committed, tmp_path):
    first, *others = committed.sections  # drawing takes a second a figure; test_pipeline draws them all
    sections = [replace(first, figures=first.figures[:1]), *(replace(s, figures=[]) for s in others)]
    write_chapter(replace(committed, sections=sections), tmp_path / "paper.md", tmp_path / "pictures")
    text = (tmp_path / "paper.md").read_text(encoding="utf-8")
    for target in set(re.findall(r'href="#([^"]+)"', text)):
        assert f'id="{target}"' in text
    for picture in re.findall(r'src="([^"]+)"', text):
        assert (tmp_path / picture).stat().st_size > 1000
    for row in committed.claims:
        assert f'id="claim-{row.key}"' in text
    headings = {re.sub(r"[^a-z0-9]+", "-", h.lower()).strip("-") for h in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}
    assert not headings & set(re.findall(r'id="([^"]+)"', text))  # a link must not land on a heading of the same name


def test_publishing_writes_what_reading_finds(committed, tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text(f"before\n{BEGIN}\nstale\n{END}\nafter\n", encoding="utf-8")
    publish(committed, tmp_path)
    again = read_summary(tmp_path / SUMMARY)
    assert again.claims == committed.claims
    readme = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert readme.startswith("before\n")
    assert readme.endswith("\nafter\n")
    assert "stale" not in readme
    assert [s.tables for s in again.sections] == [s.tables for s in committed.sections]
    assert [f.key for s in again.sections for f in s.figures] == [f.key for s in committed.sections for f in s.figures]


def test_only_the_full_run_is_published(tmp_path):
    with pytest.raises(ValueError, match="full run"):
        reproduce("fig1", into=ROOT, out=tmp_path)
    with pytest.raises(ValueError, match="full run"):
        reproduce("all", quick=True, into=ROOT, out=tmp_path)
    with pytest.raises(ValueError, match="sources"):
        reproduce("all", into=tmp_path, out=tmp_path)
