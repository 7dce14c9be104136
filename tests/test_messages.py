"""Mistakes that people make get one sentence with the remedy; results show themselves in notebooks."""

from __future__ import annotations

import io
import sys
import xml.etree.ElementTree as ET
from time import monotonic

import numpy as np
import pytest
from sklearn.model_selection import KFold

import frankwolfe as fw
from frankwolfe.backends.compile_policy import CLOCK
from frankwolfe.terminal import Progress, compiling_shown

A = np.random.default_rng(0).standard_normal((20, 3))
Y = A @ [1.0, 2.0, 3.0]
F, S = fw.LeastSquares(A, Y), fw.L1Ball(1.0)


def frame():
    return pytest.importorskip("pandas").DataFrame({"town": ["x", "y", "z"], "size": [1, 2, 3]})


NOTHING = fw.Function(lambda x: None, lambda x: x)  # type: ignore[arg-type]
MISTAKES = {
    "f returns None": (
        lambda: fw.minimize(fw.Function(lambda x: None, lambda x: x), S, A[0] / 9),
        "a return is missing",
    ),  # type: ignore[arg-type]
    "a method for x0": (lambda: fw.minimize(F, S, "afw"), "did you mean method='afw'"),
    "a class for a set": (lambda: fw.minimize(F, fw.L1Ball), r"such as L1Ball\(1.0\)"),  # type: ignore[arg-type]
    "a class for a method": (lambda: fw.minimize(F, S, method=fw.FrankWolfe), r"make one: FrankWolfe\(\)"),  # type: ignore[arg-type]
    "a class for an objective": (lambda: fw.minimize(fw.Logistic, S), r"such as Logistic\(A, b\)"),  # type: ignore[arg-type]
    "two arguments": (lambda: fw.minimize(F, S, callback=lambda k, x: None), "a function of one Iteration"),  # type: ignore[arg-type]
    "maxiter": (lambda: fw.minimize(F, S, maxiter=3), "did you mean 'max_iter'"),
    "verbose": (lambda: fw.minimize(F, S, verbose=True), "did you mean 'progress'"),
    "misspelt": (lambda: fw.minimize(F, S, trace_evry=2), "did you mean 'trace_every'"),
    "path": (lambda: fw.path(F, fw.L1Ball, [1.0], maxiter=3), "path has no option 'maxiter'; did you mean 'max_iter'"),
    "compare": (lambda: fw.compare(F, S, ["fw"], maxiter=3), "did you mean 'max_iter'"),
    "jac": (lambda: fw.minimize(lambda x: x @ x, np.zeros(3), jac=lambda x: 2 * x), r"Function\(f, grad\)"),  # type: ignore[arg-type]
    "bounds": (lambda: fw.minimize(F, None, bounds=[(0, 1)]), r"Box\(lower, upper\)"),
    "a start for a set": (lambda: fw.minimize(F, np.zeros(3)), r"minimize\(objective, domain, x0\)"),  # type: ignore[arg-type]
    "a function": (lambda: fw.minimize(lambda x: x @ x, np.zeros(3)), r"minimize\(Function\(f, grad\), domain, x0\)"),  # type: ignore[arg-type]
    "a penalty": (lambda: fw.FrankWolfeClassifier(C=3.0), "FrankWolfeClassifier has no option 'C'; a penalty is a set"),  # type: ignore[call-arg]
    "of a completer": (lambda: fw.MatrixCompleter(rank=3), "did you mean 'rank_limit'"),  # type: ignore[call-arg]
    "too large": (
        lambda: fw.FrankWolfeRegressor(standardize=False).fit(A * 1e301, Y),
        r"X holds numbers up to .*e\+301, whose squares overflow; measure .* or pass standardize=True",
    ),
    "targets too large": (
        lambda: fw.FrankWolfeRegressorCV().fit(A, Y * 1e200),
        r"y holds numbers up to .*e\+200, whose squares overflow; measure the targets in other units",
    ),
    "targets too small": (
        lambda: fw.FrankWolfeRegressor().fit(A, Y * 1e-200),
        "y holds numbers up to .*e-200, whose squares vanish; measure the targets in other units",
    ),
    "labels that are missing": (
        lambda: fw.FrankWolfeClassifier().fit(A, np.where(Y > 0, "yes", None)),
        "y mixes labels of the types NoneType and str; make all of one kind, and leave out rows",
    ),
    "too small": (
        lambda: fw.FrankWolfeRegressorCV(standardize=False).fit(A * 1e-200, Y),
        "X holds numbers up to .*e-200, whose squares vanish; measure .* or pass standardize=True",
    ),
    "swapped": (lambda: fw.LeastSquares(Y, A), r"the targets second, as in LeastSquares\(A, b\)"),
    "swapped labels": (lambda: fw.Logistic(Y > 0, A), r"the labels second, as in Logistic\(A, b\)"),
    "tolerance": (lambda: fw.minimize(F, S, tolerance=1e-3), "did you mean 'tol'"),
    "classes for targets": (
        lambda: fw.FrankWolfeRegressorCV().fit(frame()[["size"]], ["x", "y", "z"]),
        r"y holds text \(.*for classes there is FrankWolfeClassifierCV",
    ),
    "a class of one": (
        lambda: fw.FrankWolfeClassifierCV(cv=KFold(4)).fit(A, [0, 1] * 9 + [0, 7]),
        "no training sample of class 7, which has 1 in all; leave its rows out",
    ),
    "a fold without weight": (
        lambda: fw.FrankWolfeClassifierCV(cv=KFold(4)).fit(A, [0, 1] * 10, np.repeat([0.0, 1.0], [5, 15])),
        "sample_weight is zero for every sample .* shuffle the folds",
    ),
    "a fold with all the weight": (
        lambda: fw.FrankWolfeRegressorCV(cv=KFold(4)).fit(A, Y, np.repeat([1.0, 0.0], [5, 15])),
        "sample_weight is zero for every sample .* shuffle the folds",
    ),
    "a radius too small for linear constraints": (
        lambda: fw.FrankWolfeRegressor("l1", 0.1, linear={"A_eq": np.ones((1, 3)), "b_eq": [1.0]}).fit(A, Y),
        "of radius 0.1 meet the linear constraints; raise the radius",
    ),
    "text of polars": (
        lambda: fw.FrankWolfeRegressorCV().fit(
            pytest.importorskip("polars").DataFrame({"town": ["x", "y"], "size": [1, 2]}), [1, 2]
        ),
        "X holds text or dates in 'town'; make numbers of it",
    ),
    "text of pyarrow": (
        lambda: fw.FrankWolfeRegressorCV().fit(
            pytest.importorskip("pyarrow").table({"town": ["x", "y"], "size": [1, 2]}), [1, 2]
        ),
        "X holds text or dates in 'town'; make numbers of it",
    ),
    "dates": (
        lambda: fw.FrankWolfeRegressorCV().fit(frame()[["size"]].assign(day=np.arange(3).astype("M8[ns]")), [1, 2, 3]),
        "X holds text or dates in 'day'; make numbers of it",
    ),
    "complex data": (lambda: fw.LeastSquares(A + 1j, Y), "take real and imaginary parts apart"),
    "numbers for labels": (
        lambda: fw.Logistic(A, Y),
        "choose one class against the rest, or .* LeastSquares for numbers",
    ),
    "too few rows": (
        lambda: fw.FrankWolfeRegressorCV().fit(A[:4], Y[:4]),
        r"held-out folds: .*n_samples=4\. Take fewer folds \(cv\), or give a radius",
    ),
    "a radius where several are tried": (
        lambda: fw.FrankWolfeRegressorCV(radius=3.0),  # type: ignore[call-arg]
        "FrankWolfeRegressorCV has no option 'radius'; did you mean 'radii'",
    ),
    "text": (lambda: fw.LeastSquares(frame(), [1.0, 2.0, 3.0]), "column 'town' holds text"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_answered_with_the_remedy(mistake: str) -> None:
    make, match = MISTAKES[mistake]
    with pytest.raises((TypeError, ValueError), match=match) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_names_of_methods_may_be_written_large() -> None:
    assert fw.minimize(F, S, method="AFW", max_iter=3).method == "afw"


def test_no_bound_is_said_in_words() -> None:
    result = fw.minimize(F, None, method="agm", max_iter=3)
    assert "inf" not in repr(result)
    assert "nothing is proven" in repr(result)


def test_results_show_themselves_in_notebooks() -> None:
    result = fw.minimize(F, S, method="afw", max_iter=50, tol=0)
    both = fw.compare(F, S, ["fw", "afw"], max_iter=20)
    for thing in (result, result.trace, both):
        html = thing._repr_html_()
        ET.fromstring(html)
        assert "<svg" in html
        assert "polyline" in html
    assert "LeastSquares(of 20 x 3 numbers)" in F._repr_html_()
    assert "L1Ball" in S._repr_html_()
    assert "<script" not in fw.Function(lambda x: x @ x, lambda x: x)._repr_html_()
    assert ET.fromstring(fw.minimize(F, None, method="agm", max_iter=3)._repr_html_()).find("svg") is None
    assert repr(result.trace).startswith("Trace(51 rows")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_says_that_kernels_are_compiled() -> None:
    for wanted, stream, shown in (
        (None, Terminal(), True),
        (None, io.StringIO(), False),
        (True, io.StringIO(), True),
        (False, Terminal(), False),
    ):
        with compiling_shown(wanted, stream):
            CLOCK.start()
            CLOCK.stop()
        assert ("compiling" in stream.getvalue()) is shown
        CLOCK.start()
        CLOCK.stop()
        assert stream.getvalue().count("compiling") <= 1, "nobody is told after the end"


def test_compiling_does_not_count_against_the_time_limit(monkeypatch) -> None:
    hours = {"f": 0.0}

    def f(x):
        if not hours["f"]:  # an hour of compiling, as the clocks have it
            hours["f"] = 3600.0
            monkeypatch.setattr(CLOCK, "_total", CLOCK._total + hours["f"])
        return float((x - 1) @ (x - 1))

    monkeypatch.setattr(sys.modules["frankwolfe.minimize"], "monotonic", lambda: monotonic() + hours["f"])
    objective = fw.Function(f, lambda x: 2 * (x - 1))
    result = fw.minimize(objective, S, np.zeros(3), method="fw", tol=1e-9, time_limit=600, max_iter=40)
    assert result.status is fw.Status.MAX_ITER
    assert result.time < 600


def test_the_line_of_progress_never_shows_nan() -> None:
    stream = Terminal()
    line = Progress(True, 100, stream=stream)
    line.update(0, 1e-6, 1.0, 1e-3)
    line.next = 0.0
    line.update(1, 1e-6, 1.0, 1e-3)
    assert "nan" not in stream.getvalue()
    assert "it/s" in stream.getvalue()
