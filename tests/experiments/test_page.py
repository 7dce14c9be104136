"""The page in a real browser: it opens in silence, and its figures answer to clicks."""

from __future__ import annotations

import pytest

from frankwolfe.experiments import reproduce

from .browser import Browser, chromium

needs_browser = pytest.mark.skipif(chromium() is None, reason="no Chromium here; install Debian's chromium package")
pytestmark = [needs_browser, pytest.mark.slow]

PLOT = "document.getElementById('fig2-panel-0')"


@pytest.fixture(scope="module")
def page(tiny, tmp_path_factory):
    return reproduce("fig2", out=tmp_path_factory.mktemp("page"), quick=True, quiet=True, jobs=1)


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
