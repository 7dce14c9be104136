"""Quadratic programs on the l2 ball: small ones by eigenvectors, others by Cholesky factors or by products alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

DROP = 1e-2  # of the multiplier at once, where it is too large; the square of it the next time, and so on
MOST_PRODUCTS = 500
FEW, POWERS = 100, 4  # variables up to which factors cost less than a guess that saves them; dimensions of its space
FAINT = 1e-6  # share of the largest multiplier there can be, below which none is guessed
LOOK = 2  # products between looks at what they amount to
EPS = 2.0**-52


class InBall(NamedTuple):
    """A point of the ball, and the multiplier that it was found with."""

    z: np.ndarray
    multiplier: float


def ball_qp(
    H: np.ndarray,
    b: np.ndarray,
    radius: float,
    guess: float | None = None,
    start: np.ndarray | None = None,
    tol: float = 0.0,
    share: float = 0.0,
) -> InBall:
    """Return the z with |z| <= radius that minimises b'z + z'Hz/2, for H positive semidefinite.

    Parameters
    ----------
    H : array of shape (d, d)
        Symmetric positive semidefinite.
    b : array of shape (d,)
        Linear term.
    radius : float
        Of the ball.
    guess : float, optional
        Of the multiplier: the closer, the fewer factors. By default that of the best point of a small space.
    start : array of shape (d,), optional
        Where the objective is compared with.
    tol, share : float, default 0
        Stop when the Frank-Wolfe gap is at most `tol`, or this share of what is gained since the start.

    Notes
    -----
    Newton's method on 1/|z(λ)|, where (H + λ)z(λ) = -b, each step by a Cholesky factor: from below monotone and
    quadratic, from above one step leads below [J. J. More and D. C. Sorensen, 1983]. There the slope of the objective
    is -λz, so that its gap is known without another product.

    Examples
    --------
    >>> ball_qp(np.eye(2), np.array([-3.0, 0.0]), 1.0).z + 0.0
    array([1., 0.])
    """
    from scipy.linalg import lapack

    steepest = float(b @ b)
    if guess is None:
        guess = _guessed(H, b, radius) if b.size > FEW else math.sqrt(steepest) / radius
    # Neither the curvature nor, where there is none, the slope notices a shift of this size.
    least = max(1e-14 * max(float(H.diagonal().max()), steepest**0.5 / radius), 1e-300)
    before = 0.0 if start is None else float((b + 0.5 * (H @ start)) @ start)
    shift, low, high, drop = max(guess, least), 0.0, np.inf, DROP  # too small up to low, too large from high on
    z, scale = np.zeros_like(b), 1.0
    for _ in range(100):
        shifted = H.copy()
        shifted.flat[:: b.size + 1] += shift
        factor, failed = lapack.dpotrf(shifted.T, lower=1, overwrite_a=1)  # pyright: ignore[reportAttributeAccessIssue]
        if failed:  # rounding, or a model that is not quite convex
            low, shift = shift, (shift * high) ** 0.5 if high < np.inf else 10 * shift
            continue
        z = -lapack.dpotrs(factor, b, lower=1)[0]  # pyright: ignore[reportAttributeAccessIssue]
        length, scale, fall = float(z @ z) ** 0.5, 1.0, float(b @ z)
        if length <= radius and (shift <= least or not length > 0):  # inside: what the shift did is taken back
            closer = z - lapack.dpotrs(factor, b + H @ z, lower=1)[0]  # pyright: ignore[reportAttributeAccessIssue]
            z = closer if float(closer @ closer) <= radius**2 else z
            break
        scales = [radius / length] if length > radius else [1.0, radius / length]
        gap, scale = min((_gap(steepest, fall, shift, length, radius, scale), scale) for scale in scales)
        along = scale * fall
        gained = before - along + 0.5 * scale * (along + scale * shift * length**2)
        if gap <= max(tol, share * gained):
            break
        bend = lapack.dtrtrs(factor, z / length, lower=1)[0]  # pyright: ignore[reportAttributeAccessIssue]
        steepness = float(bend @ bend)
        moved = shift + (length / radius - 1) / steepness if steepness > 0 else least
        if length < radius:
            high, moved, drop = shift, max(moved, drop * shift, least), drop**2
        moved = moved if moved > low else (max(low, least) * shift) ** 0.5
        if not abs(moved - shift) > 1e-14 * shift:
            break
        shift = moved
    return InBall(scale * z, shift)


def _guessed(H: np.ndarray, b: np.ndarray, radius: float) -> float:
    """Return the multiplier of the best point of the ball in the span of b, Hb, HHb, ...: within reach of the answer's.

    Not next to nothing, where a factor would show no more than rounding.
    """
    powers = np.empty((POWERS, b.size))
    powers[0] = b / max(float(b @ b) ** 0.5, 1e-300)
    for k in range(1, POWERS):
        powers[k] = H @ powers[k - 1]
        powers[k] /= max(float(powers[k] @ powers[k]) ** 0.5, 1e-300)
    basis = np.linalg.qr(powers.T)[0]
    small, along = basis.T @ H @ basis, b @ basis
    z = small_ball_qp(small, along, radius)
    return max(-float((small @ z + along) @ z) / radius**2, FAINT * float(b @ b) ** 0.5 / radius)


def _gap(steepest: float, fall: float, shift: float, length: float, radius: float, scale: float) -> float:
    """Return the Frank-Wolfe gap at `scale` times z: from b'b, b'z and |z|, where the slope at z is -shift z."""
    own, left = scale * shift, 1 - scale  # the slope there is left b - own z
    along = left * fall - own * length**2
    square = left**2 * steepest - 2 * left * own * fall + (own * length) ** 2
    return scale * along + radius * max(square, 0.0) ** 0.5


def ball_qp_by_products(
    bent: Callable[[np.ndarray], np.ndarray], b: np.ndarray, radius: float, tol: float, worth: float = np.inf
) -> np.ndarray | None:
    """Return the z with |z| <= radius that minimises b'z + z'Hz/2, from products with H alone.

    Parameters
    ----------
    bent : callable
        From a vector to H times it, for H symmetric positive semidefinite.
    b : array of shape (d,)
        Linear term.
    radius : float
        Of the ball.
    tol : float
        The Frank-Wolfe gap at which to stop.
    worth : float, optional
        How many products another way would cost: None is returned as soon as it looks as if more were needed.

    Notes
    -----
    Minimises over the span of b, Hb, HHb, ... [1]_: as many products as conjugate gradients take where the multiplier
    is known. The basis is made orthogonal to itself at every step, or rounding would repeat it.

    References
    ----------
    .. [1] N. I. M. Gould, S. Lucidi, M. Roma and P. L. Toint, Solving the trust-region subproblem using the Lanczos
       method, SIAM J. Optim. 9, 1999.

    Examples
    --------
    >>> ball_qp_by_products(lambda v: v, np.array([-3.0, 0.0]), 1.0, 1e-9) + 0.0
    array([1., 0.])
    """
    length, most = float(b @ b) ** 0.5, min(MOST_PRODUCTS, b.size)
    if not length > 0:
        return np.zeros_like(b)
    basis, diagonal, beside, v = np.empty((0, b.size)), np.empty(most), np.zeros(most), b / length
    first, shift, used, y = np.inf, 0.0, basis, v
    for k in range(most):
        if k >= len(basis):  # room for as many again
            basis = np.concatenate([basis, np.empty((max(k, 16), b.size))])
        basis[k], used = v, basis[: k + 1]
        v = bent(v)
        diagonal[k] = float(v @ basis[k])
        v = v - diagonal[k] * basis[k]
        if k:
            v -= beside[k - 1] * basis[k - 1]
        v -= (used @ v) @ used  # what rounding has left of the others
        beta = float(v @ v) ** 0.5
        done = k + 1 == most or not beta > EPS * diagonal[0]
        if not done:
            v /= beta
            beside[k] = beta
        if not done and k % LOOK != 0:
            continue
        y, shift = tridiagonal_ball_qp(diagonal[: k + 1], beside[:k], length, radius, shift)
        slope = _bent(diagonal[: k + 1], beside[:k], y)
        slope[0] += length
        gap = float(slope @ y) + radius * (float(slope @ slope) + (beta * float(y[-1])) ** 2) ** 0.5
        first = gap if k == 0 else first
        if done or gap <= tol:
            break
        pace = math.log(max(first / gap, 1.0)) / (k + 1)  # by which the gap has fallen so far, and will
        if k >= LOOK and math.log(gap / max(tol, 1e-300)) > pace * (worth - k):
            return None
    z = y @ used
    return z * min(1.0, radius / max(float(z @ z) ** 0.5, 1e-300))


def tridiagonal_ball_qp(
    diagonal: np.ndarray, beside: np.ndarray, first: float, radius: float, shift: float = 0.0
) -> tuple[np.ndarray, float]:
    """Return the z with |z| <= radius that minimises first z_0 + z'Tz/2, and its multiplier.

    T is tridiagonal and positive semidefinite; `shift` is at most the multiplier, as that of a leading block of T is.
    Newton's method as in `small_ball_qp`, by factors that take a few operations for each variable.

    Examples
    --------
    >>> z, multiplier = tridiagonal_ball_qp(np.array([2.0, 2.0]), np.array([0.0]), -9.0, 3.0)
    >>> z.round(6), round(float(multiplier), 6)
    (array([3., 0.]), 1.0)
    """
    from scipy.linalg import lapack

    b, z, length = np.zeros(diagonal.size), diagonal, 0.0
    b[0] = -first / radius  # z in units of the radius: no square of it overflows or underflows
    # Neither the curvature nor, where there is none, the slope notices a shift of this size.
    shift = max(shift, 1e-14 * float(diagonal.max()), 1e-14 * abs(float(b[0])), 1e-300)
    for _ in range(60):
        # LAPACK wants a number beside the diagonal also where there is none.
        *factors, failed = lapack.dpttrf(diagonal + shift, beside if beside.size else b)  # pyright: ignore[reportAttributeAccessIssue]
        if failed:  # rounding
            T = np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1)
            return small_ball_qp(T, -radius * b, radius), shift
        z = lapack.dpttrs(*factors, b)[0]  # pyright: ignore[reportAttributeAccessIssue]
        length = float(z @ z) ** 0.5
        if length <= 1 + 1e-14:
            break
        along = float(z @ lapack.dpttrs(*factors, z)[0])  # pyright: ignore[reportAttributeAccessIssue]
        shift += (length - 1) * length**2 / along
    return z * (radius / max(length, 1.0)), shift


def _bent(diagonal: np.ndarray, beside: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Return a tridiagonal matrix times z."""
    out = diagonal * z
    out[1:] += beside * z[:-1]
    out[:-1] += beside * z[1:]
    return out


def small_ball_qp(H: np.ndarray, b: np.ndarray, radius: float) -> np.ndarray:
    """Return the z with |z| <= radius that minimises b'z + z'Hz/2, for H positive semidefinite, of a few variables.

    Newton's method on 1/|z(λ)|, from λ = 0 monotone and quadratic [J. J. More and D. C. Sorensen, 1983].

    Examples
    --------
    >>> small_ball_qp(np.eye(2), np.array([-3.0, 0.0]), 1.0) + 0.0
    array([1., 0.])
    """
    w, Q = np.linalg.eigh(H)
    b = b / radius  # z in units of the radius: no square of it overflows or underflows
    # Neither the curvature nor, where there is none, the slope notices a shift of this size.
    w = np.maximum(w, max(1e-14 * w[-1], 1e-14 * float(np.linalg.norm(b)), 1e-300))
    along, shift, length, z = Q.T @ b, 0.0, 0.0, b
    for _ in range(60):
        z = along / (w + shift)
        length = float(z @ z) ** 0.5
        if length <= 1 + 1e-14:
            break
        steepness = float(z @ (z / (w + shift))) / length**2
        shift += (length - 1) / steepness
    return -(Q @ (z * (radius / max(length, 1.0))))
