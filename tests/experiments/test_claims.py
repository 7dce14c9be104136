"""Verdicts follow the numbers: change the numbers and they flip."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from frankwolfe.experiments import beyond, claims, errata, fig2, fig3
from frankwolfe.experiments.rates import Slope
from frankwolfe.experiments.runner import Results
from frankwolfe.experiments.store import Store
from frankwolfe.experiments.verdicts import FAILS, HOLDS, PARTLY, UNKNOWN, across, near, ordered

PAPER_ORDER = {"agm": 1e-5, "afw": 1e-4, "gd": 1e-3, "fw": 2e-3}


def judge(text: str):
    claim = next(c for c in claims.CLAIMS if text in c.text)
    return claim.judge(SimpleNamespace(), False)


def test_all_some_none():
    assert across({"a": True, "b": True}).kind == HOLDS
    assert across({"a": False, "b": False}).kind == FAILS
    assert str(across({"a": True, "b": False, "c": True})) == "holds only for a, c (2 of 3)"
    assert across({}).kind == UNKNOWN
    assert ordered(PAPER_ORDER, "agm", "afw", "gd", "fw")
    assert not ordered({"a": 1.0, "b": 1.0}, "a", "b")
    assert near(1.05, 1.0, 0.1)
    assert not near(1.2, 1.0, 0.1)


def test_figure_2_flips(monkeypatch):
    monkeypatch.setattr(fig2, "errors", lambda results, radius, quick: PAPER_ORDER)
    assert judge("inactive").verdict.kind == HOLDS
    worse = {**PAPER_ORDER, "afw": 1e-2}
    monkeypatch.setattr(fig2, "errors", lambda results, radius, quick: worse if radius == 659 else PAPER_ORDER)
    judged = judge("inactive")
    assert judged.verdict.kind == PARTLY
    assert "R = 40" in judged.verdict.detail
    assert "R = 659:" in judged.measured
    monkeypatch.setattr(fig2, "errors", lambda results, radius, quick: worse)
    assert judge("inactive").verdict.kind == FAILS


def test_figure_3_flips(monkeypatch):
    def errors(results, name, ball, quick):
        return {"agm": 1e-3 if name != "covtype" else 1e-9, "fw": 1e-2, "afw": 1e-4}

    monkeypatch.setattr(fig3, "errors", errors)
    assert judge("much faster than FW").verdict.kind == HOLDS
    assert judge("On l2 balls").verdict.kind == HOLDS
    assert judge("On l1 balls").verdict.kind == PARTLY  # mnist and covtype should be comparable
    monkeypatch.setattr(fig3, "errors", lambda *_: {"agm": 1e-6, "fw": 1e-5, "afw": 1e-4})
    assert judge("much faster than FW").verdict.kind == FAILS


def test_rates_flip(monkeypatch):
    monkeypatch.setattr(beyond, "rate", lambda results, ball, method, quick: Slope(-1.9, -2.0, -1.8, 300, 3000))
    assert judge("active lp balls").verdict.kind == HOLDS
    assert judge("no such rate").verdict.kind == FAILS
    slow = {"fw": Slope(-1.0, -1.1, -0.9, 300, 3000), "afw": Slope(-1.9, -2.0, -1.8, 300, 3000)}
    monkeypatch.setattr(beyond, "rate", lambda results, ball, method, quick: slow[method])
    assert judge("no such rate").verdict.kind == HOLDS
    monkeypatch.setattr(beyond, "rate", lambda results, ball, method, quick: slow["fw"])
    assert judge("active lp balls").verdict.kind == FAILS
    missing = Slope(np.nan, np.nan, np.nan, 0, 0)
    monkeypatch.setattr(beyond, "rate", lambda results, ball, method, quick: missing)
    assert judge("active lp balls").verdict.kind == HOLDS  # faster than could be measured


class Found:
    """Results in which every optimum has so many nonzeros and every walk moved last at such a step."""

    def __init__(self, nonzeros: int, settled: int) -> None:
        self.outcome = SimpleNamespace(facts={"nonzeros": nonzeros, "last_move": settled})

    def optimum(self, data, ball):
        return self.outcome

    def __getitem__(self, task):
        return self.outcome


def test_a_theorem_is_not_judged_where_its_hypothesis_fails(monkeypatch):
    claim = next(c for c in claims.CLAIMS if "v is constant" in c.text)
    assert claim.judge(Found(2, 1998), False).verdict.kind == UNKNOWN
    assert claim.judge(Found(1, 3), False).verdict.kind == HOLDS
    assert claim.judge(Found(1, 1998), False).verdict.kind == FAILS
    rate = next(c for c in claims.CLAIMS if "one entry" in c.text)
    assert rate.judge(Found(2, 0), False).verdict.kind == UNKNOWN
    monkeypatch.setattr(beyond, "rate", lambda *_: Slope(-1.0, -1.1, -0.9, 300, 3000))
    assert rate.judge(Found(1, 0), False).verdict.kind == FAILS


def test_what_was_not_run_says_so(tmp_path):
    results = Results(Store(tmp_path))
    assert {c.judged(results, True).verdict.kind for c in claims.CLAIMS} == {UNKNOWN}
    rows = errata.errata_table(results, True).rows
    assert len(rows) == len(errata.ERRATA)
    assert any("not run" in row[2] for row in rows)


@pytest.mark.parametrize("claim", claims.CLAIMS, ids=lambda c: c.text[:40])
def test_no_verdict_is_typed_by_hand(claim):
    assert callable(claim.judge)
    assert claim.figure
