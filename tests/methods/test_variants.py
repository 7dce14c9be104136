"""What every variant of a method owes: certificates, resumption, accuracy, and words for what it cannot do."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.sparse.linalg import aslinearoperator
from tests.methods.properties import check_certificates, check_resumption
from tests.methods.variants import METHODS, PAIRS, constants, known
from tests.problems import case, completion, logistic_data

import frankwolfe as fw
from frankwolfe.methods.low_rank.in_face import InFaceFrankWolfe
from frankwolfe.methods.open_loop.boosted import BoostedFrankWolfe
from frankwolfe.methods.open_loop.extra import ExtraFrankWolfe
from frankwolfe.methods.open_loop.heavy_ball import HeavyBallFrankWolfe
from frankwolfe.methods.projected.sliding import ConditionalGradientSliding
from frankwolfe.methods.second_order.newton import NewtonFrankWolfe
from frankwolfe.methods.second_order.subspace import SubspaceFrankWolfe
from frankwolfe.methods.stochastic.block_coordinate import BlockCoordinateFrankWolfe
from frankwolfe.methods.stochastic.stochastic import StochasticFrankWolfe
from frankwolfe.objectives.structural_svm import StructuralSVM


@pytest.mark.parametrize(("label", "name"), PAIRS)
def test_certificates_never_exceed_the_optimum(label: str, name: str) -> None:
    """lower_bound <= f* <= fun in every row, and iterates stay in the set."""
    few = {"newton": 12, "factored": 12, "cgs": 25, "cgs-strong": 25}
    result = check_certificates(METHODS[label], known(name), few.get(label, 60), tol=1e-8)
    if label.startswith(("richardson", "stochastic", "inface", "bcfw")):
        assert result.gap <= 0.9 * result.trace.gap[0]


@pytest.mark.parametrize("label", METHODS)
def test_save_and_load_at_every_iteration(label: str) -> None:
    """A state that goes through the file format after every step makes the same iterates, to the last bit."""
    for name in [n for lab, n in PAIRS if lab == label][:6]:
        check_resumption(METHODS[label], known(name))


def test_single_precision() -> None:
    """Every method runs in float32, keeps its dtype, and its bound stays below the optimum."""
    A, b = (a.astype(np.float32) for a in logistic_data())
    sets = {
        "dicg": fw.Simplex(12),
        "newton": fw.L1Ball(2.0),
        "bcfw": fw.Product(fw.L2Ball(1.0), fw.L2Ball(1.0), shapes=[6, 6]),
    }
    exact = completion()
    rows, cols = exact.pattern.rows, exact.pattern.cols
    single = fw.MatrixCompletion(rows, cols, exact.values.astype(np.float32), exact.pattern.shape)
    for label, method in METHODS.items():
        objective, domain = fw.Logistic(A, b), sets.get(label.partition("-")[0], fw.L2Ball(2.0))
        if label.startswith(("factored", "inface")):
            objective, domain = single, fw.NuclearBall(8.0)
        n = 10 if label.startswith(("newton", "factored", "cgs")) else 60
        result = fw.minimize(objective, domain, method=method, tol=0, max_iter=n)
        assert result.x.dtype == np.float32, label
        assert result.status is fw.Status.MAX_ITER, (label, result.message)
        assert result.lower_bound <= result.fun
        assert result.gap < 0.5, label


EXACT = {
    "newton": ["logistic-l2", "logistic-l1", "squares-l1", "quadratic-simplex", "logistic-l3", "squares-box"],
    "boosted": ["logistic-l2", "quadratic-l2", "function-l2"],
    "dicg": ["quadratic-simplex"],
    "subspace": ["logistic-l2", "quadratic-l2", "logistic-l1-vertex"],
    "factored": ["completion-nuclear"],
    "hfw-restart": ["logistic-l1-vertex"],
}


@pytest.mark.parametrize(("label", "name"), [(label, name) for label, names in EXACT.items() for name in names])
def test_certified_to_one_in_a_million(label: str, name: str) -> None:
    objective, domain, optimum, x0 = case(name)
    first = float(objective.value(np.zeros(12))) if label != "factored" else float(objective.loss(0 * objective.values))
    goal = 1e-6 * max(first - optimum, 1e-3)
    result = fw.minimize(objective, domain, x0, method=METHODS[label], tol=goal, max_iter=2000)
    assert result.success
    assert result.gap <= goal
    assert result.fun - optimum <= goal
    if label == "newton":
        assert result.n_iter <= 12
        assert result.n_pass <= 3 * result.n_iter + 3


@pytest.mark.parametrize("label", ["extrafw", "hfw", "hfw-smooth", "boosted", "subspace"])
@pytest.mark.parametrize("name", ["logistic-l2", "squares-l1", "quadratic-simplex", "completion-nuclear"])
def test_certified_to_the_bound_of_the_rate(label: str, name: str) -> None:
    """The certified gap at k = 300 is within the O(1/k) bound; and far below it where the method accelerates."""
    objective, domain, _, x0, curvature = constants(name)
    result = fw.minimize(objective, domain, x0, method=METHODS[label], tol=0, max_iter=300)
    assert result.gap <= 2 * curvature / 300
    if label == "extrafw":
        assert result.gap <= 0.1 * 2 * curvature / 300


@pytest.mark.parametrize(
    ("label", "objective", "domain", "remedy"),
    [
        ("dicg", fw.LeastSquares(np.eye(3), np.ones(3)), fw.L1Ball(1.0), "pairwise"),
        ("newton", fw.Function(lambda x: 0.0, lambda x: x), fw.L2Ball(1.0), "afw"),
        ("newton", case("completion-nuclear").objective, fw.NuclearBall(1.0), "afw"),
        ("subspace", fw.Function(lambda x: 0.0, lambda x: x), fw.L2Ball(1.0), "afw"),
        ("factored", fw.LeastSquares(np.eye(3), np.ones(3)), fw.L2Ball(1.0), "subspace"),
        ("factored", fw.LeastSquares(np.eye(3), np.ones(3)), fw.NuclearBall(1.0), "afw"),
        ("hfw-restart", case("completion-nuclear").objective, fw.NuclearBall(1.0), "restart=False"),
        ("stochastic", fw.Quadratic(np.eye(3)), fw.L2Ball(1.0), "afw"),
        ("stochastic", fw.LeastSquares(aslinearoperator(np.eye(3)), np.ones(3)), fw.L2Ball(1.0), "afw"),
        ("inface", fw.LeastSquares(np.eye(3), np.ones(3)), fw.L2Ball(1.0), "bpcg"),
        ("inface", fw.LeastSquares(np.eye(3), np.ones(3)), fw.NuclearBall(1.0), "afw"),
        ("bcfw", fw.LeastSquares(np.eye(3), np.ones(3)), fw.L2Ball(1.0), "afw"),
        ("richardson", fw.LeastSquares(np.eye(3), np.ones(3)), None, "agm"),
    ],
)
def test_inapplicable_pairs_name_what_applies(label: str, objective, domain, remedy: str) -> None:
    with pytest.raises(TypeError, match=remedy):
        fw.minimize(objective, domain, np.zeros(3), method=METHODS[label])


@pytest.mark.parametrize("label", ["cgs", "hfw-smooth", "hfw-restart", "boosted-short"])
def test_a_missing_smoothness_constant_is_asked_for(label: str) -> None:
    f = fw.Function(lambda x: float(x @ x), lambda x: 2 * x)
    with pytest.raises(ValueError, match="smoothness"):
        fw.minimize(f, fw.L2Ball(1.0), np.ones(3) / 3, method=METHODS[label])


def test_options_are_checked() -> None:
    for make, match in (
        (lambda: HeavyBallFrankWolfe(weights="heavy"), "weights"),
        (lambda: HeavyBallFrankWolfe(steps="long"), "steps"),
        (lambda: HeavyBallFrankWolfe(weights="uniform", restart=True), "restart"),
        (lambda: ExtraFrankWolfe(offset=1), "offset"),
        (lambda: NewtonFrankWolfe(accuracy=2.0), "accuracy"),
        (lambda: BoostedFrankWolfe(rounds=0), "rounds"),
        (lambda: ConditionalGradientSliding(L=-1.0), "L"),
        (lambda: SubspaceFrankWolfe(memory=-1), "memory"),
        (lambda: StochasticFrankWolfe("svrg"), "reduction"),
        (lambda: StochasticFrankWolfe(batch=0), "batch"),
        (lambda: InFaceFrankWolfe(gamma1=-1.0), "gamma1"),
        (lambda: InFaceFrankWolfe(gamma2=math.nan), "gamma2"),
        (lambda: BlockCoordinateFrankWolfe("short"), "steps"),
        (lambda: StructuralSVM(lambda i, w, c: (w, 0.0), n=0, d=1, lam=1.0), "n"),
        (lambda: StructuralSVM(lambda i, w, c: (w, 0.0), n=1, d=1, lam=0.0), "lam"),
    ):
        with pytest.raises(ValueError, match=match):
            make()
