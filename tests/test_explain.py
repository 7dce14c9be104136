"""explain: true sentences for results of every kind."""

from __future__ import annotations

import numpy as np
import pytest

import frankwolfe as fw
from frankwolfe.explain import size, summary

g = np.random.default_rng(0)
A = g.standard_normal((60, 8))
b = A @ [2.0, -1.0, 0, 0, 0, 0, 0, 0] + 0.1 * g.standard_normal(60)
f = fw.LeastSquares(A, b)


def test_a_solved_problem():
    result = fw.minimize(f, fw.L1Ball(2.0), tol=1e-8)
    said = fw.explain(result)
    assert said.solved.startswith("LeastSquares over L1Ball(2), with 8 variables, by method ")
    nonzero = np.count_nonzero(result.x)
    assert said.answer.startswith(f"{nonzero} of 8 entries")
    assert f"{result.fun:.6g}" in said.quality
    assert "proven" in said.quality
    assert said.stopped.startswith("because the certified gap is at most 1e-08")
    assert said.next.startswith("nothing")
    assert len(str(said).splitlines()) == 6
    assert said.data.startswith(f"read by {result.paths[0]}")
    assert repr(said) == str(said)


def test_one_that_ran_out_of_steps():
    said = fw.explain(fw.minimize(f, fw.L1Ball(2.0), method="fw", max_iter=50, tol=1e-12))
    assert "the iteration limit was reached, after 50 steps" in said.stopped
    assert "still falling" in said.next
    assert said.next.startswith("raise max_iter (minimize(..., x0=result) goes on from here), try method='auto'")


def test_one_that_had_no_time():
    said = fw.explain(fw.minimize(f, fw.L1Ball(2.0), time_limit=0.0))
    assert "time limit" in said.stopped
    assert said.next.startswith("raise time_limit")
    assert "nothing is proven" in said.quality


def test_no_certificate():
    said = fw.explain(fw.minimize(f, None, method="agm", max_iter=5))
    assert "without constraints" in said.solved
    assert "nothing is proven" in said.quality


def stop(_):
    return True


@pytest.mark.parametrize(
    ("objective", "words"),
    [
        (fw.Function(lambda x: -float(x @ x), lambda x: -2 * x), "convex"),
        (fw.Function(lambda x: float(x @ x), lambda x: 3 * x + 1), "check_gradient"),
        (fw.Function(lambda x: float("nan"), lambda x: 2 * x), "NaN"),
    ],
)
def test_trouble_is_named_with_its_remedy(objective, words):
    said = fw.explain(fw.minimize(objective, fw.L2Ball(1.0), x0=np.array([0.5, 0.1])))
    assert words in said.next
    assert "before the tolerance was met" in said.stopped


def test_a_callback():
    said = fw.explain(fw.minimize(f, fw.L2Ball(1.0), callback=stop, method="fw"))
    assert "callback" in said.stopped
    assert "x0=result" in said.next


def test_low_rank():
    rows, cols = np.nonzero(np.ones((6, 5)))
    truth = np.outer(g.standard_normal(6), g.standard_normal(5))
    result = fw.minimize(fw.MatrixCompletion(rows, cols, truth[rows, cols], (6, 5)), fw.NuclearBall(1.0))
    said = fw.explain(result)
    assert "with 6 x 5 variables" in said.solved
    assert said.answer.startswith("a 6 x 5 matrix of rank 1, trace norm 1 ")


def test_a_path():
    found = fw.path(f, fw.L1Ball, [0.1, 1.0, 2.0], score=fw.LeastSquares(A[:10], b[:10]))
    said = fw.explain(found)
    assert said.solved.startswith("LeastSquares over L1Ball at 3 radii from 0.1 to 2")
    assert said.answer == f"nonzeros from 1 at the smallest radius to {np.count_nonzero(found[2].x)} at the largest."
    assert f"{max(r.gap for r in found):.2g}" in said.quality
    assert said.stopped.startswith("3 of 3 radii")
    assert "at radius 2, the end of the list: try larger ones too" in said.next
    unscored = fw.explain(fw.path(f, fw.L1Ball, [0.5, 1.0], max_iter=1, tol=1e-14))
    assert "score=" in unscored.next
    assert "Raise max_iter" in unscored.next


def test_an_estimator():
    said = fw.explain(fw.MatrixCompleter(radius=2.0).fit([0, 0, 1, 2], [0, 1, 1, 0], [1.0, 5.0, 2.0, 4.0]))
    assert said.solved.startswith("MatrixCompletion over NuclearBall(2)")


@pytest.mark.parametrize("thing", [3, None, "result", fw.MatrixCompleter()])
def test_other_things_are_refused(thing):
    with pytest.raises(TypeError, match="explain needs a Result"):
        fw.explain(thing)


def test_summaries():
    assert summary(np.zeros(4)) == "0 of 4 entries are nonzero."
    assert summary(np.zeros((3, 2))) == "a 3 x 2 matrix of rank 0: it is zero."
    assert summary(np.array([np.nan, 1.0])) == "2 of 2 entries are nonzero."
    assert "rank 2" in summary(np.diag([3.0, 1.0]))
    assert size(fw.LowRank.zero((3, 2))) == ("rank", 0)
    assert size(np.array([[1.0, 0.0, 2.0]])) == ("nonzeros", 2)
    nest = {"a": np.array([1.0, 0.0]), "b": [np.eye(2), np.array(3.0)]}
    assert summary(nest) == "3 arrays, in which 4 of 7 entries are nonzero."
    assert size(nest) == ("nonzeros", 4)


def test_arrays_of_another_namespace():
    xp = pytest.importorskip("array_api_strict")
    quadratic = fw.Function(lambda x: float(xp.sum(x * x)), lambda x: 2 * x)
    said = fw.explain(fw.minimize(quadratic, fw.L2Ball(1.0), x0=xp.asarray([0.6, 0.0, 0.8])))
    assert "with 3 variables" in said.solved
    assert " of 3 entries" in said.answer


def test_a_gap_that_no_longer_falls():
    narrow = fw.LeastSquares(A.astype(np.float32), b.astype(np.float32))
    said = fw.explain(fw.minimize(narrow, fw.L2Ball(np.float32(1.0)), method="pgd", tol=1e-30, max_iter=400))
    assert "as exact as this arithmetic allows" in said.stopped
    assert "double precision" in said.next
