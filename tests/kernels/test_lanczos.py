"""The top singular pair, and bounds on the spectral norm, against LAPACK."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from frankwolfe.kernels.pattern.pattern_matrix import Pattern
from frankwolfe.kernels.spectral import lanczos
from frankwolfe.kernels.spectral.gram_operator import Gram
from frankwolfe.kernels.spectral.krylov import Krylov, log_component
from frankwolfe.kernels.spectral.lanczos import norm_upper_bound, spectral_norm, top_singular
from frankwolfe.kernels.spectral.tridiagonal import log_growth, pause, top_value

SPECTRA = {
    "random decay": lambda k, rng: np.concatenate([[1.0], np.sort(rng.random(k - 1))[::-1]]),
    "cluster": lambda k, rng: np.concatenate([[1.0, 0.9992, 0.9990, 0.998], np.linspace(0.995, 0.0, k - 4)]),
    "isolated pair": lambda k, rng: np.concatenate([[1.0, 0.9992], 0.5 * rng.random(k - 2)]),
    "near tie": lambda k, rng: np.concatenate([[1.0, 1 - 1e-6], 0.9 * rng.random(k - 2)]),
    "tie": lambda k, rng: np.concatenate([[1.0, 1.0, 1.0], 0.9 * rng.random(k - 3)]),
    "all equal": lambda k, rng: np.ones(k),
    "rank one": lambda k, rng: np.concatenate([[1.0], np.zeros(k - 1)]),
    "edge": lambda k, rng: 1 - np.linspace(0, 1, k) ** 2 / 2,
}


def with_spectrum(s, m, n, rng):
    k = len(s)
    U, _ = np.linalg.qr(rng.standard_normal((m, k)))
    V, _ = np.linalg.qr(rng.standard_normal((n, k)))
    return (U * s) @ V.T


def check(G, pair, sigma, tol=1e-12):
    """The triple belongs together, its vectors are unit vectors and sigma is not above the truth."""
    assert abs(np.linalg.norm(pair.left) - 1) < tol
    assert abs(np.linalg.norm(pair.right) - 1) < tol
    product = np.reshape(G @ pair.right, pair.left.shape)  # a one-row COO array returns a scalar
    assert float(pair.left @ product) == pytest.approx(pair.sigma, rel=tol)
    assert pair.sigma <= sigma * (1 + tol)


@pytest.mark.parametrize("name", SPECTRA)
@pytest.mark.parametrize("basis", [None, 12], ids=["plain", "restarted"])
def test_never_further_below_than_asked(name, basis):
    """8 spectra x 2 x 60 = 960 trials; `doubt` allows one miss in 1000 at worst, and adversarial ones are rare."""
    rng = np.random.default_rng(7)
    for _ in range(6):
        G = with_spectrum(SPECTRA[name](70, rng), 70, 90, rng)
        for accuracy in (1e-2, 1e-3, 1e-4, 1e-5, 1e-7):
            for H in (G, G.T):
                pair = top_singular(H, accuracy, rng, max_basis=basis)
                assert pair.sigma >= 1.0 - accuracy
                assert pair.error <= accuracy
                check(H, pair, 1.0)


def test_the_rule_can_fail_when_told_to_doubt_less():
    """An isolated pair defeats a careless rule: the trials above do have something to catch."""
    rng = np.random.default_rng(3)
    G = with_spectrum(SPECTRA["isolated pair"](70, rng), 70, 90, rng)
    misses = sum(top_singular(G, 1e-4, rng, doubt=0.9).sigma < 1 - 1e-4 for _ in range(60))
    careful = sum(top_singular(G, 1e-4, rng).sigma < 1 - 1e-4 for _ in range(60))
    assert misses > 0
    assert careful == 0


@settings(max_examples=40, deadline=None)
@given(
    m=st.integers(1, 130),
    n=st.integers(1, 130),
    seed=st.integers(0, 1000),
    exponent=st.sampled_from([-300, -170, -3, 0, 3, 170, 300]),
    rank=st.integers(0, 130),
)
def test_any_shape_rank_and_scale(m, n, seed, exponent, rank):
    rng = np.random.default_rng(seed)
    rank = min(rank, m, n)
    plain = rng.standard_normal((m, rank)) @ rng.standard_normal((rank, n))
    truth = np.linalg.norm(plain, 2) if rank else 0.0
    G = plain * 10.0**exponent
    pair = top_singular(G, 0.0, rng, rtol=1e-9)
    assert pair.sigma / 10.0**exponent == pytest.approx(truth, rel=1e-9, abs=1e-300)
    assert np.linalg.norm(pair.left) == pytest.approx(1.0)
    assert np.linalg.norm(pair.right) == pytest.approx(1.0)
    bound = norm_upper_bound(G, rng)
    assert bound.failure == 0.0
    assert truth * (1 - 1e-14) <= bound.value / 10.0**exponent <= truth * (1 + 1e-9)


@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_array, sp.coo_array, sp.lil_array, aslinearoperator, np.array])
@pytest.mark.parametrize("shape", [(100, 150), (150, 100), (1, 40000), (40000, 1), (20, 30)])
def test_every_kind_of_matrix(make, shape):
    rng = np.random.default_rng(5)
    S = sp.random_array(shape, density=0.1, random_state=rng)
    dense = S.toarray()
    G = make(dense)
    truth = np.linalg.norm(dense, 2)
    check(G, top_singular(G, 1e-6 * truth, rng), truth)
    assert spectral_norm(G) == pytest.approx(truth, rel=1e-9)
    bound = norm_upper_bound(G, rng)
    assert truth * (1 - 1e-14) <= bound.value <= truth * (1 + 1e-5)
    assert (bound.failure > 0) == isinstance(G, LinearOperator)


def test_pattern_matrix_is_not_made_dense(monkeypatch):
    rng = np.random.default_rng(0)
    g = Pattern(rng.integers(0, 300, 3000), rng.integers(0, 200, 3000), (300, 200)).matrix(rng.standard_normal(3000))
    truth = np.linalg.norm(g.toarray(), 2)
    assert g.pattern.duplicates() > 0  # repeated positions add up, in the bound too
    monkeypatch.setattr(type(g), "toarray", lambda self: pytest.fail("made a dense array"))
    check(g, top_singular(g, 1e-8, rng), truth)
    bound = norm_upper_bound(g, rng)
    assert truth <= bound.value <= truth * (1 + 1e-9)


def test_integers_and_booleans():
    G = np.random.default_rng(0).integers(-3, 4, (100, 90))
    for H in (G, sp.csr_array(G), G[:9], sp.csc_array(G[:9])):
        truth = np.linalg.norm(H.toarray() if sp.issparse(H) else H, 2)
        assert spectral_norm(H) == pytest.approx(truth)
        assert norm_upper_bound(H, np.random.default_rng(0)).value >= truth * (1 - 1e-14)
    assert spectral_norm(np.ones((2, 3), bool)) == pytest.approx(math.sqrt(6))


def test_zero_matrices():
    rng = np.random.default_rng(0)
    for G in (np.zeros((3, 4)), np.zeros((200, 300)), sp.csr_array((200, 300)), aslinearoperator(np.zeros((80, 90)))):
        pair = top_singular(G, 1e-3, rng)
        assert pair.sigma == 0.0
        assert np.linalg.norm(pair.left) == np.linalg.norm(pair.right) == 1.0
        assert norm_upper_bound(G, rng).value == 0.0
        assert spectral_norm(G) == 0.0


@pytest.mark.parametrize("scale", [1.0, 1e-30, 1e30])
@pytest.mark.parametrize("shape", [(30, 20), (100, 300), (300, 100)])
def test_single_precision_stays_single(shape, scale):
    rng = np.random.default_rng(2)
    G = (rng.standard_normal(shape) * scale).astype(np.float32)
    truth = np.linalg.norm(G.astype(np.float64), 2)
    pair = top_singular(G, 0.0, rng)
    assert pair.left.dtype == pair.right.dtype == np.float32
    assert pair.sigma == pytest.approx(truth, rel=2e-6)
    assert norm_upper_bound(G, rng).value >= truth
    assert spectral_norm(G) == pytest.approx(truth, rel=2e-6)


def test_a_tiny_basis_still_arrives():
    rng = np.random.default_rng(0)
    G = with_spectrum(SPECTRA["cluster"](90, rng), 90, 100, rng)
    assert top_singular(G, 1e-3, rng, max_basis=1).sigma >= 1 - 1e-3


def test_same_seed_same_answer_and_products_are_counted():
    class Counting:
        def __init__(self, G):
            self.G, self.shape, self.dtype, self.ndim, self.count = G, G.shape, G.dtype, 2, [0]

        def __matmul__(self, w):
            self.count[0] += 1
            return self.G @ w

        @property
        def T(self):
            out = Counting(self.G.T)
            out.count = self.count
            return out

    G = Counting(np.random.default_rng(0).standard_normal((90, 120)))
    first = top_singular(G, 1e-4, np.random.default_rng(1))
    assert first.matvecs == G.count[0]
    again = top_singular(G, 1e-4, np.random.default_rng(1))
    np.testing.assert_array_equal(first.left, again.left)
    assert first.sigma == again.sigma


@pytest.mark.parametrize("name", SPECTRA)
def test_probabilistic_bound_holds(name, monkeypatch):
    """8 spectra x 40 starts: a bound that fails once in 1e9 must not be seen to fail."""
    monkeypatch.setattr(lanczos, "_PROOF_SIDE", 0)
    rng = np.random.default_rng(11)
    G = with_spectrum(SPECTRA[name](100, rng), 100, 120, rng)
    for steps in (3, 10, 30, 60):
        for _ in range(10):
            bound = norm_upper_bound(G, rng, steps=steps)
            assert bound.failure == 1e-9
            assert bound.value >= 1.0
            if steps == 60:
                assert bound.value <= 1.0 + 0.05


def test_a_priori_bound_is_the_published_one(monkeypatch):
    monkeypatch.setattr(lanczos, "_PROOF_SIDE", 0)
    monkeypatch.setattr(Krylov, "upper", lambda *_: math.inf)
    rng = np.random.default_rng(0)
    G = with_spectrum(SPECTRA["edge"](200, rng), 200, 210, rng)
    for steps in (20, 60):
        root = math.log(1.648 * math.sqrt(200) / 0.5e-9) / (2 * steps - 1)
        bound = norm_upper_bound(G, rng, steps=steps)
        assert bound.value >= 1.0
        if root < 1:
            assert bound.value <= (1 + 1e-10) / math.sqrt(1 - root**2)


@pytest.mark.parametrize("restarts", [0, 1, 3])
def test_lanczos_relation_and_polynomial(restarts):
    """A V = V T + beta v e', V orthonormal, and |V' x| = sqrt(Σ p(s)²) |<start, x>| for eigenpairs (s, x)."""
    rng = np.random.default_rng(restarts)
    G = with_spectrum(SPECTRA["edge"](60, rng), 80, 60, rng)
    space = Krylov(Gram(G, rng), rng, 15)
    start = space.basis[0].copy()
    for _ in range(restarts):
        while space.dimension < space.most:
            space.grow()
        space.restart(5)
    while space.dimension < 12:
        space.grow()
    j = space.dimension
    V, A = space.basis[:j], G.T @ G
    T = np.diag(space.alpha) + np.diag(space.beta[:-1], 1) + np.diag(space.beta[:-1], -1)
    np.testing.assert_allclose(space.basis[: j + 1] @ space.basis[: j + 1].T, np.eye(j + 1), atol=1e-12)
    np.testing.assert_allclose(A @ V.T, V.T @ T + np.outer(space.beta[-1] * space.basis[j], np.eye(j)[-1]), atol=1e-12)
    values, X = np.linalg.eigh(A)
    s, x = values[-1], X[:, -1]
    assert s > space.top()[0]
    ratio = np.linalg.norm(space.basis[: j + 1] @ x) / abs(start @ x)
    assert space.log_growth(s) == pytest.approx(math.log(ratio), abs=1e-3)


@pytest.mark.parametrize(("size", "copies"), [(2, 1), (3, 1), (10, 1), (500, 1), (8, 4), (40, 4), (2000, 4)])
def test_component_of_a_random_vector(size, copies):
    rng = np.random.default_rng(size)
    d = math.exp(-log_component(size, 0.05, copies))
    X = rng.standard_normal((20000, size))
    share = np.mean(np.linalg.norm(X[:, :copies], axis=1) < d * np.linalg.norm(X, axis=1))
    assert 0.03 < share < 0.055
    assert log_component(copies, 0.05, copies) == 0.0


@pytest.mark.parametrize("G", [np.zeros(3), np.zeros((0, 3)), np.zeros((2, 2, 2)), np.zeros((2, 2), complex)])
def test_not_a_real_matrix(G):
    with pytest.raises(ValueError, match="expected a"):
        top_singular(G, 1e-3, np.random.default_rng(0))


@pytest.mark.parametrize("shape", [(5, 4), (200, 300)])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_not_finite(shape, bad):
    G = np.ones(shape)
    G[1, 2] = bad
    for call in (
        lambda: top_singular(G, 1e-3, np.random.default_rng(0)),
        lambda: norm_upper_bound(G, np.random.default_rng(0)),
    ):
        with pytest.raises(ValueError, match="NaN or infinity"):
            call()


def test_small_tridiagonal_matrices():
    assert math.exp(2 * log_growth([1.0, 2.0], [1.0, 0.5], 4.0)) == pytest.approx(110)
    assert top_value([1.0, 1.0], [2.0, 0.5], 0.0, 1e-9) == pytest.approx(3.0, abs=2e-9)
    assert pause(10, missing=5.0, slope=1.0, dimension=10, often=20) == 14
