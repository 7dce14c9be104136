"""The whole command on tiny data: the page and its files, resuming, repeating."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

import frankwolfe as fw
from frankwolfe.cli.library import PARTS as CLI_PARTS
from frankwolfe.paper import PARTS, reproduce, runs
from frankwolfe.paper.problems import Ball, Data
from frankwolfe.paper.publication.figure_data import Curve, Figure, Panel, from_payload, payload
from frankwolfe.paper.publication.pictures import draw
from frankwolfe.paper.runner import run_tasks
from frankwolfe.paper.runs import Run, thinned
from frankwolfe.paper.sections import fig1
from frankwolfe.paper.store import Store, read_csv

pytestmark = pytest.mark.usefixtures("tiny")


@pytest.fixture(scope="module")
def whole(tiny, tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    return reproduce("all", out=folder, quick=True, quiet=True, jobs=1)


@pytest.mark.slow
def test_the_page_and_its_files(whole):
    text = whole.read_text(encoding="utf-8")
    figures = whole.parent / "figures"
    for key in (
        "fig1",
        "fig2",
        "fig3",
        "fig3-radii",
        "fig4",
        "beyond",
        "certificates",
        "proven",
        "plane",
        "map-mushrooms",
        "cost",
    ):
        assert f'id="{key}"' in text
        for kind in ("png", "svg", "csv"):
            assert (figures / f"{key}.{kind}").stat().st_size > 0
    assert "quick version" in text
    assert "Not run yet" not in text
    data = json.loads(re.search(r'id="figures">(.*?)</script>', text, re.DOTALL)[1])
    assert {f["key"] for f in data} >= {"fig1", "fig2", "fig3", "fig4"}
    assert not re.search(r'(?:src|href)="https?:', text.split("<script")[0])


@pytest.mark.slow
def test_every_anchor_leads_somewhere(whole):
    text = whole.read_text(encoding="utf-8").split("<script")[0]
    for target in set(re.findall(r'href="#([^"]+)"', text)):
        assert f'id="{target}"' in text, target


@pytest.mark.slow
def test_numbers_behind_a_figure_are_those_of_the_runs(whole):
    table = (whole.parent / "figures" / "fig2.csv").read_text().splitlines()
    run = next((whole.parent / "runs").glob("run-a9a-l2-R40-afw-40-*.csv"))
    last = table[-1].split(",")
    assert table[0].split(",")[:3] == ["panel", "curve", "k"]
    assert any(line.split('"')[-1].split(",")[1] == "AFW" for line in table[1:])
    assert read_csv(run)["k"][-1] == 40
    assert float(last[-3]) > 0


@pytest.mark.slow
def test_what_is_done_is_not_done_again(whole, monkeypatch):
    def no(*_):
        raise AssertionError("computed again")

    monkeypatch.setattr(Run, "compute", no)
    assert reproduce("all", out=whole.parent, quick=True, quiet=True, jobs=1) == whole


def columns(folder):
    """Return every stored number, seconds left out."""
    tables = {p.name: read_csv(p) for p in sorted(folder.glob("*.csv"))}
    return {(name, c): t[c] for name, t in tables.items() for c in t if c != "time"}


def test_two_runs_give_the_same_numbers(tmp_path):
    pages = [reproduce("fig2", out=tmp_path / name, quick=True, quiet=True, jobs=1) for name in "ab"]
    first, second = (columns(page.parent / "runs") for page in pages)
    assert first.keys() == second.keys()
    for key, values in first.items():
        np.testing.assert_array_equal(values, second[key], err_msg=str(key))


TASKS = {
    "logistic": Run(Data("gaussian"), Ball("l1", 2.0), "afw", 60),
    "ranks": Run(Data("movielens100k"), Ball("nuclear", 1.0), "afw", 60, ranks=True),
}


def test_an_interrupted_run_is_not_kept(tmp_path, monkeypatch):
    task, store = TASKS["logistic"], Store(tmp_path)
    original = runs.fw.minimize

    def interrupted(*args, **options):
        result = original(*args, **options)
        return type("Stopped", (), {"status": fw.Status.INTERRUPTED, "trace": result.trace})()

    monkeypatch.setattr(runs.fw, "minimize", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_tasks([task], store, None, 1, True)
    assert store.get(task) is None


def test_clocks_start_after_a_few_steps_that_are_not_counted(tmp_path, monkeypatch):
    order = []
    original = runs.fw.minimize

    def minimize(*args, **options):
        order.append(options["max_iter"])
        return original(*args, **options)

    monkeypatch.setattr(runs.fw, "minimize", minimize)
    run_tasks([TASKS["logistic"]], Store(tmp_path), None, 1, True)
    assert order == [3, 60]


def test_ranks_are_counted(tmp_path):
    store, task = Store(tmp_path), TASKS["ranks"]
    run_tasks([task], store, None, 1, True)
    outcome = store.get(task)
    assert outcome is not None
    counted = np.isfinite(outcome["rank"])
    assert counted[60]
    assert counted[50]
    assert np.all(outcome["rank"][counted] <= outcome["k"][counted] + 1)
    assert np.all(np.diff(outcome["time"]) > -1e-3)


def test_long_traces_are_thinned():
    k = np.arange(5001.0)
    kept = thinned({"k": k, "y": -k})
    assert kept["k"].size < 600
    assert kept["k"][-1] == 5000
    assert set(range(100)) <= set(kept["k"])
    np.testing.assert_array_equal(kept["y"], -kept["k"])
    assert thinned({"k": k[:1001]})["k"].size == 1001


def test_the_parts_of_the_command_line_are_those_of_the_library():
    assert CLI_PARTS == PARTS


def test_bad_input_is_one_line():
    from frankwolfe.cli.app import app

    runner = CliRunner()
    for arguments in (["reproduce", "fig9"], ["reproduce", "fig1", "--data", "/no/such/folder"]):
        result = runner.invoke(app, arguments)
        assert result.exit_code == 2
        assert len(result.output.strip().splitlines()) == 1
    with pytest.raises(ValueError, match="part must be one of"):
        reproduce("fig9")


def test_the_command_writes_one_part_and_says_what_is_missing(tmp_path):
    from frankwolfe.cli.app import app

    result = CliRunner().invoke(app, ["reproduce", "fig1", "--quick", "--out", str(tmp_path), "--jobs", "1", "--quiet"])
    assert result.exit_code == 0, result.output
    assert result.output == ""
    text = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "Not run yet" in text
    assert 'id="fig1"' in text


def test_a_line_has_a_gap_where_a_logarithmic_axis_has_no_place_for_it():
    y = np.array([0.0, 4.0, -1.0, 2.0, 1.0, np.nan])
    panel = Panel("", [Curve("line", {"k": np.arange(6.0)}, y, "#000000")])
    (curve,) = from_payload(payload(Figure("", "", "", [panel], axes=("k",)))).panels[0].curves
    np.testing.assert_array_equal(curve.y, [4, np.nan, 2, 1])
    np.testing.assert_array_equal(curve.x["k"], [1, 2, 3, 4])
    (line,) = draw([panel], "k").axes[0].lines
    np.testing.assert_array_equal(line.get_ydata(), [4, np.nan, 2, 1, np.nan])


def test_agm_for_strongly_convex_f_is_the_librarys_with_the_slip_corrected():
    task = fig1.StronglyConvex(steps=30)
    table = task.compute(None).table
    spectrum, target = np.geomspace(task.mu, 1.0, 50), 10 * np.random.default_rng(0).standard_normal(50)
    f = fw.Quadratic(np.diag(spectrum), -spectrum * target)
    method = fw.StronglyConvexAGM(mu=task.mu, L=1.0)
    trace = fw.minimize(f, None, x0=np.zeros(50), method=method, tol=0, max_iter=29).trace
    np.testing.assert_allclose(table["error"] - table["error"][0], trace.fun, rtol=1e-9)
    assert table["printed"][-1] > 100 * table["error"][-1]
