"""richardson, stochastic, inface, bcfw and the structural SVM: theorems, accuracy, certificates, resumption, limits."""

from __future__ import annotations

import itertools
import math
from functools import cache

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array
from scipy.sparse.linalg import aslinearoperator
from tests.methods.properties import ROUNDING, check_certificates, check_resumption, dense, steps
from tests.problems import PROBLEMS, Case, case, completion, logistic_data

import frankwolfe as fw
from frankwolfe.methods.low_rank.in_face import InFaceFrankWolfe
from frankwolfe.methods.open_loop.richardson import Richardson
from frankwolfe.methods.stochastic.block_coordinate import BlockCoordinateFrankWolfe, _block_gradient
from frankwolfe.methods.stochastic.stochastic import StochasticFrankWolfe, _Rows
from frankwolfe.objectives.structural_svm import StructuralSVM
from frankwolfe.points import Point
from frankwolfe.problem import Problem
from frankwolfe.sets import Product

METHODS = {
    "richardson": Richardson(),
    "stochastic": StochasticFrankWolfe(),
    "stochastic-spider": StochasticFrankWolfe("spider", batch=7),
    "inface": InFaceFrankWolfe(),
    "inface-11": InFaceFrankWolfe(1.0, 1.0),
    "inface-01": InFaceFrankWolfe(0.0, 1.0),
    "bcfw": BlockCoordinateFrankWolfe(),
    "bcfw-open": BlockCoordinateFrankWolfe("open"),
    "bcfw-average": BlockCoordinateFrankWolfe(average=True),
    "richardson-hfw": Richardson(fw.HeavyBallFrankWolfe()),
}
PRODUCTS = ["product-squares", "product-ridge-csr", "product-quadratic", "product-function", "product-nuclear"]


@cache
def known(name: str) -> Case:
    """Return a problem of tests.problems, or one over a product of an l1 ball, a simplex and an l2 ball."""
    if name in PROBLEMS:
        return case(name)
    A, b = logistic_data()
    f = {
        "product-squares": fw.LeastSquares(A, 3 * b),
        "product-nuclear": fw.LeastSquares(A, 3 * b),
        "product-ridge-csr": fw.Logistic(csr_array(A * (abs(A) > 0.7)), b, ridge=0.05),
        "product-quadratic": fw.Quadratic(A.T @ A / 50, A.T @ b / 40),
    }
    f = f.get(name) or fw.Function(f["product-squares"].value, f["product-squares"].grad, smoothness=2.0)
    domain = Product(fw.L1Ball(1.0), fw.Simplex(4), fw.L2Ball(0.5), shapes=[4, 4, 4])
    x0 = np.concatenate([np.zeros(4), np.full(4, 0.25), np.zeros(4)])
    if name == "product-nuclear":
        domain, x0 = Product(fw.NuclearBall(1.0), fw.L2Ball(0.5), shapes=[(2, 4), 4]), None
    tight = fw.minimize(f, domain, x0, method=fw.AcceleratedProjectedGradient(restart=True), tol=1e-13, max_iter=5000)
    assert tight.gap < 1e-9
    return Case(f, domain, tight.fun, x0)


def applies(label: str, name: str) -> bool:
    try:
        METHODS[label].check(Problem(known(name).objective, known(name).domain))
    except TypeError:
        return False
    return True


PAIRS = [(label, name) for label in METHODS for name in [*PROBLEMS, *PRODUCTS] if applies(label, name)]


def suboptimality(name: str, method: fw.Method, n: int, seed: int = 0) -> np.ndarray:
    objective, domain, optimum, x0 = known(name)
    return fw.minimize(objective, domain, x0, method=method, tol=0, max_iter=n, random_state=seed).trace.fun - optimum


@pytest.mark.parametrize(("label", "name"), PAIRS)
def test_certificates_never_exceed_the_optimum(label: str, name: str) -> None:
    """lower_bound <= f* <= fun in every row, and iterates stay in the set."""
    result = check_certificates(METHODS[label], known(name), 40)
    assert result.gap <= 0.9 * result.trace.gap[0]


@pytest.mark.parametrize("label", METHODS)
def test_save_and_load_at_every_iteration(label: str) -> None:
    """A state that goes through the file format after every step makes the same iterates, to the last bit."""
    for name in [n for lab, n in PAIRS if lab == label]:
        check_resumption(METHODS[label], known(name))


@pytest.mark.parametrize("name", ["quadratic-simplex", "logistic-l1", "completion-nuclear"])
def test_richardson_is_an_extrapolation_of_frank_wolfe(name: str) -> None:
    """z_k is Frank-Wolfe's iterate with steps 1/(k+1); x_k = (k z_k - a z_a)/(k - a), and 2z_k - z_{k/2} at k = 2^j."""
    objective, domain, *_ = known(name)
    problem = Problem(objective, domain)
    z = [dense(problem.start(None, False))]
    for before, after, evidence in steps(problem, Richardson(), beginning(problem), 40):
        k = before.k
        _, vertex = evidence.minorants[0]
        assert vertex is not None
        z.append(z[k] + (dense(vertex.point) - z[k]) / (k + 1))
        np.testing.assert_allclose(dense(after.z), z[k + 1], atol=1e-12)
        if k + 1 >= 2:
            a = 2 ** int(math.log2(k + 1)) // 2
            extrapolated = ((k + 1) * z[k + 1] - a * z[a]) / (k + 1 - a)
            np.testing.assert_allclose(dense(after.x), extrapolated, atol=1e-11)
        value, at = evidence.seen[0]
        assert at is before.x
        assert float(value) == pytest.approx(float(objective.value(at.coords)), rel=1e-10)


def beginning(problem: Problem):
    return problem.start(None, False)


@pytest.mark.parametrize("seed", range(3))
def test_richardson_removes_the_leading_term(seed: int) -> None:
    """Where early vertices lie off the optimal face, f(z_k) - f* falls like 1/k and f(x_k) - f* like 1/k²."""
    rng = np.random.default_rng(seed)
    A, signal = rng.standard_normal((200, 50)), np.zeros(50)
    signal[:10] = rng.random(10)
    f = fw.LeastSquares(A, A @ (4 * signal / signal.sum()) + 0.5 * rng.standard_normal(200))
    tight = fw.AcceleratedProjectedGradient(restart=True)
    optimum = fw.minimize(f, fw.L1Ball(2.0), method=tight, tol=1e-13, max_iter=5000).fun
    problem, h = Problem(f, fw.L1Ball(2.0)), []
    for _, after, _ in steps(problem, Richardson(), beginning(problem), 2048):
        if after.k in (64, 2048):
            h.append([float(problem.value(p)) - optimum for p in (after.z, after.x)])
    slope_z, slope_x = np.log(np.divide(*h)) / math.log(32)
    assert slope_x > 1.7
    assert slope_z < 1.3
    assert h[1][1] < 0.02 * h[1][0]


@pytest.mark.parametrize("form", [np.asarray, csr_array, csc_array])
@pytest.mark.parametrize("make", [fw.Logistic, fw.LeastSquares])
def test_mini_batches_are_unbiased(make, form) -> None:
    """The mean over all rows of one-row gradients is the gradient, weights and ridge included."""
    A, b = logistic_data()
    A = A * (abs(A) > 0.7)
    rng = np.random.default_rng(0)
    f = make(form(A), b, sample_weight=rng.random(b.size), ridge=0.1)
    x, y = rng.standard_normal((2, A.shape[1]))
    rows = _Rows(f)
    mean = np.mean([rows.gradient(np.array([i]), x) for i in range(b.size)], axis=0)
    np.testing.assert_allclose(mean, f.grad(x), atol=1e-12)
    change = np.mean([rows.gradient(np.array([i]), x, y) for i in range(b.size)], axis=0)
    np.testing.assert_allclose(change, f.grad(x) - f.grad(y), atol=1e-12)


@pytest.mark.parametrize("name", ["logistic-l1", "logistic-l2", "squares-l1"])
def test_momentum_tames_the_noise(name: str) -> None:
    """Mean of four runs: below the theorem's t^(-1/3), and falling at least that fast."""
    objective, domain, *_ = known(name)
    h = np.mean([suboptimality(name, StochasticFrankWolfe(batch=4), 64, seed) for seed in range(4)], axis=0)
    A, n = objective.data.matrix, objective.data.shape[0]
    start = np.zeros(A.shape[1])
    spread = max(float(np.sum((n * A[i] * objective.loss_slope(0 * objective.b)[i]) ** 2)) for i in range(n))
    L, D = objective.smoothness, domain.diameter(objective.shape)
    error = max(3 * np.linalg.norm(objective.grad(start)), (16 * spread + 2 * L**2 * D**2) ** 0.5)
    Q = max(9 ** (1 / 3) * h[0], L * D**2 / 2 + 2 * D * error)
    t = 30 * np.arange(len(h))
    assert np.all(h <= Q / (t + 9) ** (1 / 3))
    assert h[64] <= h[2] * 32 ** (-1 / 3)


@pytest.mark.parametrize("name", ["logistic-l1", "logistic-l2", "squares-l1", "squares-box"])
def test_variance_reduction_restores_the_rate(name: str) -> None:
    """f(x_t) - f* within Frank-Wolfe's own bound 2LD²/(t+2) up to a factor, t all moves; far below momentum."""
    objective, domain, *_ = known(name)
    spider = np.mean([suboptimality(name, StochasticFrankWolfe("spider"), 64, seed) for seed in range(4)], axis=0)
    momentum = np.mean([suboptimality(name, StochasticFrankWolfe(), 64, seed) for seed in range(4)], axis=0)
    t = 10 * np.arange(1, len(spider))
    assert np.all(spider[1:] <= 4 * objective.smoothness * domain.diameter(objective.shape) ** 2 / (t + 2))
    assert math.log(spider[4] / spider[64]) >= 0.8 * math.log(64 / 4)
    assert spider[64] <= 0.1 * momentum[64]


def test_passes_count_the_rows_read() -> None:
    objective, domain, *_ = known("logistic-l2")
    result = fw.minimize(objective, domain, method=StochasticFrankWolfe(batch=10), tol=0, max_iter=5)
    assert result.n_grad == 5
    assert result.n_lmo == 5 * (1 + 12)
    assert result.n_pass == pytest.approx(5 + 5 + 1)  # evaluations, mini-batches, the last value


@pytest.mark.parametrize(
    ("gammas", "seed"), [((0.0, math.inf), 0), ((0.0, math.inf), 1), ((1.0, 1.0), 0), ((0.0, 1.0), 2)]
)
def test_in_face_steps_keep_the_rank_low(gammas, seed: int) -> None:
    """The same optimum as 'factored' certifies, at the true rank, where Frank-Wolfe has collected many directions."""
    f, ball = completion(20, 15, seed), fw.NuclearBall(12.0)
    optimum = fw.minimize(f, ball, method="factored", tol=1e-8)
    low = fw.minimize(f, ball, method=InFaceFrankWolfe(*gammas), tol=0, max_iter=500)
    high = fw.minimize(f, ball, method=fw.FrankWolfe(fw.ExactLineSearch()), tol=0, max_iter=500)
    assert low.fun - optimum.fun <= 1e-3 * (float(f.value(f.start(None, False))) - optimum.fun)
    assert low.lower_bound <= optimum.fun
    assert low.x.rank(1e-6) <= optimum.x.rank(1e-6) + 1
    assert low.x.rank(1e-6) < high.x.rank(1e-6)
    assert low.n_lmo < high.n_lmo


def test_every_in_face_step_is_one() -> None:
    """Without an oracle call: the spans of x do not grow, the rank falls by one, f falls, the factors are an SVD."""
    objective, domain, *_ = known("completion-nuclear")
    problem, inside = Problem(objective, domain), 0
    for before, after, evidence in steps(problem, InFaceFrankWolfe(), beginning(problem), 100):
        X, Y = before.x.coords, after.x.coords
        assert float(objective.value(Y)) <= float(objective.value(X)) + ROUNDING
        np.testing.assert_allclose(np.stack(Y.left) @ np.stack(Y.left).T, np.eye(Y.stored), atol=1e-12)
        np.testing.assert_allclose(objective.map.apply(Y), problem.image(after.x), atol=1e-10)
        if not evidence.minorants:
            inside += 1
            assert Y.stored == X.stored - 1
            P = np.stack(X.left)
            np.testing.assert_allclose(P.T @ (P @ Y.toarray()), Y.toarray(), atol=1e-9)
    assert inside >= 30
    assert problem.counts.n_lmo == 100 - inside


@pytest.mark.parametrize("name", PRODUCTS)
def test_bcfw_rate(name: str) -> None:
    """f - f* <= 2(LD² + f(x_0) - f*)/(k + 2) after k sweeps, in the mean of two orders."""
    objective, domain, *_ = known(name)
    L = fw.LeastSquares(*LEAST).smoothness if name == "product-function" else objective.smoothness
    curvature = L * domain.diameter() ** 2
    k = np.arange(41)
    for rule in ("search", "open"):
        h = np.mean([suboptimality(name, BlockCoordinateFrankWolfe(rule), 40, s) for s in range(2)], axis=0)
        assert np.all(h <= 2 * (curvature + h[0]) / (k + 2) + ROUNDING)


def test_sweeps_beat_whole_steps() -> None:
    """Twenty l1 balls: a sweep, for the price of a step of Frank-Wolfe in columns and oracles, gains far more."""
    rng = np.random.default_rng(3)
    A = rng.standard_normal((80, 60))
    f, domain = fw.LeastSquares(A, A @ rng.standard_normal(60)), Product(*[fw.L1Ball(0.5)] * 20, shapes=[3] * 20)
    tight = fw.AcceleratedProjectedGradient(restart=True)
    optimum = fw.minimize(f, domain, method=tight, tol=1e-12, max_iter=5000).fun
    sweeps = fw.minimize(f, domain, method=BlockCoordinateFrankWolfe(), tol=0, max_iter=30)
    whole = fw.minimize(f, domain, method=fw.FrankWolfe(fw.ExactLineSearch()), tol=0, max_iter=30)
    assert sweeps.fun - optimum <= 0.05 * (whole.fun - optimum)
    assert sweeps.n_lmo == 2 * whole.n_lmo
    assert sweeps.n_grad == whole.n_grad


LEAST = (logistic_data()[0], 3 * logistic_data()[1])


@pytest.mark.parametrize("name", [*PRODUCTS, "svm"])
def test_gradients_of_blocks_are_parts_of_the_gradient(name: str) -> None:
    f, domain = (sequences()[0], sequences()[0].domain) if name == "svm" else known(name)[:2]
    x = np.random.default_rng(0).standard_normal(domain.shape)
    for block in domain.blocks:
        part = _block_gradient(Problem(f, domain), Point.at(x), block)
        np.testing.assert_allclose(part, f.grad(x)[block], atol=1e-12)


def test_bcfw_orders_follow_the_seed() -> None:
    runs = [suboptimality("product-squares", BlockCoordinateFrankWolfe(), 3, seed) for seed in (0, 0, 1, 2, 3)]
    assert np.array_equal(runs[0], runs[1])
    assert any(not np.array_equal(runs[0], other) for other in runs[2:])


def sequences(n: int = 6, length: int = 3, p: int = 2, lam: float = 0.1):
    """A chain of binary labels: emission features by label, one for equal neighbours; Hamming loss; by enumeration."""
    rng = np.random.default_rng(0)
    outputs = list(itertools.product((0, 1), repeat=length))
    X = rng.standard_normal((n, length, p))
    truth = [outputs[i] for i in rng.integers(len(outputs), size=n)]

    def features(x: np.ndarray, y: tuple[int, ...]) -> np.ndarray:
        emission = np.zeros((2, p))
        for at, label in zip(x, y, strict=True):
            emission[label] += at
        return np.append(emission.ravel(), sum(a == b for a, b in itertools.pairwise(y)))

    psi = np.array([[features(x, t) - features(x, y) for y in outputs] for x, t in zip(X, truth, strict=True)])
    loss = np.array([[np.mean(np.not_equal(t, y)) for y in outputs] for t in truth])

    def decoder(i: int, w: np.ndarray, c: float):
        best = int(np.argmax(c * loss[i] - psi[i] @ w))
        return psi[i, best], loss[i, best]

    return StructuralSVM(decoder, n=n, d=psi.shape[2], lam=lam), psi, loss


def test_structural_svm_against_cvxpy() -> None:
    """bcfw solves the dual: minus its optimum is the primal's, the certificate is the primal at w, and w agrees."""
    cvxpy = pytest.importorskip("cvxpy")
    svm, psi, loss = sequences()
    w, xi = cvxpy.Variable(svm.d), cvxpy.Variable(svm.n)
    limits = [xi[i] >= loss[i] - psi[i] @ w for i in range(svm.n)]
    primal = cvxpy.Problem(cvxpy.Minimize(0.5 * svm.lam * cvxpy.sum_squares(w) + cvxpy.sum(xi) / svm.n), limits)
    optimum = primal.solve(solver="CLARABEL")
    result = fw.minimize(svm, svm.domain, method=BlockCoordinateFrankWolfe(), tol=1e-4, max_iter=3000)
    assert result.success
    assert -result.fun == pytest.approx(optimum, abs=1e-4)
    assert result.lower_bound <= -optimum + 1e-7
    ours, theirs = svm.weights(result.x), np.asarray(w.value)
    assert optimum - 1e-7 <= svm.primal(ours) <= optimum + 1e-2
    assert float(np.linalg.norm(ours - theirs)) <= (2 * 1.01e-4 / svm.lam) ** 0.5  # f is strongly convex in w


def test_the_gap_of_the_dual_is_the_primal_gap() -> None:
    svm, *_ = sequences()
    problem = Problem(svm, svm.domain)
    for before, _, evidence in steps(problem, BlockCoordinateFrankWolfe(), problem.start(None, False), 5):
        tangent, vertex = evidence.minorants[0]
        assert vertex is not None
        bound = float(tangent.offset + vertex.value)
        assert -bound == pytest.approx(svm.primal(svm.weights(before.x.coords)), rel=1e-12)
    x = np.random.default_rng(1).standard_normal(svm.shape)
    assert fw.check_gradient(svm, x) < 1e-6


@pytest.mark.parametrize(
    ("label", "objective", "domain", "remedy"),
    [
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
        fw.minimize(objective, domain, method=METHODS[label])


def test_options_are_checked() -> None:
    for make, match in (
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
