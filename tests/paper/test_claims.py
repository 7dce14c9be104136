"""Verdicts follow the numbers, and only where a claim's hypotheses hold: change the numbers and they flip."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import frankwolfe as fw
from frankwolfe.paper import claims
from frankwolfe.paper.claims import Claim
from frankwolfe.paper.problems import Ball, Data, gaussian
from frankwolfe.paper.rates import NOTHING, Slope
from frankwolfe.paper.reference import solve
from frankwolfe.paper.runner import Results
from frankwolfe.paper.runs import rank_one
from frankwolfe.paper.sections import (
    MODULES,
    certificate_quality,
    fig1,
    fig2,
    fig4,
    iteration_cost,
    proven_constants,
    rate_reasons,
    rates_on_sets,
)
from frankwolfe.paper.store import Outcome, Store
from frankwolfe.paper.verdicts import (
    FAILS,
    FAST,
    HOLDS,
    OUTSIDE,
    PARTLY,
    UNDECIDED,
    UNKNOWN,
    Case,
    across,
    listed,
    ordering,
    spread_of,
    stretches,
)
from frankwolfe.paper.words import fill

ALL = (*claims.FINDINGS, *claims.CLAIMS)
ACTIVE = {"active": True, "margin": 0.1, "largest": 1.0, "least": 0.01, "gradient": 1.0, "smoothness": 1.0}
ACTIVE |= {"fun": 0.0, "gap": 1e-13}


def judge(key: str, results, quick: bool = False) -> Claim:
    return claims.claim(key).judged(results, quick)


class Found:
    """Results in which every optimum has these facts."""

    def __init__(self, **facts) -> None:
        self.facts = {**ACTIVE, **facts}

    def optimum(self, problem):
        return self.facts


def test_all_some_none():
    assert across([HOLDS, HOLDS, OUTSIDE]) == HOLDS
    assert across([FAILS, FAILS]) == FAILS
    assert across([HOLDS, FAILS]) == PARTLY
    assert across([OUTSIDE, OUTSIDE]) == OUTSIDE
    assert across([UNDECIDED]) == UNDECIDED
    assert across([]) == UNKNOWN
    assert across([UNDECIDED, FAILS]) == FAILS
    assert across([HOLDS, UNDECIDED]) == PARTLY


def test_cases_and_numbers_are_listed_in_words():
    cases = [Case("a9a l2 R = 5", HOLDS, ""), Case("mnist l1 R = 1", FAILS, ""), Case("a9a l2 R = 20", HOLDS, "")]
    assert listed(cases, HOLDS) == "a9a l2 R = 5, 20"
    assert (spread_of([1.82, 2.5]), spread_of([2.0, 2.0])) == ("1.8 to 2.5", "2")
    assert (fig2.percent(0.93), fig2.percent(87096.0)) == ("+93 %", "times 87097")


def test_an_order_of_curves_is_told_as_a_range():
    k = np.arange(1, 1001)
    assert stretches(k[:6], [False, True, True, False, True, True]) == [(2, 3), (5, 6)]
    assert ordering(k, k >= 20) == (HOLDS, "k ≥ 20")
    assert (ordering(k, k > 0), ordering(k, k > 1000)) == ((HOLDS, "every k"), (FAILS, "no k"))
    assert ordering(k, k >= 475) == (PARTLY, "k ≥ 475")
    assert ordering(k, (k >= 10) & (k <= 20)) == (FAILS, "10 ≤ k ≤ 20")
    assert ordering(k, (k <= 300) | (k >= 900)) == (PARTLY, "k ≤ 300 and k ≥ 900")


@pytest.mark.parametrize(
    ("fit", "kind"),
    [
        (Slope(-1.97, -2.48, -1.47, 300, 3000), UNDECIDED),
        (Slope(-1.97, -2.05, -1.9, 300, 3000), HOLDS),
        (Slope(-1.0, -1.1, -0.9, 300, 3000), FAILS),
        (NOTHING, HOLDS),  # the error fell to the accuracy of f*: faster than any power
    ],
)
def test_slopes_are_judged_by_their_interval(fit, kind, monkeypatch):
    monkeypatch.setattr(rates_on_sets, "rate", lambda *_: fit)
    assert judge("lp-rate", Found()).verdict == kind


def test_a_theorem_is_not_judged_where_its_hypothesis_fails(monkeypatch):
    monkeypatch.setattr(rates_on_sets, "rate", lambda *_: Slope(-1.0, -1.1, -0.9, 300, 3000))
    assert judge("l2-rate", Found(active=False)).verdict == OUTSIDE
    assert judge("l2-rate", Found()).verdict == FAILS
    assert judge("support-rate", Found(margin=1e-12)).verdict == OUTSIDE
    assert judge("lp-rate", Found(least=0.0)).verdict == OUTSIDE
    groups = {c.name: c.verdict for c in judge("group-rate", Found()).cases}
    assert groups[Ball("group", 5.0, 1.0).label] == OUTSIDE  # p = 1 is no evidence for p > 1
    assert groups[Ball("group", 5.0, 1.5, inner=1.5).label] == FAILS


def test_who_is_ahead_is_told_as_a_range():
    k, floor = np.arange(101.0), 1e-12
    plain = SimpleNamespace(k=k, highest=1 / (k + 1), floor=floor)

    class Runs(Found):
        def race(self, race):
            h = self.ours(k) / (k + 1)
            return {"fw": plain, "afw": SimpleNamespace(k=k, highest=h, floor=floor, at=lambda _: h[-1])}

        def verdict(self, key, ours):
            self.ours = ours
            return judge(key, self).verdict

    assert Runs().verdict("improves", lambda k: np.full(101, 0.5)) == HOLDS
    assert Runs().verdict("improves", lambda k: np.where(k < 60, 2.0, 0.5)) == PARTLY
    assert Runs().verdict("improves", lambda k: np.where(k < 100, 2.0, 0.5)) == FAILS  # ahead at the last k alone
    assert Runs(active=False).verdict("improves", lambda k: np.full(101, 2.0)) == OUTSIDE
    assert Runs(active=False).verdict("dominates", lambda k: np.full(101, 2.0)) == FAILS


def test_the_radius_is_named_where_it_decides():
    k = np.arange(101.0)

    class Runs(Found):
        def __init__(self, ahead):
            super().__init__()
            self.ahead = ahead

        def race(self, race):
            share = {"fw": 4.0, "afw": 0.1 if self.ahead(race.ball.radius) else 10.0, "agm": 1.0}
            return {m: SimpleNamespace(k=k, highest=c / (k + 1), floor=1e-12) for m, c in share.items()}

    larger, smaller = Runs(lambda radius: radius >= 20), Runs(lambda radius: radius < 20)
    told = judge("l2-agm", larger)
    assert told.verdict == PARTLY
    assert "On mushrooms, mnist and covtype AFW ends ahead on the larger balls" in told.sentence
    assert "larger balls" not in judge("l2-agm", smaller).sentence
    assert "larger balls" not in judge("l2-agm", Runs(lambda radius: True)).sentence  # nothing to compare
    told = judge("faster", larger)
    assert told.verdict == PARTLY
    behind = [c for c in told.cases if c.verdict == FAILS]
    assert {c.name.partition(" R = ")[0] for c in behind} >= {"mushrooms l2", "mushrooms l1", "covtype l2"}
    assert "mushrooms l2 R = 1, 5, 10" in told.sentence


def test_sliding_is_judged_by_its_calls(monkeypatch):
    counted = {"afw": 1.0, "cgs_mean": 3.0, "cgs_most": 9.0, "budget": 100.0, "h_afw": 2.0, "h_cgs": 1.0}
    monkeypatch.setattr(iteration_cost, "oracle_calls", lambda *_: counted)
    told = judge("sliding", Found())
    assert told.verdict == HOLDS  # the paper says how many steps are solved, not whose error is smaller
    assert "smaller error in 0 of 4" in told.sentence
    monkeypatch.setattr(iteration_cost, "oracle_calls", lambda *_: counted | {"afw": 2.0})
    assert judge("sliding", Found()).verdict == FAILS


def walk(**columns):
    k = np.arange(20.0)
    flat = dict.fromkeys(("ahead", "drift", "move"), np.zeros(20))
    facts = {"smoothness": 1.0, "diameter": 2.0, "gradient": 1.0, "highest": 1.0, "fun": 0.0}
    return Outcome(facts, {"k": k, "theta": np.ones(20), **flat, **columns})


def test_lemmas_are_held_to_the_papers_constants(monkeypatch):
    class Walked(Found):
        def __init__(self, outcome):
            super().__init__()
            self.walk = outcome

        def __getitem__(self, task):
            return self.walk

    C1, C2 = proven_constants.first_two(1.0, 2.0, 1.0, 1.0)
    assert judge("lemma-7", Walked(walk())).verdict == HOLDS
    assert judge("lemma-7", Walked(walk(ahead=np.full(20, 1.01 * C1)))).verdict == FAILS
    assert judge("lemma-8", Walked(walk(drift=np.full(20, 2 * C2)))).verdict == FAILS
    # T is beyond the run, so the lemma says nothing about it, whatever v does.
    assert judge("lemma-9", Walked(walk(move=np.full(20, 1e9)))).verdict == OUTSIDE
    assert judge("settling", Walked(walk())).verdict == HOLDS


def test_the_vertex_must_wander_before_it_freezes():
    class Runs(Found):
        def __init__(self, moves, last):
            super().__init__()
            facts = {
                "margin": 0.1,
                "moves": moves,
                "last_move": last,
                "smoothness": 1.0,
                "highest": 1.0,
                "gradient": 1.0,
            }
            self.run = SimpleNamespace(facts=facts)

        def __getitem__(self, task):
            return self.run

    assert judge("l1-freeze", Runs(0, 0)).verdict == OUTSIDE  # it never moved: nothing was tested
    assert judge("l1-freeze", Runs(80, 200)).verdict == HOLDS
    assert judge("l1-freeze", Runs(80, 2999)).verdict == FAILS


def test_the_wandering_instance_meets_the_theorem():
    task = rate_reasons.Wandering("afw", iterations=600)
    facts = task.compute(None).facts
    H, c, solution = task.problem()
    g = H @ solution - c
    assert np.linalg.eigvalsh(H)[0] >= -1e-15  # convex
    assert int(np.argmax(np.abs(g))) == 0
    assert np.sort(np.abs(g))[-1] - np.sort(np.abs(g))[-2] > 1e-4  # a unique largest entry
    assert facts["gap"] <= 1e-15  # so that the vertex is the solution
    assert facts["moves"] > 5
    assert facts["last_move"] < 600


def test_theorem_4_is_about_the_weighted_sum():
    table = fig1.Accelerated().compute(None).table
    assert np.all(table["weighted"] <= table["weighted_bound"])
    assert np.max(table["estimate"]) > 0  # a single term is no lower bound, and the paper does not say so
    for name in ("error", "gradient", "distance"):
        assert np.all(table[name] <= table[f"{name}_bound"] * (1 + 1e-9))


@pytest.mark.parametrize("method", ["fw", "afw"])
def test_the_plain_walk_is_the_librarys_method(method):
    d, steps = 30, 25
    h, _, _ = rate_reasons.walk(method, rate_reasons.simplex(d), steps)
    trace = fw.minimize(
        fw.Quadratic(np.eye(d)), fw.Simplex(d), x0=np.eye(d)[0], method=method, tol=0, max_iter=steps
    ).trace
    np.testing.assert_allclose(h[:, 0] + 0.5 / d, trace.fun, rtol=1e-12)


def test_vertices_settle_when_they_stay_near_the_solution():
    task = rate_reasons.Settling(Data("gaussian"), Ball("l2", 5.0), iterations=200)
    samples, radius = gaussian(0), 5.0
    x_star = solve(fw.Logistic(samples.A, samples.b), fw.L2Ball(radius)).x

    def grad(x):
        return -samples.A.T @ (samples.b / (1 + np.exp(samples.b * (samples.A @ x)))) / samples.b.size

    expected = {}
    for method, offset in (("fw", 2), ("afw", 3)):
        x = v = theta = np.zeros(100)
        for k in range(task.iterations):
            delta = 2 / (k + offset)
            at = x if method == "fw" else (1 - delta) * x + delta * v
            theta = grad(at) if method == "fw" else (1 - delta) * theta + delta * grad(at)
            v = -radius * theta / np.linalg.norm(theta)
            x = (1 - delta) * x + delta * v
            if np.linalg.norm(v - x_star) > 0.1 * radius:
                expected[method] = k + 2  # v is the vertex number k + 1, and the next one is near
    assert task.compute(None).facts == expected
    assert rate_reasons.Settling(task.data, task.ball, iterations=3).compute(None).facts["fw"] is None


def test_the_lemma_is_not_measured_where_it_is_an_identity():
    short = replace(certificate_quality.ACTIVE, iterations=20).compute(None)
    assert abs(short["excess"][0]) <= 1e-15  # by definition
    assert short.facts["worst_excess"] == np.max(short["excess"][1:]) < 0


def test_zig_zags_are_measured():
    k = np.arange(1.0, 200.0)
    errors = 1 / k, np.where(np.arange(199) % 2, 3.0, 1.0) / k
    smooth, jagged, level = (SimpleNamespace(h=h, floor=0.0) for h in (*errors, np.ones(50)))
    assert fig2.stability(level) == (1.0, 0.0)
    assert fig2.stability(smooth)[1] == 0
    assert fig2.stability(jagged)[0] > 2 * fig2.stability(smooth)[0]
    assert fig2.stability(jagged)[1] > 1.5


def test_ranks_are_not_judged_before_they_cross(monkeypatch):
    k = np.arange(151.0)
    outcome = {
        m: Outcome({}, {"k": k, "rank": np.minimum(k + (m == "afw"), 140), "rank_relative": k + (m == "afw")})
        for m in ("fw", "afw")
    }
    series = {m: SimpleNamespace(outcome=o) for m, o in outcome.items()}
    monkeypatch.setattr(fig4, "series", lambda *_: series)
    assert judge("rank", Found(), quick=True).verdict == UNKNOWN


def test_the_two_readings_of_one_point_four(monkeypatch):
    monkeypatch.setattr(fig4, "readings", lambda *_: {50: (1.84, 1.40), 100: (2.01, 1.44)})
    judged = judge("completion", Found())
    assert judged.verdict == HOLDS
    assert "1.4 to 1.44" in judged.number
    assert "1.84 to 2.01" in judged.sentence
    monkeypatch.setattr(fig4, "readings", lambda *_: {50: (1.0, 1.0)})
    assert judge("completion", Found()).verdict == FAILS


def test_errata_say_what_the_verdicts_say(monkeypatch):
    told = SimpleNamespace(verdict=FAILS, number="a number", sentence="A sentence.")
    monkeypatch.setattr(claims.Claim, "judged", lambda self, results, quick: told)
    monkeypatch.setattr(claims, "ERRATA", [e for e in claims.ERRATA if "too expensive" in e["printed"]])
    rows = claims.errata_table(SimpleNamespace(), False).rows
    expensive = next(row for row in rows if "too expensive" in row[0])
    assert expensive[2] == "does not hold (a number): A sentence."
    assert expensive[1] == "As measured, in the next column."  # and nothing else that could contradict it


def test_what_was_not_run_says_so(tmp_path):
    results = Results(Store(tmp_path))
    assert {c.judged(results, True).verdict for c in ALL} == {UNKNOWN}
    rows = claims.errata_table(results, True).rows
    assert len(rows) == len(claims.ERRATA)
    assert any("not run" in row[2] for row in rows)


def test_every_claim_has_key_place_and_figure():
    assert len({c.key for c in ALL}) == len(ALL)
    for c in ALL:
        assert c.text
        assert c.where
        assert c.figure
        assert len(c.quotation.split()) < 15  # short enough to quote
        assert c.sentence
    found = {claims.judge(c.key) for c in ALL}
    stated = [
        f
        for m in MODULES.values()
        for f in vars(m).values()
        if getattr(f, "__annotations__", {}).get("return") == "Found"
    ]
    assert found == set(stated)  # no judge without a claim
    assert FAST < -1.5


def test_the_rank_one_start_is_the_best_point_towards_the_first_vertex():
    f = fw.MatrixCompletion([0, 1], [0, 1], [3.0, 1.0], (2, 2))
    np.testing.assert_allclose(rank_one(f, fw.NuclearBall(2.0)).toarray(), [[2, 0], [0, 0]], atol=1e-6)


def test_a_text_is_filled_in_on_one_line():
    assert fill("known\n  to {gap:.0e}", {"gap": 1e-11}) == "known to 1e-11"
