"""Largest singular value of a large matrix: an estimate to a wanted accuracy, and bounds that hold."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import array_api_compat
import numpy as np

from frankwolfe.backends.compile_policy import pays
from frankwolfe.backends.namespace import Array, double, host, is_foreign, largest, namespace, scaled
from frankwolfe.kernels.pattern.pattern_matrix import PatternMatrix
from frankwolfe.kernels.pattern.pattern_products import COMPILED_FROM, FAMILY
from frankwolfe.kernels.spectral.device_krylov import gram_of, is_on_device, space_of
from frankwolfe.kernels.spectral.gram_operator import ImplicitMatrix, entries
from frankwolfe.kernels.spectral.krylov import Krylov, log_component
from frankwolfe.kernels.spectral.tridiagonal import pause

_BASIS_BYTES = 128 * 2**20
_SMALL_SIDE, _SMALL_SIZE = 64, 2**15  # LAPACK's SVD is quicker there
_GRAM_SIDE = 1000
_NORM_RTOL = 1e-9  # of a smoothness constant
_PROOF_SIDE = 4000  # the Gram matrix takes 128 MB there
_MOST_STEPS = 20_000
_LEAST_EXPONENT = -1000  # of numbers that are scaled to one: the inverse of a smaller power of two is no number


class SingularPair(NamedTuple):
    """A triple with left.T @ G @ right = sigma; `error` bounds, likely but unproven, how far sigma is too low."""

    sigma: float
    left: np.ndarray
    right: np.ndarray
    error: float
    matvecs: int
    steps: int


class NormBound(NamedTuple):
    """An upper bound on a spectral norm; `failure` is the probability that it is wrong, zero for a proof."""

    value: float
    failure: float
    matvecs: int


def top_singular(
    G: Any,
    accuracy: float,
    rng: np.random.Generator,
    max_basis: int | None = None,
    *,
    rtol: float = 0.0,
    doubt: float = 1e-3,
) -> SingularPair:
    """Return the largest singular value of G and its vectors, to an absolute accuracy of the value.

    G is an array, sparse, a PatternMatrix, or anything real with `shape`, `dtype`, `G @ w` and `G.T @ u`; float32 is
    answered in float32. The value may lie below the true one by `accuracy` (zero: all that rounding allows) or `rtol`
    times itself, whichever is larger, and misses that with a probability of `doubt` over the start. The start is always
    random: a warm one can be trapped in the space of an old solution. At most `max_basis` vectors of length min(m, n)
    are kept before a restart, by default as many as fit in 128 MB, 20 to 400.

    Lanczos on the smaller Gram matrix, in exact arithmetic the Golub-Kahan process. A small residual proves that *a*
    singular value is near, not that it is the largest, and with a cluster at the top the usual residual²/gap estimate
    stops too soon. The rule here is the upper bound of :class:`~frankwolfe.kernels.spectral.krylov.Krylov`, which looks
    at all Krylov polynomials and needs no gap: stop when it lies within `accuracy` of the Ritz value.
    """
    G = _checked(G)
    m, n = G.shape
    if min(m, n) <= _SMALL_SIDE and m * n <= _SMALL_SIZE and _known(G):
        return by_svd(G.toarray()) if is_on_device(G) else _by_lapack(G if isinstance(G, np.ndarray) else G.toarray())
    A = gram_of(G, rng, accuracy)
    if A.is_zero:
        pair = _zero_pair(m, n, A.kind)
        return pair._replace(left=A.put(pair.left), right=A.put(pair.right), matvecs=A.matvecs)
    affordable = _BASIS_BYTES // (A.dtype.itemsize * A.size)
    space = space_of(A, rng, max(20, min(400, affordable)) if max_basis is None else max(4, max_basis))
    log_bound = log_component(A.size, doubt, A.width)
    _, coordinates, error = _converge(space, math.ldexp(accuracy, -A.exponent), rtol, log_bound)
    y = space.vector(coordinates)
    sigma, z = A.image(y)
    left, right = (z, y) if A.tall else (y, z)
    sigma, error = math.ldexp(sigma, A.exponent), math.ldexp(error, A.exponent)
    return SingularPair(sigma, left, right, error, A.matvecs, space.steps)


def spectral_norm(A: Any) -> float:
    """Return the largest singular value of A (an array, sparse, or an operator) to nine digits, or what float32 has.

    For smoothness constants: equal data give equal answers.
    """
    A = _checked(A)
    dense = isinstance(A, np.ndarray) and min(A.shape) <= _GRAM_SIDE and A.size > _SMALL_SIZE
    if dense and 1e-8 < float(np.maximum(np.max(A), -np.min(A))) < 1e8:
        # One product of matrices reads A far less often than Lanczos would.
        H = A.T @ A if A.shape[0] >= A.shape[1] else A @ A.T
        return math.sqrt(max(0.0, float(np.linalg.eigvalsh(H.astype(np.float64))[-1])))
    return top_singular(A, 0.0, np.random.default_rng(0), rtol=_NORM_RTOL).sigma


def _converge(space: Krylov, accuracy: float, rtol: float, log_bound: float) -> tuple[float, np.ndarray, float]:
    """Grow the space until the bound is near enough; return the Ritz pair and how far its root may be too low."""
    check, before, last = 2, 0, 0.0
    in_one_go, rounding = space.A.narrow and space.A.block is not None, _rounding(space.A.kind)
    while True:
        alive = space.reach(accuracy, log_bound) if in_one_go else space.grow(check - space.steps)
        theta, y = space.top()
        sigma = math.sqrt(theta)
        if not alive or space.beta[-1] * abs(y[-1]) <= rounding * theta:
            return theta, y, max(accuracy if space.A.narrow else 0.0, rounding * sigma)
        error = max(accuracy, rtol * sigma)
        near = (sigma + error) ** 2
        reached = space.log_growth(near) if near > theta else -math.inf
        if reached >= log_bound:
            return theta, y, error
        if space.steps >= _MOST_STEPS:
            return theta, y, math.sqrt(space.upper(theta, log_bound)) - sigma
        slope = (reached - last) / (space.steps - before)
        check = pause(space.steps, log_bound - reached, slope, space.dimension, 20)
        before, last = space.steps, reached
        if space.dimension == space.most:
            space.restart(max(1, space.most // 3))


def _checked(G: Any) -> Any:
    if isinstance(G, ImplicitMatrix):
        return G if G.fetched is None else G.fetched
    if getattr(G, "ndim", 2) != 2 or len(G.shape) != 2 or 0 in G.shape:
        raise ValueError(f"expected a nonempty matrix, got shape {tuple(G.shape)}")
    if is_on_device(G):
        return G
    if np.dtype(G.dtype).kind == "c":
        raise ValueError("expected a real matrix, got complex entries")
    form = getattr(G, "format", None)  # of a SciPy sparse matrix
    if isinstance(form, str) and form not in ("csr", "csc"):
        G = G.tocsr()  # pyright: ignore[reportAttributeAccessIssue]
    if (isinstance(form, str) or isinstance(G, np.ndarray)) and G.dtype not in (np.float32, np.float64):
        return G.astype(np.float64)  # pyright: ignore[reportAttributeAccessIssue]
    return G


def _zero_pair(m: int, n: int, dtype: np.dtype) -> SingularPair:
    left, right = np.zeros(m, dtype), np.zeros(n, dtype)
    left[0] = right[0] = 1.0
    return SingularPair(0.0, left, right, 0.0, 0, 0)


def by_svd(G: Any) -> SingularPair:
    """Return the top pair of an array of any library by its own decomposition."""
    U, s, Vt = namespace(G).linalg.svd(scaled(G), full_matrices=False)
    return SingularPair(float(s[0]) * float(largest(G)), U[:, 0], Vt[0, :], 0.0, 0, 0)


def _by_lapack(G: np.ndarray) -> SingularPair:
    top = float(np.max(np.abs(G)))
    if not math.isfinite(top):
        raise ValueError("the matrix contains NaN or infinity")
    if top == 0.0:
        return _zero_pair(G.shape[0], G.shape[1], G.dtype)
    U, s, Vt = np.linalg.svd(G / G.dtype.type(top), full_matrices=False)
    sigma = float(s[0]) * top
    return SingularPair(sigma, U[:, 0].copy(), Vt[0].copy(), _rounding(G.dtype) * sigma, 0, 0)


def _rounding(dtype: np.dtype) -> float:
    return 4 * float(np.finfo(dtype).eps)


def _known(G: Any) -> bool:
    """Tell whether the entries of the matrix can be looked at, not only its products."""
    return entries(G) is not None or is_on_device(G) or isinstance(G, ImplicitMatrix)


def norm_upper_bound(G: Any, rng: np.random.Generator, steps: int = 200, failure: float = 1e-9) -> NormBound:
    """Return an upper bound on the largest singular value: proven where min(m, n) <= 4000, else wrong at most so often.

    The probabilistic bound takes at most so many Lanczos steps, whose basis is kept in at most 256 MB, and is wrong
    with a probability of `failure` over the start.

    *Proof.* H is the smaller Gram matrix. If the Cholesky factorisation of s I - H runs to its end in floating point,
    then s I - H + E is positive semidefinite for some |E| <= c / (1 - c) trace(s I - H), c = (q + 1) u, with q the
    order and u the unit roundoff (Rump, BIT 46, 2006, after Demmel 1989); H itself is computed to within c' |G|_F², c'
    = (p + 2) u with p the longer side. Both are added. Much cheaper than the eigenvalues of H, and no trust in an
    eigensolver is needed.

    *Probability.* Two bounds from one Krylov space of dimension k with a uniformly random start and no restart, each
    given half of `failure`; the smaller is taken. One is the Lanczos-polynomial bound (see
    :mod:`frankwolfe.kernels.spectral.krylov`). The other is that of Kuczynski and Wozniakowski (SIAM J. Matrix Anal.
    Appl. 13(4), 1992): for a positive semidefinite matrix of order q with largest eigenvalue s and largest Ritz value
    t, P((s - t) / s > e) <= 1.648 sqrt(q) exp(-sqrt(e) (2k - 1)). Both theorems suppose exact arithmetic; the basis is
    kept and fully reorthogonalised so that rounding stays at its usual size, for which the bound is widened.
    """
    G = _checked(G)
    if (entries(G) is not None or is_on_device(G)) and min(G.shape) <= _PROOF_SIDE:
        return proven_bound(G, rng)
    A = gram_of(G, rng)
    if A.is_zero:  # a proof where the largest entry is known, otherwise a random product that vanished
        return NormBound(0.0, 0.0 if _known(G) else failure, A.matvecs)
    affordable = 2 * _BASIS_BYTES // (A.dtype.itemsize * A.size)
    steps = steps if A.width == 1 else -(-2 * steps // 5)  # four vectors need 0.4 of the logarithm at 1e-9
    space = space_of(A, rng, max(2, min(steps, affordable)))
    log_bound = log_component(A.size, failure / 2, A.width)
    alive = space.grow(space.most)
    theta, _ = space.top()
    value = theta
    if alive:
        root = math.log(1.648 * math.sqrt(A.size) / (failure / 2)) / (2 * space.dimension - 1)
        a_priori = theta / (1 - root * root) if root < 1 else math.inf
        value = min(a_priori, space.upper(theta, log_bound))
    rounding = 16 * (space.dimension + 8) * float(np.finfo(A.dtype).eps)
    return NormBound(math.ldexp(math.sqrt(value) * (1 + rounding), A.exponent), failure, A.matvecs)


def proven_bound(G: Any, rng: np.random.Generator) -> NormBound:
    """Return the bound that is a proof; matrix and factorisation are on the device where it has the precision."""
    stored: Any = G.values if is_on_device(G) else entries(G)
    top = float(largest(stored)) if stored is not None else 0.0
    if not math.isfinite(top):
        raise ValueError("the matrix contains NaN or infinity")
    if top == 0.0:
        return NormBound(0.0, 0.0, 0)
    if is_on_device(G) and double(G.values) is None:
        G = G.tocsr()
    exponent = math.frexp(top)[1]
    if is_on_device(G):
        values = namespace(G.values).astype(G.values, double(G.values)) * math.ldexp(1.0, -exponent)
        D = known = PatternMatrix(values, G.pattern)
        H = G.pattern.places.gram_matrix(values)  # pyright: ignore[reportOptionalMemberAccess]
    else:
        D = _double(G, exponent)
        H, known = _gram_matrix(D), G.scaled(2.0**-exponent, float) if isinstance(G, PatternMatrix) else D
    guess = top_singular(known, 0.0, rng, rtol=1e-11)  # not trusted; on a pattern it comes several times as fast
    bound = proof(H, guess.sigma, max(D.shape), 1e-12)
    return NormBound(math.ldexp(bound, exponent), 0.0, guess.matvecs)


def norm_above(G: Any, sigma: float) -> float:
    """Return a proven upper bound on the largest singular value of a matrix whose entries are here, from a guess.

    The proof of `norm_upper_bound`, in double precision: nothing is trusted about the guess, say of LAPACK.
    """
    if not is_foreign(G):
        G = _checked(G)
        if not _known(G):
            return math.inf
        if isinstance(G, ImplicitMatrix):
            return 0.0 if G.largest == 0.0 else math.inf
    stored: Any = G if is_foreign(G) else G.values if is_on_device(G) else entries(G)
    top, wide = float(largest(stored)), double(stored)
    if top == 0.0 or not math.isfinite(top):
        return 0.0 if top == 0.0 else math.inf
    if not (is_foreign(G) or isinstance(G, np.ndarray)):
        G = G.toarray()
    if wide is None:  # the library has no double precision
        G, wide = host(G), np.dtype(np.float64)
    exponent = max(math.frexp(top)[1], _LEAST_EXPONENT)
    D = namespace(G).astype(G, wide) * math.ldexp(1.0, -exponent)
    H = D.T @ D if D.shape[0] >= D.shape[1] else D @ D.T
    return math.ldexp(proof(H, math.ldexp(sigma, -exponent), max(D.shape), 0.0), exponent)


def proof(H: Array, sigma: float, long: int, slack: float) -> float:
    """Return a bound on the norm of a matrix, given its Gram matrix H (overwritten), a guess and about its error."""
    xp, order = namespace(H), int(H.shape[0])
    diagonal = np.array(host(xp.linalg.diagonal(H)))
    # No guess is below the longest column, so that the search ends whatever was guessed.
    guess = max(sigma**2 if math.isfinite(sigma) else 0.0, float(np.max(diagonal)))
    slack += 16 * order * 2.0**-53
    one = xp.eye(order, dtype=H.dtype, device=array_api_compat.device(H)) if is_foreign(H) else None
    if one is None:
        np.negative(H, out=H)
    while True:
        s = guess * (1 + slack)
        if one is None:
            np.fill_diagonal(H, s - diagonal)
        if factorises(H if one is None else s * one - H):
            return widened(s, diagonal, long)
        slack *= 4


def factorises(H: Array) -> bool:
    """Tell whether Cholesky's factorisation runs to its end."""
    try:
        corner = namespace(H).linalg.cholesky(H)[-1, -1]
    except Exception as error:
        if "LinAlgError" not in type(error).__name__:
            raise
        return False
    return bool(np.isfinite(host(corner)))  # JAX and CuPy return NaN instead


def least_eigenvalue(H: np.ndarray, additions: int, mass: float | None = None) -> float:
    """Return a proven lower bound on the least eigenvalue of the symmetric matrix that H was computed as.

    An entry of H has seen so many `additions`; `mass` is the trace of the matrix of the magnitudes that were added up,
    by default that of H. The proof of `norm_upper_bound`, from below: the Cholesky factorisation of H - s runs to its
    end.
    """
    order, unit, S = len(H), 0.5 * float(np.finfo(H.dtype).eps), H.astype(np.float64)
    trace, one = float(np.trace(np.abs(S))), np.eye(order)
    if not 0 < trace < math.inf:
        return 0.0 if not S.any() else -math.inf
    room, guess = 4 * order * 2.0**-53 * trace, float(np.linalg.eigvalsh(S)[0])
    while not factorises(S - (guess - room) * one):
        room *= 4
    s = guess - room
    cholesky = (order + 2) * 2.0**-53 * float(np.sum(np.abs(np.diagonal(S) - s)))
    return s - 1.01 * (cholesky + (additions + 8) * unit * (trace if mass is None else mass))


def widened(s: float, diagonal: np.ndarray, long: int) -> float:
    """Return the bound on the norm that a factorisation of s I - H proves, H having that diagonal, rounding added."""
    unit = 2.0**-53
    cholesky, product = (len(diagonal) + 2) * unit, (long + 8) * unit
    # 1.01 covers the rounding of these few operations and the terms of second order.
    s += 1.01 * (cholesky * float(np.sum(np.abs(s - diagonal))) + product * float(np.sum(diagonal)) + 8 * unit * s)
    return math.sqrt(s) * (1 + 4 * unit)


def _gram_matrix(D: Any) -> np.ndarray:
    """Return D' D or D D', the smaller one; of a large sparse matrix its lower triangle alone."""
    tall = D.shape[0] >= D.shape[1]
    if isinstance(D, np.ndarray):
        return D.T @ D if tall else D @ D.T
    if D.nnz < COMPILED_FROM or not pays(FAMILY, D.nnz):
        return (D.T @ D if tall else D @ D.T).toarray()
    from frankwolfe.kernels.pattern import pattern_loops

    D = D if tall else D.tocsc()
    H = np.zeros((min(D.shape),) * 2)
    pattern_loops.gram_matrix(D.indptr.astype(np.uint64), D.indices.astype(np.uint64), D.data, H)
    return H


def _double(G: Any, exponent: int) -> Any:
    """Return 2**-exponent G in double precision: an array, or a CSR array, its rows sorted, no position twice."""
    if isinstance(G, np.ndarray):
        return np.ldexp(G.astype(np.float64, copy=False), -exponent)
    S = G.tocsr().astype(np.float64)
    S.data = np.ldexp(S.data, -exponent)
    S.sum_duplicates()
    return S
