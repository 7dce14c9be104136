"""When runs end: the default tolerance, and methods that no longer get on."""

from __future__ import annotations

import math

import numpy as np
import pytest

import frankwolfe as fw
from frankwolfe.stopping import WINDOW, Rest, Tolerance


def regression(n: int = 60, d: int = 20, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, d))
    return A, A @ rng.standard_normal(d) + rng.standard_normal(n)


# -- tolerance --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["auto", "bpcg"])
@pytest.mark.parametrize(
    ("features", "targets"), [(1e-6, 1.0), (1e-9, 1.0), (1.0, 1e-6), (1e-6, 1e-6), (1.0, 1e8), (1e4, 1e8)]
)
def test_the_default_tolerance_does_not_depend_on_units(features: float, targets: float, method: str) -> None:
    A, b = regression()
    plain = fw.minimize(fw.LeastSquares(A, b), fw.L1Ball(2.0), tol=1e-13)
    f = fw.LeastSquares(features * A, targets * b)
    result = fw.minimize(f, fw.L1Ball(2.0 * targets / features), method=method)
    assert result.success
    assert result.n_iter < 1000
    np.testing.assert_allclose(result.x * features / targets, plain.x, atol=1e-2)
    gain = float(f.value(np.zeros(20))) - result.fun
    assert result.gap <= 1.001e-6 * gain


@pytest.mark.parametrize(("features", "targets"), [(1e-6, 1.0), (1e-8, 1.0), (1.0, 1e8)])
def test_a_fixed_radius_asks_for_a_share_of_what_can_be_gained(features: float, targets: float) -> None:
    """The set allows little: what counts is how much of that little is gained, or what rounding leaves of it."""
    A, b = regression()
    f = fw.LeastSquares(features * A, targets * b)
    result = fw.minimize(f, fw.L1Ball(1.0))
    start = float(f.value(np.zeros(20)))
    linear = start - float(np.max(np.abs(f.grad(np.zeros(20)))))  # nothing bends at this scale
    assert result.status in (fw.Status.OPTIMAL, fw.Status.PRECISION)
    assert result.n_iter < 1000
    assert start - result.fun >= 0.999 * (start - linear)


def test_a_relative_tolerance_asks_something_of_the_first_step() -> None:
    """Before it no value is known; one that is taken for infinite would call any gap closed."""
    A, b = regression()
    result = fw.minimize(fw.LeastSquares(A, b), fw.L2Ball(1.0), rtol=1e-6)
    assert result.x.any()
    assert 0 <= result.gap <= 1e-6 * max(1.0, result.fun)


def test_tolerance_in_formulae() -> None:
    assert Tolerance(1e-3).goal(1.0, 5.0, 0.0) == 1e-3
    assert Tolerance(None, 1e-2).goal(50.0, 60.0, 0.0) == 0.5
    assert Tolerance(0.0).goal(1.0, 5.0, 1e-3) == 0.0
    assert Tolerance().goal(1.0, 5.0, 0.0) == pytest.approx(1e-6), "relative to f"
    assert Tolerance().goal(100.0, 101.0, 0.0) == pytest.approx(1e-6), "relative to the gain"
    assert Tolerance().goal(0.0, 1.0, 0.0) == pytest.approx(1e-9), "a thousandth of the gain"
    assert Tolerance().goal(1.0, 1.0, 1e-15) == 2e-15, "the start is optimal"
    assert Tolerance().goal(math.inf, -math.inf, 0.0) < 1e-200, "nothing is known yet"
    assert Tolerance(None, 1e-2).goal(math.inf, -math.inf, 0.0) == 1e-2, "of a value of one"


def test_a_warm_start_is_asked_for_no_more() -> None:
    A, b = regression()
    f, ball = fw.LeastSquares(A, b), fw.L1Ball(2.0)
    first = fw.minimize(f, ball, method="bpcg")
    for start in (first, first.x):
        again = fw.minimize(f, ball, start, method="bpcg")
        assert again.success
        assert again.n_iter <= 2
    given = fw.minimize(f, ball, np.zeros(20), method="bpcg")
    assert given.n_iter == first.n_iter, "zero is the default start"


def test_a_start_that_is_optimal_ends_the_run() -> None:
    result = fw.minimize(fw.LeastSquares(np.eye(3), [9.0, 0.0, 0.0]), fw.Simplex(3))
    assert result.success
    assert result.n_iter <= 1
    assert fw.minimize(fw.LeastSquares(np.eye(3), np.zeros(3)), fw.L2Ball(1.0)).success


def test_paths_have_the_same_tolerance() -> None:
    A, b = regression()
    for together in (True, False):
        path = fw.path(
            fw.LeastSquares(1e-6 * A, b), fw.L1Ball, [1.0, 1e3], together=together, method="afw" if together else "auto"
        )
        start = float(fw.LeastSquares(1e-6 * A, b).value(np.zeros(20)))
        assert all(r.gap <= 1e-5 * (start - r.fun) for r in path)


# -- stalls -----------------------------------------------------------------------------------------------------------


class Stuck(fw.FrankWolfe):
    """A method that does not move after a few steps."""

    def step(self, problem, state):
        after, seen = super().step(problem, state)
        return (after if state.k < 5 else state._replace(k=state.k + 1)), seen


def test_a_method_that_no_longer_gets_on_ends_and_says_so() -> None:
    A, b = regression()
    f, ball = fw.LeastSquares(A, b), fw.L1Ball(2.0)
    result = fw.minimize(f, ball, method=Stuck())
    assert result.status is fw.Status.STALLED
    assert not result.success
    assert result.n_iter <= 6 + WINDOW + 1
    assert "no more progress" in result.message
    assert "auto" in fw.explain(result).next
    assert fw.minimize(f, ball, method=Stuck(), tol=0, max_iter=200).n_iter == 200, "no goal, no stall"


def test_a_stall_is_resumed_as_a_stall(tmp_path) -> None:
    A, b = regression()
    f, ball = fw.LeastSquares(A, b), fw.L1Ball(2.0)
    whole = fw.minimize(f, ball, method=Stuck())
    save = fw.Checkpoint(tmp_path / "run.npz", every=0)
    for limit in (3, 20, 10_000):
        part = fw.minimize(f, ball, method=Stuck(), max_iter=limit, checkpoint=save)
    assert (part.status, part.n_iter) == (whole.status, whole.n_iter)


@pytest.mark.parametrize(
    "method", ["fw", "afw", "hfw", "extrafw", "stochastic", "away", "lazy", "boosted", "cgs", "pgd"]
)
def test_a_slow_method_is_not_at_rest(method: str) -> None:
    """Open-loop methods are slow, and their best value may not change for a long while; yet they get on."""
    A, b = regression(80, 10)
    f = fw.Logistic(A, b > 0)
    result = fw.minimize(
        f,
        fw.L2Ball(1.5) if method in ("pgd", "stochastic") else fw.L1Ball(1.5),
        method=method,
        tol=1e-13,
        max_iter=800,
    )
    assert result.status is not fw.Status.STALLED
    if result.status is fw.Status.PRECISION:
        assert result.gap <= 1e-6
    best = fw.minimize(f, fw.L2Ball(1.5) if method in ("pgd", "stochastic") else fw.L1Ball(1.5), tol=1e-12).fun
    if result.n_iter < 800:
        assert result.fun - best <= 1e-9


@pytest.mark.parametrize("power", [0.25, 0.5, 1.0, 2.0])
def test_an_error_that_falls_like_a_power_is_at_rest_only_within_rounding(power: float) -> None:
    noise, errors = 1e-6, (np.arange(20_000) + 1.0) ** -power
    for gaps in (3 * errors, np.ones_like(errors)):  # the bound gets on as well, or it does not
        rest = Rest()
        for k, error in enumerate(errors.tolist()):
            rest = rest.after(k, 1.0 + error, 1.0 + error, float(gaps[k]), noise)
            if rest.is_stalled(k):
                assert gaps[0] == 1.0
                assert error <= 2 * noise / (2**power - 1)
                break


def test_auto_goes_on_after_a_stall() -> None:
    rng = np.random.default_rng(0)
    A = rng.standard_normal((30, 300))
    f = fw.LeastSquares(A, A @ rng.standard_normal(300) / 20 + rng.standard_normal(30))
    result = fw.minimize(f, fw.L2Ball(100.0))
    assert result.success
    assert result.n_iter < 300


def test_multinomial_in_a_loose_ball_does_not_run_on() -> None:
    rng = np.random.default_rng(0)
    A = rng.standard_normal((200, 3))
    y = (A @ rng.standard_normal((3, 5)) + rng.gumbel(size=(200, 5))).argmax(1)
    for method in ("auto", "subspace"):
        result = fw.minimize(fw.Multinomial(A, y), fw.L2Ball(25.0), method=method)
        assert result.status in (fw.Status.OPTIMAL, fw.Status.PRECISION)
        assert result.n_iter < 500


def test_single_precision_ends_where_it_can_do_no_more() -> None:
    rng = np.random.default_rng(0)
    A = rng.standard_normal((50, 10)).astype(np.float32)
    b = A @ np.ones(10, np.float32) + rng.standard_normal(50).astype(np.float32)
    narrow = fw.Function(
        lambda x: np.float32(0.5) * np.sum((A @ x.astype(np.float32) - b) ** 2) / np.float32(50),
        lambda x: A.T @ (A @ x.astype(np.float32) - b) / np.float32(50),
    )
    for f in (narrow, fw.Function(lambda x: 0.5 * np.sum((A @ x - b) ** 2) / 50, lambda x: A.T @ (A @ x - b) / 50)):
        result = fw.minimize(f, fw.L1Ball(5.0), np.zeros(10, np.float32), method="pairwise", tol=1e-12)
        assert result.status in (fw.Status.PRECISION, fw.Status.OPTIMAL)
        assert result.n_iter < 1000


def test_single_precision_goes_on_while_proofs_in_double_get_better() -> None:
    """Values of single precision agree up to rounding long before the gap is as small as double precision can prove."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((2000, 30)).astype("f4")
    b = rng.random(2000) < 0.5
    result = fw.minimize(fw.Logistic(A, b), fw.L2Ball(1.0), method="fw", tol=4e-5, max_iter=20_000)
    assert result.success, result.message
    optimum = fw.minimize(fw.Logistic(A.astype(float), b), fw.L2Ball(1.0), tol=1e-12)
    assert result.lower_bound <= optimum.fun + 1e-13
