"""The campaign that looks for lies: its judge is right, and a short form of it finds none."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from benchmarks import lies_sets
from benchmarks.lies import described
from benchmarks.lies_cases import Case, case
from benchmarks.lies_judge import ULPS, Verdict, _judge, judged
from benchmarks.lies_objectives import Linear
from benchmarks.lies_sets import EPS, LD

import frankwolfe as fw

SETS = sorted({*lies_sets.VECTOR, *lies_sets.MATRIX})
FIRST = list(range(150))
# Each of these was a lie once: a bound too high, a value that was not f(x), a point outside, an exception, a hang.
FOUND = """
    151 163 197 202 212 222 246 268 269 282 292 294 306 307 309 314 323 353 357 372 374 401 428 439 479 502 509 599 1005
    1010 1024 1040 1087 1117 1225 1358 1381 1458 1468 1477 1518 1520 1527 1547 1562 1577 1587 1593 1601 1604 1617
    1641 1730 1761 1764 1791 1798 1807 1871 1900 2044 2051 2182 7011 10160 10245 10300 10388 10617
    300277 301443 303138 305061 401414 403874 604351 605061 609196 700696 700750 701420 703356 706315 706616 708159
    243 391 403 10014 10075 10268 10276 10483 20307 20518 20923
    1004178 1016361 1032342 1035668 2001353 2005646 2008857 2012130 2017254 2023586 2025253
    2030458 2034074 2036675 2043404 2047151 3005422 3008947 4027431 4031363
"""


def drawn(kind: str, seed: int) -> lies_sets.Domain:
    rng = np.random.default_rng(seed)
    matrix = kind not in lies_sets.VECTOR or (seed % 2 == 1 and kind in lies_sets.MATRIX)
    shape = (3, 3) if matrix else (lies_sets.length(kind, int(rng.integers(1, 7))),)
    return lies_sets.draw(kind, rng, shape, float(10.0 ** rng.uniform(-3, 3)))


@pytest.mark.parametrize("kind", SETS)
def test_the_judge_and_the_library_mean_the_same_set(kind: str) -> None:
    for seed in range(12):
        domain, rng = drawn(kind, seed), np.random.default_rng(seed)
        made = domain.make()
        for _ in range(4):
            g = rng.standard_normal(domain.shape)
            least, vertex = domain.least(g.astype(LD))
            theirs = made.lmo(g).toarray()
            size = float(np.abs(g).sum()) * domain.scale
            assert domain.excess(vertex) <= 16 * EPS + domain.doubt
            assert domain.excess(theirs.astype(LD)) <= 1e-8
            assert abs(float(least) - float(np.sum(g * theirs))) <= 1e-8 * size
            assert float(least) <= float(np.sum(g * theirs)) + 1e-13 * size
            far = vertex + 1e-6 * domain.scale * np.sign(rng.standard_normal(domain.shape))
            if not made.contains(far.astype(float), 1e-7):
                assert domain.excess(far) > ULPS * EPS


@pytest.mark.parametrize("objective", ["squares", "logistic", "huber", "multinomial", "quadratic", "function", "svm"])
def test_the_judge_and_the_library_mean_the_same_function(objective: str) -> None:
    compared = 0
    for seed in range(40):
        try:
            problem = case(seed, objective=objective, precision="float64", library="numpy", method="fw")
        except ValueError:
            continue  # an intercept, and no sample of some class
        assert problem.domain is not None
        rng = np.random.default_rng(seed)
        x = problem.domain.least(rng.standard_normal(problem.model.shape).astype(LD))[1].astype(float)
        look = problem.model.look(x.astype(LD))
        if "intercept" not in problem.notes:
            assert abs(float(problem.objective.value(x) - look.value)) <= problem.model.rounding(look, 2.0**-53)
            compared += 1
        step = LD(1e-6 * problem.domain.scale) * rng.standard_normal(x.shape).astype(LD)
        ahead, behind = (problem.model.look(x + sign * step) for sign in (1, -1))
        said, seen = float(np.sum(look.slope * step)), float(ahead.value - behind.value) / 2
        bend = float(ahead.value + behind.value - 2 * look.value)  # 0 <= f(x + s) - f(x) - <g, s> <= bend
        assert abs(said - seen) <= abs(bend) + 4 * problem.model.rounding(ahead, 2.0**-62) + 2.0**-62 * ahead.second
    assert compared > 20


def planted() -> Case:
    """A problem on which every answer is good to the last digits."""
    rng = np.random.default_rng(0)
    A, b = rng.standard_normal((30, 4)), rng.standard_normal(30)
    model = Linear("squares", A, b, None, 0.0, False, 1.0)
    domain, objective = lies_sets.lp((4,), 0.1, 2.0), fw.LeastSquares(A, b)
    options = {"method": "subspace", "tol": 1e-12, "rtol": 0.0, "max_iter": 2000}
    labels = {"objective": "squares"}
    return Case(0, labels, [], model, domain, objective, domain.make(), None, options, 2.0**-53, lambda: objective)


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("bound", lambda r: {"lower_bound": r.fun + 1e-12, "fun": r.fun + 1e-11}),
        ("fun", lambda r: {"fun": r.fun + 1e-12}),
        ("outside", lambda r: {"x": r.x * (1 + 1e-13)}),
        ("gap", lambda r: {"lower_bound": r.fun + 1e-12}),
        ("optimal", lambda r: {"lower_bound": r.fun - 1e-9}),
        ("not_convex", lambda r: {"status": fw.Status.NOT_CONVEX}),
    ],
)
def test_a_planted_lie_is_found(kind: str, change: Any) -> None:
    problem = planted()
    result, verdict = problem.solve(), Verdict(0, {})
    _judge(problem, result, verdict)
    assert verdict.lies == []
    assert verdict.bound == "true"
    _judge(problem, replace(result, **change(result)), verdict)
    assert kind in [name for name, _ in verdict.lies]


def blocks(seeds: list[int], size: int = 20) -> list[Any]:
    parts = [seeds[i : i + size] for i in range(0, len(seeds), size)]
    return [pytest.param(part, id=f"{part[0]}-{part[-1]}") for part in parts]


@pytest.mark.parametrize("seeds", [*blocks(FIRST), *blocks([int(seed) for seed in FOUND.split()])])
def test_no_lies(seeds: list[int]) -> None:
    verdicts = [judged(seed) for seed in seeds]
    assert [described(one.seed, *lie, one.labels) for one in verdicts for lie in one.lies] == []
