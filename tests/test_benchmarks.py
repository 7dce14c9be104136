"""The benchmark runner: its words, its page, what is published. What it measures is for commands, not tests."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from benchmarks.__main__ import NAMES
from benchmarks.page import write_page
from benchmarks.published import BEGIN, END, page, summary, write_section
from benchmarks.report import holds, printed, verdict
from benchmarks.scaling import fitted

ROOT = Path(__file__).parent.parent
RECORD = {
    "title": "Speed: an example",
    "columns": ["data", "seconds"],
    "rows": [["a9a", 0.25], ["covtype", 1234.5]],
    "bars": [
        {"name": "ahead of naive", "value": 2.5, "bar": 2.0, "sense": ">=", "unit": "x"},
        {"name": "of the floor", "value": 1.5, "bar": 1.25, "sense": "<=", "unit": "x"},
    ],
    "curves": [{"title": "growth", "x": "n", "y": "s", "series": {"ours": [[1, 1], [10, 10]]}}],
    "notes": ["a note"],
    "seconds": 3.0,
    "quick": True,
}


def test_bars_are_judged_by_their_sense() -> None:
    assert [holds(bar) for bar in RECORD["bars"]] == [True, False]
    assert verdict(RECORD["bars"][0]).startswith("pass")
    assert verdict(RECORD["bars"][1]).startswith("fall short")


def test_a_record_is_printed_whole() -> None:
    text = printed(RECORD)
    assert "a9a" in text
    assert "1,234" in text
    assert "note: a note" in text


def test_the_page_holds_tables_bars_and_curves(tmp_path: Path) -> None:
    write_page(tmp_path / "index.html", {"speed": RECORD})
    text = (tmp_path / "index.html").read_text("utf-8")
    assert "1 of 2" in text
    assert "falls short" in text
    assert "<svg" in text
    assert "http" not in text.replace("http://www.w3.org", "")


def test_the_section_is_replaced_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "performance.md"
    path.write_text(f"before\n{BEGIN}\nstale\n{END}\nafter\n", encoding="utf-8")
    write_section(path, page, {"speed": RECORD})
    text = path.read_text("utf-8")
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "stale" not in text
    assert "| ahead of naive | 2.5 x | at least 2 x | holds |" in text


def test_the_summary_gives_ranges() -> None:
    bars = [
        dict(RECORD["bars"][0], name=f"2: {data}, best peer (x) over auto", value=v) for data, v in (("a", 3), ("b", 2))
    ]
    text = summary({"accuracy": dict(RECORD, bars=bars)})
    assert "l2 balls: 2 to 3 times ahead" in text
    assert "2 of 2 bars" in text


def test_a_page_without_marks_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "README.md"
    path.write_text("no marks", encoding="utf-8")
    with pytest.raises(SystemExit, match="lost its marks"):
        write_section(path, page, {})


@pytest.mark.parametrize(("path", "section"), [("README.md", summary), ("docs/performance.md", page)])
def test_what_is_published_is_what_was_measured_last(path: str, section: Callable[[dict], str]) -> None:
    """The section is generated: it holds exactly what the stored results say."""
    results = ROOT / "benchmarks" / "results"
    records = {
        n: json.loads((results / f"{n}.json").read_text("utf-8")) for n in NAMES if (results / f"{n}.json").exists()
    }
    assert section(records) in (ROOT / path).read_text("utf-8")


def test_exponents() -> None:
    assert fitted([1, 10, 100], [3, 300, 30000]) == pytest.approx(2.0)


def test_a_peer_gets_its_fastest_setting_or_is_given_up() -> None:
    """Rounds double until the goal is met; a solver that stalls is shown with a lower bound."""
    import time

    import numpy as np
    from benchmarks.peers import fastest

    def halving(setting) -> np.ndarray:
        time.sleep(1e-4 * min(setting.max_iter, 20))
        return np.array([0.5 ** min(setting.max_iter, 20)])

    found = fastest(halving, lambda x: float(x[0]), 1e-3, allowed=5.0)
    assert found.setting is not None
    assert 10 <= found.setting.max_iter <= 5000
    errors = [error for _, error in found.way]
    assert errors == sorted(errors, reverse=True)
    stalled = fastest(halving, lambda x: float(x[0]), 1e-9, allowed=5.0)
    assert stalled.setting is None
    assert stalled.seconds > 0
