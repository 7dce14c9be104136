"""The demonstration, at a small size: the page stands alone, is true, and repeats."""

from __future__ import annotations

import re

import matplotlib

matplotlib.use("Agg")
import numpy as np
import pytest

from frankwolfe.paper import demo
from frankwolfe.paper.demo import digits, photograph


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    return demo.run(tmp_path_factory.mktemp("demo") / "new" / "folder", settings=demo.SMALL, quiet=True)


@pytest.fixture(scope="module")
def photo():
    return photograph.solve(demo.SMALL, lambda job: None)


def test_page_needs_no_network(report):
    text = report.read_text("utf-8")
    found = re.findall(r"""(?:src|href|xlink:href)\s*=\s*["']([^"']*)|url\(([^)]*)\)""", text)
    assert found
    assert all((a or b).strip("'\"").startswith(("data:", "#")) for a, b in found)
    assert "<script" not in text
    assert "@import" not in text


def test_page_holds_every_figure(report):
    text = report.read_text("utf-8")
    assert text.count("<svg") == 11
    assert text.count("<table>") == 5
    for name in ("digits-l2-iterations", "digits-l1-certificates", "photograph-spectrum", "photograph-afw"):
        assert (report.parent / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    for title in ("Promise and truth", "Where they go wrong", "Choosing the radius", "Settings and versions"):
        assert title in text


def test_links_lead_somewhere(report):
    text = report.read_text("utf-8")
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert set(re.findall(r'<a href="#([^"]+)"', text)) <= set(ids)


def test_studies_are_honest():
    hand = digits.solve(demo.SMALL, lambda job: None)
    for study in hand.studies:
        assert study.reference.lower_bound <= study.reference.fun
        assert study.lower_bound <= study.optimum <= study.reference.fun
        for name, result in study.comparison.items():
            assert study.error(name) <= max(result.gap, study.gap) + 1e-12
            assert result.lower_bound <= study.reference.fun + 1e-12
            assert np.all(result.trace.gap >= result.trace.fun - study.reference.fun - 1e-12)
        assert sum(hand.confusion(study).values()) == len(hand.digits)
        assert hand.accuracy(study) > 0.9
    assert np.linalg.norm(hand.studies[0].reference.x) == pytest.approx(
        demo.SMALL.l2_radius, rel=0.01
    )  # the ball matters
    assert np.abs(hand.studies[1].reference.x).sum() == pytest.approx(demo.SMALL.l1_radius, rel=0.01)


def test_radius_is_chosen_without_the_hidden_pixels(photo):
    chosen = photo.withheld[photo.radii.index(photo.radius)]
    assert chosen <= photograph.SLACK * min(photo.withheld)
    baseline = np.sqrt(np.mean((photo.pixels - photo.mean)[~photo.observed] ** 2))
    for result in photo.study.comparison.values():
        assert float(photo.study.score(result.x)) < 0.6 * baseline


def test_everything_repeats(photo):
    again = photograph.solve(demo.SMALL, lambda job: None)
    for name, result in photo.study.comparison.items():
        assert result.fun == again.study.comparison[name].fun
        np.testing.assert_array_equal(photograph.dense(result.x), photograph.dense(again.study.comparison[name].x))
