"""Figures show what they should, and leave the user's settings alone."""

from __future__ import annotations

import re
import subprocess
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest

import frankwolfe as fw
from frankwolfe.plotting import AXES, TITLES, figure, html, line_style, notebook, plot_comparison, plot_result
from frankwolfe.plotting.curves import plot_path, plot_search
from frankwolfe.plotting.style import INK


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    return fw.LeastSquares(rng.normal(size=(30, 5)), rng.normal(size=30)), fw.L2Ball(0.3)


@pytest.fixture(scope="module")
def comparison(problem):
    return fw.compare(*problem, ["fw", "afw", "apgd"], tol=0, max_iter=60)


def test_comparison_draws_every_method_with_its_data(comparison):
    ax = comparison.plot(against="n_lmo")
    assert [line.get_label() for line in ax.lines] == [TITLES[name] for name in comparison]
    assert (ax.get_xscale(), ax.get_yscale(), ax.get_xlabel()) == ("log", "log", "oracle calls")
    trace = comparison["afw"].trace
    error = trace.fun - comparison.lower_bound
    shown = (error > 0) & (trace.n_lmo > 0)
    np.testing.assert_array_equal(ax.lines[1].get_ydata(), error[shown])
    np.testing.assert_array_equal(ax.lines[1].get_xdata(), trace.n_lmo[shown])


def test_comparison_says_what_the_error_is(comparison):
    assert comparison.plot().get_ylabel() == "certified upper bound on the error"
    best = min(r.fun for r in comparison.values())
    ax = comparison.plot(optimum=best - 0.1)
    assert ax.get_ylabel() == "error f(x) − f*"
    assert min(ax.lines[0].get_ydata()) >= 0.1 - 1e-12


def test_comparison_without_any_bound(problem):
    ax = fw.compare(problem[0], None, ["agm"], max_iter=20).plot()
    assert "no bound proven" in ax.get_ylabel()


def test_comparison_uses_the_axes_it_is_given(comparison):
    _, mine = plt.subplots()
    assert comparison.plot(ax=mine) is mine


@pytest.mark.parametrize("against", list(AXES))
def test_every_axis_has_words(comparison, against):
    assert comparison.plot(against=against).get_xlabel() == AXES[against]


def test_result_draws_value_bound_and_gap(comparison):
    value, gap = comparison["afw"].plot(against="k")
    trace = comparison["afw"].trace
    np.testing.assert_array_equal(value.lines[0].get_ydata(), trace.fun)
    assert [line.get_label() for line in value.lines] == ["value f(x)", "proven lower bound"]
    assert gap.get_yscale() == "log"
    np.testing.assert_array_equal(gap.lines[0].get_ydata(), trace.gap[trace.gap > 0])


def test_result_without_a_bound_says_so(problem):
    _, gap = fw.minimize(problem[0], None, method="agm", max_iter=5).plot()
    assert "proves no lower bound" in gap.texts[0].get_text()


def test_bad_arguments(comparison):
    with pytest.raises(ValueError, match="against must name a column of the trace, got 'tme'; did you mean 'time'"):
        comparison.plot(against="tme")
    with pytest.raises(ValueError, match="against must name"):
        plot_result(comparison["fw"], against="gap")
    with pytest.raises(ValueError, match="optimum must be a finite number"):
        comparison.plot(optimum=float("nan"))
    with pytest.raises(ValueError, match="pair of matplotlib Axes"):
        plot_result(comparison["fw"], ax=plt.subplots()[1])
    with pytest.raises(ValueError, match="comparison is empty"):
        plot_comparison({})


def test_user_settings_survive(comparison):
    before = dict(matplotlib.rcParams)
    comparison.plot()
    comparison["fw"].plot()
    with figure() as (fig, ax):
        ax.plot([1, 2])
    html.svg(fig, "x")
    assert dict(matplotlib.rcParams) == before


def test_every_method_looks_different_and_the_same_everywhere(problem):
    looks = [(line_style(m)["color"], str(line_style(m)["linestyle"])) for m in TITLES]
    assert len(set(looks)) == len(looks)
    assert set(fw.methods.METHODS) <= set(TITLES)
    assert line_style("my own") == line_style("my own")
    both = fw.compare(*problem, {"three": fw.AcceleratedFrankWolfe(), "two": fw.AcceleratedFrankWolfe(offset=2)})
    a, b = both.plot().lines
    assert a.get_color() == b.get_color()
    assert a.get_linestyle() != b.get_linestyle() or a._dash_pattern != b._dash_pattern


def test_svg_follows_the_page_and_keeps_its_identifiers_apart():
    texts = []
    for top in (1, 2):
        with figure() as (fig, ax):
            ax.plot([0, 1], [0, top])
        texts.append(html.svg(fig, 'says "hello" & more'))
        assert html.svg(fig, "again").split(">", 1)[1] == texts[-1].split(">", 1)[1]  # the same in every run
    ids = [set(re.findall(r'\bid="([^"]+)"', text)) for text in texts]
    assert ids[0]
    assert not ids[0] & ids[1]
    for text, known in zip(texts, ids, strict=True):
        assert set(re.findall(r'(?:href="#|url\(#)([^")]+)', text)) <= known
        assert "var(--ink)" in text
        assert INK not in text
        assert 'aria-label="says &quot;hello&quot; &amp; more"' in text


def test_html_escapes_what_people_wrote():
    text = html.page("<b>", html.section("a", "<i>", html.table(["<u>"], [["<s>"]])))
    assert not re.search("<(b|i|u|s)>", text)


def test_png_keeps_missing_entries_transparent():
    import io

    image = plt.imread(io.BytesIO(html.png([[0.0, np.nan], [1.0, 0.5]], scale=2)))
    assert image.shape == (4, 4, 4)
    assert image[0, 3, 3] == 0
    assert image[0, 0, 3] == 1


def test_importing_the_library_loads_none_of_it():
    code = "import sys, frankwolfe; print({'matplotlib', 'typer', 'sklearn', 'rich'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"


def test_paths_and_searches() -> None:
    path = fw.path(fw.LeastSquares(np.eye(2), [3.0, 4.0]), fw.L1Ball, [1.0, 2.0, 4.0])
    left, right = plot_path(path)
    assert (len(left.lines), right.get_ylabel()) == (2, "objective value")
    radii, scores = np.array([1.0, 2.0]), np.array([[0.1, 0.3], [0.2, 0.4]])
    left, right = plot_search(radii, np.ones((2, 3)), scores, 2.0, "afw", "accuracy")
    assert (len(left.lines), right.get_ylabel()) == (4, "accuracy")


def test_what_a_notebook_shows() -> None:
    assert "gap" in notebook.table({"gap": "1e-07"})
    assert notebook.curves({"afw": ([0, 1, 2], [1.0, 0.1, 0.01])}).startswith("<svg")
    assert notebook.curves({"agm": ([0, 1], [np.inf, np.inf])}) == ""
    with figure() as (fig, _):
        assert len(fig.axes) == 1
