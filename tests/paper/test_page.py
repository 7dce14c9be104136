"""The page in a real browser: it opens in silence, and its figures answer to clicks."""

from __future__ import annotations

from pathlib import Path

import pytest

from frankwolfe.paper import reproduce
from frankwolfe.paper.publication.page import write_page
from frankwolfe.paper.publication.publish import SUMMARY
from frankwolfe.paper.publication.summary import read_summary

from .browser import Browser, chromium

needs_browser = pytest.mark.skipif(chromium() is None, reason="no Chromium here; install Debian's chromium package")
pytestmark = [needs_browser, pytest.mark.slow]

PLOT = "document.getElementById('fig2-panel-0')"


@pytest.fixture(scope="module")
def page(tiny, tmp_path_factory):
    return reproduce("fig2", out=tmp_path_factory.mktemp("page"), quick=True, quiet=True, jobs=1)


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """The page with what is published: every claim, every table, every figure (thinned)."""
    folder = tmp_path_factory.mktemp("published")
    (folder / "figures").mkdir()
    write_page(folder / "index.html", read_summary(Path(__file__).parents[2] / SUMMARY), [], False)
    return folder / "index.html"


@pytest.fixture
def browser():
    opened = Browser()
    yield opened
    opened.close()


def show(browser: Browser) -> None:
    browser.evaluate("document.getElementById('fig2').scrollIntoView({behavior: 'instant'})")
    browser.wait_for(f"{PLOT}.querySelectorAll('.legendtoggle').length > 3")


def test_it_opens_without_a_complaint_or_a_request(page, browser):
    browser.open(page)
    show(browser)
    browser.evaluate("window.scrollTo(0, document.body.scrollHeight)")
    assert browser.complaints == []
    assert [r for r in browser.requests if not r.startswith(("file:", "data:", "blob:"))] == []
    assert len([r for r in browser.requests if r.startswith("file:")]) == 1


def test_a_click_on_the_legend_hides_a_method(page, browser):
    browser.open(page)
    show(browser)
    visible = f"{PLOT}.data.find(t => t.name === 'FW').visible"
    entry = (
        f"[...{PLOT}.querySelectorAll('.traces')].find(g => g.textContent === 'FW')"
        ".querySelector('.legendtoggle').getBoundingClientRect()"
    )
    assert browser.evaluate(visible) is True
    lines = f"{PLOT}.querySelectorAll('.scatterlayer .trace').length"
    before = browser.evaluate(lines)
    place = browser.evaluate(f"(r => [r.x + r.width / 2, r.y + r.height / 2])({entry})")
    browser.click(*place)
    browser.wait_for(f"{visible} === 'legendonly'")
    browser.wait_for(f"{lines} < {before}")
    assert browser.complaints == []


def test_a_button_switches_the_horizontal_axis(page, browser):
    browser.open(page)
    show(browser)
    title = f"{PLOT}.querySelector('.xtitle').textContent"
    points = f"JSON.stringify({PLOT}.data.find(t => t.name === 'AFW').x)"
    assert browser.evaluate(title) == "iterations"
    before = browser.evaluate(points)
    browser.evaluate("document.querySelector('#fig2-axes button[data-axis=time]').click()")
    browser.wait_for(f"{title} === 'seconds'")
    assert browser.evaluate(points) != before
    pressed = "document.querySelector('#fig2-axes button[aria-pressed=true]').textContent"
    assert browser.evaluate(pressed) == "seconds"
    assert browser.complaints == []


def test_what_was_hidden_stays_hidden_when_the_axis_changes(page, browser):
    browser.open(page)
    show(browser)
    visible = f"{PLOT}.data.find(t => t.name === 'GD').visible"
    everything = f"{PLOT}.data.map((t, i) => i)"
    browser.evaluate(f"Plotly.restyle({PLOT}, {{visible: 'legendonly'}}, {everything}).then(() => true)")
    browser.evaluate("document.querySelector('#fig2-axes button[data-axis=n_pass]').click()")
    browser.wait_for(f"{PLOT}.querySelector('.xtitle').textContent === 'passes over the data'")
    assert browser.evaluate(visible) == "legendonly"


def test_it_fits_a_phone(page, browser):
    browser.resize(390, 844, phone=True)
    browser.open(page)
    show(browser)
    assert browser.evaluate("document.documentElement.scrollWidth") <= 390
    assert browser.evaluate(f"{PLOT}.getBoundingClientRect().width") <= 390


CUT_OFF = """
[...document.querySelectorAll('table, .scroll, .panel, .facts, p, h2, h3')].filter(e => e.getClientRects().length)
  .filter(e => e.getBoundingClientRect().right > innerWidth + 1 || e.scrollWidth > e.clientWidth + 1)
  .map(e => e.tagName + ' ' + e.textContent.slice(0, 60))
"""


@pytest.mark.parametrize(("width", "phone"), [(1200, False), (390, True)])
def test_nothing_is_cut_off(published, browser, width, phone):
    browser.resize(width, 844, phone=phone)
    browser.open(published)
    browser.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    assert browser.evaluate(CUT_OFF) == []


def test_every_claim_leads_to_its_figure(published, browser):
    browser.open(published)
    rows = "[...document.querySelectorAll('.claims tbody tr')]"
    assert browser.evaluate(f"{rows}.length") == browser.evaluate(f"{rows}.filter(r => r.querySelector('a')).length")
    landed = browser.evaluate(
        "[...document.querySelectorAll('.claims a')].map(a => document.getElementById(a.hash.slice(1)))"
        ".filter(e => e && e.classList.contains('figure') && e.querySelector('.plot')).length"
    )
    assert landed == browser.evaluate("document.querySelectorAll('.claims a').length")
    assert browser.complaints == []
